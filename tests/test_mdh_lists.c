/* Multiple Debye-Hueckel values at lists of points, on every device of this machine: right at every
 * point wherever the points and the atoms are, and the same in whatever order they come. And the
 * order that they are sorted into. */
#include "support.h"

#include "law/mdh.h"
#include "law/reference.h"
#include "layout/space_order.h"

static ley_engine *engine; /* of the device under test */

static const ley_ion salt[] = {{1, 0.15, 2}, {-1, 0.15, 2}};
static const ley_solvent pure = {78.54, 2, 298.15, 0, NULL}, salty = {78.54, 2, 298.15, 2, salt};

/* ---- Problems -------------------------------------------------------------------------------- */

/* Charges of both signs in a cube about the origin. */
static ley_atoms *cube_of_atoms(size_t n, double edge_A, unsigned seed)
{
    double *numbers = calloc(5 * n, sizeof(double));
    assert_non_null(numbers);
    for (size_t i = 0; i < 3 * n; i++)
        numbers[i] = edge_A * (support_uniform(&seed) - 0.5);
    for (size_t i = 0; i < n; i++) {
        numbers[3 * n + i] = 2 * support_uniform(&seed) - 1;
        numbers[4 * n + i] = 1 + support_uniform(&seed);
    }
    ley_atoms *atoms = support_make_atoms(n, numbers, numbers + 3 * n, numbers + 4 * n);
    free(numbers);
    return atoms;
}

/* The other way round, or in some disorder that `undo` brings back: shuffled[i] is point
 * undo[i]. */
static double *shuffled(const double *point_A, size_t n, size_t *undo, unsigned seed)
{
    double *other_A = calloc(3 * n, sizeof(double));
    assert_non_null(other_A);
    for (size_t i = 0; i < n; i++)
        undo[i] = n - 1 - i;
    for (size_t i = n; n > 2 && i > 1; i--) {
        const size_t j = (size_t)rand_r(&seed) % i, kept = undo[i - 1];
        undo[i - 1] = undo[j];
        undo[j] = kept;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(other_A + 3 * i, point_A + 3 * undo[i], 3 * sizeof(double));
    return other_A;
}

/* Values, the caller's; NULL when the device cannot do it. */
static double *values_at(const ley_atoms *atoms, size_t n, const double *point_A, const ley_solvent *solvent,
                         const char *variant, ley_sum sum)
{
    ley_error error = {0};
    ley_boundary *boundary = NULL;
    ley_job *job = NULL;
    support_options options = support_default_options();
    options.variant = variant;
    options.sum = sum;
    assert_ok(ley_boundary_create_points((int64_t)n, point_A, &boundary, &error));
    assert_ok(support_job_create_boundary(engine, atoms, boundary, solvent, &options, &job, &error));
    const ley_status status = ley_job_run(job, &error);
    double *values = NULL;
    if (status != LEY_ERROR_NO_DEVICE) {
        assert_ok(status);
        values = malloc(n * sizeof *values);
        memcpy(values, ley_boundary_read_values(boundary), n * sizeof *values);
    }
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_boundary_destroy(boundary);
    return values;
}

/* The largest error, relative to the sum of the absolute terms there; where that is next to
 * nothing, anything as small is right. */
static double worst_error(const ley_atoms *atoms, size_t n, const double *point_A, const ley_solvent *solvent,
                          const double *values)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const reference_value right = reference_mdh(atoms, point_A + 3 * i, solvent);
        const double off = fabs(values[i] - right.value) / fmax(right.absolute, 1e-30);
        worst = !isfinite(off) ? INFINITY : fmax(worst, off);
    }
    return worst;
}

/* At level quick: the widest vectors, on devices without them a variant for GPUs, and the default
 * one's other sums, in turn. */
static bool is_its_turn(size_t i, size_t variants, size_t turn)
{
    const size_t variant = support_has_vectors(engine) ? variants - 1 : 1;
    return i == (turn % 3 == 0 ? variant : variants + turn % 3 - 1);
}

/* By every variant and by the default one's other sums: right at every point, and the same bytes in
 * another order. At level quick each list is for one of three, the next one for another. */
