/* What `leyden bench` writes: its report against docs/bench.schema.json, the page, tables, and what
 * it says of two reports beside each other. */
#include "cli_support.h"

#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static char *schema, *checks, *results; /* their paths; and that of the folder of kept reports */

/* A check of bench_outputs.py; skips the test where it has not what it needs. */
static void check(const char *what)
{
    char script[4096];
    static const char of_schema[] = " schema curve gains files screen usual wrong results ";
    char word[64];
    snprintf(word, sizeof word, " %s ", what);
    const bool needs_schema = strstr(of_schema, word) != NULL;
    snprintf(script, sizeof script,
             "import runpy, sys\nsys.argv = ['', '%s'%s%s%s]\nrunpy.run_path('%s', run_name='__main__')\n", what,
             needs_schema ? ", '" : "", needs_schema ? schema : "", needs_schema ? "'" : "", checks);
    if (cli_python(script)->code == 77)
        skip();
    cli_expect(0, "right", NULL);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void measure(void)
{
    static bool is_done;
    if (is_done)
        return;
    is_done = true;
    cli("LEYDEN_CACHE_DIR=%s bench --kernel dcs --dims 64,64,2 --atoms 200 --repeats 3 --device 0 --variant tiled8 "
        "--json a.json --csv a.csv --markdown a.md --html a.html",
        getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "timed", NULL);
}

static void test_schema(void **state)
{
    measure();
    check("schema");
}

static void test_clpeak(void **state)
{
    if (support_get_level() != SUPPORT_FULL)
        skip();
    measure();
    check("clpeak");
}

static void test_tables(void **state)
{
    measure();
    check("csv");
    char *markdown = cli_read("a.md", NULL);
    assert_non_null(strstr(markdown, "| variant | seconds | timed | spread % |"));
    assert_non_null(strstr(markdown, "\n| tiled8 | "));
    assert_non_null(strstr(markdown, "bench --kernel dcs"));
    free(markdown);
}

/* Two devices, each of which PoCL makes of all cores: what they gain together is reported with each
 * job, in all outputs, with the papers' own; of one device there is nothing to say but "-". */
static void test_gains(void **state)
{
    static const char heading[] =
        "| all devices together | devices | fastest alone, s | together, s | timed | spread % | gain |\n";
    setenv("POCL_DEVICES", "pthread pthread", 1);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --preset papers --atoms 1500 --repeats 3 --device all --json g.json "
        "--markdown g.md --html g.html",
        getenv("LEYDEN_CACHE_DIR"));
    unsetenv("POCL_DEVICES");
    cli_expect(0, "\npapers: data-parallel ", NULL);
    check("gains");
    char *markdown = cli_read("g.md", NULL);
    assert_non_null(strstr(markdown, heading));
    assert_non_null(strstr(markdown, "\n| papers: data-parallel | 2"));
    assert_non_null(strstr(markdown, "\n| paper, task-parallel | two Tesla C870, a part each, as fast as one | - | - | "
                                     "- | - | 1.27 |\n"));
    free(markdown);
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --preset papers --atoms 1500 --repeats 1 --device 0 --markdown -",
        getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "\n| papers: data-parallel | 1 | - | - | - | - | - |\n", NULL);
}

