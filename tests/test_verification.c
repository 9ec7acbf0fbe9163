/* Every run is measured: devices that lie are found, leave the job, and others do their work; sums
 * of doubles where floats have too few digits. */
#include "support.h"

#include "engine/engine.h"
#include "error.h"
#include "fake_device.h"
#include "methods/dcs/method.h"
#include "parallel.h"
#include "schedule/job.h"
#include "spec.h"
#include "target/map.h"
#include "verify/verification.h"
#include "watch.h"

#include <stdatomic.h>
#include <unistd.h>

static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};

/* ---- Devices that lie ------------------------------------------------------------------------ */

typedef struct wishes {
    size_t atoms, verify_points;
    int64_t slab_planes;
    ley_sum sum;
    const char *variant;
} wishes;

static size_t verify_least; /* of jobs from now on */
static const method *of;    /* NULL: the one that they have */

/* A job on fake devices, whose kernels come from the cache: their self-tests are behind them. */
static support_job make_job(const ley_grid *points, uint64_t seed, fake_plan *plans, size_t count, const char *selector,
                            wishes w)
{
    support_job o = {.status = LEY_OK};
    ley_error error = {0};
    fake_devices_begin(plans, count);
    o.atoms = support_atoms(w.atoms, 0, 8, 7);
    o.options = support_default_options();
    o.options.slab_planes = w.slab_planes;
    o.options.verify_points = w.verify_points;
    o.options.verify_least = verify_least;
    o.options.sum = w.sum;
    o.options.variant = w.variant;
    o.options.verify_seed = seed;
    assert_ok(ley_map_create(points, &o.map, &error));
    assert_ok(ley_engine_create(selector, &o.engine, &error));
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &error));
    return o;
}

static support_job run_on(const ley_grid *points, uint64_t seed, fake_plan *plans, size_t count, const char *selector,
                          wishes w)
{
    support_job o = make_job(points, seed, plans, count, selector, w);
    if (of != NULL)
        o.job->method = of;
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

static support_job run_job(fake_plan *plans, size_t count, const char *selector, wishes w)
{
    return run_on(&grid, 0, plans, count, selector, w);
}

static void end(support_job *o)
{
    support_job_end(o);
    fake_devices_end();
}

static void fill_cache(const char *name)
{
    fake_plan honest = {.name = name, .has_double = true};
    support_fresh_cache();
    support_job o = run_job(&honest, 1, "0", (wishes){40, 100, 2, LEY_SUM_FLOAT, NULL});
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    end(&o);
}

static const struct {
    const char *what;
    fake_lie lie;
    double factor;
    const char *message;
} lies[] = {
    {"zeros", FAKE_SCALES, 0, "verification failed"},
    {"twice", FAKE_SCALES, 2, "verification failed"},
    {"a hundredth more", FAKE_SCALES, 1.01, "verification failed"}, /* seen wherever a plane does not cancel to 1e-4 */
    {"not-a-numbers", FAKE_NO_NUMBERS, 0, "not numbers"},
    {"what was there before", FAKE_SKIPS_READ, 0, "not numbers"},
    {"nothing, once", FAKE_SKIPS_LAUNCH, 0, "not numbers"},
};
enum { LIES = sizeof lies / sizeof lies[0] };

/* Alone, a liar ends the job, whether it lies from the first slab or from a later one. */
static void test_a_liar_alone(void **state)
{
    for (size_t i = 0; i < LIES; i++)
        for (int at = 1; at <= 5; at += 4) {
            fill_cache("A");
            fake_plan plan = {
                .name = "A", .has_double = true, .lie = lies[i].lie, .lie_factor = lies[i].factor, .lie_at = at};
            support_job o = run_job(&plan, 1, "0", (wishes){40, 100, 2, LEY_SUM_FLOAT, NULL});
            if (o.status != LEY_ERROR_WRONG_RESULT || strstr(o.error.message, lies[i].message) == NULL)
                fail_msg("%s from call %d: %d, %s", lies[i].what, at, (int)o.status, o.error.message);
            assert_true(o.error.message[0] == 'A');
            const ley_report *r = ley_job_report(o.job);
            assert_int_equal(r->devices[0].status, LEY_ERROR_WRONG_RESULT);
            end(&o);
            assert_int_equal(plan.live_objects, 0);
        }
}

/* A kernel from the cache whose values are wrong is tested again by the next run, which uses it
 * where it passes: the values may have been wrong for another reason. Where it fails it is not
 * there any more. */
static void test_wrong_kernels_are_tested_again(void **state)
{
    static const struct {
        bool is_liar, is_cached;
        const char *message;
    } runs[] = {{.is_cached = true},
                {true, true, "verification failed"},
                {.is_cached = true}, /* it has passed its test */
                {.is_cached = true},
                {true, true, "verification failed"},
                {true, false, "self-test of dcs failed"}, /* so has the one that was built in its place */
                {.is_cached = false},
                {.is_cached = true}};
    fill_cache("A");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        fake_plan plan = {.name = "A", .has_double = true};
        if (runs[i].is_liar) {
            plan.lie = FAKE_SCALES;
            plan.lie_factor = 2;
            plan.lie_at = 1;
        }
        support_job o = run_job(&plan, 1, "0", (wishes){40, 100, 2, LEY_SUM_FLOAT, NULL});
        assert_int_equal(o.status, runs[i].is_liar ? LEY_ERROR_WRONG_RESULT : LEY_OK);
        if (runs[i].is_liar && strstr(o.error.message, runs[i].message) == NULL)
            fail_msg("run %zu: %s", i, o.error.message);
        assert_int_equal(ley_job_report(o.job)->devices[0].from_cache, runs[i].is_cached);
        end(&o);
    }
}

