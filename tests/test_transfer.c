/* Transfers between atoms, lattices and maps on every device of this machine: each kernel's
 * self-test, every window; and each step against the double reference's. */
#include "support.h"

#include "clock.h"
#include "judge/long_range.h"
#include "methods/msm/cycle.h"
#include "methods/msm/transfer_build.h"
#include "pairwise.h"
#include "run/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */

/* At level quick those of the fewest and of the most points. */
static void test_every_window(void **state)
{
    (void)state;
    for (pairwise p = PAIRWISE(WINDOW_COUNT, 2); pairwise_next(&p);) {
        if (support_is_quick() && p.at[0] != WINDOW_NODAL3 && p.at[0] != WINDOW_NODAL9)
            continue;
        ley_error error = {0};
        transfer_kernels kernels;
        const window *w = window_get((window_kind)p.at[0]);
        const transfer_wish wish = {
            .window = w, .along_axes = p.at[1], .nodes_per_point = {0.9, 1, 1.9}, .has_levels = w->is_nodal};
        const double start_s = ley_clock_s();
        assert_ok_at(transfer_kernels_create(device, &wish, &kernels, &error), &error, w->name, __FILE__, __LINE__);
        assert_true(kernels.along_axes == wish.along_axes);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s %d: %.2f s\n", w->name, p.at[1], ley_clock_s() - start_s);
        transfer_kernels_destroy(&kernels);
    }
}

/* What GPUs get, on a CPU device. */
static void test_work_groups(void **state)
{
    (void)state;
    for (int kind = 0; kind <= (support_is_quick() ? WINDOW_NODAL3 : WINDOW_NODAL9); kind++) {
        ley_error error = {0};
        transfer_kernels kernels;
        const transfer_wish wish = {.window = window_get((window_kind)kind),
                                    .along_axes = true,
                                    .nodes_per_point = {0.5, 0.7, 0.4},
                                    .width = 1};
        assert_ok(transfer_kernels_create(device, &wish, &kernels, &error));
        assert_true(kernels.anterpolate.group_size[0] > 1 && kernels.interpolation.group_size[0] > 1);
        transfer_kernels_destroy(&kernels);
    }
}

/* ---- The whole cycle ------------------------------------------------------------------------- */

enum { ATOMS = 400 };

/* Atoms in an open box, three levels of lattices, and a map that covers a part of the box. */
typedef struct problem {
    double position_A[ATOMS][3], charge_e[ATOMS];
    hierarchy hierarchy;
    ley_lattice points;
    size_t count; /* of the map */
    cycle cycle;  /* with atoms */
    transfer_map map;
    results phi;
} problem;

static void make_hierarchy(problem *p)
{
    static const double low_A[3] = {-5, -5, -5}, high_A[3] = {44, 37, 61};
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR2, .window = WINDOW_NODAL3, .cutoff_A = 8, .spacing_A = 2};
    unsigned seed = 5;
    ley_error error = {0};
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            p->position_A[i][axis] = high_A[axis] * rand_r(&seed) / RAND_MAX;
        p->charge_e[i] = 2.0 * rand_r(&seed) / RAND_MAX - 1;
    }
    for (int axis = 0; axis < 3; axis++)
        o.cell_A[axis][axis] = 1;
    assert_ok(hierarchy_make(&o, low_A, high_A, &p->hierarchy, &error));
    assert_true(p->hierarchy.levels >= 3);
}

static problem *make_problem(void)
{
    problem *p = calloc(1, sizeof *p);
    spread atoms;
    ley_error error = {0};
    assert_non_null(p);
    make_hierarchy(p);
    const hierarchy *h = &p->hierarchy;
    const transfer_wish wish = {.window = h->window, .along_axes = true, .nodes_per_point = {0.375, 0.625, 0.25}};
    assert_ok(spread_make(h, ATOMS, p->position_A[0], p->charge_e, NULL, &atoms, &error));
    assert_ok(cycle_ready(&p->cycle, device, h, &wish, LEY_SPEC_SUM_FLOAT, &error));
    assert_ok(cycle_load(&p->cycle, &atoms, &error));
    spread_clear(&atoms);

    p->points = (ley_lattice){.n = {25, 14, 11}, .origin_A = {3, 5, -2}, .step_A = LEY_STEPS(0.75, 1.25, 0.5)};
    p->count = (size_t)ley_lattice_points(&p->points);
    const int64_t *n = p->points.n;
    const places_array planes = {.n = {n[0], n[1], n[2]}, .pitch = {n[0], n[1]}};
    cycle *c = &p->cycle;
    assert_ok(transfer_map_create(&p->map, &c->lattices, &c->arrays[0], &p->points, &planes, 1, &c->room, &error));
    assert_ok(room_results(&c->room, (int64_t)(p->count * sizeof(float)), &p->phi, &error));
    return p;
}