/* Ever larger boxes are reported like rows: each with its runs, in tables, beside each other. */
static void test_curve(void **state)
{
    cli("LEYDEN_CACHE_DIR=%s bench --kernel msm --curve --preset papers --atoms 1500 --repeats 3 --device 0 "
        "--json c.json --csv c.csv --markdown c.md",
        getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "measured once", NULL);
    check("curve");
    char *markdown = cli_read("c.md", NULL);
    assert_non_null(
        strstr(markdown, "| atoms | kernels, s | whole, s | timed | spread % | one core, s | times as fast |"));
    free(markdown);
    cli_run(0, "2 rows have not moved", NULL, "bench c.json --compare c.json");
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define FILES "bench --kernel io --folder out --device 0 "

static void test_files(void **state)
{
    cli_empty(state);
    cli(FILES "--dims 20,30,40 --atoms 302 --repeats 3 --json f.json --csv f.csv --html f.html --markdown f.md");
    cli_expect(0, "what  ", NULL);
    cli_expect(0, "\nwrite.cube ", NULL);
    cli_assert_nothing_left();
    check("files");
    char *markdown = cli_read("f.md", NULL);
    assert_non_null(strstr(markdown, "| MB | % of plain | relative RMS error |"));
    assert_non_null(strstr(markdown, "\n| write.dx.gz | "));
    free(markdown);
    cli_run(0, "rows have not moved", NULL, "bench f.json --compare f.json --fail");
    cli(FILES "--dims 20,20,20 --atoms 300 --repeats 1 --variant write.mrc --json -");
    cli_expect(0, "\"plain_share\": 0.", NULL); /* the plain rate is measured for it alone */
    cli_assert_nothing_left();
}

/* Files in the folders that are in out/. */
static int count_inside(void)
{
    int count = 0;
    DIR *out = opendir(cli_path(CLI_OUT));
    assert_non_null(out);
    for (const struct dirent *entry; (entry = readdir(out)) != NULL;) {
        char name[512];
        snprintf(name, sizeof name, CLI_OUT "/%s", entry->d_name);
        count += entry->d_name[0] != '.' ? cli_each_file(name, NULL) : 0;
    }
    closedir(out);
    return count;
}

/* At any moment, once or twice, a signal leaves nothing; what was killed goes with the next run. */
static void test_files_go(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    static const char line[] = FILES "--dims 90,90,90 --atoms 30000 --repeats 1000 --variant write%s";
    static const char *const formats[] = {".raw", ".dx.gz", ".pqr"};
    cli_empty(state);
    for (int i = 0; i < (support_is_quick() ? 6 : 36); i++) {
        const int number = signals[i % 3];
        const pid_t child = cli_start(line, formats[(i + i / 3) % 3]);
        bool is_there = false;
        for (int ms = 0; ms < 60000 && !(is_there = count_inside() > 0); ms++)
            usleep(1000);
        assert_true(is_there);
        usleep((useconds_t)(40000 * (i / 3 % 4)));
        kill(child, number);
        if (i % 2 != 0 && number != SIGKILL) /* another one: two of the same may come as one */
            kill(child, number == SIGINT ? SIGTERM : SIGINT);
        const int code = cli_wait(child)->code;
        if (i % 2 != 0 && number != SIGKILL)
            assert_true(code == 128 + SIGINT || code == 128 + SIGTERM); /* whichever is heard first */
        else
            assert_int_equal(code, number == SIGKILL ? -SIGKILL : 128 + number);
        if (number == SIGKILL) {
            assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
            cli_run(0, NULL, NULL, FILES "--dims 9,9,9 --atoms 3 --repeats 1 --variant read.atoms -q");
        }
        cli_assert_nothing_left();
    }
}

/* ---- The page -------------------------------------------------------------------------------- */

static void make_page(void)
{
    check("make");
    cli_run(0, NULL, NULL, "bench b.json --html b.html --markdown b.md");
}

static void test_page(void **state)
{
    make_page();
    check("page");
    cli("bench b.json"); /* without anything said, in Markdown */
    cli_expect(0, "\n## msm &lt;title>\n", NULL);
}

/* ---- The screen ------------------------------------------------------------------------------ */

/* Of a small box: all rows right, and no score. */
static void test_screen(void **state)
{
    cli("LEYDEN_CACHE_DIR=%s bench --atoms 600 --device 0 --folder out --json r.json --html r.html --markdown r.md",
        getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "\nwhole command ", NULL);
    cli_expect(0, "\nNo score: scores are for the usual problem only", NULL);
    cli_expect(0, "\nleyden 0.1.0 no score", NULL);
    cli_assert_nothing_left();
    check("screen");
}

/* Times and scores are those of the rows, whatever a report says; of several reports devices stand
 * beside each other. */
static void test_score(void **state)
{
    check("make");
    cli_run(0, NULL, NULL, "bench s1.json --html s1.html --markdown s1.md");
    cli("bench --compare s1.json s2.json s3.json --html sides.html --markdown sides.md");
    cli_expect(0, "\nreference: ", NULL);
    cli_expect(0, "\nRates: billion pairs", NULL);
    check("score");
    cli_run(0, "\nreference: ", NULL, "bench s1.json s2.json");
    cli("bench --compare s1.json s4.json"); /* of one device and day: the minute tells them apart */
    cli_expect(0, ", opencl, 2026-11-24 00:00  ", NULL);
    cli_expect(0, ", opencl, 2026-11-24 10:20  ", NULL);
    cli_run(2, NULL, "none.json: No such file", "bench s1.json none.json");
}

/* The reports that are kept are what the schema says, have their scores, and docs/results.md is
 * made of them. */
static void test_results(void **state)
{
    size_t size = 0;
    char kept[4096], all[1 << 14] = "";
    glob_t reports;
    snprintf(kept, sizeof kept, "%s/*.json", results);
    assert_int_equal(glob(kept, 0, NULL, &reports), 0); /* in their order, as make has them */
    for (size_t i = 0; i < reports.gl_pathc; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", reports.gl_pathv[i]);
    globfree(&reports);
    cli("bench %s--markdown results.md", all);
    cli_expect(0, NULL, NULL);
    snprintf(kept, sizeof kept, "%s.md", results);
    char *made = cli_read("results.md", &size);
    FILE *file = fopen(kept, "rb");
    assert_non_null(file);
    char *there = calloc(size + 2, 1);
    assert_int_equal(fread(there, 1, size + 1, file), size);
    fclose(file);
    assert_string_equal(there, made); /* else: make results */
    free(there);
    free(made);
    check("results");
}

/* A device whose direct sums are 1 % off has WRONG in place of their rate, and no score. */
static void test_wrong_screen(void **state)
{
    support_plant_fault("dcs", "gm_sum[at] = p->sum[k];", "gm_sum[at] = p->sum[k] * 1.01f;");
    cli("LEYDEN_CACHE_DIR=%s LEYDEN_KERNEL_DIR=%s bench --atoms 600 --device 0 --json w.json --html w.html --markdown "
        "w.md",
        getenv("LEYDEN_CACHE_DIR"), getenv("LEYDEN_KERNEL_DIR"));
    unsetenv("LEYDEN_KERNEL_DIR");
    cli_expect(5, "\nNo score: direct sum is WRONG.", "computes wrong results");
    check("wrong");
}

static void test_usual_screen(void **state)
{
    if (support_get_level() != SUPPORT_FULL)
        skip();
    cli("LEYDEN_CACHE_DIR=%s bench --device 0 --json u.json", getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "\nScore ", NULL);
    check("usual");
}

/* In a browser: as wide as a phone or a screen, and no wider. */
static void test_screenshot(void **state)
{
    if (support_get_level() != SUPPORT_FULL)
        skip();
    make_page();
    check("browser");
}

/* ---- Beside each other ----------------------------------------------------------------------- */

typedef struct made_row {
    const char *variant;
    double median_s, spread; /* spread negative: there was one launch */
    bool is_wrong;
    int launches; /* 0: many */
} made_row;

static double others; /* processors, of two, that they kept busy */

static void write_report(const char *name, int64_t atoms, const made_row *rows, size_t n)
{
    static char text[1 << 17];
    char spread[32];
    int used = snprintf(text, sizeof text,
                        "{\"program\": \"leyden\", \"command\": \"bench\", \"date\": \"2026-11-24T00:00:00Z\", "
                        "\"tables\": [{\"name\": \"dcs\", \"kernel\": \"dcs\", \"math\": \"auto\", \"devices\": "
                        "[{\"device\": {\"name\": \"X\", \"path\": \"opencl\"}, \"load\": {\"others\": %g, "
                        "\"processors\": 2}, \"atoms\": %lld, \"points\": 10, "
                        "\"rows\": [",
                        others, (long long)atoms);
    for (size_t i = 0; i < n; i++) {
        snprintf(spread, sizeof spread, rows[i].spread < 0 ? "null" : "%g", rows[i].spread);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"variant\": \"%s\", \"median_s\": %g, \"spread\": %s, \"timed\": %d, "
                         "\"evaluations_per_s\": %g, \"status\": "
                         "\"LEY_OK\", \"accuracy\": {\"passed\": %s}}",
                         i > 0 ? ", " : "", rows[i].variant, rows[i].median_s, spread,
                         rows[i].spread < 0     ? 1
                         : rows[i].launches > 0 ? rows[i].launches
                                                : 7,
                         10 * (double)atoms / rows[i].median_s, rows[i].is_wrong ? "false" : "true");
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}]}]}\n");
    cli_write_text(name, text);
}

