#include "job_options.h"
#include "file.h"
#include "json.h"

#include <string.h>

void job_set_defaults(job_values *values)
{
    ley_job_options options;
    ley_job_options_default(&options);
    values->math = (int)options.math;
    values->sum = (int)options.sum;
}

ley_job_options job_options_of(const job_values *values, progress_line *progress)
{
    ley_job_options options;
    ley_job_options_default(&options);
    options.math = (ley_math)values->math;
    options.sum = (ley_sum)values->sum;
    options.variant = values->variant;
    options.verify_points = (size_t)values->verify;
    options.verify_seed = (uint64_t)values->seed;
    options.progress = progress_show;
    options.progress_context = progress;
    return options;
}

int job_check_files(const subcommand *command, const char *output, const char *result, const char *json,
                    const input_file *inputs, size_t n)
{
    bool report = json != NULL && !json_takes_stdout(json);
    for (size_t i = 0; i < n; i++)
        if (output != NULL && inputs[i].path != NULL && file_is_same(inputs[i].path, output))
            return fail_usage(command, "--output: '%s' is the file of the %s", output, inputs[i].what);
    if (report && output != NULL && (strcmp(json, output) == 0 || file_is_same(json, output)))
        return fail_usage(command, "--json: '%s' is the file of the %s", json, result);
    for (size_t i = 0; i < n && report; i++)
        if (inputs[i].path != NULL && file_is_same(inputs[i].path, json))
            return fail_usage(command, "--json: '%s' is the file of the %s", json, inputs[i].what);
    int code = output != NULL ? file_check_output(output) : 0;
    return code != 0 || !report ? code : file_check_output(json);
}
