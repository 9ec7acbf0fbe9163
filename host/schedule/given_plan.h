/* A plan that a caller gives, checked before anything begins. */
#ifndef LEY_SCHEDULE_GIVEN_PLAN_H
#define LEY_SCHEDULE_GIVEN_PLAN_H

#include "schedule/method.h"

/* A plan for a job of this method with these options: each decision is one that there is, once,
 * with a value in range, and none says otherwise than the options. `*made` is NULL where none is
 * given. Errors: LEY_ERROR_USAGE, with LEY_CAUSE_PLAN; LEY_ERROR_MEMORY. */
ley_status plan_take(const ley_run_options *options, const method *method, job_plan **made, ley_error *error);

#endif
