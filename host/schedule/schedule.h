/* The scheduler: a job's slabs over the engine's devices. */
#ifndef LEY_SCHEDULE_SCHEDULE_H
#define LEY_SCHEDULE_SCHEDULE_H

#include "schedule/job.h"

/* Runs the job on all the engine's devices until no plane is left, no device is left, or it is
 * cancelled. Failures of single devices go into their records. */
ley_status schedule_run(ley_job *job, ley_error *error);

/* Of a job whose devices have kept what they made, and whose task was renewed: the same once more,
 * by the devices that have. Only after a run that was LEY_OK. */
ley_status schedule_run_again(ley_job *job, ley_error *error);

/* Frees what devices have kept. */
void schedule_end(ley_job *job);

#endif
