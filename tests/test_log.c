/* The log: who gets which messages, one at a time, and what the library has to say. */
#include "support.h"

#include "build_cache.h"
#include "device_list.h"
#include "fake_device.h"
#include "log.h"
#include "source.h"
#include "watch.h"

#include <stdatomic.h>
#include <unistd.h>

static const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};

/* ---- Receivers ------------------------------------------------------------------------------- */

/* What was said, a line for each message: "note: ...". */
typedef struct record {
    char *text;
    size_t length, count;
    size_t of_level[3];
    atomic_int inside, most_inside;
    unsigned pause_us; /* that each message takes */
} record;

static void keep(void *context, ley_log_level level, const char *message)
{
    record *r = context;
    const int inside = atomic_fetch_add(&r->inside, 1) + 1;
    if (inside > atomic_load(&r->most_inside))
        atomic_store(&r->most_inside, inside);
    usleep(r->pause_us);
    const size_t more = strlen(message) + 16;
    r->text = realloc(r->text, r->length + more);
    r->length += (size_t)snprintf(r->text + r->length, more, "%s: %s\n", ley_log_level_name(level), message);
    r->count++;
    r->of_level[level]++;
    atomic_fetch_sub(&r->inside, 1);
}

static void begin(record *r, ley_log_level least)
{
    *r = (record){.text = calloc(1, 1)};
    ley_log_set(keep, r, least);
}

static void end(record *r)
{
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
    free(r->text);
}

/* A line that begins with the first text and has the second one. */
static bool has(const record *r, const char *first, const char *second)
{
    for (const char *line = r->text; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *found = strstr(line, second);
        if (strncmp(line, first, strlen(first)) == 0 && found != NULL && found < strchr(line, '\n'))
            return true;
    }
    return false;
}

static void assert_has(const record *r, const char *first, const char *second)
{
    if (!has(r, first, second))
        fail_msg("'%s...%s' is not in:\n%s", first, second, r->text);
}

static void assert_has_not(const record *r, const char *first, const char *second)
{
    if (has(r, first, second))
        fail_msg("'%s...%s' is in:\n%s", first, second, r->text);
}

/* ---- Who is told ----------------------------------------------------------------------------- */

static void test_levels(void **state)
{
    record r;
    log_say(LEY_LOG_WARNING, "nobody listens");
    for (int least = LEY_LOG_WARNING; least <= LEY_LOG_DETAIL; least++) {
        begin(&r, (ley_log_level)least);
        for (int level = LEY_LOG_WARNING; level <= LEY_LOG_DETAIL; level++) {
            assert_int_equal(log_wants((ley_log_level)level), level <= least);
            log_say((ley_log_level)level, "%s %d", "number", level);
        }
        assert_int_equal(r.count, least + 1);
        const char *all = "warning: number 0\nnote: number 1\ndetail: number 2\n";
        assert_int_equal(strncmp(r.text, all, r.length), 0);
        end(&r);
        assert_false(log_wants(LEY_LOG_WARNING));
    }
    assert_string_equal(ley_log_level_name((ley_log_level)3), "?");
    assert_string_equal(ley_log_level_name((ley_log_level)-1), "?");
}

/* Whatever stands in it: a name, a driver's message. */
static void test_a_message_is_one_line(void **state)
{
    record r;
    begin(&r, LEY_LOG_DETAIL);
    log_say(LEY_LOG_NOTE, "one%stwo\x1b[31m\x7f", "\r\n\t");
    assert_string_equal(r.text, "note: one   two [31m \n");
    char *large = malloc(5001);
    memset(large, 'x', 5000);
    large[5000] = '\0';
    log_say(LEY_LOG_NOTE, "%s", large);
    assert_int_equal(r.count, 2);
    assert_true(r.length > 2000 && r.length < 2100);
    free(large);
    end(&r);
}

/* A callback that uses the library, which says something; and one that wants no more. */
static void list_devices(void *context, ley_log_level level, const char *message)
{
    ley_device_list *list = NULL;
    keep(context, level, message);
    log_say(LEY_LOG_WARNING, "within");
    assert_int_equal(ley_device_list_create(&list, NULL), LEY_OK);
    ley_device_list_destroy(list);
}

static void listen_once(void *context, ley_log_level level, const char *message)
{
    keep(context, level, message);
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
}

