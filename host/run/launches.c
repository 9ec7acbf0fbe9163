#include "run/launches.h"

#include "error.h"
#include "memory.h"

#include <string.h>

/* Bytes of staging that are filled with not-a-numbers before anything is read into it: a read comes
 * as a whole, or not at all. */
enum { POISONED_STAGING = 64 };

ley_status launch_results_create(dev *device, int64_t bytes, launch_results *r, ley_error *error)
{
    *r = (launch_results){.device = device};
    const double copies = device->info->device_class == DEV_CPU ? 2 : 1;
    ley_status status =
        memory_check_one("a slab's way back", copies * (double)bytes, "fewer points along x and y", error);
    if (status == LEY_OK)
        status = device->backend->buffer_create(device, (size_t)bytes, DEV_READ_WRITE, &r->buffer, error);
    if (status == LEY_OK)
        status = device->backend->staging_create(device, (size_t)bytes, &r->staging, error);
    if (status != LEY_OK)
        launch_results_destroy(r);
    return status;
}

void launch_results_destroy(launch_results *r)
{
    if (r->staging != NULL)
        r->device->backend->staging_destroy(r->device, r->staging);
    if (r->buffer != NULL)
        r->device->backend->buffer_destroy(r->device, r->buffer);
    *r = (launch_results){.device = NULL};
}

static ley_status launch_next(launches *run, ley_error *error)
{
    ley_status status =
        run->launch(run->context, run->launched, &run->events[run->launched % LAUNCHES_IN_FLIGHT], error);
    if (status == LEY_OK)
        run->launched++;
    return status;
}

static ley_status wait_oldest(launches *run, ley_error *error)
{
    dev_times when = {0, 0};
    ley_status status =
        run->device->backend->wait(run->device, run->events[run->waited % LAUNCHES_IN_FLIGHT], &when, error);
    if (run->waited++ == 0)
        run->times.start_s = when.start_s;
    run->times.end_s = when.end_s;
    run->busy_s += when.end_s - when.start_s;
    return status;
}

/* Once `after` has ended; NULL: at once. */
static ley_status start_read(launches *run, dev_event *after, ley_error *error)
{
    const launch_results *r = run->results;
    ley_status status =
        run->device->backend->read(run->device, r->buffer, 0, r->staging, (size_t)run->bytes, after, &run->read, error);
    if (status != LEY_OK)
        run->read = NULL;
    return status;
}

static ley_status wait_read(launches *run, ley_error *error)
{
    dev_event *read = run->read;
    run->read = NULL;
    return run->device->backend->wait(run->device, read, &run->transfer, error);
}

void launches_abandon(launches *run)
{
    while (run->waited < run->launched)
        wait_oldest(run, NULL);
    if (run->read != NULL)
        wait_read(run, NULL);
}

/* What came back last time must not pass for this time's: where a launch or the way back is
 * skipped, not-a-numbers come back. */
static ley_status poison(const launches *run, ley_error *error)
{
    const launch_results *r = run->results;
    memset(r->staging->bytes, 0xff, run->bytes < POISONED_STAGING ? (size_t)run->bytes : POISONED_STAGING);
    return run->device->backend->fill(run->device, r->buffer, 0, DEV_NO_NUMBERS, (size_t)run->bytes, NULL, error);
}

ley_status launches_not_finite(const launches *run, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s: values came back that are no numbers", run->device->info->name);
}

ley_status launches_begin(launches *run, ley_error *error)
{
    ley_status status = poison(run, error);
    while (status == LEY_OK && run->launched < run->total && run->launched < LAUNCHES_IN_FLIGHT)
        status = launch_next(run, error);
    if (status == LEY_OK && run->launched == run->total)
        status = start_read(run, run->events[(run->launched - 1) % LAUNCHES_IN_FLIGHT], error);
    if (status != LEY_OK)
        launches_abandon(run);
    return status;
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
    if (status == LEY_OK && run->read == NULL)
        status = start_read(run, NULL, error);
    if (status == LEY_OK)
        status = wait_read(run, error);
    launches_abandon(run);
    return status;
}

slab_times launches_slab_times(const launches *run)
{
    return (slab_times){.kernel = run->times, .transfer = run->transfer, .kernel_s = run->busy_s};
}
