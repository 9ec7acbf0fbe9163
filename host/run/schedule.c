#include "run/schedule.h"

#include "clock.h"
#include "core/atoms.h"
#include "costs.h"
#include "error.h"
#include "log.h"
#include "watch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_STAGES = 16 };

/* How far a device is with its part in a job. */
typedef enum shift_phase { SHIFT_NEW, SHIFT_READYING, SHIFT_AT_WORK, SHIFT_ENDED } shift_phase;

struct pass;

/* A device's part in a job: the states of the stages that it is ready for; and up to METHOD_SLOTS
 * slabs of the stage at hand in flight, oldest first. */
typedef struct shift {
    struct pass *pass;
    ley_job *job;          /* not to be touched by a device that was let go */
    device_record *record; /* the job's */
    kernel_notes notes;    /* the device's own, until it joins the job, as is: */
    ley_error failure;
    size_t device_index;
    worker *worker;
    room room;      /* of all that the job has here; also of what another device had made */
    stage_run *run; /* the stage at hand; NULL: none */
    void *states[MOST_STAGES];
    bool has_begun[MOST_STAGES];
    stage_products products;
    slab flying[METHOD_SLOTS];
    int first, count; /* ring buffer */
    shift_phase phase;
    bool is_let_go; /* the job ends without it */

    /* Of a device at work, under the pass's mutex; predictions are 0 where nobody knows. */
    double own_s, slabs_s;    /* what it makes for itself, and all slabs by this device alone, are predicted to take */
    double own_begun_s;       /* when it began with the former; 0: it has not, or has done it */
    double progress_s;        /* when it last came to the end of something */
    bool is_predicted;        /* these two are known */
    bool has_own, is_waiting; /* the former is done; not begun, as it would come too late */
    atomic_bool is_unwanted;  /* what it makes for itself, as stage_place says */
} shift;

/* All devices' shifts. A device that is late keeps it beyond the job's end. */
typedef struct pass {
    const method *method;
    bool is_wanted[MOST_STAGES];
    void *wishes[MOST_STAGES]; /* of stages: what devices are readied by */
    atomic_int holders;        /* the job, and devices that were given their shift: the last one frees it */
    pthread_mutex_t mutex;     /* for phases, and who was let go */
    shift shifts[];
} pass;

