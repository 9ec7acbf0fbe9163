/* The finest levels of a rank that has some of their planes, and the others, which each rank has
 * whole: between these two are charges and potentials of one level, as rows (mesh_rows.h). */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LOCAL_LEVELS_H
#define LEY_LONG_RANGE_MULTILEVEL_LOCAL_LEVELS_H

#include "long_range/mesh/spread.h"
#include "numerics/hierarchy.h"

typedef struct local_levels {
    int count;       /* of levels that are local; 0: none, and nothing else is set but `upper`, which is all of it */
    hierarchy lower; /* HIERARCHY_LOWER, up to the first one of: */
    hierarchy upper;
    hierarchy_planes charges; /* of level 0: atoms that have a share in these are needed */
} local_levels;

/* From the charges of atoms to the layers `own` of level `count`, and from its potentials to those
 * of the planes `wanted` of level 0. False: it takes as much as the whole. */
bool local_levels_make(const hierarchy *h, int count, hierarchy_planes wanted, spread_layers own, local_levels *made);

/* Layers of level `count` as the lower levels number them. */
spread_layers local_levels_layers(const local_levels *l, spread_layers of_upper);

/* How many numbers rows of that level are, of the lower levels' planes and of all; and the former
 * from the latter. */
size_t local_levels_lower_numbers(const local_levels *l);
size_t local_levels_upper_numbers(const local_levels *l);
void local_levels_take(const local_levels *l, const float *upper, float *lower);

#endif
