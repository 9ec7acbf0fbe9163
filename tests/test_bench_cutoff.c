/* The benchmark of short-range maps: what it counts, what it says of wrong kernels. Problems are
 * small, and few variants are built. */
#include "cli_support.h"

#include "engine/engine.h"
#include "methods/cutoff/method.h"
#include "methods/cutoff/tuning.h"

enum { ATOMS = 600 };

static const double cutoff_A = 10;
static ley_engine *engine;

static const char *usual(void)
{
    return tuning_cutoff_default(engine->workers[0].info, LEY_SPEC_SUM_FLOAT);
}

static ley_bench_options small(const char *variant)
{
    ley_bench_options o = support_default_bench_options();
    o.method = "cutoff";
    o.atoms = ATOMS;
    o.cutoff_A = cutoff_A;
    o.repeats = 2;
    o.variant = variant;
    return o;
}

static ley_bench *run(const ley_bench_options *o)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    assert_ok(ley_bench_run(engine, o, &bench, &error));
    assert_int_equal(ley_bench_device_count(bench), 1);
    return bench;
}

/* Pairs of the same box, one by one. */
static double count_pairs(int64_t n_atoms, const int64_t n[3])
{
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    ley_grid grid;
    double pairs = 0;
    assert_ok(ley_waterbox_create(n_atoms, 1, 0, &atoms, &error));
    assert_ok(ley_grid_around(atoms, 0.5, 0.25, &grid, &error));
    assert_memory_equal(grid.n, n, sizeof grid.n);
    for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
        const double *r_A = ley_atoms_positions_A(atoms) + 3 * j;
        for (int64_t i = 0; i < ley_grid_points(&grid); i++) {
            const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
            double r2_A2 = 0;
            for (int axis = 0; axis < 3; axis++)
                r2_A2 += pow(grid.origin_A[axis] + (double)at[axis] * grid.step_A[axis][axis] - r_A[axis], 2);
            pairs += r2_A2 < cutoff_A * cutoff_A;
        }
    }
    ley_atoms_destroy(atoms);
    return pairs;
}

static void check_row(const ley_bench_device *d, const ley_bench_row *row)
{
    if (row->status != LEY_OK)
        fail_msg("%s: %s", row->variant, row->failure);
    assert_true(row->accuracy.passed && row->accuracy.points == 500);
    assert_true(row->kernel_s > 0);
    assert_true(fabs(row->kernel_s * row->evaluations_per_s / d->pairs - 1) < 1e-12);
    assert_true(ley_bench_row_figure(row, "hit_rate") > 0 && ley_bench_row_figure(row, "hit_rate") < 1);
    assert_true(fabs(row->root_share * ley_bench_row_figure(row, "hit_rate") * d->roots_per_s / row->evaluations_per_s -
                     1) < 1e-9);
    assert_true(fabs(row->fma_share / row->root_share - 6 * d->roots_per_s / d->fma_per_s) <
                1e-9 * row->fma_share / row->root_share);
    assert_true(ley_bench_row_figure(row, "local_share") >= 0);
}

/* The default: pairs are those there are; most of what it computes counts; a whole job and the
 * sequential loop stand beside it. */
static void test_default(void **state)
{
    const ley_bench_options o = small(usual());
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    assert_true(d->cutoff_A == cutoff_A && d->atoms == ATOMS && d->size_count == 0);
    assert_true(fabs(d->pairs / count_pairs(ATOMS, d->n) - 1) < 1e-5);
    assert_int_equal(d->points, d->n[0] * d->n[1] * d->n[2]);
    assert_true(d->local_bytes_per_s > 0);
    assert_int_equal(d->row_count, 1);
    check_row(d, &d->rows[0]);
    assert_true(d->rows[0].is_default && ley_bench_row_figure(&d->rows[0], "hit_rate") > 0.2);
    assert_string_equal(d->whole_variant, usual());
    assert_true(d->whole_s > 0);
    if (d->device->device_class == LEY_CLASS_CPU) {
        assert_true(d->host_loop_evaluations_per_s > 0);
        assert_int_equal(d->host_threads, 1);
    }
    ley_bench_destroy(bench);
}

/* The papers' kernel: reads each atom from local memory, hits less; no whole job is measured by
 * it. */
static void test_bins(void **state)
{
    const ley_bench_options o = small("bins");
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->row_count, 1);
    check_row(d, &d->rows[0]);
    assert_true(ley_bench_row_figure(&d->rows[0], "no_such_figure") == 0);
    assert_true(!d->rows[0].is_default && ley_bench_row_figure(&d->rows[0], "local_share") > 0 &&
                ley_bench_row_figure(&d->rows[0], "hit_rate") < 0.4);
    assert_null(d->whole_variant);
    ley_bench_destroy(bench);
}

