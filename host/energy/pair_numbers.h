/* The numbers of the formulas of cl/pair_terms.h. */
#ifndef LEY_ENERGY_PAIR_NUMBERS_H
#define LEY_ENERGY_PAIR_NUMBERS_H

#include "leyden.h"

enum { PAIR_NUMBERS = 16 };

typedef struct pair_numbers {
    double n[PAIR_NUMBERS];           /* as cl/pair_terms.h has them */
    double series[PAIR_NUMBERS];      /* erf(alpha r) / r by powers of u = 2 r^2 / c^2 - 1; 0 without Ewald's sum */
    double series_error, slope_error; /* largest ones within the cutoff: of erf(alpha r) / r, and of its slope, -d/dr
                                         / r, as shares of alpha and alpha^3 */
} pair_numbers;

/* Options are complete and checked. `alpha_per_A`: of Ewald's sum; 0: there is none. */
void pair_numbers_make(const ley_energy_options *options, double alpha_per_A, pair_numbers *made);

#endif
