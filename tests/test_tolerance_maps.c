/* Maps for a tolerance: of all kinds of charges and boundaries, from one ion to a million atoms,
 * each is held to what was asked for by exact sums in double precision. */
#include "support.h"

/* ---- Charges --------------------------------------------------------------------------------- */

typedef struct charges {
    size_t n, room;
    double (*place_A)[3], *charge_e;
    double edge_A[3], shear_A; /* of a cell, whose second vector leans by so much along x; and along which axes it is
                                  periodic: */
    const char *axes;
    double kappa_per_A;
} charges;

static charges c; /* the case at hand */

static void put(double x_A, double y_A, double z_A, double charge_e)
{
    if (c.n == c.room) {
        c.room = 2 * c.room + 1000;
        c.place_A = realloc(c.place_A, c.room * sizeof *c.place_A);
        c.charge_e = realloc(c.charge_e, c.room * sizeof *c.charge_e);
        assert_non_null(c.place_A);
        assert_non_null(c.charge_e);
    }
    memcpy(c.place_A[c.n], (double[3]){x_A, y_A, z_A}, sizeof c.place_A[0]);
    c.charge_e[c.n++] = charge_e;
}

/* And frees them. */
static void put_atoms(ley_atoms *atoms)
{
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        put(position_A[3 * i], position_A[3 * i + 1], position_A[3 * i + 2], charge_e[i]);
    ley_atoms_destroy(atoms);
}

static void fill_box(double edge_A, const char *axes)
{
    for (int axis = 0; axis < 3; axis++)
        c.edge_A[axis] = edge_A;
    c.axes = axes;
}

static void empty(void)
{
    free(c.place_A);
    free(c.charge_e);
    memset(&c, 0, sizeof c);
}

static double draw(double low, double high)
{
    return low + (high - low) * rand() / (RAND_MAX + 1.0);
}

static void put_ion(void)
{
    put(0.3, 0.2, 0.1, 1);
}

static void put_pair(void)
{
    put(0.3, 0.2, 0.1, 1);
    put(3.1, 0.5, 0.2, -1);
}

static void put_gas(size_t n, double edge_A, bool is_neutral)
{
    for (size_t i = 0; i < n; i++)
        put(draw(0, edge_A), draw(0, edge_A), draw(0, edge_A), is_neutral && i % 2 ? -1 : 1);
}

static void put_sparse(void)
{
    put_gas(60, 80, true);
}

static void put_dense(void)
{
    put_gas(1000, 16, true);
}

static void put_charged(void)
{
    put_gas(500, 40, false);
}

static void put_salt(int x, int y, int z)
{
    for (int i = 0; i < x * y * z; i++)
        put(2.82 * (i % x), 2.82 * (i / x % y), 2.82 * (i / x / y), (i % x + i / x % y + i / x / y) % 2 ? -1 : 1);
    memcpy(c.edge_A, (double[3]){2.82 * x, 2.82 * y, 2.82 * z}, sizeof c.edge_A);
}

static void put_crystal(void)
{
    put_salt(8, 8, 8);
}

static void put_periodic_crystal(void)
{
    put_salt(6, 6, 6);
    c.axes = "xyz";
}

static void put_slab(void)
{
    put_salt(8, 8, 3);
    c.edge_A[2] = 30;
    c.axes = "xy";
}

static void put_wire(void)
{
    put_salt(10, 1, 1);
    for (size_t i = 0; i < c.n; i++)
        c.place_A[i][1] += draw(-1, 1);
    memcpy(c.edge_A, (double[3]){28.2, 30, 30}, sizeof c.edge_A);
    c.axes = "x";
}

