/* Devices whose drivers do not return, or are late: nobody waits for them, and what they hold is
 * left alone. */
#include "fake_job.h"

#include "clock.h"

#include <stdatomic.h>
#include <unistd.h>

/* Limits that a test can wait for. What fake devices do takes milliseconds; on a machine with much
 * else to do, one that does not hang may look as if it did. Then a test is tried again, with six
 * times the limits each time. */
enum { TRIALS = 3 };

static watch_patience short_patience;
static double times; /* as long as in the first trial */

static void be_patient(int trial)
{
    times = pow(6, trial);
    short_patience = (watch_patience){.open_s = 0.6 * times,
                                      .build_s = 0.6 * times,
                                      .close_s = 0.6 * times,
                                      .first_s = 0.6 * times,
                                      .work_s = 0.6 * times,
                                      .over_s = 0.2 * times,
                                      .turn_s = 0.2 * times,
                                      .choose_s = 60};
    watch_patience_replace(&short_patience);
}

/* Devices that hang are never given back their thread: what it looks at stays, too. */
static fake_plan *kept_plans(const fake_plan *from, size_t count)
{
    fake_plan *kept = malloc(count * sizeof *kept);
    memcpy(kept, from, count * sizeof *kept);
    dev_keep(kept);
    return kept;
}

static const fake_plan hanging[] = {
    {.name = "B", .hang_build = 1}, {.name = "B", .hang_buffer = 1}, {.name = "B", .hang_buffer = 3},
    {.name = "B", .hang_write = 1}, {.name = "B", .hang_launch = 1}, {.name = "B", .hang_launch = 4},
    {.name = "B", .hang_wait = 1},  {.name = "B", .hang_wait = 3},   {.name = "B", .hang_read = 1},
    {.name = "B", .hang_read = 3},  {.name = "B", .hang_open = 1},   {.name = "B", .hang_measurement = 1},
};
enum { HANGING = sizeof hanging / sizeof hanging[0] };

/* The second device does not return from anywhere. Where the first one is done before that is
 * clear, the second is late; else it is given up. The report says why the first one was alone.
 * False: the machine had too much else to do to tell them apart. */
static bool holds_nobody_up(const fake_plan *hangs, bool is_slow)
{
    const fake_plan pair[] = {{.name = "A", .delay_us = is_slow ? (int)(80000 * times) : 0}, *hangs};
    fake_plan *plans = kept_plans(pair, 2);
    plans[0].after = &plans[1];
    support_job o = fake_job_run(plans, 2, "all", NULL);
    const ley_device_report *reports = ley_job_report(o.job)->devices, *b = &reports[1];
    const bool is_stuck = reports[0].failure != NULL && strstr(reports[0].failure, "does not return (") != NULL;
    if (is_stuck || (is_slow && b->failure == NULL)) {
        fake_job_end(&o);
        return false;
    }
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    fake_job_assert_right(&o);
    assert_true((b->status == LEY_ERROR_DEVICE) == (b->failure != NULL));
    assert_true((b->failure != NULL) == (b->late == NULL));
    if (b->failure != NULL) {
        assert_int_equal(strncmp(b->failure, "B: ", 3), 0);
        assert_true(strstr(b->failure, "the driver does not return (") != NULL ||
                    strstr(b->failure, ": was not used: still in the driver") != NULL);
        assert_true(ley_driver_is_stuck());
    }
    assert_true(reports[0].share == 1 || b->slabs > 0);
    const bool is_given_up = b->failure != NULL && hangs->hang_open == 0; /* else there was no job yet */
    const double *position_A = ley_atoms_positions_A(o.atoms), x_A = position_A[0];
    fake_job_end(&o);
    assert_true(ley_driver_is_stuck());
    if (is_given_up)
        assert_true(position_A[0] == x_A); /* the atoms are gone; what a driver may still read is not */
    return plans[0].live_objects == 0;
}

