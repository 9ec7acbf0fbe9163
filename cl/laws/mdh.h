/* Multiple Debye-Hueckel: q/d exp(-kappa (d - R)) / (1 + kappa R), without screening where kappa
 * < 1e-9/A. An atom without a charge adds nothing, wherever it is. */
#ifndef LEY_LAWS_MDH_H
#define LEY_LAWS_MDH_H

#include "terms.h"

#define LEY_LAW_MDH 2

LEY_TERM_FN ley_term ley_mdh_term(double q_e, double d_A, double radius_A, double kappa_per_A)
{
    if (q_e == 0)
        return ley_single_term(0);
    if (kappa_per_A < 1e-9)
        return ley_single_term(q_e / d_A);
    return ley_single_term(q_e / d_A * exp(-kappa_per_A * (d_A - radius_A)) / (1 + kappa_per_A * radius_A));
}

/* numbers: {kappa}. */
#if LEY_LAW == LEY_LAW_MDH
#define LEY_LAW_HAS_MORE 1
#define LEY_LAW_TERM(q_e, r_A, R_A, eps, numbers) ley_mdh_term(q_e, r_A, R_A, (numbers).x)
#endif

#endif
