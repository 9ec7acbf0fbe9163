/* Parts of a job's run that its forecast has, too. */
#ifndef LEY_RUN_JOB_RUN_H
#define LEY_RUN_JOB_RUN_H

#include "run/job.h"

/* Takes what the plan that was given says of the job as a whole. */
void job_begin_plan(ley_job *job);

/* What the method may look at, of the devices in use now; and its end. */
ley_status job_take_view(ley_job *job, ley_error *error);
void job_end_view(ley_job *job);

/* Has the method plan and prepare, which says what stages are wanted. */
ley_status job_prepare(ley_job *job, ley_error *error);

/* Puts what was decided into the report. */
void job_put_decisions(ley_job *job);

#endif