/* Terms that cancel to a millionth: zeros and twice the values are within the tolerance at every
 * point, and are found all the same; what an honest device says passes, although its floats have
 * few right digits there. */
static void test_a_liar_where_terms_cancel(void **state)
{
    static const double position_A[] = {0.2, 3.2, -4, 0.2001, 3.2, -4}, charge_e[] = {1, -1};
    static const ley_grid far = {.origin_A = {20, 20, 20}, .step_A = LEY_STEPS(1, 1, 1), .n = {12, 11, 10}};
    static const double factors[] = {1, 0, 2, -1};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        ley_error error = {0};
        fill_cache("A");
        fake_plan plan = {.name = "A", .has_double = true, .lie = FAKE_SCALES, .lie_factor = factors[i], .lie_at = 1};
        fake_devices_begin(&plan, 1);
        support_job o = {.status = LEY_OK};
        o.options = support_default_options();
        assert_ok(ley_atoms_create(2, position_A, charge_e, NULL, &o.atoms, &error));
        assert_ok(ley_map_create(&far, &o.map, &error));
        assert_ok(ley_engine_create("0", &o.engine, &error));
        assert_ok(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &error));
        o.status = ley_job_run(o.job, &o.error);
        if (o.status != (factors[i] == 1 ? LEY_OK : LEY_ERROR_WRONG_RESULT))
            fail_msg("values times %g: %d, %s", factors[i], (int)o.status, o.error.message);
        assert_true(factors[i] == 1 || strstr(o.error.message, "times what double precision says") != NULL);
        end(&o);
    }
}

/* Beside an honest device it leaves the job; the map is right, every point of it, and the report
 * says who left and why. */
static void test_a_liar_beside_another(void **state)
{
    verification_time_replace(1e9);
    for (size_t i = 0; i < LIES; i++) {
        fill_cache("A");
        fake_plan plans[] = {{.name = "A",
                              .has_double = true,
                              .lie = lies[i].lie,
                              .lie_factor = lies[i].factor,
                              .lie_at = 2,
                              .delay_us = 300},
                             {.name = "B", .has_double = true, .delay_us = 1000}};
        support_job o = run_job(plans, 2, "all", (wishes){40, 200, 1, LEY_SUM_FLOAT, NULL});
        assert_ok_at(o.status, &o.error, lies[i].what, __FILE__, __LINE__);
        ley_map *right = support_reference_map(o.atoms, &grid, 0.05);
        assert_true(support_difference(o.map, right) < 1e-6);
        ley_map_destroy(right);
        const ley_report *r = ley_job_report(o.job);
        if (plans[0].reads >= 2) { /* it got so far before the other one had done all */
            assert_int_equal(r->devices[0].status, LEY_ERROR_WRONG_RESULT);
            assert_non_null(strstr(r->devices[0].failure, lies[i].message));
        }
        assert_int_equal(r->devices[0].points + r->devices[1].points, r->points);
        assert_true(r->accuracy.passed && r->accuracy.points == 200);
        end(&o);
    }
    verification_time_replace(0);
}

/* The next best device is opened when the default one lies. */
static void test_a_lying_default_device(void **state)
{
    fill_cache("A");
    fake_plan plans[] = {
        {.name = "A", .has_double = true, .lie = FAKE_SCALES, .lie_factor = 3, .lie_at = 1, .speed = 2},
        {.name = "B", .has_double = true}};
    support_job o = run_job(plans, 2, NULL, (wishes){40, 100, 0, LEY_SUM_FLOAT, NULL});
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    ley_map *right = support_reference_map(o.atoms, &grid, 0.05);
    assert_true(support_difference(o.map, right) < 1e-6);
    ley_map_destroy(right);
    end(&o);
}

/* Skipping one launch of several leaves part of the atoms out: only a sample shows it. */
static void test_a_batch_left_out(void **state)
{
    fake_plan plan = {.name = "A", .constant_bytes = 512 * 16};
    support_fresh_cache();
    support_job o = run_job(&plan, 1, "0", (wishes){900, 100, 24, LEY_SUM_FLOAT, "simple"});
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    end(&o);
    for (int at = 1; at <= 2; at++) {
        plan = (fake_plan){.name = "A", .constant_bytes = 512 * 16, .lie = FAKE_SKIPS_LAUNCH, .lie_at = at};
        o = run_job(&plan, 1, "0", (wishes){900, 100, 24, LEY_SUM_FLOAT, "simple"});
        assert_int_equal(o.status, LEY_ERROR_WRONG_RESULT);
        assert_non_null(strstr(o.error.message, at == 1 ? "not numbers" : "verification failed"));
        assert_int_equal(plan.launches, 2);
        end(&o);
    }
}

