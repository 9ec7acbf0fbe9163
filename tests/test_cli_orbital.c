/* leyden orbital, leyden density and leyden esp: what they say, the files of several orbitals and
 * derivatives, and what is refused; surfaces. NumPy judges values, from the formulas alone. */
#include "cli_support.h"

#include "some_wavefunction.h"

#include <unistd.h>

/* Orbitals of norm 1; `factor` times that. The highest with electrons has `last` of them. */
static void write_wavefunction(const char *name, unsigned seed, double factor, double last)
{
    enum { ORBITALS = 8 };
    ley_wavefunction *some = NULL, *made = NULL;
    ley_error error = {0};
    double norms[ORBITALS];
    assert_ok(some_wavefunction(3, 2, ORBITALS, seed, &some, &error));
    assert_ok(ley_wavefunction_norms(some, norms, &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(some);
    const int64_t n = ley_wavefunction_functions(some);
    double *coefficients = malloc((size_t)(ORBITALS * n) * sizeof *coefficients);
    for (int64_t k = 0; k < ORBITALS * n; k++)
        coefficients[k] = factor * a.orbital_coefficients[k] / sqrt(norms[k / n]);
    double occupations[ORBITALS] = {2, 2, 2, 2, last};
    a.orbital_coefficients = coefficients;
    a.occupations = occupations;
    assert_ok(ley_wavefunction_create(&a, &made, &error));
    assert_ok(ley_wavefunction_write(made, cli_path(name), NULL, &error));
    free(coefficients);
    ley_wavefunction_destroy(some);
    ley_wavefunction_destroy(made);
}

static void test_one_orbital(void **state)
{
    static const char *const said[] = {"wavefunction: w.npz, 3 atoms, ",
                                       " functions; orbital 5, energy 0 hartree, occupation 1\n",
                                       "spacing 0.3 A, box ",
                                       "method: psi, sums of contracted Gaussians; relative RMS error ",
                                       "written: out/homo.cube, ",
                                       NULL};
    size_t size;
    cli_run(0, NULL, NULL, "orbital w.npz --orbital homo -o out/homo.cube --spacing 0.3 --json out/report.json");
    cli_expect_all(said);
    char *text = cli_read("out/homo.cube", &size), *report = cli_read("out/report.json", &size);
    assert_has(text, "ORBITAL 5 (bohr^-3/2)");
    assert_has(text, "\n    1    1.000000 "); /* the first nucleus: its element and charge */
    assert_has(report, "\"number\": 5");
    assert_has(report, "\"relative_rms\": ");
    ley_map *map = cli_read_map("out/homo.cube");
    assert_true(fabs(ley_map_grid(map)->step_A[0][0] - 0.3) < 1e-12);
    ley_map_destroy(map);
    free(text);
    free(report);
}

/* Each in a file of its own, or all in one. */
static void test_several_orbitals(void **state)
{
    size_t size;
    cli_run(0, "; orbital 5, energy 0 hartree, occupation 1, and 2 more\n", NULL,
            "orbital w.npz --orbital homo,1-2 -o out/{}.cube --spacing 0.5");
    cli_run(0, "written: out/mo_5.cube, out/mo_1.cube, out/mo_2.cube, ", NULL,
            "orbital w.npz --orbital homo,1-2 -o out/mo.cube --spacing 0.5");
    cli_assert_same_files("out/5.cube", "out/mo_5.cube");
    cli_assert_same_files("out/2.cube", "out/mo_2.cube");
    cli_run(0, "written: out/mo_5.cube, out/mo_1.cube, ", NULL, /* each once */
            "orbital w.npz --orbital HOMO,5,Homo,1,Alpha:homo -o out/mo.cube --spacing 0.5");
    cli_run(0, NULL, NULL, "orbital w.npz --orbital homo,1-2 --together -o out/all.cube --spacing 0.5");
    cli_python("def read(name):\n"
               "    lines = open(name).read().split('\\n')\n"
               "    atoms = int(lines[2].split()[0])\n"
               "    n = [int(lines[k].split()[0]) for k in (3, 4, 5)]\n"
               "    at = 6 + abs(atoms)\n"
               "    numbers = lines[at].split() if atoms < 0 else None\n"
               "    values = ' '.join(lines[at + (atoms < 0):]).split()\n"
               "    return atoms, n, numbers, [float(v) for v in values]\n"
               "atoms, n, numbers, values = read('out/all.cube')\n"
               "assert atoms == -3 and numbers == ['3', '5', '1', '2'], (atoms, numbers)\n"
               "assert len(values) == 3 * n[0] * n[1] * n[2]\n"
               "for k, name in enumerate(('5', '1', '2')):\n"
               "    alone = read(f'out/{name}.cube')\n"
               "    assert alone[0] == 3 and alone[1] == n and alone[3] == values[k::3]\n");
    char *text = cli_read("out/all.cube", &size);
    assert_has(text, "    3    5    1    2\n");
    free(text);
    cli_run(0, NULL, NULL, "convert out/all.cube --value orbital_1 -o out/second.npy");
    cli_run(0, NULL, NULL, "convert out/1.cube -o out/alone.npy");
    cli_assert_same_files("out/alone.npy", "out/second.npy");
    cli_run(0, NULL, NULL, "slice out/all.cube --value 2 -o out/second.svg --title one");
    cli_run(0, NULL, NULL, "slice out/1.cube -o out/alone.svg --title one");
    cli_assert_same_files("out/alone.svg", "out/second.svg");
    cli_run(0, NULL, NULL, "surface --map out/all.cube --value 2 --level 0.03 -o out/second.stl");
    cli_run(0, NULL, NULL, "surface --map out/1.cube --level 0.03 -o out/alone.stl");
    cli_assert_same_files("out/alone.stl", "out/second.stl");
    cli_run(0, NULL, NULL, "density w.npz --like out/all.cube -o out/rho.cube");
}

static void test_densities(void **state)
{
    cli_run(0, " functions; 5 alpha and 4 beta electrons, charge -3 e\n", NULL,
            "density w.npz -o out/rho.dx --gradient --laplacian --spacing 0.4");
    cli_expect(0, "written: out/rho.dx, out/rho_dx.dx, out/rho_dy.dx, out/rho_dz.dx, out/rho_laplacian.dx, ", NULL);
    cli_run(0, "method: rho, sums of squared orbitals; ", NULL,
            "density w.npz -o out/spin.dx --spin --like out/rho.dx");
    ley_map *rho = cli_read_map("out/rho.dx"), *spin = cli_read_map("out/spin.dx");
    assert_memory_equal(ley_map_grid(rho), ley_map_grid(spin), sizeof(ley_grid));
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(rho)); i++)
        assert_true(ley_map_read_values(rho)[i] >= ley_map_read_values(spin)[i] * 0.9999f);
    ley_map_destroy(rho);
    ley_map_destroy(spin);
}

