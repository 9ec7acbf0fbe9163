#include "energy/worker.h"

#include "energy/device_part.h"
#include "energy/listed.h"
#include "energy/origins.h"
#include "energy/store.h"
#include "energy/verify.h"
#include "error.h"
#include "log.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

static energy_device *device_of(const worker *w, void *energy)
{
    return ((ley_energy *)energy)->devices[w - w->engine->workers];
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The next frames for a device, at most so many; none: all are dealt, or the run is over. */
static energy_range take(ley_energy *e, int most)
{
    energy_run *r = &e->run;
    energy_range taken = {0, 0};
    pthread_mutex_lock(&e->mutex);
    if (r->failure.status == LEY_OK && r->again_count > 0) {
        energy_range *last = &r->again[r->again_count - 1];
        taken = (energy_range){last->first, last->count < most ? last->count : most};
        last->first += taken.count;
        last->count -= taken.count;
        r->again_count -= last->count == 0 ? 1 : 0;
    } else if (r->failure.status == LEY_OK) {
        const int64_t left = r->frames - r->next, devices = (int64_t)e->engine->worker_count,
                      share = devices > 1 ? (left + 2 * devices - 1) / (2 * devices) : left;
        taken = (energy_range){r->next, share < most ? share : most};
        r->next += taken.count;
    }
    pthread_mutex_unlock(&e->mutex);
    return taken;
}

/* What a device had is dealt again. The caller holds the mutex. */
static void give_back(ley_energy *e, energy_device *d)
{
    for (int i = 0; i < ENERGY_BATCHES; i++) {
        energy_batch *b = &d->part.batch[i];
        if (b->frames > 0)
            e->run.again[e->run.again_count++] = (energy_range){b->first, b->frames};
        b->frames = 0;
    }
}

static void end_run(ley_energy *e, const ley_error *why)
{
    pthread_mutex_lock(&e->mutex);
    if (e->run.failure.status == LEY_OK)
        ley_error_copy(&e->run.failure, why);
    pthread_mutex_unlock(&e->mutex);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static ley_status start(energy_device *d, energy_batch *b, ley_error *error)
{
    ley_energy *e = d->energy;
    const energy_range taken = take(e, d->part.frames);
    const size_t n = (size_t)e->problem.arrays.particles;
    b->frames = 0;
    b->origin = (energy_origin){.number = 0};
    if (taken.count == 0)
        return LEY_OK;
    const ley_status status =
        energy_listed_shares(&d->part) ? energy_origin_find(e, taken.first, &b->origin, error) : LEY_OK;
    return status != LEY_OK ? status
                            : energy_part_start(&d->part, b, taken.first, (int)taken.count,
                                                e->run.position_A + 3 * n * (size_t)taken.first,
                                                e->run.cell_A != NULL ? e->run.cell_A + 9 * taken.first : NULL, error);
}

/* Stores what is right of a batch. */
static ley_status store(energy_device *d, energy_batch *b, ley_error *error)
{
    ley_energy *e = d->energy;
    bool *by_host = calloc((size_t)b->frames, sizeof *by_host);
    if (by_host == NULL)
        return ley_fail_memory(error, (size_t)b->frames * sizeof *by_host, "a batch of frames");
    ley_status status = energy_store_batch(e, b, by_host, error);
    for (int f = 0; f < b->frames && status == LEY_OK; f++)
        if (!by_host[f] && energy_verify_wants(e, d, b->first + f)) {
            status = energy_verify(e, b, f, d->part.quantum, error);
            d->has_passed = status == LEY_OK;
        }
    free(by_host);
    return status;
}

static ley_status finish(energy_device *d, energy_batch *b, ley_error *error)
{
    ley_energy *e = d->energy;
    ley_status status = energy_part_finish(&d->part, b, error);
    if (status != LEY_OK)
        return status;
    if (b->sequence.times.kernel_s > 0)
        watch_warm();
    status = store(d, b, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&e->mutex);
    e->run.left -= b->frames;
    e->totals.device_seconds += b->sequence.times.kernel_s;
    e->totals.lists += b->lists;
    e->totals.splitting_per_A = d->part.splitting_per_A;
    memcpy(e->totals.mesh, d->part.mesh, sizeof e->totals.mesh);
    b->frames = 0;
    pthread_mutex_unlock(&e->mutex);
    return LEY_OK;
}

static ley_status work(energy_device *d, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < ENERGY_BATCHES && status == LEY_OK; i++)
        status = start(d, &d->part.batch[i], error);
    /* Others give frames back at any time: a batch that got some may follow one that got none. */
    for (int at = 0, idle = 0; idle < ENERGY_BATCHES && status == LEY_OK; at = (at + 1) % ENERGY_BATCHES) {
        energy_batch *b = &d->part.batch[at];
        idle = b->frames > 0 ? 0 : idle + 1;
        if (b->frames > 0)
            status = finish(d, b, error);
        if (status == LEY_OK && idle == 0)
            status = start(d, b, error);
    }
    return status;
}

/* The run may end meanwhile, and its arrays with it. False: it has; where beginning failed, too,
 * the next run tries again. */
static bool prepare(energy_device *d, dev *device, bool is_periodic, ley_status *status, ley_error *error)
{
    ley_energy *e = d->energy;
    if (d->is_ready && d->part.is_periodic == is_periodic)
        return true;
    pthread_mutex_lock(&e->mutex);
    d->is_beginning = true;
    d->was_let_go = false;
    pthread_mutex_unlock(&e->mutex);
    if (d->is_ready)
        energy_part_end(&d->part);
    *status = energy_part_begin(&d->part, &e->problem, device, is_periodic,
                                d->most_frames > 0 ? d->most_frames : INT64_MAX, error);
    d->part.cancelled = &e->is_cancelled;
    pthread_mutex_lock(&e->mutex);
    d->is_ready = *status == LEY_OK;
    d->is_beginning = false;
    const bool goes_on = !d->was_let_go;
    pthread_mutex_unlock(&e->mutex);
    if (*status != LEY_OK)
        energy_part_end(&d->part);
    return goes_on;
}

/* Whether what has failed may not for a few frames at a time: there was no memory, as far as is
 * known. Then the device begins anew. */
static bool takes_fewer(energy_device *d, const ley_error *why)
{
    ley_energy *e = d->energy;
    const int frames = d->part.frames;
    if (frames <= 1 || (why->status != LEY_ERROR_MEMORY && why->status != LEY_ERROR_NO_DEVICE &&
                        (why->status != LEY_ERROR_DEVICE || d->is_ready)))
        return false;
    log_say(LEY_LOG_NOTE, "%s takes fewer than %d frames at a time: %s", d->info->name, frames, why->message);
    if (d->is_ready)
        energy_part_end(&d->part);
    pthread_mutex_lock(&e->mutex);
    d->is_ready = false;
    d->most_frames = frames / 4 > 1 ? frames / 4 : 1;
    give_back(e, d);
    pthread_mutex_unlock(&e->mutex);
    return true;
}

/* The run ends, or the device leaves: by what has happened. */
static void fail(energy_device *d, const ley_error *why)
{
    ley_energy *e = d->energy;
    if (why->status == LEY_CANCELLED || why->status == LEY_ERROR_INPUT) {
        for (int i = 0; i < ENERGY_BATCHES && d->is_ready; i++) {
            sequence_finish(&d->part.batch[i].sequence, NULL);
            d->part.batch[i].frames = 0;
        }
        if (d->is_ready && why->status == LEY_CANCELLED) { /* modules may have stopped halfway */
            energy_part_end(&d->part);
            d->is_ready = false;
        }
        end_run(e, why);
        return;
    }
    log_say(LEY_LOG_WARNING, "%s computes no more energies: %s", d->info->name, why->message);
    if (d->is_ready)
        energy_part_end(&d->part);
    pthread_mutex_lock(&e->mutex);
    d->is_ready = false;
    ley_error_copy(&d->failure, why);
    give_back(e, d);
    d->has_failed = true;
    pthread_mutex_unlock(&e->mutex);
}

void energy_worker_run(worker *w, void *energy)
{
    ley_energy *e = energy;
    energy_device *d = device_of(w, energy);
    ley_error error = {.status = LEY_OK};
    ley_status status = LEY_OK;
    if (w->device == NULL || d->has_failed)
        return;
    d->info = w->info;
    do {
        ley_error_clear(&error);
        status = LEY_OK;
        if (!prepare(d, w->device, e->run.cell_A != NULL, &status, &error)) {
            ley_error_clear(&error);
            return;
        }
        if (status == LEY_OK)
            status = work(d, &error);
    } while (status != LEY_OK && takes_fewer(d, &error));
    for (int i = 0; i < ENERGY_BATCHES && status == LEY_ERROR_WRONG_RESULT; i++)
        sequence_finish(&d->part.batch[i].sequence, NULL);
    if (status == LEY_ERROR_WRONG_RESULT)
        kernels_distrust(w->device);
    if (status != LEY_OK)
        fail(d, &error);
    ley_error_clear(&error);
}

bool energy_worker_is_over(void *energy)
{
    ley_energy *e = energy;
    pthread_mutex_lock(&e->mutex);
    const bool is_over = e->run.left == 0 || e->run.failure.status != LEY_OK;
    pthread_mutex_unlock(&e->mutex);
    return is_over;
}

bool energy_worker_let_go(worker *w, void *energy)
{
    ley_energy *e = energy;
    energy_device *d = device_of(w, energy);
    pthread_mutex_lock(&e->mutex);
    d->was_let_go = d->was_let_go || d->is_beginning;
    const bool is_free = d->is_beginning;
    pthread_mutex_unlock(&e->mutex);
    return is_free;
}

void energy_worker_left(worker *w, void *energy)
{
    ley_energy *e = energy;
    energy_device *d = device_of(w, energy), *again = calloc(1, sizeof *again);
    pthread_mutex_lock(&e->mutex);
    give_back(e, d);
    d->has_failed = true;
    if (again != NULL) { /* the driver may use the other one for ever */
        *again = (energy_device){.energy = e, .info = d->info, .has_failed = true};
        ley_error_copy(&again->failure, &w->open_error);
        e->devices[w - w->engine->workers] = again;
    }
    pthread_mutex_unlock(&e->mutex);
    dev_keep(d);
}

void energy_worker_end(worker *w, void *energy)
{
    energy_device *d = device_of(w, energy);
    if (d->is_ready)
        energy_part_end(&d->part);
    d->is_ready = false;
}
