/* Engine: opened devices, each with one persistent worker thread. All work on a device happens on
 * its thread; a thread whose driver does not return is left behind. */
#ifndef LEY_ENGINE_H
#define LEY_ENGINE_H

#include "calibrate.h"
#include "device.h"
#include "leyden.h"
#include "run/hand.h"

typedef struct worker {
    ley_device_info public_info;
    const dev_info *info;
    dev *device;          /* NULL when it could not be opened, or was given up */
    ley_error open_error; /* why */
    hand *hand;           /* its thread; NULL: none */
    hand *left;           /* the one that was left behind */
    bool may_return;      /* which only came too late: the device is opened anew when the driver has returned */
    const struct engine_task *task; /* NULL: idle */
    void *context;
} worker;

/* What all workers are to do. */
typedef struct engine_task {
    void (*run)(worker *w, void *context); /* on the worker's thread */
    bool (*is_over)(void *context);        /* whether nobody waits for the result any more; NULL: somebody does */
    void (*left)(worker *w,
                 void *context); /* the worker was left behind in a driver, w->open_error says why; NULL: it never is */
} engine_task;

struct ley_engine {
    dev_list list;
    size_t worker_count;    /* devices in use */
    size_t candidate_count; /* workers[worker_count .. candidate_count): next best devices, not opened yet */
    bool has_left;          /* a worker was left behind: what drivers may still use is kept for ever */
    worker *workers;        /* [list.count] */
};

/* Runs a task on workers [first, worker_count), all at once, and waits for all but those that have
 * to be left behind in a driver: these never touch anything of the task again. */
void engine_run(ley_engine *engine, size_t first, const engine_task *task, void *context);

/* Takes the next best device into use when the default one failed; false when there is none. */
bool engine_take_next(ley_engine *engine);

/* Fills in the public description of a device. */
void engine_describe(const dev_info *info, ley_device_info *public_info);

#endif
