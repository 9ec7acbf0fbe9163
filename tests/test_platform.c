/* The platform: errors, the build cache, kernel sources, quirks, tuning, calibration, parallel
 * loops, OpenCL's own errors. */
#include "support.h"

#include "buffer_pool.h"
#include "build_cache.h"
#include "dev_kernel.h"
#include "device_list.h"
#include "error.h"
#include "fake_device.h"
#include "flatten.h"
#include "law/accuracy.h"
#include "methods/cutoff/tuning.h"
#include "methods/dcs/kernel.h"
#include "opencl/cl_check.h"
#include "parallel.h"
#include "quirks.h"
#include "source.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void use_cache(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", support_directory(), name);
    setenv("LEYDEN_CACHE_DIR", path, 1);
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void entry_file(const cache_key *key, char path[512])
{
    snprintf(path, 512, "%s/leyden/%s", getenv("LEYDEN_CACHE_DIR"), key->hex);
}

static const dev_info *any_device(dev_list *list)
{
    static fake_plan plan = {.name = "Any"};
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(list, NULL), LEY_OK);
    return &list->infos[0];
}

static void test_errors(void **state)
{
    ley_error error = {0}, copy = {0};
    char longest[3000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(ley_fail(&error, LEY_ERROR_INPUT, "%s:%d: bad\nthing", "file", 7), LEY_ERROR_INPUT);
    assert_string_equal(error.message, "file:7: bad thing");      /* one line */
    ley_fail(&error, LEY_ERROR_INPUT, "%s; more", error.message); /* its own message as an argument */
    assert_string_equal(error.message, "file:7: bad thing; more");
    ley_error_prefix(&error, "in %s", "x");
    assert_string_equal(error.message, "in x: file:7: bad thing; more");
    ley_error_take_log(&error, strdup("log"));
    ley_error_copy(&copy, &error);
    assert_string_equal(copy.log, "log");
    assert_ptr_not_equal(copy.log, error.log);
    ley_fail(&error, LEY_ERROR_FILE, "%s", longest);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    ley_error_prefix(&error, "%s", longest);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_null(error.log);
    assert_int_equal(ley_fail(NULL, LEY_ERROR_DEVICE, "nobody listens"), LEY_ERROR_DEVICE);
    ley_error_clear(&error);
    ley_error_clear(&copy);
    ley_error_clear(NULL);
    assert_string_equal(ley_status_name(LEY_ERROR_NO_DEVICE), "LEY_ERROR_NO_DEVICE");
    assert_string_equal(ley_status_text((ley_status)99), "unknown status");
    const int codes[] = {0, 1, 2, 2, 3, 4, 4, 5, 130};
    for (int i = 0; i < LEY_STATUS_COUNT; i++)
        assert_int_equal(ley_status_exit_code((ley_status)i), codes[i]);
}

/* The line of a compiler's log that says what is wrong stands in the message, too. */
static void test_compiler_logs(void **state)
{
    static const struct {
        const char *log, *message;
    } cases[] = {
        {"a.cl:3:1: warning: unused\n1 error generated.\nerror: a.cl:7:3: unknown type name 'x'\n    x y;\n",
         "build: error: a.cl:7:3: unknown type name 'x'"},
        {"ptxas fatal   : Value 'sm_99' is not defined\r\nerror: later",
         "build: ptxas fatal   : Value 'sm_99' is not defined"},
        {"a.cu(5): ERROR: y\nerror: later", "build: a.cu(5): ERROR: y"},
        {"\n  \nno word of errors\nmore", "build: no word of errors"}, /* the first one that is not blank */
        {"only an error", "build: only an error"},
        {"", "build"},
        {" \n", "build"},
        {NULL, "build"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_error error = {0};
        ley_fail(&error, LEY_ERROR_DEVICE, "build");
        ley_error_take_compiler_log(&error, cases[i].log != NULL ? strdup(cases[i].log) : NULL);
        assert_int_equal(error.status, LEY_ERROR_DEVICE);
        assert_string_equal(error.message, cases[i].message);
        if (cases[i].log != NULL)
            assert_string_equal(error.log, cases[i].log);
        else
            assert_null(error.log);
        ley_error_clear(&error);
    }
    char longest[3000];
    ley_error error = {0};
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ley_fail(&error, LEY_ERROR_DEVICE, "build");
    ley_error_take_compiler_log(&error, strdup(longest));
    assert_true(strlen(error.message) < 400);
    assert_int_equal(strlen(error.log), sizeof longest - 1);
    ley_error_clear(&error);
    ley_error_take_compiler_log(NULL, strdup("nobody listens"));
}

static ley_status failing_call(ley_error *error)
{
    CL_TRY(error, clGetDeviceInfo(NULL, 0, 0, NULL, NULL));
    return LEY_OK;
}

static void test_driver_errors_tell_all(void **state)
{
    ley_error error = {0};
    assert_string_equal(cl_error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
    assert_string_equal(cl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_string_equal(cl_error_name(-12345), "unknown OpenCL error");
    assert_error(failing_call(&error), LEY_ERROR_DEVICE, "clGetDeviceInfo(NULL, 0, 0, NULL, NULL)");
    assert_non_null(strstr(error.message, "CL_INVALID_DEVICE (-33)"));
    assert_non_null(strstr(error.message, "test_platform.c:"));
    ley_error_clear(&error);
}

static void test_cache_keeps_and_tells_apart(void **state)
{
    use_cache("deep/below/cache");
    dev_list list;
    dev_info info = *any_device(&list), other = info;
    size_t size = 0;
    const cache_key key = cache_key_make(&info, "kernel", "text", "-DA");
    assert_null(cache_get(&key, &size));
    cache_put(&key, "seven\0b", 7);
    char *bytes = cache_get(&key, &size);
    assert_non_null(bytes);
    assert_int_equal(size, 7);
    assert_memory_equal(bytes, "seven\0b", 7);
    free(bytes);
    struct stat status;
    char directory[512];
    snprintf(directory, sizeof directory, "%s/leyden", getenv("LEYDEN_CACHE_DIR"));
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);

    cache_key keys[8] = {
        key, cache_key_make(&info, "calibration", "text", "-DA"), cache_key_make(&info, "kernel", "texts", "-DA"),
        cache_key_make(&info, "kernel", "text", "-DB"), cache_key_make(&info, "kernel", "", "-DAtext")};
    snprintf(other.driver, DEV_TEXT, "2.0");
    keys[5] = cache_key_make(&other, "kernel", "text", "-DA");
    other = info;
    snprintf(other.version, DEV_TEXT, "2.0");
    keys[6] = cache_key_make(&other, "kernel", "text", "-DA");
    other = info;
    snprintf(other.name, DEV_TEXT, "Other");
    keys[7] = cache_key_make(&other, "kernel", "text", "-DA");
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(keys[i].hex, keys[k].hex);
    cache_remove(&key);
    assert_null(cache_get(&key, &size));

    /* Open to others: not used, and not changed. */
    cache_put(&key, "seven\0b", 7);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_null(cache_get(&key, &size));
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755);
    dev_list_clear(&list);
    fake_devices_end();
}

/* Whatever is wrong with an entry, it is a miss, and gone. */
static void test_a_damaged_entry_is_a_miss(void **state)
{
    use_cache("damaged");
    dev_list list;
    const dev_info *info = any_device(&list);
    const cache_key key = cache_key_make(info, "kernel", "text", "");
    char path[512], whole[128 + 100];
    unsigned char payload[100] = {1, 2, 3};
    entry_file(&key, path);
    for (int fault = 0; fault < 7; fault++) {
        size_t size = 0;
        cache_put(&key, payload, sizeof payload);
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        const size_t length = fread(whole, 1, sizeof whole, file);
        rewind(file);
        switch (fault) {
        case 0: /* a flipped bit in the bytes, in the size, in the magic */
            whole[length - 5] ^= 4;
            break;
        case 1:
            whole[16] ^= 1;
            break;
        case 2:
            whole[0] ^= 1;
            break;
        case 3: /* cut short, everywhere */
            assert_int_equal(ftruncate(fileno(file), (off_t)length - 1), 0);
            break;
        case 4:
            assert_int_equal(ftruncate(fileno(file), 10), 0);
            break;
        case 5:
            assert_int_equal(ftruncate(fileno(file), 0), 0);
            break;
        case 6: /* an absurd size */
            memset(whole + 16, 0xff, 8);
            break;
        }
        if (fault < 3 || fault == 6)
            assert_int_equal(fwrite(whole, 1, length, file), length);
        fclose(file);
        assert_null(cache_get(&key, &size));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(symlink("/etc/hostname", path), 0); /* no following of links out of the directory */
    size_t size;
    assert_null(cache_get(&key, &size));
    dev_list_clear(&list);
    fake_devices_end();
}

/* An entry under another one's name, whatever it is of, is a miss, and gone; so is one whose own
 * key was written over. */
static void test_another_entry_is_a_miss(void **state)
{
    use_cache("swapped");
    dev_list list;
    const dev_info *info = any_device(&list);
    const cache_key keys[] = {
        cache_key_make(info, "kernel", "text", "-DA"), cache_key_make(info, "kernel", "text", "-DB"),
        cache_key_make(info, "calibration", "text", ""), cache_key_of_host("some processor", "costs", "text", "")};
    enum { COUNT = sizeof keys / sizeof keys[0] };
    for (int from = 0; from < COUNT; from++)
        for (int to = 0; to < COUNT; to++)
            for (int forge = 0; forge < 2; forge++) {
                char own[512], other[512], whole[256];
                size_t size = 0;
                entry_file(&keys[from], own);
                entry_file(&keys[to], other);
                cache_put(&keys[from], "seven\0b", 7);
                FILE *file = fopen(own, "r");
                assert_non_null(file);
                const size_t length = fread(whole, 1, sizeof whole, file);
                fclose(file);
                if (forge == 1)
                    memcpy(whole + 24, keys[to].hex, 64);
                file = fopen(other, "w");
                assert_non_null(file);
                assert_int_equal(fwrite(whole, 1, length, file), length);
                fclose(file);
                assert_int_equal(chmod(other, 0600), 0);
                void *bytes = cache_get(&keys[to], &size);
                assert_true((bytes != NULL) == (from == to));
                assert_true((access(other, F_OK) == 0) == (from == to));
                free(bytes);
            }
    dev_list_clear(&list);
    fake_devices_end();
}

static void test_a_cache_that_cannot_be_is_no_error(void **state)
{
    dev_list list;
    const dev_info *info = any_device(&list);
    const cache_key key = cache_key_make(info, "kernel", "text", "");
    size_t size;
    static const char *const places[] = {"/proc/none/such", "/dev/null/x"};
    for (size_t i = 0; i < 2; i++) {
        setenv("LEYDEN_CACHE_DIR", places[i], 1);
        cache_put(&key, "x", 1);
        assert_null(cache_get(&key, &size));
    }
    dev_list_clear(&list);
    fake_devices_end();
}

/* ---- The cache's limit ----------------------------------------------------------------------- */

enum { MIB = 1 << 20 };

static cache_key numbered(const dev_info *info, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return cache_key_make(info, "kernel", text, "");
}

/* An entry of a little less than a MiB. */
static void put_numbered(const dev_info *info, int number)
{
    const cache_key key = numbered(info, number);
    char *bytes = calloc(1, MIB - 200);
    assert_non_null(bytes);
    cache_put(&key, bytes, MIB - 200);
    free(bytes);
}

static bool has_numbered(const dev_info *info, int number)
{
    char path[512];
    const cache_key key = numbered(info, number);
    entry_file(&key, path);
    return access(path, F_OK) == 0;
}

/* As if it had been used so many seconds ago. */
static void age_numbered(const dev_info *info, int number, int seconds)
{
    char path[512];
    const cache_key key = numbered(info, number);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    entry_file(&key, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_the_cache_has_a_limit(void **state)
{
    use_cache("limited");
    dev_list list;
    const dev_info *info = any_device(&list);
    size_t size;
    setenv("LEYDEN_CACHE_MB", "4", 1);
    for (int i = 0; i < 4; i++) {
        put_numbered(info, i);
        age_numbered(info, i, 1000 - i);
    }
    age_numbered(info, 3, -1000000); /* a clock that was wrong */
    const cache_key first = numbered(info, 0);
    free(cache_get(&first, &size)); /* used: the last to go */
    put_numbered(info, 4);
    assert_true(has_numbered(info, 0) && has_numbered(info, 1) && has_numbered(info, 2) && !has_numbered(info, 3));
    put_numbered(info, 5);
    assert_true(has_numbered(info, 0) && !has_numbered(info, 1) && has_numbered(info, 4) && has_numbered(info, 5));
    setenv("LEYDEN_CACHE_MB", "1", 1);
    put_numbered(info, 6);
    for (int i = 0; i < 6; i++)
        assert_false(has_numbered(info, i));
    assert_true(has_numbered(info, 6));
    char *large = calloc(1, MIB); /* with its header more than all there may be */
    const cache_key key = numbered(info, 7);
    cache_put(&key, large, MIB);
    free(large);
    assert_true(has_numbered(info, 6) && !has_numbered(info, 7));
    setenv("LEYDEN_CACHE_MB", "0", 1); /* not used at all */
    const cache_key last = numbered(info, 6);
    assert_null(cache_get(&last, &size));
    assert_true(has_numbered(info, 6));
    setenv("LEYDEN_CACHE_MB", "many", 1);
    void *bytes = cache_get(&last, &size);
    assert_non_null(bytes);
    free(bytes);
    unsetenv("LEYDEN_CACHE_MB");
    dev_list_clear(&list);
    fake_devices_end();
}

/* What is not ours stays, whatever its name and kind, and does not count. */
static void test_the_cache_leaves_others_alone(void **state)
{
    use_cache("shared");
    dev_list list;
    const dev_info *info = any_device(&list);
    char directory[300], path[512], foreign[5][512];
    setenv("LEYDEN_CACHE_MB", "2", 1);
    put_numbered(info, 0);
    age_numbered(info, 0, 100);
    snprintf(directory, sizeof directory, "%s/leyden", getenv("LEYDEN_CACHE_DIR"));
    snprintf(foreign[0], 512, "%s/notes", directory);
    for (int i = 1; i < 5; i++)
        snprintf(foreign[i], 512, "%s/%064d", directory, i);
    for (int i = 0; i < 2; i++) {
        const int file = open(foreign[i], O_WRONLY | O_CREAT, 0600);
        assert_true(file >= 0 && ftruncate(file, 10 * MIB) == 0 && close(file) == 0);
    }
    assert_int_equal(mkdir(foreign[2], 0700), 0);
    assert_int_equal(mkfifo(foreign[3], 0600), 0);
    assert_int_equal(symlink(foreign[0], foreign[4]), 0);
    snprintf(path, sizeof path, "%s/%064d.abcdef", directory,
             9); /* what a killed writer left, and what a living one writes */
    write_file(directory, path + strlen(directory) + 1, "half");
    char living[512];
    snprintf(living, sizeof living, "%s/%064d.ghijkl", directory, 9);
    const int held = open(living, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(held, LOCK_EX), 0);
    put_numbered(info, 1);
    put_numbered(info, 2);
    assert_true(has_numbered(info, 2));
    assert_false(has_numbered(info, 0));
    for (int i = 0; i < 5; i++)
        assert_int_equal(faccessat(AT_FDCWD, foreign[i], F_OK, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(access(living, F_OK), 0);
    close(held);
    unsetenv("LEYDEN_CACHE_MB");
    dev_list_clear(&list);
    fake_devices_end();
}

/* Where an entry should be there is a pipe, a folder, a socket of somebody: a miss, at once. */
static void test_a_strange_entry_is_a_miss(void **state)
{
    use_cache("strange");
    dev_list list;
    const dev_info *info = any_device(&list);
    const cache_key key = cache_key_make(info, "kernel", "text", "");
    char path[512];
    size_t size;
    cache_put(&key, "x", 1);
    cache_remove(&key);
    entry_file(&key, path);
    alarm(30);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(cache_get(&key, &size));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    cache_put(&key, "x", 1); /* takes its place */
    void *bytes = cache_get(&key, &size);
    assert_non_null(bytes);
    free(bytes);
    cache_remove(&key);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_null(cache_get(&key, &size));
    cache_put(&key, "x", 1);
    assert_null(cache_get(&key, &size));
    alarm(0);
    dev_list_clear(&list);
    fake_devices_end();
}

/* Processes that fill a small cache at once: what they find is whole, and the limit holds. */
static void test_processes_share_a_small_cache(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 200, KEYS = 12 };
    use_cache("crowded");
    dev_list list;
    const dev_info *info = any_device(&list);
    pid_t child[PROCESSES];
    setenv("LEYDEN_CACHE_MB", "4", 1);
    for (int p = 0; p < PROCESSES; p++)
        if ((child[p] = fork()) == 0) {
            unsigned random = (unsigned)p + 1;
            for (int i = 0; i < ROUNDS; i++) {
                size_t size = 0;
                const cache_key key = numbered(info, rand_r(&random) % KEYS);
                char *bytes = cache_get(&key, &size);
                if (bytes != NULL && size != MIB - 200)
                    _exit(1);
                free(bytes);
                if (bytes == NULL)
                    put_numbered(info, rand_r(&random) % KEYS);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        assert_int_equal(waitpid(child[p], &status, 0), child[p]);
        assert_int_equal(status, 0);
    }
    put_numbered(info, KEYS);
    int left = 0;
    for (int i = 0; i <= KEYS; i++)
        left += has_numbered(info, i);
    assert_in_range(left, 1, 4);
    unsetenv("LEYDEN_CACHE_MB");
    dev_list_clear(&list);
    fake_devices_end();
}

static void test_flattening(void **state)
{
    const char *directory = support_directory();
    char missing[256] = "";
    write_file(directory, "a.cl", "first\n#include \"b.h\"\n#include <c.h>\nlast\n");
    write_file(directory, "b.h", "#include \"a.cl\"\nmiddle\n#  include \"b.h\"\n"); /* round in a circle: each once */
    const char *const directories[] = {"/nowhere", directory, NULL};
    char *text = flatten_file(directories, "a.cl", missing, sizeof missing);
    assert_non_null(text);
    assert_non_null(strstr(text, "first\n"));
    assert_non_null(strstr(text, "middle\n"));
    assert_non_null(strstr(text, "#include <c.h>\nlast\n"));
    assert_null(strstr(text, "include \""));
    free(text);
    /* All that match, in the order of their names, but for what is there already. */
    char folder[300];
    snprintf(folder, sizeof folder, "%s/some", directory);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file(folder, "z.h", "zeroth\n");
    write_file(folder, "a.h", "#include \"some/m.h\"\nsecond\n");
    write_file(folder, "m.h", "first\n");
    write_file(folder, "m.c", "none\n");
    write_file(directory, "a.cl", "#include \"some/*.h\"\nlast\n");
    text = flatten_file(directories, "a.cl", missing, sizeof missing);
    assert_non_null(text);
    assert_true(strncmp(text, "first\n", 6) == 0 && strstr(text, "none") == NULL);
    assert_true(strstr(text, "first") < strstr(text, "second") && strstr(text, "second") < strstr(text, "zeroth") &&
                strstr(text, "zeroth") < strstr(text, "last"));
    free(text);
    write_file(directory, "a.cl", "#include \"none/*.h\"\n");
    assert_null(flatten_file(directories, "a.cl", missing, sizeof missing));
    assert_string_equal(missing, "none/*.h: No such file or directory");
    write_file(directory, "a.cl", "#include \"nowhere.h\"\n");
    assert_null(flatten_file(directories, "a.cl", missing, sizeof missing));
    assert_string_equal(missing, "nowhere.h: No such file or directory");

    /* A kernel of both languages is one file. */
    write_file(directory, "dialect.cuh", "words\n");
    write_file(directory, "own.cl", "sum\n");
    text = flatten_file(directories, "own.cu", missing, sizeof missing);
    assert_non_null(text);
    assert_string_equal(text, "words\nsum\n");
    free(text);
    assert_null(flatten_file(directories, "none.cu", missing, sizeof missing));
    assert_string_equal(missing, "none.cl: No such file or directory");

    ley_error error = {0};
    char *embedded = NULL;
    assert_ok(source_load("dcs", "cl", &embedded, &error));
    assert_non_null(strstr(embedded, "__kernel"));
    free(embedded);
    assert_int_equal(source_load("nix", "cl", &embedded, &error), LEY_ERROR_DEVICE);
    setenv("LEYDEN_KERNEL_DIR", "/nowhere", 1);
    assert_error(source_load("dcs", "cl", &embedded, &error), LEY_ERROR_DEVICE, "dcs.cl");
    unsetenv("LEYDEN_KERNEL_DIR");
    ley_error_clear(&error);
}

/* Circles of more files than one would remember by name, by names that grow, through links; and
 * what is no file. */
static void test_includes_that_loop(void **state)
{
    enum { CIRCLE = 60, CHAIN = 400 };
    char directory[300], name[400], text[800], fault[1024] = "", *flat;
    snprintf(directory, sizeof directory, "%s/loops", support_directory());
    assert_int_equal(mkdir(directory, 0700), 0);
    const char *const directories[] = {directory, NULL};
    for (int i = 0; i < CIRCLE; i++) {
        snprintf(name, sizeof name, "circle%d.h", i);
        snprintf(text, sizeof text, "line%d;\n#include \"circle%d.h\"\n#include \"./circle0.h\"\n", i,
                 (i + 1) % CIRCLE);
        write_file(directory, name, text);
    }
    flat = flatten_file(directories, "circle0.h", fault, sizeof fault);
    assert_non_null(flat);
    for (int i = 0; i < CIRCLE; i++) {
        snprintf(text, sizeof text, "line%d;\n", i);
        char *at = strstr(flat, text);
        assert_non_null(at);
        assert_null(strstr(at + 1, text));
    }
    free(flat);

    memset(name, 'n', 200); /* a long name that includes itself */
    strcpy(name + 200, ".h");
    snprintf(text, sizeof text, "once;\n#include \"%s\"\n", name);
    write_file(directory, name, text);
    flat = flatten_file(directories, name, fault, sizeof fault);
    assert_non_null(flat);
    assert_string_equal(flat, "once;\n#line 3\n");
    free(flat);

    for (int i = 0; i < CHAIN; i++) { /* no circle, but no end */
        snprintf(name, sizeof name, "chain%d.h", i);
        snprintf(text, sizeof text, "#include \"chain%d.h\"\n", i + 1);
        write_file(directory, name, text);
    }
    assert_null(flatten_file(directories, "chain0.h", fault, sizeof fault));
    assert_string_equal(fault, "chain64.h: more than 256 files included, or 64 one in the other");

    snprintf(name, sizeof name, "%s/pipe.h", directory);
    assert_int_equal(mkfifo(name, 0600), 0);
    alarm(30);
    assert_null(flatten_file(directories, "pipe.h", fault, sizeof fault));
    assert_string_equal(fault, "pipe.h: no regular file");
    assert_null(flatten_file(directories, ".", fault, sizeof fault));
    assert_string_equal(fault, ".: Is a directory");
    assert_null(flatten_file(directories, "../../../../../../../../dev/zero", fault, sizeof fault));
    assert_non_null(strstr(fault, "dev/zero: no regular file"));
    alarm(0);
}

static void test_quirks(void **state)
{
    dev_info info = {.platform = "NVIDIA CUDA"};
    quirks_apply(&info);
    assert_int_equal(info.quirks, DEV_QUIRK_PTX);
    assert_true(info.quirks_text[0] != '\0' && info.unusable[0] == '\0');
    dev_info plain = {.platform = "Something else"};
    quirks_apply(&plain);
    assert_int_equal(plain.quirks, 0);
    dev_info rough = {.platform = "Intel(R) OpenCL", .device_class = DEV_CPU, .vector_width = 16};
    quirks_apply(&rough);
    assert_int_equal(rough.quirks, DEV_QUIRK_ROUGH_ROOT);
    assert_non_null(strstr(quirks_of_empty("rusticl"), "RUSTICL_ENABLE"));
    assert_null(quirks_of_empty("Clover"));
    dev_info card = {.platform = "Intel(R) OpenCL Graphics", .device_class = DEV_GPU, .vector_width = 1};
    quirks_apply(&card);
    assert_int_equal(card.quirks, 0);
    dev_info host = {.platform = "Portable Computing Language", .name = "cpu-sapphirerapids-Xeon", .vector_width = 16};
    quirks_apply(&host);
    assert_int_equal(host.quirks, DEV_QUIRK_AVX512 | DEV_QUIRK_ONE_COMPILER);
    dev_info narrow = {.platform = "Portable Computing Language", .name = "cpu-haswell", .vector_width = 8};
    quirks_apply(&narrow);
    assert_int_equal(narrow.quirks, DEV_QUIRK_ONE_COMPILER);
}

static void test_sub_groups(void **state)
{
    (void)state;
    static const char size[] = "cl_khr_icd cl_intel_required_subgroup_size", both[] = "cl_intel_required_subgroup_size "
                                                                                      "cl_khr_subgroup_shuffle";
    assert_int_equal(quirks_sub_groups("cl_khr_subgroup_shuffle cl_intel_subgroups", "OpenCL 3.0"),
                     LEY_SUB_GROUPS_NONE);
    assert_int_equal(quirks_sub_groups(size, "OpenCL 3.0"), LEY_SUB_GROUPS_NONE);
    assert_int_equal(quirks_sub_groups(both, "OpenCL 3.0"), LEY_SUB_GROUPS_KHR);
    assert_int_equal(quirks_sub_groups(both, "OpenCL 2.1"), LEY_SUB_GROUPS_NONE);
    assert_int_equal(quirks_sub_groups("cl_intel_subgroups_short cl_intel_required_subgroup_size", "OpenCL 3.0"),
                     LEY_SUB_GROUPS_NONE);
    assert_int_equal(quirks_sub_groups("cl_intel_required_subgroup_size cl_intel_subgroups", "OpenCL 1.2"),
                     LEY_SUB_GROUPS_CL12);
}

static dev_info gpu_info(void)
{
    dev_info info = {.device_class = DEV_GPU,
                     .max_work_group = 1024,
                     .max_work_items = {1024, 1024, 64},
                     .local_bytes = 48 << 10,
                     .constant_bytes = 64 << 10,
                     .vector_width = 1,
                     .has_double = true};
    snprintf(info.name, DEV_TEXT, "G");
    return info;
}

static calibration slow_roots(void)
{
    calibration c = {.fma_per_s = 32e12};
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        c.root_error[root] = INFINITY;
    c.root_error[LEY_ROOT_STANDARD] = 1e-7;
    c.roots_per_s[LEY_ROOT_STANDARD] = 3e12;
    c.root_error[LEY_ROOT_NATIVE] = 1e-4;
    c.roots_per_s[LEY_ROOT_NATIVE] = 4e12;
    c.root_error[LEY_ROOT_NEWTON] = 4e-7;
    c.roots_per_s[LEY_ROOT_NEWTON] = 2e12;
    return c;
}

/* Maths: measured errors decide. Roots that are slow beside the multipliers are shared with
 * them. */
static void test_tuning_by_measurement(void **state)
{
    const dev_info info = gpu_info();
    calibration c = slow_roots();
    dcs_wish wish = {.math = TUNING_AUTO, .sum = LEY_SPEC_SUM_FLOAT, .n_x = 100, .n_y = 100};
    dcs_choice choice;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, NULL), LEY_OK);
    assert_int_equal(choice.spec.root, LEY_ROOT_STANDARD); /* the native one is faster, and off by 1e-4 */
    assert_int_equal(choice.spec.newton_roots, 3);
    wish.math = TUNING_NATIVE;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, NULL), LEY_OK);
    assert_int_equal(choice.spec.root, LEY_ROOT_NATIVE);
    c.root_error[LEY_ROOT_NATIVE] = 5e-7;
    wish.math = TUNING_AUTO;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, NULL), LEY_OK);
    assert_int_equal(choice.spec.root, LEY_ROOT_NATIVE); /* measured, and good enough */
    wish.math = TUNING_STANDARD;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, NULL), LEY_OK);
    assert_int_equal(choice.spec.root, LEY_ROOT_STANDARD);
    assert_int_equal(choice.spec.newton_roots, 0);
    wish.math = TUNING_AUTO;
    c.fma_per_s = 8e12; /* roots are half as fast as multiply-adds: nothing to share */
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, NULL), LEY_OK);
    assert_int_equal(choice.spec.newton_roots, 0);
}

