/* --plan, and the lines of reports that say what was predicted and decided. Rates are planted in
 * the build cache, so that plans do not depend on how fast this machine is. */
#include "cli_support.h"

#include "costs.h"
#include "methods/cutoff/step_costs.h"

#include <sys/stat.h>

#define CUTOFF "map many.pqr --method cutoff --cutoff 6 --spacing 0.8 --padding 3 "

static int prepare(void **state)
{
    cli_write_molecule("many.pqr", 3000, 30, 5);
    return cli_prepare(state);
}

/* What the command will find measured of the host. */
static void plant(const costs_kind *kind, const double *seconds)
{
    const cache_key key = costs_key(kind, NULL);
    setenv("LEYDEN_CACHE_DIR", cli_path("cache"), 1);
    cache_put(&key, seconds, kind->count * sizeof *seconds);
}

static void plant_rows(double copied_s, double transposed_s)
{
    plant(&row_costs, (double[]){[COST_ROW_COPIED] = copied_s, [COST_ROW_TRANSPOSED] = transposed_s});
}

static void expect_in(const char *name, const char *text)
{
    char *content = cli_read(name, NULL);
    if (strstr(content, text) == NULL)
        print_message("%s lacks %s:\n%s\n", name, text, content);
    assert_non_null(strstr(content, text));
    free(content);
}

/* ---- The same bytes -------------------------------------------------------------------------- */

static void test_other_rates_make_another_plan_and_the_same_plan_the_same_bytes(void **state)
{
    plant_rows(1e-9, 1e-10);
    cli_run(0, "rows on the host", NULL, CUTOFF "-o out/first.dx --json first.json -v");
    expect_in("first.json", "\"transposition\": \"host\",\n    \"devices\"");
    plant_rows(1e-10, 1e-9);
    cli_run(0, "rows on the device", NULL, CUTOFF "-o out/other.dx --json other.json -v");
    expect_in("other.json", "\"transposition\": \"device\",\n    \"devices\"");
    cli_run(0, "rows on the host", NULL, CUTOFF "-o out/again.dx --json again.json --plan first.json -v");
    expect_in("again.json", "\"plan\": \"first.json\"");
    cli_assert_same_files("out/first.dx", "out/again.dx");
}

/* A boundary in doubles: how many parts are added up depends on the slabs. */
static void test_boundaries_keep_their_bytes(void **state)
{
#define FACES "boundary many.pqr --dims 33,33,33 --glen 60,60,60 --sum double --ion 0.15,1,2 --ion 0.15,-1,2 "
    const char *const thin =
        "{\"method\": \"mdh\", \"sum\": \"double\", \"devices\": [{\"device\": \"%s\", \"slab\": 7}]}";
    char *report, *name, plan[1024];
    cli_run(0, NULL, NULL, FACES "-o out/first.raw --json first.json");
    report = cli_read("first.json", NULL);
    name = strstr(report, "\"device\": \""); /* the plan has names, slabs have numbers */
    assert_non_null(name);
    name += strlen("\"device\": \"");
    name[strcspn(name, "\"")] = '\0';
    snprintf(plan, sizeof plan, thin, name);
    cli_write_text("thin.json", plan);
    free(report);
    cli_run(0, NULL, NULL, FACES "-o out/thin.raw --json thin-report.json --plan thin.json");
    expect_in("thin-report.json", "\"slab\": 7");
    cli_run(0, NULL, NULL, FACES "-o out/thin-again.raw --plan thin-report.json");
    cli_assert_same_files("out/thin.raw", "out/thin-again.raw");
    cli_run(0, NULL, NULL, FACES "-o out/again.raw --plan first.json");
    cli_assert_same_files("out/first.raw", "out/again.raw");
}

