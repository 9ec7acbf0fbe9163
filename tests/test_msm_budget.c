/* What each step of long-range sums in floats costs: a device's steps one by one, each of what the
 * one before it really gave, against the same step in double precision; what is different is taken
 * through the rest of the steps in double precision, to the points. The budget of docs/long-
 * range.md holds for every window, splitting, cutoff and kind of charges here, and the case that
 * comes closest to breaking it is said. */
#include "support.h"

#include "engine/engine.h"
#include "law/long_range.h"
#include "long_range/model/problem.h"
#include "long_range/model/short_range_part.h"
#include "long_range/solver.h"
#include "pairwise.h"

static ley_engine *engine;
static dev *device; /* its own; its worker thread sleeps meanwhile */

/* ---- The budget ------------------------------------------------------------------------------ */

typedef enum step { ANTERPOLATION, RESTRICTION, CUTOFF, TOP, TRANSFORM, INTERPOLATION, PAIRS, STEPS } step;

/* Root mean square at the points, as a share of the potential's. */
static const struct {
    const char *name;
    double budget;
} steps[STEPS] = {[ANTERPOLATION] = {"anterpolation", 1.5e-6},
                  [RESTRICTION] = {"restriction", 1.2e-6},
                  [CUTOFF] = {"lattice cutoff and prolongation", 1e-6},
                  [TOP] = {"top level", 1.5e-6},
                  [TRANSFORM] = {"transforms and product", 1e-6},
                  [INTERPOLATION] = {"interpolation", 2e-7},
                  [PAIRS] = {"pairs", 1.5e-6}};

static struct {
    double share;
    char what[120];
} worst[STEPS];

/* ---- A problem ------------------------------------------------------------------------------- */

enum { MOST_ATOMS = 300, POINTS = 7 * 6 * 5, ONE = 0, CROWD, ONE_SIGN, WATER, KINDS };
static const char *const kind_names[KINDS] = {"one charge", "60 neutral charges", "60 of one sign", "water"};

typedef struct problem {
    char what[120];
    ley_long_range range;
    ley_grid map;
    ley_atoms *atoms;
    size_t n;
    const double *position_A, *charge_e;
    double point_A[POINTS][3];
    hierarchy meshes;
    double rms; /* of the whole potential at the points */
} problem;

static ley_atoms *atoms_of(int kind)
{
    static double place_A[60][3], charge_e[60];
    ley_error error = {0};
    ley_atoms *made;
    unsigned seed = 17;
    double total_e = 0;
    if (kind == WATER) {
        assert_ok(ley_waterbox_create(MOST_ATOMS, 3, 0, &made, &error));
        return made;
    }
    for (int i = 0; i < 60; i++) {
        for (int axis = 0; axis < 3; axis++)
            place_A[i][axis] = 14.0 * rand_r(&seed) / RAND_MAX;
        charge_e[i] = kind == CROWD && i == 59 ? -total_e : 2.0 * rand_r(&seed) / RAND_MAX - (kind == CROWD ? 1 : 0);
        total_e += charge_e[i];
    }
    assert_ok(ley_atoms_create(kind == ONE ? 1 : 60, place_A[0], charge_e, NULL, &made, &error));
    return made;
}

/* Of all charges, one by one, in e/A. */
static double whole_rms(const problem *p)
{
    double squares = 0;
    for (int i = 0; i < POINTS; i++) {
        double sum = 0;
        for (size_t k = 0; k < p->n; k++) {
            double d_A[3];
            for (size_t axis = 0; axis < 3; axis++)
                d_A[axis] = p->point_A[i][axis] - p->position_A[3 * k + axis];
            sum += p->charge_e[k] / fmax(cell_length(d_A), p->range.r_min_A);
        }
        squares += sum * sum;
    }
    return sqrt(squares / POINTS);
}