static void test_callbacks_that_call_the_library(void **state)
{
    fake_plan plan = {.name = "A"};
    fake_devices_begin(&plan, 1);
    record r;
    begin(&r, LEY_LOG_WARNING);
    ley_log_set(list_devices, &r, LEY_LOG_WARNING);
    log_say(LEY_LOG_WARNING, "first");
    log_say(LEY_LOG_WARNING, "second");
    ley_log_set(listen_once, &r, LEY_LOG_WARNING);
    log_say(LEY_LOG_WARNING, "third");
    log_say(LEY_LOG_WARNING, "fourth");
    assert_string_equal(r.text, "warning: first\nwarning: second\nwarning: third\n");
    end(&r);
    fake_devices_end();
}

enum { THREADS = 8, EACH = 100 };

static void *speak(void *context)
{
    for (int i = 0; i < EACH; i++)
        log_say(i % 2 == 0 ? LEY_LOG_NOTE : LEY_LOG_DETAIL, "thread %d, message %d", *(const int *)context, i);
    return NULL;
}

static void speak_together(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, speak, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *change_receivers(void *context)
{
    record *records = context;
    for (int i = 0; i < 1000; i++)
        ley_log_set(keep, &records[i % 2], LEY_LOG_DETAIL);
    return NULL;
}

static void test_one_message_at_a_time(void **state)
{
    record r;
    begin(&r, LEY_LOG_NOTE);
    r.pause_us = 100; /* long enough for others to come */
    speak_together();
    assert_int_equal(r.count, THREADS * EACH / 2);
    assert_int_equal(r.most_inside, 1);
    end(&r);
    /* While one receiver takes the other's place. */
    record two[2] = {{.text = calloc(1, 1)}, {.text = calloc(1, 1)}};
    pthread_t changer;
    ley_log_set(keep, &two[0], LEY_LOG_DETAIL);
    assert_int_equal(pthread_create(&changer, NULL, change_receivers, two), 0);
    speak_together();
    pthread_join(changer, NULL);
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
    assert_int_equal(two[0].count + two[1].count, THREADS * EACH);
    assert_true(two[0].most_inside <= 1 && two[1].most_inside <= 1);
    free(two[0].text);
    free(two[1].text);
}

static void *speak_once(void *context)
{
    log_say(LEY_LOG_WARNING, "once");
    return NULL;
}

/* Who ends the log may then forget what the callback used. */
static void test_the_end_waits_for_a_message(void **state)
{
    record r;
    pthread_t thread;
    begin(&r, LEY_LOG_WARNING);
    r.pause_us = 200000;
    assert_int_equal(pthread_create(&thread, NULL, speak_once, NULL), 0);
    while (atomic_load(&r.inside) == 0)
        usleep(100);
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
    assert_int_equal(atomic_load(&r.inside), 0);
    assert_string_equal(r.text, "warning: once\n");
    pthread_join(thread, NULL);
    end(&r);
}

/* ---- What is said ---------------------------------------------------------------------------- */

/* A job on fake devices from the first question for them to the end. */
static ley_status run_by(fake_plan *plans, size_t count, support_method method, ley_math math)
{
    support_job o = {.status = LEY_OK};
    fake_devices_begin(plans, count);
    o.atoms = support_atoms(400, 0, 8, 7);
    o.options = support_default_options();
    o.options.method = method;
    o.options.math = math;
    o.options.short_range.cutoff_A = 4;
    o.options.slab_planes = method == SUPPORT_DCS ? 2 : 0;
    assert_int_equal(ley_map_create(&grid, &o.map, NULL), LEY_OK);
    o.status = ley_engine_create("all", &o.engine, &o.error);
    if (o.status == LEY_OK)
        o.status = support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &o.error);
    if (o.status == LEY_OK)
        o.status = ley_job_run(o.job, &o.error);
    const ley_status status = o.status;
    support_job_end(&o);
    fake_devices_end();
    return status;
}

static ley_status run(fake_plan *plans, size_t count, support_method method)
{
    return run_by(plans, count, method, LEY_MATH_AUTO);
}