static void compare(const made_row *old, const made_row *now, size_t n, int code, const char *said)
{
    write_report("old.json", 100, old, n);
    write_report("new.json", 100, now, n);
    cli("bench new.json --compare old.json --fail");
    cli_expect(code, said, code == 5 ? "slower, less accurate, wrong, failed or missing" : NULL);
    cli("bench new.json --compare old.json");
    cli_expect(0, said, NULL);
}

static void test_compare(void **state)
{
    static const made_row usual = {"a", 1, 0.02, false, 0}, noisy = {"a", 1, 0.4, false, 0},
                          one = {"a", 1, -1, false, 0};
    compare(&usual, &usual, 1, 0, "1 row has not moved");
    compare(&usual, &(made_row){"a", 1.025, 0.02, false, 0}, 1, 0, "1 row has not moved"); /* less than 3 % */
    compare(&usual, &(made_row){"a", 1.04, 0.02, false, 0}, 1, 5, "slower   1.04    3 %");
    compare(&usual, &(made_row){"a", 0.9, 0.02, false, 0}, 1, 0, "faster   1.11    3 %");
    compare(&noisy, &(made_row){"a", 1.15, 0, false, 0}, 1, 0, "1 row has not moved"); /* less than 23 % */
    compare(&noisy, &(made_row){"a", 1.25, 0, false, 0}, 1, 5, "slower   1.25   23 %");
    compare(&(made_row){"a", 1, 0.4, false, 20}, &(made_row){"a", 1.12, 0, false, 20}, 1, 5, "slower   1.12   10 %");
    compare(&one, &(made_row){"a", 1.45, -1, false, 0}, 1, 0, "1 row has not moved"); /* of one launch */
    compare(&one, &(made_row){"a", 1.6, -1, false, 0}, 1, 5, "slower   1.60   50 %");
    static const made_row two = {"a", 1, 0.02, false, 2}, three = {"a", 1, 0.02, false, 3};
    compare(&two, &(made_row){"a", 1.23, 0.02, false, 2}, 1, 0, "1 row has not moved"); /* less than 24 % */
    compare(&two, &(made_row){"a", 1.25, 0.02, false, 2}, 1, 5, "slower   1.25   24 %");
    compare(&three, &(made_row){"a", 1.11, 0.02, false, 3}, 1, 5, "slower   1.11   10 %");
    compare(&(made_row){"a", 1, 0.02, false, 4}, &(made_row){"a", 1.06, 0.02, false, 4}, 1, 5, "slower   1.06    5 %");
    others = 1; /* half of all: twice as long is no wonder */
    compare(&usual, &(made_row){"a", 1.9, 0.02, false, 0}, 1, 0, "1 row has not moved");
    compare(&usual, &(made_row){"a", 2.1, 0.02, false, 0}, 1, 5, "slower   2.10");
    others = 0;
    compare(&usual, &(made_row){"a", 1, 0.02, true, 0}, 1, 5, "wrong, or failed");
    compare(&(made_row){"a", 1, 0.02, true, 0}, &usual, 1, 0, "right now");
    compare(&usual, &(made_row){"b", 9, 0.02, false, 0}, 1, 5, "in the new report only");
    compare(&usual, &(made_row){"b", 9, 0.02, false, 0}, 1, 5, "in the old report only");
}