static problem make_problem(ley_solver how, ley_window shape, ley_splitting split, double ratio, int kind)
{
    problem p = {.map = {.n = {7, 6, 5}, .origin_A = {1.3, 0.2, 2.9}}, .atoms = atoms_of(kind)};
    ley_error error = {0};
    ley_long_range_default(&p.range);
    p.range.solver = how;
    p.range.window = shape;
    p.range.splitting = split;
    p.range.spacing_A = 1.25;
    p.range.cutoff_A = 1.25 * ratio;
    p.range.levels = how == LEY_SOLVER_FOURIER ? 0 : 2;
    p.n = ley_atoms_count(p.atoms);
    p.position_A = ley_atoms_positions_A(p.atoms);
    p.charge_e = ley_atoms_charges_e(p.atoms);
    for (int axis = 0; axis < 3; axis++)
        p.map.step_A[axis][axis] = 1.1; /* one kernel for all */
    for (int64_t i = 0; i < POINTS; i++) {
        const int64_t at[3] = {i % p.map.n[0], i / p.map.n[0] % p.map.n[1], i / p.map.n[0] / p.map.n[1]};
        ley_grid_point_A(&p.map, at, p.point_A[i]);
    }
    p.rms = whole_rms(&p);
    assert_ok(msm_meshes(&p.range, p.atoms, &p.map, &p.meshes, &error));
    snprintf(p.what, sizeof p.what, "%s, %s, a/h %g, %s", p.meshes.window->name,
             splitting_name(p.meshes.level[0].split.kind), ratio, kind_names[kind]);
    return p;
}

/* ---- On the device --------------------------------------------------------------------------- */

/* What each step has made: all levels' charges, and their potentials when all is done. */
typedef struct made {
    double *charge[HIERARCHY_MOST_LEVELS], *potential[HIERARCHY_MOST_LEVELS];
    float value[POINTS];
} made;

static void free_made(made *m)
{
    for (int k = 0; k < HIERARCHY_MOST_LEVELS; k++) {
        free(m->charge[k]);
        free(m->potential[k]);
    }
}

static double *doubles(int64_t n)
{
    double *values = calloc((size_t)n, sizeof *values);
    assert_non_null(values);
    return values;
}

/* A level out of a buffer of all. */
static double *level_of(const hierarchy *h, int level, const coordinate_table *array, const float *all)
{
    const int64_t *n = h->level[level].n;
    double *values = doubles(hierarchy_nodes(&h->level[level])), *to = values;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++)
                *to++ = (double)all[array->first + coordinates_along_axis(array, 0, x) +
                                    coordinates_along_axis(array, 1, y) + coordinates_along_axis(array, 2, z)];
    return values;
}

/* Brings a buffer of meshes home. */
static void bring(solver *s, command_sequence *w, dev_buffer *buffer, size_t bytes, double *levels[])
{
    const hierarchy *h = s->kind == HIERARCHY_FOURIER ? s->spectral.hierarchy : s->v_cycle.hierarchy;
    const coordinate_table *arrays = s->kind == HIERARCHY_FOURIER ? s->spectral.arrays : s->v_cycle.arrays;
    ley_error error = {0};
    dev_staging *staging = NULL;
    assert_ok(arena_staging(solver_room(s), bytes, &staging, &error));
    sequence_read(w, buffer, 0, staging, bytes);
    assert_ok(sequence_finish(w, &error));
    for (int k = 0; k < h->levels; k++)
        levels[k] = level_of(h, k, &arrays[k], staging->bytes);
}

static void run_steps(solver *s, const problem *p, made *m)
{
    const size_t bytes = POINTS * sizeof(float);
    const coordinate_table planes = {.n = {p->map.n[0], p->map.n[1], p->map.n[2]}, .pitch = {p->map.n[0], p->map.n[1]}};
    const bool is_fft = s->kind == HIERARCHY_FOURIER;
    ley_error error = {0};
    transfer_map map;
    results phi;
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    assert_ok(
        transfer_map_create(&map, solver_meshes(s), solver_array(s), &p->map, &planes, 1, solver_room(s), &error));
    assert_ok(arena_results(solver_room(s), (int64_t)bytes, &phi, &error));
    if (is_fft) { /* whose transform is where the charges were */
        sequence_begin(&w, &f, NULL);
        sequence_fill(&w, s->spectral.charges.buffer, 0, 0, s->spectral.bytes);
        transfer_anterpolate(&w, &s->spectral.meshes, &s->spectral.atoms, s->spectral.charges);
        bring(s, &w, s->spectral.charges.buffer, s->spectral.bytes, m->charge);
    }
    sequence_end(&w);
    sequence_begin(&w, &f, NULL);
    solver_run(s, &w);
    transfer_interpolate(&w, solver_meshes(s), &map, 0, p->map.n[2], false, 0, solver_potentials(s),
                         (buffer_of_float){phi.buffer});
    sequence_read(&w, phi.buffer, 0, phi.staging, bytes);
    assert_ok(sequence_finish(&w, &error));
    memcpy(m->value, phi.staging->bytes, bytes);
    sequence_end(&w);
    sequence_begin(&w, &f, NULL);
    bring(s, &w, solver_potentials(s).buffer, is_fft ? s->spectral.bytes : s->v_cycle.bytes, m->potential);
    sequence_end(&w);
    sequence_begin(&w, &f, NULL);
    if (!is_fft)
        bring(s, &w, s->v_cycle.charges.buffer, s->v_cycle.bytes, m->charge);
    sequence_end(&w);
}

