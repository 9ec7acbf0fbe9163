/* Area and volume of a surface. */
#ifndef LEY_SURFACE_MEASURE_H
#define LEY_SURFACE_MEASURE_H

#include "surface/triangles.h"

/* Of `count` of its triangles, 1 at least, from `first` on, what ley_surface_area_A2() and
 * ley_surface_volume_A3() are. Errors: LEY_ERROR_MEMORY; LEY_CANCELLED. */
ley_status surface_measure(const ley_surface *surface, int64_t first, int64_t count, double *area_A2, double *volume_A3,
                           const volatile bool *cancel, ley_error *error);

#endif
