/* Fourier transforms on fake devices: which library is taken, what is kept of plans, what becomes
 * of wrong ones, of late ones and of such as fail. */
#include "support.h"

#include "clock.h"
#include "device_list.h"
#include "engine/command_sequence.h"
#include "engine/driver_thread.h"
#include "fake_device.h"
#include "fft.h"
#include "memory/arena.h"
#include "watch.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    static const size_t least[] = {0, 1, 2, 3, 11, 13, 96, 97, 127, 129, 211, 257, 513, 641, 1001};
    static const size_t good[] = {2, 2, 2, 4, 12, 14, 96, 98, 128, 140, 216, 270, 540, 648, 1008};
    const size_t n[3] = {7, 5, 3};
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        assert_int_equal(fft_good_size(least[i]), good[i]);
    assert_int_equal(fft_pitch(n, false), 7);
    assert_int_equal(fft_pitch(n, true), 8);
    assert_int_equal(fft_mesh_bytes(n, false), 4 * 7 * 15);
    assert_int_equal(fft_mesh_bytes(n, true), 4 * 8 * 15);
    assert_int_equal(fft_spectrum_bytes(n), 4 * 8 * 15);
    assert_float_equal(fft_least_bytes(n, NULL), 6 * 4 * 105, 0);
}

static bool clfft_alone(const dev_info *info, size_t i, dev_fft_library *library)
{
    library->name = "clfft";
    return i == 0;
}

/* What is known to go wrong is not even tried, and good sizes are others. */
static void test_known_trouble(void **state)
{
    const dev_backend backend = {.name = "opencl", .common_options = "", .fft_library = clfft_alone};
    dev_info info = {.backend = &backend, .platform = "Intel(R) OpenCL"};
    const size_t least[3] = {127, 128, 128};
    const fft_wish wish = {.n = {128, 128, 128}}, next = {.n = {128, 128, 140}};
    fft_prediction p;
    size_t n[3];
    support_fresh_cache();
    fft_good_sizes(&info, least, n);
    assert_true(n[0] == 128 && n[1] == 128 && n[2] == 140);
    assert_false(fft_predict(&info, &wish, &p));
    assert_true(fft_predict(&info, &next, &p));
    snprintf(info.platform, sizeof info.platform, "another");
    fft_good_sizes(&info, least, n);
    assert_true(n[0] == 128 && n[1] == 128 && n[2] == 128);
    assert_true(fft_predict(&info, &wish, &p));
    assert_string_equal(p.library, "clfft");
}

/* ---- A fake device --------------------------------------------------------------------------- */

typedef struct faked {
    fake_plan plan;
    dev_list list;
    dev *device;
} faked;

static faked *open_fake(fake_plan plan)
{
    faked *f = calloc(1, sizeof *f);
    ley_error error = {0};
    assert_non_null(f);
    f->plan = plan;
    f->plan.name = "F";
    fake_devices_begin(&f->plan, 1);
    assert_ok(dev_list_create(&f->list, &error));
    assert_ok(f->list.infos[0].backend->open(&f->list.infos[0], &f->device, &error));
    return f;
}

static void close_fake(faked *f)
{
    assert_int_equal(f->plan.live_objects, 0);
    f->device->backend->close(f->device);
    dev_list_clear(&f->list);
    fake_devices_end();
    free(f);
}

static const fft_wish small = {.n = {6, 5, 4}};

/* Nothing is known of its libraries, and nothing kept. */
static void forget(faked *f)
{
    support_fresh_cache();
    fft_plant_costs(f->device->info, "alpha", false, small.n, NULL);
    fft_plant_costs(f->device->info, "beta", false, small.n, NULL);
    fft_plant_costs(f->device->info, "beta", true, small.n, NULL);
}

/* What is taken for a wish; its plan has ended. */
static dev_fft take(faked *f, const fft_wish *wish)
{
    dev_fft fft;
    ley_error error = {0};
    assert_ok(fft_create(f->device, wish, &fft, &error));
    const dev_fft taken = fft;
    fft_destroy(&fft);
    assert_null(fft.plan);
    return taken;
}