static made run(const problem *p)
{
    transfer_wish wish = {.window = p->meshes.window, .along_axes = true};
    ley_error error = {0};
    made m = {.charge = {NULL}};
    spread atoms;
    solver s;
    for (int axis = 0; axis < 3; axis++)
        wish.nodes_per_point[axis] = p->map.step_A[axis][axis] / p->range.spacing_A;
    assert_ok(solver_ready(&s, device, &p->meshes, &wish, LEY_SPEC_SUM_FLOAT, NULL, &error));
    assert_ok(spread_make(&p->meshes, p->n, p->position_A, p->charge_e, NULL, &atoms, &error));
    assert_ok(solver_load(&s, &atoms, &error));
    spread_clear(&atoms);
    run_steps(&s, p, &m);
    solver_end(&s);
    return m;
}

/* ---- What a step is off by ------------------------------------------------------------------- */

static double *difference(int64_t n, const double *a, const double *b)
{
    double *off = doubles(n);
    for (int64_t i = 0; i < n; i++)
        off[i] = a[i] - b[i];
    return off;
}

/* Potentials of a level, down to the points: their root mean square. */
static double at_points(const problem *p, int level, const double *potential)
{
    const hierarchy *h = &p->meshes;
    double *here = doubles(hierarchy_nodes(&h->level[level])), sum = 0;
    memcpy(here, potential, (size_t)hierarchy_nodes(&h->level[level]) * sizeof *here);
    for (int k = level - 1; k >= 0; k--) {
        double *finer = doubles(hierarchy_nodes(&h->level[k]));
        long_range_prolongate(h, k, here, finer);
        free(here);
        here = finer;
    }
    for (int i = 0; i < POINTS; i++)
        sum += pow(long_range_interpolate(h, here, p->point_A[i]), 2);
    free(here);
    return sqrt(sum / POINTS);
}

/* Potentials of a level, of its charges and what these make of coarser levels. */
static double *potentials_of(const hierarchy *h, int level, const double *charge)
{
    ley_error error = {0};
    double *potential = doubles(hierarchy_nodes(&h->level[level]));
    if (h->solver == HIERARCHY_FOURIER) {
        assert_ok(long_range_transform(h, charge, potential, &error));
    } else if (level == h->levels - 1) {
        assert_ok(long_range_top(h, charge, potential, &error));
    } else {
        double *coarse = doubles(hierarchy_nodes(&h->level[level + 1]));
        long_range_restrict(h, level, charge, coarse);
        double *further = potentials_of(h, level + 1, coarse);
        assert_ok(long_range_cutoff(h, level, charge, potential, &error));
        long_range_prolongate(h, level, further, potential);
        free(coarse);
        free(further);
    }
    return potential;
}

static double charges_at_points(const problem *p, int level, const double *charge)
{
    double *potential = potentials_of(&p->meshes, level, charge);
    const double rms = at_points(p, level, potential);
    free(potential);
    return rms;
}

static void note(const problem *p, step which, double off)
{
    const double share = off / p->rms;
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%-32s %.2g: %s\n", steps[which].name, share, p->what);
    if (!(share <= worst[which].share)) {
        worst[which].share = share;
        memcpy(worst[which].what, p->what, sizeof p->what);
    }
}

static void judge_charges(const problem *p, const made *m)
{
    const hierarchy *h = &p->meshes;
    double *right = doubles(hierarchy_nodes(&h->level[0]));
    long_range_anterpolate(h, p->n, p->position_A, p->charge_e, right);
    double *off = difference(hierarchy_nodes(&h->level[0]), m->charge[0], right);
    note(p, ANTERPOLATION, charges_at_points(p, 0, off));
    free(off);
    free(right);
    for (int k = 1; k < h->levels; k++) {
        right = doubles(hierarchy_nodes(&h->level[k]));
        long_range_restrict(h, k - 1, m->charge[k - 1], right);
        off = difference(hierarchy_nodes(&h->level[k]), m->charge[k], right);
        note(p, RESTRICTION, charges_at_points(p, k, off));
        free(off);
        free(right);
    }
}

