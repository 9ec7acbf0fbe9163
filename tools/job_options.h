/* What the commands that run jobs share before the work: options. */
#ifndef LEYDEN_JOB_OPTIONS_H
#define LEYDEN_JOB_OPTIONS_H

#include "options.h"
#include "progress.h"

typedef struct job_values {
    const char *device, *json, *plan;
    ley_run_options run;
    bool quiet;
} job_values;

extern const option_block job_options;

/* A row of job_options for a command whose struct of values begins with a job_values. */
#define OPTION_OF_RUN(name) OPTION_OF(ley_run_options, name, job_values, run)

/* What OPTION_ROW_DEVICE() says beside, and whether --device asks for that. */
#define DEVICE_MAY_BE_HOST "; or host: the host does the job alone, in double precision"
bool device_is_host(const char *device);

void job_set_defaults(job_values *values);

/* The library's options of these values; the progress goes to this line. */
ley_run_options job_options_of(const job_values *values, progress_line *progress);

#endif