/* ---- What is no plan ------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *says;
} wrong_plans[] = {
    {"", "plan.json:1: this is not a plan: "},
    {"method: cutoff\n", "plan.json:1: this is not a plan: "},
    {"{\n\"method\": \"cutoff\",\n\"binning\": host}\n", "plan.json:3: this is not a plan: "},
    {"{\"method\": \"cutoff\", \"method\": \"cutoff\"}", "this is not a plan: duplicate object key"},
    {"[1, 2]", "plan.json: this is not a plan: not a JSON object"},
    {"{\"program\": \"leyden\"}", "it has neither 'plan', as a report has, nor 'method'"},
    {"{\"plan\": null}", "its 'plan' is not an object"},
    {"{\"plan\": {\"method\": true}}", "plan.json: plan.method must be a text or a whole number"},
    {"{\"method\": \"cutoff\", \"binning\": [\"host\"]}", "plan.binning must be a text or a whole number"},
    {"{\"method\": \"cutoff\", \"devices\": {}}", "plan.devices must be an array"},
    {"{\"method\": \"cutoff\", \"devices\": [{\"slab\": 3}]}", "plan.devices[0].device must be a text"},
    {"{\"method\": \"cutoff\", \"devices\": [7]}", "plan.devices[0].device must be a text"},
    {"{\"method\": \"cutoff\", \"devices\": [{\"device\": \"a\"}, {\"device\": \"b\", \"slab\": 2.5}]}",
     "plan.devices[1].slab must be a text or a whole number"},
    {"{\"method\": \"dcs\", \"math\": \"auto\"}", "plan.json: plan: it is one of method dcs, not of cutoff"},
    {"{\"method\": \"cutoff\", \"binning\": \"moon\"}",
     "plan.json: plan: binning: 'moon', must be one of host, device"},
    {"{\"method\": \"cutoff\", \"bins\": 3}", "plan.json: plan: 'bins' is nothing that method cutoff decides"},
    {"{\"method\": \"cutoff\", \"overflow\": \"host\"}",
     "plan.json: plan: 'overflow' is gone: devices always sum the atoms that find their bin full"},
    {"{\"method\": \"cutoff\", \"devices\": [{\"device\": \"opencl: a\", \"slab\": 0}]}",
     "plan.json: plan: slab of opencl: a: 0, must be 1 to "},
    {"{\"method\": \"cutoff\", \"devices\": [{\"device\": \"opencl: another card\", \"slab\": 3}]}",
     "it has no part in the plan"},
};

/* Given options are the user's: a plan that says otherwise is refused by the option's name. */
static void test_options_against_plans(void **state)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"--sum float", "plan.json: plan: it is for sum double, and float is asked for"},
        {"--sum compensated", "it is for sum double, and compensated is asked for"},
        {"--math native", "plan.json: plan: it is for math standard, and native is asked for"},
        {"--slab 8", "slab of opencl: a: 2, and at most 1 are asked for (slab 8)"},
    };
    cli_write_text("plan.json", "{\"method\": \"cutoff\", \"math\": \"standard\", \"sum\": \"double\", \"devices\": "
                                "[{\"device\": \"opencl: a\", \"slab\": 2}]}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(1, NULL, cases[i].says, CUTOFF "-o out/no.dx --plan plan.json %s", cases[i].options);
    }
    cli_assert_nothing_left();
}

/* Arithmetic that nobody asks for is the plan's, also in the header. */
static void test_the_plans_arithmetic(void **state)
{
#define SMALL_MAP "map many.pqr --spacing 2.5 "
    cli_run(0, NULL, NULL, SMALL_MAP "-o out/first.dx --json first.json --math standard --sum compensated");
    cli_run(0, NULL, NULL, SMALL_MAP "-o out/again.dx --json again.json --plan first.json");
    expect_in("again.json", "\"math\": \"standard\",\n    \"sum\": \"compensated\",");
    cli_assert_same_files("out/first.dx", "out/again.dx");
}

/* Devices that a plan does not name say so, where there are others than that one. */
static void test_devices_without_a_part(void **state)
{
    char before[64];
    const char *own = getenv("POCL_DEVICES");
    snprintf(before, sizeof before, "%s", own != NULL ? own : "");
    setenv("POCL_DEVICES", "pthread basic", 1);
    cli_run(0, NULL, NULL, SMALL_MAP "-o out/one.dx --device 0 --json one.json");
    const cli_result *r = cli(SMALL_MAP "-o out/all.dx --device all --plan one.json -v");
    if (own != NULL)
        setenv("POCL_DEVICES", before, 1);
    else
        unsetenv("POCL_DEVICES");
    cli_expect(0, "device 0: ", NULL);
    if (strstr(r->err, "it has no part in the plan") == NULL)
        skip();
    cli_expect(0, ", was not used: it has no part in the plan\n", NULL);
}

