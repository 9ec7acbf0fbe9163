/* Dirichlet boundaries on the host: constants, references against the values that APBS itself
 * writes, SDH, checks, files. */
#include "support.h"

#include "law/mdh.h"
#include "law/reference.h"
#include "law/solvent.h"
#include "target/boundary.h"

#include <unistd.h>

static char path[256];

static const char *file_named(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", support_directory(), name);
    return path;
}

static const ley_ion salt[] = {{1, 0.15, 2}, {-1, 0.15, 1.8}}, divalent[] = {{2, 0.05, 2}, {-1, 0.1, 2}};
static const ley_solvent water = {.dielectric = 78.54, .solute_dielectric = 2, .temperature_K = 298.15};
static const ley_solvent salty = {
    .dielectric = 78.54, .solute_dielectric = 2, .temperature_K = 298.15, .ion_count = 2, .ions = salt};

/* The parts of monopole, dipole and quadrupole that do not depend on direction. */
static void sdh_tensors(double r, double a, double k, double eps_s, double er, double t[3])
{
    if (k < 1e-9) {
        t[0] = 1 / (eps_s * r);
        t[1] = -1 / (eps_s * pow(r, 3)) * 3 * er / (1 + 2 * er);
        t[2] = 3 / (eps_s * pow(r, 5)) * 5 * er / (2 + 3 * er);
        return;
    }
    const double e = exp(k * (a - r)), ka = k * a, kr = k * r;
    t[0] = e / (eps_s * r * (1 + ka));
    t[1] = -3 * er * e * (1 + kr) / (eps_s * pow(r, 3) * (1 + ka + er * (2 + 2 * ka + ka * ka)));
    t[2] = 15 * er * e * (3 + 3 * kr + kr * kr) /
           (eps_s * pow(r, 5) * (6 + 6 * ka + 2 * ka * ka + er * (9 + 9 * ka + 4 * ka * ka + ka * ka * ka)));
}

/* Single Debye-Hueckel at one point, in kT/e: charge, dipole and quadrupole about the centre of the
 * atoms' bounding box, of a sphere of radius max |r_j - c| + R_j. Not finite at the centre. Source:
 * the Debye-Hueckel field of a sphere's multipoles, as APBS has it. */
static double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double low_A[3], high_A[3], centre_A[3], a_A = 0, r2_A2 = 0, t[3];
    double charge = 0, dipole[3] = {0}, quadrupole[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        low_A[i] = high_A[i] = position_A[i];
        for (size_t j = 0; j < n; j++) {
            low_A[i] = fmin(low_A[i], position_A[3 * j + (size_t)i]);
            high_A[i] = fmax(high_A[i], position_A[3 * j + (size_t)i]);
        }
        centre_A[i] = (low_A[i] + high_A[i]) / 2;
        r2_A2 += (point_A[i] - centre_A[i]) * (point_A[i] - centre_A[i]);
    }
    for (size_t j = 0; j < n; j++) {
        double x[3], d2_A2 = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = position_A[3 * j + (size_t)i] - centre_A[i];
            d2_A2 += x[i] * x[i];
        }
        a_A = fmax(a_A, sqrt(d2_A2) + radius_A[j]);
        charge += charge_e[j];
        for (int i = 0; i < 3; i++) {
            dipole[i] += charge_e[j] * x[i];
            for (int k = 0; k < 3; k++)
                quadrupole[i][k] += 0.5 * charge_e[j] * (x[i] * x[k] - (i == k ? d2_A2 / 3 : 0));
        }
    }
    sdh_tensors(sqrt(r2_A2), a_A, ley_screening_per_A(solvent), solvent->dielectric,
                solvent->dielectric / solvent->solute_dielectric, t);
    double sum = charge * t[0];
    for (int i = 0; i < 3; i++) {
        sum -= dipole[i] * (point_A[i] - centre_A[i]) * t[1];
        for (int k = 0; k < 3; k++)
            sum += quadrupole[i][k] * (point_A[i] - centre_A[i]) * (point_A[k] - centre_A[k]) * t[2];
    }
    return ley_solvent_coulomb_constant(solvent) * sum;
}

static ley_boundary *points_of(int64_t n, const double *point_A)
{
    ley_boundary *boundary = NULL;
    ley_error error = {0};
    assert_ok(ley_boundary_create_points(n, point_A, &boundary, &error));
    return boundary;
}

/* Random atoms with radii of 0 to 3 A. */
static ley_atoms *round_atoms(size_t n, double low_A, double high_A, double extra_e, unsigned seed)
{
    ley_atoms *points = support_atoms(n, low_A, high_A, seed);
    double *charge_e = malloc(2 * n * sizeof(double)), *radius_A = charge_e + n;
    for (size_t i = 0; i < n; i++) {
        charge_e[i] = ley_atoms_charges_e(points)[i] + extra_e;
        radius_A[i] = (double)(i % 7) * 0.5;
    }
    ley_atoms *atoms = support_make_atoms(n, ley_atoms_positions_A(points), charge_e, radius_A);
    ley_atoms_destroy(points);
    free(charge_e);
    return atoms;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g, not %.17g (off by %.2g)", value, expected, value / expected - 1);
}

static void expect_usage(const ley_solvent *solvent, const char *message)
{
    ley_error error = {0};
    assert_error_is(solvent_check(solvent, &error), LEY_ERROR_USAGE, message);
    assert_int_equal(solvent_check(solvent, NULL), LEY_ERROR_USAGE);
}

/* ---- Solvent --------------------------------------------------------------------------------- */

