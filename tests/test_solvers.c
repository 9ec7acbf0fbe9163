/* Solvers of long-range sums on every device of this machine, from atoms to points: against the
 * double reference of the same combination, against exact sums, and against each other; and faults
 * that are planted in them. */
#include "support.h"

#include "clock.h"
#include "engine/engine.h"
#include "error.h"
#include "law/long_range.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/solver.h"
#include "numerics/influence.h"
#include "numerics/lattice_sum.h"
#include "pairwise.h"

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */
static int device_count;   /* so far */
static double float_error; /* what the latest solver may be off by: floats, and its transform */

/* ---- Problems -------------------------------------------------------------------------------- */

enum { MOST_ATOMS = 60, MOST_POINTS = 75 };

typedef struct problem {
    hierarchy hierarchy;
    int atoms, points;
    double position_A[MOST_ATOMS][3], charge_e[MOST_ATOMS];
    ley_grid map;
    double point_A[MOST_POINTS][3];
} problem;

static double fraction(unsigned *seed)
{
    return (double)rand_r(seed) / RAND_MAX;
}

/* So much of the way along the vectors of a box. */
static void put_at(const double vector_A[3][3], const double share[3], double place_A[3])
{
    for (int i = 0; i < 3; i++)
        place_A[i] = share[0] * vector_A[0][i] + share[1] * vector_A[1][i] + share[2] * vector_A[2][i];
}

/* Where the map's points are; and meshes for these and the atoms. */
static void finish_problem(problem *p, const hierarchy_options *o)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const int n_x = (int)p->map.n[0], n_y = (int)p->map.n[1];
    ley_error error = {0};
    cell c;
    p->points = n_x * n_y * (int)p->map.n[2];
    for (int i = 0; i < p->points; i++) {
        const int at[3] = {i % n_x, i / n_x % n_y, i / n_x / n_y};
        for (int axis = 0; axis < 3; axis++)
            p->point_A[i][axis] = p->map.origin_A[axis] + at[axis] * p->map.step_A[axis][axis];
    }
    assert_ok(cell_make(o->periodic, o->cell_A, &c, &error));
    hierarchy_box(&c, (size_t)p->atoms, p->position_A[0], low, high);
    hierarchy_box(&c, (size_t)p->points, p->point_A[0], low, high);
    assert_ok(hierarchy_make(o, low, high, &p->hierarchy, &error));
}

/* Neutral charges in a parallelepiped, and beyond it where it is periodic; and a map in it along x,
 * y and z, whatever the grid's axes are. */
