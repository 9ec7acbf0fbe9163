/* Every DCS kernel variant, maths and sum on every device of this machine against double precision;
 * and what physics says of any right sum. */
#include "pairwise.h"
#include "support.h"

#include "law/dcs.h"
#include "law/reference.h"

static ley_engine *engine; /* of the device under test */
static const double r_min_A = 0.05;

static support_options options_of(const char *variant, ley_math math, ley_sum sum)
{
    support_options options = support_default_options();
    options.variant = variant;
    options.math = math;
    options.sum = sum;
    return options;
}

/* LEY_ERROR_NO_DEVICE is the right answer of a device that cannot do it; anything else has to be
 * right. */
static void check_combination(const ley_atoms *atoms, const ley_grid *points, const ley_map *reference,
                              const support_options *options)
{
    static const char *const maths[] = {"standard", "native", "auto"}, *const sums[] = {"float", "compensated",
                                                                                        "double"};
    ley_error error = {0};
    ley_job *job = NULL;
    ley_map *map = support_make_map(points);
    assert_ok(support_job_create(engine, atoms, map, options, &job, &error));
    ley_status status = ley_job_run(job, &error);
    if (status == LEY_ERROR_NO_DEVICE) {
        const ley_device_info *info = ley_engine_device(engine, 0);
        const bool no_double = options->sum == LEY_SUM_DOUBLE && !info->has_double;
        const bool has_vectors = info->device_class == LEY_CLASS_CPU && strcmp(info->platform, "rusticl") != 0;
        const bool not_cpu = strncmp(options->variant, "vector", 6) == 0 && !has_vectors;
        if (!no_double && !not_cpu)
            fail_msg("%s", error.message);
        assert_non_null(strstr(error.message, info->name));
    } else {
        assert_ok(status);
        const double difference = support_difference(map, reference),
                     limit = options->math == LEY_MATH_NATIVE ? 1e-3 : 1e-5;
        if (!(difference <= limit))
            fail_msg("%s, %s maths, %s sum: off by %g", options->variant, maths[options->math], sums[options->sum],
                     difference);
    }
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
}

static bool is_tried(const int *at)
{
    return support_tries_variant(engine, ley_variant_name("dcs", LEY_TARGET_GRID, (size_t)at[0]));
}

/* The better sums are better: their errors, on a problem that float sums get wrong in the sixth
 * digit. */
static void test_sums_are_worth_their_price(void **state)
{
    ley_atoms *atoms = support_atoms(6000, -40, 60, 2);
    const ley_grid small = {.origin_A = {-3, 1, -7}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {16, 8, 2}};
    ley_map *reference = support_reference_map(atoms, &small, r_min_A);
    double difference[3] = {0, 0, 0};
    for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_DOUBLE; sum++) {
        if (sum == LEY_SUM_DOUBLE && !ley_engine_device(engine, 0)->has_double)
            continue;
        const support_options options = options_of("local", LEY_MATH_STANDARD, (ley_sum)sum);
        ley_map *map = support_run(engine, atoms, &small, &options);
        difference[sum] = support_difference(map, reference);
        ley_map_destroy(map);
    }
    assert_true(difference[LEY_SUM_FLOAT] < 1e-5);
    assert_true(difference[LEY_SUM_COMPENSATED] < 0.7 * difference[LEY_SUM_FLOAT]);
    assert_true(difference[LEY_SUM_DOUBLE] < 3e-7);
    ley_map_destroy(reference);
    ley_atoms_destroy(atoms);
}

/* Copies atoms, charges times `factor`, positions moved by `shift_A` along all axes. */
static ley_atoms *changed(const ley_atoms *atoms, double factor, double shift_A)
{
    const size_t n = ley_atoms_count(atoms);
    double *position_A = calloc(3 * n, sizeof(double)), *charge_e = calloc(n, sizeof(double));
    for (size_t i = 0; i < 3 * n; i++)
        position_A[i] = ley_atoms_positions_A(atoms)[i] + shift_A;
    for (size_t i = 0; i < n; i++)
        charge_e[i] = factor * ley_atoms_charges_e(atoms)[i];
    ley_atoms *result = support_make_atoms(n, position_A, charge_e, NULL);
    free(position_A);
    free(charge_e);
    return result;
}

/* ---- Digits ---------------------------------------------------------------------------------- */

