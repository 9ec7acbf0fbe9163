/* `leyden check` as its users see it: what it lists, takes, writes and ends with; what it says of a
 * driver with a fault (fake_icd/), and the program for its maker, which shows the fault without
 * leyden. What each check is worth: test_check_faults. */
#include "cli_support.h"

#include "methods/registry.h"
#include "quirks.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const ley_check_row *find_row(const char *group, const char *name)
{
    for (size_t i = 0; i < ley_check_row_count(); i++) {
        const ley_check_row *row = ley_check_row_get(i);
        if (strcmp(row->group, group) == 0 && strcmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}

/* Each kernel has its check, but for those that checks are made of. */
static void test_kernels(void **state)
{
    static const char *const own[] = {"functions", "structs", "local_words", "constant_words", "work_items"};
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_own = is_own || strcmp(own[i], (*kind)->name) == 0;
        if (!is_own && find_row("kernels", (*kind)->name) == NULL)
            fail_msg("no check of kernel %s", (*kind)->name);
    }
}

static void test_list(void **state)
{
    const cli_result *r = cli(CLI_NO_DEVICE "check --list");
    assert_int_equal(r->code, 0);
    for (size_t i = 0; i < ley_check_row_count(); i++) {
        char name[128];
        const ley_check_row *row = ley_check_row_get(i);
        snprintf(name, sizeof name, "%s/%s ", row->group, row->name);
        assert_non_null(strstr(r->out, name));
        assert_non_null(strstr(r->out, row->what));
        for (size_t k = 0; k < i; k++) /* no two of one name */
            assert_ptr_not_equal(find_row(ley_check_row_get(k)->group, ley_check_row_get(k)->name), row);
    }
}

/* ---- Command lines --------------------------------------------------------------------------- */

static const cli_failing failing[] = {
    {"check nothing/of/the/kind", 1,
     "there is no check, and no group of checks, 'nothing/of/the/kind' (their list has them all)"},
    {"check functions/rsqr", 1, "there is no check"},
    {"check \"\"", 1, "there is no check, and no group of checks, '' (their list has them all)"},
    {"check --quick rsqrt kernel", 1, "'kernel'"},
    {"check kernels/dcs/nosuch-variant", 1, "no device that was checked has a case 'kernels/dcs/nosuch-variant'"},
    {"check --list kernels", 1, "--list takes no NAME"},
    {"check --device nowhere", 1, "nowhere"},
    {CLI_NO_DEVICE "check", 3, "there is no device"},
    {"check --junit nowhere/x.xml --quick layout", 2, "nowhere"},
    {"check --emit-reproducer stderr/x layout", 2, "--emit-reproducer: stderr/x"},
    {"check --emit-reproducer stderr layout", 2, "--emit-reproducer: stderr: Not a directory"},
    {"check --json a.json --junit a.json layout", 1, "--junit"},
    {"check --junit - layout", 1, "--junit: it cannot be standard output"},
};

static void test_failures(void **state)
{
    CLI_CHECK_FAILURES(failing);
}

static void test_names(void **state)
{
    cli("check --quick layout rsqrt functions/exp specials/infinities/float");
    cli_expect(0, "6 passed, 0 failed, 0 skipped", "");
    const cli_result *r = cli("check functions/exp/double");
    cli_expect(0, "1 passed", "");
    assert_non_null(strstr(r->out, "functions/exp/double"));
    assert_null(strstr(cli("check --quick layout")->out, " \n"));
    cli("check --quick layout specials/infinities/half"); /* once the others are done */
    cli_expect(1, "pass  layout/", "has a case 'specials/infinities/half' among the quick ones");
    /* Nodes numbered by plane, fields and rows have specifications of their own, which self-tests
     * must know. */
    cli("check kernels/anterpolate/10-by-plane kernels/interpolation_gather/10-by-plane "
        "kernels/interpolation_gather/4-field kernels/interpolation_gather/4-field-rows");
    cli_expect(0, "4 passed, 0 failed", NULL);
    cli("check --quick --quiet layout");
    cli_expect(0, "", "");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static const char reports[] =
    "import json, xml.etree.ElementTree as tree\n"
    "r = json.load(open('a.json'))\n"
    "assert r['command'] == 'check' and r['exit_code'] == 0 and r['status'] == 'LEY_OK', r\n"
    "d = r['devices'][0]\n"
    "assert d['device']['name'] and d['passed'] == len(d['checks']) == 6 and d['failed'] == d['skipped'] == 0, d\n"
    "f = [c for c in d['checks'] if c['group'] == 'functions'][0]\n"
    "assert f['outcome'] == 'passed' and 0 < f['error'] <= f['tolerance'] and 0 < f['ulps'] <= 2, f\n"
    "assert sum(f['ulp_counts']) == 4096, f\n"
    "assert all(c['elapsed_s'] >= 0 and c['smallest'] is None and c['reproducer'] is None for c in d['checks'])\n"
    "x = tree.parse('a.xml').getroot()\n"
    "assert x.tag == 'testsuites' and x[0].get('tests') == '6' and x[0].get('failures') == '0'\n"
    "assert sorted((c.get('classname'), c.get('name')) for c in x[0]) == sorted(\n"
    "    (c['group'], (c['name'] + ' ' + c['variant']).strip()) for c in d['checks'])\n";

static void test_files(void **state)
{
    cli("check --quick layout launches/order builds/options functions/rsqrt --json a.json --junit a.xml");
    cli_expect(0, "6 passed", "");
    cli_python(reports);
    const cli_result *r = cli("check --quick layout --json -");
    assert_int_equal(r->code, 0);
    assert_int_equal(r->out[0], '{');
}

/* What doubles are off by is told in parts of their last place, not in whole ones. */
static void test_doubles(void **state)
{
    cli_run(0, "2 passed", "", "check functions/exp/double functions/erfc/double --json a.json");
    cli_python("import json\n"
               "for c in json.load(open('a.json'))['devices'][0]['checks']:\n"
               "    assert 0.5 < c['ulps'] < 3 and abs(c['ulps'] - round(c['ulps'])) > 1e-6, c\n"
               "    assert sum(c['ulp_counts']) == 65536, c\n");
}

/* ---- A fault --------------------------------------------------------------------------------- */

static void set_fake_driver(void)
{
    char vendors[4096];
    const ssize_t length = readlink("/proc/self/exe", vendors, sizeof vendors - 64);
    assert_true(length > 0);
    vendors[length] = '\0';
    strcpy(strrchr(vendors, '/'), "/fake_icd/vendors/");
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
}

static const char failed_reports[] =
    "import json, xml.etree.ElementTree as tree\n"
    "r = json.load(open('b.json'))\n"
    "assert r['exit_code'] == 5 and r['status'] == 'LEY_ERROR_WRONG_RESULT' and '2 checks' in r['error'], r\n"
    "f = [c for c in r['devices'][0]['checks'] if c['outcome'] == 'failed']\n"
    "assert len(f) == 2 and f[0]['name'] == 'rsqrt' and f[0]['smallest'] == '1 numbers', f\n"
    "assert f[0]['reproducer'] == 'repro/functions-rsqrt-float', f\n"
    "x = tree.parse('b.xml').getroot()[0]\n"
    "assert x.get('failures') == '2' and 'ulp' in x.find('testcase/failure').get('message')\n";

/* Runs the program that was compiled from what stands in a folder; its exit code, 2 where the
 * argument is no device. */
static int run_reproducer_on(const char *folder, const char *device)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && ./repro %s >out.txt 2>&1", cli_path(folder), device);
    const int status = system(line);
    return status >= 0 ? status >> 8 : -1;
}

/* Compiles it first, and runs it by the driver in the environment. */
static int run_reproducer(const char *folder)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && ${CC:-cc} -Wall repro.c -o repro -lOpenCL -lm >build.txt 2>&1",
             cli_path(folder));
    return system(line) == 0 ? run_reproducer_on(folder, "") : 77;
}

