#include "job_options.h"

#include <string.h>

static const option_row rows[] = {
    OPTION_ROW_DEVICE(job_values, DEVICE_MAY_BE_HOST),
    {.of = "ley_run_options", .offset = offsetof(job_values, run)},
    OPTION_ROW_JSON(job_values),
    OPTION_ROW_QUIET(job_values),
    {.name = "plan",
     .kind = OPTION_TEXT,
     .is_input = true,
     .is_expert = true,
     .offset = offsetof(job_values, plan),
     .value = "FILE",
     .unset = "whatever is predicted to be fastest",
     .help = "repeat the decisions in FILE, a report of --json or its member 'plan' alone: where steps are done, by "
             "which kernels, and in pieces of which size; the same device then computes the same bytes again"},
};

static void set_defaults(void *values)
{
    job_set_defaults(values);
}

const option_block job_options = OPTION_BLOCK(rows, job_values, set_defaults);

void job_set_defaults(job_values *values)
{
    ley_run_options_default(&values->run);
}

bool device_is_host(const char *device)
{
    return device != NULL && strcmp(device, "host") == 0;
}

ley_run_options job_options_of(const job_values *values, progress_line *progress)
{
    ley_run_options options = values->run;
    options.progress = progress_show;
    options.progress_context = progress;
    return options;
}
