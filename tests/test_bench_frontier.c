/* The benchmark of error against time: what it measures, what it says and draws, and of meshes
 * that miss their tolerance. Boxes are small. */
#include "cli_support.h"

#include "bench/bench.h"
#include "engine/engine.h"
#include "long_range/estimate/tolerance.h"

enum { ATOMS = 999 };

static ley_engine *engine;

/* ---- A choice that is none ------------------------------------------------------------------- */

static bool is_papers; /* whatever the tolerance is */

ley_status __real_msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                                unsigned fixed, const ley_run_options *options, ley_long_range *range,
                                ley_choice *choice, ley_error *error);
ley_status __wrap_msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                                unsigned fixed, const ley_run_options *options, ley_long_range *range,
                                ley_choice *choice, ley_error *error);

ley_status __wrap_msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                                unsigned fixed, const ley_run_options *options, ley_long_range *range,
                                ley_choice *choice, ley_error *error)
{
    if (!is_papers)
        return __real_msm_choose_on(w, atoms, grid, tolerance, fixed, options, range, choice, error);
    ley_long_range_papers(range);
    return LEY_OK;
}

/* ---- What is measured ------------------------------------------------------------------------ */

static ley_bench *run(int64_t atoms, const double *tolerances, size_t count)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.method = "frontier";
    o.atoms = atoms;
    o.repeats = 2;
    o.tolerances = tolerances;
    o.tolerance_count = count;
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    const ley_bench_device *d = ley_bench_get(bench, 0);
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    assert_int_equal(d->row_count, count + 1);
    return bench;
}

static void check_row(const ley_bench_device *d, size_t i, const char *name, double tolerance)
{
    const ley_bench_row *row = &d->rows[i];
    if (row->status != LEY_OK)
        fail_msg("%s: %s", row->variant, row->failure);
    assert_string_equal(row->variant, name);
    assert_true(row->tolerance == tolerance && row->accuracy.passed);
    assert_true(row->accuracy.points == BENCH_SAMPLE_POINTS && row->accuracy.relative_rms > 0);
    assert_true(tolerance == 0 || row->accuracy.relative_rms <= tolerance);
    assert_true(row->kernel_s > 0 && row->whole_s >= row->kernel_s / 2 && ley_bench_row_figure(row, "launches") > 0);
    assert_true(ley_bench_row_figure(row, "measured_share") == 1 && row->fma_share > 0 &&
                ley_bench_row_figure(row, "memory_share") > 0);
    assert_true(strlen(row->specification) > 10);
}

static void test_rows(void **state)
{
    static const double tolerances[] = {1e-2, 1e-4};
    ley_bench *bench = run(ATOMS, tolerances, 2);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    check_row(d, 0, "0.01", 1e-2);
    check_row(d, 1, "0.0001", 1e-4);
    check_row(d, 2, "direct", 0);
    assert_true(d->rows[1].accuracy.relative_rms < d->rows[0].accuracy.relative_rms);
    assert_true(d->rows[2].evaluations_per_s * d->rows[2].kernel_s > 0.99 * (double)(d->atoms * d->points));
    ley_bench_destroy(bench);
}

/* What is off by more than was asked for has no time. */
static void test_missed(void **state)
{
    static const double tolerances[] = {1e-2, 1e-4};
    is_papers = true;
    ley_bench *bench = run(ATOMS, tolerances, 2);
    is_papers = false;
    const ley_bench_device *d = ley_bench_get(bench, 0);
    check_row(d, 0, "0.01", 1e-2);
    assert_int_equal(d->rows[1].status, LEY_ERROR_WRONG_RESULT);
    assert_non_null(strstr(d->rows[1].failure, "for a tolerance of 0.0001"));
    assert_non_null(strstr(d->rows[1].specification, "nodal3, taylor2, multilevel, cutoff 12 A, nodes 2 A apart"));
    ley_bench_destroy(bench);
}

