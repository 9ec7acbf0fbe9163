/* A long-range sum of the judge at several points, or the field of several atoms. */
#ifndef LEY_LAW_LONG_RANGE_BLOCK_H
#define LEY_LAW_LONG_RANGE_BLOCK_H

#include "law/law.h"

/* Points of a block, and how many it takes to be faster than one by one. */
enum { LONG_RANGE_BLOCK = 16, LONG_RANGE_FEWEST = 3 };

/* Plain sums in open space, without screening, images and exclusions, at up to LONG_RANGE_BLOCK
 * points in one pass over the atoms: law_long_range.value() to the last bit, in less than half of
 * the time. */
void long_range_block(const reference_terms *terms, size_t count, const double (*point_A)[3], reference_value *values);

/* What a stretch of LONG_RANGE_BLOCK atoms adds to a field at a point, lane by lane: along x, y and
 * z, (q/r)^2 and (q/r^2)^2, all without the constant. */
typedef struct long_range_lanes {
    double field[3][LONG_RANGE_BLOCK], squares[LONG_RANGE_BLOCK], field_squares[LONG_RANGE_BLOCK];
} long_range_lanes;

/* Adds them, of plain sums as above; false, and nothing is added: one of the atoms is nearer than
 * this. */
bool long_range_add_lanes(const double *position_A, const double *charge_e, const double point_A[3], double least_A,
                          long_range_lanes *sum);

#endif
