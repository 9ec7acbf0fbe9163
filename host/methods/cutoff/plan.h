/* Who does what in a short-range job, by predicted cost; and the host threads that sum the overflow
 * beside the devices. */
#ifndef LEY_CUTOFF_PLAN_H
#define LEY_CUTOFF_PLAN_H

#include "methods/cutoff/kernel.h"
#include "run/job.h"

/* What all devices take of a kernel. */
cutoff_wish cutoff_wish_of(const ley_job *job, int store);

/* Where atoms are put into bins: on each device where that is wished or predicted to be done
 * sooner, unless no device can, or host threads shall sum the overflow, of which only the host's
 * bins tell. */
ley_place cutoff_plan_binning(const ley_job *job, const cutoff_problem *problem);

/* Decides where the overflow is summed and where maps are brought into rows, as the options say or
 * where it is predicted to be done sooner; notes it, and what it was decided by, in the job's
 * report. `pairs`: within the cutoff, of the whole job. Without bins yet, devices sum the overflow. */
void cutoff_plan(ley_job *job, const cutoff_problem *problem, double pairs);

/* Threads that sum the overflow into a map of its own. */
typedef struct overflow_team overflow_team;

ley_status overflow_team_start(ley_job *job, const cutoff_problem *problem, overflow_team **team, ley_error *error);

/* Waits for them, and says when they were done (ley_clock_s()). */
void overflow_team_wait(overflow_team *team, double *done_s);

/* Adds planes [first, end) of their map, as far as there are any, to the job's. */
void overflow_team_add(const overflow_team *team, int64_t first, int64_t end, float *map);

/* Waits, too, where that was not done. Accepts NULL. */
void overflow_team_destroy(overflow_team *team);

#endif
