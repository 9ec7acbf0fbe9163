/* Where the values of contours stand: upon their lines. */
#ifndef LEYDEN_CONTOURS_H
#define LEYDEN_CONTOURS_H

#include "field.h"

#include <stddef.h>

/* A label's middle, in cells from the raster's lower left corner; its angle against the clock, so
 * that it can be read: above -pi/2, at most pi/2; and how much room it takes along its line. */
typedef struct contour_label {
    double x, y, angle, width;
    size_t level; /* which one */
} contour_label;

typedef struct contour_level {
    double value, width; /* of the label */
} contour_level;

/* Places labels of this height for levels in rising order, where lines are straight enough and no
 * other one is in the way; a line far from all places of its level's labels gets another one. A
 * level that has no such place gets the best one there is, or none where its lines are too short.
 * From malloc; `count`: how many. */
contour_label *contours_place(const plane_field *cells, const contour_level *levels, size_t level_count, double height,
                              size_t *count);

#endif
