/* The first use of a device: which facts of it are measured, and that they are measured once, at
 * once, and in a bounded time. On fake devices. */
#include "support.h"

#include "build_cache.h"
#include "calibrate.h"
#include "clock.h"
#include "device_list.h"
#include "fake_job.h"
#include "methods/cutoff/tuning.h"
#include "methods/dcs/tuning.h"
#include "methods/mdh/tuning.h"
#include "parallel.h"
#include "watch.h"

#include <dirent.h>
#include <unistd.h>

/* What these devices can be asked for: neither PTX nor AVX-512. */
static const uint64_t roots = CALIBRATE_ROOT(LEY_ROOT_STANDARD) | CALIBRATE_ROOT(LEY_ROOT_RECIPROCAL) |
                              CALIBRATE_ROOT(LEY_ROOT_NATIVE) | CALIBRATE_ROOT(LEY_ROOT_NEWTON);
static const uint64_t exps =
    CALIBRATE_EXP(LEY_EXP_STANDARD) | CALIBRATE_EXP(LEY_EXP_NATIVE) | CALIBRATE_EXP(LEY_EXP_POLYNOMIAL);
static const uint64_t standard_root = CALIBRATE_ROOT(LEY_ROOT_STANDARD);

/* ---- A device -------------------------------------------------------------------------------- */

typedef struct opened {
    dev_list list;
    dev *device;
} opened;

static opened open_fake(fake_plan *plan)
{
    opened o = {.device = NULL};
    plan->measured = 0;
    memset(plan->measured_times, 0, sizeof plan->measured_times);
    fake_devices_begin(plan, 1);
    assert_int_equal(dev_list_create(&o.list, NULL), LEY_OK);
    assert_int_equal(o.list.infos[0].backend->open(&o.list.infos[0], &o.device, NULL), LEY_OK);
    return o;
}

static void close_fake(opened *o)
{
    o->device->backend->close(o->device);
    dev_list_clear(&o->list);
    fake_devices_end();
}

/* Asks a device that is opened for it, and closes it again: what was measured for that. */
static uint64_t measured_for(fake_plan *plan, uint64_t facts, calibration *c)
{
    ley_error error = {0};
    opened o = open_fake(plan);
    assert_ok(calibrate_get(o.device, facts, c, &error));
    close_fake(&o);
    assert_int_equal(plan->live_objects, 0);
    return plan->measured;
}

/* ---- What is needed -------------------------------------------------------------------------- */

static void test_needs_of_methods(void **state)
{
    const dev_info gpu = {.device_class = DEV_GPU, .vector_width = 1};
    const dev_info cpu = {.device_class = DEV_CPU, .vector_width = 16};
    dcs_wish dcs = {.math = TUNING_AUTO};
    assert_int_equal(tuning_dcs_needs(&gpu, &dcs), CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS);
    assert_int_equal(tuning_dcs_needs(&cpu, &dcs), CALIBRATE_ROOTS);
    dcs.variant = "simple"; /* has no roots for the multipliers */
    assert_int_equal(tuning_dcs_needs(&gpu, &dcs), CALIBRATE_ROOTS);
    dcs.math = TUNING_STANDARD;
    assert_int_equal(tuning_dcs_needs(&gpu, &dcs), standard_root);
    mdh_wish mdh = {.math = TUNING_AUTO, .screening = LEY_SCREENING_NONE};
    assert_int_equal(tuning_mdh_needs(&gpu, &mdh), CALIBRATE_ROOTS);
    mdh.screening = LEY_SCREENING_WIDE;
    assert_int_equal(tuning_mdh_needs(&gpu, &mdh), CALIBRATE_ROOTS | CALIBRATE_EXPS);
    mdh.screening = LEY_SCREENING_FOLDED;
    assert_int_equal(tuning_mdh_needs(&gpu, &mdh), CALIBRATE_ALL);
    assert_int_equal(tuning_mdh_needs(&cpu, &mdh), CALIBRATE_ROOTS | CALIBRATE_EXPS);
    mdh.sum = LEY_SPEC_SUM_DOUBLE;
    assert_int_equal(tuning_mdh_needs(&gpu, &mdh), standard_root | CALIBRATE_EXP(LEY_EXP_STANDARD));
    const cutoff_wish cutoff = {.math = TUNING_AUTO}, standard = {.math = TUNING_STANDARD};
    assert_int_equal(tuning_cutoff_needs(&cutoff), CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS);
    assert_int_equal(tuning_cutoff_needs(&standard), standard_root | CALIBRATE_MULTIPLY_ADDS);
}

