/* What a job is said to take before it is run: memory, pieces and seconds, held against what runs
 * take; and that nothing is computed. */
#include "error.h"
#include "law/accuracy.h"
#include "memory.h"
#include "plan/forecast.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ley_grid grid = {.origin_A = {-9, -8, -7}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {61, 50, 47}};

static double need_of(const ley_need *needs, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(needs[i].what, what) == 0)
            return needs[i].bytes;
    return 0;
}

static double step_of(const ley_device_forecast *d, const char *what)
{
    for (size_t i = 0; i < d->step_count; i++)
        if (strcmp(d->steps[i].what, what) == 0)
            return d->steps[i].seconds;
    return 0;
}

enum { DCS, CUTOFF, MSM, METHODS };

static ley_status create(int method, ley_engine *engine, const ley_atoms *atoms, ley_map *map, ley_job **job,
                         ley_error *error)
{
    ley_run_options options;
    ley_direct direct;
    ley_short_range range;
    ley_long_range far;
    ley_run_options_default(&options);
    options.verify_points = 100;
    ley_direct_default(&direct);
    ley_short_range_default(&range);
    ley_long_range_default(&far);
    return method == DCS      ? ley_job_create_direct(engine, atoms, map, &direct, &options, job, error)
           : method == CUTOFF ? ley_job_create_short_range(engine, atoms, map, &range, &options, job, error)
                              : ley_job_create_long_range(engine, atoms, map, &far, &options, job, error);
}

static int64_t planned_slab(const ley_decision *decisions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(decisions[i].name, "slab") == 0)
            return strtoll(decisions[i].value, NULL, 10);
    return 0;
}

static void expect_like_a_run(const ley_forecast *f, const ley_report *run, int method)
{
    const ley_device_forecast *d = &f->devices[0];
    double sum = 0;
    assert_int_equal(f->device_count, 1);
    assert_int_equal(d->status, LEY_OK);
    assert_true(d->slab > 0 && d->slab == planned_slab(run->decisions, run->decision_count));
    assert_int_equal(d->slab, planned_slab(f->decisions, f->decision_count));
    assert_string_equal(d->variant, run->devices[0].variant);
    for (size_t i = 0; i < d->need_count; i++)
        sum += d->needs[i].bytes;
    assert_true(fabs(sum - d->bytes) < 1 && d->bytes < d->room_bytes);
    const int64_t planes = d->slab * (method == DCS ? 1 : 8);
    assert_string_equal(d->pieces, method == DCS ? "planes" : "layers of 8 planes");
    assert_true(need_of(d->needs, d->need_count, "slabs") >= 2.0 * (double)(61 * 50 * planes) * 4);
    assert_true(need_of(f->host_needs, f->host_need_count, "the map") == 61.0 * 50 * 47 * 4);
    assert_true(step_of(d, "kernels") > 0 && step_of(d, "transfer") > 0);
    assert_true(f->total_s >= f->devices_s && f->devices_s <= d->alone_s * 1.001 && f->devices_s > 0);
    assert_true((method == MSM) == (step_of(d, "lattices") > 0 && step_of(d, "interpolation") > 0));
    assert_true((method == MSM) == (need_of(d->needs, d->need_count, "lattices") > 0));
}