static void test_linear(void **state)
{
    ley_bench_options o = small(NULL);
    o.linear = true;
    o.atoms = 3000;
    ley_bench *bench = run(&o);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    static const int64_t expected[] = {300, 948, 3000};
    if (d->status != LEY_OK)
        fail_msg("%s", d->failure);
    assert_int_equal(d->row_count, 0);
    assert_int_equal(d->size_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(d->sizes[i].atoms, expected[i]);
        assert_true(d->sizes[i].accuracy.passed && d->sizes[i].kernel_s > 0);
        assert_true(i == 0 || d->sizes[i].pairs > d->sizes[i - 1].pairs);
    }
    const double decade = log10(d->sizes[2].pairs / d->sizes[0].pairs); /* near the slope of the three */
    assert_true(fabs(d->pairs_exponent / decade - 1) < 0.05);
    assert_true(d->pairs_exponent > 1 && d->exponent > 0.2 && d->exponent < 3);
    ley_bench_destroy(bench);
}

static void test_refusals(void **state)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = small(NULL);
    o.n[0] = 10;
    assert_error(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE, "follows from its atoms");
    o = small(NULL);
    o.method = NULL;
    assert_error(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE, "no method is named");
    o = small("nosuch");
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o = small(NULL);
    o.method = "dcs";
    o.linear = true;
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    o = small(usual());
    o.atoms = 2; /* no molecule */
    assert_int_equal(ley_bench_run(engine, &o, &bench, &error), LEY_ERROR_USAGE);
    assert_null(bench);
    ley_error_clear(&error);
}

static void test_command(void **state)
{
    char row[64];
    const cli_result *r =
        cli("bench --kernel cutoff --atoms 300 --cutoff 5 --repeats 1 --device 0 --variant %s", usual());
    cli_expect(0, "pairs within it", NULL);
    snprintf(row, sizeof row, "\n%s *", usual());
    assert_non_null(strstr(r->out, row));
    assert_non_null(strstr(r->out, "bytes/s from local memory"));
    assert_non_null(strstr(r->out, "end to end: "));
    assert_null(strstr(r->out, "WRONG"));
    cli("bench --kernel cutoff --atoms 300 --cutoff 5 --repeats 1 --device 0 --variant %s --json -", usual());
    cli_expect(0, "\"hit_rate\": 0.", NULL);
    cli("bench --kernel cutoff --linear --atoms 300 --cutoff 5 --repeats 1 --device 0");
    cli_expect(0, "kernel s = c atoms^", NULL);
    cli("bench --kernel cutoff --dims 8,8,8 --device 0");
    cli_expect(1, NULL, "--dims is not for --kernel cutoff: they follow from --atoms");
    cli("bench --kernel cutoff --variant simple");
    cli_expect(1, NULL, "'simple' is none of bins");
}

/* Of all variants those are left out, and the reason told, that a processor's compiler takes longer
 * for than a driver may: this ended the benchmark of such a device. */
static void test_on_request(void **state)
{
    const dev_info processor = {.device_class = DEV_CPU}, card = {.device_class = DEV_GPU};
    assert_non_null(strstr(bench_cutoff.on_request(&processor, "octants16"), "if it is asked for by name"));
    assert_null(bench_cutoff.on_request(&card, "octants16"));
    for (size_t i = 0; tuning_cutoff_variant(i) != NULL; i++)
        assert_true(strcmp(tuning_cutoff_variant(i), "octants16") == 0 ||
                    bench_cutoff.on_request(&processor, tuning_cutoff_variant(i)) == NULL);
    if (support_get_level() != SUPPORT_FULL || engine->workers[0].info->device_class != DEV_CPU)
        return;
    cli("bench --kernel cutoff --atoms 300 --cutoff 5 --repeats 1 --device 0");
    cli_expect(0, "not on this device: compilers for processors take minutes", NULL);
}

/* A kernel 1 % off has no rate. */
static void test_wrong_kernel(void **state)
{
    support_plant_fault("cutoff", "LEY_PAIR_OF_CHARGE ? first : 1", "LEY_PAIR_OF_CHARGE ? first * 1.01f : 1");
    const cli_result *r =
        cli("LEYDEN_KERNEL_DIR=%s bench --kernel cutoff --atoms 300 --cutoff 5 --repeats 1 --device 0 --variant %s",
            getenv("LEYDEN_KERNEL_DIR"), usual());
    unsetenv("LEYDEN_KERNEL_DIR");
    cli_expect(5, "WRONG", "a variant computes wrong results");
    assert_null(strstr(r->out, "end to end"));
}

static int prepare(void **state)
{
    support_directory();
    ley_error error = {0};
    if (ley_engine_create("0", &engine, &error) == LEY_OK)
        return 0;
    print_error("%s\n", error.message);
    return 1;
}

static int finish(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default), cmocka_unit_test(test_linear),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_command), cmocka_unit_test(test_on_request), cmocka_unit_test(test_wrong_kernel),
        cmocka_unit_test(test_bins),
    };
    /* At level quick but the last one: CPU devices take five seconds to compile its kernel. */
    const size_t all = sizeof tests / sizeof *tests;
    return _cmocka_run_group_tests("rates of short-range sums", tests, support_is_quick() ? all - 1 : all, prepare,
                                   finish);
}
