/* Fields in plain double precision, E = -grad phi, from the derivative of each method's formula:
 * the judge of what kernels have beside potentials. */
#ifndef LEY_LAW_REFERENCE_FIELD_H
#define LEY_LAW_REFERENCE_FIELD_H

#include "law/reference.h"

/* The field at a point, along x, y and z, in the potential's unit per A. What is absolute, of each
 * component, is the sum of the whole lengths of what atoms add. Atoms nearer than r_min add
 * nothing, as the potential does not change there; where rounding decides which those are, or which
 * are within the cutoff, that is between lower and higher. Of a long-range sum what is absolute is
 * what its terms allow a component to be off by: field_per_A times the root of the sum of (q/r)^2,
 * in layers and lines also times the potential less its mean, and field_share times the root of the
 * sum of (q/r^2)^2 and the field. Of LEY_TERM_MDH not a number. */
void reference_field(const reference_terms *terms, const double point_A[3], reference_value field[3]);

/* Less the derivative of what an atom does at a distance, of a pair function, without the
 * constant. */
ley_term reference_slope_term(const reference_terms *terms, size_t atom, double r_A);

#endif