/* Atoms from least_A to most_A from random points of the grid, in any direction. */
static ley_atoms *close_atoms(size_t n, const ley_grid *l, double least_A, double most_A, unsigned seed)
{
    double *position_A = calloc(4 * n, sizeof(double)), *charge_e = position_A + 3 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < n; i++) {
        double towards[3], length2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            towards[axis] = rand_r(&seed) / (RAND_MAX + 1.0) - 0.5;
            length2 += towards[axis] * towards[axis];
        }
        const double distance_A = least_A + (most_A - least_A) * rand_r(&seed) / (RAND_MAX + 1.0);
        for (int axis = 0; axis < 3; axis++) {
            const double index = (double)(rand_r(&seed) % l->n[axis]);
            position_A[3 * i + (size_t)axis] =
                l->origin_A[axis] + index * l->step_A[axis][axis] + distance_A * towards[axis] / sqrt(length2);
        }
        charge_e[i] = rand_r(&seed) % 2 == 0 ? 1 : -1;
    }
    ley_atoms *atoms = support_make_atoms(n, position_A, charge_e, NULL);
    free(position_A);
    return atoms;
}

/* The largest error of a point, relative to the sum of the absolute terms there; infinite when a
 * value is not finite. */
static double worst_error(const ley_map *map, const ley_atoms *atoms, double clamp_A)
{
    const ley_grid *l = ley_map_grid(map);
    const double constant = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    double worst = 0;
    for (int64_t i = 0; i < ley_grid_points(l); i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = l->origin_A[axis] + (double)at[axis] * l->step_A[axis][axis];
        const reference_value right = reference_dcs(atoms, point_A, constant, clamp_A);
        const double off = fabs((double)ley_map_read_values(map)[i] - right.value) / right.absolute;
        worst = !isfinite(off) ? INFINITY : fmax(worst, off);
    }
    return worst;
}

/* By every variant: no point is off by more than the promise, and where atoms are staged by no more
 * than 2e-6. */
static void check_digits(const char *what, const ley_atoms *atoms, const ley_grid *points, double clamp_A)
{
    pairwise p = PAIRWISE(support_variants("dcs", LEY_TARGET_GRID), 3);
    for (p.can_be = is_tried; pairwise_next(&p);) {
        const ley_sum sum = (ley_sum)p.at[1];
        const char *variant = ley_variant_name("dcs", LEY_TARGET_GRID, (size_t)p.at[0]);
        ley_error error = {0};
        ley_job *job = NULL;
        support_options options = options_of(variant, LEY_MATH_AUTO, sum);
        options.r_min_A = clamp_A;
        options.verify_points = 50;
        ley_map *map = support_make_map(points);
        assert_ok(support_job_create(engine, atoms, map, &options, &job, &error));
        const ley_status status = ley_job_run(job, &error);
        if (status != LEY_ERROR_NO_DEVICE) {
            assert_ok(status);
            const bool streams = p.at[0] < 3 && sum != LEY_SUM_DOUBLE; /* simple, unroll4, unroll8 */
            const double limit = streams ? ley_job_report(job)->accuracy.tolerance : 2e-6,
                         off = worst_error(map, atoms, clamp_A);
            if (!(off <= limit))
                fail_msg("%s, %s, sum %d: off by %g, not %g", what, variant, (int)sum, off, limit);
            assert_true(limit >= 1 || !streams || ley_job_report(job)->accuracy.max_error <= limit);
        }
        ley_error_clear(&error);
        ley_job_destroy(job);
        ley_map_destroy(map);
    }
}

/* Points that an atom lies just beyond r_min of, where rounding of positions shows most: at all
 * spacings, far from the world's origin, with the smallest r_min; longer than a tile each way. */
static void test_points_just_beyond_r_min(void **state)
{
    static const struct {
        const char *name;
        ley_grid points;
        double clamp_A;
    } cases[] = {
        {"0.6 A", {{0.1, 0.2, 0.3}, LEY_STEPS(0.6, 0.61, 0.62), {131, 33, 2}}, 0.05},
        {"5.1 A", {{0, 0, 0}, LEY_STEPS(5.1, 5.1, 5.1), {131, 33, 2}}, 0.05},
        {"101 A", {{0, 0, 0}, LEY_STEPS(101, 101, 101), {131, 33, 2}}, 0.05},
        {"0.1 x 2 A", {{0, 0, 0}, LEY_STEPS(0.1, 2, 0.5), {131, 33, 2}}, 0.05},
        {"2.1 x 0.1 A", {{0, 0, 0}, LEY_STEPS(2.1, 0.1, 0.5), {131, 33, 2}}, 0.05},
        {"1e4 A away", {{1e4, -1e4, 1e4}, LEY_STEPS(0.6, 0.6, 0.6), {131, 33, 2}}, 0.05},
        {"1e6 A away", {{1e6, -1e6, 1e6}, LEY_STEPS(0.6, 0.6, 0.6), {131, 33, 2}}, 0.05},
        {"many planes", {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.6), {9, 5, 400}}, 0.05},
        {"r_min 1e-3 A", {{0, 0, 0}, LEY_STEPS(0.6, 0.6, 0.6), {131, 33, 2}}, 1e-3},
        {"r_min 1e-6 A", {{0, 0, 0}, LEY_STEPS(0.6, 0.6, 0.6), {131, 33, 2}}, 1e-6},
        {"r_min 3 A", {{0, 0, 0}, LEY_STEPS(0.6, 0.6, 0.6), {131, 33, 2}}, 3},
    };
    const size_t step = support_is_quick() ? 3 : 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += step) {
        ley_atoms *atoms =
            close_atoms(60, &cases[i].points, 1.001 * cases[i].clamp_A, 2 * cases[i].clamp_A, 20 + (unsigned)i);
        check_digits(cases[i].name, atoms, &cases[i].points, cases[i].clamp_A);
        ley_atoms_destroy(atoms);
    }
}

