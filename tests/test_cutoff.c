/* The short-range method on every device of this machine against double precision: every pair
 * function, kernel variant, sum and kind of maths; bins that overflow, odd grids; numbers of an
 * expression; what must be refused. */
#include "pairwise.h"
#include "short_job.h"

#include "law/pairs.h"
#include "law/reference.h"
#include "pair_table.h"
#include "verify/verification.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static ley_engine *engine; /* of the device under test */

#define ONE(...) +1
enum { PAIRS = 0 LEY_PAIR_ROWS(ONE, 0) };

static bool is_of_vectors(const char *variant)
{
    return strncmp(variant, "vector", 6) == 0;
}
static bool same_bytes(const ley_map *a, const ley_map *b)
{
    return memcmp(ley_map_read_values(a), ley_map_read_values(b),
                  (size_t)ley_grid_points(ley_map_grid(a)) * sizeof(float)) == 0;
}
/* ---- Kernels --------------------------------------------------------------------------------- */

/* LEY_ERROR_NO_DEVICE is the right answer of a device that cannot do it; anything else has to be
 * right. */
static bool cannot(const short_job *o, const support_options *options)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    if (o->status != LEY_ERROR_NO_DEVICE)
        return false;
    assert_non_null(strstr(o->error.message, info->name));
    return (options->sum == LEY_SUM_DOUBLE && !info->has_double) ||
           (options->variant != NULL && is_of_vectors(options->variant) && !support_has_vectors(engine));
}

static void check_report(const short_job *o, const support_options *options)
{
    const ley_report *r = ley_job_report(o->job);
    const ley_device_report *d = &r->devices[0];
    char key[32];
    snprintf(key, sizeof key, "-DLEY_PAIR=%d ", (int)options->short_range.pair);
    assert_non_null(strstr(d->specification, key));
    snprintf(key, sizeof key, "-DLEY_TOTAL=%d ", (int)options->sum);
    assert_non_null(strstr(d->specification, key));
    assert_non_null(d->root);
    if (options->variant != NULL)
        assert_string_equal(d->variant, options->variant);
    const support_notes said = support_notes_of(r);
    assert_true(said.bins > 0 && said.binned > 0 && said.overflow <= said.binned);
    assert_int_equal(said.bin_depth, options->short_range.bin_depth);
    assert_true(r->evaluations > 0 && d->share == 1);
}

