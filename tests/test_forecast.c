/* How forecasts add up what devices need and take; test_conformance holds those of all methods
 * against runs. */
#include "support.h"

#include "plan/forecast.h"

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
    return RUN_TESTS(test_devices_together, test_needs);
}
