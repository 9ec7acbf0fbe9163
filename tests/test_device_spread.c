/* Atoms put into a mesh's bins on every device of this machine: what the host makes, bit for
 * bit, whatever the cell, window and place; and what a device declines. */
#include "pairwise.h"
#include "support.h"

#include "engine/engine.h"
#include "long_range/mesh/device_spread.h"

static ley_engine *engine;
static dev *device; /* of the engine, for calls below the public ones; its worker thread sleeps meanwhile */
static bool fast;
static device_spread kernels;

/* What a test gives. */
typedef struct problem {
    hierarchy h;
    size_t n;
    double (*position_A)[3], *charge_e;
} problem;

static void problem_make(problem *p, const hierarchy_options *o, size_t n, const double size_A[3], double far_A,
                         unsigned seed)
{
    ley_error error = {0};
    cell c;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    p->n = n;
    p->position_A = malloc(n * sizeof *p->position_A);
    p->charge_e = malloc(n * sizeof *p->charge_e);
    assert_true(p->position_A != NULL && p->charge_e != NULL);
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double at_A = size_A[axis] * support_uniform(&seed);
            p->position_A[i][axis] = far_A + (i % 19 == 3 ? rint(at_A / o->spacing_A) * o->spacing_A : at_A);
        }
        p->charge_e[i] = i % 7 == 2 ? 0 : 2 * support_uniform(&seed) - 1;
    }
    assert_ok(cell_make(o->periodic, o->cell_A, &c, &error));
    hierarchy_box(&c, n, p->position_A[0], low, high);
    assert_ok(hierarchy_make(o, low, high, &p->h, &error));
}

static void problem_free(problem *p)
{
    free(p->position_A);
    free(p->charge_e);
}

static void assert_holds(dev_buffer *buffer, const void *right, size_t bytes)
{
    ley_error error = {0};
    dev_staging *staging = NULL;
    dev_event *done = NULL;
    const dev_backend *b = device->backend;
    if (bytes == 0)
        return;
    assert_ok(b->staging_create(device, bytes, &staging, &error));
    assert_ok(b->read(device, buffer, 0, staging, bytes, NULL, &done, &error));
    assert_ok(b->wait(device, done, NULL, &error));
    assert_memory_equal(staging->bytes, right, bytes);
    b->staging_destroy(device, staging);
}

/* NULL, when what the device makes is what the host makes; else why the device declines. */
static const char *spread_both(const problem *p, const device_spread *by)
{
    ley_error error = {0};
    arena memory = {.device = device};
    device_atoms atoms = {.n = p->n};
    transfer_atoms made = {.count = 0};
    spread right, s;
    const char *declined;
    assert_ok(spread_make(&p->h, p->n, p->position_A[0], p->charge_e, NULL, &right, &error));
    assert_ok(spread_begin(&p->h, p->n, p->charge_e, &s, &error));
    assert_ok(arena_upload(&memory, p->position_A, p->n * sizeof *p->position_A, &atoms.position.buffer, &error));
    assert_ok(arena_upload(&memory, p->charge_e, p->n * sizeof *p->charge_e, &atoms.charge.buffer, &error));
    const int64_t before = arena_left(&memory);
    assert_ok(device_spread_run(by, &memory, &p->h, &atoms, &s, &made, &declined, &error));
    if (declined != NULL) {
        assert_null(made.atoms.buffer);
        assert_true(arena_left(&memory) == before);
    } else {
        assert_int_equal(made.count, right.atoms);
        assert_int_equal(s.atoms, right.atoms);
        assert_memory_equal(made.tiles, right.bins, sizeof right.bins);
        assert_holds(made.first.buffer, right.first, (spread_bins(&right) + 1) * sizeof *right.first);
        assert_holds(made.atoms.buffer, right.at, right.atoms * sizeof *right.at);
        assert_holds(made.corners.buffer, right.corner, right.atoms * sizeof *right.corner);
        assert_holds(made.sources.buffer, right.sources, right.source_count * sizeof *right.sources);
        assert_holds(made.tile_list.buffer, right.tiles, right.tile_count * sizeof *right.tiles);
    }
    arena_clear(&memory);
    spread_clear(&s);
    spread_clear(&right);
    return declined;
}

