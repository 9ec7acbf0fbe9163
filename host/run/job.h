/* A job in progress: what its devices share. */
#ifndef LEY_JOB_H
#define LEY_JOB_H

#include "leyden.h"
#include "run/engine.h"
#include "run/slab_queue.h"

#include <stdatomic.h>

struct method;

/* What a report says, with room for the texts it points to. */
typedef struct device_record {
    ley_device_report report;
    char specification[512];
    ley_error failure;
} device_record;

struct ley_job {
    ley_engine *engine;
    const ley_atoms *atoms;
    ley_map *map;           /* what is computed: a map, */
    ley_boundary *boundary; /* or a boundary */
    ley_solvent solvent;    /* of a boundary; the ions are the job's own copy */
    ley_ion *ions;
    ley_job_options options;
    char *variant;               /* the options' own copy */
    ley_short_range short_range; /* theirs, too */
    double coulomb_constant;
    const struct method *method;
    void *method_data; /* what the method prepared for all devices */
    bool has_left;     /* a device was left behind in its driver: what the driver may still read of method_data is to be
                          kept for ever */

    slab_queue queue;
    atomic_bool cancelled;
    double start_s;

    pthread_mutex_t mutex; /* for what follows */
    int64_t points_done;
    ley_report report;
    device_record *records; /* one a worker */
    ley_device_report *device_reports;
    ley_slab_report *slabs;
    size_t slab_capacity;
};

/* Gives back what a device has computed: its slabs are open again, and out of the report. */
void job_reopen_slabs(ley_job *job, size_t device);

static inline bool job_cancelled(ley_job *job)
{
    return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

#endif
