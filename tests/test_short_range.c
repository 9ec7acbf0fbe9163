/* Short-range sums in double precision: the pair functions, images, what lies on the cutoff;
 * options refused and copied. */
#include "support.h"

#include "law/accuracy.h"
#include "law/pairs.h"
#include "law/reference.h"
#include "layout/binning.h"
#include "methods/cutoff/short_range.h"

static const double r_min_A = 0.05;

static ley_short_range options_of(ley_pair pair)
{
    return (ley_short_range){.size = sizeof(ley_short_range),
                             .dielectric = 2,
                             .temperature_K = 298.15,
                             .r_min_A = r_min_A,
                             .pair = pair,
                             .cutoff_A = 10,
                             .kappa_per_A = 0.25,
                             .expression = pair == LEY_PAIR_EXPRESSION ? "q*exp(-kappa*r)/r" : NULL,
                             .probe_radius_A = 1.5,
                             .probe_depth_kcal_mol = 0.1,
                             .steepness = 12,
                             .depth_for_all_kcal_mol = 0.4, /* eps = 0.2 */
                             .bin_depth = 8,
                             .bin_fill = 0.75};
}

static void assert_near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) <= tolerance * fmax(1, fabs(expected)))
        return;
    print_error("%.17g, expected %.17g\n", value, expected);
    fail();
}

/* Potential of one atom of this charge and radius, at distance r in some direction. */
static double pair_at(const ley_short_range *s, double charge_e, double radius_A, double r_A)
{
    const double position_A[] = {1, -2, 3}, point_A[] = {1 + r_A * 2 / 7, -2 - r_A * 3 / 7, 3 + r_A * 6 / 7};
    ley_error error = {0};
    expression *e = NULL;
    ley_atoms *atoms = support_make_atoms(1, position_A, &charge_e, &radius_A);
    if (s->pair == LEY_PAIR_EXPRESSION)
        assert_ok(short_range_expression(s, 4, &e, &error));
    const double value = reference_short_range(atoms, s, e, point_A, 1, r_min_A).value;
    expression_destroy(e);
    ley_atoms_destroy(atoms);
    return value;
}

static void test_plain_functions(void **state)
{
    ley_short_range coulomb = options_of(LEY_PAIR_COULOMB), shifted = options_of(LEY_PAIR_SHIFTED),
                    yukawa = options_of(LEY_PAIR_YUKAWA), distance = options_of(LEY_PAIR_DISTANCE_DIELECTRIC);
    assert_near(pair_at(&coulomb, -2, 0, 4), -0.5, 1e-14);
    assert_near(pair_at(&shifted, 3, 0, 5), 3 * 0.1125, 1e-14); /* (3/4)^2 / 5 */
    assert_near(pair_at(&shifted, 3, 0, 6), 3 * 0.4096 / 6, 1e-14);
    assert_near(pair_at(&distance, 3, 0, 4), 3.0 / 16, 1e-14);
    for (double r_A = 0.5; r_A < 10; r_A += 0.5)
        assert_near(log(pair_at(&yukawa, 1, 0, r_A) * r_A), -r_A / 4, 1e-13);
    yukawa.kappa_per_A = 0;
    for (double r_A = 0.5; r_A < 10; r_A += 0.5)
        assert_near(pair_at(&yukawa, 0.7, 0, r_A), pair_at(&coulomb, 0.7, 0, r_A), 1e-15);
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) { /* nothing beyond the cutoff */
        const ley_short_range s = options_of((ley_pair)pair);
        assert_true(pair_at(&s, 1, 1, 10.001) == 0 && pair_at(&s, 1, 1, 40) == 0);
        assert_true(fabs(pair_at(&s, 1, 1, 9.5)) > 1e-7);
    }
}

/* The polynomial from the binomial series of (1 + (s - 1))^(-1/2): no number of leyden.h in it. */
static double taylor(int degree, double r_A, double a_A)
{
    const double x = (r_A * r_A) / (a_A * a_A) - 1;
    double term = 1, g = 0;
    for (int k = 0; k <= degree; k++) {
        g += term;
        term *= (-0.5 - k) / (k + 1) * x;
    }
    return 1 / r_A - g / a_A;
}

static void test_taylor_functions(void **state)
{
    for (int degree = 2; degree <= 4; degree++) {
        ley_short_range s = options_of((ley_pair)(LEY_PAIR_TAYLOR2 + degree - 2));
        for (double r_A = 0.25; r_A < 10; r_A += 0.25)
            assert_near(pair_at(&s, -1, 0, r_A), -taylor(degree, r_A, 10), 1e-14);
        /* f and `degree` derivatives vanish at the cutoff: halving the way there divides f by
         * 2^(degree + 1). */
        const double f = pair_at(&s, 1, 0, 9.9), half = pair_at(&s, 1, 0, 9.95);
        assert_true(half > 0 && fabs(f / half / exp2(degree + 1) - 1) < 0.05);
        s.cutoff_A = 3;
        assert_near(pair_at(&s, 1, 0, 1.7), taylor(degree, 1.7, 3), 1e-14);
    }
}

