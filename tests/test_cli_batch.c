/* Several molecules in one command: the files of as many commands, what fails is told by its name
 * and keeps nobody else from his map, and what is stopped leaves whole files only. */
#include "cli_support.h"

#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL "--dims 21,22,23 --device 0 "

enum { MOLECULES = 6 };

/* Of several sizes, and one of another format. */
static int prepare(void **state)
{
    char name[16];
    for (unsigned i = 0; i < MOLECULES; i++) {
        snprintf(name, sizeof name, "m%u.pqr", i);
        cli_write_molecule(name, 60 + 30 * i, 9, i + 1);
    }
    cli_write_molecule("ion.pqr", 40, 9, 1); /* large maps are made of it */
    cli_write_text("bad.pqr", "ATOM 1 C ALA 1 0 0 0 1 1\nATOM 2 C ALA 1 0 0 none 1 1\n");
    cli_run(0, NULL, NULL, "convert m5.pqr -o m5.atoms");
    const int code = cli_prepare(state);
    return code != 0 ? code : mkdir(cli_path("single"), 0700) | mkdir(cli_path("sub"), 0700);
}

static const char *const files[MOLECULES] = {"m0.pqr", "m1.pqr", "m2.pqr", "m3.pqr", "m4.pqr", "m5.atoms"};
#define ALL "m0.pqr m1.pqr m2.pqr m3.pqr m4.pqr m5.atoms "

static json_t *read_json(const char *name)
{
    char *text = cli_read(name, NULL);
    json_t *json = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(json);
    return json;
}

/* ---- The same bytes -------------------------------------------------------------------------- */

/* What one command writes for all, and one for each. The variant is given: which one is the fastest
 * is measured, and beside other work it is not always the same one. */
#define DIRECT SMALL "--method dcs --variant tiled8 --math standard "
static void check_same(const char *options, const char *const *endings)
{
    char made[64], single[64];
    cli_run(0, "molecules: 6 of 6 written in ", NULL, "map " ALL "-o out/{}%s %s", endings[0], options);
    for (int i = 0; i < MOLECULES; i++) {
        cli_run(0, NULL, NULL, "map %s -o single/m%d%s %s", files[i], i, endings[0], options);
        for (const char *const *ending = endings; *ending != NULL; ending++) {
            snprintf(made, sizeof made, "out/m%d%s", i, *ending);
            snprintf(single, sizeof single, "single/m%d%s", i, *ending);
            cli_assert_same_files(made, single);
        }
    }
    assert_int_equal(cli_each_file(CLI_OUT, NULL) % MOLECULES, 0);
    cli_empty(NULL);
}

static void test_maps_are_those_of_single_commands(void **state)
{
    check_same(DIRECT, (const char *[]){".mrc", NULL});
    check_same(DIRECT "--side-by-side 1", (const char *[]){".raw", ".raw.json", NULL});
    check_same("--spacing 1 --padding 4 --device 0 --method cutoff --cutoff 6 --variant vector4 --math standard",
               (const char *[]){".dx.gz", NULL});
    check_same(DIRECT "--field", (const char *[]){".npy", "_Ex.npy", "_Ey.npy", "_Ez.npy", NULL});
}

static void test_a_plan_is_for_all(void **state)
{
    cli_run(0, NULL, NULL, "map m0.pqr -o out/m0.mrc " SMALL "--json plan.json");
    cli_empty(NULL);
    check_same(SMALL "--plan plan.json", (const char *[]){".mrc", NULL});
}

