#include "schedule/device_run.h"

#include "clock.h"
#include "costs.h"
#include "error.h"
#include "log.h"
#include "watch.h"

#include <stdlib.h>

void **device_run_state(device_run *s, const stage_run *run)
{
    return &s->states[run - s->job->stages];
}

static bool makes_result(const device_run *s)
{
    return (size_t)(s->run - s->job->stages) == s->job->method->result;
}

/* ---- A slab's end ---------------------------------------------------------------------------- */

static void *(*make_room)(void *, size_t) = realloc;

void device_run_realloc_replace(void *(*replacement)(void *bytes, size_t size))
{
    make_room = replacement != NULL ? replacement : realloc;
}

/* Whoever reads the slabs' reports reads all of them: room for another one of each slot of each
 * device is there before a slab begins. */
static ley_status reserve_reports(ley_job *job, ley_error *error)
{
    ley_status status = LEY_OK;
    pthread_mutex_lock(&job->mutex);
    const size_t needed = job->report.slab_count + METHOD_SLOTS * job->engine->candidate_count;
    if (needed > job->slab_capacity) {
        const size_t capacity = 2 * needed;
        ley_slab_report *grown = make_room(job->slabs, capacity * sizeof *grown);
        if (grown != NULL) {
            job->slabs = grown;
            job->slab_capacity = capacity;
        } else {
            status = ley_fail_memory(error, capacity * sizeof *grown, "the slabs' reports");
        }
    }
    pthread_mutex_unlock(&job->mutex);
    return status;
}

static void add_slab_report(device_run *s, slab piece, const slab_times *times)
{
    ley_job *job = s->job;
    job->slabs[job->report.slab_count++] = (ley_slab_report){s->device_index,
                                                             piece.first,
                                                             piece.count,
                                                             times->kernel.start_s - job->start_s,
                                                             times->kernel.end_s - job->start_s,
                                                             times->transfer.start_s - job->start_s,
                                                             times->transfer.end_s - job->start_s};
}

static void tell_progress(ley_job *job)
{
    if (job->options.progress == NULL)
        return;
    const double elapsed_s = ley_clock_s() - job->start_s, own = (double)(job->points_done - job->report.kept_points);
    const ley_progress progress = {
        .points_done = job->points_done,
        .points_total = job->report.points,
        .elapsed_s = elapsed_s,
        .evaluations_per_s =
            own / (double)job->report.points * job->report.evaluations / elapsed_s,
        .left_s = elapsed_s * (double)(job->report.points - job->points_done) / own,
    };
    job->options.progress(job->options.progress_context, &progress);
}

/* What the slab was predicted to take, by its launches and its way back. */
static void predict_slab(device_run *s, const slab_times *times)
{
    double bus[COSTS_MOST];
    costs_known(&bus_costs, s->worker->info, bus);
    s->record->predicted_kernel_s += times->predicted_s;
    s->record->unpredicted += times->unpredicted;
    if (times->read_bytes > 0)
        s->record->predicted_transfer_s += (double)times->read_bytes * bus[COST_TO_HOST] + bus[COST_START];
}

static void note_slab(device_run *s, slab piece, const slab_times *times)
{
    ley_job *job = s->job;
    ley_device_report *r = &s->record->report;
    pthread_mutex_lock(&job->mutex);
    r->kernel_s += times->kernel_s;
    r->transfer_s += times->transfer.end_s - times->transfer.start_s;
    predict_slab(s, times);
    if (makes_result(s)) {
        const int64_t points = job->method->points(job->task, piece);
        r->slabs++;
        r->points += points;
        job->points_done += points;
        add_slab_report(s, piece, times);
        tell_progress(job);
    }
    pthread_mutex_unlock(&job->mutex);
}

/* Everything in flight goes back, also the slab that failed. */
void device_run_give_flying_back(device_run *s)
{
    const char *name = s->job->engine->workers[s->device_index].info->name;
    for (; s->count > 0; s->count--, s->first = (s->first + 1) % METHOD_SLOTS) {
        const slab piece = s->flying[s->first];
        if (s->run->stage->split == STAGE_EACH_DEVICE)
            continue;
        log_say(LEY_LOG_NOTE, "%s: gives back %s %lld to %lld", name, s->run->stage->name, (long long)piece.first,
                (long long)(piece.first + piece.count - 1));
        if (!slab_queue_give_back(&s->run->queue, piece))
            slab_queue_stop(&s->run->queue);
    }
}