/* Atoms as far from points as rounding in the main loop shows most, few of them, so that each
 * shows; and charges that cancel. */
static void test_few_atoms(void **state)
{
    const ley_grid points = {{0.1, 0.2, 0.3}, LEY_STEPS(0.53, 0.57, 0.6), {139, 35, 2}};
    for (int most = 1; most <= 3; most++) {
        ley_atoms *atoms = close_atoms(5, &points, 0.3 * most, 0.4 * most, 40 + (unsigned)most);
        check_digits("few atoms", atoms, &points, r_min_A);
        ley_atoms_destroy(atoms);
    }
    ley_error error = {0};
    ley_atoms *dipole = NULL, *one = NULL;
    const double position_A[] = {33.3, 9.1, 0.5, 33.3001, 9.1, 0.5}, charge_e[] = {1, -1};
    assert_ok(ley_atoms_create(2, position_A, charge_e, NULL, &dipole, &error));
    check_digits("a dipole", dipole, &points, r_min_A);
    assert_ok(ley_atoms_create(1, position_A, charge_e, NULL, &one, &error));
    check_digits("one atom", one, &points, r_min_A);
    ley_atoms_destroy(one);
    ley_atoms_destroy(dipole);
}

/* A neutral box seen from 60 and 150 A: what is left is small, but no worse than its terms. */
static void test_far_from_a_neutral_box(void **state)
{
    for (int far_A = 60; far_A <= 150; far_A += 90) {
        const ley_grid points = {{30.0 + far_A, 1, -7}, LEY_STEPS(0.5, 0.6, 0.5), {17, 9, 2}};
        ley_atoms *random = support_atoms(1000, 0, 30, 22), *opposite = changed(random, -1, 1.5);
        const size_t n = ley_atoms_count(random);
        double *numbers = calloc(8 * n, sizeof(double));
        for (int half = 0; half < 2; half++) {
            const ley_atoms *from = half ? opposite : random;
            memcpy(numbers + 3 * n * (size_t)half, ley_atoms_positions_A(from), 3 * n * sizeof(double));
            memcpy(numbers + 6 * n + n * (size_t)half, ley_atoms_charges_e(from), n * sizeof(double));
        }
        ley_atoms *neutral = support_make_atoms(2 * n, numbers, numbers + 6 * n, NULL);
        check_digits("a neutral box", neutral, &points, r_min_A);
        free(numbers);
        ley_atoms_destroy(neutral);
        ley_atoms_destroy(opposite);
        ley_atoms_destroy(random);
    }
}

/* More atoms than constant memory or a block of sums holds: several launches, several blocks, none
 * lost. */
static void test_many_atoms(void **state)
{
    ley_atoms *atoms = support_atoms(9001, -20, 40, 12);
    const ley_grid small = {.origin_A = {-3, 1, -7}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {9, 8, 3}};
    ley_map *reference = support_reference_map(atoms, &small, r_min_A);
    pairwise p = PAIRWISE(support_variants("dcs", LEY_TARGET_GRID), 3);
    for (p.can_be = is_tried; pairwise_next(&p);) {
        const support_options options =
            options_of(ley_variant_name("dcs", LEY_TARGET_GRID, (size_t)p.at[0]), LEY_MATH_AUTO, (ley_sum)p.at[1]);
        check_combination(atoms, &small, reference, &options);
    }
    ley_map_destroy(reference);
    ley_atoms_destroy(atoms);
}