/* Neither a pipe without a writer nor a list without an end holds the command up. */
static void test_plans_that_would_not_end(void **state)
{
    char *text = malloc(2000000), *at = text;
    assert_int_equal(mkfifo(cli_path("pipe"), 0600), 0);
    cli_run(2, NULL, "pipe: a plan must be a regular file", SMALL_MAP "-o out/no.dx --plan pipe");
    assert_non_null(freopen("/dev/null", "r", stdin)); /* the command inherits it */
    cli_run(2, NULL, "/dev/stdin:1: this is not a plan: ", SMALL_MAP "-o out/no.dx --plan /dev/stdin");
    for (int many = 256; many <= 20000; many += 20000 - 256) {
        at = text + sprintf(text, "{\"method\": \"dcs\", \"devices\": [");
        for (int i = 0; i < many; i++)
            at += sprintf(at, "%s{\"device\": \"opencl: number %d\", \"slab\": 1}", i > 0 ? "," : "", i);
        sprintf(at, "]}");
        cli_write_text("plan.json", text);
        cli(SMALL_MAP "-o out/no.dx --plan plan.json");
        cli_expect(many == 256 ? 3 : 2, NULL,
                   many == 256 ? "it has no part in the plan"
                               : "plan.json: plan.devices has 20000 devices, at most 256 are possible");
    }
    remove(cli_path("pipe"));
    free(text);
}

static void test_what_is_no_plan(void **state)
{
    for (size_t i = 0; i < sizeof wrong_plans / sizeof *wrong_plans; i++) {
        const bool is_last = i + 1 == sizeof wrong_plans / sizeof *wrong_plans;
        const bool is_librarys = strstr(wrong_plans[i].says, "json: plan: ") != NULL;
        cli_write_text("plan.json", wrong_plans[i].text);
        cli_run(is_last ? 3 : is_librarys ? 1 : 2, NULL, wrong_plans[i].says, CUTOFF "-o out/no.dx --plan plan.json");
    }
    cli_run(2, NULL, "nowhere.json: No such file", CUTOFF "-o out/no.dx --plan nowhere.json");
    cli_run(2, NULL, "leyden: ", CUTOFF "-o out/no.dx --plan .");
    cli_write_text("plan.json", "{\"method\": \"cutoff\", \"transposition\": \"host\"}");
    cli(CUTOFF "-o out/no.dx --plan plan.json --transposition device");
    cli_expect(1, NULL, "plan.json: plan: transposition is to be the host's, and the options say otherwise");
    cli(CUTOFF "-o out/no.dx --json plan.json --plan plan.json");
    cli_expect(1, NULL, "plan");
    cli_assert_nothing_left();
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Rows that were measured at a thousand times what they cost are off by more than 2, and said to
 * be. */
static void test_phases_are_in_the_report(void **state)
{
    plant_rows(1e-8, 1e-8);
    cli("map many.pqr --method cutoff --cutoff 6 --spacing 0.25 --padding 3 -o out/a.dx --json a.json --verify 0 "
        "--verbose -v");
    cli_expect(0, "phases: binning predicted ", NULL);
    cli_expect(0, "kernels predicted ", NULL);
    expect_in("a.json", "\"phases\": {");
    expect_in("a.json", "\"kernels\": {");
    char *report = cli_read("a.json", NULL);
    const char *rows = strstr(report, "\"rows\": {");
    assert_non_null(rows);
    const char *mark = strstr(rows, "\"off_by_more_than_2\": ");
    assert_non_null(mark);
    assert_memory_equal(mark + strlen("\"off_by_more_than_2\": "), "true", 4);
    assert_null(strstr(report, "phase_rows")); /* once is enough */
    free(report);
    plant_rows(1e-10, 1e-9);
    assert_null(strstr(cli("map many.pqr --spacing 2 -o out/b.dx --json b.json")->out, "phases: "));
    cli_run(0, "phases: kernels predicted ", NULL, "map many.pqr --spacing 2 -o out/b.dx --json b.json --verbose -v");
    expect_in("b.json", "\"launch_atoms\": ");
    cli_run(0, NULL, NULL, "boundary many.pqr --dims 9,9,9 --glen 60,60,60 --bcfl sdh -o out/c.raw --json c.json");
    expect_in("c.json", "\"plan\": null");
}

/* An entry that nobody can have measured is as none. */
static void test_a_damaged_entry_is_measured_anew(void **state)
{
    double s[COSTS_MOST];
    plant_rows(-1, 1e9);
    cli_run(0, NULL, NULL, CUTOFF "-o out/d.dx");
    costs_plant(&row_costs, NULL, NULL);
    assert_true(costs_known(&row_costs, NULL, s));
    for (size_t i = 0; i < row_costs.count; i++)
        assert_true(s[i] >= row_costs.bounds[i].least_s && s[i] <= row_costs.bounds[i].most_s);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "--plan", .each = cli_empty, .begin = prepare),
                     test_other_rates_make_another_plan_and_the_same_plan_the_same_bytes,
                     test_boundaries_keep_their_bytes, test_what_is_no_plan, test_options_against_plans,
                     test_the_plans_arithmetic, test_devices_without_a_part, test_plans_that_would_not_end,
                     test_phases_are_in_the_report, test_a_damaged_entry_is_measured_anew);
}
