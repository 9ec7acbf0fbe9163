/* The benchmark of long-range potentials, step by step: what it counts and says, of devices without
 * transforms, of meshes that are wrong, and its peer on one core. Boxes are small. */
#include "cli_support.h"

#include "bench/bench.h"
#include "engine/engine.h"
#include "error.h"
#include "law/long_range.h"
#include "long_range/bench/serial_loop.h"
#include "long_range/bench/steps.h"

enum { ATOMS = 999 };

static ley_engine *engine;

static ley_bench_options small(const char *preset)
{
    ley_bench_options o = support_default_bench_options();
    o.method = "msm";
    o.atoms = ATOMS;
    o.repeats = 3;
    o.preset = preset;
    return o;
}

static ley_bench *run(const ley_bench_options *o)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    assert_ok(ley_bench_run(engine, o, &bench, &error));
    assert_int_equal(ley_bench_device_count(bench), 1);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    return bench;
}

static const ley_bench_row *row_of(const ley_bench_device *d, const char *name)
{
    for (size_t i = 0; i < d->row_count; i++)
        if (strcmp(d->rows[i].variant, name) == 0)
            return &d->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* ---- What steps take ------------------------------------------------------------------------- */

static hierarchy make_hierarchy(window_kind kind, hierarchy_solver solver)
{
    const hierarchy_options o = {
        .splitting = SPLITTING_TAYLOR2, .window = kind, .solver = solver, .cutoff_A = 6, .spacing_A = 2};
    ley_error error = {0};
    hierarchy h;
    assert_ok(hierarchy_make(&o, (const double[3]){0, 1, -3}, (const double[3]){27, 31, 36}, &h, &error));
    return h;
}

/* Node by node. */
static void test_pairs_of_nodes(void **state)
{
    const hierarchy h = make_hierarchy(WINDOW_NODAL3, HIERARCHY_MULTILEVEL);
    assert_true(h.levels > 2);
    for (int k = 0; k + 1 < h.levels; k++) {
        const int64_t *n = h.level[k].n;
        double pairs = 0;
        for (int64_t i = 0; i < hierarchy_nodes(&h.level[k]); i++)
            for (int64_t j = 0; j < hierarchy_nodes(&h.level[k]); j++) {
                const double d[3] = {(double)(i % n[0] - j % n[0]), (double)(i / n[0] % n[1] - j / n[0] % n[1]),
                                     (double)(i / n[0] / n[1] - j / n[0] / n[1])};
                pairs += d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < 36;
            }
        assert_true(msm_node_pairs(&h, k) == pairs);
    }
}

static void test_needs(void **state)
{
    const hierarchy h = make_hierarchy(WINDOW_NODAL3, HIERARCHY_MULTILEVEL);
    const ley_grid points = {.n = {10, 20, 30}};
    const double fine = (double)hierarchy_nodes(&h.level[0]), coarse = (double)hierarchy_nodes(&h.level[1]);
    const step_needs atoms = msm_step_needs(MSM_ANTERPOLATION, &h, &points, 100, 1000),
                     pairs = msm_step_needs(MSM_SHORT_RANGE, &h, &points, 100, 1000),
                     up = msm_step_needs(MSM_RESTRICTION, &h, &points, 100, 1000),
                     down = msm_step_needs(MSM_PROLONGATION, &h, &points, 100, 1000),
                     whole = msm_step_needs(MSM_WHOLE, &h, &points, 100, 1000);
    assert_true(atoms.multiply_adds == 100 * (64 + 48) && atoms.bytes == 100 * 20 + 4 * fine);
    assert_true(pairs.multiply_adds == 6000 && pairs.bytes == 4 * 6000 + 20 * 100);
    assert_true(up.multiply_adds >= coarse * 125 && up.bytes >= 4 * (fine + coarse));
    assert_true(down.multiply_adds >= fine * 2.5 * 2.5 * 2.5 && down.bytes >= 4 * (2 * fine + coarse));
    assert_true(whole.multiply_adds == 0 && whole.bytes == 0);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void check_rows(const ley_bench_device *d)
{
    for (size_t i = 0; i < d->row_count; i++) {
        const ley_bench_row *row = &d->rows[i];
        if (row->status != LEY_OK)
            fail_msg("%s: %s", row->variant, row->failure);
        if (!(row->kernel_s > 0 && row->spread >= 0))
            fail_msg("%s took %g s", row->variant, row->kernel_s);
        assert_true(row->accuracy.passed && row->accuracy.points == BENCH_SAMPLE_POINTS);
        assert_int_equal(ley_bench_row_figure(row, "launches") > 0, ley_bench_row_figure(row, "multiply_adds") > 0);
        if (ley_bench_row_figure(row, "launches") > 0) {
            assert_true(row->bytes > 0 && row->fma_share > 0);
            assert_true(
                fabs(ley_bench_row_figure(row, "memory_share") * row->kernel_s * d->memory_bytes_per_s / row->bytes -
                     1) < 1e-9);
        }
    }
}

static void test_steps(void **state)
{
    ley_bench_options o = small(NULL);
    o.atoms = 3 * ATOMS; /* two levels */
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->row_count, 10 + 10 + 9);
    assert_true(d->pairs > 1e7 && d->points == d->n[0] * d->n[1] * d->n[2]);
    check_rows(d);
    const double whole_s = row_of(d, "papers: atoms to map")->kernel_s;
    assert_true(whole_s > row_of(d, "papers: atoms into bins")->kernel_s);
    assert_true(ley_bench_row_figure(row_of(d, "papers: restriction"), "launches") >= 1);
    assert_true(ley_bench_row_figure(row_of(d, "papers: short range"), "multiply_adds") == 6 * d->pairs);
    assert_true(ley_bench_row_figure(row_of(d, "default: anterpolation"), "multiply_adds") ==
                3 * ATOMS * (512.0 + 3 * 64));
    assert_true(ley_bench_row_figure(row_of(d, "fft: forward"), "multiply_adds") ==
                ley_bench_row_figure(row_of(d, "fft: inverse"), "multiply_adds"));
    assert_true(row_of(d, "default: atoms to map")->accuracy.relative_rms <
                row_of(d, "papers: atoms to map")->accuracy.relative_rms);
    ley_bench_destroy(bench);
}

static void test_refusals(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = small(NULL);
    o.variant = "bins";
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o = small(NULL);
    o.n[0] = 8;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o = small("best");
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o = small("fft");
    o.linear = true;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
}

static void test_command(void **state)
{
    const cli_result *r =
        cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --atoms %d --repeats 1 --device 0 --preset papers",
            getenv("LEYDEN_CACHE_DIR"), ATOMS);
    cli_expect(0, "papers: from atoms in memory to the map in the host's memory", NULL);
    assert_non_null(strstr(r->out, "\npapers: lattice cutoff "));
    assert_non_null(strstr(r->out, "% of arithmetic  % of memory"));
    assert_null(strstr(r->out, "default:"));
    assert_null(strstr(r->out, "WRONG"));
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --atoms %d --repeats 1 --device 0 --preset fft --json -",
        getenv("LEYDEN_CACHE_DIR"), 3 * ATOMS); /* as test_steps has, whose transforms are compiled */
    cli_expect(0, "\"memory_share\"", NULL);
    cli_expect(0, "fft: product", NULL);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --atoms %d --repeats 1 --device 0 --preset papers --cutoff 9",
        getenv("LEYDEN_CACHE_DIR"), ATOMS);
    cli_expect(0, "cutoff 9 A, ", NULL);
}

