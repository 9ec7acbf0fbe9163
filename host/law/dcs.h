/* Direct Coulomb summation. */
#ifndef LEY_LAW_DCS_H
#define LEY_LAW_DCS_H

#include "law/law.h"

extern const law law_dcs;

/* Direct Coulomb summation at one point: phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C as in
 * ley_coulomb_constant(). */
reference_value reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A);

#endif
