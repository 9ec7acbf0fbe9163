/* Every method in plain double precision, written from its formula and nothing else: the judge of the kernels. */
#ifndef LEY_REFERENCE_H
#define LEY_REFERENCE_H

#include "expression.h"
#include "leyden.h"

/* Direct Coulomb summation at one point: phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C as in ley_coulomb_constant(). */
double reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A);

/* Multiple Debye-Hueckel at one point, in kT/e: phi(r) = C/eps_s sum_j q_j/d_j exp(-kappa (d_j - R_j)) / (1 + kappa
 * R_j), without the screening where kappa < 1e-9/A. Infinite on an atom with a charge; an atom without one counts for
 * nothing, wherever it is. */
double reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

/* Single Debye-Hueckel at one point, in kT/e: charge, dipole and quadrupole about the centre of the atoms' bounding
 * box, of a sphere of radius max |r_j - c| + R_j. Not finite at the centre. Source: the Debye-Hueckel field of a
 * sphere's multipoles, as APBS has it. */
double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

/* A short-range sum at one point: phi(r) = constant sum q_j f(max(d, r_min)) over all atoms and all their images at distances d < a; `e` is
 * the expression where there is one. *slack: how much lower (<= 0) and higher (>= 0) the sum may be, for pairs within 1e-6 a of the cutoff
 * may count or not; 0 and 0 for functions that vanish there. Not a number when the cell is degenerate. */
double reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e, const double point_A[3],
                             double constant, double r_min_A, double slack[2]);

#endif