/* A minimum of -eps at R, with the right curvature there. */
static void assert_minimum(const ley_short_range *s, double radius_A, double R_A, double eps, double curvature)
{
    const double h_A = 1e-4 * R_A, at = pair_at(s, 7, radius_A, R_A), below = pair_at(s, 7, radius_A, R_A - h_A),
                 above = pair_at(s, 7, radius_A, R_A + h_A);
    assert_near(at, -eps, 1e-13);
    assert_true(fabs(above - below) / (2 * h_A) < 1e-2 * h_A * curvature);
    assert_near((above + below - 2 * at) / (h_A * h_A) / curvature, 1, 1e-3);
}

static void test_radii(void **state)
{
    ley_short_range lj = options_of(LEY_PAIR_LENNARD_JONES), exp6 = options_of(LEY_PAIR_BUCKINGHAM);
    for (double radius_A = 0; radius_A < 4; radius_A += 0.5) {
        const double R_A = radius_A + 1.5;
        assert_minimum(&lj, radius_A, R_A, 0.2, 72 * 0.2 / (R_A * R_A));
        assert_near(pair_at(&lj, 0, radius_A, R_A / pow(2, 1.0 / 6)), 0, 1e-13);
        for (exp6.steepness = 8; exp6.steepness <= 40; exp6.steepness += 8) {
            const double z = exp6.steepness;
            assert_minimum(&exp6, radius_A, R_A, 0.2, 6 * z * (z - 7) / (z - 6) * 0.2 / (R_A * R_A));
        }
    }
    exp6.steepness = 40;
    assert_near(pair_at(&exp6, 0, 0.5, 8), -0.2 * 40 / 34 / 4096, 1e-14); /* at 4 R only the attraction is left */
    /* Depths: one per atom; sqrt(0.9 0.1). */
    const double depth = 0.9;
    lj.depth_kcal_mol = exp6.depth_kcal_mol = &depth;
    assert_near(pair_at(&lj, 0, 2, 3.5), -0.3, 1e-14);
    assert_near(pair_at(&exp6, 0, 2, 3.5), -0.3, 1e-14);
    lj.probe_radius_A = exp6.probe_radius_A = 0; /* R = 0 */
    assert_true(pair_at(&lj, 1, 0, 1) == 0 && pair_at(&exp6, 1, 0, 1) == 0 && pair_at(&exp6, 1, 0, 0) == 0);
    lj.probe_depth_kcal_mol = exp6.probe_depth_kcal_mol = 0;
    assert_true(pair_at(&lj, 1, 2, 1) == 0 && pair_at(&exp6, 1, 2, 1) == 0);
}

static void test_expression_values(void **state)
{
    ley_error error = {0};
    const ley_named_number numbers[] = {{"A", 2.5}, {"b_2", -3}};
    ley_short_range s = options_of(LEY_PAIR_EXPRESSION), yukawa = options_of(LEY_PAIR_YUKAWA);
    assert_near(pair_at(&s, 0.3, 0, 2), pair_at(&yukawa, 0.3, 0, 2), 1e-15);
    s.expression = "A*q^2 + b_2*r2/cutoff + kappa/dielectric + 0*pi"; /* 2.5 0.09 - 3 4/10 + 0.25/4 */
    s.numbers = numbers;
    s.number_count = 2;
    assert_near(pair_at(&s, 0.3, 0, 2), 0.225 - 1.2 + 0.0625, 1e-14);
    assert_near(pair_at(&s, 0, 0, 2), -1.2 + 0.0625, 1e-14); /* atoms without charge count too */

    expression *e = NULL;
    const ley_named_number taken[] = {{"x", 1}, {"kappa", 2}}, none[] = {{NULL, 1}}, function[] = {{"exp", 1}};
    s.numbers = taken;
    assert_error_is(short_range_expression(&s, 1, &e, &error), LEY_ERROR_USAGE,
                    "pair function: the constant 'kappa' is the job's own, take another name");
    s.numbers = none;
    s.number_count = 1;
    assert_error(short_range_expression(&s, 1, &e, &error), LEY_ERROR_USAGE, "number 1 has no name");
    s.numbers = function;
    assert_error(short_range_expression(&s, 1, &e, &error), LEY_ERROR_USAGE, "'exp' is the name of something else");
    s.numbers = NULL;
    assert_error(short_range_expression(&s, 1, &e, &error), LEY_ERROR_USAGE, "1 numbers, and a null pointer to them");
    assert_null(e);
}

static void test_r_min(void **state)
{
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) {
        const ley_short_range s = options_of((ley_pair)pair);
        const double at = pair_at(&s, 1, 1, r_min_A);
        assert_true(isfinite(at) && at != 0);
        assert_near(pair_at(&s, 1, 1, 0) / at, 1, 1e-12);
        assert_near(pair_at(&s, 1, 1, 0.03) / at, 1, 1e-12);
        assert_true(fabs(pair_at(&s, 1, 1, 0.06) / at - 1) > 1e-3);
    }
}

