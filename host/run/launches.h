/* A row of launches on one device, of which only a few are in flight, so that what computes for
 * long can be cancelled soon; and the way back of what they made. */
#ifndef LEY_LAUNCHES_H
#define LEY_LAUNCHES_H

#include "device.h"
#include "run/method.h"

#include <stdatomic.h>

enum { LAUNCHES_IN_FLIGHT = 2 };

/* Room for what launches make: on the device, and on the host, where it comes back to. */
typedef struct launch_results {
    dev *device; /* NULL: there is no room */
    dev_buffer *buffer;
    dev_staging *staging;
} launch_results;

/* On failure there is none. */
ley_status launch_results_create(dev *device, int64_t bytes, launch_results *results, ley_error *error);
void launch_results_destroy(launch_results *results);

typedef struct launches {
    dev *device;
    size_t total;
    ley_status (*launch)(void *context, size_t i, dev_event **done, ley_error *error); /* starts the i-th */
    void *context;
    const launch_results *results; /* of these, so many bytes come back when all launches have ended */
    int64_t bytes;
    dev_event *events[LAUNCHES_IN_FLIGHT]; /* of launch i: events[i % LAUNCHES_IN_FLIGHT] */
    size_t launched, waited;
    dev_event *read;    /* NULL: not started, or waited for */
    dev_times times;    /* from the first launch's start to the last one's end */
    double busy_s;      /* in its own launches */
    dev_times transfer; /* of the way back */
} launches;

/* LEY_ERROR_WRONG_RESULT: what came back is no number, so that the device left something out or
 * computed it wrongly. */
ley_status launches_not_finite(const launches *run, ley_error *error);

/* Fills the results with not-a-numbers, starts the first launches, and the way back behind them
 * where these are all. Set before: device, total, launch, context, results, bytes. On failure
 * nothing is left in flight. */
ley_status launches_begin(launches *run, ley_error *error);

/* Launches what is left and waits for all, and for the way back. LEY_CANCELLED soon after
 * *cancelled (may be NULL) turns true. In any case nothing is left in flight. */
ley_status launches_finish(launches *run, const atomic_bool *cancelled, ley_error *error);

/* When they ran, for the report. */
slab_times launches_slab_times(const launches *run);

/* Waits for what is in flight, and starts nothing more. */
void launches_abandon(launches *run);

#endif
