/* A run that misses its tolerance is computed again by a stricter plan before anything is written:
 * of a command whose first plans are far too loose (loose_plans/). */
#include "cli_support.h"

#define TOLERANCE 1e-4
#define CELL "--periodic xyz --cell 20,20,20 --method msm "
#define ON_DEVICES "--math standard " /* which the host has not */
#define SPACE CELL ON_DEVICES "--tol 1e-4 "
#define GRID "--dims 12,12,12 --spacing 1.6 --origin 0.3,0.2,0.1 "

/* The first number behind a key that comes after another one, or NAN. */
static double number_of(const char *report, const char *after, const char *key)
{
    const char *at = strstr(report, after);
    at = at != NULL ? strstr(at, key) : NULL;
    if (at == NULL)
        return NAN;
    at += strlen(key);
    at += strspn(at, " \n[");
    char *end;
    const double value = strtod(at, &end);
    return end == at ? NAN : value;
}

/* What the report says of so many jobs: each missed at first, and is right now. */
static void expect_redone(const char *file, int jobs)
{
    char *report = cli_read(file, NULL), *at = report;
    int found = 0;
    for (; (at = strstr(at, "\"missed_rms\": ")) != NULL; at++, found++) {
        assert_true(number_of(at, "", "\"missed_rms\": ") > TOLERANCE);
        assert_true(number_of(at, "\"accuracy\": ", "\"relative_rms\": ") <= TOLERANCE);
    }
    assert_int_equal(found, jobs);
    free(report);
}

/* The difference of two files of floats, of the second one's root mean square. */
static double difference(const char *file, const char *right_file)
{
    size_t size, right_size;
    double squares = 0, all = 0;
    char *text = cli_read(file, &size), *right_text = cli_read(right_file, &right_size);
    assert_int_equal(size, right_size);
    for (size_t i = 0; i + sizeof(float) <= size; i += sizeof(float)) {
        float value, right;
        memcpy(&value, text + i, sizeof value);
        memcpy(&right, right_text + i, sizeof right);
        squares += pow((double)value - (double)right, 2);
        all += pow((double)right, 2);
    }
    free(text);
    free(right_text);
    return sqrt(squares / all);
}

static int prepare(void **state)
{
    const int code = cli_prepare(state);
    cli_write_molecule("m0.pqr", 60, 18, 7);
    cli_write_molecule("m1.pqr", 50, 18, 8);
    cli_write_text("some.csv", "1 2 3\n4 5 6\n7 8 9\n2 9 14\n11 3 7\n16 1 5\n13 13 2\n5 15 11\n");
    return code;
}

static const cli_result *loose(const char *line)
{
    cli_command = "tests/loose_plans/leyden";
    const cli_result *r = cli("%s -v", line);
    cli_command = NULL;
    return r;
}

static void test_map(void **state)
{
    loose("map m0.pqr -o out/a.dx --json a.json " SPACE GRID);
    cli_expect(0, "computed again with stricter settings: relative RMS error before ", NULL);
    expect_redone("a.json", 1);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

static void test_streamed_map(void **state)
{
    loose("map m0.pqr -o out/a.raw --json a.json " SPACE GRID);
    cli_expect(0, "computed again with stricter settings: relative RMS error before ", NULL);
    expect_redone("a.json", 1);
    cli("map m0.pqr -o right.raw --periodic xyz --cell 20,20,20 --method msm --tol 1e-4 " GRID " -v");
    cli_expect(0, "written: right.raw", NULL);
    assert_true(difference("out/a.raw", "right.raw") <= 2 * TOLERANCE);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 2); /* with its header */
}

static void test_points(void **state)
{
    loose("map m0.pqr -o out/a.csv --points some.csv --json a.json " SPACE);
    cli_expect(0, "computed again with stricter settings: relative RMS error before ", NULL);
    expect_redone("a.json", 1);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

static void test_batch(void **state)
{
    loose("map m0.pqr m1.pqr -o out/{}.dx --json a.json " SPACE GRID);
    cli_expect(0, "molecules: 2 of 2 written", NULL);
    expect_redone("a.json", 2);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 2);
}

/* A window that is fixed leaves plans which are stricter, and none that is strict enough: the file
 * is there, and the exit code says what is wrong with it. */
static void test_what_nothing_reaches(void **state)
{
    loose("map m0.pqr -o out/a.dx --json a.json " CELL ON_DEVICES
          "--tol 1e-6 --window nodal3 --solver multilevel " GRID);
    cli_expect(5, "written: out/a.dx", "and --tol is 1e-06");
    char *report = cli_read("a.json", NULL);
    assert_true(number_of(report, "", "\"exit_code\": ") == 5);
    assert_true(number_of(report, "", "\"missed_rms\": ") > 1e-6);
    assert_true(number_of(report, "\"accuracy\": ", "\"relative_rms\": ") > 1e-6);
    free(report);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

/* The host is asked at once where it takes less than what was tried. */
static void test_by_host(void **state)
{
    loose("map m0.pqr -o out/a.raw --json a.json " CELL "--tol 1e-6 --verify 100 " GRID);
    cli_expect(0, "computed by: the host, Ewald's summation in double precision, which reaches the tolerance", NULL);
    char *report = cli_read("a.json", NULL);
    assert_true(number_of(report, "", "\"missed_rms\": ") > 1e-6);
    assert_true(number_of(report, "\"accuracy\": ", "\"relative_rms\": ") <= 1e-6);
    assert_true(number_of(report, "", "\"evaluations\": ") == 60 * 12 * 12 * 12);
    assert_non_null(strstr(report, "\"devices\": []"));
    assert_non_null(strstr(report, "\"computed_by\": \"host\""));
    free(report);
    cli_run(0, "written: right.raw", NULL, "map m0.pqr -o right.raw " CELL "--tol 1e-6 --device host " GRID);
    assert_true(difference("out/a.raw", "right.raw") == 0);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "cli_redo", .each = cli_empty, .begin = prepare), test_map, test_by_host,
                     test_streamed_map, test_points, test_batch, test_what_nothing_reaches);
}
