/* Every format of map files, by every ending of its table: a file is never seen half written,
 * whenever its writer is killed, and a disk that is full leaves the old one as it was. */
#include "binary_maps.h"

#include "target/map.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_BYTES = 64, ENDINGS_MAX = 32, CANNOT = 2 };

typedef struct named_format {
    const ley_map_format *format;
    char path[NAME_BYTES], beside[NAME_BYTES]; /* beside: empty where there is no second file */
} named_format;

static size_t all_names(named_format names[ENDINGS_MAX])
{
    size_t n = 0;
    const ley_map_format *format;
    for (size_t i = 0; (format = ley_map_format_at(i)) != NULL; i++)
        for (const char *const *ending = format->endings; *ending != NULL; ending++)
            for (int packed = 0; packed < 2; packed++, n++) {
                assert_true(n < ENDINGS_MAX);
                names[n].format = format;
                snprintf(names[n].path, NAME_BYTES, "map%s%s", *ending, packed ? ".gz" : "");
                names[n].beside[0] = '\0';
                if (format->beside != NULL)
                    snprintf(names[n].beside, NAME_BYTES, "%s%s", names[n].path, format->beside);
            }
    assert_true(n > 5);
    return n;
}

/* Values that no compression makes small; 256 kB of them as floats. */
static ley_map *make_map(int n, unsigned seed)
{
    const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.25, 1), .n = {n, n, n}};
    ley_map *map = NULL;
    ley_error error = {0};
    assert_ok(ley_map_create(&grid, &map, &error));
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        ley_map_values(map)[i] = (float)((double)rand_r(&seed) / RAND_MAX - 0.5);
    ley_map_set_units(map, "kT/e");
    return map;
}

static ley_map *make_large(unsigned seed)
{
    return make_map(40, seed);
}

static void remove_all(void)
{
    DIR *directory = opendir(".");
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        unlink(entry->d_name); /* the folders . and .. stay */
    closedir(directory);
}

/* The map as a streamed one, where the format is: its planes go to the hidden file one by one. */
static ley_status write_streamed(const ley_map *map, const char *path, const volatile bool *cancel, ley_error *error)
{
    ley_map *stored = NULL;
    const int64_t *n = ley_map_grid(map)->n, plane = n[0] * n[1];
    ley_status status = ley_map_create_file(ley_map_grid(map), path, &stored, error);
    for (int64_t z = 0; z < n[2] && status == LEY_OK; z++) {
        float *planes = NULL;
        status = map_planes_take(stored, z, 1, &planes, error);
        if (status != LEY_OK)
            break;
        memcpy(planes, ley_map_read_values(map) + z * plane, (size_t)plane * sizeof(float));
        status = map_planes_give(stored, z, 1, planes, true, error);
    }
    if (status == LEY_OK) {
        ley_map_set_units(stored, ley_map_units(map));
        status = ley_map_write(stored, path, NULL, NULL, cancel, error);
    }
    ley_map_destroy(stored);
    return status;
}

/* ---- Files that are there -------------------------------------------------------------------- */

typedef struct whole_file {
    char *bytes;
    size_t size;
} whole_file;

/* What a name holds is one of these. */
static bool is_one_of(const char *path, const whole_file *files, size_t n)
{
    whole_file found;
    bool is_it = false;
    found.bytes = support_read_file(path, &found.size);
    for (size_t i = 0; i < n; i++)
        is_it = is_it || (found.size == files[i].size && memcmp(found.bytes, files[i].bytes, found.size) == 0);
    free(found.bytes);
    return is_it;
}

static whole_file write_and_read(const ley_map *map, const named_format *name)
{
    whole_file file;
    ley_error error = {0};
    assert_ok(ley_map_write(map, name->path, NULL, NULL, NULL, &error));
    file.bytes = support_read_file(name->path, &file.size);
    return file;
}

/* Children of a program that has written maps: the threads of its pool are gone in them, and the
 * thread sanitizer, which does not know, ends those that start the same ones again. */
static void skip_with_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
    print_message("skipped: the thread sanitizer does not follow a child that starts threads\n");
    skip();
#endif
}

/* ---- Killed ---------------------------------------------------------------------------------- */

