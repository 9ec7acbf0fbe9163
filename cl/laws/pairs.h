/* Pairs within a cutoff a, of atoms and all their images: a function of pair_table.h at max(r,
 * r_min). */
#ifndef LEY_LAWS_PAIRS_H
#define LEY_LAWS_PAIRS_H

#include "terms.h"

#define LEY_LAW_PAIRS 4

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

/* ---- On a device -----------------------------------------------------------------------------
 *
 * LEY_LAW_PAIR: the function's number. numbers: {r_min, a, kappa or steepness, place}. */
#if LEY_LAW == LEY_LAW_PAIRS

#define LEY_LAW_HAS_MORE LEY_IS_ENERGY(LEY_BRINGS_OF(LEY_LAW_PAIR))

LEY_FN void add_change(reference_sum *sum, double change)
{
    if (change < 0)
        sum->lower += change;
    else
        sum->higher += change;
}

LEY_FN void add_pair(reference_sum *sum, atom a, double R, double eps, double r, atom numbers)
{
    const bool counts = r < numbers.y;
    bool may_not = false; /* not const: clang takes it for a mistake where it is known beforehand */
    if (!LEY_VANISHES(LEY_LAW_PAIR))
        may_not = ley_may_not_count(r, numbers.y, numbers.w);
    if (LEY_VANISHES(LEY_LAW_PAIR) && ley_is_next_to_cutoff(r, numbers.y, numbers.w)) {
        add_change(sum, a.w * ley_vanishing_change(LEY_LAW_PAIR, r, numbers.y, numbers.x, numbers.w));
        add_change(sum, a.w * ley_vanishing_change(LEY_LAW_PAIR, r, numbers.y, numbers.x, -numbers.w));
    }
    if (!counts && !may_not)
        return;
    const double safe = r < numbers.x ? numbers.x : r;
    const ley_term term = ley_pair_term(LEY_LAW_PAIR, safe, numbers.y, a.w, R, eps, numbers.z);
    sum->absolute += term.absolute;
    if (counts)
        sum->value += term.value;
    if (may_not)
        add_change(sum, counts ? -term.value : term.value);
}

/* The atom and its images in reach. gm_cell, for each axis i: {vector i, -}, {dual vector i, how
 * many times the vector reaches; negative: not periodic along it}. */
LEY_FN void law_add(reference_sum *sum, atom a, double R, double eps, atom point, LEY_GLOBAL const atom *gm_cell,
                     atom numbers)
{
    const double dx = point.x - a.x, dy = point.y - a.y, dz = point.z - a.z;
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const atom dual = gm_cell[2 * i + 1];
        const double at = dual.x * dx + dual.y * dy + dual.z * dz, width = fabs(dual.w) + 1e-9 * fabs(at);
        low[i] = dual.w > 0 ? ceil(at - width) : 0;
        /* Not -1, which compilers make of one bit: Oclgrind 21.10 takes that for 1. */
        high[i] = dual.w > 0 ? floor(at + width) : fabs(at) > width ? -1.0 : 0.0;
        if (low[i] > high[i])
            return;
    }
    const atom u = gm_cell[0], v = gm_cell[2], w = gm_cell[4];
    for (double i = low[0]; i <= high[0]; i++)
        for (double k = low[1]; k <= high[1]; k++)
            for (double l = low[2]; l <= high[2]; l++) {
                const double x = dx - (i * u.x + k * v.x + l * w.x), y = dy - (i * u.y + k * v.y + l * w.y),
                             z = dz - (i * u.z + k * v.z + l * w.z);
                add_pair(sum, a, R, eps, sqrt(x * x + y * y + z * z), numbers);
            }
}

#endif

#endif