static void constants(void **state)
{
    assert_near(ley_solvent_coulomb_constant(&water), 560.456094882, 2e-12);
    assert_near(ley_solvent_coulomb_constant(&water), 560.45609488242417, 1e-15);
    assert_true(ley_ionic_strength_M(&water) == 0 && ley_screening_per_A(&water) == 0);
    assert_near(ley_ionic_strength_M(&salty), 0.15, 1e-15);
    /* By hand, with 30 digits: sqrt(0.15 1e-16 8 pi 6.022045e23 (4.803242384e-10)^2 / (1000 78.54
     * 1.380662e-16 298.15)). */
    assert_near(ley_screening_per_A(&salty), 0.12728156868745425, 1e-15);
    ley_solvent warm = salty;
    warm.temperature_K = 2 * salty.temperature_K;
    warm.ions = divalent;
    assert_near(ley_ionic_strength_M(&warm), 0.15, 1e-15);
    assert_near(ley_screening_per_A(&warm), 0.12728156868745425 / sqrt(2), 1e-15);
    assert_near(ley_solvent_coulomb_constant(&warm), 560.45609488242417 / 2, 1e-15);
}

static void solvents_out_of_range(void **state)
{
    ley_error error = {0};
    assert_ok(solvent_check(&salty, &error));
    ley_solvent s = salty;
    s.dielectric = 0.99;
    expect_usage(&s, "dielectric 0.99, must be 1 to 1e6");
    s.dielectric = NAN;
    expect_usage(&s, "dielectric nan, must be 1 to 1e6");
    s = salty;
    s.solute_dielectric = 2e6;
    expect_usage(&s, "solute_dielectric 2e+06, must be 1 to 1e6");
    s = salty;
    s.temperature_K = 0;
    expect_usage(&s, "temperature 0 K, must be 0.001 to 1e6");
    s = salty;
    ley_ion ions[2] = {salt[0], {INFINITY, 0.1, 2}};
    s.ions = ions;
    expect_usage(&s, "solvent: ion 2: charge inf e is not within 1e6 e");
    ions[1] = (ley_ion){-1, -0.1, 2};
    expect_usage(&s, "solvent: ion 2: -0.1 mol/l is not a concentration");
    ions[1] = (ley_ion){1e6, 1e300, 2};
    expect_usage(&s, "solvent: the ionic strength inf mol/l is too large");
    s.ions = NULL;
    expect_usage(&s, "solvent: 2 ions, and a null pointer to them");
    ions[1] = (ley_ion){-2, 0, -5}; /* neither neutral nor of any size: fine */
    s.ions = ions;
    assert_ok(solvent_check(&s, &error));
    const double at_A[3] = {0}, q = 1;
    ley_atoms *atoms = support_make_atoms(1, at_A, &q, NULL);
    ley_boundary *boundary = points_of(1, (const double[3]){1, 2, 3});
    s.temperature_K = -1;
    assert_int_equal(ley_boundary_compute_sdh(boundary, atoms, &s, &error), LEY_ERROR_USAGE);
    assert_true(isnan(ley_boundary_read_values(boundary)[0]));
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

/* ---- Geometry -------------------------------------------------------------------------------- */

static const ley_grid uneven = {.origin_A = {-3.1, 2.7, 100.3}, .step_A = LEY_STEPS(0.5, 0.7, 0.11), .n = {5, 4, 3}};

static void faces_and_places(void **state)
{
    ley_boundary *boundary = support_make_boundary(&uneven);
    assert_int_equal(ley_boundary_points(boundary), 2 * (4 * 3 + 5 * 3 + 5 * 4));
    assert_memory_equal(ley_boundary_grid(boundary), &uneven, sizeof uneven);
    int64_t at = 0;
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        const int axis = face / 2, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
        assert_int_equal(ley_boundary_face(boundary, face), at);
        for (int64_t j = 0; j < uneven.n[b]; j++)
            for (int64_t i = 0; i < uneven.n[a]; i++, at++) {
                int64_t node[3], expected[3];
                double point_A[3];
                expected[axis] = face % 2 == 0 ? 0 : uneven.n[axis] - 1;
                expected[a] = i;
                expected[b] = j;
                assert_true(boundary_node(boundary, at, node));
                assert_memory_equal(node, expected, sizeof node);
                ley_boundary_point_A(boundary, at, point_A);
                for (int k = 0; k < 3; k++)
                    assert_true(point_A[k] == uneven.origin_A[k] + (double)node[k] * uneven.step_A[k][k]);
            }
    }
    assert_int_equal(ley_boundary_points(boundary), at);
    assert_int_equal(ley_boundary_face(boundary, LEY_FACE_COUNT), -1);
    for (int64_t i = 0; i < at; i++)
        assert_true(isnan(ley_boundary_values(boundary)[i]));
    ley_boundary_compute_zero(boundary);
    for (int64_t i = 0; i < at; i++)
        assert_true(ley_boundary_read_values(boundary)[i] == 0);
    ley_boundary_destroy(boundary);
    ley_boundary_destroy(NULL);

    const double point_A[] = {1, 2, 3, -1e8, 5, 1e8};
    boundary = points_of(2, point_A);
    double back_A[3];
    ley_boundary_point_A(boundary, 1, back_A);
    assert_memory_equal(back_A, point_A + 3, sizeof back_A);
    assert_null(ley_boundary_grid(boundary));
    assert_int_equal(ley_boundary_points(boundary), 2);
    assert_int_equal(ley_boundary_face(boundary, 0), -1);
    ley_boundary_destroy(boundary);
}