/* Writes one map after the other, every other one streamed, until it is killed. */
static pid_t start_writer(ley_map *const maps[2], const char *path)
{
    int ends[2];
    char ready;
    assert_int_equal(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing goes on when the test fails */
        for (unsigned i = 0;; i++) {
            const ley_map *map = maps[i / 2 % 2];
            const ley_status status =
                i % 2 == 0 ? ley_map_write(map, path, NULL, NULL, NULL, NULL) : write_streamed(map, path, NULL, NULL);
            if (status != LEY_OK || (i == 0 && write(ends[1], "", 1) != 1))
                _exit(1);
        }
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    return writer;
}

/* Until so many writers were killed, and some of them left a hidden file. */
static void kill_writers(const named_format *name, ley_map *const maps[2])
{
    enum { MOST = 300 };
    whole_file wholes[2], header = {NULL, 0};
    ley_error error = {0};
    unsigned random = 3;
    const int expected = name->beside[0] != '\0' ? 2 : 1, rounds = support_is_quick() ? 4 : 40;
    int left = 0;
    for (int i = 0; i < 2; i++)
        wholes[i] = write_and_read(maps[i], name);
    if (expected == 2)
        header.bytes = support_read_file(name->beside, &header.size);
    for (int round = 0; round < MOST && (round < rounds || left == 0); round++) {
        int status = 0;
        const pid_t writer = start_writer(maps, name->path);
        for (int look = rand_r(&random) % 4; look >= 0; look--) {
            usleep((useconds_t)(rand_r(&random) % 3000));
            if (!is_one_of(name->path, wholes, 2))
                fail_msg("%s is half written while its writer lives", name->path);
        }
        assert_int_equal(kill(writer, SIGKILL), 0);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        left += maps_count_files() > expected;
        if (!is_one_of(name->path, wholes, 2) || (expected == 2 && !is_one_of(name->beside, &header, 1)))
            fail_msg("%s is half written after its writer was killed", name->path);
        ley_map_destroy(maps_read(name->path));
    }
    assert_true(left > 0);
    assert_ok(ley_map_write(maps[0], name->path, NULL, NULL, NULL, &error)); /* clears what they left */
    assert_int_equal(maps_count_files(), expected);
    for (int i = 0; i < 2; i++)
        free(wholes[i].bytes);
    free(header.bytes);
    remove_all();
}

static void test_killed(void **state)
{
    skip_with_thread_sanitizer();
    named_format names[ENDINGS_MAX];
    const size_t n = all_names(names);
    ley_map *const maps[2] = {make_large(1), make_large(2)};
    for (size_t i = 0; i < n; i++)
        kill_writers(&names[i], maps);
    ley_map_destroy(maps[0]);
    ley_map_destroy(maps[1]);
}

/* ---- A full disk ----------------------------------------------------------------------------- */

/* What is wrong, or NULL. Nothing asserts: children call it. */
static const char *try_failure(const named_format *name, const ley_map *map, const whole_file *old, const char *message,
                               bool is_streamed)
{
    ley_error error = {0};
    const ley_status status = is_streamed ? write_streamed(map, name->path, NULL, &error)
                                          : ley_map_write(map, name->path, NULL, NULL, NULL, &error);
    const bool is_expected = status == LEY_ERROR_FILE && strstr(error.message, message) != NULL;
    ley_error_clear(&error);
    if (!is_expected)
        return "another result than a file that cannot be written";
    if (!is_one_of(name->path, old, 1))
        return "the old file is no longer what it was";
    return maps_count_files() == (name->beside[0] != '\0' ? 2 : 1) ? NULL : "a file was left, or went";
}

/* A write that fails with this message leaves the old files alone; the same for a streamed map. */
static const char *try_both(const named_format *name, const ley_map *map, const whole_file *old, const char *message)
{
    const char *wrong = try_failure(name, map, old, message, false);
    return wrong != NULL ? wrong : try_failure(name, map, old, message, true);
}

/* The limit on a file's size makes write() fail in the same place, be it in the first bytes, in the
 * middle or in the last ones. */
static void test_file_too_large(void **state)
{
    named_format names[ENDINGS_MAX];
    const size_t n = all_names(names);
    ley_map *small = make_map(3, 1), *large = make_large(2);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < n; i++) {
        whole_file whole = write_and_read(large, &names[i]), old = write_and_read(small, &names[i]);
        const size_t limits[] = {0, 1, whole.size / 2, whole.size - 1};
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            struct rlimit usual, limit;
            assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
            limit = usual;
            limit.rlim_cur = limits[k];
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
            const char *wrong = try_both(&names[i], large, &old, ": File too large");
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
            if (wrong != NULL)
                fail_msg("%s, limit %zu: %s", names[i].path, limits[k], wrong);
        }
        free(whole.bytes);
        free(old.bytes);
        remove_all();
    }
    ley_map_destroy(small);
    ley_map_destroy(large);
}

/* In a file system of its own, smaller than the map in any format. The exit code. */
static int fill_disk(const named_format *names, size_t n, const ley_map *small, const ley_map *large)
{
    for (size_t i = 0; i < n; i++) {
        whole_file old = {NULL, 0};
        const char *wrong = "the small map cannot be written";
        if (ley_map_write(small, names[i].path, NULL, NULL, NULL, NULL) == LEY_OK) {
            old.bytes = support_read_file(names[i].path, &old.size);
            wrong = try_both(&names[i], large, &old, ": No space left on device");
        }
        free(old.bytes);
        if (wrong != NULL) {
            fprintf(stderr, "%s: %s\n", names[i].path, wrong);
            return 1;
        }
        remove_all();
    }
    return 0;
}

/* false: this machine does not let us mount one. */
static bool enter_small_disk(void)
{
    return unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mkdir("disk", 0700) == 0 &&
           mount("tmpfs", "disk", "tmpfs", 0, "size=128k") == 0 && chdir("disk") == 0;
}

static void test_full_disk(void **state)
{
    skip_with_thread_sanitizer();
    int status = 0;
    named_format names[ENDINGS_MAX];
    const size_t n = all_names(names);
    ley_map *small = make_map(3, 1), *large = make_large(2);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(enter_small_disk() ? fill_disk(names, n, small, large) : CANNOT);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    ley_map_destroy(small);
    ley_map_destroy(large);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT) {
        print_message("skipped: no file system can be mounted here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- Cancelled ------------------------------------------------------------------------------- */

static void test_cancelled(void **state)
{
    named_format names[ENDINGS_MAX];
    const size_t n = all_names(names);
    ley_map *small = make_map(3, 1), *large = make_large(2);
    static volatile bool cancel = true;
    for (size_t i = 0; i < n; i++) {
        whole_file old = write_and_read(small, &names[i]);
        assert_int_equal(ley_map_write(large, names[i].path, NULL, NULL, &cancel, NULL), LEY_CANCELLED);
        assert_int_equal(write_streamed(large, names[i].path, &cancel, NULL), LEY_CANCELLED);
        assert_true(is_one_of(names[i].path, &old, 1));
        assert_int_equal(maps_count_files(), names[i].beside[0] != '\0' ? 2 : 1);
        free(old.bytes);
        remove_all();
    }
    ley_map_destroy(small);
    ley_map_destroy(large);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_killed), TEST(test_file_too_large), TEST(test_full_disk),
                                       TEST(test_cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