/* What means nothing to a kernel is not left out in silence. */
static void test_options(void **state)
{
    static const cli_failing cases[] = {
        {"bench --kernel msm --points 5", 1, "--points needs --kernel mdh: other kernels do not take it"},
        {"bench --kernel msm --salt 1", 1, "--salt needs --kernel mdh"},
        {"bench --kernel msm --linear", 1, "--linear needs --kernel cutoff"},
        {"bench --kernel msm --dims 9,9,9", 1, "--dims is not for --kernel msm: they follow from --atoms"},
        {"bench --kernel msm --variant bins", 1, "--variant is not for --kernel msm: its rows are the steps"},
        {"bench --kernel msm --preset papers --fft vkfft", 1, "preset papers has no transforms: vkfft is for"},
        {"bench --kernel cutoff --preset papers", 1, "--preset needs --kernel msm"},
        {"bench --kernel dcs --cutoff 9", 1, "--cutoff needs --kernel cutoff or msm"},
        {"bench --kernel dcs --fft vkfft", 1,
         "--fft needs --kernel msm, fft or frontier: other kernels do not take it"},
        {"bench --kernel lattice --dims 9,9,9", 1, "--dims is not for --kernel lattice"},
        {"bench --kernel lattice --math native", 1, "--math is not for --kernel lattice: its sums take no roots"},
        {"bench --kernel fft --sum double", 1, "--sum is not for --kernel fft: libraries compute in floats"},
        {"bench --kernel msm --cutoff 32.1", 1, "cutoff of 32.1 A: the meshes of this benchmark are 2 A apart, for"},
        {"bench --kernel msm --cutoff 1.9", 1, "for which it must be 2 to 32 A"},
        {"bench --kernel msm --curve --cutoff 40", 1, "for which it must be 2 to 32 A"},
        {"bench --kernel msm --curve --preset fft", 1, "one core has no transforms"},
        {"bench --kernel msm --atoms 2", 1, "a box of 2 atoms: must be 3 to 2147483647"},
        {"bench --kernel cutoff --atoms 2", 1, "a box of 2 atoms: must be 3 to 2147483647"},
        {"bench --kernel fft --atoms 9", 1, "--atoms is not for --kernel fft"},
        {"bench --kernel fft --variant vkftt", 1,
         "--variant: 'vkftt' is none of fftw, vkfft, vkfft-tables, clfft, cufft (did you mean 'vkfft'?)"},
    };
    CLI_CHECK_FAILURES(cases);
    const cli_result *r = cli("bench --kernel fft --variant vkfft-tables --dims 16,12,10 --repeats 1 --device opencl");
    cli_expect(0, "\nvkfft-tables", NULL);
    assert_null(strstr(r->out, "\nvkfft "));
    assert_null(strstr(r->out, "\nclfft"));
}