/* Two runs with a screen: what each row has, how the runs ended, what they were asked for. */
typedef struct made_screen {
    const char *version, *status, *kernel, *table, *verdict;
    double direct, command_s, spread, direct_error, map_error;
} made_screen;

static void write_screen(const char *name, const made_screen *s)
{
    static const char rows[] =
        "{\"name\": \"direct sum\", \"unit\": \"pairs/s\", \"value\": %g, \"timed\": 7, \"spread\": %g, "
        "\"relative_rms\": %g, \"verdict\": \"%s\"}, "
        "{\"name\": \"map to 1e-4\", \"unit\": \"atoms/s\", \"value\": 5e5, \"timed\": 7, \"spread\": 0.02, "
        "\"relative_rms\": %g, \"verdict\": \"right\"}, "
        "{\"name\": \"whole command\", \"unit\": \"s\", \"value\": %g, \"timed\": 7, \"spread\": 0.02, "
        "\"relative_rms\": 2e-5, \"verdict\": \"right\"}";
    char of_rows[2048], text[4096];
    snprintf(of_rows, sizeof of_rows, rows, s->direct, s->spread, s->direct_error, s->verdict, s->map_error,
             s->command_s);
    snprintf(text, sizeof text,
             "{\"command\": \"bench\", \"version\": \"%s\", \"status\": \"%s\", \"error\": \"as made\", "
             "\"level\": \"screen\", \"options\": {\"kernel\": \"%s\"}, \"tables\": [{\"name\": \"%s\", "
             "\"math\": \"auto\", \"devices\": [{\"device\": {\"name\": \"X\", \"path\": \"cuda\"}, \"rows\": []}]}], "
             "\"screens\": [{\"device\": {\"name\": \"X\", \"path\": \"cuda\", \"class\": \"gpu\"}, \"others\": 0, "
             "\"processors\": 2, \"problem\": {\"usual\": true}, \"rows\": [%s]}]}",
             s->version, s->status, s->kernel, s->table, of_rows);
    cli_write_text(name, text);
}

