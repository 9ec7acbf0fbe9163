/* Long-range potentials at the points of a list. */
#ifndef LEY_LONG_RANGE_POINTS_H
#define LEY_LONG_RANGE_POINTS_H

#include "schedule/method.h"

extern const method method_msm_points;

/* The range is whole. Errors: those of ley_job_create_long_range(). */
ley_status msm_points_task_create(ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                  const ley_long_range *range, const ley_run_options *options, void **made,
                                  ley_error *error);

#endif
