/* `leyden map --tol` from end to end: which method is taken, what is said of the error, the exit
 * code where it is missed, and the same bytes by a plan. */
#include "cli_support.h"

#define MAP "map ion.pqr -o out/a.dx "

static void assert_lacks(const char *text, const char *what)
{
    if (strstr(text, what) != NULL)
        fail_msg("'%s' in: %.3000s", what, text);
}

static void test_what_is_refused(void **state)
{
    static const cli_failing cases[] = {
        {MAP "--tol 0", 1, "--tol: 0 is out of range"},
        {MAP "--tol 1", 1, "--tol: 1 is out of range"},
        {MAP "--tol 1e-7", 1, "--tol: 1e-7 is out of range"},
        {MAP "--tol nan", 1, "--tol takes a number"},
        {MAP "--method dcs --tol 1e-3", 1, "--tol needs --method auto or msm"},
        {MAP "--method cutoff --tol 1e-3", 1, "--tol needs --method auto or msm"},
        {MAP "--method msm --tol 1e-3 --preset papers", 1, "--tol and --preset exclude each other"},
        {MAP "--method msm --tol 1e-3 --levels 2", 1, "--tol and --levels exclude each other"},
        {MAP "--method msm --tol 1e-6 --cutoff 2 --mesh-spacing 1.9", 1, "with the choices that are given"},
        {MAP "--window nodal3", 1, "--window needs --method msm"},
        {MAP "--cutoff 9", 1, "--cutoff needs --method cutoff or msm"},
        {MAP "--variant halves16", 1, "--variant: 'halves16' is none of"},
    };
    cli_write_text("ion.txt", "1 2 3\n");
    CLI_CHECK_FAILURES(cases);
}

/* Small maps are summed directly; images and screening take grids; header, text and report say
 * which. */
