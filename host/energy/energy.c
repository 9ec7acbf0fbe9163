/* Energies of frames: the caller's thread gives out the frames to devices, and waits; the host does
 * what no device is left for. */
#include "energy/device_part.h"
#include "energy/listed.h"
#include "energy/origins.h"
#include "energy/store.h"
#include "energy/verify.h"

#include "clock.h"
#include "core/options.h"
#include "error.h"
#include "numerics/cell.h"
#include "parallel.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

/* Of fewer particles the host is done before a device has begun. */
enum { FEW_PARTICLES = 32 };

/* ---- Frames on devices ----------------------------------------------------------------------- */

/* What one device has of them. */
typedef struct energy_device {
    frame_device of;
    energy_part part;
} energy_device;

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

static const frame_work energy_work = {.what = "energies",
                                       .device_bytes = sizeof(energy_device),
                                       .begin = begin,
                                       .end = end,
                                       .start = start,
                                       .finish = finish,
                                       .by_host = by_host};

/* ---- Making ---------------------------------------------------------------------------------- */

ley_status ley_energy_create(ley_engine *engine, const ley_particles *particles, const ley_energy_options *options,
                             ley_energy **energy, ley_error *error)
{
    ley_energy_options o;
    ley_status status = LEY_OK;
    if (particles == NULL || energy == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_create(): a null pointer");
    if (options != NULL)
        status = OPTIONS_TAKE(ley_energy_options, verify_every, &o, options, error);
    else
        ley_energy_options_default(&o);
    const ley_particles_arrays arrays = ley_particles_get(particles);
    if (status == LEY_OK)
        status = energy_law_check(&arrays, &o, error);
    if (status != LEY_OK)
        return status;
    ley_energy *e = calloc(1, sizeof *e);
    if (e == NULL)
        return ley_fail_memory(error, sizeof *e, "energies");
    pthread_mutex_init(&e->origins.mutex, NULL);
    status = frame_queue_create(&e->queue, &energy_work, engine, error);
    if (status == LEY_OK)
        status = energy_problem_make(&e->problem, particles, &o, error);
    if (status == LEY_OK && engine == NULL && arrays.particles > FEW_PARTICLES)
        status = frame_queue_open(&e->queue, error);
    if (status == LEY_OK)
        *energy = e;
    else
        ley_energy_destroy(e);
    return status;
}

void ley_energy_destroy(ley_energy *e)
{
    if (e == NULL)
        return;
    frame_queue_destroy(&e->queue);
    energy_problem_destroy(&e->problem);
    energy_origins_forget(&e->origins, 0);
    pthread_mutex_destroy(&e->origins.mutex);
    free(e);
}

void ley_energy_cancel(ley_energy *e)
{
    if (e != NULL)
        atomic_store(&e->queue.is_cancelled, true);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status check_wishes(const ley_energy *e, int64_t frames, const float *position_A,
                               const ley_energy_results *wanted, ley_error *error)
{
    const ley_energy_options *o = &e->problem.law_options;
    if (wanted == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_run(): a null pointer to results");
    if (wanted->size != sizeof *wanted)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_results.size is not %zu", sizeof *wanted);
    if (frames < 0)
        return ley_fail(error, LEY_ERROR_USAGE, "frames is %lld, must be at least 0", (long long)frames);
    if (frames > 0 && position_A == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "%lld frames, and a null pointer to positions", (long long)frames);
    if ((wanted->by_particle != NULL && !o->by_particle) || (wanted->matrix != NULL && o->groups == 0) ||
        (wanted->forces != NULL && !o->forces) || (wanted->born_radii != NULL && o->born == LEY_BORN_NONE))
        return ley_fail(error, LEY_ERROR_USAGE, "%s are wanted that the options have not asked for",
                        wanted->by_particle != NULL && !o->by_particle ? "energies by particle"
                        : wanted->matrix != NULL && o->groups == 0     ? "energies of groups"
                        : wanted->forces != NULL && !o->forces         ? "forces"
                                                                       : "Born radii");
    return LEY_OK;
}

/* The first frame that is not as it must be. */
typedef struct frames_check {
    const ley_energy *e;
    _Atomic int64_t first;
} frames_check;

static void check_range(void *context, size_t first, size_t last)
{
    frames_check *c = context;
    for (size_t f = first; f < last && (int64_t)f < atomic_load(&c->first); f++) {
        const energy_frame frame = energy_run_frame(c->e, (int64_t)f);
        if (energy_law_check_frame(&frame, NULL) == LEY_OK)
            continue;
        int64_t now = atomic_load(&c->first);
        while ((int64_t)f < now && !atomic_compare_exchange_weak(&c->first, &now, (int64_t)f))
            ;
    }
}

static ley_status check_frames(const ley_energy *e, int64_t frames, ley_error *error)
{
    frames_check c = {.e = e};
    atomic_init(&c.first, frames);
    parallel_ranges((size_t)frames, check_range, &c);
    const int64_t bad = atomic_load(&c.first);
    if (bad == frames)
        return LEY_OK;
    const energy_frame frame = energy_run_frame(e, bad);
    const ley_status status = energy_law_check_frame(&frame, error);
    if (error != NULL)
        ley_error_prefix(error, "frame %lld", frame_number(&e->queue, bad));
    return status;
}

/* Devices look for nearest images among the 27 of a cell: of one that is so oblique that these are
 * not enough, they get shorter vectors of the same images. NULL: all frames' cells are short. */
static ley_status shorten_cells(int64_t frames, const double *cell_A, double **made, ley_error *error)
{
    *made = NULL;
    for (int64_t f = 0; f < frames && cell_A != NULL; f++) {
        double vector_A[3][3];
        memcpy(vector_A, cell_A + 9 * f, sizeof vector_A);
        if (!cell_shorten(vector_A))
            continue;
        if (*made == NULL) {
            const size_t bytes = 9 * (size_t)frames * sizeof **made;
            *made = malloc(bytes);
            if (*made == NULL)
                return ley_fail_memory(error, bytes, "cells");
            memcpy(*made, cell_A, bytes);
        }
        memcpy(*made + 9 * f, vector_A, sizeof vector_A);
    }
    return LEY_OK;
}

static ley_status run(ley_energy *e, int64_t frames, ley_error *error)
{
    const double start_s = ley_clock_s();
    ley_status status = check_frames(e, frames, error);
    if (status == LEY_OK)
        status = frame_queue_run(&e->queue, frames, e->run.cell_A != NULL, e->problem.arrays.particles > FEW_PARTICLES,
                                 error);
    e->totals.frames += status == LEY_OK ? frames : 0;
    e->totals.seconds += ley_clock_s() - start_s;
    return status;
}

ley_status ley_energy_run(ley_energy *e, int64_t frames, const float *position_A, const double *cell_A,
                          ley_energy_results *wanted, ley_error *error)
{
    if (e == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_run(): a null pointer");
    ley_status status = check_wishes(e, frames, position_A, wanted, error);
    if (status != LEY_OK || frames == 0)
        return status;
    if (!frame_queue_claim(&e->queue))
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_run(): another thread is running these energies");
    double *short_A;
    status = shorten_cells(frames, cell_A, &short_A, error);
    if (status == LEY_OK) {
        energy_origins_forget(&e->origins, e->queue.frames);
        e->run = (energy_run){position_A, short_A != NULL ? short_A : cell_A, *wanted};
        status = run(e, frames, error);
    }
    free(short_A);
    frame_queue_release(&e->queue);
    return status;
}

void ley_energy_get_totals(const ley_energy *e, ley_energy_totals *totals)
{
    if (totals == NULL)
        return;
    *totals = e != NULL ? e->totals : (ley_energy_totals){.frames = 0};
    if (e != NULL)
        frame_queue_describe(&e->queue, &totals->devices, &totals->failed, totals->device, totals->failure);
}