static void assert_refused(faked *f, const fft_wish *wish, const char *why)
{
    dev_fft fft;
    ley_error error = {0};
    const ley_status status = fft_create(f->device, wish, &fft, &error);
    assert_int_equal(status, LEY_ERROR_NO_DEVICE);
    assert_null(fft.plan);
    if (strstr(error.message, why) == NULL)
        print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, why));
    ley_error_clear(&error);
}

static void plant(faked *f, const char *library, bool tables, double prepare_s, double byte_s)
{
    const double seconds[] = {[COST_FFT_PREPARE] = prepare_s, [COST_FFT_BYTE] = byte_s};
    fft_plant_costs(f->device->info, library, tables, small.n, seconds);
}

static void test_the_cheapest_is_taken(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.run_us = 2880}, {.run_us = 3}}});
    fft_wish few = small, many = small;
    forget(f);
    plant(f, "alpha", false, 0.1, 1e-6); /* 2,880 bytes, one way */
    plant(f, "beta", false, 10, 1e-9);
    plant(f, "beta", true, 11, 1e-9);
    many.transforms = 1e5;
    fft_prediction p;
    assert_true(fft_predict(f->device->info, &few, &p));
    assert_string_equal(p.library, "alpha");
    assert_float_equal(p.prepare_s, 0.1, 1e-12);
    assert_float_equal(p.transform_s, 2880e-6, 1e-9);
    assert_false(p.is_measured);
    assert_true(fft_predict(f->device->info, &many, &p));
    assert_string_equal(p.library, "beta");
    assert_string_equal(take(f, &few).library, "alpha");
    assert_string_equal(take(f, &many).library, "beta");
    few.library = "beta"; /* whatever it costs */
    assert_string_equal(take(f, &few).library, "beta");
    few.library = "gamma";
    assert_refused(f, &few, "there is no gamma for devices by fake: take alpha, beta");
    few.library = "cufft";
    assert_refused(f, &few, "take alpha, beta, or a device by cuda (leyden devices lists those that are usable");
    close_fake(f);
}

/* What has been measured counts from then on: of this size, and, half-way to what is much longer
 * than what was known, of those like it. */
static void test_costs_are_learnt(void **state)
{
    faked *f =
        open_fake((fake_plan){.fft_libraries = 2, .fft = {{.prepare_us = 30000, .run_us = 500000}, {.run_us = 100}}});
    fft_prediction p;
    forget(f);
    plant(f, "alpha", false, 1e-3, 1e-9);
    plant(f, "beta", false, 1, 1e-9);
    plant(f, "beta", true, 2, 1e-9);
    const dev_fft first = take(f, &small);
    assert_string_equal(first.library, "alpha");
    assert_float_equal(first.forward_s, 0.5, 1e-6);
    assert_float_equal(first.back_s, 0.5, 1e-6);
    assert_true(first.cold_s >= 0.03);
    const fft_wish similar = {.n = {5, 5, 5}, .library = "alpha"};
    assert_true(fft_predict(f->device->info, &similar, &p));
    assert_false(p.is_measured);
    const size_t none[3] = {0, 0, 0};
    const double found = 0.5 / fft_least_bytes(small.n, none);
    assert_float_equal(p.transform_s, sqrt(1e-9 * found) * fft_least_bytes(similar.n, none), 1e-9);
    fft_wish wish = small;
    wish.transforms = 10;
    assert_string_equal(take(f, &wish).library, "beta");
    assert_true(fft_predict(f->device->info, &wish, &p));
    assert_true(p.is_measured);
    assert_string_equal(p.library, "beta");
    assert_float_equal(p.transform_s, 1e-4, 1e-9);
    close_fake(f);
}