static void test_which_method(void **state)
{
    static const struct {
        const char *options, *method, *tolerance;
    } cases[] = {
        {"", "method: dcs, direct Coulomb summation", "tolerance: 0.0001 of the root mean square\n"},
        {"--variant simple", "method: dcs, direct Coulomb summation", "tolerance: 0.0001 of"},
        {"--tol 1e-2 --periodic xyz --cell 30,30,30", "method: msm, multilevel summation", "tolerance: 0.01 of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(0, cases[i].method, NULL, "map ion.pqr -o a.dx --json a.json --spacing 2 %s", cases[i].options);
        char *map = cli_read("a.dx", NULL), *report = cli_read("a.json", NULL);
        assert_has(map, cases[i].method);
        assert_has(map, cases[i].tolerance);
        assert_has(report, "\"tolerance\": ");
        assert_has(report, strstr(cases[i].method, "dcs") != NULL ? "\"method\": \"dcs\"" : "\"method\": \"msm\"");
        free(map);
        free(report);
    }
    cli("map ion.pqr -o a.dx --spacing 2 --method dcs --json a.json");
    char *map = cli_read("a.dx", NULL), *report = cli_read("a.json", NULL);
    assert_lacks(map, "tolerance");
    assert_has(report, "\"tolerance\": null");
    free(map);
    free(report);
}

/* What was chosen stands in the report, and a plan makes the same bytes, whatever tolerance is
 * asked for. */
static void test_plan(void **state)
{
    cli_write_molecule("many.pqr", 900, 25, 7);
    cli_run(0, "long range: ", NULL, "map many.pqr -o a.dx --method msm --tol 1e-3 --spacing 1 --json a.json -v");
    char *report = cli_read("a.json", NULL);
    assert_has(report, "\"splitting\": \"");
    assert_has(report, "\"window\": \"");
    assert_has(report, "\"spacing\": \"");
    free(report);
    cli_run(0, NULL, NULL, "map many.pqr -o b.dx --method msm --tol 1e-3 --spacing 1 --plan a.json");
    cli_assert_same_files("a.dx", "b.dx");
    cli("map many.pqr -o b.dx --tol 1e-3 --spacing 1 --plan a.json -v"); /* auto goes by it, too */
    cli_expect(0, "long range: ", NULL);
    cli_assert_same_files("a.dx", "b.dx");
    cli_run(1, NULL, "is asked for", "map many.pqr -o c.dx --method msm --spacing 1 --plan a.json");
}

/* A plan does not override what is asked for; and what it leaves out is chosen. */
static void test_plan_and_options(void **state)
{
    static const struct {
        const char *options, *refusal; /* NULL: as the plan has it */
    } cases[] = {
        {"--splitting taylor4 --window bspline6 --solver fourier --cutoff 9 --mesh-spacing 1.5", NULL},
        {"--window bspline6 --solver auto", NULL},
        {"--splitting taylor3", "plan.json: plan: splitting is to be taylor4, and taylor3 is asked for"},
        {"--window bspline8", "plan.json: plan: window is to be bspline6, and bspline8 is asked for"},
        {"--window nodal7", "plan.json: plan: window is to be bspline6, and nodal7 is asked for"},
        {"--window nodal7 --solver multilevel", "plan.json: plan: window is to be bspline6, and nodal7 is asked for"},
        {"--window bspline6 --solver mixed", "plan.json: plan: solver is to be fourier, and mixed is asked for"},
        {"--cutoff 9.5", "plan.json: plan: cutoff is to be 9 A, and 9.5 A is asked for"},
        {"--mesh-spacing 2", "plan.json: plan: spacing is to be 1.5 A, and 2 A is asked for"},
    };
    cli_write_molecule("many.pqr", 900, 25, 7);
    cli_write_text("plan.json", "{\"method\": \"msm\", \"splitting\": \"taylor4\", \"window\": \"bspline6\", "
                                "\"solver\": \"fourier\", \"cutoff\": \"9\", \"spacing\": \"1.5\"}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli("map many.pqr -o c.dx --method msm --tol 1e-2 --spacing 2 --plan plan.json %s -v", cases[i].options);
        if (cases[i].refusal != NULL)
            cli_expect(1, NULL, cases[i].refusal);
        else
            cli_expect(0, "long range: taylor4, bspline6, solver fourier, cutoff 9 A, nodes 1.5 A apart", NULL);
    }
    /* Where no device had transforms, a plan has another window than was asked for. */
    cli_write_text("plan.json", "{\"method\": \"msm\", \"splitting\": \"taylor4\", \"window\": \"nodal7\", "
                                "\"solver\": \"multilevel\", \"cutoff\": \"12\", \"spacing\": \"2\"}");
    cli("map many.pqr -o c.dx --method msm --tol 1e-2 --spacing 2 --plan plan.json --window bspline6 -v");
    cli_expect(0, "long range: taylor4, nodal7, solver multilevel, cutoff 12 A, nodes 2 A apart", NULL);
    cli("map many.pqr -o c.dx --method msm --tol 1e-2 --spacing 2 --plan plan.json --window bspline6 --solver fourier");
    cli_expect(1, NULL, "window is to be nodal7, and bspline6 is asked for");
    cli_write_text("plan.json", "{\"method\": \"msm\", \"splitting\": \"taylor3\", \"window\": \"nodal5\"}");
    cli("map many.pqr -o c.dx --method msm --tol 1e-2 --spacing 2 --plan plan.json -v");
    cli_expect(0, "long range: taylor3, nodal5, solver multilevel, cutoff ", NULL);
}

/* Of a box so large that floats alone would leave 3e-6: long waves are in double precision and sums
 * compensated, and a plan repeats that to the byte. What --sum says is done. */
static void test_large_box(void **state)
{
    cli("generate waterbox --atoms 150000 --disorder 0.25 -o box.atoms -q");
    cli("map box.atoms -o a.raw --method msm --tol 1e-6 --cutoff 9 --seed 1 --dims 72,72,72 --json a.json -v");
    cli_expect(0, "long range: ", NULL);
    char *report = cli_read("a.json", NULL);
    assert_has(report, "\"long_waves_per_A\": 0.3");
    assert_has(report, "\"long_waves\": \"0.3");
    assert_has(report, "\"sum\": \"compensated\"");
    free(report);
    cli("map box.atoms -o b.raw --method msm --tol 1e-6 --cutoff 9 --seed 1 --dims 72,72,72 --plan a.json -v");
    cli_expect(0, "long range: ", NULL);
    cli_assert_same_files("a.raw", "b.raw");
    cli("map box.atoms -o b.raw --tol 1e-6 --seed 1 --dims 72,72,72 --plan a.json -v"); /* auto goes by it, too */
    cli_expect(0, "long range: ", NULL);
    cli_assert_same_files("a.raw", "b.raw");
    cli("map box.atoms -o b.raw --method msm --tol 1e-3 --cutoff 9 --dims 72,72,72 --sum float --json b.json -v");
    cli_expect(0, "long range: ", NULL);
    report = cli_read("b.json", NULL);
    assert_lacks(report, "long_waves");
    free(report);
}

/* A plan that was made for less. The map is there, and says so. */
static void test_missed(void **state)
{
    cli_write_molecule("many.pqr", 900, 25, 7);
    cli_run(0, "written: ", NULL, "map many.pqr -o a.dx --method msm --tol 1e-2 --spacing 1 --json a.json");
    cli("map many.pqr -o b.dx --method msm --tol 1e-6 --spacing 1 --plan a.json --json b.json");
    cli_expect(5, "written: ", ", and --tol is 1e-06: a run without --plan may be more accurate");
    char *map = cli_read("b.dx", NULL), *report = cli_read("b.json", NULL);
    assert_has(map, "tolerance: 1e-06 of the root mean square\n");
    assert_has(map, "relative RMS ");
    assert_has(report, "\"exit_code\": 5");
    assert_has(report, "\"bytes_written\": ");
    assert_lacks(report, "\"bytes_written\": null");
    free(map);
    free(report);
}

/* Plans of methods that auto does not come to. */
static void test_plan_of_another_method(void **state)
{
    static const struct {
        const char *method, *output, *says;
    } cases[] = {
        {"cutoff", "a.dx", "method cutoff, and method auto takes those of dcs and msm"},
        {"mdh", "a.csv --points p.csv", "method mdh, and method auto takes those of dcs and msm"},
        {"dcs", "a.dx --periodic xyz --cell 30,30,30", "method dcs, and method auto takes those of msm"},
    };
    cli_write_text("p.csv", "1 2 3\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char plan[100];
        snprintf(plan, sizeof plan, "{\"method\": \"%s\"}", cases[i].method);
        cli_write_text("plan.json", plan);
        cli_run(1, NULL, cases[i].says, "map ion.pqr --plan plan.json -o %s", cases[i].output);
        cli_expect(1, NULL, "leyden: plan.json: plan: it is one of ");
    }
}

/* A map of a single point, and points at one place: in a periodic cell, too. */
static void test_one_place(void **state)
{
    static const char *const axes[] = {"x", "xy", "xyz"};
    cli_write_molecule("many.pqr", 900, 25, 7);
    char text[100 * sizeof "5 6 7\n"] = "";
    for (int i = 0; i < 100; i++)
        strcat(text, "5 6 7\n");
    cli_write_text("same.csv", text);
    cli_write_text("pair.pqr", "ATOM 1 A UNK 1 0.3 0.1 0.2 1 1\nATOM 2 A UNK 1 4.5 1 2 -1 1\n");
    /* Standard math is for devices, so that the host does not take over. */
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        cli("map pair.pqr -o a.dx --dims 1,1,1 --math standard --periodic %s --cell 25,26,27 -v", axes[i]);
        cli_expect(0, "long range: ", NULL);
        cli("map pair.pqr -o a.csv --points same.csv --math standard --periodic %s --cell 25,26,27 -v", axes[i]);
        cli_expect(0, "long range: ", NULL);
    }
    cli("map many.pqr -o a.dx --dims 1,1,1 --math standard --periodic xyz --cell 25,25,25 -v");
    cli_expect(0, "long range: ", NULL);
}

