/* Positions as kernels have them: a grid cell and an offset within it. */
#ifndef LEY_CELLS_H
#define LEY_CELLS_H

#include "leyden.h"

#include <math.h>

/* The cell nearest to what lies from_A from the grid's origin along an axis; what is far outside
 * gets the outermost one that leaves differences of cells within 32 bits. */
static inline double cells_nearest(double from_A, double spacing_A)
{
    const double farthest = LEY_MAX_EXTENT - 1;
    return fmin(fmax(rint(from_A / spacing_A), -farthest), farthest);
}

#endif
