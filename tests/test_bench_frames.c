/* The benchmarks of averages, series, ions and orbitals: what they measure and say, and that
 * results which are wrong have no rate. Boxes are small. */
#include "cli_support.h"

#include "bench/bench.h"
#include "bench/pmepot.h"
#include "engine/engine.h"

enum { ATOMS = 300, POINTS = 12 };

static ley_engine *engine;

/* ---- Faults ---------------------------------------------------------------------------------- */

typedef enum fault {
    NO_FAULT,
    MAP_OFF,   /* an average by 0.1 % */
    VALUE_OFF, /* the first potential of a series by 0.1 % */
    IONS_NEAR, /* to the solute, nearer than they may be */
    IONS_FAR,  /* from it, so that others had been better */
    ENERGY_OFF /* of the last ion by 0.1 % */
} fault;

static fault planted;

ley_status __real_ley_average_map(ley_average *average, ley_average_quantity quantity, ley_map **map, ley_error *error);
ley_status __wrap_ley_average_map(ley_average *average, ley_average_quantity quantity, ley_map **map, ley_error *error);
ley_status __real_ley_series_run(ley_series *series, const ley_series_frames *frames, ley_error *error);
ley_status __wrap_ley_series_run(ley_series *series, const ley_series_frames *frames, ley_error *error);
ley_status __real_ley_ions_place(ley_engine *on, const ley_atoms *atoms, const ley_request *request,
                                 const ley_ions_options *options, ley_ions **ions, ley_error *error);
ley_status __wrap_ley_ions_place(ley_engine *on, const ley_atoms *atoms, const ley_request *request,
                                 const ley_ions_options *options, ley_ions **ions, ley_error *error);

ley_status __wrap_ley_average_map(ley_average *average, ley_average_quantity quantity, ley_map **map, ley_error *error)
{
    const ley_status status = __real_ley_average_map(average, quantity, map, error);
    for (int64_t i = 0; status == LEY_OK && planted == MAP_OFF && i < ley_grid_points(ley_map_grid(*map)); i++)
        ley_map_values(*map)[i] *= 1.001F;
    return status;
}

ley_status __wrap_ley_series_run(ley_series *series, const ley_series_frames *frames, ley_error *error)
{
    const ley_status status = __real_ley_series_run(series, frames, error);
    if (planted == VALUE_OFF)
        frames->potential[0] *= 1.001;
    return status;
}

ley_status __wrap_ley_ions_place(ley_engine *on, const ley_atoms *atoms, const ley_request *request,
                                 const ley_ions_options *options, ley_ions **ions, ley_error *error)
{
    ley_ions_options o = *options;
    o.from_solute_A += planted == IONS_NEAR ? -1 : planted == IONS_FAR ? 1 : 0;
    const ley_status status = __real_ley_ions_place(on, atoms, request, &o, ions, error);
    if (status == LEY_OK && planted == ENERGY_OFF)
        ((ley_placed_ion *)(uintptr_t)ley_ions_get(*ions, ley_ions_count(*ions) - 1))->energy_kcal_mol *= 1.001;
    return status;
}

/* ---- What is measured ------------------------------------------------------------------------ */

static ley_bench *run(const char *what, fault wrong)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.method = what;
    o.atoms = ATOMS;
    o.repeats = 1;
    if (strcmp(what, "average") == 0 || strcmp(what, "orbital") == 0)
        o.n[0] = o.n[1] = o.n[2] = POINTS;
    planted = wrong;
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    planted = NO_FAULT;
    const ley_bench_device *d = ley_bench_get(bench, 0);
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    return bench;
}

static const ley_bench_row *right_row(const ley_bench *bench, size_t i, const char *name)
{
    const ley_bench_row *row = &ley_bench_get(bench, 0)->rows[i];
    assert_string_equal(row->variant, name);
    if (row->status != LEY_OK)
        fail_msg("%s: %s", row->variant, row->failure);
    assert_true(row->accuracy.passed && row->accuracy.points > 0 &&
                row->accuracy.relative_rms <= row->accuracy.tolerance);
    assert_true(row->run_count == 1 && row->median_s > 0);
    return row;
}

static void expect_wrong(ley_bench *bench, size_t i, const char *why)
{
    const ley_bench_row *row = &ley_bench_get(bench, 0)->rows[i];
    if (row->status != LEY_ERROR_WRONG_RESULT || strstr(row->failure, why) == NULL)
        fail_msg("%s: %s", row->variant, row->status != LEY_OK ? row->failure : "taken as right");
}

static void averages_are_measured(void **state)
{
    static const char *const names[] = {"mean", "deviation", "exact-cells", "bare", "pmepot"};
    (void)state;
    ley_bench *bench = run("average", NO_FAULT);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->row_count, 5);
    assert_true(d->n[0] == POINTS && d->points == POINTS * POINTS * POINTS && d->atoms == ATOMS);
    for (size_t i = 0; i < d->row_count; i++) {
        const ley_bench_row *row = right_row(bench, i, names[i]);
        assert_true(row->accuracy.relative_rms > 1e-8);
        if (!d->is_interpreter)
            assert_true(ley_bench_row_figure(row, "frames_per_s") > 0 && ley_bench_row_figure(row, "processor_ms") > 0);
        if (i < 3)
            assert_true(ley_bench_row_figure(row, "order") >= 4 && ley_bench_row_figure(row, "mesh") >= 64 &&
                        ley_bench_row_figure(row, "checked_error") > 0 && ley_bench_row_figure(row, "mean_error") > 0);
    }
    ley_bench_destroy(bench);
}

