/* `leyden boundary` and `leyden apbs` from end to end. The real APBS takes part where it is
 * installed. */
#include "cli_support.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRID "--dims 9,8,7 --glen 30,28,33"
#define SALT "--ion 0.15,1,2 --ion 0.15,-1,1.8"
#define EXAMPLES "/usr/share/apbs/examples/"

static void write_program(const char *name, const char *text)
{
    cli_write_text(name, text);
    assert_int_equal(chmod(cli_path(name), 0700), 0);
}

static int prepare(void **state)
{
    mkdir(cli_path("bin"), 0700);
    mkdir(cli_path("slow"), 0700);
    /* Stand-ins for apbs: one shows what it was given, one takes its time. */
    write_program("bin/apbs", "#!/bin/sh\necho \"arguments: $*\"\necho complaint >&2\nfor last; do :; done\n"
                              "cp \"$last\" seen.in\nexit 7\n");
    write_program("slow/apbs", "#!/bin/sh\n: > started\nexec sleep 60\n");
    return cli_prepare(state);
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void test_help(void **state)
{
    static const char *const said[] = {
        "--dims NX,NY,NZ", "--glen",           "--gcent",        "--ion C,Z,R", "--bcfl KIND",
        "--points FILE",   "(default: 78.54)", "(default: mdh)", "--verify N",  NULL};
    static const char *const said_of_apbs[] = {
        "INPUT [options] [-- ARGUMENTS]", "--keep DIR", "--no-run", "--force", "--boundary-tol T", "(default: auto)",
        "exit code is that of apbs",      NULL};
    cli_run(0, "Usage: leyden boundary ATOMS -o FILE [options]", NULL, "boundary --help-all");
    cli_expect_all(said);
    const char *everyday = cli("boundary --help")->out;
    assert_null(strstr(everyday, "--tol")); /* which it does not have */
    assert_non_null(strstr(everyday, "\n      --glen X,Y,Z"));
    assert_null(strstr(everyday, "--gcent"));
    assert_null(strstr(cli("apbs -h")->out, "--tol"));
    cli_run(0, "Usage: leyden apbs", NULL, "apbs -h all");
    cli_expect_all(said_of_apbs);
}

static void test_wrong_options(void **state)
{
#define ATOMS "boundary ion.pqr -o out/a.dx "
    static const cli_failing cases[] = {
        {"boundary", 1, "ATOMS is missing"},
        {"boundary ion.pqr " GRID, 1, "--output FILE is missing"},
        {ATOMS, 1, "--dims NX,NY,NZ or --points FILE is missing"},
        {ATOMS "--dims 9,9,9", 1, "--glen or --spacing is missing"},
        {ATOMS GRID " --grid 1,1,1", 1, "--glen and --spacing exclude each other"},
        {ATOMS "--dims 9,9,1 --glen 9,9,9", 1, "--dims: 1 is out of range"},
        {ATOMS "--dims 9,9,9 --glen 9,9,0", 1, "--glen: 0 is out of range"},
        {ATOMS GRID " --gcent 1,2", 1, "--gcent takes 3 numbers separated by commas (X,Y,Z) or mol, not '1,2'"},
        {ATOMS GRID " --gcent center", 1, "or mol, not 'center'"},
        {ATOMS GRID " --gcent mol --gcent mol", 1, "--gcent is given twice"},
        {ATOMS GRID " --ion 0.1,1", 1, "--ion takes 3 numbers"},
        {ATOMS GRID " --ion -0.1,1,2", 1, "--ion: a concentration of -0.1 mol/l"},
        {ATOMS GRID " --ion 0.1,1,-2", 1, "--ion: a radius of -2 A"},
        {ATOMS GRID " --sdie 0", 1, "--dielectric: 0 is out of range"},
        {ATOMS GRID " --temperature 0", 1, "--temperature: 0 is out of range"},
        {ATOMS GRID " --bcfl focus", 1, "--bcfl: unknown value 'focus', it must be one of zero, sdh, mdh"},
        {ATOMS GRID " --format png", 1, "--format: unknown value 'png'"},
        {ATOMS GRID " --boundary-stride 3", 1, "--boundary-stride: unknown value '3'"},
        {ATOMS GRID " --boundary-stride 2", 1, "--boundary-stride: 2 does not divide the 7 intervals along y"},
        {ATOMS GRID " --variant tiled", 1, "--variant: 'tiled' is none of"},
        {ATOMS GRID " --device nosuch", 1, "no device matches \"nosuch\""},
        {ATOMS GRID " --points p.txt", 1, "--points and --dims exclude each other"},
        {ATOMS "--points p.txt", 1, "--points: OpenDX holds grids only"},
        {"boundary ion.pqr -o out/a.map " GRID, 1, "must end in .dx, .bin, .raw or .csv"},
        {"boundary ion.pqr -o out/a.csv --boundary-stride 2 " GRID, 1, "are for OpenDX files only"},
        {"boundary ion.pqr -o ion.pqr --format csv " GRID, 1, "--output: 'ion.pqr' is the file of the atoms"},
        {ATOMS GRID " --json out/a.dx", 1, "--json: 'out/a.dx' is the file of the boundary"},
        {ATOMS GRID " --json ion.pqr", 1, "--json: 'ion.pqr' is the file of the atoms"},
        {"boundary nosuch.pqr -o out/a.dx " GRID, 2, "nosuch.pqr: No such file or directory"},
        {"boundary ion.pqr -o nodir/a.dx " GRID, 2, "nodir/a.dx: No such file or directory"},
        {"apbs", 1, "INPUT is missing"},
        {"apbs a.in b.in", 1, "'b.in' is one argument too many"},
        {"apbs nosuch.in --no-run", 1, "--no-run needs --keep DIR"},
        {"apbs nosuch.in --json -", 1, "--json: standard output belongs to APBS"},
        {"apbs nosuch.in --keep ion.pqr --no-run", 1, "--keep: 'ion.pqr' is not a folder"},
        {"apbs nosuch.in --sum half", 1, "must be one of float, compensated, double, auto"},
        {"PATH=bin apbs nosuch.in", 2, "nosuch.in: No such file or directory"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* ---- Files and values ------------------------------------------------------------------------ */

/* Multiple Debye-Hueckel from the formula, and the files that hold it. */
#define PYTHON_MDH \
    "import math, struct\n" \
    "def atoms():\n" \
    "    for line in open('ion.pqr'):\n" \
    "        yield [float(w) for w in line.split()[6:11]]\n" \
    "molecule = list(atoms())\n" \
    "def kappa(I, eps, T):\n" \
    "    return math.sqrt(8*math.pi*6.022045e23*4.803242384e-10**2*I*1e-16/(1000*eps*1.380662e-16*T))\n" \
    "def mdh(p, eps=78.54, T=298.15, I=0.15):\n" \
    "    C = 1.6021773e-19**2/(4*math.pi*8.8541878e-12*1.3806581e-23*T)*1e10\n" \
    "    k = kappa(I, eps, T)\n" \
    "    d = [(math.dist(p, a[:3]), a[3], a[4]) for a in molecule]\n" \
    "    return C/eps*sum(q/r*math.exp(-k*(r-R))/(1+k*R) for r, q, R in d)\n" \
    "def close(a, b, scale=1): assert abs(a-b) <= 1e-5*max(abs(b), 1e-2*scale), (a, b)\n"

static void test_the_files_of_a_grid(void **state)
{
    static const char *const endings[] = {"dx", "bin", "csv"};
    for (size_t i = 0; i < 3; i++) {
        const cli_result *r =
            cli("boundary ion.pqr -o out/a.%s " GRID " --gcent mol --sum double " SALT " --verify 50", endings[i]);
        cli_expect(0, "written: out/a.", NULL);
        assert_non_null(strstr(r->out, "grid: 9 x 8 x 7, 382 points on its faces, "));
        assert_non_null(strstr(r->out, "dielectric 78.54, kappa 0.12728"));
        assert_non_null(strstr(r->out, "/A; relative RMS error "));
        assert_string_equal(r->err, "");
    }
    cli_python(PYTHON_MDH "n, length = (9, 8, 7), (30, 28, 33)\n"
                          "low = [min(a[i] for a in molecule) for i in range(3)]\n"
                          "high = [max(a[i] for a in molecule) for i in range(3)]\n"
                          "h = [l/(m-1) for l, m in zip(length, n)]\n"
                          "origin = [(a+b)/2-l/2 for a, b, l in zip(low, high, length)]\n"
                          "def at(node): return [o+i*s for o, i, s in zip(origin, node, h)]\n"
                          "nodes = []\n"
                          "for axis in range(3):\n"
                          "    a, b = [x for x in range(3) if x != axis]\n"
                          "    for side in (0, n[axis]-1):\n"
                          "        for j in range(n[b]):\n"
                          "            for i in range(n[a]):\n"
                          "                node = [0]*3\n"
                          "                node[axis], node[a], node[b] = side, i, j\n"
                          "                nodes.append(tuple(node))\n"
                          "wanted = [mdh(at(node)) for node in nodes]\n"
                          "scale = max(map(abs, wanted))\n"
                          "raw = struct.unpack('<382d', open('out/a.bin', 'rb').read())\n"
                          "for a, b in zip(raw, wanted): close(a, b, scale)\n"
                          "rows = open('out/a.csv').read().split('\\n')\n"
                          "assert rows[0] == 'x,y,z,phi' and len(rows) == 384\n"
                          "for row, node, value in zip(rows[1:], nodes, raw):\n"
                          "    row = [float(w) for w in row.split(',')]\n"
                          "    assert math.dist(row[:3], at(node)) < 1e-9 and abs(row[3]-value) <= 1e-8*abs(value)\n"
                          "text = open('out/a.dx').read()\n"
                          "assert '# solvent: dielectric 78.54' in text and '# boundary: mdh' in text\n"
                          "words = text.split('data follows')[1].split('attribute')[0].split()\n"
                          "assert len(words) == 9*8*7\n"
                          "for node, value in zip(nodes, raw):\n"
                          "    x, y, z = node\n"
                          "    assert abs(float(words[(x*8+y)*7+z])-value) <= 1e-8*abs(value)\n"
                          "for x in range(1, 8):\n"
                          "    for y in range(1, 7):\n"
                          "        for z in range(1, 6): assert words[(x*8+y)*7+z] == '0'\n");
}

static void test_points(void **state)
{
    cli_write_text("p.csv", "x,y,z\n20,3,4\n# far\n-15.5 1e1 0\n30,30,30\n");
    cli_run(0, "points: 3 of p.csv", NULL, "boundary ion.pqr -o out/a.csv --points p.csv --sum float");
    cli("boundary ion.pqr -o out/b.dat --format raw --points p.csv --sdie 4 --temperature 310 " SALT);
    cli_expect(0, ", kappa ", NULL);
    cli_python(PYTHON_MDH "points = (20, 3, 4), (-15.5, 10, 0), (30, 30, 30)\n"
                          "rows = open('out/a.csv').read().split('\\n')[1:4]\n"
                          "for p, row in zip(points, rows): close(float(row.split(',')[3]), mdh(p, I=0))\n"
                          "raw = struct.unpack('<3d', open('out/b.dat', 'rb').read())\n"
                          "for p, v in zip(points, raw): close(v, mdh(p, eps=4, T=310))\n");
}

static void test_bad_points(void **state)
{
    cli_write_text("short.txt", "1 2 3\n\n4 5\n");
    cli_write_text("word.txt", "1 2 3\n4 five 6\n");
    cli_write_text("many.txt", "1 2 3 4\n");
    cli_write_text("none.txt", "# nothing\n");
    static const cli_failing cases[] = {
        {"boundary ion.pqr -o out/a.csv --points short.txt", 2, "short.txt:3: no z"},
        {"boundary ion.pqr -o out/a.csv --points word.txt", 2, "word.txt:2: y 'five' is not a number"},
        {"boundary ion.pqr -o out/a.csv --points many.txt", 2, "many.txt:1:"},
        {"boundary ion.pqr -o out/a.csv --points none.txt", 2, "none.txt: no points"},
        {"boundary ion.pqr -o out/a.csv --points nosuch.txt", 2, "nosuch.txt: No such file"},
        {"boundary ion.pqr -o none.txt --format raw --points none.txt", 1,
         "--output: 'none.txt' is the file of the points"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* They run on the host: no device is there. */
static void test_sdh_and_zero_need_no_device(void **state)
{
    cli(CLI_NO_DEVICE "boundary ion.pqr -o out/a.bin --bcfl sdh --pdie 4 " GRID " " SALT);
    cli_expect(0, "Single Debye-Hueckel", NULL);
    cli(CLI_NO_DEVICE "boundary ion.pqr -o out/b.dx --bcfl zero " GRID " --json -");
    cli_expect(0, "\"devices\": []", NULL);
    ley_map *zero = cli_read_map("out/b.dx");
    for (int64_t i = 0; i < 9 * 8 * 7; i++)
        assert_true(ley_map_read_values(zero)[i] == 0);
    ley_map_destroy(zero);
    /* A sphere of this charge, far away. */
    cli_python(PYTHON_MDH "raw = struct.unpack('<382d', open('out/a.bin', 'rb').read())\n"
                          "assert all(map(math.isfinite, raw)) and max(map(abs, raw)) > 0\n");
    cli_empty(NULL);
    cli_run(3, NULL, "no platform is installed", CLI_NO_DEVICE ATOMS GRID);
    cli_assert_nothing_left();
}

static void test_ions_that_are_not_neutral(void **state)
{
    const cli_result *r = cli(ATOMS GRID " --bcfl sdh --ion 0.1,2,2 --ion 0.1,-1,2 -v");
    cli_expect(0, "ionic strength 0.25 M", "warning: the ions are not neutral together: +0.1 mol/l");
    cli(ATOMS GRID " --bcfl sdh --ion .1,1,2 -v");
    cli_expect(0, "ionic strength 0.05 M", "warning: the ions are not neutral together: +0.1 mol/l of charge; a salt");
    cli(ATOMS GRID " --bcfl sdh --ion .1,1,2 --ion .1,-1,2 --ion .2,0,1 -v");
    cli_expect(0, "ionic strength 0.1 M", "warning: ion 3 has a charge of 0 and no part in the screening");
    r = cli(ATOMS GRID " --bcfl sdh --ion .15,2,2 --ion .3,-1,2 --ion .1,1,1 --ion .1,-1,1");
    assert_string_equal(r->err, "");
    r = cli(ATOMS GRID " --bcfl sdh --ion 0.1,2,2 --quiet");
    assert_string_equal(r->err, "");
    assert_string_equal(r->out, "");
}

static void test_an_atom_on_a_face(void **state)
{
    cli_write_text("face.pqr", "ATOM 1 N MOL A 1 0.0 0.0 0.0 1.0 1.0\nATOM 2 N MOL A 1 5.0 1.0 2.0 1.0 1.0\n");
    cli("boundary face.pqr -o out/a.dx --dims 11,11,11 --grid 1,1,1 --gcent 0,0,0");
    cli_expect(2, NULL, "atom 2, at (5, 1, 2) A, lies on node (10, 6, 7) of the boundary");
    cli_assert_nothing_left();
}

/* Boundary conditions hold outside of the molecule. */
static void test_faces_through_the_molecule(void **state)
{
    static const char warning[] = "warning: the grid cuts through the molecule: ";
    cli_write_text("pair.pqr", "ATOM 1 N MOL A 1 0.0 0.0 0.0 1.0 1.5\nATOM 2 N MOL A 1 5.0 1.0 2.0 1.0 1.5\n");
#define CENTRED "boundary pair.pqr -o out/a.dx --gcent 0,0,0 --dims 9,9,9 "
    const cli_result *r =
        cli(CENTRED "--glen 13.5,13.5,13.5"); /* from -6.75 to 6.75: 0.25 A beyond the second sphere */
    cli_expect(0, "written:", NULL);
    assert_string_equal(r->err, "");
    r = cli(CENTRED "--glen 12.5,13.5,13.5"); /* through its sphere */
    cli_expect(0, "written:",
               "1 of 2 atoms reach a face or lie beyond it (high x); boundary values hold outside of it only\n");
    assert_non_null(strstr(r->err, warning));
    cli(CENTRED "--glen 2.3,2.3,2.3 --bcfl sdh");
    cli_expect(0,
               "written:", "2 of 2 atoms reach a face or lie beyond it (low x, high x, low y, high y, low z, high z)");
    r = cli(CENTRED "--glen 12.5,13.5,13.5 --quiet");
    cli_expect(0, NULL, NULL);
    assert_string_equal(r->err, "");
}

static void test_strides(void **state)
{
    static const char *const strides[] = {"1", "2", "4"};
    for (size_t i = 0; i < 3; i++) {
        cli_run(0, NULL, NULL, ATOMS "--dims 17,9,5 --glen 40,30,35 --boundary-stride %s --quiet", strides[i]);
        ley_map *map = cli_read_map("out/a.dx");
        assert_int_equal(ley_map_grid(map)->n[0], 16 / atoi(strides[i]) + 1);
        assert_int_equal(ley_map_grid(map)->n[2], 4 / atoi(strides[i]) + 1);
        ley_map_destroy(map);
    }
    cli(ATOMS "--dims 17,9,5 --glen 40,30,35 --boundary-stride auto --boundary-tol 1");
    cli_expect(0, "every fourth node in the file (interpolation error at most ", NULL);
    cli(ATOMS "--dims 17,9,5 --glen 40,30,35 --boundary-stride auto --boundary-tol 0");
    cli_expect(0, "written: out/a.dx", NULL);
    assert_int_equal(cli_each_file(CLI_OUT, NULL), 1);
}

static void test_the_json_report(void **state)
{
    cli_run(0, NULL, NULL, ATOMS GRID " " SALT " --verify 100 --json out/a.json --slab 5");
    cli_python(
        "import json, os\n"
        "r = json.load(open('out/a.json'))\n"
        "assert (r['command'], r['operand'], r['status'], r['exit_code']) == ('boundary', 'ion.pqr', 'LEY_OK', 0)\n"
        "o = r['options']\n"
        "assert o['dims'] == [9, 8, 7] and o['gcent'] is None and o['bcfl'] == 'mdh' and o['dielectric'] == 78.54\n"
        "assert o['ion'] == [[0.15, 1, 2], [0.15, -1, 1.8]] and o['slab'] == 5\n"
        "assert r['points'] == 382 and r['stride'] == 1 and r['molecule']['atoms'] == 40\n"
        "assert abs(r['solvent']['debye_length_A']-7.8566) < 1e-4 and r['grid']['dims'] == [9, 8, 7]\n"
        "d, = r['devices']\n"
        "assert d['root'] and d['exp'] and d['points'] == 294 and d['device']['name']\n"
        "assert r['accuracy']['passed'] and r['bytes_written'] == os.path.getsize('out/a.dx')\n");
}

/* ---- leyden apbs ----------------------------------------------------------------------------- */

#define ELEC(name, boundary, dielectric, dime, force) \
    "elec name " name "\n    mg-manual\n    dime " dime \
    "\n    nlev 4\n    glen 60 60 60\n    gcent mol 1\n    mol 1\n" \
    "    lpbe\n    bcfl " boundary "\n    ion charge 1 conc 0.15 radius 2\n    ion charge -1 conc 0.15 radius 2\n" \
    "    pdie 2\n    sdie " dielectric "\n    srfm smol\n    chgm spl2\n    sdens 10\n    srad 1.4\n    swin 0.3\n" \
    "    temp 298.15\n    calcenergy total\n    calcforce " force "\nend\n"
#define READ "read\n    mol pqr ion.pqr\nend\n"
#define FAKE "TMPDIR=" CLI_TEMPORARY " PATH=bin:/usr/bin:/bin apbs "

static void write_inputs(void)
{
    cli_write_text("run.in", READ ELEC("solv", "mdh", "78.54", "33 33 33", "no") "quit\n");
    cli_write_text("four.in",
                   READ ELEC("one", "mdh", "78.54", "33 33 33", "no") ELEC("two", "sdh", "78.54", "33 33 33", "no")
                       ELEC("again", "mdh", "78.54", "33 33 33", "no")
                           ELEC("none", "zero", "78.54", "33 33 33", "no") "print elecEnergy one - again end\nquit\n");
    cli_write_text("force.in", READ ELEC("solv", "mdh", "78.54", "33 33 33", "total") "quit\n");
    cli_write_text("wrong.in", READ "elec\n    mg-manual\n    dimmer 33 33 33\nend\n");
}

static void test_apbs_is_missing(void **state)
{
    write_inputs();
    cli_run(2, NULL, "there is no program 'apbs' in PATH; to install it on Debian or Ubuntu, type: apt install apbs",
            "TMPDIR=" CLI_TEMPORARY " PATH=/nonexistent apbs run.in");
    cli_assert_nothing_left();
}

static void test_bad_inputs(void **state)
{
    write_inputs();
    static const cli_failing cases[] = {
        {FAKE "wrong.in", 2, "wrong.in:6: "},
        {FAKE "force.in --force", 2, "force.in:24: calcforce: a potential map disables forces"},
        {FAKE "ion.pqr", 1, "'ion.pqr' is no input file of APBS, which names the molecule"},
    };
    CLI_CHECK_FAILURES(cases);
    cli(FAKE "force.in"); /* nothing is handed over */
    cli_expect(7, "arguments: force.in\n", "left to APBS");
}

static void test_native_is_faster(void **state)
{
    write_inputs();
    const cli_result *r = cli(CLI_NO_DEVICE FAKE "run.in -- --output-file=run.txt");
    cli_expect(7, "arguments: --output-file=run.txt run.in\n",
               "run.in:4: ELEC 1 (mdh): left to APBS, which takes about 0.00 s");
    assert_non_null(strstr(r->err, "complaint\n"));
    assert_non_null(strstr(r->err, "apbs ran for"));
    cli_assert_same_files("seen.in", "run.in");
    r = cli(FAKE "run.in --quiet");
    assert_string_equal(r->err, "complaint\n");
    cli_assert_nothing_left();
}

/* A small boundary on a device that is open, with its kernel in the cache, is next to nothing: what
 * is forecast is a twentieth of a second, its pairs, and APBS reading the map. */
static void test_forecast_of_little(void **state)
{
    write_inputs();
    cli_run(0, NULL, NULL, FAKE "run.in --force --no-run --keep out/kept --json out/r.json -q");
    cli_python("import json\n"
               "e = json.load(open('out/r.json'))['elecs'][0]\n"
               "assert e['decision'] == 'computed', e\n"
               "assert 0.05 < e['expected_s'] < 0.15, e['expected_s']\n");
    cli_empty(state);
}

static void test_handing_over(void **state)
{
    write_inputs();
    const cli_result *r = cli(FAKE "four.in --force --json out/a.json --verify 20 -- -a b");
    cli_expect(7, "arguments: -a b " CLI_TEMPORARY "/leyden-",
               "four.in:4: ELEC 1 (mdh): dielectric 78.54, 6,534 points in");
    assert_non_null(strstr(r->err, "ELEC 2 (sdh): dielectric 78.54, 6,534 points"));
    assert_non_null(strstr(r->err, "ELEC 3 (mdh): the boundary of ELEC 1"));
    assert_null(strstr(r->err, "ELEC 4"));
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
    cli_python(
        "import json\n"
        "r = json.load(open('out/a.json'))\n"
        "e = r['elecs']\n"
        "assert [x['decision'] for x in e] == ['computed', 'computed', 'computed', 'not concerned'], e\n"
        "assert [x['number'] for x in e] == [1, 2, 3, 4] and e[2]['shared_with'] == 1 and e[2]['map'] == e[0]['map']\n"
        "assert e[0]['points'] == 6534 and e[0]['stride'] in (1, 2, 4) and e[0]['seconds'] > 0\n"
        "assert e[0]['sum'] == 'double' and e[0]['accuracy']['passed'] and e[0]['expected_apbs_s'] > 0\n"
        "assert r['apbs']['exit_code'] == 7 and r['exit_code'] == 7 and r['apbs']['seconds'] > 0\n"
        "assert r['rest'] == ['-a', 'b'] and r['apbs']['command'][1:3] == ['-a', 'b']\n"
        "lines = [' '.join(l.split()) for l in open('seen.in')]\n"
        "assert lines.count('bcfl map') == 3 and lines.count('bcfl zero') == 1, lines\n"
        "assert sum(l.startswith('usemap pot') for l in lines) == 3\n"
        "assert any(l.startswith('pot dx tmp/leyden-') and l.endswith('/boundary-1.dx') for l in lines)\n");
}

/* Without any device; in double, as the host computes. */
static void test_handing_over_what_the_host_computes(void **state)
{
    write_inputs();
    cli(CLI_NO_DEVICE FAKE "run.in --force --device host --sum float --json out/a.json");
    cli_expect(7, "arguments: " CLI_TEMPORARY "/leyden-", "run.in:4: ELEC 1 (mdh): dielectric 78.54, 6,534 points in");
    cli_python("import json\n"
               "r = json.load(open('out/a.json'))\n"
               "e, = r['elecs']\n"
               "assert e['decision'] == 'computed' and e['sum'] == 'double' and e['host'] == 'direct summation', e\n"
               "assert e['devices'] == [] and e['accuracy']['passed'] and e['accuracy']['relative_rms'] < 1e-12\n");
    cli(CLI_NO_DEVICE FAKE "run.in --device host");
    cli_expect(7, "arguments: run.in\n", "run.in:4: ELEC 1 (mdh): left to APBS, which takes about 0.00 s");
    assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 0);
}

static void test_apbs_grids_through_the_molecule(void **state)
{
    cli_write_text("pair.pqr", "ATOM 1 N MOL 1 0.0 0.0 0.0 1.0 1.5\nATOM 2 N MOL 1 5.0 1.0 2.0 1.0 1.5\n");
    cli_write_text("cut.in",
                   "read\nmol pqr pair.pqr\nend\nelec\nmg-manual\ndime 33 33 33\nglen 12.5 13.5 13.5\ngcent 0 0 0\n"
                   "mol 1\nlpbe\nbcfl mdh\npdie 2\nsdie 78.54\nsrfm smol\nchgm spl2\nsdens 10\nsrad 1.4\nswin 0.3\n"
                   "temp 298.15\ncalcenergy no\ncalcforce no\nend\nquit\n");
    static const char warning[] =
        "the grid cuts through the molecule: 1 of 2 atoms reach a face or lie beyond it (high x); ";
    cli_run(7, NULL, warning, FAKE "cut.in --force");
    const cli_result *r = cli(FAKE "cut.in --force --quiet");
    assert_null(strstr(r->err, "cuts through"));
    write_inputs();
    r = cli(FAKE "run.in --force");
    assert_null(strstr(r->err, "cuts through"));
}

static void test_keeping_the_files(void **state)
{
    write_inputs();
    const cli_result *r =
        cli("PATH=/nonexistent apbs run.in --force --keep out/kept --no-run --boundary-stride 2 -- it's");
    cli_expect(0, NULL, "every second node in the map");
    assert_string_equal(r->out, "apbs 'it'\\''s' out/kept/leyden.in\n");
    assert_int_equal(cli_each_file(CLI_OUT "/kept", NULL), 2);
    ley_map *map = cli_read_map(CLI_OUT "/kept/boundary-1.dx");
    const ley_grid *grid = ley_map_grid(map);
    assert_int_equal(grid->n[0], 17);
    assert_true(grid->step_A[0][0] == 3.75);
    ley_map_destroy(map);
    char *text = cli_read(CLI_OUT "/kept/leyden.in", NULL);
    assert_non_null(strstr(text, "    pot dx out/kept/boundary-1.dx\nend\n"));
    assert_non_null(strstr(text, "    usemap pot 1\n    bcfl map\n"));
    free(text);
    cli("PATH=/nonexistent apbs run.in --keep out/other --no-run"); /* nothing to write */
    cli_expect(0, "apbs run.in\n", "left to APBS");
    assert_int_equal(cli_each_file(CLI_OUT "/other", NULL), 0);
    cli("PATH=/nonexistent apbs run.in --force --keep nodir/kept --no-run");
    cli_expect(2, NULL, "nodir/kept: No such file or directory");
}

/* A signal to the command alone: the program ends, too, and the folder goes. */
static void test_interrupting_apbs(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    write_inputs();
    for (size_t i = 0; i < 2; i++) {
        remove(cli_path("started"));
        pid_t child =
            cli_start("TMPDIR=" CLI_TEMPORARY " PATH=slow:/usr/bin:/bin apbs run.in --force --json out/a.json");
        for (int ms = 0; ms < 300000 && access(cli_path("started"), F_OK) != 0; ms++)
            usleep(1000);
        assert_int_equal(cli_each_file(CLI_TEMPORARY, NULL), 1);
        kill(child, signals[i]);
        const cli_result *r = cli_wait(child);
        cli_expect(128 + signals[i], NULL, "cancelled");
        assert_true(r->cpu_s < 25);
        cli_assert_nothing_left();
    }
}

/* ---- With APBS ------------------------------------------------------------------------------- */

static void copy_to_scratch(const char *folder)
{
    char command[2048];
    snprintf(command, sizeof command, "cp %s%s/*.pqr %s%s/*.in '%s'", EXAMPLES, folder, EXAMPLES, folder,
             support_directory());
    assert_int_equal(system(command), 0);
}

static const char *next_energy(const char *text, double *energy)
{
    static const char *const names[] = {"Total electrostatic energy =", "Global net ELEC energy ="};
    const char *nearest = NULL;
    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(text, names[i]);
        if (at != NULL && (nearest == NULL || at < nearest)) {
            nearest = at;
            *energy = strtod(at + strlen(names[i]), NULL);
        }
    }
    return nearest != NULL ? nearest + 1 : NULL;
}

/* Number of energies, all equal to 1e-9. */
static int compare_energies(const char *name, const char *native, const char *ours)
{
    int count = 0;
    double a, b;
    while ((native = next_energy(native, &a)) != NULL) {
        ours = next_energy(ours, &b);
        assert_non_null(ours);
        if (!(fabs(a - b) <= 1e-9 * fabs(a)))
            print_error("%s: %.12g instead of %.12g\n", name, b, a);
        assert_true(fabs(a - b) <= 1e-9 * fabs(a));
        count++;
    }
    assert_null(next_energy(ours, &b));
    return count;
}

static void test_energies(void **state)
{
    static const struct {
        const char *folder, *input;
    } cases[] = {
        {"solv", "apbs-mol.in"},         {"solv", "apbs-smol.in"},        {"born", "apbs-mol-auto.in"},
        {"born", "apbs-smol-auto.in"},   {"ionize", "apbs-mol.in"},       {"ionize", "apbs-smol.in"},
        {"point-pmf", "complex-0_1.in"}, {"point-pmf", "complex-0_2.in"}, {"point-pmf", "complex-0_3.in"},
        {"point-pmf", "complex-0_4.in"}, {"FKBP", "1d7h-dmso-mol.in"},
    };
    if (system("command -v apbs >/dev/null") != 0 || access(EXAMPLES, R_OK) != 0) {
        print_message("APBS or its examples are not installed\n");
        skip();
    }
    /* Seconds each, and APBS itself takes most of them. */
    const size_t step = support_get_level() == SUPPORT_PAIRWISE ? 3 : 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += step) {
        char command[1024];
        copy_to_scratch(cases[i].folder);
        snprintf(command, sizeof command, "cd '%s' && apbs %s >native.txt 2>/dev/null", support_directory(),
                 cases[i].input);
        assert_int_equal(system(command), 0);
        char *native = cli_read("native.txt", NULL);
        const cli_result *r = cli("TMPDIR=" CLI_TEMPORARY " apbs %s --force", cases[i].input);
        cli_expect(0, NULL, " points in ");
        assert_true(compare_energies(cases[i].input, native, r->out) > 0);
        free(native);
        cli_assert_nothing_left();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_help, cli_empty),
        cmocka_unit_test_setup(test_wrong_options, cli_empty),
        cmocka_unit_test_setup(test_the_files_of_a_grid, cli_empty),
        cmocka_unit_test_setup(test_points, cli_empty),
        cmocka_unit_test_setup(test_bad_points, cli_empty),
        cmocka_unit_test_setup(test_sdh_and_zero_need_no_device, cli_empty),
        cmocka_unit_test_setup(test_ions_that_are_not_neutral, cli_empty),
        cmocka_unit_test_setup(test_an_atom_on_a_face, cli_empty),
        cmocka_unit_test_setup(test_faces_through_the_molecule, cli_empty),
        cmocka_unit_test_setup(test_strides, cli_empty),
        cmocka_unit_test_setup(test_the_json_report, cli_empty),
        cmocka_unit_test_setup(test_apbs_is_missing, cli_empty),
        cmocka_unit_test_setup(test_bad_inputs, cli_empty),
        cmocka_unit_test_setup(test_native_is_faster, cli_empty),
        cmocka_unit_test_setup(test_forecast_of_little, cli_empty),
        cmocka_unit_test_setup(test_handing_over, cli_empty),
        cmocka_unit_test_setup(test_handing_over_what_the_host_computes, cli_empty),
        cmocka_unit_test_setup(test_apbs_grids_through_the_molecule, cli_empty),
        cmocka_unit_test_setup(test_keeping_the_files, cli_empty),
        cmocka_unit_test_setup(test_interrupting_apbs, cli_empty),
        cmocka_unit_test_setup(test_energies, cli_empty),
    };
    /* At level quick but the last one: it waits for APBS. */
    const size_t all = sizeof tests / sizeof *tests;
    return _cmocka_run_group_tests("boundaries", tests, support_is_quick() ? all - 1 : all, prepare, NULL);
}