static void test_potentials(void **state)
{
    size_t size;
    cli_run(0, "method: phi, one-electron integrals and nuclei; ", NULL,
            "esp w.npz -o out/v.cube --field --spacing 0.6");
    cli_expect(0, "written: out/v.cube, out/v_Ex.cube, out/v_Ey.cube, out/v_Ez.cube, ", NULL);
    char *text = cli_read("out/v.cube", &size);
    assert_has(text, "POTENTIAL (hartree/e)");
    free(text);
    text = cli_read("out/v_Ez.cube", &size);
    assert_has(text, "FIELD, ALONG Z (hartree/e/bohr)");
    free(text);
    cli_run(0, NULL, NULL, "esp w.npz -o out/volt.dx --units V --like out/v.cube");
    ley_map *hartree = cli_read_map("out/v.cube"), *volt = cli_read_map("out/volt.dx");
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(hartree)); i += 7) {
        const double v = (double)ley_map_read_values(volt)[i];
        assert_true(fabs(v - 27.211386 * (double)ley_map_read_values(hartree)[i]) <= 2e-5 * fabs(v) + 1e-7);
    }
    ley_map_destroy(hartree);
    ley_map_destroy(volt);
}

/* ---- Judged by NumPy ------------------------------------------------------------------------- */

/* judge.py: functions of shells up to d at places, and a reader of cube files. */
static const char judge[] =
    "import re\n"
    "import numpy as np\n"
    "def odd(n):\n"
    "    return 1 if n < 1 else (2 * n - 1) * odd(n - 1)\n"
    "def functions(w, r):\n"
    "    made, t = [], 3 ** 0.5\n"
    "    for s, (atom, l, pure) in enumerate(zip(w['shell_atom'], w['shell_l'], w['shell_pure'])):\n"
    "        x, y, z = d = (r - w['positions_bohr'][atom]).T\n"
    "        p = slice(*w['shell_first_primitive'][s:s + 2])\n"
    "        a, c = w['exponents'][p, None], w['coefficients'][p, None]\n"
    "        norm = (2 * a / np.pi) ** 0.75 * (4 * a) ** (l / 2) / odd(l) ** 0.5\n"
    "        g = (c * norm * np.exp(-a * (d * d).sum(0))).sum(0)\n"
    "        made += [g * f for f in {\n"
    "            (0, 0): [1], (0, 1): [1], (1, 0): [x, y, z], (1, 1): [z, x, y],\n"
    "            (2, 0): [x * x, t * x * y, t * x * z, y * y, t * y * z, z * z],\n"
    "            (2, 1): [z * z - (x * x + y * y) / 2, t * x * z, t * y * z, t / 2 * (x * x - y * y), t * x * y],\n"
    "        }[l, pure]]\n"
    "    return np.array(made)\n"
    "def orbitals(w, r):\n"
    "    return w['orbitals'] @ functions(w, r)\n"
    "def density(w, r):\n"
    "    return w['occupations'] @ orbitals(w, r) ** 2\n"
    "def cube(name):\n"
    "    lines = open(name).read().split('\\n')\n"
    "    atoms, *origin = lines[2].split()\n"
    "    axes = [lines[k].split() for k in (3, 4, 5)]\n"
    "    n = [int(a[0]) for a in axes]\n"
    "    assert min(n) > 0, 'lengths are in bohr'\n"
    "    index = np.indices(n).reshape(3, -1).T\n"
    "    values = np.array(' '.join(lines[6 + int(atoms):]).split(), float)\n"
    "    return np.array(origin[:3], float) + index @ np.array([a[1:4] for a in axes], float), values\n"
    "def check(name, right):\n"
    "    r, values = cube(name)\n"
    "    right = right(r)\n"
    "    off = abs(values - right).max() / abs(right).max()\n"
    "    assert off < 1e-5, (name, off)\n"
    "def ply(name):\n"
    "    head, body = open(name, 'rb').read().split(b'end_header\\n', 1)\n"
    "    n = int(re.search(rb'element vertex (\\d+)', head)[1])\n"
    "    row = np.dtype([('r', '<3f4'), ('normal', '<3f4'), ('colour', '3u1'), ('value', '<f4')])\n"
    "    v = np.frombuffer(body, row, n)\n"
    "    return v['r'] / 0.529177210903, v['colour'].astype(int), v['value'], head\n"
    "w, less = (dict(np.load(name)) for name in ('w.npz', 'less.npz'))\n";