/* The numbers that kernels take say the same as the formulas. */
static void test_numbers(void **state)
{
    const double position_A[9] = {0}, charge_e[] = {0.5, -0.25, 0}, radius_A[] = {0, 1.2, 1e-40},
                 depth[] = {0.1, 0.3, 0.2};
    double number[SHORT_RANGE_NUMBERS];
    ley_atoms *atoms = support_make_atoms(3, position_A, charge_e, radius_A);
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++)
        for (size_t j = 0; j < 3; j++) {
            ley_short_range s = options_of((ley_pair)pair), alone = s;
            s.depth_kcal_mol = depth;
            alone.depth_kcal_mol = &depth[j];
            number[0] = number[1] = number[2] = NAN;
            short_range_numbers(&s, atoms, j, number);
            for (int k = short_range_number_count(s.pair); k < SHORT_RANGE_NUMBERS; k++)
                assert_true(number[k] == 0);
            for (double r_A = 0.5; r_A < 10; r_A += 0.5) {
                const double r6 = pow(r_A, -6), value = pair_at(&alone, charge_e[j], radius_A[j], r_A);
                if (s.pair == LEY_PAIR_LENNARD_JONES)
                    assert_near(number[0] * r6 * r6 - number[1] * r6, value, 1e-12);
                else if (s.pair == LEY_PAIR_BUCKINGHAM)
                    assert_near(number[0] * exp(-number[1] * r_A) - number[2] * r6, value, 1e-12);
                else
                    assert_true(number[0] == charge_e[j]);
            }
        }
    assert_int_equal(short_range_number_count(LEY_PAIR_TAYLOR2), 1);
    assert_int_equal(short_range_number_count(LEY_PAIR_LENNARD_JONES), 2);
    assert_int_equal(short_range_number_count(LEY_PAIR_BUCKINGHAM), 3);
    ley_short_range s = options_of(LEY_PAIR_BUCKINGHAM);
    s.probe_radius_A = 0;
    for (size_t j = 0; j < 3; j += 2) { /* R = 0, and as good as 0 */
        number[0] = number[1] = number[2] = NAN;
        short_range_numbers(&s, atoms, j, number);
        assert_true(number[0] == 0 && number[1] == 0 && number[2] == 0);
    }
    ley_atoms_destroy(atoms);
}

static void test_facts(void **state)
{
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) {
        const ley_short_range s = options_of((ley_pair)pair);
        const bool radii = pair == LEY_PAIR_LENNARD_JONES || pair == LEY_PAIR_BUCKINGHAM;
        assert_int_equal(ley_pair_get(s.pair)->vanishes, fabs(pair_at(&s, 1, 1, 10 - 1e-9)) < 1e-9);
        assert_string_equal(short_range_units(&s, LEY_UNITS_VOLT), radii ? "kcal/mol" : "V");
        assert_true(short_range_constant(&s, 332) == (radii ? 1 : 332));
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

enum { ATOMS = 5, IMAGES = 14 };

/* The sum as it is defined: images by counting, Coulomb's or the degree-2 function written
 * otherwise. */
static double count_images(const ley_atoms *atoms, const ley_short_range *s, const double point_A[3])
{
    const double *x_A = ley_atoms_positions_A(atoms), *q_e = ley_atoms_charges_e(atoms);
    int most[3];
    double sum = 0;
    for (int i = 0; i < 3; i++)
        most[i] = s->periodic[i] ? IMAGES : 0;
    for (size_t j = 0; j < ley_atoms_count(atoms); j++)
        for (int a = -most[0]; a <= most[0]; a++)
            for (int b = -most[1]; b <= most[1]; b++)
                for (int c = -most[2]; c <= most[2]; c++) {
                    double r2_A2 = 0;
                    for (int k = 0; k < 3; k++) {
                        double d_A = point_A[k] - x_A[3 * j + (size_t)k];
                        d_A -= most[0] > 0 ? a * s->cell_A[0][k] : 0;
                        d_A -= most[1] > 0 ? b * s->cell_A[1][k] : 0;
                        d_A -= most[2] > 0 ? c * s->cell_A[2][k] : 0;
                        r2_A2 += d_A * d_A;
                    }
                    const double r_A = fmax(sqrt(r2_A2), r_min_A);
                    if (r_A < s->cutoff_A)
                        sum += q_e[j] * (s->pair == LEY_PAIR_COULOMB ? 1 / r_A : taylor(2, r_A, s->cutoff_A));
                }
    return sum;
}

static const double cells_A[][3][3] = {
    {{6, 0, 0}, {0, 5, 0}, {0, 0, 7}},           /* orthogonal */
    {{6, 0, 0}, {2.5, 5, 0}, {-2.9, 1.7, 7}},    /* triclinic */
    {{5, 0.5, 0}, {4.5, 3, 0.2}, {4, 0.4, 3.5}}, /* sharp angles */
    {{0, 0, -6}, {0, 7, 1}, {-5, 0, 0}},         /* left-handed, turned */
};
enum { CELLS = sizeof cells_A / sizeof cells_A[0] };

static ley_short_range options_in_cell(ley_pair pair, int which, int periodic)
{
    ley_short_range s = options_of(pair);
    for (int i = 0; i < 3; i++) {
        s.periodic[i] = (periodic >> i & 1) != 0;
        for (int k = 0; k < 3; k++) /* what is not periodic is not read */
            s.cell_A[i][k] = s.periodic[i] ? cells_A[which][i][k] : NAN;
    }
    return s;
}

static void test_images(void **state)
{
    static const double cutoffs_A[] = {1.9, 4, 10};
    ley_atoms *atoms = support_atoms(ATOMS, -3, 8, 4);
    double largest = 0;
    for (int which = 0; which < CELLS; which++)
        for (int periodic = 0; periodic < 8; periodic++)
            for (int i = 0; i < 6; i++) {
                ley_short_range s = options_in_cell(i % 2 ? LEY_PAIR_TAYLOR2 : LEY_PAIR_COULOMB, which, periodic);
                s.cutoff_A = cutoffs_A[i / 2];
                for (int k = 0; k < 4; k++) {
                    const double point_A[] = {1.3 + 2.1 * k, 7.7 - 3.3 * k, -4.1 + 2.7 * k};
                    const double value = reference_short_range(atoms, &s, NULL, point_A, 2, r_min_A).value;
                    assert_near(value, 2 * count_images(atoms, &s, point_A), 1e-11);
                    largest = fmax(largest, fabs(value));
                }
            }
    assert_true(largest > 0.1); /* there was something to compare */
    ley_atoms_destroy(atoms);
}

/* Atoms, or the point, moved by vectors of the cell, near or far: nothing changes. */
static void test_translations(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(ATOMS, 0, 6, 8), *moved = NULL;
    const int by[3] = {2, -1, 3};
    for (int which = 0; which < CELLS; which++)
        for (int periodic = 1; periodic < 8; periodic++)
            for (int scale = 1; scale <= 10000; scale *= 100) {
                const ley_short_range s = options_in_cell(LEY_PAIR_TAYLOR3, which, periodic);
                double shift_A[3] = {0}, position_A[3 * ATOMS], point_A[] = {2.2, 4.4, 1.1};
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++)
                        shift_A[k] += s.periodic[i] ? scale * by[i] * s.cell_A[i][k] : 0;
                for (size_t i = 0; i < 3 * ATOMS; i++)
                    position_A[i] = ley_atoms_positions_A(atoms)[i] + shift_A[i % 3];
                assert_ok(ley_atoms_create(ATOMS, position_A, ley_atoms_charges_e(atoms), NULL, &moved, &error));
                const double value = reference_short_range(atoms, &s, NULL, point_A, 1, r_min_A).value;
                assert_near(reference_short_range(moved, &s, NULL, point_A, 1, r_min_A).value, value, 1e-8);
                for (int k = 0; k < 3; k++)
                    point_A[k] -= shift_A[k];
                assert_near(reference_short_range(atoms, &s, NULL, point_A, 1, r_min_A).value, value, 1e-8);
                ley_atoms_destroy(moved);
            }
    ley_atoms_destroy(atoms);
}