/* An open problem and a periodic one: the same kernel. */
static void check(const support_options *wanted)
{
    ley_atoms *atoms = support_crowd(350, &short_job_grid, short_job_cutoff_A, 1);
    for (int periodic = 0; periodic <= 1; periodic++) {
        support_options options = *wanted;
        if (periodic)
            short_job_make_periodic(&options);
        short_job o = short_job_try(engine, atoms, &short_job_grid, &options);
        if (!cannot(&o, &options)) {
            assert_ok_at(o.status, &o.error, ley_pair_get(options.short_range.pair)->name, __FILE__, __LINE__);
            short_job_assert_right(&o, atoms, &options, periodic ? "periodic" : "open");
            check_report(&o, &options);
        }
        short_job_end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* Variants that are meant for this device, and the default, NULL. */
static bool is_meant(const char *variant)
{
    return variant == NULL || is_of_vectors(variant) == support_has_vectors(engine);
}

/* At level quick a device without vectors has every third pair function: variants differ there. */
static bool suits_the_device(const int *at)
{
    return is_meant(ley_variant_name("cutoff", LEY_TARGET_GRID, (size_t)at[0])) &&
           (!support_is_quick() || support_has_vectors(engine) || at[1] % 3 == 0);
}

/* Each variant, pair function, sum and kind of maths. */
static void test_every_kernel(void **state)
{
    const char *variant;
    pairwise p = PAIRWISE(support_variants("cutoff", LEY_TARGET_GRID) + 1, PAIRS, 3, 3);
    for (p.can_be = suits_the_device; pairwise_next(&p);) {
        support_options options =
            short_job_options((ley_pair)p.at[1], ley_variant_name("cutoff", LEY_TARGET_GRID, (size_t)p.at[0]));
        options.math = support_math(p.at[2]);
        options.sum = (ley_sum)p.at[3];
        check(&options);
    }
    for (size_t i = 0; (variant = ley_variant_name("cutoff", LEY_TARGET_GRID, i)) != NULL; i++) /* which are refused */
        if (is_of_vectors(variant) && !support_has_vectors(engine)) {
            const support_options options = short_job_options(LEY_PAIR_TAYLOR2, variant);
            check(&options);
        }
}

/* Work-groups on CPU devices with vectors, 4 to 13 s a kernel: a function that ends by its sign,
 * one that is tested, one with more numbers than a charge, each where most depends on it. */
static void test_work_groups(void **state)
{
    static const struct {
        const char *variant;
        ley_pair pair;
    } kernels[] = {{"bins", LEY_PAIR_TAYLOR2},
                   {"bins", LEY_PAIR_TAYLOR4},
                   {"bins", LEY_PAIR_BUCKINGHAM},
                   {"regions8", LEY_PAIR_SHIFTED},
                   {"regions16", LEY_PAIR_LENNARD_JONES},
                   {"halves16", LEY_PAIR_TAYLOR2},
                   {"halves16", LEY_PAIR_BUCKINGHAM}};
    const size_t count = support_is_quick() ? 0 : sizeof kernels / sizeof kernels[0]; /* llvmpipe has them all */
    for (size_t i = 0; i < count; i++) {
        const support_options options = short_job_options(kernels[i].pair, kernels[i].variant);
        check(&options);
    }
}

/* The better sums are better, where many terms add up. */
static void test_sums_are_worth_their_price(void **state)
{
    const ley_grid small = {.origin_A = {-3, 1, -7}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {16, 8, 9}};
    ley_error error = {0};
    ley_atoms *random = support_atoms(6000, -30, 40, 2), *atoms = NULL;
    double off[3] = {0, 0, 0}, *charge_e = calloc(6000, sizeof *charge_e);
    for (size_t i = 0; i < 6000; i++)
        charge_e[i] = fabs(ley_atoms_charges_e(random)[i]);
    assert_ok(ley_atoms_create(6000, ley_atoms_positions_A(random), charge_e, NULL, &atoms, &error));
    ley_atoms_destroy(random);
    free(charge_e);
    for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_DOUBLE; sum++) {
        if (sum == LEY_SUM_DOUBLE && !ley_engine_device(engine, 0)->has_double)
            continue;
        support_options options = short_job_options(LEY_PAIR_COULOMB, NULL);
        options.short_range.cutoff_A = 25;
        options.math = LEY_MATH_STANDARD;
        options.sum = (ley_sum)sum;
        short_job o = short_job_run(engine, atoms, &small, &options);
        off[sum] = support_short_range_error(o.map, atoms, &options).rms;
        short_job_end(&o);
    }
    if (!(off[LEY_SUM_FLOAT] < 1e-5 && off[LEY_SUM_COMPENSATED] < 0.7 * off[LEY_SUM_FLOAT] &&
          off[LEY_SUM_DOUBLE] < 1e-6))
        fail_msg("off by %g, %g, %g", off[0], off[1], off[2]);
    ley_atoms_destroy(atoms);
}

/* ---- Overflow -------------------------------------------------------------------------------- */

static ley_atoms *in_one_place(size_t n)
{
    ley_error error = {0};
    ley_atoms *random = support_crowd(n, &short_job_grid, 0, 5), *atoms = NULL;
    double *position_A = calloc(4 * n, sizeof *position_A), *charge_e = position_A + 3 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < 3 * n; i++)
        position_A[i] = short_job_grid.origin_A[i % 3] + 2.7;
    for (size_t i = 0; i < n; i++) /* of one sign: what nearly cancels has no digits left */
        charge_e[i] = fabs(ley_atoms_charges_e(random)[i]);
    assert_ok(ley_atoms_create(n, position_A, charge_e, ley_atoms_radii_A(random), &atoms, &error));
    ley_atoms_destroy(random);
    free(position_A);
    return atoms;
}

static size_t charged(const ley_atoms *atoms)
{
    size_t count = 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        count += ley_atoms_charges_e(atoms)[i] != 0;
    return count;
}

/* How many overflow; the map is right all the same. */
static int64_t check_overflow(const ley_atoms *atoms, ley_pair pair, int depth, double fill, bool periodic)
{
    support_options options = short_job_options(pair, NULL);
    options.short_range.bin_depth = depth;
    options.short_range.bin_fill = fill;
    options.verify_points = 100;
    if (periodic)
        short_job_make_periodic(&options);
    char name[96];
    snprintf(name, sizeof name, "depth %d, fill %g%s", depth, fill, periodic ? ", periodic" : "");
    short_job o = short_job_try(engine, atoms, &short_job_grid, &options);
    if (o.status != LEY_OK)
        fail_msg("%s, %s: %s", ley_pair_get(pair)->name, name, o.error.message);
    short_job_assert_right(&o, atoms, &options, name);
    const support_notes r = short_job_notes(&o);
    assert_true(r.binned - r.overflow <= r.bins * r.bin_depth);
    assert_true(r.overflow > 0);
    short_job_end(&o);
    return r.overflow;
}

