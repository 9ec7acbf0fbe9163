/* The command's files under attack: two names for one file, signals at any moment, programs that do
 * not end. */
#include "cli_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define APBS "TMPDIR=" CLI_TEMPORARY " PATH=%s:/usr/bin:/bin apbs "
#define SOLVED "--dims 20,9,5 --spacing 0.75 --device 0"
#define FACES "--dims 9,8,7 --glen 30,28,33 --bcfl sdh"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { SIGNALS = sizeof signals / sizeof *signals, PATIENCE_MS = 300000 };

static void write_program(const char *name, const char *text)
{
    cli_write_text(name, text);
    assert_int_equal(chmod(cli_path(name), 0700), 0);
}

static int prepare(void **state)
{
    static const char *const folders[] = {"waits", "deaf", "parent", "noisy", "kept"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(cli_path(folders[i]), 0700);
    /* Stand-ins for apbs: one waits for a word and fails, one does not hear signals, one has a
     * child, one writes on and on. */
    write_program("waits/apbs", "#!/bin/sh\n: > started\nuntil [ -e go ]; do sleep 0.01; done\nexit 7\n");
    write_program("deaf/apbs", "#!/bin/sh\ntrap '' INT TERM HUP PIPE\necho $$ > started.new && mv started.new "
                               "started\nwhile :; do sleep 1; done\n");
    write_program("parent/apbs", "#!/bin/sh\nsleep 600 &\necho $! > started.new && mv started.new started\nwait\n");
    write_program("noisy/apbs", "#!/bin/sh\n: > started\nexec yes\n");
    cli_write_text(
        "run.in",
        "read\n    mol pqr ion.pqr\n    pot dx read.dx\nend\nelec\n    mg-manual\n    dime 33 33 33\n    nlev 4\n"
        "    glen 60 60 60\n    gcent mol 1\n    mol 1\n    lpbe\n    bcfl mdh\n    pdie 2\n    sdie 78.54\n"
        "    srfm smol\n    chgm spl2\n    sdens 10\n    srad 1.4\n    swin 0.3\n    temp 298.15\n"
        "    calcenergy total\n    calcforce no\n    write pot dx out/written\nend\nquit\n");
    return cli_prepare(state);
}

static int begin(void **state)
{
    static const char *const made[] = {"started", "go"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        remove(cli_path(made[i]));
    return cli_empty(state);
}

/* ---- Two names for one file ------------------------------------------------------------------ */

static void write_links(void)
{
    remove(cli_path("folder"));
    remove(cli_path("later.json"));
    assert_int_equal(symlink("out", cli_path("folder")), 0);
    assert_int_equal(symlink("out/a.dx", cli_path("later.json")), 0);
}

static void test_two_outputs_in_one_file(void **state)
{
    write_links();
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx " SOLVED);
    assert_int_equal(rename(cli_path("out/a.dx"), cli_path("map.dx")), 0);
    cli("convert ion.pqr -o out/ion.atoms");
    assert_int_equal(rename(cli_path("out/ion.atoms"), cli_path("ion.atoms")), 0);
    static const cli_failing cases[] = {
        {"map ion.pqr -o out/a.dx --json ./out/a.dx " SOLVED, 1, "--json: './out/a.dx' is the file of the map"},
        {"map ion.pqr -o out/a.dx --json folder/a.dx " SOLVED, 1, "--json: 'folder/a.dx' is the file of the map"},
        {"map ion.pqr -o out/a.dx --json later.json " SOLVED, 1, "--json: 'later.json' is the file of the map"},
        {"map ion.pqr -o out/a.dx --json folder/../ion.pqr " SOLVED, 1, "is the file of the atoms"},
        {"map ion.pqr -o out/a.dx --method cutoff --pair lennard-jones --well-depths out/../d --json d " SOLVED, 1,
         "of the well depths"},
        {"boundary ion.pqr -o out/a.dx --json out/../out/a.dx " FACES, 1,
         "--json: 'out/../out/a.dx' is the file of the boundary"},
        {"boundary ion.pqr -o folder/a.dx --json later.json " FACES, 1,
         "--json: 'later.json' is the file of the boundary"},
        {"boundary ion.pqr -o out/a.csv --points ./p.txt --json p.txt --bcfl sdh", 1, "is the file of the points"},
        {"slice map.dx -o out/a.png --json out/../out/a.png", 1,
         "--json: 'out/../out/a.png' is the file of the picture"},
        {"slice map.dx -o out/a.png --json out/../map.dx", 1, "--json: 'out/../map.dx' is the file of the map"},
        {"convert ion.atoms -o out/../ion.atoms", 1, "--output: 'out/../ion.atoms' is the file of the atoms"},
        {"TMPDIR=tmp PATH=waits:/usr/bin apbs run.in --json ./run.in", 1,
         "--json: './run.in' is the file of the input"},
        {"TMPDIR=tmp PATH=waits:/usr/bin apbs run.in --force --json out/../ion.pqr", 1,
         "is the file of the input of APBS"},
        {"TMPDIR=tmp PATH=waits:/usr/bin apbs run.in --force --json ./read.dx", 1, "is the file of the input of APBS"},
        {"TMPDIR=tmp PATH=waits:/usr/bin apbs run.in --force --json folder/written.dx", 1,
         "is the file of the output of APBS"},
        {"TMPDIR=tmp PATH=waits:/usr/bin apbs run.in --json out/x -- --output-file=out/../out/x", 1,
         "is the file of the output of APBS"},
        {"PATH=waits:/usr/bin apbs run.in --force --keep kept --json out/../kept/leyden.in", 1,
         "is the file of the rewritten input"},
        {"PATH=waits:/usr/bin apbs run.in --force --keep out/../kept --json kept/boundary-1.dx", 1,
         "is the file of the boundary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(cases[i].code, NULL, cases[i].says, "%s", cases[i].line);
        cli_assert_nothing_left();
    }
    cli("boundary ion.pqr -o out/a.csv --json - " FACES " >%s",
        cli_path("out/a.csv")); /* standard output is that file */
    cli_expect(1, NULL, "--json: '-' is the file of the boundary");
}

/* A link that leads nowhere yet: the file that it names appears, the link stays. */
static void test_a_link_to_a_new_file(void **state)
{
    struct stat known;
    write_links();
    cli_run(1, NULL, "must end in", "generate waterbox --atoms 30 -o later.json");
    assert_int_equal(symlink("../tmp/b.pqr", cli_path("out/link.pqr")), 0);
    cli_run(0, "written: out/link.pqr, 2.", NULL, "generate waterbox --atoms 30 -o out/link.pqr");
    assert_int_equal(lstat(cli_path("out/link.pqr"), &known), 0);
    assert_true(S_ISLNK(known.st_mode));
    assert_int_equal(lstat(cli_path("tmp/b.pqr"), &known), 0);
    assert_true(S_ISREG(known.st_mode));
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 1);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static void wait_for_file(const char *name)
{
    for (int ms = 0; ms < PATIENCE_MS && access(cli_path(name), F_OK) != 0; ms++)
        usleep(1000);
    assert_int_equal(access(cli_path(name), F_OK), 0);
}

static void wait_for_output(void)
{
    for (int ms = 0; ms < PATIENCE_MS && cli_each_file(CLI_OUT, NULL) == 0; ms++)
        usleep(1000);
    assert_true(cli_each_file(CLI_OUT, NULL) > 0);
}

/* While a file is under way, any signal, once or twice, leaves nothing. */
static void test_signals_while_writing(void **state)
{
    static const char *const names[] = {"a.pqr", "a.atoms", "a.pqr.gz"};
    for (size_t i = 0; i < SIGNALS; i++)
        for (int times = 1; times <= 2; times++) {
            pid_t child = cli_start("generate waterbox --atoms 100000000 -o out/%s", names[i % 3]);
            wait_for_output();
            for (int k = 0; k < times; k++)
                kill(child, signals[i]);
            cli_wait(child);
            cli_expect(128 + signals[i], NULL, NULL);
            cli_assert_nothing_left();
        }
}

/* The pictures' files are written as all others are. */
static void test_a_signal_while_drawing(void **state)
{
    cli("map ion.pqr -o out/a.dx --dims 90,90,1 --device 0");
    assert_int_equal(rename(cli_path("out/a.dx"), cli_path("plane.dx")), 0);
    for (size_t i = 0; i < (support_is_quick() ? 1 : SIGNALS); i++) {
        pid_t child = cli_start("slice plane.dx -o out/a.png --size 10000 --json out/a.json");
        wait_for_output();
        kill(child, signals[i]);
        cli_wait(child);
        cli_expect(128 + signals[i], NULL, "cancelled");
        cli_assert_nothing_left();
    }
}

/* What was killed goes with the next run that writes the same file. */
static void test_a_killed_run_is_cleared_up(void **state)
{
    pid_t child = cli_start("generate waterbox --atoms 100000000 -o out/a.pqr");
    wait_for_output();
    kill(child, SIGKILL);
    assert_int_equal(cli_wait(child)->code, -SIGKILL);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    cli_run(0, NULL, NULL, "generate waterbox --atoms 30 -o out/a.pqr");
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
    assert_int_equal(access(cli_path("out/a.pqr"), F_OK), 0);
}

static int incomplete;

/* Files that are there must be whole: maps and boundaries end in their footer, reports in a
 * brace. */
static void check_whole(const char *path)
{
    size_t size;
    char *text = support_read_file(path, &size);
    const char *name = strrchr(path, '/') + 1;
    bool whole = name[0] != '.' && size > 0;
    if (whole && strstr(name, ".dx") != NULL)
        whole = strstr(text, "component \"data\" value 3\n") != NULL;
    else if (whole && strstr(name, ".json") != NULL)
        whole = strcmp(text + size - 3, "\n}\n") == 0;
    else if (whole && strstr(name, ".png") != NULL)
        whole = size > 12 && memcmp(text + size - 8, "IEND\xae\x42\x60\x82", 8) == 0;
    if (!whole)
        print_error("left: %s, %zu bytes\n", path, size);
    incomplete += !whole;
    free(text);
}

static void write_points(const char *name)
{
    FILE *file = fopen(cli_path(name), "w");
    assert_non_null(file);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%g %g %g\n", 0.1 * (i % 97) - 5, 0.1 * (i % 89) - 4, 0.1 * (i % 83) - 4);
    assert_int_equal(fclose(file), 0);
}

/* Each command, ended at random moments by each signal, once or twice: nothing but whole files is
 * left, and no folder. */
static void test_signals_at_random_moments(void **state)
{
    static const char *const lines[] = {
        "map ion.pqr -o out/a.dx --dims 90,90,60 --device 0 --json out/a.json",
        "boundary ion.pqr -o out/a.dx --dims 129,129,65 --glen 60,60,60 --json out/a.json",
        "map ion.pqr -o out/a.dx --dims 60,50,40 --field --device 0 --json out/a.json",
        "map ion.pqr -o out/a.csv --points many.txt --field --method msm --device 0 --json out/a.json",
        "map ion.pqr -o out/a.raw --dims 60,50,40 --method msm --device 0 --json out/a.json",
        "slice map.dx -o out/a.png --size 1500 --json out/a.json",
        "TMPDIR=tmp PATH=waits:/usr/bin:/bin apbs run.in --force --json out/a.json",
    };
    const int rounds = support_is_quick() ? 1 : 5;
    unsigned random = 3;
    int interrupted = 0;
    cli("map ion.pqr -o out/a.dx --dims 60,60,3 --device 0");
    assert_int_equal(rename(cli_path("out/a.dx"), cli_path("map.dx")), 0);
    write_points("many.txt");
    cli_write_text("go", "");
    for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) {
        const cli_result *r = cli("%s", lines[line]);
        const double whole_s = r->seconds;
        const int code = r->code;
        for (int i = 0; i < rounds * SIGNALS; i++) {
            begin(NULL);
            cli_write_text("go", "");
            pid_t child = cli_start("%s", lines[line]);
            usleep((useconds_t)(1e6 * whole_s * (0.05 + rand_r(&random) / (double)RAND_MAX)));
            for (int k = 0; k <= i % 2; k++)
                kill(child, signals[i / 2 % SIGNALS]);
            r = cli_wait(child);
            if (r->code != code && r->code != 128 + signals[i / 2 % SIGNALS] && r->code != -signals[i / 2 % SIGNALS])
                cli_expect(128 + signals[i / 2 % SIGNALS], NULL, NULL);
            interrupted += r->code != code;
            incomplete = 0;
            cli_each_file(CLI_OUT, check_whole);
            assert_int_equal(incomplete, 0);
            assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
        }
    }
    print_message("%d runs ended by a signal\n", interrupted);
}

/* Drivers that take signals for themselves do not get them: two of them in a row leave nothing, and
 * one lets the command end as always. */
static void test_drivers_that_take_signals(void **state)
{
    for (int times = 1; times <= 2; times++) {
        unlink(cli_path("struck"));
        pid_t child = cli_start("%smap ion.pqr -o out/a.dx --dims 1000,1000,400 --device 0",
                                cli_faulty("call=clCreateBuffer,at=1,fault=signals"));
        wait_for_file("struck");
        for (int k = 0; k < times; k++)
            kill(child, SIGTERM);
        cli_wait(child);
        cli_expect(128 + SIGTERM, NULL, NULL);
        cli_assert_nothing_left();
    }
}

/* ---- leyden apbs as a parent ----------------------------------------------------------------- */

static void assert_gone(void)
{
    char *text = cli_read("started", NULL);
    const pid_t id = (pid_t)strtol(text, NULL, 10);
    free(text);
    assert_true(id > 0);
    int ms = 0;
    while (ms < PATIENCE_MS && kill(id, 0) == 0) { /* the system needs a moment to bury it */
        char path[64], stat_text[512] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)id);
        FILE *file = fopen(path, "r");
        if (file == NULL || fgets(stat_text, sizeof stat_text, file) == NULL || strstr(stat_text, ") Z ") != NULL)
            ms = PATIENCE_MS;
        if (file != NULL)
            fclose(file);
        usleep(1000);
        ms++;
    }
    assert_true(ms != PATIENCE_MS);
}