static void check(const char *what, const ley_atoms *atoms, size_t n, const double *point_A, const ley_solvent *solvent,
                  double limit)
{
    const size_t variants = (size_t)support_variants("mdh", LEY_TARGET_GRID);
    size_t *undo = calloc(n, sizeof *undo);
    double *other_A = shuffled(point_A, n, undo, 7);
    static size_t turn = 2; /* the first list has a variant */
    turn++;
    for (size_t i = 0; i < variants + 2; i++) {
        if (support_is_quick() && !is_its_turn(i, variants, turn))
            continue;
        const char *variant = i < variants ? ley_variant_name("mdh", LEY_TARGET_GRID, i) : NULL;
        const ley_sum sum = i < variants ? LEY_SUM_FLOAT : i == variants ? LEY_SUM_COMPENSATED : LEY_SUM_DOUBLE;
        double *values = values_at(atoms, n, point_A, solvent, variant, sum);
        if (values == NULL)
            continue;
        const double off = worst_error(atoms, n, point_A, solvent, values),
                     most = sum == LEY_SUM_DOUBLE ? 1e-12 : limit;
        if (!(off <= most))
            fail_msg("%s, %s, sum %d: off by %g, not %g", what, variant != NULL ? variant : "default", sum, off, most);
        double *others = values_at(atoms, n, other_A, solvent, variant, sum);
        for (size_t k = 0; k < n; k++)
            if (others[k] != values[undo[k]])
                fail_msg("%s, %s: point %zu has %.9g, in another order %.9g", what, variant, undo[k], values[undo[k]],
                         others[k]);
        free(others);
        free(values);
    }
    free(other_A);
    free(undo);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Points far apart in one list: whichever came first, the others lost their digits. */
static void test_points_far_apart(void **state)
{
    const double position_A[] = {1000003, 1000000, 1000000, 1000000, 1000002, 1000000}, charge_e[] = {1, -2};
    const double point_A[] = {0, 0, 0, 1000002, 1000000, 1000000};
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    check("two points", atoms, 2, point_A, &pure, 2e-6);
    ley_atoms_destroy(atoms);

    for (double edge_A = 3000; edge_A <= 1.5e8;
         edge_A *= support_is_quick() ? 40000 : 200) { /* few points in much space, each beside an atom */
        atoms = cube_of_atoms(200, edge_A, 3);
        double *near_A = support_points_near(atoms, 300, 0, 0.06, 3, 4);
        check("points beside far atoms", atoms, 300, near_A, &pure, 2e-6);
        free(near_A);
        ley_atoms_destroy(atoms);
    }
}

/* In a molecule, at all distances from atoms, the least of which the host computes; and so with one
 * point elsewhere. */
static void test_points_close_to_atoms(void **state)
{
    const size_t n = support_is_quick() ? 400 : 2000;
    ley_atoms *atoms = cube_of_atoms(500, 25, 5);
    double *point_A = support_points_near(atoms, n, 0, 0.02, 4, 6);
    check("points in a molecule", atoms, n, point_A, &pure, 2e-6);
    check("points in a molecule in salt", atoms, n, point_A, &salty, 3e-6);
    for (size_t axis = 0; axis < 3; axis++)
        point_A[axis] = axis == 1 ? -1e8 : 1e8;
    check("and one elsewhere", atoms, n, point_A, &pure, 2e-6);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* One atom, so that no other one's term hides an error; points at all distances. */
static void test_one_atom(void **state)
{
    ley_atoms *atoms = cube_of_atoms(1, 25, 8);
    double *point_A = support_points_near(atoms, 1000, 0, 0.03, 300, 9);
    check("one atom", atoms, 1000, point_A, &pure, 2e-6);
    check("one atom in salt", atoms, 1000, point_A, &salty,
          5e-6 + 4e-7 * 1.4427 * 300 * ley_screening_per_A(&salty)); /* an exponent's digits */
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* What is promised is kept at each point, far points of a screened potential among them. */
static void test_promise(void **state)
{
    ley_error error = {0};
    ley_boundary *boundary = NULL;
    ley_job *job = NULL;
    support_options options = support_default_options();
    options.verify_points = 1000;
    ley_atoms *atoms = cube_of_atoms(20, 25, 8);
    double *point_A = support_points_near(atoms, 500, 0, 0.03, 400, 9);
    assert_ok(ley_boundary_create_points(500, point_A, &boundary, &error));
    assert_ok(support_job_create_boundary(engine, atoms, boundary, &salty, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_accuracy *a = &ley_job_report(job)->accuracy;
    assert_true(a->passed && a->max_error <= a->tolerance && a->tolerance > 1e-5 && a->tolerance < 1e-4);
    ley_job_destroy(job);
    ley_boundary_destroy(boundary);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* ---- The order ------------------------------------------------------------------------------- */

/* The sum over groups of 128 points of their boxes' longest edges. */
static double edges_of_groups_A(const double *point_A, size_t n, const int32_t *order)
{
    double sum_A = 0;
    for (size_t first = 0; first < n; first += 128) {
        double edge_A = 0;
        for (size_t axis = 0; axis < 3; axis++) {
            double low_A = INFINITY, high_A = -INFINITY;
            for (size_t i = first; i < n && i < first + 128; i++) {
                low_A = fmin(low_A, point_A[3 * (size_t)order[i] + axis]);
                high_A = fmax(high_A, point_A[3 * (size_t)order[i] + axis]);
            }
            edge_A = fmax(edge_A, high_A - low_A);
        }
        sum_A += edge_A;
    }
    return sum_A;
}

static void assert_permutation(const int32_t *order, size_t n)
{
    bool *seen = calloc(n, sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] >= 0 && (size_t)order[i] < n && !seen[order[i]]);
        seen[order[i]] = true;
    }
    free(seen);
}

/* Points of a cube of 100 A, some twice, and one far away; of 128 of them the box should be 11 A,
 * as a cube. */
static void test_order(void **state)
{
    enum { POINTS = 100000 };
    ley_error error = {0};
    unsigned seed = 1;
    double *point_A = calloc(3 * POINTS, sizeof(double));
    size_t *undo = calloc(POINTS, sizeof *undo);
    int32_t *order = calloc(2 * POINTS, sizeof *order), *other = order + POINTS;
    for (size_t i = 0; i < 3 * POINTS; i++)
        point_A[i] = i >= 300 && i < 600 ? point_A[i - 300] : 100 * support_uniform(&seed);
    for (int outlier = 0; outlier <= 1; outlier++) {
        if (outlier)
            point_A[0] = -1e8;
        double *other_A = shuffled(point_A, POINTS, undo, 2);
        assert_ok(space_order(point_A, POINTS, order, &error));
        assert_ok(space_order(other_A, POINTS, other, &error));
        assert_permutation(order, POINTS);
        assert_permutation(other, POINTS);
        for (size_t i = 0; i < POINTS; i++)
            assert_memory_equal(point_A + 3 * (size_t)order[i], other_A + 3 * (size_t)other[i], 3 * sizeof(double));
        const double mean_A = (edges_of_groups_A(point_A, POINTS, order) - outlier * 1e8) / (POINTS / 128.0);
        if (!(mean_A < 2 * 11))
            fail_msg("groups of 128 points extend over %g A", mean_A);
        free(other_A);
    }
    for (size_t i = 0; i < 3 * POINTS; i++) /* all in one place */
        point_A[i] = 1;
    assert_ok(space_order(point_A, POINTS, order, &error));
    assert_permutation(order, POINTS);
    assert_ok(space_order(point_A, 1, order, &error));
    assert_int_equal(order[0], 0);
    free(order);
    free(undo);
    free(point_A);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("lists of points", &engine, test_points_far_apart, test_points_close_to_atoms, test_one_atom,
                         test_promise);
}

int main(void)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(test_order)};
    const int failed = cmocka_run_group_tests_name("the order of points", alone, NULL, NULL);
    return failed + (support_watches_threads ? 0 : support_on_each_device(run_on)); /* drivers are not instrumented */
}
