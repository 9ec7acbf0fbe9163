#include "cli_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORDS = 64, MAX_VARIABLES = 500, LONGEST_LINE = 4096, LONGEST_RUN_S = 400 };

extern char **environ;

static cli_result last;
static char *last_out, *last_err;
static char last_line[LONGEST_LINE];
static double started_s;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Files ----------------------------------------------------------------------------------- */

const char *cli_path(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", support_directory(), name);
    return path;
}

void cli_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(cli_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void cli_write_text(const char *name, const char *text)
{
    cli_write(name, text, strlen(text));
}

char *cli_read(const char *name, size_t *size)
{
    return support_read_file(cli_path(name), size);
}

void cli_assert_same_files(const char *a, const char *b)
{
    size_t size_a, size_b;
    char *bytes_a = cli_read(a, &size_a), *bytes_b = cli_read(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
}

bool cli_same_files(const char *a, const char *b)
{
    size_t size_a, size_b;
    char *bytes_a = cli_read(a, &size_a), *bytes_b = cli_read(b, &size_b);
    const bool same = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
    free(bytes_a);
    free(bytes_b);
    return same;
}

ley_map *cli_read_map(const char *name)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_map_read(cli_path(name), &map, &error));
    return map;
}

int cli_each_file(const char *name, void (*visit)(const char *path))
{
    int count = 0;
    DIR *directory = opendir(cli_path(name));
    if (directory == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", cli_path(name), entry->d_name);
        count++;
        if (visit != NULL)
            visit(path);
    }
    closedir(directory);
    return count;
}

void cli_write_molecule(const char *name, size_t n, double high_A, unsigned seed)
{
    ley_atoms *atoms = support_atoms(n, 0, high_A, seed);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    FILE *file = fopen(cli_path(name), "w");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "ATOM %6zu  C   MOL A %4zu    %8.3f %8.3f %8.3f %8.4f %7.4f\n", i + 1, i % 9999 + 1,
                position_A[3 * i], position_A[3 * i + 1], position_A[3 * i + 2], charge_e[i], 1.7);
    assert_int_equal(fclose(file), 0);
    ley_atoms_destroy(atoms);
}

/* ---- Processes ------------------------------------------------------------------------------- */

const char *cli_command;

/* The command of the same build: this program is BUILD/tests/test_x, the command BUILD/leyden. */
static const char *command_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(path, '/') = '\0';
    snprintf(path + strlen(path), 64, "/%s", cli_command != NULL ? cli_command : "leyden");
    return path;
}

/* Our environment without what would change the command's ways, and with the line's own settings.
 * Where llvmpipe is the tests' only driver, it is the command's. The build cache is ours, so that
 * what one program has built others have, or this program's. Kernels are named, the same that the
 * command has in it: so small jobs go to devices, too, unless the line has LEYDEN_KERNEL_DIR= */
static void make_environment(char **settings, int count, char **environment)
{
    static const char *const dropped[] = {"RUSTICL_ENABLE=", "LEYDEN_KERNEL_DIR="};
    static char cache[512], kernels[4200];
    const char *driver = getenv("TEST_DRIVER");
    const size_t first_dropped = driver != NULL && strcmp(driver, "llvmpipe") == 0;
    int used = 0;
    for (char **e = environ; *e != NULL && used < MAX_VARIABLES - 1; e++) {
        bool keep = true;
        for (size_t i = first_dropped; i < sizeof dropped / sizeof *dropped; i++)
            keep = keep && strncmp(*e, dropped[i], strlen(dropped[i])) != 0;
        for (int i = 0; i < count; i++)
            keep = keep && strncmp(*e, settings[i], strcspn(settings[i], "=") + 1) != 0;
        if (keep)
            environment[used++] = *e;
    }
    snprintf(cache, sizeof cache, "LEYDEN_CACHE_DIR=%s", cli_path("cache"));
    bool has_cache = getenv("LEYDEN_CACHE_DIR") != NULL, has_kernels = false;
    for (int i = 0; i < count; i++) {
        has_cache = has_cache || strncmp(settings[i], cache, strcspn(cache, "=") + 1) == 0;
        has_kernels = has_kernels || strncmp(settings[i], "LEYDEN_KERNEL_DIR=", strlen("LEYDEN_KERNEL_DIR=")) == 0;
        environment[used++] = settings[i];
    }
    if (!has_cache)
        environment[used++] = cache;
    char here[4096];
    if (!has_kernels && getcwd(here, sizeof here) != NULL) {
        snprintf(kernels, sizeof kernels, "LEYDEN_KERNEL_DIR=%s/cl", here);
        environment[used++] = kernels;
    }
    environment[used] = NULL;
}

