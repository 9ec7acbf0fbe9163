/* Points that exclude atoms, of short-range sums: made on the host in double precision, so that
 * what is left of the sum has the digits of its own terms. */
#ifndef LEY_CUTOFF_EXCLUDED_H
#define LEY_CUTOFF_EXCLUDED_H

#include "methods/cutoff/point_stages.h"

/* Sets the values, and the field, of points [first, first + count) of the task's list that exclude
 * atoms: the sum over pairs without the nearest images of these, less what an addition brings of
 * them. The bins have the numbers of their atoms. */
void cutoff_points_exclude(const cutoff_points_task *task, slab piece);

#endif
