#include "molecule.h"
#include "console.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const option_row rows[] = {
    {.name = "pqr-anyway",
     .kind = OPTION_FLAG,
     .is_expert = true,
     .offset = offsetof(molecule_values, pqr_anyway),
     .help = "take the molecule for a PQR file although it looks like a PDB file, whose occupancies would become "
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

void molecule_warn(const char *path, const ley_atoms *atoms)
{
    char text[256];
    if (ley_atoms_charge_remark(atoms, text, sizeof text))
        warn("%s: %s", base_name(path), text);
}
