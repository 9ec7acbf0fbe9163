/* Short-range sums at the points of a list. */
#ifndef LEY_CUTOFF_POINTS_H
#define LEY_CUTOFF_POINTS_H

#include "schedule/method.h"

extern const method method_cutoff_points;

/* The range is whole and checked, but for what only maps have. Errors: those of
 * ley_job_create_short_range(). */
ley_status cutoff_points_task_create(const ley_atoms *atoms, ley_points *points, const ley_short_range *range,
                                     void **made, ley_error *error);

#endif
