/* Sequences of operations and arenas for buffers, on a fake device: their order, their first error,
 * cancelling, how much is under way, what is left. */
#include "support.h"

#include "clock.h"
#include "device_list.h"
#include "engine/command_sequence.h"
#include "error.h"
#include "fake_device.h"
#include "memory/arena.h"
#include "memory/upload.h"
#include "watch.h"

#include <unistd.h>

enum { WORDS = 64 };

#define NOTE_ARGUMENTS(FIRST, NEXT) FIRST(WRITE, int, gm_words) NEXT(INT, int, at) NEXT(INT, int, number)
KERNEL_ARGUMENTS_STRUCT(note, NOTE_ARGUMENTS);
KERNEL_DESCRIBE_ARGUMENTS(note, NOTE_ARGUMENTS)

/* The fake device knows it by its name. */
static const kernel_kind note_kind = {KERNEL_DESCRIPTION(note, LEY_DIALECT_KEYS, note)};

/* A fake device with a program, two buffers and a flight. */
typedef struct bench {
    fake_plan plan;
    dev_list list;
    dev *device;
    dev_kernel note;
    arena arena;
    results made;
    dev_buffer *other;
    flight flight;
    watch watch;
    command_sequence command_sequence; /* of the thread that is watched */
} bench;

static bench *bench_create(fake_plan plan)
{
    bench *b = calloc(1, sizeof *b);
    ley_error error = {0};
    assert_non_null(b);
    b->plan = plan;
    b->plan.name = "F";
    fake_devices_begin(&b->plan, 1);
    assert_ok(dev_list_create(&b->list, &error));
    assert_ok(b->list.infos[0].backend->open(&b->list.infos[0], &b->device, &error));
    static const int spec[3] = {0};
    char options[KERNEL_OPTIONS];
    kernel_options(&note_kind, spec, options, sizeof options);
    const dev_source source = {.kind = &note_kind, .spec = spec, .text = "", .options = options};
    b->note = (dev_kernel){.device = b->device, .kind = &note_kind, .group_size = {1, 1, 1}};
    assert_ok(b->device->backend->build(b->device, &source, NULL, 0, &b->note.program, &error));
    b->arena.device = b->flight.device = b->device;
    assert_ok(arena_results(&b->arena, WORDS * 4, &b->made, &error));
    assert_ok(arena_buffer(&b->arena, WORDS * 4, DEV_READ_WRITE, &b->other, &error));
    return b;
}

static void bench_destroy(bench *b)
{
    arena_clear(&b->arena);
    kernel_destroy(&b->note);
    assert_int_equal(b->plan.live_objects, 0);
    b->device->backend->close(b->device);
    dev_list_clear(&b->list);
    fake_devices_end();
    free(b);
}

/* words[at] = 10 words[at] + number */
static void note(const bench *b, command_sequence *w, int at, int number, double predicted_s)
{
    static const size_t groups[3] = {1, 1, 1};
    sequence_launch(w, &b->note, groups,
                    KERNEL_ARGUMENTS(note, .gm_words = {b->made.buffer}, .at = at, .number = number), predicted_s);
}

