/* A job's planes that an earlier process has left in the map's file (ley_map_keep()): they are done,
 * where they were made in the same way. */
#ifndef LEY_SCHEDULE_KEPT_PLANES_H
#define LEY_SCHEDULE_KEPT_PLANES_H

#include "schedule/job.h"

/* Opens the pieces of the result that are not there, `planes` of the map each, of a queue that
 * nobody has taken anything of; *points: of all planes that are there. All ranks of a shared job call it. Errors:
 * LEY_ERROR_FILE, LEY_ERROR_MEMORY. */
ley_status kept_planes_open(ley_job *job, slab_queue *queue, int64_t planes, int64_t *points, ley_error *error);

/* The same of the job's own queue, before its devices begin: what is there stands in the report as
 * if the first device had done it. */
ley_status kept_planes_take(ley_job *job, ley_error *error);

/* Pieces of the result that are to be computed once more. */
void kept_planes_forget(ley_job *job, slab pieces);

#endif