/* Charges that cancel everywhere, and such as are none. */
static void test_nothing(void **state)
{
    cli_write_text("none.pqr", "ATOM 1 A UNK 1 0.1 0.2 0.3 1 1\nATOM 2 A UNK 1 0.1 0.2 0.3 -1 1\n");
    cli_run(0, "sum: double, since terms nearly cancel", NULL, "map none.pqr -o a.dx --spacing 1 -v");
    cli("map none.pqr -o a.dx --spacing 1 --sum float -v");
    cli_expect(0, "tolerance: 0.0001 of ", NULL);
    cli_write_text("zero.pqr", "ATOM 1 A UNK 1 0.1 0.2 0.3 0 1\nATOM 2 A UNK 1 1.1 0.2 0.3 0 1\n");
    cli_run(0, "accuracy: nothing to compare", NULL, "map zero.pqr -o a.dx --spacing 1 -v");
    cli_run(0, "accuracy: nothing to compare", NULL,
            "map zero.pqr -o a.dx --spacing 1 --periodic xyz --cell 20,20,20 -v");
    cli("map none.pqr -o a.dx --spacing 1 --tol 1e-6 --periodic xyz --cell 20,20,20 --method msm --splitting optimal "
        "--window bspline6 --cutoff 14.5 --mesh-spacing 1.1 -v"); /* other grids may leave nothing at all */
    cli_expect(0, "tolerance: 1e-06 of ", NULL);
}