static void test_a_job(void **state)
{
    record r;
    support_fresh_cache();
    for (int cached = 0; cached < 2; cached++) {
        fake_plan plan = {.name = "A"};
        begin(&r, LEY_LOG_DETAIL);
        assert_int_equal(run(&plan, 1, SUPPORT_DCS), LEY_OK);
        assert_has(&r, "note: device 0 by fake: A, ", " compute units");
        assert_has(&r, "detail: A: opened by fake", "clock");
        assert_has(&r, cached ? "detail: A: rates and errors" : "note: A: rates and errors",
                   cached ? "are in the cache" : "measured in ");
        assert_has(&r, "detail: A: root rsqrt: ", "/s, error ");
        assert_has_not(&r, "detail: A: exponential ", ""); /* sums of charges have none */
        assert_has(&r, cached ? "note: A: took dcs from the cache in " : "note: A: built dcs in ", " s: -DLEY_");
        assert_has_not(&r, cached ? "note: A: built dcs in " : "note: A: took dcs", "");
        assert_has(&r, "note: A: variant tiled16 (the default of such devices), root ",
                   "slabs of at most 2, ready in ");
        assert_int_equal(r.of_level[LEY_LOG_WARNING], 0);
        assert_int_equal(r.most_inside, 1);
        end(&r);
    }
}

static void test_no_device(void **state)
{
    record r;
    begin(&r, LEY_LOG_NOTE);
    assert_int_equal(run(NULL, 0, SUPPORT_DCS), LEY_ERROR_NO_DEVICE);
    assert_string_equal(r.text, "note: Empty platform: no device\nnote: no device found\n");
    end(&r);
}

/* Devices that fail at work, are wrong, and do not open. */
static void test_devices_that_are_dropped(void **state)
{
    static const struct {
        fake_plan fault;
        const char *first, *second;
        bool is_known; /* measured and tested before: the first thing that it reads is a slab */
    } rows[] = {
        {{.name = "B", .fail_read = 1}, "warning: a device leaves the job: B: ", "fake_read()", true},
        {{.name = "B", .fail_open = 1}, "warning: a device does not open: B: ", "fake_open()", false},
        {{.name = "B", .wrong_by = 0.01}, "warning: a device leaves the job: B: ", "self-test", false},
        {{.name = "B", .lie = FAKE_SCALES, .lie_factor = 2, .lie_at = 1},
         "warning: a device leaves the job, its slabs are open again: B: ",
         "verification failed",
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        record r;
        fake_plan plans[] = {{.name = "A"}, rows[i].fault};
        support_fresh_cache();
        if (rows[i].is_known) {
            fake_plan well[] = {{.name = "A"}, {.name = "B"}};
            assert_int_equal(run(&well[0], 1, SUPPORT_DCS), LEY_OK);
            assert_int_equal(run(&well[1], 1, SUPPORT_DCS), LEY_OK);
        }
        plans[0].after = &plans[1];
        begin(&r, LEY_LOG_NOTE);
        assert_int_equal(run(plans, 2, SUPPORT_DCS), LEY_OK);
        assert_has(&r, rows[i].first, rows[i].second);
        if (rows[i].fault.fail_read != 0)
            assert_has(&r, "note: B: gives back ", " to ");
        else
            assert_has_not(&r, "note: B: gives back ", "");
        assert_has_not(&r, "note: A: gives back ", "");
        end(&r);
    }
}

static void test_a_driver_that_does_not_return(void **state)
{
    static const watch_patience short_patience = {
        .open_s = 60, .build_s = 60, .close_s = 60, .first_s = 2, .work_s = 2, .over_s = 0.2, .turn_s = 0.2};
    fake_plan *plan = calloc(1, sizeof *plan);
    *plan = (fake_plan){.name = "B", .hang_launch = 1};
    dev_keep(plan);
    record r;
    support_fresh_cache();
    watch_patience_replace(&short_patience);
    begin(&r, LEY_LOG_WARNING);
    assert_int_equal(run(plan, 1, SUPPORT_DCS), LEY_ERROR_DEVICE);
    watch_patience_replace(NULL);
    assert_has(&r, "warning: a device is left behind in its driver: B: ", "the driver does not return (launch)");
    assert_has(&r, "warning: a device leaves the job: B: ", "the driver does not return (launch)");
    end(&r);
}

/* Rates that nobody measured are left out: on those of multiply-adds nothing of standard math
 * depends. */
static void test_what_is_not_measured(void **state)
{
    static const ley_math maths[] = {LEY_MATH_STANDARD, LEY_MATH_AUTO};
    for (int i = 0; i < 2; i++) {
        record r;
        fake_plan plan = {.name = "A"};
        support_fresh_cache();
        begin(&r, LEY_LOG_DETAIL);
        assert_int_equal(run_by(&plan, 1, SUPPORT_DCS, maths[i]), LEY_OK);
        assert_has(&r, "detail: A: root rsqrt: ", "/s, error ");
        (i == 0 ? assert_has_not : assert_has)(&r, "detail: A: ", " multiply-adds/s");
        end(&r);
    }
}

static void test_plans(void **state)
{
    record r;
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    begin(&r, LEY_LOG_DETAIL);
    assert_int_equal(run(&plan, 1, SUPPORT_CUTOFF), LEY_OK);
    assert_has(&r, "note: plan: ", " slots by host, rows by ");
    assert_has(&r, "detail: plan: the host has taken ", " s for bins");
    end(&r);
}

static void test_the_cache(void **state)
{
    fake_plan plan = {.name = "A"};
    dev_list list;
    char path[512], *bytes = calloc(1, 700 << 10);
    size_t size;
    record r;
    support_fresh_cache();
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(&list, NULL), LEY_OK);
    const cache_key one = cache_key_make(&list.infos[0], "kernel", "one", ""),
                    two = cache_key_make(&list.infos[0], "kernel", "two", "");
    begin(&r, LEY_LOG_DETAIL);
    setenv("LEYDEN_CACHE_MB", "1", 1);
    cache_put(&one, bytes, 700 << 10);
    assert_int_equal(r.count, 0);
    cache_put(&two, bytes, 700 << 10);
    unsetenv("LEYDEN_CACHE_MB");
    assert_has(&r, "detail: cache: ", one.hex);
    snprintf(path, sizeof path, "%s/leyden/%s", getenv("LEYDEN_CACHE_DIR"), two.hex);
    assert_int_equal(truncate(path, 1000), 0);
    assert_null(cache_get(&two, &size));
    assert_has(&r, "note: cache: ", "is damaged, or no entry: removed");
    setenv("LEYDEN_CACHE_DIR", "/dev/null/x", 1);
    cache_put(&one, bytes, 10);
    assert_has(&r, "warning: nothing can be kept in the cache: ", "/dev/null/x");
    assert_int_equal(r.count, 3);
    end(&r);
    support_fresh_cache();
    free(bytes);
    dev_list_clear(&list);
    fake_devices_end();
}