static void test_degenerate_cells(void **state)
{
    ley_atoms *atoms = support_atoms(ATOMS, 0, 6, 8);
    const double point_A[3] = {0};
    ley_short_range s = options_in_cell(LEY_PAIR_COULOMB, 0, 3);
    memcpy(s.cell_A[1], s.cell_A[0], sizeof s.cell_A[0]);
    assert_true(isnan(reference_short_range(atoms, &s, NULL, point_A, 1, r_min_A).value));
    memset(s.cell_A[1], 0, sizeof s.cell_A[1]);
    assert_true(isnan(reference_short_range(atoms, &s, NULL, point_A, 1, r_min_A).value));
    ley_atoms_destroy(atoms);
}

/* ---- On the cutoff --------------------------------------------------------------------------- */

static void slack_at(const ley_short_range *s, double charge_e, double x_A, double *value, double slack[2])
{
    const double position_A[] = {x_A, 0, 0, 2, 0, 0}, charges_e[] = {charge_e, 1}, point_A[3] = {0};
    ley_atoms *atoms = support_make_atoms(2, position_A, charges_e, NULL);
    const reference_value right = reference_short_range(atoms, s, NULL, point_A, 5, r_min_A);
    *value = right.value;
    slack[0] = right.lower;
    slack[1] = right.higher;
    ley_atoms_destroy(atoms);
}