/* The rows of the screen are judged, too: rates by the noise, errors by the old ones; and it is
 * told of versions, failed runs, and what one of both reports lacks. */
static void test_compare_screens(void **state)
{
    static const made_screen usual = {"0.1.0", "LEY_OK", "all", "direct", "right", 1e9, 0.5, 0.02, 4e-7, 1e-5};
    static const struct {
        made_screen now;
        int code;
        const char *said;
    } cases[] = {
        {usual, 0, "3 rows have not moved"},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 0.98e9, 0.51, 0.02, 7e-7, 4e-5}, 0, "3 rows have not moved"},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 0.9e9, 0.5, 0.02, 4e-7, 1e-5}, 5, "slower  "},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 0.9e9, 0.5, 0.3, 4e-7, 1e-5}, 0, "3 rows have not moved"},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 1.1e9, 0.5, 0.02, 4e-7, 1e-5}, 0, "faster  "},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 1e9, 0.6, 0.02, 4e-7, 1e-5}, 5, "whole command"},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 1e9, 0.5, 0.02, 9e-7, 1e-5}, 5, "less accurate"},
        {{"0.1.0", "LEY_OK", "all", "direct", "right", 1e9, 0.5, 0.02, 4e-7, 6e-5}, 5, "less accurate"},
        {{"0.1.0", "LEY_OK", "all", "direct", "WRONG", 1e9, 0.5, 0.02, 4e-7, 1e-5}, 5, "WRONG"},
        {{"0.2.0", "LEY_OK", "all", "direct", "right", 1e9, 0.5, 0.02, 4e-7, 1e-5},
         0,
         "the old report is of version 0.1.0, the new one of version 0.2.0"},
        {{"0.1.0", "LEY_ERROR_DEVICE", "all", "direct", "right", 1e9, 0.5, 0.02, 4e-7, 1e-5},
         5,
         "the new report is of a run that failed: as made"},
        {{"0.1.0", "LEY_OK", "all", "map", "right", 1e9, 0.5, 0.02, 4e-7, 1e-5}, 5, "direct  X       "},
        {{"0.1.0", "LEY_OK", "dcs", "map", "right", 1e9, 0.5, 0.02, 4e-7, 1e-5}, 0, "in the old report only"},
    };
    write_screen("old.json", &usual);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_screen("new.json", &cases[i].now);
        cli_run(cases[i].code, cases[i].said, cases[i].code == 5 ? "slower, less accurate, wrong, failed or" : NULL,
                "bench new.json --compare old.json --fail");
        cli_run(0, cases[i].said, NULL, "bench new.json --compare old.json");
    }
    cli_run(1, NULL, "--fail compares two reports", "bench new.json old.json --compare old.json --fail");
}

/* Of several cards of a kind each has its counterpart: the second one that of the second. */
static void test_compare_cards(void **state)
{
    static const char card[] = "{\"device\": {\"name\": \"X\", \"path\": \"cuda\", \"class\": \"gpu\"}, \"atoms\": 1, "
                               "\"points\": 1, \"rows\": [{\"variant\": \"a\", \"median_s\": %g, \"spread\": 0.01, "
                               "\"timed\": 9, \"status\": \"LEY_OK\", \"accuracy\": {\"passed\": true}}]}";
    static const double seconds[3][2] = {{1, 2}, {1.01, 2.01}, {1, 3}};
    for (int i = 0; i < 3; i++) {
        char cards[2][512], text[2048];
        for (int k = 0; k < 2; k++)
            snprintf(cards[k], sizeof cards[k], card, seconds[i][k]);
        snprintf(text, sizeof text,
                 "{\"command\": \"bench\", \"tables\": [{\"name\": \"dcs\", \"math\": \"auto\", "
                 "\"devices\": [%s, %s]}]}",
                 cards[0], cards[1]);
        cli_write_text(i == 0 ? "old.json" : "new.json", text);
        cli("bench new.json --compare old.json --fail");
        if (i == 1)
            cli_expect(0, "2 rows have not moved", NULL);
        else if (i == 2)
            cli_expect(5, "slower   1.50", NULL);
    }
}

