#include "schedule/schedule.h"

#include "clock.h"
#include "costs.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "error.h"
#include "log.h"
#include "memory/upload.h"
#include "schedule/device_product.h"
#include "schedule/device_run.h"
#include "schedule/rank_share.h"
#include "source/atoms.h"
#include "watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void let_loose(pass *p)
{
    if (atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    for (size_t i = 0; i < p->method->stage_count; i++)
        if (p->method->stages[i].wish_destroy != NULL)
            p->method->stages[i].wish_destroy(p->wishes[i]);
    pthread_mutex_destroy(&p->mutex);
    free(p->lent);
    free(p);
}

static device_run *device_run_of(const worker *w, void *context)
{
    return &((pass *)context)->device_runs[w - w->engine->workers];
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
static ley_status keep_on_host(device_run *s, const product *what, ley_error *error)
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
        sequence_poison_staging(staging, bytes);
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
static ley_status bring(device_run *s, const stage_run *maker, const product *what, ley_error *error)
{
    dev *device = s->worker->device;
    const size_t bytes = (size_t)what->bytes(s->job->task);
    dev_buffer *buffer = NULL;
    ley_status status = arena_buffer(&s->arena, bytes, DEV_READ_WRITE, &buffer, error);
    if (status == LEY_OK)
        status = upload_bytes(device, buffer, 0, maker->made, bytes, error);
    if (status != LEY_OK) {
        arena_free_buffer(&s->arena, &buffer);
        return status;
    }
    const stage_place place = {.products = &s->products};
    stage_make(&place, what, buffer);
    return LEY_OK;
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

static bool take(device_run *s, slab *piece)
{
    if (job_cancelled(s->job))
        slab_queue_stop(&s->run->queue);
    const int64_t most = s->run->stage->slab_count(*device_run_state(s, s->run));
    return slab_queue_take(&s->run->queue, most, s->count == 0, piece);
}

static void note_progress(device_run *s)
{
    pthread_mutex_lock(&s->pass->mutex);
    s->progress_s = ley_clock_s();
    pthread_mutex_unlock(&s->pass->mutex);
}

/* Takes, submits and collects slabs until none is left: then all are done, whoever did them. */
static ley_status do_slabs(device_run *s, ley_error *error)
{
    ley_status status = device_run_begin(s, error);
    while (status == LEY_OK) {
        slab piece;
        while (status == LEY_OK && s->count < METHOD_SLOTS && take(s, &piece))
            status = device_run_submit(s, piece, error);
        if (status != LEY_OK || s->count == 0)
            break;
        piece = s->flying[s->first];
        status = device_run_collect(s, error);
        if (status == LEY_OK) {
            slab_queue_done(&s->run->queue, piece);
            note_progress(s);
            status = device_product_lend(s, error);
        }
    }
    return status;
}

/* ---- Stages in their order ------------------------------------------------------------------- */

/* A stage of one device, unless another one does it: with `wait`, until that one has done it or
 * failed. */
static ley_status do_alone(device_run *s, bool wait, ley_error *error)
{
    slab piece;
    if (job_cancelled(s->job))
        slab_queue_stop(&s->run->queue);
    if (!slab_queue_take(&s->run->queue, 1, wait, &piece))
        return LEY_OK;
    ley_status status = device_run_do_whole(s, error);
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
static ley_status get_needs(device_run *s, stage_run *run, ley_error *error)
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
        if (status == LEY_OK && maker->made != NULL && stage_products_find(&s->products, *needs) == NULL)
            status = bring(s, maker, *needs, error);
    }
    if (status == LEY_OK) /* else what flies is the maker's */
        s->run = run;
    return status;
}

static ley_status do_part(device_run *s, const stage *t, ley_error *error)
{
    switch (t->split) {
    case STAGE_SLABS:
        return do_slabs(s, error);
    case STAGE_EACH_DEVICE:
        return t->predict != NULL ? device_product_do(s, error) : device_run_do_whole(s, error);
    case STAGE_ONE_DEVICE:
        return do_alone(s, false, error);
    }
    return LEY_OK;
}

/* What has been done of the stage at hand goes into the report. */
static void note_stage(const device_run *s, const stage *t, bool is_done)
{
    const bool is_lent = t->lent != NULL && s->record->lender > 0;
    const ley_stage_report done = {.name = t->name,
                                   .device = s->device_index,
                                   .from = is_lent ? s->record->lender - 1 : s->device_index,
                                   .start_s = s->began_s,
                                   .end_s = ley_clock_s(),
                                   .is_done = is_done};
    if (s->pieces > 0)
        job_note_stage(s->job, &done);
}

static ley_status do_stage(device_run *s, stage_run *run, ley_error *error)
{
    s->run = run;
    ley_status status = get_needs(s, run, error);
    if (status != LEY_OK || device_run_job_is_over(s->job))
        return status;
    s->began_s = 0;
    s->pieces = 0;
    status = do_part(s, run->stage, error);
    note_stage(s, run->stage, status == LEY_OK);
    return status;
}

/* All stages in their order; at the end what another device may still fail to do. */
static ley_status do_stages(device_run *s, ley_error *error)
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
static void end_stages(device_run *s)
{
    const method *m = s->pass->method;
    for (size_t i = m->stage_count; i-- > 0;) {
        if (s->states[i] != NULL)
            m->stages[i].end(s->states[i]);
        s->states[i] = NULL;
    }
    arena_clear(&s->arena);
    s->is_kept = false;
}

/* What it has made stays for another run. */
static void keep_stages(device_run *s)
{
    for (size_t i = 0; i < MOST_STAGES; i++) {
        s->was_begun[i] = s->was_begun[i] || s->has_begun[i];
        s->has_begun[i] = false;
    }
    s->run = NULL;
    s->is_kept = true;
}

static void join_queues(const device_run *s, bool joins)
{
    for (size_t i = 0; i < s->job->method->stage_count; i++)
        (joins ? slab_queue_join : slab_queue_leave)(&s->job->stages[i].queue);
}

/* ---- Shifts ---------------------------------------------------------------------------------- */

/* Devices that are at what they make for themselves are told when nobody wants it any more. */
static bool is_over(void *context)
{
    pass *p = context;
    ley_job *job = p->device_runs[0].job;
    const bool over = device_run_job_is_over(job);
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        device_run *s = &p->device_runs[i];
        pthread_mutex_lock(&p->mutex);
        const bool is_at_own = s->phase == DEVICE_RUN_AT_WORK && s->own_begun_s > 0;
        pthread_mutex_unlock(&p->mutex);
        if (is_at_own && (over || device_product_comes_too_late(s)))
            atomic_store(&s->is_unwanted, true);
    }
    return over;
}

/* The next phase; false: the device was let go. */
static bool advance(device_run *s, device_run_phase phase)
{
    pthread_mutex_lock(&s->pass->mutex);
    if (!s->is_let_go)
        s->phase = phase;
    const bool is_wanted = !s->is_let_go;
    pthread_mutex_unlock(&s->pass->mutex);
    return is_wanted;
}

/* Builds what the stages ask for side by side, where the device has nothing yet: whatever is not
 * built so is built when it is asked for. */
static void build_ahead(device_run *s)
{
    const pass *p = s->pass;
    kernel_wishes wishes = {.count = 0};
    if (s->worker->device->programs.count > 0)
        return;
    kernels_note(&wishes);
    for (size_t i = 0; i < p->method->stage_count; i++) {
        kernel_notes unread = {.variant = NULL};
        ley_error unheard = {.status = LEY_OK};
        void *state = NULL;
        if (p->is_wanted[i] && p->method->stages[i].ready != NULL)
            p->method->stages[i].ready(s->worker->device, p->wishes[i], &unread, &state, &unheard);
        if (state != NULL)
            p->method->stages[i].end(state);
        ley_error_clear(&unheard);
    }
    kernels_note(NULL);
    kernels_build_ahead(s->worker->device, &wishes);
}

/* Looks at nothing of the job's. */
static ley_status ready(device_run *s)
{
    const pass *p = s->pass;
    ley_status status = LEY_OK;
    watch_expect(0);
    s->worker->device->pairs = p->pairs;
    build_ahead(s);
    for (size_t i = 0; status == LEY_OK && i < p->method->stage_count; i++)
        if (p->is_wanted[i] && p->method->stages[i].ready != NULL)
            status = p->method->stages[i].ready(s->worker->device, p->wishes[i], &s->notes, &s->states[i], &s->failure);
    if (status == LEY_OK)
        costs_get(&bus_costs, s->worker->info, s->worker->device, (double[COSTS_MOST]){0});
    return status;
}

/* What the device has found while it was readied. */
static void hand_over(device_run *s, double ready_s)
{
    s->record->kernel = s->notes;
    s->record->report.build_s += ready_s;
    s->record->late[0] = '\0';
    ley_error_copy(&s->record->failure, &s->failure);
    ley_error_clear(&s->failure);
}

/* What another device made for this one may be the reason that something is wrong here. */
static bool has_an_excuse(const device_run *s, ley_status status)
{
    return status == LEY_ERROR_WRONG_RESULT && s->record->lender > 0 && !s->record->makes_own &&
           !device_run_job_is_over(s->job);
}

/* All over again, without the help of others: what was done with it is open again. */
static ley_status start_again(device_run *s)
{
    log_say(LEY_LOG_WARNING, "%s: begins again, without what %s has made: %s", s->worker->info->name,
            s->job->engine->workers[s->record->lender - 1].info->name, s->record->failure.message);
    s->record->makes_own = true;
    s->record->lender = 0;
    ley_error_clear(&s->record->failure);
    if (s->run != NULL)
        device_run_give_all_back(s);
    job_reopen_own_slabs(s->job, s->device_index);
    end_stages(s);
    memset(s->has_begun, 0, sizeof s->has_begun);
    memset(s->was_begun, 0, sizeof s->was_begun);
    s->products.count = 0;
    s->run = NULL;
    const double start_s = ley_clock_s();
    const ley_status status = ready(s);
    hand_over(s, ley_clock_s() - start_s);
    return status;
}

/* A device that is ready joins the job, and does its part. What it does not do goes back. */
static ley_status join(device_run *s)
{
    if (device_run_job_is_over(s->job)) /* just now */
        return LEY_OK;
    join_queues(s, true);
    device_product_predict(s);
    ley_status status = do_stages(s, &s->record->failure);
    if (has_an_excuse(s, status)) {
        status = start_again(s);
        if (status == LEY_OK) {
            device_product_predict(s);
            status = do_stages(s, &s->record->failure);
        }
    }
    watch_forget_reason();
    if (status != LEY_OK && s->run != NULL)
        device_run_give_all_back(s);
    join_queues(s, false);
    return status;
}

/* Why the device's run ended, under its name; of a file that is the job's, under the file's. */
static void conclude(device_run *s, const worker *w, ley_status status)
{
    ley_error *failure = &s->record->failure;
    if (status == LEY_CANCELLED) /* the job's end, not the device's fault */
        ley_error_clear(failure);
    else if (status != LEY_OK && status != LEY_ERROR_FILE)
        ley_error_prefix(failure, "%s", w->info->name);
    if (failure->status != LEY_OK)
        log_say(LEY_LOG_WARNING, "a device leaves the job: %s", failure->message);
}

/* The whole of a device's part in a job; runs on its worker thread. */
static void run_device(worker *w, void *context)
{
    device_run *s = device_run_of(w, context);
    const double start_s = ley_clock_s();
    const bool is_able = w->device != NULL && s->failure.status == LEY_OK; /* else it has left the job */
    s->worker = w;
    s->arena.device = w->device;
    s->arena.keeps = s->pass->is_kept;
    if (advance(s, is_able ? DEVICE_RUN_READYING : DEVICE_RUN_ENDED) && is_able) {
        ley_status status = ready(s);
        if (advance(s, DEVICE_RUN_AT_WORK)) {
            hand_over(s, ley_clock_s() - start_s);
            if (status == LEY_OK)
                status = join(s);
            conclude(s, w, status);
            if (status == LEY_OK && s->pass->is_kept)
                keep_stages(s);
            advance(s, DEVICE_RUN_ENDED);
        }
        if (!s->is_kept)
            end_stages(s);
    }
    ley_error_clear(&s->failure);
    let_loose(context);
}

/* Whether what the device has kept is still there: it is lost with a device that was given up, also
 * where this was opened anew. */
static bool has_kept(device_run *s, const worker *w)
{
    if (s->is_kept && w->device == s->arena.device)
        return true;
    if (s->is_kept)
        ley_fail(&s->record->failure, LEY_ERROR_DEVICE, "%s: it was given up since the last run", w->info->name);
    s->is_kept = false;
    return false;
}

/* Another run of a device that has kept what it made. */
static void run_device_again(worker *w, void *context)
{
    device_run *s = device_run_of(w, context);
    if (has_kept(s, w) && advance(s, DEVICE_RUN_AT_WORK)) {
        const ley_status status = join(s);
        conclude(s, w, status);
        s->is_kept = status == LEY_OK;
        if (s->is_kept)
            keep_stages(s);
        advance(s, DEVICE_RUN_ENDED);
        if (!s->is_kept)
            end_stages(s);
    } else {
        advance(s, DEVICE_RUN_ENDED);
    }
    let_loose(context);
}

/* Frees what a device has kept. */
static void end_device(worker *w, void *context)
{
    device_run *s = device_run_of(w, context);
    if (has_kept(s, w))
        end_stages(s);
    advance(s, DEVICE_RUN_ENDED);
    let_loose(context);
}

static bool has_ended_all(void *context)
{
    pass *p = context;
    const ley_job *job = p->device_runs[0].job;
    bool has = true;
    pthread_mutex_lock(&p->mutex);
    for (size_t i = 0; i < job->engine->worker_count; i++)
        has = has && (p->device_runs[i].is_let_go || p->device_runs[i].phase == DEVICE_RUN_ENDED);
    pthread_mutex_unlock(&p->mutex);
    return has;
}

static void give_device_run(worker *w, void *context)
{
    (void)w;
    atomic_fetch_add(&((pass *)context)->holders, 1);
}

/* Nobody waits for a device that has not joined. */
static bool let_go(worker *w, void *context)
{
    device_run *s = device_run_of(w, context);
    pthread_mutex_lock(&s->pass->mutex);
    s->is_let_go = s->is_let_go || s->phase < DEVICE_RUN_AT_WORK;
    const bool is_let_go = s->is_let_go;
    pthread_mutex_unlock(&s->pass->mutex);
    return is_let_go;
}

/* The driver of a worker does not return: others get what it had. Its states are nobody's any more
 * but the driver's. */
static void leave_device_run(worker *w, void *context)
{
    device_run *s = device_run_of(w, context);
    dev_keep(context);
    if (s->is_let_go) /* from a job that may be gone */
        return;
    if (s->job->atoms != NULL) /* they may be on their way to it, straight from the caller's */
        dev_keep(ley_atoms_keep((ley_atoms *)(uintptr_t)s->job->atoms));
    s->job->has_left = true;
    if (s->phase == DEVICE_RUN_NEW || s->phase == DEVICE_RUN_ENDED)
        return;
    if (s->phase == DEVICE_RUN_READYING)
        hand_over(s, 0);
    ley_error *failure = &s->record->failure;
    if (failure->status != LEY_OK) { /* it had failed already, and was ending what it had begun */
        ley_fail(&w->open_error, failure->status, "%s; %s", failure->message, w->open_error.message);
        ley_error_take_log(&w->open_error, failure->log);
        failure->log = NULL;
    }
    ley_error_copy(failure, &w->open_error);
    log_say(LEY_LOG_WARNING, "a device leaves the job: %s", failure->message);
    if (s->phase != DEVICE_RUN_AT_WORK)
        return;
    if (s->run != NULL)
        device_run_give_flying_back(s);
    join_queues(s, false);
    pthread_mutex_lock(&s->pass->mutex);
    s->phase = DEVICE_RUN_ENDED;
    pthread_mutex_unlock(&s->pass->mutex);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Why no device could finish the job: one line; the status says wrong results only if that is all
 * that went wrong. A file that could not be written is the reason by itself: no device is to
 * blame. */
static ley_status no_device_left(ley_job *job, ley_error *error)
{
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (job->records[i].failure.status == LEY_ERROR_FILE) {
            ley_error_copy(error, &job->records[i].failure);
            return LEY_ERROR_FILE;
        }
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

/* What a device is to report that had no run to say so in: why it did not open; that it was
 * late. */
static void note_others(ley_job *job, pass *p)
{
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const worker *w = &job->engine->workers[i];
        device_record *record = &job->records[i];
        pthread_mutex_lock(&p->mutex);
        const bool has_joined = p->device_runs[i].phase >= DEVICE_RUN_AT_WORK;
        pthread_mutex_unlock(&p->mutex);
        const char *call = w->driver_thread != NULL ? driver_thread_call(w->driver_thread) : NULL;
        if (worker_is_idle(w) && w->device == NULL)
            ley_error_copy(&record->failure, &w->open_error);
        else if (!has_joined) {
            snprintf(record->late, sizeof record->late, "%s", call != NULL ? call : "preparing");
            log_say(LEY_LOG_NOTE, "%s: not ready yet (%s) when the work was done", w->info->name, record->late);
        }
    }
}

static const engine_task running = {
    .run = run_device, .given = give_device_run, .is_over = is_over, .let_go = let_go, .left = leave_device_run};
static const engine_task running_again = {
    .run = run_device_again, .given = give_device_run, .is_over = is_over, .let_go = let_go, .left = leave_device_run};
static const engine_task ending = {
    .run = end_device, .given = give_device_run, .is_over = has_ended_all, .left = leave_device_run};

/* Devices that were not there before join in where those that are have failed, but not another run
 * of what was kept. */
static ley_status run_devices(ley_job *job, pass *p, const engine_task *task, ley_error *error)
{
    size_t first = 0;
    do {
        engine_run(job->engine, first, task, p);
        first = job->engine->worker_count;
    } while (task == &running && !device_run_job_is_over(job) && engine_take_next(job->engine));
    note_others(job, p);
    if (device_run_left_for_devices(job) == 0)
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
    pass *p = calloc(1, sizeof *p + count * sizeof p->device_runs[0]);
    if (p == NULL)
        return ley_fail_memory(error, count * sizeof p->device_runs[0], "the devices' shifts");
    p->method = job->method;
    p->pairs = job->report.evaluations;
    p->is_kept = job->is_kept;
    atomic_init(&p->holders, 1);
    pthread_mutex_init(&p->mutex, NULL);
    for (size_t i = 0; i < count; i++) {
        p->device_runs[i] = (device_run){.pass = p, .job = job, .device_index = i, .record = &job->records[i]};
        p->device_runs[i].failure.status = job->records[i].failure.status; /* one that has left the job stays away */
    }
    ley_status status = make_wishes(job, p, error);
    if (status != LEY_OK)
        let_loose(p);
    else
        *made = p;
    return status;
}

/* The job keeps it for another run, or not. */
static void keep_pass(ley_job *job, pass *p, ley_status status)
{
    job->kept_pass = p;
    if (status != LEY_OK || !p->is_kept)
        schedule_end(job);
}

static ley_status run_here(ley_job *job, ley_error *error)
{
    pass *p = NULL;
    schedule_end(job);
    ley_status status = pass_create(job, &p, error);
    if (status != LEY_OK)
        return status;
    status = run_devices(job, p, &running, error);
    keep_pass(job, p, status);
    return status;
}

ley_status schedule_run(ley_job *job, ley_error *error)
{
    return rank_share_run(job, run_here, error);
}

/* Nothing of the run is done yet. */
static void begin_again(pass *p, size_t devices)
{
    for (size_t i = 0; i < devices; i++) {
        device_run *s = &p->device_runs[i];
        if (s->is_let_go)
            continue;
        s->phase = s->is_kept ? DEVICE_RUN_NEW : DEVICE_RUN_ENDED;
        s->first = s->count = 0;
        s->own_begun_s = s->began_s = 0;
        s->has_own = s->is_waiting = s->has_made = s->is_asked = s->is_predicted = false;
        atomic_store(&s->is_unwanted, false);
    }
}

ley_status schedule_run_again(ley_job *job, ley_error *error)
{
    pass *p = job->kept_pass;
    begin_again(p, job->engine->candidate_count);
    const ley_status status = run_devices(job, p, &running_again, error);
    keep_pass(job, p, status);
    return status;
}

void schedule_end(ley_job *job)
{
    pass *p = job->kept_pass;
    if (p == NULL)
        return;
    begin_again(p, job->engine->candidate_count);
    if (p->is_kept)
        engine_run(job->engine, 0, &ending, p);
    job->kept_pass = NULL;
    let_loose(p);
}
