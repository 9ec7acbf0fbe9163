/* The short-range method on every device of this machine against double precision: every pair
 * function, kernel variant, sum and kind of maths; bins that overflow, slabs, odd lattices; what
 * must be refused, found wrong or cancelled. */
#include "pairwise.h"
#include "support.h"

#include "judge/reference.h"
#include "pair_table.h"
#include "run/verification.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static ley_engine *engine; /* of the device under test */

static const ley_lattice uneven = {
    .origin_A = {-3.25, 1, -7}, .step_A = LEY_STEPS(0.5, 0.625, 0.75), .n = {19, 13, 11}};
static const double cutoff_A = 5;

#define ONE(...) +1
enum { PAIRS = 0 LEY_PAIR_ROWS(ONE, 0) };

static const char *pair_name(ley_pair pair)
{
    return ley_pair_get(pair)->name;
}

static support_options options_of(ley_pair pair, const char *variant)
{
    support_options options = support_short_range(pair, cutoff_A);
    options.variant = variant;
    return options;
}

static void make_periodic(support_options *options)
{
    static const double cell_A[3][3] = {{13, 0, 0}, {2, 12, 0}, {-1, 3, 14}};
    memcpy(options->short_range.cell_A, cell_A, sizeof cell_A);
    for (int axis = 0; axis < 3; axis++)
        options->short_range.periodic[axis] = true;
}

/* CPU devices with vectors have variants of their own, and compile those of GPUs slowly. */
static bool has_vectors(void)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    return info->device_class == LEY_CLASS_CPU && strcmp(info->platform, "rusticl") != 0;
}