static pid_t spawn(const char *program, char **arguments, char **environment, const char *in, const char *out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults, nothing;
    pid_t child = -1;
    sigemptyset(&nothing);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT); /* a test in the background would hand on that it is ignored */
    sigaddset(&defaults, SIGTERM);
    sigaddset(&defaults, SIGHUP);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &nothing);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, support_directory());
    posix_spawn_file_actions_addopen(&actions, 0, in, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, cli_path("stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cli_write_text("stdout", "");
    started_s = now_s();
    int failure = posix_spawn(&child, program, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failure != 0)
        print_error("%s: %s\n", program, strerror(failure));
    assert_int_equal(failure, 0);
    return child;
}

static pid_t start_line(const char *format, va_list values)
{
    char words[LONGEST_LINE], *environment[MAX_VARIABLES + MAX_WORDS], *settings[MAX_WORDS], *rest = NULL;
    char program[] = "leyden", *arguments[MAX_WORDS] = {program};
    int setting_count = 0, argument_count = 1;
    const char *in = "/dev/null", *out = cli_path("stdout");
    vsnprintf(last_line, sizeof last_line, format, values);
    memcpy(words, last_line, sizeof words);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(setting_count + argument_count < MAX_WORDS - 2);
        if (word[0] == '>')
            out = word + 1;
        else if (word[0] == '<')
            in = word + 1;
        else if (argument_count == 1 && word[0] != '-' && strchr(word, '=') != NULL)
            settings[setting_count++] = word;
        else
            arguments[argument_count++] = strcmp(word, "\"\"") == 0 ? word + 2 : word;
    }
    arguments[argument_count] = NULL;
    make_environment(settings, setting_count, environment);
    return spawn(command_path(), arguments, environment, in, out);
}

pid_t cli_start(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    pid_t child = start_line(format, values);
    va_end(values);
    return child;
}

/* The library NAME stands before the real functions; `variable` has its faults. */
static const char *faulty(const char *name, const char *variable, const char *faults)
{
    static char words[1600];
    char shim[512];
    const char *before = getenv("LD_PRELOAD");
    const ssize_t length = readlink("/proc/self/exe", shim, sizeof shim - 64);
    assert_true(length > 0);
    shim[length] = '\0';
    snprintf(strrchr(shim, '/'), 64, "/%s/%s.so", name, name);
    snprintf(words, sizeof words, "LD_PRELOAD=%s%s%s %s=%s %s_SAYS=%s ", before != NULL ? before : "",
             before != NULL ? ":" : "", shim, variable, faults, variable, cli_path("struck"));
    return words;
}

const char *cli_faulty(const char *faults)
{
    return faulty("faulty_opencl", "FAULTY_OPENCL", faults);
}

const char *cli_faulty_files(const char *faults)
{
    return faulty("faulty_files", "FAULTY_FILES", faults);
}

/* Processor time so far, and that of its children that have ended; negative when the process has
 * ended. */
static double used_s(pid_t child, double *by_children_s)
{
    char path[64], text[1024] = "", state = 'Z';
    unsigned long own[2] = {0}, children[2] = {0};
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)child);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fgets(text, sizeof text, file) != NULL && strrchr(text, ')') != NULL)
            sscanf(strrchr(text, ')'), ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &state, &own[0],
                   &own[1], &children[0], &children[1]);
        fclose(file);
    }
    const double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    *by_children_s = (double)(children[0] + children[1]) / ticks_per_s;
    return state == 'Z' ? -1 : (double)(own[0] + own[1]) / ticks_per_s;
}

double cli_wait_for_work(pid_t child, double cpu_s)
{
    double so_far_s, by_children_s;
    while ((so_far_s = used_s(child, &by_children_s)) >= 0 && so_far_s < cpu_s && now_s() - started_s < LONGEST_RUN_S)
        usleep(1000);
    if (so_far_s < cpu_s)
        fail_msg("'%s' %s before it had computed for %g s", last_line, so_far_s < 0 ? "ended" : "waited", cpu_s);
    return so_far_s + by_children_s;
}