static void test_overflow(void **state)
{
    ley_atoms *atoms = support_crowd(350, &short_job_grid, short_job_cutoff_A, 1), *heap = in_one_place(300);
    const int64_t n = (int64_t)charged(heap);
    const struct { /* at level quick every other one */
        bool of_heap;
        ley_pair pair;
        int depth;
        double fill;
        bool periodic;
        int64_t least, most; /* that overflow */
    } cases[] = {
        {false, LEY_PAIR_TAYLOR2, 8, 4, true, 1, 10000},
        {false, LEY_PAIR_TAYLOR2, 8, 4, false, 1, 350},
        {false, LEY_PAIR_TAYLOR2, 8, 1000, false, 201, 350},
        {false, LEY_PAIR_BUCKINGHAM, 8, 4, true, 1, 10000},
        {false, LEY_PAIR_LENNARD_JONES, 7, 3, true, 1, 10000}, /* no whole groups of four slots */
        {false, LEY_PAIR_TAYLOR4, 5, 3, false, 1, 350},
        {true, LEY_PAIR_TAYLOR2, 8, 0.75, false, n - 8, n - 8},
        {true, LEY_PAIR_TAYLOR2, 128, 0.75, false, n - 128, n - 128},
        {true, LEY_PAIR_LENNARD_JONES, 7, 0.75, false, 300 - 7, 300 - 7}, /* charges do not matter */
        {true, LEY_PAIR_BUCKINGHAM, 8, 0.75, false, 300 - 8, 300 - 8},
        {false, LEY_PAIR_TAYLOR2, 1, 1000, true, 1, 10000},
        {false, LEY_PAIR_TAYLOR2, 1, 0.75, false, 1, 350},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += support_is_quick() ? 2 : 1)
        assert_in_range(check_overflow(cases[i].of_heap ? heap : atoms, cases[i].pair, cases[i].depth, cases[i].fill,
                                       cases[i].periodic),
                        cases[i].least, cases[i].most);
    ley_atoms_destroy(heap);
    ley_atoms_destroy(atoms);
}

/* ---- Seams ----------------------------------------------------------------------------------- */

/* Rows that the kernel writes, and regions that the host takes apart. */
static void test_rows_and_regions(void **state)
{
    ley_atoms *atoms = support_crowd(350, &short_job_grid, short_job_cutoff_A, 4);
    const char *variant;
    for (size_t i = 0; (variant = ley_variant_name("cutoff", LEY_TARGET_GRID, i)) != NULL; i++) {
        support_options options = short_job_options(LEY_PAIR_TAYLOR2, variant);
        short_job o[2];
        const char *next = ley_variant_name("cutoff", LEY_TARGET_GRID, i + 1);
        if (!is_meant(variant) || (support_is_quick() && next != NULL && is_meant(next))) /* quick: the last one */
            continue;
        for (int k = 0; k < 2; k++) {
            options.short_range.transposition = k == 0 ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
            o[k] = short_job_run(engine, atoms, &short_job_grid, &options);
            assert_int_equal(short_job_notes(&o[k]).transposition, options.short_range.transposition);
            assert_non_null(
                strstr(ley_job_report(o[k].job)->devices[0].specification, k == 0 ? "-DLEY_STORE=0" : "-DLEY_STORE=1"));
        }
        short_job_assert_right(&o[0], atoms, &options, "regions");
        assert_true(same_bytes(o[0].map, o[1].map));
        short_job_end(&o[0]);
        short_job_end(&o[1]);
    }
    ley_atoms_destroy(atoms);
}

/* The largest error of a point, of the sum of the absolute terms there. */
static double worst_of_terms(const ley_map *map, const ley_atoms *atoms, const support_options *o)
{
    const ley_grid *l = ley_map_grid(map);
    const double constant = ley_coulomb_constant(o->units, o->dielectric, o->temperature_K);
    double worst = 0;
    for (int64_t i = 0; i < ley_grid_points(l); i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = l->origin_A[axis] + (double)at[axis] * l->step_A[axis][axis];
        const reference_value right =
            reference_short_range(atoms, &o->short_range, NULL, point_A, constant, o->r_min_A);
        const double off = (double)ley_map_read_values(map)[i] - right.value;
        const double beyond = fmax(fmax(off - right.higher, right.lower - off), 0);
        worst = beyond > 0 ? fmax(worst, beyond / right.absolute) : isnan(off) ? INFINITY : worst;
    }
    return worst;
}