/* One column of a map of such a size that every so-manieth point would always be of the same
 * column: 160 x 73 x 26 points in one slab are 320 for each of 1,000 - 50 - 1. */
static void test_a_wrong_column(void **state)
{
    static const ley_grid unlucky = {.step_A = LEY_STEPS(0.05, 0.1, 0.3), .n = {160, 73, 26}};
    for (uint64_t seed = 0; seed < 2; seed++) {
        fill_cache("A");
        fake_plan plan = {.name = "A", .has_double = true, .wrong_column = 17};
        support_job o = run_on(&unlucky, seed, &plan, 1, "0", (wishes){3, 1000, 26, LEY_SUM_FLOAT, NULL});
        assert_int_equal(o.status, LEY_ERROR_WRONG_RESULT);
        end(&o);
    }
}

/* What is said of a device's worst point is that point's, whichever points of another one are in
 * between. */
static void test_a_wrong_column_beside_another(void **state)
{
    verification_time_replace(1e9);
    fill_cache("A");
    fake_plan plans[] = {{.name = "A", .has_double = true, .wrong_column = 17, .delay_us = 1000},
                         {.name = "A", .has_double = true, .delay_us = 1000}};
    plans[0].after = &plans[1];
    plans[1].after = &plans[0];
    support_job o = run_job(plans, 2, "all", (wishes){40, 2000, 1, LEY_SUM_FLOAT, NULL});
    verification_time_replace(0);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    const ley_device_report *left = &ley_job_report(o.job)->devices[0];
    assert_int_equal(left->status, LEY_ERROR_WRONG_RESULT);
    double value, right;
    const char *said = strstr(left->failure, "the value is");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "the value is %lf, double precision says %lf", &value, &right), 2);
    assert_true(fabs(value / right - 2) < 1e-3);
    end(&o);
}

/* Few points are as many as slabs, and one more: a slab of one plane beside one of all others has
 * its own, and there it is seen that values are wrong. */
static void test_one_point_of_each_slab(void **state)
{
    verify_least = 1;
    for (uint64_t seed = 0; seed < 6; seed++) {
        fill_cache("A");
        fake_plan plan = {.name = "A", .has_double = true, .lie = FAKE_SCALES, .lie_factor = 3, .lie_at = 2};
        support_job o = run_on(&grid, seed, &plan, 1, "0", (wishes){40, 3, 23, LEY_SUM_FLOAT, NULL});
        assert_int_equal(plan.reads, 2);
        assert_int_equal(o.status, LEY_ERROR_WRONG_RESULT);
        end(&o);
    }
    verify_least = 0;
}

/* ---- How many points ------------------------------------------------------------------------- */

/* A job that has no time for its verification: of each device's points the host has 16, and its
 * judge, if it has one, those that must be there and 16 of its own. Again where the judge was not
 * asked, for a thread that is busy is not. */
static support_job run_without_time(fake_plan *plans, size_t count)
{
    enum { TRIAL = 5, MOST_TRIES = 10 };
    support_job o;
    bool is_asked = false;
    for (int tries = 0; tries < MOST_TRIES && !is_asked; tries++) {
        if (tries > 0)
            end(&o);
        fill_cache("A");
        for (size_t i = 0; i < count; i++)
            plans[i].launches = plans[i].judged = 0;
        verification_time_replace(1e-6);
        o = run_job(plans, count, count > 1 ? "all" : "0", (wishes){40, 1000, 1, LEY_SUM_FLOAT, NULL});
        verification_time_replace(0);
        is_asked = true;
        for (size_t i = 0; i < count; i++)
            is_asked = is_asked && (!plans[i].has_double || plans[i].judged > TRIAL);
    }
    return o;
}

static void test_who_recomputes(void **state)
{
    for (size_t devices = 1; devices <= 2; devices++)
        for (int has_double = 0; has_double <= 1; has_double++) {
            fake_plan plans[] = {{.name = "A", .has_double = has_double, .delay_us = 1000},
                                 {.name = "A", .has_double = has_double, .delay_us = 1000}};
            if (devices > 1) { /* from the first slabs on */
                plans[0].after = &plans[1];
                plans[1].after = &plans[0];
            }
            support_job o = run_without_time(plans, devices);
            assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
            const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
            assert_true(a->passed && a->compared == a->points);
            assert_int_equal(a->host_points, has_double ? 16 * devices : a->points);
            if (has_double && devices == 1)
                assert_int_equal(a->points, 50 + 16);
            else if (has_double) /* more than one of them has */
                assert_true(a->points - a->host_points > 50);
            else
                assert_in_range(a->points, 50, 50 + 16 * devices + 4 * (size_t)parallel_cores());
            end(&o);
        }
}