static void test_slack(void **state)
{
    const ley_short_range s = options_of(LEY_PAIR_COULOMB); /* the other atom adds 5/2 */
    double value, slack[2];
    slack_at(&s, 3, 10, &value, slack); /* does not count, but may */
    assert_near(value, 2.5, 1e-14);
    assert_near(slack[1], 1.5, 1e-14);
    assert_true(slack[0] == 0);
    slack_at(&s, -3, -10 * (1 + 9e-7), &value, slack);
    assert_near(value, 2.5, 1e-14);
    assert_near(slack[0], -1.5, 1e-5);
    assert_true(slack[1] == 0);
    slack_at(&s, 3, 10 * (1 - 9e-7), &value, slack); /* counts, but may not */
    assert_near(value, 4, 1e-5);
    assert_near(slack[0], -1.5, 1e-5);
    assert_true(slack[1] == 0);
    slack_at(&s, -3, 10 * (1 - 9e-7), &value, slack);
    assert_near(value, 1, 1e-5);
    assert_near(slack[1], 1.5, 1e-5);
    assert_true(slack[0] == 0);
    slack_at(&s, 3, 10 * (1 - 1.1e-6), &value, slack);
    assert_true(value > 3.9 && slack[0] == 0 && slack[1] == 0);
    slack_at(&s, 3, 10 * (1 + 1.1e-6), &value, slack);
    assert_true(value == 2.5 && slack[0] == 0 && slack[1] == 0);
    for (int pair = LEY_PAIR_SHIFTED; pair <= LEY_PAIR_TAYLOR4; pair++) {
        const ley_short_range vanishing = options_of((ley_pair)pair);
        slack_at(&vanishing, 3, 10 * (1 - 1.1e-7), &value,
                 slack); /* nothing there, but for what a distance may be off by */
        assert_true(slack[0] <= 0 && slack[1] > 0 && slack[0] > -1e-6 && slack[1] < 1e-6);
        slack_at(&vanishing, 3, 10 * (1 + 1.1e-7), &value, slack);
        assert_true(slack[0] == 0 && slack[1] > 0 && slack[1] < 1e-6);
        slack_at(&vanishing, 3, 9.5, &value,
                 slack); /* a tenth of a per mille of the value: its relative slope is at most 100 per cutoff */
        double others, unused[2];
        slack_at(&vanishing, 0, 9.5, &others, unused);
        const double own = value - others;
        assert_true(slack[1] > 1e-6 * own && slack[1] < 1e-4 * own && slack[0] < -1e-6 * own && slack[0] > -1e-4 * own);
        slack_at(&vanishing, 3, 8.9, &value, slack);
        assert_true(slack[0] == 0 && slack[1] == 0);
    }
    /* Images every 6 A: at 4, 10, -2, -8; the other atom's at 2, 8, -4, -10. */
    const ley_short_range images = options_in_cell(LEY_PAIR_COULOMB, 0, 1);
    slack_at(&images, -3, 4, &value, slack);
    assert_near(slack[0], -1.5, 1e-14);
    assert_near(slack[1], 0.5, 1e-14);
    assert_near(value, 5 * (-3 * (1 / 4.0 + 1 / 2.0 + 1 / 8.0) + 1 / 2.0 + 1 / 8.0 + 1 / 4.0), 1e-14);
}

/* Places that are rounded by more than 2e-7 of the cutoff. */
static void test_slack_of_places(void **state)
{
    const double position_A[] = {9.5, 0, 0, 8.5, 0, 0, 10 * (1 + 3e-6), 0, 0}, charge_e[] = {1, 0, 0}, place = 1e-6;
    for (int pair = LEY_PAIR_COULOMB; pair <= LEY_PAIR_TAYLOR4; pair++) {
        const ley_short_range s = options_of((ley_pair)pair);
        const bool vanishes = ley_pair_get(s.pair)->vanishes;
        reference_value right[3], wider[3];
        for (int i = 0; i < 3; i++) {
            ley_atoms *atoms = support_make_atoms(1, position_A + 3 * i, charge_e, NULL);
            reference_terms t = {.law = &law_pairs, .constant = 5, .atoms = atoms, .r_min_A = r_min_A, .range = &s};
            right[i] = reference_sum(&t, (double[3]){0});
            t.largest_A = s.cutoff_A * place / 2e-7;
            wider[i] = reference_sum(&t, (double[3]){0});
            ley_atoms_destroy(atoms);
        }
        assert_true(right[0].value == wider[0].value && right[1].value == wider[1].value && wider[2].value == 0);
        if (vanishes) {
            assert_near(wider[0].higher / right[0].higher, place / 2e-7, 1e-4);
            assert_near(wider[0].lower / right[0].lower, place / 2e-7, 1e-4);
        }
        assert_true(right[1].higher == 0 && (wider[1].higher > 0) == vanishes);
        assert_true(right[2].higher == 0 && (wider[2].higher > 0) == !vanishes);
    }
}

typedef struct between {
    double value, low, high;
    atomic_bool *cancel;
} between;

static reference_value value_between(const void *context, const double point_A[3])
{
    const between *b = context;
    assert_true(point_A[2] == 7);
    if (b->cancel != NULL)
        atomic_store(b->cancel, true);
    return (reference_value){b->value + point_A[0], 200, b->low, b->high};
}

/* Whatever lies in the slack is right; what lies beyond is wrong by the distance to its nearer
 * end. */