static void let_loose(pass *p)
{
    if (atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    for (size_t i = 0; i < p->method->stage_count; i++)
        if (p->method->stages[i].wish_destroy != NULL)
            p->method->stages[i].wish_destroy(p->wishes[i]);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

static shift *shift_of(const worker *w, void *context)
{
    return &((pass *)context)->shifts[w - w->engine->workers];
}

static void **state_of(shift *s, const stage_run *run)
{
    return &s->states[run - s->job->stages];
}

static bool makes_result(const shift *s)
{
    return (size_t)(s->run - s->job->stages) == s->job->method->result;
}

/* ---- Products -------------------------------------------------------------------------------- */

static stage_run *maker_of(ley_job *job, const product *what)
{
    for (size_t i = 0; i < job->method->stage_count; i++) {
        const product *const *makes = job->stages[i].stage->makes;
        for (; makes != NULL && *makes != NULL; makes++)
            if (*makes == what && job->stages[i].is_wanted)
                return &job->stages[i];
    }
    return NULL;
}

/* What a stage of one device made comes to the host, for the other devices. */
static ley_status keep_on_host(shift *s, const product *what, ley_error *error)
{
    dev *device = s->worker->device;
    const dev_backend *b = device->backend;
    const stage_product *m = stage_products_find(&s->products, what);
    if (what->bytes == NULL || m == NULL || s->job->engine->candidate_count == 1)
        return LEY_OK;
    const size_t bytes = (size_t)what->bytes(s->job->task);
    dev_staging *staging = NULL;
    dev_event *done = NULL;
    void *copy = malloc(bytes);
    ley_status status =
        copy != NULL ? b->staging_create(device, bytes, &staging, error) : ley_fail_memory(error, bytes, what->name);
    if (status == LEY_OK)
        status = b->read(device, m->made, 0, staging, bytes, NULL, &done, error);
    if (status == LEY_OK)
        status = b->wait(device, done, &(dev_times){0, 0}, error);
    if (status == LEY_OK)
        memcpy(copy, staging->bytes, bytes);
    if (staging != NULL)
        b->staging_destroy(device, staging);
    if (status == LEY_OK) {
        free(s->run->made);
        s->run->made = copy;
    } else {
        free(copy);
    }
    return status;
}

/* What another device made comes here. */
static ley_status bring(shift *s, const stage_run *maker, const product *what, ley_error *error)
{
    dev *device = s->worker->device;
    const size_t bytes = (size_t)what->bytes(s->job->task);
    dev_buffer *buffer = NULL;
    ley_status status = room_buffer(&s->room, bytes, DEV_READ_WRITE, &buffer, error);
    if (status == LEY_OK)
        status = device->backend->write(device, buffer, 0, maker->made, bytes, error);
    if (status != LEY_OK) {
        room_free_buffer(&s->room, &buffer);
        return status;
    }
    const stage_place place = {.products = &s->products};
    stage_make(&place, what, buffer);
    return LEY_OK;
}

/* ---- A slab's end ---------------------------------------------------------------------------- */

static void *(*make_room)(void *, size_t) = realloc;

void schedule_realloc_replace(void *(*replacement)(void *bytes, size_t size))
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

static void add_slab_report(shift *s, slab piece, const slab_times *times)
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

/* What the slab was predicted to take, by its launches and its way back. */
static void predict_slab(shift *s, const slab_times *times)
{
    double bus[COSTS_MOST];
    costs_known(&bus_costs, s->worker->info, bus);
    s->record->predicted_kernel_s += times->predicted_s;
    s->record->unpredicted += times->unpredicted;
    if (times->read_bytes > 0)
        s->record->predicted_transfer_s += (double)times->read_bytes * bus[COST_TO_HOST] + bus[COST_START];
}

static void note_slab(shift *s, slab piece, const slab_times *times)
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
static void give_flying_back(shift *s)
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

static void give_all_back(shift *s)
{
    for (int i = 0; i < s->count; i++)
        s->run->stage->drop(*state_of(s, s->run), (s->first + i) % METHOD_SLOTS);
    give_flying_back(s);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static bool job_is_over(ley_job *job);

/* What the device computes by, and why. */
static void log_choice(shift *s)
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
            (long long)s->run->stage->slab_count(*state_of(s, s->run)), s->record->report.build_s, k->specification);
}

static ley_status begin_stage(shift *s, ley_error *error)
{
    const size_t i = (size_t)(s->run - s->job->stages);
    const stage_place place = {.device = s->worker->device,
                               .room = &s->room,
                               .job = &s->job->view,
                               .notes = &s->record->kernel,
                               .products = &s->products,
                               .is_unwanted = &s->is_unwanted};
    s->first = 0; /* nothing is in flight: a stage that is one slab has one slot */
    if (s->has_begun[i])
        return LEY_OK;
    const double start_s = ley_clock_s();
    ley_status status = s->run->stage->begin(s->job->task, &place, &s->states[i], error);
    s->has_begun[i] = status != LEY_CANCELLED; /* else perhaps another time */
    s->record->report.build_s += ley_clock_s() - start_s;
    if (status == LEY_OK && s->run->stage->slab_count != NULL && (makes_result(s) || s->record->slab == 0))
        s->record->slab = s->run->stage->slab_count(s->states[i]);
    if (status == LEY_OK)
        log_choice(s);
    return status;
}

static ley_status submit(shift *s, slab piece, ley_error *error)
{
    const int slot = (s->first + s->count) % METHOD_SLOTS;
    s->flying[slot] = piece;
    s->count++;
    const ley_status status = makes_result(s) ? reserve_reports(s->job, error) : LEY_OK;
    return status == LEY_OK ? s->run->stage->submit(*state_of(s, s->run), slot, piece, error) : status;
}

static ley_status collect(shift *s, ley_error *error)
{
    slab_times times = {.kernel_s = 0};
    const slab piece = s->flying[s->first];
    ley_status status = s->run->stage->collect(*state_of(s, s->run), s->first, piece, &times, error);
    if (status != LEY_OK)
        return status;
    watch_warm();
    note_slab(s, piece, &times);
    s->first = (s->first + 1) % METHOD_SLOTS;
    s->count--;
    return LEY_OK;
}

static bool take(shift *s, slab *piece)
{
    if (job_cancelled(s->job))
        slab_queue_stop(&s->run->queue);
    const int64_t most = s->run->stage->slab_count(*state_of(s, s->run));
    return slab_queue_take(&s->run->queue, most, s->count == 0, piece);
}

static void note_progress(shift *s)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->progress_s = ley_clock_s();
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Takes, submits and collects slabs until none is left: then all are done, whoever did them. */
static ley_status do_slabs(shift *s, ley_error *error)
{
    ley_status status = begin_stage(s, error);
    while (status == LEY_OK) {
        slab piece;
        while (status == LEY_OK && s->count < METHOD_SLOTS && take(s, &piece))
            status = submit(s, piece, error);
        if (status != LEY_OK || s->count == 0)
            break;
        piece = s->flying[s->first];
        status = collect(s, error);
        if (status == LEY_OK)
            slab_queue_done(&s->run->queue, piece);
        note_progress(s);
    }
    return status;
}

/* The whole of a stage, as one slab. */
static ley_status do_whole(shift *s, ley_error *error)
{
    ley_status status = begin_stage(s, error);
    if (status == LEY_OK)
        status = submit(s, (slab){0, 1}, error);
    return status == LEY_OK ? collect(s, error) : status;
}

/* ---- What each device makes for itself ------------------------------------------------------- */

static const double waited_share = 0.1;

/* How long a device has left for what it makes for itself. */
static double own_left_s(const shift *s, double now_s)
{
    return s->has_own ? 0 : s->own_begun_s > 0 ? fmax(s->own_s - (now_s - s->own_begun_s), 0) : s->own_s;
}

/* How long the job takes without this device, as others at work are predicted to take for what is
 * left, by the fastest of them alone; one that has made no progress for a time is given as long
 * again. INFINITY: nobody else does it. The caller holds the pass's mutex. */
static double left_without_s(const shift *s, double now_s)
{
    const pass *p = s->pass;
    stage_run *result = &s->job->stages[s->job->method->result];
    const int64_t pieces = job_pieces(s->job, result->stage);
    const double share = (double)slab_queue_left(&result->queue) / (double)(pieces > 0 ? pieces : 1);
    double least_s = INFINITY;
    for (size_t i = 0; i < s->job->engine->worker_count; i++) {
        const shift *other = &p->shifts[i];
        if (other == s || other->phase != SHIFT_AT_WORK || other->is_waiting || !(other->slabs_s > 0))
            continue;
        const double left_s = own_left_s(other, now_s) + share * other->slabs_s;
        least_s = fmin(least_s, fmax(left_s, now_s - other->progress_s));
    }
    return least_s;
}

/* At work already, a device counts once its time is predicted. The caller holds the pass's
 * mutex. */
static bool is_about_to_join(const shift *s)
{
    return s->phase < SHIFT_AT_WORK || (s->phase == SHIFT_AT_WORK && !s->is_predicted);
}

/* Whether another device is about to join, which may be the faster one: a tenth of what this one
 * would begin is waited for it. */
static bool awaits_others(shift *s)
{
    bool is_any_readied = false;
    pthread_mutex_lock(&s->pass->mutex);
    for (size_t i = 0; i < s->job->engine->worker_count; i++)
        is_any_readied = is_any_readied || is_about_to_join(&s->pass->shifts[i]);
    const bool awaits = is_any_readied && ley_clock_s() - s->progress_s < waited_share * s->own_s;
    pthread_mutex_unlock(&s->pass->mutex);
    return awaits;
}

/* Whether what the device makes for itself would be there too late to be of use. */
static bool comes_too_late(shift *s)
{
    const double now_s = ley_clock_s();
    pthread_mutex_lock(&s->pass->mutex);
    const bool is_late = s->own_s > 0 && !s->has_own && own_left_s(s, now_s) > left_without_s(s, now_s);
    pthread_mutex_unlock(&s->pass->mutex);
    return is_late;
}

/* Predicted once the device has joined, as the task may be looked at then. */
static void predict(shift *s)
{
    const method *m = s->job->method;
    double own_s = 0, slabs_s = 0;
    bool is_known = true;
    for (size_t i = 0; i < m->stage_count; i++) {
        const stage *t = &m->stages[i];
        if (!s->job->stages[i].is_wanted || t->predict == NULL)
            continue;
        const double seconds = t->predict(s->job->task, s->states[i]);
        is_known = is_known && (seconds > 0 || t->split != STAGE_EACH_DEVICE);
        own_s += t->split == STAGE_EACH_DEVICE ? seconds : 0;
        slabs_s = i == m->result ? seconds : slabs_s;
    }
    pthread_mutex_lock(&s->pass->mutex);
    s->own_s = is_known ? own_s : 0;
    s->slabs_s = slabs_s;
    s->is_predicted = true;
    s->progress_s = ley_clock_s();
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Begins, and has done, what the device makes for itself. */
static void note_own(shift *s, bool is_begun, bool is_done)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->progress_s = ley_clock_s();
    s->own_begun_s = is_begun ? s->progress_s : 0;
    s->has_own = is_done;
    atomic_store(&s->is_unwanted, false);
    pthread_mutex_unlock(&s->pass->mutex);
}

static void set_waiting(shift *s, bool is_waiting)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->is_waiting = is_waiting;
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Until it is worth beginning, as when another device has left the job, or the job is over. */
static void wait_for_need(shift *s)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    bool is_late = false;
    while (!job_is_over(s->job) && ((is_late = comes_too_late(s)) || awaits_others(s))) {
        if (is_late && !s->is_waiting)
            log_say(LEY_LOG_NOTE, "%s: does not begin %s, as others are predicted to end the job before",
                    s->worker->info->name, s->run->stage->name);
        set_waiting(s, is_late);
        nanosleep(&moment, NULL);
    }
    set_waiting(s, false);
}