/* Far above a layer the potential is flat, and not nothing; in a cell of 30 degrees meshes are
 * off by more than those of cubes. Both are foreseen: neither is refused or missed. What screening
 * leaves there is less than floats hold of what charges do, and has a floor; grids may be off by
 * nearly the same everywhere there, which is no fault of a device. */
static void test_cells(void **state)
{
    cli_write_text("layer.pqr", "ATOM 1 X UNK 1 1 1 0 1 1.5\nATOM 2 X UNK 2 4 3 1 -1 1.5\n");
    cli("map layer.pqr -o a.dx --periodic xy --cell 10,10,10 --dims 9,9,9 --spacing .5 --origin=0,0,200 --tol 1e-4 "
        "--math standard");
    cli_expect(0, "method: msm", NULL);
    cli_write_text("steep.pqr", "ATOM 1 X UNK 1 19.69 3.4 3.21 1 1.5\nATOM 2 X UNK 2 26.28 6.85 4.86 -1 1.5\n");
    cli("map steep.pqr -o a.dx --cell 12,12,12,30,30,30 --periodic xyz --tol 1e-3 --dims 8,8,8 --spacing 1.37 "
        "--origin 0,0,0 --math standard");
    cli_expect(0, "method: msm", NULL);
    cli_write_text("far.pqr", "ATOM 1 X UNK 1 1 1 0 1 1.5\nATOM 2 X UNK 2 4 3 1 1 1.5\n");
    cli("map far.pqr -o a.dx --periodic xy --cell 10,10,10 --dims 3,3,3 --origin=0,0,60 --tol 1e-5 --kappa 0.5 "
        "--math standard -v");
    cli_expect(0, "tolerance: 1e-05 of ", NULL);
    cli_write_text("pair.pqr", "ATOM 1 X UNK 1 4.801 3.387 12.239 0.962 1.5\n"
                               "ATOM 2 X UNK 2 0.421 1.087 8.021 -0.962 1.5\n");
    cli("map pair.pqr -o a.dx --periodic xy --cell 6.009,6.266,12.923 --dims 3,3,3 --spacing 0.565 "
        "--origin=0.542,6.506,60 --tol 1e-2 --kappa 0.499 --method msm --math standard -v");
    cli_expect(0, "tolerance: 0.01 of ", NULL);
}

/* Two charges in a wire cancel to a twelfth: meshes of floats whose nodes are summed one by one
 * have too few digits for 1e-6, which is foreseen. */
