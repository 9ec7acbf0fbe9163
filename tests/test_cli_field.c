/* `leyden map --field` from end to end: three maps of the field beside the one of the potential, by
 * every method and in every format, and what is refused. */
#include "cli_support.h"

#include "leyden.h"

#include <unistd.h>

#define MAP "map ion.pqr -o out/a.dx --dims 7,6,5 --spacing 1.25 --origin -3,-2,-1 --field "

static void test_wrong_options(void **state)
{
    static const cli_failing cases[] = {
        {MAP "--method cutoff --variant group64", 1, "--variant: 'group64' is none of bins"},
        {MAP "--json out/a_Ey.dx", 1, "--output: 'out/a_Ey.dx' is the file of the report"},
        {"map ion.pqr -o out/a.csv --field", 1, "'out/a.csv' must end in .dx, .raw"},
        {"map ion.pqr -o nodir/a.dx --field", 2, "nodir/a.dx: No such file or directory"},
        {"map ion.pqr -o out/a.dx --field --dims 9000,9000,9000", 4, "not enough memory"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* Memory, seconds and plan of all four maps, none of which is made. */
static void test_dry_run(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --cutoff 9", "msm", "msm --window bspline6 --solver fourier"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map ion.pqr -o out/a.raw --dims 7,6,5 --spacing 1.25 --field --method %s --dry-run", methods[i]);
        static const char *const said[] = {"grid: 7 x 6 x 5 = 210 points",
                                           "slabs of the map ",
                                           "\nmemory of device 0, ",
                                           "; math auto",
                                           "\npredicted: ",
                                           "\nfile: out/a.raw, 840 bytes\nfile: out/a_Ex.raw, 840 bytes\n",
                                           "\nfile: out/a_Ez.raw, 840 bytes\n",
                                           NULL};
        cli_expect(0, "dry run: nothing is computed, and no file is written\nmemory of the host: ", NULL);
        cli_expect_all(said);
        assert_int_equal(cli_each_file(CLI_OUT, NULL), 0);
    }
}

/* Reads four maps, and holds the field against sums over all atoms in double precision. */
#define PYTHON_FIELD \
    "import gzip, json, math, os, struct\n" \
    "molecule = [[float(w) for w in line.split()[6:10]] for line in open('ion.pqr')]\n" \
    "def dx(name):\n" \
    "    text = (gzip.open(name, 'rt') if name.endswith('.gz') else open(name)).read()\n" \
    "    return text, [float(w) for l in text.split('\\n') if l[:1] in '-0123456789' for w in l.split() if l]\n" \
    "def raw(name):\n" \
    "    data = open(name, 'rb').read()\n" \
    "    head = json.load(open(name+'.json'))\n" \
    "    v, n = struct.unpack('<%df' % (len(data)//4), data), head['n']\n" \
    "    return str(head), [v[(k*n[1]+j)*n[0]+i] for i in range(n[0]) for j in range(n[1]) for k in range(n[2])]\n" \
    "def check(name, read, C, tolerance):\n" \
    "    stem, dot, kind = name.partition('.')\n" \
    "    maps = [read(stem+e+dot+kind) for e in ('', '_Ex', '_Ey', '_Ez')]\n" \
    "    for axis in range(3):\n" \
    "        assert 'field along %s, minus the gradient of the potential' % 'xyz'[axis] in maps[axis+1][0]\n" \
    "    assert 'maps _Ex, _Ey, _Ez beside' in maps[0][0] and 'accuracy of the field: ' in maps[0][0]\n" \
    "    at = 0\n" \
    "    for i in range(7):\n" \
    "        for j in range(6):\n" \
    "            for k in range(5):\n" \
    "                p = (-3+1.25*i, -2+1.25*j, -1+1.25*k)\n" \
    "                right, size = [0]*4, 0\n" \
    "                for a in molecule:\n" \
    "                    d = [x-y for x, y in zip(p, a)]\n" \
    "                    r = math.hypot(*d)\n" \
    "                    right[0] += C*a[3]/max(r, 0.05)\n" \
    "                    if r > 0.05: right[1:] = [e+C*a[3]*x/r**3 for e, x in zip(right[1:], d)]\n" \
    "                    size += abs(C*a[3])/max(r, 1)**2\n" \
    "                for c in range(4):\n" \
    "                    assert abs(maps[c][1][at]-right[c]) <= tolerance*(size+abs(right[c])), (p, c, right)\n" \
    "                at += 1\n" \
    "    assert at == len(maps[3][1]) == 210\n"

static void test_values(void **state)
{
    static const struct {
        const char *options, *file, *read;
        double tolerance;
    } cases[] = {{"--method dcs", "dx", "dx", 1e-5},
                 {"--sum double", "dx.gz", "dx", 2e-6},
                 {"--method cutoff --pair coulomb --cutoff 300", "raw", "raw", 2e-5},
                 {"--method msm --tol 1e-4", "dx", "dx", 2e-3},
                 {"--method msm --solver multilevel", "raw", "raw", 1e-2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *script = NULL;
        cli("map ion.pqr -o out/a.%s --dims 7,6,5 --spacing 1.25 --origin -3,-2,-1 --field --units kcal/mol/e --json "
            "out/a.json %s -v",
            cases[i].file, cases[i].options);
        cli_expect(0, "accuracy of the field: error at most ", NULL);
        cli_expect(0, i < 3 ? " of the absolute terms at " : NULL, NULL);
        cli_expect(0, "grid: 7 x 6 x 5 = 210 points", NULL);
        cli_expect(0, " out/a_Ez.", NULL);
        assert_true(asprintf(&script,
                             "%s"
                             "check('out/a.%s', %s, 332.06371, %g)\n"
                             "r = json.load(open('out/a.json'))\n"
                             "assert r['grid']['dims'] == [7, 6, 5] and r['points'] is None\n"
                             "assert r['field_accuracy']['passed'] and r['options']['field']\n"
                             "scale = 'the absolute terms' if %zu < 3 else 'what its terms allow'\n"
                             "scale = 'the root of the squared terms' if r['host'] and %zu > 2 else scale\n"
                             "assert r['field_error_scale'] == scale and r['error_scale'], r\n"
                             "names = ['out/a%%s.%s' %% end for end in ('', '_Ex', '_Ey', '_Ez')]\n"
                             "assert r['bytes_written'] == sum(map(os.path.getsize, names)), r['bytes_written']\n",
                             PYTHON_FIELD, cases[i].file, cases[i].read, cases[i].tolerance, i, i, cases[i].file) > 0);
        cli_python(script);
        free(script);
        cli_empty(NULL);
    }
}

/* In a cell, whose grid is the map: the field is as periodic as the potential. */
static void test_a_cell(void **state)
{
    cli("map ion.pqr -o out/a.dx --method msm --periodic xyz --cell 20,20,20 --spacing 4 --field");
    cli_expect(0, "grid: 5 x 5 x 5", NULL);
    cli("map ion.pqr -o out/b.dx --method msm --periodic xyz --cell 20,20,20 --dims 5,5,5 --spacing 4 --origin "
        "60,-20,40 --field");
    cli_expect(0, NULL, NULL);
    cli_python("def dx(name): return [float(w) for l in open(name) if l[0] in '-0123456789' for w in l.split()]\n"
               "for e in ('', '_Ex', '_Ey', '_Ez'):\n"
               "    a, b = dx('out/a'+e+'.dx'), dx('out/b'+e+'.dx')\n"
               "    size = max(map(abs, a))\n"
               "    assert len(a) == 125 and all(abs(x-y) <= 3e-5*size for x, y in zip(a, b)), e\n");
}

/* On an oblique grid, by every method. */
static void test_an_oblique_grid(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --pair coulomb --cutoff 300", "msm --tol 1e-4"};
    cli_write_text("like.dx", "object 1 class gridpositions counts 5 4 3\norigin -3 -2 -1\ndelta 1.25 0 0\n"
                              "delta 0.5 1.25 0\ndelta -0.25 0.5 1.5\nobject 2 class gridconnections counts 5 4 3\n"
                              "object 3 class array type double rank 0 items 60 data follows\n"
                              "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                              "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map ion.pqr -o out/a.dx --like like.dx --field --units kcal/mol/e --json out/a.json --method %s",
            methods[i]);
        cli_expect(0, "grid: 5 x 4 x 3 = 60 points",
                   "a.dx: the grid is oblique, and from OpenDX files GridDataFormats and PyMOL would place its points");
        cli_python(
            "import json, math\n"
            "molecule = [[float(w) for w in line.split()[6:10]] for line in open('ion.pqr')]\n"
            "def dx(name):\n"
            "    text = open(name).read()\n"
            "    assert [float(w) for w in text.split('delta')[3].split()[:3]] == [-0.25, 0.5, 1.5]\n"
            "    return [float(w) for l in text.split('\\n') if l[:1] in '-0123456789' for w in l.split() if l]\n"
            "maps = [dx('out/a'+e+'.dx') for e in ('', '_Ex', '_Ey', '_Ez')]\n"
            "assert 'maps _Ex, _Ey, _Ez beside' in open('out/a.dx').read()\n"
            "for at in range(60):\n"
            "    i, j, k = at//12, at//3%4, at%3\n"
            "    p = (-3+1.25*i+0.5*j-0.25*k, -2+1.25*j+0.5*k, -1+1.5*k)\n"
            "    right, size = [0]*4, 0\n"
            "    for a in molecule:\n"
            "        d = [x-y for x, y in zip(p, a)]\n"
            "        r, c = math.hypot(*d), 332.06371*a[3]\n"
            "        right[0] += c/max(r, 0.05)\n"
            "        if r > 0.05: right[1:] = [e+c*x/r**3 for e, x in zip(right[1:], d)]\n"
            "        size += abs(c)/max(r, 1)**2\n"
            "    for c in range(4):\n"
            "        assert abs(maps[c][at]-right[c]) <= 2e-3*(size+abs(right[c])), (p, c, maps[c][at], right)\n"
            "r = json.load(open('out/a.json'))\n"
            "assert r['grid'] is not None and r['points'] is None and r['field_accuracy']['passed']\n");
        cli_empty(NULL);
    }
    cli("map ion.pqr -o out/a.raw --like like.dx --field --dry-run");
    cli_expect(0, "file: out/a_Ez.raw, 240 bytes", NULL);
    cli("map ion.pqr -o out/a.raw --like like.dx --field --slab 1");
    cli_expect(0, " out/a_Ez.raw", NULL);
}

/* Headers say which component of the field a map holds, and programs that read maps back know its
 * units. */
static void test_titles(void **state)
{
    static const char *const endings[] = {"dx", "dxbin", "cube", "mrc"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *script = NULL;
        cli("map ion.pqr -o out/a.%s --dims 4,3,2 --spacing 2 --field --method dcs", endings[i]);
        cli_expect(0, NULL, "");
        assert_true(asprintf(&script,
                             "for axis in 'xyz':\n"
                             "    text = open('out/a_E'+axis+'.%s', 'rb').read()\n"
                             "    assert b'FIELD ALONG '+axis.upper().encode()+b' (kT/e/A)' in text, text[:1500]\n"
                             "    assert b'POTENTIAL' not in text, text[:1500]\n"
                             "assert b'POTENTIAL (' in open('out/a.%s', 'rb').read()\n",
                             endings[i], endings[i]) > 0);
        cli_python(script);
        free(script);
        cli("convert out/a_Ey.%s -o out/b.dx", endings[i]);
        cli_python("text = open('out/b.dx').read(); assert '# FIELD (kT/e/A)' in text, text[:200]\n");
        cli_empty(NULL);
    }
}

/* Who would be misled by a file with an oblique grid is told so by whoever writes it. */
static void test_readers_of_oblique_grids(void **state)
{
    static const struct {
        const char *name, *says;
    } cases[] = {{"a.dx.gz", "a.dx.gz: the grid is oblique, and from OpenDX files GridDataFormats and PyMOL"},
                 {"a.dxbin", "from binary OpenDX files PyMOL"},
                 {"a.cube", "from Gaussian cube files cclib"},
                 {"a.mrc", ""},
                 {"a.npy", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli("map ion.pqr -o out/%s --periodic xyz --cell 20,20,20,80,70,75 --dims 4,4,4 --device host", cases[i].name);
        cli_expect(0, NULL, cases[i].says);
        cli("convert out/%s -o out/b.dx", cases[i].name);
        cli_expect(0, NULL, "b.dx: the grid is oblique");
        cli("convert out/%s -o out/b.dx --quiet", cases[i].name);
        cli_expect(0, NULL, "");
        cli("convert out/%s -o out/b.ccp4", cases[i].name);
        cli_expect(0, NULL, "");
        cli_empty(NULL);
    }
    cli("map ion.pqr -o out/a.dx --periodic xyz --cell 20,20,20,80,70,75 --padding 2 --spacing 4 --device host");
    cli_expect(0, NULL, "");
}

/* Where one map cannot be written, those before it do not stay. */
static void test_all_maps_or_none(void **state)
{
    static const char *const full[] = {"out/a_Ey.dx", "out/a_Ez.raw.json", "out/a.raw"};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        assert_int_equal(symlink("/dev/full", cli_path(full[i])), 0);
        cli("map ion.pqr -o out/a.%s --method dcs --dims 7,6,5 --field",
            strstr(full[i], ".raw") != NULL ? "raw" : "dx");
        cli_expect(2, NULL, "No space left on device");
        assert_int_equal(unlink(cli_path(full[i])), 0);
        cli_assert_nothing_left();
    }
}

/* Planes go to four files while they are computed: the same bytes in slabs of any size. */
static void test_streams(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff --cutoff 9 --binning host --transposition host", "msm"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cli("map ion.pqr -o out/a.raw --dims 17,16,15 --spacing 0.75 --field --device cpu --math standard --method %s",
            methods[i]);
        cli_expect(0, " out/a_Ez.raw", NULL);
        cli("map ion.pqr -o out/b.raw --dims 17,16,15 --spacing 0.75 --field --device cpu --math standard "
            "--slab 1 --method %s",
            methods[i]);
        cli_expect(0, " out/b_Ez.raw", NULL);
        cli_python("for end in ('', '_Ex', '_Ey', '_Ez'):\n"
                   "    a, b = (open('out/'+name+end+'.raw', 'rb').read() for name in 'ab')\n"
                   "    assert len(a) == 17*16*15*4 and a == b, end\n");
        cli_empty(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_wrong_options, cli_empty),
                                       cmocka_unit_test_setup(test_dry_run, cli_empty),
                                       cmocka_unit_test_setup(test_values, cli_empty),
                                       cmocka_unit_test_setup(test_a_cell, cli_empty),
                                       cmocka_unit_test_setup(test_titles, cli_empty),
                                       cmocka_unit_test_setup(test_readers_of_oblique_grids, cli_empty),
                                       cmocka_unit_test_setup(test_an_oblique_grid, cli_empty),
                                       cmocka_unit_test_setup(test_all_maps_or_none, cli_empty),
                                       cmocka_unit_test_setup(test_streams, cli_empty)};
    return cmocka_run_group_tests_name("maps of fields", tests, cli_prepare, NULL);
}