/* A grid of steps that are not at right angles, with lengths in bohr and in Angstrom, which is
 * where counts are negative. */
static const char grids[] = "import numpy as np\n"
                            "origin, steps = [-1.25, -1, -0.75], [[0.5, 0, 0.0625], [0.125, 0.5, 0], [0, 0.25, 0.75]]\n"
                            "for name, sign, unit in (('angstrom', -1, 1), ('bohr', 1, 0.529177210903)):\n"
                            "    with open(name + '.cube', 'w') as f:\n"
                            "        f.write('a grid\\n\\n')\n"
                            "        for n, x in zip((1, 7 * sign, 6 * sign, 5 * sign), [origin] + steps):\n"
                            "            f.write('%d %r %r %r\\n' % (n, *(float(v) / unit for v in x)))\n"
                            "        f.write('1 0 0 0 0\\n' + '0 0 0 0 0\\n' * 42)\n";

static void prepare_judge(void)
{
    cli_write_text("judge.py", judge);
    cli_python(grids);
}

/* On an oblique grid, whatever its lengths are in; ASE finds the same as the judge. */
static void test_oblique(void **state)
{
    prepare_judge();
    cli_run(0, NULL, NULL, "orbital w.npz --orbital 1-3,homo -o out/a{}.cube --like angstrom.cube");
    cli_run(0, NULL, NULL, "orbital w.npz --orbital homo -o out/b.cube --like bohr.cube");
    cli_run(0, NULL, NULL, "orbital w.npz --orbital homo -o out/c.cube --like angstrom.cube");
    cli_assert_same_files("out/c.cube", "out/b.cube");
    cli_python("from judge import *\n"
               "from ase.io.cube import read_cube\n"
               "bohr = 0.529177210903\n"
               "for i in (1, 2, 3, 5):\n"
               "    check(f'out/a{i}.cube', lambda r: orbitals(w, r)[i - 1])\n"
               "read = read_cube(open('out/b.cube'))\n"
               "r, values = cube('out/b.cube')\n"
               "assert read['data'].shape == (7, 6, 5) and abs(read['data'].ravel() - values).max() < 1e-7\n"
               "assert abs(read['origin'] - np.array([-1.25, -1, -0.75])).max() < 1e-5, read['origin']\n"
               "steps = read['atoms'].cell / np.array([[7], [6], [5]])\n"
               "right = [[0.5, 0, 0.0625], [0.125, 0.5, 0], [0, 0.25, 0.75]]\n"
               "assert abs(steps - np.array(right)).max() < 1e-5, steps\n"
               "assert abs(read['atoms'].positions / bohr - w['positions_bohr']).max() < 1e-5\n"
               "assert list(read['atoms'].numbers) == [1, 2, 3]\n");
}