/* 108 or, where kernels are interpreted, 12 points along an edge for 92,001 or 30 atoms. */
static void grids_of_averages_grow_with_their_atoms(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    (void)state;
    o.method = "average";
    o.variant = "pmepot";
    o.atoms = ATOMS;
    o.repeats = 1;
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    const ley_bench_device *d = ley_bench_get(bench, 0);
    for (int axis = 0; axis < 3; axis++)
        assert_int_equal(d->n[axis], d->is_interpreter ? 26 : 16);
    right_row(bench, 0, "pmepot");
    ley_bench_destroy(bench);
}

static void wrong_averages_have_no_rate(void **state)
{
    (void)state;
    ley_bench *bench = run("average", MAP_OFF);
    expect_wrong(bench, 0, "for a tolerance of 0.0001");
    expect_wrong(bench, 2, "for a tolerance of 0.0001");
    expect_wrong(bench, 3, "for a tolerance of 0.0001");
    expect_wrong(bench, 4, "for a tolerance of 0.0001");
    ley_bench_destroy(bench);
}

static void series_are_measured(void **state)
{
    static const char *const names[] = {"2", "50", "1000"};
    (void)state;
    ley_bench *bench = run("series", NO_FAULT);
    assert_int_equal(ley_bench_get(bench, 0)->row_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const ley_bench_row *row = right_row(bench, i, names[i]);
        assert_true(ley_bench_row_figure(row, "frames_per_s") > 0 && ley_bench_row_figure(row, "field_error") > 0);
        assert_non_null(strstr(row->specification, "ewald, rc "));
    }
    ley_bench_destroy(bench);
    bench = run("series", VALUE_OFF);
    for (size_t i = 0; i < 3; i++)
        expect_wrong(bench, i, "potentials are off by ");
    ley_bench_destroy(bench);
}

static void ions_are_measured(void **state)
{
    static const char *const names[] = {"potential", "mask", "placing", "all"};
    (void)state;
    ley_bench *bench = run("ions", NO_FAULT);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->row_count, 4);
    assert_true(d->n[0] > 10 && d->points == d->n[0] * d->n[1] * d->n[2]);
    double parts_s = 0;
    for (size_t i = 0; i < 4; i++) {
        const ley_bench_row *row = right_row(bench, i, names[i]);
        assert_true(ley_bench_row_figure(row, "ions") == 4 && ley_bench_row_figure(row, "recomputed") >= 4 &&
                    ley_bench_row_figure(row, "bricks") > 0);
        parts_s += i < 3 ? row->median_s : 0;
    }
    assert_true(d->rows[3].median_s >= parts_s);
    const double passes_s = ley_bench_row_figure(&d->rows[2], "whole_passes_s");
    if (d->memory_bytes_per_s > 0)
        assert_true(fabs(passes_s * d->memory_bytes_per_s / (8. * 4 * (double)d->points) - 1) < 1e-9);
    ley_bench_destroy(bench);
}

