/* What the benchmark makes of times, of the load of the machine, and of a device's own limits. */
#include "cli_support.h"
#include "fake_device.h"

#include "bench/bench.h"
#include "machine.h"

/* ---- Times ----------------------------------------------------------------------------------- */

static void check(const double *seconds, size_t n, double median_s, double spread)
{
    const bench_statistics s = bench_statistics_of(seconds, n);
    assert_int_equal(s.n, n);
    assert_true(isnan(median_s) ? isnan(s.median_s) : fabs(s.median_s - median_s) < 1e-12);
    assert_true(isnan(spread) ? isnan(s.spread) : fabs(s.spread - spread) < 1e-12);
}

static void test_statistics(void **state)
{
    static const double odd[] = {3, 1, 2, 10, 2}, even[] = {4, 1, 3, 2}, same[] = {2, 2, 2};
    double many[BENCH_MOST_REPEATS + 5];
    check(odd, 5, 2, 4.5);
    check(even, 4, 2.5, 1.2);
    check(same, 3, 2, 0);
    check(odd, 1, 3, NAN); /* a spread of one is none, not 0 */
    check(odd, 0, NAN, NAN);
    for (size_t i = 0; i < BENCH_MOST_REPEATS + 5; i++)
        many[i] = (double)(i + 1);
    assert_int_equal(bench_statistics_of(many, BENCH_MOST_REPEATS + 5).n, BENCH_MOST_REPEATS);
    assert_true(odd[0] == 3 && odd[4] == 2); /* in their order as before */
}

/* How many of so many are timed when each takes so long, the first one to warm up. */
static int timed(int wanted, double most_s, double each_s)
{
    bench_repeats r = bench_repeats_begin(wanted, most_s);
    r.spent_s = each_s;
    for (; bench_repeats_go_on(&r); r.done++)
        r.spent_s += each_s;
    return r.done;
}

