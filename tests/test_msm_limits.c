/* Long-range maps that are right, and look wrong to limits that are too narrow: charges in step
 * with the meshes, cells so long that transforms round by more than what is there, distances
 * that count as r_min; and wrong ones that limits would let pass. Judged by the formula alone, in
 * this file. */
#include "support.h"

#include "verify/verification.h"

static ley_engine *engine;

/* ---- A job ----------------------------------------------------------------------------------- */

enum { MOST = 2048 };

typedef struct problem {
    size_t n;
    double place_A[MOST][3], charge_e[MOST];
    ley_grid points;
    ley_long_range range;
} problem;

static problem p; /* the case at hand */

static void begin(void)
{
    memset(&p, 0, sizeof p);
    ley_long_range_default(&p.range);
}

static void put(double x_A, double y_A, double z_A, double charge_e)
{
    const double place_A[3] = {x_A, y_A, z_A};
    assert_true(p.n < MOST);
    memcpy(p.place_A[p.n], place_A, sizeof place_A);
    p.charge_e[p.n++] = charge_e;
}

static void put_points(const double origin_A[3], double step_A, int64_t x, int64_t y, int64_t z)
{
    const int64_t n[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++) {
        p.points.origin_A[axis] = origin_A[axis];
        p.points.step_A[axis][axis] = step_A;
        p.points.n[axis] = n[axis];
    }
}

/* Its map. All points are verified. */
static ley_map *run(ley_accuracy *accuracy)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_run_options options = support_default_run_options();
    options.verify_points = 2000;
    ley_atoms *atoms = support_make_atoms(p.n, p.place_A[0], p.charge_e, NULL);
    ley_map *map = support_make_map(&p.points);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &p.range, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    *accuracy = ley_job_report(job)->accuracy;
    assert_true(accuracy->passed && accuracy->max_error <= accuracy->tolerance);
    ley_job_destroy(job);
    ley_atoms_destroy(atoms);
    return map;
}

/* Of some points of an open map: the largest error, of the root of the squared terms and the value;
 * terms are screened where the charges are. */
static double worst_of(const ley_map *map)
{
    const ley_long_range *r = &p.range;
    const double C = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    double worst = 0;
    for (int64_t i = 0; i < ley_grid_points(&p.points); i++) {
        const int64_t at[3] = {i % p.points.n[0], i / p.points.n[0] % p.points.n[1], i / p.points.n[0] / p.points.n[1]};
        double point_A[3], sum = 0, squares = 0;
        ley_grid_point_A(&p.points, at, point_A);
        for (size_t k = 0; k < p.n; k++) {
            const double x = point_A[0] - p.place_A[k][0], y = point_A[1] - p.place_A[k][1],
                         z = point_A[2] - p.place_A[k][2], d = fmax(sqrt(x * x + y * y + z * z), r->r_min_A),
                         term = p.charge_e[k] / d * exp(-r->kappa_per_A * d);
            sum += term;
            squares += term * term;
        }
        worst = fmax(worst, fabs((double)ley_map_read_values(map)[i] / C - sum) / (sqrt(squares) + fabs(sum)));
    }
    return worst;
}

static double run_and_compare(ley_accuracy *accuracy)
{
    ley_map *map = run(accuracy);
    const double worst = worst_of(map);
    ley_map_destroy(map);
    return worst;
}

/* ---- In step with the meshes -------------------------------------------------------------- */

/* Layers of ions of one sign each, as far apart as nodes are: meshes are off by somewhat more
 * than of charges that are independent of each other. */
static void test_layers(void **state)
{
    double largest = 0;
    for (int shift = 0; shift < 2; shift++) {
        ley_accuracy accuracy;
        begin();
        for (int i = 0; i < 16 * 16 * 8; i++)
            put(2 * (i % 16) + 0.5 * shift, 2 * (i / 16 % 16) + 0.5 * shift, 5 * (i / 256) + 0.5 * shift,
                i / 256 % 2 == 0 ? 1 : -1);
        put_points((const double[3]){4, 4, 7}, 2.5, 10, 10, 12);
        const double worst = run_and_compare(&accuracy);
        print_message("off by %.3g, at most %.3g is right\n", worst, accuracy.tolerance);
        assert_true(worst < 5e-4 && fabs(accuracy.max_error - worst) < 1e-3 * worst);
        largest = fmax(largest, worst);
    }
    assert_true(largest > 2.88e-4); /* eight times what is expected: without a second look none would pass */
}

