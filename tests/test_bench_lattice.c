/* The benchmark of the lattice cutoff: what it counts, what it says, and of a kernel that is
 * wrong. Boxes are small, and one variant is built. */
#include "cli_support.h"

#include "bench/bench.h"
#include "error.h"
#include "long_range/multilevel/lattice_tuning.h"

enum { ATOMS = 3000 };

static ley_engine *engine;

static const char *usual(void)
{
    return tuning_lattice_default(engine->workers[0].info, LEY_SPEC_SUM_FLOAT);
}

/* Pairs of nodes nearer than 12 spacings, on all levels: of each level by the distances along each
 * axis. */
static double count_pairs(int64_t n)
{
    double pairs = 0;
    do {
        for (int z = -11; z <= 11; z++)
            for (int y = -11; y <= 11; y++)
                for (int x = -11; x <= 11; x++)
                    if (x * x + y * y + z * z < 144)
                        pairs +=
                            fmax((double)n - abs(x), 0) * fmax((double)n - abs(y), 0) * fmax((double)n - abs(z), 0);
        n = (n + 1) / 2 + 3;
    } while (n > 16);
    return pairs;
}

static void test_row(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.method = "lattice";
    o.atoms = ATOMS;
    o.repeats = 2;
    o.variant = usual();
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->status, LEY_OK);
    assert_int_equal(d->n[0], (int64_t)ceil(ley_waterbox_side_A(ATOMS) / 2) + 4);
    assert_true(d->pairs == count_pairs(d->n[0]));
    assert_int_equal(d->row_count, 1);
    const ley_bench_row *row = &d->rows[0];
    if (row->status != LEY_OK)
        fail_msg("%s: %s", row->variant, row->failure);
    assert_true(row->is_default && row->accuracy.passed && row->accuracy.points == BENCH_SAMPLE_POINTS);
    assert_true(fabs(row->kernel_s * row->evaluations_per_s / d->pairs - 1) < 1e-12);
    assert_true(ley_bench_row_figure(row, "hit_rate") > 0.01 && ley_bench_row_figure(row, "hit_rate") < 1 &&
                row->fma_share > 0);
    if (engine->workers[0].info->device_class == DEV_CPU)
        assert_true(d->host_threads == 1 && d->host_loop_evaluations_per_s > 0);
    ley_bench_destroy(bench);
}

static void test_refusals(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.method = "lattice";
    o.variant = "tiled16";
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o.variant = NULL;
    o.linear = true;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o.linear = false;
    o.n[0] = 8;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    assert_string_equal(ley_variant_name("lattice", LEY_TARGET_GRID, 0), "basic");
    assert_string_equal(ley_variant_name("lattice", LEY_TARGET_GRID, 1), "optimised");
    ley_error_clear(&error);
}

static void test_command(void **state)
{
    char row[64];
    const cli_result *r =
        cli("LEYDEN_CACHE_DIR=%s bench --kernel lattice --atoms %d --repeats 1 --device 0 --variant %s",
            getenv("LEYDEN_CACHE_DIR"), ATOMS, usual());
    cli_expect(0, "pairs within it", NULL);
    snprintf(row, sizeof row, "\n%s *", usual());
    assert_non_null(strstr(r->out, row));
    assert_non_null(strstr(r->out, "the papers' box has 512 times its atoms"));
    assert_null(strstr(r->out, "WRONG"));
    assert_null(strstr(r->out, "root"));
    cli_run(1, NULL, "'simple' is none of basic", "bench --kernel lattice --variant simple");
    cli_run(0, "lattice", NULL, "help bench");
}

/* A kernel 1 % off has no rate. */
static void test_wrong_kernel(void **state)
{
    support_plant_fault("lattice", "r.scale = LEY_AS_FLOAT(l.scale);", "r.scale = LEY_AS_FLOAT(l.scale) * 1.01f;");
    const cli_result *r =
        cli("LEYDEN_KERNEL_DIR=%s bench --kernel lattice --atoms %d --repeats 1 --device 0 --variant %s --json -",
            getenv("LEYDEN_KERNEL_DIR"), ATOMS, usual());
    cli_expect(5, "self-test of lattice failed", NULL);
    assert_int_equal(r->code, 5);
    unsetenv("LEYDEN_KERNEL_DIR");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "benchmark of the lattice cutoff", .selector = "0", .opened = &engine),
                     test_row, test_refusals, test_command, test_wrong_kernel);
}
