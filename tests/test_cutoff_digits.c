/* The digits of short-range maps, point by point, against formulas of this file's own: next to the
 * cutoff, where screening leaves next to nothing, and where functions are steep. */
#include "pairwise.h"
#include "support.h"

#include "methods/cutoff/kernel.h"
#include "methods/cutoff/short_range.h"
#include "parallel.h"

#include <float.h>

static ley_engine
    *engine; /* the default device; or each device by itself, so that none is left out while another one works */

static const char *pair_name(int pair)
{
    return ley_pair_get((ley_pair)pair)->name;
}

/* ---- Right values ---------------------------------------------------------------------------- */

/* Taylor's functions: 1/r less its series in t = 1 - r^2/a^2; or, next to the cutoff, what the
 * series goes on with, so that nothing cancels. */
static double taylor(int degree, double r_A, double a_A)
{
    const double t = (1 - r_A / a_A) * (1 + r_A / a_A);
    double term = 1, taken = 1, left = 0;
    for (int i = 1; i <= degree || (t < 0.5 && term > 1e-18 * left); i++) {
        term *= t * (2 * i - 1) / (2.0 * i);
        *(i <= degree ? &taken : &left) += term;
    }
    return t < 0.5 ? left / a_A : 1 / r_A - taken / a_A;
}

/* Of an atom of charge 1, or of radius 1.5 A; the sum of the absolute values of what it is made
 * of. */
static double function(const ley_short_range *s, double r_A, double *absolute)
{
    const double a_A = s->cutoff_A, R_A = 1.5 + s->probe_radius_A,
                 eps = sqrt(s->depth_for_all_kcal_mol * s->probe_depth_kcal_mol);
    const double z = s->steepness, six = pow(R_A / r_A, 6);
    double value = 0, attraction = 0;
    switch (s->pair) {
    case LEY_PAIR_SHIFTED:
        value = pow((1 - r_A / a_A) * (1 + r_A / a_A), 2) / r_A;
        break;
    case LEY_PAIR_TAYLOR2:
    case LEY_PAIR_TAYLOR3:
    case LEY_PAIR_TAYLOR4:
        value = taylor(2 + (int)s->pair - (int)LEY_PAIR_TAYLOR2, r_A, a_A);
        break;
    case LEY_PAIR_YUKAWA:
        value = exp(-s->kappa_per_A * r_A) / r_A;
        break;
    case LEY_PAIR_DISTANCE_DIELECTRIC:
        value = 1 / (r_A * r_A);
        break;
    case LEY_PAIR_LENNARD_JONES:
        value = eps * six * six;
        attraction = 2 * eps * six;
        break;
    case LEY_PAIR_BUCKINGHAM:
        value = eps * 6 / (z - 6) * exp(z * (1 - r_A / R_A));
        attraction = eps * z / (z - 6) * six;
        break;
    default:
        value = 1 / r_A;
    }
    *absolute = value + attraction;
    return value - attraction;
}

typedef struct right_value {
    double value, absolute, slack; /* slack: distances next to the cutoff are right to 2e-7 */
} right_value;

static right_value right_at(const ley_atoms *atoms, const support_options *o, const double point_A[3])
{
    const ley_short_range *s = &o->short_range;
    const bool of_charge = !ley_pair_get(s->pair)->is_energy, vanishes = ley_pair_get(s->pair)->vanishes;
    const double c = of_charge ? ley_coulomb_constant(o->units, o->dielectric, o->temperature_K) : 1;
    right_value right = {0, 0, 0};
    for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
        const double q = of_charge ? ley_atoms_charges_e(atoms)[j] : 1, *x_A = ley_atoms_positions_A(atoms) + 3 * j;
        double absolute, nearer;
        double r_A = sqrt(pow(point_A[0] - x_A[0], 2) + pow(point_A[1] - x_A[1], 2) + pow(point_A[2] - x_A[2], 2));
        if (fabs(r_A / s->cutoff_A - 1) < 1e-6) /* may count or not */
            right.slack += fabs(c * q * function(s, s->cutoff_A * (1 - 1e-6), &absolute));
        if (r_A >= s->cutoff_A)
            continue;
        r_A = fmax(r_A, o->r_min_A);
        const double value = function(s, r_A, &absolute);
        if (vanishes && r_A > 0.8 * s->cutoff_A)
            right.slack += fabs(c * q * (function(s, r_A * (1 - 2e-7), &nearer) - value));
        right.value += c * q * value;
        right.absolute += fabs(c * q) * absolute;
    }
    return right;
}

