/* Charges in open space or with all their images, of a sum that is computed on meshes: q /
 * max(r, r_min) exp(-kappa max(r, r_min)). A device sums them in open space. */
#ifndef LEY_LAWS_LONG_RANGE_H
#define LEY_LAWS_LONG_RANGE_H

#include "laws/dcs.h"
#include "terms.h"

#define LEY_LAW_LONG_RANGE 3

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

/* numbers: {r_min, share of meshes, kappa, place in A}. */
#if LEY_LAW == LEY_LAW_LONG_RANGE
LEY_FN ley_term long_range_term(double q_e, double r_A, atom numbers)
{
    ley_long_range_shares shares;
    shares.mesh = numbers.y;
    shares.place_A = numbers.w;
    return ley_long_range_term(q_e, r_A, numbers.x, numbers.z, shares);
}
#define LEY_LAW_TERM(q_e, r_A, R_A, eps, numbers) long_range_term(q_e, r_A, numbers)
#endif

#endif
