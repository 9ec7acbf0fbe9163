/* Jobs by the host alone: in double precision on its threads, by the reference of law/reference.h,
 * where that is asked for, or sooner than opening a device and building kernels. No driver is
 * loaded for it. */
#ifndef LEY_PLAN_HOST_JOB_H
#define LEY_PLAN_HOST_JOB_H

#include "schedule/host_sum.h"
#include "schedule/job.h"

/* In place of a run by devices. Errors: LEY_CANCELLED, LEY_ERROR_WRONG_RESULT where the values are
 * not those of law/second.h. */
ley_status host_job_run(ley_job *job, ley_error *error);

/* Its plan, into the report. Once. */
void host_job_put_decisions(ley_job *job);

#endif