static void boundaries_that_cannot_be(void **state)
{
    ley_error error = {0};
    ley_boundary *boundary = NULL;
    ley_grid flat = uneven;
    flat.n[1] = 1;
    assert_error_is(ley_boundary_create(&flat, &boundary, &error), LEY_ERROR_INPUT,
                    "boundary: one point along y, must be at least 2");
    ley_grid skewed = uneven;
    skewed.step_A[2][0] = 0.01;
    assert_int_equal(ley_boundary_create(&skewed, &boundary, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message,
                        "boundary: the grid's axes must be along x, y and z, in this order: the step from point to "
                        "point along axis 3 is (0.01, 0, 0.11) A, not along +z");
    flat.n[1] = 0;
    assert_int_equal(ley_boundary_create(&flat, &boundary, &error), LEY_ERROR_INPUT);
    ley_grid huge = {.step_A = LEY_STEPS(1e-3, 1e-3, 1e-3), .n = {1 << 30, 1 << 29, 2}};
    assert_int_equal(ley_boundary_create(&huge, &boundary, &error), LEY_ERROR_MEMORY);
    const double point_A[] = {1, 2, 3, 4, NAN, 6, 7, 8, 1.1e8};
    assert_int_equal(ley_boundary_create_points(0, point_A, &boundary, &error), LEY_ERROR_INPUT);
    assert_error_is(ley_boundary_create_points((int64_t)INT32_MAX + 1, point_A, &boundary, &error), LEY_ERROR_INPUT,
                    "2147483648 points are more than 2147483647");
    assert_error_is(ley_boundary_create_points(2, point_A, &boundary, &error), LEY_ERROR_INPUT,
                    "point 2: y = nan A is not within 1e8 A");
    assert_error_is(ley_boundary_create_points(1, point_A + 6, &boundary, &error), LEY_ERROR_INPUT,
                    "point 1: z = 1.1e+08 A is not within 1e8 A");
    assert_null(boundary);
}

/* ---- References against APBS ----------------------------------------------------------------- */

typedef struct apbs_case {
    const char *pqr; /* below APBS's examples */
    int64_t dime[3];
    double glen_A[3], gcent_A[3];
    ley_solvent solvent;
} apbs_case;

#define APBS_EXAMPLES "/usr/share/apbs/examples/"

static const apbs_case apbs_cases[] = {
    {"born/ion.pqr", {17, 17, 17}, {12, 12, 12}, {0, 0, 0}, {80, 1, 298.15, 0, NULL}},
    {"born/ion.pqr", {17, 17, 17}, {12, 13, 12.7}, {0.3, 0, -1}, {78.54, 1, 310, 2, salt}},
    {"solv/methanol.pqr", {17, 33, 17}, {20, 25, 21}, {0.1, 0.2, 0.3}, {78.54, 2, 298.15, 2, salt}},
    {"solv/methoxide.pqr",
     {33, 17, 17},
     {3, 2, 2.5},
     {0.4, 0.1, 0.3},
     {78.54, 4, 298.15, 2, divalent}}, /* atoms outside */
    {"ionize/acetate.pqr", {17, 17, 33}, {22.2, 21.3, 30}, {1, 2, 3}, {80, 2, 298.15, 0, NULL}},
    {"ion-protein/complex.pqr", {33, 33, 33}, {80, 90, 100}, {300.1, 165.3, 80.7}, {78.54, 2, 298.15, 2, salt}},
    {"misc/fas2.pqr", {33, 33, 33}, {40.3, 30.1, 50.7}, {0, 0, 0}, {80, 1, 273.15, 2, divalent}},
    {"FKBP/1d7h-min.pqr", {33, 17, 33}, {70, 70, 70}, {22, 20, 38}, {78.54, 20, 298.15, 0, NULL}},
    {"FKBP/1d7h-min.pqr", {17, 33, 17}, {30, 20, 30}, {22, 20, 38}, {78, 2, 298, 2, salt}}, /* most atoms outside */
};

/* APBS's own input for one of them; what does not touch the boundary is what makes it quick. */
static void write_apbs_input(const apbs_case *c, const char *bcfl)
{
    FILE *file = fopen(file_named("faces.in"), "w");
    assert_non_null(file);
    const bool map = strcmp(bcfl, "map") == 0;
    fprintf(file, "read\n mol pqr %s%s\n%send\nelec name a\n mg-manual\n%s dime %d %d %d\n", APBS_EXAMPLES, c->pqr,
            map ? " pot dx given.dx\n" : "", map ? " usemap pot 1\n" : "", (int)c->dime[0], (int)c->dime[1],
            (int)c->dime[2]);
    fprintf(file, " glen %.17g %.17g %.17g\n gcent %.17g %.17g %.17g\n", c->glen_A[0], c->glen_A[1], c->glen_A[2],
            c->gcent_A[0], c->gcent_A[1], c->gcent_A[2]);
    fprintf(file, " mol 1\n lpbe\n bcfl %s\n pdie %.17g\n sdie %.17g\n temp %.17g\n", bcfl,
            c->solvent.solute_dielectric, c->solvent.dielectric, c->solvent.temperature_K);
    for (size_t i = 0; i < c->solvent.ion_count; i++)
        fprintf(file, " ion charge %.17g conc %.17g radius %.17g\n", c->solvent.ions[i].charge_e,
                c->solvent.ions[i].concentration_M, c->solvent.ions[i].radius_A);
    fprintf(file, " chgm spl0\n srfm mol\n srad 0\n swin 0.3\n sdens 1\n calcenergy no\n calcforce no\n etol 1e30\n"
                  " write pot dxbin faces\nend\nquit\n");
    fclose(file);
}

static ley_grid apbs_grid(const apbs_case *c)
{
    ley_grid grid = {.n = {0}};
    for (int axis = 0; axis < 3; axis++) {
        grid.n[axis] = c->dime[axis];
        grid.step_A[axis][axis] = c->glen_A[axis] / (double)(c->dime[axis] - 1);
        grid.origin_A[axis] = c->gcent_A[axis] - (double)(c->dime[axis] - 1) * grid.step_A[axis][axis] / 2;
    }
    return grid;
}

/* double[x][y][z] as APBS wrote it; *text is to be freed. NULL when it wrote none. */
static const char *run_apbs(const apbs_case *c, const char *bcfl, char **text)
{
    char command[600];
    size_t size;
    unlink(file_named("faces-PE0.dxbin"));
    unlink(file_named("faces.dxbin"));
    write_apbs_input(c, bcfl);
    snprintf(command, sizeof command,
             "cd %s && apbs faces.in >apbs.log 2>&1 && { test -f faces.dxbin || mv faces-PE0.dxbin faces.dxbin; }",
             support_directory());
    if (system(command) != 0 || access(file_named("faces.dxbin"), R_OK) != 0)
        fail_msg("apbs failed on %s", c->pqr);
    *text = support_read_file(path, &size);
    const char mark[] = "binary data follows\n";
    const char *values = memmem(*text, size, mark, strlen(mark));
    assert_non_null(values);
    values += strlen(mark);
    assert_true((size_t)(values - *text) + 8 * (size_t)(c->dime[0] * c->dime[1] * c->dime[2]) <= size);
    return values;
}

typedef double reference(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

/* Its value at the node of value i. */
static double apbs_value(const apbs_case *c, const char *theirs, const ley_boundary *boundary, int64_t i)
{
    int64_t node[3];
    double value;
    boundary_node(boundary, i, node);
    memcpy(&value, theirs + 8 * ((node[0] * c->dime[1] + node[1]) * c->dime[2] + node[2]), sizeof value);
    return value;
}

static bool has_apbs(void)
{
    return system("command -v apbs >/dev/null 2>&1") == 0 && access(APBS_EXAMPLES "born/ion.pqr", R_OK) == 0;
}

/* Largest difference on the faces: relative to the largest value, and, in *each, of each value. */
static double apbs_difference(const apbs_case *c, const char *bcfl, reference *judge, double *each)
{
    char *text;
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    const char *theirs = run_apbs(c, bcfl, &text);
    snprintf(path, sizeof path, "%s%s", APBS_EXAMPLES, c->pqr);
    assert_ok(ley_atoms_read_pqr(path, &atoms, &error));
    const ley_grid grid = apbs_grid(c);
    ley_boundary *boundary = support_make_boundary(&grid);
    double largest = 0, worst = 0;
    *each = 0;
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        double point_A[3], value = apbs_value(c, theirs, boundary, i);
        ley_boundary_point_A(boundary, i, point_A);
        const double ours = judge(atoms, point_A, &c->solvent), difference = fabs(ours - value);
        if (!(difference < INFINITY))
            fail_msg("%s, %s, value %lld: %g, APBS has %g", c->pqr, bcfl, (long long)i, ours, value);
        largest = fmax(largest, fabs(value));
        worst = fmax(worst, difference);
        *each = fmax(*each, difference / fabs(value));
    }
    assert_true(largest > 0);
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
    free(text);
    return worst / largest;
}

static void as_apbs_has_it(const char *bcfl, reference *judge, double tolerance)
{
    if (!has_apbs())
        skip();
    for (size_t i = 0; i < sizeof apbs_cases / sizeof *apbs_cases; i++) {
        double each, difference = apbs_difference(&apbs_cases[i], bcfl, judge, &each);
        print_message("%s %-24s %.1e of the largest value, %.1e of each\n", bcfl, apbs_cases[i].pqr, difference, each);
        if (!(difference <= tolerance))
            fail_msg("%s, %s: off by %g", apbs_cases[i].pqr, bcfl, difference);
    }
}

static double mdh_value(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    return reference_mdh(atoms, point_A, solvent).value;
}

static void mdh_as_apbs_has_it(void **state)
{
    as_apbs_has_it("mdh", mdh_value, 1e-14);
}

static void sdh_as_apbs_has_it(void **state)
{
    as_apbs_has_it("sdh", reference_sdh, 1e-14);
}

/* ---- SDH ------------------------------------------------------------------------------------- */

/* Production against the judge, on all points, relative to the largest value. */
static void expect_sdh(ley_boundary *boundary, const ley_atoms *atoms, const ley_solvent *solvent, double tolerance)
{
    ley_error error = {0};
    double largest = 0, worst = 0;
    assert_ok(ley_boundary_compute_sdh(boundary, atoms, solvent, &error));
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        double point_A[3];
        ley_boundary_point_A(boundary, i, point_A);
        const double expected = reference_sdh(atoms, point_A, solvent), value = ley_boundary_read_values(boundary)[i];
        assert_true(isfinite(value));
        largest = fmax(largest, fabs(expected));
        worst = fmax(worst, fabs(value - expected));
    }
    if (!(worst <= tolerance * largest))
        fail_msg("off by %g of %g", worst, largest);
}