static int32_t word(const bench *b, int at)
{
    return ((const int32_t *)b->made.staging->bytes)[at];
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void test_order(void **state)
{
    bench *b = bench_create((fake_plan){.fail_copy = 0});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    sequence_begin(&w, &b->flight, NULL);
    int32_t number = 7;
    sequence_fill(&w, b->made.buffer, 0, 1, WORDS * 4);
    sequence_write(&w, b->made.buffer, 4, &number, sizeof number);
    number = 9; /* the caller's again at once */
    sequence_write(&w, b->made.buffer, 8, &number, sizeof number);
    number = 0;
    for (int i = 1; i <= 5; i++)
        note(b, &w, 0, i, 1e-6);
    note(b, &w, 1, 3, 1e-6);
    sequence_copy(&w, b->other, 8, b->made.buffer, 0, 16);
    sequence_fill(&w, b->made.buffer, 16, 5, 8);
    sequence_copy(&w, b->made.buffer, 20, b->other, 8, 8);
    sequence_read(&w, b->made.buffer, 0, b->made.staging, WORDS * 4);
    note(b, &w, 0, 6, 1e-6); /* what was read is from before, whenever it travels */
    assert_ok(sequence_finish(&w, &error));
    const int right[] = {112345, 73, 9, 1, 5, 112345, 73, 1};
    for (int i = 0; i < 8; i++)
        assert_int_equal(word(b, i), right[i]);
    assert_int_equal(b->plan.waits, 1);
    sequence_begin(&w, &b->flight, NULL);
    sequence_read(&w, b->made.buffer, 0, b->made.staging, WORDS * 4);
    assert_ok(sequence_finish(&w, &error));
    assert_int_equal(word(b, 0), 1123456);
    sequence_end(&w);
    bench_destroy(b);
}

/* More than staging for small writes holds, and writes that are not small: all there, in order. */
static void test_writes(void **state)
{
    enum { LARGE = 100000 };
    bench *b = bench_create((fake_plan){.fail_copy = 0});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    results large;
    unsigned char *bytes = malloc(LARGE), *right = malloc(LARGE);
    assert_ok(arena_results(&b->arena, LARGE, &large, &error));
    for (int round = 0; round < 3; round++) {
        sequence_begin(&w, &b->flight, NULL);
        memset(right, round, LARGE);
        sequence_write(&w, large.buffer, 0, right, LARGE);
        for (size_t i = 0; i < 20; i++) { /* of 4 KB: 16 are small together */
            memset(bytes, (int)(100 + i), 4096);
            memset(right + i * 4000, (int)(100 + i), 4096);
            sequence_write(&w, large.buffer, i * 4000, bytes, 4096);
        }
        sequence_send(&w, large.buffer, 50, large.staging, 10, 20);
        memcpy(right + 50, (char *)large.staging->bytes + 10, 20);
        note(b, &w, 0, 1, 1e-6);
        sequence_read(&w, large.buffer, 0, large.staging, LARGE);
        assert_ok(sequence_finish(&w, &error));
        assert_memory_equal(large.staging->bytes, right, LARGE);
    }
    sequence_end(&w);
    free(bytes);
    free(right);
    bench_destroy(b);
}

/* Two sequences take turns, and one ends while the other goes on; each has its own times. */
static void test_two_sequences(void **state)
{
    bench *b = bench_create((fake_plan){.delay_us = 1000});
    command_sequence first = {.flight = NULL}, second = {.flight = NULL};
    ley_error error = {0};
    const double start_s = ley_clock_s();
    sequence_begin(&first, &b->flight, NULL);
    sequence_begin(&second, &b->flight, NULL);
    for (int i = 1; i <= 4; i++) {
        note(b, &first, 2, i, 1e-3);
        note(b, &second, 3, i, 1e-3);
    }
    sequence_read(&first, b->made.buffer, 0, b->made.staging, WORDS * 4);
    note(b, &second, 3, 9, 1e-3);
    assert_ok(sequence_finish(&first, &error));
    assert_true(second.in_flight >= 1 && first.in_flight == 0);
    const sequence_times t = first.times;
    assert_true(t.kernel.start_s >= start_s && t.kernel.end_s - t.kernel.start_s >= 7e-3);
    assert_true(t.kernel_s >= 4e-3 && t.kernel_s < t.kernel.end_s - t.kernel.start_s - 2e-3);
    assert_true(t.transfer.end_s >= t.transfer.start_s && t.transfer.start_s >= t.kernel.end_s);
    assert_ok(sequence_finish(&second, &error));
    assert_true(second.times.kernel_s >= 5e-3 && second.times.kernel.start_s >= t.kernel.start_s + 1e-3);
    assert_true(second.times.transfer.end_s == 0);
    sequence_end(&first);
    sequence_end(&second);
    bench_destroy(b);
}

/* ---- How much is under way ------------------------------------------------------------------- */

/* The most launches under way at a time, of so many of this prediction. */
static int most_in_flight(int launches, double predicted_s, int delay_us, bool is_learned)
{
    bench *b = bench_create((fake_plan){.delay_us = delay_us});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    sequence_begin(&w, &b->flight, NULL);
    b->flight.ended = is_learned ? 1000 : 0;
    for (int i = 0; i < launches; i++)
        note(b, &w, 0, 1, predicted_s);
    assert_ok(sequence_status(&w, &error));
    const int most = b->plan.most_in_flight;
    assert_ok(sequence_finish(&w, &error));
    assert_int_equal(b->plan.in_flight, 0);
    assert_int_equal(b->plan.launches, launches);
    sequence_end(&w);
    bench_destroy(b);
    return most;
}

static void test_bounded_by_seconds(void **state)
{
    assert_int_equal(most_in_flight(30, 0.0625, 0, true), 4);
    assert_int_equal(most_in_flight(30, 0.125, 0, true), 2);
    assert_int_equal(most_in_flight(10, 10, 0, true), FLIGHT_LEAST);
    assert_int_equal(most_in_flight(3, 0.01, 0, false), FLIGHT_LEAST); /* none of them has shown how long it is */
    assert_int_equal(most_in_flight(3, 0.01, 0, true), 3);
    assert_int_equal(most_in_flight(10, 0, 0, true), 2);
    assert_int_equal(most_in_flight(10, -1, 0, true), 2);
    assert_int_equal(most_in_flight(10, 1e-6, 0, false), 10);
    assert_int_equal(most_in_flight(16, 1e-6, 0, false), FLIGHT_FIRST);
    assert_int_equal(most_in_flight(36, 1e-6, 0, false), FLIGHT_FIRST + 10); /* ten have ended, and ten more may be */
    assert_int_equal(most_in_flight(1000, 1e-6, 0, true), FLIGHT_MOST);
    assert_int_equal(most_in_flight(1000, 1e-6, 0, false), FLIGHT_MOST);
}

/* A device on which all lasts a hundred times as long as predicted: soon less is under way. */
static void test_wrong_predictions(void **state)
{
    assert_in_range(most_in_flight(60, 1e-4, 10000, false), FLIGHT_FIRST, FLIGHT_FIRST + 40);
    bench *b = bench_create((fake_plan){.delay_us = 20000});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    sequence_begin(&w, &b->flight, NULL);
    b->flight.ended = 1000;
    for (int i = 0; i < 3; i++)
        note(b, &w, 0, 1, 5e-4);
    assert_ok(sequence_finish(&w, &error));
    assert_true(b->flight.slower >= 40);
    for (int i = 0; i < 60; i++) {
        note(b, &w, 0, 1, 5e-4);
        assert_true(b->plan.in_flight <= 25); /* of 20 ms each */
    }
    assert_ok(sequence_finish(&w, &error));
    b->plan.delay_us = 0; /* a while later it is quick again */
    for (int i = 0; i < 20; i++) {
        note(b, &w, 0, 1, 5e-4);
        assert_ok(sequence_finish(&w, &error));
    }
    assert_true(b->flight.slower < 1);
    sequence_end(&w);
    bench_destroy(b);
}

/* A hundred small launches, and nobody waits for one of them before the end. */
static void test_no_wait_between(void **state)
{
    bench *b = bench_create((fake_plan){.fail_copy = 0});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    b->flight.ended = FLIGHT_MOST;
    sequence_begin(&w, &b->flight, NULL);
    const int32_t number = 3;
    for (int i = 0; i < 100; i++) {
        sequence_write(&w, b->other, 0, &number, sizeof number);
        sequence_fill(&w, b->made.buffer, 0, 0, 4);
        sequence_copy(&w, b->made.buffer, 4, b->other, 0, 4);
        note(b, &w, 1, 4, 1e-5);
    }
    sequence_read(&w, b->made.buffer, 0, b->made.staging, 8);
    assert_int_equal(b->plan.all_waits, 0);
    assert_int_equal(b->plan.launches, 100);
    assert_ok(sequence_finish(&w, &error));
    assert_int_equal(word(b, 1), 34);
    sequence_end(&w);
    bench_destroy(b);
}

/* ---- Errors and cancelling ------------------------------------------------------------------- */

/* All kinds of operations. */
static void do_all(bench *b, command_sequence *w)
{
    const int32_t number = 3;
    sequence_poison(w, &b->made, WORDS * 4);
    sequence_write(w, b->made.buffer, 0, &number, sizeof number);
    note(b, w, 0, 1, 1e-6);
    sequence_copy(w, b->other, 0, b->made.buffer, 0, 16);
    note(b, w, 0, 2, 1e-6);
    sequence_read(w, b->other, 0, b->made.staging, 16);
    note(b, w, 0, 3, 1e-6);
}

/* Each of the driver's calls fails: its error is the one that is told, whatever comes behind it;
 * nothing more is begun, and nothing is left. */
static void test_first_error_is_kept(void **state)
{
    static const struct {
        fake_plan plan;
        const char *says;
        int launches;
    } cases[] = {
        {{.fail_fill = 1}, "fake_fill()", 0},
        {{.fail_write = 1}, "fake_write()", 0},
        {{.fail_staging = 2}, "fake_staging_create()", 0},
        {{.fail_launch = 1}, "fake_launch()", 1},
        {{.fail_launch = 2}, "fake_launch()", 2},
        {{.fail_copy = 1}, "fake_copy()", 1},
        {{.fail_read = 1}, "fake_read()", 2},
        {{.fail_wait = 1}, "fake_wait()", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench *b = bench_create(cases[i].plan);
        command_sequence w = {.flight = NULL};
        ley_error error = {0};
        sequence_begin(&w, &b->flight, NULL);
        do_all(b, &w);
        assert_error(sequence_status(&w, &error), LEY_ERROR_DEVICE, cases[i].says);
        assert_int_equal(b->plan.launches, cases[i].launches);
        const int fills = b->plan.fills, writes = b->plan.writes, copies = b->plan.copies, reads = b->plan.reads;
        do_all(b, &w); /* ignored */
        sequence_fill(&w, b->made.buffer, 0, 0, 4);
        ley_error_clear(&error);
        assert_error(sequence_finish(&w, &error), LEY_ERROR_DEVICE, cases[i].says);
        assert_int_equal(b->plan.fills + b->plan.writes + b->plan.copies + b->plan.reads,
                         fills + writes + copies + reads);
        assert_int_equal(b->plan.launches, cases[i].launches);
        sequence_begin(&w, &b->flight, NULL); /* a new one begins without */
        assert_int_equal(sequence_status(&w, NULL), LEY_OK);
        sequence_end(&w);
        ley_error_clear(&error);
        bench_destroy(b);
    }
}

static void test_cancel(void **state)
{
    bench *b = bench_create((fake_plan){.fail_copy = 0});
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    atomic_bool cancelled = false;
    sequence_begin(&w, &b->flight, &cancelled);
    for (int i = 0; i < 10; i++) {
        note(b, &w, 0, 1, 1e-6);
        if (i == 4)
            atomic_store(&cancelled, true);
    }
    assert_int_equal(b->plan.launches, 5);
    sequence_fill(&w, b->made.buffer, 0, 0, 4);
    assert_int_equal(b->plan.fills, 0);
    assert_int_equal(sequence_status(&w, &error), LEY_CANCELLED);
    assert_int_equal(sequence_finish(&w, NULL), LEY_CANCELLED);
    atomic_store(&cancelled, false);
    sequence_begin(&w, &b->flight, &cancelled);
    note(b, &w, 0, 1, 1e-6);
    atomic_store(&cancelled, true); /* with all of it under way */
    ley_error_clear(&error);
    assert_int_equal(sequence_finish(&w, &error), LEY_CANCELLED);
    assert_int_equal(b->plan.in_flight, 0);
    sequence_end(&w);
    ley_error_clear(&error);
    bench_destroy(b);
}

/* ---- Drivers that do not return -------------------------------------------------------------- */

static void *be_left_behind(void *context)
{
    bench *b = context;
    watch_this_thread(&b->watch);
    sequence_begin(&b->command_sequence, &b->flight, NULL);
    do_all(b, &b->command_sequence);
    sequence_finish(&b->command_sequence, NULL);
    return NULL;
}

/* Wherever the driver stays: the thread is given up, in that call. */
static void test_drivers_that_hang(void **state)
{
    static const watch_patience patience = {.first_s = 0.05, .work_s = 0.05};
    static const struct {
        fake_plan plan;
        const char *says;
    } cases[] = {
        {{.hang_fill = 1}, "(fill)"},     {{.hang_write = 1}, "(send)"}, {{.hang_copy = 1}, "(copy)"},
        {{.hang_launch = 2}, "(launch)"}, {{.hang_read = 1}, "(read)"},  {{.hang_wait = 1}, "(wait)"},
    };
    watch_patience_replace(&patience);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench *b = bench_create(cases[i].plan);
        ley_error why = {0};
        pthread_t thread;
        watch_init(&b->watch);
        assert_int_equal(pthread_create(&thread, NULL, be_left_behind, b), 0);
        while (fake_devices_hung(&b->plan) == 0) /* on a busy machine another call may take as long */
            usleep(1000);
        const double start_s = ley_clock_s();
        while (!watch_give_up(&b->watch, false, &why) && ley_clock_s() < start_s + 20)
            usleep(5000);
        assert_non_null(strstr(why.message, cases[i].says));
        fake_devices_release();
        while (!watch_is_back(&b->watch) && ley_clock_s() < start_s + 20)
            usleep(5000);
        assert_true(watch_is_back(&b->watch)); /* and stays there: what it has is nobody's */
        ley_error_clear(&why);
        pthread_detach(thread);
        dev_keep(b);
        fake_devices_end();
    }
    watch_patience_replace(NULL);
}

/* ---- Rooms ----------------------------------------------------------------------------------- */

static void test_a_room_has_a_budget(void **state)
{
    bench *b = bench_create((fake_plan){.global_bytes = 4000, .max_allocation_bytes = 2000});
    arena *r = &b->arena;
    ley_error error = {0};
    dev_buffer *buffer[3] = {NULL};
    assert_int_equal(arena_left(r), 3000 - 2 * WORDS * 4);
    assert_int_equal(arena_largest(r), 2000);
    assert_error_is(arena_buffer(r, 2001, DEV_READ_ONLY, &buffer[0], &error), LEY_ERROR_NO_DEVICE,
                    "a buffer of 2.0 KiB is asked for, the device's largest is 2.0 KiB");
    assert_null(buffer[0]);
    assert_ok((ley_error_clear(&error), arena_buffer(r, 2000, DEV_READ_ONLY, &buffer[0], &error)));
    assert_int_equal(arena_left(r), 1000 - 2 * WORDS * 4);
    assert_error_is(arena_buffer(r, 1000, DEV_READ_ONLY, &buffer[1], &error), LEY_ERROR_NO_DEVICE,
                    "a buffer of 1000 bytes is asked for, there is room for 488 bytes");
    assert_ok((ley_error_clear(&error), arena_buffer(r, 488, DEV_READ_ONLY, &buffer[1], &error)));
    assert_int_equal(arena_left(r), 0);
    arena_free_buffer(r, &buffer[0]);
    arena_free_buffer(r, &buffer[0]); /* none: nothing */
    assert_int_equal(arena_left(r), 2000);
    assert_ok(arena_buffer(r, 1500, DEV_READ_ONLY, &buffer[2], &error));
    bench_destroy(b); /* with all that is left */
}

static void test_rooms_within_a_room(void **state)
{
    bench *b = bench_create((fake_plan){.global_bytes = 4000, .max_allocation_bytes = 2000});
    ley_error error = {0};
    dev_buffer *buffer = NULL;
    arena_clear(&b->arena);
    arena first = {.device = b->device, .within = &b->arena}, second = {.device = b->device, .within = &b->arena};
    assert_ok(arena_buffer(&first, 2000, DEV_READ_ONLY, &buffer, &error));
    assert_int_equal(arena_left(&b->arena), 1000);
    assert_int_equal(arena_buffer(&second, 1001, DEV_READ_ONLY, &buffer, &error), LEY_ERROR_NO_DEVICE);
    assert_ok((ley_error_clear(&error), arena_buffer(&second, 1000, DEV_READ_ONLY, &buffer, &error)));
    assert_int_equal(arena_left(&first), 0);
    arena_clear(&first);
    assert_int_equal(arena_left(&second), 2000);
    assert_int_equal(arena_left(&b->arena), 2000);
    arena_clear(&second);
    assert_int_equal(arena_left(&b->arena), 3000);
    bench_destroy(b);
}

static void test_rooms_that_fail(void **state)
{
    ley_error error = {0};
    results made;
    bench *b = bench_create((fake_plan){.fail_staging = 2});
    const size_t before = b->plan.live_objects;
    const int64_t left = arena_left(&b->arena);
    assert_int_equal(arena_results(&b->arena, 64, &made, &error), LEY_ERROR_DEVICE);
    assert_true(made.buffer == NULL && made.staging == NULL);
    assert_int_equal(b->plan.live_objects, before);
    assert_int_equal(arena_left(&b->arena), left);
    ley_error_clear(&error);
    bench_destroy(b);
    b = bench_create((fake_plan){.fail_buffer = 3});
    dev_buffer *buffer = b->other;
    assert_int_equal(arena_buffer(&b->arena, 64, DEV_READ_ONLY, &buffer, &error), LEY_ERROR_DEVICE);
    assert_null(buffer);
    assert_non_null(strstr(error.message, "fake_buffer_create()"));
    ley_error_clear(&error);
    bench_destroy(b);
}

/* ---- Uploads --------------------------------------------------------------------------------- */

enum { MOST_BYTES = (21 << 20) + 5, LAID_OFF = 12 };

/* Uploads so many bytes to a device of this class; returns how many writes and sends that took. */
static int upload(dev_class device_class, int fail_write, size_t size, ley_status expected)
{
    bench *b = bench_create((fake_plan){.device_class = device_class, .fail_write = fail_write});
    ley_error error = {0};
    command_sequence w = {.flight = NULL};
    dev_buffer *buffer = NULL;
    dev_staging *back = NULL;
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((i * 2654435761u) >> 13);
    assert_ok(arena_buffer(&b->arena, LAID_OFF + MOST_BYTES + 4, DEV_READ_WRITE, &buffer, &error));
    assert_ok(arena_staging(&b->arena, LAID_OFF + size + 4, &back, &error));
    const size_t before = b->plan.live_objects;
    sequence_begin(&w, &b->flight, NULL);
    sequence_fill(&w, buffer, 0, 0x55555555, (LAID_OFF + size + 4) / 4 * 4);
    sequence_write(&w, buffer, LAID_OFF, bytes, size);
    const int writes = b->plan.writes;
    unsigned char *right = malloc(size);
    assert_non_null(right);
    memcpy(right, bytes, size);
    memset(bytes, 0, size); /* the caller's again */
    sequence_read(&w, buffer, 0, back, LAID_OFF + size);
    assert_int_equal(sequence_finish(&w, &error), expected);
    if (expected == LEY_OK)
        assert_memory_equal((const char *)back->bytes + LAID_OFF, right, size);
    if (expected == LEY_OK)
        assert_int_equal(((const unsigned char *)back->bytes)[LAID_OFF - 1], 0x55);
    sequence_end(&w);
    ley_error_clear(&error);
    assert_int_equal(b->plan.live_objects, before);
    free(right);
    free(bytes);
    bench_destroy(b);
    return writes;
}

/* Much goes to cards in pieces, through staging; little, and to processors all, at once. Whichever
 * piece fails, what was begun comes to its end. */
static void test_uploads(void **state)
{
    const size_t least = UPLOAD_LEAST_BYTES, sizes[] = {least, least + 1, 2 * least - 1, 3 * least, MOST_BYTES};
    assert_int_equal(upload(DEV_GPU, 0, least - 1, LEY_OK), 1);
    assert_int_equal(upload(DEV_CPU, 0, MOST_BYTES, LEY_OK), 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(upload(DEV_GPU, 0, sizes[i], LEY_OK), (sizes[i] + UPLOAD_PIECE - 1) / UPLOAD_PIECE);
    for (int at = 1; at <= 22; at += at < 12 && !support_is_sanitized ? 1 : 5)
        assert_int_equal(upload(DEV_GPU, at, MOST_BYTES, LEY_ERROR_DEVICE), at);
}

/* ---- What a device keeps --------------------------------------------------------------------- */

enum { PART = 1 << 16 };

/* Puts bytes of this name there, reads them back, and says how many writes that took. */
static int upload_kept(bench *b, uint64_t name, unsigned char of)
{
    arena job = {.device = b->device};
    unsigned char bytes[PART / 4];
    dev_buffer *buffer;
    dev_staging *back;
    dev_event *done;
    ley_error error = {0};
    const int before = b->plan.writes;
    memset(bytes, of, sizeof bytes);
    assert_ok(arena_upload_kept(&job, name, bytes, sizeof bytes, &buffer, &error));
    const int writes = b->plan.writes - before;
    assert_int_equal(job.taken, sizeof bytes);
    assert_ok(arena_staging(&job, sizeof bytes, &back, &error));
    assert_ok(b->device->backend->read(b->device, buffer, 0, back, sizeof bytes, NULL, &done, &error));
    assert_ok(b->device->backend->wait(b->device, done, NULL, &error));
    assert_memory_equal(back->bytes, bytes, sizeof bytes);
    arena_clear(&job);
    assert_int_equal(job.taken, 0);
    return writes;
}

/* A later arena has the bytes of a name without a write, and no others; the oldest go where there
 * are too many, and all when the device is closed. */
static void test_a_device_keeps_buffers(void **state)
{
    bench *b = bench_create((fake_plan){.global_bytes = 16 * PART});
    const size_t before = b->plan.live_objects;
    assert_int_equal(upload_kept(b, 7, 1), 1);
    assert_int_equal(b->plan.live_objects, before + 1);
    assert_int_equal(upload_kept(b, 7, 1), 0);
    assert_int_equal(upload_kept(b, 8, 2), 1);
    assert_int_equal(upload_kept(b, 0, 3), 1);
    assert_int_equal(upload_kept(b, 0, 4), 1);
    assert_int_equal(upload_kept(b, 8, 2) + upload_kept(b, 7, 1), 0);
    assert_int_equal(b->plan.live_objects, before + 2);
    for (uint64_t name = 9; name < 12; name++)
        assert_int_equal(upload_kept(b, name, (unsigned char)name), 1);
    assert_int_equal(b->plan.live_objects, before + KEPT_BUFFERS_MOST);
    assert_int_equal(upload_kept(b, 7, 1), 0); /* used after 8, which is the one that has gone */
    assert_int_equal(upload_kept(b, 8, 2), 1);
    arena_clear(&b->arena);
    kernel_destroy(&b->note);
    b->note.program = NULL;
    assert_int_equal(b->plan.live_objects, KEPT_BUFFERS_MOST);
    b->device->backend->close(b->device);
    assert_int_equal(b->plan.live_objects, 0);
    dev_list_clear(&b->list);
    fake_devices_end();
    free(b);
}

static const dev_backend *backend;
static size_t most_objects;

static ley_status short_of_memory(dev *device, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    const fake_plan *plan = device->info->handle;
    return plan->live_objects < most_objects ? backend->buffer_create(device, bytes, access, buffer, error)
                                             : ley_fail(error, LEY_ERROR_DEVICE, "no more");
}

/* What is kept makes way for whatever asks for memory: within the job's budget, and where the
 * driver has no more. What there is no room for even so is refused as ever. */
static void test_kept_buffers_make_way(void **state)
{
    bench *b = bench_create((fake_plan){.global_bytes = 16 * PART});
    const size_t before = b->plan.live_objects;
    ley_error error = {0};
    dev_buffer *large;
    for (uint64_t name = 1; name < 4; name++)
        upload_kept(b, name, (unsigned char)name);
    const int64_t left = arena_left(&b->arena);
    assert_int_equal(left, 12 * PART - 2 * WORDS * 4); /* as if nothing was kept */
    assert_ok(arena_buffer(&b->arena, (size_t)left - PART / 2, DEV_READ_WRITE, &large, &error));
    assert_int_equal(b->plan.live_objects, before + 3); /* of three one had to go */
    assert_int_equal(upload_kept(b, 1, 1), 1);
    arena_free_buffer(&b->arena, &large);
    assert_int_equal(upload_kept(b, 3, 3), 0);
    backend = b->device->backend;
    dev_backend own = *backend;
    own.buffer_create = short_of_memory;
    b->device->backend = &own;
    most_objects = b->plan.live_objects - 1;
    assert_ok(arena_buffer(&b->arena, PART, DEV_READ_WRITE, &large, &error));
    assert_string_equal(error.message, "");
    most_objects = 0;
    dev_buffer *more;
    assert_error(arena_buffer(&b->arena, PART, DEV_READ_WRITE, &more, &error), LEY_ERROR_DEVICE, "no more");
    ley_error_clear(&error);
    assert_int_equal(kept_buffers_bytes(&b->device->kept), 0);
    b->device->backend = backend;
    bench_destroy(b);
}

/* Neither what is too large a part of the device, nor what has not arrived; nor does a processor
 * keep anything, or a device that is lost. */
static void test_what_is_not_kept(void **state)
{
    static const struct {
        fake_plan plan;
        ley_status status;
        bool is_lost_later;
    } cases[] = {{{.global_bytes = 3 * PART}, LEY_OK, false},
                 {{.device_class = DEV_CPU}, LEY_OK, false},
                 {{.fail_write = 1}, LEY_ERROR_DEVICE, false},
                 {{.lose_write = 1}, LEY_ERROR_DEVICE, false},
                 {{.lose_write = 2}, LEY_OK, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench *b = bench_create(cases[i].plan);
        arena job = {.device = b->device};
        static const unsigned char bytes[PART / 4];
        dev_buffer *buffer;
        ley_error error = {0};
        assert_int_equal(arena_upload_kept(&job, 5, bytes, sizeof bytes, &buffer, &error), cases[i].status);
        if (cases[i].is_lost_later)
            assert_int_equal(b->device->backend->write(b->device, buffer, 0, bytes, 4, &error), LEY_ERROR_DEVICE);
        ley_error_clear(&error);
        arena_clear(&job);
        assert_int_equal(b->device->kept.count, 0);
        bench_destroy(b);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "work"), test_order, test_writes, test_two_sequences,
                     test_bounded_by_seconds, test_wrong_predictions, test_no_wait_between, test_first_error_is_kept,
                     test_cancel, test_drivers_that_hang, test_a_room_has_a_budget, test_rooms_within_a_room,
                     test_rooms_that_fail, test_uploads, test_a_device_keeps_buffers, test_kept_buffers_make_way,
                     test_what_is_not_kept);
}