/* What a choice does not ask for changes nothing in it. */
static void test_no_choice_looks_at_more(void **state)
{
    const dev_info gpu = {.device_class = DEV_GPU,
                          .vector_width = 1,
                          .max_work_group = 1024,
                          .max_work_items = {1024, 1024, 64},
                          .local_bytes = 48 << 10};
    calibration c = {.known = CALIBRATE_ALL, .fma_per_s = 1e13}, less;
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        c.roots_per_s[root] = root + 1, c.root_error[root] = 1e-7;
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        c.exps_per_s[exp] = exp + 1, c.exp_error[exp] = 1e-7;
    less = c;
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        less.exps_per_s[exp] = 0, less.exp_error[exp] = INFINITY;
    less.fma_per_s = 0;
    const mdh_wish wish = {.math = TUNING_AUTO, .screening = LEY_SCREENING_NONE, .n_a = 64, .n_b = 64};
    mdh_choice with, without;
    assert_int_equal(tuning_mdh(&gpu, &c, &wish, &with, NULL), LEY_OK);
    assert_int_equal(tuning_mdh(&gpu, &less, &wish, &without, NULL), LEY_OK);
    assert_memory_equal(&with.spec, &without.spec, sizeof with.spec);
}

static void run_job(fake_plan *plans, size_t devices, ley_math math, const char *selector)
{
    ley_error error = {0};
    support_job o = {.atoms = support_atoms(40, 0, 8, 7)};
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 8}};
    support_options options = support_default_options();
    options.math = math;
    watch_patience_replace(&fake_job_patient);
    fake_devices_begin(plans, devices);
    assert_ok(ley_map_create(&grid, &o.map, &error));
    assert_ok(ley_engine_create(selector, &o.engine, &error));
    assert_ok(support_job_create(o.engine, o.atoms, o.map, &options, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    ley_job_destroy(o.job);
    ley_engine_destroy(o.engine);
    ley_map_destroy(o.map);
    ley_atoms_destroy(o.atoms);
    fake_devices_end();
    watch_patience_replace(NULL);
}

static uint64_t measured_by_job(fake_plan *plans, ley_math math, const char *selector, size_t devices)
{
    support_fresh_cache();
    run_job(plans, devices, math, selector);
    return plans[0].measured;
}

static void test_jobs_measure_what_they_need(void **state)
{
    fake_plan plan = {.name = "A"}, other = {.name = "O", .device_class = DEV_OTHER};
    assert_int_equal(measured_by_job(&plan, LEY_MATH_AUTO, "all", 1), roots | CALIBRATE_MULTIPLY_ADDS);
    plan.measured = 0;
    assert_int_equal(measured_by_job(&plan, LEY_MATH_STANDARD, "all", 1), standard_root);
    assert_int_equal(measured_by_job(&other, LEY_MATH_AUTO, "all", 1), roots | CALIBRATE_MULTIPLY_ADDS);
    /* Devices that are compared are measured for that, and not again for the job. */
    fake_plan two[] = {{.name = "A", .device_class = DEV_CPU}, {.name = "B", .speed = 2}};
    measured_by_job(two, LEY_MATH_AUTO, NULL, 2);
    assert_int_equal(two[0].measured, roots);
    assert_int_equal(two[1].measured, roots | CALIBRATE_MULTIPLY_ADDS);
}

/* The fastest of several devices is opened once, and keeps what it was chosen by: also where
 * nothing can be kept on disk. */
static void test_the_fastest_stays_open(void **state)
{
    char kept[512];
    for (int cached = 0; cached < 2; cached++) {
        fake_plan plans[] = {{.name = "A"}, {.name = "B", .speed = 2}, {.name = "C", .wrong_root = 0.1}};
        support_fresh_cache();
        snprintf(kept, sizeof kept, "%s", getenv("LEYDEN_CACHE_DIR"));
        if (!cached)
            setenv("LEYDEN_CACHE_DIR", "/dev/null/none", 1);
        run_job(plans, 3, LEY_MATH_AUTO, NULL);
        setenv("LEYDEN_CACHE_DIR", kept, 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(plans[i].opens, 1);
            assert_int_equal(plans[i].closes, 1);
            assert_int_equal(plans[i].live_objects, 0);
        }
        assert_true(plans[1].launches > 0 && plans[0].launches == 0 && plans[2].launches == 0);
        assert_int_equal(plans[1].builds, 1);
        /* All rounds, for the fake's recipes are equally fast: not twice as many. */
        assert_true(plans[1].measured_times[LEY_ROOT_STANDARD] <= 16);
    }
}

static void test_a_benchmark_measures_all_anew(void **state)
{
    ley_error error = {0};
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    for (int again = 0; again < 2; again++) {
        ley_bench *bench = NULL;
        ley_bench_options options = support_default_bench_options();
        options.variant = "simple";
        options.atoms = 64;
        options.n[0] = options.n[1] = options.n[2] = 8;
        options.repeats = 1;
        plan.measured = 0;
        fake_devices_begin(&plan, 1);
        ley_engine *engine = support_make_engine("all");
        assert_ok(ley_bench_run(engine, &options, &bench, &error));
        assert_int_equal(plan.measured, roots | exps | CALIBRATE_MULTIPLY_ADDS);
        ley_bench_destroy(bench);
        ley_engine_destroy(engine);
        fake_devices_end();
    }
}

/* ---- Once ------------------------------------------------------------------------------------ */

static void test_a_fact_is_measured_once(void **state)
{
    calibration first, more, all, cached;
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    assert_int_equal(measured_for(&plan, standard_root, &first), standard_root);
    assert_int_equal(first.known, standard_root);
    /* What is known is the yardstick for the others of its kind: once more, and kept as it was. */
    plan.root_speed[LEY_ROOT_NATIVE] = 3;
    assert_int_equal(measured_for(&plan, CALIBRATE_ROOTS, &more), roots);
    assert_int_equal(more.known, roots);
    assert_true(more.roots_per_s[LEY_ROOT_STANDARD] == first.roots_per_s[LEY_ROOT_STANDARD]);
    assert_true(more.root_error[LEY_ROOT_STANDARD] == first.root_error[LEY_ROOT_STANDARD]);
    assert_int_equal(measured_for(&plan, CALIBRATE_ROOTS, &more), 0);
    assert_int_equal(measured_for(&plan, CALIBRATE_EXPS, &all), exps);
    assert_int_equal(all.known, roots | exps);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &all), CALIBRATE_MULTIPLY_ADDS);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &all), 0);
    assert_int_equal(all.known, roots | exps | CALIBRATE_MULTIPLY_ADDS);
    assert_memory_equal(all.roots_per_s, more.roots_per_s, sizeof all.roots_per_s);
    opened o = open_fake(&plan);
    assert_true(calibrate_cached(o.device->info, CALIBRATE_ALL, &cached));
    assert_memory_equal(&cached, &all, sizeof all);
    close_fake(&o);
}

