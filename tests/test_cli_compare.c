/* leyden compare and ley_map_compare(): NumPy's figures, meshes that differ, what is refused. */
#include "cli_support.h"

static const ley_grid small = {{-3, 2, 0.5}, LEY_STEPS(0.5, 0.75, 1), {17, 12, 9}};
/* Inside `small` and beyond its high x and z. */
static const ley_grid shifted = {{-1.3, 3.1, 2.2}, LEY_STEPS(0.4, 0.3, 0.9), {21, 9, 9}};
static const ley_grid oblique = {{-1.5, 3, 2}, {{0.3, 0.1, 0}, {-0.1, 0.4, 0.2}, {0.05, 0, 0.5}}, {9, 8, 7}};

static ley_map *make_map(const ley_grid *grid, const char *units, double (*value)(const double r_A[3]))
{
    ley_map *map = support_make_map(grid);
    ley_map_set_units(map, units);
    float *to = ley_map_values(map);
    int64_t at[3];
    double r_A[3];
    for (at[2] = 0; at[2] < grid->n[2]; at[2]++)
        for (at[1] = 0; at[1] < grid->n[1]; at[1]++)
            for (at[0] = 0; at[0] < grid->n[0]; at[0]++) {
                ley_grid_point_A(grid, at, r_A);
                *to++ = (float)value(r_A);
            }
    return map;
}

static double waves(const double r_A[3])
{
    return 1e3 + sin(1.1 * r_A[0]) * cos(0.7 * r_A[1]) + 0.3 * r_A[2];
}

static double other_waves(const double r_A[3])
{
    return waves(r_A) + 0.01 * sin(2.3 * r_A[0] * r_A[1]) - 0.02 * cos(1.7 * r_A[2]);
}

static double plane(const double r_A[3])
{
    return 2 + r_A[0] - 0.5 * r_A[1] + 0.25 * r_A[2];
}

static double zero(const double r_A[3])
{
    return 0;
}

static double seven(const double r_A[3])
{
    return 7;
}

static double tenth(const double r_A[3])
{
    return 0.1;
}

static void write_map(const char *name, const ley_grid *grid, const char *units, double (*value)(const double r_A[3]))
{
    ley_error error = {0};
    ley_map *map = make_map(grid, units, value);
    assert_ok(ley_map_write(map, cli_path(name), NULL, NULL, NULL, &error));
    ley_map_destroy(map);
}