/* Grids of one point, one row, one plane; longer than a tile by one; spacings that differ. */
static void test_odd_meshes(void **state)
{
    static const ley_grid meshes[] = {
        {{0.1, 0.2, 0.3}, LEY_STEPS(0.5, 0.5, 0.5), {1, 1, 1}}, {{0, 0, 0}, LEY_STEPS(0.3, 0.5, 0.7), {129, 1, 1}},
        {{0, 0, 0}, LEY_STEPS(0.3, 0.5, 0.7), {1, 65, 1}},      {{0, 0, 0}, LEY_STEPS(0.3, 0.5, 0.7), {1, 1, 33}},
        {{-5, -5, 2}, LEY_STEPS(0.25, 0.5, 1), {257, 17, 2}},
    };
    const support_options options = options_of(NULL, LEY_MATH_AUTO, LEY_SUM_FLOAT);
    ley_atoms *atoms = support_atoms(100, -6, 14, 6);
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        ley_map *map = support_run(engine, atoms, &meshes[i], &options);
        ley_map *reference = support_reference_map(atoms, &meshes[i], r_min_A);
        assert_true(support_difference(map, reference) < 1e-5);
        ley_map_destroy(map);
        ley_map_destroy(reference);
    }
    ley_atoms_destroy(atoms);
}

/* One charge on a grid point: C q / r_min there, in each unit, with a dielectric. */
static void test_charge_on_a_point(void **state)
{
    const double origin_A[3] = {0, 0, 0}, charge_e = -1.5;
    const ley_grid point = {.step_A = LEY_STEPS(1, 1, 1), .n = {2, 1, 1}};
    ley_atoms *atoms = support_make_atoms(1, origin_A, &charge_e, NULL);
    static const double volt_A = 14.399645, kcal_A = 332.0637, kj_A = 1389.3546,
                        kt_A = 560.4589; /* e / (4 pi eps0 A) */
    const double constants[] = {kt_A, volt_A, kcal_A, kj_A};
    _Static_assert(sizeof constants / sizeof *constants == LEY_UNITS_COUNT, "one for each unit");
    for (int units = LEY_UNITS_KT_E; units < LEY_UNITS_COUNT; units++) {
        support_options options = options_of(NULL, LEY_MATH_AUTO, LEY_SUM_FLOAT);
        options.units = (ley_units)units;
        options.dielectric = 80;
        options.r_min_A = 0.25;
        ley_map *map = support_run(engine, atoms, &point, &options);
        const double expected = constants[units] * charge_e / 80;
        assert_true(fabs(ley_map_values(map)[0] / (expected / 0.25) - 1) < 1e-5);
        assert_true(fabs(ley_map_values(map)[1] / expected - 1) < 1e-5);
        assert_string_equal(ley_map_units(map), ley_units_name((ley_units)units));
        ley_map_destroy(map);
    }
    ley_atoms_destroy(atoms);
}

/* Far from the world's origin the points' own coordinates are rounded: of the smallest distances
 * that is more than floats lose. Right maps are not refused for it, and what is promised says
 * so. */
static void test_rounded_coordinates(void **state)
{
    const ley_grid points = {{-21739614.473466747, -11206303.486095337, 67882842.921813369},
                             LEY_STEPS(0.016232, 0.016232, 0.016232),
                             {5, 3, 2}};
    double position_A[30][3], charge_e[30];
    for (int i = 0; i < 30; i++) {
        const int at[3] = {i % 5, i / 5 % 3, i / 15};
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = points.origin_A[axis] + at[axis] * points.step_A[axis][axis] + (axis == 0 ? 2e-5 : 0);
        charge_e[i] = i % 2 == 0 ? 1 : -0.5;
    }
    ley_error error = {0};
    ley_job *job = NULL;
    support_options options = options_of(NULL, LEY_MATH_AUTO, LEY_SUM_FLOAT);
    options.r_min_A = 1e-6;
    ley_atoms *atoms = support_make_atoms(30, &position_A[0][0], charge_e, NULL);
    ley_map *map = support_make_map(&points);
    assert_ok(support_job_create(engine, atoms, map, &options, &job, &error));
    assert_ok_at(ley_job_run(job, &error), &error, "a right map", __FILE__, __LINE__);
    const ley_accuracy *a = &ley_job_report(job)->accuracy;
    assert_true(a->max_error > 1e-5 && a->max_error <= a->tolerance);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("dcs", &engine, test_many_atoms, test_sums_are_worth_their_price,
                         test_points_just_beyond_r_min, test_few_atoms, test_far_from_a_neutral_box, test_odd_meshes,
                         test_charge_on_a_point, test_rounded_coordinates);
}

int main(void)
{
    return support_on_each_device(run_on);
}
