/* `leyden map --method msm` from end to end: what is chosen, said and refused, and devices that
 * leave out a step. */
#include "cli_support.h"

#include <signal.h>
#include <unistd.h>

#define MAP "map ion.pqr -o out/a.dx "
#define MSM MAP "--method msm "

static const char *molecule(void)
{
    static const char protein[] = "/usr/share/apbs/examples/misc/fas2.pqr";
    if (access(protein, R_OK) == 0)
        return protein;
    cli_write_molecule("many.pqr", 900, 25, 7);
    return "many.pqr";
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_help(void **state)
{
    static const char *const said[] = {"With --method msm",
                                       "--mesh-spacing A",
                                       "--window NAME",
                                       "--splitting NAME",
                                       "--solver NAME",
                                       "--levels N",
                                       "--preset NAME",
                                       "nodal9, bspline4",
                                       "(default: taylor4)",
                                       "(default: nodal7)",
                                       "2e-4 to 4e-4 in water",
                                       "3e-5 at a/h",
                                       "2e-3",
                                       "docs/long-range.md",
                                       NULL};
    cli_run(0, "--method METHOD", NULL, "help map all");
    cli_expect_all(said);
}

static void test_what_is_refused(void **state)
{
    static const cli_failing cases[] = {
        {MAP "--window nodal3", 1, "--window needs --method msm"},
        {MAP "--preset papers", 1, "--preset needs --method msm"},
        {MAP "--cutoff 9", 1, "--cutoff needs --method cutoff or msm"},
        {MAP "--method cutoff --mesh-spacing 2", 1, "--mesh-spacing needs --method msm"},
        {MSM "--pair coulomb", 1, "--pair needs --method cutoff"},
        {MSM "--cutoff 0", 1, "--cutoff: 0 is out of range"},
        {MSM "--cutoff nan", 1, "--cutoff takes a number (A), not 'nan'"},
        {MSM "--cutoff 1 --r-min 1 --mesh-spacing 0.5", 1, "cutoff 1 A, must be above r_min (1 A)"},
        {MSM "--mesh-spacing 0", 1, "--mesh-spacing: 0 is out of range"},
        {MSM "--mesh-spacing nan", 1, "--mesh-spacing takes a number (A), not 'nan'"},
        {MSM "--mesh-spacing 13", 1, "mesh spacing 13 A, must be above 0 and at most the cutoff, 12 A"},
        {MSM "--mesh-spacing 0.5", 1, "a cutoff of 12 A is 24 mesh spacings of 0.5 A"},
        {MSM "--window bspline6", 1, "makes up for: take that solver, or the window nodal7"},
        {MSM "--window cubic", 1, "--window: unknown value 'cubic'"},
        {MSM "--splitting taylor9", 1, "--splitting: unknown value 'taylor9'"},
        {MSM "--preset paper", 1, "--preset: unknown value 'paper'"},
        {MSM "--solver fourier --levels 2", 1, "not 2: leave the levels out, or take the multilevel solver"},
        {MSM "--fft vkfft", 1, "--fft is for --solver fourier and mixed"},
        {MSM "--solver auto --window nodal5 --fft vkfft", 1, "fourier and mixed, or auto with a B-spline"},
        {MSM "--solver mixed --window bspline6", 1, "mesh: the mixed solver takes nodal windows"},
        {MSM "--solver mixed --levels 1", 1, "the mixed solver has two levels or more"},
        {MSM "--solver fourier --fft fftz", 1, "--fft: unknown value 'fftz'"},
        {MSM "--levels 17", 1, "--levels: 17 is out of range"},
        {MSM "--levels -1", 1, "--levels: -1 is out of range"},
        {MSM "--levels 1 --mesh-spacing 1 --spacing 2 --padding 20", 1, "1 level is too few"},
        {MSM "--levels 1 --mesh-spacing 1 --spacing 2 --padding 20", 1, "take more levels, or 0: as many as pay"},
        {MSM "--cutoff 1 --mesh-spacing 0.1 --solver fourier --window bspline4 --dims 3,3,3 --spacing 600", 2,
         "more than a kernel can number: take a wider mesh spacing"},
        {MSM "--cutoff 0.5 --mesh-spacing 0.05 --dims 3,3,3 --spacing 25", 2,
         "more than a kernel can number: take a wider mesh spacing"},
        {MSM "--periodic x --cell 10,10,10 --kappa 1e-6", 2,
         "take at least 4e-06 / A, or 0 for charges whose sum is 0"},
        {MSM "--periodic xyz --cell 0.1,0.1,1000", 2, "take several cells for one, or a shorter cutoff"},
        {MSM "--dims 3,3,3 --origin 9e8,0,0", 2, "along axis 1, which are too many: take a wider mesh spacing"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void test_header_and_report(void **state)
{
    static const char *const notes[] = {
        "\"splitting\": \"taylor2\"", "\"window\": \"nodal3\"", "\"solver\": \"multilevel\"", "\"cutoff_A\": 12",
        "\"mesh_spacing_A\": 2",      "\"meshes\": \"",         "\"expected_error\": ",       "\"spread_s\": ",
        "\"anterpolation_s\": ",      "\"restriction_s\": ",    "\"lattice_cutoff_s\": ",     "\"top_level_s\": ",
        "\"prolongation_s\": ",       "\"interpolation_s\": ",  "\"short_range_s\": ",        NULL};
    cli_write_molecule("many.pqr", 900, 25, 7);
    const cli_result *r = cli("map many.pqr -o a.dx --method msm --preset papers --spacing 1 --json report.json -v");
    cli_expect(0, "long range: taylor2, nodal3, solver multilevel, cutoff 12 A, nodes 2 A apart; meshes: ", NULL);
    assert_has(r->out, "steps: atoms into bins ");
    assert_has(r->out, "of the root of the squared terms");
    char *map = cli_read("a.dx", NULL), *report = cli_read("report.json", NULL);
    assert_has(map, "method: msm, multilevel summation\n");
    assert_has(map, "long range: taylor2, nodal3, solver multilevel, cutoff 12 A, nodes 2 A apart\n");
    assert_has(map, "of the root of the squared terms at 50 points, relative RMS ");
    for (size_t i = 0; notes[i] != NULL; i++)
        assert_has(report, notes[i]);
    assert_has(report, "\"pair\": null"); /* an option of another method, whatever its default is */
    free(map);
    free(report);
}

/* Half-way between opposite charges all that is right is 0, of which no error is a share. */
static void test_errors_of_nothing(void **state)
{
    cli_write_text("pair.pqr", "ATOM 1 X RES 1 0.1 0.2 3.0 1 1\nATOM 2 X RES 2 0.1 0.2 4.4 -1 1\n");
    cli("map pair.pqr -o a.dx --method msm --origin=-4,-4,3.7 --dims 9,9,1 --spacing 1 -v");
    cli_expect(0, "relative RMS infinite (all exact values are nearly 0), absolute RMS ", NULL);
    char *map = cli_read("a.dx", NULL);
    assert_has(map, "relative RMS infinite (all exact values are nearly 0), absolute RMS ");
    free(map);
}

/* What is given beside a preset counts more than the preset. */
static void test_preset_and_options(void **state)
{
    cli_write_molecule("few.pqr", 40, 12, 3);
    cli("map few.pqr -o a.dx --method msm --spacing 2 --preset papers --window nodal5 --cutoff 9 --levels 2 -v");
    cli_expect(0, "taylor2, nodal5, solver multilevel, cutoff 9 A, nodes 2 A apart; meshes: ", NULL);
    cli("map few.pqr -o a.dx --method msm --spacing 2 -v");
    cli_expect(0, "taylor4, nodal7, solver multilevel, cutoff 12 A, nodes 2 A apart; meshes: ", NULL);
}

/* Steps that there are not are not there in the text either; and a message names a device once. */
static void test_what_is_said_of_little(void **state)
{
    cli_write_molecule("few.pqr", 40, 12, 3);
    const cli_result *r = cli("map few.pqr -o a.dx --method msm --dims 9,9,9 --levels 1 --mesh-spacing 3 -v");
    cli_expect(0, ", top level ", NULL);
    assert_null(strstr(r->out, "restriction"));
    assert_null(strstr(r->out, "prolongation"));
    assert_null(strstr(r->out, "lattice cutoff"));
    r = cli("map few.pqr -o a.dx --method msm --dims 9,9,9 --solver fourier --fft cufft --device opencl:0");
    cli_expect(3, NULL, ": no transform of ");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(strchr(r->err, ' ') + 1, ":"), strchr(r->err, ' ') + 1);
    assert_null(strstr(strstr(r->err, name) + 1, name));
}

/* The map is that of direct summation. */
static void test_against_direct_summation(void **state)
{
    const char *file = molecule();
    cli_run(0, NULL, NULL, "map %s -o dcs.dx --dims 41,37,33 --spacing 1.25", file);
    ley_map *direct = cli_read_map("dcs.dx");
    static const struct {
        const char *options;
        double most;
    } cases[] = {{"--preset papers", 3e-3}, {"", 3e-4}, {"--cutoff 8 --mesh-spacing 1 --window nodal9", 3e-5}};
    for (size_t i = 0; i < (support_is_quick() ? 2 : sizeof cases / sizeof *cases); i++) {
        cli("map %s -o msm.dx --method msm --dims 41,37,33 --spacing 1.25 %s", file, cases[i].options);
        cli_expect(0, NULL, NULL);
        ley_map *map = cli_read_map("msm.dx");
        const double off = support_difference(map, direct);
        if (!(off < cases[i].most))
            fail_msg("'%s': off by %g of the potential", cases[i].options, off);
        ley_map_destroy(map);
    }
    ley_map_destroy(direct);
}

static void test_transforms(void **state)
{
    const char *file = molecule();
    cli_run(0, NULL, NULL, "map %s -o dcs.dx --dims 41,37,33 --spacing 1.25", file);
    cli("map %s -o msm.dx --method msm --dims 41,37,33 --spacing 1.25 --solver fourier --window bspline6 --splitting "
        "pswf "
        "--json a.json -v",
        file);
    cli_expect(0, "influence function ", NULL);
    ley_map *direct = cli_read_map("dcs.dx"), *map = cli_read_map("msm.dx");
    assert_true(support_difference(map, direct) < 3e-5);
    char *report = cli_read("a.json", NULL);
    assert_has(report, "\"spectrum_s\": ");
    assert_has(report, "\"transforms_s\": ");
    assert_has(report, "\"product_s\": ");
    free(report);
    ley_map_destroy(map);
    ley_map_destroy(direct);
}

/* A plan that is written gives the same bytes when it is read. */
static void test_plans(void **state)
{
    cli_write_molecule("many.pqr", 900, 25, 7);
    cli_run(0, NULL, NULL, "map many.pqr -o a.dx --method msm --spacing 1.5 --json a.json");
    cli_run(0, NULL, NULL, "map many.pqr -o b.dx --method msm --spacing 1.5 --plan a.json");
    ley_map *a = cli_read_map("a.dx"), *b = cli_read_map("b.dx");
    assert_memory_equal(ley_map_read_values(a), ley_map_read_values(b),
                        (size_t)ley_grid_points(ley_map_grid(a)) * sizeof(float));
    ley_map_destroy(a);
    ley_map_destroy(b);
}

/* ---- Devices that leave out a step ----------------------------------------------------------- */

/* A device that does not do one of its launches and says that it has done it: each step of the
 * cycle, or of the way there and back, and the first slab's two. Its kernels are in the cache, so
 * that no self-test sees it. There must be no map then, for nobody else can make one. */
static void check_steps_left_out(const char *shim, const char *choice, int launches)
{
    char job[300];
    snprintf(job, sizeof job, "map many.pqr -o a.dx --method msm --spacing 1.5 --padding 3 --device pocl -v %s",
             choice);
    cli("%s", job); /* what is measured once */
    int again = 0;
    for (int at = 1; at <= launches; at += support_is_quick() ? 3 : 1) {
        cli("%s", job); /* what a device that was wrong had in the cache is tested again */
        cli_expect(0, "pthread", NULL);
        unlink(cli_path("struck"));
        unlink(cli_path("a.dx"));
        const cli_result *r = cli("LD_PRELOAD=%s FAULTY_OPENCL=call=clEnqueueNDRangeKernel,fault=skip,at=%d "
                                  "FAULTY_OPENCL_SAYS=%s %s",
                                  shim, at, cli_path("struck"), job);
        assert_int_equal(access(cli_path("struck"), F_OK), 0);
        if (r->code == 0 && ++again < 3) { /* where the cache was cleaned meanwhile, that launch was of a test */
            at -= support_is_quick() ? 3 : 1;
            continue;
        }
        if (r->code == 0 || access(cli_path("a.dx"), F_OK) == 0)
            fail_msg("%s: launch %d left out: exit code %d, %s", choice, at, r->code, r->out);
        if (strstr(r->err, "verification failed") == NULL && strstr(r->err, "not numbers") == NULL)
            fail_msg("%s: launch %d left out: %s", choice, at, r->err);
    }
}

static void test_a_step_left_out(void **state)
{
    char shim[512];
    const ssize_t length = readlink("/proc/self/exe", shim, sizeof shim - 64);
    assert_true(length > 0);
    shim[length] = '\0';
    strcpy(strrchr(shim, '/'), "/faulty_opencl/faulty_opencl.so");
    const char *before = getenv("LD_PRELOAD");
    if (before != NULL && before[0] != '\0')
        skip(); /* a sanitizer, which wants to be first */
    cli_write_molecule("many.pqr", 900, 40, 7);
    check_steps_left_out(shim, "--preset papers --levels 3", 1 + 2 + 1 + 1 + 2 + 2);
    check_steps_left_out(shim, "--solver fourier --window bspline6 --splitting pswf --fft vkfft", 1 + 3 + 1 + 3 + 2);
}

/* PoCL that is told to have 1 GiB has no room for the transform of 500 x 500 x 500 nodes: dry runs
 * say what is done in its place. */
static void test_little_memory(void **state)
{
    static const char line[] = "map few.pqr -o a.raw --method msm --solver auto --window bspline4 --cutoff 6 "
                               "--mesh-spacing 0.65 --spacing 4 --dims 41,41,41 --device pocl --dry-run";
    setenv("POCL_MEMORY_LIMIT", "1", 1);
    const bool is_heeded = strstr(cli("devices")->out, " 1.0 GiB ") != NULL;
    if (is_heeded) {
        cli_run(0, "solver mixed; otherwise no device has room for a transform of ", NULL, "%s -v", line);
        cli_expect(0, "1 level by lattice cutoff, then transforms of ", NULL);
    }
    unsetenv("POCL_MEMORY_LIMIT");
    if (!is_heeded)
        skip();
    cli_run(0, "solver fourier; ", NULL, "%s -v", line);
}

/* Words of the release before. */
static void test_former_words(void **state)
{
    static const char job[] = "map molecule.pqr --method msm --dims 9,9,9 --spacing 1 --cutoff 6 --dry-run -o a.dx";
    cli_write_molecule("molecule.pqr", 30, 10, 3);
    cli("%s --lattice-spacing 2 --solver direct", job);
    cli_expect(0, NULL, "--lattice-spacing is called --mesh-spacing now: the next release takes that word only");
    cli_expect(0, NULL, "--solver direct is called multilevel now: the next release takes that word only");
    cli("%s --lattice-spacing=2 --solver FFT --window bspline6", job);
    cli_expect(0, NULL, "--solver fft is called fourier now");
    cli("%s --mesh-spacing 2 --solver multilevel", job);
    cli_expect(0, NULL, "");
    cli_run(1, NULL, "--mesh-spacing is given twice", "%s --lattice-spacing 2 --mesh-spacing 2", job);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test_setup(test_what_is_refused, cli_empty),
        cmocka_unit_test_setup(test_former_words, cli_empty),
        cmocka_unit_test(test_header_and_report),
        cmocka_unit_test(test_errors_of_nothing),
        cmocka_unit_test(test_preset_and_options),
        cmocka_unit_test(test_what_is_said_of_little),
        cmocka_unit_test(test_against_direct_summation),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_a_step_left_out),
    };
    return cmocka_run_group_tests(tests, cli_prepare, NULL);
}
