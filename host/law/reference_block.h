/* Sums of the judge at several points. */
#ifndef LEY_LAW_REFERENCE_BLOCK_H
#define LEY_LAW_REFERENCE_BLOCK_H

#include "law/reference.h"

/* reference_sum() at each of the points, to the last bit; plain sums in open space are made at many
 * of them in one pass over the atoms, which takes less than half of the time. */
void reference_sums(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values);

#endif