/* ---- Long cells ------------------------------------------------------------------------------ */

/* A block of each sign, a thousand A from each other: the potential is thousands of times what
 * charges nearby do. Transforms round each value by a share of the largest ones, half-way between
 * the blocks, where it goes through 0, as well. */
static void test_long_cells(void **state)
{
    static const double cell_A[3] = {30, 30, 4000};
    ley_accuracy accuracy;
    begin();
    for (int i = 0; i < 400; i++)
        put(fmod(7.13 * i, 30), fmod(17.3 * i, 30), 5 * (i % 200) + (i < 200 ? 0.3 : 2000.7), i < 200 ? 1 : -1);
    for (int axis = 0; axis < 3; axis++) {
        p.range.periodic[axis] = true;
        p.range.cell_A[axis][axis] = cell_A[axis];
    }
    p.range.window = LEY_WINDOW_BSPLINE6;
    p.range.splitting = LEY_SPLITTING_PSWF;
    p.range.solver = LEY_SOLVER_FOURIER;
    put_points((const double[3]){7, 9, 1480}, 0.15, 1, 1, 260);
    ley_map *map = run(&accuracy);
    const double C = ley_coulomb_constant(p.range.units, p.range.dielectric, p.range.temperature_K),
                 most = C * 2 * M_PI * 200 / (30 * 30) * 1000; /* half-way through a block, about */
    print_message("off by %.3g at worst, at most %.3g is right; by %.3g of the largest\n", accuracy.max_error,
                  accuracy.tolerance, accuracy.absolute_rms / most);
    assert_true(accuracy.absolute_rms < 1e-6 * most && accuracy.max_error > 1.2e-4);
    ley_map_destroy(map);
}

/* ---- Far away -------------------------------------------------------------------------------- */

/* Far from a layer, and from a wire, mirrored so that they have no dipole: the kernels of wave 0
 * grow with the distance, and cancel. */
static void test_far_away(void **state)
{
    for (int k = 0; k < 4; k++) {
        ley_accuracy accuracy;
        begin();
        for (int i = 0; i < 400; i++) {
            const double x_A = fmod(7.13 * i, 30), y_A = fmod(17.3 * i, 30), z_A = fmod(3.71 * i, 20),
                         charge_e = i % 2 == 0 ? 1 : -1;
            put(x_A, y_A, z_A, charge_e);
            put(30 - x_A, 30 - y_A, 20 - z_A, charge_e);
        }
        for (int axis = 0; axis < 3; axis++) {
            p.range.periodic[axis] = axis < (k < 2 ? 2 : 1);
            p.range.cell_A[axis][axis] = 30;
        }
        p.range.window = LEY_WINDOW_BSPLINE6;
        p.range.splitting = LEY_SPLITTING_PSWF;
        p.range.solver = LEY_SOLVER_FOURIER;
        put_points((const double[3]){1, 2, k % 2 == 0 ? 1500 : -4000}, 3, 7, 6, 5);
        ley_map *map = run(&accuracy);
        print_message("%s, %g A away: off by %.3g, at most %.3g is right\n", k < 2 ? "layer" : "wire",
                      fabs(p.points.origin_A[2]), accuracy.max_error, accuracy.tolerance);
        assert_true(accuracy.max_error < 1e-5);
        ley_map_destroy(map);
    }
}

/* ---- r_min ----------------------------------------------------------------------------------- */

static void put_crowd(void)
{
    for (int i = 0; i < 300; i++)
        put(fmod(7.13 * i, 20), fmod(3.71 * i, 19), fmod(11.3 * i, 21), (i % 3 - 1) * (1 + 0.01 * i));
}

