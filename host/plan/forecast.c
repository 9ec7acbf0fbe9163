#include "plan/forecast.h"

#include "clock.h"
#include "costs.h"
#include "error.h"
#include "log.h"
#include "plan/host_job.h"
#include "plan/job_run.h"
#include "schedule/job.h"
#include "schedule/job_memory.h"
#include "target/map.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = 16 };

/* ---- What stages say ------------------------------------------------------------------------- */

ley_status forecast_need(device_forecast *f, const char *what, double bytes, double largest, ley_error *error)
{
    const double most = (double)arena_largest(f->arena), left = (double)arena_left(f->arena) - f->bytes;
    if (f->need_count < FORECAST_MOST_NEEDS)
        f->needs[f->need_count++] = (ley_need){what, ceil(bytes)};
    f->bytes += ceil(bytes);
    if (largest > most)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: a buffer of %s is needed, the device's largest is %s", what,
                        ley_size(largest).s, ley_size(most).s);
    if (bytes > left)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: %s are needed, there is room for %s", what, ley_size(bytes).s,
                        ley_size(fmax(left, 0)).s);
    return LEY_OK;
}

static void add_step(device_forecast *f, const char *what, double seconds, bool is_dealt)
{
    if (f->step_count < FORECAST_MOST_STEPS)
        f->steps[f->step_count++] = (ley_step){what, seconds, is_dealt};
}

void forecast_before(device_forecast *f, const char *what, double seconds)
{
    add_step(f, what, seconds, false);
    f->before_s += seconds;
}

void forecast_slabs(device_forecast *f, const char *what, double seconds, bool is_beside)
{
    add_step(f, what, seconds, true);
    f->slabs_s = is_beside ? fmax(f->slabs_s, seconds) : f->slabs_s + seconds;
}

void forecast_transfer(device_forecast *f, double bytes, double slabs)
{
    double bus[COSTS_MOST];
    costs_known(&bus_costs, f->arena->device->info, bus);
    forecast_slabs(f, "transfer", bytes * bus[COST_TO_HOST] + slabs * bus[COST_START], true);
}

ley_status forecast_in_slabs(device_forecast *f, double slab_bytes, double pieces, double kernels_s, ley_error *error)
{
    const ley_status status = forecast_need(f, "slabs", METHOD_SLOTS * slab_bytes, slab_bytes, error);
    forecast_slabs(f, "kernels", kernels_s, false);
    forecast_transfer(f, slab_bytes / (double)f->slab * pieces, ceil(pieces / (double)f->slab));
    return status;
}

/* Slabs go on as soon as one device is there: at time t device i has done (t - before) / slabs of
 * them. */
double forecast_end_s(const device_forecast *devices, size_t count)
{
    double low_s = 0, high_s = INFINITY;
    for (size_t i = 0; i < count; i++)
        high_s = fmin(high_s, devices[i].before_s + devices[i].slabs_s);
    for (int step = 0; step < 60 && isfinite(high_s); step++) {
        const double middle_s = 0.5 * (low_s + high_s);
        double done = 0;
        for (size_t i = 0; i < count; i++)
            done += fmax(middle_s - devices[i].before_s, 0) / fmax(devices[i].slabs_s, 1e-12);
        *(done >= 1 ? &high_s : &low_s) = middle_s;
    }
    return isfinite(high_s) ? high_s : 0;
}

/* ---- On each device -------------------------------------------------------------------------- */

typedef struct part {
    device_forecast said;
    kernel_notes kernel;
    ley_error failure;
    arena arena;
    bool is_asked;
} part;

typedef struct job_forecast {
    ley_job *job;
    bool is_wanted[MOST_STAGES];
    void *wishes[MOST_STAGES];
    job_needs host;
    ley_need host_needs[JOB_MOST_NEEDS];
    ley_step host_steps[FORECAST_MOST_STEPS];
    memory_room available;
    ley_error refusal;
    notes notes;
    part *parts;                 /* [candidates] */
    ley_device_forecast *public; /* [candidates] */
    ley_forecast forecast;
} job_forecast;

static ley_status ready_all(job_forecast *f, part *p, dev *device, void **states)
{
    const method *m = f->job->method;
    ley_status status = LEY_OK;
    device->pairs = f->job->report.evaluations;
    for (size_t i = 0; status == LEY_OK && i < m->stage_count; i++)
        if (f->is_wanted[i] && m->stages[i].ready != NULL)
            status = m->stages[i].ready(device, f->wishes[i], &p->kernel, &states[i], &p->failure);
    if (status == LEY_OK)
        costs_get(&bus_costs, device->info, device, (double[COSTS_MOST]){0});
    return status;
}