static void test_points_are_for_all(void **state)
{
    cli_write_text("points.txt", "1 2 3\n4 5 6\n-3 2 0.5\n");
    check_same("--points points.txt --method dcs --device 0 --variant tiled8 --math standard",
               (const char *[]){".csv", NULL});
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void test_the_name_stands_wherever_it_is_asked_for(void **state)
{
    cli("convert m1.pqr -o sub/a.b.pqr.gz");
    cli_write_molecule("sub/.pqr", 90, 9, 3);
    cli("map sub/a.b.pqr.gz sub/.pqr -o out/{}-{}.mrc " SMALL);
    cli_expect(0, "sub/a.b.pqr.gz: 90 atoms, 10,626 points, ", NULL);
    assert_int_equal(access(cli_path("out/a.b-a.b.mrc"), F_OK), 0);
    assert_int_equal(access(cli_path("out/.pqr-.pqr.mrc"), F_OK), 0);
    cli("map m0.pqr -o out/{}.mrc " SMALL); /* what a shell's pattern is when it fits one file */
    cli_expect(0, "written: out/m0.mrc", NULL);
    assert_int_equal(access(cli_path("out/m0.mrc"), F_OK), 0);
}

static void test_what_several_cannot_have(void **state)
{
#define TWO "map m0.pqr m1.pqr "
    cli("convert m1.pqr -o sub/m0.pqr");
    if (access(cli_path("linked.mrc"), F_OK) != 0) {
        assert_int_equal(symlink("other.mrc", cli_path("linked.mrc")), 0);
        cli_write_text("other.mrc", "");
    }
    static const cli_failing cases[] = {
        {TWO "-o out/a.mrc", 1, "--output: each of the 2 molecules has a file of its own, so 'out/a.mrc' needs a {}"},
        {TWO "-o out/{}.mrc --dry-run", 1, "--dry-run is for one molecule only, and 2 are given"},
        {TWO "-o out/{}.xyz", 1, "must end in"},
        {TWO "-o none/{}.mrc", 2, "none"},
        {TWO "/dev/stdin -o out/{}.mrc", 1, "'/dev/stdin': standard input can hold only one molecule, and 3 are given"},
        {TWO "- -o out/{}.mrc", 1, "'-': standard input can hold only one molecule"},
        {TWO "-o out/{}.csv --points /dev/stdin", 1, "--points: standard input can be read only once"},
        {TWO "-o out/{}.mrc --plan /dev/stdin", 1, "--plan: standard input can be read only once"},
        {TWO "sub/m0.pqr -o out/{}.mrc", 1,
         "'out/m0.mrc' (map of m0.pqr) and 'out/m0.mrc' (map of sub/m0.pqr) are one"},
        {TWO "m0.pqr -o out/{}.mrc", 1, "'out/m0.mrc' (map of m0.pqr) and 'out/m0.mrc' (map of m0.pqr) are one file"},
        {TWO "-o out/{}.mrc --json out/m1.mrc", 1, "--json: 'out/m1.mrc' is the file of the map"},
        {"map m0.pqr linked.pqr other.pqr -o {}.mrc", 1, "are one file, and two results would go there"},
        {TWO "-o out/{}.mrc --side-by-side 17", 1, "--side-by-side"},
        {TWO "-o out/{}.mrc --spcing 1", 1, "unknown option '--spcing' (did you mean '--spacing'?)"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- What fails ------------------------------------------------------------------------------ */

static void expect_in(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        print_message("there is no '%s' in:\n%s\n", what, text);
    assert_non_null(strstr(text, what));
}

static void test_the_others_are_computed(void **state)
{
    assert_int_equal(symlink("/dev/full", cli_path("out/m2.dx")), 0);
    const cli_result *r =
        cli("map m0.pqr bad.pqr m1.pqr missing.pqr m2.pqr m3.pqr -o out/{}.dx " SMALL "--json report.json");
    assert_int_equal(r->code, 2);
    expect_in(r->out, "molecules: 3 of 6 written in ");
    expect_in(r->err, "leyden: bad.pqr:2: ");
    expect_in(r->err, "leyden: missing.pqr: ");
    expect_in(r->err, "leyden: m2.pqr: ");
    expect_in(r->err, "No space left on device");
    unlink(cli_path("out/m2.dx"));
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 3);

    json_t *report = read_json("report.json"), *molecules = json_object_get(report, "molecules"), *one;
    static const char *const statuses[] = {"LEY_OK",         "LEY_ERROR_INPUT", "LEY_OK",
                                           "LEY_ERROR_FILE", "LEY_ERROR_FILE",  "LEY_OK"};
    size_t i;
    assert_int_equal(json_array_size(molecules), 6);
    json_array_foreach(molecules, i, one)
        assert_string_equal(json_string_value(json_object_get(one, "status")), statuses[i]);
    one = json_array_get(molecules, 2);
    assert_string_equal(json_string_value(json_object_get(one, "file")), "m1.pqr");
    assert_string_equal(json_string_value(json_object_get(one, "output")), "out/m1.dx");
    assert_true(json_integer_value(json_object_get(one, "bytes_written")) > 0);
    assert_non_null(json_object_get(json_object_get(one, "plan"), "devices"));
    assert_true(json_integer_value(json_object_get(json_object_get(one, "accuracy"), "points")) > 0);
    assert_int_equal(json_integer_value(json_object_get(report, "exit_code")), 2);
    assert_int_equal(json_integer_value(json_object_get(report, "written")), 3);
    assert_true(json_number_value(json_object_get(report, "molecules_per_s")) > 0);
    json_decref(report);
}

static void test_a_quiet_batch_says_what_fails(void **state)
{
    const cli_result *r = cli("map m0.pqr bad.pqr -o out/{}.mrc -q " SMALL);
    assert_int_equal(r->code, 2);
    assert_string_equal(r->out, "");
    expect_in(r->err, "leyden: bad.pqr:2: ");
    cli_run(0, "", "", "map m0.pqr m1.pqr -o out/{}.mrc -q " SMALL);
}

static void test_what_is_for_all_fails_for_each_by_name(void **state)
{
    cli_write_text("bad.json", "{");
    cli_write_text("bad.txt", "1 2 3\n4 5\n");
    static const char *const cases[][2] = {{"-o out/{}.mrc --plan bad.json " SMALL, "bad.json:"},
                                           {"-o out/{}.csv --points bad.txt --method dcs", "bad.txt:2:"},
                                           {"-o out/{}.csv --points none.txt --method dcs", "none.txt: "}};
    char expected[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r = cli("map m0.pqr m1.pqr %s", cases[i][0]);
        assert_int_equal(r->code, 2);
        for (int molecule = 0; molecule < 2; molecule++) {
            snprintf(expected, sizeof expected, "leyden: m%d.pqr: %s", molecule, cases[i][1]);
            expect_in(r->err, expected);
        }
    }
}

/* Far from a molecule whose charges cancel floats have too few digits for the tolerance. */
static void test_each_is_held_to_the_tolerance(void **state)
{
    cli_write_text("far.csv", "10000 0 0\n9000 100 0\n11000 0 300\n12000 50 50\n8000 7 7\n9500 0 20\n10500 3 40\n");
    cli_write_text("pair.pqr", "ATOM 1 A UNK 1 0.3 0.1 0.2 1 1\nATOM 2 A UNK 1 1.5 0 0 -1 1\n");
    cli_write_text("one.pqr", "ATOM 1 A UNK 1 0.3 0.1 0.2 1 1\n");
    cli("map one.pqr m1.pqr pair.pqr bad.pqr --points far.csv -o out/{}.csv --sum float --side-by-side 1");
    cli_expect(2, "written: out/pair.csv",
               "leyden: bad.pqr:2: "); /* floats do as well as the terms of pair.pqr allow */
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 3);
}

/* All molecules, one after the other, on a device that has the fault, with kernels from the cache.
 * NULL: it has not struck. */
static const cli_result *run_with_fault(const char *fault)
{
    cli_run(0, NULL, NULL, "map " ALL "-o out/{}.mrc --method dcs --side-by-side 1 " SMALL);
    cli_empty(NULL);
    const cli_result *r = cli("%smap " ALL "-o out/{}.mrc --method dcs --side-by-side 1 " SMALL, cli_faulty(fault));
    return access(cli_path("struck"), F_OK) == 0 ? r : NULL;
}

static void test_a_device_that_fails_once_costs_one_molecule(void **state)
{
    const cli_result *r = run_with_fault("call=clEnqueueReadBuffer,at=3,fault=nan");
    if (r == NULL)
        skip();
    assert_int_equal(r->code, 5);
    expect_in(r->out, "molecules: 5 of 6 written in ");
    expect_in(r->err, ".pqr: ");
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 5);
}

/* Nor would it for the next one: what is left is not begun. A device that has finished nothing of a
 * job is given five minutes. */
static void test_a_driver_that_does_not_return(void **state)
{
    if (support_is_quick())
        skip();
    const cli_result *r = run_with_fault("call=clEnqueueReadBuffer,at=3,fault=hang,ever=1");
    if (r == NULL)
        skip();
    size_t written = 0, left = 0, all = 0;
    assert_int_equal(r->code, 4);
    const char *said = strstr(r->out, "molecules: "), *why = strstr(r->err, "the driver does not return: ");
    assert_true(said != NULL && sscanf(said, "molecules: %zu of", &written) == 1);
    assert_true(why != NULL && sscanf(why, "the driver does not return: %zu of %zu", &left, &all) == 2);
    assert_int_equal(all, 6);
    assert_true(left > 0);
    assert_int_equal(written + 1 + left, all);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), written);
}

