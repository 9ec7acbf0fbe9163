/* Engine: opened devices, each with one persistent worker thread. All work on a device happens on its thread. */
#ifndef LEY_ENGINE_H
#define LEY_ENGINE_H

#include "calibrate.h"
#include "device.h"
#include "leyden.h"

#include <pthread.h>

typedef struct worker {
    ley_device_info public_info;
    const dev_info *info;
    dev *device;           /* NULL when it could not be opened */
    ley_error open_error;
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*task)(struct worker *worker, void *context); /* NULL: idle */
    void *context;
    bool quit;
} worker;

struct ley_engine {
    dev_list list;
    size_t worker_count;      /* devices in use */
    size_t candidate_count;   /* workers[worker_count .. candidate_count): next best devices, not opened yet */
    worker *workers;          /* [list.count] */
};

/* Runs a task on workers [first, worker_count), all at once, and waits for all. */
void engine_run(ley_engine *engine, size_t first, void (*task)(worker *worker, void *context), void *context);

/* Takes the next best device into use when the default one failed; false when there is none. */
bool engine_take_next(ley_engine *engine);

/* Fills in the public description of a device. */
void engine_describe(const dev_info *info, ley_device_info *public_info);

#endif
