/* Short-range sums at lists of points, on every device of this machine: every pair function, open
 * and periodic cells, right at every point wherever it is, the same as in a map where a map has the
 * point, and the same bytes by whatever pieces and order. */
#include "support.h"

#include "law/pairs.h"
#include "law/reference.h"
#include "short_job.h"

static ley_engine *engine; /* of the device under test */

/* ---- Problems -------------------------------------------------------------------------------- */

typedef enum space { OPEN, OBLIQUE, WIRE, SPACES } space;
static const char *const space_names[] = {"open", "oblique", "a wire"};

static void make_space(space s, support_options *options)
{
    if (s != OPEN)
        short_job_make_periodic(options);
    for (int axis = 0; s == WIRE && axis < 2; axis++)
        options->short_range.periodic[axis] = false;
}

/* Some on atoms, some within reach of few or none, some many cells away. */
static double *points_for(const ley_atoms *atoms, size_t n, double beyond_A, unsigned seed)
{
    double *point_A = calloc(3 * n, sizeof(double)), low_A[3], high_A[3];
    assert_non_null(point_A);
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (size_t i = 0; i < n; i++)
        for (size_t axis = 0; axis < 3; axis++) {
            const double u = rand_r(&seed) / (RAND_MAX + 1.0);
            point_A[3 * i + axis] = i % 9 == 4
                                        ? ley_atoms_positions_A(atoms)[3 * (i % ley_atoms_count(atoms)) + axis]
                                        : low_A[axis] - beyond_A + u * (high_A[axis] - low_A[axis] + 2 * beyond_A);
            if (i % 50 == 49)
                point_A[3 * i + axis] += (axis == i % 3 ? 777 : 0) * (i % 4 == 1 ? 1 : -1);
        }
    return point_A;
}

/* The largest error, relative to the sum of the absolute terms there. Functions of the user's own
 * are judged by the job alone. */
static double worst_error(const ley_atoms *atoms, const support_points_job *o, const support_options *options)
{
    const ley_short_range range = support_range(options);
    const double constant = ley_pair_get(range.pair)->is_energy
                                ? 1
                                : ley_coulomb_constant(range.units, range.dielectric, range.temperature_K);
    double worst = 0;
    for (int64_t i = 0; range.pair != LEY_PAIR_EXPRESSION && i < ley_points_count(o->points); i++) {
        const reference_value right = reference_short_range(
            atoms, &range, NULL, ley_points_positions_A(o->points) + 3 * i, constant, range.r_min_A);
        const double off = ley_points_read_values(o->points)[i] - right.value,
                     beyond = off < right.lower    ? right.lower - off
                              : off > right.higher ? off - right.higher
                                                   : 0;
        worst = isfinite(off) ? fmax(worst, beyond / fmax(right.absolute, 1e-30)) : INFINITY;
    }
    return worst;
}

