/* Long-range maps of periodic and of screened charges, on every device of this machine, through the
 * public interface: against sums of each charge and all of its images in double precision. */
#include "pairwise.h"
#include "support.h"

#include "law/long_range_sum.h"
#include "law/reference.h"
#include "numerics/lattice_sum.h"

static ley_engine *engine; /* of the device under test */

enum { ATOMS = 60 };

/* ---- Problems -------------------------------------------------------------------------------- */

/* As which bits of a boundary: periodic along a, b, c; 8: in an oblique cell; 16: of edges along y,
 * z, x, so that the grid's axes are the map's in another order. */
enum { OBLIQUE = 8, TURNED = 16 };

typedef struct problem {
    ley_long_range range;
    double position_A[ATOMS][3], charge_e[ATOMS];
    ley_grid grid;
} problem;

static double fraction(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static ley_long_range options_of(ley_splitting s, ley_window w, ley_solver solver, int boundary)
{
    static const double boxes_A[3][3][3] = {{{19, 0, 0}, {0, 18, 0}, {0, 0, 20}},
                                            {{19, 0, 0}, {5, 18, 0}, {-4, 3, 17}},
                                            {{0, 20, 0}, {0, 0, 18}, {19, 0, 0}}};
    const int box = (boundary & OBLIQUE) != 0 ? 1 : (boundary & TURNED) != 0 ? 2 : 0;
    ley_long_range r = support_default_long_range();
    r.splitting = s;
    r.window = w;
    r.solver = solver;
    r.cutoff_A = 6;
    r.spacing_A = 1.5;
    memcpy(r.cell_A, boxes_A[box], sizeof r.cell_A);
    for (int axis = 0; axis < 3; axis++)
        r.periodic[axis] = boundary >> axis & 1;
    return r;
}

/* Charges in a cell, and some in its neighbours; a map in a part of it. */
static problem make_problem(const ley_long_range *r, double net_e)
{
    problem p = {.range = *r,
                 .grid = {.origin_A = {0.4, 1.1, -0.8}, .step_A = LEY_STEPS(2.1, 1.7, 2.3), .n = {7, 5, 6}}};
    uint64_t seed = 11;
    double total_e = 0;
    for (int j = 0; j < ATOMS; j++) {
        for (int i = 0; i < 3; i++) {
            const double share = r->periodic[i] ? 1.4 * fraction(&seed) - 0.2 : fraction(&seed);
            for (int axis = 0; axis < 3; axis++)
                p.position_A[j][axis] += share * r->cell_A[i][axis];
        }
        p.charge_e[j] = j + 1 < ATOMS ? 2 * fraction(&seed) - 1 : net_e - total_e;
        total_e += p.charge_e[j];
    }
    return p;
}

static ley_atoms *atoms_of(const problem *p)
{
    return support_make_atoms(ATOMS, p->position_A[0], p->charge_e, NULL);
}

typedef struct result {
    ley_map *map;
    double expected, background_e;
    bool has_meshes;
    ley_accuracy accuracy;
} result;

static result run(const problem *p)
{
    ley_error error = {0};
    ley_job *job = NULL;
    result made = {NULL};
    ley_atoms *atoms = atoms_of(p);
    ley_run_options options = support_default_run_options();
    assert_ok(ley_map_create(&p->grid, &made.map, &error));
    assert_ok(
        ley_job_create_long_range(engine, atoms, (ley_target){.map = made.map}, &p->range, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_report *report = ley_job_report(job);
    const ley_note *expected = ley_report_note(report, "expected_error"),
                   *background = ley_report_note(report, "background_e");
    made.has_meshes = ley_report_note(report, "meshes") != NULL;
    made.expected = expected != NULL ? expected->number[0] : 0;
    made.background_e = background != NULL ? background->number[0] : 0;
    made.accuracy = report->accuracy;
    ley_job_destroy(job);
    ley_atoms_destroy(atoms);
    return made;
}

/* ---- What is right --------------------------------------------------------------------------- */

static double constant_of(const ley_long_range *r)
{
    return ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
}

static lattice_sum *exact_sum(const problem *p)
{
    lattice_sum_options options = {.kappa_per_A = p->range.kappa_per_A, .r_min_A = p->range.r_min_A};
    lattice_sum *sum;
    ley_error error = {0};
    assert_ok(cell_make(p->range.periodic, p->range.cell_A, &options.cell, &error));
    assert_ok(lattice_sum_create(&options, ATOMS, p->position_A[0], p->charge_e, &sum, &error));
    return sum;
}

static void point_of(const ley_grid *l, int64_t i, double point_A[3])
{
    const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
    ley_grid_point_A(l, at, point_A);
}

/* What a map is off by, of what errors are held against: the judge's scale. */
typedef struct off {
    double rms, worst;
} off;

static off compare(const problem *p, const ley_map *map, int64_t step)
{
    ley_error error = {0};
    ley_atoms *atoms = atoms_of(p);
    cell c;
    assert_ok(cell_make(p->range.periodic, p->range.cell_A, &c, &error));
    reference_terms terms = {.law = &law_long_range,
                             .shares = {.mesh = 1},
                             .constant = constant_of(&p->range),
                             .atoms = atoms,
                             .r_min_A = p->range.r_min_A,
                             .kappa_per_A = p->range.kappa_per_A,
                             .cell = &c,
                             .near_A = 2 * p->range.cutoff_A};
    lattice_sum *sum = exact_sum(p);
    off o = {0, 0};
    double n = 0;
    assert_ok(reference_begin(&terms, 100, NULL, &error));
    for (int64_t i = 0; i < ley_grid_points(&p->grid); i += step) {
        double point_A[3];
        point_of(&p->grid, i, point_A);
        const reference_value judged = reference_sum(&terms, point_A);
        const double right = terms.constant * lattice_sum_at(sum, point_A);
        const double share = fabs((double)ley_map_read_values(map)[i] - right) / judged.absolute;
        assert_true(fabs(judged.value - right) < 1e-8 * judged.absolute); /* the judge is right */
        o.worst = fmax(o.worst, share);
        o.rms += share * share;
        n++;
    }
    o.rms = sqrt(o.rms / n);
    reference_end(&terms);
    lattice_sum_destroy(sum);
    ley_atoms_destroy(atoms);
    return o;
}

static void assert_expected(const problem *p, const result *made, double factor, const char *what)
{
    const double floats = 3e-7;
    const off o = compare(p, made->map, 2);
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s: off by %.3g and %.3g, expected are %.3g\n", what, o.rms, o.worst, made->expected);
    if (!(o.rms < 1.7 * made->expected + floats && o.rms > made->expected / factor &&
          o.worst < 6 * made->expected + 8 * floats))
        fail_msg("%s: off by %g and %g, expected are %g", what, o.rms, o.worst, made->expected);
    assert_true(made->accuracy.passed && made->accuracy.host_points == made->accuracy.points);
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

enum { BOUNDARIES = 14, FEW_BOUNDARIES = 3 };
static const int boundaries[BOUNDARIES] = {7, 3, 4,          OBLIQUE | 7, OBLIQUE | 6, 1,           TURNED | 7,
                                           2, 5, TURNED | 1, TURNED | 6,  6,           OBLIQUE | 3, OBLIQUE | 2};

/* Splittings and windows of both solvers. */
static const struct {
    ley_splitting splitting;
    ley_window window;
    ley_solver solver;
} choices[] = {{LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, LEY_SOLVER_MULTILEVEL},
               {LEY_SPLITTING_PSWF, LEY_WINDOW_BSPLINE6, LEY_SOLVER_FOURIER},
               {LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, LEY_SOLVER_MULTILEVEL},
               {LEY_SPLITTING_TAYLOR6, LEY_WINDOW_BSPLINE8, LEY_SOLVER_FOURIER}};
enum { CHOICES = sizeof choices / sizeof *choices, FEW_CHOICES = 2 };

static void test_boundaries(void **state)
{
    for (pairwise q =
             PAIRWISE(support_is_quick() ? FEW_BOUNDARIES : BOUNDARIES, support_is_quick() ? FEW_CHOICES : CHOICES);
         pairwise_next(&q);) {
        const int boundary = boundaries[q.at[0]], choice = q.at[1];
        const ley_long_range r =
            options_of(choices[choice].splitting, choices[choice].window, choices[choice].solver, boundary);
        const problem p = make_problem(&r, 0);
        char what[80];
        snprintf(what, sizeof what, "boundary %d, choice %d", boundary, choice);
        const result made = run(&p);
        assert_expected(&p, &made, 6, what);
        assert_true(made.background_e == 0 && made.has_meshes);
        ley_map_destroy(made.map);
    }
}

/* ---- Screening ------------------------------------------------------------------------------- */

static void test_screening(void **state)
{
    static const double kappas_per_A[] = {0.3, 0.02, 1.2, 6};
    static const ley_splitting splittings[] = {LEY_SPLITTING_TAYLOR4, LEY_SPLITTING_TAYLOR7, LEY_SPLITTING_TAYLOR2};
    static const int own[] = {0, 7, OBLIQUE | 3, 4};
    pairwise q = PAIRWISE(4, support_is_quick() ? 1 : 3, support_is_quick() ? 2 : 4, 2);
    int number = 0;
    while (pairwise_next(&q)) {
        ley_long_range r = options_of(splittings[q.at[1]], LEY_WINDOW_NODAL7, (ley_solver)q.at[3], own[q.at[2]]);
        if (number++ % 2 == 0 && q.at[3] == LEY_SOLVER_FOURIER)
            r.window = LEY_WINDOW_BSPLINE6;
        r.kappa_per_A = kappas_per_A[q.at[0]];
        const problem p = make_problem(&r, 1.5); /* net charges have a potential */
        char what[80];
        snprintf(what, sizeof what, "kappa %g / A, taylor %d, boundary %d, solver %d", r.kappa_per_A,
                 2 + (int)r.splitting, own[q.at[2]], q.at[3]);
        const result made = run(&p);
        assert_expected(&p, &made, INFINITY, what);
        assert_int_equal(made.has_meshes, r.kappa_per_A < 5); /* kappa a = 36: nothing is left to meshes */
        assert_true(made.background_e == 0);
        ley_map_destroy(made.map);
    }
}

/* ---- Charged cells --------------------------------------------------------------------------- */

/* A background, whose share in the short-range part is right as well: the mean of the potential is
 * 0. */
static void test_charged_cell(void **state)
{
    for (int solver = 0; solver < 2; solver++) {
        ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, (ley_solver)solver, 7);
        r.r_min_A = 1.5;
        problem p = make_problem(&r, 3);
        const double edge_A[3] = {19, 18, 20};
        const int64_t n = 24;
        for (int axis = 0; axis < 3; axis++)
            p.grid.n[axis] = n;
        for (int axis = 0; axis < 3; axis++)
            p.grid.step_A[axis][axis] = edge_A[axis] / (double)n;
        const result made = run(&p);
        const off o = compare(&p, made.map, 131);
        double mean = 0;
        for (int64_t i = 0; i < n * n * n; i++)
            mean += (double)ley_map_read_values(made.map)[i] / (double)(n * n * n);
        /* Pairs below r_min count as r_min apart: that much is missing of the mean. */
        const double contact = 4 * M_PI * r.r_min_A * r.r_min_A * (1.0 / 3 - 1.0 / 2) * 3 / (19 * 18 * 20);
        print_message("solver %d: mean %.4g, off by %.3g of %.3g that are expected\n", solver, mean / constant_of(&r),
                      o.rms, made.expected);
        assert_true(fabs(mean / constant_of(&r) - contact) < 2e-3); /* q / a^2 of 3 e is 0.08 e/A */
        assert_true(o.worst < 6 * made.expected + 2e-5);
        assert_true(fabs(made.background_e + 3) < 1e-9);
        ley_map_destroy(made.map);
    }
    for (int boundary = 7; boundary <= (OBLIQUE | 7); boundary += OBLIQUE) { /* exact sums; r_min does not show */
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, LEY_SOLVER_MULTILEVEL, boundary);
        const problem p = make_problem(&r, -4);
        const result made = run(&p);
        assert_expected(&p, &made, 6, "charged cell");
        assert_true(fabs(made.background_e - 4) < 1e-9);
        ley_map_destroy(made.map);
    }
}

/* Heaps of charges of one sign, whose errors add up, where their potentials do not: next to the
 * background, and between two of them. */
static void test_heaps(void **state)
{
    for (int two = 0; two < 2; two++) {
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR2, LEY_WINDOW_NODAL3, LEY_SOLVER_MULTILEVEL, 7);
        problem p = make_problem(&r, 0);
        uint64_t seed = 5;
        for (int j = 0; j < ATOMS; j++) {
            p.charge_e[j] = two == 1 && j % 2 == 1 ? -1 : 1;
            for (int axis = 0; axis < 3; axis++)
                p.position_A[j][axis] = (p.charge_e[j] > 0 ? 5 : 14) + 0.3 * fraction(&seed);
        }
        const result made = run(&p); /* which ends in an error where it passes no judgement */
        const off o = compare(&p, made.map, 1);
        print_message("%d heaps: off by up to %.3g times what is expected of charges that are apart\n", 1 + two,
                      o.worst / made.expected);
        assert_true(o.worst > 10 * made.expected);
        assert_true(made.accuracy.tolerance < 8 * 8 * made.expected);
        ley_map_destroy(made.map);
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

static double largest_difference(const ley_map *a, const ley_map *b)
{
    double most = 0, scale = 0;
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(a)); i++) {
        most = fmax(most, fabs((double)ley_map_read_values(a)[i] - (double)ley_map_read_values(b)[i]));
        scale = fmax(scale, fabs((double)ley_map_read_values(a)[i]));
    }
    return most / scale;
}

/* Atoms anywhere else, and the map anywhere else, by whole periods: the same values, but for
 * rounding of places that are far away. */
static void test_wrapped(void **state)
{
    static const int own[] = {7, OBLIQUE | 7, 3, OBLIQUE | 2};
    for (size_t k = 0; k < 4; k += support_is_quick() ? 3 : 1) {
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, (ley_solver)(k % 2), own[k]);
        problem p = make_problem(&r, 0);
        const result before = run(&p);
        for (int j = 0; j < ATOMS; j++)
            for (int i = 0; i < 3; i++)
                for (int axis = 0; axis < 3 && r.periodic[i]; axis++)
                    p.position_A[j][axis] += ((j * (i + 3)) % 7 - 3) * r.cell_A[i][axis];
        const result atoms = run(&p);
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3 && r.periodic[i]; axis++)
                p.grid.origin_A[axis] += (i == 1 ? -40 : 1000) * r.cell_A[i][axis];
        const result map = run(&p);
        const double by_atoms = largest_difference(before.map, atoms.map),
                     by_map = largest_difference(before.map, map.map);
        print_message("boundary %d: atoms elsewhere %.2g, map elsewhere %.2g\n", own[k], by_atoms, by_map);
        assert_true(by_atoms < 5e-6 && by_map < 2e-5);
        ley_map_destroy(before.map);
        ley_map_destroy(atoms.map);
        ley_map_destroy(map.map);
    }
}