/* A direct sum that would take long is made of a part of the map. */
static void test_scaled(void **state)
{
    static const double tolerance = 1e-2;
    if (support_is_quick())
        skip();
    ley_bench *bench = run(45000, &tolerance, 1);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    const ley_bench_row *row = &d->rows[1];
    const double all = (double)(d->atoms * d->points);
    assert_int_equal(row->status, LEY_OK);
    if (all / d->roots_per_s > 3)
        assert_true(ley_bench_row_figure(row, "measured_share") < 1);
    const double planes = ley_bench_row_figure(row, "measured_share") * (double)d->n[2];
    assert_true(planes >= 1 && planes - (double)(int)(planes + 0.5) < 1e-9);
    assert_true(row->evaluations_per_s * row->kernel_s > 0.99 * all && row->whole_s >= row->kernel_s / 2);
    ley_bench_destroy(bench);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void assert_begins(const char *path, const char *bytes)
{
    char begin[16] = "";
    FILE *file = fopen(cli_path(path), "rb");
    assert_non_null(file);
    assert_true(fread(begin, 1, sizeof begin - 1, file) > 8);
    fclose(file);
    assert_memory_equal(begin, bytes, strlen(bytes));
}

static void test_command(void **state)
{
    const char *cache = getenv("LEYDEN_CACHE_DIR");
    const cli_result *r =
        cli("LEYDEN_CACHE_DIR=%s bench --frontier --atoms %d --tol 1e-2,1e-4 --repeats 1 --device 0 -o f.svg", cache,
            ATOMS);
    cli_expect(0, "tolerance  kernel s  whole s  launches  timed  spread %", NULL);
    assert_non_null(strstr(r->out, "\n0.0001 "));
    assert_non_null(strstr(r->out, "\ndirect "));
    assert_non_null(strstr(r->out, "direct summation\n"));
    assert_begins("f.svg", "<?xml");
    cli("LEYDEN_CACHE_DIR=%s bench --kernel frontier --atoms %d --tol 1e-2 --repeats 1 --device 0 -o f.png --json "
        "-",
        cache, ATOMS);
    cli_expect(0, "\"measured_share\": 1", NULL);
    cli_expect(0, "\"tolerance\": 0.01", NULL);
    assert_begins("f.png", "\x89PNG");
}

/* The steps of a job whose meshes are chosen, or said. */
static void test_chosen_steps(void **state)
{
    const char *cache = getenv("LEYDEN_CACHE_DIR");
    const cli_result *r =
        cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --atoms %d --tol 1e-2 --window nodal3 --repeats 1 --device 0",
            cache, ATOMS);
    cli_expect(0, "\nchosen: nodal3, taylor", NULL);
    assert_non_null(strstr(r->out, "\nchosen: lattice cutoff "));
    assert_null(strstr(r->out, "chosen: forward"));
    assert_null(strstr(r->out, "papers: "));
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --atoms %d --window nodal3 --splitting taylor2 --cutoff 9 "
        "--mesh-spacing 1.5 --repeats 1 --device 0",
        cache, ATOMS);
    cli_expect(0, "chosen: nodal3, taylor2, multilevel, cutoff 9 A, nodes 1.5 A apart\n", NULL);
}

static void test_refusals(void **state)
{
    static const cli_failing cases[] = {
        {"bench --frontier --kernel dcs", 1, "--frontier stands for --kernel frontier, and --kernel dcs is given"},
        {"bench --frontier --tol 1e-3,1e-3", 1, "--tol: 0.001 is there twice"},
        {"bench --frontier --tol 1e-3,", 1, "--tol takes numbers separated by commas (T[,T...]), 16 at most, not '"},
        {"bench --frontier --tol 1e-7", 1, "--tol: 1e-7 is out of range"},
        {"bench --frontier -o a.gif", 1, "--output: 'a.gif' must end in .png or .svg"},
        {"bench --frontier -o none/a.png", 2, "none/a.png"},
        {"bench --frontier --dims 3,3,3", 1, "--dims is not for --kernel frontier"},
        {"bench --frontier --variant bins", 1, "--variant is not for --kernel frontier"},
        {"bench --tol 1e-3", 1, "--tol needs --kernel msm or frontier"},
        {"bench --kernel msm -o a.png", 1, "--output needs --kernel frontier"},
        {"bench --kernel msm --tol 1e-3,1e-4", 1, "one tolerance with --kernel msm"},
        {"bench --kernel msm --tol 1e-3 --curve", 1, "--curve has choices of its own"},
        {"bench --kernel msm --window nodal3 --preset fft", 1, "--preset has choices of its own"},
    };
    CLI_CHECK_FAILURES(cases);
    static const double wrong[][2] = {{1e-3, 1e-3}, {1, 1e-3}, {1e-9, 1e-3}};
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.method = "frontier";
    o.tolerance_count = 2;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.tolerances = wrong[i];
        assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    }
    o.tolerance_count = 17;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "error against time", .selector = "0", .opened = &engine), test_rows,
                     test_missed, test_scaled, test_command, test_chosen_steps, test_refusals);
}