static void test_sampling(void **state)
{
    enum { N = 64 };
    const ley_grid l = {{-1, 2, 7}, LEY_STEPS(0.5, 1, 1), {N, 1, 1}};
    ley_error error = {0};
    ley_accuracy a;
    double worst_A[3];
    atomic_bool cancelled = false;
    between b = {.value = 40, .low = -0.25, .high = 0.5};
    ley_map *map = support_make_map(&l);
    float *values = ley_map_values(map);
    for (int i = 0; i < N; i++)
        values[i] = 39 + 0.5f * (float)i + (float)(i % 4 - 1) * 0.25f; /* from -0.25 to 0.5 off */
    assert_ok(accuracy_sample_map(map, value_between, &b, N, 1, 1e-6, &cancelled, &a, worst_A, &error));
    assert_true(a.passed && a.points == N && a.relative_rms == 0);
    values[9] = 39 + 4.5f + 0.75f;
    values[10] = 39 + 5 - 0.375f;
    assert_ok(accuracy_sample_map(map, value_between, &b, 1000, 1, 1e-6, &cancelled, &a, worst_A, &error));
    assert_true(!a.passed);
    assert_near(a.max_error, 0.25 / 200, 1e-12);
    assert_near(a.absolute_rms, sqrt((0.25 * 0.25 + 0.125 * 0.125) / N), 1e-12);
    assert_true(worst_A[0] == -1 + 9 * 0.5 && worst_A[1] == 2 && worst_A[2] == 7);
    b.low = b.high = 0;
    assert_ok(accuracy_sample_map(map, value_between, &b, N, 1, 1e-6, NULL, &a, worst_A, &error));
    assert_true(!a.passed && a.relative_rms > 1e-3);
    b.low = -INFINITY, b.high = INFINITY; /* no excuse for what is not finite */
    values[3] = NAN;
    assert_ok(accuracy_sample_map(map, value_between, &b, N, 1, 1e-6, NULL, &a, worst_A, &error));
    assert_false(a.passed);
    b.cancel = &cancelled;
    assert_int_equal(accuracy_sample_map(map, value_between, &b, N, 1, 1e-6, &cancelled, &a, worst_A, &error),
                     LEY_CANCELLED);
    ley_map_destroy(map);
}

/* ---- Options --------------------------------------------------------------------------------- */

static void assert_checked(const ley_short_range *s)
{
    ley_error error = {0};
    assert_ok(short_range_check(s, &error));
}

static void assert_refused(const ley_short_range *s, const char *message)
{
    ley_error error = {0};
    assert_error_is(short_range_check(s, &error), LEY_ERROR_USAGE, message);
}

#define REFUSED(pair_, field, value, message) \
    do { \
        ley_short_range s_ = options_of(pair_); \
        s_.field = value; \
        assert_refused(&s_, message); \
    } while (0)

#define ACCEPTED(pair_, field, value) \
    do { \
        ley_short_range s_ = options_of(pair_); \
        s_.field = value; \
        assert_checked(&s_); \
    } while (0)

static void test_refused_numbers(void **state)
{
    const ley_pair any = LEY_PAIR_TAYLOR2;
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++)
        ACCEPTED((ley_pair)pair, bin_depth, 128);
    REFUSED(any, pair, (ley_pair)1000, "unknown pair function 1000");
    REFUSED(any, pair, (ley_pair)-1, "unknown pair function -1");
    REFUSED(any, cutoff_A, 0, "cutoff 0 A, must be above r_min (0.05 A) and at most 1e4");
    REFUSED(any, cutoff_A, 0.05, "cutoff 0.05 A, must be above r_min (0.05 A) and at most 1e4");
    REFUSED(any, cutoff_A, 10001, "cutoff 10001 A, must be above r_min (0.05 A) and at most 1e4");
    REFUSED(any, cutoff_A, NAN, "cutoff nan A, must be above r_min (0.05 A) and at most 1e4");
    ACCEPTED(any, cutoff_A, 1e4);
    ACCEPTED(any, cutoff_A, 0.051);
    REFUSED(LEY_PAIR_YUKAWA, kappa_per_A, -1, "kappa -1 / A, must be 0 to 100");
    REFUSED(LEY_PAIR_YUKAWA, kappa_per_A, 101, "kappa 101 / A, must be 0 to 100");
    REFUSED(LEY_PAIR_EXPRESSION, kappa_per_A, NAN, "kappa nan / A, must be 0 to 100");
    ACCEPTED(LEY_PAIR_YUKAWA, kappa_per_A, 0);
    ACCEPTED(LEY_PAIR_YUKAWA, kappa_per_A, 100);
    ACCEPTED(LEY_PAIR_COULOMB, kappa_per_A, NAN); /* not taken */
    REFUSED(LEY_PAIR_LENNARD_JONES, probe_radius_A, -0.5, "probe -0.5, must be 0 to 1e6");
    REFUSED(LEY_PAIR_BUCKINGHAM, probe_radius_A, 100.5, "probe: radius 100.5 A, must be 0 to 100");
    ACCEPTED(LEY_PAIR_LENNARD_JONES, probe_radius_A, 0);
    REFUSED(LEY_PAIR_LENNARD_JONES, probe_depth_kcal_mol, -1, "probe -1, must be 0 to 1e6");
    REFUSED(LEY_PAIR_BUCKINGHAM, probe_depth_kcal_mol, INFINITY, "probe inf, must be 0 to 1e6");
    REFUSED(LEY_PAIR_LENNARD_JONES, depth_for_all_kcal_mol, -1,
            "well_depth -1 kcal/mol, must be finite and at least 0");
    REFUSED(LEY_PAIR_BUCKINGHAM, depth_for_all_kcal_mol, INFINITY,
            "well_depth inf kcal/mol, must be finite and at least 0");
    REFUSED(LEY_PAIR_BUCKINGHAM, steepness, 6, "steepness 6, must be 6.5 to 40");
    REFUSED(LEY_PAIR_BUCKINGHAM, steepness, 41, "steepness 41, must be 6.5 to 40");
    ACCEPTED(LEY_PAIR_LENNARD_JONES, steepness, 0);
    REFUSED(any, bin_depth, 0, "bin_depth 0, must be 1 to 128");
    REFUSED(any, bin_depth, 129, "bin_depth 129, must be 1 to 128");
    REFUSED(any, bin_fill, 0, "bin_fill 0, must be 0.001 to 1000");
    REFUSED(any, bin_fill, 1001, "bin_fill 1001, must be 0.001 to 1000");
    REFUSED(any, binning, (ley_place)3, "unknown binning 3");
    REFUSED(any, binning, (ley_place)-1, "unknown binning -1");
    REFUSED(any, transposition, (ley_place)7, "unknown transposition 7");
    assert_int_equal(BINNING_MOST_DEPTH, 128);
}

