/* Levels of which each part of a map has some planes, on a device: are the values of 2, 3 and 5
 * parts those of the whole, when charges of one level are put together from all of them? And which
 * planes does a part need? */
#include "support.h"

#include "engine/engine.h"
#include "long_range/multilevel/local_levels.h"
#include "long_range/solver.h"

static ley_engine *engine;
static dev *device;

enum { ATOMS = 500, PLANES = 230, ROW = 3 };

typedef struct problem {
    hierarchy hierarchy;
    double position_A[ATOMS][3], charge_e[ATOMS];
    ley_grid map;
} problem;

/* A long box along z, with charges beyond it where it is periodic. */
static problem make_problem(hierarchy_solver how, bool is_periodic, double length_A)
{
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                           .window = WINDOW_NODAL7,
                           .solver = how,
                           .levels = how == HIERARCHY_MULTILEVEL ? 6 : 4,
                           .cutoff_A = 4,
                           .spacing_A = 1.25,
                           .periodic = {is_periodic, is_periodic, is_periodic},
                           .cell_A = {{10, 0, 0}, {0, 10, 0}, {0, 0, length_A}}};
    problem p = {.map = {.origin_A = {1, 2, is_periodic ? 3 : 0}, .n = {ROW, ROW, PLANES}}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, total_e = 0, end_A[3];
    unsigned seed = 5;
    cell c;
    ley_error error = {0};
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            p.position_A[i][axis] = (1.2 * support_uniform(&seed) - 0.1) * o.cell_A[axis][axis];
        p.charge_e[i] = i + 1 < ATOMS ? 2 * support_uniform(&seed) - 1 : -total_e;
        total_e += p.charge_e[i];
    }
    for (int axis = 0; axis < 3; axis++)
        p.map.step_A[axis][axis] = axis < 2 ? 1.1 : length_A / PLANES;
    assert_ok(cell_make(o.periodic, (const double(*)[3])o.cell_A, &c, &error));
    ley_grid_point_A(&p.map, (const int64_t[3]){ROW - 1, ROW - 1, PLANES - 1}, end_A);
    hierarchy_box(&c, ATOMS, p.position_A[0], low, high);
    hierarchy_box(&c, 1, p.map.origin_A, low, high);
    hierarchy_box(&c, 1, end_A, low, high);
    assert_ok(hierarchy_make(&o, low, high, &p.hierarchy, &error));
    return p;
}

/* ---- On the device --------------------------------------------------------------------------- */

static void open_solver(solver *s, const hierarchy *h, const problem *p)
{
    transfer_wish wish = {.window = h->window, .along_axes = true};
    ley_error error = {0};
    for (int axis = 0; axis < 3; axis++)
        wish.nodes_per_point[axis] = p->map.step_A[axis][axis] * p->hierarchy.inverse_per_A[axis][axis];
    assert_ok(solver_ready(s, device, h, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error));
}

static void load_atoms(solver *s, const hierarchy *h, const problem *p)
{
    spread atoms;
    ley_error error = {0};
    assert_ok(spread_make(h, ATOMS, p->position_A[0], p->charge_e, NULL, &atoms, &error));
    assert_ok(solver_load(s, &atoms, &error));
    spread_clear(&atoms);
}

static void interpolate(const solver *of, command_sequence *w, const transfer_map *map, buffer_of_float phi)
{
    transfer_interpolate(w, solver_meshes(of), map, 0, map->n[2], false, 0, solver_potentials(of), phi);
}

/* Planes [first, end) of the map. */
static void run_planes(solver *s, const problem *p, int64_t first, int64_t end, float *values)
{
    ley_grid part = p->map;
    const int64_t bytes = ROW * ROW * (end - first) * (int64_t)sizeof *values;
    const coordinate_table planes = {.n = {ROW, ROW, end - first}, .pitch = {ROW, ROW}};
    ley_error error = {0};
    transfer_map map;
    results phi;
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    part.n[2] = end - first;
    ley_grid_point_A(&p->map, (const int64_t[3]){0, 0, first}, part.origin_A);
    assert_ok(transfer_map_create(&map, solver_meshes(s), solver_array(s), &part, &planes, 1, solver_room(s), &error));
    assert_ok(arena_results(solver_room(s), bytes, &phi, &error));
    sequence_begin(&w, &f, NULL);
    sequence_poison(&w, &phi, (size_t)bytes);
    solver_run(s, &w);
    interpolate(s, &w, &map, (buffer_of_float){phi.buffer});
    sequence_read(&w, phi.buffer, 0, phi.staging, (size_t)bytes);
    assert_ok(sequence_finish(&w, &error));
    memcpy(values, phi.staging->bytes, (size_t)bytes);
    sequence_end(&w);
}