static ley_status ask_all(job_forecast *f, part *p, dev *device, void **states)
{
    const method *m = f->job->method;
    const stage_place place = {.device = device, .arena = &p->arena, .job = &f->job->view, .notes = &p->kernel};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < m->stage_count; i++)
        if (f->is_wanted[i] && m->stages[i].forecast != NULL) {
            ley_error why = {0};
            const ley_status said = m->stages[i].forecast(f->job->task, &place, states[i], &p->said, &why);
            if (status == LEY_OK && said != LEY_OK) {
                status = said;
                ley_error_copy(&p->failure, &why);
            }
            ley_error_clear(&why);
        }
    return status;
}

/* Runs on the device's thread. */
static void ask_device(worker *w, void *context)
{
    job_forecast *f = context;
    part *p = &f->parts[w - w->engine->workers];
    void *states[MOST_STAGES] = {NULL};
    const method *m = f->job->method;
    p->is_asked = true;
    if (w->device == NULL) {
        ley_error_copy(&p->failure, &w->open_error);
        return;
    }
    watch_expect(0);
    p->arena.device = w->device;
    p->said.arena = &p->arena;
    ley_status status = ready_all(f, p, w->device, states);
    if (status == LEY_OK)
        status = ask_all(f, p, w->device, states);
    if (status != LEY_OK)
        ley_error_prefix(&p->failure, "%s", w->info->name);
    for (size_t i = m->stage_count; i-- > 0;)
        if (states[i] != NULL)
            m->stages[i].end(states[i]);
    arena_clear(&p->arena);
}

static bool is_able(const part *p)
{
    return p->is_asked && p->failure.status == LEY_OK;
}

static ley_status make_wishes(job_forecast *f, ley_error *error)
{
    const ley_job *job = f->job;
    ley_status status = LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < job->method->stage_count; i++) {
        const stage *t = &job->method->stages[i];
        f->is_wanted[i] = job->stages[i].is_wanted;
        if (f->is_wanted[i] && t->wish != NULL)
            status = t->wish(job->task, &job->view, &f->wishes[i], error);
    }
    return status;
}

static void end_wishes(job_forecast *f)
{
    for (size_t i = 0; i < f->job->method->stage_count; i++) {
        if (f->job->method->stages[i].wish_destroy != NULL)
            f->job->method->stages[i].wish_destroy(f->wishes[i]);
        f->wishes[i] = NULL;
    }
}

/* The default device, and where it cannot, the next best one. */
static void ask_devices(job_forecast *f)
{
    static const engine_task task = {.run = ask_device};
    ley_engine *engine = f->job->engine;
    size_t first = 0;
    bool any;
    do {
        engine_run(engine, first, &task, f);
        any = false;
        for (size_t i = 0; i < engine->worker_count; i++)
            any = any || is_able(&f->parts[i]);
        first = engine->worker_count;
    } while (!any && engine_take_next(engine));
}