/* A device that has become slower, or busier, since its first recipe was measured: the others are
 * as much slower as that one is, and no slower than it. */
static void test_a_yardstick(void **state)
{
    calibration first, more;
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    measured_for(&plan, standard_root, &first);
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        plan.root_speed[root] = 0.25;
    plan.root_speed[LEY_ROOT_NEWTON] = 0.5; /* twice as fast as the others are now */
    measured_for(&plan, CALIBRATE_ROOTS, &more);
    assert_true(more.roots_per_s[LEY_ROOT_STANDARD] == first.roots_per_s[LEY_ROOT_STANDARD]);
    const double ratio = more.roots_per_s[LEY_ROOT_NEWTON] / more.roots_per_s[LEY_ROOT_STANDARD];
    assert_true(fabs(ratio - 2) < 0.01);
}

/* Facts that are measured anew take the place of older ones, and of no others. */
static void test_a_new_measurement_keeps_other_facts(void **state)
{
    calibration c, later;
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    measured_for(&plan, CALIBRATE_ALL, &c);
    plan.root_speed[LEY_ROOT_STANDARD] = 4;
    opened o = open_fake(&plan);
    assert_int_equal(calibrate_measure(o.device, standard_root, &later, NULL), LEY_OK);
    assert_int_equal(plan.measured, standard_root);
    close_fake(&o);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &later), 0);
    assert_true(later.roots_per_s[LEY_ROOT_STANDARD] > 3 * c.roots_per_s[LEY_ROOT_STANDARD]);
    assert_memory_equal(later.exps_per_s, c.exps_per_s, sizeof c.exps_per_s);
}

