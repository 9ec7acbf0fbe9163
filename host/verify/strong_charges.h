/* Points of a map next to charges that are far larger than the others. What sums are off by there
 * may be most of a map's error, and where such charges cancel, values do not show it: they look
 * like any others. So these points are strata of their own (stratified_sample.h). */
#ifndef LEY_VERIFY_STRONG_CHARGES_H
#define LEY_VERIFY_STRONG_CHARGES_H

#include "leyden.h"
#include "numerics/cell.h"

#include <stddef.h>
#include <stdint.h>

/* Shells of points around such a charge: as many steps of the grid away from it, along the axis
 * along which they are farthest. */
enum { STRONG_SHELLS = 3 };

/* A point's number among the map's values, and its shell, 0 being the nearest one. */
typedef struct strong_point {
    int64_t number;
    int shell;
} strong_point;

/* Points in ascending order, each once, from malloc; `periods` (or NULL) have the images that
 * count, too. Errors: LEY_ERROR_MEMORY. */
ley_status strong_charges_find(const ley_atoms *atoms, const ley_grid *grid, const cell *periods, strong_point **points,
                               size_t *count, ley_error *error);

#endif