static void test_tuning_respects_the_device(void **state)
{
    const calibration c = slow_roots();
    dev_info info = gpu_info();
    dcs_wish wish = {.math = TUNING_AUTO, .sum = LEY_SPEC_SUM_FLOAT, .n_x = 33, .n_y = 33};
    dcs_choice choice;
    ley_error error = {0};
    info.max_work_group = 64;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_OK);
    assert_true(choice.spec.wg_x * choice.spec.wg_y <= 64);
    info.max_work_group = 16;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    info = gpu_info();
    info.local_bytes = 16 << 10; /* as small as in 2008: smaller tiles */
    wish.sum = LEY_SPEC_SUM_DOUBLE;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_OK);
    assert_true(choice.spec.tile * 32 + choice.spec.tile / 8 <= 16 << 10);
    wish.sum = LEY_SPEC_SUM_FLOAT;
    info.local_bytes = 256;
    assert_error(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_ERROR_NO_DEVICE, "local memory");
    info = gpu_info();
    info.has_double = false;
    wish.sum = LEY_SPEC_SUM_DOUBLE;
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    wish.sum = LEY_SPEC_SUM_FLOAT;
    wish.variant = "vector16";
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    wish.variant = "nix";
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_ERROR_USAGE);
    char options[512];
    wish.variant = "unroll8";
    assert_int_equal(tuning_dcs(&info, &c, &wish, &choice, &error), LEY_OK);
    kernel_options(&dcs_kind, &choice.spec, options, sizeof options);
    assert_non_null(strstr(options, "-DLEY_UX=8 -DLEY_UY=1"));
    ley_error_clear(&error);
}

