/* Transfers between atoms, lattices and maps on every device of this machine: each kernel's
 * self-test, every window; and each step against the double reference's. */
#include "support.h"

#include "clock.h"
#include "judge/long_range.h"
#include "methods/msm/transfer.h"
#include "run/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */

static void test_every_window(void **state)
{
    (void)state;
    for (int kind = 0; kind < WINDOW_COUNT; kind++)
        for (int along_axes = 0; along_axes <= 1; along_axes++) {
            ley_error error = {0};
            transfer_kernels kernels;
            const window *w = window_get((window_kind)kind);
            const transfer_wish wish = {
                .window = w, .along_axes = along_axes, .nodes_per_point = {0.9, 1, 1.9}, .has_levels = w->is_nodal};
            const double start_s = ley_clock_s();
            assert_ok_at(transfer_kernels_create(device, &wish, &kernels, &error), &error, w->name, __FILE__, __LINE__);
            assert_true(kernels.along_axes == along_axes);
            if (getenv("TEST_VERBOSE") != NULL)
                print_message("%s %d: %.2f s\n", w->name, along_axes, ley_clock_s() - start_s);
            transfer_kernels_destroy(&kernels);
        }
}

static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_window)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    support_fresh_cache();
    const int failures = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run);
}
