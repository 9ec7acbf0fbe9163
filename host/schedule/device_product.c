#include "schedule/device_product.h"

#include "clock.h"
#include "costs.h"
#include "engine/command_sequence.h"
#include "error.h"
#include "log.h"
#include "memory.h"
#include "memory/upload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double waited_share = 0.1;

/* Of the time that making it takes: what is there hardly sooner by another device is made. */
static const double borrowed_share = 0.8;

/* What comes to the host at once. */
static const size_t piece_bytes = 64 << 20;

static const struct timespec moment = {.tv_nsec = 5000000};

/* ---- How long it takes ----------------------------------------------------------------------- */

/* How long a device has left for making it. */
static double making_left_s(const device_run *s, double now_s)
{
    return s->has_own ? 0 : s->own_begun_s > 0 ? fmax(s->own_s - (now_s - s->own_begun_s), 0) : s->own_s;
}

/* Whether a device is at making it, or has made it, so that it could lend it to this one. */
static bool may_lend(const device_run *other, const device_run *to)
{
    return other != to && other->phase == DEVICE_RUN_AT_WORK && !other->is_let_go && !other->is_waiting &&
           other->lent_bytes == to->lent_bytes && (other->has_made || other->own_begun_s > 0);
}

/* How long it takes to have it from another device, which is *from where it is still to be asked;
 * INFINITY: nobody has it. A lender that has made no progress for a time is given as long again.
 * The caller holds the pass's mutex. */
static double borrowing_s(const device_run *s, double now_s, device_run **from)
{
    pass *p = s->pass;
    double least_s = INFINITY;
    *from = NULL;
    if (s->lent_bytes == 0 || s->record->makes_own || p->cannot_lend || p->is_kept)
        return INFINITY;
    if (p->lent != NULL)
        return p->lent_bytes == s->lent_bytes ? s->to_device_s : INFINITY;
    for (size_t i = 0; i < s->job->engine->worker_count; i++) {
        device_run *other = &p->device_runs[i];
        if (!may_lend(other, s))
            continue;
        const double ready_s = fmax(making_left_s(other, now_s), now_s - other->progress_s),
                     all_s = ready_s + other->to_host_s + s->to_device_s;
        *from = all_s < least_s ? other : *from;
        least_s = fmin(all_s, least_s);
    }
    return least_s;
}

/* How long a device has left until it has it, one way or the other. */
static double own_left_s(const device_run *s, double now_s)
{
    device_run *from;
    return s->has_own ? 0 : fmin(making_left_s(s, now_s), borrowing_s(s, now_s, &from));
}

/* Whether it is sooner there by another device. The caller holds the pass's mutex. */
static bool is_lent_sooner(const device_run *s, double now_s)
{
    device_run *from;
    return s->own_s > 0 && !s->has_own && borrowing_s(s, now_s, &from) < borrowed_share * making_left_s(s, now_s);
}

/* How long the job takes without this device, as others at work are predicted to take for what is
 * left, by the fastest of them alone; one that has made no progress for a time is given as long
 * again. INFINITY: nobody else does it. The caller holds the pass's mutex. */
static double left_without_s(const device_run *s, double now_s)
{
    const pass *p = s->pass;
    stage_run *result = &s->job->stages[s->job->method->result];
    const int64_t pieces = job_pieces(s->job, result->stage);
    const double share = (double)slab_queue_left(&result->queue) / (double)(pieces > 0 ? pieces : 1);
    double least_s = INFINITY;
    for (size_t i = 0; i < s->job->engine->worker_count; i++) {
        const device_run *other = &p->device_runs[i];
        if (other == s || other->phase != DEVICE_RUN_AT_WORK || other->is_waiting || !(other->slabs_s > 0))
            continue;
        const double left_s = own_left_s(other, now_s) + share * other->slabs_s;
        least_s = fmin(least_s, fmax(left_s, now_s - other->progress_s));
    }
    return least_s;
}

