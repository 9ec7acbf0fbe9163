/* What a job is said to take before it is run: memory, pieces and seconds, held against what runs
 * take; and that nothing is computed. */
#include "error.h"
#include "law/accuracy.h"
#include "memory.h"
#include "plan/forecast.h"
#include "support.h"

static double need_of(const ley_need *needs, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(needs[i].what, what) == 0)
            return needs[i].bytes;
    return 0;
}

enum { DCS, CUTOFF, MSM, METHODS };

static ley_status create(int method, ley_engine *engine, const ley_atoms *atoms, ley_map *map, ley_job **job,
                         ley_error *error)
{
    ley_run_options options = support_default_run_options();
    options.verify_points = 100;
    ley_direct direct = support_default_direct();
    ley_short_range range = support_default_short_range();
    ley_long_range far = support_default_long_range();
    return method == DCS      ? ley_job_create_direct(engine, atoms, map, &direct, &options, job, error)
           : method == CUTOFF ? ley_job_create_short_range(engine, atoms, map, &range, &options, job, error)
                              : ley_job_create_long_range(engine, atoms, map, &far, &options, job, error);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Too large for the host, or for the device: the figures are there all the same. */
static void test_too_large(void **state)
{
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
            ley_map *outline = NULL;
            ley_job *job = NULL;
            const ley_forecast *f = NULL;
            ley_grid large = {.step_A = LEY_STEPS(1e-4, 1e-4, 1e-4)};
            memcpy(large.n, cases[i].n, sizeof large.n);
            const double bytes = 4.0 * (double)large.n[0] * (double)large.n[1] * (double)large.n[2];
            ley_atoms *atoms = support_atoms(100, 0, 12, 1);
            ley_engine *engine = support_make_engine("0");
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
    ley_error error = {0};
    dev_info info = {.global_bytes = 4000, .max_allocation_bytes = 1000};
    dev device = {.info = &info};
    arena empty = {.device = &device};
    device_forecast f = {.arena = &empty};
    assert_ok(forecast_need(&f, "a", 2000, 1000, &error));
    assert_error_is(forecast_need(&f, "b", 1001, 1001, &error), LEY_ERROR_NO_DEVICE,
                    "b: a buffer of 1001 bytes is needed, the device's largest is 1000 bytes");
    assert_error_is(forecast_need(&f, "c", 500, 500, &error), LEY_ERROR_NO_DEVICE,
                    "c: 500 bytes are needed, there is room for 0 bytes");
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
    support_leave_out_second_driver();
    return RUN_TESTS(test_too_large, test_devices_together, test_needs);
}