/* Of work-groups that vote the one whose sorting pays at this cutoff; where a vote is a round
 * through local memory, none pays. */
static void test_tuning_respects_the_cutoff(void **state)
{
    static const struct {
        unsigned quirks;
        double reach;
        const char *variant;
    } cases[] = {{DEV_QUIRK_PTX, 8, "halves16"},
                 {DEV_QUIRK_PTX, 10, "halves16"},
                 {DEV_QUIRK_PTX, 24, "halves16"},
                 {DEV_QUIRK_PTX, 0, "halves16"},
                 {0, 8, "regions8"},
                 {0, 24, "regions8"}};
    calibration c = slow_roots();
    c.roots_per_s[LEY_ROOT_STANDARD] = 4e12;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dev_info info = gpu_info();
        const double reach = cases[i].reach;
        const cutoff_wish wish = {
            .math = TUNING_AUTO, .pair = LEY_PAIR_TAYLOR2, .depth = 8, .reach = {reach, reach, reach}};
        cutoff_choice choice;
        info.quirks = cases[i].quirks;
        assert_int_equal(tuning_cutoff(&info, &c, &wish, &choice, NULL), LEY_OK);
        assert_string_equal(choice.variant, cases[i].variant);
    }
}

/* Of atoms anywhere around a block of points, what is said to count of the distances, counted. */
static void test_hits_are_what_can_be_counted(void **state)
{
    static const double reaches[][3] = {{8, 8, 8}, {10, 10, 10}, {24, 24, 24}, {6, 12, 9}};
    const cutoff_spec
        halves = {.lx = 4, .ly = 4, .lz = 2, .width = 1, .ux = 2, .uy = 2, .uz = 4, .prune = 1, .split = 1},
        vectors = {.lx = 4, .ly = 2, .lz = 2, .width = 16, .ux = 2, .uy = 4, .uz = 4, .prune = 1, .split = 4};
    const struct {
        const cutoff_spec *spec;
        int block[3];
    } cases[] = {{&halves, {4, 8, 4}}, {&vectors, {4, 2, 2}}};
    uint64_t random = 1;
    for (size_t i = 0; i < 8; i++) {
        const int *n = cases[i % 2].block;
        const double *reach = reaches[i / 2];
        double computed = 0, within = 0;
        for (int atom = 0; atom < 40000; atom++) {
            double at[3], beyond2 = 0; /* in cutoffs */
            for (int axis = 0; axis < 3; axis++) {
                const double extent = (n[axis] - 1) / reach[axis];
                at[axis] = (double)(accuracy_random(&random) >> 11) * 0x1p-53 * (extent + 2) - 1;
                const double beyond = fmax(fmax(-at[axis], at[axis] - extent), 0);
                beyond2 += beyond * beyond;
            }
            for (int k = 0; k < n[0] * n[1] * n[2] && beyond2 < 1; k++) {
                const double dx = k % n[0] / reach[0] - at[0], dy = k / n[0] % n[1] / reach[1] - at[1],
                             dz = k / (n[0] * n[1]) / reach[2] - at[2];
                computed++;
                within += dx * dx + dy * dy + dz * dz < 1;
            }
        }
        const double hits = tuning_cutoff_hits(cases[i % 2].spec, reach);
        if (!(fabs(hits / (within / computed) - 1) < 0.03))
            fail_msg("%zu: %g of the distances, %g counted", i, hits, within / computed);
    }
}