/* Three-site molecules that stand on no grid. */
static void put_water(size_t molecules, const char *axes)
{
    const double edge_A = cbrt((double)molecules / 0.0334);
    const int side = (int)ceil(cbrt((double)molecules));
    for (size_t i = 0; i < molecules; i++) {
        const double step_A = edge_A / side, x_A = step_A * (double)((int)i % side) + draw(0, 1),
                     y_A = step_A * (double)((int)i / side % side) + draw(0, 1),
                     z_A = step_A * (double)((int)i / side / side) + draw(0, 1), turn = draw(0, 6.28);
        put(x_A, y_A, z_A, -0.834);
        put(x_A + 0.9572 * cos(turn), y_A + 0.9572 * sin(turn), z_A, 0.417);
        put(x_A + 0.9572 * cos(turn + 1.824), y_A + 0.9572 * sin(turn + 1.824), z_A, 0.417);
    }
    c.axes = axes;
    memcpy(c.edge_A, (double[3]){edge_A, edge_A, edge_A}, sizeof c.edge_A);
}

static void put_open_water(void)
{
    put_water(1000, NULL);
}

static void put_periodic_water(void)
{
    put_water(300, "xyz");
}

static void put_screened_water(void)
{
    put_water(300, NULL);
    c.kappa_per_A = 0.1;
}

static void put_screened_salt(void)
{
    put_periodic_crystal();
    c.kappa_per_A = 0.05;
    c.charge_e[0] = 3;
}

static void put_charged_gas(void)
{
    put_gas(500, 24, false);
    fill_box(24, "xyz");
}

static void put_periodic_gas(void)
{
    put_gas(1000, 30, true);
    fill_box(30, "xyz");
}

static void put_thin_gas(void)
{
    put_gas(100, 60, true);
    fill_box(60, "xyz");
}

static void put_layer_of_water(void)
{
    put_water(300, "xy");
}

static void put_column_of_water(void)
{
    put_water(200, "z");
}

/* Its cell has other angles than right ones. */
static void put_oblique_gas(void)
{
    put_gas(400, 28, true);
    fill_box(28, "xyz");
    c.shear_A = 9;
}

static void put_needle(void)
{
    for (int i = 0; i < 300; i++)
        put(i, draw(-1, 1), draw(-1, 1), i % 3 == 0 ? 1 : -0.5);
}

/* All of one sign, as on an electrode. */
static void put_plate(void)
{
    for (int i = 0; i < 900; i++)
        put(2.0 * (i % 30), 2.0 * (i / 30), draw(-0.2, 0.2), 0.2);
}

static void put_shell(void)
{
    for (int i = 0; i < 800; i++) {
        const double z = draw(-1, 1), turn = draw(0, 6.2832), r = sqrt(1 - z * z);
        put(20 * r * cos(turn), 20 * r * sin(turn), 20 * z, i % 2 ? -1 : 1.1);
    }
}

/* Far from each other, and of opposite charge. */
static void put_two_drops(void)
{
    put_gas(200, 12, false);
    for (size_t i = 0; i < 200; i++)
        put(c.place_A[i][0] + 90, c.place_A[i][1] + 20, c.place_A[i][2], -1);
}

/* Charges of many sizes. */
static void put_mixture(void)
{
    for (int i = 0; i < 600; i++)
        put(draw(0, 30), draw(0, 30), draw(0, 30), (i % 2 ? -1 : 1) * pow(10, draw(-3, 1)));
}

static void put_file(const char *name)
{
    char path[128];
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    snprintf(path, sizeof path, "/usr/share/apbs/examples/%s.pqr", name);
    assert_ok(ley_atoms_read(path, &atoms, &error));
    put_atoms(atoms);
}

static void put_protein(void)
{
    put_file("misc/fas2");
}

static void put_screened_protein(void)
{
    put_file("misc/fas2");
    c.kappa_per_A = 0.1;
}

static void put_methanol(void)
{
    put_file("solv/methanol");
}

static void put_helix(void)
{
    put_file("helix/Membrane-helix-0");
}

static void put_complex(void)
{
    put_file("FKBP/1d7h-dmso-complex");
}

static void put_large_protein(void)
{
    put_file("misc/achbp");
}