/* A library that has none of so many nodes is passed over, and refused where it is the only one. */
static void test_the_most_values(void **state)
{
    const uint64_t values = fft_mesh_bytes(small.n, true) / sizeof(float);
    faked *f =
        open_fake((fake_plan){.fft_libraries = 2, .fft = {{.most_values = values - 1}, {.most_values = values}}});
    fft_wish of_alpha = small;
    forget(f);
    plant(f, "alpha", false, 1e-3, 1e-12);
    of_alpha.library = "alpha";
    assert_true(fft_most_values(f->device->info) == values);
    assert_string_equal(take(f, &small).library, "beta");
    assert_refused(f, &of_alpha, "alpha: it has none of so many nodes");
    close_fake(f);
    f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.most_values = values}, {.unusable = "it is not there"}}});
    assert_true(fft_most_values(f->device->info) == values);
    close_fake(f);
    f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.most_values = values}}});
    assert_true(fft_most_values(f->device->info) == UINT64_MAX);
    close_fake(f);
    f = open_fake((fake_plan){.fft_libraries = 0});
    assert_true(fft_most_values(f->device->info) == 0);
    close_fake(f);
}

/* What preparing a plan took the first time is not what it takes from what is kept of it. */
static void test_what_is_kept_is_taken_again(void **state)
{
    faked *f =
        open_fake((fake_plan){.fft_libraries = 2, .fft = {{.prepare_us = 200000, .run_us = 100}, {.run_us = 100}}});
    fft_prediction p;
    forget(f);
    plant(f, "alpha", false, 1e-3, 1e-9);
    plant(f, "beta", false, 0.1, 1e-9);
    plant(f, "beta", true, 0.1, 1e-9);
    const dev_fft first = take(f, &small);
    assert_string_equal(first.library, "alpha");
    assert_true(first.cold_s >= 0.2);
    assert_true(fft_predict(f->device->info, &small, &p) && p.is_measured && p.prepare_s < 0.1 * first.cold_s);
    assert_string_equal(take(f, &small).library, "alpha");
    close_fake(f);
}

/* So does what jobs find, where the test had waited for more than the transform; a little less, or
 * more, is noise. */
static void test_jobs_are_learnt_from(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 1, .fft = {{.run_us = 1000}}});
    fft_prediction p;
    forget(f);
    const dev_fft fft = take(f, &small);
    const fft_wish similar = {.n = {5, 5, 5}};
    fft_learn(&fft, 0.9e-3, 0.8e-3);
    fft_learn(&fft, 5e-3, 5e-3);
    fft_learn(&fft, 0, 0);
    assert_true(fft_predict(f->device->info, &small, &p) && p.is_measured);
    assert_float_equal(p.transform_s, 1e-3, 1e-9);
    fft_learn(&fft, 1e-4, 3e-4);
    assert_true(fft_predict(f->device->info, &small, &p) && p.is_measured);
    assert_float_equal(p.transform_s, 2e-4, 1e-9);
    assert_true(fft_predict(f->device->info, &similar, &p) && !p.is_measured);
    assert_float_equal(p.transform_s, 2e-4 / 120 * 125, 1e-5);
    const dev_fft again = take(f, &small); /* the plan is still kept */
    assert_true(again.from_cache);
    assert_float_equal(again.forward_s, 1e-4, 1e-9);
    close_fake(f);
}

static void test_what_is_cached_is_not_tested_again(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 1});
    forget(f);
    const dev_fft cold = take(f, &small);
    const int runs = f->plan.fft[0].runs;
    assert_false(cold.from_cache);
    assert_true(runs >= 2);
    assert_true(cold.error > 0 && cold.error < 1e-6);
    const dev_fft warm = take(f, &small);
    assert_true(warm.from_cache);
    assert_int_equal(f->plan.fft[0].runs, runs);
    assert_int_equal(f->plan.fft[0].taken, 1);
    assert_float_equal(warm.error, cold.error, 0);
    fft_wish other = small;
    other.in_place = true; /* another plan */
    assert_false(take(f, &other).from_cache);
    other = small;
    other.n[1]++;
    assert_false(take(f, &other).from_cache);
    other = small;
    other.is_fresh = true;
    assert_false(take(f, &other).from_cache);
    close_fake(f);
    f = open_fake((fake_plan){.fft_libraries = 1, .quirks = DEV_QUIRK_NO_BINARY});
    for (int i = 0; i < 2; i++)
        assert_false(take(f, &small).from_cache);
    close_fake(f);
}

