/* Short-range jobs on every device of this machine that must be refused, found wrong or cancelled,
 * and those that all devices share. */
#include "short_job.h"

#include "verify/verification.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ley_engine *engine; /* of the device under test */

/* ---- Wrong results --------------------------------------------------------------------------- */

/* The self-test finds this fault. */
static void check_fault(const char *from, const char *to, ley_pair pair)
{
    const support_options options = short_job_options(pair, NULL);
    ley_atoms *atoms = support_crowd(100, &short_job_grid, short_job_cutoff_A, 1);
    support_plant_fault("cutoff", from, to);
    short_job o = short_job_try(engine, atoms, &short_job_grid, &options);
    unsetenv("LEYDEN_KERNEL_DIR");
    if (o.status != LEY_ERROR_WRONG_RESULT)
        fail_msg("'%s' in place of '%s', %s: %s %s", to, from, ley_pair_get(pair)->name, ley_status_name(o.status),
                 o.error.message);
    assert_non_null(strstr(o.error.message, "self-test of cutoff failed"));
    assert_int_equal(ley_job_report(o.job)->devices[0].status, LEY_ERROR_WRONG_RESULT);
    for (int64_t k = 0; k < ley_grid_points(&short_job_grid); k++)
        assert_true(isnan(ley_map_read_values(o.map)[k]));
    short_job_end(&o);
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
        {"home.y + entry.y", "home.y + 1.01f * entry.y", LEY_PAIR_TAYLOR2},     /* bins that lie elsewhere */
        {"LARGER(r2, (real)p->", "LARGER(r2, 0 * (real)p->", LEY_PAIR_COULOMB}, /* no r_min */
        {"extra[f.bin];", "extra[f.bin + 1];", LEY_PAIR_YUKAWA},                /* nothing of the overflow */
    };
    const size_t first = support_is_quick() && !support_has_vectors(engine) ? 1 : 0, step = support_is_quick() ? 2 : 1;
    for (size_t i = first; i < sizeof faults / sizeof faults[0]; i += step)
        check_fault(faults[i].from, faults[i].to, faults[i].pair);
    ley_atoms *atoms = support_crowd(100, &short_job_grid, short_job_cutoff_A, 1);
    const support_options options = short_job_options(LEY_PAIR_COULOMB, NULL);
    short_job o = short_job_run(engine, atoms, &short_job_grid, &options);
    short_job_assert_right(&o, atoms, &options, "afterwards");
    short_job_end(&o);
    ley_atoms_destroy(atoms);
}

/* Faults in one of the two terms of functions of radii; at level quick of one for each device. */
static void test_wrong_energies(void **state)
{
    (void)state;
    if (!support_is_quick() || support_has_vectors(engine))
        check_fault(support_has_vectors(engine) ? "(b->more + at)" : "more[at]",
                    support_has_vectors(engine) ? "(b->more)" : "more[0]", LEY_PAIR_LENNARD_JONES);
    if (!support_is_quick() || !support_has_vectors(engine))
        check_fault("limits.z, first,", "limits.z, 1.01f * first,", LEY_PAIR_BUCKINGHAM);
}

/* What no self-test sees, a fault where bins are smaller than its own, the verification finds, if
 * it is asked for. */