static void put_box(int64_t atoms, const char *axes)
{
    ley_error error = {0};
    ley_atoms *box = NULL;
    assert_ok(ley_waterbox_create(atoms, 3, 0.25, &box, &error));
    put_atoms(box);
    fill_box(ley_waterbox_side_A(atoms), axes);
}

static void put_large_cell(void)
{
    put_box(30000, "xyz");
}

static void put_large_box(void)
{
    put_box(100000, NULL);
}

static void put_largest_box(void)
{
    put_box(1000000, NULL);
}

/* Which tolerances level quick has: 1e-2 is 1, 1e-3 2, 1e-4 4, 1e-5 8. What is large has only those
 * that stand behind it, at levels above it. */
typedef struct case_of {
    const char *name;
    void (*put)(void);
    unsigned quick, most;
} case_of;

static const case_of cases[] = {
    {"one ion", put_ion, 1 | 4, 15},
    {"two ions", put_pair, 0, 15},
    {"methanol", put_methanol, 2, 15},
    {"a sparse gas", put_sparse, 0, 15},
    {"a dense gas", put_dense, 0, 15},
    {"charges of one sign", put_charged, 1 | 4, 15},
    {"charges of many sizes", put_mixture, 4, 15},
    {"a crystal", put_crystal, 0, 15},
    {"a periodic crystal", put_periodic_crystal, 1 | 4, 15},
    {"a screened crystal", put_screened_salt, 0, 15},
    {"a slab", put_slab, 0, 15},
    {"a wire", put_wire, 0, 15},
    {"water", put_open_water, 1 | 4, 15},
    {"periodic water", put_periodic_water, 0, 15},
    {"a layer of water", put_layer_of_water, 2, 15},
    {"a column of water", put_column_of_water, 0, 15},
    {"screened water", put_screened_water, 0, 15},
    {"a charged periodic gas", put_charged_gas, 2, 15},
    {"a periodic gas", put_periodic_gas, 0, 15},
    {"a thin periodic gas", put_thin_gas, 2, 15},
    {"an oblique cell", put_oblique_gas, 2, 15},
    {"a needle", put_needle, 0, 15},
    {"a plate", put_plate, 2, 15},
    {"a shell", put_shell, 0, 15},
    {"two drops", put_two_drops, 0, 15},
    {"a protein", put_protein, 4, 15},
    {"a screened protein", put_screened_protein, 0, 15},
    {"a helix", put_helix, 0, 15},
    {"a complex", put_complex, 0, 15},
    {"a large protein", put_large_protein, 0, 15},
    {"a large cell of water", put_large_cell, 0, 1 | 4},
    {"100,000 atoms of water", put_large_box, 0, 15},
    {"1,000,000 atoms of water", put_largest_box, 0, 2 | 4},
};
enum { CASES = sizeof cases / sizeof *cases };
_Static_assert((int)CASES >= 30, "kinds of systems");

static ley_grid map_around(void)
{
    const double spacing_A = 1, padding_A = 5;
    double low_A[3] = {INFINITY, INFINITY, INFINITY}, high_A[3] = {-INFINITY, -INFINITY, -INFINITY};
    ley_grid grid = {.n = {0}};
    for (size_t i = 0; i < c.n; i++)
        for (int axis = 0; axis < 3; axis++) {
            low_A[axis] = fmin(low_A[axis], c.place_A[i][axis] - padding_A);
            high_A[axis] = fmax(high_A[axis], c.place_A[i][axis] + padding_A);
        }
    for (int axis = 0; axis < 3; axis++) {
        grid.origin_A[axis] = low_A[axis];
        grid.step_A[axis][axis] = spacing_A;
        grid.n[axis] = (int64_t)((high_A[axis] - low_A[axis]) / spacing_A) + 1;
    }
    return grid;
}