const cli_result *cli_wait(pid_t child)
{
    int status = 0;
    bool late = false;
    struct rusage used;
    while (wait4(child, &status, WNOHANG, &used) == 0) {
        if (!late && now_s() - started_s > LONGEST_RUN_S) {
            late = true;
            kill(child, SIGKILL);
        }
        usleep(1000);
    }
    last.seconds = now_s() - started_s;
    last.cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    free(last_out);
    free(last_err);
    last.out = last_out = cli_read("stdout", NULL);
    last.err = last_err = cli_read("stderr", NULL);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (late)
        print_error("'%s' did not end within %d s\n", last_line, LONGEST_RUN_S);
    assert_false(late);
    return &last;
}

const cli_result *cli(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    pid_t child = start_line(format, values);
    va_end(values);
    return cli_wait(child);
}

const cli_result *cli_run(int code, const char *out, const char *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    pid_t child = start_line(format, values);
    va_end(values);
    cli_wait(child);
    cli_expect(code, out, err);
    return &last;
}

const cli_result *cli_python(const char *script)
{
    static char python[] = "/usr/bin/python3", name[] = "script.py";
    char *arguments[] = {python, name, NULL};
    if (access(python, X_OK) != 0) {
        print_message("there is no %s\n", python);
        skip();
    }
    cli_write_text(name, script);
    snprintf(last_line, sizeof last_line, "%s", script);
    cli_wait(spawn(python, arguments, environ, "/dev/null", cli_path("stdout")));
    cli_expect(0, NULL, NULL);
    return &last;
}

void cli_expect(int code, const char *out, const char *err)
{
    const bool right = last.code == code && (out == NULL || strstr(last.out, out) != NULL) &&
                       (err == NULL || strstr(last.err, err) != NULL) && strstr(last.err, "(null)") == NULL &&
                       strstr(last.out, "(null)") == NULL;
    if (right)
        return;
    fprintf(stderr, "leyden %s\nexit code %d, expected %d\n", last_line, last.code, code); /* all of it: cmocka cuts */
    fprintf(stderr, "expected on stdout: %s, on stderr: %s\n", out != NULL ? out : "-", err != NULL ? err : "-");
    fprintf(stderr, "---- stdout\n%s---- stderr\n%s----\n", last.out, last.err);
    fail();
}

void assert_has(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        fail_msg("no \'%s\' in: %.3000s", what, text);
}

void cli_expect_all(const char *const *said)
{
    for (size_t i = 0; said[i] != NULL; i++)
        if (strstr(last.out, said[i]) == NULL)
            fail_msg("no '%s' from '%s'", said[i], last_line);
}

/* ---- Runs that fail -------------------------------------------------------------------------- */

static void remove_file(const char *path)
{
    remove(path);
}

int cli_prepare(void **state)
{
    cli_write_molecule("ion.pqr", 40, 9, 1);
    return mkdir(cli_path(CLI_OUT), 0700) != 0 || mkdir(cli_path(CLI_TEMPORARY), 0700) != 0;
}

int cli_empty(void **state)
{
    cli_each_file(CLI_OUT "/kept", remove_file);
    cli_each_file(CLI_OUT, remove_file);
    cli_each_file(CLI_TEMPORARY, remove_file);
    return 0;
}

void cli_assert_nothing_left(void)
{
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 0);
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
}

/* The command's own words come first, but for what PoCL says of itself on processors that it knows
 * little of, and a sanitizer of a huge allocation. */
static bool begins_with_its_name(const char *err)
{
    while (strncmp(err, "pocl warning: ", 14) == 0 && strchr(err, '\n') != NULL)
        err = strchr(err, '\n') + 1;
#ifdef __SANITIZE_ADDRESS__
    if (strncmp(err, "==", 2) == 0 && strstr(err, "\nleyden: ") != NULL)
        return true;
#endif
    return strncmp(err, "leyden: ", 8) == 0;
}

void cli_check_failures(const cli_failing *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_run(cases[i].code, NULL, cases[i].says, "%s", cases[i].line);
        if (last.out[0] != '\0' || !begins_with_its_name(last.err))
            fail_msg("leyden %s: says '%s', and on standard error '%s'", cases[i].line, last.out, last.err);
        cli_assert_nothing_left();
    }
}