static void forget_parts(job_forecast *f)
{
    for (size_t i = 0; i < f->job->engine->candidate_count; i++) {
        ley_error_clear(&f->parts[i].failure);
        free(f->parts[i].said.shared);
        f->parts[i] = (part){.is_asked = false};
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Why no device can do it; LEY_OK: one can. */
static ley_status find_refusal(const job_forecast *f, ley_error *error)
{
    const part *refusing = NULL;
    for (size_t i = 0; i < f->job->engine->worker_count; i++) {
        if (is_able(&f->parts[i]))
            return LEY_OK;
        if (f->parts[i].is_asked && refusing == NULL)
            refusing = &f->parts[i];
    }
    if (refusing == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "no device could be asked");
    ley_error_copy(error, &refusing->failure);
    return refusing->failure.status;
}

/* What devices that are processors take is the host's: of one and the same, by several drivers. */
static void add_processors(job_forecast *f)
{
    double bytes = 0;
    for (size_t i = 0; i < f->job->engine->worker_count; i++)
        if (f->parts[i].is_asked && f->job->engine->workers[i].info->device_class == DEV_CPU)
            bytes += f->parts[i].said.bytes;
    if (bytes > 0)
        job_needs_add(&f->host, "the processor as a device", bytes, "a smaller grid");
}

static void describe_devices(job_forecast *f)
{
    for (size_t i = 0; i < f->job->engine->worker_count; i++) {
        const part *p = &f->parts[i];
        const device_forecast *said = &p->said;
        const int64_t pieces = job_pieces(f->job, &f->job->method->stages[f->job->method->result]);
        const char *counted_in = f->job->method->pieces;
        f->public[i] = (ley_device_forecast){.device = &f->job->engine->workers[i].public_info,
                                             .variant = p->kernel.variant,
                                             .details = said->details,
                                             .slab = said->slab,
                                             .slabs = said->slab > 0 ? (pieces + said->slab - 1) / said->slab : 0,
                                             .pieces = counted_in != NULL ? counted_in : "planes",
                                             .need_count = said->need_count,
                                             .needs = said->needs,
                                             .bytes = said->bytes,
                                             .step_count = said->step_count,
                                             .steps = said->steps,
                                             .alone_s = said->before_s + said->slabs_s,
                                             .status = p->failure.status,
                                             .failure = p->failure.status != LEY_OK ? p->failure.message : NULL};
        if (p->arena.device != NULL)
            f->public[i].room_bytes = (double)arena_left(&p->arena);
    }
}

static void add_up(job_forecast *f)
{
    ley_forecast *to = &f->forecast;
    ley_job *job = f->job;
    device_forecast *able = calloc(job->engine->worker_count + 1, sizeof *able);
    size_t count = 0;
    for (size_t i = 0; able != NULL && i < job->engine->worker_count; i++)
        if (is_able(&f->parts[i]))
            able[count++] = f->parts[i].said;
    to->devices_s = able != NULL ? forecast_end_s(able, count) : 0;
    free(able);
    f->available = memory_available();
    for (size_t i = 0; i < f->host.count; i++)
        if (f->host.list[i].bytes > 0) {
            f->host_needs[to->host_need_count++] = (ley_need){f->host.list[i].what, f->host.list[i].bytes};
            to->host_bytes += f->host.list[i].bytes;
        }
    to->total_s = to->devices_s;
    for (size_t i = 0; i < to->host_step_count; i++)
        to->total_s += f->host_steps[i].seconds;
    to->host_needs = f->host_needs;
    to->host_steps = f->host_steps;
    to->available_bytes = f->available.bytes + job_needs_held(&f->host);
    to->limit = f->available.limit;
    to->device_count = job->engine->worker_count;
    to->devices = f->public;
    to->note_count = f->notes.count;
    to->notes = f->notes.list;
    to->decision_count = job->report.decision_count;
    to->decisions = job->report.decisions;
}

/* What the host does alone. */
static void ask_host(job_forecast *f)
{
    ley_job *job = f->job;
    host_sum sum = {.map = NULL};
    job->method->by_host(job->task, &sum); /* it was asked before */
    if (sum.count > 0)
        job->method->host_needs(job->task, &f->host);
    else if (sum.map != NULL)
        job_needs_map(&f->host, ley_map_grid(sum.map), sum.map, 1);
    else
        job_needs_points(&f->host, host_sum_points(&sum), host_sum_has_field(&sum));
    f->host_steps[f->forecast.host_step_count++] = (ley_step){sum.how, host_sum_seconds(&sum), true};
    host_job_put_decisions(job);
    f->forecast.host = sum.how;
    add_up(f);
}

/* Once; false: devices cannot do it in this way. */
static ley_status ask(job_forecast *f, ley_error *error)
{
    ley_job *job = f->job;
    const method *m = job->method;
    ley_status status = job_take_view(job, error);
    if (status != LEY_OK)
        return status;
    job->view.only_plans = true;
    status = job_prepare(job, error);
    if (status == LEY_OK)
        status = make_wishes(f, error);
    if (status == LEY_OK) {
        ask_devices(f);
        status = find_refusal(f, error);
        f->host.count = f->host.held = f->notes.count = f->forecast.host_step_count = 0;
        if (m->host_needs != NULL)
            m->host_needs(job->task, &f->host);
        if (m->outline != NULL)
            m->outline(job->task, &f->notes);
        if (m->host_s != NULL && m->host_s(job->task) > 0)
            f->host_steps[f->forecast.host_step_count++] = (ley_step){"binning", m->host_s(job->task), false};
        describe_devices(f);
        for (size_t i = 0; i < job->engine->worker_count; i++) {
            job->records[i].kernel = f->parts[i].kernel;
            job->records[i].slab = is_able(&f->parts[i]) ? f->parts[i].said.slab : 0;
        }
        job_put_decisions(job);
    }
    end_wishes(f);
    m->release(job->task, false);
    job_end_view(job);
    return status;
}

static void destroy(job_forecast *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; f->parts != NULL && i < f->job->engine->candidate_count; i++) {
        ley_error_clear(&f->parts[i].failure);
        free(f->parts[i].said.shared);
    }
    ley_error_clear(&f->refusal);
    free(f->parts);
    free(f->public);
    free(f);
}

static ley_status create(ley_job *job, job_forecast **made, ley_error *error)
{
    const size_t count = job->engine->candidate_count + 1;
    job_forecast *f = calloc(1, sizeof *f);
    if (f != NULL) {
        f->job = job;
        f->parts = calloc(count, sizeof *f->parts);
        f->public = calloc(count, sizeof *f->public);
    }
    if (f == NULL || f->parts == NULL || f->public == NULL) {
        destroy(f);
        return ley_fail_memory(error, count * sizeof *f->parts, "the forecast");
    }
    *made = f;
    return LEY_OK;
}

ley_status ley_job_forecast(ley_job *job, const ley_forecast **forecast, ley_error *error)
{
    if (job->has_begun)
        return ley_fail(error, LEY_ERROR_USAGE, "the job has been run already");
    if (job->method->host_needs == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "method %s: there are no forecasts of it", job->method->name);
    job->has_begun = true;
    ley_status status = create(job, &job->forecast, error);
    if (status != LEY_OK)
        return status;
    job_forecast *f = job->forecast;
    job->end_forecast = destroy;
    if (job->is_by_host) {
        ask_host(f);
        *forecast = &f->forecast;
        return job_needs_check(&f->host, error);
    }
    job_begin_plan(job);
    if (job->options.sum == LEY_SUM_AUTO) /* what comes first, and mostly is right enough */
        job->options.sum = LEY_SUM_FLOAT;
    status = ask(f, &f->refusal);
    if (status == LEY_ERROR_NO_DEVICE && job->method->otherwise != NULL && f->parts[0].is_asked &&
        job->method->otherwise(job->task, f->refusal.message)) {
        log_say(LEY_LOG_WARNING, "otherwise, as no device can do it: %s", f->refusal.message);
        ley_error_clear(&f->refusal);
        forget_parts(f);
        status = ask(f, &f->refusal);
    }
    add_processors(f);
    add_up(f);
    ley_status refused = job_needs_check(&f->host, error);
    if (refused == LEY_OK && status != LEY_OK) {
        ley_error_copy(error, &f->refusal);
        refused = status;
    }
    *forecast = &f->forecast;
    return refused;
}

/* ---- On several ranks ------------------------------------------------------------------------ */

/* Each slab is two questions to rank 0: where the others are, and the taking of it. */
static void foresee_counter(ley_ranks_forecast *made, const ley_link *link, double slabs)
{
    static const double questions = 2, question_bytes = 16;
    made->counter_s = slabs * questions * 2 * link->latency_s;
    made->counter_bytes = slabs * questions * question_bytes * (double)link->ranks;
}

static bool is_one_of(const char *what, const char *const *list)
{
    while (*list != NULL && strcmp(what, *list) != 0)
        list++;
    return *list != NULL;
}

/* Needs and steps of what ranks share, and needs that are in proportion to a rank's atoms. */
static const char *const of_field[] = {"meshes", "the influence function", "plans of transforms", "spreading", NULL};
static const char *const of_atoms[] = {"atoms", "bins", "atoms in a mesh's bins", NULL};
static const char of_processor[] = "the processor as a device";

/* Of the atoms, those of a rank in the middle of others. */
static double share_of_atoms(const ley_job *job, const ley_link *link, double halo_A)
{
    const ley_grid *g = ley_map_grid(job->target.map);
    const double *step = g->step_A[2];
    const double extent_A = (double)g->n[2] * sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    return fmin(1, 1 / (double)link->ranks + 2 * halo_A / extent_A);
}

/* The first device that has a part in it, whose equals all ranks have. */
static const part *first_able(const job_forecast *f)
{
    size_t i = 0;
    while (i + 1 < f->job->engine->worker_count && !is_able(&f->parts[i]))
        i++;
    return &f->parts[i];
}

static double part_of_needs(const ley_need *needs, size_t count, double share, double device_bytes)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += is_one_of(needs[i].what, of_field)         ? 0
                 : is_one_of(needs[i].what, of_atoms)       ? share * needs[i].bytes
                 : strcmp(needs[i].what, of_processor) == 0 ? device_bytes
                                                            : needs[i].bytes;
    return bytes;
}