static void test_a_hanging_device_holds_nobody_up(void **state)
{
    for (size_t i = 0; i < 2 * HANGING; i += support_is_quick() ? 5 : 1) {
        bool is_right = false;
        for (int trial = 0; trial < TRIALS && !is_right; trial++) {
            be_patient(trial);
            is_right = holds_nobody_up(&hanging[i % HANGING], i >= HANGING);
        }
        if (!is_right)
            fail_msg("case %zu: the device that does not hang, or what it holds, is given up, or the other one is not",
                     i);
    }
    watch_patience_replace(NULL);
}

/* The message says that this device was silent for as long as it may be. */
static void assert_given_up(const char *message, const char *device)
{
    static const char says[] = ": no progress for ";
    const char *at = strstr(message, device);
    assert_non_null(at);
    assert_int_equal(strncmp(at + strlen(device), says, strlen(says)), 0);
    const double silent_s = strtod(at + strlen(device) + strlen(says), NULL);
    assert_true(silent_s > 0.59 * times && silent_s < 0.6 * times + 1.1); /* nobody looked for a second at most */
    assert_non_null(strstr(at, "the driver does not return ("));
}

/* The only device, or all of them: an error, and its reason; the program goes on. */
static void test_all_devices_hang(void **state)
{
    be_patient(0);
    for (size_t i = 0; i < HANGING; i += support_is_quick() ? 3 : 1) {
        fake_plan *plans = kept_plans(&hanging[i], 1);
        support_job o = fake_job_run(plans, 1, "all", NULL);
        assert_int_equal(o.status, LEY_ERROR_DEVICE);
        assert_given_up(o.error.message, "B");
        fake_job_end(&o);
    }
    const fake_plan pair[] = {{.name = "A", .hang_wait = 3}, {.name = "B", .hang_read = 3}};
    support_job o = fake_job_run(kept_plans(pair, 2), 2, "all", NULL);
    assert_int_equal(o.status, LEY_ERROR_DEVICE);
    assert_given_up(o.error.message, "A");
    assert_given_up(o.error.message, "B");
    fake_job_end(&o);
    watch_patience_replace(NULL);
}

/* Nobody named a device. One hangs while devices are compared, with the turn to measure in its
 * hands; another one in the midst of the job. False: one was given up too soon. */
static bool the_third_device_ends_it(void)
{
    const fake_plan three[] = {{.name = "first", .speed = 4, .hang_measurement = 3},
                               {.name = "second", .speed = 2, .hang_launch = 4},
                               {.name = "third"}};
    fake_plan *plans = kept_plans(three, 3);
    support_job o = fake_job_run(plans, 3, NULL, NULL);
    const bool is_right = o.status == LEY_OK && fake_devices_hung(&plans[0]) > 0 && fake_devices_hung(&plans[1]) > 0;
    if (is_right) {
        const ley_report *r = ley_job_report(o.job);
        fake_job_assert_right(&o);
        assert_int_equal(r->device_count, 2);
        assert_string_equal(r->devices[0].device->name, "second");
        assert_given_up(r->devices[0].failure, "second");
        assert_string_equal(r->devices[1].device->name, "third");
    }
    fake_job_end(&o);
    return is_right;
}

static void test_the_default_device_hangs(void **state)
{
    bool is_right = false;
    for (int trial = 0; trial < TRIALS && !is_right; trial++) {
        be_patient(trial);
        is_right = the_third_device_ends_it();
    }
    assert_true(is_right);
    watch_patience_replace(NULL);
}

