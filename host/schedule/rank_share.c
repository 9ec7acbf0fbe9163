#include "schedule/rank_share.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "ranks.h"
#include "schedule/rank_parts.h"
#include "schedule/rank_slabs.h"
#include "source/atoms.h"
#include "target/boundary.h"
#include "target/map.h"
#include "target/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which jobs ------------------------------------------------------------------------------ */

/* Of a job, as far as two that differ in it cannot be one. */
typedef struct identity {
    char method[32];
    int64_t points, atoms;
    double charges_e, positions_A;
    bool is_by_host;
} identity;

static identity identity_of(const ley_job *job)
{
    identity made;
    memset(&made, 0, sizeof made);
    snprintf(made.method, sizeof made.method, "%s", job->method->name);
    made.points = job->report.points;
    made.atoms = job->report.atoms;
    if (job_is_by_parts(job)) /* of all ranks, which have agreed on it */
        made.charges_e = ley_atoms_total_charge_e(job->atoms);
    else
        for (int64_t i = 0; i < made.atoms; i++) {
            made.charges_e += ley_atoms_charges_e(job->atoms)[i];
            for (int axis = 0; axis < 3; axis++)
                made.positions_A += (double)(axis + 1) * ley_atoms_positions_A(job->atoms)[3 * i + axis];
        }
    made.is_by_host = job->is_by_host;
    return made;
}

static bool is_same(const identity *a, const identity *b)
{
    return strcmp(a->method, b->method) == 0 && a->points == b->points && a->atoms == b->atoms &&
           memcmp(&a->charges_e, &b->charges_e, sizeof a->charges_e) == 0 &&
           memcmp(&a->positions_A, &b->positions_A, sizeof a->positions_A) == 0;
}

static rank_values values_of(const ley_job *job)
{
    const ley_target *t = &job->target;
    double *const list = job->method->list != NULL ? job->method->list(job->task) : NULL;
    if (list != NULL)
        return (rank_values){.value = list};
    if (t->points != NULL)
        return (rank_values){.value = t->points->list->value, .field = t->points->field};
    if (t->boundary != NULL)
        return (rank_values){.value = t->boundary->value};
    return (rank_values){.map = t->map};
}

static bool can_travel(const ley_job *job)
{
    const rank_values v = values_of(job);
    size_t maps = 0;
    if (job->method->maps != NULL)
        job->method->maps(job->task, &maps);
    return v.value != NULL || maps > 0 || (v.map != NULL && map_takes_values(v.map));
}

ley_status rank_share_begin(ley_job *job, ley_error *error)
{
    const int ranks = ranks_count();
    job->is_shared = ranks > 1 && !job->is_kept && can_travel(job);
    job->report.ranks = job->is_shared ? ranks : 1;
    if (!job->is_shared)
        return LEY_OK;
    job->report.link_latency_s = ranks_link().latency_s;
    job->report.link_bytes_per_s = ranks_link().bytes_per_s;
    identity *all = calloc((size_t)ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, (size_t)ranks * sizeof *all, "the ranks");
    const identity own = identity_of(job);
    ley_status status = LEY_OK;
    ranks_share(&own, sizeof own, all);
    for (int r = 1; r < ranks && status == LEY_OK; r++)
        if (!is_same(&all[0], &all[r]))
            status = ley_fail(error, LEY_ERROR_USAGE,
                              "ranks are to do the same job: rank 0 has method %s with %lld atoms at %lld points, and "
                              "rank %d method %s with %lld atoms at %lld points%s: start all of them by one command, "
                              "with files in a folder that all nodes have, or copies of them",
                              all[0].method, (long long)all[0].atoms, (long long)all[0].points, r, all[r].method,
                              (long long)all[r].atoms, (long long)all[r].points,
                              all[0].atoms == all[r].atoms ? ", or these are elsewhere" : "");
    job->is_by_host = all[0].is_by_host;
    free(all);
    return status;
}

