/* Work in a row, dealt to workers in their order, so that the one that takes longest is done as
 * soon as it can be. */
#ifndef LEY_CORE_DEAL_H
#define LEY_CORE_DEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces first[w] to first[w + 1] - 1 are for worker w of [workers], who takes weight / speed for
 * each, and none where his speed is 0; [workers + 1]. Not all speeds are 0. */
void deal_in_rows(const double *weight, int64_t pieces, const double *speed, size_t workers, int64_t *first);

/* Speeds within a quarter of each other become 1, and so do all but those of 0 where one is not a
 * number, as nobody knows it; false: all are 0. */
bool deal_compare_speeds(double *speed, size_t workers);

#endif
