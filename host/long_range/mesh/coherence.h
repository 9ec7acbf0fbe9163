/* Charges that have the same nodes of a mesh. */
#ifndef LEY_LONG_RANGE_MESH_COHERENCE_H
#define LEY_LONG_RANGE_MESH_COHERENCE_H

#include "leyden.h"
#include "numerics/hierarchy.h"

#include <stdatomic.h>

/* By how much more the mesh's errors of these charges add up than those of independent ones:
 * charges with the same nodes are off alike. The root of the sum of their squared sums over that of
 * their squares; the root of n for n equal charges between the same nodes, at least 1. The same
 * bytes on any number of cores. Errors: LEY_ERROR_MEMORY, LEY_CANCELLED soon after *cancelled (may
 * be NULL) turns true. */
ley_status coherence_find(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                          const atomic_bool *cancelled, double *coherence, ley_error *error);

#endif