/* Every point keeps what is promised. Where regions are long, no float of a place is right to more
 * than a part of their length: at the far end of one of 140 A to 1e-6 A, of 0.06 A to the nearest
 * atom 1.6e-5. */
static void check_odd(const ley_atoms *atoms, const ley_grid *l, const support_options *options, const char *name)
{
    short_job o = short_job_run(engine, atoms, l, options);
    const double longest_A = fmax(fmax(l->step_A[0][0], l->step_A[1][1]), l->step_A[2][2]),
                 promise = ley_job_report(o.job)->accuracy.tolerance;
    const double worst = worst_of_terms(o.map, atoms, options);
    assert_true(promise > 0);
    if (!(worst <= promise))
        fail_msg("%s, %s: off by %g of the absolute terms, %g is promised", name,
                 ley_pair_get(options->short_range.pair)->name, worst, promise);
    short_job_assert_within(1e-5 * fmax(1, longest_A / 8), &o, atoms, options, name);
    short_job_end(&o);
}

static void test_odd_meshes(void **state)
{
    static const ley_grid meshes[] = {
        {{0.1, 0.2, 0.3}, LEY_STEPS(0.5, 0.5, 0.5), {1, 1, 1}},
        {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {1, 1, 50}},
        {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {50, 1, 1}},
        {{0, 0, 0}, LEY_STEPS(1.1, 0.3, 0.7), {1, 50, 1}},
        {{-2, 5, 1}, LEY_STEPS(0.3, 0.7, 1.1), {7, 8, 9}},
        {{1, 1, 1}, LEY_STEPS(0.5, 0.5, 0.5), {8, 8, 8}},
        {{3, -3, 0.7}, LEY_STEPS(0.3, 0.7, 1.1), {9, 17, 25}},
        {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.5), {3, 2, 5}},
        {{0, 0, 0}, LEY_STEPS(4, 5, 6), {6, 7, 8}},
        {{0, 0, 0}, LEY_STEPS(0.02, 0.03, 0.01), {17, 9, 10}},
        {{1e5, -1e5, 9e4}, LEY_STEPS(0.5, 0.625, 0.75), {19, 13, 11}},
        {{0.1, 0.2, 0.3}, LEY_STEPS(0.5, 0.5, 0.5), {257, 3, 2}},
        {{0, 0, 0}, LEY_STEPS(1e-3, 20, 0.5), {12, 10, 3}},
    };
    for (int i = 0; i < (int)(sizeof meshes / sizeof meshes[0]); i++) {
        const ley_grid *l = &meshes[i];
        ley_atoms *atoms = support_crowd(200, l, short_job_cutoff_A, 6);
        char name[64];
        snprintf(name, sizeof name, "%d x %d x %d", (int)l->n[0], (int)l->n[1], (int)l->n[2]);
        for (int k = 0; k < 3; k++) {
            if (support_is_quick() && k != i % 3)
                continue;
            support_options options = short_job_options(k == 0 ? LEY_PAIR_COULOMB : LEY_PAIR_TAYLOR2, NULL);
            if (k == 2)
                short_job_make_periodic(&options);
            check_odd(atoms, l, &options, name);
        }
        ley_atoms_destroy(atoms);
    }
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static void assert_all_zero(const short_job *o)
{
    for (int64_t i = 0; i < ley_grid_points(&short_job_grid); i++)
        assert_true(ley_map_read_values(o->map)[i] == 0);
}

