/* Long-range maps on every device of this machine against exact sums: every window and splitting,
 * wherever map, atoms and meshes lie. */
#include "pairwise.h"
#include "support.h"

#include "fft.h"
#include "law/accuracy.h"
#include "law/long_range_sum.h"
#include "law/reference.h"
#include "long_range/method.h"
#include "memory.h"
#include "numerics/expected_error.h"
#include "schedule/job.h"
#include "spec.h"

static ley_engine *engine; /* of the device under test */

/* What a map is off by, of the root of the squared terms, and of the potential. */
typedef struct off {
    double rms, worst, relative_rms;
} off;

static reference_value right_at(const ley_atoms *atoms, const ley_long_range *r, const double point_A[3])
{
    const reference_terms t = {.law = &law_long_range,
                               .shares = {.mesh = 1},
                               .constant = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K),
                               .atoms = atoms,
                               .r_min_A = r->r_min_A};
    return reference_sum(&t, point_A);
}

/* Of how many points one is compared: the sums over all of them take longer than the maps. Seven is
 * prime to the sizes of the meshes, so that each plane, row and column has some. */
static int64_t step_of_level(void)
{
    return support_is_quick() ? 7 : support_get_level() == SUPPORT_PAIRWISE ? 3 : 1;
}

/* At every `step`-th point. */
static off compare(const ley_map *map, const ley_atoms *atoms, const ley_long_range *r, int64_t step)
{
    const ley_grid *l = ley_map_grid(map);
    const float *values = ley_map_read_values(map);
    double errors2 = 0, shares2 = 0, rights2 = 0, worst = 0, n = 0;
    for (int64_t i = 0; i < ley_grid_points(l); i++)
        assert_true(isfinite(values[i]));
    for (int64_t i = 0; i < ley_grid_points(l); i += step) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        double point_A[3];
        ley_grid_point_A(l, at, point_A);
        const reference_value right = right_at(atoms, r, point_A);
        const double error = fabs((double)values[i] - right.value);
        if (right.absolute == 0) {
            assert_true(error == 0);
            continue;
        }
        worst = fmax(worst, error / right.absolute);
        shares2 += error / right.absolute * error / right.absolute;
        errors2 += error * error;
        rights2 += right.value * right.value;
        n++;
    }
    return (off){sqrt(shares2 / fmax(n, 1)), worst, rights2 > 0 ? sqrt(errors2 / rights2) : 0};
}

/* Costs that are not known yet, and are by the next job, change no decision. */
static const ley_decision decided[] = {{.name = "method", .value = "msm"},
                                       {.name = "binning", .value = "host"},
                                       {.name = "transposition", .value = "device"}};

static ley_status run_on(ley_engine *on, const ley_atoms *atoms, ley_map *map, const ley_long_range *r,
                         int64_t slab_planes, double *expected, ley_error *error)
{
    ley_job *job = NULL;
    ley_run_options run = support_default_run_options();
    run.slab_planes = slab_planes;
    if (slab_planes > 0) {
        run.decisions = decided;
        run.decision_count = sizeof decided / sizeof *decided;
    }
    ley_status status = ley_job_create_long_range(on, atoms, (ley_target){.map = map}, r, &run, &job, error);
    if (status != LEY_OK)
        return status;
    status = ley_job_run(job, error);
    if (status == LEY_OK && expected != NULL)
        *expected = ley_report_note(ley_job_report(job), "expected_error")->number[0];
    ley_job_destroy(job);
    return status;
}

static ley_map *run(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *r, int64_t slab_planes,
                    double *expected)
{
    ley_error error = {0};
    ley_map *map = support_make_map(grid);
    assert_ok(run_on(engine, atoms, map, r, slab_planes, expected, &error));
    return map;
}

static ley_long_range options_of(ley_splitting s, ley_window w, double cutoff_A, double spacing_A)
{
    ley_long_range r = support_default_long_range();
    r.splitting = s;
    r.window = w;
    r.cutoff_A = cutoff_A;
    r.spacing_A = spacing_A;
    return r;
}

static ley_atoms *water(int64_t atoms)
{
    ley_error error = {0};
    ley_atoms *made;
    assert_ok(ley_waterbox_create(atoms, 3, 0, &made, &error));
    return made;
}