/* Its pieces and its plan are the run's, and it computes nothing: the map has no values. */
static void test_like_a_run(void **state)
{
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        ley_error error = {0};
        ley_engine *engine = NULL;
        ley_map *outline = NULL, *map = NULL;
        ley_job *asked = NULL, *run = NULL;
        const ley_forecast *f = NULL;
        ley_atoms *atoms = support_atoms(2000, 0, 12, 1);
        assert_ok(ley_engine_create("0", &engine, &error));
        assert_ok(ley_map_outline(&grid, &outline, &error));
        assert_null(ley_map_values(outline));
        assert_ok(create(method, engine, atoms, outline, &asked, &error));
        assert_ok(ley_job_forecast(asked, &f, &error));
        assert_ok(ley_map_create(&grid, &map, &error));
        assert_ok(create(method, engine, atoms, map, &run, &error));
        assert_ok(ley_job_run(run, &error));
        expect_like_a_run(f, ley_job_report(run), method);
        assert_int_equal(ley_job_run(asked, &error), LEY_ERROR_USAGE); /* once is enough */
        ley_job_destroy(asked);
        ley_job_destroy(run);
        assert_ok(create(method, engine, atoms, outline, &asked, &error));
        assert_int_equal(ley_job_run(asked, &error), LEY_ERROR_USAGE);
        assert_string_equal(error.message, "the map has no values: it is for forecasts");
        ley_job_destroy(asked);
        ley_map_destroy(outline);
        ley_map_destroy(map);
        ley_engine_destroy(engine);
        ley_atoms_destroy(atoms);
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

static ley_points *points_in_a_box(int64_t n, bool field)
{
    ley_error error = {0};
    ley_points *points = NULL;
    double *point_A = calloc((size_t)(3 * n), sizeof *point_A);
    uint64_t seed = 1;
    assert_non_null(point_A);
    for (int64_t i = 0; i < 3 * n; i++)
        point_A[i] = -15 + 30 * (double)(accuracy_random(&seed) >> 11) * 0x1p-53;
    assert_ok(ley_points_create(n, point_A, &points, &error));
    if (field)
        assert_ok(ley_points_add_field(points, &error));
    free(point_A);
    return points;
}

static ley_status create_at_points(int method, ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                   ley_job **job, ley_error *error)
{
    ley_run_options options;
    ley_direct direct;
    ley_short_range range;
    ley_long_range far;
    ley_run_options_default(&options);
    options.verify_points = 100;
    ley_direct_default(&direct);
    ley_short_range_default(&range);
    ley_long_range_default(&far);
    return method == DCS      ? ley_job_create_direct_points(engine, atoms, points, &direct, &options, job, error)
           : method == CUTOFF ? ley_job_create_short_range_points(engine, atoms, points, &range, &options, job, error)
                              : ley_job_create_long_range_points(engine, atoms, points, &far, &options, job, error);
}

static void expect_like_a_run_at_points(const ley_forecast *f, const ley_report *run, int method, int64_t n, bool field)
{
    const ley_device_forecast *d = &f->devices[0];
    const double numbers = field ? 4 : 1, slab = (double)d->slab;
    double sum = 0;
    assert_int_equal(d->status, LEY_OK);
    assert_true(d->slab > 0 && d->slab == planned_slab(run->decisions, run->decision_count));
    assert_int_equal(d->slab, planned_slab(f->decisions, f->decision_count));
    assert_int_equal(d->slabs, (n + d->slab - 1) / d->slab);
    assert_string_equal(d->pieces, "points");
    assert_string_equal(d->variant, run->devices[0].variant);
    for (size_t i = 0; i < d->need_count; i++)
        sum += d->needs[i].bytes;
    assert_true(fabs(sum - d->bytes) < 1 && d->bytes < d->room_bytes);
    assert_true(need_of(d->needs, d->need_count, "slabs") >= 3 * slab * (numbers * 4 + 12));
    assert_true(need_of(d->needs, d->need_count, "slabs") <= 3 * slab * (numbers * 16 + 80));
    assert_true(
        need_of(f->host_needs, f->host_need_count, field ? "points, potentials and field" : "points and potentials") ==
        (double)n * 8 * (3 + numbers));
    assert_true(need_of(f->host_needs, f->host_need_count, "the points' order in space") == (double)n * 60);
    assert_true((method == DCS) == (need_of(f->host_needs, f->host_need_count, "bins") == 0));
    assert_true((method == MSM) == (need_of(f->host_needs, f->host_need_count, "atoms in a mesh's bins") > 0));
    assert_true((method == DCS) == (f->host_step_count == 0));
    assert_true(step_of(d, "kernels") > 0 && step_of(d, "kernels") < 100 && step_of(d, "transfer") > 0);
    assert_true((method == MSM) == (step_of(d, "interpolation") > 0 && step_of(d, "interpolation") < 100));
    assert_true((method == MSM) == (step_of(d, "lattices") > 0));
    assert_true(f->total_s >= f->devices_s && f->devices_s > 0 && f->total_s < 200);
}

/* At points as on maps: pieces and plan are those of the run, and no value is computed. */
static void test_points_like_a_run(void **state)
{
    (void)state;
    for (int which = 0; which < 2 * METHODS; which++) {
        const int method = which / 2;
        const bool field = which % 2 == 1;
        const int64_t n = 30000;
        ley_error error = {0};
        ley_engine *engine = NULL;
        ley_job *asked = NULL, *run = NULL;
        const ley_forecast *f = NULL;
        ley_atoms *atoms = support_atoms(2000, 0, 12, 1);
        ley_points *points = points_in_a_box(n, field);
        assert_ok(ley_engine_create("0", &engine, &error));
        assert_ok(create_at_points(method, engine, atoms, points, &asked, &error));
        assert_ok(ley_job_forecast(asked, &f, &error));
        for (int64_t i = 0; i < n; i++)
            assert_true(isnan(ley_points_read_values(points)[i]) &&
                        (!field || isnan(ley_points_read_field(points)[3 * i + 2])));
        assert_ok(create_at_points(method, engine, atoms, points, &run, &error));
        assert_ok(ley_job_run(run, &error));
        expect_like_a_run_at_points(f, ley_job_report(run), method, n, field);
        assert_int_equal(ley_job_run(asked, &error), LEY_ERROR_USAGE);
        ley_error_clear(&error);
        ley_job_destroy(asked);
        ley_job_destroy(run);
        ley_points_destroy(points);
        ley_engine_destroy(engine);
        ley_atoms_destroy(atoms);
    }
}

static ley_status ask_at_points(int method, ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                double *host_bytes, double *available_bytes, ley_error *error)
{
    ley_job *job = NULL;
    const ley_forecast *f = NULL;
    assert_int_equal(create_at_points(method, engine, atoms, points, &job, error), LEY_OK);
    const ley_status status = ley_job_forecast(job, &f, error);
    assert_non_null(f);
    *host_bytes = f->host_bytes;
    *available_bytes = f->available_bytes;
    ley_job_destroy(job);
    return status;
}

/* Points and what is computed there have been taken before the job: what is left must have room for
 * the rest alone. */
static void test_points_are_there(void **state)
{
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        const int64_t n = 1 << 20;
        const double held = 56.0 * (double)n;
        double bytes, available, unused;
        ley_error error = {0};
        ley_engine *engine = NULL;
        ley_atoms *atoms = support_atoms(200, 0, 12, 1);
        ley_points *points = points_in_a_box(n, true);
        assert_ok(ley_engine_create("0", &engine, &error));
        assert_ok(ask_at_points(method, engine, atoms, points, &bytes, &available, &error));
        assert_true(bytes > held + 60.0 * (double)n);
        memory_pretend(bytes - 0.5 * held);
        assert_ok(ask_at_points(method, engine, atoms, points, &unused, &available, &error));
        assert_true(fabs(available - (bytes + 0.5 * held)) < 1);
        memory_pretend(0.95 * (bytes - held));
        assert_int_equal(ask_at_points(method, engine, atoms, points, &unused, &available, &error), LEY_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "not enough memory: the job would take "));
        memory_pretend(-1);
        ley_error_clear(&error);
        ley_points_destroy(points);
        ley_engine_destroy(engine);
        ley_atoms_destroy(atoms);
    }
}

