#include "fit/worker.h"

#include "error.h"
#include "fit/device_part.h"
#include "fit/store.h"
#include "log.h"
#include "watch.h"

#include <stdlib.h>

static fit_device *device_of(const worker *w, void *fit)
{
    return ((ley_fit *)fit)->devices[w - w->engine->workers];
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The next frames for a device, at most so many; none: all are dealt, or the run is over. Near the
 * end shares are small, so that devices end together. */
static fit_range take(ley_fit *fit, int64_t most)
{
    fit_run *r = &fit->run;
    fit_range taken = {0, 0};
    pthread_mutex_lock(&fit->mutex);
    if (r->failure.status == LEY_OK && r->again_count > 0) {
        fit_range *last = &r->again[r->again_count - 1];
        taken = (fit_range){last->first, last->count < most ? last->count : most};
        last->first += taken.count;
        last->count -= taken.count;
        if (last->count == 0)
            r->again_count--;
    } else if (r->failure.status == LEY_OK) {
        const int64_t left = r->frames - r->next, halves = 2 * (int64_t)fit->engine->worker_count,
                      share = halves > 2 ? (left + halves - 1) / halves : left;
        taken = (fit_range){r->next, share < most ? share : most};
        r->next += taken.count;
    }
    pthread_mutex_unlock(&fit->mutex);
    return taken;
}

/* What a device had becomes others'. The caller holds the mutex. */
static void give_back(ley_fit *fit, fit_device *d)
{
    for (int i = 0; i < FIT_BATCHES; i++) {
        fit_batch *b = &d->part.batch[i];
        if (b->frames > 0)
            fit->run.again[fit->run.again_count++] = (fit_range){b->first, b->frames};
        b->frames = 0;
    }
    d->has_failed = true;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static ley_status start(fit_device *d, fit_batch *b, ley_error *error)
{
    ley_fit *fit = d->fit;
    const fit_range taken = take(fit, d->part.frames);
    int bad = -1;
    b->frames = 0;
    if (taken.count == 0)
        return LEY_OK;
    const double *threshold = fit->run.threshold != NULL ? fit->run.threshold + taken.first : NULL;
    const ley_status status = fit_part_start(&d->part, b, taken.first, (int)taken.count,
                                             fit_positions(fit, taken.first), threshold, &bad, error);
    b->first = taken.first; /* also of frames that could not begin */
    b->frames = (int)taken.count;
    if (bad >= 0)
        ley_error_prefix(error, "frame %lld", (long long)(fit->before + taken.first + bad + 1));
    return status;
}

/* Ends a batch and stores what is right of it. */
static ley_status finish(fit_device *d, fit_batch *b, ley_error *error)
{
    ley_fit *fit = d->fit;
    ley_status status = sequence_finish(&b->sequence, error);
    if (status == LEY_OK && b->sequence.times.kernel_s > 0)
        watch_warm();
    if (status == LEY_OK)
        status = fit_store_batch(fit, d, b, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&fit->mutex);
    fit->run.left -= b->frames;
    fit->totals.device_seconds += b->sequence.times.kernel_s;
    fit->totals.sort_seconds += b->sequence.times.step_s[FIT_STEP_SORT];
    b->frames = 0;
    pthread_mutex_unlock(&fit->mutex);
    return LEY_OK;
}

/* Others give frames back at any time: it ends when neither batch has got any. */
static ley_status work(fit_device *d, ley_error *error)
{
    ley_status status = LEY_OK;
    bool goes_on = true;
    for (int i = 0; i < FIT_BATCHES && status == LEY_OK; i++)
        status = start(d, &d->part.batch[i], error);
    while (goes_on && status == LEY_OK) {
        goes_on = false;
        for (int i = 0; i < FIT_BATCHES && status == LEY_OK; i++) {
            fit_batch *b = &d->part.batch[i];
            if (b->frames == 0)
                continue;
            goes_on = true;
            status = finish(d, b, error);
            if (status == LEY_OK)
                status = start(d, b, error);
        }
    }
    return status;
}

/* The run may end meanwhile, and its arrays with it. False: it has; where beginning failed, too,
 * the next run tries again. */
static bool prepare(fit_device *d, dev *device, ley_status *status, ley_error *error)
{
    ley_fit *fit = d->fit;
    if (d->is_ready)
        return true;
    pthread_mutex_lock(&fit->mutex);
    d->is_beginning = true;
    d->was_let_go = false;
    pthread_mutex_unlock(&fit->mutex);
    *status = fit_part_begin(&d->part, &fit->problem, device, error);
    d->part.cancelled = &fit->is_cancelled;
    pthread_mutex_lock(&fit->mutex);
    d->is_ready = *status == LEY_OK;
    d->is_beginning = false;
    const bool goes_on = !d->was_let_go;
    pthread_mutex_unlock(&fit->mutex);
    if (*status != LEY_OK)
        fit_part_end(&d->part);
    return goes_on;
}

/* The run ends, or the device leaves: by what has happened. */
static void fail(fit_device *d, const ley_error *why)
{
    ley_fit *fit = d->fit;
    const bool ends = why->status == LEY_CANCELLED || why->status == LEY_ERROR_INPUT;
    for (int i = 0; i < FIT_BATCHES && d->is_ready; i++)
        sequence_finish(&d->part.batch[i].sequence, NULL);
    pthread_mutex_lock(&fit->mutex);
    if (ends && fit->run.failure.status == LEY_OK)
        ley_error_copy(&fit->run.failure, why);
    for (int i = 0; i < FIT_BATCHES && ends; i++)
        d->part.batch[i].frames = 0;
    if (!ends) {
        ley_error_copy(&d->failure, why);
        give_back(fit, d);
    }
    pthread_mutex_unlock(&fit->mutex);
    if (ends)
        return;
    log_say(LEY_LOG_WARNING, "%s computes no more densities: %s", d->info->name, why->message);
    if (d->is_ready)
        fit_part_end(&d->part);
    d->is_ready = false;
}

void fit_worker_run(worker *w, void *context)
{
    fit_device *d = device_of(w, context);
    ley_error error = {.status = LEY_OK};
    ley_status status = LEY_OK;
    if (w->device == NULL || d->has_failed)
        return;
    d->info = w->info;
    if (!prepare(d, w->device, &status, &error))
        return;
    if (status == LEY_OK)
        status = work(d, &error);
    if (status == LEY_ERROR_WRONG_RESULT) {
        for (int i = 0; i < FIT_BATCHES; i++)
            sequence_finish(&d->part.batch[i].sequence, NULL);
        kernels_distrust(w->device);
    }
    if (status != LEY_OK)
        fail(d, &error);
    ley_error_clear(&error);
}

bool fit_worker_is_over(void *context)
{
    ley_fit *fit = context;
    pthread_mutex_lock(&fit->mutex);
    const bool is_over = fit->run.left == 0 || fit->run.failure.status != LEY_OK;
    pthread_mutex_unlock(&fit->mutex);
    return is_over;
}

bool fit_worker_let_go(worker *w, void *context)
{
    ley_fit *fit = context;
    fit_device *d = device_of(w, context);
    pthread_mutex_lock(&fit->mutex);
    const bool is_free = d->is_beginning;
    d->was_let_go = d->was_let_go || is_free;
    pthread_mutex_unlock(&fit->mutex);
    return is_free;
}

void fit_worker_left(worker *w, void *context)
{
    ley_fit *fit = context;
    fit_device *d = device_of(w, context), *again = calloc(1, sizeof *again);
    pthread_mutex_lock(&fit->mutex);
    give_back(fit, d);
    if (again != NULL) { /* the driver may use the other one for ever */
        *again = (fit_device){.fit = fit, .info = d->info, .has_failed = true};
        ley_error_copy(&again->failure, &w->open_error);
        fit->devices[w - w->engine->workers] = again;
    }
    pthread_mutex_unlock(&fit->mutex);
    dev_keep(d);
}

void fit_worker_end(worker *w, void *context)
{
    fit_device *d = device_of(w, context);
    if (d->is_ready)
        fit_part_end(&d->part);
    d->is_ready = false;
}