enum { ROWS = 400, MOST_LAUNCHES = 15 };

static double normal(unsigned short state[3])
{
    const double u = 1 - erand48(state), v = erand48(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Rows of so many launches that scatter by 10 %. */
static void scatter(made_row *rows, int launches, double mean_s, unsigned short state[3])
{
    static char names[ROWS][8];
    for (int i = 0; i < ROWS; i++) {
        double seconds[MOST_LAUNCHES], shortest = INFINITY, longest = 0;
        for (int k = 0; k < launches; k++) {
            const double time_s = mean_s * (1 + 0.1 * normal(state));
            int at = k;
            for (; at > 0 && seconds[at - 1] > time_s; at--)
                seconds[at] = seconds[at - 1];
            seconds[at] = time_s;
            shortest = fmin(shortest, time_s);
            longest = fmax(longest, time_s);
        }
        const double median_s = (seconds[(launches - 1) / 2] + seconds[launches / 2]) / 2;
        snprintf(names[i], sizeof names[i], "%d", i);
        rows[i] = (made_row){names[i], median_s, (longest - shortest) / median_s, false, launches};
    }
}

/* How many of the rows have moved where the new report's mean is so many times the old one's. */
static int count_moved(int launches, double times)
{
    static made_row old[ROWS], now[ROWS];
    unsigned short state[3] = {1, 2, (unsigned short)launches};
    int same = -1;
    scatter(old, launches, 1, state);
    scatter(now, launches, times, state);
    write_report("old.json", 100, old, ROWS);
    write_report("new.json", 100, now, ROWS);
    const cli_result *result = cli("bench new.json --compare old.json");
    assert_int_equal(result->code, 0);
    const char *said = strstr(result->out, " rows have not moved");
    assert_non_null(said);
    while (said > result->out && said[-1] >= '0' && said[-1] <= '9')
        said--;
    assert_int_equal(sscanf(said, "%d", &same), 1);
    return ROWS - same;
}

/* What nothing has happened to is left alone, however few launches there were; and the more there
 * are, the less goes unnoticed. */
static void test_compare_by_chance(void **state)
{
    assert_true(count_moved(3, 1) + count_moved(5, 1) + count_moved(15, 1) <= 3);
    assert_true(count_moved(2, 1) <= 6);
    assert_true(count_moved(15, 1.3) >= ROWS * 9 / 10);
    assert_true(count_moved(5, 2) >= ROWS * 9 / 10);
}

/* Of problems of another size rates are compared; other devices have nothing in common. */
static void test_compare_others(void **state)
{
    write_report("old.json", 100, &(made_row){"a", 1, 0.02, false, 0}, 1);
    write_report("new.json", 200, &(made_row){"a", 2, 0.02, false, 0}, 1);
    cli_run(0, "1 row is of problems of another size", NULL, "bench new.json --compare old.json --fail");
    write_report("new.json", 200, &(made_row){"a", 3, 0.02, false, 0}, 1);
    cli_run(5, "slower", NULL, "bench new.json --compare old.json --fail");
    cli_write_text("new.json", "{\"command\": \"bench\", \"tables\": []}");
    cli_run(2, NULL, "no table of the same kernel and device", "bench new.json --compare old.json");
}

/* What was measured now, with what was measured before. */
static void test_compare_measured(void **state)
{
    measure();
    cli("LEYDEN_CACHE_DIR=%s bench --kernel dcs --dims 64,64,2 --atoms 200 --repeats 3 --device 0 --variant tiled8 "
        "--compare a.json",
        getenv("LEYDEN_CACHE_DIR"));
    cli_expect(0, "compared with a.json of 20", NULL);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const cli_failing cases[] = {
        {"bench --full --atoms 3000", 1, "--full: it has problems of its own, without --atoms"},
        {"bench --full --kernel dcs", 1, "--full needs --kernel all"},
        {"bench --dims 9,9,9", 1, "--dims is not for --kernel all"},
        {"bench --repeats 3", 1, "--repeats is not for --kernel all"},
        {"bench --math native", 1, "--math is not for --kernel all"},
        {"bench --tol 1e-3", 1, "--tol needs --kernel msm or frontier"},
        {"bench --kernel mdh --points 9 --dims 9,9,9", 1, "--dims is not for a list of --points"},
        {"bench --fail", 1, "--fail needs --compare"},
        {"bench --json - --markdown -", 1, "standard output cannot take --markdown, too"},
        {"bench --json - --compare out", 1, "standard output cannot take --compare, too"},
        {"bench none.json", 2, "leyden: none.json: No such file or directory"},
        {"bench .", 2, "leyden: .: Is a directory"},
        {"bench --csv -", 1, "--csv: it cannot be standard output; name a file"},
        {"bench --html -", 1, "--html: it cannot be standard output"},
        {"bench --compare none.json", 2, "none.json"},
        {"bench ion.pqr", 2, "ion.pqr:1: no report of `leyden bench --json`: "},
        {"bench none.json --device 0", 1, "--device is not for the report of an earlier run, 'none.json'"},
        {"bench none.json --kernel dcs", 1, "--kernel is not for the report of an earlier run"},
        {"bench --html none/a.html", 2, "none/a.html"},
        {"bench --kernel io --folder none", 2, "a temporary folder in none: No such file or directory"},
        {"bench --kernel dcs --folder .", 1, "--folder needs --kernel io or all"},
        {"bench --kernel io --sum double", 1, "--sum is not for --kernel io: files have no sums"},
        {"bench --kernel io --variant read.pdb", 1, "'read.pdb' is none of plain-write, plain-write-synced, "},
        {"bench --csv a --html a", 1, "'a' is the file of the table"},
    };
    cli_empty(state);
    CLI_CHECK_FAILURES(cases);
    cli_write_text("other.json", "{\"command\": \"map\"}");
    cli_run(2, NULL, "other.json: no report of `leyden bench --json`", "bench other.json");
}

static void assert_no_nan(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "nNiI")) != NULL; at++) {
        const bool begins = at == text || strchr(" ,|-(~\n", at[-1]) != NULL;
        if (begins && (strncasecmp(at, "nan", 3) == 0 || strncasecmp(at, "inf", 3) == 0) && !isalpha(at[3]))
            fail_msg("%.100s", at > text + 40 ? at - 40 : text);
    }
    assert_null(strstr(text, "9,223,372,036,854,775,8"));
}

