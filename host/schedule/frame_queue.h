/* Frames of a run, in batches: a queue deals them to devices. Each device's own thread has some
 * batches on their way; it gives back what it had when it fails or is wrong, and takes fewer frames
 * at a time where memory is refused. The host does what no device is left for. */
#ifndef LEY_SCHEDULE_FRAME_QUEUE_H
#define LEY_SCHEDULE_FRAME_QUEUE_H

#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FRAME_BATCHES = 2 }; /* of a device, on their way at once */

typedef struct frame_range {
    int64_t first, count;
} frame_range;

struct frame_queue;

/* The first member of what a device has of the frames. */
typedef struct frame_device {
    struct frame_queue *queue; /* not to be touched by a device that was left behind */
    const dev_info *info;
    bool is_ready, has_failed;
    bool is_beginning, was_let_go;    /* it touches nothing of the run's; the run has not waited for it */
    bool has_passed;                  /* a frame of its has been verified */
    int kind;                         /* of the runs that it is ready for */
    int frames;                       /* of a batch, at most: begin() says so */
    int64_t most_frames;              /* since there was no memory for more; 0: nobody knows */
    frame_range batch[FRAME_BATCHES]; /* of no frames: it is not on its way */
    ley_error failure;
} frame_device;

/* What is computed of frames. On a device's thread but for by_host(). */
typedef struct frame_work {
    const char *what;    /* "energies" */
    size_t device_bytes; /* of the struct around a frame_device */

    /* Memory and kernels for runs of this kind, and so many frames at a time at most: `frames` is
     * set before there is memory. The run may end meanwhile, and its arrays with it. end() waits
     * for all that is on its way; also called where begin() failed. */
    ley_status (*begin)(frame_device *d, dev *device, int kind, int64_t most, ley_error *error);
    void (*end)(frame_device *d);

    /* A batch sets off; it is waited for, and what is right is stored. Errors: LEY_ERROR_INPUT and
     * LEY_CANCELLED end the run; others are the device's. */
    ley_status (*start)(frame_device *d, int batch, ley_error *error);
    ley_status (*finish)(frame_device *d, int batch, ley_error *error);

    /* A frame of the run, by the host; on the caller's thread. */
    ley_status (*by_host)(struct frame_queue *q, int64_t frame, ley_error *error);
} frame_work;

/* The first member of what runs are of. */
typedef struct frame_queue {
    const frame_work *work;
    ley_engine *engine; /* NULL: none, the host computes all */
    bool owns_engine;
    atomic_bool is_cancelled, is_running;
    int64_t before; /* frames of runs before that ended well */

    /* The run. */
    int kind;
    int64_t frames, next, left; /* of it; not dealt from here on; not done */
    frame_range *again;         /* to be dealt again */
    size_t again_count;
    ley_error failure; /* all ends */

    pthread_mutex_t mutex;  /* for what devices share: the run, devices' flags, the owner's totals */
    frame_device **devices; /* [engine->candidate_count] */
} frame_queue;

/* It may be destroyed also on failure. Errors: LEY_ERROR_MEMORY. */
ley_status frame_queue_create(frame_queue *q, const frame_work *work, ley_engine *engine, ley_error *error);
void frame_queue_destroy(frame_queue *q);

/* Opens the fastest device, where there is one. */
ley_status frame_queue_open(frame_queue *q, ley_error *error);

/* One run at a time, of one or more frames; false: another thread is at one. Arrays that the owner
 * sets for a run are not touched before and after it. */
bool frame_queue_claim(frame_queue *q);
ley_status frame_queue_run(frame_queue *q, int64_t frames, int kind, bool by_devices, ley_error *error);
void frame_queue_release(frame_queue *q);

/* Devices that took frames, and those of them that failed; their names; the first failure, or "".
 * All begin as zeros; NULL: failures are not asked for. */
enum { FRAME_NAMES = 128, FRAME_FAILURE = 256 };
void frame_queue_describe(const frame_queue *q, int *devices, int *failed, char names[FRAME_NAMES],
                          char failure[FRAME_FAILURE]);

/* As messages count frames: over all runs, from 1. */
static inline long long frame_number(const frame_queue *q, int64_t frame)
{
    return (long long)(q->before + frame + 1);
}

/* Whether one of a device's is to be verified: one of so many, and the device's first; 0: none. */
static inline bool frame_is_verified(const frame_device *d, int64_t frame, int64_t every)
{
    return every > 0 && (!d->has_passed || (d->queue->before + frame) % every == 0);
}

#endif