/* A mesh in the box of so many atoms of water, of few points that are as many regions as not. */
static ley_grid inside(int64_t atoms)
{
    const double side_A = ley_waterbox_side_A(atoms);
    return (ley_grid){.origin_A = {0.3, 0.7, 1.1},
                      .step_A = LEY_STEPS((side_A - 1) / 17, (side_A - 2) / 12, (side_A - 3) / 18),
                      .n = {18, 13, 19}};
}

/* ---- Every choice ---------------------------------------------------------------------------- */

/* The error is what it is expected to be, within a factor: neither wrong, nor a promise that says
 * nothing. Of molecules, whose charges nearly cancel, it may be some times less. */
static void assert_expected(off o, double expected, double factor, const char *what)
{
    const double floats = 2e-7;
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s: off by %.3g and %.3g of what is expected, %.3g\n", what, o.rms / expected,
                      o.worst / expected, expected);
    if (!(o.rms < 1.7 * expected + floats && o.rms > expected / factor && o.worst < 6 * expected + 8 * floats))
        fail_msg("%s: off by %g and %g, expected are %g", what, o.rms, o.worst, expected);
}

/* At level quick splittings and windows that other tests have kernels of, too. */
static bool is_tried(const int *at)
{
    const bool is_usual =
        at[0] == LEY_SPLITTING_TAYLOR2 || at[0] == LEY_SPLITTING_TAYLOR4 || at[0] == LEY_SPLITTING_PSWF;
    return !support_is_quick() || (is_usual && (at[1] == LEY_WINDOW_NODAL3 || at[1] == LEY_WINDOW_NODAL7));
}

static void test_every_choice(void **state)
{
    static const double ratios[] = {3, 4.5, 6};
    ley_atoms *atoms = support_atoms(900, 0, ley_waterbox_side_A(1500), 3);
    const ley_grid grid = inside(1500);
    pairwise p = PAIRWISE(LEY_SPLITTING_COUNT, LEY_WINDOW_BSPLINE4, support_is_quick() ? 1 : 3);
    for (p.can_be = is_tried; pairwise_next(&p);) {
        const ley_long_range r = options_of((ley_splitting)p.at[0], (ley_window)p.at[1], 9, 9 / ratios[p.at[2]]);
        double expected;
        ley_map *map = run(atoms, &grid, &r, 0, &expected);
        char what[80];
        snprintf(what, sizeof what, "splitting %d, window %d, %g", p.at[0], p.at[1], ratios[p.at[2]]);
        assert_expected(compare(map, atoms, &r, step_of_level()), expected, 3, what);
        ley_map_destroy(map);
    }
    ley_atoms_destroy(atoms);
}

/* At level quick one window, and so one size of transforms, which take seconds to compile. */
static bool is_tried_by_transforms(const int *at)
{
    const bool is_usual =
        at[0] == LEY_SPLITTING_TAYLOR2 || at[0] == LEY_SPLITTING_TAYLOR4 || at[0] == LEY_SPLITTING_PSWF;
    return !support_is_quick() || (is_usual && at[1] == LEY_WINDOW_BSPLINE6);
}

