#include "cutoff_self_test.h"

#include "accuracy.h"
#include "error.h"
#include "self_test.h"
#include "short_range.h"

#include <math.h>
#include <stdlib.h>

/* Lengths in cutoffs: the lattice of a small problem, and its r_min, which is larger where r^-12 would hide all the rest. */
static const double spacing[3] = {1.0 / 8, 1.0 / 7, 1.0 / 6}, origin[3] = {-3, 40, 1000}, charges_r_min = 0.01, radii_r_min = 0.12;

/* Atoms in and around the lattice, on points, within r_min of others, and many in one place. */
static ley_status make_atoms(size_t n, const ley_lattice *lattice, double cutoff_A, ley_atoms **atoms, ley_error *error)
{
    double *position_A = calloc(5 * n, sizeof(double)), *charge_e = position_A + 3 * n, *radius_A = position_A + 4 * n;
    if (position_A == NULL)
        return ley_fail_memory(error, 5 * n * sizeof(double), "the self-test");
    uint32_t state = 2013;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double along = floor(self_test_fraction(&state) * (double)(lattice->n[axis] + 22) - 11), within = self_test_fraction(&state);
            const double beside = i % 23 == 5 ? 0 : i % 23 == 7 ? 0.02 : within;
            const double at = i % 11 == 3 ? floor((double)lattice->n[axis] / 2) + 0.3 * within : along + beside;
            position_A[3 * i + axis] = lattice->origin_A[axis] + at * lattice->spacing_A[axis];
        }
        charge_e[i] = i % 13 == 5 ? 0 : 2 * self_test_fraction(&state) - 1;
        radius_A[i] = cutoff_A * (0.05 + 0.1 * self_test_fraction(&state));
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, radius_A, atoms, error);
    free(position_A);
    return status;
}

/* What the kernel is made for: the job's own expression with its cutoff, or a function of the table. */
static ley_short_range test_range(const cutoff_kernel *k)
{
    ley_job_options o;
    ley_job_options_default(&o);
    ley_short_range range = o.short_range;
    if (k->choice.spec.pair == LEY_PAIR_SPEC_EXPRESSION) {
        range = *k->problem->range;
        for (int axis = 0; axis < 3; axis++)
            range.periodic[axis] = false;
    }
    range.pair = (ley_pair)k->choice.spec.pair;
    range.kappa_per_A = range.pair == LEY_PAIR_YUKAWA ? 3 / range.cutoff_A : range.kappa_per_A;
    range.depth_kcal_mol = NULL;
    range.bin_depth = k->choice.spec.depth;
    range.bin_fill = 1.5;
    return range;
}

/* In two runs. */
static ley_status compute(cutoff_kernel *k, ley_map *map, ley_error *error)
{
    const int64_t layers = cutoff_layers(&k->problem->lattice);
    cutoff_run run = {.kernel = NULL};
    ley_status status = cutoff_run_create(&run, k, layers - 1, error);
    for (int64_t first = 0; first < layers && status == LEY_OK; first += layers - 1) {
        status = cutoff_run_begin(&run, first, first == 0 ? layers - 1 : 1, error);
        if (status == LEY_OK)
            status = cutoff_run_finish(&run, NULL, ley_map_values(map), NULL, error);
    }
    cutoff_run_destroy(&run);
    return status;
}

static ley_status compare(const cutoff_kernel *k, const ley_map *map, ley_error *error)
{
    /* Native maths is taken at its word only where it was measured: there the limit follows the measured error. A user's function may be
     * steeper than its arguments are right. */
    const cutoff_spec *spec = &k->choice.spec;
    const double own = spec->pair == LEY_PAIR_SPEC_EXPRESSION ? 1e-3 : 1e-5;
    const double promise = own + 4 * fmin(k->facts.root_error[spec->root], 1e-3);
    ley_accuracy a;
    ley_status status = accuracy_sample_map(map, cutoff_problem_reference, k->problem, SIZE_MAX, 1, promise, NULL, &a, NULL, error);
    if (status == LEY_OK && !a.passed && !(a.relative_rms <= a.tolerance)) /* Taylor's functions lose digits next to the cutoff */
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "self-test of cutoff failed on %s (%s): an error of %.3g of the absolute terms, at most %.3g is right", k->device->info->name,
                          k->choice.variant, a.max_error, a.tolerance);
    return status;
}

ley_status cutoff_self_test(cutoff_kernel *k, ley_error *error)
{
    if (k->choice.spec.pair > LEY_PAIR_SPEC_EXPRESSION)
        return LEY_OK;
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const ley_short_range range = test_range(k);
    ley_lattice lattice = {.n = {slow ? 9 : 21, 18, slow ? 9 : 19}};
    for (int axis = 0; axis < 3; axis++) {
        lattice.spacing_A[axis] = spacing[axis] * range.cutoff_A;
        lattice.origin_A[axis] = origin[axis] * range.cutoff_A;
    }
    ley_atoms *atoms = NULL;
    ley_map *map = NULL;
    const double r_min = short_range_number_count(range.pair) > 1 ? radii_r_min : charges_r_min;
    cutoff_problem problem = {.binned = NULL};
    ley_status status = make_atoms(slow ? 120 : 1200, &lattice, range.cutoff_A, &atoms, error);
    if (status == LEY_OK)
        status = ley_map_create(&lattice, &map, error);
    if (status == LEY_OK)
        status = cutoff_problem_init(&problem, atoms, &lattice, &range, 1, 1, r_min * range.cutoff_A, error);
    if (status == LEY_OK)
        status = cutoff_problem_bin(&problem, error);
    if (status == LEY_OK)
        status = cutoff_problem_add_extra(&problem, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(k, &problem, error);
    if (status == LEY_OK)
        status = compute(k, map, error);
    if (status == LEY_OK)
        status = compare(k, map, error);
    cutoff_problem_clear(&problem);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}