/* Densities of some orbitals, and differences; the reduced gradient. */
static void test_chosen_densities(void **state)
{
    prepare_judge();
    cli_run(0, "; density of homo\n", NULL, "density w.npz --orbital homo -o out/homo.cube --like bohr.cube");
    cli_run(0, "; density of lumo,homo\n", NULL,
            "density w.npz --orbital lumo,homo --occupations 1,-1 -o out/dual.cube --like bohr.cube --json out/d.json");
    cli_run(0, NULL, NULL, "density w.npz --orbital 1-4 --occupations 0.5 -o out/half.cube --spacing 0.7");
    cli_run(0, "; less less.npz, electrons: 1\n", NULL,
            "density w.npz --minus less.npz -o out/fukui.cube --spacing 0.7 --laplacian");
    cli_run(0, NULL, NULL, "density w.npz --minus less.npz -o out/fukui.dx --spacing 0.7");
    char *text = cli_read("out/fukui.dx", NULL);
    assert_has(text, "# wavefunction: w.npz\n# minus: less.npz\n# math: ");
    free(text);
    cli_run(0, NULL, NULL, "density w.npz -o out/rho.cube --gradient --reduced-gradient --like bohr.cube");
    cli_run(0, "written: out/s.cube, out/s_reduced_gradient.cube, ", NULL,
            "density w.npz -o out/s.cube --reduced-gradient --spacing 0.6 --padding 4");
    cli_python("from judge import *\n"
               "import json\n"
               "check('out/homo.cube', lambda r: orbitals(w, r)[4] ** 2)\n"
               "check('out/dual.cube', lambda r: orbitals(w, r)[5] ** 2 - orbitals(w, r)[4] ** 2)\n"
               "check('out/half.cube', lambda r: 0.5 * (orbitals(w, r)[:4] ** 2).sum(0))\n"
               "check('out/fukui.cube', lambda r: density(w, r) - density(less, r))\n"
               "assert [o['occupation'] for o in json.load(open('out/d.json'))['orbitals']] == [1, -1]\n"
               "def reduced(r, h=1e-4):\n"
               "    e = h * np.eye(3)\n"
               "    slope = [(density(w, r + e[k]) - density(w, r - e[k])) / (2 * h) for k in range(3)]\n"
               "    s = np.linalg.norm(slope, axis=0) / (2 * (3 * np.pi ** 2) ** (1 / 3) * density(w, r) ** (4 / 3))\n"
               "    return np.minimum(s, 100)\n"
               "check('out/rho_reduced_gradient.cube', reduced)\n"
               "check('out/s_reduced_gradient.cube', reduced)\n"
               "assert cube('out/s_reduced_gradient.cube')[1].max() > 5\n");
}

/* Tables: all values of a point in its row, under their names; by the same formulas. */
static void test_points(void **state)
{
    static const char text[] = "name,z,x,y\na,1,0.5,0\nb,3,1,2\n", bad[] = "1 2 3\n\n1 two 3\n";
    prepare_judge();
    cli_write("points.csv", text, sizeof text - 1);
    cli_write("bad.xyz", bad, sizeof bad - 1);
    cli_run(0, "points: 2 of points.csv\n", NULL, "esp w.npz -o out/v.csv --points points.csv --field --units V");
    char *table = cli_read("out/v.csv", NULL);
    assert_has(table, "units: V, of the field V/A");
    assert_has(table, "\nx,y,z,phi,ex,ey,ez\n0.5,0,1,");
    free(table);
    cli_run(0, "points: 2 of points.csv\n", NULL,
            "orbital w.npz --orbital homo,1-2 --points points.csv -o out/mo.csv --json out/r.json");
    table = cli_read("out/mo.csv", NULL);
    assert_has(table, "# units: bohr^-3/2\n");
    assert_has(table, ", exp ");
    free(table);
    cli_run(0, NULL, NULL, "orbital w.npz --orbital homo,1-2 --points out/mo.csv -o out/mo.npy");
    cli_run(0, NULL, NULL, "density w.npz --gradient --laplacian --reduced-gradient --points - -o out/rho.csv <%s",
            cli_path("points.csv"));
    table = cli_read("out/rho.csv", NULL);
    assert_has(table, "# units: bohr^-3, of derivatives bohr^-4, of the Laplacian bohr^-5\n");
    free(table);
    cli_run(0, NULL, NULL, "density w.npz --spin --points points.csv -o out/spin.csv");
    cli_run(0, NULL, NULL, "density w.npz --minus less.npz --points points.csv -o out/fukui.csv");
    cli_python(
        "from judge import *\n"
        "import csv, json\n"
        "def table(name):\n"
        "    rows = list(csv.DictReader(line for line in open(name) if line[0] != '#'))\n"
        "    assert [[float(row[k]) for k in 'xyz'] for row in rows] == [[0.5, 0, 1], [1, 2, 3]]\n"
        "    return {k: np.array([float(row[k]) for row in rows]) for k in rows[0] if k not in 'xyz'}\n"
        "def near(found, right):\n"
        "    assert abs(found - right).max() < 1e-5 * abs(right).max() + 1e-9, (found, right)\n"
        "r = np.array([[0.5, 0, 1], [1, 2, 3]]) / 0.529177210903\n"
        "mo = table('out/mo.csv')\n"
        "assert list(mo) == ['orbital_5', 'orbital_1', 'orbital_2'], list(mo)\n"
        "for number in (5, 1, 2):\n"
        "    near(mo[f'orbital_{number}'], orbitals(w, r)[number - 1])\n"
        "assert abs(np.load('out/mo.npy')[:, 3:].T - list(mo.values())).max() < 1e-8\n"
        "rho, e, h = table('out/rho.csv'), np.eye(3), 1e-3\n"
        "assert list(rho) == ['density'] + ['density_' + k for k in 'dx dy dz laplacian reduced_gradient'.split()]\n"
        "near(rho['density'], density(w, r))\n"
        "for k, axis in zip('xyz', e):\n"
        "    near(rho['density_d' + k], (density(w, r + h * axis) - density(w, r - h * axis)) / (2 * h))\n"
        "bent = sum(density(w, r + h * a) + density(w, r - h * a) - 2 * density(w, r) for a in e) / h ** 2\n"
        "near(rho['density_laplacian'], bent)\n"
        "slope = sum(rho['density_d' + k] ** 2 for k in 'xyz') ** 0.5\n"
        "near(rho['density_reduced_gradient'],\n"
        "     np.minimum(slope / (2 * (3 * np.pi ** 2) ** (1 / 3) * rho['density'] ** (4 / 3)), 100))\n"
        "near(table('out/spin.csv')['spin_density'], orbitals(w, r)[4] ** 2)\n"
        "near(table('out/fukui.csv')['density'], density(w, r) - density(less, r))\n"
        "assert json.load(open('out/r.json'))['points'] == 2\n");
}

