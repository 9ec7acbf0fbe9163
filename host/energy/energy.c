/* Energies of frames: the caller's thread gives out the frames to devices, and waits; the host does
 * what no device is left for. */
#include "energy/origins.h"
#include "energy/store.h"
#include "energy/worker.h"

#include "clock.h"
#include "core/options.h"
#include "error.h"
#include "log.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of fewer particles the host is done before a device has begun. */
enum { FEW_PARTICLES = 32 };

/* ---- Making ---------------------------------------------------------------------------------- */

static ley_status make_devices(ley_energy *e, ley_error *error)
{
    const size_t count = e->engine != NULL ? e->engine->candidate_count : 0;
    e->devices = calloc(count + 1, sizeof(energy_device *));
    e->run.again = calloc(ENERGY_RANGES * count + 1, sizeof *e->run.again);
    bool is_whole = e->devices != NULL && e->run.again != NULL;
    for (size_t i = 0; i < count && is_whole; i++) {
        e->devices[i] = calloc(1, sizeof **e->devices);
        is_whole = e->devices[i] != NULL;
        if (is_whole)
            e->devices[i]->energy = e;
    }
    return is_whole ? LEY_OK : ley_fail_memory(error, (count + 1) * sizeof **e->devices, "the devices' parts");
}

/* The fastest device, where there is one. */
static ley_status open_engine(ley_energy *e, ley_error *error)
{
    ley_status status = ley_engine_create(NULL, &e->engine, error);
    e->owns_engine = status == LEY_OK;
    if (status != LEY_ERROR_NO_DEVICE)
        return status;
    log_say(LEY_LOG_WARNING, "the host computes energies: %s", error != NULL ? error->message : "no device");
    e->engine = NULL;
    ley_error_clear(error);
    return LEY_OK;
}

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
    pthread_mutex_init(&e->mutex, NULL);
    pthread_mutex_init(&e->origins.mutex, NULL);
    e->engine = engine;
    status = energy_problem_make(&e->problem, particles, &o, error);
    if (status == LEY_OK && engine == NULL && arrays.particles > FEW_PARTICLES)
        status = open_engine(e, error);
    if (status == LEY_OK)
        status = make_devices(e, error);
    if (status == LEY_OK)
        *energy = e;
    else
        ley_energy_destroy(e);
    return status;
}

