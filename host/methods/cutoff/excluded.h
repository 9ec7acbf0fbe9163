/* Points that exclude atoms, of short-range sums: made on the host in double precision, so that
 * what is left of the sum has the digits of its own terms. */
#ifndef LEY_CUTOFF_EXCLUDED_H
#define LEY_CUTOFF_EXCLUDED_H

#include "methods/cutoff/point_list.h"
#include "target/points.h"

/* What is added to short-range sums, of a unit charge at this way from it: the value and minus the
 * gradient, without the constant. */
typedef void cutoff_of_charge(const void *task, const double way_A[3], double *value, double field[3]);

/* Sets the values, and the field, of points [first, first + count) of a list that exclude atoms:
 * the sum over pairs without the nearest images of these, less what an addition brings of them,
 * where of_charge is not NULL. The bins have the numbers of their atoms. */
void cutoff_points_exclude(const cutoff_problem *problem, const point_list *list, ley_points *points,
                           cutoff_of_charge *of_charge, const void *task, int64_t first, int64_t count);

#endif