static atomic_int visits[1000];

static void visit(void *context, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        atomic_fetch_add(&visits[i], 1);
}

static void test_parallel_ranges(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 999, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (size_t i = 0; i < 1000; i++)
            atomic_store(&visits[i], 0);
        parallel_ranges(sizes[s], visit, NULL);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(atomic_load(&visits[i]), i < sizes[s]);
    }
}

/* Of memory on devices what fits without much waste, the oldest of it first to go, and no more than
 * a share of the device's. */
static void test_buffer_pool(void **state)
{
    const size_t MiB = 1 << 20;
    const uint64_t device = (uint64_t)800 * MiB; /* 100 of them */
    buffer_pool pool = {.count = 0};
    assert_int_equal(buffer_pool_take(&pool, MiB).address, 0);
    assert_int_equal(buffer_pool_drop(&pool).address, 0);
    assert_false(buffer_pool_keep(&pool, device, (spare_memory){1, MiB - 1}));
    assert_false(buffer_pool_keep(&pool, device, (spare_memory){1, 101 * MiB}));
    assert_false(buffer_pool_is_full(&pool, device, 101 * MiB)); /* nothing has to go for what is not kept */
    assert_true(buffer_pool_keep(&pool, device, (spare_memory){1, 20 * MiB}));
    assert_true(buffer_pool_keep(&pool, device, (spare_memory){2, 60 * MiB}));
    assert_true(buffer_pool_keep(&pool, device, (spare_memory){3, 18 * MiB}));
    assert_true(buffer_pool_is_full(&pool, device, 3 * MiB));
    assert_false(buffer_pool_keep(&pool, device, (spare_memory){4, 3 * MiB}));
    assert_int_equal(buffer_pool_take(&pool, 61 * MiB).address, 0);
    assert_int_equal(buffer_pool_take(&pool, 47 * MiB).address, 0); /* more than a quarter would be left over */
    assert_int_equal(buffer_pool_take(&pool, 17 * MiB).address, 3);
    assert_int_equal(buffer_pool_take(&pool, 17 * MiB).address, 1);
    assert_true(buffer_pool_keep(&pool, device, (spare_memory){5, 40 * MiB}));
    assert_int_equal(buffer_pool_drop(&pool).address, 2);
    assert_int_equal(buffer_pool_drop(&pool).address, 5);
    for (uintptr_t i = 1; i <= BUFFER_POOL_MOST; i++)
        assert_true(buffer_pool_keep(&pool, 0, (spare_memory){i, MiB}));
    assert_true(buffer_pool_is_full(&pool, 0, MiB));
    assert_false(buffer_pool_keep(&pool, 0, (spare_memory){99, MiB})); /* no place */
    assert_int_equal(buffer_pool_drop(&pool).address, 1);
}

