#include "fit/worker.h"

#include "error.h"
#include "fit/device_part.h"
#include "fit/store.h"
#include "watch.h"

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

const frame_work fit_work = {.what = "densities",
                             .device_bytes = sizeof(fit_device),
                             .begin = begin,
                             .end = end,
                             .start = start,
                             .finish = finish,
                             .by_host = by_host};
