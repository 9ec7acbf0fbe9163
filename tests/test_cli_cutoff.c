/* `leyden map --method cutoff` from end to end: every pair function, periodic cells, what
 * overflows, what is refused. */
#include "cli_support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP "map ion.pqr -o out/a.dx "
#define CUTOFF MAP "--method cutoff "
#define SMALL "--dims 20,9,5 --spacing 0.75 "
#define CUBE "--periodic xyz --cell 20,20,20 "

/* A protein where there is one. */
static const char *molecule(void)
{
    static const char protein[] = "/usr/share/apbs/examples/misc/fas2.pqr";
    if (access(protein, R_OK) == 0)
        return protein;
    cli_write_molecule("many.pqr", 900, 25, 7);
    return "many.pqr";
}

static void assert_header(const char *name, const char *line)
{
    char *text = cli_read(name, NULL);
    if (strstr(text, line) == NULL)
        print_error("%s has no '%s': %.600s\n", name, line, text);
    assert_non_null(strstr(text, line));
    free(text);
}

static void assert_same_maps(const char *a, const char *b)
{
    ley_map *first = cli_read_map(a), *second = cli_read_map(b);
    assert_true(support_difference(first, second) < 1e-5);
    ley_map_destroy(first);
    ley_map_destroy(second);
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_help(void **state)
{
    static const char *const said[] = {"--pair FUNCTION",       "distance-dielectric",  "(default: taylor2)",
                                       "(default: 12)",         "--probe RADIUS,DEPTH", "(default: 1.7,0.1)",
                                       "--well-depths FILE",    "--periodic AXES",      "--bin-depth N",
                                       "--transposition PLACE", "docs/short-range.md",  NULL};
    cli_run(0, "--method METHOD", NULL, "map --help-all");
    cli_expect_all(said);
}

static void test_options_of_the_method(void **state)
{
    static const cli_failing cases[] = {
        {MAP "--cutoff 10", 1, "--cutoff needs --method cutoff"},
        {MAP "--method dcs --pair yukawa", 1, "--pair needs --method cutoff"},
        {MAP "--method dcs --cutoff 9", 1, "--cutoff needs --method cutoff or msm"},
        {MAP "--method dcs --kappa 1", 1, "--kappa needs --method auto, cutoff or msm"},
        {MAP "--well-depths depths.txt", 1, "--well-depths needs --method cutoff"},
        {MAP "--method dcs " CUBE, 1, "--periodic needs --method auto, cutoff or msm"},
        {MAP "--bin-depth 4", 1, "--bin-depth needs --method cutoff"},
        {MAP "--transposition host", 1, "--transposition needs --method cutoff"},
        {CUTOFF "--overflow host", 1, "--overflow is gone: devices always sum the atoms that find their bin full"},
        {CUTOFF "--kappa 1 --pair taylor2", 1,
         "--kappa is for yukawa and expressions; --pair taylor2 does not take it"},
        {CUTOFF "--screening-length 8", 1, "--screening-length is for yukawa and expressions"},
        {CUTOFF "--constants a=1", 1, "--constants is for expressions; --pair taylor2"},
        {CUTOFF "--probe 1,1 --pair coulomb", 1, "--probe is for lennard-jones and buckingham; --pair coulomb"},
        {CUTOFF "--steepness 12 --pair lennard-jones", 1, "--steepness is for buckingham; --pair lennard-jones"},
        {CUTOFF "--well-depth 1", 1, "--well-depth is for lennard-jones and buckingham"},
        {CUTOFF "--well-depths depths.txt --pair q/r", 1,
         "--well-depths is for lennard-jones and buckingham; --pair q/r"},
        {CUTOFF "--pair lennard-jones --dielectric 4", 1,
         "--dielectric is for functions of charges; --pair lennard-jones gives energies"},
        {CUTOFF "--pair buckingham --units V", 1,
         "--units is for functions of charges; --pair buckingham gives energies in kcal/mol"},
        {CUTOFF "--pair buckingham --temperature 300", 1, "--temperature is for functions of charges"},
        {CUTOFF "--variant tiled", 1, "--variant: 'tiled' is none of"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void test_values(void **state)
{
    static const cli_failing cases[] = {
        {CUTOFF "--cutoff 0", 1, "--cutoff: 0 is out of range"},
        {CUTOFF "--cutoff 1 --r-min 1", 1, "cutoff 1 A, must be above r_min (1 A)"},
        {CUTOFF "--pair yukawa", 1, "--pair yukawa needs --kappa 1/A or --screening-length A"},
        {CUTOFF "--pair yukawa --kappa 101", 1, "--kappa: 101 is out of range"},
        {CUTOFF "--pair yukawa --kappa 1 --screening-length 1", 1, "--kappa and --screening-length exclude each other"},
        {CUTOFF "--pair yukawa --screening-length 0", 1,
         "--screening-length: 0 is out of range: it must be at least 0.01"},
        {CUTOFF "--pair lennard-jones --probe 1.7", 1, "--probe takes 2 numbers separated by commas (RADIUS,DEPTH)"},
        {CUTOFF "--pair lennard-jones --probe 200,1", 1, "probe: radius 200 A, must be 0 to 100"},
        {CUTOFF "--pair buckingham --steepness 6", 1, "--steepness: 6 is out of range"},
        {CUTOFF "--pair buckingham --well-depth 1 --well-depths depths.txt", 1,
         "--well-depth and --well-depths exclude each other"},
        {CUTOFF "--periodic xyz", 1, "--periodic needs --cell"},
        {CUTOFF "--cell 20,20,20", 1, "--cell needs --periodic"},
        {CUTOFF "--periodic zx --cell 20,20,20", 1,
         "--periodic: unknown value 'zx', it must be one of x, y, z, xy, xz, yz, xyz"},
        {CUTOFF "--periodic x --cell 20,20", 1,
         "--cell takes 3 numbers separated by commas (a,b,c), 6 (a,b,c,alpha,beta,gamma) or 9"},
        {CUTOFF "--periodic x --cell 20,20,", 1, "three vectors), up to 1e8, not '20,20,'"},
        {CUTOFF "--periodic x --cell 1,0,0,0,1,0,0,0,1,0", 1, "--cell takes 3 numbers"},
        {CUTOFF "--periodic x --cell 20,2O,20", 1, "not '20,2O,20'"},
        {CUTOFF "--periodic x --cell 20,20,0", 1, "--cell: a length of 0 A"},
        {CUTOFF "--periodic x --cell 20,20,20,90,90,180", 1, "--cell: an angle of 180 degrees"},
        {CUTOFF "--periodic x --cell 20,20,20,30,30,90", 1, "--cell: no cell has the angles 30, 30 and 90 degrees"},
        {CUTOFF "--periodic xy --cell 1,0,0,2,0,0,0,0,1", 2, "cell"},
        {CUTOFF "--origin 0,0,0", 1, "--origin needs --dims"},
        {CUTOFF "--origin 0,0,0 --padding 3 " CUBE, 1, "--padding and --origin exclude each other"},
        {CUTOFF "--origin 0,0,0 --periodic xy --cell 20,20,20", 1, "--origin needs --dims"},
        {CUTOFF "--spacing 1e-6 --periodic xyz --cell 1e8,1e8,1e8", 2, "points along x"},
        {CUTOFF "--bin-depth 129", 1, "--bin-depth: 129 is out of range"},
        {CUTOFF "--bin-fill 0", 1, "--bin-fill: 0 is out of range"},
        {CUTOFF "--binning gpu", 1, "--binning: unknown value 'gpu', it must be one of auto, host, device"},
    };
    CLI_CHECK_FAILURES(cases);
}

static void test_expressions_refused(void **state)
{
    static const cli_failing cases[] = {
        {CUTOFF "--pair taylor5", 1, "--pair: 'taylor5' is none of coulomb, shifted, taylor2,"},
        {CUTOFF "--pair taylor5", 1, "lennard-jones, buckingham (did you mean 'taylor"},
        {CUTOFF "--pair lenard-jones", 1,
         "(did you mean 'lennard-jones'?), and as an expression: pair function, column 1: unknown name 'lenard'"},
        {CUTOFF "--pair q*exp(-rr/8)", 1, "pair function, column 8: unknown name 'rr'"},
        {CUTOFF "--pair q/(r", 1, "pair function, column 5: ')' is expected, not the end"},
        {CUTOFF "--pair q*log(0)/r", 1, "pair function, column 3: "},
        {CUTOFF "--pair a*q/r", 1, "column 1: unknown name 'a'"},
        {CUTOFF "--pair a*q/r --constants a", 1, "--constants takes NAME=NUMBER, separated by commas; 'a' is none"},
        {CUTOFF "--pair a*q/r --constants a=1,,b=2", 1, "'' is none"},
        {CUTOFF "--pair a*q/r --constants a=1,=2", 1, "'=2' is none"},
        {CUTOFF "--pair a*q/r --constants a=1,b=two", 1, "--constants: 'two' of b is not a number"},
        {CUTOFF "--pair a*q/r --constants a=", 1, "--constants: '' of a is not a number"},
        {CUTOFF "--pair a*q/r --constants a=1e999", 1, "--constants: '1e999' of a is not a number"},
        {CUTOFF "--pair a*q/r --constants a=1,a=2", 1, "'a'"},
        {CUTOFF "--pair a*q/r --constants a=1,r=2", 1, "'r'"},
        {CUTOFF "--pair a*q/r --constants a=1,cutoff=2", 1, "the constant 'cutoff' is the job's own"},
        {CUTOFF "--pair q/(r-5)", 1, "pair function: at r = 5 A, q = 1 e, it divides by zero"},
        {CUTOFF "--pair log(r2)-2*log(r)", 1, "pair function: at r = 0.05 A, q = 1 e, rounding eats its digits"},
        {CUTOFF "--pair cos(1e6*r)", 1,
         "rounding eats its digits: floats are off by up to 2 where its values are at most 1"},
        {CUTOFF "--pair sqrt(1-r/cutoff)", 1, "at r = 12 A, q = 1 e, it takes the square root of a negative number"},
        {CUTOFF "--pair exp(r2)*exp(-2*r2)", 1, "it comes to a number that no float holds"},
        {CUTOFF "--pair -q/r", 1, "--pair lacks its value (FUNCTION) before -q/r"},
    };
    CLI_CHECK_FAILURES(cases);
    assert_null(strstr(cli(CUTOFF "--pair q*rr")->err, "is none of")); /* a formula, no misspelt name */
}

static void write_depths(const char *name, int n, const char *last)
{
    char text[2048] = "# kcal/mol\n\n";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.2f%s\n", i % 3 == 0 ? " \t" : "",
                 0.05 + 0.01 * i, i % 5 == 0 ? " # of some kind" : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", last);
    cli_write_text(name, text);
}

static void test_broken_well_depths(void **state)
{
    write_depths("word.txt", 2, "0.1x\n");
    write_depths("two.txt", 2, "0.1 0.2\n");
    write_depths("below.txt", 2, "-0.1\n");
    write_depths("nan.txt", 2, "nan");
    write_depths("short.txt", 39, "");
    write_depths("long.txt", 41, "");
    write_depths("none.txt", 0, "");
    cli_write("nul.txt", "0.1\n0.\0", 7);
#define DEPTHS CUTOFF "--pair lennard-jones --well-depths "
    static const cli_failing cases[] = {
        {DEPTHS "word.txt", 2, "word.txt:5: '0.1x' is not a number"},
        {DEPTHS "two.txt", 2, "two.txt:5: '0.1 0.2' is more than one number"},
        {DEPTHS "below.txt", 2, "below.txt:5: a well depth of -0.1 kcal/mol is below 0"},
        {DEPTHS "nan.txt", 2, "nan.txt:5: 'nan' is not a number"},
        {DEPTHS "nul.txt", 2, "nul.txt:2: a NUL byte"},
        {DEPTHS "short.txt", 2, "short.txt: 39 well depths, and ion.pqr has 40 atoms"},
        {DEPTHS "long.txt", 2, "long.txt: 41 well depths, and ion.pqr has 40 atoms"},
        {DEPTHS "none.txt", 2, "none.txt: 0 well depths, and ion.pqr has 40 atoms"},
        {DEPTHS "nosuch.txt", 2, "nosuch.txt: No such file or directory"},
        {DEPTHS ".", 2, ".: Is a directory"},
        {DEPTHS "none.txt --json none.txt", 1, "--json: 'none.txt' is the file of the well depths"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* What cannot fit is refused before it is taken, at once, with the numbers. */
static void test_too_large_for_memory(void **state)
{
    static const cli_failing map[] = {
        {MAP "--dims 100000,100000,1000", 4, "would take 37365 GiB (the map 37253 GiB), and "},
        {CUTOFF "--dims 100000,100000,1000", 4, "what helps: a coarser spacing, or a smaller box"},
    };
    CLI_CHECK_FAILURES(map);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit former, limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &former), 0);
    limit = former;
    limit.rlim_cur = (rlim_t)16 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0); /* the command inherits it */
    cli_write_text("three.pqr",
                   "ATOM 1 O HOH 1 0 0 0 1 1\nATOM 2 O HOH 1 0.5 0.2 0 -0.5 1\nATOM 3 O HOH 1 0.3 0.6 0.1 -0.5 1\n");
    const cli_result *r = cli("map three.pqr -o out/a.dx --method cutoff --cutoff 300 --periodic xyz --cell 1,1,1");
    setrlimit(RLIMIT_AS, &former);
    cli_expect(4, NULL,
               "the job would take 29.0 GiB (atoms and their images 14.5 GiB, what overflows the bins 14.5 GiB), and ");
    cli_expect(4, NULL, "what helps: a shorter cutoff, a larger cell, or fewer periodic axes");
    assert_true(r->cpu_s < 1);
    cli_assert_nothing_left();
#endif
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static void test_every_pair_function(void **state)
{
    static const struct {
        const char *options, *units, *header;
    } cases[] = {
        {"--pair coulomb", "kT/e", "# pair: coulomb, cutoff 9 A\n"},
        {"--pair shifted --units V --dielectric 4", "V", "# pair: shifted, cutoff 9 A\n"},
        {"--pair taylor2", "kT/e", "# pair: taylor2, cutoff 9 A\n"},
        {"--pair taylor3", "kT/e", "# pair: taylor3, cutoff 9 A\n"},
        {"--pair Taylor4", "kT/e", "# pair: taylor4, cutoff 9 A\n"},
        {"--pair yukawa --screening-length 8", "kT/e", "# pair: yukawa, cutoff 9 A, kappa 0.125 / A\n"},
        {"--pair distance-dielectric --units kcal/mol/e", "kcal/mol/e", "# pair: distance-dielectric, cutoff 9 A\n"},
        {"--pair lennard-jones --r-min 1", "kcal/mol",
         "# pair: lennard-jones, cutoff 9 A, probe 1.7 A and 0.1 kcal/mol, well depths 0.1 kcal/mol\n"
         "# units: kcal/mol, r_min 1 A\n"},
        {"--pair buckingham --probe 1.5,0.2 --steepness 13 --well-depth 0.3", "kcal/mol",
         "# pair: buckingham, cutoff 9 A, probe 1.5 A and 0.2 kcal/mol, well depths 0.3 kcal/mol, steepness 13\n"},
        {"--pair w*q*exp(-r/lambda)/r --constants lambda=8,w=0.5", "kT/e",
         "# pair: w*q*exp(-r/lambda)/r, cutoff 9 A, kappa 0 / A, lambda = 8, w = 0.5\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += support_is_quick() ? 4 : 1) {
        const cli_result *r =
            cli("map %s -o out/a.dx --method cutoff --cutoff 9 --dims 40,30,30 --spacing 1.25 --verify 300 %s",
                molecule(), cases[i].options);
        cli_expect(0, "; relative RMS error ", NULL);
        assert_string_equal(r->err, "");
        ley_map *map = cli_read_map("out/a.dx");
        assert_string_equal(ley_map_units(map), cases[i].units);
        ley_map_destroy(map);
        assert_header("out/a.dx", "# method: cutoff, sum of pairs within a cutoff\n");
        assert_header("out/a.dx", cases[i].header);
    }
}

/* The same function by name and as an expression. */
static void test_an_expression_is_its_function(void **state)
{
    cli_run(0, NULL, NULL, CUTOFF SMALL "--pair yukawa --kappa 0.125 --quiet");
    cli("map ion.pqr -o out/b.dx --method cutoff " SMALL
        "--pair w*q*exp(-r/lambda)/r --constants lambda=8,w=1 --quiet");
    cli_expect(0, NULL, NULL);
    assert_same_maps("out/a.dx", "out/b.dx");
    /* The dielectric divides what the expression gives; one that names it divides by it twice. */
    cli_run(0, NULL, NULL, CUTOFF SMALL "--pair coulomb --dielectric 4 --quiet");
    cli("map ion.pqr -o out/b.dx --method cutoff " SMALL "--pair q/(dielectric*r) --dielectric 2 --verify 300 -v");
    cli_expect(0, "accuracy: error at most", NULL);
    assert_same_maps("out/a.dx", "out/b.dx");
}

/* Functions that are steep, have zeros, edges and steps: neither refused nor found wrong, whatever
 * one atom's map has of them. */
static void test_expressions_with_zeros(void **state)
{
    static const char *const expressions[] = {"1e5/r^12-1e3/r^6",        "q*(1/r-1/cutoff)",  "(1-r/cutoff)^8",
                                              "sqrt(max(0,1-r/cutoff))", "cos(50*r)",         "abs(r-5)",
                                              "tanh(1e7*(r-5))",         "q*(1-erf(0.3*r))/r"};
    cli_write_text("one.pqr", "ATOM 1 O HOH 1 0.1 0.2 0.3 1 1\n");
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i += support_is_quick() ? 4 : 1) {
        cli("map one.pqr -o out/a.dx --method cutoff --padding 13 --spacing 1.7 --verify 500 --pair %s -v",
            expressions[i]);
        cli_expect(0, "accuracy: error at most", NULL);
    }
}

/* Bins and regions much longer than the cutoff: places are rounded by their size, which shows where
 * a function vanishes at the cutoff and few atoms are in reach. */
static void test_short_cutoffs(void **state)
{
    static const char *const options[] = {
        "--cutoff 5 --spacing 1 --r-min 1 --seed 29", "--cutoff 3 --spacing 1 --seed 11",
        "--cutoff 0.7 --spacing 0.7 --origin=-4.1,-4.0,-3.9 --dims 13,13,13", /* points at the cutoff itself */
    };
    static const char *const molecules[] = {"ATOM 1 NA NA 1 -5.783 -2.669 -1.202 1 1\n"
                                            "ATOM 2 NA NA 2 3.949 -7.02 -6.23 1 1\n"
                                            "ATOM 3 NA NA 3 3.893 -4.802 -7.609 1 1\n",
                                            "ATOM 1 NA NA 1 -7.728 -6.211 6.438 1 1\n"
                                            "ATOM 2 NA NA 2 -6.795 7.729 -6.216 1 1\n"
                                            "ATOM 3 NA NA 3 -0.572 0.547 -4.361 1 1\n"
                                            "ATOM 4 NA NA 4 -2.765 7.776 0.148 1 1\n"
                                            "ATOM 5 NA NA 5 -6.439 -1.338 2.725 1 1\n",
                                            "ATOM 1 NA NA 1 0.1 0.2 0.3 1 1\n"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        cli_write_text("few.pqr", molecules[i]);
        cli_run(0, "accuracy: ", NULL, "map few.pqr -o out/a.dx --method cutoff --verify 1000 %s -v", options[i]);
    }
}

/* With a cutoff beyond everything the Coulomb sum is that of the other method. */
static void test_a_long_cutoff(void **state)
{
    cli_run(0, NULL, NULL, CUTOFF SMALL "--pair coulomb --cutoff 100 --quiet");
    cli_run(0, NULL, NULL, "map ion.pqr -o out/b.dx " SMALL "--quiet");
    assert_same_maps("out/a.dx", "out/b.dx");
}

static void test_well_depths(void **state)
{
    write_depths("depths.txt", 40, "");
    cli(CUTOFF SMALL "--pair lennard-jones --well-depths depths.txt --verify 300 --r-min 1 --json out/a.json -v");
    cli_expect(0, "pairs: lennard-jones, cutoff 12 A", NULL);
    assert_header("out/a.dx", "well depths of each atom\n");
    cli_python("import json\n"
               "s = json.load(open('out/a.json'))['short_range']\n"
               "assert s['well_depths'] == 'depths.txt' and s['well_depth_kcal_mol'] is None and s['probe_radius_A'] "
               "== 1.7\n");
}

static void test_the_json_report(void **state)
{
    const cli_result *r =
        cli(CUTOFF SMALL "--pair q*exp(-kappa*r)/r^a --kappa 0.1 --constants a=1.5,b=2 --cutoff 7 --periodic xz "
                         "--cell 20,21,22,80,90,110 --bin-depth 4 --bin-fill 0.5 --verify 300 --json out/a.json -v");
    cli_expect(0, "pairs: q*exp(-kappa*r)/r^a, cutoff 7 A, ", NULL);
    assert_non_null(strstr(r->out, " of 4 atoms, side "));
    assert_non_null(strstr(r->out, " of the atoms overflow\nplan: binning on the host ("));
    assert_non_null(strstr(r->out, " pairs/s within the cutoff, "));
    assert_header("out/a.dx", "# cell: a (20, 0, 0), b (");
    assert_header("out/a.dx", " A, periodic along a c\n");
    cli_python(
        "import json, math\n"
        "j = json.load(open('out/a.json'))\n"
        "o, s = j['options'], j['short_range']\n"
        "assert o['method'] == 'cutoff' and o['cutoff'] == 7 and o['cell'] == '20,21,22,80,90,110' and o['periodic'] "
        "== 'xz'\n"
        "assert s['pair'] == 'expression' and s['expression'] == 'q*exp(-kappa*r)/r^a' and s['constants'] == {'a': "
        "1.5, 'b': 2}\n"
        "assert s['cutoff_A'] == 7 and s['kappa_per_A'] == 0.1 and s['probe_radius_A'] is None and s['steepness'] is "
        "None\n"
        "assert s['periodic'] == 'xz' and s['bin_depth'] == 4 and s['bin_fill'] == 0.5 and s['well_depths'] is None\n"
        "assert s['binning'] == s['transposition'] == 'auto'\n"
        "dot = lambda u, v: sum(x*y for x, y in zip(u, v))\n"
        "angle = lambda u, v: math.degrees(math.acos(dot(u, v)/math.sqrt(dot(u, u)*dot(v, v))))\n"
        "a, b, c = s['cell_A']\n"
        "assert a[1] == a[2] == b[2] == c[0] == 0 and c[2] > 0\n"
        "for v, length in (a, 20), (b, 21), (c, 22): assert abs(math.sqrt(dot(v, v)) - length) < 1e-9\n"
        "for u, v, degrees in (b, c, 80), (a, c, 90), (a, b, 110): assert abs(angle(u, v) - degrees) < 1e-9\n"
        "r = s['report']\n"
        "assert r['bins'] > 0 and r['bin_depth'] == 4 and r['binned'] > 0 and r['overflow'] <= r['binned'] and "
        "len(r['bin_side_A']) == 3\n"
        "assert r['binning'] == 'host' and r['transposition'] in ('host', 'device')\n"
        "for name in 'outside', 'neutral', 'binning_s', 'transposition_s': assert r[name] >= 0, name\n"
        "assert 0 < j['evaluations'] < 40*27*900 and j['accuracy']['passed'] and j['accuracy']['points'] == 300\n");
    cli_run(0, "\"short_range\": null", NULL, MAP SMALL "--json -");
}

static void test_a_periodic_box_is_the_grid(void **state)
{
    cli_run(0, "grid: 15 x 15 x 15 = 3,375 points", NULL, CUTOFF CUBE "--spacing 1.3 --verify 300");
    ley_map *map = cli_read_map("out/a.dx");
    const ley_grid *grid = ley_map_grid(map);
    for (int axis = 0; axis < 3; axis++)
        assert_true(grid->origin_A[axis] == 0 && grid->step_A[axis][axis] == 20.0 / 15);
    ley_map_destroy(map);
    /* A whole edge further everything is the same. */
    cli("map ion.pqr -o out/b.dx --method cutoff " CUBE "--spacing 1.3 --origin -20,0,40 --verify 300 --quiet");
    cli_expect(0, NULL, NULL);
    assert_same_maps("out/a.dx", "out/b.dx");
    /* Along one axis only, or with a grid asked for, it is laid as ever. */
    cli("map ion.pqr -o out/c.dx --method cutoff --periodic y --cell 20,20,20 --spacing 2 --padding 4 --verify 300");
    cli_expect(0, "spacing 2 A, box ", NULL);
    cli(CUTOFF CUBE SMALL "--origin 1,2,3 --verify 300");
    cli_expect(0, "20 x 9 x 5 = 900 points", NULL);
    cli(CUTOFF "--periodic xyz --cell 18,20,22,90,90,90 --spacing 2 --verify 300");
    cli_expect(0, "grid: 9 x 10 x 11 = 990 points, spacing 2 A", NULL);
}

static void test_a_triclinic_cell(void **state)
{
    cli(CUTOFF "--periodic xyz --cell 20,21,22,75,85,110 --spacing 1.5 --padding 3 --verify 300 -v");
    cli_expect(0, "accuracy: error at most", NULL);
    /* The same vectors, written out by the first run. */
    char *text = cli_read("out/a.dx", NULL), b[200], c[200];
    const char *at = strstr(text, "# cell: a (20, 0, 0), b (");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "# cell: a (20, 0, 0), b (%199[^)]), c (%199[^)])", b, c), 2);
    for (char *comma = b; (comma = strstr(comma, ", ")) != NULL;)
        memmove(comma + 1, comma + 2, strlen(comma + 1));
    for (char *comma = c; (comma = strstr(comma, ", ")) != NULL;)
        memmove(comma + 1, comma + 2, strlen(comma + 1));
    cli("map ion.pqr -o out/b.dx --method cutoff --periodic xyz --cell 20,0,0,%s,%s --spacing 1.5 --padding 3 --quiet",
        b, c);
    cli_expect(0, NULL, NULL);
    free(text);
    assert_same_maps("out/b.dx", "out/a.dx");
}

static void test_who_makes_rows(void **state)
{
    static const char *const places[] = {"host", "device"};
    for (size_t i = 0; i < 2; i++) {
        cli("map %s -o out/%s.dx --method cutoff --dims 40,30,30 --spacing 1.25 --bin-fill 4 --transposition %s "
            "--verify 300 -v",
            molecule(), places[i], places[i]);
        char plan[64];
        snprintf(plan, sizeof plan, ", rows on the %s", places[i]);
        cli_expect(0, plan, NULL);
    }
    assert_same_maps("out/host.dx", "out/device.dx");
}

static void test_a_function_whose_name_is_a_word(void **state)
{
    cli(CUTOFF SMALL "--pair=-q --cutoff 5 --verify 100 -v"); /* a word, and an expression */
    cli_expect(0, "pairs: -q, cutoff 5 A", NULL);
}

/* ---- Signals --------------------------------------------------------------------------------- */

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_help, test_options_of_the_method,
                     test_values, test_expressions_refused, test_broken_well_depths, test_too_large_for_memory,
                     test_every_pair_function, test_an_expression_is_its_function, test_expressions_with_zeros,
                     test_short_cutoffs, test_a_long_cutoff, test_well_depths, test_the_json_report,
                     test_a_periodic_box_is_the_grid, test_a_triclinic_cell, test_who_makes_rows,
                     test_a_function_whose_name_is_a_word);
}
