/* Densities of frames: the caller's thread gives out the frames to devices, and waits; the host
 * does what is sooner done than a device is opened, and what no device is left for. */
#include "fit/store.h"
#include "fit/worker.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making ---------------------------------------------------------------------------------- */

static ley_status make_devices(ley_fit *fit, ley_error *error)
{
    const size_t count = fit->engine->candidate_count;
    bool is_whole = true;
    fit->devices = calloc(count, sizeof *fit->devices);
    fit->run.again = calloc(FIT_BATCHES * count, sizeof *fit->run.again);
    is_whole = fit->devices != NULL && fit->run.again != NULL;
    for (size_t i = 0; i < count && is_whole; i++) {
        fit->devices[i] = calloc(1, sizeof **fit->devices);
        is_whole = fit->devices[i] != NULL;
        if (is_whole)
            fit->devices[i]->fit = fit;
    }
    return is_whole ? LEY_OK : ley_fail_memory(error, count * sizeof **fit->devices, "the devices' parts");
}

/* The fastest device, where there is one. */
static ley_status open_engine(ley_fit *fit, ley_error *error)
{
    const ley_status status = ley_engine_create(NULL, &fit->engine, error);
    fit->owns_engine = status == LEY_OK;
    fit->may_open = false;
    if (status == LEY_OK)
        return make_devices(fit, error);
    fit->engine = NULL;
    if (status != LEY_ERROR_NO_DEVICE)
        return status;
    log_say(LEY_LOG_WARNING, "the host computes densities: %s", error != NULL ? error->message : "no device");
    ley_error_clear(error);
    return LEY_OK;
}

ley_status ley_fit_create(ley_engine *engine, const ley_fit_target *target, size_t n, const double *weight,
                          const double *radius_A, const ley_density_options *options, ley_fit **made, ley_error *error)
{
    if (target == NULL || weight == NULL || options == NULL || made == NULL || target->size != sizeof *target)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_create(): a null pointer, or a target of another size");
    ley_fit *fit = calloc(1, sizeof *fit);
    if (fit == NULL)
        return ley_fail_memory(error, sizeof *fit, "densities");
    pthread_mutex_init(&fit->mutex, NULL);
    fit->engine = engine;
    fit->may_open = engine == NULL && !target->by_host;
    ley_status status = fit_problem_make(&fit->problem, target, n, weight, radius_A, options, error);
    if (status == LEY_OK && engine != NULL)
        status = make_devices(fit, error);
    if (status == LEY_OK)
        *made = fit;
    else
        ley_fit_destroy(fit);
    return status;
}

void ley_fit_destroy(ley_fit *fit)
{
    static const engine_task ending = {.run = fit_worker_end, .left = fit_worker_left};
    if (fit == NULL)
        return;
    const size_t count = fit->engine != NULL && fit->devices != NULL ? fit->engine->candidate_count : 0;
    if (count > 0)
        engine_run(fit->engine, 0, &ending, fit);
    for (size_t i = 0; i < count; i++) {
        if (fit->devices[i] != NULL)
            ley_error_clear(&fit->devices[i]->failure);
        free(fit->devices[i]);
    }
    free(fit->devices);
    free(fit->run.again);
    if (fit->owns_engine)
        ley_engine_destroy(fit->engine);
    fit_problem_end(&fit->problem);
    pthread_mutex_destroy(&fit->mutex);
    free(fit);
}

void ley_fit_cancel(ley_fit *fit)
{
    atomic_store(&fit->is_cancelled, true);
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
                            (long long)(fit->before + f + 1), threshold[f]);
    return LEY_OK;
}

static bool has_device(const ley_fit *fit)
{
    for (size_t i = 0; i < fit->engine->worker_count; i++)
        if (worker_device(&fit->engine->workers[i]) != NULL && !fit->devices[i]->has_failed)
            return true;
    return false;
}

/* What is left of the run. */
static void do_by_host(ley_fit *fit)
{
    fit_run *r = &fit->run;
    while (r->left > 0 && r->failure.status == LEY_OK) {
        fit_range *again = r->again_count > 0 ? &r->again[r->again_count - 1] : NULL;
        const int64_t frame = again != NULL ? again->first : r->next;
        if (atomic_load(&fit->is_cancelled))
            ley_fail(&r->failure, LEY_CANCELLED, "cancelled");
        else if (fit_store_host(fit, frame, &r->failure) == LEY_OK)
            r->left--;
        if (again == NULL)
            r->next++;
        else if (again->first++, --again->count == 0)
            r->again_count--;
    }
}

static void do_frames(ley_fit *fit)
{
    static const engine_task task = {
        .run = fit_worker_run, .is_over = fit_worker_is_over, .let_go = fit_worker_let_go, .left = fit_worker_left};
    bool has = fit->engine != NULL;
    while (has && !fit_worker_is_over(fit)) {
        engine_run(fit->engine, 0, &task, fit);
        has = fit_worker_is_over(fit) || has_device(fit) || engine_take_next(fit->engine);
        if (!has)
            log_say(LEY_LOG_WARNING, "no device is left for densities: the host goes on alone");
    }
    if (!has)
        do_by_host(fit);
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

static void count_undefined(ley_fit *fit)
{
    const fit_run *r = &fit->run;
    for (int64_t f = 0; f < r->frames && r->results.score != NULL; f++)
        if (isnan(r->results.score[LEY_FIT_SCORES * f + LEY_FIT_PEARSON])) {
            if (fit->totals.undefined++ == 0)
                fit->totals.first = fit->before + f + 1;
        }
}

static ley_status run(ley_fit *fit, ley_error *error)
{
    static const double opening_s = 0.5;
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    fit->host_s += fit->may_open ? predicted_s(fit, fit->run.frames) : 0;
    if (fit->may_open && fit->host_s > opening_s)
        status = open_engine(fit, error);
    if (status == LEY_OK)
        do_frames(fit);
    if (status == LEY_OK && fit->run.failure.status != LEY_OK) {
        status = fit->run.failure.status;
        ley_error_copy(error, &fit->run.failure);
    }
    ley_error_clear(&fit->run.failure);
    atomic_store(&fit->is_cancelled, false);
    if (status == LEY_OK) {
        count_undefined(fit);
        fit->before += fit->run.frames;
        fit->totals.frames += fit->run.frames;
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
    if (atomic_exchange(&fit->is_running, true))
        return ley_fail(error, LEY_ERROR_USAGE, "ley_fit_run(): another thread is running these frames");
    pthread_mutex_lock(&fit->mutex); /* a device that was let go may end meanwhile */
    fit->run = (fit_run){.frames = frames,
                         .position_A = position_A,
                         .threshold = threshold,
                         .results = *wanted,
                         .again = fit->run.again,
                         .left = frames};
    pthread_mutex_unlock(&fit->mutex);
    status = run(fit, error);
    atomic_store(&fit->is_running, false);
    return status;
}

void ley_fit_get_totals(const ley_fit *fit, ley_fit_totals *totals)
{
    *totals = fit->totals;
    for (size_t i = 0; fit->engine != NULL && i < fit->engine->candidate_count; i++) {
        const fit_device *d = fit->devices[i];
        const size_t used = strlen(totals->device);
        totals->failed += d->has_failed ? 1 : 0;
        if (d->info == NULL)
            continue;
        totals->devices++;
        snprintf(totals->device + used, sizeof totals->device - used, "%s%s", used > 0 ? ", " : "", d->info->name);
    }
    if (totals->device[0] == '\0')
        snprintf(totals->device, sizeof totals->device, "host");
}
