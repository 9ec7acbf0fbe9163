#include "run/schedule.h"

#include "clock.h"
#include "core/atoms.h"
#include "error.h"
#include "run/method.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

/* A device at work on a job: up to METHOD_SLOTS slabs in flight, oldest first. */
typedef struct shift {
    ley_job *job;
    device_record *record;
    size_t device_index;
    void *state;
    slab flying[METHOD_SLOTS];
    int first, count; /* ring buffer */
    bool is_at_work;  /* it has joined the queue, and not left it */
} shift;

static void note_slab(shift *s, slab piece, const slab_times *times)
{
    ley_job *job = s->job;
    ley_device_report *r = &s->record->report;
    const int64_t points = job->method->points(job, piece);
    pthread_mutex_lock(&job->mutex);
    r->slabs++;
    r->points += points;
    r->kernel_s += times->kernel_s;
    r->transfer_s += times->transfer.end_s - times->transfer.start_s;
    job->points_done += points;
    if (job->report.slab_count == job->slab_capacity) {
        size_t capacity = 2 * job->slab_capacity + 16;
        ley_slab_report *grown = realloc(job->slabs, capacity * sizeof *grown);
        if (grown != NULL) {
            job->slabs = grown;
            job->slab_capacity = capacity;
        }
    }
    if (job->report.slab_count < job->slab_capacity) /* else the time line stays short: no reason to fail */
        job->slabs[job->report.slab_count++] = (ley_slab_report){s->device_index,
                                                                 piece.first,
                                                                 piece.count,
                                                                 times->kernel.start_s - job->start_s,
                                                                 times->kernel.end_s - job->start_s,
                                                                 times->transfer.start_s - job->start_s,
                                                                 times->transfer.end_s - job->start_s};
    if (job->options.progress != NULL) {
        const double elapsed_s = ley_clock_s() - job->start_s;
        const ley_progress progress = {
            .points_done = job->points_done,
            .points_total = job->report.points,
            .elapsed_s = elapsed_s,
            .evaluations_per_s =
                (double)job->points_done / (double)job->report.points * job->report.evaluations / elapsed_s,
            .left_s = elapsed_s * (double)(job->report.points - job->points_done) / (double)job->points_done,
        };
        job->options.progress(job->options.progress_context, &progress);
    }
    pthread_mutex_unlock(&job->mutex);
}

/* Everything in flight goes back, also the slab that failed. */
static void give_flying_back(shift *s)
{
    for (; s->count > 0; s->count--, s->first = (s->first + 1) % METHOD_SLOTS)
        if (!slab_queue_give_back(&s->job->queue, s->flying[s->first]))
            slab_queue_stop(&s->job->queue);
}

static void give_all_back(shift *s)
{
    for (int i = 0; i < s->count; i++)
        s->job->method->drop(s->state, (s->first + i) % METHOD_SLOTS);
    give_flying_back(s);
}

static bool take(shift *s, slab *piece)
{
    if (job_cancelled(s->job))
        slab_queue_stop(&s->job->queue);
    return slab_queue_take(&s->job->queue, s->job->method->slab_count(s->state), s->count == 0, piece);
}

/* Takes, submits and collects slabs until none is left. */
static ley_status work(shift *s, ley_error *error)
{
    const method *m = s->job->method;
    for (;;) {
        slab piece;
        while (s->count < METHOD_SLOTS && take(s, &piece)) {
            const int slot = (s->first + s->count) % METHOD_SLOTS;
            s->flying[slot] = piece;
            s->count++;
            ley_status status = m->submit(s->state, slot, piece, error);
            if (status != LEY_OK)
                return status;
        }
        if (s->count == 0)
            return LEY_OK;
        slab_times times = {{0, 0}, {0, 0}, 0};
        ley_status status = m->collect(s->state, s->first, s->flying[s->first], &times, error);
        if (status != LEY_OK)
            return status;
        slab_queue_done(&s->job->queue, s->flying[s->first]);
        watch_warm();
        note_slab(s, s->flying[s->first], &times);
        s->first = (s->first + 1) % METHOD_SLOTS;
        s->count--;
    }
}

/* A device's shift ends: what it did not do goes back; why it failed is kept under its name. */
static void conclude(shift *s, const worker *w, ley_status status)
{
    ley_error *failure = &s->record->failure;
    if (status == LEY_CANCELLED) /* the job's end, not the device's fault */
        ley_error_clear(failure);
    else if (status != LEY_OK && strncmp(failure->message, w->info->name, strlen(w->info->name)) != 0)
        ley_error_prefix(failure, "%s", w->info->name);
    slab_queue_leave(&s->job->queue);
}

