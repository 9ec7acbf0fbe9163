/* Every method in plain double precision, written from its formula and nothing else: the judge of the kernels. */
#ifndef LEY_REFERENCE_H
#define LEY_REFERENCE_H

#include "leyden.h"

/* Direct Coulomb summation at one point: phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C as in ley_coulomb_constant(). */
double reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A);

#endif
