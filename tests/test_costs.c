/* What is measured for plans: once, the least of several times, within bounds, kept in the build
 * cache; what plans make of it; and phases that were predicted and took otherwise. */
#include "support.h"

#include "apbs/speed.h"
#include "bandwidth.h"
#include "costs.h"
#include "device_list.h"
#include "fake_device.h"
#include "methods/cutoff/plan.h"
#include "methods/cutoff/step_costs.h"
#include "schedule/notes.h"

#include <unistd.h>

static int measured;
static double next_s[8];

static bool measure_next(void *context, double *seconds)
{
    const int i = measured++ % 8;
    seconds[0] = next_s[i];
    seconds[1] = 2 * next_s[7 - i];
    return context == NULL;
}

static const costs_kind tried = {
    .name = "test", .count = 2, .bounds = {{1e-9, 5e-9, 1e-6}, {1e-9, 6e-9, 1e-6}}, .measure = measure_next};

static void set_next(double s)
{
    measured = 0;
    for (int i = 0; i < 8; i++)
        next_s[i] = s * (i == 3 ? 1 : 3 + i);
}

static void forget(const costs_kind *kind)
{
    costs_plant(kind, NULL, NULL);
}

/* ---- Measured once --------------------------------------------------------------------------- */

static void test_the_least_of_several_is_kept(void **state)
{
    double s[COSTS_MOST] = {0};
    support_fresh_cache();
    forget(&tried);
    set_next(1e-8);
    assert_false(costs_known(&tried, NULL, s));
    assert_float_equal(s[0], 5e-9, 0);
    assert_float_equal(s[1], 6e-9, 0);
    assert_int_equal(measured, 0); /* only who needs it measures */
    costs_get(&tried, NULL, NULL, s);
    const int tries = measured;
    assert_true(tries >= 5); /* however fast the first one was */
    assert_float_equal(s[0], 1e-8, 0);
    assert_float_equal(s[1], 2e-8, 0);
    set_next(1e-7);
    costs_get(&tried, NULL, NULL, s);
    assert_int_equal(measured, 0);
    forget(&tried); /* another process */
    assert_true(costs_known(&tried, NULL, s));
    assert_float_equal(s[0], 1e-8, 0);
    assert_int_equal(measured, 0);
}

/* Where nothing can be measured, plans are made of what is usual, and the next one asks again. */
static void test_what_cannot_be_measured_is_as_usual(void **state)
{
    double s[COSTS_MOST] = {0};
    support_fresh_cache();
    forget(&tried);
    set_next(1e-8);
    costs_get(&tried, NULL, "fails", s);
    assert_float_equal(s[0], 5e-9, 0);
    assert_int_equal(measured, 1);
    costs_get(&tried, NULL, NULL, s);
    assert_float_equal(s[0], 1e-8, 0);
    dev_backend nowhere = {.name = "nowhere", .common_options = ""};
    const dev_info interpreter = {.backend = &nowhere, .quirks = DEV_QUIRK_INTERPRETER};
    measured = 0;
    costs_get(&tried, &interpreter, NULL, s);
    assert_float_equal(s[0], 5e-9, 0);
    assert_int_equal(measured, 0);
}

/* Costs that other work found: kept within their bounds, in place of what was known, and for other
 * processes. */
static void test_what_is_found_in_passing(void **state)
{
    costs_kind found = tried;
    double s[COSTS_MOST] = {0};
    support_fresh_cache();
    found.name = "found";
    found.measure = NULL;
    forget(&found);
    costs_get(&found, NULL, NULL, s);
    assert_float_equal(s[0], 5e-9, 0);
    costs_keep(&found, NULL, (const double[]){2e-8, 3e-8});
    costs_keep(&found, NULL, (const double[]){4e-8, 1e9});
    assert_true(costs_known(&found, NULL, s));
    assert_float_equal(s[0], 4e-8, 0);
    assert_float_equal(s[1], 1e-6, 0);
    forget(&found);
    costs_get(&found, NULL, NULL, s);
    assert_float_equal(s[0], 4e-8, 0);
    forget(&found);
}

