/* Direct sums of the host, many points at once, against sums in extended precision: plain and
 * screened, far and near, at an atom's own place and within r_min; what it leaves to the reference;
 * and that an error in a digit would be seen. */
#include "law/reference.h"
#include "support.h"

#include "law/dcs.h"
#include "law/long_range_sum.h"
#include "law/mdh.h"
#include "law/pairs.h"
#include "schedule/host_direct.h"

#include "spec.h"

enum { ATOMS = 300 };

static const double most_error = 3e-15; /* of the sum of absolute terms */

/* From 0 to 1, by a hash of a number. */
static double share_of(size_t number)
{
    uint64_t x = (number + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
    return (double)(x >> 11) * 0x1p-53;
}

static ley_atoms *some_atoms(size_t n, double edge_A)
{
    double *position_A = malloc(3 * n * sizeof *position_A), *charge_e = malloc(n * sizeof *charge_e),
           *radius_A = malloc(n * sizeof *radius_A);
    for (size_t j = 0; j < n; j++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * j + (size_t)axis] = edge_A * (share_of(3 * j + (size_t)axis) - 0.5);
        charge_e[j] = j % 7 == 0 ? 0 : share_of(5 * n + j) - 0.4;
        radius_A[j] = 1.5;
    }
    ley_atoms *atoms = support_make_atoms(n, position_A, charge_e, radius_A);
    free(position_A);
    free(charge_e);
    free(radius_A);
    return atoms;
}

static reference_terms terms_of(const ley_atoms *atoms, double kappa_per_A, double r_min_A)
{
    return (reference_terms){
        .law = &law_long_range, .constant = 560.7, .atoms = atoms, .r_min_A = r_min_A, .kappa_per_A = kappa_per_A};
}

/* C sum q/d exp(-kappa d), d = max(|r - r_j|, r_min). */
static long double right_value(const reference_terms *t, const double at_A[3], long double *absolute)
{
    long double value = 0;
    *absolute = 0;
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        long double square = 0;
        for (size_t axis = 0; axis < 3; axis++) {
            const long double way = (long double)at_A[axis] - ley_atoms_positions_A(t->atoms)[3 * j + axis];
            square += way * way;
        }
        const long double d = fmaxl(sqrtl(square), t->r_min_A),
                          term = t->constant * ley_atoms_charges_e(t->atoms)[j] / d * expl(-t->kappa_per_A * d);
        value += term;
        *absolute += fabsl(term);
    }
    return value;
}

/* Points about the origin; the first ones at, next to and within r_min of an atom. */
static host_direct_points points_of(const ley_atoms *atoms, double edge_A, double r_min_A)
{
    host_direct_points at;
    const double *atom_A = ley_atoms_positions_A(atoms);
    for (size_t i = 0; i < HOST_DIRECT_POINTS; i++) {
        at.x_A[i] = i < 4 ? atom_A[0] + (double)i * r_min_A / 2 : edge_A * (share_of(900 + 3 * i) - 0.5);
        at.y_A[i] = i < 4 ? atom_A[1] : edge_A * (share_of(901 + 3 * i) - 0.5);
        at.z_A[i] = i < 4 ? atom_A[2] : edge_A * (share_of(902 + 3 * i) - 0.5);
    }
    return at;
}

/* The largest error, of the sum of absolute terms. */
static double worst_error(const reference_terms *t, double edge_A)
{
    const host_direct_points at = points_of(t->atoms, edge_A, t->r_min_A);
    double value[HOST_DIRECT_POINTS], worst = 0;
    host_direct_sum(t, &at, value);
    for (int i = 0; i < HOST_DIRECT_POINTS; i++) {
        long double absolute;
        const long double right = right_value(t, (const double[]){at.x_A[i], at.y_A[i], at.z_A[i]}, &absolute);
        assert_true(isfinite(value[i]));
        worst = fmax(worst, (double)(fabsl(value[i] - right) / (absolute + 1e-290L)));
    }
    return worst;
}

static void test_values(void **state)
{
    const double edges_A[] = {0.5, 40, 3000, 2e8}, kappas_per_A[] = {0, 1e-6, 0.1, 0.8}, r_mins_A[] = {1e-6, 0.01, 5};
    for (int e = 0; e < 4; e++) {
        ley_atoms *atoms = some_atoms(ATOMS, edges_A[e]);
        for (int k = 0; k < 4; k++)
            for (int r = 0; r < 3; r++) {
                const reference_terms t = terms_of(atoms, kappas_per_A[k], r_mins_A[r]);
                assert_true(host_direct_can(&t));
                /* An exponent's own rounding is multiplied by kappa r. */
                assert_true(worst_error(&t, edges_A[e]) < most_error * (1 + kappas_per_A[k] * edges_A[e] / 20));
            }
        ley_atoms_destroy(atoms);
    }
}

