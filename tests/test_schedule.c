/* The scheduler and the engine on devices that fail on demand: slabs come back, jobs finish,
 * reasons are told. */
#include "support.h"

#include "build_cache.h"
#include "calibration.h"
#include "clock.h"
#include "core/deal.h"
#include "fake_job.h"
#include "schedule/device_run.h"
#include "schedule/slab_queue.h"
#include "watch.h"

#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

/* A device whose calibration cannot be right is not used, and nobody finds its calibration
 * later. */
static int allowed; /* calls that have memory; -1: all */

static void *bounded_realloc(void *bytes, size_t size)
{
    return allowed-- == 0 ? NULL : realloc(bytes, size);
}

static void small_slabs(support_options *options)
{
    options->slab_planes = 1;
}

/* There is no memory for what is to be said of slabs, once: a device alone ends the job by that; of
 * two, the other one goes on. Nothing is looked for where there is nothing. */
static void test_no_memory_for_the_slabs_reports(void **state)
{
    device_run_realloc_replace(bounded_realloc);
    for (int i = 0; i < 3; i++) {
        fake_plan one = {.name = "A"}, two[] = {{.name = "A"}, {.name = "B"}};
        allowed = i;
        support_job o = fake_job_run(&one, 1, "all", small_slabs);
        assert_int_equal(o.status, LEY_ERROR_MEMORY);
        assert_non_null(strstr(o.error.message, "A: "));
        assert_non_null(strstr(o.error.message, "the slabs' reports"));
        fake_job_end(&o);
        assert_int_equal(one.live_objects, 0);
        allowed = i;
        o = fake_job_run(two, 2, "all", small_slabs);
        if (o.status == LEY_OK) { /* else the other one came too late */
            fake_job_assert_right(&o);
            assert_int_equal(ley_job_report(o.job)->slab_count, 24);
        } else {
            assert_int_equal(o.status, LEY_ERROR_MEMORY);
        }
        fake_job_end(&o);
    }
    device_run_realloc_replace(NULL);
}

static void test_wrong_roots_are_not_kept(void **state)
{
    fake_plan plans[] = {{.name = "A", .wrong_root = 0.001}};
    for (int healed = 0; healed < 2; healed++) {
        support_job o = fake_job_run(plans, 1, "all", healed ? fake_job_old_cache : NULL);
        assert_int_equal(o.status, healed ? LEY_OK : LEY_ERROR_WRONG_RESULT);
        if (healed)
            assert_string_equal(ley_job_report(o.job)->devices[0].root, "rsqrt");
        else
            assert_non_null(strstr(o.error.message, "A: calibration failed: its square roots are off by 0.001"));
        fake_job_end(&o);
        plans[0].wrong_root = 0;
    }
}

static void want_double(support_options *options)
{
    options->sum = LEY_SUM_DOUBLE;
}

static void test_double_only_where_there_is_double(void **state)
{
    fake_plan without[] = {{.name = "Single"}};
    support_job o = fake_job_run(without, 1, "all", want_double);
    assert_int_equal(o.status, LEY_ERROR_NO_DEVICE);
    assert_string_equal(o.error.message, "Single: the device has no double precision");
    fake_job_end(&o);
    fake_plan mixed[] = {{.name = "Single"}, {.name = "Double", .has_double = true}};
    o = fake_job_run(mixed, 2, "all", want_double);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    fake_job_assert_right(&o);
    assert_true(ley_job_report(o.job)->devices[1].share == 1);
    fake_job_end(&o);
}

