/* A sum of squares: q^2 of each atom, wherever it is. */
#ifndef LEY_LAWS_SQUARES_H
#define LEY_LAWS_SQUARES_H

#include "terms.h"

#define LEY_LAW_SQUARES 100

LEY_TERM_FN ley_term ley_squares_term(double q_e)
{
    return ley_single_term(q_e * q_e);
}

#if LEY_LAW == LEY_LAW_SQUARES
#define LEY_LAW_TERM(q_e, r_A, R_A, eps, numbers) ley_squares_term(q_e)
#endif

#endif
