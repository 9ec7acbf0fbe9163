/* leyden orbital and leyden density: what they say, the files of several orbitals and derivatives,
 * and what is refused. */
#include "cli_support.h"

#include "some_wavefunction.h"

#include <unistd.h>

/* Orbitals of norm 1; `factor` times that. */
static void write_wavefunction(const char *name, double factor)
{
    enum { ORBITALS = 8 };
    ley_wavefunction *some = NULL, *made = NULL;
    ley_error error = {0};
    double norms[ORBITALS];
    assert_ok(some_wavefunction(3, 2, ORBITALS, 11, &some, &error));
    assert_ok(ley_wavefunction_norms(some, norms, &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(some);
    const int64_t n = ley_wavefunction_functions(some);
    double *coefficients = malloc((size_t)(ORBITALS * n) * sizeof *coefficients);
    for (int64_t k = 0; k < ORBITALS * n; k++)
        coefficients[k] = factor * a.orbital_coefficients[k] / sqrt(norms[k / n]);
    a.orbital_coefficients = coefficients;
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
}

static void test_densities(void **state)
{
    cli_run(0, " functions; 5 alpha and 4 beta electrons\n", NULL,
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

static void test_failures(void **state)
{
    static const cli_failing cases[] = {
        {"orbital w.npz -o out/a.cube", 1, "--orbital"},
        {"orbital w.npz --orbital homo -o out/a.txt", 1, "'out/a.txt' must end in "},
        {"orbital w.npz --orbital homo9 -o out/a.cube", 1, "orbitals 'homo9': "},
        {"orbital w.npz --orbital 99 -o out/a.cube", 1, "there is no orbital of this number"},
        {"orbital w.npz --orbital 1-2 --together -o out/a.dx", 1, "--together: 'out/a.dx' must end in .cube"},
        {"orbital none.npz --orbital homo -o out/a.cube", 2, "none.npz"},
        {"orbital ion.pqr --orbital homo -o out/a.cube", 2, "not an archive of arrays (.npz)"},
        {"orbital twice.npz --orbital homo -o out/a.cube", 2, "has a norm of 4, not 1: "},
        {"density twice.npz -o out/a.cube --spin --sum double --variant separable --any-norm", 1,
         "variant separable is for float sums on grids along x, y and z"},
        {"density w.npz -o out/a.cube --like a.dx --spacing 1", 1, "--like and --spacing exclude each other"},
        {"density w.npz -o out/a.cube --glen 5,5,5", 1, "--glen needs --dims"},
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

static int begin(void **state)
{
    const int code = cli_prepare(state);
    write_wavefunction("w.npz", 1);
    write_wavefunction("twice.npz", 2);
    return code;
}

int main(void)
{
    support_pocl_alone("pthread pthread");
    return RUN_GROUP(SUPPORT_GROUP(.name = "tests", .begin = begin, .each = cli_empty), test_one_orbital,
                     test_several_orbitals, test_densities, test_failures, test_two_devices);
}