/* Distances below r_min count as r_min, however large it is; and a tiny one leaves the limit as it
 * is. */
static void test_r_min(void **state)
{
    static const double r_min_A[] = {1e-6, 1, 2, 4};
    for (size_t i = 0; i < sizeof r_min_A / sizeof *r_min_A; i++)
        for (int screened = 0; screened < 2; screened++) {
            ley_accuracy accuracy;
            begin();
            put_crowd();
            p.range.kappa_per_A = screened ? 0.08 : 0;
            p.range.r_min_A = r_min_A[i];
            p.range.spacing_A = 1;
            p.range.window = LEY_WINDOW_NODAL9;
            p.range.splitting = LEY_SPLITTING_TAYLOR4;
            put_points((const double[3]){1, 1, 1}, 1.7, 11, 10, 12);
            const double worst = run_and_compare(&accuracy);
            print_message("r_min %g A: off by %.3g, at most %.3g is right\n", r_min_A[i], worst, accuracy.tolerance);
            assert_true(worst < 2e-5 && accuracy.tolerance < 1.5e-4);
        }
}

/* ---- Nothing beyond the cutoff --------------------------------------------------------------- */

static void put_periods(int axes, double cell_A)
{
    for (int axis = 0; axis < 3; axis++) {
        p.range.periodic[axis] = axes >> axis & 1;
        p.range.cell_A[axis][axis] = cell_A;
    }
}

/* Of one charge, whose images are farther away than twice the cutoff: within the cutoff its nearest
 * image, and nothing beyond it. */
static void compare_nearest(const ley_map *map)
{
    const ley_long_range *r = &p.range;
    const double C = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    size_t within = 0, beyond = 0;
    for (int64_t i = 0; i < ley_grid_points(&p.points); i++) {
        const int64_t at[3] = {i % p.points.n[0], i / p.points.n[0] % p.points.n[1], i / p.points.n[0] / p.points.n[1]};
        const double value = (double)ley_map_read_values(map)[i];
        double point_A[3], d2 = 0;
        ley_grid_point_A(&p.points, at, point_A);
        for (int axis = 0; axis < 3; axis++) {
            const double x = point_A[axis] - p.place_A[0][axis], period = r->cell_A[axis][axis];
            d2 += pow(r->periodic[axis] ? x - period * floor(x / period + 0.5) : x, 2);
        }
        const double d = sqrt(d2), right = C * p.charge_e[0] / d * exp(-r->kappa_per_A * d);
        within += d < r->cutoff_A;
        beyond += d >= r->cutoff_A;
        if (d >= r->cutoff_A)
            assert_true(value == 0);
        else
            assert_true(fabs(value - right) <=
                        fmax(3e-5, 6e-7 * r->kappa_per_A * d) * right); /* a root's error is the distance's */
    }
    assert_true(within > 100 && beyond > 100);
}

/* Screening so strong that there are no meshes: values are tiny next to those of other points,
 * and are right to as many digits; those that are 0 leave out less than what is allowed. */
