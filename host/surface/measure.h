/* Area and volume of a surface. */
#ifndef LEY_SURFACE_MEASURE_H
#define LEY_SURFACE_MEASURE_H

#include "surface/triangles.h"

/* Of a surface with triangles. Errors: LEY_ERROR_MEMORY. */
ley_status surface_measure(ley_surface *surface, const volatile bool *cancel, ley_error *error);

#endif
