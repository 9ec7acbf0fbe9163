#include "schedule/frame_queue.h"

#include "dev_kernel.h"
#include "error.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* That a device may give back in a run: its batches, when it ends or takes a quarter of the frames
 * at a time, which are 512 at first. */
enum { RANGES = 6 * FRAME_BATCHES };

/* ---- Making ---------------------------------------------------------------------------------- */

static frame_device *make_device(frame_queue *q)
{
    frame_device *d = calloc(1, q->work->device_bytes);
    if (d != NULL)
        d->queue = q;
    return d;
}

static ley_status make_devices(frame_queue *q, ley_error *error)
{
    const size_t count = q->engine->candidate_count;
    q->devices = calloc(count + 1, sizeof *q->devices);
    q->again = calloc(RANGES * count + 1, sizeof *q->again);
    bool is_whole = q->devices != NULL && q->again != NULL;
    for (size_t i = 0; i < count && is_whole; i++) {
        q->devices[i] = make_device(q);
        is_whole = q->devices[i] != NULL;
    }
    return is_whole ? LEY_OK : ley_fail_memory(error, count * q->work->device_bytes, "the devices' parts");
}

ley_status frame_queue_create(frame_queue *q, const frame_work *work, ley_engine *engine, ley_error *error)
{
    pthread_mutex_init(&q->mutex, NULL);
    q->work = work;
    q->engine = engine;
    return engine != NULL ? make_devices(q, error) : LEY_OK;
}