/* A library of which nothing can be kept: its plan is prepared anew, and has passed. */
static void test_plans_that_cannot_be_kept(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 2});
    fft_wish wish = small;
    forget(f);
    wish.library = "beta";
    wish.tables = FFT_TABLES_NO;
    assert_false(take(f, &wish).from_cache);
    const int runs = f->plan.fft[1].runs;
    assert_true(take(f, &wish).from_cache);
    assert_int_equal(f->plan.fft[1].runs, runs);
    assert_int_equal(f->plan.fft[1].taken, 0);
    assert_int_equal(f->plan.fft[1].plans, 2);
    close_fake(f);
}

/* Changes a byte of each entry of the cache that is as large as one of a plan, or larger. */
static void spoil_cache(size_t at_from_end)
{
    char folder[600], path[1000];
    snprintf(folder, sizeof folder, "%s/leyden", getenv("LEYDEN_CACHE_DIR"));
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strlen(entry->d_name) != 64)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, -(long)at_from_end, SEEK_END), 0);
        const int c = fgetc(file);
        assert_int_equal(fseek(file, -(long)at_from_end, SEEK_END), 0);
        fputc(c ^ 0x20, file);
        fclose(file);
    }
    closedir(directory);
}

static void test_a_damaged_entry_is_a_miss(void **state)
{
    for (size_t at = 1; at <= 16; at += 3) {
        faked *f = open_fake((fake_plan){.fft_libraries = 1});
        forget(f);
        take(f, &small);
        assert_true(take(f, &small).from_cache);
        spoil_cache(at);
        const int runs = f->plan.fft[0].runs;
        assert_false(take(f, &small).from_cache);
        assert_true(f->plan.fft[0].runs > runs);
        assert_true(take(f, &small).from_cache);
        close_fake(f);
    }
}

/* Another version of a library, in whose plans this one finds nothing, has another key; one that
 * takes no plan from the cache prepares it anew. */
static void test_what_a_library_does_not_take_is_made_anew(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 1});
    forget(f);
    take(f, &small);
    f->plan.fft[0].fail_taking = true;
    assert_false(take(f, &small).from_cache);
    f->plan.fft[0].fail_taking = false;
    assert_true(take(f, &small).from_cache);
    close_fake(f);
}

static void test_a_wrong_library_is_refused(void **state)
{
    static const double wrong[] = {1e-3, 0.5, NAN, INFINITY, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            faked *f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.wrong_by = wrong[i]}}});
            fft_wish wish = small;
            forget(f);
            plant(f, "alpha", false, 1e-4, 1e-12);
            wish.in_place = in_place;
            assert_string_equal(take(f, &wish).library, "beta");
            assert_int_equal(f->plan.fft[0].plans, 1);
            assert_string_equal(take(f, &wish).library, "beta");
            assert_int_equal(f->plan.fft[0].plans, 1); /* known to be wrong */
            wish.library = "alpha";
            assert_refused(f, &wish, "its known answer was wrong");
            wish.is_fresh = true;
            assert_refused(f, &wish,
                           isfinite(wrong[i]) ? "alpha: of the known answer of 6 x 5 x 4, the spectrum is off by"
                                              : "alpha: of the known answer of 6 x 5 x 4, the spectrum has no numbers");
            assert_int_equal(f->plan.fft[0].plans, 2);
            close_fake(f);
        }
}

/* One that leaves out or spoils a single value. */
static void test_a_single_wrong_value_is_found(void **state)
{
    for (int way = 1; way <= 3; way++)
        for (int place = 0; place < 2; place++) {
            faked *f = open_fake((fake_plan){.fft_libraries = 1, .fft = {{.spoil = way, .spoil_last = place == 1}}});
            forget(f);
            assert_refused(f, &small, way == 1 ? "the spectrum" : way == 2 ? "the way back" : "the mesh left there");
            close_fake(f);
        }
}