/* A map of several cells, one of a corner, a plane of it, a point. */
static void test_maps_anywhere(void **state)
{
    static const ley_grid meshes[] = {{.origin_A = {-31, -20, 7}, .step_A = LEY_STEPS(9.5, 8, 11), .n = {9, 7, 6}},
                                      {.origin_A = {17, 16.5, 18}, .step_A = LEY_STEPS(0.4, 0.5, 0.3), .n = {9, 6, 11}},
                                      {.origin_A = {3, 4.5, 9}, .step_A = LEY_STEPS(1.1, 1.2, 1), .n = {20, 17, 1}},
                                      {.origin_A = {3, 4, 5}, .step_A = LEY_STEPS(1, 1, 1), .n = {1, 1, 1}}};
    static const int own[] = {7, OBLIQUE | 7, 5};
    for (pairwise q = PAIRWISE(4, support_is_quick() ? 1 : 3, 2); pairwise_next(&q);) {
        const bool is_fft = q.at[2] == LEY_SOLVER_FOURIER;
        const ley_long_range r =
            options_of(is_fft ? LEY_SPLITTING_PSWF : LEY_SPLITTING_TAYLOR3,
                       is_fft ? LEY_WINDOW_BSPLINE4 : LEY_WINDOW_NODAL5, (ley_solver)q.at[2], own[q.at[1]]);
        problem p = make_problem(&r, 0);
        p.grid = meshes[q.at[0]];
        const result made = run(&p);
        const off o = compare(&p, made.map, q.at[0] < 3 ? 5 : 1);
        if (!(o.worst < 6 * made.expected + 3e-6))
            fail_msg("map %d, boundary %d, solver %d: off by %g, expected are %g", q.at[0], own[q.at[1]], q.at[2],
                     o.worst, made.expected);
        ley_map_destroy(made.map);
    }
}

