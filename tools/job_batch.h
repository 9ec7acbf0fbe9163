/* Several molecules in one command: a run of the same job for each of them (job_frame.h), some side
 * by side, on devices that are opened once. */
#ifndef LEYDEN_JOB_BATCH_H
#define LEYDEN_JOB_BATCH_H

#include "job_frame.h"

/* What stands in the output's name for the molecule: its file's name without folder and ending. */
#define JOB_BATCH_MARK "{}"

/* The output's name for one molecule, from malloc; a name without the mark as it is. */
char *job_batch_output(const char *pattern, const char *molecule);

enum { JOB_BATCH_MOST = 16 }; /* jobs side by side */

/* What a sub-command brings to it. */
typedef struct job_batch {
    const parsed_arguments *arguments; /* whose operand and words are the molecules */
    const char *output;                /* with the mark */
    int64_t side_by_side;              /* so many jobs at a time, at most JOB_BATCH_MOST */
    const char *refused[4];            /* options that are about one molecule; NULL behind the last */

    /* A run, from malloc, whose first member is a job_run; its arguments and output stay the
     * caller's. */
    job_run *(*make)(const parsed_arguments *arguments, const char *output);

    /* How many values it is going to have, and how many atoms it has, both together: asked once it
     * has read its input. */
    int64_t (*size)(const job_run *run);
} job_batch;

/* All of it; exit code, the highest one of all molecules. */
int job_batch_run(const job_batch *batch);

#endif