static void sdh_is_its_reference(void **state)
{
    const ley_grid grid = {.origin_A = {-30, -28, -31}, .step_A = LEY_STEPS(3.1, 2.9, 3.3), .n = {21, 20, 19}};
    const ley_grid within = {.origin_A = {-3, -2, -1}, .step_A = LEY_STEPS(0.3, 0.3, 0.3), .n = {9, 17, 5}};
    ley_solvent brine = salty, thin = salty;
    const ley_ion much[] = {{3, 10, 1}, {-3, 10, 1}}, little[] = {{1, 5e-18, 1}, {-1, 5e-18, 1}};
    brine.ions = much;
    thin.ions = little; /* kappa is above 0 and below 1e-9/A */
    assert_true(ley_screening_per_A(&thin) > 0 && ley_screening_per_A(&thin) < 1e-9);
    const ley_solvent *const solvents[] = {&water, &salty, &brine, &thin};
    ley_boundary *around = support_make_boundary(&grid), *inside = support_make_boundary(&within);
    for (unsigned seed = 1; seed <= 3; seed++) {
        const double extra_e = seed == 1 ? 0 : 0.01 * seed; /* neutral the first time */
        ley_atoms *atoms = round_atoms(1000, -12, 14, extra_e, seed);
        for (size_t s = 0; s < sizeof solvents / sizeof *solvents; s++) {
            expect_sdh(around, atoms, solvents[s], 1e-13);
            expect_sdh(inside, atoms, solvents[s], 1e-13);
        }
        ley_atoms_destroy(atoms);
    }
    ley_boundary_destroy(around);
    ley_boundary_destroy(inside);
}

