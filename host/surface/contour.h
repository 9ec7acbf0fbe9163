/* Where a map has a value: vertices on the lines between neighbouring points, and triangles. */
#ifndef LEY_SURFACE_CONTOUR_H
#define LEY_SURFACE_CONTOUR_H

#include "surface/triangles.h"

typedef struct contour {
    const ley_map *map; /* in memory; numbers all */
    float level;
    bool is_below;     /* inside is what is below the level; else above */
    double logarithms; /* above 0: between points the values' logarithms are interpolated, and values below this are
                          none; 0: the values are */
    const volatile bool *cancel; /* or NULL */
} contour;

/* Adds the contour to a surface. Errors: LEY_ERROR_MEMORY; LEY_CANCELLED soon after `cancel` became
 * true; LEY_ERROR_INPUT when there would be more vertices or triangles than numbers for them. */
ley_status contour_add(const contour *of, ley_surface *surface, ley_error *error);

#endif
