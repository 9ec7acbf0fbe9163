#include "methods/cutoff/point_pairs_self_test.h"

#include "error.h"
#include "methods/cutoff/self_test.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in cutoffs: the edges of the box that atoms are in, and of the crowd among them, whose
 * bins overflow; the bins' sides; where points are crowded, and how far they reach from there. */
static const double low = 1000.25, edge[3] = {2.5, 1.9, 1.6}, crowd_edge = 0.2, side[3] = {0.37, 0.43, 0.31};
static const double centres[][3] = {{0.7, 0.6, 0.5}, {1.9, 1.2, 0.9}, {1.2, 0.5, 1.3}};
static const double radius = 0.15;
enum {
    CENTRES = sizeof centres / sizeof centres[0],
    SIDES = 6,
    CROWD = 40,
    BEYOND = 30, /* the first point that is beyond all atoms */
    ON_POINTS = 30,
    ATOMS = 260,
    SLOW_ATOMS = 110, /* for interpreters, which have few points, and larger bins */
    SLOW_POINTS = 40  /* more than BEYOND, as any device has */
};

static double uniform(uint32_t *state, double from, double to)
{
    return from + (to - from) * self_test_fraction(state);
}

/* In crowds, each of which has a point at the middle of each side of its box, or anywhere among the
 * atoms and around them; some beyond all atoms. */
static void place_points(bool crowded, double cutoff_A, size_t n, double (*point_A)[3])
{
    uint32_t state = 7;
    for (size_t i = 0; i < n; i++) {
        const double *centre = centres[i % CENTRES];
        const size_t at = i / CENTRES;
        for (size_t axis = 0; axis < 3; axis++) {
            const double from = crowded ? centre[axis] - radius : -1,
                         to = crowded ? centre[axis] + radius : edge[axis] + 1;
            const double middle = centre[axis] + (at / 2 != axis ? 0 : at % 2 == 0 ? -radius : radius);
            point_A[i][axis] = cutoff_A * (low + (crowded && at < SIDES ? middle : uniform(&state, from, to)));
        }
        if (i % (BEYOND + 1) == BEYOND)
            point_A[i][i % 3] += (i % 2 == 0 ? 1e3 : -1e3) * cutoff_A;
    }
}

/* One on the brink of reach of each side of each crowd; some on points and within r_min of one; a
 * crowd; the others anywhere. */
static void place_atom(size_t i, const double (*point_A)[3], double cutoff_A, uint32_t *state, double atom_A[3])
{
    for (size_t axis = 0; axis < 3; axis++) {
        const double brink = i / CENTRES / 2 != axis ? 0 : (radius + 0.99) * (i / CENTRES % 2 == 0 ? -1 : 1);
        if (i < CENTRES * SIDES)
            atom_A[axis] = cutoff_A * (low + centres[i % CENTRES][axis] + brink);
        else if (i < CENTRES * SIDES + ON_POINTS)
            atom_A[axis] = point_A[i % BEYOND][axis] + (i % 2 == 0 ? 0 : 0.01 * cutoff_A);
        else
            atom_A[axis] =
                cutoff_A * (low + uniform(state, 0, i < CENTRES * SIDES + ON_POINTS + CROWD ? crowd_edge : edge[axis]));
    }
}