/* One mesh and its transform, B-splines too. */
static void test_every_choice_by_transforms(void **state)
{
    static const double ratios[] = {3, 4.5, 6};
    ley_error error = {0};
    char why[256];
    if (!fft_is_there(engine->workers[0].info, why, sizeof why)) {
        print_message("no transforms: %s\n", why);
        return;
    }
    ley_atoms *atoms = support_atoms(900, 0, ley_waterbox_side_A(1500), 3);
    const ley_grid grid = inside(1500);
    pairwise p = PAIRWISE(LEY_SPLITTING_COUNT, LEY_WINDOW_COUNT, support_is_quick() ? 1 : 3);
    for (p.can_be = is_tried_by_transforms; pairwise_next(&p);) {
        ley_long_range r = options_of((ley_splitting)p.at[0], (ley_window)p.at[1], 9, 9 / ratios[p.at[2]]);
        double expected;
        char what[80];
        r.solver = LEY_SOLVER_FOURIER;
        ley_map *map = run(atoms, &grid, &r, 0, &expected);
        snprintf(what, sizeof what, "fft, splitting %d, window %d, %g", p.at[0], p.at[1], ratios[p.at[2]]);
        assert_expected(compare(map, atoms, &r, step_of_level()), expected, 3, what);
        ley_map_destroy(map);
    }
    ley_long_range r = options_of(LEY_SPLITTING_PSWF, LEY_WINDOW_BSPLINE6, 9, 2);
    r.solver = LEY_SOLVER_FOURIER;
    r.fft = "fftz";
    ley_map *map = support_make_map(&grid);
    assert_error(run_on(engine, atoms, map, &r, 0, NULL, &error), LEY_ERROR_NO_DEVICE, "fftz");
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_the_papers_setting(void **state)
{
    enum { ATOMS = 6591 };
    ley_atoms *atoms = water(ATOMS);
    const double side_A = ley_waterbox_side_A(ATOMS);
    const ley_grid grid = {
        .origin_A = {0, 0, 0}, .step_A = LEY_STEPS(side_A / 40, side_A / 40, side_A / 40), .n = {41, 41, 41}};
    ley_long_range r = support_default_long_range();
    ley_long_range_papers(&r);
    assert_true(r.cutoff_A == 12 && r.spacing_A == 2 && r.splitting == LEY_SPLITTING_TAYLOR2 &&
                r.window == LEY_WINDOW_NODAL3 && r.solver == LEY_SOLVER_MULTILEVEL && r.levels == 0);
    ley_map *map = run(atoms, &grid, &r, 0, NULL);
    const off o = compare(map, atoms, &r, 37);
    print_message("papers: off by %.2g of the potential\n", o.relative_rms);
    assert_true(o.relative_rms < 2.2e-3);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* One mesh or several are as right, and it is all of the potential that they give. */
static void test_levels(void **state)
{
    ley_atoms *atoms = water(3000);
    const ley_grid grid = inside(3000);
    for (int levels = 1; levels <= 4; levels++) {
        ley_long_range r = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, 8, 2);
        double expected;
        r.levels = levels;
        ley_map *map = run(atoms, &grid, &r, 0, &expected);
        assert_expected(compare(map, atoms, &r, step_of_level()), expected, 10, "levels");
        ley_map_destroy(map);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Maps that cover a corner of the molecule, its middle, or nothing of it near or far; a plane, a
 * row, a point. */
static void test_maps_anywhere(void **state)
{
    static const ley_grid meshes[] = {
        {.origin_A = {-3, -2.5, -1}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {11, 9, 17}},
        {.origin_A = {9, 10, 11}, .step_A = LEY_STEPS(0.3, 2.5, 0.7), .n = {9, 9, 9}},
        {.origin_A = {40, 3, 5}, .step_A = LEY_STEPS(3, 1, 1), .n = {8, 8, 8}},
        {.origin_A = {-150, -90, 60}, .step_A = LEY_STEPS(7, 7, 7), .n = {9, 5, 4}},
        {.origin_A = {1.25, 2.5, 7}, .step_A = LEY_STEPS(0.75, 0.75, 0.75), .n = {25, 30, 1}},
        {.origin_A = {1, 2, 3}, .step_A = LEY_STEPS(1, 1, 1), .n = {1, 1, 1}}};
    ley_atoms *atoms = water(1500);
    const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, 10, 2);
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i += support_is_quick() ? 2 : 1) {
        double expected;
        ley_map *map = run(atoms, &meshes[i], &r, 0, &expected);
        const off o = compare(map, atoms, &r, 1);
        if (!(o.worst < 8 * expected))
            fail_msg("map %zu: off by %g, expected are %g", i, o.worst, expected);
        ley_map_destroy(map);
    }
    ley_atoms_destroy(atoms);
}

/* Wherever atoms and map lie on the meshes' nodes, the error is the same, however far from the
 * origin. */
static void test_places_of_meshes(void **state)
{
    static const double shifts_A[][3] = {{0, 0, 0},          {1, 1, 1},     {0.5, 0.25, 1.75},
                                         {1.999, 0.001, -1}, {-77, 31, 40}, {1e5, -2e5, 4e5}};
    enum { SHIFTS = sizeof shifts_A / sizeof *shifts_A };
    ley_error error = {0};
    ley_atoms *atoms;
    assert_ok(ley_waterbox_create(900, 3, 0.25, &atoms, &error)); /* on no grid, with which meshes resonate */
    const size_t n = ley_atoms_count(atoms);
    double least = INFINITY, most = 0, *place_A = malloc(n * 3 * sizeof *place_A);
    for (int i = 0; i < SHIFTS; i++) {
        ley_grid grid = inside(900);
        for (size_t k = 0; k < 3 * n; k++)
            place_A[k] = ley_atoms_positions_A(atoms)[k] + shifts_A[i][k % 3];
        for (int axis = 0; axis < 3; axis++)
            grid.origin_A[axis] += shifts_A[i][axis];
        ley_atoms *shifted = support_make_atoms(n, place_A, ley_atoms_charges_e(atoms), NULL);
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, 8, 2);
        ley_map *map = run(shifted, &grid, &r, 0, NULL);
        const off o = compare(map, shifted, &r, step_of_level());
        least = fmin(least, o.rms);
        most = fmax(most, o.rms);
        ley_map_destroy(map);
        ley_atoms_destroy(shifted);
    }
    print_message("off by %.3g to %.3g\n", least, most);
    assert_true(most < 1.25 * least);
    free(place_A);
    ley_atoms_destroy(atoms);
}

