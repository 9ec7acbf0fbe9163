#include "support.h"

#include "reference.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void assert_ok_at(ley_status status, const ley_error *error, const char *call, const char *file, int line)
{
    if (status == LEY_OK)
        return;
    print_error("%s: %s: %s\n%s\n", call, ley_status_name(status), error->message, error->log != NULL ? error->log : "");
    _fail(file, line);
}

static double uniform(unsigned *state)
{
    return rand_r(state) / (RAND_MAX + 1.0);
}

ley_atoms *support_atoms(size_t n, double low_A, double high_A, unsigned seed)
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double *position_A = calloc(3 * n, sizeof(double)), *charge_e = calloc(n, sizeof(double)), total = 0;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            position_A[3 * i + axis] = low_A + (high_A - low_A) * uniform(&seed);
            if (i % 13 == 0)
                position_A[3 * i + axis] = 0.5 * floor(2 * position_A[3 * i + axis]);
        }
        charge_e[i] = 2 * uniform(&seed) - 1;
        total += charge_e[i];
    }
    for (size_t i = 0; i < n; i++)
        charge_e[i] -= total / (double)n;
    assert_ok(ley_atoms_create(n, position_A, charge_e, NULL, &atoms, &error));
    free(position_A);
    free(charge_e);
    return atoms;
}

double support_difference(const ley_map *a, const ley_map *b)
{
    const int64_t n = ley_lattice_points(ley_map_lattice(a));
    const float *x = ley_map_read_values(a), *y = ley_map_read_values(b);
    double error = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return INFINITY;
        error += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        square += (double)y[i] * (double)y[i];
    }
    return sqrt(error / square);
}

ley_map *support_reference_map(const ley_atoms *atoms, const ley_lattice *lattice, double r_min_A)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_map_create(lattice, &map, &error));
    float *values = ley_map_values(map);
    const double constant = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    for (int64_t z = 0; z < lattice->n[2]; z++)
        for (int64_t y = 0; y < lattice->n[1]; y++)
            for (int64_t x = 0; x < lattice->n[0]; x++) {
                const double point_A[3] = {lattice->origin_A[0] + (double)x * lattice->spacing_A[0],
                                           lattice->origin_A[1] + (double)y * lattice->spacing_A[1],
                                           lattice->origin_A[2] + (double)z * lattice->spacing_A[2]};
                *values++ = (float)reference_dcs(atoms, point_A, constant, r_min_A);
            }
    return map;
}

ley_map *support_run(ley_engine *engine, const ley_atoms *atoms, const ley_lattice *lattice,
                     const ley_job_options *options)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    assert_ok(ley_map_create(lattice, &map, &error));
    assert_ok(ley_job_create(engine, atoms, map, options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    ley_job_destroy(job);
    return map;
}

static char directory[] = "/tmp/leyden_test_XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void remove_directory(void)
{
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *support_directory(void)
{
    static bool made;
    if (!made) {
        assert_non_null(mkdtemp(directory));
        atexit(remove_directory);
        made = true;
    }
    return directory;
}