/* Where exp(-kappa r) is below what doubles hold, sums are 0 or next to it, and finite. */
static void test_strong_screening(void **state)
{
    ley_atoms *atoms = some_atoms(3, 10);
    const reference_terms t = terms_of(atoms, 20, 0.01);
    host_direct_points at = points_of(atoms, 10, 0.01);
    double value[HOST_DIRECT_POINTS];
    for (int i = 0; i < HOST_DIRECT_POINTS; i++)
        at.x_A[i] = 1e5 + i;
    host_direct_sum(&t, &at, value);
    for (int i = 0; i < HOST_DIRECT_POINTS; i++)
        assert_true(fabs(value[i]) < 1e-290);
    ley_atoms_destroy(atoms);
}

/* The direct sum of dcs has no screening, whatever kappa says. */
static void test_plain_sums(void **state)
{
    ley_atoms *atoms = some_atoms(ATOMS, 30);
    reference_terms t = terms_of(atoms, 0.5, 0.01);
    t.law = &law_dcs;
    const host_direct_points at = points_of(atoms, 30, 0.01);
    double value[HOST_DIRECT_POINTS], again[HOST_DIRECT_POINTS];
    host_direct_sum(&t, &at, value);
    const reference_terms plain = terms_of(atoms, 0, 0.01);
    host_direct_sum(&plain, &at, again);
    assert_memory_equal(value, again, sizeof value);
    ley_atoms_destroy(atoms);
}

/* What it says it can do, and what it leaves to the reference. */
static void test_which_sums(void **state)
{
    ley_atoms *atoms = some_atoms(2, 10);
    reference_terms t = terms_of(atoms, 0, 0.01);
    assert_true(host_direct_can(&t));
    for (int dimensions = 0; dimensions <= 3; dimensions++) {
        const cell repeated = {.dimensions = dimensions};
        t.cell = &repeated;
        assert_int_equal(host_direct_can(&t), dimensions == 0);
    }
    t.cell = NULL;
    t.law = &law_dcs;
    assert_true(host_direct_can(&t));
    t.excluded_count = 1;
    assert_false(host_direct_can(&t));
    t.excluded_count = 0;
    t.law = &law_mdh;
    assert_false(host_direct_can(&t));
    t.law = &law_pairs;
    assert_false(host_direct_can(&t));
    ley_atoms_destroy(atoms);
}

/* The largest error that is let through above is a thousandth of what a float's digits make. */
static void test_an_error_is_seen(void **state)
{
    ley_atoms *atoms = some_atoms(ATOMS, 40);
    reference_terms t = terms_of(atoms, 0, 0.01), other = t;
    const host_direct_points at = points_of(atoms, 40, 0.01);
    double value[HOST_DIRECT_POINTS], moved[HOST_DIRECT_POINTS];
    other.constant *= 1 + 1e-13;
    host_direct_sum(&t, &at, value);
    host_direct_sum(&other, &at, moved);
    for (int i = 0; i < HOST_DIRECT_POINTS; i++) {
        long double absolute;
        const long double right = right_value(&t, (const double[]){at.x_A[i], at.y_A[i], at.z_A[i]}, &absolute);
        if (fabsl(right) > absolute / 4)
            assert_true(fabsl(moved[i] - right) > most_error * absolute);
    }
    ley_atoms_destroy(atoms);
}

/* The judge's sums at several points are those at each of them, to the last bit: far from all
 * atoms, in contact with one, upon one, with and without what several points cannot have together.
 */
static void test_the_judges_sums(void **state)
{
    enum { POINTS = 37 };
    static const int64_t excluded[] = {3, 17};
    ley_atoms *atoms = some_atoms(ATOMS, 20);
    double place_A[POINTS][3];
    reference_value all[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        for (size_t axis = 0; axis < 3; axis++)
            place_A[i][axis] = i % 5 == 0
                                   ? ley_atoms_positions_A(atoms)[3 * i + axis] + 0.02 * (double)(i % 4) * (axis == 1)
                                   : 25 * share_of(3 * i + axis);
    for (size_t k = 0; k < 16; k++) {
        const reference_terms t = {.law = k % 8 == 7 ? &law_dcs : &law_long_range,
                                   .constant = -3.25,
                                   .atoms = atoms,
                                   .r_min_A = k < 8 ? 1e-3 : 3,
                                   .kappa_per_A = k % 4 == 1 ? 0.2 : 0,
                                   .shares = {0.75, 1e-4},
                                   .excluded = excluded,
                                   .excluded_count = k % 4 == 2 ? 2 : 0};
        const size_t n = k % 2 ? POINTS : 1 + 5 * k;
        memset(all, 0xff, sizeof all);
        reference_sums(&t, n < POINTS ? n : POINTS, (const double(*)[3])place_A, all);
        for (size_t i = 0; i < n && i < POINTS; i++) {
            const reference_value one = reference_sum(&t, place_A[i]);
            assert_true(one.absolute > 0);
            assert_memory_equal(&all[i], &one, sizeof one);
        }
    }
    ley_atoms_destroy(atoms);
}

int main(void)
{
    return RUN_TESTS(test_values, test_strong_screening, test_plain_sums, test_which_sums, test_an_error_is_seen,
                     test_the_judges_sums);
}