void ley_energy_destroy(ley_energy *e)
{
    static const engine_task ending = {.run = energy_worker_end, .left = energy_worker_left};
    if (e == NULL)
        return;
    const size_t count = e->engine != NULL && e->devices != NULL ? e->engine->candidate_count : 0;
    if (count > 0)
        engine_run(e->engine, 0, &ending, e);
    for (size_t i = 0; i < count; i++) {
        if (e->devices[i] != NULL)
            ley_error_clear(&e->devices[i]->failure);
        free(e->devices[i]);
    }
    free(e->devices);
    free(e->run.again);
    if (e->owns_engine)
        ley_engine_destroy(e->engine);
    energy_problem_destroy(&e->problem);
    energy_origins_forget(&e->origins, 0);
    pthread_mutex_destroy(&e->origins.mutex);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

void ley_energy_cancel(ley_energy *e)
{
    if (e != NULL)
        atomic_store(&e->is_cancelled, true);
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

static ley_status check_frames(const ley_energy *e, ley_error *error)
{
    frames_check c = {.e = e};
    atomic_init(&c.first, e->run.frames);
    parallel_ranges((size_t)e->run.frames, check_range, &c);
    const int64_t bad = atomic_load(&c.first);
    if (bad == e->run.frames)
        return LEY_OK;
    const energy_frame frame = energy_run_frame(e, bad);
    const ley_status status = energy_law_check_frame(&frame, error);
    if (error != NULL)
        ley_error_prefix(error, "frame %lld", (long long)(e->before + bad + 1));
    return status;
}

static bool has_device(const ley_energy *e)
{
    for (size_t i = 0; i < e->engine->worker_count; i++)
        if (worker_device(&e->engine->workers[i]) != NULL && !e->devices[i]->has_failed)
            return true;
    return false;
}

/* What is left of the run. */
static void do_by_host(ley_energy *e)
{
    energy_run *r = &e->run;
    while (r->left > 0 && r->failure.status == LEY_OK) {
        energy_range *again = r->again_count > 0 ? &r->again[r->again_count - 1] : NULL;
        const int64_t frame = again != NULL ? again->first : r->next;
        if (atomic_load(&e->is_cancelled))
            ley_fail(&r->failure, LEY_CANCELLED, "cancelled");
        else if (energy_store_host(e, frame, 0, &r->failure) == LEY_OK) {
            r->left--;
            e->totals.host_frames++;
        }
        if (again == NULL)
            r->next++;
        else if (again->first++, --again->count == 0)
            r->again_count--;
    }
}

static void do_frames(ley_energy *e)
{
    static const engine_task task = {.run = energy_worker_run,
                                     .is_over = energy_worker_is_over,
                                     .let_go = energy_worker_let_go,
                                     .left = energy_worker_left};
    const bool is_small = e->problem.arrays.particles <= FEW_PARTICLES;
    bool has = e->engine != NULL && !is_small;
    while (has && !energy_worker_is_over(e)) {
        engine_run(e->engine, 0, &task, e);
        has = energy_worker_is_over(e) || has_device(e) || engine_take_next(e->engine);
        if (!has)
            log_say(LEY_LOG_WARNING, "no device is left for energies: the host goes on alone");
    }
    if (!has)
        do_by_host(e);
}

/* A device that was let go may end meanwhile. */
static void begin_run(ley_energy *e, int64_t frames, const float *position_A, const double *cell_A,
                      const ley_energy_results *wanted)
{
    energy_origins_forget(&e->origins, e->run.frames);
    pthread_mutex_lock(&e->mutex);
    e->run = (energy_run){.frames = frames,
                          .position_A = position_A,
                          .cell_A = cell_A,
                          .results = *wanted,
                          .again = e->run.again,
                          .left = frames};
    pthread_mutex_unlock(&e->mutex);
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
    ley_status status = check_frames(e, error);
    if (status == LEY_OK)
        do_frames(e);
    if (status == LEY_OK && e->run.failure.status != LEY_OK) {
        status = e->run.failure.status;
        ley_error_copy(error, &e->run.failure);
    }
    ley_error_clear(&e->run.failure);
    atomic_store(&e->is_cancelled, false);
    if (status == LEY_OK) {
        e->before += frames;
        e->totals.frames += frames;
    }
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
    if (atomic_exchange(&e->is_running, true))
        return ley_fail(error, LEY_ERROR_USAGE, "ley_energy_run(): another thread is running these energies");
    double *short_A;
    status = shorten_cells(frames, cell_A, &short_A, error);
    if (status == LEY_OK) {
        begin_run(e, frames, position_A, short_A != NULL ? short_A : cell_A, wanted);
        status = run(e, frames, error);
    }
    free(short_A);
    atomic_store(&e->is_running, false);
    return status;
}

/* The name of a device that has failed, and why; of a long message, as that of a build with its
 * options, the beginning and the end. */
static void put_failure(const energy_device *d, ley_energy_totals *totals)
{
    enum { END = 90, MOST = 180 };
    const char *message = d->failure.status != LEY_OK ? d->failure.message : "it does not answer";
    const size_t length = strlen(message);
    const bool is_long = length > MOST;
    snprintf(totals->failure, sizeof totals->failure, "%.60s: %.*s%s%s", d->info->name, is_long ? MOST - END : MOST,
             message, is_long ? " ... " : "", is_long ? message + length - END : "");
}

void ley_energy_get_totals(const ley_energy *e, ley_energy_totals *totals)
{
    if (totals == NULL)
        return;
    *totals = e != NULL ? e->totals : (ley_energy_totals){.frames = 0};
    for (size_t i = 0; e != NULL && e->engine != NULL && i < e->engine->candidate_count; i++) {
        const energy_device *d = e->devices[i];
        const size_t used = strlen(totals->device);
        totals->failed += d->has_failed ? 1 : 0;
        if (d->info == NULL)
            continue;
        if (d->has_failed && totals->failure[0] == '\0')
            put_failure(d, totals);
        totals->devices++;
        snprintf(totals->device + used, sizeof totals->device - used, "%s%s", used > 0 ? ", " : "", d->info->name);
    }
}
