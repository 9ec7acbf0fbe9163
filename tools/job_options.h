/* What the commands that run jobs share before the work: options. */
#ifndef LEYDEN_JOB_OPTIONS_H
#define LEYDEN_JOB_OPTIONS_H

#include "options.h"
#include "progress.h"

typedef struct job_values {
    const char *device, *variant, *json, *plan;
    int math, sum;
    int64_t verify, seed;
    bool quiet;
} job_values;

extern const option_block job_options;

/* Its rows around another one for --sum, for a command whose struct of values begins with a
 * job_values. */
#define JOB_OPTION_ROWS_AROUND(...) \
    OPTION_ROW_MATH(job_values), __VA_ARGS__, \
        {.name = "variant", \
         .kind = OPTION_TEXT, \
         .offset = offsetof(job_values, variant), \
         .value = "NAME", \
         .unset = "by device class", \
         .help = "kernel variant; 'leyden bench' shows them"}, \
        {.name = "verify", \
         .kind = OPTION_INTEGER, \
         .offset = offsetof(job_values, verify), \
         .value = "N", \
         .low = 0, \
         .high = INT32_MAX, \
         .help = "recompute at most N random points in double precision, as many as 2 % of the time or 0.05 s allow " \
                 "and at least 50; 0: none; devices whose values are off leave the job, and what is off by more than " \
                 "their limit is not written"}, \
        {.name = "seed", \
         .kind = OPTION_INTEGER, \
         .offset = offsetof(job_values, seed), \
         .value = "S", \
         .low = 0, \
         .high = 9007199254740991, \
         .help = "start of the random numbers behind --verify"}, \
        OPTION_ROW_JSON(job_values), OPTION_ROW_QUIET(job_values)

void job_set_defaults(job_values *values);

/* The library's defaults with these values; the progress goes to this line. */
ley_run_options job_options_of(const job_values *values, progress_line *progress);

#endif