/* What a busy machine took is no news, unless it is more than twice as much: each cost for
 * itself. */
static void test_what_is_learned(void **state)
{
    costs_kind found = tried;
    double s[COSTS_MOST] = {0};
    support_fresh_cache();
    found.name = "learned";
    found.measure = NULL;
    forget(&found);
    costs_learn(&found, NULL, (const double[]){2e-8, 3e-8});
    assert_true(costs_known(&found, NULL, s));
    assert_float_equal(s[0], 2e-8, 0);
    assert_float_equal(s[1], 3e-8, 0);
    costs_learn(&found, NULL, (const double[]){3.9e-8, 1e-8});
    assert_true(costs_known(&found, NULL, s));
    assert_float_equal(s[0], 2e-8, 0);
    assert_float_equal(s[1], 1e-8, 0);
    costs_learn(&found, NULL, (const double[]){8e-8, 1e-8});
    forget(&found); /* it stands in the cache as well */
    assert_true(costs_known(&found, NULL, s));
    assert_float_equal(s[0], 4e-8, 1e-20);
    assert_float_equal(s[1], 1e-8, 0);
    forget(&found);
}

static void test_noise_stays_within_bounds(void **state)
{
    const double wild[] = {1e9, 1e-30, -1, INFINITY};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        double s[COSTS_MOST] = {0};
        support_fresh_cache();
        forget(&tried);
        set_next(wild[i]);
        costs_get(&tried, NULL, NULL, s);
        for (size_t k = 0; k < tried.count; k++)
            assert_true(s[k] >= tried.bounds[k].least_s && s[k] <= tried.bounds[k].most_s);
    }
}

/* Entries that nobody can have measured, and such as are no entries. */
static void test_a_wrong_entry_is_a_miss(void **state)
{
    const double right[] = {2e-9, 3e-9};
    const struct {
        double seconds[3];
        size_t bytes;
    } wrong[] = {
        {{NAN, 3e-9}, 16},   {{2e-9, NAN}, 16},  {{0, 3e-9}, 16},          {{-2e-9, 3e-9}, 16}, {{2e-9, 1e-3}, 16},
        {{1e-12, 3e-9}, 16}, {{2e-9, 3e-9}, 15}, {{2e-9, 3e-9, 1e-9}, 24}, {{2e-9, 3e-9}, 8},   {{0}, 0}};
    double s[COSTS_MOST] = {0};
    support_fresh_cache();
    const cache_key key = costs_key(&tried, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        forget(&tried);
        set_next(1e-8);
        cache_put(&key, wrong[i].seconds, wrong[i].bytes);
        assert_false(costs_known(&tried, NULL, s));
        costs_get(&tried, NULL, NULL, s);
        assert_true(measured > 0);
        assert_float_equal(s[0], 1e-8, 0);
        cache_put(&key, right, sizeof right);
        forget(&tried);
        assert_true(costs_known(&tried, NULL, s));
        assert_float_equal(s[1], 3e-9, 0);
    }
}

static void test_hosts_devices_and_kinds_are_told_apart(void **state)
{
    dev_backend nowhere = {.name = "nowhere", .common_options = ""};
    const dev_info a = {.backend = &nowhere, .name = "a"}, b = {.backend = &nowhere, .name = "b"};
    const cache_key keys[] = {costs_key(&tried, NULL), costs_key(&tried, &a), costs_key(&tried, &b),
                              costs_key(&memory_costs, NULL), costs_key(&memory_costs, &a)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_int_equal(strlen(keys[i].hex), 64);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i].hex, keys[k].hex);
    }
}

/* All that the host can be asked, in less than what a plan may cost; processor time, for the
 * machine may be busy. Under a sanitizer no cost is that of any machine. */
