/* Files that appear whole or not at all: what a path means, what is left when a writer is
 * cancelled, ended or killed. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every test begins in an empty working directory with an empty folder "deep". */
static int begin(void **state)
{
    static int number;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", support_directory(), number++);
    return mkdir(path, 0700) != 0 || chdir(path) != 0 || mkdir("deep", 0700) != 0;
}

static int count_files(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, "deep") != 0;
    closedir(directory);
    return count;
}

static ley_status write_text(const char *path, const char *text, ley_error *error)
{
    ley_file *file = NULL;
    ley_status status = ley_file_create(path, NULL, &file, error);
    if (status == LEY_OK)
        status = ley_file_write(file, text, strlen(text), error);
    return status == LEY_OK ? ley_file_commit(file, error) : status;
}

static void assert_text(const char *path, const char *text)
{
    char *bytes = support_read_file(path, NULL);
    assert_string_equal(bytes, text);
    free(bytes);
}

static void assert_fails(const char *path, int reason)
{
    char expected[PATH_MAX + 64];
    ley_error error = {0};
    snprintf(expected, sizeof expected, "%s: %s", path, strerror(reason));
    assert_error_is(ley_file_check(path, &error), LEY_ERROR_FILE, expected);
    assert_error_is(write_text(path, "x", &error), LEY_ERROR_FILE, expected);
}

/* ---- What a path means ----------------------------------------------------------------------- */

static void test_whole_or_nothing(void **state)
{
    ley_error error = {0};
    ley_file *file = NULL;
    assert_ok(write_text("a", "old", &error));
    assert_ok(ley_file_create("a", NULL, &file, &error));
    assert_ok(ley_file_write(file, "new", 3, &error));
    assert_text("a", "old");
    assert_int_equal(count_files("."), 2);
    ley_file_destroy(file);
    assert_text("a", "old");
    assert_int_equal(count_files("."), 1);
    volatile bool cancel = true;
    assert_ok(ley_file_create("a", &cancel, &file, &error));
    assert_int_equal(ley_file_write(file, "new", 3, &error), LEY_CANCELLED);
    assert_int_equal(ley_file_commit(file, &error), LEY_CANCELLED);
    assert_int_equal(count_files("."), 1);
    assert_ok(write_text("a", "new", &error));
    assert_text("a", "new");
    ley_file_destroy(NULL);
}

static void test_links_are_followed(void **state)
{
    ley_error error = {0};
    struct stat known;
    assert_int_equal(symlink("deep/file", "link"), 0); /* leads nowhere yet */
    assert_int_equal(symlink("link", "chain"), 0);
    assert_int_equal(symlink("../back", "deep/up"), 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(ley_file_check("chain", &error));
        assert_ok(write_text("chain", i == 0 ? "one" : "two", &error));
        assert_text("deep/file", i == 0 ? "one" : "two");
    }
    assert_ok(write_text("deep/up", "three", &error));
    assert_text("back", "three");
    static const char *const links[] = {"link", "chain", "deep/up"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lstat(links[i], &known), 0);
        assert_true(S_ISLNK(known.st_mode));
    }
    assert_int_equal(count_files("."), 3);
    assert_int_equal(count_files("deep"), 2);
    assert_int_equal(symlink("round", "round"), 0);
    assert_fails("round", ELOOP);
    assert_int_equal(symlink("nowhere/file", "lost"), 0);
    assert_fails("lost", ENOENT);
}

static void test_what_cannot_be_written(void **state)
{
    ley_error error = {0};
    char longest[NAME_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[NAME_MAX + 1] = '\0';
    assert_fails("deep", EISDIR);
    assert_fails("deep/", EISDIR);
    assert_fails("new/", EISDIR);
    assert_fails("nowhere/file", ENOENT);
    assert_fails("", ENOENT);
    assert_fails(longest, ENAMETOOLONG);
    longest[NAME_MAX] = '\0';
    assert_ok(ley_file_check(longest, &error)); /* the hidden name is not made from it */
    assert_ok(write_text(longest, "x", &error));
    assert_ok(ley_file_check("/dev/null", &error));
    assert_int_equal(count_files("."), 1);
    if (geteuid() == 0)
        return; /* may write anywhere */
    assert_ok(write_text("fixed", "x", &error));
    assert_int_equal(chmod("fixed", 0400), 0);
    assert_fails("fixed", EACCES);
    assert_int_equal(chmod("deep", 0500), 0);
    assert_fails("deep/file", EACCES);
}

static void test_one_file_by_two_names(void **state)
{
    ley_error error = {0};
    char here[PATH_MAX], absolute[PATH_MAX + 8];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(absolute, sizeof absolute, "%s/new", here);
    assert_int_equal(symlink("deep", "folder"), 0);
    assert_int_equal(symlink("deep/target", "link"), 0);
    for (int exists = 0; exists < 2; exists++) {
        const struct {
            const char *a, *b;
            bool same;
        } pairs[] = {{"new", "new", true},         {"./new", "new", true},
                     {"deep/../new", "new", true}, {absolute, "new", true},
                     {"deep/x", "folder/x", true}, {"link", "folder/target", true},
                     {"new", "deep/new", false},   {"new", "newer", false},
                     {"link", "deep/link", false}, {"/dev/null", "/dev/null", false}};
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            assert_int_equal(ley_file_is_same(pairs[i].a, pairs[i].b), pairs[i].same);
            assert_int_equal(ley_file_is_same(pairs[i].b, pairs[i].a), pairs[i].same);
        }
        assert_ok(write_text("new", "x", &error));
        assert_ok(write_text("deep/x", "x", &error));
        assert_ok(write_text("link", "x", &error));
    }
    assert_int_equal(link("new", "hard"), 0);
    assert_true(ley_file_is_same("new", "hard"));
}

