/* Points in an order in which neighbours in the list are neighbours in space. */
#ifndef LEY_SPACE_ORDER_H
#define LEY_SPACE_ORDER_H

#include "leyden.h"

/* Fills order[0 .. n - 1] with the points' indices along Hilbert's curve through their bounding
 * box. The sequence of positions depends on the positions alone, not on how they were ordered. */
ley_status space_order(const double *point_A, size_t n, int32_t *order, ley_error *error);

#endif