static bool is_unwanted(const shift *s)
{
    return atomic_load(&s->is_unwanted) && !job_cancelled(s->job);
}

/* The whole of it; nothing where the job is over before. A device that is let go, because others
 * are faster, does it again where they leave the job. */
static ley_status do_each(shift *s, ley_error *error)
{
    ley_status status = LEY_OK;
    bool again;
    do {
        wait_for_need(s);
        if (job_is_over(s->job))
            break;
        note_own(s, true, false);
        status = do_whole(s, error);
        again = status == LEY_CANCELLED && is_unwanted(s);
        if (again) {
            log_say(LEY_LOG_NOTE, "%s: lets go of %s", s->worker->info->name, s->run->stage->name);
            give_all_back(s);
            ley_error_clear(error);
            status = LEY_OK;
        }
        note_own(s, false, !again);
    } while (again);
    if (status == LEY_OK && job_is_over(s->job) && !job_cancelled(s->job))
        snprintf(s->record->late, sizeof s->record->late, "%s", s->run->stage->name);
    return status;
}

/* ---- Stages in their order ------------------------------------------------------------------- */

/* A stage of one device, unless another one does it: with `wait`, until that one has done it or
 * failed. */
static ley_status do_alone(shift *s, bool wait, ley_error *error)
{
    slab piece;
    if (job_cancelled(s->job))
        slab_queue_stop(&s->run->queue);
    if (!slab_queue_take(&s->run->queue, 1, wait, &piece))
        return LEY_OK;
    ley_status status = do_whole(s, error);
    for (size_t i = 0; status == LEY_OK && s->run->stage->makes != NULL && s->run->stage->makes[i] != NULL; i++)
        status = keep_on_host(s, s->run->stage->makes[i], error);
    if (status == LEY_OK) {
        s->run->maker = s->device_index;
        slab_queue_done(&s->run->queue, piece);
    } else if (s->count == 0 && !slab_queue_give_back(&s->run->queue, piece)) { /* else what flies goes back */
        slab_queue_stop(&s->run->queue);
    }
    return status;
}