static void test_tables_where_digits_are_asked_for(void **state)
{
    faked *f = open_fake(
        (fake_plan){.fft_libraries = 2, .fft = {{.unusable = "not today"}, {.wrong_by = 3e-6, .tables_by = 3e-7}}});
    fft_wish wish = small;
    forget(f);
    plant(f, "beta", false, 1e-3, 1e-12);
    plant(f, "beta", true, 1e-2, 1e-11);
    dev_fft fft = take(f, &wish);
    assert_false(fft.tables);
    assert_float_equal(fft.error, 3e-6, 2e-6);
    wish.most_error = 1e-6;
    fft = take(f, &wish);
    assert_true(fft.tables);
    assert_true(fft.error < 1e-6);
    wish.most_error = 1e-7;
    assert_refused(f, &wish, "beta with tables: its error is ");
    wish.most_error = 0;
    wish.tables = FFT_TABLES_YES;
    assert_true(take(f, &wish).tables);
    wish.library = "alpha";
    wish.tables = FFT_TABLES_ANY;
    assert_refused(f, &wish, "alpha: not today");
    close_fake(f);
    /* Nothing is tried in vain where digits are asked for, and nothing is known yet. */
    f = open_fake(
        (fake_plan){.fft_libraries = 2, .fft = {{.unusable = "not today"}, {.wrong_by = 3e-6, .tables_by = 3e-7}}});
    forget(f);
    wish = small;
    wish.most_error = 1e-6;
    assert_true(take(f, &wish).tables);
    assert_int_equal(f->plan.fft[1].plans, 1);
    close_fake(f);
}

static void test_a_device_without_any(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 0});
    char why[256];
    fft_prediction p;
    assert_false(fft_is_there(f->device->info, why, sizeof why));
    assert_non_null(strstr(why, "has no Fourier transforms"));
    assert_false(fft_predict(f->device->info, &small, &p));
    assert_refused(f, &small, "there is no library");
    close_fake(f);
    f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.unusable = "not today"}, {.unusable = "too old"}}});
    assert_false(fft_is_there(f->device->info, why, sizeof why));
    assert_string_equal(why, "alpha: not today; beta: too old");
    assert_refused(f, &small, "alpha: not today; beta: too old");
    close_fake(f);
}