static void test_few_atoms(void **state)
{
    ley_error error = {0};
    const double far_A[] = {100, 0, 0, 0, -1e5, 3, 2, 2, -14, 20, 20, 20}, one_A[] = {0.31, 3.2, -3.3},
                 charge_e[] = {1, -2, 3, 0.5}, none_e[] = {0, 0, 0, 0}, radius_A[] = {1, 2, 1, 1.5};
    ley_atoms *far = NULL, *one = NULL, *neutral = NULL;
    assert_ok(ley_atoms_create(4, far_A, charge_e, radius_A, &far, &error));
    assert_ok(ley_atoms_create(1, one_A, charge_e, radius_A, &one, &error));
    assert_ok(ley_atoms_create(1, one_A, none_e, radius_A, &neutral, &error));
    static const ley_pair pairs[] = {LEY_PAIR_TAYLOR2, LEY_PAIR_COULOMB, LEY_PAIR_LENNARD_JONES};
    for (size_t i = 0; i < 3; i++) {
        support_options options = short_job_options(pairs[i], NULL);
        options.verify_points = 50;
        short_job o = short_job_run(engine, far, &short_job_grid, &options);
        assert_all_zero(&o);
        assert_true(short_job_notes(&o).outside == 4 && short_job_notes(&o).binned == 0 &&
                    ley_job_report(o.job)->accuracy.passed);
        short_job_end(&o);
        o = short_job_run(engine, one, &short_job_grid, &options);
        short_job_assert_right(&o, one, &options, "one atom");
        assert_int_equal(short_job_notes(&o).binned, 1);
        short_job_end(&o);
        o = short_job_run(engine, neutral, &short_job_grid, &options);
        if (pairs[i] == LEY_PAIR_LENNARD_JONES)
            short_job_assert_right(&o, neutral, &options, "an atom without charge");
        else
            assert_all_zero(&o);
        assert_int_equal(short_job_notes(&o).neutral, pairs[i] == LEY_PAIR_LENNARD_JONES ? 0 : 1);
        short_job_end(&o);
    }
    ley_atoms_destroy(far);
    ley_atoms_destroy(one);
    ley_atoms_destroy(neutral);
}

/* At level quick a function that jumps at the cutoff and one that vanishes there. */
static bool is_tried(const int *at)
{
    return !support_is_quick() || at[1] == LEY_PAIR_COULOMB || at[1] == LEY_PAIR_TAYLOR2;
}

static void check_distances(const ley_atoms *atoms, int pair, double end_A, double r_min_A)
{
    support_options options = short_job_options((ley_pair)pair, NULL);
    char name[64];
    options.short_range.cutoff_A = end_A;
    options.r_min_A = r_min_A;
    snprintf(name, sizeof name, "cutoff %g A, r_min %g A", end_A, r_min_A);
    short_job o = short_job_run(engine, atoms, &short_job_grid, &options);
    short_job_assert_right(&o, atoms, &options, name);
    short_job_end(&o);
}

/* Below and above the spacing, and so small that only atoms on points have it. */
static void test_r_min(void **state)
{
    static const double r_mins_A[] = {1e-6, 1e-3, 0.3, 0.8, 3};
    ley_atoms *atoms = support_crowd(350, &short_job_grid, short_job_cutoff_A, 8);
    pairwise p = PAIRWISE(5, LEY_PAIR_TAYLOR4 + 1);
    for (p.can_be = is_tried; pairwise_next(&p);)
        check_distances(atoms, p.at[1], short_job_cutoff_A, r_mins_A[p.at[0]]);
    ley_atoms_destroy(atoms);
}

/* Cutoffs from less than a point's distance to much more than the grid. */
static void test_cutoffs(void **state)
{
    static const double cutoffs_A[] = {0.2, 0.4, 1, 12, 60, 1000};
    ley_atoms *atoms = support_crowd(350, &short_job_grid, 12, 9);
    pairwise p = PAIRWISE(6, LEY_PAIR_TAYLOR4 + 1);
    for (p.can_be = is_tried; pairwise_next(&p);)
        check_distances(atoms, p.at[1], cutoffs_A[p.at[0]], fmin(0.05, cutoffs_A[p.at[0]] / 10));
    ley_atoms_destroy(atoms);
}

/* Screening so strong that nothing is left long before the cutoff, at points or at r_min itself;
 * and none at all. */