/* What a stage needs is there: made on this device, brought here, or standing in the task. */
static ley_status get_needs(shift *s, stage_run *run, ley_error *error)
{
    ley_status status = LEY_OK;
    const product *const *needs = run->stage->needs;
    for (; status == LEY_OK && needs != NULL && *needs != NULL; needs++) {
        stage_run *maker = maker_of(s->job, *needs);
        if (maker == NULL)
            continue;
        s->run = maker;
        if (maker->stage->split == STAGE_ONE_DEVICE)
            status = do_alone(s, true, error);
        else if (maker->stage->split == STAGE_HOST)
            slab_queue_wait(&maker->queue);
        if (status == LEY_OK && maker->made != NULL && stage_products_find(&s->products, *needs) == NULL)
            status = bring(s, maker, *needs, error);
    }
    if (status == LEY_OK) /* else what flies is the maker's */
        s->run = run;
    return status;
}

static ley_status do_stage(shift *s, stage_run *run, ley_error *error)
{
    s->run = run;
    ley_status status = get_needs(s, run, error);
    if (status != LEY_OK || job_is_over(s->job))
        return status;
    switch (run->stage->split) {
    case STAGE_SLABS:
        return do_slabs(s, error);
    case STAGE_EACH_DEVICE:
        return run->stage->predict != NULL ? do_each(s, error) : do_whole(s, error);
    case STAGE_ONE_DEVICE:
        return do_alone(s, false, error);
    case STAGE_HOST:
        break;
    }
    return LEY_OK;
}