static void test_refused_cells(void **state)
{
    ley_short_range s = options_in_cell(LEY_PAIR_COULOMB, 1, 5);
    assert_checked(&s);
    s.cell_A[2][1] = NAN;
    assert_refused(&s, "cell: vector c (-2.9, nan, 7) A is not finite");
    s.cell_A[2][1] = -INFINITY;
    assert_refused(&s, "cell: vector c (-2.9, -inf, 7) A is not finite");
    s = options_in_cell(LEY_PAIR_COULOMB, 1, 5);
    memset(s.cell_A[0], 0, sizeof s.cell_A[0]);
    assert_refused(&s, "cell: vector a is periodic and zero");
    s.periodic[0] = false;
    assert_checked(&s);
}

static void test_refused_expressions(void **state)
{
    const ley_pair own = LEY_PAIR_EXPRESSION;
    REFUSED(LEY_PAIR_COULOMB, expression, "q/r",
            "pair function: an expression is given, and another function is asked for");
    REFUSED(own, expression, NULL, "pair function: an expression is asked for, and there is none");
    REFUSED(own, expression, "q/(r+rr)", "pair function, column 6: unknown name 'rr'");
    REFUSED(own, expression, "q/(r", "pair function, column 5: ')' is expected, not the end");
    REFUSED(own, expression, "q*1e-42/r",
            "pair function: a number of it is neither 0 nor within 1.2e-38 and 3.4e38: q*1e-42/r");
    REFUSED(own, expression, "q*1e39*r",
            "pair function: a number of it is neither 0 nor within 1.2e-38 and 3.4e38: q*1e+39*r");
    ACCEPTED(own, expression, "q*dielectric/r - q*cutoff*kappa");
    REFUSED(own, expression, "q/(r-5)",
            "pair function: at r = 5 A, q = 1 e, it divides by zero, or by what rounding may make zero");
    REFUSED(own, expression, "r+1e9-1e9",
            "pair function: at r = 0.05 A, q = 1 e, rounding eats its digits: floats are off by up to 1.8e+02 where "
            "its values are at most 0.1. It "
            "needs to be written without differences of what is nearly equal, or less steep");
    REFUSED(
        own, expression, "1/(q-1)",
        "pair function: at r = 0.05 A, q = 1 e, it divides by zero, or by what rounding may make zero"); /* charges -1,
                                                                                                            0 and 1 are
                                                                                                            looked at */
    ACCEPTED(own, expression, "1/(q-0.5)");
    const ley_named_number twice[] = {{"A", 1}, {"B", 2}, {"A", 3}}, infinite[] = {{"A", INFINITY}};
    ley_short_range s = options_of(own);
    s.numbers = twice;
    s.number_count = 3;
    assert_refused(&s, "pair function: the constant 'A' is given twice");
    s.numbers = infinite;
    s.number_count = 1;
    assert_refused(&s, "pair function: the constant 'A' is not finite");
}

static void test_refused_atoms(void **state)
{
    ley_error error = {0};
    const double position_A[6] = {0}, charge_e[2] = {0}, radius_A[] = {1, 3};
    double depth[] = {0, 0.2};
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, radius_A);
    ley_short_range s = options_of(LEY_PAIR_LENNARD_JONES);
    assert_ok(short_range_check_atoms(&s, atoms, r_min_A, &error));
    s.depth_kcal_mol = depth;
    assert_ok(short_range_check_atoms(&s, atoms, r_min_A, &error));
    for (int i = 0; i < 3; i++) {
        depth[1] = i == 0 ? NAN : i == 1 ? INFINITY : -1;
        assert_error(short_range_check_atoms(&s, atoms, r_min_A, &error), LEY_ERROR_USAGE, "atom 2: depth ");
    }
    s.depth_kcal_mol = NULL; /* 0.2 (4.5/1e-3)^12 is 1.4e43 */
    assert_int_equal(short_range_check_atoms(&s, atoms, 1e-3, &error), LEY_ERROR_INPUT);
    assert_string_equal(
        error.message,
        "atom 1: of radius 1 A, beside the probe's 1.5 A, its energy at r_min (0.001 A) is 1.19e+40 kcal/mol: a "
        "larger r_min is needed");
    s.pair = LEY_PAIR_BUCKINGHAM; /* -0.4 (2.5/1e-3)^6 is nothing, and 1e18 times that is */
    assert_ok(short_range_check_atoms(&s, atoms, 1e-3, &error));
    assert_error(short_range_check_atoms(&s, atoms, 1e-6, &error), LEY_ERROR_INPUT, " is -9.77e+37 kcal/mol");
    s.pair = LEY_PAIR_COULOMB;
    s.depth_kcal_mol = depth;
    assert_ok(short_range_check_atoms(&s, atoms, 1e-6, &error));
    ley_atoms_destroy(atoms);
}