/* Nobody named a device: the fastest by its calibration; when that one fails, the next. */
static void test_the_default_device(void **state)
{
    fake_plan plans[] = {
        {.name = "slow", .speed = 0.5}, {.name = "fast", .speed = 4}, {.name = "middling", .speed = 2}};
    watch_patience_replace(&fake_job_patient);
    support_job o = fake_job_run(plans, 3, NULL, NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    assert_int_equal(ley_job_report(o.job)->device_count, 1);
    assert_string_equal(ley_job_report(o.job)->devices[0].device->name, "fast");
    fake_job_end(&o);
    fake_plan fickle[] = {{.name = "slow", .speed = 0.5},
                          {.name = "fast", .speed = 4, .wrong_by = 0.01},
                          {.name = "middling", .speed = 2, .fail_launch = 8}};
    o = fake_job_run(fickle, 3, NULL, NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    fake_job_assert_right(&o);
    const ley_report *r = ley_job_report(o.job);
    assert_int_equal(r->device_count, 3);
    assert_int_equal(r->devices[0].status, LEY_ERROR_WRONG_RESULT);
    assert_int_equal(r->devices[1].status, LEY_ERROR_DEVICE);
    assert_true(r->devices[1].slabs > 0 && r->devices[2].slabs > 0);
    fake_job_end(&o);
    watch_patience_replace(NULL);
}

/* A processor beside a card that is clearly faster by what drivers say is not measured; where the
 * card fails, it is used. */
static void test_processors_beside_a_card(void **state)
{
    watch_patience_replace(&fake_job_patient);
    for (int is_small = 0; is_small < 2; is_small++)
        for (int fails = 0; fails < 2; fails++) {
            fake_plan plans[] = {
                {.name = "processor", .device_class = DEV_CPU, .speed = 1000, .compute_units = 16, .clock_MHz = 3000},
                {.name = "card", .device_class = DEV_GPU, .compute_units = is_small ? 8 : 100, .clock_MHz = 2000},
            };
            plans[1].fail_launch = fails ? 8 : 0;
            support_job o = fake_job_run(plans, 2, NULL, NULL);
            assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
            fake_job_assert_right(&o);
            const ley_report *r = ley_job_report(o.job);
            assert_string_equal(r->devices[0].device->name, is_small ? "processor" : "card");
            assert_int_equal(r->device_count, !is_small && fails ? 2 : 1);
            if (!is_small && !fails)
                assert_int_equal(plans[0].measured, 0);
            fake_job_end(&o);
        }
    watch_patience_replace(NULL);
}

/* A card that its vendor's path leads to as well is used by that one, unmeasured; where that fails,
 * by the other one. */
static void test_two_paths_to_a_card(void **state)
{
    watch_patience_replace(&fake_job_patient);
    for (int fails = 0; fails < 2; fails++) {
        fake_plan plans[] = {
            {.name = "by OpenCL", .card = "pci 1", .device_class = DEV_GPU, .speed = 1000},
            {.name = "by CUDA", .card = "pci 1", .device_class = DEV_GPU, .is_vendors = true},
        };
        plans[1].fail_launch = fails ? 8 : 0;
        support_job o = fake_job_run(plans, 2, NULL, NULL);
        assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
        fake_job_assert_right(&o);
        const ley_report *r = ley_job_report(o.job);
        assert_string_equal(r->devices[0].device->name, "by CUDA");
        assert_int_equal(r->device_count, 1 + fails);
        assert_true(fails || plans[0].measured == 0);
        fake_job_end(&o);
    }
    /* Another card is measured beside it. */
    fake_plan others[] = {
        {.name = "by OpenCL", .card = "pci 1", .device_class = DEV_GPU, .speed = 1000},
        {.name = "other", .card = "pci 2", .device_class = DEV_GPU, .speed = 4},
        {.name = "by CUDA", .card = "pci 1", .device_class = DEV_GPU, .is_vendors = true},
    };
    support_job o = fake_job_run(others, 3, NULL, NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    assert_string_equal(ley_job_report(o.job)->devices[0].device->name, "other");
    assert_int_equal(others[0].measured, 0);
    assert_true(others[1].measured != 0 && others[2].measured != 0);
    fake_job_end(&o);
    watch_patience_replace(NULL);
}

static void many_planes(support_options *options)
{
    options->slab_planes = 0;
}

/* Buffers that hold 16 padded planes of 24: slabs, without anyone asking. Not even one plane:
 * refused, with the numbers. */
static void test_small_memory(void **state)
{
    fake_plan small[] = {{.name = "small", .device_class = DEV_OTHER, .max_allocation_bytes = 64 << 10}};
    support_job o = fake_job_run(small, 1, "all", many_planes);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    fake_job_assert_right(&o);
    assert_int_equal(ley_job_report(o.job)->slab_count, 2);
    ley_map *wide = NULL;
    ley_job *job = NULL;
    support_options options = support_default_options();
    assert_ok_at(ley_map_create(&(ley_grid){{0}, LEY_STEPS(1, 1, 1), {200, 200, 1}}, &wide, &o.error), &o.error, "map",
                 __FILE__, __LINE__);
    assert_int_equal(support_job_create(o.engine, o.atoms, wide, &options, &job, NULL), LEY_OK);
    assert_int_equal(ley_job_run(job, &o.error), LEY_ERROR_NO_DEVICE);
    assert_non_null(strstr(o.error.message, "one plane of the grid needs"));
    ley_job_destroy(job);
    ley_map_destroy(wide);
    fake_job_end(&o);
}

/* One slab of many launches: cancelling does not wait for all of them. Nor does it wait for a
 * verification. */
static void test_cancel_within_a_slab(void **state)
{
    ley_error error = {0};
    fake_plan plans[] = {{.name = "A", .constant_bytes = 1024, .delay_us = 10000}}; /* 64 atoms per launch */
    support_fresh_cache();
    fake_devices_begin(plans, 1);
    support_job o = {.atoms = support_atoms(64 * 100, 0, 8, 7)};
    const ley_grid point = {{0, 0, 0}, LEY_STEPS(1, 1, 1), {1, 1, 1}};
    support_options options = support_default_options();
    options.variant = "simple";
    assert_ok(ley_map_create(&point, &o.map, &error));
    assert_ok(ley_engine_create("all", &o.engine, &error));
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &options, &o.job, &error));
    const pthread_t thread = support_cancel_later(o.job, 30000);
    assert_int_equal(ley_job_run(o.job, &error), LEY_CANCELLED);
    pthread_join(thread, NULL);
    assert_true(plans[0].launches < 159 + 40);                          /* 159 of the self-test, and a few of 100 */
    assert_int_equal(ley_job_report(o.job)->devices[0].status, LEY_OK); /* no fault of the device */
    assert_true(ley_job_report(o.job)->evaluations_per_s == 0);
    ley_error_clear(&error);
    fake_job_end(&o);
    assert_int_equal(plans[0].live_objects, 0);
}

/* The user names no device; the first one breaks, the next one does not even open: both reasons are
 * told, with names. */
static void test_reasons_of_a_failover(void **state)
{
    fake_plan plans[] = {{.name = "first", .speed = 4, .fail_launch = 7},
                         {.name = "second", .speed = 2, .fail_open = 2}};
    watch_patience_replace(&fake_job_patient);
    support_job o = fake_job_run(plans, 2, NULL, NULL);
    assert_int_equal(o.status, LEY_ERROR_DEVICE);
    assert_non_null(strstr(o.error.message, "first: fake_launch()"));
    assert_non_null(strstr(o.error.message, "second: fake_open()"));
    assert_int_equal(ley_job_report(o.job)->devices[1].status, LEY_ERROR_DEVICE);
    fake_job_end(&o);
    watch_patience_replace(NULL);
}

static void test_selectors(void **state)
{
    static const struct {
        const char *selector;
        size_t devices;
        ley_status status;
    } cases[] = {{"all", 3, LEY_OK},
                 {"0", 1, LEY_OK},
                 {"2,0", 2, LEY_OK},
                 {"gpu", 1, LEY_OK},
                 {"cpu", 2, LEY_OK},
                 {"FAKE", 3, LEY_OK},
                 {"xeon", 2, LEY_OK},
                 {"Phi, 0", 2, LEY_OK},
                 {"3", 0, LEY_ERROR_USAGE},
                 {"", 0, LEY_ERROR_USAGE},
                 {"0,nix", 0, LEY_ERROR_USAGE},
                 {"xeon,0,cpu", 2, LEY_OK},
                 {",", 0, LEY_ERROR_USAGE},
                 {"-1", 0, LEY_ERROR_USAGE},
                 {"phi, ", 0, LEY_ERROR_USAGE},
                 {" phi , voodoo ", 2, LEY_OK}};
    fake_plan plans[] = {{.name = "Xeon", .device_class = DEV_CPU},
                         {.name = "Xeon Phi", .device_class = DEV_CPU},
                         {.name = "Voodoo", .device_class = DEV_GPU}};
    fake_devices_begin(plans, 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ley_engine *engine = NULL;
        ley_error error = {0};
        assert_int_equal(ley_engine_create(cases[i].selector, &engine, &error), cases[i].status);
        if (cases[i].status == LEY_OK)
            assert_int_equal(ley_engine_device_count(engine), cases[i].devices);
        else
            assert_true(error.message[0] != '\0');
        ley_engine_destroy(engine);
        ley_error_clear(&error);
    }
    fake_devices_end();
}

/* One card with two paths has one number, is used once, by the path asked for or the one that
 * works. */
static void test_two_paths_to_one_card(void **state)
{
    fake_plan plans[] = {{.name = "Card", .card = "pci 0000:01:00"},
                         {.name = "Other"},
                         {.name = "Card again", .card = "pci 0000:01:00"}};
    ley_device_list *list = NULL;
    ley_engine *engine = NULL;
    support_fresh_cache();
    fake_devices_begin(plans, 3);
    assert_int_equal(ley_device_list_create(&list, NULL), LEY_OK);
    assert_int_equal(ley_device_list_get(list, 0)->index, 0);
    assert_int_equal(ley_device_list_get(list, 1)->index, 1);
    assert_int_equal(ley_device_list_get(list, 2)->index, 0);
    ley_device_list_destroy(list);
    static const struct {
        const char *selector, *first;
        size_t count;
    } cases[] = {{"all", "Card", 2},           {"0", "Card", 1},       {"again", "Card again", 1},
                 {"again,0", "Card again", 1}, {"fake:1", "Other", 1}, {"fake:again", "Card again", 1},
                 {"fake:2", "Card again", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ley_engine_create(cases[i].selector, &engine, NULL), LEY_OK);
        assert_int_equal(ley_engine_device_count(engine), cases[i].count);
        assert_string_equal(ley_engine_device(engine, 0)->name, cases[i].first);
        ley_engine_destroy(engine);
    }
    assert_int_equal(ley_engine_create("cuda:0", &engine, NULL), LEY_ERROR_USAGE);
    fake_devices_end();
}

static void test_bad_options(void **state)
{
    fake_plan plans[] = {{.name = "A"}};
    support_job o = fake_job_run(plans, 1, "all", NULL);
    support_options good, bad;
    ley_job *job = NULL;
    good = support_default_options();
#define ASSERT_REFUSED(change) \
    bad = good; \
    bad.change; \
    assert_int_equal(support_job_create(o.engine, o.atoms, o.map, &bad, &job, NULL), LEY_ERROR_USAGE)
    ASSERT_REFUSED(dielectric = 0);
    ASSERT_REFUSED(dielectric = NAN);
    ASSERT_REFUSED(temperature_K = -1);
    ASSERT_REFUSED(r_min_A = 0);
    ASSERT_REFUSED(r_min_A = INFINITY);
    ASSERT_REFUSED(variant = "no such");
    ASSERT_REFUSED(slab_planes = -1);
    ASSERT_REFUSED(units = (ley_units)77);
    ASSERT_REFUSED(sum = (ley_sum)77);
#undef ASSERT_REFUSED
    fake_job_end(&o);
}

/* A struct of options that nobody has set up, or one of a later version, which may ask for what is
 * not known here. */
static void test_sizes_of_options(void **state)
{
    fake_plan plans[] = {{.name = "A"}};
    support_job o = fake_job_run(plans, 1, "all", NULL);
    ley_job *job = NULL;
    ley_error error = {0};
    ley_run_options run = support_default_run_options();
    ley_direct direct = support_default_direct();
    ley_short_range range = support_default_short_range();
    for (int step = -1; step <= 1; step += 2) {
        run.size += (size_t)step;
        assert_error(ley_job_create_direct(o.engine, o.atoms, (ley_target){.map = o.map}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE, "ley_run_options is ");
        run.size -= (size_t)step;
        direct.size += (size_t)step;
        assert_error(ley_job_create_direct(o.engine, o.atoms, (ley_target){.map = o.map}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE, "ley_direct is ");
        direct.size -= (size_t)step;
        range.size = step < 0 ? 0 : range.size + 8;
        assert_int_equal(
            ley_job_create_short_range(o.engine, o.atoms, (ley_target){.map = o.map}, &range, &run, &job, &error),
            LEY_ERROR_USAGE);
        assert_non_null(strstr(error.message, "ley_short_range is "));
        ley_short_range_default(&range);
    }
    assert_ok(ley_job_create_direct(o.engine, o.atoms, (ley_target){.map = o.map}, &direct, &run, &job, &error));
    ley_job_destroy(job);
    fake_job_end(&o);
}

/* Another program has measured the devices, and found that only this recipe will do. */
static void plant_facts(int root)
{
    char path[512];
    int planted = 0;
    snprintf(path, sizeof path, "%s/leyden", getenv("LEYDEN_CACHE_DIR"));
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        cache_key key = {""};
        size_t size = 0;
        if (strlen(entry->d_name) + 1 != sizeof key.hex)
            continue;
        memcpy(key.hex, entry->d_name, sizeof key.hex);
        calibration *facts = cache_get(&key, &size);
        if (size == sizeof *facts) {
            for (int i = 0; i < LEY_ROOT_COUNT; i++)
                facts->root_error[i] = i == root ? 1e-8 : INFINITY;
            facts->roots_per_s[root] = 1e12;
            cache_put(&key, facts, sizeof *facts);
            planted++;
        }
        free(facts);
    }
    closedir(directory);
    assert_int_equal(planted, 1);
}

/* What others measure meanwhile changes nothing for an engine that has begun, only for those that
 * follow. */
static void test_an_engine_keeps_its_facts(void **state)
{
    char own[256], roots[2][32];
    fake_plan plans[] = {{.name = "A"}};
    support_job o = fake_job_run(plans, 1, "all", NULL);
    assert_ok_at(o.status, &o.error, "job", __FILE__, __LINE__);
    snprintf(own, sizeof own, "%s", ley_job_report(o.job)->devices[0].specification);
    for (int root = 0; root < 2; root++) {
        plant_facts(root);
        snprintf(roots[root], sizeof roots[root], "-DLEY_ROOT=%d", root);
        for (int anew = 0; anew <= 1; anew++) {
            ley_error error = {0};
            ley_engine *later = NULL;
            ley_job *job = NULL;
            support_options options = support_default_options();
            if (anew)
                assert_ok(ley_engine_create("all", &later, &error));
            assert_ok(support_job_create(anew ? later : o.engine, o.atoms, o.map, &options, &job, &error));
            assert_ok(ley_job_run(job, &error));
            const char *specification = ley_job_report(job)->devices[0].specification;
            if (anew)
                assert_non_null(strstr(specification, roots[root]));
            else
                assert_string_equal(specification, own);
            ley_job_destroy(job);
            ley_engine_destroy(later);
        }
    }
    fake_job_end(&o);
}

static void test_slab_queue(void **state)
{
    slab_queue queue;
    slab s, t;
    slab_queue_init(&queue, 10);
    slab_queue_join(&queue);
    assert_true(slab_queue_take(&queue, 4, true, &s) && s.first == 0 && s.count == 4);
    assert_true(slab_queue_take(&queue, 100, true, &t) && t.first == 4 && t.count == 6);
    assert_false(slab_queue_take(&queue, 1, false, &t)); /* nothing now, perhaps later */
    assert_int_equal(slab_queue_left(&queue), 10);
    slab_queue_done(&queue, (slab){4, 6});
    assert_true(slab_queue_give_back(&queue, s));
    assert_int_equal(slab_queue_left(&queue), 4);
    assert_true(slab_queue_take(&queue, 3, true, &s) && s.first == 0 && s.count == 3); /* a smaller device */
    assert_true(slab_queue_take(&queue, 3, true, &t) && t.first == 3 && t.count == 1);
    slab_queue_done(&queue, s);
    slab_queue_done(&queue, t);
    assert_false(slab_queue_take(&queue, 1, true, &s));
    assert_int_equal(slab_queue_left(&queue), 0);
    slab_queue_destroy(&queue);

    slab_queue_init(&queue, (int64_t)1 << 40); /* more planes than 32 bits count */
    slab_queue_join(&queue);
    slab_queue_join(&queue);
    assert_true(slab_queue_take(&queue, INT64_MAX, true, &s) && s.count == (int64_t)1 << 38);
    slab_queue_stop(&queue);
    assert_false(slab_queue_take(&queue, 1, true, &t));
    slab_queue_destroy(&queue);
}

/* The least time that pieces in a row take workers in their order, by trying all ways. */
static double least_time(const double *weight, int64_t pieces, const double *speed, size_t workers)
{
    double best = workers == 1 && pieces > 0 && speed[0] == 0 ? INFINITY : 0, taken = 0;
    if (workers == 1) {
        for (int64_t i = 0; i < pieces && speed[0] > 0; i++)
            best += weight[i] / speed[0];
        return best;
    }
    best = INFINITY;
    for (int64_t n = 0; n <= pieces && (n == 0 || speed[0] > 0); n++) {
        best = fmin(best, fmax(taken, least_time(weight + n, pieces - n, speed + 1, workers - 1)));
        taken += n < pieces && speed[0] > 0 ? weight[n] / speed[0] : 0;
    }
    return best;
}

/* Pieces in a row are dealt so that nobody is done later than he must be: by few and many workers,
 * fast and slow ones and such as do nothing. */
static void test_dealing(void **state)
{
    static const double weight[] = {1, 5, 2, 2, 7, 1, 1, 3, 0.5},
                        all[][4] = {{1, 1, 1, 1}, {3, 1, 1, 9}, {0, 1, 0.5, 0}};
    enum { PIECES = sizeof weight / sizeof *weight };
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int64_t pieces = 0; pieces <= PIECES; pieces += 3) {
            int64_t first[5];
            double latest = 0;
            deal_in_rows(weight, pieces, all[k], 4, first);
            assert_true(first[0] == 0 && first[4] == pieces);
            for (size_t w = 0; w < 4; w++) {
                double taken = 0;
                assert_true(first[w] <= first[w + 1] && (all[k][w] > 0 || first[w] == first[w + 1]));
                for (int64_t i = first[w]; i < first[w + 1]; i++)
                    taken += weight[i] / all[k][w];
                latest = fmax(latest, taken);
            }
            assert_true(latest <= least_time(weight, pieces, all[k], 4) * (1 + 1e-9));
        }
    double about[] = {100, 0, 110}, different[] = {100, 0, 200}, unknown[] = {NAN, 0, 7}, none[] = {0, 0};
    assert_true(deal_compare_speeds(about, 3) && about[0] == 1 && about[1] == 0 && about[2] == 1);
    assert_true(deal_compare_speeds(different, 3) && different[0] == 100 && different[2] == 200);
    assert_true(deal_compare_speeds(unknown, 3) && unknown[0] == 1 && unknown[1] == 0 && unknown[2] == 1);
    assert_false(deal_compare_speeds(none, 2));
}

int main(void)
{
    support_fresh_cache();
    return RUN_GROUP(SUPPORT_GROUP(.name = "schedule"), test_no_memory_for_the_slabs_reports,
                     test_wrong_roots_are_not_kept, test_double_only_where_there_is_double, test_the_default_device,
                     test_small_memory, test_cancel_within_a_slab, test_reasons_of_a_failover,
                     test_processors_beside_a_card, test_two_paths_to_a_card, test_selectors,
                     test_two_paths_to_one_card, test_bad_options, test_sizes_of_options,
                     test_an_engine_keeps_its_facts, test_slab_queue, test_dealing);
}
