/* Direct Coulomb summation: q / max(r, r_min). */
#ifndef LEY_LAWS_DCS_H
#define LEY_LAWS_DCS_H

#include "terms.h"

#define LEY_LAW_DCS 1

LEY_TERM_FN ley_term ley_dcs_term(double q_e, double r_A, double r_min_A)
{
    return ley_single_term(q_e / (r_A < r_min_A ? r_min_A : r_A));
}

/* numbers: {r_min}. */
#if LEY_LAW == LEY_LAW_DCS
#define LEY_LAW_TERM(q_e, r_A, R_A, eps, numbers) ley_dcs_term(q_e, r_A, (numbers).x)
#endif

#endif
