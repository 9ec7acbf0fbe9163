/* Debye-Hueckel sums, whose values are in kT/e. */
#ifndef LEY_LAW_MDH_H
#define LEY_LAW_MDH_H

#include "law/law.h"

extern const law law_mdh;

/* Multiple Debye-Hueckel at one point, in kT/e: phi(r) = C/eps_s sum_j q_j/d_j exp(-kappa (d_j -
 * R_j)) / (1 + kappa R_j), without the screening where kappa < 1e-9/A. Infinite on an atom with a
 * charge; an atom without one counts for nothing, wherever it is. */
reference_value reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

#endif
