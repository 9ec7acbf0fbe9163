/* What of a periodic sum does not change along a layer or a line: the part of Ewald's waves that
 * has no wave along what is periodic. Of unit charges, in 1/A.
 *
 * Waves are summed in a cell that is periodic along all axes: along open ones it is so long that
 * images beside each other are flat to each other, gap_A at least apart. Within that gap of the
 * charges the flat part of these waves is replaced by that of a layer, or line, alone; beyond it
 * there is nothing but that. */
#ifndef LEY_LAW_FLAT_H
#define LEY_LAW_FLAT_H

#include "leyden_status.h"
#include "numerics/cell.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct flat_part flat_part;

typedef struct flat_options {
    cell cell; /* of one or two dimensions */
    double kappa_per_A, beta_per_A, gap_A;
    double low_A[3], high_A[3]; /* of the charges' components along open axes */
    size_t n;
    const double *position_A, *charge_e; /* they must outlive it */
} flat_options;

/* Errors: LEY_ERROR_MEMORY. */
ley_status flat_create(const flat_options *options, flat_part **made, ley_error *error);
void flat_destroy(flat_part *f); /* may be NULL */

/* Whether a point is so far from all charges that there is nothing else. */
bool flat_is_all(const flat_part *f, const double point_A[3]);

/* Of a layer within the gap: less what the raised cell's waves bring of it, whose mean, of zero
 * index, the caller does not add. */
double flat_at(const flat_part *f, const double point_A[3]);

/* Adds less its gradient. */
void flat_add_field(const flat_part *f, const double point_A[3], double field[3]);

#endif