/* What was not measured is "-" or left out, never nan: of one size there is no exponent; a report
 * that lacks numbers, or has 0, is printed without. */
static void test_no_nan(void **state)
{
    static const char lacking[] =
        "{\"command\": \"bench\", \"tables\": [{\"name\": \"dcs\", \"math\": \"auto\", \"devices\": [{\"device\": "
        "{\"name\": \"X\", \"path\": \"cuda\"}, \"rows\": [{\"variant\": \"a\", \"median_s\": %s, \"status\": "
        "\"LEY_OK\"}], \"sizes\": [{\"variant\": \"3 atoms\", \"status\": \"LEY_OK\"}]}], \"gains\": [{\"name\": "
        "\"all\"}], \"papers\": [{\"hardware\": \"H\", \"unit\": \"s\"}]}], \"screens\": [{\"device\": {\"name\": "
        "\"X\", \"path\": \"cuda\"}, \"rows\": [{\"name\": \"direct sum\", \"unit\": \"pairs/s\", \"verdict\": "
        "\"right\", \"value\": %s}]}]}";
    static const char *const values[] = {"null", "0", "1"};
    static const char *const files[] = {"l.csv", "l.md"};
    char text[4096];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, lacking, values[i], values[i]);
        cli_write_text(i < 2 ? "lacks.json" : "has.json", text);
        cli_write_text(i < 2 ? "has.json" : "other.json", text);
        cli_run(0, NULL, NULL, "bench lacks.json --csv l.csv --markdown l.md");
        for (int k = 0; k < 2; k++) {
            char *file = cli_read(files[k], NULL);
            assert_no_nan(file);
            free(file);
        }
        assert_no_nan(cli("bench lacks.json has.json")->out);
        assert_no_nan(cli("bench has.json --compare lacks.json")->out);
        assert_no_nan(cli("bench lacks.json --compare has.json")->out);
    }
    const cli_result *one = cli("LEYDEN_CACHE_DIR=%s bench --kernel cutoff --linear --atoms 3 --repeats 1 --device 0 "
                                "--json one.json",
                                getenv("LEYDEN_CACHE_DIR"));
    assert_int_equal(one->code, 0);
    assert_no_nan(one->out);
    char *json = cli_read("one.json", NULL);
    assert_no_nan(json);
    free(json);
}

