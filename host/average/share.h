/* Averages that processes share: what they add up together, at their first frame and at the
 * end. */
#ifndef LEY_AVERAGE_SHARE_H
#define LEY_AVERAGE_SHARE_H

#include "average/state.h"

/* The atoms that this rank looks at, of what all look at together: from the first one on. */
size_t share_atoms(const ley_average_ranks *ranks, size_t atoms, size_t *first);

/* The sums of all ranks, of each number: of integers modulo 2^64, for rank `to`, or for all where
 * it is SHARE_ALL; of doubles, in the order of ranks, for all. */
enum { SHARE_ALL = -1 };
ley_status share_words(const ley_average_ranks *ranks, int64_t *word, size_t count, int to, ley_error *error);
ley_status share_doubles(const ley_average_ranks *ranks, double *value, size_t count, ley_error *error);

/* What is known of all frames becomes that of each rank. Sums have all frames, and none is to
 * come. */
ley_status share_all(ley_average *a, ley_error *error);

#endif
