/* What the meshes of a long-range sum are expected to be off by. */
#ifndef LEY_EXPECTED_ERROR_H
#define LEY_EXPECTED_ERROR_H

#include "numerics/hierarchy.h"

/* The root mean square error of the potential of a charge q at distance r, in units of q/r, over
 * all places of charge and point on the finest mesh and distances up to two cutoffs: of
 * independent charges q_j the error is that times the root of sum (q_j / r_j)^2, whatever their
 * number, since each coarser level is to twice the distance what the finer one is to the single
 * one. Of nodal windows; deterministic. */
double expected_error(const hierarchy *h);

/* The same of each component of the gradient, less that of the potential, in units of q/r per A. */
double expected_field_error(const hierarchy *h);

#endif