static void assert_same(const problem *p)
{
    const char *declined = spread_both(p, &kernels);
    if (declined != NULL)
        fail_msg("declined: %s", declined);
}

static void test_cells(void **state)
{
    static const bool periodic[][3] = {
        {false, false, false}, {true, true, true}, {true, false, false}, {false, true, true}};
    static const double cells_A[][3][3] = {{{40, 0, 0}, {0, 30, 0}, {0, 0, 35}},
                                           {{40, 0, 0}, {-9, 31, 0}, {7, 11, 30}}};
    static const window_kind windows[] = {WINDOW_NODAL3, WINDOW_NODAL7, WINDOW_BSPLINE6};
    static const double far_A[] = {0, -1e4, 3e6}; /* of the atoms from 0 */
    for (pairwise c = PAIRWISE(4, 2, 3, 3); pairwise_next(&c);) {
        hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                               .window = windows[c.at[2]],
                               .solver = HIERARCHY_FOURIER,
                               .cutoff_A = 6,
                               .spacing_A = 1.7};
        problem p;
        memcpy(o.periodic, periodic[c.at[0]], sizeof o.periodic);
        memcpy(o.cell_A, cells_A[c.at[1]], sizeof o.cell_A);
        problem_make(&p, &o, fast ? 20000 : 2500, (const double[3]){90, 61, 75}, far_A[c.at[3]], 1 + (unsigned)c.at[3]);
        assert_same(&p);
        problem_free(&p);
    }
}

static const hierarchy_options open_cell = {
    .splitting = SPLITTING_TAYLOR4, .window = WINDOW_NODAL7, .cutoff_A = 12, .spacing_A = 2};

/* One, and as many as a work-group has, and one more. */
static void test_few_atoms(void **state)
{
    static const size_t numbers[] = {1, 127, 128, 129, 1000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        problem p;
        problem_make(&p, &open_cell, numbers[i], (const double[3]){25, 1, 40}, 0.5, 3);
        assert_same(&p);
        problem_free(&p);
    }
}

static void test_no_charges(void **state)
{
    problem p;
    problem_make(&p, &open_cell, 300, (const double[3]){25, 10, 40}, 0, 3);
    memset(p.charge_e, 0, p.n * sizeof *p.charge_e);
    assert_same(&p);
    problem_free(&p);
}

/* All in one bin: each atom would look at all others. */
static void test_what_is_declined(void **state)
{
    problem p;
    problem_make(&p, &open_cell, 6000, (const double[3]){1, 1, 1}, 0, 3);
    assert_string_equal(spread_both(&p, &kernels), "bins hold too many atoms");
    p.n = 4000;
    assert_same(&p);
    device_spread broken = kernels;
    broken.works = false;
    assert_non_null(strstr(spread_both(&p, &broken), "do not build"));
    problem_free(&p);
}