static void end_problem(problem *p)
{
    cycle_end(&p->cycle);
    free(p);
}

/* Computes the map; returns how many launches that took, all of them predicted. */
static size_t compute(problem *p, float *phi)
{
    ley_error error = {0};
    flight f = {.device = device};
    work w = {.flight = NULL};
    work_begin(&w, &f, NULL);
    work_poison(&w, &p->phi, p->count * sizeof(float));
    cycle_run(&p->cycle, &w);
    transfer_interpolate(&w, &p->cycle.lattices, &p->map, 0, p->points.n[2], false, p->cycle.potentials,
                         (buffer_of_float){p->phi.buffer});
    work_read(&w, p->phi.buffer, 0, p->phi.staging, p->count * sizeof(float));
    assert_ok(work_finish(&w, &error));
    memcpy(phi, p->phi.staging->bytes, p->count * sizeof(float));
    assert_int_equal(w.times.unpredicted, 0);
    const size_t launches = w.ended;
    work_end(&w);
    return launches;
}

/* From atoms to a map through all levels, against the double reference at every point. */
static void test_a_cycle(void **state)
{
    (void)state;
    problem *p = make_problem();
    ley_error error = {0};
    double worst = 0, most = 0, *right = malloc(p->count * sizeof *right);
    double(*point_A)[3] = malloc(p->count * sizeof *point_A);
    float *phi = malloc(p->count * sizeof *phi);
    const int64_t *n = p->points.n;
    for (int64_t i = 0; i < (int64_t)p->count; i++) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = p->points.origin_A[axis] + (double)at[axis] * p->points.step_A[axis][axis];
    }
    compute(p, phi);
    assert_ok(long_range_potential(&p->hierarchy, ATOMS, p->position_A[0], p->charge_e, 0.05, p->count, point_A[0],
                                   right, NULL, &error));
    for (size_t i = 0; i < p->count; i++) {
        worst = fmax(worst, fabs((double)phi[i] - right[i]));
        most = fmax(most, fabs(right[i]));
    }
    print_message("%d levels, %zu points: off by %.2g where values reach %.3g\n", p->hierarchy.levels, p->count, worst,
                  most);
    assert_true(most > 0.1 && worst < 3e-6 * most);
    free(point_A);
    free(right);
    free(phi);
    end_problem(p);
}

/* Steps that are predicted to last long are done in several launches, to the same bytes. */
static void test_pieces(void **state)
{
    (void)state;
    problem *p = make_problem();
    const size_t bytes = p->count * sizeof(float);
    float *whole = malloc(bytes), *pieces = malloc(bytes);
    p->cycle.transfer.launch_s = 1e9;
    const size_t few = compute(p, whole);
    p->cycle.transfer.launch_s = 1e-9;
    const size_t many = compute(p, pieces);
    const size_t steps = 2 * (size_t)p->hierarchy.levels; /* of transfers; the lattices' sums have two more */
    assert_true(few >= steps + 2 && many >= few + 3 * steps);
    assert_memory_equal(whole, pieces, bytes);
    free(whole);
    free(pieces);
    end_problem(p);
}

/* At level quick further devices get the cycle alone. */
static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_cycle), cmocka_unit_test(test_pieces),
                                              cmocka_unit_test(test_every_window), cmocka_unit_test(test_work_groups)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    support_fresh_cache();
    const size_t all = sizeof tests / sizeof tests[0], count = support_is_quick() && info->index != 0 ? 1 : all;
    const int failures = _cmocka_run_group_tests(info->name, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* The kernels of the smallest window alone, by their self-tests, for Oclgrind: `kernel` is vectors,
 * groups or points. */
static int run_small(const char *selector, const char *kernel)
{
    ley_error error = {0};
    transfer_kernels kernels;
    const transfer_wish wish = {.window = window_get(WINDOW_NODAL3),
                                .along_axes = strcmp(kernel, "points") != 0,
                                .nodes_per_point = {0.4, 0.6, 0.5},
                                .has_levels = true,
                                .width = strcmp(kernel, "groups") == 0 ? 1 : 8};
    if (!support_open(selector, selector, &engine))
        return 1;
    const ley_status status = transfer_kernels_create(engine->workers[0].device, &wish, &kernels, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    else
        transfer_kernels_destroy(&kernels);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
    return status != LEY_OK;
}

/* Without arguments on each device; else a device and which kernels. */
int main(int argc, char **argv)
{
    return argc == 3 ? run_small(argv[1], argv[2]) : support_on_each_device(run);
}
