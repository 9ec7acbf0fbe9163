/* Which pairs of pair_energies.cl do not count: excluded ones, and particles with themselves. */
#ifndef LEY_ENERGY_MARKS_H
#define LEY_ENERGY_MARKS_H

#include "energy/problem.h"

typedef struct energy_marks {
    size_t blocks, count; /* of particles side by side; tiles of others with which one of them has marks */
    size_t words;         /* of a tile's mask */
    int32_t *first;       /* [blocks + 1]: a block's first tile */
    int32_t *tile;        /* [count]: its number, ascending in a block */
    int32_t *mask;        /* [count][words] */
} energy_marks;

/* Blocks of so many particles; tiles of `others` of them: 1, of which a mask has a bit for each
 * particle of the block; or 32, of which it has a word for each, with a bit for each other one.
 * energy_marks_destroy() ends it also on failure. Errors: LEY_ERROR_MEMORY. */
ley_status energy_marks_make(energy_marks *made, const energy_problem *problem, int block, int others,
                             ley_error *error);
void energy_marks_destroy(energy_marks *marks);

#endif