ley_status frame_queue_open(frame_queue *q, ley_error *error)
{
    const ley_status status = ley_engine_create(NULL, &q->engine, error);
    q->owns_engine = status == LEY_OK;
    if (status == LEY_OK)
        return make_devices(q, error);
    q->engine = NULL;
    if (status != LEY_ERROR_NO_DEVICE)
        return status;
    log_say(LEY_LOG_WARNING, "the host computes %s: %s", q->work->what, error != NULL ? error->message : "no device");
    ley_error_clear(error);
    return LEY_OK;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static frame_device **device_of(const worker *w, frame_queue *q)
{
    return &q->devices[w - w->engine->workers];
}

/* The next frames, at most so many; none: all are dealt, or the run is over. Near the end devices
 * get small shares, so that they end together. The caller holds the mutex. */
static frame_range take(frame_queue *q, int64_t most)
{
    frame_range taken = {0, 0};
    if (q->failure.status != LEY_OK)
        return taken;
    if (q->again_count > 0) {
        frame_range *last = &q->again[q->again_count - 1];
        taken = (frame_range){last->first, last->count < most ? last->count : most};
        last->first += taken.count;
        last->count -= taken.count;
        q->again_count -= last->count == 0 ? 1 : 0;
        return taken;
    }
    const int64_t left = q->frames - q->next, devices = q->engine != NULL ? (int64_t)q->engine->worker_count : 1,
                  share = devices > 1 ? (left + 2 * devices - 1) / (2 * devices) : left;
    taken = (frame_range){q->next, share < most ? share : most};
    q->next += taken.count;
    return taken;
}

/* What a device had is dealt again. The caller holds the mutex. */
static void give_back(frame_device *d)
{
    for (int i = 0; i < FRAME_BATCHES; i++) {
        if (d->batch[i].count > 0)
            d->queue->again[d->queue->again_count++] = d->batch[i];
        d->batch[i].count = 0;
    }
}

/* ---- A device's thread ----------------------------------------------------------------------- */

static void end_device(frame_device *d)
{
    if (d->is_ready)
        d->queue->work->end(d);
    d->is_ready = false;
}

static ley_status start(frame_device *d, int batch, ley_error *error)
{
    frame_queue *q = d->queue;
    pthread_mutex_lock(&q->mutex);
    d->batch[batch] = take(q, d->frames);
    pthread_mutex_unlock(&q->mutex);
    return d->batch[batch].count > 0 ? q->work->start(d, batch, error) : LEY_OK;
}

static ley_status finish(frame_device *d, int batch, ley_error *error)
{
    frame_queue *q = d->queue;
    const ley_status status = q->work->finish(d, batch, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&q->mutex);
    q->left -= d->batch[batch].count;
    d->batch[batch].count = 0;
    pthread_mutex_unlock(&q->mutex);
    return LEY_OK;
}

static ley_status work(frame_device *d, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        status = start(d, i, error);
    /* Others give frames back at any time: a batch that got some may follow one that got none. */
    for (int at = 0, idle = 0; idle < FRAME_BATCHES && status == LEY_OK; at = (at + 1) % FRAME_BATCHES) {
        idle = d->batch[at].count > 0 ? 0 : idle + 1;
        if (idle == 0)
            status = finish(d, at, error);
        if (idle == 0 && status == LEY_OK)
            status = start(d, at, error);
    }
    return status;
}

/* False: the run has ended meanwhile; where beginning failed, too, the next run tries again. */
static bool prepare(frame_device *d, dev *device, ley_status *status, ley_error *error)
{
    frame_queue *q = d->queue;
    const int kind = q->kind;
    if (d->is_ready && d->kind == kind)
        return true;
    pthread_mutex_lock(&q->mutex);
    d->is_beginning = true;
    d->was_let_go = false;
    pthread_mutex_unlock(&q->mutex);
    end_device(d);
    *status = q->work->begin(d, device, kind, d->most_frames > 0 ? d->most_frames : INT64_MAX, error);
    if (*status != LEY_OK)
        q->work->end(d);
    pthread_mutex_lock(&q->mutex);
    d->kind = kind;
    d->is_ready = *status == LEY_OK;
    d->is_beginning = false;
    const bool goes_on = !d->was_let_go;
    pthread_mutex_unlock(&q->mutex);
    return goes_on;
}

/* Whether what has failed may not for a few frames at a time: there was no memory, as far as is
 * known. Then the device begins anew. */
static bool takes_fewer(frame_device *d, const ley_error *why)
{
    frame_queue *q = d->queue;
    if (d->frames <= 1 || (why->status != LEY_ERROR_MEMORY && why->status != LEY_ERROR_NO_DEVICE &&
                           (why->status != LEY_ERROR_DEVICE || d->is_ready)))
        return false;
    log_say(LEY_LOG_NOTE, "%s takes fewer than %d frames at a time: %s", d->info->name, d->frames, why->message);
    end_device(d);
    pthread_mutex_lock(&q->mutex);
    d->most_frames = d->frames / 4 > 1 ? d->frames / 4 : 1;
    give_back(d);
    pthread_mutex_unlock(&q->mutex);
    return true;
}

/* The run ends, or the device leaves: by what has happened. What had set off may have stopped
 * halfway: the device begins anew, if anything. */
static void fail(frame_device *d, dev *device, const ley_error *why)
{
    frame_queue *q = d->queue;
    const bool ends = why->status == LEY_CANCELLED || why->status == LEY_ERROR_INPUT;
    if (!ends)
        log_say(LEY_LOG_WARNING, "%s computes no more %s: %s", d->info->name, q->work->what, why->message);
    end_device(d);
    if (why->status == LEY_ERROR_WRONG_RESULT)
        kernels_distrust(device);
    pthread_mutex_lock(&q->mutex);
    give_back(d);
    d->has_failed = !ends;
    if (!ends)
        ley_error_copy(&d->failure, why);
    else if (q->failure.status == LEY_OK)
        ley_error_copy(&q->failure, why);
    pthread_mutex_unlock(&q->mutex);
}

static void run_on_device(worker *w, void *context)
{
    frame_device *d = *device_of(w, context);
    ley_error error = {.status = LEY_OK};
    ley_status status = LEY_OK;
    bool goes_on = true;
    if (w->device == NULL || d->has_failed)
        return;
    d->info = w->info;
    do {
        ley_error_clear(&error);
        status = LEY_OK;
        goes_on = prepare(d, w->device, &status, &error);
        if (goes_on && status == LEY_OK)
            status = work(d, &error);
    } while (goes_on && status != LEY_OK && takes_fewer(d, &error));
    if (goes_on && status != LEY_OK)
        fail(d, w->device, &error);
    ley_error_clear(&error);
}

static bool is_over(void *context)
{
    frame_queue *q = context;
    pthread_mutex_lock(&q->mutex);
    const bool is_over = q->left == 0 || q->failure.status != LEY_OK;
    pthread_mutex_unlock(&q->mutex);
    return is_over;
}

static bool let_go(worker *w, void *context)
{
    frame_queue *q = context;
    frame_device *d = *device_of(w, q);
    pthread_mutex_lock(&q->mutex);
    const bool is_free = d->is_beginning;
    d->was_let_go = d->was_let_go || is_free;
    pthread_mutex_unlock(&q->mutex);
    return is_free;
}

/* Its driver may use what it has for ever. */
static void leave(worker *w, void *context)
{
    frame_queue *q = context;
    frame_device **at = device_of(w, q), *d = *at, *again = make_device(q);
    pthread_mutex_lock(&q->mutex);
    give_back(d);
    d->has_failed = true;
    if (again != NULL) {
        again->info = d->info;
        again->has_failed = true;
        ley_error_copy(&again->failure, &w->open_error);
        *at = again;
    }
    pthread_mutex_unlock(&q->mutex);
    dev_keep(d);
}

static void end_on_device(worker *w, void *context)
{
    end_device(*device_of(w, context));
}

void frame_queue_destroy(frame_queue *q)
{
    static const engine_task ending = {.run = end_on_device, .left = leave};
    const size_t count = q->engine != NULL && q->devices != NULL ? q->engine->candidate_count : 0;
    if (count > 0)
        engine_run(q->engine, 0, &ending, q);
    for (size_t i = 0; i < count; i++) {
        if (q->devices[i] != NULL)
            ley_error_clear(&q->devices[i]->failure);
        free(q->devices[i]);
    }
    free(q->devices);
    free(q->again);
    if (q->owns_engine)
        ley_engine_destroy(q->engine);
    pthread_mutex_destroy(&q->mutex);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static bool has_device(const frame_queue *q)
{
    for (size_t i = 0; i < q->engine->worker_count; i++)
        if (worker_device(&q->engine->workers[i]) != NULL && !q->devices[i]->has_failed)
            return true;
    return false;
}

/* False: frames are left, and no device. */
static bool do_by_devices(frame_queue *q)
{
    static const engine_task task = {.run = run_on_device, .is_over = is_over, .let_go = let_go, .left = leave};
    while (!is_over(q)) {
        engine_run(q->engine, 0, &task, q);
        if (!is_over(q) && !has_device(q) && !engine_take_next(q->engine)) {
            log_say(LEY_LOG_WARNING, "no device is left for %s: the host goes on alone", q->work->what);
            return false;
        }
    }
    return true;
}

static void do_by_host(frame_queue *q)
{
    while (q->left > 0 && q->failure.status == LEY_OK) {
        const frame_range one = take(q, 1);
        if (atomic_load(&q->is_cancelled))
            ley_fail(&q->failure, LEY_CANCELLED, "cancelled");
        else if (q->work->by_host(q, one.first, &q->failure) == LEY_OK)
            q->left--;
    }
}

bool frame_queue_claim(frame_queue *q)
{
    return !atomic_exchange(&q->is_running, true);
}

void frame_queue_release(frame_queue *q)
{
    atomic_store(&q->is_cancelled, false);
    atomic_store(&q->is_running, false);
}

ley_status frame_queue_run(frame_queue *q, int64_t frames, int kind, bool by_devices, ley_error *error)
{
    pthread_mutex_lock(&q->mutex); /* a device that was let go may end meanwhile */
    q->kind = kind;
    q->frames = q->left = frames;
    q->next = 0;
    q->again_count = 0;
    pthread_mutex_unlock(&q->mutex);
    if (!by_devices || q->engine == NULL || !do_by_devices(q))
        do_by_host(q);
    const ley_status status = q->failure.status;
    if (status == LEY_OK)
        q->before += frames;
    else
        ley_error_copy(error, &q->failure);
    ley_error_clear(&q->failure);
    return status;
}

/* The name of a device that has failed, and why; of a long message, as that of a build with its
 * options, the beginning and the end. */
static void put_failure(const frame_device *d, char to[FRAME_FAILURE])
{
    enum { END = 90, MOST = 180 };
    const char *message = d->failure.status != LEY_OK ? d->failure.message : "it does not answer";
    const size_t length = strlen(message);
    const bool is_long = length > MOST;
    snprintf(to, FRAME_FAILURE, "%.60s: %.*s%s%s", d->info->name, is_long ? MOST - END : MOST, message,
             is_long ? " ... " : "", is_long ? message + length - END : "");
}

void frame_queue_describe(const frame_queue *q, int *devices, int *failed, char names[FRAME_NAMES],
                          char failure[FRAME_FAILURE])
{
    for (size_t i = 0; q->engine != NULL && i < q->engine->candidate_count; i++) {
        const frame_device *d = q->devices[i];
        const size_t used = strlen(names);
        *failed += d->has_failed ? 1 : 0;
        if (d->info == NULL)
            continue;
        if (d->has_failed && failure != NULL && failure[0] == '\0')
            put_failure(d, failure);
        ++*devices;
        snprintf(names + used, FRAME_NAMES - used, "%s%s", used > 0 ? ", " : "", d->info->name);
    }
}