static void run_whole(const problem *p, float *values)
{
    solver s;
    open_solver(&s, &p->hierarchy, p);
    load_atoms(&s, &p->hierarchy, p);
    run_planes(&s, p, 0, PLANES, values);
    solver_end(&s);
}

/* ---- By parts -------------------------------------------------------------------------------- */

static int64_t first_of(int64_t count, int part, int parts)
{
    return count * part / parts;
}

static hierarchy_planes wanted_planes(const problem *p, int64_t first, int64_t end)
{
    double index[2][3];
    for (int i = 0; i < 2; i++) {
        double point_A[3];
        ley_grid_point_A(&p->map, (const int64_t[3]){0, 0, i == 0 ? first : end - 1}, point_A);
        hierarchy_index(&p->hierarchy, point_A, index[i]);
    }
    return hierarchy_interpolated(&p->hierarchy, index[0][2], index[1][2]);
}

/* The parts of a map, each with the first `count` levels for itself. */
static void make_parts(const problem *p, int count, int parts, local_levels *made)
{
    hierarchy upper;
    hierarchy_upper(&p->hierarchy, count, &upper);
    for (int i = 0; i < parts; i++) {
        const spread_layers own = {first_of(spread_layers_of(&upper), i, parts),
                                   first_of(spread_layers_of(&upper), i + 1, parts)};
        const hierarchy_planes wanted = wanted_planes(p, first_of(PLANES, i, parts), first_of(PLANES, i + 1, parts));
        assert_true(local_levels_make(&p->hierarchy, count, wanted, own, &made[i]));
    }
}

/* Charges of the level that all have. */
static float *make_charges(const problem *p, const local_levels *l, int parts)
{
    const int64_t layers = spread_layers_of(&l->upper);
    const size_t layer = local_levels_upper_numbers(l) / (size_t)layers;
    float *rows = malloc(local_levels_upper_numbers(l) * sizeof *rows);
    flight f = {.device = device};
    ley_error error = {0};
    assert_non_null(rows);
    for (int i = 0; i < parts; i++) {
        const spread_layers own = {first_of(layers, i, parts), first_of(layers, i + 1, parts)};
        solver s;
        if (own.first == own.end)
            continue;
        open_solver(&s, &l[i].lower, p);
        load_atoms(&s, &l[i].lower, p);
        assert_ok(solver_spread(&s, &f, local_levels_layers(&l[i], own), rows + (size_t)own.first * layer, &error));
        solver_end(&s);
    }
    return rows;
}

/* Which become potentials. */
static void run_upper(const problem *p, const local_levels *l, float *rows)
{
    const spread none = {.atoms = 0};
    flight f = {.device = device};
    ley_error error = {0};
    solver s;
    open_solver(&s, &l->upper, p);
    assert_ok(solver_load(&s, &none, &error));
    solver_take_charges(&s, rows);
    assert_ok(solver_run_to_rows(&s, &f, rows, &error));
    solver_end(&s);
}

static void run_parts(const problem *p, int count, int parts, float *values)
{
    local_levels l[5];
    make_parts(p, count, parts, l);
    float *rows = make_charges(p, l, parts);
    run_upper(p, l, rows);
    for (int i = 0; i < parts; i++) {
        const int64_t first = first_of(PLANES, i, parts), end = first_of(PLANES, i + 1, parts);
        float *own = malloc(local_levels_lower_numbers(&l[i]) * sizeof *own);
        solver s;
        assert_non_null(own);
        local_levels_take(&l[i], rows, own);
        open_solver(&s, &l[i].lower, p);
        load_atoms(&s, &l[i].lower, p);
        solver_take_top_potentials(&s, own);
        run_planes(&s, p, first, end, values + first * ROW * ROW);
        solver_end(&s);
        free(own);
    }
    free(rows);
}