/* Too large for the host, or for the device: the figures are there all the same. */
static void test_too_large(void **state)
{
    (void)state;
    static const struct {
        int64_t n[3];
        ley_status status;
        const char *says;
    } cases[] = {
        {{100000, 100000, 100000}, LEY_ERROR_MEMORY, "not enough memory: the job would take "},
        {{1 << 20, 1 << 20, 8}, LEY_ERROR_MEMORY, "not enough memory: the job would take "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int method = 0; method < METHODS; method++) {
            ley_error error = {0};
            ley_engine *engine = NULL;
            ley_map *outline = NULL;
            ley_job *job = NULL;
            const ley_forecast *f = NULL;
            ley_grid large = {.step_A = LEY_STEPS(1e-4, 1e-4, 1e-4)};
            memcpy(large.n, cases[i].n, sizeof large.n);
            const double bytes = 4.0 * (double)large.n[0] * (double)large.n[1] * (double)large.n[2];
            ley_atoms *atoms = support_atoms(100, 0, 12, 1);
            assert_ok(ley_engine_create("0", &engine, &error));
            assert_ok(ley_map_outline(&large, &outline, &error));
            assert_ok(create(method, engine, atoms, outline, &job, &error));
            assert_int_equal(ley_job_forecast(job, &f, &error), cases[i].status);
            if (strstr(error.message, cases[i].says) == NULL)
                fail_msg("%s", error.message);
            assert_non_null(f);
            assert_true(need_of(f->host_needs, f->host_need_count, "the map") == bytes);
            assert_true(f->host_bytes > f->available_bytes && f->host_bytes >= bytes);
            assert_true(f->devices[0].need_count >= 2);
            ley_error_clear(&error);
            ley_job_destroy(job);
            ley_map_destroy(outline);
            ley_engine_destroy(engine);
            ley_atoms_destroy(atoms);
        }
}

/* Devices share slabs as soon as they are there. */
static void test_devices_together(void **state)
{
    (void)state;
    const device_forecast devices[] = {{.before_s = 0, .slabs_s = 3}, {.before_s = 1, .slabs_s = 6}};
    assert_true(fabs(forecast_end_s(devices, 1) - 3) < 1e-9);
    /* t / 3 + (t - 1) / 6 = 1 */
    assert_true(fabs(forecast_end_s(devices, 2) - 7.0 / 3) < 1e-9);
    const device_forecast late[] = {{.before_s = 0, .slabs_s = 3}, {.before_s = 30, .slabs_s = 1}};
    assert_true(fabs(forecast_end_s(late, 2) - 3) < 1e-9); /* it comes when all is done */
    assert_true(forecast_end_s(NULL, 0) == 0);
}

/* A budget that is used up, and a buffer that is too large. */
static void test_needs(void **state)
{
    (void)state;
    ley_error error = {0};
    dev_info info = {.global_bytes = 4000, .max_allocation_bytes = 1000};
    dev device = {.info = &info};
    arena empty = {.device = &device};
    device_forecast f = {.arena = &empty};
    assert_ok(forecast_need(&f, "a", 2000, 1000, &error));
    assert_int_equal(forecast_need(&f, "b", 1001, 1001, &error), LEY_ERROR_NO_DEVICE);
    assert_string_equal(error.message, "b: a buffer of 1001 bytes is needed, the device's largest is 1000 bytes");
    assert_int_equal(forecast_need(&f, "c", 500, 500, &error), LEY_ERROR_NO_DEVICE);
    assert_string_equal(error.message, "c: 500 bytes are needed, there is room for 0 bytes");
    assert_int_equal(f.need_count, 3);
    assert_true(f.bytes == 3501);
    forecast_before(&f, "upload", 1);
    forecast_slabs(&f, "kernels", 2, false);
    forecast_slabs(&f, "interpolation", 1, false);
    forecast_slabs(&f, "transfer", 2.5, true);
    assert_true(f.before_s == 1 && f.slabs_s == 3 && f.step_count == 4);
    forecast_slabs(&f, "transfer", 4, true);
    assert_true(f.slabs_s == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_run),       cmocka_unit_test(test_points_like_a_run),
        cmocka_unit_test(test_points_are_there), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_devices_together), cmocka_unit_test(test_needs)};
    support_leave_out_second_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