/* Where all is known in closed form. */
static void one_ion(void **state)
{
    const double at_A[3] = {1, 2, 3}, charge_e = -2, radius_A = 1.5;
    const double point_A[] = {1, 2, 13, 1, 2 + 1e7, 3};
    ley_atoms *atoms = support_make_atoms(1, at_A, &charge_e, &radius_A);
    ley_boundary *boundary = points_of(2, point_A);
    const double *values = ley_boundary_read_values(boundary);
    const double bare = -2 * 560.45609488242417 / (78.54 * 10), k = 0.12728156868745425;
    ley_error error = {0};
    expect_sdh(boundary, atoms, &water, 1e-15);
    assert_near(values[0], bare, 1e-14);
    assert_near(values[1], bare * 1e-6, 1e-14);
    assert_near(reference_mdh(atoms, point_A, &water).value, bare, 1e-14);
    expect_sdh(boundary, atoms, &salty, 1e-15);
    const double screened = bare * exp(-k * 8.5) / (1 + k * 1.5);
    assert_near(values[0], screened, 1e-14);
    assert_near(reference_mdh(atoms, point_A, &salty).value, screened, 1e-14);
    assert_true(values[1] == 0 &&
                reference_mdh(atoms, point_A + 3, &salty).value == 0); /* exp(-1e6): nothing, and no nan */
    ley_boundary_destroy(boundary);

    const double centre_A[] = {9, 9, 9, 1, 2, 3};
    boundary = points_of(2, centre_A);
    assert_int_equal(ley_boundary_compute_sdh(boundary, atoms, &salty, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message,
                        "point 2 of the boundary lies at or near the molecule's centre, (1, 2, 3) A, where a multipole "
                        "expansion has no value");
    assert_true(isnan(ley_boundary_read_values(boundary)[0]));
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

/* A dipole of two ions and one of zero charge, whose place matters to the sphere only. */
static void neutral_molecules(void **state)
{
    const double at_A[] = {-0.5, 0, 0, 0.5, 0, 0, 0, 0, 0}, charge_e[] = {-1, 1, 0};
    const double far_A[] = {1000, 0, 0};
    ley_atoms *atoms = support_make_atoms(3, at_A, charge_e, NULL);
    ley_boundary *boundary = points_of(1, far_A);
    expect_sdh(boundary, atoms, &water, 1e-15);
    const double er = 78.54 / 2, dipole = 560.45609488242417 / (78.54 * 1e6) * 3 * er / (1 + 2 * er);
    assert_near(ley_boundary_read_values(boundary)[0], dipole, 1e-14);
    assert_near(reference_mdh(atoms, far_A, &water).value, 560.45609488242417 / 78.54 * (1 / 999.5 - 1 / 1000.5),
                1e-12);
    /* Not even where it lies on the point: APBS has 0/0 there. */
    const double on_A[3] = {0};
    assert_true(reference_mdh(atoms, on_A, &water).value == 0 && reference_mdh(atoms, on_A, &salty).value == 0);
    assert_true(isinf(reference_mdh(atoms, at_A, &salty).value));
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

/* A node's value does not depend on the face that it is read from. */
static void edges_agree(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = round_atoms(50, -3, 3, 0.1, 7);
    const ley_grid grid = {.origin_A = {-5.3, -6.1, -5.7}, .step_A = LEY_STEPS(0.9, 1.1, 1.3), .n = {13, 12, 10}};
    ley_boundary *boundary = support_make_boundary(&grid);
    assert_ok(ley_boundary_compute_sdh(boundary, atoms, &salty, &error));
    double *seen = malloc((size_t)ley_grid_points(&grid) * sizeof(double));
    int64_t shared = 0;
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        seen[i] = NAN;
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        int64_t node[3];
        boundary_node(boundary, i, node);
        double *at = &seen[(node[2] * 12 + node[1]) * 13 + node[0]], value = ley_boundary_read_values(boundary)[i];
        assert_true(isnan(*at) || *at == value);
        shared += !isnan(*at);
        *at = value;
    }
    assert_int_equal(shared, 4 * (13 + 12 + 10 - 6) + 2 * 8);
    free(seen);
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

/* ---- Atoms on points ------------------------------------------------------------------------- */

static void expect_on(const ley_boundary *boundary, const double position_A[6], const char *place)
{
    const double charge_e[] = {-1, 0.5};
    char message[256];
    ley_error error = {0};
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    ley_status status = ley_boundary_check_atoms(boundary, atoms, &error);
    if (place == NULL) {
        assert_ok(status);
    } else {
        snprintf(message, sizeof message,
                 "atom 2, at (%.9g, %.9g, %.9g) A, lies on %s of the boundary, where its potential is infinite",
                 position_A[3], position_A[4], position_A[5], place);
        assert_int_equal(status, LEY_ERROR_INPUT);
        assert_string_equal(error.message, message);
        assert_int_equal(ley_boundary_check_atoms(boundary, atoms, NULL), LEY_ERROR_INPUT);
        const double nothing_e[] = {1, 0};
        ley_atoms *other = support_make_atoms(2, position_A, nothing_e, NULL);
        assert_ok(ley_boundary_check_atoms(boundary, other, &error)); /* without a charge it may lie there */
        ley_atoms_destroy(other);
    }
    ley_atoms_destroy(atoms);
}

/* Every node, from the grid and from a list of the same points; a bit beside it on all sides. */
static void atoms_on_points(void **state)
{
    ley_boundary *grid = support_make_boundary(&uneven);
    const int64_t n = ley_boundary_points(grid);
    double *point_A = malloc(3 * (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        ley_boundary_point_A(grid, i, point_A + 3 * i);
    ley_boundary *list = points_of(n, point_A);
    for (int64_t i = 0; i < n; i++)
        for (int side = 0; side < 6; side++)
            for (int near = 0; near < 2; near++) {
                double position_A[6] = {50, 50, 50, point_A[3 * i], point_A[3 * i + 1], point_A[3 * i + 2]};
                position_A[3 + side / 2] += (side % 2 == 0 ? 1 : -1) * (near ? 0.999e-6 : 1.001e-6);
                char node_place[BOUNDARY_PLACE], point_place[BOUNDARY_PLACE];
                int64_t first = 0; /* a list holds the nodes of an edge twice, and the first one is named */
                while (memcmp(point_A + 3 * first, point_A + 3 * i, 3 * sizeof(double)) != 0)
                    first++;
                boundary_place(grid, i, node_place);
                boundary_place(list, first, point_place);
                expect_on(grid, position_A, near ? node_place : NULL);
                expect_on(list, position_A, near ? point_place : NULL);
            }
    const double inside_A[] = {
        50, 50, 50, uneven.origin_A[0] + 0.5, uneven.origin_A[1] + 0.7, uneven.origin_A[2] + 0.11};
    expect_on(grid, inside_A, NULL);
    free(point_A);
    ley_boundary_destroy(list);
    ley_boundary_destroy(grid);
    for (int corner = 0; corner < 8; corner++) { /* on the two sides of 0, in different cells */
        double position_A[6] = {50, 50, 50}, at_A[3];
        for (int axis = 0; axis < 3; axis++) {
            at_A[axis] = (corner >> axis & 1) != 0 ? 0.2e-6 : -0.2e-6;
            position_A[3 + axis] = -at_A[axis];
        }
        list = points_of(1, at_A);
        expect_on(list, position_A, "point 1");
        ley_boundary_destroy(list);
    }
}

/* Both on a grid of 0.001 A, as files have them, and the points in one plane. */
static void many_atoms_and_points(void **state)
{
    enum { ATOMS = 1000000, POINTS = 100000 };
    ley_error error = {0};
    double *position_A = malloc(3 * (size_t)ATOMS * sizeof(double)), *charge_e = malloc(ATOMS * sizeof(double));
    double *point_A = malloc(3 * (size_t)POINTS * sizeof(double));
    unsigned seed = 5;
    for (size_t i = 0; i < 3 * (size_t)ATOMS; i++)
        position_A[i] = rand_r(&seed) % 200000 * 0.001;
    for (size_t i = 0; i < ATOMS; i++) {
        charge_e[i] = 1;
        if (i % 2 != 0)
            position_A[3 * i + 2] = 77; /* in the plane of the points, between them */
    }
    for (size_t i = 0; i < POINTS; i++) {
        point_A[3 * i] = (double)(i % 400) * 0.5 + 0.0003;
        point_A[3 * i + 1] = (double)(i / 400) * 0.5 + 0.0004;
        point_A[3 * i + 2] = 77;
    }
    ley_boundary *boundary = points_of(POINTS, point_A);
    ley_atoms *atoms = support_make_atoms(ATOMS, position_A, charge_e, NULL);
    double start = support_cpu_s();
    assert_ok(ley_boundary_check_atoms(boundary, atoms, &error));
    double elapsed_s = support_cpu_s() - start;
    print_message("1e6 atoms, 1e5 points: %.2f s\n", elapsed_s);
    assert_true(elapsed_s < 5); /* comparing them all would take a hundred times as long */
    ley_atoms_destroy(atoms);
    memcpy(position_A + 3 * (ATOMS - 1), point_A + 3 * (POINTS - 1), 3 * sizeof(double));
    atoms = support_make_atoms(ATOMS, position_A, charge_e, NULL);
    assert_error(ley_boundary_check_atoms(boundary, atoms, &error), LEY_ERROR_INPUT, "atom 1000000, at ");
    assert_non_null(strstr(error.message, " point 100000 "));
    ley_atoms_destroy(atoms);
    ley_boundary_destroy(boundary);
    free(position_A);
    free(charge_e);
    free(point_A);
}

/* ---- Coarser maps ---------------------------------------------------------------------------- */

static void strides(void **state)
{
    const ley_grid grid = {.origin_A = {-1, 2, 3}, .step_A = LEY_STEPS(0.5, 0.25, 1), .n = {9, 13, 5}};
    ley_boundary *boundary = support_make_boundary(&grid);
    double *values = ley_boundary_values(boundary);
    assert_true(ley_boundary_stride_error(boundary, 1) == INFINITY); /* not computed yet */
    ley_boundary_compute_zero(boundary);
    assert_true(ley_boundary_stride_error(boundary, 2) == 0);
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        int64_t p[3];
        boundary_node(boundary, i, p);
        values[i] = (double)(3 + 2 * p[0] - p[1] + 5 * p[2] + p[0] * p[1] - p[1] * p[2] + 2 * p[0] * p[2]);
    }
    for (int stride = 1; stride <= 4; stride *= 2)
        assert_true(ley_boundary_stride_error(boundary, stride) <= 1e-15);
    const int wrong[] = {3, 5, 8, 12, 16, 0, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(ley_boundary_stride_error(boundary, wrong[i]) == INFINITY);
    const double largest = fabs(values[ley_boundary_points(boundary) - 1]); /* the far corner */
    for (int face = 0; face < LEY_FACE_COUNT; face++) { /* one node off on any face is seen, and how much */
        int64_t at = ley_boundary_face(boundary, face) + grid.n[face / 2 == 0 ? 1 : 0] + 1;
        values[at] += 0.125;
        assert_near(ley_boundary_stride_error(boundary, 2), 0.125 / largest, 1e-12);
        values[at] -= 0.125;
    }
    values[3] = NAN;
    assert_true(ley_boundary_stride_error(boundary, 2) == INFINITY);
    ley_boundary_destroy(boundary);
    boundary = points_of(1, (const double[3]){0});
    ley_boundary_compute_zero(boundary);
    assert_true(ley_boundary_stride_error(boundary, 1) == 0 && ley_boundary_stride_error(boundary, 2) == INFINITY);
    ley_boundary_destroy(boundary);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static ley_boundary *some_boundary(const ley_grid *grid, bool floats)
{
    ley_error error = {0};
    ley_boundary *boundary = support_make_boundary(grid);
    ley_atoms *atoms = round_atoms(20, -1, 1, 0.1, 3);
    assert_ok(ley_boundary_compute_sdh(boundary, atoms, &salty, &error));
    double *values = ley_boundary_values(boundary);
    for (int64_t i = 0; i < ley_boundary_points(boundary) && floats; i++)
        values[i] = (float)values[i];
    ley_atoms_destroy(atoms);
    return boundary;
}

static const ley_grid odd = {
    .origin_A = {-12.375, 1.0 / 3, 7}, .step_A = LEY_STEPS(0.1, 2.0 / 3, 1.5), .n = {9, 5, 13}};

/* Every number of the file against its node, and the header. */
static void expect_map(const ley_boundary *boundary, const ley_grid *grid, int stride)
{
    ley_error error = {0};
    ley_map *map = NULL;
    size_t size;
    assert_ok(ley_map_read_dx(path, &map, &error));
    assert_string_equal(ley_map_units(map), "kT/e");
    const ley_grid *l = ley_map_grid(map);
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(l->n[axis], (grid->n[axis] - 1) / stride + 1);
        assert_true(l->origin_A[axis] == grid->origin_A[axis]);
        double end_A = l->origin_A[axis] + (double)(l->n[axis] - 1) * l->step_A[axis][axis];
        assert_true(fabs(end_A - (grid->origin_A[axis] + (double)(grid->n[axis] - 1) * grid->step_A[axis][axis])) <
                    1e-9);
    }
    ley_map_destroy(map);
    char *text = support_read_file(path, &size), *at = strstr(text, "data follows\n");
    assert_non_null(at);
    at += strlen("data follows\n");
    for (int64_t x = 0, column = 0; x < grid->n[0]; x += stride)
        for (int64_t y = 0; y < grid->n[1]; y += stride)
            for (int64_t z = 0; z < grid->n[2]; z += stride) {
                const int64_t node[3] = {x, y, z};
                char *start = at;
                double value = strtod(start, &at);
                bool inside = true;
                for (int face = 0; face < LEY_FACE_COUNT; face++) {
                    const int axis = face / 2, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
                    if (node[axis] != (face % 2 == 0 ? 0 : grid->n[axis] - 1))
                        continue;
                    inside = false;
                    const double expected = ley_boundary_read_values(
                        boundary)[ley_boundary_face(boundary, face) + node[b] * grid->n[a] + node[a]];
                    const bool is_float = (double)(float)expected == expected; /* nine digits, to be read as a float */
                    if (is_float ? (float)value != (float)expected : value != expected)
                        fail_msg("node (%d, %d, %d): %.*s, not %.17g", (int)x, (int)y, (int)z, (int)(at - start), start,
                                 expected);
                }
                assert_true(!inside || (at - start == 1 && *start == '0'));
                assert_true(*at++ == ' ');
                if (++column % 3 == 0)
                    assert_true(*at++ == '\n');
            }
    at += *at == '\n';
    assert_memory_equal(at, "attribute \"dep\"", 15);
    free(text);
}

static void dx_files(void **state)
{
    ley_error error = {0};
    for (int floats = 0; floats < 2; floats++)
        for (int stride = 1; stride <= 4; stride *= 2) {
            ley_boundary *boundary = some_boundary(&odd, floats);
            assert_ok(ley_boundary_write_dx(boundary, stride, file_named("b.dx.gz"), "one\ntwo", NULL, &error));
            expect_map(boundary, &odd, stride);
            size_t size;
            char *text = support_read_file(path, &size);
            assert_non_null(
                strstr(text, "# POTENTIAL (kT/e)\n# \n# one\n# two\nobject 1 class gridpositions counts ")); /* plain */
            if (stride == 1)
                assert_non_null(
                    strstr(text, "\norigin -1.237500e+01 3.333333333333333e-01 7.000000e+00\ndelta 1.000000e-01 0.0"));
            free(text);
            ley_boundary_destroy(boundary);
        }
    const ley_grid thin = {.step_A = LEY_STEPS(1, 1, 1), .n = {2, 2, 3}, .origin_A = {5, 5, 5}};
    ley_boundary *boundary = some_boundary(&thin, false);
    assert_ok(ley_boundary_write_dx(boundary, 1, file_named("b.dx"), NULL, NULL, &error));
    expect_map(boundary, &thin, 1);
    ley_boundary_destroy(boundary);
}

/* It solves on with the faces that it was handed. */
static void apbs_takes_the_map(void **state)
{
    if (!has_apbs())
        skip();
    for (int i = 2; i < 7; i += 2)
        for (int stride = 1; stride <= 2; stride++) {
            const apbs_case *c = &apbs_cases[i];
            const ley_grid grid = apbs_grid(c);
            ley_boundary *boundary = some_boundary(&grid, false);
            ley_error error = {0};
            char *text;
            double largest = 0, worst = 0, expected = ley_boundary_stride_error(boundary, stride);
            assert_ok(ley_boundary_write_dx(boundary, stride, file_named("given.dx"), "", NULL, &error));
            const char *theirs = run_apbs(c, "map", &text);
            for (int64_t k = 0; k < ley_boundary_points(boundary); k++) {
                const double ours = ley_boundary_read_values(boundary)[k];
                largest = fmax(largest, fabs(ours));
                worst = fmax(worst, fabs(ours - apbs_value(c, theirs, boundary, k)));
            }
            print_message("%s, stride %d: %.2e of the largest value, %.2e expected\n", c->pqr, stride, worst / largest,
                          expected);
            assert_true(fabs(worst / largest - expected) <= 1e-12);
            free(text);
            ley_boundary_destroy(boundary);
        }
}

static void files_that_cannot_be(void **state)
{
    ley_error error = {0};
    ley_boundary *boundary = some_boundary(&odd, false);
    char message[400];
    file_named("never");
    assert_int_equal(ley_boundary_write_dx(boundary, 3, path, NULL, NULL, &error), LEY_ERROR_USAGE);
    snprintf(message, sizeof message, "%s: stride 3 does not divide the 8 intervals along x", path);
    assert_string_equal(error.message, message);
    assert_int_equal(ley_boundary_write_dx(boundary, 0, path, NULL, NULL, &error), LEY_ERROR_USAGE);
    const bool cancel = true;
    assert_int_equal(ley_boundary_write_dx(boundary, 1, path, NULL, &cancel, &error), LEY_CANCELLED);
    assert_int_equal(ley_boundary_write_csv(boundary, path, &cancel, &error), LEY_CANCELLED);
    ley_boundary_values(boundary)[ley_boundary_face(boundary, 5) + 10] = NAN;
    assert_int_equal(ley_boundary_write_dx(boundary, 1, path, NULL, NULL, &error), LEY_ERROR_INPUT);
    snprintf(message, sizeof message, "%s: the value is not a number at node (1, 1, 12)", path);
    assert_string_equal(error.message, message);
    assert_int_equal(ley_boundary_write_csv(boundary, path, NULL, &error), LEY_ERROR_INPUT);
    assert_int_equal(ley_boundary_write_raw(boundary, path, &error), LEY_ERROR_INPUT);
    ley_boundary_destroy(boundary);
    boundary = points_of(1, (const double[3]){0});
    ley_boundary_values(boundary)[0] = -INFINITY;
    assert_int_equal(ley_boundary_write_csv(boundary, path, NULL, &error), LEY_ERROR_INPUT);
    snprintf(message, sizeof message, "%s: phi is infinite at point 1", path);
    assert_string_equal(error.message, message);
    ley_boundary_compute_zero(boundary);
    assert_int_equal(ley_boundary_write_dx(boundary, 1, path, NULL, NULL, &error), LEY_ERROR_USAGE);
    assert_int_equal(ley_boundary_write_raw(boundary, "/nowhere/at/all", &error), LEY_ERROR_FILE);
    assert_int_not_equal(access(path, F_OK), 0);
    ley_boundary_destroy(boundary);
}

static void raw_and_csv_files(void **state)
{
    ley_error error = {0};
    ley_boundary *boundary = some_boundary(&odd, false);
    const int64_t n = ley_boundary_points(boundary);
    size_t size;
    assert_ok(ley_boundary_write_raw(boundary, file_named("b.raw"), &error));
    char *bytes = support_read_file(path, &size);
    assert_int_equal(size, 8 * n);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        for (int k = 7; k >= 0; k--)
            bits = bits << 8 | (unsigned char)bytes[8 * i + k];
        assert_memory_equal(&bits, &ley_boundary_read_values(boundary)[i], 8);
    }
    free(bytes);
    assert_ok(ley_boundary_write_csv(boundary, file_named("b.csv"), NULL, &error));
    char *text = support_read_file(path, &size), *at = text;
    assert_memory_equal(text, "x,y,z,phi\n", 10);
    at += 9;
    for (int64_t i = 0; i < n; i++) {
        double point_A[3];
        assert_true(*at++ == '\n');
        ley_boundary_point_A(boundary, i, point_A);
        for (int axis = 0; axis < 3; axis++) {
            assert_true(strtod(at, &at) == point_A[axis]);
            assert_true(*at++ == ',');
        }
        assert_true(strtod(at, &at) == ley_boundary_read_values(boundary)[i]);
    }
    assert_string_equal(at, "\n");
    free(text);
    ley_boundary_destroy(boundary);

    const double point_A[] = {1.5, -2, 0.1, 1e8, 1.0 / 3, 1e-30};
    boundary = points_of(2, point_A);
    ley_boundary_values(boundary)[0] = 0.5;
    ley_boundary_values(boundary)[1] = 0.1;
    assert_ok(ley_boundary_write_csv(boundary, path, NULL, &error));
    text = support_read_file(path, &size);
    assert_string_equal(text, "x,y,z,phi\n1.5,-2,0.1,0.5\n100000000,0.33333333333333331,1e-30,0.10000000000000001\n");
    free(text);
    ley_boundary_destroy(boundary);
}

static void large_maps_are_quick(void **state)
{
    ley_error error = {0};
    const ley_grid grid = {.origin_A = {-64, -64, -64}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {257, 257, 257}};
    for (int floats = 0; floats < 2; floats++) {
        ley_boundary *boundary = some_boundary(&grid, floats);
        double start = support_cpu_s();
        assert_ok(ley_boundary_write_dx(boundary, 1, file_named("large.dx"), NULL, NULL, &error));
        double written = support_cpu_s();
        print_message("257^3 of %s: written in %.2f s, ", floats ? "floats" : "doubles", written - start);
        double e2 = ley_boundary_stride_error(boundary, 2), stop = support_cpu_s();
        print_message("stride error %.2g in %.3f s\n", e2, stop - written);
        assert_true(written - start < 5 && e2 > 0 && e2 < 1e-3);
        ley_boundary_destroy(boundary);
        unlink(path);
    }
}

int main(void)
{
    return RUN_TESTS(constants, solvents_out_of_range, faces_and_places, boundaries_that_cannot_be, mdh_as_apbs_has_it,
                     sdh_as_apbs_has_it, sdh_is_its_reference, one_ion, neutral_molecules, edges_agree, atoms_on_points,
                     many_atoms_and_points, strides, dx_files, apbs_takes_the_map, files_that_cannot_be,
                     raw_and_csv_files, large_maps_are_quick);
}