/* The driver of the only device hangs when it is closed: ending the engine does not. */
static void test_a_device_hangs_in_the_end(void **state)
{
    const fake_plan one[] = {{.name = "A", .hang_close = 1}};
    static const watch_patience with_all_but_closing = {
        .open_s = 120, .build_s = 120, .close_s = 0.6, .first_s = 120, .work_s = 120, .over_s = 0.2, .choose_s = 60};
    watch_patience_replace(&with_all_but_closing);
    support_job o = fake_job_run(kept_plans(one, 1), 1, "all", NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    fake_job_assert_right(&o);
    fake_job_end(&o);
    ley_device_list *list = NULL;
    fake_plan *plans = kept_plans(one, 1);
    fake_devices_begin(plans, 1);
    assert_int_equal(ley_device_list_create(&list, NULL), LEY_OK);
    assert_int_equal(fake_devices_hung(&plans[0]), 1);
    ley_device_list_destroy(list);
    fake_devices_end();
    watch_patience_replace(NULL);
}

/* Devices that hang return, and their threads, which read what the next test replaces, end. */
static void all_return(void)
{
    fake_devices_release();
    while (ley_driver_is_stuck())
        usleep(1000);
}

static void test_cancelling_does_not_wait_for_a_device_that_hangs(void **state)
{
    ley_error error = {0};
    const fake_plan one[] = {{.name = "A", .hang_wait = 3}};
    static const watch_patience endless = {
        .open_s = 1e9, .build_s = 1e9, .close_s = 1e9, .first_s = 1e9, .work_s = 1e9, .over_s = 0.2};
    watch_patience_replace(&endless);
    support_fresh_cache();
    fake_devices_begin(kept_plans(one, 1), 1);
    support_job o = {.atoms = support_atoms(40, 0, 8, 7)};
    support_options options = support_default_options();
    assert_ok(ley_map_create(&fake_job_grid, &o.map, &error));
    assert_ok(ley_engine_create("all", &o.engine, &error));
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &options, &o.job, &error));
    const pthread_t thread = support_cancel_later(o.job, 100000);
    assert_int_equal(ley_job_run(o.job, &error), LEY_CANCELLED);
    pthread_join(thread, NULL);
    ley_error_clear(&error);
    fake_job_end(&o);
    all_return();
    watch_patience_replace(NULL);
}

/* Nothing is given up: who waits for a device that hangs waits for ever. */
static const watch_patience endless = {
    .open_s = 1e9, .build_s = 1e9, .close_s = 1e9, .first_s = 1e9, .work_s = 1e9, .over_s = 1e9, .turn_s = 1e9};

/* A job that is done does not wait for a device that still builds. That one goes on: its build is
 * not lost, and when it has come to an end, the engine's next job has the device. */