/* All stages in their order; at the end what another device may still fail to do. */
static ley_status do_stages(shift *s, ley_error *error)
{
    ley_job *job = s->job;
    ley_status status = LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < job->method->stage_count; i++)
        if (job->stages[i].is_wanted)
            status = do_stage(s, &job->stages[i], error);
    for (size_t i = 0; status == LEY_OK && i < job->method->stage_count; i++)
        if (job->stages[i].is_wanted && job->stages[i].stage->split == STAGE_ONE_DEVICE) {
            s->run = &job->stages[i];
            status = do_alone(s, true, error);
        }
    return status;
}

/* Looks at nothing of the job's. */
static void end_stages(shift *s)
{
    const method *m = s->pass->method;
    for (size_t i = m->stage_count; i-- > 0;)
        if (s->states[i] != NULL)
            m->stages[i].end(s->states[i]);
    room_clear(&s->room);
}

static void join_queues(const shift *s, bool joins)
{
    for (size_t i = 0; i < s->job->method->stage_count; i++)
        (joins ? slab_queue_join : slab_queue_leave)(&s->job->stages[i].queue);
}

/* ---- Shifts ---------------------------------------------------------------------------------- */

/* Pieces that devices have left to do. */
static int64_t left_for_devices(ley_job *job)
{
    int64_t left = 0;
    for (size_t i = 0; i < job->method->stage_count; i++)
        if (job->stages[i].is_wanted && job->stages[i].stage->split != STAGE_HOST)
            left += slab_queue_left(&job->stages[i].queue);
    return left;
}

