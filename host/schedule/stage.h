/* The stages of a method: who does them, what they need and make, and how the runner calls them. */
#ifndef LEY_SCHEDULE_STAGE_H
#define LEY_SCHEDULE_STAGE_H

#include "calibration.h"
#include "device.h"
#include "engine/command_sequence.h"
#include "engine/decisions.h"
#include "leyden.h"
#include "schedule/slab_queue.h"

#include <stdatomic.h>

/* What a method may look at when it plans: how the job shall be run, and what is known of
 * devices. */
typedef struct device_view {
    const dev_info *info;
    bool is_known; /* what the method needs of facts has been measured */
    calibration facts;
} device_view;

typedef struct job_view {
    const ley_run_options *options; /* with the sum in force: never LEY_SUM_AUTO */
    size_t device_count;
    const device_view *devices;
    const atomic_bool *cancelled;
    const job_plan *plan; /* what is decided already; NULL: nothing */
    int ranks;            /* that do it together */
    bool is_kept;         /* it runs again and again: what is made once counts for nothing */
    bool only_plans;      /* nothing is going to be computed: what takes long or much is left out */
} job_view;

static inline bool job_view_cancelled(const job_view *view)
{
    return atomic_load_explicit(view->cancelled, memory_order_relaxed);
}

struct device_forecast; /* plan/forecast.h */

/* Who does a stage: pieces of it, all devices that are ready; the whole of it, each device for
 * itself; or one of the devices, for all. */
typedef enum stage_split { STAGE_SLABS, STAGE_EACH_DEVICE, STAGE_ONE_DEVICE } stage_split;

/* What a stage makes and another one needs. Of a stage on one device, `bytes` says how large its
 * buffer is, and the runner brings it to whichever device needs it; what is on each device stays
 * there; what slabs make stands in the task. */
typedef struct product {
    const char *name;
    int64_t (*bytes)(const void *task); /* of STAGE_ONE_DEVICE; else NULL */
} product;

/* What a kernel is, for the report. */
typedef struct kernel_notes {
    const char *variant, *root, *exp; /* NULL: none */
    bool from_cache;
    char specification[512];
    struct {
        const char *name; /* of a decision of the device's in plans; NULL: none */
        const char *word; /* there for ever; or NULL, and: */
        int64_t value;
    } decisions[2];
} kernel_notes;

/* What stages have made on a device. */
enum { STAGE_MOST_PRODUCTS = 16 };
typedef struct stage_product {
    const product *what;
    void *made;
} stage_product;

typedef struct stage_products {
    size_t count;
    stage_product list[STAGE_MOST_PRODUCTS];
} stage_products;

stage_product *stage_products_find(stage_products *products, const product *what); /* NULL: it is not there */

/* A device, as a stage that begins on it sees it. */
typedef struct stage_place {
    dev *device;
    arena *arena; /* for all that the job has on the device */
    const job_view *job;
    kernel_notes *notes; /* to be filled in by the stage that makes the result, unless ready() has done so */
    struct stage_products *products;
    const atomic_bool *is_unwanted; /* of STAGE_EACH_DEVICE: what it makes would come too late, or
                                       nobody wants it: it ends soon, by LEY_CANCELLED; or NULL */
} stage_place;

/* On the device at hand: hands over what the stage makes, and finds what an earlier one made. It
 * belongs to its maker's state, which lives until all stages have ended on this device. */
void stage_make(const stage_place *place, const product *what, void *made);
void *stage_get(const stage_place *place, const product *what);

enum { METHOD_SLOTS = 3 }; /* slabs in flight on a device: one computes, one travels, one is put into the map */

typedef sequence_times slab_times;

typedef struct stage {
    const char *name;
    stage_split split;
    const product *const *needs, *const *makes; /* NULL behind the last; or NULL */
    bool (*is_wanted)(const void *task);        /* after prepare; NULL: it always is */

    /* STAGE_SLABS: of how many pieces it is, before and after prepare. */
    int64_t (*count)(const void *task);

    /* Stages on devices that measure or build: all that a device must know for that, from malloc,
     * the stage's own copy, with nothing of the task's nor the caller's in it; and its end. All
     * three NULL: there is nothing to be readied. */
    ley_status (*wish)(const void *task, const job_view *job, void **wish, ley_error *error);
    void (*wish_destroy)(void *wish);

    /* Readies a device: calibration, and kernels built and tested. A device that is late does so
     * while the job ends, and its task: only the wish may be looked at. `noted` is to be filled in
     * by the stage that makes the result. `state` is set also on failure when there is something to
     * end. */
    ley_status (*ready)(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error);

    /* Stages on devices: the device joins in, with buffers. `state` is what ready() made of it, or
     * NULL; it is set also on failure when there is something to end. */
    ley_status (*begin)(void *task, const stage_place *place, void **state, ley_error *error);

    /* In place of begin(), of a stage that has begun in an earlier run of the same job: the task
     * was renewed (method.renew), and what the state holds of its sources is out of date. NULL: it
     * holds nothing of them. */
    ley_status (*renew)(void *task, const stage_place *place, void *state, ley_error *error);

    /* Also of a state that was readied, and has not begun. */
    void (*end)(void *state);

    /* STAGE_EACH_DEVICE, and the result's slabs: how long all of it would take this device alone,
     * once it is ready; 0: nobody knows. NULL: nobody does. */
    double (*predict)(const void *task, const void *state);

    /* STAGE_EACH_DEVICE with predict(): what one device has made may be lent to others, through the
     * host, where it is predicted to be there sooner. How many bytes that is, on a device that is
     * ready (0: it cannot be lent); in which buffer they are, from the first byte on, once
     * collected; and, in place of begin(), submit() and collect(), also after a begin() that came
     * to nothing, a buffer of as many bytes, which are then written to it. NULL, all three: it is
     * never lent. */
    size_t (*lent_bytes)(const void *state);
    dev_buffer *(*lent)(const void *state);
    ley_status (*borrow)(void *task, const stage_place *place, void **state, dev_buffer **buffer, ley_error *error);

    /* In place of begin(), where nothing is going to be computed: what it would take of the device,
     * once it is ready. The figures are to be complete also where there is no room for them, which
     * is said by LEY_ERROR_NO_DEVICE. NULL: nothing worth mentioning. */
    ley_status (*forecast)(void *task, const stage_place *place, void *state, struct device_forecast *f,
                           ley_error *error);

    /* STAGE_SLABS: how many pieces a slab may be at most. */
    int64_t (*slab_count)(const void *state);

    /* Starts a slab in a slot; waits for it and stores it; or waits for it and drops it. A stage
     * that has no pieces is one slab, {0, 1}. */
    ley_status (*submit)(void *state, int slot, slab piece, ley_error *error);
    ley_status (*collect)(void *state, int slot, slab piece, slab_times *times, ley_error *error);
    void (*drop)(void *state, int slot);
} stage;

#endif