static problem make_problem(const hierarchy_options *o, const double box_A[3][3])
{
    problem p = {.atoms = MOST_ATOMS, .map = {.n = {5, 5, 3}}};
    unsigned seed = 11;
    double total_e = 0;
    for (int i = 0; i < MOST_ATOMS; i++) {
        double share[3];
        for (int axis = 0; axis < 3; axis++)
            share[axis] = o->periodic[axis] ? 1.2 * fraction(&seed) - 0.1 : fraction(&seed);
        put_at(box_A, share, p.position_A[i]);
        p.charge_e[i] = i + 1 < MOST_ATOMS ? 2 * fraction(&seed) - 1 : -total_e;
        total_e += p.charge_e[i];
    }
    put_at(box_A, (const double[3]){0.4, 0.28, 0.17}, p.map.origin_A);
    for (int axis = 0; axis < 3; axis++)
        p.map.step_A[axis][axis] = 0.88 * o->spacing_A; /* one kernel for all */
    finish_problem(&p, o);
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

static bool is_borrowed; /* the potentials are there */

/* What the points get. */
static void run_solver(solver *s, const problem *p, float *values)
{
    const size_t bytes = (size_t)p->points * sizeof(float);
    const coordinate_table planes = {.n = {p->map.n[0], p->map.n[1], p->map.n[2]}, .pitch = {p->map.n[0], p->map.n[1]}};
    ley_error error = {0};
    transfer_map map;
    results phi;
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    assert_ok(
        transfer_map_create(&map, solver_meshes(s), solver_array(s), &p->map, &planes, 1, solver_room(s), &error));
    assert_ok(arena_results(solver_room(s), (int64_t)bytes, &phi, &error));
    sequence_begin(&w, &f, NULL);
    sequence_poison(&w, &phi, bytes);
    if (!is_borrowed)
        solver_run(s, &w);
    transfer_interpolate(&w, solver_meshes(s), &map, 0, p->map.n[2], false, 0, solver_potentials(s),
                         (buffer_of_float){phi.buffer});
    sequence_read(&w, phi.buffer, 0, phi.staging, bytes);
    assert_ok(sequence_finish(&w, &error));
    memcpy(values, phi.staging->bytes, bytes);
    sequence_end(&w);
}

static void ready(solver *s, const problem *p)
{
    const transfer_wish wish = wish_of(p);
    ley_error error = {0};
    assert_ok(solver_ready(s, device, &p->hierarchy, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error));
}

static void load(solver *s, const problem *p)
{
    ley_error error = {0};
    spread atoms;
    assert_ok(spread_make(&p->hierarchy, (size_t)p->atoms, p->position_A[0], p->charge_e, NULL, &atoms, &error));
    assert_ok(solver_load(s, &atoms, &error));
    spread_clear(&atoms);
}

static void solve(const problem *p, float *values)
{
    solver s;
    ready(&s, p);
    load(&s, p);
    run_solver(&s, p, values);
    float_error = 2e-6 + (solver_spectral(&s) != NULL ? 3 * solver_spectral(&s)->fft.error : 0);
    solver_end(&s);
}

/* ---- What is right --------------------------------------------------------------------------- */

/* How far values are from what is right, as a share of the root mean square of that. */
static double off_by(const problem *p, const float *values, const double *right)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < p->points; i++) {
        sum += pow((double)values[i] - right[i], 2);
        squares += right[i] * right[i];
    }
    return sqrt(sum / squares);
}

/* From the double reference of the same combination. */
static double off_by_floats(const problem *p, const float *values)
{
    double right[MOST_POINTS];
    ley_error error = {0};
    assert_ok(long_range_potential(&p->hierarchy, (size_t)p->atoms, p->position_A[0], p->charge_e, 0.05,
                                   (size_t)p->points, p->point_A[0], right, NULL, &error));
    return off_by(p, values, right);
}

/* From what is exactly beyond the cutoff. */
static double off_by_all(const problem *p, const float *values)
{
    const hierarchy *h = &p->hierarchy;
    const lattice_sum_options options = {
        .cell = h->cell, .kappa_per_A = h->kappa_per_A, .far = &h->level[0].split, .cutoff_A = h->level[0].cutoff_A};
    double right[MOST_POINTS];
    lattice_sum *sum;
    ley_error error = {0};
    assert_ok(lattice_sum_create(&options, (size_t)p->atoms, p->position_A[0], p->charge_e, &sum, &error));
    for (int i = 0; i < p->points; i++)
        right[i] = lattice_sum_at(sum, p->point_A[i]);
    lattice_sum_destroy(sum);
    return off_by(p, values, right);
}

static const char *solver_name(const problem *p)
{
    return p->hierarchy.solver == HIERARCHY_FOURIER ? "fourier"
           : p->hierarchy.solver == HIERARCHY_MIXED ? "mixed"
                                                    : "multilevel";
}

/* ---- Each combination ------------------------------------------------------------------------ */

enum {
    SPLITTINGS = SPLITTING_COUNT,
    FEW_SPLITTINGS = 6,
    WINDOWS = WINDOW_COUNT,
    FEW_WINDOWS = 4,
    SOLVERS = 2,
    SCREENINGS = 2
};

/* The first ones have kernels of two sizes. */
static const window_kind windows[WINDOWS] = {WINDOW_NODAL7, WINDOW_BSPLINE8, WINDOW_NODAL3,  WINDOW_BSPLINE4,
                                             WINDOW_NODAL5, WINDOW_NODAL9,   WINDOW_BSPLINE6};

/* Where little time is to be spent, devices take turns: whether it is this one's. */
static bool is_own_turn(int i)
{
    return support_get_level() == SUPPORT_FULL || i % 2 == device_count % 2;
}

