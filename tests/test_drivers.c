/* OpenCL drivers that end the process when they are loaded or listed (dying_driver/), beside one
 * that does not: what the command says, does and remembers. */
#include "cli_support.h"

#include "environment.h"
#include "methods/dcs/kernel.h"
#include "methods/dcs/tuning.h"
#include "opencl/drivers.h"
#include "opencl/trial.h"
#include "quirks.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The driver's own file, beside this test. */
static const char own_file[] = "dying_driver/dying_driver.so";

static const char *driver_path(void)
{
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof own_file);
    assert_true(length > 0);
    path[length] = '\0';
    memcpy(strrchr(path, '/') + 1, own_file, sizeof own_file);
    return path;
}

static void remove_file(const char *path)
{
    unlink(path);
}

static void copy_driver(const char *name)
{
    char command[10000];
    snprintf(command, sizeof command, "cp '%s' '%s'", driver_path(), cli_path(name));
    assert_int_equal(system(command), 0);
}

/* A folder of drivers: one of this fate, and those that are installed if they are wanted. Whether
 * there are any of these. */
static bool make_folder(const char *fate, bool installed)
{
    char name[64], text[4200];
    size_t count = 0;
    mkdir(cli_path("vendors"), 0700);
    cli_each_file("vendors", remove_file);
    snprintf(name, sizeof name, "vendors/%s.so", fate);
    copy_driver(name);
    snprintf(text, sizeof text, "%s\n", cli_path(name));
    cli_write_text("vendors/dying.icd", text);
    cl_driver *drivers = installed ? cl_drivers_find(&count) : NULL;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "vendors/%zu.icd", i);
        cli_write_text(name, drivers[i].library);
    }
    free(drivers);
    return count > 0;
}

static int loads(void)
{
    if (access(cli_path("says"), F_OK) != 0)
        return 0;
    size_t size;
    char *text = cli_read("says", &size);
    free(text);
    return (int)(size / strlen("loaded\n"));
}

/* Before a command: that folder, and a cache of its own. */
static const char *with_folder(void)
{
    static char words[9000];
    snprintf(words, sizeof words, "OCL_ICD_VENDORS=%s LEYDEN_CACHE_DIR=%s DYING_DRIVER_SAYS=%s", cli_path("vendors"),
             cli_path("own-cache"), cli_path("says"));
    return words;
}

static void forget_all(void)
{
    cli_each_file("own-cache/leyden", remove_file);
    unlink(cli_path("says"));
}

/* The address sanitizer keeps this signal to itself, and exits. */
#ifdef __SANITIZE_ADDRESS__
#define SEGFAULT "ends the process in clGetDeviceIDs"
#else
#define SEGFAULT "ends the process by signal 11 (SIGSEGV) in clGetDeviceIDs"
#endif

static void test_a_dying_driver_is_left_out(void **state)
{
    static const struct {
        const char *fate, *says;
    } cases[] = {{"abort", "ends the process by signal 6 (SIGABRT) in clGetDeviceIDs"},
                 {"segfault", SEGFAULT},
                 {"exit", "ends the process in clGetDeviceIDs"},
                 {"constructor", "ends the process by signal 6 (SIGABRT) in dlopen"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_folder(cases[i].fate, false);
        forget_all();
        cli_run(3, cases[i].says, "no device found", "%s devices", with_folder());
        cli_expect(3, "'leyden devices' tries it again", NULL);
    }
}

static void test_other_drivers_work_beside_it(void **state)
{
    const int installed = cli("LEYDEN_CACHE_DIR=%s devices", cli_path("own-cache"))->code;
    if (!make_folder("abort", true) || installed != 0)
        skip();
    forget_all();
    cli("%s devices", with_folder());
    cli_expect(0, "left out: the driver ends the process by signal 6", "an OpenCL driver is left out: ");
    cli("%s map ion.pqr -o out/a.dx --dims 9,9,9 --spacing 0.5", with_folder());
    cli_expect(0, "written: ", "an OpenCL driver is left out: ");
    cli_expect(0, NULL, "dying.icd: ends the process by signal 6 (SIGABRT) in clGetDeviceIDs");
}

/* How many of PoCL's compiled files are below "pocl", for work-groups of these kinds, of more bytes
 * than these. */
static int count_compiled(const char *kind, int bytes)
{
    char command[9000], number[16] = "";
    snprintf(command, sizeof command, "find '%s' -path '*/%s/*.so' -size +%dc | wc -l", cli_path("pocl"), kind, bytes);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(number, sizeof number, pipe));
    assert_int_equal(pclose(pipe), 0);
    return atoi(number);
}

