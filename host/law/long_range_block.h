/* A long-range sum of the judge at several points. */
#ifndef LEY_LAW_LONG_RANGE_BLOCK_H
#define LEY_LAW_LONG_RANGE_BLOCK_H

#include "law/law.h"

/* Points of a block, and how many it takes to be faster than one by one. */
enum { LONG_RANGE_BLOCK = 16, LONG_RANGE_FEWEST = 3 };

/* Plain sums in open space, without screening, images and exclusions, at up to LONG_RANGE_BLOCK
 * points in one pass over the atoms: law_long_range.value() to the last bit, in less than half of
 * the time. */
void long_range_block(const reference_terms *terms, size_t count, const double (*point_A)[3], reference_value *values);

#endif