/* At work already, a device counts once its time is predicted. The caller holds the pass's
 * mutex. */
static bool is_about_to_join(const device_run *s)
{
    return s->phase < DEVICE_RUN_AT_WORK || (s->phase == DEVICE_RUN_AT_WORK && !s->is_predicted);
}

/* Whether another device is about to join, which may be the faster one: a tenth of what this one
 * would begin is waited for it. */
static bool awaits_others(device_run *s)
{
    bool is_any_readied = false;
    pthread_mutex_lock(&s->pass->mutex);
    for (size_t i = 0; i < s->job->engine->worker_count; i++)
        is_any_readied = is_any_readied || is_about_to_join(&s->pass->device_runs[i]);
    const bool awaits = is_any_readied && ley_clock_s() - s->progress_s < waited_share * s->own_s;
    pthread_mutex_unlock(&s->pass->mutex);
    return awaits;
}

/* Whether it would be there too late to be of use. The caller holds the pass's mutex. */
static bool is_too_late(const device_run *s, double now_s)
{
    return s->own_s > 0 && !s->has_own && own_left_s(s, now_s) > left_without_s(s, now_s);
}

static bool asks(device_run *s, bool (*what)(const device_run *s, double now_s))
{
    const double now_s = ley_clock_s();
    pthread_mutex_lock(&s->pass->mutex);
    const bool is = what(s, now_s);
    pthread_mutex_unlock(&s->pass->mutex);
    return is;
}

bool device_product_comes_too_late(device_run *s)
{
    return asks(s, is_too_late) || asks(s, is_lent_sooner);
}

/* How long what it makes, so many bytes, is on its way to the host, and from there. */
static void predict_lending(device_run *s, size_t bytes)
{
    double bus[COSTS_MOST];
    costs_known(&bus_costs, s->worker->info, bus);
    s->lent_bytes = bytes;
    s->to_host_s = (double)bytes * bus[COST_TO_HOST] + bus[COST_START];
    s->to_device_s = (double)bytes * bus[COST_TO_DEVICE] + bus[COST_START];
}

void device_product_predict(device_run *s)
{
    const method *m = s->job->method;
    double own_s = 0, slabs_s = 0;
    size_t lent_bytes = 0;
    bool is_known = true;
    for (size_t i = 0; i < m->stage_count; i++) {
        const stage *t = &m->stages[i];
        if (!s->job->stages[i].is_wanted || t->predict == NULL)
            continue;
        const double seconds = t->predict(s->job->task, s->states[i]);
        is_known = is_known && (seconds > 0 || t->split != STAGE_EACH_DEVICE);
        own_s += t->split == STAGE_EACH_DEVICE ? seconds : 0;
        slabs_s = i == m->result ? seconds : slabs_s;
        lent_bytes = t->lent_bytes != NULL ? t->lent_bytes(s->states[i]) : lent_bytes;
    }
    pthread_mutex_lock(&s->pass->mutex);
    predict_lending(s, lent_bytes);
    s->own_s = is_known ? own_s : 0;
    s->slabs_s = slabs_s;
    s->has_own = s->has_made = false;
    s->is_predicted = true;
    s->progress_s = ley_clock_s();
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Begins to make it, has made it, or has it from another device. */
typedef enum progress { HAS_NOT, BEGINS, HAS_MADE, HAS_BORROWED } progress;

static void note_own(device_run *s, progress how)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->progress_s = ley_clock_s();
    s->own_begun_s = how == BEGINS ? s->progress_s : 0;
    s->has_own = how == HAS_MADE || how == HAS_BORROWED;
    s->has_made = how == HAS_MADE;
    atomic_store(&s->is_unwanted, false);
    pthread_mutex_unlock(&s->pass->mutex);
}