static void test_strong_screening(void **state)
{
    static const struct {
        double kappa_per_A, cutoff_A;
    } cases[] = {{1.95, 12}, {3, 12}, {4.2, 12}, {4.8, 12}, {5.9, 12}, {9, 6}, {20, 3}, {2.5, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int axes = 0; axes < 8; axes = 2 * axes + 1) {
            ley_accuracy accuracy;
            begin();
            put(0.1, 0.2, 0.3, 1);
            p.range.kappa_per_A = cases[i].kappa_per_A;
            p.range.cutoff_A = cases[i].cutoff_A;
            put_periods(axes, 50);
            const double far_A = 0.7 * cases[i].cutoff_A;
            put_points((const double[3]){-far_A, -far_A, -far_A}, 2 * far_A / 11, 12, 12, 12);
            ley_map *map = run(&accuracy);
            print_message("kappa a %g, periodic along %d: off by %.3g, at most %.3g is right\n",
                          cases[i].kappa_per_A * cases[i].cutoff_A, axes, accuracy.max_error, accuracy.tolerance);
            if (i > 0) /* the first one has meshes yet, of next to nothing */
                compare_nearest(map);
            ley_map_destroy(map);
        }
}

/* Charges of one sign, all of them just beyond the cutoff of all points: they are left out
 * together. */
static void test_left_out(void **state)
{
    for (int axes = 0; axes < 8; axes = 2 * axes + 1) {
        ley_accuracy accuracy;
        begin();
        for (int i = 0; i < 40; i++)
            put(0.01 * (i % 7), 0.02 * (i % 5), 0.001 * i, 1);
        p.range.kappa_per_A = 4.8;
        put_periods(axes, 60);
        put_points((const double[3]){-0.1, -0.1, 12.04}, 0.02, 10, 10, 3);
        ley_map *map = run(&accuracy);
        print_message("periodic along %d: off by %.3g, at most %.3g is right\n", axes, accuracy.max_error,
                      accuracy.tolerance);
        assert_true(accuracy.compared == 300 && accuracy.max_error > 0);
        ley_map_destroy(map);
    }
}

/* ---- Means ----------------------------------------------------------------------------------- */

/* 800 charges in a cell that is periodic along so many axes, with so much left of their sum. */
static void put_cell(int axes, double left_e)
{
    begin();
    for (int i = 0; i < 400; i++) {
        const double x_A = fmod(7.13 * i, 30), y_A = fmod(17.3 * i, 30), z_A = fmod(3.71 * i, 30);
        put(x_A, y_A, z_A, 0.4);
        put(fmod(x_A + 11, 30), fmod(y_A + 23, 30), fmod(z_A + 5, 30), i == 0 ? left_e - 0.4 : -0.4);
    }
    for (int axis = 0; axis < 3; axis++) {
        p.range.periodic[axis] = axis < axes;
        p.range.cell_A[axis][axis] = 30;
    }
    put_points((const double[3]){1, 2, 3}, 3, 7, 6, 5);
}

/* The mean potential of an e, 4 pi / (kappa^2 V) or 2 pi / (kappa A), is thousands of times what
 * charges nearby do; they sum to nothing, to next to nothing, or to rounding. */
static void test_weak_screening(void **state)
{
    static const double left_e[] = {0, 4e-16, 1e-10, 1e-4}, kappas_per_A[] = {3e-3, 1e-3, 1e-5};
    const int step = support_is_quick() ? 2 : 1; /* 4e-16 and 1e-4 are left then, and the weakest screening */
    for (int axes = 2; axes <= 3; axes++)
        for (int i = step - 1; i < 4; i += step)
            for (int k = step == 1 ? 0 : 2; k < 3; k++) {
                ley_accuracy accuracy;
                put_cell(axes, left_e[i]);
                p.range.kappa_per_A = kappas_per_A[k];
                p.range.window = LEY_WINDOW_BSPLINE6;
                p.range.splitting = LEY_SPLITTING_TAYLOR5;
                p.range.solver = LEY_SOLVER_FOURIER;
                ley_map_destroy(run(&accuracy));
                assert_true(accuracy.max_error < 5e-5);
                p.range.window = LEY_WINDOW_NODAL7;
                p.range.splitting = LEY_SPLITTING_TAYLOR4;
                p.range.solver = LEY_SOLVER_MULTILEVEL;
                ley_map_destroy(run(&accuracy));
                assert_true(accuracy.max_error < 2e-4);
            }
}

/* A mean that no float holds is refused, by any solver. */
static void test_next_to_no_screening_of_a_charge(void **state)
{
    ley_error error = {0};
    ley_job *job;
    ley_run_options run_options = support_default_run_options();
    put_cell(3, 1e-4);
    p.range.kappa_per_A = 1e-20;
    ley_atoms *atoms = support_make_atoms(p.n, p.place_A[0], p.charge_e, NULL);
    ley_map *map = support_make_map(&p.points);
    assert_int_equal(
        ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &p.range, &run_options, &job, &error),
        LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "more than floats hold: take a larger kappa, or 0"));
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* A charge so small that a layer may have it is not lost, near the layer and far from it. */
static void test_a_layers_charge(void **state)
{
    for (int k = 0; k < 3; k++) {
        ley_accuracy accuracy;
        put_cell(2, 1e-4);
        p.range.window = LEY_WINDOW_BSPLINE6;
        p.range.splitting = LEY_SPLITTING_PSWF;
        p.range.solver = LEY_SOLVER_FOURIER;
        put_points((const double[3]){1, 2, k == 0 ? 15 : k == 1 ? 50 : 1000}, 3, 7, 6, 5);
        ley_map_destroy(run(&accuracy));
        assert_true(accuracy.max_error < 1e-5);
    }
}