void device_run_give_all_back(device_run *s)
{
    for (int i = 0; i < s->count; i++)
        s->run->stage->drop(*device_run_state(s, s->run), (s->first + i) % METHOD_SLOTS);
    device_run_give_flying_back(s);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* What the device computes by, and why. */
static void log_choice(device_run *s)
{
    static const char *const reasons[] = {[LEY_MATH_STANDARD] = "as asked for",
                                          [LEY_MATH_NATIVE] = "the fastest, as asked for",
                                          [LEY_MATH_AUTO] = "the fastest that is right enough"};
    const kernel_notes *k = &s->record->kernel;
    if (!makes_result(s) || k->variant == NULL || k->root == NULL)
        return;
    log_say(LEY_LOG_NOTE, "%s: variant %s (%s), root %s%s%s (%s), slabs of at most %lld, ready in %.3f s: %s",
            s->worker->info->name, k->variant,
            s->job->options.variant != NULL ? "as asked for" : "the default of such devices", k->root,
            k->exp != NULL ? ", exponential " : "", k->exp != NULL ? k->exp : "", reasons[s->job->options.math],
            (long long)s->run->stage->slab_count(*device_run_state(s, s->run)), s->record->report.build_s,
            k->specification);
}

ley_status device_run_begin(device_run *s, ley_error *error)
{
    const size_t i = (size_t)(s->run - s->job->stages);
    const stage_place place = {.device = s->worker->device,
                               .arena = &s->arena,
                               .job = &s->job->view,
                               .notes = &s->record->kernel,
                               .products = &s->products,
                               .is_unwanted = &s->is_unwanted};
    s->first = 0; /* nothing is in flight: a stage that is one slab has one slot */
    s->began_s = s->began_s > 0 ? s->began_s : ley_clock_s();
    if (s->has_begun[i])
        return LEY_OK;
    const double start_s = ley_clock_s();
    const stage *t = s->run->stage;
    ley_status status = !s->was_begun[i]   ? t->begin(s->job->task, &place, &s->states[i], error)
                        : t->renew != NULL ? t->renew(s->job->task, &place, s->states[i], error)
                                           : LEY_OK;
    s->has_begun[i] = status != LEY_CANCELLED; /* else perhaps another time */
    s->record->report.build_s += ley_clock_s() - start_s;
    if (status == LEY_OK && s->run->stage->slab_count != NULL && (makes_result(s) || s->record->slab == 0))
        s->record->slab = s->run->stage->slab_count(s->states[i]);
    if (status == LEY_OK)
        log_choice(s);
    return status;
}

ley_status device_run_submit(device_run *s, slab piece, ley_error *error)
{
    const int slot = (s->first + s->count) % METHOD_SLOTS;
    s->flying[slot] = piece;
    s->count++;
    s->pieces++;
    const ley_status status = makes_result(s) ? reserve_reports(s->job, error) : LEY_OK;
    return status == LEY_OK ? s->run->stage->submit(*device_run_state(s, s->run), slot, piece, error) : status;
}

ley_status device_run_collect(device_run *s, ley_error *error)
{
    slab_times times = {.kernel_s = 0};
    const slab piece = s->flying[s->first];
    ley_status status = s->run->stage->collect(*device_run_state(s, s->run), s->first, piece, &times, error);
    if (status != LEY_OK)
        return status;
    watch_warm();
    note_slab(s, piece, &times);
    s->first = (s->first + 1) % METHOD_SLOTS;
    s->count--;
    return LEY_OK;
}

/* The whole of a stage, as one slab. */
ley_status device_run_do_whole(device_run *s, ley_error *error)
{
    ley_status status = device_run_begin(s, error);
    if (status == LEY_OK)
        status = device_run_submit(s, (slab){0, 1}, error);
    return status == LEY_OK ? device_run_collect(s, error) : status;
}

/* ---- The job's end
 * ------------------------------------------------------------------------------- */

/* Pieces that devices have left to do. */
int64_t device_run_left_for_devices(ley_job *job)
{
    int64_t left = 0;
    for (size_t i = 0; i < job->method->stage_count; i++)
        if (job->stages[i].is_wanted)
            left += slab_queue_left(&job->stages[i].queue);
    return left;
}

bool device_run_job_is_over(ley_job *job)
{
    return job_cancelled(job) || device_run_left_for_devices(job) == 0;
}