/* As which bits of a boundary: periodic along x, y, z; 8: in an oblique cell. The first ones have
 * every number of periodic axes. */
enum { OBLIQUE = 8, BOUNDARIES = 12, FEW_BOUNDARIES = 6 };
static const int boundaries[BOUNDARIES] = {0, 1, 3, 7, OBLIQUE | 3, OBLIQUE | 7, 2, 4, 5, 6, OBLIQUE | 5, OBLIQUE | 6};

static int boundary_count(void)
{
    return support_is_quick() ? FEW_BOUNDARIES : BOUNDARIES;
}

/* A box of so many nodes that meshes have the same sizes with all windows. */
static hierarchy_options options_of(splitting_kind split, window_kind kind, hierarchy_solver how, int boundary,
                                    double box_A[3][3])
{
    static const double slant[3][3] = {{1, 0, 0}, {0.28, 0.96, 0}, {-0.36, 0.48, 0.8}}; /* of length 1 */
    hierarchy_options o = {.splitting = split, .window = kind, .solver = how, .cutoff_A = 4, .spacing_A = 1.25};
    const double nodes = 16 - window_get(kind)->points;
    o.levels = how == HIERARCHY_FOURIER ? 1 : 3;
    for (int axis = 0; axis < 3; axis++)
        o.periodic[axis] = boundary >> axis & 1;
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 3; k++) {
            const bool is_slanted = (boundary & OBLIQUE) != 0 && o.periodic[axis] && o.periodic[k];
            const double along = o.periodic[axis] ? 16 : nodes - 0.01;
            box_A[axis][k] = o.spacing_A * along * (is_slanted ? slant[axis][k] : k == axis);
        }
    memcpy(o.cell_A, box_A, sizeof o.cell_A);
    return o;
}

/* Of a splitting and a window that both ways take. */
static problem plain_problem(hierarchy_solver how, int boundary)
{
    double box_A[3][3];
    const hierarchy_options o = options_of(SPLITTING_TAYLOR4, WINDOW_NODAL7, how, boundary, box_A);
    return make_problem(&o, (const double(*)[3])box_A);
}

/* With those that are two in one. */
static const hierarchy_solver all_solvers[] = {HIERARCHY_MULTILEVEL, HIERARCHY_FOURIER, HIERARCHY_MIXED};
enum { ALL_SOLVERS = sizeof all_solvers / sizeof *all_solvers };

/* B-splines take transforms, screening takes Taylor's splittings. */
static bool can_be(const int *at)
{
    return (at[3] == HIERARCHY_FOURIER || window_get(windows[at[1]])->is_nodal) &&
           (at[4] == 0 || at[0] < SPLITTING_PSWF);
}

/* The same numbers as in double precision, but for floats. */
static void test_combinations(void **state)
{
    double worst = 0;
    int number = 0;
    const bool few = support_is_quick();
    pairwise p = PAIRWISE(few ? FEW_SPLITTINGS : SPLITTINGS, few ? FEW_WINDOWS : WINDOWS, boundary_count(), ALL_SOLVERS,
                          SCREENINGS);
    p.can_be = can_be;
    while (pairwise_next(&p)) {
        if (!is_own_turn(number++))
            continue;
        double box_A[3][3];
        float values[MOST_POINTS];
        hierarchy_options o =
            options_of((splitting_kind)p.at[0], windows[p.at[1]], all_solvers[p.at[3]], boundaries[p.at[2]], box_A);
        o.kappa_per_A = 0.15 * p.at[4];
        const double start_s = support_cpu_s();
        const problem own = make_problem(&o, (const double(*)[3])box_A);
        solve(&own, values);
        const double device_s = support_cpu_s() - start_s, error = off_by_floats(&own, values);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s, %s, %s, boundary %d%s: %.2g; %.2f s and %.2f s\n", splitting_name(o.splitting),
                          own.hierarchy.window->name, solver_name(&own), boundaries[p.at[2]],
                          p.at[4] ? " screened" : "", error, device_s, support_cpu_s() - start_s - device_s);
        assert_true(error < float_error);
        worst = fmax(worst, error);
    }
    print_message("off by up to %.2g\n", worst);
}