/* NumPy's figures from the same files, by formulas of its own. */
static const char numpy_script[] =
    "import json\n"
    "try:\n"
    "    import numpy as np\n"
    "except ImportError:\n"
    "    print('no numpy'); raise SystemExit\n"
    "def load(name):\n"
    "    h = json.load(open(name + '.json'))\n"
    "    return h, np.fromfile(name, '<f4').reshape(h['n'][::-1]).astype(float).transpose(2, 1, 0)\n"
    "r = json.load(open('out/r.json'))\n"
    "(ha, a), (hb, b) = load('a.raw'), load(r['b']['path'])\n"
    "where = np.indices(a.shape).reshape(3, -1).T\n"
    "points = np.array(ha['origin_A']) + where @ np.array(ha['step_A'])\n"
    "place = (points - np.array(hb['origin_A'])) @ np.linalg.inv(np.array(hb['step_A']))\n"
    "near, o = np.zeros(len(points), bool), r['options']\n"
    "if o['molecule']:\n"
    "    atoms = np.array([line.split()[5:8] for line in open(o['molecule'])], float)\n"
    "    near = (np.linalg.norm(points[:, None] - atoms[None], axis=2) < o['beyond']).any(axis=1)\n"
    "    assert near.any() and not near.all()\n"
    "inside = np.all((place > -1e-6) & (place < np.array(b.shape) - 1 + 1e-6), axis=1)\n"
    "outside = ~inside & ~near\n"
    "inside &= ~near\n"
    "place = np.clip(place[inside], 0, np.array(b.shape) - 1)\n"
    "cell = np.minimum(place.astype(int), np.array(b.shape) - 2)\n"
    "t, other = place - cell, np.zeros(len(place))\n"
    "for c in np.ndindex(2, 2, 2):\n"
    "    other += np.prod(np.where(c, t, 1 - t), axis=1) * b[tuple((cell + c).T)]\n"
    "a = a.reshape(-1)[inside]\n"
    "d = a - other\n"
    "k = int(np.flatnonzero((where[inside] == r['largest']['index']).all(axis=1))[0])\n"
    "expected = {'points': len(a), 'left_out': int(outside.sum()), 'near_atoms': int(near.sum()), 'rms': "
    "np.sqrt(np.mean(d**2)),\n"
    "    'relative_rms': np.sqrt(np.sum(d**2) / np.sum(a**2)), 'mean': np.mean(d), 'rms_a': np.sqrt(np.mean(a**2)),\n"
    "    'rms_b': np.sqrt(np.mean(other**2)), 'correlation': np.corrcoef(a, other)[0, 1]}\n"
    "for name, value in expected.items():\n"
    "    assert abs(r[name] - value) <= 1e-9 * abs(value) + 1e-11, (name, r[name], value)\n"
    "assert abs(d[k]) == abs(d).max() and np.isclose(r['largest']['difference'], d[k], rtol=1e-12), r\n"
    "assert np.allclose(r['largest']['point_A'], points[inside][k])\n"
    "assert np.isclose(r['largest']['a'], a[k], rtol=1e-12) and np.isclose(r['largest']['b'], other[k], rtol=1e-12)\n"
    "print('the same')\n";

static void expect_numpy(void)
{
    const cli_result *r = cli_python(numpy_script);
    if (strstr(r->out, "no numpy") != NULL) {
        print_message("NumPy is not installed: figures are not compared with its own\n");
        return;
    }
    cli_expect(0, "the same", NULL);
}

static void test_one_grid(void **state)
{
    write_map("a.raw", &small, "kT/e", waves);
    write_map("b.raw", &small, "kT/e", other_waves);
    write_map("a.dx.gz", &small, "kT/e", waves);
    cli_run(0, "compared: 1,836 points\n", NULL, "compare a.raw b.raw --json out/r.json");
    cli_expect(0, "A: a.raw, 17 x 12 x 9 = 1,836 points, spacing (0.5, 0.75, 1) A, kT/e\n", NULL);
    expect_numpy();
    cli_run(0, NULL, NULL, "compare a.raw b.raw --json out/r.json --interpolate -q");
    expect_numpy();
    cli_run(0, "difference A - B: RMS 0 kT/e, relative RMS 0, mean 0\n", NULL, "compare a.raw a.raw --tol 0");
    cli_expect(0, "correlation: 1\n", NULL);
    cli_run(0, "B: a.dx.gz, ", NULL, "compare a.raw a.dx.gz --tol 1e-6");
}

static void test_interpolated(void **state)
{
    const ley_grid *others[] = {&shifted, &oblique};
    write_map("a.raw", &small, "kT/e", waves);
    write_map("b.raw", &small, "kT/e", plane);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_map("o.raw", others[i], "kT/e", other_waves);
        cli_run(0, " points, B interpolated; ", NULL, "compare a.raw o.raw --interpolate --json out/r.json");
        cli_expect(0, " points of A outside B are left out\n", NULL);
        expect_numpy();
        write_map("p.raw", others[i], "kT/e", plane);
        cli("compare b.raw p.raw --interpolate --tol 1e-7"); /* linear functions are met but for rounding */
        cli_expect(0, "relative RMS ", NULL);
    }
    /* A plane of points, which has no cells along z. */
    ley_grid flat = small;
    flat.n[2] = 1;
    write_map("flat.raw", &flat, "kT/e", waves);
    cli_run(0, "\"relative_rms\": 0.0", NULL, "compare a.raw flat.raw --interpolate --json -");
    cli_expect(0, "\"points\": 204", NULL);
}