static void test_a_late_device_comes_back(void **state)
{
    const fake_plan pair[] = {{.name = "A"}, {.name = "B", .hang_build = 1}};
    fake_plan *plans = kept_plans(pair, 2);
    plans[0].after = &plans[1];
    watch_patience_replace(&endless);
    all_return(); /* those of other tests */
    support_job o = fake_job_run(plans, 2, "all", NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    for (int again = 0; again < 2; again++) {
        ley_job *job = NULL;
        fake_job_assert_right(&o);
        assert_int_equal(watch_stuck(), 0);
        assert_string_equal(ley_job_report(o.job)->devices[1].late, "build");
        assert_int_equal(ley_job_report(o.job)->devices[1].status, LEY_OK);
        if (again == 1) { /* the build comes to its end, after the jobs that it was begun for */
            plans[1].hang_build = 0;
            fake_devices_release();
            fake_devices_wait(&plans[1].binaries, 1);
        }
        plans[0].launches = plans[1].launches = 0;
        plans[0].after = again == 1 ? &plans[1] : NULL; /* neither ends before the other begins */
        assert_int_equal(support_job_create(o.engine, o.atoms, o.map, &o.options, &job, NULL), LEY_OK);
        assert_int_equal(ley_job_run(job, NULL), LEY_OK);
        ley_job_destroy(o.job);
        o.job = job;
    }
    const ley_device_report *b = &ley_job_report(o.job)->devices[1];
    assert_true(b->late == NULL && b->failure == NULL && b->from_cache);
    assert_int_equal(plans[1].binaries, 1); /* built once */
    fake_job_end(&o);
    assert_int_equal(plans[1].live_objects, 0);
    watch_patience_replace(NULL);
}

/* Opening, measuring, building takes for ever on one device: from the choice of a device to the end
 * of the engine another one's job takes what it takes. */
static void test_late_devices_delay_nobody(void **state)
{
    static const fake_plan late[] = {
        {.name = "B", .hang_open = 1}, {.name = "B", .hang_measurement = 1}, {.name = "B", .hang_build = 1}};
    static const char *const selectors[] = {"all", NULL};
    watch_patience_replace(&endless);
    for (int i = 0; i < 12; i++) {
        const char *selector = selectors[i / 6];
        const int where = i / 3 % 2; /* is the late one */
        fake_plan pair[2] = {{.name = "A", .speed = 2, .delay_us = 1000}, {.name = "A", .speed = 2, .delay_us = 1000}};
        pair[where] = late[i % 3];
        fake_plan *plans = kept_plans(pair, 2);
        const double start_s = ley_clock_s();
        support_job o = fake_job_run(plans, 2, selector, NULL);
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        fake_job_assert_right(&o);
        const bool is_built = late[i % 3].hang_build != 0;
        if (selector != NULL) { /* what it is late with: where it hangs, or a step on its way there */
            static const char *const steps[] = {"open", "launch", "build"};
            const char *of = ley_job_report(o.job)->devices[where].late;
            int step = 0;
            assert_non_null(of);
            while (step < i % 3 && strcmp(of, steps[step]) != 0)
                step++;
            assert_string_equal(of, steps[step]);
        }
        support_job_end(&o);
        assert_true(ley_clock_s() - start_s <
                    60); /* 0.1 s, and 0.3 s to choose; who waits for the other one never ends */
        assert_true(ley_driver_is_stuck() || (selector == NULL && is_built));
        int *const hangs[] = {&plans[where].hang_open, &plans[where].hang_measurement, &plans[where].hang_build};
        for (int k = 0; k < 3; k++) /* the late one may be on its way there still */
            __atomic_store_n(hangs[k], 0, __ATOMIC_RELAXED);
        all_return();
        fake_devices_end();
        assert_false(ley_driver_is_stuck());
        assert_int_equal(plans[0].live_objects + plans[1].live_objects, 0);
        assert_int_equal(plans[where].opens, plans[where].closes);
    }
    watch_patience_replace(NULL);
}

/* An engine may end while its devices' threads are only about to begin what they were given: whose
 * each word is shows under ThreadSanitizer. */
static void test_an_engine_that_ends_at_once(void **state)
{
    for (int i = 0; i < 40; i++) {
        fake_plan plans[] = {{.name = "A", .speed = 2}, {.name = "A", .speed = 2}, {.name = "A", .speed = 2}};
        fake_devices_begin(plans, 3);
        ley_engine *engine = support_make_engine(i % 2 == 0 ? NULL : "all");
        ley_engine_destroy(engine);
        fake_devices_end();
        for (int k = 0; k < 3; k++)
            assert_int_equal(plans[k].opens, plans[k].closes);
    }
}

typedef struct listing {
    ley_device_list *list;
    atomic_bool is_done;
} listing;

static void *list_devices(void *context)
{
    listing *l = context;
    ley_device_list_create(&l->list, NULL);
    atomic_store(&l->is_done, true);
    return NULL;
}

/* A list of devices opens all of them at once: three that hang are all in their drivers before any
 * of them has returned. What they say is in the list, in its order. */
static void test_devices_open_at_once_for_a_list(void **state)
{
    enum { DEVICES = 3 };
    const fake_plan three[DEVICES] = {{.name = "first", .hang_open = 1, .no_timestamps = true},
                                      {.name = "second", .hang_open = 1},
                                      {.name = "third", .hang_open = 1, .no_timestamps = true}};
    fake_plan *plans = kept_plans(three, DEVICES);
    listing l = {.list = NULL};
    pthread_t thread;
    int hung = 0;
    watch_patience_replace(&endless);
    fake_devices_begin(plans, DEVICES);
    assert_int_equal(pthread_create(&thread, NULL, list_devices, &l), 0);
    for (int ms = 0; ms < 300000 && hung < DEVICES; ms++) {
        usleep(1000);
        hung = 0;
        for (size_t i = 0; i < DEVICES; i++)
            hung += fake_devices_hung(&plans[i]);
    }
    while (!atomic_load(&l.is_done)) { /* also those that come later */
        fake_devices_release();
        usleep(10000);
    }
    pthread_join(thread, NULL);
    assert_int_equal(hung, DEVICES);
    assert_int_equal(ley_device_list_count(l.list), DEVICES);
    for (size_t i = 0; i < DEVICES; i++) {
        assert_string_equal(ley_device_list_get(l.list, i)->name, three[i].name);
        assert_true(ley_device_list_get(l.list, i)->has_timestamps == !three[i].no_timestamps);
    }
    ley_device_list_destroy(l.list);
    fake_devices_end();
    watch_patience_replace(NULL);
}

/* What cannot be finished is never freed, and the reason is told. */
static void test_a_lost_device_is_left_alone(void **state)
{
    for (int at = 1; at < 6; at++) { /* in the calibration, three times in the self-test, and in the job */
        const fake_plan pair[] = {{.name = "A"}, {.name = "B", .lose_write = at}};
        fake_plan *plans = kept_plans(pair, 2);
        plans[0].after = &plans[1];
        support_job o = fake_job_run(plans, 2, "all", NULL);
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        fake_job_assert_right(&o);
        assert_non_null(
            strstr(ley_job_report(o.job)->devices[1].failure,
                   "fake_write(): FAKE_FAULT (-1) at fake_device.c:1; given up, since its work could not be finished"));
        fake_job_end(&o);
        assert_true(plans[1].live_objects > 0 && plans[1].closes == 0);
    }
}

/* A stopped process loses no device: time in which nobody looked counts little. */
static void test_silence_counts_while_somebody_looks(void **state)
{
    static const watch_patience patience = {.work_s = 1.5};
    watch w;
    ley_error why = {0};
    watch_init(&w);
    w.call = "wait";
    w.kind = WATCH_WORK;
    w.is_warm = true;
    w.calls = 1;
    watch_patience_replace(&patience);
    assert_false(watch_give_up(&w, false, &why));
    w.seen_s -= 3600;
    assert_false(watch_give_up(&w, false, &why));
    w.is_endless = true; /* a device that interprets its kernels */
    w.seen_s -= 1;
    assert_false(watch_give_up(&w, false, &why));
    w.is_endless = false;
    w.expected_s = 1;
    static const watch_patience predicted = {.work_s = 1.5, .factor = 50};
    watch_patience_replace(&predicted);
    assert_false(watch_give_up(&w, false, &why)); /* 50 times what is predicted */
    watch_patience_replace(&patience);
    assert_true(watch_give_up(&w, false, &why));
    assert_non_null(strstr(why.message, "no progress for 2"));
    ley_error_clear(&why);
    watch_destroy(&w);
    watch_patience_replace(NULL);
}

int main(void)
{
    support_fresh_cache();
    return RUN_GROUP(SUPPORT_GROUP(.name = "hanging"), test_a_hanging_device_holds_nobody_up, test_all_devices_hang,
                     test_the_default_device_hangs, test_a_device_hangs_in_the_end,
                     test_cancelling_does_not_wait_for_a_device_that_hangs, test_a_late_device_comes_back,
                     test_late_devices_delay_nobody, test_an_engine_that_ends_at_once,
                     test_devices_open_at_once_for_a_list, test_a_lost_device_is_left_alone,
                     test_silence_counts_while_somebody_looks);
}
