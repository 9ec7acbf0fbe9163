/* A method of computing a map or a boundary, as job and scheduler see it: what is prepared once a
 * job, once a device, and what is done for a slab. Data goes one way: atoms -> prepare -> begin
 * (device) -> submit -> collect -> finish -> map or boundary. */
#ifndef LEY_METHOD_H
#define LEY_METHOD_H

#include "device.h"
#include "judge/accuracy.h"
#include "run/job.h"
#include "run/launches.h"

enum { METHOD_SLOTS = 2 }; /* slabs in flight on a device: one computes while the other one travels */

typedef struct slab_times {
    dev_times kernel, transfer;
    double kernel_s; /* in the slab's own launches: less than from start to end where slabs take turns */
} slab_times;

static inline slab_times method_slab_times(const launches *run)
{
    return (slab_times){.kernel = run->times, .transfer = run->transfer, .kernel_s = run->busy_s};
}

typedef struct method {
    const char *name;

    /* Host data for all devices, into job->method_data; and its end. */
    ley_status (*prepare)(ley_job *job, ley_error *error);
    void (*release)(ley_job *job);

    /* What slabs count: all of the job's, and the points in some of them. */
    int64_t (*count)(const ley_job *job);
    int64_t (*points)(const ley_job *job, slab s);

    /* Readies a device: kernels, atoms, buffers. Fills in the record's variant, root,
     * specification. `state` is set also on failure when there is something to end. */
    ley_status (*begin)(ley_job *job, worker *w, device_record *record, void **state, ley_error *error);
    void (*end)(void *state);

    /* How much a slab may be at most. */
    int64_t (*slab_count)(const void *state);

    /* Starts a slab in a slot; waits for it and stores it in the map; or waits for it and drops it. */
    ley_status (*submit)(void *state, int slot, slab s, ley_error *error);
    ley_status (*collect)(void *state, int slot, slab s, slab_times *times, ley_error *error);
    void (*drop)(void *state, int slot);

    /* What is left to do on the host when all slabs are there. */
    ley_status (*finish)(ley_job *job, ley_error *error);

    /* For verification, between prepare and release: what the job sums, by what errors are judged,
     * and which of the job's values is the i-th point of a slab. */
    void (*terms)(const ley_job *job, reference_terms *terms);
    accuracy_limits (*limits)(const ley_job *job);
    int64_t (*point)(const ley_job *job, slab s, int64_t i);

    /* Whether a double sum has more digits where charges nearly cancel: not where its terms are
     * floats all the same. */
    bool double_has_more_digits;

    /* Names of its kernel variants; NULL behind the last. */
    const char *(*variant_name)(size_t i);
} method;

extern const method method_dcs, method_mdh, method_cutoff;

#endif