/* The script of docs/orbitals.md, and a density of orbitals whose occupations are fractions: it is
 * that of both spins. */
static void test_natural_orbitals(void **state)
{
    char *text = support_read_file("docs/orbitals.md", NULL), *script = strstr(text, "# natural orbitals, "), *end;
    assert_non_null(script);
    end = strstr(script, "```");
    assert_non_null(end);
    *end = '\0';
    prepare_judge();
    cli_python("from judge import *\n"
               "rng = np.random.default_rng(3)\n"
               "n = w['orbitals'].shape[1]\n"
               "alpha = np.eye(n) + 0.1 * rng.normal(size=(n, n))\n"
               "turn = np.linalg.qr(rng.normal(size=(n, n)))[0]\n"
               "electrons = (np.arange(n) < 5) * 1.0, (np.arange(n) < 3) * 1.0\n"
               "w.update(orbitals=np.concatenate([alpha, turn @ alpha]), occupations=np.concatenate(electrons),\n"
               "         energies=np.zeros(2 * n), spins=np.repeat([1, -1], n))\n"
               "np.savez('radical.npz', **w)\n");
    cli_python(script);
    cli_run(0, NULL, NULL, "density natural.npz --any-norm -o out/natural.cube --like bohr.cube");
    cli_python("from judge import *\n"
               "radical, natural = (dict(np.load(f'{name}.npz')) for name in ('radical', 'natural'))\n"
               "n = natural['occupations']\n"
               "assert len(n) == len(w['orbitals'][0]) and abs(n.sum() - 8) < 1e-9 and (np.diff(n) <= 0).all()\n"
               "assert (abs(n - n.round()) > 0.05).sum() > 2, n\n"
               "check('out/natural.cube', lambda r: density(radical, r))\n");
    free(text);
}

/* Vertices are where the orbital has the level, blue where it is positive and red where it is
 * negative; colours of a density are another map's, or the potential's. */
static void test_surfaces(void **state)
{
    static const char *const said[] = {"\n 0.05  ", "\n-0.05  ", "colours from -0.05 to 0.05\n", NULL};
    prepare_judge();
    cli_run(0, NULL, NULL, "surface w.npz --orbital homo --level 0.05 --spacing 0.08 -o out/homo.ply");
    cli_expect_all(said);
    cli_run(0, NULL, NULL, "density w.npz --orbital homo --occupations 1 -o out/f.cube --spacing 0.08");
    cli_run(0, "surface: ", NULL,
            "surface w.npz --density --level 0.02 --map out/f.cube -o out/rho.ply --spacing 0.08");
    cli_run(0, "written: out/rho.png, 240 x 180 pixels", NULL,
            "surface w.npz --density --map out/f.cube -o out/rho.png --size 240 "
            "--spacing 0.3");
    cli_python("from judge import *\n"
               "r, colour, value, head = ply('out/homo.ply')\n"
               "assert b'homo in bohr^-3/2' in head\n"
               "psi = orbitals(w, r)[4]\n"
               "off = np.sort(abs(psi - value))\n"
               "assert off[len(off) // 2] < 1e-4 and off[-1] < 5e-3, (off[len(off) // 2], off[-1])\n"
               "assert set(value) == {np.float32(0.05), np.float32(-0.05)}\n"
               "assert ((colour[:, 2] > colour[:, 0]) == (value > 0)).all()\n"
               "r, colour, value, head = ply('out/rho.ply')\n"
               "off = np.sort(abs(density(w, r) - 0.02))\n"
               "assert off[len(off) // 2] < 4e-5 and off[-1] < 8e-3, (off[len(off) // 2], off[-1])\n"
               "right = orbitals(w, r)[4] ** 2\n"
               "off = np.median(abs(value - right)) / right.max()\n"
               "assert off < 2e-3, off\n"
               "assert colour[value.argmax(), 0] < colour[value.argmin(), 0]\n");
    cli_run(0, NULL, NULL, "surface w.npz --spin --level 0.01 --spacing 0.08 -o out/spin.ply");
    cli_run(0, "bohr^-3, colours from -", NULL,
            "surface w.npz --density --spin --level 0.02 --spacing 0.2 -o out/by_spin.ply");
    cli_python("from judge import *\n"
               "r, colour, value, head = ply('out/spin.ply')\n"
               "off = np.sort(abs(orbitals(w, r)[4] ** 2 - 0.01))\n" /* the only one with a single electron */
               "assert off[len(off) // 2] < 4e-5 and off[-1] < 1e-2, (off[len(off) // 2], off[-1])\n"
               "r, colour, value, head = ply('out/by_spin.ply')\n"
               "assert b'spin density in bohr^-3' in head\n"
               "right = orbitals(w, r)[4] ** 2\n"
               "assert abs(value - right).max() < 1e-4 * right.max(), abs(value - right).max()\n"
               "assert np.median(abs(density(w, r) - 0.02)) < 1e-3\n");
    cli_run(0, "hartree/e, colours from -", NULL, "surface w.npz --density -o out/v.ply --spacing 0.2");
    cli_python("from judge import *\n"
               "r, colour, value, head = ply('out/v.ply')\n"
               "assert b'potential in hartree/e' in head\n"
               "np.savetxt('vertices.xyz', r[::97] * 0.529177210903)\n");
    cli_run(0, NULL, NULL, "esp w.npz --points vertices.xyz -o out/v.npy");
    cli_python("from judge import *\n"
               "value, right = ply('out/v.ply')[2][::97], np.load('out/v.npy')\n"
               "right = right.reshape(len(value), -1)[:, -1]\n"
               "assert abs(value - right).max() < 1e-4 * abs(right).max(), abs(value - right).max()\n");
}