static void test_what_fails_is_not_taken(void **state)
{
    const struct {
        struct fake_fft alpha;
        const char *says;
    } cases[] = {{{.fail_plan = 1}, "fake_fft_plan()"},
                 {{.fail_run = 1}, "fake_fft_run()"},
                 {{.fail_run = 2}, "fake_fft_run()"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        faked *f = open_fake((fake_plan){.fft_libraries = 2, .fft = {cases[i].alpha}});
        fft_wish wish = small;
        forget(f);
        plant(f, "alpha", false, 1e-4, 1e-12);
        assert_string_equal(take(f, &wish).library, "beta");
        wish.library = "alpha";
        assert_refused(f, &wish, cases[i].says);
        f->plan.fft[0].fail_plan = f->plan.fft[0].fail_run = 0; /* it may be well again: that is not remembered */
        assert_string_equal(take(f, &wish).library, "alpha");
        close_fake(f);
    }
}

static void test_what_makes_no_sense(void **state)
{
    faked *f =
        open_fake((fake_plan){.fft_libraries = 1, .fft = {{.scratch_bytes = 64}}, .max_allocation_bytes = 1 << 20});
    dev_buffer *buffer = NULL, *other = NULL;
    dev_event *done = NULL;
    dev_fft fft;
    ley_error error = {0};
    fft_wish wish = {.n = {4, 0, 4}};
    forget(f);
    assert_int_equal(fft_create(f->device, &wish, &fft, &error), LEY_ERROR_USAGE);
    wish.n[1] = (size_t)1 << 30;
    assert_refused(f, &wish, "the device's largest buffer is 1.0 MiB");
    wish = (fft_wish){.n = {SIZE_MAX / 2, SIZE_MAX / 2, SIZE_MAX / 2}};
    assert_refused(f, &wish, "the device's largest buffer");
    ley_error_clear(&error);
    assert_ok(fft_create(f->device, &small, &fft, &error));
    assert_ok(f->device->backend->buffer_create(f->device, 4096, DEV_READ_WRITE, &buffer, &error));
    assert_ok(f->device->backend->buffer_create(f->device, 4096, DEV_READ_WRITE, &other, &error));
    assert_error(fft_start(&fft, true, buffer, buffer, other, &done, &error), LEY_ERROR_DEVICE,
                 "a transform out of place was given one buffer");
    ley_error_clear(&error);
    assert_error(fft_start(&fft, true, buffer, other, NULL, &done, &error), LEY_ERROR_DEVICE,
                 "needs 64 bytes of scratch");
    ley_error_clear(&error);
    f->device->backend->buffer_destroy(f->device, buffer);
    f->device->backend->buffer_destroy(f->device, other);
    fft_destroy(&fft);
    fft_destroy(&fft);
    close_fake(f);
}

/* ---- Late, cancelled ------------------------------------------------------------------------- */

typedef struct errand {
    dev *device;
    ley_status status;
    ley_error error;
    dev_fft fft;
    atomic_bool is_done;
} errand;

static void create_one(void *context)
{
    errand *e = context;
    e->status = fft_create(e->device, &small, &e->fft, &e->error);
    fft_destroy(&e->fft);
}

static void note_done(void *context)
{
    atomic_store(&((errand *)context)->is_done, true);
}

/* Nobody waits for a plan that is late: its thread comes to its end by itself, and no library is
 * tried any more. */
static void test_a_late_plan_is_let_go(void **state)
{
    faked *f = open_fake((fake_plan){.fft_libraries = 2, .fft = {{.prepare_us = 300000}, {.prepare_us = 300000}}});
    static errand e;
    driver_thread *h = driver_thread_create();
    forget(f);
    e = (errand){.device = f->device};
    plant(f, "alpha", false, 1e-4, 1e-12);
    driver_thread_give(h, create_one, &e);
    fake_devices_wait(&f->plan.fft[0].plans, 1);
    const double start_s = ley_clock_s();
    assert_true(driver_thread_dismiss(h, true, note_done, &e));
    assert_true(ley_clock_s() - start_s < 0.2);
    while (!atomic_load(&e.is_done))
        usleep(1000);
    assert_int_equal(e.status, LEY_CANCELLED);
    assert_int_equal(f->plan.fft[0].plans, 1);
    assert_int_equal(f->plan.fft[1].plans, 0);
    ley_error_clear(&e.error);
    close_fake(f);
}

/* A plan in a sequence of operations: in order, counted as a launch, not begun when cancelled. */
static void test_sequence(void **state)
{
    enum { VALUES = 6 * 5 * 4, BYTES = VALUES * 4 };
    faked *f = open_fake((fake_plan){.fft_libraries = 1, .fft = {{.run_us = 2000}}});
    flight one = {.device = f->device};
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    atomic_bool cancelled = false;
    float values[VALUES];
    arena own = {.device = f->device};
    dev_buffer *mesh, *spectrum;
    dev_staging *staging;
    dev_fft fft;
    forget(f);
    assert_ok(fft_create(f->device, &small, &fft, &error));
    assert_ok(arena_buffer(&own, BYTES, DEV_READ_WRITE, &mesh, &error));
    assert_ok(arena_buffer(&own, fft_spectrum_bytes(small.n), DEV_READ_WRITE, &spectrum, &error));
    assert_ok(arena_staging(&own, BYTES, &staging, &error));
    for (int i = 0; i < VALUES; i++)
        values[i] = (float)(i % 7) - 3;
    const int runs = f->plan.fft[0].runs;
    sequence_begin(&w, &one, &cancelled);
    sequence_write(&w, mesh, 0, values, BYTES);
    sequence_fft(&w, &fft, true, mesh, spectrum, NULL);
    sequence_fill(&w, mesh, 0, DEV_NO_NUMBERS, BYTES);
    sequence_fft(&w, &fft, false, spectrum, mesh, NULL);
    sequence_read(&w, mesh, 0, staging, BYTES);
    assert_ok(sequence_finish(&w, &error));
    for (int i = 0; i < VALUES; i++)
        assert_float_equal(((const float *)staging->bytes)[i] / VALUES, values[i], 1e-5);
    assert_int_equal(w.times.unpredicted, 0);
    assert_float_equal(w.times.predicted_s, fft.forward_s + fft.back_s, 1e-12);
    assert_float_equal(w.times.kernel_s, 4e-3, 1e-6);
    assert_int_equal(f->plan.fft[0].runs, runs + 2);
    sequence_begin(&w, &one, &cancelled);
    sequence_fft(&w, &fft, true, mesh, spectrum, NULL);
    atomic_store(&cancelled, true);
    sequence_fft(&w, &fft, false, spectrum, mesh, NULL);
    assert_int_equal(sequence_finish(&w, NULL), LEY_CANCELLED);
    assert_int_equal(f->plan.fft[0].runs, runs + 3);
    sequence_end(&w);
    arena_clear(&own);
    fft_destroy(&fft);
    close_fake(f);
}

/* ---- A driver that leaves something out ------------------------------------------------------ */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* In a process of its own, with the fault before the driver: what is wrong is refused, and another
 * way taken. */
static int child(void)
{
    const fft_wish wish = {.n = {8, 6, 4}, .in_place = true, .library = "vkfft"};
    dev_list list;
    dev *device = NULL;
    dev_fft fft;
    ley_error error = {0};
    if (dev_list_create(&list, &error) != LEY_OK)
        return 2;
    if (list.count == 0)
        return 0;
    if (list.infos[0].backend->open(&list.infos[0], &device, &error) != LEY_OK)
        return 2;
    fft_prediction first;
    if (!fft_predict(device->info, &wish, &first))
        return 4;
    const ley_status status = fft_create(device, &wish, &fft, &error);
    if (status != LEY_OK)
        printf("%s\n", error.message);
    const bool is_other = status == LEY_OK && fft.tables != first.tables;
    fft_destroy(&fft);
    device->backend->close(device);
    return is_other ? 0 : 3;
}

static void test_a_driver_that_leaves_something_out(void **state)
{
    static const char *const faults[] = {"call=clEnqueueNDRangeKernel,at=2,fault=skip",
                                         "call=clEnqueueReadBuffer,at=1,fault=slight"};
    char self[512], shim[600];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(shim, sizeof shim, "%s", self);
    snprintf(strrchr(shim, '/'), 64, "/faulty_opencl/faulty_opencl.so");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += support_is_quick() ? 2 : 1) {
        int status = 0;
        support_fresh_cache();
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0) {
            setenv("LD_PRELOAD", shim, 1);
            setenv("FAULTY_OPENCL", faults[i], 1);
            execl(self, self, "child", (char *)NULL);
            _exit(127);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}
#endif

int main(int argc, char **argv)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return child();
#else
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_known_trouble),
        cmocka_unit_test(test_the_cheapest_is_taken),
        cmocka_unit_test(test_costs_are_learnt),
        cmocka_unit_test(test_the_most_values),
        cmocka_unit_test(test_what_is_kept_is_taken_again),
        cmocka_unit_test(test_jobs_are_learnt_from),
        cmocka_unit_test(test_what_is_cached_is_not_tested_again),
        cmocka_unit_test(test_plans_that_cannot_be_kept),
        cmocka_unit_test(test_a_damaged_entry_is_a_miss),
        cmocka_unit_test(test_what_a_library_does_not_take_is_made_anew),
        cmocka_unit_test(test_a_wrong_library_is_refused),
        cmocka_unit_test(test_a_single_wrong_value_is_found),
        cmocka_unit_test(test_tables_where_digits_are_asked_for),
        cmocka_unit_test(test_a_device_without_any),
        cmocka_unit_test(test_what_fails_is_not_taken),
        cmocka_unit_test(test_what_makes_no_sense),
        cmocka_unit_test(test_a_late_plan_is_let_go),
        cmocka_unit_test(test_sequence),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_a_driver_that_leaves_something_out),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