/* ---- Points on atoms ------------------------------------------------------------------------- */

/* NaCl, 2 A between ions, and its map, each point of which is on an ion: what is off there is off
 * in the whole map. Relative to the root mean square, by Madelung's constant. */
static double off_on_ions(double contact_error)
{
    const double madelung = 1.7475645946, C = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    ley_accuracy accuracy;
    begin();
    for (int i = 0; i < 216; i++)
        put(2 * (i % 6), 2 * (i / 6 % 6), 2 * (i / 36), (i % 6 + i / 6 % 6 + i / 36) % 2 ? -1 : 1);
    for (int axis = 0; axis < 3; axis++) {
        p.range.periodic[axis] = true;
        p.range.cell_A[axis][axis] = 12;
    }
    put_points((const double[3]){0, 0, 0}, 2, 6, 6, 6);
    p.range.solver = LEY_SOLVER_FOURIER;
    p.range.window = LEY_WINDOW_BSPLINE6;
    p.range.splitting = LEY_SPLITTING_TAYLOR6;
    p.range.cutoff_A = 4.75;
    p.range.spacing_A = 0.42;
    p.range.contact_error = contact_error;
    ley_map *map = run(&accuracy);
    double error2 = 0, right2 = 0;
    for (int i = 0; i < 216; i++) {
        const double right = C * p.charge_e[i] * (1 / p.range.r_min_A - madelung / 2);
        error2 += pow((double)ley_map_read_values(map)[i] - right, 2);
        right2 += right * right;
    }
    ley_map_destroy(map);
    return sqrt(error2 / right2);
}

/* A plan for 1e-6 asks pairs for r_min in 1/r alone: with what is usual, which a wider tolerance
 * takes, the map is off by several times 1e-6. */
static void test_points_on_atoms(void **state)
{
    ley_error error = {0};
    ley_choice forecast;
    const double usual = off_on_ions(0);
    const unsigned fixed = LEY_FIX_SOLVER | LEY_FIX_WINDOW | LEY_FIX_SPLITTING | LEY_FIX_CUTOFF;
    ley_run_options options = support_default_run_options();
    ley_atoms *atoms = support_make_atoms(p.n, p.place_A[0], p.charge_e, NULL);
    assert_ok(ley_long_range_choose(engine, atoms, (ley_target){.grid = &p.points}, 1e-2, fixed, &options, &p.range,
                                    &forecast, &error));
    assert_true(p.range.contact_error == 0);
    assert_ok(ley_long_range_choose(engine, atoms, (ley_target){.grid = &p.points}, 1e-6, fixed, &options, &p.range,
                                    &forecast, &error));
    assert_true(p.range.contact_error > 0 && p.range.contact_error < 5e-7);
    const double chosen = off_on_ions(p.range.contact_error);
    print_message("points on ions are off by %.2g, for a tolerance of 1e-6 by %.2g\n", usual, chosen);
    assert_true(usual > 3e-6);
    assert_true(chosen < 1e-6);
    ley_atoms_destroy(atoms);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static uint64_t drawn;

static double draw_between(double low, double high)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(drawn >> 11) / 9007199254740992.0;
}

/* Charges that cancel in a cell whose edges differ by up to hundreds of times, periodic along some
 * of them, upright or not. */