static void test_without_devices(void **state)
{
    const cli_result *r = cli(CLI_NO_DEVICE "map m0.pqr m1.pqr -o out/{}.mrc --dims 9,9,9");
    assert_int_equal(r->code, 3);
    expect_in(r->out, "molecules: 0 of 2 written in ");
    expect_in(r->err, "leyden: m1.pqr: ");
    cli_assert_nothing_left();
}

/* ---- What is stopped ------------------------------------------------------------------------- */

static int halves;

static void check_whole(const char *path)
{
    struct stat known;
    assert_int_equal(stat(path, &known), 0);
    const int64_t small = 1024 + 4 * 21 * 22 * 23, large = 1024 + INT64_C(4) * 300 * 300 * 300;
    halves += known.st_size != small && known.st_size != large;
}

static void test_a_signal_leaves_whole_files_only(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t child =
            cli_start("map " ALL "-o out/{}.mrc --dims 300,300,300 --method dcs --device 0 --json stopped.json");
        cli_wait_for_work(child, 0.8);
        kill(child, signals[i]);
        cli_wait(child);
        cli_expect(128 + signals[i], NULL, "leyden: cancelled: ");
        char script[512];
        snprintf(script, sizeof script,
                 "import json\nreport = json.load(open('stopped.json'))\nlast = report['molecules'][-1]\n"
                 "assert report['exit_code'] == %d == last['exit_code'], report\n"
                 "assert last['status'] == 'LEY_CANCELLED' and last['bytes_written'] is None, last\n",
                 128 + signals[i]);
        cli_python(script);
        halves = 0;
        assert_true(cli_each_file(CLI_OUT, check_whole) < MOLECULES);
        assert_int_equal(halves, 0);
        assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
        cli_empty(NULL);
    }
}

