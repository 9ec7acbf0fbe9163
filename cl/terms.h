/* The terms of all sums, in plain double precision, each from its formula and nothing else: the
 * judge's, for the host (host/law/reference.c) and for devices (reference.cl). The kernels
 * that are judged have formulas of their own, in pair.h.
 *
 * C11, OpenCL C with double precision and CUDA C read the same lines. LEY_TERM_FN is defined
 * beforehand: qualifiers of an inline function. */
#ifndef LEY_TERMS_H
#define LEY_TERMS_H

#include "spec.h"

/* What an atom adds at a point; and the sum of the absolute values of what that is made of. */
typedef struct {
    double value, absolute;
} ley_term;

LEY_TERM_FN ley_term ley_single_term(double value)
{
    ley_term term;
    term.value = value;
    term.absolute = fabs(value);
    return term;
}

/* A repulsion less an attraction, both positive. */
LEY_TERM_FN ley_term ley_double_term(double repulsion, double attraction)
{
    ley_term term;
    term.value = repulsion - attraction;
    term.absolute = repulsion + attraction;
    return term;
}

/* Direct Coulomb summation: q / max(r, r_min). */
LEY_TERM_FN ley_term ley_dcs_term(double q_e, double r_A, double r_min_A)
{
    return ley_single_term(q_e / (r_A < r_min_A ? r_min_A : r_A));
}

/* Of a long-range sum, how a term's error is limited: `lattice` of it, from 0 to 1, is what
 * meshes do, which are off by a share of the term as it is without screening; the rest, what
 * floats do, is a share of the screened term. At distances below LEY_CONTACT the rounding of
 * places shows beside that, by `place` (1/r - 1/LEY_CONTACT), place in A over the tolerance. */
#define LEY_CONTACT 0.05
typedef struct {
    double mesh, place_A;
} ley_long_range_shares;

/* By how much the limit is larger than that of 1/r. */
LEY_TERM_FN double ley_long_range_allowed(double r_A, double kappa_per_A, ley_long_range_shares s)
{
    double allowed = 1;
    if (kappa_per_A > 0)
        allowed = s.mesh + (1 - s.mesh) * exp(-kappa_per_A * r_A);
    if (r_A < LEY_CONTACT)
        allowed += s.place_A * (1 / r_A - 1 / LEY_CONTACT);
    return allowed;
}

/* The same as direct summation, screened by exp(-kappa r), of a sum that is computed on meshes.
 * These are off at random from charge to charge: so what counts beside the value is the squares of
 * what each of them is allowed. */
LEY_TERM_FN ley_term ley_long_range_term(double q_e, double r_A, double r_min_A, double kappa_per_A,
                                         ley_long_range_shares s)
{
    const double safe_A = r_A < r_min_A ? r_min_A : r_A;
    ley_term term = ley_dcs_term(q_e, r_A, r_min_A);
    term.absolute *= ley_long_range_allowed(safe_A, kappa_per_A, s);
    term.absolute *= term.absolute;
    if (kappa_per_A > 0)
        term.value *= exp(-kappa_per_A * safe_A);
    return term;
}

/* Multiple Debye-Hueckel: q/d exp(-kappa (d - R)) / (1 + kappa R), without screening where kappa
 * < 1e-9/A. An atom without a charge adds nothing, wherever it is. */
LEY_TERM_FN ley_term ley_mdh_term(double q_e, double d_A, double radius_A, double kappa_per_A)
{
    if (q_e == 0)
        return ley_single_term(0);
    if (kappa_per_A < 1e-9)
        return ley_single_term(q_e / d_A);
    return ley_single_term(q_e / d_A * exp(-kappa_per_A * (d_A - radius_A)) / (1 + kappa_per_A * radius_A));
}

/* 1/r - g(r^2/a^2)/a, g the Taylor polynomial of s^(-1/2) about 1 of this degree: with
 * x = r/a it is (1 - x)^(degree + 1) P(x) / (x a), which has the same value and keeps its digits
 * next to the cutoff. */