/* Whoever starts us may ignore the end of children: the exit code is that of APBS all the same. */
static void test_children_ignored(void **state)
{
    signal(SIGCHLD, SIG_IGN);
    pid_t child = cli_start(APBS "run.in --force --json out/a.json", "waits");
    signal(SIGCHLD, SIG_DFL);
    wait_for_file("started");
    cli_write_text("go", "");
    cli_wait(child);
    cli_expect(7, NULL, "apbs ran for");
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
}

/* Once or, as `timeout` does, twice; APBS ends, with all that it started, and the folder goes. */
static void test_signals_reach_apbs(void **state)
{
    for (size_t i = 0; i < SIGNALS; i++)
        for (int times = 1; times <= 2; times++) {
            begin(NULL);
            pid_t child = cli_start(APBS "run.in --force --json out/a.json", "parent");
            wait_for_file("started");
            assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 1);
            for (int k = 0; k < times; k++)
                kill(child, signals[i]);
            const cli_result *r = cli_wait(child);
            cli_expect(128 + signals[i], NULL, "cancelled");
            assert_true(r->cpu_s < 25);
            cli_assert_nothing_left();
            assert_gone();
        }
}

/* One that does not hear signals is killed. */
static void test_apbs_that_does_not_end(void **state)
{
    pid_t child = cli_start(APBS "run.in --force", "deaf");
    wait_for_file("started");
    kill(child, SIGTERM);
    cli_wait(child);
    cli_expect(128 + SIGTERM, NULL, "cancelled");
    cli_assert_nothing_left();
    assert_gone();
}