static void test_a_kernel_is_compiled_once(void **state)
{
    char caches[9000];
    snprintf(caches, sizeof caches, "POCL_CACHE_DIR=%s LEYDEN_CACHE_DIR=%s", cli_path("pocl"), cli_path("own-cache"));
    mkdir(cli_path("pocl"), 0700);
    cli_each_file("own-cache/leyden", remove_file);
    unsetenv(quirks_driver_settings[0].name);
    if (cli("%s map ion.pqr -o out/a.dx --dims 9,9,9 --spacing 0.5 --device pthread", caches)->code == 3)
        skip(); /* PoCL is not there */
    cli_expect(0, "written: ", NULL);
    assert_int_equal(count_compiled("0-0-0*", 0), 1);
    assert_int_equal(count_compiled("*", 0), 1);
    assert_int_equal(count_compiled("*", 48 << 10), 0); /* what is unrolled takes compilers long */
}

static void test_a_setting_of_the_users_own_stays(void **state)
{
    const char *name = quirks_driver_settings[0].name;
    setenv(name, "1", 1);
    environment_set_unless_there(name, quirks_driver_settings[0].value);
    assert_string_equal(getenv(name), "1");
    unsetenv(name);
    environment_set_unless_there(name, quirks_driver_settings[0].value);
    assert_string_equal(getenv(name), "0");
}

/* Jobs do not ask again what has died, lists do; a driver that lives is asked once, and each time
 * loaded; a changed file is a new driver. */
static void test_what_came_of_it_is_remembered(void **state)
{
    make_folder("abort", false);
    forget_all();
    const char *map = "map ion.pqr -o out/a.dx --dims 9,9,9 --spacing 0.5";
    cli_run(3, NULL, "left out", "%s %s", with_folder(), map);
    assert_int_equal(loads(), 1);
    cli_run(3, NULL, "left out", "%s %s", with_folder(), map);
    assert_int_equal(loads(), 1);
    cli("%s devices", with_folder());
    assert_int_equal(loads(), 2);
    copy_driver("vendors/abort.so");
    cli("%s %s", with_folder(), map);
    assert_int_equal(loads(), 3);
    make_folder("living", false);
    forget_all();
    cli_run(3, "Dying driver: no device", NULL, "%s devices", with_folder());
    assert_int_equal(loads(), 2); /* tried, then loaded */
    cli("%s devices", with_folder());
    assert_int_equal(loads(), 3);
}

static void test_a_driver_that_hangs(void **state)
{
    make_folder("hang", false);
    const char *library = cli_path("vendors/hang.so");
    trial_result result;
    trial_run(&library, 1, 0.3, &result);
    assert_int_equal(result.end, TRIAL_HUNG);
    assert_string_equal(result.call, "clGetDeviceIDs");
    assert_string_equal(result.words, "Topology became empty");
}

/* As a child does that was begun while a thread held a lock: the second child is asked, too. */
static void test_a_child_that_hangs(void **state)
{
    make_folder("once", false);
    const char *library = cli_path("vendors/once.so");
    setenv("DYING_DRIVER_SAYS", cli_path("says"), 1);
    unlink(cli_path("says"));
    trial_result result;
    trial_run(&library, 1, 6, &result);
    unsetenv("DYING_DRIVER_SAYS");
    assert_int_equal(result.end, TRIAL_LIVES);
    assert_int_equal(loads(), 2);
}

/* QEMU knows the limit and does not heed it. */
static bool is_heeded(void)
{
    const size_t bytes = (size_t)256 << 20;
    void *taken = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken != MAP_FAILED)
        munmap(taken, bytes);
    return taken == MAP_FAILED;
}