/* A period of two nodes along an axis, or of one on the top level. */
static problem thin_problem(hierarchy_solver how, int axis)
{
    double box_A[3][3];
    hierarchy_options o = options_of(SPLITTING_TAYLOR4, WINDOW_NODAL7, how, 7, box_A);
    o.levels = how == HIERARCHY_FOURIER ? 1 : 2;
    box_A[axis][axis] = o.cell_A[axis][axis] = 2 * o.spacing_A;
    const problem made = make_problem(&o, (const double(*)[3])box_A);
    assert_int_equal(made.hierarchy.level[0].n[axis], 2);
    return made;
}

/* Windows and neighbourhoods go round it many times. */
static void test_thin_cells(void **state)
{
    for (int how = 0; how < SOLVERS; how++)
        for (int axis = 0; axis < (support_is_quick() ? 1 : 3); axis++) {
            if (!is_own_turn(how))
                continue;
            const problem own = thin_problem((hierarchy_solver)how, axis);
            float values[MOST_POINTS];
            solve(&own, values);
            const double error = off_by_floats(&own, values);
            if (getenv("TEST_VERBOSE") != NULL)
                print_message("%s, thin along axis %d: %.2g\n", solver_name(&own), axis + 1, error);
            assert_true(error < float_error);
        }
}

/* ---- Against exact sums ---------------------------------------------------------------------- */

/* A long cutoff, a wide window and a smooth splitting. */
static problem fine_problem(hierarchy_solver how, window_kind kind, int boundary)
{
    double box_A[3][3];
    hierarchy_options o =
        options_of(kind == WINDOW_BSPLINE8 ? SPLITTING_PSWF : SPLITTING_TAYLOR5, kind, how, boundary, box_A);
    o.cutoff_A = 8 * o.spacing_A;
    o.levels = 1;
    return make_problem(&o, (const double(*)[3])box_A);
}

static void test_exact_sums(void **state)
{
    int number = 0;
    for (pairwise p = PAIRWISE(boundary_count(), SOLVERS); pairwise_next(&p);) {
        const bool is_fft = p.at[1] == 0;
        if (!is_own_turn(number++))
            continue;
        const problem own = is_fft ? fine_problem(HIERARCHY_FOURIER, WINDOW_BSPLINE8, boundaries[p.at[0]])
                                   : fine_problem(HIERARCHY_MULTILEVEL, WINDOW_NODAL7, boundaries[p.at[0]]);
        float values[MOST_POINTS];
        solve(&own, values);
        const double error = off_by_all(&own, values);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s, boundary %d: %.2g\n", solver_name(&own), boundaries[p.at[0]], error);
        assert_true(error < (is_fft ? float_error : 6e-5));
    }
}

/* Nodal windows have one kernel at the nodes: with open boundaries the same numbers, else both are
 * no further apart than they are off. */
static void test_fft_equals_direct(void **state)
{
    for (int i = 0; i < boundary_count(); i++) {
        double off[2], apart = 0, squares = 0;
        float values[2][MOST_POINTS];
        problem own = {.atoms = 0};
        if (support_is_quick() && boundaries[i] != (device_count % 2 == 0 ? 0 : 7))
            continue;
        for (int how = 0; how < SOLVERS; how++) {
            own = fine_problem((hierarchy_solver)how, WINDOW_NODAL7, boundaries[i]);
            solve(&own, values[how]);
            off[how] = off_by_all(&own, values[how]);
        }
        for (int k = 0; k < own.points; k++) {
            apart += pow((double)values[0][k] - (double)values[1][k], 2);
            squares += pow((double)values[0][k], 2);
        }
        apart = sqrt(apart / squares);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("boundary %d: direct off by %.2g, fft by %.2g, %.2g apart\n", boundaries[i],
                          off[HIERARCHY_MULTILEVEL], off[HIERARCHY_FOURIER], apart);
        assert_true(apart < (boundaries[i] == 0 ? 1.5 * float_error : off[0] + off[1] + float_error));
    }
}