/* Periods of a node or two, and far fewer nodes than the cutoff has: neighbourhoods go round them
 * many times. */
static void test_thin_cells(void **state)
{
    for (int axis = 0; axis < 3; axis++)
        for (int solver = 0; solver < 2; solver++) {
            ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, (ley_solver)solver, 7);
            r.cell_A[axis][axis] = 1.4;
            const problem p = make_problem(&r, 0);
            const result made = run(&p);
            const off o = compare(&p, made.map, 3);
            print_message("thin along axis %d, solver %d: off by %.2g, expected are %.2g\n", axis + 1, solver, o.rms,
                          made.expected);
            assert_true(o.worst < 6 * made.expected);
            ley_map_destroy(made.map);
        }
}

/* ---- Crystals -------------------------------------------------------------------------------- */

/* Ions on the points of a map; atoms behind them have no charge. */
static problem crystal_problem(const support_crystal *c, ley_solver solver, double edge_A)
{
    const bool is_fft = solver == LEY_SOLVER_FOURIER;
    problem p = {.grid = {.n = {SUPPORT_QUARTERS, SUPPORT_QUARTERS, SUPPORT_QUARTERS}}};
    p.range = options_of(is_fft ? LEY_SPLITTING_PSWF : LEY_SPLITTING_TAYLOR8,
                         is_fft ? LEY_WINDOW_BSPLINE8 : LEY_WINDOW_NODAL7, solver, 7);
    p.range.levels = 1;
    p.range.r_min_A = 0.5;
    p.range.cutoff_A = edge_A;
    p.range.spacing_A = edge_A / 16;
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 3; k++)
            p.range.cell_A[axis][k] = axis == k ? edge_A : 0;
        p.grid.origin_A[axis] = 0.137 * (axis + 1);
        p.grid.step_A[axis][axis] = edge_A / SUPPORT_QUARTERS;
    }
    for (int i = 0; i < c->ions; i++) {
        p.charge_e[i] = 2 * i < c->ions ? 1 : -1;
        for (int axis = 0; axis < 3; axis++)
            p.position_A[i][axis] = p.grid.origin_A[axis] + c->quarter[i][axis] * edge_A / SUPPORT_QUARTERS;
    }
    return p;
}