bool rank_share_agree(const ley_job *job, bool said)
{
    if (job->is_shared)
        ranks_broadcast(&said, sizeof said);
    return said;
}

double rank_share_sum(const ley_job *job, double own)
{
    double *all = job->is_shared && job_is_by_parts(job) ? calloc((size_t)ranks_count(), sizeof *all) : NULL;
    if (all == NULL)
        return own;
    ranks_share(&own, sizeof own, all);
    own = 0;
    for (int r = 0; r < ranks_count(); r++)
        own += all[r];
    free(all);
    return own;
}

void rank_share_range(ley_long_range *range, char fft[RANK_FFT])
{
    if (ranks_count() == 1)
        return;
    snprintf(fft, RANK_FFT, "%s", range->fft != NULL ? range->fft : "");
    ranks_broadcast(range, sizeof *range);
    ranks_broadcast(fft, RANK_FFT);
    range->fft = fft[0] != '\0' ? fft : NULL;
}

bool rank_share_is_first(const ley_job *job)
{
    return !job->is_shared || ranks_own() == 0;
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* Those that are left on any rank become the queue of all. */
static ley_status share_leavings(ley_job *job, bool is_able, size_t *count, bool *is_any_able, ley_error *error)
{
    slab_queue *queue = job_result_queue(job);
    slab *list = NULL;
    const ley_status status =
        rank_slabs_share(queue->returned, queue->returned_count, is_able, &list, count, is_any_able, error);
    if (status != LEY_OK)
        return status;
    ranks_count_anew();
    slab_queue_share(queue, false, list, *count, job->given != NULL);
    return LEY_OK;
}

/* All of it is open, or what was given back before. */
static ley_status share_at_first(ley_job *job, ley_error *error)
{
    size_t count;
    bool is_any_able;
    slab_queue *queue = job_result_queue(job);
    if (queue->shared != NULL)
        return share_leavings(job, true, &count, &is_any_able, error);
    slab *all = rank_slabs_open(queue, &count);
    if (all == NULL)
        return ley_fail_memory(error, count * sizeof *all, "the ranks' slabs");
    ranks_count_anew();
    slab_queue_share(queue, false, all, count, job->given != NULL);
    return LEY_OK;
}

ley_status rank_share_run(ley_job *job, ley_status (*run)(ley_job *job, ley_error *error), ley_error *error)
{
    if (!job->is_shared)
        return run(job, error);
    if (job_is_by_parts(job))
        return rank_parts_run(job, run, error);
    size_t left = 0;
    bool is_able = job->engine->worker_count > 0, is_any_able = true;
    ley_error why = {0};
    ley_status status = share_at_first(job, error);
    if (status != LEY_OK)
        return status;
    if (!is_able)
        status = ley_fail(&why, LEY_ERROR_NO_DEVICE, "%s", job->engine->lacking.message);
    do {
        if (is_able)
            status = run(job, &why);
        if (status != LEY_OK && !rank_slabs_is_of_devices(status)) {
            ley_error_copy(error, &why);
            ley_error_clear(&why);
            return status;
        }
        is_able = is_able && status == LEY_OK;
        const ley_status shared = share_leavings(job, is_able, &left, &is_any_able, error);
        if (shared != LEY_OK)
            return shared;
        if (left > 0 && ranks_own() == 0)
            log_say(LEY_LOG_NOTE, "%zu slabs of ranks that cannot do them are dealt anew", left);
    } while (left > 0 && is_any_able);
    if (left == 0 || status == LEY_OK)
        status = left == 0 ? LEY_OK : ley_fail(error, LEY_ERROR_DEVICE, "no rank has a device left");
    else
        ley_error_copy(error, &why);
    ley_error_clear(&why);
    return status;
}

void rank_share_pieces(const ley_job *job, slab_queue *queue)
{
    size_t count;
    slab *all = job->is_shared ? rank_slabs_open(queue, &count) : NULL;
    if (!job->is_shared)
        return;
    ranks_count_anew();
    if (all != NULL) {
        slab_queue_share(queue, false, all, count, false);
    } else { /* others do them */
        slab_queue_stop(queue);
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Bytes of a slab's values, whether they are written there or read from there. */
typedef struct parcel {
    unsigned char *bytes; /* NULL: only counted */
    size_t size;
    bool comes;
} parcel;

static void move_number(parcel *p, double *number)
{
    if (p->bytes != NULL && p->comes)
        memcpy(number, p->bytes + p->size, sizeof *number);
    else if (p->bytes != NULL)
        memcpy(p->bytes + p->size, number, sizeof *number);
    p->size += sizeof *number;
}

static void move_planes(parcel *p, ley_map *map, int64_t first, int64_t count)
{
    const int64_t planes = ley_map_grid(map)->n[2], left = planes - first;
    for (int c = 0; c < map_components(map); c++) {
        ley_map *one = (ley_map *)(uintptr_t)map_component(map, c);
        p->size += map_planes_move(one, first, count < left ? count : left,
                                   p->bytes != NULL ? p->bytes + p->size : NULL, p->comes);
    }
}

static void move_value(parcel *p, const rank_values *v, int64_t number)
{
    double value = v->get != NULL && !p->comes ? v->get(v->context, number) : 0;
    move_number(p, v->get != NULL ? &value : &v->value[number]);
    if (v->get != NULL && p->bytes != NULL && p->comes)
        v->set(v->context, number, value);
    for (int axis = 0; v->field != NULL && axis < 3; axis++)
        move_number(p, &v->field[3 * number + axis]);
}

/* `by_method`: a slab of the method's, else a range of planes or of values. */
static void move_slab(parcel *p, const ley_job *job, const rank_values *v, bool by_method, slab s)
{
    const method *m = job->method;
    const int64_t planes = by_method && m->piece_planes > 0 ? m->piece_planes : 1;
    size_t maps = 0;
    ley_map *const *list = by_method && m->maps != NULL ? m->maps(job->task, &maps) : NULL;
    for (size_t k = 0; k < maps; k++)
        move_planes(p, list[k], s.first * planes, s.count * planes);
    if (v->map != NULL && maps == 0)
        move_planes(p, v->map, s.first * planes, s.count * planes);
    if (v->value == NULL && v->get == NULL)
        return;
    const int64_t n = by_method ? m->points(job->task, s) : s.count;
    for (int64_t i = 0; i < n; i++)
        move_value(p, v, by_method ? m->point(job->task, s, i) : s.first + i);
}

/* ---- What a rank says of itself -------------------------------------------------------------- */

static void put_text(char *to, size_t size, const char *text)
{
    const size_t length = text != NULL ? strnlen(text, size - 1) : 0;
    if (length > 0)
        memcpy(to, text, length);
    to[length] = '\0';
}

static void describe(rank_record *r, const ley_device_info *info, const device_record *of)
{
    r->info = *info;
    put_text(r->path, sizeof r->path, info->path);
    put_text(r->platform, sizeof r->platform, info->platform);
    put_text(r->vendor, sizeof r->vendor, info->vendor);
    put_text(r->name, sizeof r->name, info->name);
    put_text(r->driver, sizeof r->driver, info->driver);
    put_text(r->version, sizeof r->version, info->version);
    put_text(r->variant, sizeof r->variant, of->kernel.variant);
    put_text(r->root, sizeof r->root, of->kernel.root);
    put_text(r->exp, sizeof r->exp, of->kernel.exp);
    r->report.from_cache = of->kernel.from_cache;
}

/* Of all devices of this rank together. */
static rank_record describe_own(const ley_job *job, size_t slabs)
{
    rank_record r;
    memset(&r, 0, sizeof r);
    r.slabs = (int64_t)slabs;
    r.report.status = job->engine->lacking.status;
    put_text(r.failure, sizeof r.failure, job->engine->lacking.message);
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const device_record *of = &job->records[i];
        if (r.name[0] == '\0' || (r.report.points == 0 && of->report.points > 0))
            describe(&r, &job->engine->workers[i].public_info, of);
        r.report.slabs += of->report.slabs;
        r.report.points += of->report.points;
        r.report.kernel_s += of->report.kernel_s;
        r.report.transfer_s += of->report.transfer_s;
        r.report.build_s = of->report.build_s > r.report.build_s ? of->report.build_s : r.report.build_s;
        if (of->failure.status != LEY_OK && r.report.status == LEY_OK) {
            r.report.status = of->failure.status;
            put_text(r.failure, sizeof r.failure, of->failure.message);
        }
    }
    return r;
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* Its texts are here now. */
static void settle(rank_record *r, int rank)
{
    r->info.path = r->path;
    r->info.platform = r->platform;
    r->info.vendor = r->vendor;
    r->info.name = r->name;
    r->info.driver = r->driver;
    r->info.version = r->version;
    r->info.quirks = "";
    r->info.unusable = NULL;
    r->report.device = &r->info;
    r->report.variant = text_or_null(r->variant);
    r->report.root = text_or_null(r->root);
    r->report.exp = text_or_null(r->exp);
    r->report.specification = NULL;
    r->report.failure = text_or_null(r->failure);
    r->report.failure_log = r->report.late = NULL;
    r->report.rank = rank;
}

/* ---- To rank 0 ------------------------------------------------------------------------------- */

typedef struct journey {
    ley_job *job;
    const rank_values *values;
    bool by_method;
    unsigned char *room; /* for the largest slab so far */
    size_t size;
    int64_t moved; /* bytes */
} journey;

static ley_status make_room(journey *j, slab s, size_t *size, ley_error *error)
{
    parcel counted = {.bytes = NULL};
    move_slab(&counted, j->job, j->values, j->by_method, s);
    *size = counted.size;
    if (counted.size <= j->size)
        return LEY_OK;
    free(j->room);
    j->room = malloc(counted.size);
    j->size = j->room != NULL ? counted.size : 0;
    return j->room != NULL ? LEY_OK : ley_fail_memory(error, counted.size, "values on their way to rank 0");
}

static ley_status send_slabs(journey *j, const rank_record *own, const slab *slabs, ley_error *error)
{
    ley_status status = LEY_OK;
    size_t size;
    ranks_send(own, sizeof *own);
    ranks_send(slabs, (size_t)own->slabs * sizeof *slabs);
    for (int64_t i = 0; i < own->slabs && status == LEY_OK; i++) {
        status = make_room(j, slabs[i], &size, error);
        if (status != LEY_OK)
            break;
        parcel p = {.bytes = j->room};
        move_slab(&p, j->job, j->values, j->by_method, slabs[i]);
        ranks_send(j->room, size);
    }
    return status;
}

static ley_status add_remote_slab(ley_job *job, int rank, slab s, ley_error *error)
{
    if (job->report.slab_count >= job->slab_capacity) {
        const size_t capacity = 2 * job->report.slab_count + 64;
        ley_slab_report *grown = realloc(job->slabs, capacity * sizeof *grown);
        if (grown == NULL)
            return ley_fail_memory(error, capacity * sizeof *grown, "the slabs' reports");
        job->slabs = grown;
        job->slab_capacity = capacity;
    }
    job->slabs[job->report.slab_count++] =
        (ley_slab_report){.device = job_rank_record(job, rank), .first = s.first, .count = s.count};
    job->points_done += job->method->points(job->task, s);
    return LEY_OK;
}

static ley_status receive_slabs(journey *j, int rank, ley_error *error)
{
    ley_job *job = j->job;
    rank_record *r = &job->ranks[rank];
    ranks_receive(rank, r, sizeof *r);
    settle(r, rank);
    slab *slabs = malloc(((size_t)r->slabs + 1) * sizeof *slabs);
    size_t size;
    if (slabs == NULL)
        return ley_fail_memory(error, (size_t)r->slabs * sizeof *slabs, "a rank's slabs");
    ranks_receive(rank, slabs, (size_t)r->slabs * sizeof *slabs);
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < r->slabs && status == LEY_OK; i++) {
        status = make_room(j, slabs[i], &size, error);
        if (status == LEY_OK && j->by_method)
            status = add_remote_slab(job, rank, slabs[i], error);
        if (status != LEY_OK)
            break;
        ranks_receive(rank, j->room, size);
        parcel p = {.bytes = j->room, .comes = true};
        move_slab(&p, job, j->values, j->by_method, slabs[i]);
        j->moved += (int64_t)size;
    }
    free(slabs);
    return status;
}

/* What came from others before comes once more. */
static void forget_remote_slabs(ley_job *job)
{
    ley_report *r = &job->report;
    size_t kept = 0;
    for (size_t i = 0; i < r->slab_count; i++)
        if (job->slabs[i].device < job->engine->candidate_count)
            job->slabs[kept++] = job->slabs[i];
        else
            job->points_done -= job->method->points(job->task, (slab){job->slabs[i].first, job->slabs[i].count});
    r->slab_count = kept;
}

static ley_status gather(journey *j, const rank_record *own, const slab *slabs, ley_error *error)
{
    ley_job *job = j->job;
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    if (ranks_own() == 0 && job->ranks == NULL)
        job->ranks = calloc((size_t)ranks_count(), sizeof *job->ranks);
    if (ranks_own() == 0 && job->ranks == NULL)
        return ley_fail_memory(error, (size_t)ranks_count() * sizeof *job->ranks, "the ranks");
    if (ranks_own() > 0)
        status = send_slabs(j, own, slabs, error);
    else
        for (int r = 1; r < ranks_count() && status == LEY_OK; r++)
            status = receive_slabs(j, r, error);
    free(j->room);
    job->report.gathered_bytes += j->moved;
    job->report.gather_s += ley_clock_s() - start_s;
    return status;
}

ley_status rank_share_gather(ley_job *job, ley_error *error)
{
    if (!job->is_shared)
        return LEY_OK;
    const rank_values values = values_of(job);
    journey j = {.job = job, .values = &values, .by_method = true};
    forget_remote_slabs(job);
    const size_t count = job->report.slab_count;
    slab *slabs = malloc((count + 1) * sizeof *slabs);
    if (slabs == NULL)
        return ley_fail_memory(error, count * sizeof *slabs, "this rank's slabs");
    for (size_t i = 0; i < count; i++)
        slabs[i] = (slab){job->slabs[i].first, job->slabs[i].count};
    const rank_record own = describe_own(job, count);
    ley_status status = map_planes_flush(values.map, error);
    if (status == LEY_OK)
        status = gather(&j, &own, slabs, error);
    free(slabs);
    return status;
}

ley_status rank_share_gather_pieces(ley_job *job, const rank_values *values, const slab *taken, size_t count,
                                    ley_error *error)
{
    journey j = {.job = job, .values = values};
    if (!job->is_shared)
        return LEY_OK;
    const rank_record own = {.slabs = (int64_t)count};
    const ley_status status = map_planes_flush(values->map, error);
    return status == LEY_OK ? gather(&j, &own, taken, error) : status;
}

void rank_share_complete_report(ley_job *job)
{
    ley_report *r = &job->report;
    const size_t own = r->device_count;
    for (int k = 1; job->ranks != NULL && k < r->ranks; k++) {
        ley_device_report *d = &job->device_reports[r->device_count++];
        *d = job->ranks[k].report;
        d->share = (double)d->points / (double)r->points;
        d->evaluations_per_s = d->kernel_s > 0 ? d->share * r->evaluations / d->kernel_s : 0;
    }
    for (size_t i = 0; i < r->slab_count; i++)
        if (job->slabs[i].device >= job->engine->candidate_count)
            job->slabs[i].device = own + job->slabs[i].device - job->engine->candidate_count;
}