/* Each rank has its own planes' atoms, and those within the halo. */
static void foresee_parts(const job_forecast *f, const ley_link *link, const rank_outlook *o, ley_ranks_forecast *made)
{
    const device_forecast *d = &first_able(f)->said;
    const double share = share_of_atoms(f->job, link, o->halo_A);
    for (size_t i = 0; i < f->forecast.host_step_count; i++)
        made->own_s += share * f->host_steps[i].seconds;
    for (size_t i = 0; i < d->step_count; i++)
        if (!d->steps[i].is_dealt && !is_one_of(d->steps[i].what, of_field))
            made->own_s += share * d->steps[i].seconds;
    made->own_s += o->part_s;
    made->exchange_s = o->part_exchange_s;
    made->exchanged_bytes = o->part_moved_bytes;
    made->local_levels = o->local_levels;
    made->atoms_share = share;
    made->device_bytes = part_of_needs(d->needs, d->need_count, share, 0) + o->part_device_bytes;
    made->host_bytes =
        part_of_needs(f->host_needs, f->forecast.host_need_count, share, made->device_bytes) + o->part_host_bytes;
}

static void foresee_whole(const job_forecast *f, const rank_outlook *o, ley_ranks_forecast *made)
{
    double before_s = INFINITY;
    for (size_t i = 0; i < f->job->engine->worker_count; i++)
        if (is_able(&f->parts[i]))
            before_s = fmin(before_s, f->parts[i].said.before_s);
    made->own_s = f->forecast.total_s - f->forecast.devices_s + before_s;
    made->atoms_share = 1;
    made->host_bytes = f->forecast.host_bytes;
    made->device_bytes = first_able(f)->said.bytes;
    if (!(o->together_s > 0)) /* each does all of it */
        return;
    made->own_s += fmax(o->together_s - o->alone_s, -before_s);
    made->is_spread_together = true;
    made->is_transformed_together = o->transforms;
    made->exchange_s = o->exchange_s;
    made->exchanged_bytes = o->moved_bytes;
    made->host_bytes += o->host_bytes;
}