/* ---- Few atoms and many ---------------------------------------------------------------------- */

static void test_few_atoms(void **state)
{
    static const double place_A[][3] = {{3.3, 4.4, 5.5}, {9.1, 4, 4}, {1, 15, 2}};
    static const double charges_e[][3] = {{1, 0, 0}, {0, 0, 0}, {-2, 0.5, 3}, {1e-6, 0, 1e6}};
    static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(1, 1, 1), .n = {17, 20, 11}};
    for (int i = 0; i < 4; i++) {
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, 6, 1.5);
        double expected;
        ley_atoms *atoms = support_make_atoms(i == 0 ? 1 : 3, place_A[0], charges_e[i], NULL);
        ley_map *map = run(atoms, &grid, &r, 0, &expected);
        const off o = compare(map, atoms, &r, 1);
        if (!(o.worst < 8 * expected))
            fail_msg("case %d: off by %g, expected are %g", i, o.worst, expected);
        ley_map_destroy(map);
        ley_atoms_destroy(atoms);
    }
}

/* What independent charges cannot be: of one sign, or a crystal's; in step with the mesh, as is
 * the map, so that each charge is off in the same way. The job still passes its own judgement. */
static void test_charges_in_step(void **state)
{
    enum { EDGE = 14, ATOMS = EDGE * EDGE * EDGE };
    static double place_A[ATOMS][3], charge_e[ATOMS];
    for (int kind = 0; kind < 4; kind++) {
        const double apart_A = kind < 2 ? 2 : 2.8;
        const ley_grid grid = {
            .origin_A = {0.9, 1.1, 0.7}, .step_A = LEY_STEPS(apart_A, apart_A, apart_A), .n = {EDGE, EDGE, EDGE}};
        for (int i = 0; i < ATOMS; i++) {
            const int at[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE};
            for (int axis = 0; axis < 3; axis++)
                place_A[i][axis] = apart_A * at[axis];
            charge_e[i] = kind % 2 == 0 || (at[0] + at[1] + at[2]) % 2 == 0 ? 1 : -1;
        }
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 12, 2);
        double expected;
        ley_atoms *atoms = support_make_atoms(ATOMS, place_A[0], charge_e, NULL);
        ley_map *map = run(atoms, &grid, &r, 0, &expected);
        const off o = compare(map, atoms, &r, 1);
        print_message("in step, %d: off by %.2g and %.2g of what is expected\n", kind, o.rms / expected,
                      o.worst / expected);
        assert_true(o.worst < 2 * expected);
        ley_map_destroy(map);
        ley_atoms_destroy(atoms);
    }
}

static double widened; /* how many times wider limits are once somebody has looked closer */

static accuracy_limits look_at_limits(const void *task)
{
    const double before = method_msm.limits(task).tolerance;
    assert_true(method_msm.look_closer((void *)(uintptr_t)task));
    assert_false(method_msm.look_closer((void *)(uintptr_t)task));
    const accuracy_limits after = method_msm.limits(task);
    widened = after.tolerance / before;
    return after;
}

