/* Solvers of long-range sums on every device of this machine, from atoms to points: against the
 * double reference of the same combination, against exact sums, and against each other; and faults
 * that are planted in them. */
#include "support.h"

#include "clock.h"
#include "judge/long_range.h"
#include "methods/msm/solver.h"
#include "numerics/influence.h"
#include "numerics/lattice_sum.h"
#include "pairwise.h"
#include "run/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */

/* ---- Problems -------------------------------------------------------------------------------- */

enum { ATOMS = 60, POINTS = 75 };

typedef struct problem {
    hierarchy hierarchy;
    double position_A[ATOMS][3], charge_e[ATOMS];
    ley_lattice map;
    double point_A[POINTS][3];
} problem;

static double fraction(unsigned *seed)
{
    return (double)rand_r(seed) / RAND_MAX;
}

/* Somewhere in the box, `share` of the way along its vectors. */
static void put_at(const double vector_A[3][3], const double share[3], double place_A[3])
{
    for (int i = 0; i < 3; i++)
        place_A[i] = share[0] * vector_A[0][i] + share[1] * vector_A[1][i] + share[2] * vector_A[2][i];
}

/* Neutral charges in a parallelepiped, and beyond it where it is periodic; and a map in it that is
 * parallel to x, y and z, or, where the lattice's axes are others, whatever they are. */
static problem make_problem(const hierarchy_options *o, const double box_A[3][3])
{
    problem p = {.map = {.n = {5, 5, 3}}};
    unsigned seed = 11;
    double total_e = 0, low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    ley_error error = {0};
    cell c;
    for (int i = 0; i < ATOMS; i++) {
        double share[3];
        for (int axis = 0; axis < 3; axis++)
            share[axis] = o->periodic[axis] ? 1.2 * fraction(&seed) - 0.1 : fraction(&seed);
        put_at(box_A, share, p.position_A[i]);
        p.charge_e[i] = i + 1 < ATOMS ? 2 * fraction(&seed) - 1 : -total_e;
        total_e += p.charge_e[i];
    }
    put_at(box_A, (const double[3]){0.31, 0.28, 0.17}, p.map.origin_A);
    for (int axis = 0; axis < 3; axis++)
        p.map.step_A[axis][axis] = 0.11 * box_A[axis][axis];
    for (int i = 0; i < POINTS; i++) {
        const double at[3] = {i % 5, i / 5 % 5, i / 25};
        for (int axis = 0; axis < 3; axis++)
            p.point_A[i][axis] = p.map.origin_A[axis] + at[axis] * p.map.step_A[axis][axis];
    }
    assert_ok(cell_make(o->periodic, o->cell_A, &c, &error));
    hierarchy_box(&c, ATOMS, p.position_A[0], low, high);
    hierarchy_box(&c, POINTS, p.point_A[0], low, high);
    assert_ok(hierarchy_make(o, low, high, &p.hierarchy, &error));
    return p;
}

/* ---- On the device --------------------------------------------------------------------------- */

static bool is_along_axes(const problem *p)
{
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 3; k++)
            if (k != axis && p->hierarchy.step_A[axis][k] != 0)
                return false;
    return true;
}

static transfer_wish wish_of(const problem *p)
{
    transfer_wish wish = {.window = p->hierarchy.window, .along_axes = is_along_axes(p)};
    for (int axis = 0; axis < 3; axis++)
        wish.nodes_per_point[axis] = fabs(p->map.step_A[axis][axis] * p->hierarchy.inverse_per_A[axis][axis]);
    return wish;
}