/* The same levels, the top one by all pairs of its nodes or by transforms. */
static void test_top_level_by_transforms(void **state)
{
    for (int i = 0; i < boundary_count(); i++) {
        float values[2][MOST_POINTS];
        double apart = 0, squares = 0;
        if (!is_own_turn(i))
            continue;
        const problem direct = plain_problem(HIERARCHY_MULTILEVEL, boundaries[i]),
                      mixed = plain_problem(HIERARCHY_MIXED, boundaries[i]);
        assert_int_equal(mixed.hierarchy.levels, direct.hierarchy.levels);
        solve(&direct, values[0]);
        solve(&mixed, values[1]);
        assert_true(off_by_floats(&mixed, values[1]) < float_error);
        for (int k = 0; k < direct.points; k++) {
            apart += pow((double)values[0][k] - (double)values[1][k], 2);
            squares += pow((double)values[0][k], 2);
        }
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("boundary %d: %.2g apart\n", boundaries[i], sqrt(apart / squares));
        assert_true(sqrt(apart / squares) < (boundaries[i] == 0 ? 2 * float_error : 5e-3));
    }
}

/* What the points get, from the potentials that another solver has made. */
static void run_borrowed(const solver *lender, const problem *p, float *values)
{
    const size_t bytes = solver_lent_bytes(lender);
    const dev_backend *b = device->backend;
    ley_error error = {0};
    dev_staging *staging = NULL;
    dev_event *done = NULL;
    solver s;
    assert_ok(b->staging_create(device, bytes, &staging, &error));
    assert_ok(b->read(device, solver_potentials(lender).buffer, 0, staging, bytes, NULL, &done, &error));
    assert_ok(b->wait(device, done, &(dev_times){0, 0}, &error));
    ready(&s, p);
    assert_true(solver_lent_bytes(&s) == bytes);
    load(&s, p); /* as one that is let go of */
    solver_unload(&s);
    assert_ok(solver_borrow(&s, &error));
    assert_ok(b->write(device, solver_potentials(&s).buffer, 0, staging->bytes, bytes, &error));
    is_borrowed = true;
    run_solver(&s, p, values);
    is_borrowed = false;
    solver_end(&s);
    b->staging_destroy(device, staging);
}

/* Another device's potentials are as good as one's own: the same bytes. */
static void test_borrowed_potentials(void **state)
{
    for (int i = 0; i < boundary_count() * ALL_SOLVERS; i++) {
        float values[2][MOST_POINTS];
        solver s;
        if (!is_own_turn(i / 2))
            continue;
        const problem own = plain_problem(all_solvers[i % ALL_SOLVERS], boundaries[i / ALL_SOLVERS]);
        ready(&s, &own);
        load(&s, &own);
        run_solver(&s, &own, values[0]);
        run_borrowed(&s, &own, values[1]);
        solver_end(&s);
        assert_memory_equal(values[0], values[1], (size_t)own.points * sizeof(float));
    }
}