static void test_wire(void **state)
{
    cli_write_text("wire.pqr", "ATOM 1 X UNK 1 13.057 5.298 7.921 -0.816 1.5\n"
                               "ATOM 2 X UNK 2 14.557 6.798 9.421 0.816 1.5\n");
    cli("map wire.pqr -o a.dx --json a.json --tol 1e-6 --dims 3,3,3 --spacing 1.622 --origin=4.629,1.944,8.936 "
        "--periodic x --cell 13.603,8.724,16.817 --math standard");
    cli_expect(0, "method: msm", NULL);
    char *report = cli_read("a.json", NULL);
    assert_has(report, "\"solver\": \"fourier\"");
    free(report);
}

/* What is fixed may leave nothing that is right: it is done, measured and told. Who does not want
 * it measured hears that. */
static void test_what_is_measured(void **state)
{
    cli("map ion.pqr -o a.dx --spacing 2 --method msm --tol 1e-6 --cutoff 2 --mesh-spacing 1.3");
    cli_expect(5, "written: ", "and --tol is 1e-06");
    cli("map ion.pqr -o a.dx --spacing 2 --tol 1e-3 --verify 0 -v");
    cli_expect(0, "accuracy: not measured, since --verify is 0", NULL);
    char *map = cli_read("a.dx", NULL);
    assert_has(map, "tolerance: 0.001 of the root mean square, not measured\n");
    free(map);
}

/* What is held to a tolerance is looked at at 256 points, though there is time for few of so many
 * atoms; what is not, at 50 at least. */
static void test_points(void **state)
{
    static const struct {
        const char *options;
        int least;
    } cases[] = {{"--tol 1e-2", 256}, {"--method dcs", 50}};
    cli("generate waterbox --atoms 300000 -o box.atoms -q");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli("map box.atoms -o a.raw --dims 8,8,8 --origin 9,9,9 --spacing 3 --json a.json %s -v", cases[i].options);
        cli_expect(0, "accuracy: ", NULL);
        char *report = cli_read("a.json", NULL);
        const char *points = strstr(strstr(report, "\"accuracy\": "), "\"points\": ");
        assert_true(atoi(points + strlen("\"points\": ")) >= cases[i].least);
        free(report);
    }
}

/* Direct sums of floats that nearly cancel are done in doubles where the tolerance asks for them,
 * and not where it does not; a plan repeats that to the byte. Charges that cancel altogether have a
 * potential of zero, which doubles find. */
static void test_double(void **state)
{
    cli_write_molecule("many.pqr", 300, 20, 7);
    cli("map many.pqr -o a.raw --tol 1e-6 --dims 20,20,20 --origin 60,60,60 --spacing 1 --json a.json -v");
    cli_expect(0, "sum: double, since terms nearly cancel", NULL);
    cli("map many.pqr -o b.raw --tol 1e-6 --dims 20,20,20 --origin 60,60,60 --spacing 1 --plan a.json -v");
    cli_expect(0, "accuracy: ", NULL);
    cli_assert_same_files("a.raw", "b.raw");
    cli("map many.pqr -o b.raw --tol 1e-2 --dims 20,20,20 --origin 60,60,60 --spacing 1 --json b.json -v");
    cli_expect(0, "accuracy: ", NULL);
    char *report = cli_read("b.json", NULL);
    assert_has(report, "\"float_relative_rms\": null");
    assert_has(report, "\"sum\": \"float\"");
    free(report);
    cli_write_text("none.pqr", "ATOM 1 X UNK 1 0.3 0.2 0.1 1 1\nATOM 2 X UNK 1 4.3 1.2 2.1 -1 1\n"
                               "ATOM 3 X UNK 1 0.3 0.2 0.1 -1 1\nATOM 4 X UNK 1 4.3 1.2 2.1 1 1\n");
    cli_run(0, "accuracy: ", NULL, "map none.pqr -o a.raw --dims 20,20,20 --origin 1,1,1 --spacing 1.3 -v");
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    cmocka_set_test_filter("test_plan"); /* whose threads are those of all long-range jobs */
#endif
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_what_is_refused, test_plan,
                     test_which_method, test_plan_and_options, test_large_box, test_missed, test_nothing, test_cells,
                     test_wire, test_what_is_measured, test_one_place, test_plan_of_another_method, test_points,
                     test_double);
}
