/* Numbers on a plane, before they become a picture. */
#ifndef LEYDEN_FIELD_H
#define LEYDEN_FIELD_H

#include <stdbool.h>
#include <stdint.h>

/* A plane of values, x fastest: values[row * columns + column]. It reaches from its first points to
 * its last ones; a direction with a single point counts as one cell around it. */
typedef struct plane_field {
    int64_t columns, rows;
    float *values;
} plane_field;

/* The same plane as a raster of columns x rows cells: linear interpolation where there are more
 * cells than points, the mean of the points in a cell where there are fewer. The caller frees
 * `values`. */
plane_field field_rasterize(const plane_field *from, int64_t columns, int64_t rows);

/* What `share` (0 to 1) of the finite values do not exceed in absolute value; 0 when there are
 * none. */
double field_percentile(const plane_field *field, double share);

void field_bounds(const plane_field *field, double *low, double *high); /* of finite values; 0, 0 when there are none */

/* Gives the pieces of the line where the field has this value. Coordinates are columns and rows. */
void field_contour(const plane_field *field, double level,
                   void (*piece)(void *context, double x0, double y0, double x1, double y1), void *context);

#endif