/* A heap of charges between the same nodes: all are off alike, by the root of their number more
 * than independent ones. Limits are as wide as that once somebody has looked closer, and once
 * only. */
static void test_a_heap(void **state)
{
    enum { HEAP = 900 };
    static double place_A[HEAP][3], charge_e[HEAP];
    ley_error error = {0};
    ley_job *job;
    const ley_grid grid = {.origin_A = {-9, -9, -9}, .step_A = LEY_STEPS(1.3, 1.4, 1.2), .n = {14, 13, 15}};
    const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 8, 2);
    for (int i = 0; i < HEAP; i++) {
        for (int axis = 0; axis < 3; axis++)
            place_A[i][axis] = 0.4 + 1e-4 * i;
        charge_e[i] = 0.1;
    }
    ley_run_options options = support_default_run_options();
    ley_atoms *atoms = support_make_atoms(HEAP, place_A[0], charge_e, NULL);
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &options, &job, &error));
    static method looking;
    looking = method_msm;
    looking.limits = look_at_limits;
    job->method = &looking;
    assert_ok(ley_job_run(job, &error));
    assert_true(ley_job_report(job)->accuracy.passed);
    assert_float_equal(widened, sqrt(HEAP), 0.02 * sqrt(HEAP));
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_many_atoms(void **state)
{
    enum { ATOMS = 99999 };
    const double side_A = ley_waterbox_side_A(ATOMS);
    ley_atoms *atoms = water(ATOMS);
    const ley_grid grid = {.origin_A = {-4, -4, -4},
                           .step_A = LEY_STEPS(3, 3, (side_A + 8) / 40),
                           .n = {(int64_t)(side_A / 3) + 3, (int64_t)(side_A / 3) + 3, 41}};
    const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, 10, 2);
    double expected;
    ley_map *map = run(atoms, &grid, &r, 0, &expected);
    const off o = compare(map, atoms, &r, 401);
    assert_expected(o, expected, 10, "many");
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void assert_refused(const ley_long_range *r, ley_status status, const char *says)
{
    static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(1, 1, 1), .n = {9, 9, 9}};
    ley_error error = {0};
    ley_job *job = NULL;
    ley_run_options run = support_default_run_options();
    ley_atoms *atoms = water(3);
    ley_map *map = support_make_map(&grid);
    assert_int_equal(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, r, &run, &job, &error), status);
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_what_is_refused(void **state)
{
    const ley_long_range good = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 12, 2);
    static const struct {
        double cutoff_A, spacing_A;
        const char *says;
    } lengths[] = {{0, 2, "cutoff 0 A, must be above r_min"},
                   {NAN, 2, "cutoff nan A"},
                   {INFINITY, 2, "cutoff inf A"},
                   {-3, 2, "cutoff -3 A"},
                   {0.05, 0.01, "must be above r_min (0.05 A)"},
                   {12, 0, "mesh spacing 0 A"},
                   {12, NAN, "mesh spacing nan A"},
                   {12, -1, "mesh spacing -1 A"},
                   {12, 12.5, "at most the cutoff, 12 A"},
                   {12, 0.7, "is 17.14 mesh spacings of 0.7 A"}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ley_long_range r = good;
        r.cutoff_A = lengths[i].cutoff_A;
        r.spacing_A = lengths[i].spacing_A;
        assert_refused(&r, LEY_ERROR_USAGE, lengths[i].says);
    }
    ley_long_range r = good;
    r.window = LEY_WINDOW_BSPLINE6;
    assert_refused(&r, LEY_ERROR_USAGE, "the multilevel solver takes nodal windows");
    r = good;
    r.levels = -1;
    assert_refused(&r, LEY_ERROR_USAGE, "levels -1, must be 0 to 16");
    r.levels = 17;
    assert_refused(&r, LEY_ERROR_USAGE, "levels 17, must be 0 to 16");
    r = good;
    r.solver = LEY_SOLVER_FOURIER;
    r.levels = 2;
    assert_refused(&r, LEY_ERROR_USAGE, "the fourier solver has one level, not 2");
    r = good;
    r.solver = LEY_SOLVER_COUNT;
    assert_refused(&r, LEY_ERROR_USAGE, "unknown solver 4");
    r = good;
    r.splitting = LEY_SPLITTING_COUNT;
    assert_refused(&r, LEY_ERROR_USAGE, "unknown splitting 10");
    r = good;
    r.window = (ley_window)-1;
    assert_refused(&r, LEY_ERROR_USAGE, "unknown window -1");
    r = good;
    r.dielectric = 0;
    assert_refused(&r, LEY_ERROR_USAGE, "dielectric 0");
    r = good;
    r.size = offsetof(ley_long_range, fft);
    assert_refused(&r, LEY_ERROR_USAGE, "ley_long_range");
    r.size = sizeof r + 1;
    assert_refused(&r, LEY_ERROR_USAGE, "ley_long_range");
}