/* Its argument is what --device takes: no digit or word within another is a number or a kind. */
static void check_devices_of(const char *folder)
{
    static const char *const meant[] = {"0",   "opencl:0", "OpenCL:0", "cpu",
                                        "CPU", "opencl",   "PTHREAD",  "'portable computing'"},
                             *const others[] = {"1", "opencl:1", "99", "3", "gpu", "cuda:0", "nosuch"};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (run_reproducer_on(folder, meant[i]) != 0)
            fail_msg("%s is none", meant[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (run_reproducer_on(folder, others[i]) != 2)
            fail_msg("%s is one", others[i]);
}

/* A function, a kernel with its test, and what two queues see: each gives a program that is wrong
 * on the driver with the fault, and right on the one without. */
static void test_reproducer(void **state)
{
    set_fake_driver();
    setenv("FAKE_ICD", "fault=rewrite,kernel=functions", 1);
    setenv("FAKE_ICD_FROM", "case LEY_FUNCTION_RSQRT: f = ", 1);
    setenv("FAKE_ICD_TO", "case LEY_FUNCTION_RSQRT: f = 1.001f * ", 1);
    const cli_result *r =
        cli("check --quick functions/rsqrt specials/infinities functions/exp --emit-reproducer repro");
    assert_int_equal(r->code, 5);
    assert_non_null(strstr(r->out, "smallest case that fails: 1 numbers"));
    assert_non_null(strstr(r->out, "reproducer: repro/functions-rsqrt-float"));
    assert_non_null(strstr(r->err, "1 check failed\n"));
    assert_int_equal(run_reproducer("repro/functions-rsqrt-float"), 1);
    unsetenv("FAKE_ICD");
    assert_int_equal(run_reproducer("repro/functions-rsqrt-float"), 0);
    assert_int_equal(run_reproducer_on("repro/functions-rsqrt-float", "nosuch"), 2);
    cli_python("seen = open('repro/functions-rsqrt-float/out.txt').read().split('\\n')\n"
               "assert seen[0] == \"no device matches 'nosuch'; there are:\", seen\n"
               "assert len(seen) == 3 and seen[1].startswith('    ') and ', ' in seen[1], seen\n");
    check_devices_of("repro/functions-rsqrt-float");
    setenv("FAKE_ICD", "fault=rewrite,kernel=dcs", 1);
    setenv("FAKE_ICD_FROM", "gm_sum[at] = p->sum[k];", 1);
    setenv("FAKE_ICD_TO", "gm_sum[at] = 1.001f * p->sum[k];", 1);
    r = cli("check --quick kernels/dcs --emit-reproducer repro --json c.json");
    assert_int_equal(r->code, 5);
    char *text = strstr(r->out, "reproducer: ");
    assert_non_null(text);
    char folder[256];
    assert_int_equal(sscanf(text, "reproducer: %255s", folder), 1);
    assert_int_equal(run_reproducer(folder), 1);
    unsetenv("FAKE_ICD");
    assert_int_equal(run_reproducer(folder), 0);
    unsetenv("OCL_ICD_VENDORS");
}

static void test_failed_reports(void **state)
{
    set_fake_driver();
    setenv("FAKE_ICD", "fault=rewrite,kernel=functions", 1);
    setenv("FAKE_ICD_FROM", "gm_out[i] = f;", 1);
    setenv("FAKE_ICD_TO", "gm_out[i] = 1.001f * (isinf(f) ? 3e38f : f);", 1);
    cli_run(5, NULL,
            "2 checks failed; --emit-reproducer DIR writes programs that show the faults to the driver's makers\n",
            "check --quick functions/rsqrt specials/infinities");
    cli("check --quick functions/rsqrt specials/infinities --emit-reproducer repro --json b.json --junit b.xml");
    unsetenv("FAKE_ICD");
    unsetenv("OCL_ICD_VENDORS");
    cli_expect(5, NULL, "2 checks failed");
    cli_python(failed_reports);
}

/* ---- What is known --------------------------------------------------------------------------- */

/* A fault that the table has is named as known, in the text and the report, and fails all the same;
 * one of a driver that the table does not name is not. */
static void test_known(void **state)
{
    const dev_info rusticl = {.platform = "rusticl", .name = "llvmpipe (LLVM 15.0.6, 256 bits)"},
                   intel = {.platform = "Intel(R) OpenCL", .name = "cpu"},
                   other = {.platform = "Portable Computing Language", .name = "cpu"};
    assert_non_null(quirks_of_check(&rusticl, "launches", "stamps", ""));
    assert_null(quirks_of_check(&rusticl, "launches", "order", ""));
    assert_non_null(quirks_of_check(&rusticl, "functions", "erfc", "float"));
    assert_null(quirks_of_check(&other, "functions", "erfc", "float"));
    assert_null(quirks_of_check(&other, "launches", "stamps", ""));
    assert_non_null(quirks_of_check(&intel, "transforms", "even", "clfft"));
    assert_null(quirks_of_check(&intel, "transforms", "even", "vkfft"));
    assert_non_null(quirks_of_check_on_host(&rusticl, "ppc64le", "specials", "no-numbers", "float"));
    assert_null(quirks_of_check_on_host(&rusticl, "x86_64", "specials", "no-numbers", "float"));
    assert_non_null(quirks_of_check(&other, "functions", "sin", "vectors"));
    assert_null(quirks_of_check(&other, "functions", "sin", "float"));
    const cli_result *r = cli("check functions/sin functions/cos");
    if (strstr(r->out, "Portable Computing Language, driver 3.1") != NULL && strstr(r->out, "/vectors ") != NULL) {
        assert_int_equal(r->code, 5); /* numbers are large and small, side by side */
        assert_non_null(strstr(r->out, "      known: of numbers below 1e-2 that share a vector"));
    }
    set_fake_driver();
    setenv("FAKE_ICD", "fault=no-stamps", 1);
    r = cli("check --quick launches/stamps");
    assert_int_equal(r->code, 5);
    assert_null(strstr(r->out, "known: "));
    unsetenv("FAKE_ICD");
    unsetenv("OCL_ICD_VENDORS");
    r = cli("RUSTICL_ENABLE=llvmpipe check --quick launches/stamps functions/erfc --json k.json");
    if (strstr(r->out, "FAIL  launches/stamps") == NULL || strstr(r->out, "llvmpipe") == NULL)
        skip(); /* it is not installed, or stamps its events */
    assert_int_equal(r->code, 5);
    if (strstr(r->out, "FAIL  functions/erfc") != NULL)
        assert_non_null(strstr(r->out, "      known: erfc of floats is off by 16 ulp"));
    assert_non_null(strstr(r->out, "      known: events have no time stamps"));
    cli_python(
        "import json\n"
        "checks = [c for d in json.load(open('k.json'))['devices'] for c in d['checks'] if c['outcome'] == 'failed' "
        "and c['group'] == 'launches']\n"
        "assert [c['known'][:26] for c in checks] == ['events have no time stamps'], checks\n");
}

/* Where values arrive before the write of them is complete, stamps are there all the same. */
static void test_late_stamps(void **state)
{
    set_fake_driver();
    setenv("FAKE_ICD", "fault=late-stamps", 1);
    cli_run(0, "pass  launches/stamps", NULL, "check --quick launches/stamps");
    unsetenv("FAKE_ICD");
    unsetenv("OCL_ICD_VENDORS");
}

/* Compilers for Arm have vectors of doubles at multiples of 16 bytes, whatever their size. */
static void test_alignment(void **state)
{
    set_fake_driver();
    setenv("FAKE_ICD", "fault=rewrite", 1);
    setenv("FAKE_ICD_FROM", "typedef LEY_PASTE(scalar, 4) atom;", 1);
    setenv("FAKE_ICD_TO", "typedef LEY_PASTE(scalar, 4) atom __attribute__((aligned(16)));", 1);
    cli("check layout/structs kernels/mdh/simple-list-none-double-standard");
    cli_expect(0, "pass  layout/structs/double", NULL);
    cli_expect(0, "pass  kernels/mdh/simple-list-none-double-standard", NULL);
    unsetenv("FAKE_ICD");
    unsetenv("FAKE_ICD_FROM");
    unsetenv("FAKE_ICD_TO");
    unsetenv("OCL_ICD_VENDORS");
}

/* ---- Signals --------------------------------------------------------------------------------- */

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wherever it is, in a compiler perhaps: half a second later it is gone, whatever else the machine
 * does, one time of three. */
static void test_interrupt(void **state)
{
    double took_s = 1e9;
    for (int i = 0; i < 3 && took_s > 0.5; i++) {
        const pid_t child = cli_start("LEYDEN_CACHE_DIR=none%d POCL_CACHE_DIR=%s check kernels", i, cli_path("pocl"));
        cli_wait_for_work(child, 0.4);
        const double from_s = clock_s();
        kill(child, SIGINT);
        const cli_result *r = cli_wait(child);
        took_s = clock_s() - from_s;
        assert_int_equal(r->code, 130);
        assert_non_null(strstr(r->err, "cancelled"));
    }
    if (took_s > 0.5)
        fail_msg("it took %g s", took_s);
}

/* What PoCL's compiler prints of the kernel that is broken on purpose does not come through; what
 * the command says after it does. */
static void test_silent_compilers(void **state)
{
    const cli_result *r = cli("check --quick --device 0 builds/logs -v");
    assert_int_equal(r->code, 0);
    assert_null(strstr(r->err, "error generated"));
    assert_non_null(strstr(r->out, "builds/logs"));
    r = cli("check --quick --device 0 builds/logs --json /nonexistent/a.json");
    assert_int_equal(r->code, 2);
    assert_non_null(strstr(r->err, "/nonexistent/a.json"));
}

int main(void)
{
    support_leave_out_second_driver();
    return RUN_GROUP(SUPPORT_GROUP(.begin = cli_prepare), test_kernels, test_list, test_failures, test_names,
                     test_files, test_doubles, test_reproducer, test_failed_reports, test_interrupt, test_known,
                     test_late_stamps, test_alignment, test_silent_compilers);
}
