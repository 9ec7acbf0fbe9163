/* The mean potential of a trajectory in its cells: ./average charges.pqr trajectory.dcd mean.dx
 *
 *     cc average.c $(pkg-config --cflags --libs leyden) -lm -o average
 *
 * Charges of the PQR file; positions and cells of a DCD file of CHARMM or NAMD in this machine's
 * byte order. Charges are as wide as VMD's PMEPot has them, 2.83 A; the map is 1 A from point to
 * point, in kT/e at 300 K. */
#include <leyden.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dcd {
    FILE *file;
    int has_cell, version; /* of CHARMM; NAMD and others say 24 or 0 */
    int32_t atoms;
    float *column; /* x, y or z of all atoms */
} dcd;

/* A record of Fortran: its length, so many bytes, its length again. */
static int read_record(dcd *from, void *to, int32_t bytes)
{
    int32_t before, after;
    return fread(&before, 4, 1, from->file) == 1 && before == bytes &&
           fread(to, 1, (size_t)bytes, from->file) == (size_t)bytes && fread(&after, 4, 1, from->file) == 1 &&
           after == bytes;
}

static int open_dcd(dcd *d, const char *path)
{
    char head[84];
    int32_t title;
    d->file = fopen(path, "rb");
    if (d->file == NULL || !read_record(d, head, sizeof head) || memcmp(head, "CORD", 4) != 0)
        return 0;
    memcpy(&d->has_cell, head + 44, 4);
    memcpy(&d->version, head + 80, 4);
    if (fread(&title, 4, 1, d->file) != 1 || fseek(d->file, title + 4, SEEK_CUR) != 0 || !read_record(d, &d->atoms, 4))
        return 0;
    d->column = malloc((size_t)d->atoms * sizeof *d->column);
    return d->has_cell && d->column != NULL;
}

/* Angles are there in degrees, or as cosines. */
static double cosine(double angle)
{
    return fabs(angle) <= 1 ? angle : cos(angle * acos(-1) / 180);
}

/* Vectors, a along x, b in the xy plane, of the lengths A, B, C and the angles between them, which
 * the file has as A, gamma, B, beta, alpha, C. */
static void take_cell(const double box[6], double cell_A[9])
{
    const double gamma = cosine(box[1]), beta = cosine(box[3]), alpha = cosine(box[4]), sine = sqrt(1 - gamma * gamma),
                 along = (alpha - beta * gamma) / sine;
    const double vectors[9] = {box[0],
                               0,
                               0,
                               box[2] * gamma,
                               box[2] * sine,
                               0,
                               box[5] * beta,
                               box[5] * along,
                               box[5] * sqrt(1 - beta * beta - along * along)};
    memcpy(cell_A, vectors, sizeof vectors);
}

/* CHARMM itself writes the lower triangle of a symmetric matrix, whose rows are the vectors. */
static void take_matrix(const double box[6], double cell_A[9])
{
    const double vectors[9] = {box[0], box[1], box[3], box[1], box[2], box[4], box[3], box[4], box[5]};
    memcpy(cell_A, vectors, sizeof vectors);
}

/* The callback: 1, a frame; 0, there is none after it; -1, the file ends within one. */
static int next_frame(void *context, float *position_A, double cell_A[9])
{
    dcd *d = context;
    double box[6];
    const int first = fgetc(d->file);
    if (first == EOF || ungetc(first, d->file) == EOF)
        return 0;
    if (!read_record(d, box, sizeof box))
        return -1;
    (d->version >= 25 ? take_matrix : take_cell)(box, cell_A);
    for (int axis = 0; axis < 3; axis++) {
        if (!read_record(d, d->column, d->atoms * 4))
            return -1;
        for (int32_t i = 0; i < d->atoms; i++)
            position_A[3 * i + axis] = d->column[i];
    }
    return 1;
}

/* Adds all frames that a callback has. */
static ley_status average_frames(ley_average *average, size_t atoms, int (*next)(void *, float *, double *),
                                 void *context, ley_error *error)
{
    double cell_A[9];
    ley_status status = LEY_OK;
    int found = -1;
    float *position_A = malloc(3 * atoms * sizeof *position_A);
    while (status == LEY_OK && position_A != NULL && (found = next(context, position_A, cell_A)) == 1)
        status = ley_average_add(average, 1, position_A, cell_A, error);
    free(position_A);
    if (status == LEY_OK && found < 0)
        fprintf(stderr, "the trajectory ends within a frame, which does not count\n");
    return status;
}

int main(int argc, char **argv)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    ley_average *average = NULL;
    ley_map *map = NULL;
    ley_average_totals totals;
    ley_average_options options;
    dcd frames = {0};
    ley_average_options_default(&options);
    ley_status status = argc == 4 ? ley_atoms_read(argv[1], &atoms, &error) : LEY_ERROR_USAGE;
    if (status == LEY_OK && (!open_dcd(&frames, argv[2]) || (size_t)frames.atoms != ley_atoms_count(atoms))) {
        snprintf(error.message, sizeof error.message, "%s: no DCD file with cells and the atoms of %s", argv[2],
                 argv[1]);
        status = LEY_ERROR_INPUT;
    }
    if (status == LEY_OK)
        status = ley_average_create(NULL, atoms, &options, &average, &error);
    if (status == LEY_OK)
        status = average_frames(average, ley_atoms_count(atoms), next_frame, &frames, &error);
    if (status == LEY_OK)
        status = ley_average_map(average, LEY_AVERAGE_MEAN, &map, &error);
    if (status == LEY_OK)
        status = ley_average_finish(average, &totals, &error);
    if (status == LEY_OK)
        status = ley_map_write_dx(map, argv[3], "mean potential of Gaussian charges, made by average.c", NULL, &error);
    if (status == LEY_OK)
        printf("%lld frames, relative RMS error %.1e at %lld points\n", (long long)totals.frames, totals.relative_rms,
               (long long)totals.checked_points);
    else
        fprintf(stderr, "%s: %s\n", ley_status_text(status),
                argc == 4 ? error.message : "average CHARGES.pqr TRAJECTORY.dcd MAP.dx");
    ley_map_destroy(map);
    ley_average_destroy(average);
    ley_atoms_destroy(atoms);
    if (frames.file != NULL)
        fclose(frames.file);
    free(frames.column);
    ley_error_clear(&error);
    return ley_status_exit_code(status);
}