/* Staging is kept for the next job: the smallest that is large enough, not too large, not too much
 * of it. */
static void test_staging_pool(void **state)
{
    const size_t MiB = (size_t)1 << 20;
    dev_staging small = {.size = 2 * MiB}, large = {.size = 16 * MiB}, larger = {.size = 20 * MiB},
                huge = {.size = STAGING_POOL_BYTES - 30 * MiB}, tiny = {.size = STAGING_POOL_LEAST_BYTES - 1},
                full = {.size = STAGING_POOL_BYTES}, more[STAGING_POOL_MOST];
    staging_pool pool = {.kept = {NULL}};
    assert_null(staging_pool_take(&pool, MiB));
    assert_false(staging_pool_keep(&pool, &tiny)); /* it is as fast to make */
    assert_true(staging_pool_keep(&pool, &larger) && staging_pool_keep(&pool, &small));
    assert_true(staging_pool_keep(&pool, &large));
    assert_false(staging_pool_keep(&pool, &huge));  /* together they are too much */
    assert_null(staging_pool_take(&pool, 5 * MiB)); /* three times as much as is asked for is left for others */
    assert_ptr_equal(staging_pool_take(&pool, 15 * MiB), &large);
    assert_ptr_equal(staging_pool_take(&pool, 15 * MiB), &larger);
    assert_null(staging_pool_take(&pool, 15 * MiB));
    assert_false(staging_pool_keep(&pool, &full));
    assert_ptr_equal(staging_pool_empty(&pool), &small);
    assert_null(staging_pool_empty(&pool));
    assert_true(staging_pool_keep(&pool, &full));
    assert_ptr_equal(staging_pool_empty(&pool), &full);
    for (int i = 0; i < STAGING_POOL_MOST; i++) {
        more[i].size = MiB;
        assert_true(staging_pool_keep(&pool, &more[i]));
    }
    assert_false(staging_pool_keep(&pool, &small)); /* no place */
}