static bool job_is_over(ley_job *job)
{
    return job_cancelled(job) || left_for_devices(job) == 0;
}

/* Devices that are at what they make for themselves are told when nobody wants it any more. */
static bool is_over(void *context)
{
    pass *p = context;
    ley_job *job = p->shifts[0].job;
    const bool over = job_is_over(job);
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        shift *s = &p->shifts[i];
        pthread_mutex_lock(&p->mutex);
        const bool is_at_own = s->phase == SHIFT_AT_WORK && s->own_begun_s > 0;
        pthread_mutex_unlock(&p->mutex);
        if (is_at_own && (over || comes_too_late(s)))
            atomic_store(&s->is_unwanted, true);
    }
    return over;
}

/* The next phase; false: the device was let go. */
static bool advance(shift *s, shift_phase phase)
{
    pthread_mutex_lock(&s->pass->mutex);
    if (!s->is_let_go)
        s->phase = phase;
    const bool is_wanted = !s->is_let_go;
    pthread_mutex_unlock(&s->pass->mutex);
    return is_wanted;
}

/* Looks at nothing of the job's. */
static ley_status ready(shift *s)
{
    const pass *p = s->pass;
    ley_status status = LEY_OK;
    watch_expect(0);
    for (size_t i = 0; status == LEY_OK && i < p->method->stage_count; i++)
        if (p->is_wanted[i] && p->method->stages[i].ready != NULL)
            status = p->method->stages[i].ready(s->worker->device, p->wishes[i], &s->notes, &s->states[i], &s->failure);
    if (status == LEY_OK)
        costs_get(&bus_costs, s->worker->info, s->worker->device, (double[COSTS_MOST]){0});
    return status;
}

/* What the device has found while it was readied. */
static void hand_over(shift *s, double ready_s)
{
    s->record->kernel = s->notes;
    s->record->report.build_s += ready_s;
    s->record->late[0] = '\0';
    ley_error_copy(&s->record->failure, &s->failure);
    ley_error_clear(&s->failure);
}

/* A device that is ready joins the job, and does its part. What it does not do goes back. */
static ley_status join(shift *s)
{
    if (job_is_over(s->job)) /* just now */
        return LEY_OK;
    join_queues(s, true);
    predict(s);
    ley_status status = do_stages(s, &s->record->failure);
    watch_forget_reason();
    if (status != LEY_OK && s->run != NULL)
        give_all_back(s);
    join_queues(s, false);
    return status;
}

/* Why the device's shift ended, under the device's name. */
static void conclude(shift *s, const worker *w, ley_status status)
{
    ley_error *failure = &s->record->failure;
    if (status == LEY_CANCELLED) /* the job's end, not the device's fault */
        ley_error_clear(failure);
    else if (status != LEY_OK)
        ley_error_prefix(failure, "%s", w->info->name);
    if (failure->status != LEY_OK)
        log_say(LEY_LOG_WARNING, "a device leaves the job: %s", failure->message);
}

/* The whole of a device's part in a job; runs on its worker thread. */
static void run_shift(worker *w, void *context)
{
    shift *s = shift_of(w, context);
    const double start_s = ley_clock_s();
    const bool is_able = w->device != NULL && s->failure.status == LEY_OK; /* else it has left the job */
    s->worker = w;
    s->room.device = w->device;
    if (advance(s, is_able ? SHIFT_READYING : SHIFT_ENDED) && is_able) {
        ley_status status = ready(s);
        if (advance(s, SHIFT_AT_WORK)) {
            hand_over(s, ley_clock_s() - start_s);
            if (status == LEY_OK)
                status = join(s);
            conclude(s, w, status);
            advance(s, SHIFT_ENDED);
        }
        end_stages(s);
    }
    ley_error_clear(&s->failure);
    let_loose(context);
}

static void give_shift(worker *w, void *context)
{
    (void)w;
    atomic_fetch_add(&((pass *)context)->holders, 1);
}