static void test_failures(void **state)
{
    static const char molden[] = "[Molden Format]\n[Atoms] AU\nH 1 1 0 0 0\n",
                      fchk[] = "water\nSP        RHF\nNumber of atoms                            I                3\n";
    cli_write("w.molden", molden, sizeof molden - 1);
    cli_write("w.fchk", fchk, sizeof fchk - 1);
    cli_run(0, NULL, NULL, "orbital w.npz --orbital 1-2 --together -o several.cube --spacing 1");
    cli_run(0, NULL, NULL, "orbital w.npz --orbital 1 -o one.dx --spacing 1");
    static const cli_failing cases[] = {
        {"orbital w.npz -o out/a.cube", 1, "--orbital"},
        {"orbital w.npz --orbital homo -o out/a.txt", 1, "'out/a.txt' must end in "},
        {"orbital w.npz --orbital homo9 -o out/a.cube", 1, "orbitals 'homo9': "},
        {"orbital w.npz --orbital hommo -o out/a.cube", 1,
         "orbitals 'hommo': that is no name of an orbital; names are homo"},
        {"orbital w.npz --homo -o out/a.cube", 1, "; type: --orbital homo"},
        {"orbital w.npz --mo lumo -o out/a.cube", 1, "; type: leyden orbital w.npz --orbital lumo -o out/a.cube"},
        {"orbital w.npz --orbital homo --variant tiled -o out/a.cube --device host", 1,
         "a kernel's variant is for devices"},
        {"density closed.npz -o out/a.cube --spin", 2, "has as many alpha electrons as beta electrons"},
        {"esp w.npz -o out/a.csv", 1, "'out/a.csv' is a table, which needs --points FILE"},
        {"map w.npz -o out/a.dx", 2, "leyden esp 'w.npz' -o NEW.cube computes its potential"},
        {"map w.molden -o out/a.dx", 2,
         "w.molden:1: this is a wavefunction, not a PQR file: python3 -m leyden convert 'w.molden'"},
        {"map w.fchk -o out/a.dx", 2,
         "w.fchk:3: this is a wavefunction, not a PQR file: python3 -m leyden convert 'w.fchk'"},
        {"slice w.molden -o out/a.png", 2,
         "w.molden:1: this is a wavefunction, not a map: python3 -m leyden convert 'w.molden'"},
        {"convert w.molden -o out/new.npz", 1, "; type: python3 -m leyden convert w.molden -o out/new.npz"},
        {"surface w.molden --orbital homo -o out/a.ply", 1, "python3 -m leyden convert FILE -o FILE.npz makes one"},
        {"slice several.cube -o out/a.png", 2,
         "2 values at each point, orbital_1 orbital_2: which one is to be read, say by the option 'value' "},
        {"slice several.cube --value orbital_3 -o out/a.png", 2,
         "several.cube:10: there is no value 'orbital_3', but 2"},
        {"slice one.dx --value 2 -o out/a.png", 1, "one.dx: there is no value '2': files of this format have one"},
        {"orbital w.npz --orbital 99 -o out/a.cube", 1, "there is no orbital of this number"},
        {"orbital w.npz --orbital 1-2 --together -o out/a.dx", 1, "--together: 'out/a.dx' must end in .cube"},
        {"orbital none.npz --orbital homo -o out/a.cube", 2, "none.npz"},
        {"orbital ion.pqr --orbital homo -o out/a.cube", 2, "not an archive of arrays (.npz)"},
        {"orbital twice.npz --orbital homo -o out/a.cube", 2, "has a norm of 4, not 1: "},
        {"density twice.npz -o out/a.cube --spin --sum double --variant separable --any-norm", 1,
         "variant separable is for float sums on grids along x, y and z"},
        {"density w.npz -o out/a.cube --like a.dx --spacing 1", 1, "--like and --spacing exclude each other"},
        {"density w.npz -o out/a.cube --glen 5,5,5", 1, "--glen needs --dims"},
        {"density w.npz --minus twice.npz -o out/a.cube", 2, "twice.npz: orbital "},
        {"density w.npz --minus less.npz --orbital homo -o out/a.cube", 1, "--minus and --orbital exclude each other"},
        {"density w.npz --occupations 1 -o out/a.cube", 1, "--occupations needs --orbital"},
        {"density w.npz --orbital 1-3 --occupations 1,2 -o out/a.cube", 1, "--occupations: 2 numbers for 3 orbitals"},
        {"density w.npz --orbital lumo -o out/a.cube", 2, "no orbital of this density has electrons"},
        {"density w.npz --orbital 1 --occupations 1 --spin -o out/a.cube", 1, "--spin and --occupations exclude"},
        {"density less.npz --minus less.npz -o less.npz", 1, "'less.npz' must end in "},
        {"surface w.npz -o out/a.ply", 1, "'w.npz' is a wavefunction: --orbital homo, --density or --spin"},
        {"surface w.npz --orbital homo --spin -o out/a.ply", 1, "--spin and --orbital exclude each other"},
        {"surface w.npz --density --spin --map a.dx -o out/a.ply", 1, "--spin and --map exclude each other"},
        {"surface ion.pqr --orbital homo -o out/a.ply", 1, "--orbital is of a wavefunction"},
        {"surface w.npz --orbital homo --density -o out/a.ply", 1, "exclude each other"},
        {"surface w.npz --orbital 1-2 -o out/a.ply", 1, "'1-2' are 2 orbitals"},
        {"surface w.npz --orbital homo --sharpness 3 -o out/a.ply", 1, "--sharpness is of molecules"},
        {"surface w.npz --orbital homo --level 50 --spacing 0.5 -o out/a.ply", 2, "no surface at level 50"},
        {"surface twice.npz --density -o out/a.ply", 2, "has a norm of 4, not 1: "},
        {"esp w.npz -o out/a.cube --units furlong", 1, "--units"},
        {"esp w.npz -o out/a.cube --points none.xyz", 1, "'out/a.cube' must end in .csv or .npy"},
        {"esp w.npz -o out/a.csv --points ion.pqr --spacing 1", 1, "--points and --spacing exclude each other"},
        {"orbital w.npz --orbital 1 -o out/a.csv", 1, "'out/a.csv' is a table, which needs --points FILE"},
        {"orbital w.npz --orbital 1 --together -o out/a.csv --points bad.xyz", 1, "--points and --together exclude"},
        {"orbital w.npz --orbital 1-2 -o out/{}.csv --points bad.xyz", 1, "all values are columns of one table"},
        {"density w.npz -o out/a.dx --points bad.xyz", 1, "'out/a.dx' must end in .csv or .npy"},
        {"density w.npz -o out/a.csv --points bad.xyz", 2, "bad.xyz:3: y 'two' is not a number"},
        {"density w.npz -o out/a.csv --points none.xyz", 2, "none.xyz"},
        {"density w.npz --minus less.npz -o out/a.csv --points bad.xyz --json less.npz", 1,
         "--json: 'less.npz' is the file of the wavefunction"},
        {"density w.npz -o w.npz", 1, "'w.npz' must end in "},
    };
    CLI_CHECK_FAILURES(cases);
    cli_run(0, NULL, NULL, "orbital twice.npz --orbital homo -o out/a.cube --any-norm --spacing 0.5");
}