bool ley_job_forecast_ranks(const ley_job *job, const ley_link *link, bool are_written, ley_ranks_forecast *made)
{
    const job_forecast *f = job->forecast;
    const device_forecast *first = &first_able(f)->said;
    const double ranks = (double)link->ranks, devices = (double)job->engine->worker_count, slab_s = 0.1;
    const double bytes =
        (double)job->report.points *
        (job->target.map != NULL ? (double)map_components(job->target.map) * sizeof(float) : sizeof(double));
    rank_outlook o = {.can_part = first->foresee == NULL, .halo_A = link->halo_A};
    double rate = 0;
    *made = (ley_ranks_forecast){.own_s = 0};
    for (size_t i = 0; i < job->engine->worker_count; i++)
        rate += is_able(&f->parts[i]) ? 1 / fmax(f->parts[i].said.slabs_s, 1e-12) : 0;
    if (first->foresee != NULL)
        first->foresee(first->shared, link, &o);
    if (link->by_parts && (!o.can_part || job->target.map == NULL || !isfinite(o.halo_A)))
        return false;
    if (link->by_parts)
        foresee_parts(f, link, &o, made);
    else
        foresee_whole(f, &o, made);
    made->all_pieces = (double)job_pieces(job, &job->method->stages[job->method->result]);
    made->pieces = ceil(made->all_pieces / (ranks * devices)) * devices;
    made->dealt_s = made->pieces / made->all_pieces / rate;
    if (!link->by_parts) /* else each has its own planes from the beginning */
        foresee_counter(made, link,
                        fmin(made->pieces, devices * (made->dealt_s / slab_s + 2 * log2(1 + made->pieces))));
    if (are_written) {
        made->written_bytes = bytes / ranks;
    } else {
        made->gathered_bytes = bytes * (1 - 1 / ranks);
        made->gather_s = ranks * link->latency_s + made->gathered_bytes / link->bytes_per_s;
    }
    made->total_s = made->own_s + made->exchange_s + made->dealt_s + made->counter_s + made->gather_s;
    return true;
}

ley_status ley_job_check_memory(const ley_job *job, ley_error *error)
{
    job_needs needs = {.count = 0};
    if (job->method->host_needs != NULL)
        job->method->host_needs(job->task, &needs);
    return job_needs_check(&needs, error);
}
