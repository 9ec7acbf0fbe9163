/* A job of which each rank has the atoms of its own planes (source/atoms_part.h): each does these,
 * and who is done before others helps them, with atoms that it gets from them. */
#ifndef LEY_SCHEDULE_RANK_PARTS_H
#define LEY_SCHEDULE_RANK_PARTS_H

#include "schedule/job.h"

/* Runs what is open of the job, here by `run`, until no rank has anything left to do. Errors: those
 * of any rank, where nobody can do what that has left. */
ley_status rank_parts_run(ley_job *job, ley_status (*run)(ley_job *job, ley_error *error), ley_error *error);

#endif
