/* A method of computing something, as jobs and schedules see it: a task is prepared once, its stages
 * run on devices and on the host, and what they made is measured. Data goes one way: input ->
 * prepare -> stages -> finish -> result. A method knows neither the job nor its report, neither the
 * engine nor other devices than the one at hand: what it decides stands in its task. */
#ifndef LEY_RUN_METHOD_H
#define LEY_RUN_METHOD_H

#include "calibration.h"
#include "judge/accuracy.h"
#include "kernel_kind.h"
#include "leyden.h"
#include "run/notes.h"
#include "run/slab_queue.h"

#include <stdatomic.h>

/* What a method may look at when it plans: how the job shall be run, and what is known of devices. */
typedef struct device_view {
    const dev_info *info;
    bool is_known; /* then facts is what it has been measured at */
    calibration facts;
} device_view;

typedef struct job_view {
    const ley_run_options *options; /* with the sum in force: never LEY_SUM_AUTO */
    size_t device_count;
    const device_view *devices;
    const atomic_bool *cancelled;
} job_view;

static inline bool job_view_cancelled(const job_view *view)
{
    return atomic_load_explicit(view->cancelled, memory_order_relaxed);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* Who does a stage: pieces of it, all devices that are ready; the whole of it, each device for
 * itself; one of the devices, for all; or a thread of the host's, beside the devices. */
typedef enum stage_split { STAGE_SLABS, STAGE_EACH_DEVICE, STAGE_ONE_DEVICE, STAGE_HOST } stage_split;

/* What a stage makes and another one needs. Of a stage on one device, `bytes` says how large its
 * buffer is, and the runner brings it to whichever device needs it; what is on each device stays
 * there; what slabs or the host make stands in the task. */
typedef struct product {
    const char *name;
    int64_t (*bytes)(const void *task); /* of STAGE_ONE_DEVICE; else NULL */
} product;

/* What a kernel is, for the report. */
typedef struct kernel_notes {
    const char *variant, *root, *exp; /* NULL: none */
    bool from_cache;
    char specification[512];
} kernel_notes;

/* A device, as a stage that begins on it sees it. */
typedef struct stage_place {
    dev *device;
    const job_view *job;
    kernel_notes *notes; /* to be filled in by the stage that makes the result */
    struct shift *shift; /* the runner's */
} stage_place;

/* On the device at hand: hands over what the stage makes, and finds what an earlier one made. It
 * belongs to its maker's state, which lives until all stages have ended on this device. */
void stage_make(const stage_place *place, const product *what, void *made);
void *stage_get(const stage_place *place, const product *what);

enum { METHOD_SLOTS = 2 }; /* slabs in flight on a device: one computes while the other one travels */

typedef struct slab_times {
    dev_times kernel, transfer;
    double kernel_s; /* in the slab's own launches: less than from start to end where slabs take turns */
} slab_times;

typedef struct stage {
    const char *name;
    stage_split split;
    const product *const *needs, *const *makes; /* NULL behind the last; or NULL */
    bool (*is_wanted)(const void *task);        /* after prepare; NULL: it always is */

    /* STAGE_SLABS: of how many pieces it is, before and after prepare. */
    int64_t (*count)(const void *task);

    /* Stages on devices: readies one, kernels and buffers. `state` is set also on failure when there
     * is something to end. */
    ley_status (*begin)(void *task, const stage_place *place, void **state, ley_error *error);
    void (*end)(void *state);

    /* STAGE_SLABS: how many pieces a slab may be at most. */
    int64_t (*slab_count)(const void *state);

    /* Starts a slab in a slot; waits for it and stores it; or waits for it and drops it. A stage
     * that has no pieces is one slab, {0, 1}. */
    ley_status (*submit)(void *state, int slot, slab piece, ley_error *error);
    ley_status (*collect)(void *state, int slot, slab piece, slab_times *times, ley_error *error);
    void (*drop)(void *state, int slot);

    /* STAGE_HOST: does it, on a thread of its own, when what it needs is made; and is told, from
     * another thread, that nobody wants it any more (NULL: it does not take long). */
    ley_status (*run)(void *task, ley_error *error);
    void (*stop)(void *task);
} stage;

/* ---- Methods --------------------------------------------------------------------------------- */

typedef struct method {
    const char *name;

    /* The kernel whose variants are the method's; NULL: it has no variants. */
    const kernel_kind *kernel;

    /* Plans, and readies what all devices share, in the task. The view outlives it. And its end.
     * `is_kept`: a driver that does not return may still read what was on its way to a device: that
     * is not to be freed. */
    ley_status (*prepare)(void *task, const job_view *view, ley_error *error);
    void (*release)(void *task, bool is_kept);

    /* Ends the task itself. */
    void (*end)(void *task);

    /* In order: one that needs a product stands behind the one that makes it. `result`: the index
     * of the stage whose slabs make up the result. */
    const stage *stages;
    size_t stage_count, result;

    /* Points of the result in some of its slabs, before and after prepare. */
    int64_t (*points)(const void *task, slab s);

    /* Pairs that are computed in all, after prepare; NULL: atoms times points. */
    double (*evaluations)(const void *task);

    /* What is left to do on the host when all stages are done; NULL: nothing. */
    ley_status (*finish)(void *task, ley_error *error);

    /* What it has to say of how it was done; NULL: nothing. */
    void (*note)(const void *task, notes *n);

    /* For verification, between prepare and release: what the job sums, by what errors are judged,
     * which of its values is the i-th point of a slab, and where that is and what it is. All NULL:
     * its results are no sums over atoms. */
    void (*terms)(const void *task, reference_terms *terms);
    accuracy_limits (*limits)(const void *task);
    int64_t (*point)(const void *task, slab s, int64_t i);
    double (*value)(const void *task, int64_t number, double place_A[3]);

    /* Whether a double sum has more digits where charges nearly cancel: not where its terms are
     * floats all the same. */
    bool double_has_more_digits;

    /* What the benchmark measures of it (run/bench.h); NULL: nothing. */
    const struct bench_subject *bench;
} method;

/* All of them, NULL behind the last: methods/registry.c. */
extern const method *const method_registry[];

#endif