LEY_TERM_FN double ley_taylor_value(int degree, double r_A, double a_A)
{
    const double x = r_A / a_A, y = 1 - x;
    if (degree == 2)
        return y * y * y * (8 + x * (9 + x * 3)) / (8 * r_A);
    if (degree == 3)
        return y * y * y * y * (16 + x * (29 + x * (20 + x * 5))) / (16 * r_A);
    return y * y * y * y * y * (128 + x * (325 + x * (345 + x * (175 + x * 35)))) / (128 * r_A);
}

/* Less its derivative: (1 - x)^degree P(x) / r^2. */
LEY_TERM_FN double ley_taylor_slope(int degree, double r_A, double a_A)
{
    const double x = r_A / a_A, y = 1 - x, r2 = r_A * r_A;
    if (degree == 2)
        return y * y * (2 + x * (4 + x * (6 + x * 3))) / (2 * r2);
    if (degree == 3)
        return y * y * y * (8 + x * (24 + x * (48 + x * (45 + x * 15)))) / (8 * r2);
    return y * y * y * y * (16 + x * (64 + x * (160 + x * (215 + x * (140 + x * 35))))) / (16 * r2);
}

/* ---- Pair functions --------------------------------------------------------------------------
 *
 * The rows are those of pair_table.h. LEY_PAIR_TERM_NAME is what an atom adds at a distance r_A
 * below the cutoff a_A, x = r/a: of its charge q_e; or of the sum R_A of its radius and the
 * probe's, and eps, the depth of their well. k is kappa where the function takes it, else the
 * steepness. Where a value is a repulsion less an attraction, these are two terms. */

#define LEY_PAIR_TERM_COULOMB ley_single_term(q_e / r_A)
#define LEY_PAIR_TERM_SHIFTED ley_single_term(q_e * pow((1 - x) * (1 + x), 2.0) / r_A)
#define LEY_PAIR_TERM_TAYLOR2 ley_single_term(q_e * ley_taylor_value(2, r_A, a_A))
#define LEY_PAIR_TERM_TAYLOR3 ley_single_term(q_e * ley_taylor_value(3, r_A, a_A))
#define LEY_PAIR_TERM_TAYLOR4 ley_single_term(q_e * ley_taylor_value(4, r_A, a_A))
#define LEY_PAIR_TERM_YUKAWA ley_single_term(q_e * exp(-k * r_A) / r_A)
#define LEY_PAIR_TERM_DISTANCE_DIELECTRIC ley_single_term(q_e / (r_A * r_A))
#define LEY_PAIR_TERM_LENNARD_JONES ley_double_term(eps * pow(R_A / r_A, 12.0), eps * 2 * pow(R_A / r_A, 6.0))
/* R = 0: exp(-infinity), which is 0 */
#define LEY_PAIR_TERM_BUCKINGHAM \
    ley_double_term(eps * 6 / (k - 6) * exp(k * (1 - r_A / R_A)), eps * k / (k - 6) * pow(R_A / r_A, 6.0))

#define LEY_TERM_CASE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    case number: \
        return LEY_PAIR_TERM_##NAME;
LEY_TERM_FN ley_term ley_pair_term(int pair, double r_A, double a_A, double q_e, double R_A, double eps, double k)
{
    const double x = r_A / a_A;
    switch (pair) {
        LEY_PAIR_FUNCTIONS(LEY_TERM_CASE, 0)
    default: /* not a number */
        return ley_single_term(sqrt(-1.0));
    }
}

/* LEY_PAIR_SLOPE_TERM_NAME is -df/dr of the same: positive where the field is along the way from
 * the atom to the point. */
