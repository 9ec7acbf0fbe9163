/* Jobs whose method the library chooses, as plans have them. */
#ifndef LEY_PLAN_CHOSEN_JOB_H
#define LEY_PLAN_CHOSEN_JOB_H

#include "schedule/job.h"

/* As ley_job_create_chosen(): a job that keeps what it prepares for other runs (ley_job.is_kept),
 * so that what is built counts for nothing. */
ley_status chosen_job_create_kept(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                  const ley_request *request, const ley_run_options *options, ley_job **job,
                                  ley_error *error);

#endif
