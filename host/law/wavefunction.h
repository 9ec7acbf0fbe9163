/* Orbitals and densities at a point, in plain double precision, from the formulas of
 * leyden_wavefunction.h: the judge of the kernels. */
#ifndef LEY_LAW_WAVEFUNCTION_H
#define LEY_LAW_WAVEFUNCTION_H

#include "law/quantity.h"

/* Its row for verification; what is absolute are the sums of the magnitudes of all functions. */
extern const law law_wavefunction;

/* The value at a point, bohr. */
reference_value wavefunction_value(const wavefunction_quantity *q, const double point_bohr[3]);

#endif