/* The whole of a device's part in a job; runs on its worker thread. */
static void run_shift(worker *w, void *context)
{
    shift *s = &((shift *)context)[w - ((shift *)context)->job->engine->workers];
    const double start_s = ley_clock_s();
    if (w->device == NULL || s->record->failure.status != LEY_OK) /* it has left the job */
        return;
    s->is_at_work = true;
    slab_queue_join(&s->job->queue);
    watch_expect(0);
    ley_status status = s->job->method->begin(s->job, w, s->record, &s->state, &s->record->failure);
    s->record->report.build_s = ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = work(s, &s->record->failure);
    if (status != LEY_OK)
        give_all_back(s);
    conclude(s, w, status);
    s->is_at_work = false;
    s->job->method->end(s->state);
}

/* The driver of a worker does not return: others get what it had. Its state is nobody's any more
 * but the driver's. */
static void leave_shift(worker *w, void *context)
{
    shift *s = &((shift *)context)[w - ((shift *)context)->job->engine->workers];
    if (!s->job->has_left) /* the atoms may be on their way to it, straight from the caller's */
        dev_keep(ley_atoms_keep((ley_atoms *)(uintptr_t)s->job->atoms));
    s->job->has_left = true;
    if (!s->is_at_work)
        return;
    ley_error *failure = &s->record->failure;
    if (failure->status != LEY_OK && strstr(w->open_error.message, failure->message) ==
                                         NULL) { /* it had failed already, and was ending what it had begun */
        ley_fail(&w->open_error, failure->status, "%s; %s", failure->message, w->open_error.message);
        ley_error_take_log(&w->open_error, failure->log);
        failure->log = NULL;
    }
    ley_error_copy(failure, &w->open_error);
    give_flying_back(s);
    conclude(s, w, failure->status);
}

static bool is_over(void *context)
{
    ley_job *job = ((shift *)context)->job;
    return job_cancelled(job) || slab_queue_left(&job->queue) == 0;
}

/* Why no device could finish the job: one line; the status says wrong results only if that is all
 * that went wrong. */
static ley_status no_device_left(ley_job *job, ley_error *error)
{
    ley_status worst = LEY_OK;
    const char *log = NULL;
    ley_error reasons = {0};
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const ley_error *f = &job->records[i].failure;
        if (f->status == LEY_OK)
            continue;
        if (log == NULL)
            log = f->log;
        if (worst == LEY_OK || worst == LEY_ERROR_NO_DEVICE) /* one that is not able says nothing of those that are */
            worst = f->status;
        else if (f->status != worst && f->status != LEY_ERROR_NO_DEVICE)
            worst = LEY_ERROR_DEVICE;
        ley_fail(&reasons, f->status, "%s%s%s", reasons.message, reasons.message[0] != '\0' ? "; " : "", f->message);
    }
    if (worst == LEY_OK)
        worst = LEY_ERROR_MEMORY; /* the queue lost a slab */
    ley_fail(error, worst, "%s", reasons.message[0] != '\0' ? reasons.message : "out of memory for the slab queue");
    if (log != NULL && error != NULL) {
        const ley_error logged = {.status = worst, .log = (char *)(uintptr_t)log};
        ley_error copy = {0};
        ley_error_copy(&copy, &logged);
        ley_error_take_log(error, copy.log);
    }
    ley_error_clear(&reasons);
    return worst;
}

static ley_status run_shifts(ley_job *job, shift *shifts, ley_error *error)
{
    static const engine_task task = {.run = run_shift, .is_over = is_over, .left = leave_shift};
    size_t first = 0;
    for (size_t i = 0; i < job->engine->candidate_count; i++)
        shifts[i] = (shift){.job = job, .record = &job->records[i], .device_index = i};
    do {
        engine_run(job->engine, first, &task, shifts);
        first = job->engine->worker_count;
    } while (!job_cancelled(job) && slab_queue_left(&job->queue) > 0 && engine_take_next(job->engine));
    for (size_t i = 0; i < job->engine->worker_count; i++) /* devices that did not open had no shift to say so in */
        if (job->engine->workers[i].device == NULL)
            ley_error_copy(&job->records[i].failure, &job->engine->workers[i].open_error);
    if (slab_queue_left(&job->queue) == 0)
        return LEY_OK;
    if (job_cancelled(job))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    return no_device_left(job, error);
}

ley_status schedule_run(ley_job *job, ley_error *error)
{
    const size_t count = job->engine->candidate_count;
    shift *shifts = calloc(count, sizeof *shifts);
    if (shifts == NULL)
        return ley_fail_memory(error, count * sizeof *shifts, "the devices' shifts");
    ley_status status = run_shifts(job, shifts, error);
    if (job->has_left)
        dev_keep(shifts);
    else
        free(shifts);
    return status;
}
