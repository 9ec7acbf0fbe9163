/* `leyden map --method msm` of periodic and of screened charges from end to end: maps against exact
 * sums, what is said of them, and what is refused. */
#include "cli_support.h"

#include "numerics/lattice_sum.h"

#include <unistd.h>

#define MSM "map salt.pqr -o out/a.dx --method msm "

enum { IONS = 24 };

/* Neutral, within 0 and 20 A and a little around it; "charged.pqr" has an ion less. */
static double places_A[IONS][3], charges_e[IONS];

static void write_molecules(void)
{
    char text[IONS * 80] = "";
    size_t used = 0;
    unsigned seed = 3;
    for (int i = 0; i < IONS; i++) {
        charges_e[i] = i % 2 == 0 ? 0.75 : -0.75;
        for (int axis = 0; axis < 3; axis++) {
            seed = seed * 1664525 + 1013904223;
            places_A[i][axis] = (double)(seed >> 8) / (1 << 24) * 24 - 2;
            places_A[i][axis] = round(places_A[i][axis] * 1000) / 1000;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "ATOM %d X ION 1 %.3f %.3f %.3f %.2f 1.5\n", i + 1,
                                 places_A[i][0], places_A[i][1], places_A[i][2], charges_e[i]);
        if (i + 2 == IONS)
            cli_write_text("charged.pqr", text);
    }
    cli_write_text("salt.pqr", text);
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_help(void **state)
{
    static const char *const said[] = {"With --periodic all images count",
                                       "a uniform background neutralises a net charge",
                                       "With --kappa every charge is screened",
                                       "--periodic AXES",
                                       "--cell NUMBERS",
                                       "--kappa 1/A",
                                       "--screening-length A",
                                       NULL};
    cli_run(0, "--method METHOD", NULL, "help map all");
    char *words = malloc(strlen(cli("help map all")->out) + 1), *to = words; /* however lines are broken */
    for (const char *from = cli("help map all")->out; *from != '\0'; from++)
        if (*from != '\n' && !(*from == ' ' && to > words && to[-1] == ' '))
            *to++ = *from;
        else if (*from == '\n' && to > words && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
    for (size_t i = 0; said[i] != NULL; i++)
        assert_has(words, said[i]);
    free(words);
}

static void test_what_is_refused(void **state)
{
    static const cli_failing cases[] = {
        {"map ion.pqr -o out/a.dx --method dcs --periodic xyz --cell 20,20,20", 1,
         "--periodic needs --method auto, cutoff or msm"},
        {"map ion.pqr -o out/a.dx --method dcs --kappa 1", 1, "--kappa needs --method auto, cutoff or msm"},
        {MSM "--periodic xyz", 1, "--periodic needs --cell"},
        {MSM "--cell 20,20,20", 1, "--cell needs --periodic"},
        {MSM "--periodic zyx --cell 20,20,20", 1, "--periodic: unknown value 'zyx'"},
        {MSM "--periodic x --cell 20,20", 1, "--cell takes 3 numbers separated by commas (a,b,c), 6"},
        {MSM "--periodic x --cell 20,-20,20", 1, "--cell: a length of -20 A"},
        {MSM "--periodic x --cell 20,20,20,30,30,90", 1, "--cell: no cell has the angles 30, 30 and 90 degrees"},
        {MSM "--periodic xy --cell 1,0,0,2,0,0,0,0,1", 2, "cell: its vectors lie in a plane, or two of them on a line"},
        {MSM "--periodic y --cell 1,0,0,0,0,0,0,0,1", 2, "cell: vector b has no length"},
        {MSM "--kappa 0.1 --screening-length 10", 1, "--kappa and --screening-length exclude each other"},
        {MSM "--kappa 101", 1, "--kappa: 101 is out of range"},
        {MSM "--kappa 0.1 --splitting pswf --solver fourier", 1, "pswf is of 1/r alone: screened sums take taylor2 to"},
        {"map charged.pqr -o out/a.dx --method msm --periodic xz --cell 20,20,20", 2,
         "a net charge of 0.75 e that is repeated along two axes has no potential: it must be 0"},
        {"map charged.pqr -o out/a.dx --method msm --periodic y --cell 20,20,20", 2, "repeated along one axis"},
        {MSM "--periodic xyz --cell 300,20,3", 2, "take a wider mesh spacing, or the fourier solver"},
        {MSM "--periodic xyz --cell 110,110,110 --cutoff 32", 1, "kernels hold those of at most 31"},
        {MSM "--periodic xyz --cell 20,20,20 --window bspline6", 1, "the multilevel solver takes nodal windows"},
        {MSM "--periodic xyz --cell 20,20,20 --origin 1,2,3 --padding 4", 1,
         "--padding and --origin exclude each other"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- Exact sums ------------------------------------------------------------------------------ */

typedef struct boundary {
    const char *options;
    bool periodic[3];
    double cell_A[3][3], kappa_per_A;
    int ions;
    double most; /* of the potential's root mean square */
} boundary;

/* Errors against sums over each charge's images, by the root mean square. */
static double off_by(const ley_map *map, const boundary *b)
{
    lattice_sum_options options = {.kappa_per_A = b->kappa_per_A, .r_min_A = 0.05};
    lattice_sum *sum;
    ley_error error = {0};
    double errors2 = 0, rights2 = 0;
    const ley_grid *l = ley_map_grid(map);
    assert_ok(cell_make(b->periodic, b->cell_A, &options.cell, &error));
    assert_ok(lattice_sum_create(&options, (size_t)b->ions, places_A[0], charges_e, &sum, &error));
    for (int64_t i = 0; i < ley_grid_points(l); i += 7) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        double point_A[3];
        ley_grid_point_A(l, at, point_A);
        const double right = ley_coulomb_constant(LEY_UNITS_VOLT, 4, 300) * lattice_sum_at(sum, point_A);
        errors2 += pow((double)ley_map_read_values(map)[i] - right, 2);
        rights2 += right * right;
    }
    lattice_sum_destroy(sum);
    return sqrt(errors2 / rights2);
}

static const boundary boundaries[] = {
    {"--periodic xyz --cell 20,21,22", {true, true, true}, {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}}, 0, IONS, 3e-4},
    {"--periodic xyz --cell 20,0,0,-5,19,0,4,3,18 --dims 9,11,12 --spacing 1.7",
     {true, true, true},
     {{20, 0, 0}, {-5, 19, 0}, {4, 3, 18}},
     0,
     IONS,
     3e-4},
    {"--periodic xyz --cell 20,21,22 --solver fourier --window bspline6 --splitting pswf",
     {true, true, true},
     {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}},
     0,
     IONS - 1,
     2e-5},
    {"--periodic yz --cell 20,21,22 --dims 9,11,12 --spacing 1.7",
     {false, true, true},
     {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}},
     0,
     IONS,
     3e-4},
    {"--periodic z --cell 20,21,22 --dims 9,11,12 --spacing 1.7",
     {false, false, true},
     {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}},
     0,
     IONS,
     3e-4},
    {"--screening-length 8 --dims 9,11,12 --spacing 1.7", {false}, {{0}}, 0.125, IONS - 1, 3e-4},
    {"--periodic xy --cell 20,0,0,-5,19,0,4,3,18 --kappa 0.05 --dims 9,11,12 --spacing 1.7",
     {true, true, false},
     {{20, 0, 0}, {-5, 19, 0}, {4, 3, 18}},
     0.05,
     IONS - 1,
     3e-4},
    /* so little that the mean of a charge and its images is millions of times the rest */
    {"--periodic yz --cell 20,21,22 --kappa 1e-6 --dims 9,11,12 --spacing 1.7",
     {false, true, true},
     {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}},
     1e-6,
     IONS,
     3e-4},
    {"--periodic xyz --cell 20,21,22 --screening-length 100000",
     {true, true, true},
     {{20, 0, 0}, {0, 21, 0}, {0, 0, 22}},
     1e-5,
     IONS,
     3e-4},
};

