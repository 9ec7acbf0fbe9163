/* A method of computing a map, as the scheduler sees it: what is prepared once a job, once a device, and what is done for
 * a slab. Data goes one way: atoms -> prepare -> begin (device) -> submit -> collect -> map. */
#ifndef LEY_METHOD_H
#define LEY_METHOD_H

#include "device.h"
#include "job.h"

enum { METHOD_SLOTS = 2 }; /* slabs in flight on a device: one computes while the other one travels */

typedef struct slab_times {
    dev_times kernel, transfer;
    double kernel_s; /* in the slab's own launches: less than from start to end where slabs take turns */
} slab_times;

typedef struct method {
    const char *name;

    /* Host data for all devices, into job->method_data; and its end. */
    ley_status (*prepare)(ley_job *job, ley_error *error);
    void (*release)(ley_job *job);

    /* Readies a device: kernels, atoms, buffers. Fills in the record's variant, root, specification. `state` is set also on
     * failure when there is something to end. */
    ley_status (*begin)(ley_job *job, worker *w, device_record *record, void **state, ley_error *error);
    void (*end)(void *state);

    /* Planes a slab at most. */
    int64_t (*slab_planes)(const void *state);

    /* Starts a slab in a slot; waits for it and stores it in the map; or waits for it and drops it. */
    ley_status (*submit)(void *state, int slot, slab s, ley_error *error);
    ley_status (*collect)(void *state, int slot, slab s, slab_times *times, ley_error *error);
    void (*drop)(void *state, int slot);

    /* Names of its kernel variants; NULL behind the last. */
    const char *(*variant_name)(size_t i);
} method;

extern const method method_dcs;

#endif