static ley_long_range range_of_case(void)
{
    ley_long_range r = support_default_long_range();
    r.kappa_per_A = c.kappa_per_A;
    for (int axis = 0; axis < 3; axis++) {
        r.periodic[axis] = c.axes != NULL && strchr(c.axes, 'x' + axis) != NULL;
        r.cell_A[axis][axis] = c.edge_A[axis];
    }
    r.cell_A[1][0] = c.shear_A;
    return r;
}

/* How far a map is off, by what the job says, which exact sums have measured. A cutoff of 0: as the
 * plan says. */
static double error_of_map(ley_engine *engine, ley_grid grid, double tolerance, double cutoff_A)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_choice forecast;
    ley_long_range r = range_of_case();
    r.cutoff_A = cutoff_A > 0 ? cutoff_A : r.cutoff_A;
    ley_run_options options = support_default_run_options();
    options.verify_points = 1000;
    options.sum = LEY_SUM_AUTO;
    ley_atoms *atoms = support_make_atoms(c.n, c.place_A[0], c.charge_e, NULL);
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_long_range_choose(engine, atoms, (ley_target){.grid = &grid}, tolerance,
                                    cutoff_A > 0 ? LEY_FIX_CUTOFF : 0, &options, &r, &forecast, &error));
    assert_true(forecast.seconds > 0);
    assert_true(forecast.relative_rms <= 0.91 * tolerance); /* meshes half of it, floats half as much again */
    options.sum = forecast.sum;
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_accuracy a = ley_job_report(job)->accuracy;
    assert_true(a.passed && a.points >= 50);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return a.relative_rms;
}

static double error_of(ley_engine *engine, double tolerance, double cutoff_A)
{
    return error_of_map(engine, map_around(), tolerance, cutoff_A);
}

static void test_maps(void **state)
{
    static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5};
    int missed = 0;
    ley_engine *engine = support_make_engine(NULL);
    for (size_t i = 0; i < CASES; i++)
        for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
            if (((support_is_quick() ? cases[i].quick : cases[i].most) >> k & 1) == 0)
                continue;
            srand(7);
            empty();
            cases[i].put();
            const double off = error_of(engine, tolerances[k], 0);
            printf("    %s, tolerance %g: off by %.2f of it%s\n", cases[i].name, tolerances[k], off / tolerances[k],
                   off > tolerances[k] ? ": MISSED" : "");
            missed += off > tolerances[k];
        }
    empty();
    ley_engine_destroy(engine);
    assert_int_equal(missed, 0);
}

/* Charges of one sign, many of them between the same nodes: the longer the cutoff, the more. */
static void test_long_cutoffs(void **state)
{
    static const double cutoffs_A[] = {6, 9, 11}, tolerances[] = {1e-3, 1e-5};
    int missed = 0;
    ley_engine *engine = support_make_engine(NULL);
    for (size_t i = 0; i < sizeof cutoffs_A / sizeof *cutoffs_A; i++)
        for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
            srand(7);
            empty();
            put_plate();
            const double off = error_of(engine, tolerances[k], cutoffs_A[i]);
            printf("    a plate, tolerance %g, cutoff %g A: off by %.2f of it\n", tolerances[k], cutoffs_A[i],
                   off / tolerances[k]);
            missed += off > tolerances[k];
        }
    empty();
    ley_engine_destroy(engine);
    assert_int_equal(missed, 0);
}

/* A map of a molecule that has ions far away, or stands in a corner of a large cell: what its
 * meshes are off by is what dense charges make, however much empty space there is. */