static void set_waiting(device_run *s, bool is_waiting)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->is_waiting = is_waiting;
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Until it is worth beginning, as when another device has left the job, or the job is over. */
static void wait_for_need(device_run *s)
{
    bool is_late = false;
    while (!device_run_job_is_over(s->job) && ((is_late = asks(s, is_too_late)) || awaits_others(s))) {
        if (is_late && !s->is_waiting)
            log_say(LEY_LOG_NOTE, "%s: does not begin %s, as others are predicted to end the job before",
                    s->worker->info->name, s->run->stage->name);
        set_waiting(s, is_late);
        nanosleep(&moment, NULL);
    }
    set_waiting(s, false);
}

/* ---- Lending --------------------------------------------------------------------------------- */

/* The buffer comes to the host, piece by piece. */
static ley_status bring_to_host(dev *device, dev_buffer *from, unsigned char *to, size_t bytes, ley_error *error)
{
    const dev_backend *b = device->backend;
    const size_t most = bytes < piece_bytes ? bytes : piece_bytes;
    dev_staging *staging = NULL;
    ley_status status = b->staging_create(device, most, &staging, error);
    for (size_t at = 0, count; at < bytes && status == LEY_OK; at += count) {
        dev_event *done = NULL;
        count = bytes - at < most ? bytes - at : most;
        sequence_poison_staging(staging, count);
        status = b->read(device, from, at, staging, count, NULL, &done, error);
        if (status == LEY_OK)
            status = b->wait(device, done, &(dev_times){0, 0}, error);
        if (status == LEY_OK)
            memcpy(to + at, staging->bytes, count);
    }
    if (staging != NULL)
        b->staging_destroy(device, staging);
    return status;
}

/* The stage whose product is lent; NULL: there is none. */
static stage_run *lending_stage(const device_run *s)
{
    for (size_t i = 0; i < s->job->method->stage_count; i++)
        if (s->job->stages[i].is_wanted && s->job->method->stages[i].lent != NULL)
            return &s->job->stages[i];
    return NULL;
}

static void *make_copy(size_t bytes)
{
    return memory_check_one("meshes for other devices", (double)bytes, "one device", NULL) == LEY_OK ? malloc(bytes)
                                                                                                     : NULL;
}

/* It has been brought; NULL: it cannot be, and nobody waits for it. */
static void publish(device_run *s, void *copy, bool cannot)
{
    pass *p = s->pass;
    pthread_mutex_lock(&p->mutex);
    s->progress_s = ley_clock_s();
    p->lent = copy;
    p->lent_bytes = copy != NULL ? s->lent_bytes : 0;
    p->lender = s->device_index;
    p->cannot_lend = cannot;
    pthread_mutex_unlock(&p->mutex);
}

static bool is_asked(const device_run *s, double now_s)
{
    (void)now_s;
    return s->is_asked && s->has_made && s->pass->lent == NULL && !s->pass->cannot_lend;
}

ley_status device_product_lend(device_run *s, ley_error *error)
{
    if (!asks(s, is_asked) || device_run_job_is_over(s->job))
        return LEY_OK;
    const stage_run *run = lending_stage(s);
    void *copy = make_copy(s->lent_bytes);
    if (copy == NULL) {
        publish(s, NULL, true);
        return LEY_OK;
    }
    const double start_s = ley_clock_s();
    const ley_status status =
        bring_to_host(s->worker->device, run->stage->lent(*device_run_state(s, run)), copy, s->lent_bytes, error);
    if (status != LEY_OK) {
        free(copy);
        return status;
    }
    log_say(LEY_LOG_NOTE, "%s: lends %s, %s, brought to the host in %.3f s", s->worker->info->name, run->stage->name,
            ley_size((double)s->lent_bytes).s, ley_clock_s() - start_s);
    publish(s, copy, false);
    return LEY_OK;
}

