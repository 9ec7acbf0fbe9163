#include "bench_part.h"

#include <stddef.h>
#include <stdlib.h>

void bench_results_end(bench_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        ley_bench_destroy(results->parts[i].bench);
    free(results->commands);
    results->commands = NULL;
    results->count = results->command_count = 0;
}

static ley_status whole_verdict(const bench_whole *c)
{
    return c->status == LEY_OK || c->status == LEY_ERROR_WRONG_RESULT ? c->status : LEY_ERROR_DEVICE;
}

/* What nothing could be measured of does not count, where there is anything else. */
ley_status bench_results_verdict(const bench_results *results)
{
    static const ley_status by_weight[] = {LEY_ERROR_WRONG_RESULT, LEY_ERROR_DEVICE, LEY_OK, LEY_ERROR_NO_DEVICE};
    bool has[sizeof by_weight / sizeof *by_weight] = {false};
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < sizeof by_weight / sizeof *by_weight; k++)
            has[k] = has[k] || bench_verdict(results->parts[i].bench) == by_weight[k];
    for (size_t i = 0; i < results->command_count; i++)
        for (size_t k = 0; k < sizeof by_weight / sizeof *by_weight; k++)
            has[k] = has[k] || whole_verdict(&results->commands[i]) == by_weight[k];
    for (size_t k = 0; k < sizeof by_weight / sizeof *by_weight; k++)
        if (has[k])
            return by_weight[k];
    return LEY_OK;
}