/* Nobody waits for a device that has not joined. */
static bool let_go(worker *w, void *context)
{
    shift *s = shift_of(w, context);
    pthread_mutex_lock(&s->pass->mutex);
    s->is_let_go = s->is_let_go || s->phase < SHIFT_AT_WORK;
    const bool is_let_go = s->is_let_go;
    pthread_mutex_unlock(&s->pass->mutex);
    return is_let_go;
}

/* The driver of a worker does not return: others get what it had. Its states are nobody's any more
 * but the driver's. */
static void leave_shift(worker *w, void *context)
{
    shift *s = shift_of(w, context);
    dev_keep(context);
    if (s->is_let_go) /* from a job that may be gone */
        return;
    if (!s->job->has_left && s->job->atoms != NULL) /* they may be on their way to it, straight from the caller's */
        dev_keep(ley_atoms_keep((ley_atoms *)(uintptr_t)s->job->atoms));
    s->job->has_left = true;
    if (s->phase == SHIFT_NEW || s->phase == SHIFT_ENDED)
        return;
    if (s->phase == SHIFT_READYING)
        hand_over(s, 0);
    ley_error *failure = &s->record->failure;
    if (failure->status != LEY_OK) { /* it had failed already, and was ending what it had begun */
        ley_fail(&w->open_error, failure->status, "%s; %s", failure->message, w->open_error.message);
        ley_error_take_log(&w->open_error, failure->log);
        failure->log = NULL;
    }
    ley_error_copy(failure, &w->open_error);
    log_say(LEY_LOG_WARNING, "a device leaves the job: %s", failure->message);
    if (s->phase != SHIFT_AT_WORK)
        return;
    if (s->run != NULL)
        give_flying_back(s);
    join_queues(s, false);
    pthread_mutex_lock(&s->pass->mutex);
    s->phase = SHIFT_ENDED;
    pthread_mutex_unlock(&s->pass->mutex);
}

/* ---- The host's stages ----------------------------------------------------------------------- */

typedef struct host_stage {
    ley_job *job;
    stage_run *run;
    pthread_t thread;
    bool is_running;
    ley_status status;
    ley_error error;
} host_stage;

static void *run_host_stage(void *context)
{
    host_stage *h = context;
    slab piece;
    for (const product *const *needs = h->run->stage->needs; needs != NULL && *needs != NULL; needs++) {
        stage_run *maker = maker_of(h->job, *needs);
        if (maker != NULL && maker->stage->split != STAGE_EACH_DEVICE)
            slab_queue_wait(&maker->queue);
    }
    if (job_cancelled(h->job) || !slab_queue_take(&h->run->queue, 1, false, &piece))
        return NULL;
    h->status = h->run->stage->run(h->job->task, &h->error);
    if (h->status == LEY_OK)
        slab_queue_done(&h->run->queue, piece);
    else
        slab_queue_stop(&h->run->queue);
    return NULL;
}

static void start_host_stages(ley_job *job, host_stage *host)
{
    for (size_t i = 0; i < job->method->stage_count; i++) {
        host[i] = (host_stage){.job = job, .run = &job->stages[i]};
        if (!job->stages[i].is_wanted || job->stages[i].stage->split != STAGE_HOST ||
            slab_queue_left(&job->stages[i].queue) == 0)
            continue;
        host[i].is_running = pthread_create(&host[i].thread, NULL, run_host_stage, &host[i]) == 0;
        if (!host[i].is_running) {
            host[i].status = ley_fail(&host[i].error, LEY_ERROR_MEMORY, "no thread for %s", job->stages[i].stage->name);
            slab_queue_stop(&job->stages[i].queue);
        }
    }
}

/* Devices have done what they could: a host's stage that still waits for them is not going to
 * begin. */