/* The potential of each ion's place without its own, in units of the nearest distance. */
static void test_madelung_constants(void **state)
{
    const double edge_A = 8;
    for (int i = 0; i < SUPPORT_CRYSTALS; i++)
        for (int solver = support_is_quick() ? LEY_SOLVER_FOURIER : 0; solver < 2; solver++) {
            const support_crystal *c = &support_crystals[i];
            const problem p = crystal_problem(c, (ley_solver)solver, edge_A);
            const result made = run(&p);
            double sum = 0;
            for (int k = 0; k < c->ions; k++) {
                const int *at = c->quarter[k];
                const float value =
                    ley_map_read_values(made.map)[(at[2] * SUPPORT_QUARTERS + at[1]) * SUPPORT_QUARTERS + at[0]];
                sum += 1 / p.range.r_min_A - p.charge_e[k] * (double)value / constant_of(&p.range);
            }
            const double constant = sum / c->ions * edge_A / c->edge * c->nearest;
            print_message("%s, solver %d: %.7f\n", c->name, solver, constant);
            assert_true(fabs(constant - c->constant) < 5e-6);
            ley_map_destroy(made.map);
        }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void assert_refused(const problem *p, ley_status status, const char *says)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = atoms_of(p);
    ley_run_options run_options = support_default_run_options();
    ley_map *map = support_make_map(&p->grid);
    assert_int_equal(
        ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &p->range, &run_options, &job, &error),
        status);
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_what_is_refused(void **state)
{
    for (int boundary = 1; boundary < 7; boundary++) {
        const ley_long_range r = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, LEY_SOLVER_MULTILEVEL, boundary);
        const problem charged = make_problem(&r, 1);
        assert_refused(&charged, LEY_ERROR_INPUT, "a net charge of 1 e that is repeated along");
    }
    const ley_long_range good = options_of(LEY_SPLITTING_TAYLOR4, LEY_WINDOW_NODAL7, LEY_SOLVER_MULTILEVEL, 7);
    static const double kappas_per_A[] = {-0.1, 100.5, NAN, INFINITY};
    problem p = make_problem(&good, 0);
    for (int i = 0; i < 4; i++) {
        p.range.kappa_per_A = kappas_per_A[i];
        assert_refused(&p, LEY_ERROR_USAGE, "must be 0 to 100");
    }
    p.range = good;
    p.range.kappa_per_A = 0.1;
    p.range.splitting = LEY_SPLITTING_EWALD;
    assert_refused(&p, LEY_ERROR_USAGE, "ewald is of 1/r alone: screened sums take taylor2 to taylor8");
    p.range = good;
    memset(p.range.cell_A[1], 0, sizeof p.range.cell_A[1]);
    assert_refused(&p, LEY_ERROR_INPUT, "cell: vector b has no length");
    p.range.cell_A[1][1] = NAN;
    assert_refused(&p, LEY_ERROR_INPUT, "cell: vector b has no length");
    memcpy(p.range.cell_A[1], p.range.cell_A[0], sizeof p.range.cell_A[1]);
    assert_refused(&p, LEY_ERROR_INPUT, "cell: its vectors lie in a plane, or two of them on a line");
    p.range = good;
    p.range.cell_A[2][2] = 2;
    p.range.cell_A[0][0] = 200;
    assert_refused(&p, LEY_ERROR_INPUT, "the shortest period has too few nodes to be halved");
    p.range.levels = 1;
    assert_refused(&p, LEY_ERROR_USAGE, "1 level is too few");
    p.range = good;
    p.range.cell_A[0][0] = p.range.cell_A[1][1] = p.range.cell_A[2][2] = 110;
    p.range.cutoff_A = 23;
    assert_refused(&p, LEY_ERROR_USAGE,
                   "whose periods are whole numbers of nodes, and kernels hold those of at most 31");
    p.range.solver = LEY_SOLVER_FOURIER;
    p.range.levels = 2;
    assert_refused(&p, LEY_ERROR_USAGE, "the fourier solver has one level, not 2");
}