/* Within an open device nothing changes, and nothing is measured twice, without a cache, too. */
static void test_an_open_device_keeps_its_facts(void **state)
{
    calibration first, later;
    fake_plan plan = {.name = "A"};
    char kept[512];
    snprintf(kept, sizeof kept, "%s", getenv("LEYDEN_CACHE_DIR"));
    setenv("LEYDEN_CACHE_DIR", "/dev/null/none", 1);
    opened o = open_fake(&plan);
    assert_int_equal(calibrate_get(o.device, CALIBRATE_ROOTS, &first, NULL), LEY_OK);
    const int before = plan.measurements;
    assert_int_equal(calibrate_get(o.device, standard_root, &later, NULL), LEY_OK);
    assert_int_equal(plan.measurements, before);
    assert_memory_equal(&first, &later, sizeof first);
    plan.measured = 0;
    assert_int_equal(calibrate_get(o.device, CALIBRATE_MULTIPLY_ADDS, &later, NULL), LEY_OK);
    assert_int_equal(plan.measured, CALIBRATE_MULTIPLY_ADDS);
    assert_memory_equal(first.roots_per_s, later.roots_per_s, sizeof first.roots_per_s);
    assert_true(calibrate_known(o.device, o.device->info, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &later));
    assert_false(calibrate_known(o.device, o.device->info, CALIBRATE_EXPS, &later));
    close_fake(&o);
    setenv("LEYDEN_CACHE_DIR", kept, 1);
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* The one entry of the cache that is a calibration. */
static cache_key entry(char path[600])
{
    char folder[512];
    cache_key key = {""};
    snprintf(folder, sizeof folder, "%s/leyden", getenv("LEYDEN_CACHE_DIR"));
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *e = readdir(directory); e != NULL; e = readdir(directory))
        if (strlen(e->d_name) + 1 == sizeof key.hex) {
            memcpy(key.hex, e->d_name, sizeof key.hex);
            snprintf(path, 600, "%.511s/%.64s", folder, e->d_name);
        }
    closedir(directory);
    assert_true(key.hex[0] != '\0');
    return key;
}

static calibration read_entry(const cache_key *key)
{
    size_t size = 0;
    calibration c, *bytes = cache_get(key, &size);
    assert_non_null(bytes);
    assert_int_equal(size, sizeof c);
    memcpy(&c, bytes, sizeof c);
    free(bytes);
    return c;
}

static void test_entries_that_lack_facts(void **state)
{
    char path[600];
    calibration c;
    fake_plan plan = {.name = "A"};
    const uint64_t newton = CALIBRATE_ROOT(LEY_ROOT_NEWTON);
    plan.root_speed[LEY_ROOT_NATIVE] = 3; /* the yardstick */
    support_fresh_cache();
    measured_for(&plan, CALIBRATE_ALL, &c);
    const cache_key key = entry(path);
    const calibration whole = read_entry(&key);
    calibration poor = whole;
    poor.known &= ~newton; /* of a time when nobody asked for it */
    cache_put(&key, &poor, sizeof poor);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &c), newton | CALIBRATE_ROOT(LEY_ROOT_NATIVE));
    poor = whole;
    poor.roots_per_s[LEY_ROOT_NEWTON] = NAN; /* nothing that can have been measured */
    poor.exp_error[LEY_EXP_NATIVE] = -1;
    cache_put(&key, &poor, sizeof poor);
    const uint64_t again = measured_for(&plan, CALIBRATE_ALL, &c);
    assert_int_equal(again & roots, newton | CALIBRATE_ROOT(LEY_ROOT_NATIVE));
    assert_true((again & CALIBRATE_EXP(LEY_EXP_NATIVE)) != 0 && (again & CALIBRATE_MULTIPLY_ADDS) == 0);
    assert_int_equal(read_entry(&key).known, whole.known);
    cache_put(&key, &whole, sizeof whole - 8); /* another version's */
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &c), whole.known);
    FILE *file = fopen(path, "r+b"); /* one bit */
    assert_non_null(file);
    fseek(file, -9, SEEK_END);
    const int byte = fgetc(file);
    fseek(file, -9, SEEK_END);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &c), whole.known);
    assert_int_equal(measured_for(&plan, CALIBRATE_ALL, &c), 0);
}

