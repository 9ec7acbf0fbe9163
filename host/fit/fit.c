/* Densities of frames: the caller's thread gives out the frames to devices, and waits; the host
 * does what is sooner done than a device is opened, and what no device is left for. */
#include "fit/device_part.h"
#include "fit/store.h"

#include "clock.h"
#include "error.h"
#include "parallel.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Frames on devices ----------------------------------------------------------------------- */

/* What one device has of them. */
typedef struct fit_device {
    frame_device of;
    fit_part part;
} fit_device;

static ley_fit *fit_of(const frame_device *d)
{
    return (ley_fit *)d->queue;
}

static fit_part *part_of(frame_device *d)
{
    return &((fit_device *)d)->part;
}

static ley_status begin(frame_device *d, dev *device, int kind, int64_t most, ley_error *error)
{
    fit_part *part = part_of(d);
    (void)kind;
    const ley_status status = fit_part_begin(part, &fit_of(d)->problem, device, most, error);
    part->cancelled = &d->queue->is_cancelled;
    d->frames = part->frames;
    return status;
}

static void end(frame_device *d)
{
    fit_part_end(part_of(d));
}

static ley_status start(frame_device *d, int batch, ley_error *error)
{
    const ley_fit *fit = fit_of(d);
    fit_part *part = part_of(d);
    const frame_range own = d->batch[batch];
    int bad = -1;
    const ley_status status =
        fit_part_start(part, &part->batch[batch], own.first, (int)own.count, fit_positions(fit, own.first),
                       fit->run.threshold != NULL ? fit->run.threshold + own.first : NULL, &bad, error);
    if (bad >= 0)
        ley_error_prefix(error, "frame %lld", frame_number(&fit->queue, own.first + bad));
    return status;
}

static ley_status finish(frame_device *d, int batch, ley_error *error)
{
    ley_fit *fit = fit_of(d);
    fit_batch *b = &part_of(d)->batch[batch];
    ley_status status = sequence_finish(&b->sequence, error);
    if (status == LEY_OK && b->sequence.times.kernel_s > 0)
        watch_warm();
    if (status == LEY_OK)
        status = fit_store_batch(fit, d, part_of(d), b, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&fit->queue.mutex);
    fit->totals.device_seconds += b->sequence.times.kernel_s;
    fit->totals.sort_seconds += b->sequence.times.step_s[FIT_STEP_SORT];
    pthread_mutex_unlock(&fit->queue.mutex);
    return LEY_OK;
}

static ley_status by_host(frame_queue *q, int64_t frame, ley_error *error)
{
    return fit_store_host((ley_fit *)q, frame, error);
}

static const frame_work fit_work = {.what = "densities",
                                    .device_bytes = sizeof(fit_device),
                                    .begin = begin,
                                    .end = end,
                                    .start = start,
                                    .finish = finish,
                                    .by_host = by_host};

/* ---- Making ---------------------------------------------------------------------------------- */

ley_status ley_fit_create(ley_engine *engine, const ley_fit_target *target, size_t n, const double *weight,
                          const double *radius_A, const ley_density_options *options, ley_fit **made, ley_error *error)
{
    if (target == NULL || weight == NULL || options == NULL || made == NULL || target->size != sizeof *target)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_create(): a null pointer, or a target of another size");
    ley_fit *fit = calloc(1, sizeof *fit);
    if (fit == NULL)
        return ley_fail_memory(error, sizeof *fit, "densities");
    fit->may_open = engine == NULL && !target->by_host;
    ley_status status = frame_queue_create(&fit->queue, &fit_work, engine, error);
    if (status == LEY_OK)
        status = fit_problem_make(&fit->problem, target, n, weight, radius_A, options, error);
    if (status == LEY_OK)
        *made = fit;
    else
        ley_fit_destroy(fit);
    return status;
}

void ley_fit_destroy(ley_fit *fit)
{
    if (fit == NULL)
        return;
    frame_queue_destroy(&fit->queue);
    fit_problem_end(&fit->problem);
    free(fit);
}