/* Side by side: all of them are cancelled, not only the latest. */
static void test_a_signal_reaches_all_jobs(void **state)
{
    char line[256] = "map";
    for (int i = 0; i < 5; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " big%d.pqr", i);
    cli_write_molecule("first.pqr", 40, 9, 1);
    for (unsigned i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "big%u.pqr", i);
        cli_write_molecule(name, 20000, 60, i + 1);
    }
    pid_t child = cli_start("map first.pqr%s -o out/{}.mrc --dims 150,150,150 --method dcs --device 0 --verify 0",
                            line + strlen("map"));
    cli_wait_for_work(child, 3);
    kill(child, SIGINT);
    const cli_result *r = cli_wait(child);
    assert_int_equal(r->code, 128 + SIGINT);
    assert_true(r->cpu_s < 15); /* four jobs take more than a minute */
    expect_in(r->err, " of 6 molecules are written");
    assert_true(cli_each_file(CLI_OUT, NULL) <= 1); /* the first one, which is small */
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "several molecules", .each = cli_empty, .begin = prepare),
                     test_maps_are_those_of_single_commands, test_a_plan_is_for_all, test_points_are_for_all,
                     test_the_name_stands_wherever_it_is_asked_for, test_what_several_cannot_have,
                     test_the_others_are_computed, test_a_quiet_batch_says_what_fails,
                     test_what_is_for_all_fails_for_each_by_name, test_each_is_held_to_the_tolerance,
                     test_a_device_that_fails_once_costs_one_molecule, test_a_driver_that_does_not_return,
                     test_without_devices, test_a_signal_leaves_whole_files_only, test_a_signal_reaches_all_jobs);
}