static void test_all_of_the_host_is_cheap(void **state)
{
    const costs_kind *const kinds[] = {&memory_costs, &binning_costs, &row_costs, &apbs_costs};
    support_fresh_cache();
    const double start_s = support_cpu_s();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double s[COSTS_MOST] = {0};
        forget(kinds[i]);
        costs_get(kinds[i], NULL, NULL, s);
        assert_true(costs_known(kinds[i], NULL, s));
        for (size_t k = 0; k < kinds[i]->count; k++)
            assert_true(s[k] >= kinds[i]->bounds[k].least_s &&
                        (support_is_sanitized || s[k] < kinds[i]->bounds[k].most_s));
    }
    const double spent_s = support_cpu_s() - start_s;
    print_message("the host's costs measured in %.3f s\n", spent_s);
    assert_true(support_is_sanitized || spent_s < 0.25);
}

/* ---- The way to a device --------------------------------------------------------------------- */

static ley_map *run_job(ley_engine *engine, const ley_atoms *atoms)
{
    const ley_grid grid = {.n = {16, 16, 16}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    support_options o = support_default_options();
    return support_run(engine, atoms, &grid, &o);
}

static void test_a_device_is_measured_once(void **state)
{
    ley_error error = {0};
    double s[COSTS_MOST];
    fake_plan plan = {.name = "measured", .device_class = DEV_GPU, .measures_costs = true};
    support_fresh_cache();
    fake_devices_begin(&plan, 1);
    ley_atoms *atoms = support_atoms(50, 0, 8, 1);
    ley_engine *engine = support_make_engine(NULL);
    for (int i = 0; i < 2; i++) {
        const int writes = plan.writes, reads = plan.reads;
        ley_map_destroy(run_job(engine, atoms));
        if (i == 0)
            assert_true(plan.reads - reads > 2 && plan.writes - writes > 2);
        else
            assert_int_equal(plan.reads - reads, 1); /* the map */
    }
    dev_list list = {.count = 0};
    assert_ok(dev_list_create(&list, &error));
    assert_true(costs_known(&bus_costs, &list.infos[0], s));
    for (size_t k = 0; k < bus_costs.count; k++)
        assert_true(s[k] >= bus_costs.bounds[k].least_s && s[k] <= bus_costs.bounds[k].most_s);
    dev_list_clear(&list);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    fake_devices_end();
}

/* Measuring is no part of a job: a device that cannot be measured computes all the same. */
static void test_a_device_that_cannot_be_measured(void **state)
{
    ley_error error = {0};
    double s[COSTS_MOST];
    fake_plan plan = {.name = "unmeasured", .device_class = DEV_GPU, .measures_costs = true};
    support_fresh_cache();
    fake_devices_begin(&plan, 1);
    dev_list list = {.count = 0};
    dev *device = NULL;
    assert_ok(dev_list_create(&list, &error));
    assert_ok(list.infos[0].backend->open(&list.infos[0], &device, &error));
    int *const faults[] = {&plan.fail_buffer, &plan.fail_staging, &plan.fail_write, &plan.fail_fill, &plan.fail_read};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const size_t before = plan.live_objects;
        *faults[i] = 1;
        costs_get(&bus_costs, &list.infos[0], device, s);
        assert_false(costs_known(&bus_costs, &list.infos[0], s));
        assert_float_equal(s[COST_START], bus_costs.bounds[COST_START].usual_s, 0);
        assert_int_equal(plan.live_objects, before);
        *faults[i] = 0;
    }
    device->backend->close(device);
    dev_list_clear(&list);
    fake_devices_end();
}

/* ---- What plans make of it ------------------------------------------------------------------- */

static void test_other_costs_make_another_plan(void **state)
{
    ley_short_range range = support_default_short_range();
    costs_plant(&row_costs, NULL, (double[]){1e-10, 0.6e-10});
    assert_int_equal(cutoff_plan_transposition(&range), LEY_PLACE_HOST);
    costs_plant(&row_costs, NULL, (double[]){1e-10, 0.8e-10}); /* too little to leave the usual way */
    assert_int_equal(cutoff_plan_transposition(&range), LEY_PLACE_DEVICE);
    range.transposition = LEY_PLACE_HOST;
    assert_int_equal(cutoff_plan_transposition(&range), LEY_PLACE_HOST);
    forget(&row_costs);
}