/* We are killed: APBS ends, too; our folder goes with the next run. */
static void test_killed_beside_apbs(void **state)
{
    pid_t child = cli_start(APBS "run.in --force", "deaf");
    wait_for_file("started");
    kill(child, SIGKILL);
    assert_int_equal(cli_wait(child)->code, -SIGKILL);
    assert_gone();
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 1);
    assert_int_equal(mkdir(cli_path("tmp/leyden-0123456789abcdef"), 0700),
                     0); /* of that name, with a file that is not ours */
    cli_write_text("tmp/leyden-0123456789abcdef/notes", "mine");
    cli_write_text("go", "");
    cli_run(7, NULL, NULL, APBS "run.in --force", "waits");
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 1);
    assert_int_equal(remove(cli_path("tmp/leyden-0123456789abcdef/notes")), 0);
}

/* While nobody has written a byte of the atoms yet. */
static void test_devices_open_beside_reading(void **state)
{
    static const char atoms[] = "ATOM 1 N LYS 1 3.287 10.092 10.329 1 1.5\n";
    assert_int_equal(mkfifo(cli_path("pipe.pqr"), 0600), 0);
    const pid_t child = cli_start("map pipe.pqr -o out/a.dx --dims 20,9,5 --device 0 -v");
    bool is_opened = false;
    for (int i = 0; i < 3000 && !is_opened; i++) {
        size_t size;
        char *said = cli_read("stderr", &size);
        is_opened = strstr(said, ": opened by ") != NULL;
        free(said);
        usleep(10000);
    }
    const int to = open(cli_path("pipe.pqr"), O_WRONLY);
    assert_int_equal(write(to, atoms, sizeof atoms - 1), sizeof atoms - 1);
    close(to);
    cli_wait(child);
    cli_expect(0, "B/s\n", ": opened by ");
    assert_true(is_opened);
    unlink(cli_path("pipe.pqr"));
    cli_empty(NULL);
}