static void test_repeats(void **state)
{
    assert_int_equal(timed(7, 0, 1e-3), 7);
    assert_int_equal(timed(100, 0, 1e-3), 100);
    assert_int_equal(timed(7, 0, 1), 3);    /* three, though 3 s are over after two */
    assert_int_equal(timed(7, 0, 2.5), 3);  /* as long as there is patience */
    assert_int_equal(timed(7, 0, 4), 2);    /* 12 s */
    assert_int_equal(timed(7, 0, 100), 1);  /* one in any case */
    assert_int_equal(timed(7, 10, 1), 7);   /* more time, more of them */
    assert_int_equal(timed(100, 10, 1), 9); /* and the one to warm up */
    assert_int_equal(timed(0, 0, 1), 1);
    assert_int_equal(timed(100000, 1e9, 1), BENCH_MOST_REPEATS);
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void test_load(void **state)
{
    machine_load before, after;
    machine_load_read(
        "2.61 2.62 2.42 3/106 19892\n",
        "cpu  100 0 50 1000 7 0 0 10 0 0\ncpu0 50 0 25 500 0 0 0 5 0 0\ncpu1 50 0 25 500 0 0 0 5 0 0\nintr 1\n", 100,
        &before);
    assert_true(before.average == 2.61 && before.processors == 2 && fabs(before.busy_s - 1.6) < 1e-12);
    machine_load_read("3 3 3 1/1 1\n", "cpu  300 100 150 1000 9 20 30 110 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\n", 100,
                      &after);
    before.clock_s = 10;
    before.own_s = 1;
    after.clock_s = 14;
    after.own_s = 3.5;
    /* 7.1 s of all processors, of which 1.6 before, and 2.5 were its own, in 4 s. */
    assert_true(fabs(machine_load_of_others(&before, &after) - 3.0 / 4) < 1e-12);
    after.own_s = 50; /* counted more finely than all of it */
    assert_true(machine_load_of_others(&before, &after) == 0);
    machine_load_read(NULL, NULL, 100, &after);
    assert_true(after.average < 0 && after.processors == 0 && machine_load_of_others(&before, &after) < 0);
    machine_load_read("nonsense", "cpu nonsense", 100, &after);
    assert_true(after.average < 0 && after.busy_s < 0);
    machine_load_now(&before);
    assert_true(before.average >= 0 && before.busy_s > 0 && before.processors >= 1 && before.own_s > 0);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static dev_info processor(int units, int clock_MHz, int width)
{
    return (dev_info){.device_class = DEV_CPU, .compute_units = units, .clock_MHz = clock_MHz, .vector_width = width};
}

static bench_limits limits_of(double fma_per_s, double spread)
{
    return (bench_limits){.facts.fma_per_s = fma_per_s, .rounds = 3, .spread = spread};
}

static void test_peaks(void **state)
{
    char text[96];
    dev_info info = processor(2, 2596, 16);
    assert_true(bench_limits_peak(&info, text, sizeof text) == 2 * 2596e6 * 16 * 2);
    assert_string_equal(text, "2 units x 2596 MHz x 16 wide x 2");
    info = (dev_info){.device_class = DEV_GPU, .compute_units = 132, .clock_MHz = 1980, .capability = 90};
    assert_true(bench_limits_peak(&info, text, sizeof text) == 132 * 1980e6 * 128);
    info.capability = 80;
    assert_true(bench_limits_peak(&info, text, sizeof text) == 132 * 1980e6 * 64);
    info.capability = 0; /* a card of which nobody says how wide it is */
    assert_true(bench_limits_peak(&info, text, sizeof text) == 0 && text[0] == '\0');
    info = processor(2, 0, 16);
    assert_true(bench_limits_peak(&info, text, sizeof text) == 0);
}

static void test_doubts(void **state)
{
    const dev_info info = processor(2, 2500, 16), unknown = processor(2, 0, 16);
    bench_limits l = limits_of(120e9, 0.1);
    bench_limits_judge(&info, &l);
    assert_true(l.doubt[0] == '\0' && l.peak_fma_per_s == 160e9);
    l = limits_of(12e9, 0.1); /* as a busy machine gives it */
    bench_limits_judge(&info, &l);
    assert_string_equal(l.doubt,
                        "limit not plausible: 1.2e+10 multiply-adds/s are 8 % of 2 units x 2500 MHz x 16 wide x 2");
    l = limits_of(645e9, 0.1);
    bench_limits_judge(&info, &l);
    assert_non_null(strstr(l.doubt, "are 403 % of"));
    l = limits_of(645e9, 0.1);
    bench_limits_judge(&unknown, &l);
    assert_true(l.doubt[0] == '\0');
    l = limits_of(120e9, 0.6);
    bench_limits_judge(&info, &l);
    assert_non_null(strstr(l.doubt, "measured 3 times, and the worst rate is 60 % below the best"));
    l = limits_of(120e9, 0.1);
    l.others = 1.5;
    l.processors = 2;
    bench_limits_judge(&info, &l);
    assert_non_null(strstr(l.doubt, "others kept 1.5 of 2 processors busy while it was measured"));
    const dev_info card = {.device_class = DEV_GPU, .vector_width = 1};
    bench_limits_judge(&card, &l);
    assert_true(l.doubt[0] == '\0');
    l = limits_of(120e9, NAN);
    bench_limits_judge(&info, &l);
    assert_true(l.doubt[0] == '\0');
}

/* ---- On a device ----------------------------------------------------------------------------- */

static ley_bench *run(ley_engine *engine, int repeats, bool usual_only)
{
    ley_error error = {0};
    ley_bench *bench = NULL;
    ley_bench_options o = support_default_bench_options();
    o.n[0] = o.n[1] = 64;
    o.n[2] = 2;
    o.atoms = 100;
    o.repeats = repeats;
    o.limit_rounds = 2;
    o.usual_only = usual_only;
    o.variant = usual_only ? NULL : "tiled8";
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    return bench;
}

static void test_rows(void **state)
{
    ley_engine *engine;
    if (!support_open("0", "the first device", &engine))
        skip();
    ley_bench *bench = run(engine, 5, false);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    const ley_bench_row *row = &d->rows[0];
    assert_int_equal(d->row_count, 1);
    assert_true(row->run_count == 5 && row->runs_wanted == 5);
    const bench_statistics s = bench_statistics_of(row->runs_s, row->run_count);
    assert_true(s.median_s == row->median_s && s.spread == row->spread);
    assert_true(fabs(row->evaluations_per_s * row->median_s / (64 * 64 * 2 * 100) - 1) < 1e-9);
    assert_true(d->limit_rounds == 2 && d->limit_spread >= 0 && d->limit_spread < 1);
    assert_true(d->load.before >= 0 && d->load.processors >= 1 && d->load.others >= 0);
    ley_bench_destroy(bench);
    bench = run(engine, 1, true);
    d = ley_bench_get(bench, 0);
    assert_true(d->row_count == 1 && d->rows[0].is_default);
    assert_true(d->rows[0].run_count == 1 && isnan(d->rows[0].spread));
    ley_bench_destroy(bench);
    ley_engine_destroy(engine);
}

/* As many units as there are processors for a device that is one, and no clock far from theirs. */
static void test_against_lscpu(void **state)
{
    const cli_result *r = cli_python("import json,os,shutil,subprocess,sys\n"
                                     "if shutil.which('lscpu') is None: sys.exit(0)\n"
                                     "text = subprocess.run(['lscpu','-J'], capture_output=True, text=True).stdout\n"
                                     "rows = {x['field']: x['data'] for x in json.loads(text)['lscpu']}\n"
                                     "print(len(os.sched_getaffinity(0)), rows.get('CPU(s):', 0))\n");
    int own = 0, all = 0;
    ley_host_info host;
    machine_load load;
    ley_host_describe(&host);
    machine_load_now(&load);
    assert_true(host.processor[0] != '\0' && strstr(host.system, "Linux") != NULL);
    if (sscanf(r->out, "%d %d", &own, &all) != 2)
        skip();
    assert_int_equal(host.processors, own);
    assert_true(load.processors <= all);
}

/* It has an error, and no times. */
static void test_interpreter(void **state)
{
    static fake_plan plan = {.name = "interpreter", .device_class = DEV_CPU, .quirks = DEV_QUIRK_INTERPRETER};
    fake_devices_begin(&plan, 1);
    ley_engine *engine = support_make_engine("0");
    ley_bench *bench = run(engine, 3, true);
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_int_equal(d->row_count, 1);
    const ley_bench_row *row = &d->rows[0];
    assert_true(row->status == LEY_OK && row->accuracy.points > 0 && row->accuracy.passed);
    assert_true(d->is_interpreter && d->fma_per_s == 0 && d->roots_per_s == 0);
    assert_true(row->evaluations_per_s == 0 && row->root_share == 0 && row->run_count == 0 && isnan(row->median_s));
    ley_bench_destroy(bench);
    ley_engine_destroy(engine);
    fake_devices_end();
}

/* A limit that cannot be measured is none: nothing usual stands in its place. */
static void test_unmeasured_memory(void **state)
{
    static fake_plan plan = {.name = "unmeasured memory", .device_class = DEV_GPU, .fft_libraries = 1, .fail_fill = 1};
    ley_error error = {0};
    ley_bench *bench = NULL;
    fake_devices_begin(&plan, 1);
    ley_engine *engine = support_make_engine("0");
    ley_bench_options o = support_default_bench_options();
    o.method = "fft";
    o.n[0] = o.n[1] = o.n[2] = 8;
    o.repeats = 3;
    assert_ok(ley_bench_run(engine, &o, &bench, &error));
    const ley_bench_device *d = ley_bench_get(bench, 0);
    assert_true(d->memory_bytes_per_s == 0);
    assert_true(bench_memory_share(1e9, 1, d) == 0);
    const ley_bench_device known = {.memory_bytes_per_s = 4e9};
    assert_true(bench_memory_share(1e9, 0.5, &known) == 0.5 && bench_memory_share(1e9, 0, &known) == 0);
    ley_bench_destroy(bench);
    ley_engine_destroy(engine);
    fake_devices_end();
}

static int prepare(void **state)
{
    support_directory();
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "what the benchmark makes of times", .begin = prepare), test_statistics,
                     test_repeats, test_load, test_peaks, test_doubts, test_rows, test_against_lscpu, test_interpreter,
                     test_unmeasured_memory);
}