/* Points near atoms have no part in any figure: those of NumPy are of all distances. */
static void test_beyond(void **state)
{
    cli_write_text("few.pqr", "ATOM 1 C X 1 -1.03 4.11 3.27 1.0 2\nATOM 2 C X 1 2.21 6.83 4.9 -1.0 1\n"
                              "ATOM 3 C X 1 4.07 9.9 9.13 0.5 1\nATOM 4 C X 1 90 6 4 0.5 1\n");
    write_map("a.raw", &small, "kT/e", waves);
    write_map("b.raw", &small, "kT/e", other_waves);
    write_map("p.raw", &oblique, "kT/e", other_waves);
    cli_run(0, " within 2 A of atoms are left out\n", NULL, "compare a.raw b.raw --molecule few.pqr --json out/r.json");
    expect_numpy();
    cli("compare a.raw b.raw --beyond 3.3 --molecule few.pqr --json out/r.json -q");
    expect_numpy();
    cli("compare a.raw p.raw --beyond 0.9 --molecule few.pqr --interpolate --json out/r.json -q");
    expect_numpy();
    cli_run(0, "; 0 points of A within 0 A of atoms are left out\n", NULL,
            "compare a.raw b.raw --molecule few.pqr --beyond 0");
}

/* The same of an oblique map's own points. */
static void test_beyond_oblique(void **state)
{
    cli_write_text("few.pqr", "ATOM 1 C X 1 -0.5 4.6 3.7 1.0 2\nATOM 2 C X 1 0.9 5.1 4.1 -1.0 1\n");
    write_map("a.raw", &oblique, "kT/e", waves);
    write_map("b.raw", &oblique, "kT/e", other_waves);
    cli("compare a.raw b.raw --beyond 0.8 --molecule few.pqr --json out/r.json -q");
    expect_numpy();
}

static void test_tolerance(void **state)
{
    write_map("a.raw", &small, "kT/e", waves);
    write_map("b.raw", &small, "kT/e", other_waves);
    cli_run(5, "relative RMS ", "leyden: the relative RMS difference, ", "compare a.raw b.raw --tol 1e-6");
    cli_expect(5, NULL, " is above --tol 1e-06");
    cli_run(0, "", NULL, "compare a.raw b.raw --tol 1e-3 -q");
    cli_run(5, "\"exit_code\": 5", "is above --tol", "compare a.raw b.raw --tol 1e-6 --json -");
}

static void test_constant(void **state)
{
    write_map("a.raw", &small, "", waves);
    write_map("b.raw", &small, "V", seven);
    cli_run(0, "correlation: none, as one of the maps is the same everywhere\n", NULL, "compare a.raw b.raw");
    cli_expect(0, "units unknown\n", NULL);
    cli_run(0, "\"correlation\": null", NULL, "compare a.raw b.raw --json -");
    const ley_grid other = {.origin_A = {0.1, 0.07, 0.03}, .step_A = LEY_STEPS(0.37, 0.37, 0.37), .n = {9, 9, 9}};
    write_map("c.raw", &other, "", tenth); /* between points, too */
    cli("compare a.raw c.raw --interpolate");
    cli_expect(0, "correlation: none, as one of the maps is the same everywhere\n", NULL);
}

static void test_equal_maps(void **state)
{
    write_map("a.raw", &small, "kT/e", waves);
    write_map("zero.raw", &small, "kT/e", zero);
    write_map("again.raw", &small, "kT/e", zero);
    cli_run(0, "\nequal: no point differs; both maps are 0 at all of them\n", NULL,
            "compare zero.raw again.raw --tol 0 --json out/a.json");
    cli_expect(0, "RMS 0 kT/e, relative RMS 0, mean 0\n", NULL);
    cli_python(
        "import json\n"
        "r = json.load(open('out/a.json'))\n"
        "assert r['relative_rms'] == r['rms'] == r['largest']['difference'] == 0 and r['correlation'] is None\n");
    cli_run(0, "\nequal: no point differs\n", NULL, "compare a.raw a.raw");
    assert_null(strstr(cli("compare a.raw a.raw --interpolate -q")->out, "equal"));
}