static void check(const ley_atoms *atoms, size_t n, const double *point_A, space s, const support_options *options)
{
    support_points_job o = support_points_run(engine, atoms, n, point_A, options, false);
    if (o.status == LEY_ERROR_NO_DEVICE) {
        support_points_end(&o);
        return;
    }
    assert_ok_at(o.status, &o.error, space_names[s], __FILE__, __LINE__);
    const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
    const double off = worst_error(atoms, &o, options);
    if (!(off <= a->tolerance) || !a->passed || a->tolerance > 1e-2)
        fail_msg("%s, %s, variant %s, sum %d: off by %g, by the job's judge %g, not %g",
                 ley_pair_get(options->short_range.pair)->name, space_names[s],
                 options->variant != NULL ? options->variant : "default", options->sum, off, a->max_error,
                 a->tolerance);
    assert_string_equal(ley_points_units(o.points),
                        ley_pair_get(options->short_range.pair)->is_energy ? "kcal/mol" : "kT/e");
    support_points_end(&o);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* At level quick each function in one of the spaces, by turns. */
static void test_functions(void **state)
{
    const size_t n = 300;
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    double *point_A = points_for(atoms, n, 9, 5);
    for (int pair = LEY_PAIR_COULOMB; pair <= LEY_PAIR_EXPRESSION; pair++)
        for (space s = OPEN; s < SPACES; s++) {
            support_options options = support_short_range((ley_pair)pair, short_job_cutoff_A);
            make_space(s, &options);
            if (!support_is_quick() || pair % SPACES == (int)s)
                check(atoms, n, point_A, s, &options);
        }
    free(point_A);
    ley_atoms_destroy(atoms);
}

static void test_variants_and_sums(void **state)
{
    const size_t n = 500;
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    double *point_A = points_for(atoms, n, 9, 6);
    const size_t variants = (size_t)support_variants("cutoff", LEY_TARGET_POINTS);
    for (size_t i = 0; i < variants + 3; i++) {
        support_options options = support_short_range(LEY_PAIR_TAYLOR3, short_job_cutoff_A);
        options.variant = i < variants ? ley_variant_name("cutoff", LEY_TARGET_POINTS, i) : NULL;
        options.sum = i < variants ? LEY_SUM_FLOAT : (ley_sum)(i - variants);
        options.short_range.bin_depth = i % 2 == 0 ? 3 : 20;
        options.short_range.bin_fill = i % 2 == 0 ? 3 : 0.2;
        make_space((space)(i % SPACES), &options);
        if (!support_is_quick() || i >= variants || support_tries_variant(engine, options.variant))
            check(atoms, n, point_A, (space)(i % SPACES), &options);
    }
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* A cutoff that all atoms are within; one within which hardly any are; an atom far from the others;
 * no point in reach of any, a single point. */
static void test_extremes(void **state)
{
    const double position_A[] = {0, 0, 0, 1, 1, 0, 300, -200, 100}, charge_e[] = {1, -0.5, 2}, radius_A[] = {1, 1, 1};
    const double point_A[] = {0.5, 0.5, 0.5, 300, -199, 100, 1e8, 0, -1e8, 0.3, 0, 0, -40, 0, 0};
    static const double cutoffs_A[] = {0.6, 12, 5000};
    ley_atoms *atoms = support_make_atoms(3, position_A, charge_e, radius_A);
    for (size_t i = 0; i < sizeof cutoffs_A / sizeof *cutoffs_A; i++) {
        support_options options = support_short_range(LEY_PAIR_COULOMB, cutoffs_A[i]);
        check(atoms, 5, point_A, OPEN, &options);
        check(atoms, 1, point_A, OPEN, &options);
        support_points_job o = support_points_run(engine, atoms, 1, point_A + 6, &options, false);
        assert_ok_at(o.status, &o.error, "far away", __FILE__, __LINE__);
        assert_true(ley_points_read_values(o.points)[0] == 0);
        support_points_end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* The same bytes, whatever pieces points are taken in, and in whatever order they come. */
static void test_pieces_and_order(void **state)
{
    const size_t n = 1000;
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    double *point_A = points_for(atoms, n, 9, 6), *other_A = calloc(3 * n, sizeof(double));
    support_options options = support_short_range(LEY_PAIR_SHIFTED, short_job_cutoff_A);
    support_points_job whole = support_points_run(engine, atoms, n, point_A, &options, false);
    assert_ok_at(whole.status, &whole.error, "whole", __FILE__, __LINE__);
    for (size_t i = 0; i < n; i++)
        memcpy(other_A + 3 * (n - 1 - i), point_A + 3 * i, 3 * sizeof(double));
    options.slab_planes = 37;
    support_points_job pieces = support_points_run(engine, atoms, n, other_A, &options, false);
    assert_ok_at(pieces.status, &pieces.error, "pieces", __FILE__, __LINE__);
    assert_true(ley_job_report(pieces.job)->slab_count >= n / 37);
    for (size_t i = 0; i < n; i++)
        assert_true(ley_points_read_values(whole.points)[i] == ley_points_read_values(pieces.points)[n - 1 - i]);
    support_points_end(&pieces);
    support_points_end(&whole);
    free(other_A);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void test_wrong_arguments(void **state)
{
    ley_error error = {0};
    ley_job *job = NULL;
    const double point_A[] = {1, 2, 3};
    ley_run_options run = support_default_run_options();
    ley_atoms *atoms = support_atoms(4, 0, 8, 7);
    ley_points *points = support_make_points(1, point_A);
    for (int i = 0; i < 4; i++) {
        ley_short_range range = support_default_short_range();
        range.binning = i == 0 ? LEY_PLACE_DEVICE : LEY_PLACE_AUTO;
        range.transposition = i == 1 ? LEY_PLACE_HOST : LEY_PLACE_AUTO;
        range.cutoff_A = i == 2 ? -1 : 12;
        run.variant = i == 3 ? "halves16" : NULL;
        assert_int_equal(
            ley_job_create_short_range(engine, atoms, (ley_target){.points = points}, &range, &run, &job, &error),
            LEY_ERROR_USAGE);
        assert_null(job);
    }
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("short-range sums at points", &engine, test_functions, test_variants_and_sums, test_extremes,
                         test_pieces_and_order, test_wrong_arguments);
}

int main(void)
{
    return support_on_each_device(run_on);
}