/* The host's points take so long, one after the other, that it leaves all others to a judge that
 * has time for them: those that it is tried with, and then the rest. */
static atomic_int points_of_the_host;

static const int64_t *take_long(const void *task, int64_t number, size_t *count)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    *count = 0;
    if (atomic_fetch_add(&points_of_the_host, 1) >= 16) /* they are asked for more than once */
        return NULL;
    pthread_mutex_lock(&mutex);
    usleep(20000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void test_a_judge_with_time(void **state)
{
    size_t points = 0;
    method slow = method_dcs;
    slow.excluded = take_long;
    for (int tries = 0; tries < 10 && points < 1000; tries++) { /* a thread that is busy is not asked */
        fill_cache("A");
        fake_plan plan = {.name = "A", .has_double = true};
        atomic_store(&points_of_the_host, 0);
        verification_time_replace(1.2);
        of = &slow;
        support_job o = run_job(&plan, 1, "0", (wishes){40, 1000, 1, LEY_SUM_FLOAT, NULL});
        of = NULL;
        verification_time_replace(0);
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        points = a->host_points == 16 ? a->points : 0;
        end(&o);
    }
    assert_int_equal(points, 1000);
}

/* Judges that are wrong blame nobody, and who is wrong is found without them: one that is right
 * where the host looks and then turns wrong, and one that is wrong where the host looks. */
static void test_judges_that_are_wrong(void **state)
{
    static const struct {
        int wrong_judge, right_judge;
        double wrong_by;
    } cases[] = {{20, 0, 0}, {20, 0, 1}, {6, 16, 0}, {6, 16, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_plan plan = {.name = "A",
                          .has_double = true,
                          .wrong_judge = cases[i].wrong_judge,
                          .right_judge = cases[i].right_judge,
                          .wrong_by = cases[i].wrong_by};
        support_job o = run_without_time(&plan, 1);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        if (o.status != (cases[i].wrong_by != 0 ? LEY_ERROR_WRONG_RESULT : LEY_OK))
            fail_msg("case %zu: %d, %s", i, (int)o.status, o.error.message);
        assert_true(plan.judged > 16);
        if (o.status == LEY_OK)
            assert_true(a->passed && a->points == 50 && a->host_points == 50);
        end(&o);
    }
}

/* Errors beyond the tolerance are the method's own where its steps make the same values, and then
 * judges that are right have their say; not where steps make others, however close. */
static double steps_off;

static ley_status steps_of(const void *task, size_t n, const double (*place_A)[3], double *value, ley_error *error)
{
    reference_terms terms = {0};
    method_dcs.terms(task, &terms);
    for (size_t i = 0; i < n; i++)
        value[i] = (1 + steps_off) * reference_sum(&terms, place_A[i]).value;
    return LEY_OK;
}

static accuracy_limits limits_of_steps(const void *task)
{
    accuracy_limits limits = method_dcs.limits(task);
    limits.tolerance = 1e-3;
    limits.rounding = 1e-5;
    return limits;
}

static void test_errors_of_the_methods_own(void **state)
{
    static const double of_steps[] = {3e-3, 2.6e-3};
    method stepped = method_dcs;
    stepped.by_steps = steps_of;
    stepped.limits = limits_of_steps;
    for (int i = 0; i < 2; i++) {
        fake_plan plan = {.name = "A", .has_double = true, .wrong_by = of_steps[0]};
        steps_off = of_steps[i];
        of = &stepped;
        support_job o = run_without_time(&plan, 1);
        of = NULL;
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        if (o.status != (i == 0 ? LEY_OK : LEY_ERROR_WRONG_RESULT))
            fail_msg("case %d: %d, %s", i, (int)o.status, o.error.message);
        if (i == 0)
            assert_true(a->passed && a->tolerance > 1e-3 && a->points == 66 && a->host_points == 16);
        end(&o);
    }
}

/* Perhaps after its job. */
static bool comes_to_hang(const fake_plan *plan)
{
    for (int ms = 0; ms < 2000 && fake_devices_hung(plan) == 0; ms++)
        usleep(1000);
    return fake_devices_hung(plan) > 0;
}

/* Building the judge's kernel takes for ever: the job does not wait for it, the host has the points
 * that must be recomputed. The device comes to its end, and nothing is lost, after the job that the
 * kernel was for, its atoms and its engine. */
static void test_a_judge_that_is_late(void **state)
{
    static const watch_patience endless = {
        .open_s = 1e9, .build_s = 1e9, .close_s = 1e9, .first_s = 1e9, .work_s = 1e9, .over_s = 1e9, .turn_s = 1e9};
    static const wishes many = {20000, 4800, 24, LEY_SUM_FLOAT, NULL}; /* of all points */
    fake_plan *plan = calloc(1, sizeof *plan);
    dev_keep(plan); /* a device that hangs may look at it for ever */
    *plan = (fake_plan){.name = "A", .has_double = true, .hang_judge = 1};
    verification_time_replace(1e-6);
    watch_patience_replace(&endless);
    support_fresh_cache();
    support_job o = run_job(plan, 1, "0", many);
    for (int tries = 1; !comes_to_hang(plan) && tries < 10; tries++) { /* a thread that is busy is not asked */
        support_job_end(&o);
        o = run_job(plan, 1, "0", many);
    }
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    assert_int_equal(fake_devices_hung(plan), 1);
    const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
    assert_true(a->passed && a->points >= 50 && a->points < 4800 && a->host_points == a->points);
    assert_int_equal(ley_job_report(o.job)->devices[0].status, LEY_OK);
    support_job_end(&o);
    assert_true(ley_driver_is_stuck());
    fake_devices_release();
    fake_devices_end();
    assert_false(ley_driver_is_stuck());
    assert_int_equal(plan->live_objects, 0);
    watch_patience_replace(NULL);
    verification_time_replace(0);
}

/* However little time there is: 50 points, or as many as are wished for. */
static void test_points_in_any_case(void **state)
{
    static const size_t least[] = {0, 50, 300, 5000}, expected[] = {50, 50, 300, 4800};
    verification_time_replace(1e-9);
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        fake_plan plan = {.name = "A"};
        fill_cache("A");
        verify_least = least[i];
        support_job o = run_job(&plan, 1, "0", (wishes){40, 4800, 2, LEY_SUM_FLOAT, NULL});
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        const ley_report *r = ley_job_report(o.job);
        assert_in_range(r->accuracy.points, expected[i], expected[i] + 4 * (size_t)parallel_cores());
        assert_int_equal(r->seeded_accuracy.points, expected[i]);
        end(&o);
    }
    verify_least = 0;
    verification_time_replace(0);
}

/* A map whose points lie on atoms, some of them: what a job with a tolerance says of it is what all
 * of its points say. */
static void test_measured_by_strata(void **state)
{
    double off[2];
    for (int k = 0; k < 2; k++) {
        ley_error error = {0};
        ley_job *job = NULL;
        double place_A[12][3], charge_e[12];
        for (int i = 0; i < 12; i++) {
            const double at_A[3] = {0.5 * i, 0.5 * (i % 5), 0.5 * ((7 * i) % 11)};
            memcpy(place_A[i], at_A, sizeof at_A);
            charge_e[i] = i % 2 ? -1 : 1;
        }
        ley_direct direct = support_default_direct();
        ley_run_options options = support_default_run_options();
        options.verify_points = k == 0 ? 4800 : 256;
        options.verify_least = options.verify_points;
        options.tolerance = k == 0 ? 0 : 1e-4;
        ley_engine *engine = support_make_engine(NULL);
        ley_atoms *atoms = support_make_atoms(12, place_A[0], charge_e, NULL);
        ley_map *map = support_make_map(&grid);
        assert_ok(ley_job_create_direct(engine, atoms, (ley_target){.map = map}, &direct, &options, &job, &error));
        assert_ok(ley_job_run(job, &error));
        const ley_report *r = ley_job_report(job);
        assert_int_equal(r->seeded_accuracy.points, options.verify_points);
        assert_true(r->accuracy.relative_rms == r->seeded_accuracy.relative_rms);
        off[k] = r->accuracy.relative_rms;
        ley_job_destroy(job);
        ley_map_destroy(map);
        ley_atoms_destroy(atoms);
        ley_engine_destroy(engine);
    }
    assert_true(off[0] > 0 && fabs(off[1] / off[0] - 1) < 0.3);
}

static void test_no_verification(void **state)
{
    fake_plan plan = {.name = "A", .lie = FAKE_SCALES, .lie_factor = 2, .lie_at = 1};
    fill_cache("A");
    support_job o = run_job(&plan, 1, "0", (wishes){40, 0, 0, LEY_SUM_FLOAT, NULL});
    assert_int_equal(o.status, LEY_OK); /* nobody looked */
    assert_true(ley_job_report(o.job)->accuracy.points == 0 && ley_job_report(o.job)->verify_s == 0);
    end(&o);
}

/* Terms too small to show in floats: nothing is compared, and that is said. */
static void test_nothing_to_compare(void **state)
{
    verification_time_replace(1e9);
    const double position_A[] = {1, 2, 3}, charge_e = 1e-38;
    ley_error error = {0};
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    fake_devices_begin(&plan, 1);
    support_job o = {.status = LEY_OK};
    o.options = support_default_options();
    assert_ok(ley_atoms_create(1, position_A, &charge_e, NULL, &o.atoms, &error));
    assert_ok(ley_map_create(&grid, &o.map, &error));
    assert_ok(ley_engine_create("0", &o.engine, &error));
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
    assert_true(a->passed && a->points == 1000 && a->compared == 0);
    end(&o);
    verification_time_replace(0);
}

/* ---- Sums of doubles where they are needed --------------------------------------------------- */

static ley_accuracy run_dipole(ley_engine *engine, ley_sum sum, ley_sum *taken, double *float_rms)
{
    const double position_A[] = {0.2, 3.2, -4, 0.2001, 3.2, -4}, charge_e[] = {1, -1};
    static const ley_grid far = {.origin_A = {20, 20, 20}, .step_A = LEY_STEPS(1, 1, 1), .n = {12, 11, 10}};
    ley_error error = {0};
    support_job o = {.engine = engine};
    o.options = support_default_options();
    o.options.sum = sum;
    assert_ok(ley_atoms_create(2, position_A, charge_e, NULL, &o.atoms, &error));
    assert_ok(ley_map_create(&far, &o.map, &error));
    assert_ok(support_job_create(engine, o.atoms, o.map, &o.options, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    const ley_report *r = ley_job_report(o.job);
    const ley_accuracy a = r->accuracy;
    assert_true(r->points == 12 * 11 * 10 && r->devices[0].points == r->points);
    *taken = r->sum;
    *float_rms = r->float_relative_rms;
    o.engine = NULL;
    support_job_end(&o);
    return a;
}

static int sum_on(const char *selector, const ley_device_info *info)
{
    ley_engine *engine = NULL;
    ley_sum taken;
    double float_rms;
    if (!info->has_double || !support_open(selector, "sum auto", &engine))
        return 1;
    ley_accuracy a = run_dipole(engine, LEY_SUM_FLOAT, &taken, &float_rms);
    assert_true(a.passed && a.relative_rms > 1e-4 && taken == LEY_SUM_FLOAT && float_rms == 0);
    a = run_dipole(engine, LEY_SUM_AUTO, &taken, &float_rms);
    assert_true(a.passed && a.relative_rms < 1e-6 && taken == LEY_SUM_DOUBLE && float_rms > 1e-4);
    ley_engine_destroy(engine);
    return 0;
}

static void test_sum_auto(void **state)
{
    if (support_on_each_device(sum_on) > 0)
        print_message("some devices have no double precision\n");
    support_fresh_cache();
    fake_plan plan = {.name = "A", .has_double = true}; /* terms that do not cancel: floats are enough */
    const double position_A[] = {1, 2, 3}, charge_e = 1;
    ley_error error = {0};
    fake_devices_begin(&plan, 1);
    support_job o = {.options = {.sum = LEY_SUM_AUTO}};
    o.options = support_default_options();
    o.options.sum = LEY_SUM_AUTO;
    assert_ok(ley_atoms_create(1, position_A, &charge_e, NULL, &o.atoms, &error));
    assert_ok(ley_map_create(&grid, &o.map, &error));
    assert_ok(ley_engine_create("0", &o.engine, &error));
    o.options.verify_points = 0; /* nothing would tell */
    assert_int_equal(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &error), LEY_ERROR_USAGE);
    o.options.verify_points = 100;
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    assert_true(ley_job_report(o.job)->sum == LEY_SUM_FLOAT && ley_job_report(o.job)->float_relative_rms == 0);
    end(&o);
}

/* ---- Relative to all values ------------------------------------------------------------------ */

/* Four charges that cancel but next to them, where a few points have most of the mean square. */
static const double close_A[4][3] = {{5.02, 5.21, 5.13}, {5.25, 5.03, 5.07}, {5.11, 5.09, 5.28}, {5.19, 5.27, 5.01}};
static const double close_e[] = {1, -1, 1, -1};

/* Of all values: sqrt(sum (v - right)^2 / sum v^2), by brute force. */
static double true_rms(const ley_map *map, double constant)
{
    double error2 = 0, squares = 0;
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++) {
        double place_A[3], right = 0;
        const double value = map_value(map, i, place_A);
        for (int k = 0; k < 4; k++)
            right += constant * close_e[k] /
                     fmax(0.05, sqrt(pow(place_A[0] - close_A[k][0], 2) + pow(place_A[1] - close_A[k][1], 2) +
                                     pow(place_A[2] - close_A[k][2], 2)));
        error2 += pow(value - right, 2);
        squares += value * value;
    }
    return sqrt(error2 / squares);
}

/* What is reported of the map's relative RMS, as a multiple of what it is. */
static double reported_rms(ley_engine *engine, int64_t edge, double step_A, bool is_streamed, uint64_t seed)
{
    const ley_grid l = {
        .origin_A = {0.03, 0.02, 0.01}, .step_A = LEY_STEPS(step_A, step_A, step_A), .n = {edge, edge, edge}};
    char path[512];
    ley_error error = {0};
    support_job o = {.engine = engine};
    snprintf(path, sizeof path, "%s/close.raw", support_directory());
    o.options = support_default_options();
    o.options.sum = LEY_SUM_FLOAT;
    o.options.verify_seed = seed;
    o.options.verify_points = o.options.verify_least = 1000;
    assert_ok(ley_atoms_create(4, close_A[0], close_e, NULL, &o.atoms, &error));
    assert_ok(is_streamed ? ley_map_create_raw(&l, path, &o.map, &error) : ley_map_create(&l, &o.map, &error));
    assert_true((map_get_store(o.map) != NULL) == is_streamed);
    assert_ok(support_job_create(engine, o.atoms, o.map, &o.options, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    const double constant = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15),
                 reported = ley_job_report(o.job)->accuracy.relative_rms / true_rms(o.map, constant);
    o.engine = NULL;
    support_job_end(&o);
    return reported;
}

/* A sample would have the large values or not: 0.5 to 3 times what is right was reported. */
static void test_rms_of_all_values(void **state)
{
    ley_engine *engine = NULL;
    if (!support_open("cpu", "relative RMS", &engine))
        skip();
    for (uint64_t seed = 0; seed < 2; seed++)
        for (int is_streamed = 0; is_streamed < 2; is_streamed++)
            for (int is_large = 0; is_large < 2; is_large++) {
                const double of_right =
                    reported_rms(engine, is_large ? 65 : 24, is_large ? 0.16 : 0.43, is_streamed, seed);
                print_message("%s, %s: %.3f of what is right\n", is_streamed ? "streamed" : "in memory",
                              is_large ? "large" : "small", of_right);
                assert_true(of_right > 0.85 && of_right < 1.15);
            }
    ley_engine_destroy(engine);
}

/* ---- Limits that are wider than was said ----------------------------------------------------- */

static double narrow, wide; /* tolerances before and after somebody looks closer */
static int looks;

static accuracy_limits changing_limits(const void *task)
{
    accuracy_limits limits = method_dcs.limits(task);
    limits.tolerance = looks == 0 ? narrow : wide;
    return limits;
}

static bool look(void *task)
{
    return ++looks == 1 && wide != narrow;
}

/* A job whose values are right, or twice that; limits are narrower than floats are, or as they
 * should be. */
static support_job run_closer(double narrow_is, double wide_is, double factor)
{
    static method changed;
    changed = method_dcs;
    changed.limits = changing_limits;
    changed.look_closer = look;
    looks = 0;
    narrow = narrow_is;
    wide = wide_is;
    fill_cache("A");
    static fake_plan plan; /* until the job's engine is gone */
    plan = (fake_plan){.name = "A",
                       .has_double = true,
                       .lie = factor != 1 ? FAKE_SCALES : FAKE_HONEST,
                       .lie_factor = factor,
                       .lie_at = 1};
    of = &changed;
    support_job o = run_job(&plan, 1, "0", (wishes){40, 100, 2, LEY_SUM_FLOAT, NULL});
    of = NULL;
    return o;
}

/* Nobody is blamed by limits that turn out to be wider; nobody looks closer where all is well, or
 * more than once. */
static void test_who_looks_closer(void **state)
{
    static const struct {
        double narrow, wide, factor;
        int looks;
        ley_status status;
    } cases[] = {{1e-5, 1e-3, 1, 0, LEY_OK},
                 {1e-12, 1e-5, 1, 1, LEY_OK},
                 {1e-12, 1e-11, 1, 2, LEY_ERROR_WRONG_RESULT},
                 {1e-12, 1e-12, 1, 1, LEY_ERROR_WRONG_RESULT},
                 {1e-5, 1e-4, 2, 2, LEY_ERROR_WRONG_RESULT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_job o = run_closer(cases[i].narrow, cases[i].wide, cases[i].factor);
        if (o.status != cases[i].status || looks != cases[i].looks)
            fail_msg("case %zu: %d (%s), looked %d times", i, (int)o.status,
                     o.error.message != NULL ? o.error.message : "", looks);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        if (o.status == LEY_OK)
            assert_true(a->passed && a->tolerance == (looks > 0 ? wide : narrow));
        end(&o);
    }
}

/* ---- Done again ------------------------------------------------------------------------------ */

/* Tasks of direct sums whose values are off by so much each; 0: they cannot be prepared. */
enum { MOST_TASKS = 8 };
static const double *offs;
static void *made_tasks[MOST_TASKS];
static int made_count, ended, runs[2 * MOST_TASKS], run_count;
static const ley_atoms *tried_atoms;
static ley_map *tried_map;
static method tried;

static int number_of_task(const void *task)
{
    int i = 0;
    while (i < made_count && made_tasks[i] != task)
        i++;
    return i; /* one that nobody has seen is the first one */
}

static ley_status prepare_tried(void *task, const job_view *view, ley_error *error)
{
    if (made_count == 0)
        made_tasks[made_count++] = task;
    const int i = runs[run_count++] = number_of_task(task);
    return offs[i] > 0 ? method_dcs.prepare(task, view, error)
                       : ley_fail(error, LEY_ERROR_MEMORY, "no memory for task %d", i);
}

static double value_tried(const void *task, int64_t number, double place_A[3])
{
    const double off = offs[number_of_task(task)];
    return method_dcs.value(task, number, place_A) * (number % 2 ? 1 + off : 1 - off);
}

static ley_status make_stricter(const void *task, ley_engine *engine, const ley_run_options *options, const method **m,
                                void **made, ley_sum *sum, ley_error *error)
{
    assert_true(options->aim > 0 && options->aim <= 0.3 && *m == &tried && *sum == LEY_SUM_FLOAT);
    assert_int_equal(number_of_task(task), made_count - 1);
    if (offs[made_count] < 0)
        return ley_fail(error, LEY_ERROR_USAGE, "there is none");
    ley_direct direct = support_default_direct();
    const ley_status status = dcs_task_create(tried_atoms, tried_map, &direct, made, error);
    made_tasks[made_count++] = *made;
    return status;
}

static void end_tried(void *task)
{
    ended++;
    method_dcs.end(task);
}

static accuracy_limits tried_limits(const void *task)
{
    accuracy_limits limits = method_dcs.limits(task);
    limits.tolerance = 1e-3;
    return limits;
}

/* A run that misses is done again, and the best of all is what is left: done once more where a
 * later one was worse, or failed. */
static void test_the_best_try_is_left(void **state)
{
    static const struct {
        double off[MOST_TASKS]; /* -1: there is no stricter plan */
        int runs[MOST_TASKS], run_count;
        double missed[MOST_TASKS], left;
        int missed_count;
    } cases[] = {
        {{4e-5, -1}, {0}, 1, {0}, 4e-5, 0},
        {{3e-4, 5e-5, -1}, {0, 1}, 2, {3e-4}, 5e-5, 1},
        {{3e-4, -1}, {0}, 1, {0}, 3e-4, 0},
        {{3e-4, 2e-4, 5e-4, -1}, {0, 1, 2, 1}, 4, {3e-4, 2e-4, 5e-4}, 2e-4, 3},
        {{2e-4, 3e-4, -1}, {0, 1, 0}, 3, {2e-4, 3e-4}, 2e-4, 2},
        {{3e-4, 0, -1}, {0, 1, 0}, 3, {3e-4}, 3e-4, 1},
        {{1.5e-4, 1.4e-4, 1.3e-4, 1.2e-4, 1.1e-4, 1e-6},
         {0, 1, 2, 3, 4},
         5,
         {1.5e-4, 1.4e-4, 1.3e-4, 1.2e-4},
         1.1e-4,
         4},
        {{1.1e-4, 1.6e-4, 1.5e-4, 1.4e-4, 1.3e-4, -1},
         {0, 1, 2, 3, 4, 0},
         6,
         {1.1e-4, 1.6e-4, 1.5e-4, 1.4e-4, 1.3e-4},
         1.1e-4,
         5},
    };
    tried = method_dcs;
    tried.prepare = prepare_tried;
    tried.value = value_tried;
    tried.stricter = make_stricter;
    tried.limits = tried_limits;
    tried.end = end_tried;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill_cache("A");
        fake_plan plan = {.name = "A", .has_double = true};
        offs = cases[i].off;
        made_count = ended = run_count = 0;
        support_job o = make_job(&grid, 0, &plan, 1, "0", (wishes){40, 100, 2, LEY_SUM_FLOAT, NULL});
        o.job->method = &tried;
        o.job->options.tolerance = 1e-4;
        tried_atoms = o.atoms;
        tried_map = o.map;
        o.status = ley_job_run(o.job, &o.error);
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        const ley_report *r = ley_job_report(o.job);
        assert_int_equal(run_count, cases[i].run_count);
        assert_memory_equal(runs, cases[i].runs, (size_t)run_count * sizeof *runs);
        assert_int_equal(r->missed_count, cases[i].missed_count);
        for (size_t k = 0; k < r->missed_count; k++)
            assert_true(fabs(r->missed_rms[k] / cases[i].missed[k] - 1) < 0.05);
        if (!(fabs(r->accuracy.relative_rms / cases[i].left - 1) < 0.05) || r->slab_count != 12)
            fail_msg("case %zu: off by %.3g in %zu slabs", i, r->accuracy.relative_rms, r->slab_count);
        assert_int_equal(ended, made_count - 1); /* the one that was done last is the job's */
        end(&o);
        assert_int_equal(ended, made_count);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "verification"), test_a_liar_alone, test_who_looks_closer,
                     test_the_best_try_is_left, test_wrong_kernels_are_tested_again, test_a_liar_beside_another,
                     test_a_liar_where_terms_cancel, test_a_lying_default_device, test_a_batch_left_out,
                     test_who_recomputes, test_a_judge_that_is_late, test_points_in_any_case, test_measured_by_strata,
                     test_no_verification, test_nothing_to_compare, test_sum_auto, test_rms_of_all_values,
                     test_judges_that_are_wrong, test_a_judge_with_time, test_errors_of_the_methods_own,
                     test_one_point_of_each_slab, test_a_wrong_column_beside_another, test_a_wrong_column);
}
