/* Whole short-range jobs of one grid, for what tests of the method share. */
#ifndef LEY_SHORT_JOB_H
#define LEY_SHORT_JOB_H

#include "support.h"

/* Of odd sizes, so that regions are whole and partial ones. */
extern const ley_grid short_job_grid;
extern const double short_job_cutoff_A;

/* A job that was run, with the map that it filled. */
typedef struct short_job {
    ley_map *map;
    ley_job *job;
    ley_status status;
    ley_error error;
} short_job;

/* Options with all that the pair function takes, and this cutoff. */
support_options short_job_options(ley_pair pair, const char *variant);

/* In an oblique cell. */
void short_job_make_periodic(support_options *options);

short_job short_job_try(ley_engine *on, const ley_atoms *atoms, const ley_grid *grid, const support_options *options);

/* Fails the test when the job fails. */
short_job short_job_run(ley_engine *on, const ley_atoms *atoms, const ley_grid *grid, const support_options *options);
void short_job_end(short_job *o);

support_notes short_job_notes(const short_job *o);

/* Every point is as right as the maths of the job let it be; `what` is for the message. */
void short_job_assert_within(double limit, const short_job *o, const ley_atoms *atoms, const support_options *options,
                             const char *what);
void short_job_assert_right(const short_job *o, const ley_atoms *atoms, const support_options *options,
                            const char *what);

#endif
