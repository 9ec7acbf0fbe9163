/* What each device makes for itself before it takes slabs: a device that would come too late with
 * it does not begin, and one that is at it when the job is over is let go; neither is a failure,
 * and both are there when the faster device leaves the job. What can be lent is borrowed where that
 * is predicted to be sooner. The method's stages only wait, and pass a letter on. */
#include "fake_job.h"

#include "clock.h"
#include "error.h"
#include "schedule/job.h"

#include <stdatomic.h>
#include <time.h>

enum { PIECES = 20, DEVICES = 2 };

/* What a device is like; and what it has done. */
typedef struct conduct {
    double predicted_s, own_s; /* of its own; it is told how long that lasts, and lasts so long */
    double predicting_s;       /* so long it takes to be told */
    double piece_s;
    int fails_at; /* this slab, from 1; 0: none */
    bool breaks;  /* what it makes for itself comes to nothing */
    atomic_int begun, let_go, slabs;
    atomic_int letter; /* of the device that made what its slabs were done with */
} conduct;

static conduct devices[DEVICES];

static conduct *of(const dev *device)
{
    return &devices[device->info->name[0] - 'A'];
}

static void rest(double seconds)
{
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
        NULL);
}

/* ---- The method ------------------------------------------------------------------------------ */

enum { LENT_BYTES = 1000 };

typedef struct state {
    conduct *conduct;
    dev *device;
    const atomic_bool *is_unwanted;
    dev_buffer *buffer; /* what it makes for itself: a letter, so many times */
} state;

static const product product_own = {.name = "own"};

static ley_status wish(const void *task, const job_view *job, void **made, ley_error *error)
{
    *made = NULL;
    return LEY_OK;
}

static ley_status ready(dev *device, const void *made, kernel_notes *noted, void **to, ley_error *error)
{
    state *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->conduct = of(device);
    s->device = device;
    *to = s;
    return LEY_OK;
}

static ley_status begin_slabs(void *task, const stage_place *place, void **to, ley_error *error)
{
    ((state *)*to)->buffer = ((state *)stage_get(place, &product_own))->buffer;
    return LEY_OK;
}

static ley_status borrow(void *task, const stage_place *place, void **to, dev_buffer **buffer, ley_error *error)
{
    state *s = *to;
    stage_make(place, &product_own, s);
    arena_free_buffer(place->arena, &s->buffer);
    const ley_status status = arena_buffer(place->arena, LENT_BYTES, DEV_READ_WRITE, &s->buffer, error);
    *buffer = s->buffer;
    return status;
}

static ley_status begin(void *task, const stage_place *place, void **to, ley_error *error)
{
    dev_buffer *buffer;
    ((state *)*to)->is_unwanted = place->is_unwanted;
    return borrow(task, place, to, &buffer, error);
}

static size_t lent_bytes(const void *of_device)
{
    return LENT_BYTES;
}

static dev_buffer *lent(const void *of_device)
{
    return ((const state *)of_device)->buffer;
}

static double predict_own(const void *task, const void *of_device)
{
    const conduct *c = ((const state *)of_device)->conduct;
    rest(c->predicting_s);
    return c->predicted_s;
}

static double predict_slabs(const void *task, const void *of_device)
{
    return PIECES * ((const state *)of_device)->conduct->piece_s;
}

static ley_status submit_own(void *of_device, int slot, slab piece, ley_error *error)
{
    state *s = of_device;
    atomic_fetch_add(&s->conduct->begun, 1);
    for (double left_s = s->conduct->own_s; left_s > 0; left_s -= 0.01) {
        if (atomic_load(s->is_unwanted)) {
            atomic_fetch_add(&s->conduct->let_go, 1);
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        }
        rest(0.01);
    }
    if (s->conduct->breaks)
        return ley_fail(error, LEY_ERROR_DEVICE, "it breaks");
    char letters[LENT_BYTES];
    memset(letters, s->device->info->name[0], sizeof letters);
    return s->device->backend->write(s->device, s->buffer, 0, letters, sizeof letters, error);
}

/* The letter that all of the buffer is of; 0: it is not. */
static int letter_of(const state *s)
{
    const dev_backend *b = s->device->backend;
    ley_error error = {0};
    dev_staging *staging = NULL;
    dev_event *done = NULL;
    bool same = true;
    assert_ok(b->staging_create(s->device, LENT_BYTES, &staging, &error));
    const char *at = staging->bytes;
    if (b->read(s->device, s->buffer, 0, staging, LENT_BYTES, NULL, &done, &error) == LEY_OK)
        assert_ok(b->wait(s->device, done, &(dev_times){0, 0}, &error));
    ley_error_clear(&error);
    for (int i = 1; i < LENT_BYTES; i++)
        same = same && at[i] == at[0];
    const int letter = same ? at[0] : 0;
    b->staging_destroy(s->device, staging);
    return letter;
}