static cache_key first_key;

static void make_key_again(void)
{
    const cache_key key = cache_key_of_host("processor", "kind", "text", "options");
    _exit(key.hex[0] != '\0' && strcmp(key.hex, first_key.hex) == 0 ? 0 : 1);
}

/* A thread that is late makes keys while the program exits: here a handler of exit() does, which is
 * called after all that were put in place later. So this must be the first test that makes one. */
static void test_keys_while_exiting(void **state)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (atexit(make_key_again) != 0)
            _exit(2);
        first_key = cache_key_of_host("processor", "kind", "text", "options");
        exit(3); /* the handler's code takes its place */
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "platform"), test_keys_while_exiting, test_errors, test_compiler_logs,
                     test_driver_errors_tell_all, test_cache_keeps_and_tells_apart, test_a_damaged_entry_is_a_miss,
                     test_another_entry_is_a_miss, test_a_cache_that_cannot_be_is_no_error, test_the_cache_has_a_limit,
                     test_the_cache_leaves_others_alone, test_a_strange_entry_is_a_miss,
                     test_processes_share_a_small_cache, test_flattening, test_includes_that_loop, test_quirks,
                     test_sub_groups, test_tuning_by_measurement, test_tuning_respects_the_device,
                     test_tuning_respects_the_cutoff, test_hits_are_what_can_be_counted, test_parallel_ranges,
                     test_staging_pool, test_buffer_pool);
}