static void test_screening(void **state)
{
    static const struct {
        double kappa_per_A, r_min_A;
    } cases[] = {{0, 0.05}, {1e-3, 0.05}, {3, 0.05}, {20, 0.05}, {100, 0.05}, {100, 0.5}, {100, 1}, {100, 4}};
    ley_atoms *atoms = support_crowd(350, &short_job_grid, short_job_cutoff_A, 8);
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        support_options options = short_job_options(LEY_PAIR_YUKAWA, NULL);
        char name[64];
        options.short_range.kappa_per_A = cases[i].kappa_per_A;
        options.r_min_A = cases[i].r_min_A;
        options.short_range.bin_fill = 4;
        snprintf(name, sizeof name, "kappa %g / A, r_min %g A", cases[i].kappa_per_A, cases[i].r_min_A);
        short_job o = short_job_run(engine, atoms, &short_job_grid, &options);
        for (int64_t k = 0; k < ley_grid_points(&short_job_grid); k++) {
            const double most = 560.5 * 350 * exp(-cases[i].kappa_per_A * cases[i].r_min_A) / cases[i].r_min_A;
            if (!(fabs((double)ley_map_read_values(o.map)[k]) <= most + 1e-30))
                fail_msg("%s: %g", name, (double)ley_map_read_values(o.map)[k]);
        }
        const double off = support_short_range_error(o.map, atoms, &options).rms;
        /* Times kappa, what distances are off by: 5e-7 of r_min by Newton's recipe. */
        const double most_off = fmax(1e-5, 6e-7 * cases[i].kappa_per_A * cases[i].r_min_A);
        if (!(off <= most_off) && cases[i].kappa_per_A * cases[i].r_min_A < 60)
            fail_msg("%s: off by %g", name, off);
        short_job_end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* What no float holds is right as zero: screened by exp(-200), or by exp(-100) at r_min. */
static void test_verification_of_nothing(void **state)
{
    const double far_A[] = {short_job_grid.origin_A[0] - 2, short_job_grid.origin_A[1], short_job_grid.origin_A[2]},
                 charge_e = 1;
    ley_atoms *far = support_make_atoms(1, far_A, &charge_e, NULL);
    support_options options = short_job_options(LEY_PAIR_YUKAWA, NULL);
    options.short_range.kappa_per_A = 100;
    options.verify_points = 100;
    for (options.r_min_A = 0.05; options.r_min_A < 2; options.r_min_A *= 20) {
        short_job o = short_job_try(engine, far, &short_job_grid, &options);
        if (o.status != LEY_OK)
            fail_msg("r_min %g A: %s", options.r_min_A, o.error.message);
        short_job_end(&o);
    }
    ley_atoms_destroy(far);
}
/* Bins around a region that constant memory has no room for: coarse meshes, dense atoms. What
 * fits is right. */
static void test_tables_in_constant_memory(void **state)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    if (support_is_quick() && support_has_vectors(engine))
        return; /* which take five seconds to compile it */
    const ley_grid coarse = {.step_A = LEY_STEPS(3, 3, 3), .n = {17, 9, 9}};
    ley_atoms *atoms = support_atoms(40000, -2, 40, 3);
    support_options options = short_job_options(LEY_PAIR_TAYLOR2, "bins");
    options.short_range.cutoff_A = 1.5;
    short_job o = short_job_try(engine, atoms, &coarse, &options);
    if (o.status == LEY_ERROR_NO_DEVICE && info->constant_bytes <= 64 << 10) {
        assert_non_null(strstr(o.error.message, "bins around a region are more than constant memory holds"));
        assert_non_null(strstr(o.error.message, "variant bins"));
    } else {
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        short_job_assert_right(&o, atoms, &options, "coarse");
    }
    short_job_end(&o);
    ley_atoms_destroy(atoms);
}

/* ---- Numbers of an expression ---------------------------------------------------------------- */

/* Of another cutoff, kappa and constant the kernel is the one that the cache has. `fault`: one that
 * shows with the second job's numbers alone, and no self-test has seen these. */