/* Values of one device and of two; where one fails, or lies, the other does it all; of the only
 * one, and there is no file. */
static void test_two_devices(void **state)
{
    static const struct {
        const char *faults;
        int code;
    } cases[] = {{"call=clEnqueueNDRangeKernel,at=1,fault=fail,ever=1", 4},
                 {"call=clEnqueueReadBuffer,at=1,fault=fail,ever=1", 4},
                 {"call=clEnqueueReadBuffer,at=1,fault=garbage,ever=1", 5}};
    static const char command[] = "orbital w.npz --orbital homo,1 --spacing 0.2 --slab 2 ";
    char faults[200];
    cli_run(0, NULL, NULL, "%s-o out/one.npy --device 0", command);
    cli_run(0, NULL, NULL, "%s-o out/two.npy --device all", command);
    cli_assert_same_files("out/one_1.npy", "out/two_1.npy");
    cli_assert_same_files("out/one_5.npy", "out/two_5.npy");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(faults, sizeof faults, "%s,device=0", cases[i].faults);
        cli_run(0, "written: ", NULL, "%s%s-o out/a.npy --device all", cli_faulty(faults), command);
        cli_assert_same_files("out/one_1.npy", "out/a_1.npy");
        unlink(cli_path("out/a_1.npy"));
        cli_run(cases[i].code, "", "leyden: ", "%s%s-o out/a.npy --device 0", cli_faulty(cases[i].faults), command);
        assert_int_equal(access(cli_path("out/a_1.npy"), F_OK), -1);
    }
}

