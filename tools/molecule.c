#include "molecule.h"
#include "console.h"
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option_row rows[] = {
    {.name = "pqr-anyway",
     .kind = OPTION_FLAG,
     .is_expert = true,
     .offset = offsetof(molecule_values, pqr_anyway),
     .help = "read the molecule as a PQR file even where it looks like a PDB file, whose occupancies would become "
             "charges"},
};

const option_block molecule_options = OPTION_BLOCK(rows, molecule_values, NULL);

/* A pipe is read once: whoever opened it again would wait for another writer. */
static bool can_be_read_again(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 && S_ISREG(known.st_mode);
}

ley_status molecule_read(const char *path, const parsed_arguments *arguments, ley_atoms **atoms, ley_error *error)
{
    const molecule_values *values = option_values(arguments, &molecule_options);
    if (values->pqr_anyway)
        return ley_atoms_read_unchecked(path, atoms, error);
    ley_status status = ley_atoms_read(path, atoms, error);
    ley_atoms *anyway = NULL;
    if (status == LEY_ERROR_INPUT && can_be_read_again(path) &&
        ley_atoms_read_unchecked(path, &anyway, NULL) == LEY_OK) {
        const size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, "; --pqr-anyway reads it as it is");
    }
    ley_atoms_destroy(anyway);
    return status;
}

/* Nothing that consists of atoms, with 1 A around it, is so dense. */
bool molecule_looks_like_nm(const ley_atoms *atoms)
{
    const double most_per_A3 = 2;
    double low_A[3], high_A[3], volume_A3 = 1;
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        volume_A3 *= high_A[axis] - low_A[axis] + 2;
    return (double)ley_atoms_whole_count(atoms) / volume_A3 > most_per_A3;
}

static void warn_of_density(const char *path, const ley_atoms *atoms)
{
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    if (molecule_looks_like_nm(atoms))
        warn("%s: %s within %.3g x %.3g x %.3g A: are the coordinates in nm? PQR files have them in A; a run of "
             "'" MOLECULE_IN_A "' writes them so",
             base_name(path), counted_text((int64_t)ley_atoms_whole_count(atoms), "atom").s, high_A[0] - low_A[0],
             high_A[1] - low_A[1], high_A[2] - low_A[2]);
}

void molecule_warn(const char *path, const ley_atoms *atoms)
{
    char text[256];
    warn_of_density(path, atoms);
    if (ley_atoms_charge_remark(atoms, text, sizeof text))
        warn("%s: %s", base_name(path), text);
}

ley_status points_read(const char *path, ley_atoms **molecule, ley_points **points, ley_error *error)
{
    int64_t n;
    double *point_A;
    *molecule = NULL;
    if (is_atoms_name(path)) {
        const ley_status status = ley_atoms_read(path, molecule, error);
        return status != LEY_OK ? status
                                : ley_points_create((int64_t)ley_atoms_count(*molecule),
                                                    ley_atoms_positions_A(*molecule), points, error);
    }
    ley_status status = ley_points_read(path, &n, &point_A, error);
    if (status != LEY_OK)
        return status;
    status = ley_points_create(n, point_A, points, error);
    free(point_A);
    return status;
}