static void test_against_exact_sums(void **state)
{
    for (size_t i = 0; i < sizeof boundaries / sizeof *boundaries; i += support_is_quick() ? 2 : 1) {
        const boundary *b = &boundaries[i];
        cli("map %s.pqr -o a.dx --method msm --units V --dielectric 4 %s -v", b->ions == IONS ? "salt" : "charged",
            b->options);
        cli_expect(0, "accuracy: ", NULL);
        ley_map *map = cli_read_map("a.dx");
        const double off = off_by(map, b);
        print_message("'%s': off by %.2g\n", b->options, off);
        assert_true(off < b->most);
        ley_map_destroy(map);
    }
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void test_header_and_report(void **state)
{
    static const char *const said[] = {"\"periodic\": \"xyz\"", "\"kappa_per_A\": 0",
                                       "\"background_e\": ", "\"cell_A\": [", NULL};
    const cli_result *r = cli(
        "map charged.pqr -o a.dx --method msm --periodic xyz --cell 20,21,22,90,90,90 --spacing 2 --json a.json -v");
    cli_expect(0, "cutoff 12 A, nodes at most 2 A apart; meshes: ", NULL);
    assert_has(r->out, "grid: 10 x 11 x 11 = 1,210 points"); /* the cell */
    assert_has(r->out, "background: -0.75 e in each cell, uniform, which makes it neutral\n");
    char *map = cli_read("a.dx", NULL), *report = cli_read("a.json", NULL);
    assert_has(map, "# cell: a (20, 0, 0), b (0, 21, 0), c (0, 0, 22) A, periodic along a b c\n");
    assert_has(map, "# background: -0.75 e in each cell, uniform, which makes it neutral\n");
    for (size_t i = 0; said[i] != NULL; i++)
        assert_has(report, said[i]);
    free(map);
    free(report);
    cli("map salt.pqr -o a.dx --method msm --periodic xyz --cell 20,21,22 --spacing 2 -v");
    cli_expect(0, "periodic along a b c\n", NULL);
    assert_null(strstr(cli("map salt.pqr -o a.dx --method msm --spacing 2 --padding 2")->out, "background"));
}

/* Beyond the bound screening leaves nothing to meshes, and that is said. */
static void test_strong_screening(void **state)
{
    const cli_result *r =
        cli("map charged.pqr -o a.dx --method msm --kappa 2.5 --spacing 2 --padding 2 --json a.json -v");
    cli_expect(0, "kappa 2.5 / A; meshes: none, screening leaves nothing beyond the cutoff\n", NULL);
    assert_has(r->out, "steps: short range ");
    char *map = cli_read("a.dx", NULL), *report = cli_read("a.json", NULL);
    assert_has(map, "cutoff 12 A, nodes 2 A apart, kappa 2.5 / A\n");
    assert_has(report, "\"kappa_per_A\": 2.5");
    assert_null(strstr(report, "expected_error"));
    free(map);
    free(report);
    cli_run(0, NULL, NULL, "map charged.pqr -o b.dx --method cutoff --pair yukawa --kappa 2.5 --spacing 2 --padding 2");
    ley_map *a = cli_read_map("a.dx"), *b = cli_read_map("b.dx");
    assert_memory_equal(ley_map_read_values(a), ley_map_read_values(b),
                        (size_t)ley_grid_points(ley_map_grid(a)) * sizeof(float));
    ley_map_destroy(a);
    ley_map_destroy(b);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The field of a.dx at node (i, j, k), in kT/e/A. */
static void read_field(const int64_t at[3], double field[3])
{
    static const char *const paths[3] = {"a_Ex.dx", "a_Ey.dx", "a_Ez.dx"};
    for (int axis = 0; axis < 3; axis++) {
        ley_map *map = cli_read_map(paths[axis]);
        const int64_t *n = ley_map_grid(map)->n;
        field[axis] = (double)ley_map_read_values(map)[(at[2] * n[1] + at[1]) * n[0] + at[0]];
        ley_map_destroy(map);
    }
}

static void expect_field(const int64_t at[3], const double right[3], double share)
{
    double field[3], size = 0;
    read_field(at, field);
    for (int axis = 0; axis < 3; axis++)
        size = fmax(size, fabs(right[axis]));
    for (int axis = 0; axis < 3; axis++)
        if (!(fabs(field[axis] - right[axis]) <= share * size))
            fail_msg("at (%d, %d, %d) along %c: %.9g, right is %.9g", (int)at[0], (int)at[1], (int)at[2], 'x' + axis,
                     field[axis], right[axis]);
}

/* A point that is r_min from an ion, of which rounding decides whether it counts. Numbers are of an
 * Ewald sum in NumPy's doubles, waves up to exp(-39), kT/e/A. */
static void test_field_at_r_min(void **state)
{
    static const double without[3] = {0.0146730629, 0, 0}, beside[3] = {620.726908, 0, 0},
                        above[3] = {-27.9036979, 558.068522, 0};
    static const double step = -224181.84;
    double field[3];
    cli_write_text("one.pqr", "ATOM 1 X UNK 1 5.05 5 5 1 1.5\n");
    cli("map one.pqr -o a.dx --field --periodic xyz --cell 20,20,20 --dims 11,11,11 --spacing 1 --origin=0,0,0 -v");
    cli_expect(0, "accuracy of the field", NULL);
    read_field((const int64_t[3]){5, 5, 5}, field);
    const double left = fabs(field[0]) > 1 ? field[0] - step : field[0];
    assert_true(fabs(left - without[0]) < (fabs(field[0]) > 1 ? 1 : 0.005));
    assert_true(fabs(field[1]) < 0.005 && fabs(field[2]) < 0.005);
    expect_field((const int64_t[3]){6, 5, 5}, beside, 1e-5);
    expect_field((const int64_t[3]){5, 6, 5}, above, 1e-5);
}

/* The mean of an ion that is hardly screened is 3e7 kT/e, and its field some kT/e/A, by any solver;
 * right is what the same sum says. */
static void test_field_of_a_weakly_screened_ion(void **state)
{
    static const char *const solvers[] = {"", " --method msm --solver multilevel",
                                          " --method msm --solver fourier --window bspline6 --splitting taylor5"};
    static const double right[3] = {3.67316806, 12.17098853, -10.27139251};
    cli_write_text("one.pqr", "ATOM 1 X UNK 1 0.7 0.9 1.1 1 1.5\n");
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        char line[320];
        snprintf(line, sizeof line,
                 "map one.pqr -o a.dx --cell 6,6,6 --kappa .001 --dims 5,5,5 --spacing 1.1 --origin .2,.3,.4 "
                 "--periodic xyz --field%s",
                 solvers[i]);
        cli_run(0, "accuracy of the field", NULL, "%s -v", line);
        expect_field((const int64_t[3]){3, 2, 4}, right, i == 2 ? 1e-3 : 6e-3); /* --tol is of potentials */
        ley_map *map = cli_read_map("a.dx");
        const double value = (double)ley_map_read_values(map)[(4 * 5 + 2) * 5 + 3];
        ley_map_destroy(map);
        assert_true(fabs(value - 32606139.788) < 5); /* half a float's last digit is 1 */
    }
}

/* ---- A thin layer ---------------------------------------------------------------------------- */

/* Twenty charges of up to 2.9 e that cancel, in a layer of 35 A^2, screened: the coarsest level has
 * a node to each cell, and 140 A away the potential is a 20,000th of its largest. Right values are
 * of Parry's sum in NumPy's doubles, kT/e. */
static void test_a_thin_layer(void **state)
{
    static const struct {
        int node;
        double right;
    } some[] = {{0, 95.942205920}, {2, -476.294878193}, {10, -39.942974149}, {30, -1.511106385}};
    char line[640], here[256];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(
        line, sizeof line,
        "map %s/tests/data/thin_layer.pqr -o a.dx --periodic yz "
        "--cell=-0.828484783,3.03694749,-5.60387641,-4.34391299,-4.40445432,-1.74472632,-4.66442931,3.56238684,"
        "2.62018456 --kappa 0.06731 --method msm --solver multilevel --splitting taylor5 --window nodal7 --cutoff 7.5 "
        "--mesh-spacing 0.9 --levels 4 --dims 1,1,55 --spacing 2.79 --origin=-5.61921709,-1.65802852,"
        "-8.49908273",
        here);
    cli_run(0, "meshes: 154 x 8 x 8, 84 x 4 x 4, 49 x 2 x 2, 31 x 1 x 1", NULL, "%s -v", line);
    ley_map *map = cli_read_map("a.dx");
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (!(fabs((double)ley_map_read_values(map)[some[i].node] - some[i].right) < 0.01))
            fail_msg("node %d: %.9g, right is %.9g", some[i].node, (double)ley_map_read_values(map)[some[i].node],
                     some[i].right);
    ley_map_destroy(map);
}

static int prepare(void **state)
{
    const int code = cli_prepare(state);
    write_molecules();
    return code;
}

/* ---- Cells in nm ----------------------------------------------------------------------------- */

static void test_a_cell_in_nm(void **state)
{
    const char *line = "map salt.pqr -o out/a.dx --method cutoff --cutoff 1 --periodic xyz --spacing 1 --cell";
    cli_run(0, NULL, "leyden: warning: salt.pqr: the cell's edge ", "%s 2.4,2.4,2.4", line);
    assert_has(cli("%s 2.4,2.4,2.4,60,60,90", line)->err, "if its lengths are in nm, give them in A");
    assert_string_equal(cli("%s 2.4,2.4,2.4 -q", line)->err, "");
    assert_string_equal(cli("%s 24,24,24", line)->err, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test_setup(test_what_is_refused, cli_empty),
        cmocka_unit_test(test_against_exact_sums),
        cmocka_unit_test(test_header_and_report),
        cmocka_unit_test(test_strong_screening),
        cmocka_unit_test(test_field_at_r_min),
        cmocka_unit_test(test_field_of_a_weakly_screened_ion),
        cmocka_unit_test(test_a_thin_layer),
        cmocka_unit_test(test_a_cell_in_nm),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