/* What is lent comes to this device. */
static ley_status take_lent(device_run *s, ley_error *error)
{
    const size_t i = (size_t)(s->run - s->job->stages);
    const stage_place place = {.device = s->worker->device,
                               .arena = &s->arena,
                               .job = &s->job->view,
                               .notes = &s->record->kernel,
                               .products = &s->products,
                               .is_unwanted = &s->is_unwanted};
    dev_buffer *buffer = NULL;
    s->began_s = ley_clock_s();
    s->pieces = 1;
    ley_status status = s->run->stage->borrow(s->job->task, &place, &s->states[i], &buffer, error);
    s->has_begun[i] = status == LEY_OK;
    for (size_t at = 0, count; at < s->lent_bytes && status == LEY_OK; at += count) {
        count = s->lent_bytes - at < piece_bytes ? s->lent_bytes - at : piece_bytes;
        status = device_run_job_is_over(s->job)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled")
                     : upload_bytes(s->worker->device, buffer, at, (unsigned char *)s->pass->lent + at, count, error);
    }
    if (status == LEY_OK) {
        s->record->lender = s->pass->lender + 1;
        log_say(LEY_LOG_NOTE, "%s: has %s from %s", s->worker->info->name, s->run->stage->name,
                s->job->engine->workers[s->pass->lender].info->name);
    }
    return status;
}

/* Asks for it, and waits as long as that is predicted to be sooner than making it; *has: it is
 * there. */
static ley_status borrow(device_run *s, bool *has, ley_error *error)
{
    pass *p = s->pass;
    bool is_sooner = true, is_lent = false;
    while (is_sooner && !is_lent && !device_run_job_is_over(s->job)) {
        const double now_s = ley_clock_s();
        device_run *from;
        pthread_mutex_lock(&p->mutex);
        is_sooner = borrowing_s(s, now_s, &from) < making_left_s(s, now_s);
        is_lent = is_sooner && p->lent != NULL;
        if (is_sooner && from != NULL)
            from->is_asked = true;
        pthread_mutex_unlock(&p->mutex);
        if (is_sooner && !is_lent)
            nanosleep(&moment, NULL);
    }
    *has = is_lent && !device_run_job_is_over(s->job);
    return *has ? take_lent(s, error) : LEY_OK;
}

/* ---- The stage ------------------------------------------------------------------------------- */

static bool is_unwanted(const device_run *s)
{
    return atomic_load(&s->is_unwanted) && !job_cancelled(s->job);
}

/* Makes it, unless it is let go of, or has it from another device. */
static ley_status make(device_run *s, bool *has, ley_error *error)
{
    note_own(s, BEGINS);
    s->began_s = ley_clock_s();
    s->pieces = 0;
    ley_status status = device_run_do_whole(s, error);
    *has = status != LEY_CANCELLED || !is_unwanted(s);
    if (!*has) {
        log_say(LEY_LOG_NOTE, "%s: lets go of %s", s->worker->info->name, s->run->stage->name);
        device_run_give_all_back(s);
        ley_error_clear(error);
        s->pieces = 0;
        status = LEY_OK;
    }
    s->record->lender = 0;
    note_own(s, *has && status == LEY_OK ? HAS_MADE : HAS_NOT);
    return status;
}

ley_status device_product_do(device_run *s, ley_error *error)
{
    ley_status status = LEY_OK;
    bool has = false;
    while (status == LEY_OK && !has) {
        wait_for_need(s);
        if (device_run_job_is_over(s->job))
            break;
        if (asks(s, is_lent_sooner)) {
            status = borrow(s, &has, error);
            if (has && status == LEY_OK)
                note_own(s, HAS_BORROWED);
        } else {
            status = make(s, &has, error);
        }
    }
    if (status == LEY_OK && device_run_job_is_over(s->job) && !job_cancelled(s->job))
        snprintf(s->record->late, sizeof s->record->late, "%s", s->run->stage->name);
    return status == LEY_OK && has ? device_product_lend(s, error) : status;
}