/* All levels in one launch, or each in its own with weights of its own: the same bytes. */
static void test_launches(void **state)
{
    for (int i = 0; i < BOUNDARIES; i += i == 0 ? 3 : BOUNDARIES) {
        if (!is_own_turn(i))
            continue;
        float values[2][MOST_POINTS];
        const problem own = plain_problem(HIERARCHY_MULTILEVEL, boundaries[i]);
        for (int by_level = 0; by_level < 2; by_level++) {
            solver s;
            ready(&s, &own);
            s.v_cycle.by_level = by_level;
            load(&s, &own);
            run_solver(&s, &own, values[by_level]);
            solver_end(&s);
        }
        assert_memory_equal(values[0], values[1], (size_t)own.points * sizeof(float));
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* A net charge along one or two periodic axes has no potential. */
static void test_net_charges(void **state)
{
    for (int i = 0; i < BOUNDARIES; i++) {
        const problem own = plain_problem(HIERARCHY_MULTILEVEL, boundaries[i]);
        const int dimensions = own.hierarchy.cell.dimensions;
        const bool has_none = dimensions == 1 || dimensions == 2;
        ley_error error = {0};
        assert_int_equal(hierarchy_check_charge(&own.hierarchy, 2, 10, &error), has_none ? LEY_ERROR_INPUT : LEY_OK);
        assert_true(!has_none || strstr(error.message, "net charge") != NULL);
        assert_ok(hierarchy_check_charge(&own.hierarchy, 1e-9, 10, &error));
    }
}

/* In three dimensions there is a background. */
static void test_background(void **state)
{
    for (int how = 0; how < ALL_SOLVERS; how++) {
        problem own = plain_problem(all_solvers[how], 7);
        float values[MOST_POINTS];
        own.charge_e[3] += 2;
        solve(&own, values);
        assert_true(off_by_floats(&own, values) < float_error);
    }
}

/* A device without transforms says so, and so does one whose library is not the one that is wished
 * for; the other way is there. */
static void test_without_transforms(void **state)
{
    const problem own = fine_problem(HIERARCHY_FOURIER, WINDOW_BSPLINE8, 7);
    const transfer_wish wish = wish_of(&own);
    const fft_wish other = {.library = "none"};
    dev_backend backend = *device->backend;
    dev_info info = *device->info;
    dev without = *device;
    ley_error error = {0};
    solver s;
    backend.fft_library = NULL;
    info.backend = without.backend = &backend;
    without.info = &info;
    assert_int_equal(solver_ready(&s, &without, &own.hierarchy, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error),
                     LEY_ERROR_NO_DEVICE);
    assert_non_null(strstr(error.message, "no transform of 16 x 16 x 16"));
    solver_end(&s);
    assert_int_equal(solver_ready(&s, device, &own.hierarchy, &wish, LEY_SPEC_SUM_FLOAT, &other, &error),
                     LEY_ERROR_NO_DEVICE);
    solver_end(&s);
}

/* A top level, or a cutoff, of more nodes than kernels reach. */
static void test_too_far(void **state)
{
    for (int is_cutoff = 0; is_cutoff < 2; is_cutoff++) {
        double box_A[3][3];
        hierarchy_options o = options_of(SPLITTING_TAYLOR4, WINDOW_NODAL3, HIERARCHY_MULTILEVEL, 0, box_A);
        o.levels = is_cutoff ? 2 : 1;
        o.cutoff_A = is_cutoff ? 16.1 * o.spacing_A : o.cutoff_A;
        for (int axis = 0; axis < 3 && !is_cutoff; axis++)
            box_A[axis][axis] *= 3;
        const problem own = make_problem(&o, (const double(*)[3])box_A);
        const transfer_wish wish = wish_of(&own);
        ley_error error = {0};
        solver s;
        assert_int_equal(solver_ready(&s, device, &own.hierarchy, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error),
                         LEY_ERROR_USAGE);
        assert_non_null(strstr(error.message, is_cutoff ? "a shorter cutoff" : "more levels"));
        solver_end(&s);
    }
}

static void test_cancelling(void **state)
{
    const atomic_bool cancelled = true;
    for (int how = 0; how < SOLVERS; how++) {
        const problem own = fine_problem((hierarchy_solver)how, WINDOW_NODAL7, 7);
        ley_error error = {0};
        spread atoms;
        solver s;
        assert_ok(spread_make(&own.hierarchy, MOST_ATOMS, own.position_A[0], own.charge_e, NULL, &atoms, &error));
        ready(&s, &own);
        solver_cancel_by(&s, &cancelled);
        assert_int_equal(solver_load(&s, &atoms, &error), LEY_CANCELLED);
        solver_end(&s);
        spread_clear(&atoms);
    }
}

/* ---- Long waves ------------------------------------------------------------------------------ */

/* The host's, a multiple of what they are. */
typedef struct waves {
    const problem *of;
    const command_sequence *asking;
    long_charges charges;
    long_wavelengths made;
    double multiple;
    bool fails;
    size_t under_way, behind; /* launches, when it was asked; and how many came then */
} waves;

static ley_status take_waves(void *context, const int64_t n[3], const long_wavelengths **made, ley_error *error)
{
    waves *w = context;
    w->under_way = w->asking->in_flight + w->asking->ended;
    if (w->fails)
        return ley_fail(error, LEY_ERROR_MEMORY, "no waves");
    const ley_status status = long_wavelengths_make(&w->of->hierarchy, n, &w->charges, NULL, &w->made, error);
    assert_int_equal(status, LEY_OK);
    for (int64_t i = 0; i < long_wavelengths_count(&w->made); i++)
        for (int part = 0; part < 2; part++)
            w->made.values[i][part] *= (float)w->multiple;
    *made = &w->made;
    return LEY_OK;
}

/* The potential of a node far from the mesh's edges. */
static float run_with_waves(waves *from, ley_status expected)
{
    const problem *p = from->of;
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    dev_staging *back;
    solver s;
    float value;
    ready(&s, p);
    solver_take_long_waves(&s, (long_wavelengths_source){take_waves, from});
    load(&s, p);
    from->asking = &w;
    const coordinate_table *a = solver_array(&s);
    const size_t middle = (size_t)((a->n[2] / 2 * a->pitch[1] + a->n[1] / 2) * a->pitch[0] + a->n[0] / 2);
    assert_ok(arena_staging(solver_room(&s), sizeof value, &back, &error));
    sequence_begin(&w, &f, NULL);
    solver_run(&s, &w);
    sequence_read(&w, solver_potentials(&s).buffer, middle * sizeof value, back, sizeof value);
    assert_int_equal(sequence_finish(&w, &error), expected);
    memcpy(&value, back->bytes, sizeof value);
    from->behind = w.ended - from->under_way;
    sequence_end(&w);
    ley_error_clear(&error);
    long_wavelengths_clear(&from->made);
    solver_end(&s);
    return value;
}

/* They are asked for when anterpolation and the transform are on their way, take the place of the
 * device's own, and fail the sequence where there are none. */
static void test_long_wavelengths(void **state)
{
    problem own = fine_problem(HIERARCHY_FOURIER, WINDOW_BSPLINE8, 7);
    ley_error error = {0};
    own.hierarchy.long_waves_per_A = 2 * M_PI / cell_length(own.hierarchy.cell.vector_A[0]) * 2.5;
    waves from = {.of = &own, .multiple = 1};
    assert_true(long_wavelengths_are_wanted(&own.hierarchy));
    assert_ok(long_charges_make(&own.hierarchy, (size_t)own.atoms, own.position_A[0], own.charge_e, NULL, &from.charges,
                                &error));
    const double right = (double)run_with_waves(&from, LEY_OK);
    assert_true(from.under_way >= 2);
    assert_int_equal(from.behind, 2); /* the product, and the transform back */
    from.multiple = 0;
    const double without = (double)run_with_waves(&from, LEY_OK);
    from.multiple = 3;
    assert_true(fabs(without - right) > 0.01 * fabs(right));
    assert_true(fabs((double)run_with_waves(&from, LEY_OK) - (3 * right - 2 * without)) < 1e-4 * fabs(right));
    from.fails = true;
    run_with_waves(&from, LEY_ERROR_MEMORY);
    long_charges_clear(&from.charges);
}

/* ---- Kept influence functions ---------------------------------------------------------------- */

/* The potentials of a job of its own. */
static void run_job(const problem *p, float *values)
{
    solver s;
    ready(&s, p);
    load(&s, p);
    run_solver(&s, p, values);
    solver_end(&s);
}

static void forget_kept(void)
{
    for (kept_buffer one; (one = kept_buffers_drop(&device->kept)).buffer != NULL;)
        device->backend->buffer_destroy(device, one.buffer);
}

/* A device that is a card has the influence function of the job before, and the same bytes by it;
 * another mesh's is another one; and one that is made again, as a wrong map had a part in it, is
 * sent again. */
static void test_kept_on_device(void **state)
{
    const dev_info *own = device->info;
    dev_info card = *own;
    const problem p = fine_problem(HIERARCHY_FOURIER, WINDOW_NODAL7, 7),
                  other = fine_problem(HIERARCHY_FOURIER, WINDOW_NODAL5, 7);
    float first[MOST_POINTS], again[MOST_POINTS], others[MOST_POINTS];
    solver s;
    card.device_class = DEV_GPU;
    device->info = &card;
    kept_spectrum_forget();
    forget_kept(); /* of the tests before, where the device is a card indeed */
    run_job(&p, first);
    assert_int_equal(device->kept.count, 1);
    const kept_buffer kept = device->kept.list[0];
    ready(&s, &p);
    assert_true(spectral_send_s(&s.spectral) == 0);
    load(&s, &p);
    assert_ptr_equal(s.spectral.influence.values.buffer, kept.buffer);
    assert_int_equal(device->kept.count, 0); /* nobody else has it meanwhile */
    run_solver(&s, &p, again);
    solver_end(&s);
    assert_memory_equal(first, again, (size_t)p.points * sizeof *first);
    ready(&s, &other);
    assert_true(spectral_send_s(&s.spectral) > 0);
    solver_end(&s);
    run_job(&other, others);
    assert_int_equal(device->kept.count, 2);
    assert_true(off_by_floats(&other, others) < 2e-6);
    kept_spectrum_forget();
    run_job(&p, again);
    assert_int_equal(device->kept.count, 3);
    assert_true(device->kept.list[2].name != kept.name);
    assert_memory_equal(first, again, (size_t)p.points * sizeof *first);
    forget_kept();
    device->info = own;
}

/* ---- Planted faults -------------------------------------------------------------------------- */

enum { THIN = -1 };

/* Faults of the influence function's kernel, which its self-test sees. */
static void test_faults_of_kernels(void **state)
{
    static const struct {
        const char *from, *to;
    } faults[] = {{"waves.y - y", "waves.y - y - 1"},       {"z < stored.z ? z", "z <= stored.z ? z"},
                  {"plane * stored.y", "plane * stored.x"}, {"f.y *= g", "f.y *= -g"},
                  {"x >= waves.x", "x >= waves.x - 1"},     {"z >= waves.z", "z >= waves.z - 1"},
                  {"y - waves.y + 2", "y - waves.y + 1"},   {"long_z > longs.z", "long_z >= longs.z"},
                  {"x <= longs.x", "x < longs.x"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (support_is_quick() && i % 4 != 0 && !(i > 5 && is_own_turn((int)i)))
            continue;
        dev_kernel kernel = {.device = device};
        ley_error error = {0};
        support_plant_fault("influence", faults[i].from, faults[i].to);
        const ley_status status = influence_kernel_create(device, true, true, &kernel, &error);
        unsetenv("LEYDEN_KERNEL_DIR");
        if (status != LEY_ERROR_WRONG_RESULT)
            fail_msg("%s: %d, %s", faults[i].to, (int)status, error.message);
    }
}

static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_combinations),
                                              cmocka_unit_test(test_thin_cells),
                                              cmocka_unit_test(test_exact_sums),
                                              cmocka_unit_test(test_fft_equals_direct),
                                              cmocka_unit_test(test_top_level_by_transforms),
                                              cmocka_unit_test(test_borrowed_potentials),
                                              cmocka_unit_test(test_launches),
                                              cmocka_unit_test(test_net_charges),
                                              cmocka_unit_test(test_background),
                                              cmocka_unit_test(test_without_transforms),
                                              cmocka_unit_test(test_too_far),
                                              cmocka_unit_test(test_cancelling),
                                              cmocka_unit_test(test_long_wavelengths),
                                              cmocka_unit_test(test_kept_on_device),
                                              cmocka_unit_test(test_faults_of_kernels)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    device_count++;
    const int failures = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* The influence function's kernel alone, by its self-test, for Oclgrind. */
static int run_small(const char *selector)
{
    ley_error error = {0};
    dev_kernel kernel;
    if (!support_open(selector, selector, &engine))
        return 1;
    const ley_status status = influence_kernel_create(engine->workers[0].device, true, true, &kernel, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    else
        kernel_destroy(&kernel);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
    return status != LEY_OK;
}

/* Without arguments on each device; else a device and "influence". */
int main(int argc, char **argv)
{
    return argc == 3 ? run_small(argv[1]) : support_on_each_device(run);
}
