/* Which charges, or images of them, are near a point: they lie in bins, those of a bin, and of bins
 * along the cell's first vector, one after the other. */
#ifndef LEY_LAW_NEIGHBOURS_H
#define LEY_LAW_NEIGHBOURS_H

#include "leyden_status.h"
#include "numerics/cell.h"

#include <stddef.h>

typedef struct neighbours {
    cell cell;
    size_t n, capacity;
    double *place_A[3], *charge_e; /* [capacity]: within the cell, by bins; beyond n they are 0 */
    int64_t bins[3];
    size_t *first;                     /* [bins + 1] */
    double low[3], width[3], radius_A; /* in components of the cell; of a bin */
} neighbours;

/* Components of the charges' extent: from 0 to 1 where the cell is periodic. */
void neighbours_extent(const cell *c, size_t n, const double *position_A, double low[3], double width[3]);

/* With bins about as long as least_A, or as hold a few charges each. On all cores. Errors:
 * LEY_ERROR_MEMORY, when there is nothing to clear. */
ley_status neighbours_make(const cell *c, size_t n, const double *position_A, const double *charge_e, double least_A,
                           neighbours *made, ley_error *error);
void neighbours_clear(neighbours *n);

/* Calls visit for stretches of charges, seen from `from_A`: those that are within reach of the
 * point, and some that are not. */
typedef void neighbours_visit(void *context, size_t first, size_t last, const double from_A[3]);
void neighbours_near(const neighbours *n, const double point_A[3], double reach_A, neighbours_visit *visit,
                     void *context);

#endif
