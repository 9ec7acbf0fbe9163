/* Engine: opened devices, each with one persistent worker thread. All work on a device happens on
 * its thread. A thread whose driver does not return is left behind; one that is late goes on with
 * what it is at, and nobody waits for it. */
#ifndef LEY_ENGINE_ENGINE_H
#define LEY_ENGINE_ENGINE_H

#include "calibrate.h"
#include "device.h"
#include "engine/driver_thread.h"
#include "leyden.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct worker {
    ley_device_info public_info;
    const dev_info *info;
    struct ley_engine *engine;
    dev *device; /* its thread's: NULL when it could not be opened, or was given up. Others ask worker_device(). */
    ley_error open_error;         /* why; to be read as the device is */
    driver_thread *driver_thread; /* its thread; NULL: none */
    driver_thread *left;          /* the one that was left behind */
    bool may_return;              /* which only came too late: the device is opened anew when the driver has returned */
    const struct engine_task *task; /* what its thread is at, or was the last time */
    void *context;
    enum { WORKER_WAITS, WORKER_HAS_IT } part; /* in the task that engine_run() is about */
} worker;

/* What all workers are to do. */
typedef struct engine_task {
    void (*run)(worker *w, void *context);   /* on the worker's thread */
    void (*given)(worker *w, void *context); /* it is about to be run; or NULL */
    bool only_idle; /* workers that are still at something else some milliseconds later are left out; else they get it
                       when they are done */
    bool (*is_over)(void *context); /* whether nobody waits for the result any more; NULL: somebody does */
    bool (*let_go)(worker *w,
                   void *context); /* asked when it is over, perhaps again and again: the worker need not be
                                      waited for, and leaves what is the caller's alone from now on. NULL: none is */
    void (*left)(worker *w,
                 void *context); /* the worker was left behind in a driver, w->open_error says why; NULL: it never is */
} engine_task;

struct ley_engine {
    dev_list list;
    size_t worker_count;     /* devices in use */
    size_t candidate_count;  /* workers[worker_count .. candidate_count): next best devices, not opened yet */
    bool has_left;           /* a worker was left behind: what drivers may still use is kept for ever */
    atomic_int holders;      /* its owner, and workers that were late when he destroyed it: the last one frees it */
    worker *workers;         /* [list.count] */
    pthread_mutex_t running; /* one task at a time is given out: averages do so on threads of their own */
    ley_error lacking;       /* why a rank has no device beside others that may have some; else LEY_OK */
};

/* Runs a task on workers [first, worker_count), all at once, when what another thread runs on this
 * engine is done. Waits for all of them but those that need not be waited for any more (see
 * engine_task), and those that have to be left behind in a driver: these never touch anything of
 * the task again. */
void engine_run(ley_engine *engine, size_t first, const engine_task *task, void *context);

/* Runs are going to follow each other soon: the host's threads look out for them
 * (parallel_stay_alert()), unless a device is a processor, which needs all cores for itself.
 * *is_so: whether they do so for this caller, who ends it with false. NULL: no engine. */
void engine_stay_alert(const ley_engine *engine, bool is_alert, bool *is_so);

/* Whether its thread is at nothing, or it has none. */
bool worker_is_idle(const worker *w);

/* The device of one that is idle; else NULL. */
dev *worker_device(const worker *w);

/* Takes the next best device into use when the default one failed; false when there is none. */
bool engine_take_next(ley_engine *engine);

/* Fills in the public description of a device. */
void engine_describe(const dev_info *info, ley_device_info *public_info);

#endif
