/* What is known of the values in each brick of a map, while ions are added: bounds. */
#ifndef LEY_IONS_BOUNDS_H
#define LEY_IONS_BOUNDS_H

#include "ions/bricks.h"

enum { BOUNDS_BLOCK = 64 };

/* Of bricks that have nodes: corners, A from the origin; least and largest value, as they were when
 * they were set, and what ions since then may have changed these by at least and at most; a bound
 * of the charge at hand, and the least of each block of bricks. All are floats, so that loops over
 * all bricks are vectors. */
typedef struct brick_bounds {
    const ions_grid *g;
    int64_t count, room; /* room: whole blocks; what fills the last one has no nodes */
    int32_t *brick;      /* [count]: their numbers, rising */
    int32_t *place;      /* of each brick of the grid, in these arrays; -1: it has no nodes */
    float *low[3], *high[3], *least, *most, *least_change, *most_change, *bound, *of_block;
} brick_bounds;

/* Of the bricks [count], whose numbers rise. False: there is no memory. */
bool bounds_create(const ions_grid *g, size_t count, const int32_t *bricks, brick_bounds *made);
void bounds_free(brick_bounds *b);

/* A brick's values as they are now; if it has lost all nodes, infinities. Bricks that never had any
 * are ignored. */
void bounds_set(brick_bounds *b, int32_t brick, float least, float most);

/* An ion is added: C times its charge, and its place from the origin. */
void bounds_widen(brick_bounds *b, double strength, const double place_A[3]);

/* An ion is added, and nobody knows what it changes: all is to be looked at again. */
void bounds_forget(brick_bounds *b);

/* Of all bricks, a potential that no node is below, of the sign of the charge. */
void bounds_find(brick_bounds *b, double charge_e);

/* The bricks with the least bounds, no more than `most`; and all with bounds up to `limit`, in
 * their order; those without nodes are never among them. How many there are. */
size_t bounds_first(const brick_bounds *b, size_t most, int32_t *chosen);
size_t bounds_up_to(const brick_bounds *b, double limit, int32_t *chosen);

/* The least bound above `limit`; infinite: there is none. */
double bounds_above(const brick_bounds *b, double limit);

#endif