typedef struct judged {
    const ley_map *map;
    const ley_atoms *atoms;
    const support_options *options;
    double least; /* absolute sums below it are not compared: there values may not be larger, but for a least float of
                     each atom */
    double *error;
} judged;

static void judge(void *context, size_t first, size_t last)
{
    const judged *j = context;
    const ley_grid *l = ley_map_grid(j->map);
    for (size_t i = first; i < last; i++) {
        const int64_t at[3] = {(int64_t)i % l->n[0], (int64_t)i / l->n[0] % l->n[1], (int64_t)i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = l->origin_A[axis] + (double)at[axis] * l->step_A[axis][axis];
        const double value = (double)ley_map_read_values(j->map)[i];
        const right_value right = right_at(j->atoms, j->options, point_A);
        if (right.absolute >= j->least)
            j->error[i] = fmax(fabs(value - right.value) - right.slack, 0) / right.absolute;
        else
            j->error[i] =
                fabs(value) <= 1.001 * right.absolute + right.slack + FLT_MIN * (double)ley_atoms_count(j->atoms)
                    ? 0
                    : INFINITY;
    }
}

/* The largest error of a point, of the sum of the absolute terms there. */
static double worst(const ley_map *map, const ley_atoms *atoms, const support_options *options)
{
    const size_t n = (size_t)ley_grid_points(ley_map_grid(map));
    judged j = {map, atoms, options, 1e-37, calloc(n, sizeof(double))};
    double largest = 0;
    assert_non_null(j.error);
    parallel_ranges(n, judge, &j);
    for (size_t i = 0; i < n; i++)
        largest = j.error[i] > largest || isnan(j.error[i]) ? j.error[i] : largest;
    free(j.error);
    return largest;
}

static double worst_of(const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    ley_map *map = support_run(engine, atoms, grid, options);
    const double largest = worst(map, atoms, options);
    ley_map_destroy(map);
    return largest;
}

/* The promise for a job, as its verification has it. */
static double promised(const ley_atoms *atoms, const ley_grid *grid, const support_options *o)
{
    ley_error error = {0};
    cutoff_problem problem;
    assert_ok(cutoff_problem_init(&problem, atoms, grid, &o->short_range, 1, 1, o->r_min_A, &error));
    const double promise =
        short_range_promise(&o->short_range, o->math, o->r_min_A, cutoff_problem_largest_A(&problem));
    cutoff_problem_clear(&problem);
    return promise;
}

static ley_atoms *atoms_at(size_t n, const double *position_A, const double *charge_e)
{
    double *radius_A = calloc(n, sizeof *radius_A);
    assert_non_null(radius_A);
    for (size_t i = 0; i < n; i++)
        radius_A[i] = 1.5;
    ley_atoms *atoms = support_make_atoms(n, position_A, charge_e, radius_A);
    free(radius_A);
    return atoms;
}

static double fraction(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

/* ---- Next to the cutoff ---------------------------------------------------------------------- */

static const ley_grid around = {.origin_A = {-13, -13, -13}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {53, 53, 53}};

/* CPU devices with vectors have variants of their own, and compile those of GPUs slowly. */
static bool is_vector(const char *variant)
{
    return strncmp(variant, "vector", 6) == 0;
}

/* The pair functions of a lone atom, from 0. */
static ley_pair pair_number(int i)
{
    return LEY_PAIR_SHIFTED + (ley_pair)i;
}

/* Most compile slowly, and share the formulas. */
static bool is_worth_it(const int *at)
{
    const char *variant = ley_variant_name("cutoff", LEY_TARGET_GRID, (size_t)at[0]);
    const ley_pair pair = pair_number(at[1]);
    if (is_vector(variant))
        return support_has_vectors(engine);
    return (!support_has_vectors(engine) && strcmp(variant, "halves16") == 0) ||
           (!support_is_quick() && pair == LEY_PAIR_TAYLOR2);
}

/* Whether the device has the variant; vectors are of 16 numbers for some CPUs alone. */
static bool check_lone_atom(const ley_atoms *atoms, ley_pair pair, const char *variant)
{
    support_options options = support_short_range(pair, 12);
    ley_job *job = NULL;
    ley_error error = {0};
    options.variant = variant;
    ley_map *map = support_make_map(&around);
    assert_ok(support_job_create(engine, atoms, map, &options, &job, &error));
    const ley_status status = ley_job_run(job, &error);
    if (status != LEY_ERROR_NO_DEVICE || strcmp(variant, "vector16") != 0) {
        assert_ok(status);
        const double error_here = worst(map, atoms, &options);
        if (!(error_here <= 1e-5))
            fail_msg("%s, variant %s: off by %g of the absolute terms", pair_name(pair), variant, error_here);
    }
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    return status == LEY_OK;
}

/* A lone atom: nothing else hides what is lost. Within 5 % of the cutoff Taylor's functions are 1/r
 * less nearly as much. */
static void test_a_lone_atom(void **state)
{
    ley_atoms *atoms = atoms_at(1, (double[]){0.123, 0.217, -0.331}, (double[]){1});
    int count = 0;
    pairwise p = PAIRWISE(support_variants("cutoff", LEY_TARGET_GRID), LEY_PAIR_TAYLOR4 - LEY_PAIR_SHIFTED + 1);
    for (p.can_be = is_worth_it; pairwise_next(&p);)
        count +=
            check_lone_atom(atoms, pair_number(p.at[1]), ley_variant_name("cutoff", LEY_TARGET_GRID, (size_t)p.at[0]));
    assert_true(count > 0);
    ley_atoms_destroy(atoms);
}

/* Many in one place, of which all but one find their bin full. */
static void test_overflow_next_to_the_cutoff(void **state)
{
    double position_A[60], charge_e[20];
    uint32_t random = 3;
    for (int i = 0; i < 60; i++)
        position_A[i] = 0.2 + 0.3 * fraction(&random);
    for (int i = 0; i < 20; i++)
        charge_e[i] = 0.1 + fraction(&random);
    ley_atoms *atoms = atoms_at(20, position_A, charge_e);
    for (int pair = LEY_PAIR_TAYLOR2; pair <= LEY_PAIR_TAYLOR4; pair += support_is_quick() ? 2 : 1) {
        support_options options = support_short_range((ley_pair)pair, 12);
        options.short_range.bin_depth = 1;
        const double error = worst_of(atoms, &around, &options);
        if (!(error <= 1.2e-5))
            fail_msg("%s, overflow: off by %g of the absolute terms", pair_name(pair), error);
    }
    ley_atoms_destroy(atoms);
}

/* Half a grid is full of atoms, half of it empty: regions with atoms in them, beside them and
 * far from them. Strong charges are far from weak ones. */
static void test_the_edge_of_a_molecule(void **state)
{
    enum { N = 1500 };
    static double position_A[3 * N], charge_e[N];
    uint32_t random = 11;
    for (int i = 0; i < N; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * i + axis] = axis == 0 ? -13 + 12 * fraction(&random) : -13 + 26 * fraction(&random);
        charge_e[i] = (2 * fraction(&random) - 1) * (i % 100 == 0 ? 3 : i % 3 == 0 ? 0.01 : 1);
    }
    const ley_grid grid = {.origin_A = {-13, -13, -13}, .step_A = LEY_STEPS(0.7, 0.6, 0.5), .n = {38, 14, 16}};
    ley_atoms *atoms = atoms_at(N, position_A, charge_e);
    for (int pair = LEY_PAIR_TAYLOR2; pair <= LEY_PAIR_TAYLOR4; pair++)
        for (double cutoff_A = 5; cutoff_A < 13; cutoff_A += 7) {
            const support_options options = support_short_range((ley_pair)pair, cutoff_A);
            const double error = worst_of(atoms, &grid, &options);
            if (!(error <= 1e-5))
                fail_msg("%s, cutoff %g A: off by %g of the absolute terms", pair_name(pair), cutoff_A, error);
        }
    ley_atoms_destroy(atoms);
}

/* ---- Next to atoms --------------------------------------------------------------------------- */

/* The root mean square of what values are off by, of that of the values. */
static double off_by(const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    ley_map *map = support_run(engine, atoms, grid, options);
    const float *value = ley_map_read_values(map);
    double squares = 0, all = 0;
    for (int64_t i = 0; i < ley_grid_points(grid); i++) {
        const int64_t at[3] = {i % grid->n[0], i / grid->n[0] % grid->n[1], i / grid->n[0] / grid->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = grid->origin_A[axis] + (double)at[axis] * grid->step_A[axis][axis];
        const double right = right_at(atoms, options, point_A).value;
        squares += pow((double)value[i] - right, 2);
        all += right * right;
    }
    ley_map_destroy(map);
    return sqrt(squares / all);
}

/* Water whose places are whole numbers of 2^-22 A, which floats have in full within a bin. */
static ley_atoms *even_water(void)
{
    static double position_A[3 * 2000], charge_e[2000];
    ley_error error = {0};
    ley_atoms *water;
    assert_ok(ley_waterbox_create(2000, 3, 1, &water, &error));
    const size_t n = ley_atoms_count(water);
    for (size_t i = 0; i < 3 * n; i++)
        position_A[i] = ldexp(rint(ldexp(ley_atoms_positions_A(water)[i], 22)), -22);
    memcpy(charge_e, ley_atoms_charges_e(water), n * sizeof *charge_e);
    ley_atoms_destroy(water);
    return atoms_at(n, position_A, charge_e);
}

/* Where points are as far apart as this, places are counted from corners that are 8 to 10 A away,
 * and floats have them to 5e-7 A: next to an atom, a field of 1/r^2 makes more of that than
 * anything else is off by. Compensated sums have more digits of them, whether floats have those of
 * the spacing or not. */
static void test_compensated_places(void **state)
{
    static const double spacings_A[] = {1, 0.83, 1.3};
    static const int64_t n = 20;
    ley_atoms *atoms = even_water();
    for (int i = 0; i < 3; i++) {
        const double h_A = spacings_A[i];
        const ley_grid grid = {.origin_A = {1, 0.75, 0.875}, .step_A = LEY_STEPS(h_A, h_A, h_A), .n = {n, n, n}};
        support_options options = support_short_range(LEY_PAIR_TAYLOR2, 5);
        const double by_floats = off_by(atoms, &grid, &options);
        options.sum = LEY_SUM_COMPENSATED;
        const double off = off_by(atoms, &grid, &options);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%g A: off by %.2g, floats by %.2g\n", h_A, off, by_floats);
        if (!(off < 6e-7 && off < 0.6 * by_floats))
            fail_msg("%g A: compensated sums are off by %g, floats by %g", h_A, off, by_floats);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Screening ------------------------------------------------------------------------------- */

/* Far values vanish as they should, down to the least that floats hold, and none is larger than it
 * should be. An exponent of 87 has a root's error 87 times, and some devices' own roots are less
 * right than the standard's. */
static void test_screening_leaves_no_floor(void **state)
{
    static const struct {
        double kappa_per_A, cutoff_A, spacing_A;
    } cases[] = {{0.125, 60, 2}, {1, 120, 4}, {2, 60, 1.5}, {5, 30, 0.7}, {20, 12, 0.25}, {100, 4, 0.1}};
    ley_atoms *atoms = atoms_at(2, (double[]){0.1, 0.2, 0.3, 0.8, -0.4, 0.1}, (double[]){1, -0.7});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (double temperature_K = 10; temperature_K < 1000; temperature_K *= 30) {
            const double h_A = cases[i].spacing_A;
            const ley_grid grid = {.origin_A = {-1, -1, -1}, .step_A = LEY_STEPS(h_A, h_A, h_A), .n = {24, 24, 24}};
            support_options options = support_short_range(LEY_PAIR_YUKAWA, cases[i].cutoff_A);
            options.short_range.kappa_per_A = cases[i].kappa_per_A;
            options.temperature_K = temperature_K;
            double error = worst_of(atoms, &grid, &options), limit = promised(atoms, &grid, &options);
            if (!(error <= limit))
                fail_msg("kappa %g / A, %g K: off by %g of the absolute terms, %g is promised", cases[i].kappa_per_A,
                         temperature_K, error, limit);
            options.math = LEY_MATH_STANDARD;
            error = worst_of(atoms, &grid, &options);
            if (!(error <= 3e-5))
                fail_msg("kappa %g / A, %g K: off by %g of the absolute terms", cases[i].kappa_per_A, temperature_K,
                         error);
        }
    ley_atoms_destroy(atoms);
}

/* ---- What is promised ------------------------------------------------------------------------ */

/* Atoms next to grid points, at all distances from a thousandth of a spacing on. */
static ley_atoms *atoms_beside_points(const ley_grid *l)
{
    enum { N = 400 };
    static double position_A[3 * N], charge_e[N];
    uint32_t random = 7;
    for (int i = 0; i < N; i++) {
        const double distance = pow(10, -3 * fraction(&random));
        double d[3], length2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            d[axis] = 2 * fraction(&random) - 1;
            length2 += d[axis] * d[axis];
        }
        for (int axis = 0; axis < 3; axis++) {
            const double at = floor(fraction(&random) * (double)l->n[axis]);
            position_A[3 * i + axis] =
                l->origin_A[axis] + l->step_A[axis][axis] * (at + distance * d[axis] / sqrt(length2));
        }
        charge_e[i] = 2 * fraction(&random) - 1;
    }
    return atoms_at(N, position_A, charge_e);
}

/* No point is off by more than is promised, however steep the function, long the cutoff or coarse
 * the mesh; and what comes closest shows that no more is promised than that asks for. */
static void test_promises(void **state)
{
    static const struct {
        ley_pair pair;
        double r_min_A, kappa_per_A;
    } cases[] = {{LEY_PAIR_COULOMB, 0.05, 0},
                 {LEY_PAIR_COULOMB, 1e-3, 0},
                 {LEY_PAIR_SHIFTED, 1e-3, 0},
                 {LEY_PAIR_TAYLOR2, 0.05, 0},
                 {LEY_PAIR_TAYLOR2, 1e-3, 0},
                 {LEY_PAIR_TAYLOR3, 1e-3, 0},
                 {LEY_PAIR_TAYLOR4, 1e-3, 0},
                 {LEY_PAIR_YUKAWA, 0.05, 20},
                 {LEY_PAIR_YUKAWA, 1e-3, 100},
                 {LEY_PAIR_DISTANCE_DIELECTRIC, 0.05, 0},
                 {LEY_PAIR_DISTANCE_DIELECTRIC, 1e-3, 0},
                 {LEY_PAIR_LENNARD_JONES, 0.05, 0},
                 {LEY_PAIR_LENNARD_JONES, 0.5, 0},
                 {LEY_PAIR_BUCKINGHAM, 0.05, 0},
                 {LEY_PAIR_BUCKINGHAM, 0.5, 0}};
    static const double spacings_A[] = {0.37, 1.3, 5}, cutoffs_A[] = {12, 50, 400};
    double closest = 0;
    for (size_t h = 0; h < 3; h++)
        for (size_t a = 0; a < 3; a++) {
            const double h_A = spacings_A[h];
            const ley_grid grid = {
                .origin_A = {-7.123, 3.3, 11.7}, .step_A = LEY_STEPS(h_A, h_A, h_A), .n = {12, 12, 12}};
            if (support_is_quick() && h + a != 1)
                continue;
            ley_atoms *atoms = atoms_beside_points(&grid);
            for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                support_options options = support_short_range(cases[i].pair, cutoffs_A[a]);
                options.r_min_A = cases[i].r_min_A;
                options.short_range.kappa_per_A = cases[i].kappa_per_A;
                const double error = worst_of(atoms, &grid, &options), promise = promised(atoms, &grid, &options);
                closest = fmax(closest, error / promise);
                if (!(error <= promise))
                    fail_msg("%s, spacing %g A, cutoff %g A, r_min %g A, kappa %g / A: off by %g of the absolute "
                             "terms, %g is promised",
                             pair_name(cases[i].pair), h_A, cutoffs_A[a], cases[i].r_min_A, cases[i].kappa_per_A, error,
                             promise);
            }
            ley_atoms_destroy(atoms);
        }
    assert_true(closest > (support_is_quick() ? 0.1 : 1.0 / 3));
}

static int start(void **state)
{
    ley_error error = {0};
    return ley_engine_create(NULL, &engine, &error) == LEY_OK ? 0 : -1;
}

static int stop(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("digits of each variant", &engine, test_a_lone_atom, test_compensated_places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow_next_to_the_cutoff),
        cmocka_unit_test(test_the_edge_of_a_molecule),
        cmocka_unit_test(test_screening_leaves_no_floor),
        cmocka_unit_test(test_promises),
    };
    const int failures = support_on_each_device(run_on);
    return failures + cmocka_run_group_tests_name("digits of short-range maps", tests, start, stop);
}