/* ---- Pipes ----------------------------------------------------------------------------------- */

static void *cancel_soon(void *context)
{
    usleep(20 * 1000);
    __atomic_store_n((volatile bool *)context, true, __ATOMIC_RELAXED);
    return NULL;
}

/* One that nobody reads, or not fast enough, does not hold up a cancel. */
static void test_waiting_for_a_reader_can_be_cancelled(void **state)
{
    static char much[1 << 20];
    assert_int_equal(mkfifo("pipe", 0600), 0);
    for (int reader = 0; reader < 2; reader++) {
        ley_error error = {0};
        ley_file *file = NULL;
        volatile bool cancel = false;
        pthread_t thread;
        const int fd = reader ? open("pipe", O_RDONLY | O_NONBLOCK) : -1;
        alarm(30);
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, (void *)&cancel), 0);
        ley_status status = ley_file_create("pipe", &cancel, &file, &error);
        assert_int_equal(status, reader ? LEY_OK : LEY_CANCELLED);
        if (reader) {
            assert_int_equal(ley_file_write(file, much, sizeof much, &error), LEY_CANCELLED);
            ley_file_destroy(file);
            close(fd);
        }
        pthread_join(thread, NULL);
        alarm(0);
    }
}

/* ---- Writers that die ------------------------------------------------------------------------ */

static volatile bool never;

static void give_up(int number)
{
    ley_files_abandon();
    _exit(128 + number);
}

/* A process that writes two files and waits for its end; returns when they are under way. */
static pid_t start_writer(const char *path, bool handles)
{
    int ends[2];
    char ready;
    assert_int_equal(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        ley_file *files[2];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (handles)
            signal(SIGTERM, give_up);
        for (int i = 0; i < 2; i++)
            if (ley_file_create(path, &never, &files[i], NULL) != LEY_OK ||
                ley_file_write(files[i], "half", 4, NULL) != LEY_OK)
                _exit(1);
        if (write(ends[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    return writer;
}

static int end_writer(pid_t writer, int signal_number)
{
    int status = 0;
    assert_int_equal(kill(writer, signal_number), 0);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_a_handler_abandons_files(void **state)
{
    const pid_t writer = start_writer("deep/a", true);
    assert_int_equal(count_files("deep"), 2);
    assert_int_equal(end_writer(writer, SIGTERM), 128 + SIGTERM);
    assert_int_equal(count_files("deep"), 0);
}

/* What a killed writer left goes when its target is written again; what a living one writes stays,
 * and so do files of others. */
static void test_leavings_are_cleared(void **state)
{
    ley_error error = {0};
    pid_t dead = start_writer("deep/a", false), alive = start_writer("deep/a", true),
          other = start_writer("deep/b", false);
    assert_int_equal(count_files("deep"), 6);
    assert_int_equal(end_writer(dead, SIGKILL), -SIGKILL);
    assert_int_equal(end_writer(other, SIGKILL), -SIGKILL);
    assert_int_equal(symlink("elsewhere", "deep/.leyden-link"), 0);
    assert_int_equal(count_files("deep"), 7);
    assert_ok(write_text("deep/../deep/a", "whole", &error));
    assert_int_equal(count_files("deep"), 1 + 2 + 2 + 1); /* the file, the living writer's, those of b, the link */
    assert_int_equal(end_writer(alive, SIGTERM), 128 + SIGTERM);
    assert_ok(write_text("deep/b", "whole", &error));
    assert_int_equal(count_files("deep"), 3);
    assert_text("deep/a", "whole");
}

/* Many writers of one file at once, some of them killed at any moment: what appears is always
 * whole, and in the end nothing else is there. */
static void test_writers_of_one_file(void **state)
{
    enum { WRITERS = 4, LENGTH = 200 * 1000 };
    pid_t writers[WRITERS];
    unsigned random = 5;
    const int rounds = support_is_quick() ? 10 : 40;
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WRITERS; i++)
            if ((writers[i] = fork()) == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing goes on when the test fails */
                memset(text, 'a' + i, LENGTH);
                text[LENGTH] = '\0';
                for (;;)
                    if (write_text("deep/a", text, NULL) != LEY_OK)
                        _exit(1);
            }
        usleep((useconds_t)(rand_r(&random) % 20000));
        for (int i = 0; i < WRITERS; i++)
            assert_int_equal(end_writer(writers[i], SIGKILL), -SIGKILL);
        size_t size = 0;
        if (access("deep/a", F_OK) != 0)
            continue;
        char *bytes = support_read_file("deep/a", &size);
        assert_int_equal(size, LENGTH);
        assert_int_equal(strspn(bytes, (char[]){bytes[0], '\0'}), LENGTH);
        free(bytes);
    }
    free(text);
    ley_error error = {0};
    assert_ok(write_text("deep/a", "last", &error));
    assert_int_equal(count_files("deep"), 1);
    assert_text("deep/a", "last");
}

/* A file that a shell has opened gets what several programs write, one after the other. */
static void test_shared_place(void **state)
{
    char path[32];
    ley_error error = {0};
    const int fd = open("shared.txt", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "before ", 7), 7);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, i == 0 ? "/dev/fd/%d" : "/proc/self/fd/%d", fd);
        assert_int_equal(write_text(path, "ours ", &error), LEY_OK);
    }
    assert_int_equal(write(fd, "after", 5), 5);
    close(fd);
    assert_text("shared.txt", "before ours ours after");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "outputs", .each = begin), test_shared_place, test_whole_or_nothing,
                     test_links_are_followed, test_what_cannot_be_written, test_one_file_by_two_names,
                     test_waiting_for_a_reader_can_be_cancelled, test_a_handler_abandons_files,
                     test_leavings_are_cleared, test_writers_of_one_file);
}
