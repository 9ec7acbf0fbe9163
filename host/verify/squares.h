/* Points of a map that are drawn by the squares of its values. A few large values, such as those
 * next to charges, may have most of a map's mean square and of its error; points that are drawn
 * alike miss them, or have too many. So half of the points that the seed decides are drawn by
 * squares, and each point counts by how often it would be drawn in all. Of four close charges 1,000
 * such points say 0.95 to 1.13 times the map's error, where points drawn alike said 0.49 to 2.8
 * times it. */
#ifndef LEY_VERIFY_SQUARES_H
#define LEY_VERIFY_SQUARES_H

#include "leyden.h"

/* Draws n values' numbers, each with a chance of its square's share of *all, the sum of all
 * squares; the same ones for one state of *random. *all is 0, and nothing is drawn, where the map
 * does not know them (target/map.h). Errors: LEY_ERROR_MEMORY. */
ley_status squares_draw(const ley_map *map, size_t n, uint64_t *random, int64_t *drawn, double *all, ley_error *error);

#endif