void ley_fit_cancel(ley_fit *fit)
{
    atomic_store(&fit->queue.is_cancelled, true);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status check_wishes(const ley_fit *fit, int64_t frames, const float *position_A, const double *threshold,
                               const ley_fit_results *r, ley_error *error)
{
    const fit_problem *p = &fit->problem;
    if (r == NULL || r->size != sizeof *r)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_results.size is not %zu", sizeof *r);
    if (frames < 0 || (frames > 0 && position_A == NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "%lld frames, and no positions", (long long)frames);
    const char *what = r->score != NULL && p->map == NULL        ? "scores"
                       : r->window != NULL && p->windows == 0    ? "windows"
                       : r->gradient != NULL && !p->has_gradient ? "gradients"
                       : r->density != NULL && p->map != NULL    ? "densities"
                       : threshold != NULL && !p->has_threshold  ? "thresholds"
                                                                 : NULL;
    if (what != NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "%s are wanted that the target has not asked for", what);
    for (int64_t f = 0; f < frames && threshold != NULL; f++)
        if (!(threshold[f] > 0))
            return ley_fail(error, LEY_ERROR_USAGE, "frame %lld: the threshold is %g, must be above 0",
                            frame_number(&fit->queue, f), threshold[f]);
    return LEY_OK;
}

/* What the host would take. */
static double predicted_s(const ley_fit *fit, int64_t frames)
{
    static const double node_s = 1.5e-8;
    const fit_problem *p = &fit->problem;
    double nodes = (double)p->model.count;
    for (int axis = 0; axis < 3; axis++)
        nodes *= fmin(2 * p->reach_nodes[axis] + 1, (double)p->model.grid.n[axis]);
    return (double)frames * node_s * (nodes * (p->has_gradient ? 2 : 1) + (double)p->nodes) / parallel_cores();
}

static void count_undefined(ley_fit *fit, int64_t frames)
{
    const double *score = fit->run.results.score;
    for (int64_t f = 0; f < frames && score != NULL; f++)
        if (isnan(score[LEY_FIT_SCORES * f + LEY_FIT_PEARSON]) && fit->totals.undefined++ == 0)
            fit->totals.first = fit->totals.frames + f + 1;
}

static ley_status run(ley_fit *fit, int64_t frames, ley_error *error)
{
    static const double opening_s = 0.5;
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    fit->host_s += fit->may_open ? predicted_s(fit, frames) : 0;
    if (fit->may_open && fit->host_s > opening_s) {
        fit->may_open = false;
        status = frame_queue_open(&fit->queue, error);
    }
    if (status == LEY_OK)
        status = frame_queue_run(&fit->queue, frames, 0, true, error);
    if (status == LEY_OK) {
        count_undefined(fit, frames);
        fit->totals.frames += frames;
    }
    fit->totals.seconds += ley_clock_s() - start_s;
    return status;
}

ley_status ley_fit_run(ley_fit *fit, int64_t frames, const float *position_A, const double *threshold,
                       const ley_fit_results *wanted, ley_error *error)
{
    if (fit == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_run(): a null pointer");
    ley_status status = check_wishes(fit, frames, position_A, threshold, wanted, error);
    if (status != LEY_OK || frames == 0)
        return status;
    if (!frame_queue_claim(&fit->queue))
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_run(): another thread is running these frames");
    fit->run = (fit_run){position_A, threshold, *wanted};
    status = run(fit, frames, error);
    frame_queue_release(&fit->queue);
    return status;
}

void ley_fit_get_totals(const ley_fit *fit, ley_fit_totals *totals)
{
    *totals = fit->totals;
    frame_queue_describe(&fit->queue, &totals->devices, &totals->failed, totals->device, NULL);
    if (totals->device[0] == '\0')
        snprintf(totals->device, sizeof totals->device, "host");
}