/* An atom that the grid has no node for. */
static void test_outside(void **state)
{
    ley_error error = {0};
    arena memory = {.device = device};
    transfer_atoms made = {.count = 0};
    spread s;
    const char *declined;
    problem p;
    problem_make(&p, &open_cell, 500, (const double[3]){25, 10, 40}, 0, 3);
    p.position_A[77][1] = 1e5;
    p.charge_e[77] = 1;
    device_atoms atoms = {.n = p.n};
    assert_ok(spread_begin(&p.h, p.n, p.charge_e, &s, &error));
    assert_ok(arena_upload(&memory, p.position_A, p.n * sizeof *p.position_A, &atoms.position.buffer, &error));
    assert_ok(arena_upload(&memory, p.charge_e, p.n * sizeof *p.charge_e, &atoms.charge.buffer, &error));
    assert_int_equal(device_spread_run(&kernels, &memory, &p.h, &atoms, &s, &made, &declined, &error),
                     LEY_ERROR_WRONG_RESULT);
    assert_non_null(strstr(error.message, "1 outside"));
    ley_error_clear(&error);
    arena_clear(&memory);
    spread_clear(&s);
    problem_free(&p);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static int said; /* that the host had to do it */

static void hear(void *context, ley_log_level level, const char *text)
{
    said += strstr(text, "the host puts atoms into the mesh's bins: bins hold too many atoms") != NULL;
}

static const ley_grid grid = {.origin_A = {1, 2, 3}, .step_A = LEY_STEPS(1.7, 1.9, 2), .n = {19, 16, 13}};

static ley_map *map_of(const ley_atoms *atoms, const char *binning, ley_splitting kind, ley_solver solver,
                       double spacing_A)
{
    ley_error error = {0};
    ley_job *job;
    const ley_decision decisions[] = {{.name = "method", .value = "msm"}, {.name = "binning", .value = binning}};
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 5 * spacing_A;
    r.spacing_A = spacing_A;
    r.splitting = kind;
    r.window = kind == LEY_SPLITTING_PSWF ? LEY_WINDOW_BSPLINE6 : r.window;
    r.solver = solver;
    ley_run_options run = support_default_run_options();
    run.decision_count = 2;
    run.decisions = decisions;
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &run, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_report *report = ley_job_report(job);
    assert_string_equal(ley_report_note(report, "binning")->text, binning);
    assert_true(ley_report_note(report, "spread_s")->number[0] > 0);
    assert_true(ley_report_note(report, "expected_error")->number[0] > 0);
    assert_true(report->accuracy.passed);
    ley_job_destroy(job);
    return map;
}

static void assert_same_maps(const ley_atoms *atoms, ley_splitting kind, ley_solver solver, double spacing_A)
{
    ley_map *by_host = map_of(atoms, "host", kind, solver, spacing_A),
            *by_device = map_of(atoms, "device", kind, solver, spacing_A);
    assert_memory_equal(ley_map_read_values(by_host), ley_map_read_values(by_device),
                        (size_t)ley_grid_points(&grid) * sizeof(float));
    ley_map_destroy(by_host);
    ley_map_destroy(by_device);
}

static void test_maps(void **state)
{
    ley_atoms *atoms = support_atoms(2000, 0, 33, 5);
    assert_same_maps(atoms, LEY_SPLITTING_TAYLOR4, LEY_SOLVER_MULTILEVEL, 1.6);
    assert_same_maps(atoms, LEY_SPLITTING_TAYLOR4, LEY_SOLVER_AUTO, 1.6);
    assert_same_maps(atoms, LEY_SPLITTING_PSWF, LEY_SOLVER_FOURIER, 1.6);
    ley_atoms_destroy(atoms);
    atoms = support_atoms(80000, 0, 40, 5); /* 4 A: most of them in one bin of the grid */
    ley_log_set(hear, NULL, LEY_LOG_NOTE);
    assert_same_maps(atoms, LEY_SPLITTING_TAYLOR4, LEY_SOLVER_MULTILEVEL, 4);
    ley_log_set(NULL, NULL, LEY_LOG_NOTE);
    assert_true(said > 0);
    ley_atoms_destroy(atoms);
}

static int run_all(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),      cmocka_unit_test(test_few_atoms),
        cmocka_unit_test(test_no_charges), cmocka_unit_test(test_what_is_declined),
        cmocka_unit_test(test_outside),    cmocka_unit_test(test_maps)};
    if (!info->has_double) {
        print_message("%s: no double precision\n", info->name);
        return 0;
    }
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    fast = strcmp(info->platform, "rusticl") != 0;
    device_spread_create(device, &kernels);
    int failures = kernels.works ? 0 : 1;
    if (failures == 0)
        failures = _cmocka_run_group_tests(info->name, tests, sizeof tests / sizeof *tests, NULL, NULL);
    else
        print_error("%s: its kernels do not work\n", info->name);
    device_spread_destroy(&kernels);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run_all);
}