static ley_status submit_slab(void *of_device, int slot, slab piece, ley_error *error)
{
    return LEY_OK;
}

static ley_status collect_own(void *of_device, int slot, slab piece, slab_times *times, ley_error *error)
{
    times->kernel_s = 0;
    return LEY_OK;
}

static ley_status collect_slab(void *of_device, int slot, slab piece, slab_times *times, ley_error *error)
{
    state *s = of_device;
    times->kernel_s = 0;
    atomic_store(&s->conduct->letter, letter_of(s));
    rest(s->conduct->piece_s * (double)piece.count);
    return atomic_fetch_add(&s->conduct->slabs, 1) + 1 == s->conduct->fails_at
               ? ley_fail(error, LEY_ERROR_DEVICE, "it breaks")
               : LEY_OK;
}

static void drop(void *of_device, int slot)
{
}

static int64_t count(const void *task)
{
    return PIECES;
}

static int64_t slab_count(const void *of_device)
{
    return 1;
}

static ley_status prepare(void *task, const job_view *view, ley_error *error)
{
    return LEY_OK;
}

static void release(void *task, bool is_kept)
{
}

static int64_t points(const void *task, slab s)
{
    return s.count;
}

static const product *const owns[] = {&product_own, NULL};

#define OWN(...) \
    { \
        .name = "own", .split = STAGE_EACH_DEVICE, .makes = owns, .wish = wish, .ready = ready, .begin = begin, \
        .predict = predict_own, .end = free, .submit = submit_own, .collect = collect_own, .drop = drop, __VA_ARGS__ \
    }
#define SLABS \
    { \
        .name = "slabs", .split = STAGE_SLABS, .needs = owns, .count = count, .wish = wish, .ready = ready, \
        .begin = begin_slabs, .predict = predict_slabs, .end = free, .slab_count = slab_count, .submit = submit_slab, \
        .collect = collect_slab, .drop = drop \
    }
#define WAITS(own_stages) \
    { \
        .name = "waits", .prepare = prepare, .release = release, .end = free, .stages = own_stages, .stage_count = 2, \
        .result = 1, .points = points \
    }

static const stage stages[] = {OWN(.lent = NULL), SLABS},
                   lending_stages[] = {OWN(.lent_bytes = lent_bytes, .lent = lent, .borrow = borrow), SLABS};
static const method waits = WAITS(stages), lends = WAITS(lending_stages);

/* ---- Jobs ------------------------------------------------------------------------------------ */

typedef struct outcome {
    ley_engine *engine;
    ley_job *job;
    const ley_report *report;
    double took_s;
} outcome;

static fake_plan plans[DEVICES];

/* `fail_read`: of the first device, as of a fake_plan. */
static outcome run_method(const method *m, const conduct of_a, const conduct of_b, int fail_read)
{
    outcome o = {.took_s = 0};
    ley_error error = {0};
    plans[0] = (fake_plan){.name = "A", .fail_read = fail_read};
    plans[1] = (fake_plan){.name = "B"};
    memcpy(&devices[0], &of_a, sizeof of_a);
    memcpy(&devices[1], &of_b, sizeof of_b);
    fake_devices_begin(plans, DEVICES);
    assert_ok(ley_engine_create("all", &o.engine, &error));
    ley_run_options options = support_default_run_options();
    options.verify_points = 0;
    options.sum = LEY_SUM_FLOAT;
    assert_ok(job_create(o.engine, m, malloc(1), NULL, &(ley_target){.map = NULL}, &options, &o.job, &error));
    const double start_s = ley_clock_s();
    assert_ok(ley_job_run(o.job, &error));
    o.took_s = ley_clock_s() - start_s;
    o.report = ley_job_report(o.job);
    return o;
}

static outcome run(const conduct of_a, const conduct of_b)
{
    return run_method(&waits, of_a, of_b, 0);
}

static outcome run_lending(const conduct of_a, const conduct of_b)
{
    return run_method(&lends, of_a, of_b, 0);
}

static void end(outcome *o)
{
    ley_job_destroy(o->job);
    ley_engine_destroy(o->engine);
    fake_devices_end();
}

/* As long as a slow machine takes for what lasts a fifth of a second, and less than what is not to
 * be waited for. */
static const double long_s = 60, soon_s = 30;

static void check_left_out(const outcome *o)
{
    const ley_device_report *b = &o->report->devices[1];
    assert_true(o->took_s < soon_s);
    assert_int_equal(b->status, LEY_OK);
    assert_null(b->failure);
    assert_int_equal(b->points, 0);
    assert_string_equal(b->late, "own");
    assert_int_equal(o->report->devices[0].points, PIECES);
    assert_null(o->report->devices[0].late);
}