static void draw_cell(unsigned seed)
{
    begin();
    drawn = 0x9e3779b97f4a7c15u * (seed + 1);
    for (int i = 0; i < 5; i++)
        draw_between(0, 1);
    const double size_A = pow(10, draw_between(0.3, 1.8));
    const int axes = 1 + (int)draw_between(0, 7);
    for (int axis = 0; axis < 3; axis++) {
        p.range.periodic[axis] = (axes >> axis & 1) != 0;
        p.range.cell_A[axis][axis] = size_A * pow(10, draw_between(-0.7, 0.7));
        for (int other = 0; other < axis && seed % 3 == 0; other++)
            p.range.cell_A[axis][other] = draw_between(-0.4, 0.4) * p.range.cell_A[other][other];
    }
    for (int i = 0; i < 6; i++)
        put(draw_between(0, p.range.cell_A[0][0]), draw_between(0, p.range.cell_A[1][1]),
            draw_between(0, p.range.cell_A[2][2]), i % 2 == 0 ? 1 : -1);
    const double origin_A[3] = {draw_between(-5, 5), draw_between(-5, 5), draw_between(-5, 5)};
    put_points(origin_A, draw_between(0.5, 3), 1 + (int)draw_between(0, 30), 1 + (int)draw_between(0, 30),
               1 + (int)draw_between(0, 30));
    p.range.kappa_per_A = seed % 4 == 0 ? pow(10, draw_between(-2, 0)) : 0;
}

/* Whether a plan for the tolerance makes a job; a tolerance that nothing is expected to reach is
 * refused when the plan is made. */
static bool is_planned_and_had(unsigned seed, double tolerance, unsigned fixed)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_choice forecast;
    ley_run_options options = support_default_run_options();
    ley_atoms *atoms = support_make_atoms(p.n, p.place_A[0], p.charge_e, NULL);
    ley_map *map = support_make_map(&p.points);
    const ley_status planned = ley_long_range_choose(engine, atoms, (ley_target){.grid = &p.points}, tolerance, fixed,
                                                     &options, &p.range, &forecast, &error);
    const ley_status made = planned == LEY_OK ? ley_job_create_long_range(engine, atoms, (ley_target){.map = map},
                                                                          &p.range, &options, &job, &error)
                                              : planned;
    if (made != LEY_OK && strstr(error.message, "no meshes") == NULL)
        fail_msg("cell %u, a tolerance of %g, solver %d: %s", seed, tolerance, (int)p.range.solver, error.message);
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return made == LEY_OK;
}

/* What the levels' periods and reach do not let be had is not chosen, whichever solver is asked
 * for: there may be other meshes as good. */
static void test_chosen_meshes_can_be_had(void **state)
{
    static const ley_solver solvers[] = {LEY_SOLVER_MULTILEVEL, LEY_SOLVER_AUTO, LEY_SOLVER_MIXED, LEY_SOLVER_FOURIER};
    const unsigned first = getenv("TEST_FIRST") != NULL ? (unsigned)atoi(getenv("TEST_FIRST")) : 0;
    const unsigned count = support_get_level() == SUPPORT_QUICK ? 60 : 2000;
    unsigned had = 0;
    for (unsigned seed = first; seed < first + count; seed++) {
        draw_cell(seed);
        p.range.solver = solvers[seed % 5 % 4];
        had += is_planned_and_had(seed, pow(10, -2 - (int)(seed / 4 % 5)),
                                  p.range.solver != LEY_SOLVER_AUTO ? LEY_FIX_SOLVER : 0);
    }
    print_message("of %u plans %u are had, for the others no meshes are expected to do\n", count, had);
    assert_true(had > count / 2);
}

int main(void)
{
    verification_time_replace(20);
    support_leave_out_second_driver();
    return RUN_GROUP(SUPPORT_GROUP(.name = "limits", .opened = &engine), test_layers, test_long_cells, test_far_away,
                     test_weak_screening, test_next_to_no_screening_of_a_charge, test_a_layers_charge, test_r_min,
                     test_points_on_atoms, test_strong_screening, test_left_out, test_chosen_meshes_can_be_had);
}