static void judge_potentials(const problem *p, const made *m)
{
    const hierarchy *h = &p->meshes;
    for (int k = 0; k < h->levels; k++) {
        double *right = doubles(hierarchy_nodes(&h->level[k]));
        const bool is_top = k == h->levels - 1, is_fft = h->solver == HIERARCHY_FOURIER;
        ley_error error = {0};
        assert_ok(is_fft   ? long_range_transform(h, m->charge[k], right, &error)
                  : is_top ? long_range_top(h, m->charge[k], right, &error)
                           : long_range_cutoff(h, k, m->charge[k], right, &error));
        if (!is_top)
            long_range_prolongate(h, k, m->potential[k + 1], right);
        double *off = difference(hierarchy_nodes(&h->level[k]), m->potential[k], right);
        note(p, is_fft ? TRANSFORM : is_top ? TOP : CUTOFF, at_points(p, k, off));
        free(off);
        free(right);
    }
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += pow((double)m->value[i] - long_range_interpolate(h, m->potential[0], p->point_A[i]), 2);
    note(p, INTERPOLATION, sqrt(sum / POINTS));
}

/* The short-range sum alone. */
static void judge_pairs(const problem *p)
{
    pairs_formula formula;
    ley_error error = {0};
    ley_job *job = NULL;
    ley_map *map = NULL;
    const double C = ley_coulomb_constant(p->range.units, p->range.dielectric, p->range.temperature_K);
    const ley_short_range near = pairs_of(&p->range, &p->meshes.level[0].split, &formula);
    ley_run_options run = support_default_run_options();
    assert_ok(ley_map_create(&p->map, &map, &error));
    assert_ok(ley_job_create_short_range(engine, p->atoms, (ley_target){.map = map}, &near, &run, &job, &error));
    assert_ok(ley_job_run(job, &error));
    double off = 0;
    for (int i = 0; i < POINTS; i++) {
        const double right =
            C * long_range_short(&p->meshes, p->n, p->position_A, p->charge_e, p->range.r_min_A, p->point_A[i]);
        off += pow((double)ley_map_read_values(map)[i] - right, 2);
    }
    note(p, PAIRS, sqrt(off / POINTS) / C);
    ley_job_destroy(job);
    ley_map_destroy(map);
}

static void judge(problem *p)
{
    made m = run(p);
    judge_charges(p, &m);
    judge_potentials(p, &m);
    free_made(&m);
    judge_pairs(p);
    ley_atoms_destroy(p->atoms);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void test_budget(void **state)
{
    static const double ratios[] = {6, 3, 10};
    static const ley_splitting splittings[] = {LEY_SPLITTING_TAYLOR4, LEY_SPLITTING_TAYLOR2, LEY_SPLITTING_PSWF};
    const bool few = support_is_quick();
    for (pairwise c = PAIRWISE(LEY_WINDOW_BSPLINE4, KINDS, few ? 1 : 3, few ? 1 : 3); pairwise_next(&c);) {
        if (few && c.at[0] % 2 == 1)
            continue;
        problem p =
            make_problem(LEY_SOLVER_MULTILEVEL, (ley_window)c.at[0], splittings[c.at[3]], ratios[c.at[2]], c.at[1]);
        judge(&p);
    }
    for (pairwise c = PAIRWISE(LEY_WINDOW_COUNT, KINDS, few ? 1 : 3, few ? 1 : 3); pairwise_next(&c);) {
        if (few && c.at[0] != LEY_WINDOW_BSPLINE6)
            continue;
        problem p =
            make_problem(LEY_SOLVER_FOURIER, (ley_window)c.at[0], splittings[2 - c.at[3]], ratios[c.at[2]], c.at[1]);
        judge(&p);
    }
    for (int kind = 0; kind < KINDS && !few; kind++) { /* as long as cutoffs may be */
        problem p = make_problem(LEY_SOLVER_MULTILEVEL, LEY_WINDOW_NODAL9, LEY_SPLITTING_TAYLOR5, 15, kind);
        judge(&p);
    }
    int over = 0;
    for (int i = 0; i < STEPS; i++) {
        print_message("%-32s up to %.1e of %.1e: %s\n", steps[i].name, worst[i].share, steps[i].budget, worst[i].what);
        over += !(worst[i].share <= steps[i].budget);
    }
    assert_int_equal(over, 0);
}

static int open_device(void **state)
{
    support_leave_out_second_driver();
    if (!support_open_default(&engine))
        return 1;
    device = engine->workers[0].device;
    return 0;
}

static int close_device(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "budget", .begin = open_device, .end = close_device), test_budget);
}