/* Charges that do more than scale a function: those of the atoms, all of few, the least and the
 * largest of many. */
static void test_charges_of_expressions(void **state)
{
    enum { N = 1000 };
    ley_error error = {0};
    double position_A[3 * N] = {0}, charge_e[N];
    ley_short_range range = options_of(LEY_PAIR_EXPRESSION);
    for (int many = 0; many < 2; many++) {
        for (int i = 0; i < N; i++)
            charge_e[i] = i == 500 ? 0.5 : i == 501 ? 0.75 : many ? 1e-4 * i : 0.25 * (i % 2);
        ley_atoms *atoms = support_make_atoms(N, position_A, charge_e, NULL);
        range.expression = "q/(q-0.8)/r";
        assert_ok(short_range_check_charges(&range, atoms, &error));
        range.expression = many ? "q/(q-0.75)/r" : "q/(q-0.5)/r";
        assert_int_equal(short_range_check_charges(&range, atoms, &error), LEY_ERROR_USAGE);
        assert_non_null(
            strstr(error.message, many ? "q = 0.75 e, it divides by zero" : "q = 0.5 e, it divides by zero"));
        range.expression = "q/(r-5)"; /* not here: charges but scale it */
        assert_ok(short_range_check_charges(&range, atoms, &error));
        ley_atoms_destroy(atoms);
    }
}

/* What a difference of two that are nearly equal counts for is what floats go through, not what is
 * left of it. */
static void test_terms_of_expressions(void **state)
{
    ley_error error = {0};
    const double position_A[] = {0, 0, 0}, charge_e[] = {1}, zero_A = pow(100, 1.0 / 6), point_A[] = {zero_A, 0, 0},
                 near_A[] = {4, 0, 0};
    expression *e = NULL;
    ley_short_range s = options_of(LEY_PAIR_EXPRESSION);
    ley_atoms *atoms = support_make_atoms(1, position_A, charge_e, NULL);
    s.expression = "1e5/r^12-1e3/r^6";
    assert_ok(short_range_expression(&s, 1, &e, &error));
    const reference_value zero = reference_short_range(atoms, &s, e, point_A, 1, r_min_A);
    assert_true(fabs(zero.value) < 1e-12 && zero.absolute > 5 && zero.absolute < 100); /* each part is 10 */
    expression_destroy(e);
    s.expression = "q/r";
    assert_ok(short_range_expression(&s, 1, &e, &error));
    assert_true(reference_short_range(atoms, &s, e, near_A, 1, r_min_A).absolute == 0.25);
    expression_destroy(e);
    ley_atoms_destroy(atoms);
}

/* A copy lives on when all that it was made from is overwritten. */
static void test_copies(void **state)
{
    ley_error error = {0};
    char text[] = "A*q/r + beta", name[] = "A", other[] = "beta";
    ley_named_number numbers[] = {{name, 2}, {other, -1}};
    double depth[] = {0.1, 0.2, 0.3};
    ley_short_range s = options_of(LEY_PAIR_EXPRESSION), copy;
    s.expression = text;
    s.numbers = numbers;
    s.number_count = 2;
    s.depth_kcal_mol = depth;
    assert_ok(short_range_copy(&s, 3, &copy, &error));
    memset(text, '!', sizeof text - 1);
    name[0] = other[0] = '?';
    memset(numbers, 0, sizeof numbers);
    assert_string_equal(copy.expression, "A*q/r + beta");
    assert_int_equal(copy.number_count, 2);
    assert_string_equal(copy.numbers[1].name, "beta");
    assert_near(pair_at(&copy, 3, 0, 4), 0.5, 1e-15);
    assert_null(copy.depth_kcal_mol); /* not taken */
    short_range_free(&copy);
    short_range_free(&copy); /* once more does no harm */

    s = options_of(LEY_PAIR_LENNARD_JONES);
    s.depth_kcal_mol = depth;
    assert_ok(short_range_copy(&s, 3, &copy, &error));
    memset(depth, 0, sizeof depth);
    assert_true(copy.depth_kcal_mol[0] == 0.1 && copy.depth_kcal_mol[2] == 0.3);
    assert_true(copy.cutoff_A == 10 && copy.bin_depth == 8 && copy.expression == NULL && copy.numbers == NULL);
    short_range_free(&copy);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "short range"), test_plain_functions, test_taylor_functions, test_radii,
                     test_expression_values, test_r_min, test_numbers, test_facts, test_images, test_translations,
                     test_degenerate_cells, test_slack, test_slack_of_places, test_sampling, test_refused_numbers,
                     test_refused_cells, test_refused_expressions, test_refused_atoms, test_copies,
                     test_charges_of_expressions, test_terms_of_expressions);
}