/* Either map can be; both cannot. */
static void test_standard_input(void **state)
{
    write_map("a.raw", &small, "kT/e", waves);
    cli_run(0, "", NULL, "convert a.raw -o a.dx -q");
    cli_run(0, "\nequal: ", NULL, "compare - a.dx <%s", cli_path("a.dx"));
    cli_run(0, "\nequal: ", NULL, "compare a.dx - <%s", cli_path("a.dx"));
    cli_run(1, NULL,
            "compare: standard input can be read once: A and B are both taken from it; name a file for one of them",
            "compare - - <%s", cli_path("a.dx"));
    cli_run(1, NULL, "A and B are both taken from it", "compare /dev/stdin - <%s", cli_path("a.dx"));
    cli_run(1, NULL, "B and --molecule are both taken from it", "compare a.dx - --molecule - <%s", cli_path("a.dx"));
    cli_run(1, NULL, "MAP and --difference are both", "slice - --difference - -o out/a.png <%s", cli_path("a.dx"));
}

static void test_refusals(void **state)
{
    ley_grid far = small, fewer = small, nearly = small;
    far.origin_A[0] += 100;
    fewer.n[1]--;
    nearly.step_A[2][2] += 1e-4 * small.step_A[2][2]; /* 8e-4 of a step at its end */
    write_map("a.raw", &small, "kT/e", waves);
    write_map("nearly.raw", &nearly, "kT/e", waves);
    nearly.step_A[2][2] += 1e-4 * small.step_A[2][2];
    write_map("not.raw", &nearly, "kT/e", waves);
    write_map("far.raw", &far, "kT/e", waves);
    write_map("fewer.raw", &fewer, "kT/e", waves);
    write_map("a.mrc", &small, "kT/e", waves);
    write_map("a.mrc.gz", &small, "kT/e", waves);
    write_map("volt.raw", &small, "V", waves);
    write_map("zero.raw", &small, "kT/e", zero);
    cli_run(0, NULL, NULL, "compare a.raw nearly.raw -q");
    cli_run(0, "relative RMS 0,", NULL, "compare a.raw volt.raw --any-units");
    static const cli_failing cases[] = {
        {"compare ion.pqr a.raw", 2,
         "ion.pqr:1: this is a molecule, not a map: leyden map 'ion.pqr' -o NEW.dx computes one of it"},
        {"slice ion.pqr -o out/a.png", 2, "ion.pqr:1: this is a molecule, not a map"},
        {"map ion.pqr --like ion.pqr -o out/a.dx", 2, "ion.pqr:1: this is a molecule, not a map"},
        {"map a.raw -o out/a.dx", 2,
         "a.raw: this is a map (raw float32), not a PQR file: leyden slice 'a.raw' -o NEW.png draws it"},
        {"map a.mrc.gz -o out/a.dx", 2, "a.mrc.gz: this is a map (MRC), not a PQR file"},
        {"boundary a.mrc -o out/a.dx --dims 9,9,9 --glen 8,8,8", 2, "a.mrc: this is a map (MRC), not a PQR file"},
        {"convert ion.pqr -o out/a.dx", 1,
         "'ion.pqr' is none: leyden map 'ion.pqr' -o 'out/a.dx' computes one of a molecule"},
        {"convert a.raw -o out/a.pqr", 1,
         "'a.raw' is a map, which holds none: leyden slice 'a.raw' -o NEW.png draws it"},
        {"compare", 1, "A is missing, as in: leyden compare a.dx b.dx"},
        {"compare a.raw", 1, "B is missing, as in: leyden compare a.dx b.dx"},
        {"compare a.raw far.raw nearly.raw", 1, "'nearly.raw' is one argument too many"},
        {"compare a.raw \"\"", 1, "B is empty: map to compare with it"},
        {"compare a.raw not.raw", 2, "are on different grids: steps along axis 3 (0, 0, 1) and (0, 0, 1.0002) A"},
        {"compare a.raw far.raw", 2,
         "a.raw and far.raw are on different grids: origins (-3, 2, 0.5) and (97, 2, 0.5) A (interpolation takes "
         "the values of the second at the points of the first)"},
        {"compare a.raw fewer.raw", 2, "grids: 17 x 12 x 9 points and 17 x 11 x 9 (interpolation takes the values"},
        {"compare a.raw far.raw --interpolate", 2, "no point of a.raw lies in the box of far.raw"},
        {"compare a.raw volt.raw", 2,
         "a.raw is in kT/e, and volt.raw in V: their difference is in no unit (any_units takes numbers as they are); "
         "type: leyden compare a.raw volt.raw --any-units\n"},
        {"compare a.raw zero.raw", 2, "zero.raw is 0 at all 1836 points"},
        {"compare zero.raw a.raw", 2, "zero.raw is 0 at all 1836 points"},
        {"compare a.raw none.raw", 2, "none.raw: No such file"},
        {"compare a.raw volt.raw --json volt.raw", 1, "--json: 'volt.raw' is the file of the map B"},
        {"compare a.raw volt.raw --json a.raw.json", 1, "--json: 'a.raw.json' is the file of the header of map A"},
        {"compare a.raw nearly.raw --beyond 2", 1, "--beyond needs --molecule"},
        {"compare a.raw nearly.raw --molecule none.pqr", 2, "none.pqr: No such file"},
        {"compare a.raw nearly.raw --molecule ion.pqr --beyond 99", 2,
         "no point of a.raw is left to compare: 1836 are nearer than 99 A to atoms"},
        {"compare a.raw volt.raw --tol -1", 1, "--tol: -1 is out of range"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* What the command cannot ask for. */
static void test_the_library(void **state)
{
    ley_error error = {0};
    ley_comparison c;
    ley_compare_options options;
    ley_map *a = make_map(&small, "kT/e", waves), *b = make_map(&small, "kT/e", waves), *outline = NULL;
    ley_compare_options_default(&options);
    assert_ok(ley_map_compare(a, b, &options, &c, &error));
    assert_true(c.points == 17 * 12 * 9 && c.rms == 0 && c.left_out == 0);
    ley_map_values(b)[5 + 17 * (3 + 12 * 2)] = NAN;
    assert_error_is(ley_map_compare(a, b, &options, &c, &error), LEY_ERROR_INPUT,
                    "B: the map is not a number at point (5, 3, 2)");
    ley_map_values(b)[5 + 17 * (3 + 12 * 2)] = 1e38F; /* its square is no float */
    assert_ok(ley_map_compare(a, b, &options, &c, &error));
    assert_true(c.index[0] == 5 && c.index[1] == 3 && c.index[2] == 2 && fabs(c.largest / -1e38 - 1) < 1e-6);
    assert_ok(ley_map_outline(&small, &outline, &error));
    assert_int_equal(ley_map_compare(a, outline, &options, &c, &error), LEY_ERROR_USAGE);
    options.beyond_A = -1;
    assert_error_is(ley_map_compare(a, b, &options, &c, &error), LEY_ERROR_USAGE,
                    "beyond_A is -1: it must be a length, or 0");
    options.size = 3;
    assert_int_equal(ley_map_compare(a, b, &options, &c, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
    ley_map_destroy(outline);
    ley_map_destroy(b);
    ley_map_destroy(a);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_one_grid, test_interpolated,
                     test_beyond, test_beyond_oblique, test_tolerance, test_constant, test_equal_maps,
                     test_standard_input, test_refusals, test_the_library);
}