/* Even where the faster device is the last to know how long it takes. */
static void test_too_late_to_begin(void **state_of_test)
{
    for (int i = 0; i < 2; i++) {
        outcome o =
            run((conduct){.predicted_s = 0.01, .own_s = 0.01, .piece_s = 0.01, .predicting_s = i == 0 ? 0 : 0.1},
                (conduct){.predicted_s = long_s, .own_s = long_s, .piece_s = 0.01});
        check_left_out(&o);
        assert_int_equal(atomic_load(&devices[1].begun), 0);
        end(&o);
    }
}

/* Nobody knows how long it takes; or it takes much longer than predicted. */
static void test_let_go(void **state_of_test)
{
    for (int i = 0; i < 2; i++) {
        outcome o = run((conduct){.predicted_s = 0.01, .own_s = 0.01, .piece_s = 0.02},
                        (conduct){.predicted_s = i == 0 ? 0 : 0.001, .own_s = long_s, .piece_s = 0.02});
        check_left_out(&o);
        assert_true(atomic_load(&devices[1].begun) == 1 && atomic_load(&devices[1].let_go) == 1);
        end(&o);
    }
}

/* The faster one breaks: the other one begins what it had not, and does the rest. */
static void test_the_faster_one_leaves(void **state_of_test)
{
    outcome o = run((conduct){.predicted_s = 0.01, .own_s = 0.01, .piece_s = 0.01, .fails_at = 6},
                    (conduct){.predicted_s = 5, .own_s = 0.05, .piece_s = 0.01});
    assert_true(o.took_s < soon_s);
    assert_int_equal(o.report->devices[0].status, LEY_ERROR_DEVICE);
    assert_int_equal(o.report->devices[1].status, LEY_OK);
    assert_null(o.report->devices[1].late);
    assert_int_equal(o.report->devices[0].points, 5);
    assert_int_equal(o.report->devices[1].points, PIECES - 5);
    assert_true(atomic_load(&devices[1].begun) >= 1);
    end(&o);
}

/* As fast as each other: both take their part. */
static void test_both(void **state_of_test)
{
    const conduct same = {.predicted_s = 0.05, .own_s = 0.05, .piece_s = 0.05};
    outcome o = run(same, same);
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(o.report->devices[i].status, LEY_OK);
        assert_null(o.report->devices[i].late);
    }
    assert_true(o.report->devices[0].points > 0 && o.report->devices[1].points > 0);
    assert_int_equal(o.report->devices[0].points + o.report->devices[1].points, PIECES);
    end(&o);
}

/* ---- Lending --------------------------------------------------------------------------------- */

static void check_all_done(const outcome *o)
{
    assert_true(o->took_s < soon_s);
    assert_int_equal(o->report->devices[0].points + o->report->devices[1].points, PIECES);
}

/* What would take a minute comes from the other device, which is still at it, or has long begun its
 * slabs. */
static void test_borrowed(void **state_of_test)
{
    for (int i = 0; i < 2; i++) {
        outcome o =
            run_lending((conduct){.predicted_s = 0.1, .own_s = 0.1, .piece_s = 0.05},
                        (conduct){.predicted_s = long_s, .own_s = long_s, .piece_s = 0.05, .predicting_s = 0.3 * i});
        check_all_done(&o);
        assert_true(o.report->devices[1].points > 0);
        assert_null(o.report->devices[1].late);
        assert_int_equal(atomic_load(&devices[1].begun), 0);
        assert_int_equal(atomic_load(&devices[1].letter), 'A');
        end(&o);
    }
}

/* As fast as each other, both make it, since it is not there sooner by way of the host. */
static void test_not_borrowed(void **state_of_test)
{
    const conduct same = {.predicted_s = 0.5, .own_s = 0.5, .piece_s = 0.05};
    outcome o = run_lending(same, same);
    check_all_done(&o);
    assert_true(atomic_load(&devices[0].begun) == 1 && atomic_load(&devices[1].begun) == 1);
    assert_true(atomic_load(&devices[0].letter) == 'A' && atomic_load(&devices[1].letter) == 'B');
    end(&o);
}

/* The lender breaks while it makes it, or while it brings it to the host: the other one makes it
 * after all. */
static void test_lender_breaks(void **state_of_test)
{
    for (int i = 0; i < 2; i++) {
        outcome o = run_method(&lends, (conduct){.predicted_s = 0.1, .own_s = 0.1, .piece_s = 0.05, .breaks = i == 0},
                               (conduct){.predicted_s = 5, .own_s = 0.05, .piece_s = 0.05}, i == 0 ? 0 : 1);
        check_all_done(&o);
        assert_int_equal(o.report->devices[0].status, LEY_ERROR_DEVICE);
        assert_int_equal(o.report->devices[1].points, PIECES);
        assert_int_equal(atomic_load(&devices[1].letter), 'B');
        assert_int_equal(plans[0].live_objects, 0);
        end(&o);
    }
}

int main(void)
{
    return RUN_TESTS(test_too_late_to_begin, test_let_go, test_the_faster_one_leaves, test_both, test_borrowed,
                     test_not_borrowed, test_lender_breaks);
}