/* How far apart values are, of their root mean square. */
static double apart(const float *a, const float *b)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < ROW * ROW * PLANES; i++) {
        sum += pow((double)a[i] - (double)b[i], 2);
        squares += pow((double)b[i], 2);
    }
    return sqrt(sum / squares);
}

static void compare(hierarchy_solver how, bool is_periodic, double length_A, int count, int parts, bool same_bytes)
{
    static float whole[ROW * ROW * PLANES], values[ROW * ROW * PLANES];
    const problem p = make_problem(how, is_periodic, length_A);
    run_whole(&p, whole);
    run_parts(&p, count, parts, values);
    const double off = apart(values, whole);
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%d, %speriodic, %d levels, %d parts: %.2g, %s bytes\n", how, is_periodic ? "" : "not ", count,
                      parts, off, memcmp(values, whole, sizeof whole) == 0 ? "the same" : "other");
    assert_true(off < 1e-6);
    assert_true(!same_bytes || memcmp(values, whole, sizeof whole) == 0);
}

static void test_open(void **state)
{
    compare(HIERARCHY_MULTILEVEL, false, 400, 1, 2, true);
    compare(HIERARCHY_MIXED, false, 400, 1, 5, true);
    compare(HIERARCHY_MIXED, false, 400, 2, 3, true);
    compare(HIERARCHY_MIXED, false, 400, 3, 2, true);
}

static void test_periodic(void **state)
{
    compare(HIERARCHY_MULTILEVEL, true, 400, 1, 2, false);
    compare(HIERARCHY_MIXED, true, 400, 1, 5, false);
    compare(HIERARCHY_MULTILEVEL, true, 390, 2, 3, false);
}

/* ---- Which planes ---------------------------------------------------------------------------- */

/* A part is as little as the cutoff and the window let it; what is no part is said. */
static void test_planes(void **state)
{
    const problem p = make_problem(HIERARCHY_MIXED, false, 400);
    const hierarchy *h = &p.hierarchy;
    const int64_t points = h->window->points, begin = h->level[0].first[2];
    int64_t reach[3];
    local_levels l;
    hierarchy_reach(h, reach);
    assert_true(local_levels_make(h, 1, (hierarchy_planes){begin + 100, begin + 120}, (spread_layers){7, 7}, &l));
    assert_int_equal(l.charges.first, begin + 100 - reach[2]);
    assert_int_equal(l.charges.end, begin + 120 + reach[2]);
    assert_int_equal((l.lower.level[0].first[2] - begin) % HIERARCHY_EDGE, 0);
    assert_true(l.lower.level[0].n[2] < 20 + 2 * (reach[2] + points - 1 + HIERARCHY_EDGE));
    assert_true(l.lower.level[1].n[2] < l.lower.level[0].n[2] / 2 + points + 2 * HIERARCHY_EDGE);
    assert_int_equal(l.upper.levels, h->levels - 1);
    assert_int_equal(l.upper.level[0].n[2], h->level[1].n[2]);
    assert_true(local_levels_make(h, 1, (hierarchy_planes){begin, begin + 8}, (spread_layers){7, 8}, &l));
    assert_true(l.charges.end > begin + 2 * 8 * HIERARCHY_EDGE - points);
    assert_false(
        local_levels_make(h, 1, (hierarchy_planes){begin, begin + h->level[0].n[2]}, (spread_layers){0, 1}, &l));
    assert_true(local_levels_make(h, 0, (hierarchy_planes){begin, begin + 8}, (spread_layers){0, 1}, &l));
    assert_int_equal(l.upper.levels, h->levels);
}

static int run(const char *selector, const ley_device_info *info)
{
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    const int failures = RUN_ON_DEVICE("local levels", &engine, test_open, test_periodic, test_planes);
    return failures;
}

int main(void)
{
    return support_on_each_device(run);
}