static void run_with_other_numbers(const ley_atoms *atoms, bool fault)
{
    static const double cutoff_A[] = {5, 6.5, 4}, kappa_per_A[] = {0.3, 0.45, 0.1}, share[] = {0.1, -0.25, 2};
    support_fresh_cache();
    if (fault)
        support_plant_fault("cutoff", "own.low = numbers;",
                            "own.low = numbers; p.own.low.s0 *= numbers.s0 < 0.16f ? 1.1f : 1.0f;");
    for (int i = 0; i < 3; i++) {
        const ley_named_number number = {"share", share[i]};
        support_options options = short_job_options(LEY_PAIR_EXPRESSION, NULL);
        options.short_range.cutoff_A = cutoff_A[i];
        options.short_range.kappa_per_A = kappa_per_A[i];
        options.short_range.expression = "q*exp(-kappa*r)/r+share*q*(1-r/cutoff)^2";
        options.short_range.numbers = &number;
        options.short_range.number_count = 1;
        options.verify_points = 1000;
        short_job o = short_job_try(engine, atoms, &short_job_grid, &options);
        const ley_report *report = ley_job_report(o.job);
        const bool is_wrong = fault && i == 1;
        assert_int_equal(o.status, is_wrong ? LEY_ERROR_WRONG_RESULT : LEY_OK);
        assert_non_null(is_wrong ? strstr(o.error.message, "verification failed") : "");
        if (support_has_vectors(engine) && !(fault && i == 2)) /* what was wrong is no longer kept */
            assert_int_equal(report->devices[0].from_cache, i > 0);
        if (!is_wrong)
            short_job_assert_right(&o, atoms, &options, "other numbers");
        short_job_end(&o);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

static void test_numbers_are_arguments(void **state)
{
    ley_atoms *atoms = support_crowd(100, &short_job_grid, short_job_cutoff_A, 1);
    run_with_other_numbers(atoms, false);
    run_with_other_numbers(atoms, true);
    ley_atoms_destroy(atoms);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void expect_refused(support_options options, ley_status wanted, const char *message)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_crowd(50, &short_job_grid, short_job_cutoff_A, 1);
    ley_map *map = support_make_map(&short_job_grid);
    ley_status status = support_job_create(engine, atoms, map, &options, &job, &error);
    if (status == LEY_OK)
        status = ley_job_run(job, &error);
    if (status != wanted || strstr(error.message, message) == NULL)
        fail_msg("%s: %s, not '%s'", ley_status_name(status), error.message, message);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

#define REFUSED(status, message, ...) \
    do { \
        support_options o = short_job_options(LEY_PAIR_TAYLOR2, NULL); \
        __VA_ARGS__; \
        expect_refused(o, status, message); \
    } while (0)

static void test_jobs_that_cannot_be(void **state)
{
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (6 A)", o.r_min_A = 6);
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (5 A)", o.r_min_A = 5);
    REFUSED(LEY_ERROR_USAGE, "cutoff nan A", o.short_range.cutoff_A = NAN);
    REFUSED(LEY_ERROR_USAGE, "cutoff 10001 A", o.short_range.cutoff_A = 10001);
    REFUSED(LEY_ERROR_USAGE, "unroll4", o.variant = "unroll4"); /* another method's */
    REFUSED(LEY_ERROR_USAGE, "bin_depth 129", o.short_range.bin_depth = 129);
    REFUSED(LEY_ERROR_USAGE, "bin_fill 0", o.short_range.bin_fill = 0);
    REFUSED(LEY_ERROR_USAGE, "unknown pair function 1000", o.short_range.pair = (ley_pair)1000);
    REFUSED(LEY_ERROR_USAGE, "unknown binning 3", o.short_range.binning = (ley_place)3);
    REFUSED(LEY_ERROR_USAGE, "slab planes -1", o.slab_planes = -1);
    REFUSED(LEY_ERROR_USAGE, "vector b is periodic and zero", o.short_range.periodic[1] = true);
    REFUSED(LEY_ERROR_INPUT, "on a line", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A[1], (double[3]){26, 0, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "lie in a plane", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A[2], (double[3]){1, 1, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "images in reach", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A, (double[3][3]){{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}, 72);
            o.short_range.cutoff_A = 100);
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* Kernels are compiled on one core each: every device has a process of its own, and so has what
 * takes longest. */
typedef enum part_kind { PART_DEVICE, PART_WORK_GROUPS } part_kind;

typedef struct part {
    part_kind kind;
    char selector[32], name[256];
    pid_t process;
} part;

enum { MOST_PARTS = 40 };

/* Shared with the process that looks for devices. */
typedef struct part_list {
    int count;
    part parts[MOST_PARTS];
} part_list;

/* At level quick devices without vectors have those that kernels of work-groups show most in. */
enum { GROUPS = 9 };
/* On a grid whose regions are longer than the cutoff, distances are rounded by more: what that does
 * to functions that vanish there passes, and the report does not hide it. */
static void test_errors_of_places(void **state)
{
    static const ley_pair pairs[] = {LEY_PAIR_SHIFTED, LEY_PAIR_TAYLOR2, LEY_PAIR_TAYLOR3, LEY_PAIR_TAYLOR4};
    const ley_grid coarse = {.step_A = LEY_STEPS(10, 10, 10), .n = {6, 6, 6}};
    ley_atoms *atoms = support_crowd(600, &coarse, 0, 5);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        support_options options = support_short_range(pairs[k], 12);
        options.verify_points = 1000;
        const ley_short_range range = support_range(&options);
        const double C = ley_coulomb_constant(range.units, range.dielectric, range.temperature_K);
        short_job o = short_job_run(engine, atoms, &coarse, &options);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        double error2 = 0, right2 = 0;
        for (int64_t i = 0; i < ley_grid_points(&coarse); i++) {
            double point_A[3];
            ley_grid_point_A(&coarse, (const int64_t[]){i % 6, i / 6 % 6, i / 36}, point_A);
            const double right = reference_short_range(atoms, &range, NULL, point_A, C, range.r_min_A).value;
            error2 += pow((double)ley_map_read_values(o.map)[i] - right, 2);
            right2 += right * right;
        }
        assert_int_equal(a->points, 216);
        assert_true(a->passed && a->max_error > 2e-8);
        assert_true(fabs(a->relative_rms - sqrt(error2 / right2)) < 0.01 * a->relative_rms && a->relative_rms > 1e-8);
        short_job_end(&o);
    }
    ley_atoms_destroy(atoms);
}

static const struct CMUnitTest device_tests[] = {
    cmocka_unit_test(test_numbers_are_arguments),
    cmocka_unit_test(test_jobs_that_cannot_be),
    cmocka_unit_test(test_every_kernel),
    cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_rows_and_regions),
    cmocka_unit_test(test_odd_meshes),
    cmocka_unit_test(test_r_min),
    cmocka_unit_test(test_cutoffs),
    cmocka_unit_test(test_few_atoms),
    cmocka_unit_test(test_sums_are_worth_their_price),
    cmocka_unit_test(test_screening),
    cmocka_unit_test(test_verification_of_nothing),
    cmocka_unit_test(test_errors_of_places),
};
static const struct CMUnitTest group_tests[] = {cmocka_unit_test(test_work_groups),
                                                cmocka_unit_test(test_tables_in_constant_memory)};

static int run_part(const part *p)
{
    char group[512];
    int failures;
    if (!support_open(p->selector, p->name, &engine))
        return 1;
    snprintf(group, sizeof group, "cutoff on %s (%s)%s", p->name, p->selector,
             p->kind == PART_WORK_GROUPS ? ", work-groups" : "");
    if (p->kind == PART_DEVICE) {
        const size_t all = sizeof device_tests / sizeof *device_tests;
        failures = _cmocka_run_group_tests(
            group, device_tests, support_is_quick() && !support_has_vectors(engine) ? GROUPS : all, NULL, NULL);
    } else
        failures = cmocka_run_group_tests_name(group, group_tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

static void add_part(part_list *list, part_kind kind, const ley_device_info *info)
{
    if (list->count == MOST_PARTS)
        return;
    part *p = &list->parts[list->count++];
    p->kind = kind;
    snprintf(p->selector, sizeof p->selector, "%s:%d", info->path, info->index);
    snprintf(p->name, sizeof p->name, "%s", info->name);
}

/* Drivers do not survive a fork: not even the list is made in this process. */
static int list_parts(part_list *parts)
{
    ley_device_list *list = NULL;
    if (ley_device_list_create(&list, NULL) != LEY_OK)
        return 1;
    for (size_t i = 0; i < ley_device_list_count(list); i++)
        if (ley_device_list_get(list, i)->unusable == NULL) {
            add_part(parts, PART_WORK_GROUPS, ley_device_list_get(list, i));
            add_part(parts, PART_DEVICE, ley_device_list_get(list, i));
        }
    ley_device_list_destroy(list);
    return 0;
}

static pid_t start(int (*body)(part_list *list, int i), part_list *list, int i)
{
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0)
        exit(body(list, i) != 0);
    return process;
}

static int body_list(part_list *list, int i)
{
    return list_parts(list);
}

static int body_part(part_list *list, int i)
{
    return run_part(&list->parts[i]);
}

static bool succeeded(pid_t process, const char *name)
{
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) < 0)
        return false;
    if (WIFSIGNALED(status))
        print_error("%s: ended by signal %d\n", name, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    verification_time_replace(1e9); /* tests count on as many points as they ask for */
    int failures = 0;
    part_list *list = mmap(NULL, sizeof *list, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED)
        return 1;
    if (!succeeded(start(body_list, list, 0), "devices") || list->count == 0) {
        print_error("no device to test on\n");
        return 1;
    }
    for (int i = 0; i < list->count; i++)
        list->parts[i].process = start(body_part, list, i);
    for (int i = 0; i < list->count; i++)
        failures += !succeeded(list->parts[i].process, list->parts[i].name);
    return failures;
}
