/* The command's files where reading, writing, closing or locking fails at any one call: either all
 * files are whole and right, or the exit code is not 0, the message names the file, and nothing is
 * left. */
#include "cli_support.h"

#include <errno.h>
#include <jansson.h>
#include <sys/resource.h>
#include <unistd.h>

#define BOUNDARY "boundary ion.pqr -o out/a.dx --dims 9,8,7 --glen 30,28,33 --bcfl sdh"
#define MAP "map ion.pqr -o out/a.mrc --dims 20,9,5 --spacing 0.75 --device 0"
#define FEW(map) "map ion.pqr -o out/" map " --dims 4,2,2 --spacing 0.75 --device 0"

/* At times: where the first bytes tell one format from others, and where the last descriptor of a
 * file is closed that is whole by then. */
typedef enum harm { NEVER_HARMLESS, AT_TIMES_HARMLESS, HARMLESS } harm;

typedef struct fault {
    const char *call, *path;
    int reason;
    harm harm;
} fault;

typedef struct job {
    const char *line, *output, *report;
    const char *again; /* runs behind the first decide as that one did, whatever others have measured meanwhile */
} job;

#define AS_BEFORE " --plan plan.json"

static bool is_json(const char *name)
{
    size_t size;
    char *text = cli_read(name, &size);
    json_t *root = json_loads(text, 0, NULL);
    const bool is = root != NULL && text[size - 1] == '\n';
    json_decref(root);
    free(text);
    return is;
}

static bool is_there(const char *name)
{
    return access(cli_path(name), F_OK) == 0;
}

/* What stands under a file's name is whole, and no hidden file is left. */
static void assert_whole(const job *j, const char *faults)
{
    const int files = is_there(j->output) + is_there(j->report);
    if (is_there(j->output) && !cli_same_files(j->output, "right"))
        fail_msg("%s: the output is another one", faults);
    if (is_there(j->report) && !is_json(j->report))
        fail_msg("%s: the report is broken", faults);
    if (cli_each_file(CLI_OUT, NULL) != files)
        fail_msg("%s: a file is left", faults);
}

/* One run with a fault at the n-th call. Returns whether there was such a call. */
static bool try_at(const job *j, const fault *f, int at, int *refused)
{
    char faults[256];
    cli_empty(NULL);
    remove(cli_path("struck"));
    snprintf(faults, sizeof faults, "call=%s,path=%s,reason=%d,at=%d", f->call, f->path, f->reason, at);
    const cli_result *r = cli("%s%s%s --json %s", cli_faulty_files(faults), j->line, j->again, j->report);
    if (!is_there("struck")) {
        if (r->code != 0)
            fail_msg("%s: nothing failed, exit code %d: %s", faults, r->code, r->err);
        return false;
    }
    if (r->code == 0) {
        if ((f->reason != 0 && f->harm == NEVER_HARMLESS) || !is_there(j->output) || !is_there(j->report))
            fail_msg("%s: exit code 0", faults);
    } else if (r->code != 2 || strstr(r->err, f->path) == NULL || strstr(r->err, strerror(f->reason)) == NULL) {
        fail_msg("%s: exit code %d: %s", faults, r->code, r->err);
    }
    *refused += r->code != 0;
    assert_whole(j, faults);
    return true;
}

/* Every call in its turn, until there is none of that number. */
static void try_all(const job *j, const fault *faults, size_t n)
{
    cli_empty(NULL);
    cli_run(0, NULL, NULL, "%s --json %s", j->line, j->report);
    assert_int_equal(rename(cli_path(j->output), cli_path("right")), 0);
    assert_int_equal(rename(cli_path(j->report), cli_path("plan.json")), 0);
    for (size_t i = 0; i < n; i++) {
        int at = 1, refused = 0;
        while (at < 100 && try_at(j, &faults[i], at, &refused))
            at++;
        if (at == 1 || at == 100 || (refused == 0 && faults[i].reason != 0 && faults[i].harm != HARMLESS))
            fail_msg("%s of %s: %d calls, %d runs refused", faults[i].call, faults[i].path, at - 1, refused);
    }
    cli_empty(NULL);
}
#define TRY_ALL(job, faults) try_all(job, faults, sizeof(faults) / sizeof(faults)[0])

/* A report of many small parts, of which any write may fail, once. */
static void test_reports(void **state)
{
    static const job boundary = {BOUNDARY, "out/a.dx", "out/a.json", ""};
    static const fault faults[] = {
        {"write", "out/", ENOSPC, NEVER_HARMLESS},
        {"write", "out/", 0, NEVER_HARMLESS},
        {"close", "out/", EIO, AT_TIMES_HARMLESS},
        {"rename", "out/", EACCES, NEVER_HARMLESS},
        {"flock", "out/", ENOLCK, HARMLESS},
        {"fcntl", "out/", EMFILE, NEVER_HARMLESS},
        {"read", "ion.pqr", EIO, AT_TIMES_HARMLESS},
        {"read", "ion.pqr", 0, NEVER_HARMLESS},
        {"open", "ion.pqr", EACCES, AT_TIMES_HARMLESS},
    };
    TRY_ALL(&boundary, faults);
}

static void test_maps(void **state)
{
    static const job map = {MAP, "out/a.mrc", "out/a.json", AS_BEFORE};
    static const fault faults[] = {
        {"write", "out/", EIO, NEVER_HARMLESS}, {"close", "out/", ENOSPC, AT_TIMES_HARMLESS},
        {"flock", "out/", ENOLCK, HARMLESS},    {"read", "ion.pqr", EIO, AT_TIMES_HARMLESS},
        {"close", "ion.pqr", EIO, HARMLESS},
    };
    TRY_ALL(&map, faults);
}

/* A map that is a file from the beginning is read from there when it is judged: what the file has
 * lost is said to be lost, and no device is blamed for it. */
static void test_reading_back(void **state)
{
    static const job map = {FEW("a.mrc"), "out/a.mrc", "out/a.json", AS_BEFORE},
                     packed = {FEW("a.mrc.gz"), "out/a.mrc.gz", "out/a.json", AS_BEFORE};
    static const fault faults[] = {{"read", "out/", EIO, NEVER_HARMLESS}};
    TRY_ALL(&map, faults);
    TRY_ALL(&packed, faults);
    for (int at = 1; at <= 4; at++) { /* points are chosen by values that cannot be read a second time */
        char lost[64];
        snprintf(lost, sizeof lost, "call=read,path=out/,reason=%d,at=%d,ever=1", EIO, at);
        cli("%smap ion.pqr -o out/a.mrc --dims 9,9,9 --spacing 0.75 --device 0", cli_faulty_files(lost));
        cli_expect(2, NULL, "out/a.mrc: Input/output error");
    }
}

/* Drivers and their compilers get the stack that they need, however little the command has. */
static void test_small_stack(void **state)
{
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    const struct rlimit little = {64 << 10, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_STACK, &little), 0); /* the command inherits it */
    cli("LEYDEN_CACHE_DIR=cache-stack " MAP);
    setrlimit(RLIMIT_STACK, &before);
    cli_expect(0, "written: ", NULL);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = cli_prepare), test_reports, test_maps, test_reading_back, test_small_stack);
}
