/* The sums of an average, to which devices add. */
#ifndef LEY_AVERAGE_SUMS_H
#define LEY_AVERAGE_SUMS_H

#include "average/state.h"

/* The block that a frame is of, and the first frame behind it; 0, and none, without blocks. */
int64_t sums_block(const average_problem *p, int64_t frame);
int64_t sums_block_end(const average_problem *p, int64_t frame);

/* Adds the density of so many frames of a block; or, of frames that do not count for good, makes it
 * what is extra. */
ley_status sums_add(ley_average *a, int64_t block, int64_t frames, const int64_t *part, ley_error *error);
ley_status sums_set_extra(ley_average *a, int64_t first, int64_t frames, const int64_t *part, ley_error *error);

/* The density of all frames, those that are extra among them, in quanta; [nodes], and how many they
 * are. */
ley_status sums_density(ley_average *a, double *value, int64_t *frames, ley_error *error);

void sums_destroy(ley_average *a);

#endif