/* One level, and nodes from end to end: more than kernels reach. And meshes around what is far
 * apart. */
static void test_what_is_too_large(void **state)
{
    ley_error error = {0};
    ley_grid grid = inside(1500);
    ley_atoms *atoms = water(1500);
    ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 6, 0.5);
    r.levels = 1;
    ley_map *map = support_make_map(&grid);
    assert_error(run_on(engine, atoms, map, &r, 0, NULL, &error), LEY_ERROR_USAGE, "1 level is too few");
    ley_error_clear(&error);
    ley_map_destroy(map);
    grid.origin_A[1] = 9e8;
    r.levels = 0;
    assert_ok(ley_map_create(&grid, &map, &error));
    assert_error(run_on(engine, atoms, map, &r, 0, NULL, &error), LEY_ERROR_INPUT, "nodes along axis 2");
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* Atoms without a charge need no nodes, wherever they are. */
static void test_without_a_charge(void **state)
{
    const double places_A[4][3] = {{4, 5, 6}, {6, 5, 4}, {1e8, -1e8, 0}, {3, 9, 4}}, charges_e[4] = {1, -1, 0, 0.5};
    const ley_grid grid = inside(1500);
    const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 6, 2);
    ley_atoms *atoms = support_make_atoms(4, places_A[0], charges_e, NULL);
    double expected;
    ley_map *map = run(atoms, &grid, &r, 0, &expected);
    assert_true(compare(map, atoms, &r, 7).rms < 2 * expected);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* Meshes that a processor, as a device, would take from the host's memory: two of 200^3 nodes and
 * more. */
static void test_meshes_of_a_processor(void **state)
{
    ley_error error = {0};
    if (ley_engine_device(engine, 0)->device_class != LEY_CLASS_CPU)
        return;
    const ley_grid points = inside(1500);
    ley_atoms *atoms = water(1500);
    const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, 0.6, 0.12);
    ley_map *map = support_make_map(&points);
    memory_pretend(60e6);
    const ley_status status = run_on(engine, atoms, map, &r, 0, NULL, &error);
    memory_pretend(-1);
    assert_int_equal(status, LEY_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "meshes for the processor as a device would take"));
    assert_non_null(strstr(error.message, "what helps: a wider mesh spacing"));
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* At level quick devices but the first have some of the tests: each kernel is compiled for each. */
static int run_all(const char *selector, const ley_device_info *info)
{
    enum { FEW = 5 };
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_refused),
                                              cmocka_unit_test(test_what_is_too_large),
                                              cmocka_unit_test(test_meshes_of_a_processor),
                                              cmocka_unit_test(test_without_a_charge),
                                              cmocka_unit_test(test_the_papers_setting),
                                              cmocka_unit_test(test_charges_in_step),
                                              cmocka_unit_test(test_a_heap),
                                              cmocka_unit_test(test_few_atoms),
                                              cmocka_unit_test(test_levels),
                                              cmocka_unit_test(test_maps_anywhere),
                                              cmocka_unit_test(test_places_of_meshes),
                                              cmocka_unit_test(test_many_atoms),
                                              cmocka_unit_test(test_every_choice),
                                              cmocka_unit_test(test_every_choice_by_transforms)};
    const size_t all = sizeof tests / sizeof *tests, count = support_is_quick() && info->index > 0 ? FEW : all;
    if (!support_open(selector, info->name, &engine))
        return 1;
    const int failures = _cmocka_run_group_tests(info->name, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run_all);
}
