#include "energy/worker.h"

#include "energy/device_part.h"
#include "energy/listed.h"
#include "energy/origins.h"
#include "energy/store.h"
#include "energy/verify.h"
#include "error.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static ley_energy *energy_of(const frame_device *d)
{
    return (ley_energy *)d->queue;
}

static energy_part *part_of(frame_device *d)
{
    return &((energy_device *)d)->part;
}

static ley_status begin(frame_device *d, dev *device, int kind, int64_t most, ley_error *error)
{
    energy_part *part = part_of(d);
    const ley_status status = energy_part_begin(part, &energy_of(d)->problem, device, kind != 0, most, error);
    part->cancelled = &d->queue->is_cancelled;
    d->frames = part->frames;
    return status;
}

static void end(frame_device *d)
{
    energy_part_end(part_of(d));
}

static ley_status start(frame_device *d, int batch, ley_error *error)
{
    ley_energy *e = energy_of(d);
    energy_part *part = part_of(d);
    energy_batch *b = &part->batch[batch];
    const frame_range own = d->batch[batch];
    const energy_frame first = energy_run_frame(e, own.first);
    b->origin = (energy_origin){.number = 0};
    const ley_status status = energy_listed_shares(part) ? energy_origin_find(e, own.first, &b->origin, error) : LEY_OK;
    return status == LEY_OK
               ? energy_part_start(part, b, own.first, (int)own.count, first.position_A, first.cell_A, error)
               : status;
}

/* Stores what is right of a batch. */
static ley_status store(frame_device *d, energy_batch *b, ley_error *error)
{
    ley_energy *e = energy_of(d);
    bool *by_host = calloc((size_t)b->frames, sizeof *by_host);
    if (by_host == NULL)
        return ley_fail_memory(error, (size_t)b->frames * sizeof *by_host, "a batch of frames");
    ley_status status = energy_store_batch(e, b, by_host, error);
    for (int f = 0; f < b->frames && status == LEY_OK; f++)
        if (!by_host[f] && frame_is_verified(d, b->first + f, e->problem.options.verify_every)) {
            status = energy_verify(e, b, f, part_of(d)->quantum, error);
            d->has_passed = status == LEY_OK;
        }
    free(by_host);
    return status;
}

static ley_status finish(frame_device *d, int batch, ley_error *error)
{
    ley_energy *e = energy_of(d);
    energy_part *part = part_of(d);
    energy_batch *b = &part->batch[batch];
    ley_status status = energy_part_finish(part, b, error);
    if (status == LEY_OK && b->sequence.times.kernel_s > 0)
        watch_warm();
    if (status == LEY_OK)
        status = store(d, b, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&e->queue.mutex);
    e->totals.device_seconds += b->sequence.times.kernel_s;
    e->totals.lists += b->lists;
    e->totals.splitting_per_A = part->splitting_per_A;
    memcpy(e->totals.mesh, part->mesh, sizeof e->totals.mesh);
    pthread_mutex_unlock(&e->queue.mutex);
    return LEY_OK;
}

static ley_status by_host(frame_queue *q, int64_t frame, ley_error *error)
{
    ley_energy *e = (ley_energy *)q;
    const ley_status status = energy_store_host(e, frame, 0, error);
    e->totals.host_frames += status == LEY_OK ? 1 : 0;
    return status;
}

const frame_work energy_work = {.what = "energies",
                                .device_bytes = sizeof(energy_device),
                                .begin = begin,
                                .end = end,
                                .start = start,
                                .finish = finish,
                                .by_host = by_host};