#define LEY_PAIR_SLOPE_TERM_COULOMB ley_single_term(q_e / (r_A * r_A))
#define LEY_PAIR_SLOPE_TERM_SHIFTED \
    ley_single_term(q_e * (1 - x) * (1 + x) * ((1 - x) * (1 + x) + 4 * x * x) / (r_A * r_A))
#define LEY_PAIR_SLOPE_TERM_TAYLOR2 ley_single_term(q_e * ley_taylor_slope(2, r_A, a_A))
#define LEY_PAIR_SLOPE_TERM_TAYLOR3 ley_single_term(q_e * ley_taylor_slope(3, r_A, a_A))
#define LEY_PAIR_SLOPE_TERM_TAYLOR4 ley_single_term(q_e * ley_taylor_slope(4, r_A, a_A))
#define LEY_PAIR_SLOPE_TERM_YUKAWA ley_single_term(q_e * exp(-k * r_A) * (1 + k * r_A) / (r_A * r_A))
#define LEY_PAIR_SLOPE_TERM_DISTANCE_DIELECTRIC ley_single_term(2 * q_e / (r_A * r_A * r_A))
#define LEY_PAIR_SLOPE_TERM_LENNARD_JONES \
    ley_double_term(12 * eps * pow(R_A / r_A, 12.0) / r_A, 12 * eps * pow(R_A / r_A, 6.0) / r_A)
#define LEY_PAIR_SLOPE_TERM_BUCKINGHAM \
    ley_double_term(R_A > 0 ? eps * 6 * k / (k - 6) / R_A * exp(k * (1 - r_A / R_A)) : 0, \
                    eps * 6 * k / (k - 6) * pow(R_A / r_A, 6.0) / r_A)

#define LEY_SLOPE_TERM_CASE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    case number: \
        return LEY_PAIR_SLOPE_TERM_##NAME;
LEY_TERM_FN ley_term ley_pair_slope_term(int pair, double r_A, double a_A, double q_e, double R_A, double eps, double k)
{
    const double x = r_A / a_A;
    switch (pair) {
        LEY_PAIR_FUNCTIONS(LEY_SLOPE_TERM_CASE, 0)
    default: /* not a number */
        return ley_single_term(sqrt(-1.0));
    }
}

/* Functions that vanish at the cutoff: there it does not matter which pairs are within it; but a
 * distance r is right to `place` r in floats, and next to the cutoff such a function changes by
 * much of its value on that way. What is right then lies between the values at r (1 + place) and
 * r (1 - place). `place` is LEY_PLACE, or more where bins or regions are longer than the cutoff, by
 * whose size places are rounded. */
#define LEY_VANISHES(pair) (LEY_ZERO_OF(pair) > 0)
#define LEY_PLACE 2e-7

/* Whether a distance is next to the cutoff: before that, what the place does is less than
 * rounding. */
LEY_TERM_FN bool ley_is_next_to_cutoff(double r_A, double a_A, double place)
{
    return r_A > (1 - 0.1 / LEY_PLACE * place) * a_A;
}

/* Other functions: whether it is the place that decides if a pair is within the cutoff. */
LEY_TERM_FN bool ley_may_not_count(double r_A, double a_A, double place)
{
    return fabs(r_A / a_A - 1) < 5 * place;
}

/* The value of a unit charge at r, 0 beyond the cutoff. */
LEY_TERM_FN double ley_vanishing_value(int pair, double r_A, double a_A)
{
    return r_A < a_A ? ley_pair_term(pair, r_A, a_A, 1, 0, 0, 0).value : 0;
}

/* By how much that changes where the distance is longer by this share of itself. Distances below
 * r_min are r_min. */
LEY_TERM_FN double ley_vanishing_change(int pair, double r_A, double a_A, double r_min_A, double share)
{
    const double there_A = r_A * (1 + share);
    return ley_vanishing_value(pair, there_A < r_min_A ? r_min_A : there_A, a_A) -
           ley_vanishing_value(pair, r_A < r_min_A ? r_min_A : r_A, a_A);
}

#endif