static bool is_of_vectors(const char *variant)
{
    return strncmp(variant, "vector", 6) == 0;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* A job that was run, with the map that it filled. */
typedef struct outcome {
    ley_map *map;
    ley_job *job;
    ley_status status;
    ley_error error;
} outcome;

static outcome attempt(ley_engine *on, const ley_atoms *atoms, const ley_lattice *lattice,
                       const support_options *options)
{
    outcome o = {.map = NULL};
    ley_error error = {0};
    assert_ok(ley_map_create(lattice, &o.map, &error));
    assert_ok(support_job_create(on, atoms, o.map, options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

static outcome run(const ley_atoms *atoms, const ley_lattice *lattice, const support_options *options)
{
    outcome o = attempt(engine, atoms, lattice, options);
    assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
    return o;
}

static void end(outcome *o)
{
    ley_job_destroy(o->job);
    ley_map_destroy(o->map);
    ley_error_clear(&o->error);
}

static support_notes bins_of(const outcome *o)
{
    return support_notes_of(ley_job_report(o->job));
}

static void assert_within(double limit, const outcome *o, const ley_atoms *atoms, const support_options *options,
                          const char *what)
{
    static const char *const maths[] = {"standard", "native", "auto"}, *const sums[] = {"float", "compensated",
                                                                                        "double"};
    const support_error e = support_short_range_error(o->map, atoms, options);
    if (!(e.rms <= limit && e.worst <= 3 * limit))
        fail_msg("%s: %s, variant %s, %s maths, %s sum: off by %g, at a point by %g", what,
                 pair_name(options->short_range.pair), options->variant != NULL ? options->variant : "default",
                 maths[options->math], sums[options->sum], e.rms, e.worst);
}

static void assert_right(const outcome *o, const ley_atoms *atoms, const support_options *options, const char *what)
{
    assert_within(options->math == LEY_MATH_NATIVE ? 1e-3 : 1e-5, o, atoms, options, what);
}

static bool same_bytes(const ley_map *a, const ley_map *b)
{
    return memcmp(ley_map_read_values(a), ley_map_read_values(b),
                  (size_t)ley_lattice_points(ley_map_lattice(a)) * sizeof(float)) == 0;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* LEY_ERROR_NO_DEVICE is the right answer of a device that cannot do it; anything else has to be
 * right. */
static bool cannot(const outcome *o, const support_options *options)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    if (o->status != LEY_ERROR_NO_DEVICE)
        return false;
    assert_non_null(strstr(o->error.message, info->name));
    return (options->sum == LEY_SUM_DOUBLE && !info->has_double) ||
           (options->variant != NULL && is_of_vectors(options->variant) && !has_vectors());
}

static void check_report(const outcome *o, const support_options *options)
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
    ley_atoms *atoms = support_crowd(350, &uneven, cutoff_A, 1);
    for (int periodic = 0; periodic <= 1; periodic++) {
        support_options options = *wanted;
        if (periodic)
            make_periodic(&options);
        outcome o = attempt(engine, atoms, &uneven, &options);
        if (!cannot(&o, &options)) {
            assert_ok_at(o.status, &o.error, pair_name(options.short_range.pair), __FILE__, __LINE__);
            assert_right(&o, atoms, &options, periodic ? "periodic" : "open");
            check_report(&o, &options);
        }
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* Variants that are meant for this device, and the default, NULL. */
static bool is_meant(const char *variant)
{
    return variant == NULL || is_of_vectors(variant) == has_vectors();
}

/* At level quick a device without vectors has every third pair function: variants differ there. */
static bool suits_the_device(const int *at)
{
    return is_meant(ley_variant_name("cutoff", (size_t)at[0])) &&
           (!support_is_quick() || has_vectors() || at[1] % 3 == 0);
}

/* Each variant, pair function, sum and kind of maths. */
static void test_every_kernel(void **state)
{
    (void)state;
    const char *variant;
    pairwise p = PAIRWISE(support_variants("cutoff") + 1, PAIRS, 3, 3);
    for (p.can_be = suits_the_device; pairwise_next(&p);) {
        support_options options = options_of((ley_pair)p.at[1], ley_variant_name("cutoff", (size_t)p.at[0]));
        options.math = (ley_math)p.at[2];
        options.sum = (ley_sum)p.at[3];
        check(&options);
    }
    for (size_t i = 0; (variant = ley_variant_name("cutoff", i)) != NULL; i++) /* which are refused */
        if (is_of_vectors(variant) && !has_vectors()) {
            const support_options options = options_of(LEY_PAIR_TAYLOR2, variant);
            check(&options);
        }
}

/* Work-groups on CPU devices with vectors, 4 to 13 s a kernel: a function that ends by its sign,
 * one that is tested, one with more numbers than a charge, each where most depends on it. */
static void test_work_groups(void **state)
{
    (void)state;
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
        const support_options options = options_of(kernels[i].pair, kernels[i].variant);
        check(&options);
    }
}

/* The better sums are better, where many terms add up. */
static void test_sums_are_worth_their_price(void **state)
{
    (void)state;
    const ley_lattice small = {.origin_A = {-3, 1, -7}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {16, 8, 9}};
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
        support_options options = options_of(LEY_PAIR_COULOMB, NULL);
        options.short_range.cutoff_A = 25;
        options.math = LEY_MATH_STANDARD;
        options.sum = (ley_sum)sum;
        outcome o = run(atoms, &small, &options);
        off[sum] = support_short_range_error(o.map, atoms, &options).rms;
        end(&o);
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
    ley_atoms *random = support_crowd(n, &uneven, 0, 5), *atoms = NULL;
    double *position_A = calloc(4 * n, sizeof *position_A), *charge_e = position_A + 3 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < 3 * n; i++)
        position_A[i] = uneven.origin_A[i % 3] + 2.7;
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

/* Summed on the host and on the device: the same map, but for rounding. Returns how many
 * overflow. */
static int64_t check_overflow(const ley_atoms *atoms, ley_pair pair, int depth, double fill, bool periodic)
{
    support_options options = options_of(pair, NULL);
    options.short_range.bin_depth = depth;
    options.short_range.bin_fill = fill;
    options.verify_points = 100;
    if (periodic)
        make_periodic(&options);
    outcome o[2];
    for (int i = 0; i < 2; i++) {
        options.short_range.overflow = i == 0 ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
        char name[96];
        snprintf(name, sizeof name, "depth %d, fill %g%s, overflow on the %s", depth, fill,
                 periodic ? ", periodic" : "", i == 0 ? "host" : "device");
        o[i] = attempt(engine, atoms, &uneven, &options);
        if (o[i].status != LEY_OK)
            fail_msg("%s, %s: %s", pair_name(pair), name, o[i].error.message);
        assert_right(&o[i], atoms, &options, name);
        const support_notes r = bins_of(&o[i]);
        assert_int_equal(r.overflow_sum, options.short_range.overflow);
        assert_true(i == 1 || r.overflow_s > 0);
        assert_true(r.predicted_device_s >= 0 && (i == 1 || r.predicted_overflow_s > 0));
        assert_true(r.binned - r.overflow <= r.bins * r.bin_depth);
    }
    assert_true(support_difference(o[0].map, o[1].map) < 3e-6);
    const int64_t overflow = bins_of(&o[0]).overflow;
    assert_int_equal(overflow, bins_of(&o[1]).overflow);
    assert_true(overflow > 0);
    end(&o[0]);
    end(&o[1]);
    return overflow;
}

static void test_overflow(void **state)
{
    (void)state;
    ley_atoms *atoms = support_crowd(350, &uneven, cutoff_A, 1), *heap = in_one_place(300);
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
    support_options options = options_of(LEY_PAIR_TAYLOR2, NULL);
    options.short_range.bin_fill = 4; /* where it is summed is for the job to choose */
    outcome o = run(atoms, &uneven, &options);
    assert_true(bins_of(&o).overflow_sum == LEY_PLACE_HOST || bins_of(&o).overflow_sum == LEY_PLACE_DEVICE);
    end(&o);
    ley_atoms_destroy(heap);
    ley_atoms_destroy(atoms);
}

/* ---- Seams ----------------------------------------------------------------------------------- */

static void test_slabs_make_the_same_map(void **state)
{
    (void)state;
    const ley_lattice tall = {.origin_A = {2, -4, 8}, .step_A = LEY_STEPS(0.625, 0.5, 0.75), .n = {9, 10, 27}};
    ley_atoms *atoms = support_crowd(500, &tall, cutoff_A, 3);
    static const int64_t planes[] = {1, 8, 9, 16, 27, 100};
    for (int host = 0; host <= 1; host++) {
        support_options options = options_of(LEY_PAIR_TAYLOR2, NULL);
        options.short_range.bin_fill = 2;
        options.short_range.overflow = host ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
        outcome whole = run(atoms, &tall, &options);
        assert_right(&whole, atoms, &options, "whole");
        for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++) {
            options.slab_planes = planes[i];
            outcome o = run(atoms, &tall, &options);
            const ley_report *r = ley_job_report(o.job);
            int64_t layers = 0, most = 0;
            for (size_t k = 0; k < r->slab_count; k++) {
                layers += r->slabs[k].count;
                most = r->slabs[k].count > most ? r->slabs[k].count : most;
            }
            assert_int_equal(layers, 4); /* of 8 planes */
            assert_true(most <= (planes[i] + 7) / 8);
            assert_int_equal(r->devices[0].points, ley_lattice_points(&tall));
            assert_true(same_bytes(o.map, whole.map));
            end(&o);
        }
        end(&whole);
    }
    ley_atoms_destroy(atoms);
}

/* Rows that the kernel writes, and regions that the host takes apart. */
static void test_rows_and_regions(void **state)
{
    (void)state;
    ley_atoms *atoms = support_crowd(350, &uneven, cutoff_A, 4);
    const char *variant;
    for (size_t i = 0; (variant = ley_variant_name("cutoff", i)) != NULL; i++) {
        support_options options = options_of(LEY_PAIR_TAYLOR2, variant);
        outcome o[2];
        const char *next = ley_variant_name("cutoff", i + 1);
        if (!is_meant(variant) || (support_is_quick() && next != NULL && is_meant(next))) /* quick: the last one */
            continue;
        for (int k = 0; k < 2; k++) {
            options.short_range.transposition = k == 0 ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
            o[k] = run(atoms, &uneven, &options);
            assert_int_equal(bins_of(&o[k]).transposition, options.short_range.transposition);
            assert_non_null(
                strstr(ley_job_report(o[k].job)->devices[0].specification, k == 0 ? "-DLEY_STORE=0" : "-DLEY_STORE=1"));
        }
        assert_right(&o[0], atoms, &options, "regions");
        assert_true(same_bytes(o[0].map, o[1].map));
        end(&o[0]);
        end(&o[1]);
    }
    ley_atoms_destroy(atoms);
}

/* The largest error of a point, of the sum of the absolute terms there. */
static double worst_of_terms(const ley_map *map, const ley_atoms *atoms, const support_options *o)
{
    const ley_lattice *l = ley_map_lattice(map);
    const double constant = ley_coulomb_constant(o->units, o->dielectric, o->temperature_K);
    double worst = 0;
    for (int64_t i = 0; i < ley_lattice_points(l); i++) {
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
static void check_odd(const ley_atoms *atoms, const ley_lattice *l, const support_options *options, const char *name)
{
    outcome o = run(atoms, l, options);
    const double longest_A = fmax(fmax(l->step_A[0][0], l->step_A[1][1]), l->step_A[2][2]),
                 promise = ley_job_report(o.job)->accuracy.tolerance;
    const double worst = worst_of_terms(o.map, atoms, options);
    assert_true(promise > 0);
    if (!(worst <= promise))
        fail_msg("%s, %s: off by %g of the absolute terms, %g is promised", name, pair_name(options->short_range.pair),
                 worst, promise);
    assert_within(1e-5 * fmax(1, longest_A / 8), &o, atoms, options, name);
    end(&o);
}

static void test_odd_lattices(void **state)
{
    (void)state;
    static const ley_lattice lattices[] = {
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
    for (size_t i = 0; i < sizeof lattices / sizeof lattices[0]; i++) {
        const ley_lattice *l = &lattices[i];
        ley_atoms *atoms = support_crowd(200, l, cutoff_A, 6);
        char name[64];
        snprintf(name, sizeof name, "%d x %d x %d", (int)l->n[0], (int)l->n[1], (int)l->n[2]);
        for (int k = 0; k < 3; k++) {
            support_options options = options_of(k == 0 ? LEY_PAIR_COULOMB : LEY_PAIR_TAYLOR2, NULL);
            if (k == 2)
                make_periodic(&options);
            check_odd(atoms, l, &options, name);
        }
        ley_atoms_destroy(atoms);
    }
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static void assert_all_zero(const outcome *o)
{
    for (int64_t i = 0; i < ley_lattice_points(&uneven); i++)
        assert_true(ley_map_read_values(o->map)[i] == 0);
}

static void test_few_atoms(void **state)
{
    (void)state;
    ley_error error = {0};
    const double far_A[] = {100, 0, 0, 0, -1e5, 3, 2, 2, -14, 20, 20, 20}, one_A[] = {0.31, 3.2, -3.3},
                 charge_e[] = {1, -2, 3, 0.5}, none_e[] = {0, 0, 0, 0}, radius_A[] = {1, 2, 1, 1.5};
    ley_atoms *far = NULL, *one = NULL, *neutral = NULL;
    assert_ok(ley_atoms_create(4, far_A, charge_e, radius_A, &far, &error));
    assert_ok(ley_atoms_create(1, one_A, charge_e, radius_A, &one, &error));
    assert_ok(ley_atoms_create(1, one_A, none_e, radius_A, &neutral, &error));
    static const ley_pair pairs[] = {LEY_PAIR_TAYLOR2, LEY_PAIR_COULOMB, LEY_PAIR_LENNARD_JONES};
    for (size_t i = 0; i < 3; i++) {
        support_options options = options_of(pairs[i], NULL);
        options.verify_points = 50;
        outcome o = run(far, &uneven, &options);
        assert_all_zero(&o);
        assert_true(bins_of(&o).outside == 4 && bins_of(&o).binned == 0 && ley_job_report(o.job)->accuracy.passed);
        end(&o);
        o = run(one, &uneven, &options);
        assert_right(&o, one, &options, "one atom");
        assert_int_equal(bins_of(&o).binned, 1);
        end(&o);
        o = run(neutral, &uneven, &options);
        if (pairs[i] == LEY_PAIR_LENNARD_JONES)
            assert_right(&o, neutral, &options, "an atom without charge");
        else
            assert_all_zero(&o);
        assert_int_equal(bins_of(&o).neutral, pairs[i] == LEY_PAIR_LENNARD_JONES ? 0 : 1);
        end(&o);
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
    support_options options = options_of((ley_pair)pair, NULL);
    char name[64];
    options.short_range.cutoff_A = end_A;
    options.r_min_A = r_min_A;
    snprintf(name, sizeof name, "cutoff %g A, r_min %g A", end_A, r_min_A);
    outcome o = run(atoms, &uneven, &options);
    assert_right(&o, atoms, &options, name);
    end(&o);
}

/* Below and above the spacing, and so small that only atoms on points have it. */
static void test_r_min(void **state)
{
    (void)state;
    static const double r_mins_A[] = {1e-6, 1e-3, 0.3, 0.8, 3};
    ley_atoms *atoms = support_crowd(350, &uneven, cutoff_A, 8);
    pairwise p = PAIRWISE(5, LEY_PAIR_TAYLOR4 + 1);
    for (p.can_be = is_tried; pairwise_next(&p);)
        check_distances(atoms, p.at[1], cutoff_A, r_mins_A[p.at[0]]);
    ley_atoms_destroy(atoms);
}

/* Cutoffs from less than a point's distance to much more than the lattice. */
static void test_cutoffs(void **state)
{
    (void)state;
    static const double cutoffs_A[] = {0.2, 0.4, 1, 12, 60, 1000};
    ley_atoms *atoms = support_crowd(350, &uneven, 12, 9);
    pairwise p = PAIRWISE(6, LEY_PAIR_TAYLOR4 + 1);
    for (p.can_be = is_tried; pairwise_next(&p);)
        check_distances(atoms, p.at[1], cutoffs_A[p.at[0]], fmin(0.05, cutoffs_A[p.at[0]] / 10));
    ley_atoms_destroy(atoms);
}

/* Screening so strong that nothing is left long before the cutoff, at points or at r_min itself;
 * and none at all. */
static void test_screening(void **state)
{
    (void)state;
    static const struct {
        double kappa_per_A, r_min_A;
    } cases[] = {{0, 0.05}, {1e-3, 0.05}, {3, 0.05}, {20, 0.05}, {100, 0.05}, {100, 0.5}, {100, 1}, {100, 4}};
    ley_atoms *atoms = support_crowd(350, &uneven, cutoff_A, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        support_options options = options_of(LEY_PAIR_YUKAWA, NULL);
        char name[64];
        options.short_range.kappa_per_A = cases[i].kappa_per_A;
        options.r_min_A = cases[i].r_min_A;
        options.short_range.bin_fill = 4;
        snprintf(name, sizeof name, "kappa %g / A, r_min %g A", cases[i].kappa_per_A, cases[i].r_min_A);
        for (int host = 0; host <= 1; host++) {
            options.short_range.overflow = host ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
            outcome o = run(atoms, &uneven, &options);
            for (int64_t k = 0; k < ley_lattice_points(&uneven); k++) {
                const double most = 560.5 * 350 * exp(-cases[i].kappa_per_A * cases[i].r_min_A) / cases[i].r_min_A;
                if (!(fabs((double)ley_map_read_values(o.map)[k]) <= most + 1e-30))
                    fail_msg("%s: %g", name, (double)ley_map_read_values(o.map)[k]);
            }
            const double off = support_short_range_error(o.map, atoms, &options).rms;
            if (!(off <= 1e-5) && cases[i].kappa_per_A * cases[i].r_min_A < 60)
                fail_msg("%s, overflow on the %s: off by %g", name, host ? "host" : "device", off);
            end(&o);
        }
    }
    ley_atoms_destroy(atoms);
}

/* What no float holds is right as zero: screened by exp(-200), or by exp(-100) at r_min. */
static void test_verification_of_nothing(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_atoms *far = NULL;
    const double far_A[] = {uneven.origin_A[0] - 2, uneven.origin_A[1], uneven.origin_A[2]}, charge_e = 1;
    assert_ok(ley_atoms_create(1, far_A, &charge_e, NULL, &far, &error));
    support_options options = options_of(LEY_PAIR_YUKAWA, NULL);
    options.short_range.kappa_per_A = 100;
    options.verify_points = 100;
    for (options.r_min_A = 0.05; options.r_min_A < 2; options.r_min_A *= 20) {
        outcome o = attempt(engine, far, &uneven, &options);
        if (o.status != LEY_OK)
            fail_msg("r_min %g A: %s", options.r_min_A, o.error.message);
        end(&o);
    }
    ley_atoms_destroy(far);
}

/* ---- Wrong results --------------------------------------------------------------------------- */

/* The self-test finds this fault. */
static void check_fault(const char *from, const char *to, ley_pair pair)
{
    const support_options options = options_of(pair, NULL);
    ley_atoms *atoms = support_crowd(100, &uneven, cutoff_A, 1);
    support_plant_fault("cutoff", from, to);
    outcome o = attempt(engine, atoms, &uneven, &options);
    unsetenv("LEYDEN_KERNEL_DIR");
    if (o.status != LEY_ERROR_WRONG_RESULT)
        fail_msg("'%s' in place of '%s', %s: %s %s", to, from, pair_name(pair), ley_status_name(o.status),
                 o.error.message);
    assert_non_null(strstr(o.error.message, "self-test of cutoff failed"));
    assert_int_equal(ley_job_report(o.job)->devices[0].status, LEY_ERROR_WRONG_RESULT);
    for (int64_t k = 0; k < ley_lattice_points(&uneven); k++)
        assert_true(isnan(ley_map_read_values(o.map)[k]));
    end(&o);
    ley_atoms_destroy(atoms);
}

/* Afterwards right kernels are right again. At level quick a device with vectors finds half of
 * these faults, one without them the others. */
static void test_wrong_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        ley_pair pair;
    } faults[] = {
        {"? first : 1", "? 1.0001f * first : 1", LEY_PAIR_COULOMB},
        {"home.y + entry.y", "home.y + 1.01f * entry.y", LEY_PAIR_TAYLOR2},           /* bins that lie elsewhere */
        {"(p, ley_clamped_r2(r2, ", "(p, ley_clamped_r2(r2, 0 * ", LEY_PAIR_COULOMB}, /* no r_min */
        {"extra[f.bin];", "extra[f.bin + 1];", LEY_PAIR_YUKAWA},                      /* nothing of the overflow */
    };
    const size_t first = support_is_quick() && !has_vectors() ? 1 : 0, step = support_is_quick() ? 2 : 1;
    for (size_t i = first; i < sizeof faults / sizeof faults[0]; i += step)
        check_fault(faults[i].from, faults[i].to, faults[i].pair);
    ley_atoms *atoms = support_crowd(100, &uneven, cutoff_A, 1);
    const support_options options = options_of(LEY_PAIR_COULOMB, NULL);
    outcome o = run(atoms, &uneven, &options);
    assert_right(&o, atoms, &options, "afterwards");
    end(&o);
    ley_atoms_destroy(atoms);
}

/* Faults in one of the two terms of functions of radii. */
static void test_wrong_energies(void **state)
{
    (void)state;
    check_fault("more[at]", "more[0]", LEY_PAIR_LENNARD_JONES);
    check_fault("limits.z, first,", "limits.z, 1.01f * first,", LEY_PAIR_BUCKINGHAM);
}

/* What no self-test sees, a fault where bins are smaller than its own, the verification finds, if
 * it is asked for. */
static void test_verification_finds_faults(void **state)
{
    (void)state;
    support_options options = options_of(LEY_PAIR_COULOMB, NULL);
    options.short_range.bin_fill = 0.01;
    options.verify_points = 1 << 20; /* all of them */
    ley_atoms *atoms = support_atoms(40, -3, 4, 1);
    for (int fault = 0; fault <= 1; fault++) {
        if (fault)
            support_plant_fault("cutoff", "p, gm_phi);",
                                "p, (p.sum[0] += side.x * side.x < 0.1f * limits.x ? 10.0f : 0.0f, gm_phi));");
        outcome o = attempt(engine, atoms, &uneven, &options);
        unsetenv("LEYDEN_KERNEL_DIR");
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        assert_int_equal(bins_of(&o).overflow, 0);
        assert_int_equal(o.status, fault ? LEY_ERROR_WRONG_RESULT : LEY_OK);
        assert_int_equal(a->points, ley_lattice_points(&uneven));
        assert_true(a->passed != (fault == 1) && (a->max_error > a->tolerance) == (fault == 1));
        if (fault)
            assert_non_null(strstr(o.error.message, "verification failed"));
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void expect_refused(support_options options, ley_status wanted, const char *message)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    ley_atoms *atoms = support_crowd(50, &uneven, cutoff_A, 1);
    assert_ok(ley_map_create(&uneven, &map, &error));
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
        support_options o = options_of(LEY_PAIR_TAYLOR2, NULL); \
        __VA_ARGS__; \
        expect_refused(o, status, message); \
    } while (0)

static void test_jobs_that_cannot_be(void **state)
{
    (void)state;
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (6 A)", o.r_min_A = 6);
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (5 A)", o.r_min_A = 5);
    REFUSED(LEY_ERROR_USAGE, "cutoff nan A", o.short_range.cutoff_A = NAN);
    REFUSED(LEY_ERROR_USAGE, "cutoff 10001 A", o.short_range.cutoff_A = 10001);
    REFUSED(LEY_ERROR_USAGE, "unroll4", o.variant = "unroll4"); /* another method's */
    REFUSED(LEY_ERROR_USAGE, "bin depth 129", o.short_range.bin_depth = 129);
    REFUSED(LEY_ERROR_USAGE, "bin fill 0", o.short_range.bin_fill = 0);
    REFUSED(LEY_ERROR_USAGE, "unknown pair function 1000", o.short_range.pair = (ley_pair)1000);
    REFUSED(LEY_ERROR_USAGE, "unknown place 3", o.short_range.overflow = (ley_place)3);
    REFUSED(LEY_ERROR_USAGE, "slab planes -1", o.slab_planes = -1);
    REFUSED(LEY_ERROR_USAGE, "vector b is periodic and zero", o.short_range.periodic[1] = true);
    REFUSED(LEY_ERROR_INPUT, "on a line", make_periodic(&o);
            memcpy(o.short_range.cell_A[1], (double[3]){26, 0, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "lie in a plane", make_periodic(&o);
            memcpy(o.short_range.cell_A[2], (double[3]){1, 1, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "images in reach", make_periodic(&o);
            memcpy(o.short_range.cell_A, (double[3][3]){{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}, 72);
            o.short_range.cutoff_A = 100);
    REFUSED(LEY_ERROR_USAGE, "pair function of one's own is for devices", o = options_of(LEY_PAIR_EXPRESSION, NULL);
            o.short_range.overflow = LEY_PLACE_HOST);
}

/* Bins around a region that constant memory has no room for: coarse lattices, dense atoms. What
 * fits is right. */
static void test_tables_in_constant_memory(void **state)
{
    (void)state;
    const ley_device_info *info = ley_engine_device(engine, 0);
    const ley_lattice coarse = {.step_A = LEY_STEPS(3, 3, 3), .n = {17, 9, 9}};
    ley_atoms *atoms = support_atoms(40000, -2, 40, 3);
    support_options options = options_of(LEY_PAIR_TAYLOR2, "bins");
    options.short_range.cutoff_A = 1.5;
    outcome o = attempt(engine, atoms, &coarse, &options);
    if (o.status == LEY_ERROR_NO_DEVICE && info->constant_bytes <= 64 << 10) {
        assert_non_null(strstr(o.error.message, "bins around a region are more than constant memory holds"));
        assert_non_null(strstr(o.error.message, "variant bins"));
    } else {
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        assert_right(&o, atoms, &options, "coarse");
    }
    end(&o);
    ley_atoms_destroy(atoms);
}

/* What the progress callback saw; asserts belong into the test's own thread. */
static ley_status run_watched(ley_engine *on, const ley_lattice *lattice, const ley_atoms *atoms, ley_map *map,
                              size_t verify_points, support_watch *w)
{
    ley_error error = {0};
    int64_t points = 0;
    support_options options = options_of(LEY_PAIR_TAYLOR2, NULL);
    options.slab_planes = 1;
    options.verify_points = verify_points;
    options.progress = support_note_progress;
    options.progress_context = w;
    assert_ok(support_job_create(on, atoms, map, &options, &w->job, &error));
    const ley_status status = support_run_watched(w, &points);
    assert_int_equal(points, ley_lattice_points(lattice));
    return status;
}

static const ley_lattice tower = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {9, 9, 100}};

static void test_progress_and_cancel(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_map *map = NULL;
    ley_atoms *atoms = support_crowd(300, &tower, cutoff_A, 1);
    assert_ok(ley_map_create(&tower, &map, &error));
    support_watch w = {.calls = 0};
    assert_int_equal(run_watched(engine, &tower, atoms, map, 0, &w), LEY_OK);
    assert_true(w.done == w.total && w.total == ley_lattice_points(&tower));
    assert_int_equal(w.calls, 13);

    w = (support_watch){.cancel_at_call = -1}; /* before it runs */
    assert_int_equal(run_watched(engine, &tower, atoms, map, 0, &w), LEY_CANCELLED);
    assert_int_equal(w.calls, 0);
    w = (support_watch){.cancel_at_call = 3};
    assert_int_equal(run_watched(engine, &tower, atoms, map, 0, &w), LEY_CANCELLED);
    assert_int_equal(w.calls, 3);               /* what was in flight is not waited for to its end */
    w = (support_watch){.cancel_at_end = true}; /* while it is verified */
    assert_int_equal(run_watched(engine, &tower, atoms, map, 100, &w), LEY_CANCELLED);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* ---- All devices at once --------------------------------------------------------------------- */

static void test_all_devices_at_once(void **state)
{
    (void)state;
    ley_engine *all = NULL;
    ley_error error = {0};
    ley_map *map = NULL;
    assert_true(support_open("all", "all devices", &all));
    const size_t devices = ley_engine_device_count(all);
    ley_atoms *atoms = support_crowd(300, &tower, cutoff_A, 1);
    for (int host = 0; host <= 1; host++) {
        int64_t done = 0;
        support_options options = options_of(LEY_PAIR_TAYLOR2, NULL);
        options.slab_planes = 8;
        options.short_range.bin_fill = 2;
        options.short_range.overflow = host ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
        outcome o = attempt(all, atoms, &tower, &options);
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        assert_right(&o, atoms, &options, "all devices");
        const ley_report *r = ley_job_report(o.job);
        assert_int_equal(r->device_count, devices);
        for (size_t i = 0; i < devices; i++) {
            assert_int_equal(r->devices[i].status, LEY_OK);
            done += r->devices[i].points;
        }
        assert_int_equal(done, r->points);
        end(&o);
    }
    assert_ok(ley_map_create(&tower, &map, &error));
    support_watch w = {.calls = 0};
    assert_int_equal(run_watched(all, &tower, atoms, map, 100, &w), LEY_OK);
    assert_int_equal(w.done, ley_lattice_points(&tower));
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(all);
    if (devices < 2)
        skip();
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* Kernels are compiled on one core each: every device has a process of its own, and so has what
 * takes longest. */
typedef enum part_kind { PART_DEVICE, PART_WORK_GROUPS, PART_TOGETHER } part_kind;

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

static const struct CMUnitTest device_tests[] = {
    cmocka_unit_test(test_every_kernel),
    cmocka_unit_test(test_sums_are_worth_their_price),
    cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_slabs_make_the_same_map),
    cmocka_unit_test(test_rows_and_regions),
    cmocka_unit_test(test_odd_lattices),
    cmocka_unit_test(test_few_atoms),
    cmocka_unit_test(test_r_min),
    cmocka_unit_test(test_cutoffs),
    cmocka_unit_test(test_screening),
    cmocka_unit_test(test_verification_of_nothing),
    cmocka_unit_test(test_wrong_kernels),
    cmocka_unit_test(test_wrong_energies),
    cmocka_unit_test(test_verification_finds_faults),
    cmocka_unit_test(test_jobs_that_cannot_be),
    cmocka_unit_test(test_progress_and_cancel),
};
static const struct CMUnitTest group_tests[] = {cmocka_unit_test(test_work_groups),
                                                cmocka_unit_test(test_tables_in_constant_memory)};
static const struct CMUnitTest together_tests[] = {cmocka_unit_test(test_all_devices_at_once)};

static int run_part(const part *p)
{
    char group[512];
    int failures;
    if (p->kind == PART_TOGETHER)
        return cmocka_run_group_tests_name("cutoff on all devices", together_tests, NULL, NULL);
    if (!support_open(p->selector, p->name, &engine))
        return 1;
    snprintf(group, sizeof group, "cutoff on %s (%s)%s", p->name, p->selector,
             p->kind == PART_WORK_GROUPS ? ", work-groups" : "");
    if (p->kind == PART_DEVICE)
        failures = cmocka_run_group_tests_name(group, device_tests, NULL, NULL);
    else
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
    if (info != NULL) {
        snprintf(p->selector, sizeof p->selector, "%s:%d", info->path, info->index);
        snprintf(p->name, sizeof p->name, "%s", info->name);
    }
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
    (void)i;
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
    add_part(list, PART_TOGETHER, NULL);
    failures += !succeeded(start(body_part, list, list->count - 1), "all devices");
    return failures;
}
