/* Long-range sums of the judge at several points. */
#ifndef LEY_LAW_LONG_RANGE_BLOCK_H
#define LEY_LAW_LONG_RANGE_BLOCK_H

#include "law/law.h"

/* law_long_range.value() at each of the points, to the last bit; plain sums in open space are made
 * at many of them in one pass over the atoms, which takes less than half of the time. */
void long_range_sums(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values);

#endif