static void wrong_ions_have_no_time(void **state)
{
    static const struct {
        fault wrong;
        const char *why;
    } cases[] = {{IONS_NEAR, "is where no ion may be"},
                 {IONS_FAR, "and a node had been free with "},
                 {ENERGY_OFF, "energies are off by "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_bench *bench = run("ions", cases[i].wrong);
        for (size_t k = 0; k < 4; k++)
            expect_wrong(bench, k, cases[i].why);
        ley_bench_destroy(bench);
    }
}

/* Every variant that the device has is there, with its shares; the rows that are no variants; the
 * papers' loop. */
static void orbitals_are_measured(void **state)
{
    (void)state;
    ley_bench *bench = run("orbital", NO_FAULT);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    const double gaussians = 60 * 11 * (double)d->points; /* of carbon's 15 primitives, 4 have another's exponent */
    size_t measured = 0;
    assert_true(d->points == POINTS * POINTS * POINTS && d->exps_per_s > 0);
    for (size_t i = 0; i < d->row_count; i++) {
        const ley_bench_row *row = &d->rows[i];
        if (row->status == LEY_ERROR_NO_DEVICE)
            continue;
        right_row(bench, i, row->variant);
        measured++;
        if (strcmp(row->variant, "frames") == 0)
            assert_true(d->is_interpreter || ley_bench_row_figure(row, "frames_per_s") > 0);
        else
            assert_true(ley_bench_row_figure(row, "multiply_adds") > 50.0 * (double)d->points);
        const double exps = ley_bench_row_figure(row, "exponentials"); /* of those that reach a point */
        if (exps > 0 && strcmp(row->variant, "many") != 0 && strncmp(row->variant, "potential", 9) != 0)
            assert_true(exps > 0.02 * gaussians && exps < 0.8 * gaussians);
        assert_true(strcmp(row->variant, "compiled") != 0 || exps > 0);
        if (strcmp(row->variant, "density") == 0) { /* of 180 orbitals, of processors in two of the planes */
            const double planes = d->device->device_class == LEY_CLASS_GPU ? POINTS : 2;
            assert_true(fabs(row->evaluations_per_s * row->median_s / (gaussians * 180 * planes / POINTS) - 1) < 1e-9);
        }
    }
    assert_true(measured >= 7);
    assert_true(d->device->device_class != LEY_CLASS_CPU || d->is_interpreter || d->host_loop_evaluations_per_s > 0);
    ley_bench_destroy(bench);
}

/* Planes that are left out: what the self-test's basis does not show. */
static void wrong_orbitals_have_no_rate(void **state)
{
    (void)state;
    support_fresh_cache();
    support_plant_fault("separable", "return number >=", "return (slab.z != 1920 || plane % 2 == 1) && number >=");
    ley_bench *bench = run("orbital", NO_FAULT);
    unsetenv("LEYDEN_KERNEL_DIR");
    support_fresh_cache();
    const ley_bench_device *d = ley_bench_get(bench, 0);
    for (size_t i = 0; i < d->row_count; i++)
        if (strncmp(d->rows[i].variant, "separable", 9) == 0 || strcmp(d->rows[i].variant, "density") == 0)
            expect_wrong(bench, i, "of the magnitudes there");
    ley_bench_destroy(bench);
}

/* ---- PMEPot ---------------------------------------------------------------------------------- */

/* Its factor is made for axes one by one; and a single charge has the potential of a Gaussian far
 * from it, so that values of two grids agree where these have the same point. */
static void the_loop_takes_any_grid(void **state)
{
    static const int64_t n[2][3] = {{15, 21, 27}, {45, 63, 81}};
    static const double edge_A[3] = {15, 21, 27}, charge_e[2] = {1, -1};
    static const float at_A[2][3] = {{0.25F, -1, 2}, {5, 6, -9}};
    ley_error error = {0};
    double value[2];
    (void)state;
    for (int i = 0; i < 2; i++) { /* the middle point of both is the cell's centre */
        pmepot *loop = NULL;
        assert_ok(pmepot_create(n[i], edge_A, &loop, &error));
        assert_ok(pmepot_add(loop, 2, charge_e, at_A[0], &error));
        assert_ok(pmepot_add(loop, 2, charge_e, at_A[0], &error));
        value[i] = pmepot_mean(loop, (size_t)((n[i][2] / 2 * n[i][1] + n[i][1] / 2) * n[i][0] + n[i][0] / 2));
        pmepot_destroy(loop);
    }
    assert_true(value[0] > 0.05 && fabs(value[0] / value[1] - 1) < 0.05);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void the_command_prints_them(void **state)
{
    const char *cache = getenv("LEYDEN_CACHE_DIR");
    (void)state;
    cli("LEYDEN_CACHE_DIR=%s bench --kernel average --atoms %d --dims 12,12,12 --repeats 1 --device 0 --json a.json",
        cache, ATOMS);
    cli_expect(0, "frames/s  processors, ms a frame  timed  spread %", NULL);
    cli_expect(0, "\npmepot ", NULL);
    cli_expect(0, "\nmean to PMEPot's algorithm on one thread: ", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel series --atoms %d --repeats 1 --device 0 --csv s.csv --markdown -", cache,
        ATOMS);
    cli_expect(0, "| variant | seconds | timed | frames/s | processors, ms a frame |", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel ions --atoms %d --repeats 1 --device 0", cache, ATOMS);
    cli_expect(0, "\nplacing ", NULL);
    cli_expect(0, "\na pass over the whole grid for each of the 4 ions takes ", NULL);
    cli_expect(0, "110 CPU hours", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench a.json", cache); /* the report agrees with its schema */
    cli_expect(0, "| pmepot |", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel orbital --dims 8,7,6 --repeats 1 --device 0 --json o.json", cache);
    cli_expect(0, "\npapers, seconds: one core 46.58", NULL);
    cli_expect(0, "\nwith new coefficients each time, 80^3 points", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench o.json", cache);
    cli_expect(0, "| compiled |", NULL);
    static const cli_failing cases[] = {
        {"bench --kernel orbital --atoms 30", 1, "--atoms is not for --kernel orbital"},
        {"bench --kernel series --dims 3,3,3", 1, "--dims is not for --kernel series"},
        {"bench --kernel ions --dims 3,3,3", 1, "--dims is not for --kernel ions"},
        {"bench --kernel average --math native", 1, "--math is not for --kernel average"},
        {"bench --kernel average --variant fast", 1, "fast"},
    };
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "averages, series, ions", .selector = "0", .opened = &engine),
                     averages_are_measured, grids_of_averages_grow_with_their_atoms, wrong_averages_have_no_rate,
                     series_are_measured, ions_are_measured, wrong_ions_have_no_time, orbitals_are_measured,
                     wrong_orbitals_have_no_rate, the_loop_takes_any_grid, the_command_prints_them);
}