static ley_status make_atoms(bool slow, double cutoff_A, const double (*point_A)[3], ley_atoms **atoms,
                             ley_error *error)
{
    const size_t n = slow ? SLOW_ATOMS : ATOMS;
    double position_A[ATOMS][3], charge_e[ATOMS], radius_A[ATOMS];
    uint32_t state = 2026;
    for (size_t i = 0; i < n; i++) {
        place_atom(i, point_A, cutoff_A, &state, position_A[i]);
        charge_e[i] = i % 13 == 5 && i >= CENTRES * SIDES
                          ? 0
                          : uniform(&state, 0.5, 1) * (self_test_fraction(&state) < 0.25 ? -1 : 1);
        radius_A[i] = cutoff_A * uniform(&state, 0.05, 0.15);
    }
    return ley_atoms_create(n, position_A[0], charge_e, radius_A, atoms, error);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct trial {
    point_pairs_kernel *kernel;
    cutoff_problem problem;
    point_list list;
    const char *name;
    size_t n;
    double (*point_A)[3], *value, *field;
    int axis; /* of the field, while that is judged */
} trial;

/* In two runs, the second of which begins within a group of the first. */
static ley_status compute(const trial *t, ley_error *error)
{
    const int64_t n = (int64_t)t->n, first = n - n / 3;
    point_pairs_run run = {.kernel = NULL};
    ley_status status = LEY_OK;
    for (int64_t from = 0; from < n && status == LEY_OK; from += first) {
        status = point_pairs_run_begin(&run, t->kernel, from, from == 0 ? first : n - first, 0, NULL, error);
        if (status == LEY_OK)
            status = point_pairs_run_finish(&run, t->value, t->field, error);
    }
    point_pairs_run_end(&run);
    return status;
}

static reference_value right_value(const void *context, const double point_A[3])
{
    return cutoff_problem_reference(&((const trial *)context)->problem, point_A);
}

static reference_value right_field(const void *context, const double point_A[3])
{
    const trial *t = context;
    reference_value field[3];
    cutoff_problem_reference_field(&t->problem, point_A, field);
    return field[t->axis];
}

/* Numbers of which each point has one at every `stride`-th place. A slope is steeper than its
 * function by one power of the distance. */
static ley_status judge_numbers(const trial *t, const char *what, const double *numbers, size_t stride,
                                ley_error *error)
{
    const point_pairs_kernel *k = t->kernel;
    const double tolerance = cutoff_test_tolerance(k->choice.spec.pair, k->facts.root_error[k->choice.spec.root]);
    self_test s = {.variant = k->choice.variant,
                   .problem = what,
                   .reference = stride == 1 ? right_value : right_field,
                   .context = t,
                   .tolerance = stride == 1 ? tolerance : 3 * tolerance,
                   .least_share = cutoff_test_least_share(k->choice.spec.pair)};
    ley_status status = self_test_create(&s, t->n, error);
    if (status == LEY_OK) {
        memcpy(s.point_A, t->point_A, t->n * sizeof *s.point_A);
        for (size_t i = 0; i < t->n; i++)
            s.value[i] = numbers[stride * i];
        status = self_test_judge(&s, error);
    }
    self_test_destroy(&s);
    return status;
}

static ley_status judge(trial *t, ley_error *error)
{
    char what[64];
    ley_status status = judge_numbers(t, t->name, t->value, 1, error);
    for (t->axis = 0; t->axis < 3 && status == LEY_OK && t->kernel->choice.spec.field; t->axis++) {
        snprintf(what, sizeof what, "%s, field along %c", t->name, 'x' + t->axis);
        status = judge_numbers(t, what, t->field + t->axis, 3, error);
    }
    return status;
}

static bool is_slow(const point_pairs_kernel *kernel)
{
    return (kernel->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
}

static ley_status run_trial(trial *t, const ley_atoms *atoms, const ley_short_range *range, ley_error *error)
{
    ley_grid grid;
    ley_status status = point_list_create((int64_t)t->n, t->point_A[0], atoms, range, &t->list, &grid, error);
    if (status == LEY_OK)
        status = cutoff_problem_init(&t->problem, atoms, &grid, range, 1, range->dielectric, cutoff_test_r_min_A(range),
                                     error);
    if (status == LEY_OK && t->kernel->choice.spec.field)
        status = cutoff_problem_add_field(&t->problem, error);
    if (status == LEY_OK) {
        binning_options o = t->problem.plan.options;
        for (int axis = 0; axis < 3; axis++)
            o.side_A[axis] = (is_slow(t->kernel) ? 2 : 1) * side[axis] * range->cutoff_A;
        status = binning_prepare(atoms, &grid, &o, &t->problem.plan, error);
    }
    if (status == LEY_OK)
        status = cutoff_problem_bin(&t->problem, error);
    if (status == LEY_OK)
        status = point_pairs_load(t->kernel, &t->problem, &t->list, error);
    if (status == LEY_OK)
        status = compute(t, error);
    return status == LEY_OK ? judge(t, error) : status;
}

static ley_status test_points(const point_pairs_kernel *kernel, bool crowded, ley_error *error)
{
    const bool slow = is_slow(kernel);
    const int64_t each = point_pairs_group(&kernel->choice.spec);
    const ley_short_range range =
        cutoff_test_range(kernel->choice.spec.pair, kernel->choice.spec.depth, kernel->bins.problem);
    /* Bins are of one problem: a kernel of its own, but for what was built. */
    point_pairs_kernel k = {
        .device = kernel->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = kernel->kernel};
    trial t = {.kernel = &k,
               .name = crowded ? "points in crowds" : "points anywhere",
               .n = slow ? SLOW_POINTS : (size_t)(3 * each + each / 2 + 3)};
    ley_atoms *atoms = NULL;
    t.point_A = malloc(t.n * 7 * sizeof(double));
    if (t.point_A == NULL)
        return ley_fail_memory(error, t.n * 7 * sizeof(double), "the self-test");
    t.value = (double *)(t.point_A + t.n);
    t.field = t.value + t.n;
    place_points(crowded, range.cutoff_A, t.n, t.point_A);
    ley_status status = make_atoms(slow, range.cutoff_A, (const double(*)[3])t.point_A, &atoms, error);
    if (status == LEY_OK)
        status = run_trial(&t, atoms, &range, error);
    k.kernel.program = NULL; /* the caller's */
    point_pairs_destroy(&k);
    cutoff_problem_clear(&t.problem);
    point_list_destroy(&t.list);
    ley_atoms_destroy(atoms);
    free(t.point_A);
    return status;
}

ley_status point_pairs_self_test(const point_pairs_kernel *kernel, ley_error *error)
{
    const ley_status status = test_points(kernel, true, error);
    return status == LEY_OK && !is_slow(kernel) ? test_points(kernel, false, error) : status;
}
