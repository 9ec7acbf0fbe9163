#include "dcs_self_test.h"

#include "accuracy.h"
#include "error.h"
#include "reference.h"
#include "self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PLANE = 2, PLANES = 3 };
static const double r_min_A = 0.05, spacing_A[3] = {0.5, 0.625, 0.75}, origin_A[3] = {-3, 40, 1000};

static ley_status make_atoms(size_t n, const ley_lattice *lattice, ley_atoms **atoms, ley_error *error)
{
    double *position_A = calloc(4 * n, sizeof(double)), *charge_e = position_A + 3 * n;
    if (position_A == NULL)
        return ley_fail_memory(error, 4 * n * sizeof(double), "the self-test");
    uint32_t state = 2010;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            /* Around the lattice and in it; every seventh atom on a lattice point, every eleventh within r_min of one. */
            const double along = self_test_fraction(&state) * (double)(lattice->n[axis] + 4) - 2;
            const double offset = i % 11 == 0 ? 0.4 * r_min_A : 0;
            const double intervals = i % 7 == 0 || i % 11 == 0 ? floor(along) : along;
            position_A[3 * i + axis] = lattice->origin_A[axis] + intervals * lattice->spacing_A[axis] + offset;
        }
        charge_e[i] = 2 * self_test_fraction(&state) - 1;
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, NULL, atoms, error);
    free(position_A);
    return status;
}

/* NaN as float and as double where results shall be. */
static ley_status poison(const dcs_run *run, ley_error *error)
{
    const size_t bytes = run->phi.staging->size;
    void *nothing = malloc(bytes);
    if (nothing == NULL)
        return ley_fail_memory(error, bytes, "the self-test");
    memset(nothing, 0xff, bytes);
    ley_status status = run->kernel->device->backend->write(run->kernel->device, run->phi.buffer, 0, nothing, bytes, error);
    free(nothing);
    return status;
}

/* Runs the loaded kernel and brings its slab back to `map`, float[PLANES][n_y][n_x]. */
static ley_status compute(dcs_kernel *k, float *map, ley_error *error)
{
    dcs_run run;
    ley_status status = dcs_run_create(&run, k, PLANES, error);
    if (status == LEY_OK)
        status = poison(&run, error);
    if (status == LEY_OK)
        status = dcs_run_begin(&run, FIRST_PLANE, PLANES, error);
    if (status == LEY_OK)
        status = dcs_run_finish(&run, NULL, map, error);
    dcs_run_destroy(&run);
    return status;
}

static ley_status compare(const dcs_kernel *k, const ley_atoms *atoms, const ley_lattice *lattice, const float *map,
                          ley_error *error)
{
    const size_t plane = (size_t)(lattice->n[0] * lattice->n[1]), n = plane * PLANES;
    reference_value *references = calloc(n, sizeof *references);
    if (references == NULL)
        return ley_fail_memory(error, n * sizeof *references, "the self-test");
    for (size_t i = 0; i < n; i++) {
        const size_t in_plane = i % plane;
        const double point_A[3] = {
            lattice->origin_A[0] + (double)(in_plane % (size_t)lattice->n[0]) * lattice->spacing_A[0],
            lattice->origin_A[1] + (double)(in_plane / (size_t)lattice->n[0]) * lattice->spacing_A[1],
            lattice->origin_A[2] + (double)(FIRST_PLANE + i / plane) * lattice->spacing_A[2]};
        references[i] = reference_dcs(atoms, point_A, 1, r_min_A);
    }
    /* Native maths is taken at its word only where it was measured: there the limit follows the measured error. */
    const double root_error = k->facts.root_error[k->choice.spec.root];
    const double promise = accuracy_promise(LEY_MATH_AUTO, (ley_sum)k->choice.spec.sum);
    const ley_accuracy a = accuracy_compare_float(n, map, references, promise + (root_error < 1e-3 ? root_error : 1e-3), NULL);
    free(references);
    if (a.passed)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                    "self-test of dcs failed on %s (%s): an error of %.3g of the absolute terms, at most %.3g is right",
                    k->device->info->name, k->choice.variant, a.max_error, a.tolerance);
}

ley_status dcs_self_test(dcs_kernel *k, ley_error *error)
{
    const dcs_spec *spec = &k->choice.spec;
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    /* One tile less a point each way: a padded edge. Atoms: two launches, the second of which ends within a tile. */
    ley_lattice lattice = {.n = {tuning_dcs_tile_x(spec) - 1, tuning_dcs_tile_y(spec) > 1 ? tuning_dcs_tile_y(spec) - 1 : 1,
                                 FIRST_PLANE + PLANES}};
    memcpy(lattice.origin_A, origin_A, sizeof lattice.origin_A);
    memcpy(lattice.spacing_A, spacing_A, sizeof lattice.spacing_A);
    /* The first launch sums more atoms than a kernel does before it flushes its sums (4,096). */
    const size_t n = slow ? 3 * (size_t)spec->tile / 2 + 20 : 5000;
    ley_atoms *atoms = NULL;
    float *map = calloc((size_t)(lattice.n[0] * lattice.n[1] * PLANES), sizeof *map);
    ley_status status = map != NULL ? LEY_OK : ley_fail_memory(error, 0, "the self-test");
    if (status == LEY_OK)
        status = make_atoms(n, &lattice, &atoms, error);
    if (status == LEY_OK)
        status = dcs_kernel_load_batches(k, &(dcs_problem){atoms, lattice, 1, r_min_A, NULL}, n - n / 10, error);
    if (status == LEY_OK)
        status = compute(k, map, error);
    if (status == LEY_OK)
        status = compare(k, atoms, &lattice, map, error);
    ley_atoms_destroy(atoms);
    free(map);
    return status;
}