/* Its reader goes away: APBS ends by SIGPIPE, and that is the exit code. */
static void test_nobody_reads_apbs(void **state)
{
    remove(cli_path("pipe"));
    assert_int_equal(mkfifo(cli_path("pipe"), 0600), 0);
    const int reader = open(cli_path("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    pid_t child = cli_start(APBS "run.in --force >%s", "noisy", cli_path("pipe"));
    wait_for_file("started");
    close(reader);
    cli_wait(child);
    cli_expect(128 + SIGPIPE, NULL, "ended by signal 13");
    cli_assert_nothing_left();
}

/* Where the folder cannot be made, this is said before anything is computed. */
static void test_the_folder_comes_first(void **state)
{
    cli("TMPDIR=/nonexistent PATH=waits:/usr/bin:/bin apbs run.in --force");
    cli_expect(2, NULL, "a temporary folder in /nonexistent (TMPDIR): No such file or directory");
    const cli_result *r = cli("LEYDEN_KERNEL_DIR=/nonexistent PATH=waits:/usr/bin:/bin apbs run.in --device 0 --force "
                              "--keep out/none/kept");
    cli_expect(2, NULL, "out/none/kept: No such file or directory");
    assert_null(strstr(r->err, "kernel"));
    cli("LEYDEN_KERNEL_DIR=/nonexistent PATH=waits:/usr/bin:/bin apbs run.in --device 0 --force --keep out/kept");
    cli_expect(4, NULL, "kernel source");
    cli_assert_nothing_left();
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = begin, .begin = prepare), test_two_outputs_in_one_file,
                     test_a_link_to_a_new_file, test_devices_open_beside_reading, test_signals_while_writing,
                     test_a_signal_while_drawing, test_a_killed_run_is_cleared_up, test_signals_at_random_moments,
                     test_drivers_that_take_signals, test_children_ignored, test_signals_reach_apbs,
                     test_apbs_that_does_not_end, test_killed_beside_apbs, test_nobody_reads_apbs,
                     test_the_folder_comes_first);
}