/* It would find no memory once others use some, and abort then. */
static void test_a_driver_with_too_little_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    struct rlimit before, tight;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_true(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    make_folder("living", false);
    const char *library = cli_path("vendors/living.so");
    trial_result result;
    trial_run(&library, 1, 10, &result);
    assert_int_equal(result.end, TRIAL_LIVES);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (64 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    const bool is_tight = is_heeded();
    if (is_tight)
        trial_run(&library, 1, 10, &result);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    if (!is_tight)
        skip();
    assert_int_equal(result.end, TRIAL_EXITED);
    assert_string_equal(result.call, "dlopen");
    assert_true(result.words[0] != '\0');
}

/* ---- Where drivers are named ----------------------------------------------------------------- */

static void expect_drivers(const char *vendors, const char *files, const char *const *libraries)
{
    size_t count, i = 0;
    char before[4096] = "";
    const char *was = getenv("OCL_ICD_VENDORS");
    snprintf(before, sizeof before, "%s", was != NULL ? was : "");
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("OCL_ICD_FILENAMES", files, 1);
    cl_driver *drivers = cl_drivers_find(&count);
    for (; libraries[i] != NULL && i < count; i++)
        assert_string_equal(drivers[i].library, libraries[i]);
    assert_null(libraries[i]);
    assert_int_equal(i, count);
    free(drivers);
    setenv("OCL_ICD_VENDORS", before, 1);
    unsetenv("OCL_ICD_FILENAMES");
    unsetenv("OPENCL_VENDOR_PATH");
}

#define EXPECT_DRIVERS(vendors, files, ...) expect_drivers(vendors, files, (const char *const[]){__VA_ARGS__, NULL})

static void test_drivers_are_found_as_the_loader_finds_them(void **state)
{
    mkdir(cli_path("named"), 0700);
    cli_write_text("named/b.icd", "libb.so.1\n");
    cli_write_text("named/a.icd", "/opt/liba.so");
    cli_write_text("named/same.icd", "libb.so.1\r\n");
    cli_write_text("named/empty.icd", "\n");
    cli_write_text("named/not.txt", "libnot.so\n");
    EXPECT_DRIVERS(cli_path("named"), "", "/opt/liba.so", "libb.so.1");
    EXPECT_DRIVERS(cli_path("named"), "first.so:/opt/liba.so", "first.so", "/opt/liba.so", "libb.so.1");
    EXPECT_DRIVERS(cli_path("named/b.icd"), "", "libb.so.1");
    EXPECT_DRIVERS("/opt/alone.so", "", "/opt/alone.so");
    setenv("OPENCL_VENDOR_PATH", cli_path("named"), 1);
    EXPECT_DRIVERS("a.icd", "", "/opt/liba.so");
    setenv("OPENCL_VENDOR_PATH", cli_path("named"), 1);
    EXPECT_DRIVERS("", "", "/opt/liba.so", "libb.so.1");
    expect_drivers("/nonexistent/none.icd", "", (const char *const[]){NULL});
}

/* ---- What is known of drivers ---------------------------------------------------------------- */

/* A driver that says 1 of processors whose vectors it does not know, and others that mean it. */
static void test_vectors_of_the_host(void **state)
{
    static const struct {
        const char *platform;
        dev_class device_class;
        int said, host, taken;
    } cases[] = {{"Portable Computing Language", DEV_CPU, 1, 4, 4},
                 {"Portable Computing Language", DEV_CPU, 16, 4, 16},
                 {"Portable Computing Language", DEV_GPU, 1, 4, 1},
                 {"rusticl", DEV_CPU, 1, 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dev_info info = {.device_class = cases[i].device_class, .vector_width = cases[i].said};
        snprintf(info.platform, sizeof info.platform, "%s", cases[i].platform);
        quirks_apply_on_host(&info, cases[i].host);
        assert_int_equal(info.vector_width, cases[i].taken);
        if (cases[i].taken == 4)
            assert_string_equal(tuning_dcs_default(&info, LEY_SPEC_SUM_FLOAT), "vector4");
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = cli_prepare), test_vectors_of_the_host,
                     test_drivers_are_found_as_the_loader_finds_them, test_a_driver_that_hangs, test_a_child_that_hangs,
                     test_a_driver_with_too_little_memory, test_a_dying_driver_is_left_out,
                     test_other_drivers_work_beside_it, test_what_came_of_it_is_remembered,
                     test_a_kernel_is_compiled_once, test_a_setting_of_the_users_own_stays);
}