/* A card's memory is taken for a card's until it has been measured, not for a processor's. */
static void test_memory_by_class(void **state)
{
    static const dev_backend nowhere = {.name = "nowhere", .common_options = ""};
    const dev_info gpu = {.backend = &nowhere, .name = "a card", .device_class = DEV_GPU},
                   cpu = {.backend = &nowhere, .name = "a processor", .device_class = DEV_CPU};
    bool is_known = true;
    support_fresh_cache();
    const double gpu_s = bandwidth_byte_s(&gpu, &is_known);
    assert_false(is_known);
    assert_true(gpu_s < 0.1 * bandwidth_byte_s(&cpu, NULL));
    costs_keep(&bandwidth_costs, &gpu, (double[]){2.5e-13});
    assert_float_equal(bandwidth_byte_s(&gpu, &is_known), 2.5e-13, 0);
    assert_true(is_known);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void test_phases_are_judged(void **state)
{
    const struct {
        double predicted_s, taken_s;
        bool is_note, is_off;
    } rows[] = {{0.9, 2.1, true, true},  {0.9, 1.7, true, false},     {2.1, 0.9, true, true},
                {1.7, 0.9, true, false}, {0.001, 0.009, true, false}, {0.001, 0.011, true, true},
                {0, 1, false, false},    {1, 0, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        notes n = {.count = 0};
        notes_phase(&n, "phase_test", rows[i].predicted_s, rows[i].taken_s);
        assert_int_equal(n.count, rows[i].is_note);
        if (n.count == 0)
            continue;
        assert_int_equal(n.list[0].kind, LEY_NOTE_PHASE);
        assert_float_equal(n.list[0].number[0], rows[i].predicted_s, 0);
        assert_float_equal(n.list[0].number[1], rows[i].taken_s, 0);
        assert_int_equal(n.list[0].number[2] != 0, rows[i].is_off);
    }
}

/* What is predicted of the way back is what the device's costs say of its bytes. */
static void test_a_report_predicts_by_the_costs(void **state)
{
    ley_error error = {0};
    fake_plan plan = {.name = "reported", .device_class = DEV_GPU};
    fake_devices_begin(&plan, 1);
    dev_list list = {.count = 0};
    assert_ok(dev_list_create(&list, &error));
    costs_plant(&bus_costs, &list.infos[0], (double[]){1e-9, 5e-8, 1e-3});
    support_job j = {.status = LEY_OK};
    const ley_grid grid = {.n = {128, 8, 8}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    j.options = support_default_options();
    j.options.sum = LEY_SUM_FLOAT;
    j.atoms = support_atoms(50, 0, 8, 1);
    assert_ok(ley_engine_create(NULL, &j.engine, &error));
    assert_ok(ley_map_create(&grid, &j.map, &error));
    assert_ok(support_job_create(j.engine, j.atoms, j.map, &j.options, &j.job, &error));
    assert_ok(ley_job_run(j.job, &error));
    const ley_report *r = ley_job_report(j.job);
    const ley_note *transfer = ley_report_note(r, "phase_transfer"), *kernels = ley_report_note(r, "phase_kernels");
    assert_non_null(transfer);
    assert_non_null(kernels);
    const double least_s = 5e-8 * 4 * 128 * 8 * 8 + 1e-3 * (double)r->slab_count;
    assert_true(transfer->number[0] >= 0.99 * least_s && transfer->number[0] < 20 * least_s); /* with padding */
    assert_true(kernels->number[0] > 0);
    costs_plant(&bus_costs, &list.infos[0], NULL);
    dev_list_clear(&list);
    support_job_end(&j);
    fake_devices_end();
}

int main(void)
{
    return RUN_GROUP(
        SUPPORT_GROUP(.name = "costs"), test_the_least_of_several_is_kept, test_what_cannot_be_measured_is_as_usual,
        test_what_is_found_in_passing, test_what_is_learned, test_noise_stays_within_bounds,
        test_a_wrong_entry_is_a_miss, test_hosts_devices_and_kinds_are_told_apart, test_all_of_the_host_is_cheap,
        test_a_device_is_measured_once, test_a_device_that_cannot_be_measured, test_other_costs_make_another_plan,
        test_memory_by_class, test_phases_are_judged, test_a_report_predicts_by_the_costs);
}