/* A report whose members are of other types names the file, the member and what is expected. */
static void test_types(void **state)
{
#define TABLES(of) "{\"command\": \"bench\", \"tables\": [" of "]}"
#define ROWS_OF(of) TABLES("{\"devices\": [{\"rows\": [{}, " of "]}]}")
#define SCREENS(of) "{\"command\": \"bench\", \"tables\": [], \"screens\": " of "}"
    static const char *const cases[][2] = {
        {TABLES("7"), "tables[0] is a number, where an object is expected"},
        {"{\"command\": \"bench\", \"tables\": {}}", "tables is an object, where an array is expected"},
        {"{\"command\": \"bench\", \"tables\": [], \"version\": 1}", "version is a number, where a text is expected"},
        {TABLES("{\"devices\": [{\"device\": []}]}"),
         "tables[0].devices[0].device is an array, where an object is expected"},
        {ROWS_OF("{\"variant\": 3}"), "tables[0].devices[0].rows[1].variant is a number, where a text is expected"},
        {ROWS_OF("{\"median_s\": \"1\"}"), "rows[1].median_s is a text, where a number or null is expected"},
        {ROWS_OF("{\"timed\": 1.5}"), "rows[1].timed is a number, where a whole number is expected"},
        {ROWS_OF("{\"default\": null}"), "rows[1].default is null, where true or false is expected"},
        {ROWS_OF("{\"runs_s\": [1, true]}"), "rows[1].runs_s[1] is true, where a number or null is expected"},
        {ROWS_OF("{\"accuracy\": 0}"), "rows[1].accuracy is a number, where null or an object is expected"},
        {ROWS_OF("{\"accuracy\": {\"passed\": 1}}"), "accuracy.passed is a number, where true or false is expected"},
        {SCREENS("{}"), "screens is an object, where an array is expected"},
        {SCREENS("[4]"), "screens[0] is a number, where an object is expected"},
        {SCREENS("[null]"), "screens[0] is null, where an object is expected"},
        {SCREENS("[{\"rows\": [\"fast\"]}]"), "screens[0].rows[0] is a text, where an object is expected"},
        {SCREENS("[{\"rows\": [{\"verdict\": 0}]}]"), "rows[0].verdict is a number, where a text is expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_write_text("types.json", cases[i][0]);
        cli_run(2, NULL, cases[i][1], "bench types.json");
        cli_run(2, NULL, "leyden: types.json: no report of `leyden bench --json`: ", "bench types.json --html t.html");
    }
    cli_write_text("types.json", ROWS_OF("{\"variant\": \"a\", \"timed\": 2.0, \"accuracy\": null, \"new\": [1]}"));
    cli_run(0, NULL, NULL, "bench types.json"); /* members that are not known are those of later versions */
}

static int prepare(void **state)
{
    schema = realpath("docs/bench.schema.json", NULL);
    checks = realpath("tests/bench_outputs.py", NULL);
    results = realpath("docs/results", NULL);
    return schema != NULL && checks != NULL && results != NULL ? cli_prepare(state) : 1;
}

static int finish(void **state)
{
    free(schema);
    free(checks);
    free(results);
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "what the benchmark writes", .begin = prepare, .end = finish), test_schema,
                     test_clpeak, test_tables, test_page, test_screenshot, test_score, test_results, test_screen,
                     test_wrong_screen, test_usual_screen, test_compare, test_compare_others, test_compare_by_chance,
                     test_compare_cards, test_compare_screens, test_curve, test_gains, test_compare_measured,
                     test_refusals, test_types, test_no_nan, test_files, test_files_go);
}
