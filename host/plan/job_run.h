/* Parts of a job's run that its forecast has, too. */
#ifndef LEY_PLAN_JOB_RUN_H
#define LEY_PLAN_JOB_RUN_H

#include "schedule/job.h"

/* Prepares, computes and measures the job's task as its options say; before that, where it is not
 * the first one that the job does, nothing of it may be done (job_begin_again()). */
ley_status job_run_task(ley_job *job, ley_error *error);
void job_begin_again(ley_job *job);

/* Takes what the plan that was given says of the job as a whole. */
void job_begin_plan(ley_job *job);

/* What the method may look at, of the devices in use now; and its end. */
ley_status job_take_view(ley_job *job, ley_error *error);
void job_end_view(ley_job *job);

/* Has the method plan and prepare, which says what stages are wanted. */
ley_status job_prepare(ley_job *job, ley_error *error);

/* Puts what was decided into the report; and who did what, once all is done. */
void job_put_decisions(ley_job *job);
void job_complete_report(ley_job *job);

/* Of a job that keeps what is prepared (ley_job.is_kept), once it has run: whether it can run
 * again, for sources whose numbers have changed in place; that run, which nobody verifies, and
 * whose report is that of the first one but for times, slabs and failures; and the end of what is
 * kept, which comes before the job's own. After a run again that failed nothing is kept. Errors:
 * those of method.renew and of schedule_run_again(). */
bool job_is_kept(const ley_job *job);
ley_status job_run_again(ley_job *job, ley_error *error);
void job_leave(ley_job *job);

#endif