static ley_status wait_host_stages(ley_job *job, host_stage *host, bool devices_did_all, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; !devices_did_all && i < job->method->stage_count; i++) {
        if (job->stages[i].stage->split != STAGE_HOST)
            slab_queue_stop(&job->stages[i].queue);
        else if (job->stages[i].stage->stop != NULL && host[i].is_running)
            job->stages[i].stage->stop(job->task);
    }
    for (size_t i = 0; i < job->method->stage_count; i++) {
        if (host[i].is_running)
            pthread_join(host[i].thread, NULL);
        if (status == LEY_OK && host[i].status != LEY_OK) {
            status = host[i].status;
            ley_error_copy(error, &host[i].error);
        }
        ley_error_clear(&host[i].error);
    }
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

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

/* What a device is to report that had no shift to say so in: why it did not open; that it was
 * late. */
static void note_others(ley_job *job, pass *p)
{
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const worker *w = &job->engine->workers[i];
        device_record *record = &job->records[i];
        pthread_mutex_lock(&p->mutex);
        const bool has_joined = p->shifts[i].phase >= SHIFT_AT_WORK;
        pthread_mutex_unlock(&p->mutex);
        const char *call = w->hand != NULL ? hand_call(w->hand) : NULL;
        if (worker_is_idle(w) && w->device == NULL)
            ley_error_copy(&record->failure, &w->open_error);
        else if (!has_joined) {
            snprintf(record->late, sizeof record->late, "%s", call != NULL ? call : "preparing");
            log_say(LEY_LOG_NOTE, "%s: not ready yet (%s) when the work was done", w->info->name, record->late);
        }
    }
}

static ley_status run_shifts(ley_job *job, pass *p, ley_error *error)
{
    static const engine_task task = {
        .run = run_shift, .given = give_shift, .is_over = is_over, .let_go = let_go, .left = leave_shift};
    host_stage host[MOST_STAGES];
    size_t first = 0;
    start_host_stages(job, host);
    do {
        engine_run(job->engine, first, &task, p);
        first = job->engine->worker_count;
    } while (!job_is_over(job) && engine_take_next(job->engine));
    const bool all_done = left_for_devices(job) == 0;
    const ley_status on_host = wait_host_stages(job, host, all_done, error);
    note_others(job, p);
    if (on_host != LEY_OK && !job_cancelled(job))
        return on_host;
    if (all_done && on_host == LEY_OK)
        return LEY_OK;
    if (job_cancelled(job))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    return no_device_left(job, error);
}

static ley_status make_wishes(const ley_job *job, pass *p, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < job->method->stage_count; i++) {
        const stage *t = &job->method->stages[i];
        p->is_wanted[i] = job->stages[i].is_wanted;
        if (p->is_wanted[i] && t->wish != NULL)
            status = t->wish(job->task, &job->view, &p->wishes[i], error);
    }
    return status;
}

static ley_status pass_create(ley_job *job, pass **made, ley_error *error)
{
    const size_t count = job->engine->candidate_count;
    pass *p = calloc(1, sizeof *p + count * sizeof p->shifts[0]);
    if (p == NULL)
        return ley_fail_memory(error, count * sizeof p->shifts[0], "the devices' shifts");
    p->method = job->method;
    atomic_init(&p->holders, 1);
    pthread_mutex_init(&p->mutex, NULL);
    for (size_t i = 0; i < count; i++) {
        p->shifts[i] = (shift){.pass = p, .job = job, .device_index = i, .record = &job->records[i]};
        p->shifts[i].failure.status = job->records[i].failure.status; /* one that has left the job stays away */
    }
    ley_status status = make_wishes(job, p, error);
    if (status != LEY_OK)
        let_loose(p);
    else
        *made = p;
    return status;
}

ley_status schedule_run(ley_job *job, ley_error *error)
{
    pass *p = NULL;
    ley_status status = pass_create(job, &p, error);
    if (status != LEY_OK)
        return status;
    status = run_shifts(job, p, error);
    let_loose(p);
    return status;
}