/* A kernel that was kept whole, but that the driver will not have. */
static void test_a_binary_that_is_not_taken(void **state)
{
    record r;
    fake_plan plan = {.name = "A"};
    dev_list list;
    char *text;
    support_fresh_cache();
    begin(&r, LEY_LOG_NOTE);
    assert_int_equal(run(&plan, 1, SUPPORT_DCS), LEY_OK);
    const char *found = strstr(strstr(r.text, "A: built dcs in "), ": -D") + 2;
    char *options = strndup(found, strcspn(found, "\n")); /* The record grows on below. */
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(&list, NULL), LEY_OK);
    assert_int_equal(source_load("dcs", list.infos[0].backend->source_suffix, &text, NULL), LEY_OK);
    const cache_key key = cache_key_make(&list.infos[0], "kernel", text, options);
    cache_put(&key, "another driver's", 16);
    free(text);
    free(options);
    dev_list_clear(&list);
    end(&r);
    begin(&r, LEY_LOG_NOTE);
    assert_int_equal(run(&plan, 1, SUPPORT_DCS), LEY_OK);
    assert_has(&r, "note: A: the driver does not take dcs from the cache", "");
    assert_has(&r, "note: A: built dcs in ", "");
    end(&r);
}

int main(void)
{
    return RUN_TESTS(test_levels, test_a_message_is_one_line, test_callbacks_that_call_the_library,
                     test_one_message_at_a_time, test_the_end_waits_for_a_message, test_a_job, test_no_device,
                     test_devices_that_are_dropped, test_a_driver_that_does_not_return, test_what_is_not_measured,
                     test_plans, test_the_cache, test_a_binary_that_is_not_taken);
}