/* The others are measured all the same. */
static void test_without_transforms(void **state)
{
    const bool is_cuda = strcmp(engine->workers[0].info->backend->name, "cuda") == 0;
    ley_bench_options o = small(NULL);
    o.fft = is_cuda ? "vkfft" : "cufft";
    o.repeats = 1;
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(row_of(d, "papers: atoms to map")->status, LEY_OK);
    for (size_t i = 0; i < d->row_count; i++)
        if (strncmp(d->rows[i].variant, "fft:", 4) == 0) {
            assert_int_equal(d->rows[i].status, LEY_ERROR_NO_DEVICE);
            assert_non_null(strstr(d->rows[i].failure, o.fft));
            assert_true(d->rows[i].kernel_s == 0 && d->rows[i].accuracy.points == 0);
        }
    ley_bench_destroy(bench);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

/* The kernel's self-test has smaller grids than this fault is of: the map tells. */
static void test_wrong_mesh(void **state)
{
    support_plant_fault("restriction", "= sum;", "= nodes.x > 12 && nodes.y > 12 && nodes.z > 12 ? 0.0f : sum;");
    cli("LEYDEN_KERNEL_DIR=%s bench --kernel msm --atoms %d --repeats 1 --device 0 --preset papers",
        getenv("LEYDEN_KERNEL_DIR"), 9 * ATOMS);
    cli_expect(5, "WRONG: an error of ", "a variant computes wrong results");
    if (!support_is_quick()) {
        cli("LEYDEN_KERNEL_DIR=%s bench --kernel msm --atoms %d --repeats 1 --device 0 --curve --preset papers",
            getenv("LEYDEN_KERNEL_DIR"), 9 * ATOMS);
        cli_expect(5, NULL, NULL);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

/* ---- One core -------------------------------------------------------------------------------- */

static void test_curve(void **state)
{
    ley_bench_options o = small("papers");
    o.linear = true;
    o.atoms = 1500;
    o.repeats = 1;
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->size_count, 2);
    assert_int_equal(d->sizes[0].atoms, 999);
    assert_int_equal(d->sizes[1].atoms, 1500);
    for (size_t i = 0; i < d->size_count; i++) {
        const ley_bench_size *size = &d->sizes[i];
        assert_true(size->accuracy.passed && !size->is_core_scaled);
        assert_true(size->core_s > size->core_mesh_s && size->core_mesh_s > 0);
        assert_true(size->whole_s > 0 && size->kernel_s > 0 && size->pairs > 0);
    }
    assert_true(d->sizes[1].pairs > d->sizes[0].pairs);
    ley_bench_destroy(bench);
}

/* A core's meshes, against the devices' judge. */
static void test_core(void **state)
{
    static const window_kind windows[] = {WINDOW_NODAL3, WINDOW_NODAL7};
    ley_error error = {0};
    for (int i = 0; i < 2; i++) {
        const hierarchy h = make_hierarchy(windows[i], HIERARCHY_MULTILEVEL);
        const ley_grid points = {
            .n = {4, 5, 6}, .origin_A = {1, 3, 2}, .step_A = {{5.5, 0, 0}, {0, 5.25, 0}, {0, 0, 5.75}}};
        enum { N = 40, POINTS = 4 * 5 * 6 };
        double position_A[3 * N], charge_e[N], point_A[3 * POINTS], far[POINTS];
        float map[POINTS];
        serial_loop_times times;
        uint64_t seed = 3;
        for (int a = 0; a < N; a++) {
            position_A[3 * a] = 27 * bench_random(&seed);
            position_A[3 * a + 1] = 1 + 30 * bench_random(&seed);
            position_A[3 * a + 2] = -3 + 39 * bench_random(&seed);
            charge_e[a] = a == 7 ? 0 : 2 * bench_random(&seed) - 1;
        }
        for (int p = 0; p < POINTS; p++) {
            const int at[3] = {p % 4, p / 4 % 5, p / 20};
            for (int axis = 0; axis < 3; axis++)
                point_A[3 * p + axis] = points.origin_A[axis] + at[axis] * points.step_A[axis][axis];
            map[p] = 100;
        }
        ley_atoms *atoms = support_make_atoms(N, position_A, charge_e, NULL);
        assert_ok(serial_loop_add(&h, atoms, &points, 2, map, &times, &error));
        assert_ok(long_range_potential(&h, N, position_A, charge_e, 0.05, POINTS, point_A, far, NULL, &error));
        for (int p = 0; p < POINTS; p++)
            if (fabs((double)map[p] - 100 - 2 * far[p]) > 5e-5)
                fail_msg("window %d, point %d: %g, must be %g", i, p, (double)map[p] - 100, 2 * far[p]);
        ley_atoms_destroy(atoms);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "benchmark of long-range potentials", .selector = "0", .opened = &engine),
                     test_pairs_of_nodes, test_needs, test_steps, test_refusals, test_command, test_options,
                     test_without_transforms, test_wrong_mesh, test_curve, test_core);
}