/* What would be done: nothing is computed, and there is no file. */
static void test_dry_runs(void **state)
{
    static const char *const said[] = {"dry run: nothing is computed, and no file is written\n",
                                       "memory of device 0",
                                       "the other maps ",
                                       ": pairs of Gaussians ",
                                       "\npredicted: ",
                                       NULL};
    cli_run(0, NULL, NULL, "esp w.npz -o out/v.cube --field --spacing 0.1 --dry-run");
    cli_expect_all(said);
    assert_int_equal(access(cli_path("out/v.cube"), F_OK), -1);
    cli_run(0, "dry run: ", NULL, "orbital w.npz --orbital 1-3 -o out/v.csv --points ion.pqr --dry-run");
    cli_run(0, NULL, NULL, "density w.npz -o out/v.dx --gradient --dry-run --json out/r.json");
    char *report = cli_read("out/r.json", NULL);
    assert_has(report, "\"forecast\": {");
    free(report);
    cli_run(4, NULL, "not enough memory: ", "density w.npz -o out/v.dx --gradient --spacing 0.001 --dry-run");
}

/* Small jobs, and all where there is no device: the host alone, by the formulas, in double
 * precision; held against another way to compute them. */
static void test_by_host(void **state)
{
    static const char *const said[] = {"\ncomputed by: the host, integrals by quadrature in double precision",
                                       "\nverified against: a second sum in extended precision\n", NULL};
    prepare_judge();
    cli_write("points.xyz", "0.5 0 1\n1 2 3\n", 14);
    cli_run(0, NULL, NULL, "LEYDEN_KERNEL_DIR= esp w.npz --points points.xyz --field -o out/v.csv -v");
    cli_expect_all(said);
    cli_run(0, NULL, NULL, "esp w.npz --points points.xyz --field -o out/device.csv");
    cli_run(0, "s on the host\n", NULL, "LEYDEN_KERNEL_DIR= density w.npz --points points.xyz -o out/rho.csv");
    cli_run(0, NULL, NULL,
            "orbital w.npz --orbital homo,1 --like bohr.cube -o out/host.cube --device host --json out/h.json");
    cli_run(0, NULL, NULL,
            "density w.npz --like bohr.cube --gradient --reduced-gradient -o out/rho.cube --device host");
    cli_run(0, NULL, NULL,
            "LEYDEN_KERNEL_DIR= OCL_ICD_VENDORS=/nonexistent orbital w.npz --orbital homo -o out/a.cube");
    cli_python("from judge import *\n"
               "import csv, json\n"
               "v, right = (np.array([[float(x) for x in row.values()] for row in csv.DictReader(\n"
               "    line for line in open(f'out/{name}.csv') if line[0] != '#')]) for name in ('v', 'device'))\n"
               "assert v.shape == (2, 7) and abs(v - right).max() < 1e-5 * abs(right).max(), v - right\n"
               "check('out/host_5.cube', lambda r: orbitals(w, r)[4])\n"
               "check('out/host_1.cube', lambda r: orbitals(w, r)[0])\n"
               "check('out/rho.cube', lambda r: density(w, r))\n"
               "report = json.load(open('out/h.json'))\n"
               "assert report['host'] == 'sums of contracted Gaussians' and report['devices'] == [], report\n"
               "assert 0 < report['accuracy']['compared'], report\n");
    cli_run(0, "the host alone, integrals by quadrature in double precision of 3 atoms at ", NULL,
            "LEYDEN_KERNEL_DIR= esp w.npz --points points.xyz -o out/a.csv --dry-run");
    cli_run(0, NULL, NULL, "surface w.npz --orbital homo --level 0.03 -o out/homo.stl --device host");
}

static int begin(void **state)
{
    const int code = cli_prepare(state);
    write_wavefunction("w.npz", 11, 1, 1);
    write_wavefunction("twice.npz", 11, 2, 1);
    write_wavefunction("less.npz", 12, 1, 0);
    write_wavefunction("closed.npz", 12, 1, 2);
    return code;
}

int main(void)
{
    support_pocl_alone("pthread pthread");
    return RUN_GROUP(SUPPORT_GROUP(.name = "tests", .begin = begin, .each = cli_empty), test_one_orbital,
                     test_several_orbitals, test_densities, test_potentials, test_oblique, test_chosen_densities,
                     test_points, test_natural_orbitals, test_surfaces, test_failures, test_dry_runs, test_by_host,
                     test_two_devices);
}
