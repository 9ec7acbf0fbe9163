#include "launches.h"

#include "error.h"

static ley_status launch_next(launches *run, ley_error *error)
{
    ley_status status = run->launch(run->context, run->launched, &run->events[run->launched % LAUNCHES_IN_FLIGHT], error);
    if (status == LEY_OK)
        run->launched++;
    return status;
}

static ley_status wait_oldest(launches *run, ley_error *error)
{
    dev_times when = {0, 0};
    ley_status status = run->device->backend->wait(run->device, run->events[run->waited % LAUNCHES_IN_FLIGHT], &when, error);
    if (run->waited++ == 0)
        run->times.start_s = when.start_s;
    run->times.end_s = when.end_s;
    run->busy_s += when.end_s - when.start_s;
    return status;
}

void launches_abandon(launches *run)
{
    while (run->waited < run->launched)
        wait_oldest(run, NULL);
}

ley_status launches_begin(launches *run, ley_error *error)
{
    ley_status status = LEY_OK;
    while (status == LEY_OK && run->launched < run->total && run->launched < LAUNCHES_IN_FLIGHT)
        status = launch_next(run, error);
    if (status != LEY_OK)
        launches_abandon(run);
    return status;
}

dev_event *launches_last(const launches *run)
{
    return run->launched == run->total ? run->events[(run->launched - 1) % LAUNCHES_IN_FLIGHT] : NULL;
}

ley_status launches_finish(launches *run, const atomic_bool *cancelled, ley_error *error)
{
    ley_status status = LEY_OK;
    while (status == LEY_OK && run->waited < run->total) {
        status = wait_oldest(run, error);
        if (status == LEY_OK && cancelled != NULL && atomic_load_explicit(cancelled, memory_order_relaxed))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
        if (status == LEY_OK && run->launched < run->total)
            status = launch_next(run, error);
    }
    launches_abandon(run);
    return status;
}