static void test_verification_finds_faults(void **state)
{
    (void)state;
    support_options options = short_job_options(LEY_PAIR_COULOMB, NULL);
    options.short_range.bin_fill = 0.01;
    options.verify_points = 1 << 20; /* all of them */
    ley_atoms *atoms = support_atoms(40, -3, 4, 1);
    for (int fault = 0; fault <= 1; fault++) {
        if (fault)
            support_plant_fault("cutoff", "p, gm_phi);",
                                "p, (p.sum[0] += side.x * side.x < 0.1f * limits.x ? 10.0f : 0.0f, gm_phi));");
        short_job o = short_job_try(engine, atoms, &short_job_grid, &options);
        unsetenv("LEYDEN_KERNEL_DIR");
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        assert_int_equal(short_job_notes(&o).overflow, 0);
        assert_int_equal(o.status, fault ? LEY_ERROR_WRONG_RESULT : LEY_OK);
        assert_int_equal(a->points, ley_grid_points(&short_job_grid));
        assert_true(a->passed != (fault == 1) && (a->max_error > a->tolerance) == (fault == 1));
        if (fault)
            assert_non_null(strstr(o.error.message, "verification failed"));
        short_job_end(&o);
    }
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
    (void)state;
    ley_atoms *atoms = support_crowd(100, &short_job_grid, short_job_cutoff_A, 1);
    run_with_other_numbers(atoms, false);
    run_with_other_numbers(atoms, true);
    ley_atoms_destroy(atoms);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void expect_refused(support_options options, ley_status wanted, const char *message)
{
    ley_error error = {0};
    ley_map *map = NULL;
    ley_job *job = NULL;
    ley_atoms *atoms = support_crowd(50, &short_job_grid, short_job_cutoff_A, 1);
    assert_ok(ley_map_create(&short_job_grid, &map, &error));
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
    (void)state;
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (6 A)", o.r_min_A = 6);
    REFUSED(LEY_ERROR_USAGE, "cutoff 5 A, must be above r_min (5 A)", o.r_min_A = 5);
    REFUSED(LEY_ERROR_USAGE, "cutoff nan A", o.short_range.cutoff_A = NAN);
    REFUSED(LEY_ERROR_USAGE, "cutoff 10001 A", o.short_range.cutoff_A = 10001);
    REFUSED(LEY_ERROR_USAGE, "unroll4", o.variant = "unroll4"); /* another method's */
    REFUSED(LEY_ERROR_USAGE, "bin_depth 129", o.short_range.bin_depth = 129);
    REFUSED(LEY_ERROR_USAGE, "bin_fill 0", o.short_range.bin_fill = 0);
    REFUSED(LEY_ERROR_USAGE, "unknown pair function 1000", o.short_range.pair = (ley_pair)1000);
    REFUSED(LEY_ERROR_USAGE, "unknown overflow 3", o.short_range.overflow = (ley_place)3);
    REFUSED(LEY_ERROR_USAGE, "slab planes -1", o.slab_planes = -1);
    REFUSED(LEY_ERROR_USAGE, "vector b is periodic and zero", o.short_range.periodic[1] = true);
    REFUSED(LEY_ERROR_INPUT, "on a line", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A[1], (double[3]){26, 0, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "lie in a plane", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A[2], (double[3]){1, 1, 0}, 24));
    REFUSED(LEY_ERROR_INPUT, "images in reach", short_job_make_periodic(&o);
            memcpy(o.short_range.cell_A, (double[3][3]){{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}, 72);
            o.short_range.cutoff_A = 100);
    REFUSED(LEY_ERROR_USAGE, "pair function of one's own is for devices",
            o = short_job_options(LEY_PAIR_EXPRESSION, NULL);
            o.short_range.overflow = LEY_PLACE_HOST);
}

/* What the progress callback saw; asserts belong into the test's own thread. */
static ley_status run_watched(ley_engine *on, const ley_grid *grid, const ley_atoms *atoms, ley_map *map,
                              size_t verify_points, support_watch *w)
{
    ley_error error = {0};
    int64_t points = 0;
    support_options options = short_job_options(LEY_PAIR_TAYLOR2, NULL);
    options.slab_planes = 1;
    options.verify_points = verify_points;
    options.progress = support_note_progress;
    options.progress_context = w;
    assert_ok(support_job_create(on, atoms, map, &options, &w->job, &error));
    const ley_status status = support_run_watched(w, &points);
    assert_int_equal(points, ley_grid_points(grid));
    return status;
}

static const ley_grid tower = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {9, 9, 100}};

static void test_progress_and_cancel(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_map *map = NULL;
    ley_atoms *atoms = support_crowd(300, &tower, short_job_cutoff_A, 1);
    assert_ok(ley_map_create(&tower, &map, &error));
    support_watch w = {.calls = 0};
    assert_int_equal(run_watched(engine, &tower, atoms, map, 0, &w), LEY_OK);
    assert_true(w.done == w.total && w.total == ley_grid_points(&tower));
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
    ley_atoms *atoms = support_crowd(300, &tower, short_job_cutoff_A, 1);
    for (int host = 0; host <= 1; host++) {
        int64_t done = 0;
        support_options options = short_job_options(LEY_PAIR_TAYLOR2, NULL);
        options.slab_planes = 8;
        options.short_range.bin_fill = 2;
        options.short_range.overflow = host ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
        short_job o = short_job_try(all, atoms, &tower, &options);
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        short_job_assert_right(&o, atoms, &options, "all devices");
        const ley_report *r = ley_job_report(o.job);
        assert_int_equal(r->device_count, devices);
        for (size_t i = 0; i < devices; i++) {
            assert_int_equal(r->devices[i].status, LEY_OK);
            done += r->devices[i].points;
        }
        assert_int_equal(done, r->points);
        short_job_end(&o);
    }
    assert_ok(ley_map_create(&tower, &map, &error));
    support_watch w = {.calls = 0};
    assert_int_equal(run_watched(all, &tower, atoms, map, 100, &w), LEY_OK);
    assert_int_equal(w.done, ley_grid_points(&tower));
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(all);
    if (devices < 2)
        skip();
}
/* ---------------------------------------------------------------------------------------------- */

static int run_on(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_kernels),
        cmocka_unit_test(test_wrong_energies),
        cmocka_unit_test(test_verification_finds_faults),
        cmocka_unit_test(test_numbers_are_arguments),
        cmocka_unit_test(test_jobs_that_cannot_be),
        cmocka_unit_test(test_progress_and_cancel),
    };
    char group[512];
    snprintf(group, sizeof group, "short-range jobs on %s (%s)", info->name, selector);
    if (!support_open(selector, info->name, &engine))
        return 1;
    const int failures = cmocka_run_group_tests_name(group, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    static const struct CMUnitTest together[] = {cmocka_unit_test(test_all_devices_at_once)};
    verification_time_replace(1e9); /* tests count on as many points as they ask for */
    return support_on_each_device(run_on) +
           cmocka_run_group_tests_name("short-range jobs on all devices", together, NULL, NULL);
}
