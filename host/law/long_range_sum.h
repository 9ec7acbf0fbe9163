/* Charges in open space or with all their images, q/max(r, r_min) exp(-kappa max(r, r_min)), of a
 * sum that is computed on meshes and is off as these are. */
#ifndef LEY_LAW_LONG_RANGE_SUM_H
#define LEY_LAW_LONG_RANGE_SUM_H

#include "law/law.h"

extern const law law_long_range;

/* Its `values`: plain sums in open space are made at many points in one pass over the atoms, which
 * takes less than half of the time. */
void long_range_sums(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values);

#endif