/* A recipe that does not build is not to be had, and nobody tries again. */
static void test_a_recipe_that_fails(void **state)
{
    calibration c;
    fake_plan plan = {.name = "A", .fail_facts = CALIBRATE_ROOT(LEY_ROOT_NATIVE)};
    for (int once = 0; once < 2; once++) { /* by compilers of both kinds */
        plan.quirks = once ? DEV_QUIRK_ONE_COMPILER : 0;
        support_fresh_cache();
        assert_int_equal(measured_for(&plan, CALIBRATE_ROOTS, &c), roots & ~CALIBRATE_ROOT(LEY_ROOT_NATIVE));
        assert_true(isinf(c.root_error[LEY_ROOT_NATIVE]) && c.roots_per_s[LEY_ROOT_NATIVE] == 0);
        assert_int_equal(measured_for(&plan, CALIBRATE_ROOTS, &c), 0);
    }
    ley_error error = {0};
    plan.fail_facts = standard_root;
    support_fresh_cache();
    opened o = open_fake(&plan);
    assert_error(calibrate_get(o.device, CALIBRATE_ROOTS, &c, &error), LEY_ERROR_DEVICE, "fake_build()");
    ley_error_clear(&error);
    close_fake(&o);
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Kernels are compiled at once where the driver can. */
static void test_kernels_are_built_at_once(void **state)
{
    calibration c;
    fake_plan plan = {.name = "A", .compile_us = 1000000};
    support_fresh_cache();
    const double start_s = ley_clock_s();
    assert_int_equal(measured_for(&plan, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &c),
                     roots | CALIBRATE_MULTIPLY_ADDS);
    assert_true(ley_clock_s() - start_s < 2); /* five of one second each */
    assert_int_equal(plan.most_compiling, 5);
    fake_plan single = {.name = "A", .quirks = DEV_QUIRK_ONE_COMPILER};
    support_fresh_cache();
    assert_int_equal(measured_for(&single, CALIBRATE_ROOTS, &c), roots);
    assert_int_equal(single.most_compiling, 1);
}

/* Few pairs are not worth kernels that are compiled one at a time: nothing is built, and such jobs
 * get the same facts before and after others have measured. */
static void test_few_pairs_are_not_worth_measuring(void **state)
{
    ley_error error = {0};
    calibration few, many, again;
    fake_plan plan = {.name = "A", .device_class = DEV_CPU, .quirks = DEV_QUIRK_ONE_COMPILER};
    support_fresh_cache();
    opened o = open_fake(&plan);
    o.device->pairs = 1e8;
    assert_ok(calibrate_get(o.device, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &few, &error));
    assert_int_equal(plan.measured, 0);
    o.device->pairs = 1e12;
    assert_ok(calibrate_get(o.device, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &many, &error));
    assert_true((plan.measured & CALIBRATE_MULTIPLY_ADDS) != 0);
    o.device->pairs = 1e8;
    assert_ok(calibrate_get(o.device, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &again, &error));
    assert_memory_equal(&again, &few, sizeof few);
    close_fake(&o);
}

/* Nor on NVIDIA's cards, whose root by PTX is known, unless exponentials are asked for; other cards
 * are measured. */
static void test_few_pairs_of_cards(void **state)
{
    enum { OF_NVIDIA = 1, WITH_EXPONENTIALS = 2 };
    for (int kind = 0; kind < 4; kind++) {
        ley_error error = {0};
        calibration few;
        fake_plan plan = {.name = "A",
                          .device_class = DEV_GPU,
                          .quirks = kind & OF_NVIDIA ? DEV_QUIRK_PTX : 0,
                          .compute_units = 132,
                          .clock_MHz = 1980};
        const uint64_t exponentials = kind & WITH_EXPONENTIALS ? CALIBRATE_EXPS : 0;
        support_fresh_cache();
        opened o = open_fake(&plan);
        o.device->pairs = 1e11;
        assert_ok(calibrate_get(o.device, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS | exponentials, &few, &error));
        assert_int_equal(plan.measured == 0, kind == OF_NVIDIA);
        if (kind == OF_NVIDIA) {
            assert_int_equal(calibrate_fastest_root(o.device->info, &few, 1, 2.4e-7), LEY_ROOT_PTX);
            assert_true(few.roots_per_s[LEY_ROOT_PTX] > 4e12 && few.roots_per_s[LEY_ROOT_PTX] < 1e13);
        }
        close_fake(&o);
    }
}

/* However long each launch lasts. What there was no time for is measured another time. */
static void test_slow_devices_take_a_bounded_time(void **state)
{
    static const uint64_t awaited =
        CALIBRATE_ROOT(LEY_ROOT_STANDARD) | CALIBRATE_ROOT(LEY_ROOT_NATIVE) | CALIBRATE_MULTIPLY_ADDS;
    calibration c = {.known = 0};
    fake_plan plan = {.name = "A", .measure_us = 150000};
    support_fresh_cache();
    const double start_s = ley_clock_s();
    measured_for(&plan, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &c);
    const double took_s = ley_clock_s() - start_s;
    assert_true(took_s < 3); /* in full, 5 kernels times 12 launches: 9 s */
    assert_int_equal(c.known & awaited, awaited);
    assert_true(c.known != (roots | CALIBRATE_MULTIPLY_ADDS));
    for (int again = 0; again < 4; again++)
        measured_for(&plan, CALIBRATE_ROOTS | CALIBRATE_MULTIPLY_ADDS, &c);
    assert_int_equal(c.known, roots | CALIBRATE_MULTIPLY_ADDS);
}

/* A compiler that builds one kernel at a time, slowly. */
static void test_slow_compilers_take_a_bounded_time(void **state)
{
    calibration c = {.known = 0};
    fake_plan plan = {.name = "A", .quirks = DEV_QUIRK_ONE_COMPILER, .compile_us = 1000000};
    support_fresh_cache();
    opened o = open_fake(&plan);
    for (int again = 0; again < 2; again++) { /* and while the device is open nobody tries again */
        const double start_s = ley_clock_s();
        assert_int_equal(calibrate_get(o.device, CALIBRATE_ROOTS, &c, NULL), LEY_OK);
        assert_true(ley_clock_s() - start_s < (again ? 0.5 : 3)); /* two of four */
        assert_int_equal(c.known, standard_root | CALIBRATE_ROOT(LEY_ROOT_NATIVE));
    }
    close_fake(&o);
}

/* Slow recipes drop out; the order is clear soon; the fastest is found, and its rate is right. */
static void test_rounds_end_when_the_order_is_clear(void **state)
{
    enum { FIRST_LOOK = 4, MOST_LAUNCHES = 8 };
    calibration c;
    fake_plan clear = {.name = "A"}, tie = {.name = "A"};
    clear.root_speed[LEY_ROOT_NEWTON] = 10;
    clear.root_speed[LEY_ROOT_NATIVE] = 30;
    clear.root_wrong[LEY_ROOT_NATIVE] = 1e-4; /* for those who do not mind */
    support_fresh_cache();
    measured_for(&clear, CALIBRATE_ROOTS, &c);
    const int *times = clear.measured_times;
    assert_true(times[LEY_ROOT_STANDARD] <= FIRST_LOOK && times[LEY_ROOT_RECIPROCAL] <= FIRST_LOOK);
    assert_true(times[LEY_ROOT_NEWTON] > FIRST_LOOK && times[LEY_ROOT_NATIVE] > FIRST_LOOK);
    assert_true(times[LEY_ROOT_NEWTON] <= MOST_LAUNCHES && times[LEY_ROOT_NATIVE] <= MOST_LAUNCHES);
    const double ratio = c.roots_per_s[LEY_ROOT_NEWTON] / c.roots_per_s[LEY_ROOT_STANDARD];
    assert_true(fabs(ratio - 10) < 0.01);
    opened o = open_fake(&clear);
    assert_int_equal(calibrate_fastest_root(o.device->info, &c, 1, 1e-6), LEY_ROOT_NEWTON);
    assert_int_equal(calibrate_fastest_root(o.device->info, &c, 1, INFINITY), LEY_ROOT_NATIVE);
    close_fake(&o);
    /* Of those behind, the order does not matter. */
    fake_plan behind = {.name = "A"};
    behind.root_speed[LEY_ROOT_NEWTON] = 1.3;
    support_fresh_cache();
    measured_for(&behind, CALIBRATE_ROOTS, &c);
    for (int root = 0; root <= LEY_ROOT_NEWTON; root++)
        assert_true(behind.measured_times[root] <= MOST_LAUNCHES);
    support_fresh_cache();
    measured_for(&tie, CALIBRATE_ROOTS, &c);
    for (int root = 0; root <= LEY_ROOT_NEWTON; root++)
        assert_true(tie.measured_times[root] > MOST_LAUNCHES); /* each as often as the others */
}

/* Between two launches. */
static void *end_soon(void *argument)
{
    watch *w = argument;
    usleep(100000);
    pthread_mutex_lock(&w->mutex);
    w->ends = true;
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static void test_a_calibration_can_be_cancelled(void **state)
{
    watch w;
    pthread_t thread;
    calibration c;
    fake_plan plan = {.name = "A", .measure_us = 40000};
    support_fresh_cache();
    opened o = open_fake(&plan);
    watch_init(&w);
    watch_this_thread(&w);
    const double start_s = ley_clock_s();
    assert_int_equal(pthread_create(&thread, NULL, end_soon, &w), 0);
    assert_int_equal(calibrate_get(o.device, CALIBRATE_ALL, &c, NULL), LEY_CANCELLED);
    assert_true(ley_clock_s() - start_s < 0.6);
    pthread_join(thread, NULL);
    const int builds = plan.most_compiling;
    plan.most_compiling = 0;
    assert_int_equal(calibrate_get(o.device, CALIBRATE_ALL, &c, NULL), LEY_CANCELLED); /* begins nothing */
    assert_true(builds > 0 && plan.most_compiling == 0);
    watch_this_thread(NULL);
    watch_destroy(&w);
    assert_false(calibrate_cached(o.device->info, standard_root, &c));
    close_fake(&o);
    assert_int_equal(plan.live_objects, 0);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct counts {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int of[20], inside, wanted;
} counts;

/* Comes back when all are inside. */
static void count_one(void *context, size_t i)
{
    counts *c = context;
    pthread_mutex_lock(&c->mutex);
    c->of[i]++;
    c->inside++;
    pthread_cond_broadcast(&c->changed);
    while (c->inside < c->wanted)
        pthread_cond_wait(&c->changed, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

static void test_a_thread_for_each(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 20};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        counts c = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .wanted = (int)sizes[k]};
        parallel_each(sizes[k], count_one, &c);
        for (size_t i = 0; i < sizeof c.of / sizeof *c.of; i++)
            assert_int_equal(c.of[i], i < sizes[k]);
        assert_int_equal(c.inside, c.wanted);
    }
}

int main(void)
{
    support_fresh_cache();
    return RUN_GROUP(SUPPORT_GROUP(.name = "first use"), test_needs_of_methods, test_no_choice_looks_at_more,
                     test_jobs_measure_what_they_need, test_the_fastest_stays_open, test_a_benchmark_measures_all_anew,
                     test_a_fact_is_measured_once, test_a_yardstick, test_a_new_measurement_keeps_other_facts,
                     test_an_open_device_keeps_its_facts, test_entries_that_lack_facts, test_a_recipe_that_fails,
                     test_kernels_are_built_at_once, test_slow_devices_take_a_bounded_time,
                     test_few_pairs_are_not_worth_measuring, test_few_pairs_of_cards,
                     test_slow_compilers_take_a_bounded_time, test_rounds_end_when_the_order_is_clear,
                     test_a_calibration_can_be_cancelled, test_a_thread_for_each);
}