/* What an older caller does not know of is not there. */
static void test_older_callers(void **state)
{
    ley_long_range r = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, LEY_SOLVER_MULTILEVEL, 0);
    problem p = make_problem(&r, 1);
    const result now = run(&p);
    p.range = options_of(LEY_SPLITTING_TAYLOR3, LEY_WINDOW_NODAL5, LEY_SOLVER_MULTILEVEL, 7);
    p.range.kappa_per_A = 7;
    p.range.size = offsetof(ley_long_range, fft) + sizeof r.fft;
    const result then = run(&p);
    assert_memory_equal(ley_map_read_values(now.map), ley_map_read_values(then.map),
                        (size_t)ley_grid_points(&p.grid) * sizeof(float));
    ley_map_destroy(now.map);
    ley_map_destroy(then.map);
}

/* At level quick the first device has no heaps and no thin cells, and others have one of the tests:
 * each kernel is compiled for each. */
static int run_all(const char *selector, const ley_device_info *info)
{
    enum { FEW = 1, MOST = 8 };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundaries),      cmocka_unit_test(test_charged_cell),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_madelung_constants),
        cmocka_unit_test(test_wrapped),         cmocka_unit_test(test_screening),
        cmocka_unit_test(test_maps_anywhere),   cmocka_unit_test(test_older_callers),
        cmocka_unit_test(test_heaps),           cmocka_unit_test(test_thin_cells)};
    const size_t all = sizeof tests / sizeof *tests, count = !support_is_quick() ? all : info->index > 0 ? FEW : MOST;
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