static void test_maps_of_a_part(void **state)
{
    static const double tolerances[] = {1e-4, 3e-5, 1e-6};
    static const char *const axes[] = {NULL, "xyz"};
    ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {20, 20, 20}};
    int missed = 0;
    ley_engine *engine = support_make_engine(NULL);
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++)
        for (int in_cell = 0; in_cell < 2; in_cell++) {
            srand(7);
            empty();
            put_gas(300, 20, true);
            put(in_cell ? 55 : 400, 50, 60, 1);
            put(in_cell ? 60 : -300, 60, 40, -1);
            fill_box(90, axes[in_cell]);
            const double off = error_of_map(engine, grid, tolerances[k], 0);
            printf("    a part%s, tolerance %g: off by %.2f of it\n", in_cell ? " of a cell" : "", tolerances[k],
                   off / tolerances[k]);
            missed += off > tolerances[k];
        }
    empty();
    ley_engine_destroy(engine);
    assert_int_equal(missed, 0);
}

/* Multilevel summation, which is the soonest here, cannot carry the mean potential of so many
 * charges of one sign that are hardly screened: it is transforms that are taken, whatever their
 * window. */
static void test_a_large_mean(void **state)
{
    const ley_grid small = {.n = {1, 12, 40}, .origin_A = {3, 4, 5}, .step_A = {{0.1}, {0, 0.1}, {0, 0, 0.1}}};
    ley_engine *engine = support_make_engine(NULL);
    srand(7);
    empty();
    fill_box(20, "xyz");
    c.kappa_per_A = 0.01;
    for (int i = 0; i < 400; i++)
        put(draw(0, 20), draw(0, 20), draw(0, 20), draw(0, 1));
    assert_true(error_of_map(engine, small, 1e-3, 0) < 1e-3);
    empty();
    ley_engine_destroy(engine);
}

/* Charges of a few kinds that no float holds, and what is left of their sum: floats lack 3e-6 of
 * that, and so of the whole potential, which long waves in double precision do not. */
static void test_charges_that_round_alike(void **state)
{
    static const double kinds_e[3] = {-0.831, 0.423, 0.423};
    srand(7);
    empty();
    for (int i = 0; i < 9000; i++)
        put(draw(0, 45), draw(0, 45), draw(0, 45), kinds_e[i % 3]);
    ley_engine *engine = support_make_engine(NULL);
    const double off = error_of(engine, 1e-6, 0);
    printf("    charges that round alike, tolerance 1e-6: off by %.2f of it\n", off / 1e-6);
    empty();
    ley_engine_destroy(engine);
    assert_true(off < 1e-6);
}

/* Direct sums of floats do for 1e-4; for 1e-6 they are done again in doubles, which counts. */
static void test_what_direct_sums_take(void **state)
{
    static const double tolerances[] = {1e-4, 1e-6, 1e-6};
    static const ley_sum sums[] = {LEY_SUM_AUTO, LEY_SUM_FLOAT, LEY_SUM_AUTO};
    ley_error error = {0};
    double direct_s[3];
    srand(7);
    empty();
    put_water(8000, NULL);
    const ley_grid grid = map_around();
    ley_engine *engine = support_make_engine(NULL);
    ley_atoms *atoms = support_make_atoms(c.n, c.place_A[0], c.charge_e, NULL);
    ley_run_options options = support_default_run_options();
    for (int k = 0; k < 3; k++) {
        ley_estimate list[LEY_MOST_ESTIMATES];
        size_t count;
        ley_request request = support_default_request();
        request.potential = range_of_case();
        request.tolerance = tolerances[k];
        request.fixed = sums[k] == LEY_SUM_AUTO ? 0 : LEY_FIX_SUM;
        options.sum = sums[k];
        assert_ok(
            ley_request_estimate(engine, atoms, (ley_target){.grid = &grid}, &request, &options, list, &count, &error));
        assert_true(count == 2 && strcmp(list[0].method, "dcs") == 0 && list[0].bytes > 0);
        direct_s[k] = list[0].seconds;
    }
    assert_true(direct_s[1] < 1.01 * direct_s[0]);
    assert_true(direct_s[2] > 5 * direct_s[0]);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    empty();
}

int main(void)
{
    return RUN_TESTS(test_maps, test_maps_of_a_part, test_a_large_mean, test_charges_that_round_alike,
                     test_what_direct_sums_take, test_long_cutoffs);
}