/* What the points get. */
static void run_solver(solver *s, const problem *p, float *values)
{
    const size_t bytes = POINTS * sizeof(float);
    const places_array planes = {.n = {p->map.n[0], p->map.n[1], p->map.n[2]}, .pitch = {p->map.n[0], p->map.n[1]}};
    ley_error error = {0};
    transfer_map map;
    results phi;
    flight f = {.device = device};
    work w = {.flight = NULL};
    assert_ok(
        transfer_map_create(&map, solver_lattices(s), solver_array(s), &p->map, &planes, 1, solver_room(s), &error));
    assert_ok(room_results(solver_room(s), (int64_t)bytes, &phi, &error));
    work_begin(&w, &f, NULL);
    work_poison(&w, &phi, bytes);
    solver_run(s, &w);
    transfer_interpolate(&w, solver_lattices(s), &map, 0, p->map.n[2], false, solver_potentials(s),
                         (buffer_of_float){phi.buffer});
    work_read(&w, phi.buffer, 0, phi.staging, bytes);
    assert_ok(work_finish(&w, &error));
    memcpy(values, phi.staging->bytes, bytes);
    work_end(&w);
}

static void load(solver *s, const problem *p)
{
    const transfer_wish wish = wish_of(p);
    ley_error error = {0};
    spread atoms;
    assert_ok(spread_make(&p->hierarchy, ATOMS, p->position_A[0], p->charge_e, NULL, &atoms, &error));
    assert_ok(solver_ready(s, device, &p->hierarchy, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error));
    assert_ok(solver_load(s, &atoms, &error));
    spread_clear(&atoms);
}

static void solve(const problem *p, float *values)
{
    solver s;
    load(&s, p);
    run_solver(&s, p, values);
    solver_end(&s);
}

/* How far values are from those of the double reference, as a share of their root mean square. */
static double off_by(const problem *p, const float *values)
{
    double right[POINTS], sum = 0, squares = 0;
    ley_error error = {0};
    assert_ok(long_range_potential(&p->hierarchy, ATOMS, p->position_A[0], p->charge_e, 0.05, POINTS, p->point_A[0],
                                   right, NULL, &error));
    for (int i = 0; i < POINTS; i++) {
        sum += pow((double)values[i] - right[i], 2);
        squares += right[i] * right[i];
    }
    return sqrt(sum / squares);
}

/* ---- Each combination against the double reference ------------------------------------------- */

enum { SPLITTINGS = SPLITTING_COUNT, WINDOWS = WINDOW_COUNT, BOUNDARIES = 8 };

/* Edges of the box: as many nodes as make lattices of one size of all windows. */
static hierarchy_options options_of(splitting_kind split, window_kind kind, hierarchy_solver how, int boundary,
                                    bool oblique, double box_A[3][3])
{
    static const double slant[3][3] = {{0, 0, 0}, {0.2, 0, 0}, {-0.15, 0.1, 0}};
    hierarchy_options o = {.splitting = split, .window = kind, .solver = how, .cutoff_A = 4, .spacing_A = 1.25};
    const double nodes = 16 - window_get(kind)->points;
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = boundary >> axis & 1;
        for (int k = 0; k < 3; k++)
            box_A[axis][k] = o.spacing_A * (k == axis ? (o.periodic[axis] ? 16 : nodes - 0.01)
                                            : oblique && o.periodic[axis] && o.periodic[k] ? 16 * slant[axis][k]
                                                                                           : 0);
    }
    memcpy(o.cell_A, box_A, sizeof o.cell_A);
    return o;
}

static void test_combinations(void **state)
{
    (void)state;
    double worst = 0;
    for (pairwise p = PAIRWISE(SPLITTINGS, WINDOWS, BOUNDARIES, 2); pairwise_next(&p);) {
        double box_A[3][3];
        float values[POINTS];
        const hierarchy_options o =
            options_of((splitting_kind)p.at[0], (window_kind)p.at[1], HIERARCHY_FFT, p.at[2], p.at[3] == 1, box_A);
        const double start_s = support_cpu_s();
        const problem own = make_problem(&o, (const double(*)[3])box_A);
        solve(&own, values);
        const double device_s = support_cpu_s() - start_s, error = off_by(&own, values);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s, %s, boundary %d%s: %.2g; %.2f s and %.2f s\n", splitting_name(o.splitting),
                          own.hierarchy.window->name, p.at[2], p.at[3] ? " oblique" : "", error, device_s,
                          support_cpu_s() - start_s - device_s);
        assert_true(error < 2e-6);
        worst = fmax(worst, error);
    }
    print_message("off by up to %.2g\n", worst);
}

static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_combinations)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    const int failures = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run);
}
