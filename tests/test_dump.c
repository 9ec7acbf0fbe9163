/* LEYDEN_DUMP: the files that show what compilers were given, and what they said. */
#include "support.h"

#include "device_list.h"
#include "dump.h"
#include "fake_device.h"
#include "kernel_kind.h"
#include "source.h"

#include <sys/stat.h>
#include <unistd.h>

static const ley_grid grid = {.step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};
static const kernel_kind kind = {.name = "k"};
static char folder[256];
static char said[4096];

static void use_folder(const char *name)
{
    snprintf(folder, sizeof folder, "%s/%s", support_directory(), name);
    setenv("LEYDEN_DUMP", folder, 1);
    said[0] = '\0';
}

static void keep_warning(void *context, ley_log_level level, const char *message)
{
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", message);
}

/* A job on one fake device; what the library warns of is kept in `said`. */
static ley_status run(fake_plan *plan)
{
    support_job o = {.status = LEY_OK};
    fake_devices_begin(plan, 1);
    ley_log_set(keep_warning, NULL, LEY_LOG_WARNING);
    o.atoms = support_atoms(40, 0, 8, 7);
    o.options = support_default_options();
    assert_int_equal(ley_map_create(&grid, &o.map, NULL), LEY_OK);
    assert_int_equal(ley_engine_create("all", &o.engine, &o.error), LEY_OK);
    assert_int_equal(support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &o.error), LEY_OK);
    const ley_status status = ley_job_run(o.job, &o.error);
    support_job_end(&o);
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
    fake_devices_end();
    return status;
}

/* How many files begin and end so; the last one's path. */
static int find(const char *beginning, const char *ending, char path[600])
{
    char command[900];
    int n = 0;
    snprintf(command, sizeof command, "find '%s' -type f -name '%s*%s'", folder, beginning, ending);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    while (fgets(path, 600, list) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        n++;
    }
    assert_int_equal(pclose(list), 0);
    return n;
}

static char *only_file(const char *beginning, const char *ending)
{
    char path[600];
    assert_int_equal(find(beginning, ending, path), 1);
    return support_read_file(path, &(size_t){0});
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void test_every_kernel(void **state)
{
    char path[600], *right;
    fake_plan plan = {.name = "A/b: c", .device_class = DEV_GPU};
    support_fresh_cache();
    use_folder("every");
    assert_int_equal(run(&plan), LEY_OK);
    assert_string_equal(said, "");
    char *source = only_file("dcs-fake0-A_b__c-", ".cl"), *options = only_file("dcs-fake0-A_b__c-", ".options");
    assert_int_equal(source_load("dcs", "cl", &right, NULL), LEY_OK);
    assert_string_equal(source, right);
    assert_int_equal(strncmp(options, "-DLEY_WG_X=", 11), 0);
    assert_non_null(strstr(options, "\n# device: A/b: c\n"));
    assert_non_null(strstr(options, "\n# kernel: dcs\n"));
    /* Those of calibration, too: each recipe. */
    const int roots = find("roots-fake0-", ".cl", path);
    assert_true(roots >= 2);
    assert_int_equal(find("roots-fake0-", ".options", path), roots);
    assert_int_equal(find("roots-fake0-", ".log", path), roots);
    assert_int_equal(find("multiply_adds-fake0-", ".cl", path), 1);
    free(source);
    free(options);
    free(right);
}

static void test_a_kernel_from_the_cache(void **state)
{
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    unsetenv("LEYDEN_DUMP");
    assert_int_equal(run(&plan), LEY_OK);
    use_folder("cached");
    assert_int_equal(run(&plan), LEY_OK);
    char path[600], *source = only_file("dcs-fake0-A-", ".cl"), *log = only_file("dcs-fake0-A-", ".log");
    assert_non_null(strstr(source, "dcs"));
    assert_string_equal(log, "from the build cache\n");
    assert_int_equal(find("roots", "", path), 0);
    free(source);
    free(log);
}

static void test_a_kernel_that_does_not_compile(void **state)
{
    fake_plan plan = {.name = "A", .fail_build = 1};
    support_fresh_cache();
    use_folder("broken");
    assert_int_equal(run(&plan), LEY_ERROR_DEVICE);
    char *source = only_file("dcs-fake0-A-", ".cl"), *log = only_file("dcs-fake0-A-", ".log");
    assert_non_null(strstr(log, "fake_build()"));
    assert_non_null(strstr(log, "line 1: the fake compiler's log\nline 2: its end"));
    free(source);
    free(log);
}

/* No error, but a warning in the log. */
static void test_a_folder_that_cannot_be_written(void **state)
{
    fake_plan plan = {.name = "A"};
    support_fresh_cache();
    use_folder("none");
    setenv("LEYDEN_DUMP", "/dev/null/x", 1);
    assert_int_equal(run(&plan), LEY_OK);
    assert_non_null(strstr(said, "LEYDEN_DUMP: /dev/null/x/dcs-fake0-A-"));
    assert_non_null(strstr(said, ".cl: Not a directory\n"));
    char longest[4096];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    said[0] = '\0';
    setenv("LEYDEN_DUMP", longest, 1);
    support_fresh_cache();
    assert_int_equal(run(&plan), LEY_OK);
    assert_non_null(strstr(said, "LEYDEN_DUMP: its folder: the path is too long\n"));
    /* A file that is not written whole. */
    said[0] = '\0';
    use_folder("full");
    mkdir(folder, 0700);
    dev_list list;
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(&list, NULL), LEY_OK);
    const dev_source source = {.kind = &kind, .text = "text", .options = "-DA=1"};
    dump_build(&list.infos[0], &source, false, NULL, NULL);
    char path[600];
    assert_int_equal(find("k-fake0-A-", ".cl", path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/full", path), 0);
    ley_log_set(keep_warning, NULL, LEY_LOG_WARNING);
    dump_build(&list.infos[0], &source, false, NULL, NULL);
    ley_log_set(NULL, NULL, LEY_LOG_WARNING);
    assert_non_null(strstr(said, ".cl: No space left on device\n"));
    dev_list_clear(&list);
    fake_devices_end();
}

/* Other options, or another function of the user's before the same kernel: other files. */
static void test_names_tell_kernels_apart(void **state)
{
    fake_plan plan = {.name = "A"};
    dev_list list;
    char path[600];
    use_folder("apart");
    fake_devices_begin(&plan, 1);
    assert_int_equal(dev_list_create(&list, NULL), LEY_OK);
    const dev_source sources[] = {{.kind = &kind, .text = "text", .options = "-DA=1"},
                                  {.kind = &kind, .text = "text", .options = "-DA=2"},
                                  {.kind = &kind, .text = "more text", .options = "-DA=1"},
                                  {.kind = &kind, .text = "text", .options = "-DA=1"}};
    for (size_t i = 0; i < 4; i++)
        dump_build(&list.infos[0], &sources[i], false, i == 0 ? "first" : i == 3 ? "last" : NULL, NULL);
    assert_int_equal(find("k-fake0-A-", ".cl", path), 3);
    assert_int_equal(find("", "", path), 9);
    snprintf(path, sizeof path, "grep -qx last '%s'/*.log && ! grep -q first '%s'/*.log", folder, folder);
    assert_int_equal(system(path), 0);
    unsetenv("LEYDEN_DUMP");
    assert_false(dump_is_wanted());
    dev_list_clear(&list);
    fake_devices_end();
}

int main(void)
{
    return RUN_TESTS(test_every_kernel, test_a_kernel_from_the_cache, test_a_kernel_that_does_not_compile,
                     test_a_folder_that_cannot_be_written, test_names_tell_kernels_apart);
}
