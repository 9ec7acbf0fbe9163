/* Transfers between atoms, lattices and maps on every device of this machine: each kernel's
 * self-test, every window; and each step against the double reference's. */
#include "support.h"

#include "clock.h"
#include "judge/long_range.h"
#include "methods/msm/cycle.h"
#include "methods/msm/transfer_build.h"
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

/* ---- The whole cycle ------------------------------------------------------------------------- */

enum { ATOMS = 400 };

/* From atoms to a map through all levels, against the double reference at every point. */
static void test_a_cycle(void **state)
{
    (void)state;
    static const double box_A[3] = {44, 37, 61};
    const ley_lattice points = {.n = {25, 14, 11}, .origin_A = {3, 5, -2}, .step_A = LEY_STEPS(0.75, 1.25, 0.5)};
    double position_A[ATOMS][3], charge_e[ATOMS], low[3] = {0, 0, 0}, high[3];
    unsigned seed = 5;
    ley_error error = {0};
    hierarchy h;
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR2, .window = WINDOW_NODAL3, .cutoff_A = 8, .spacing_A = 2};
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = box_A[axis] * rand_r(&seed) / RAND_MAX;
        charge_e[i] = 2.0 * rand_r(&seed) / RAND_MAX - 1;
    }
    for (int axis = 0; axis < 3; axis++) {
        high[axis] = box_A[axis];
        low[axis] = -5;
        o.cell_A[axis][axis] = 1;
    }
    assert_ok(hierarchy_make(&o, low, high, &h, &error));
    assert_true(h.levels >= 3);

    spread atoms;
    cycle c;
    const transfer_wish wish = {.window = h.window, .along_axes = true, .nodes_per_point = {0.375, 0.625, 0.25}};
    assert_ok(spread_make(&h, ATOMS, position_A[0], charge_e, NULL, &atoms, &error));
    assert_ok(cycle_ready(&c, device, &h, &wish, LEY_SPEC_SUM_FLOAT, &error));
    assert_ok(cycle_load(&c, &atoms, &error));

    const size_t count = (size_t)ley_lattice_points(&points);
    const places_array planes = {.n = {points.n[0], points.n[1], points.n[2]}, .pitch = {points.n[0], points.n[1]}};
    transfer_map map;
    results phi;
    flight f = {.device = device};
    work w = {.flight = NULL};
    assert_ok(transfer_map_create(&map, &c.lattices, &c.arrays[0], &points, &planes, 1, &c.room, &error));
    assert_ok(room_results(&c.room, (int64_t)(count * sizeof(float)), &phi, &error));
    work_begin(&w, &f, NULL);
    work_poison(&w, &phi, count * sizeof(float));
    cycle_run(&c, &w);
    transfer_interpolate(&w, &c.lattices, &map, 0, points.n[2], false, c.potentials, (buffer_of_float){phi.buffer});
    work_read(&w, phi.buffer, 0, phi.staging, count * sizeof(float));
    assert_ok(work_finish(&w, &error));

    double *point_A = malloc(count * 3 * sizeof(double)), *far = malloc(count * sizeof(double)), worst = 0, most = 0;
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            const int64_t at[3] = {(int64_t)i % points.n[0], (int64_t)i / points.n[0] % points.n[1],
                                   (int64_t)i / points.n[0] / points.n[1]};
            point_A[3 * i + (size_t)axis] = points.origin_A[axis] + (double)at[axis] * points.step_A[axis][axis];
        }
    assert_ok(long_range_potential(&h, ATOMS, position_A[0], charge_e, 0.05, count, point_A, far, NULL, &error));
    const float *got = phi.staging->bytes;
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs((double)got[i] - far[i]));
        most = fmax(most, fabs(far[i]));
    }
    print_message("%d levels, %zu points: off by %.2g where values reach %.3g\n", h.levels, count, worst, most);
    assert_true(most > 0.1 && worst < 3e-6 * most);
    free(point_A);
    free(far);
    work_end(&w);
    cycle_end(&c);
    spread_clear(&atoms);
}

static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_cycle), cmocka_unit_test(test_every_window)};
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
