#include "schedule/rank_parts.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "ranks.h"
#include "schedule/rank_slabs.h"
#include "source/atoms.h"
#include "source/atoms_visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run of all ranks. */
typedef struct parts_run {
    ley_job *job;
    ley_status (*run)(ley_job *job, ley_error *error);
    const atoms_part *part;
    int64_t planes_each; /* in a piece */
    int64_t *atoms;      /* [ranks], of each */
    int64_t *pieces;     /* [ranks], that are open of each */
    slab *open;          /* of all, each of one rank */
    size_t open_count;
    double piece_s;  /* that one of its own has taken here; 0: it has done none */
    bool is_able;    /* its devices can do something */
    bool is_away;    /* what is prepared is for another rank's planes */
    bool is_wanted;  /* somebody has left what he cannot do */
    int64_t visited; /* pieces of others that it has done */
} parts_run;

/* ---- Whose pieces they are ------------------------------------------------------------------- */

static int owner_of(const parts_run *p, slab s)
{
    int r = 0;
    while (r + 1 < ranks_count() && s.first * p->planes_each >= p->part->planes[r + 1])
        r++;
    return r;
}

/* Those of a rank, in their order; from malloc. */
static slab *slabs_of(const parts_run *p, int rank, size_t *count, ley_error *error)
{
    slab *list = malloc((p->open_count + 1) * sizeof *list);
    *count = 0;
    if (list == NULL)
        ley_fail_memory(error, p->open_count * sizeof *list, "the ranks' slabs");
    for (size_t i = 0; list != NULL && i < p->open_count; i++)
        if (owner_of(p, p->open[i]) == rank)
            list[(*count)++] = p->open[i];
    return list;
}

/* What is open on any rank becomes its owner's, off whose counter others may take it. *left: how
 * many pieces that are. */
static ley_status deal(parts_run *p, const slab *own, size_t count, int64_t *left, bool *is_any_able, ley_error *error)
{
    free(p->open);
    p->open = NULL;
    p->open_count = 0;
    ley_status status = rank_slabs_share(own, count, p->is_able, &p->open, &p->open_count, is_any_able, error);
    if (status != LEY_OK)
        return status;
    *left = 0;
    memset(p->pieces, 0, (size_t)ranks_count() * sizeof *p->pieces);
    for (size_t i = 0; i < p->open_count; i++) {
        p->pieces[owner_of(p, p->open[i])] += p->open[i].count;
        *left += p->open[i].count;
    }
    size_t mine;
    slab *list = slabs_of(p, ranks_own(), &mine, error);
    if (list == NULL)
        return LEY_ERROR_MEMORY;
    ranks_count_anew();
    slab_queue_share(job_result_queue(p->job), true, list, mine, false);
    return LEY_OK;
}

/* ---- At home --------------------------------------------------------------------------------- */

static ley_status prepare(parts_run *p, bool is_away, ley_error *error)
{
    ley_job *job = p->job;
    const method *m = job->method;
    m->release(job->task, job->has_left);
    const ley_status status = m->prepare(job->task, &job->view, error);
    for (size_t i = 0; i < m->stage_count; i++)
        job->stages[i].is_wanted = m->stages[i].is_wanted == NULL || m->stages[i].is_wanted(job->task);
    p->is_away = is_away;
    return status;
}

/* What it cannot do nobody is to take off its counter any more: it is dealt anew. */
static ley_status leave_rest(parts_run *p, ley_error *error)
{
    slab_queue *queue = job_result_queue(p->job);
    size_t mine;
    slab *list = slabs_of(p, ranks_own(), &mine, error);
    if (list == NULL)
        return LEY_ERROR_MEMORY;
    const int64_t pieces = p->pieces[ranks_own()];
    for (int64_t at = ranks_count_on(ranks_own(), pieces); at < pieces;) {
        const slab rest = slab_list_cut(list, mine, at, pieces - at);
        if (!slab_queue_reopen(queue, rest))
            slab_queue_stop(queue);
        at += rest.count;
    }
    free(list);
    return LEY_OK;
}

static int64_t pieces_done(const ley_job *job)
{
    int64_t done = 0;
    for (size_t i = 0; i < job->report.slab_count; i++)
        done += job->slabs[i].count;
    return done;
}

/* Its own pieces, but for those that others take. */
static ley_status run_own(parts_run *p, ley_error *error)
{
    ley_job *job = p->job;
    const double start_s = ley_clock_s();
    const int64_t before = pieces_done(job);
    if (p->pieces[ranks_own()] == 0 || !p->is_able)
        return LEY_OK;
    ley_status status = p->is_away ? prepare(p, false, error) : LEY_OK;
    if (status == LEY_OK)
        status = p->run(job, error);
    const int64_t done = pieces_done(job) - before;
    p->piece_s = done > 0 ? (ley_clock_s() - start_s) / (double)done : p->piece_s;
    return status;
}

/* ---- At others' ------------------------------------------------------------------------------ */

/* Of all ranks the one with the most open pieces, where helping it takes less than these would take
 * here; -1: none. */
static int find_slowest(const parts_run *p, int64_t *left)
{
    const double bytes = LEY_ATOM_NUMBERS * sizeof(double), link = ranks_link().bytes_per_s;
    int slowest = -1;
    *left = 0;
    for (int i = 1; i < ranks_count(); i++) {
        const int r = (ranks_own() + i) % ranks_count();
        const int64_t open = p->pieces[r] > 0 ? p->pieces[r] - ranks_count_on(r, 0) : 0;
        const double beside_s = (double)p->atoms[r] * bytes / link + p->job->report.prepare_s;
        if (open > *left && (p->is_wanted || (double)open * p->piece_s > beside_s)) {
            slowest = r;
            *left = open;
        }
    }
    return slowest;
}

/* Pieces of another rank, with its atoms. */
static ley_status visit(parts_run *p, int rank, slab s, ley_error *error)
{
    ley_job *job = p->job;
    slab *list = malloc(sizeof *list);
    const int64_t all = p->part->planes[ranks_count()], end = (s.first + s.count) * p->planes_each;
    if (list == NULL)
        return ley_fail_memory(error, sizeof *list, "another rank's slabs");
    *list = s;
    slab_queue_open(job_result_queue(job), list, 1);
    atoms_visit away;
    ley_atoms *atoms = (ley_atoms *)(uintptr_t)job->atoms;
    ley_status status =
        atoms_part_visit(atoms, rank, p->atoms, s.first * p->planes_each, end < all ? end : all, &away, error);
    if (status != LEY_OK)
        return status;
    status = prepare(p, true, error);
    if (status == LEY_OK)
        status = p->run(job, error);
    atoms_part_return(atoms, &away);
    if (status == LEY_OK)
        p->visited += s.count;
    return status;
}

/* Takes pieces off its counter, and does them; what it cannot do is left in the queue. */
static ley_status help_rank(parts_run *p, int rank, int64_t most, ley_error *error)
{
    const int64_t pieces = p->pieces[rank], end = ranks_count_on(rank, most) + most, last = end < pieces ? end : pieces;
    ley_status status = LEY_OK;
    size_t count;
    slab *list = slabs_of(p, rank, &count, error);
    if (list == NULL)
        return LEY_ERROR_MEMORY;
    for (int64_t at = end - most; at < last;) {
        const slab s = slab_list_cut(list, count, at, last - at);
        at += s.count;
        if (status == LEY_OK)
            status = visit(p, rank, s, error);
        else if (!slab_queue_reopen(job_result_queue(p->job), s))
            slab_queue_stop(job_result_queue(p->job));
    }
    free(list);
    return status;
}

/* Until no other rank has open pieces with which that is worth while. What a driver that does not
 * return was given is kept at each visit, so that such a rank helps only where it must. */
static ley_status help(parts_run *p, ley_error *error)
{
    ley_status status = LEY_OK;
    int64_t left;
    for (int r; status == LEY_OK && p->is_able && (!p->job->has_left || p->is_wanted) && !job_cancelled(p->job) &&
                (r = find_slowest(p, &left)) >= 0;) {
        const int64_t share = left / (2 * ranks_count());
        status = help_rank(p, r, share > 1 ? share : 1, error);
    }
    if (p->visited > 0)
        log_say(LEY_LOG_DETAIL, "rank %d has done %lld layers of other ranks", ranks_own(), (long long)p->visited);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What nobody can do fails on all ranks, by the message of the first one that has one. */
static ley_status share_failure(ley_status status, const ley_error *own, ley_error *error)
{
    struct failure {
        ley_status status;
        char message[512];
    } said = {.status = status}, *all = calloc((size_t)ranks_count(), sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, (size_t)ranks_count() * sizeof *all, "the ranks");
    if (status != LEY_OK)
        memcpy(said.message, own->message, strnlen(own->message, sizeof said.message - 1));
    ranks_share(&said, sizeof said, all);
    for (int r = 0; r < ranks_count() && status == LEY_OK; r++)
        if (all[r].status != LEY_OK)
            status = ley_fail(error, all[r].status, "rank %d: %s", r, all[r].message);
    free(all);
    if (said.status != LEY_OK)
        ley_error_copy(error, own);
    return status;
}

/* Own pieces, then others'; what is left of them goes to others. *failed: the first failure of this
 * rank's devices. */
static ley_status do_round(parts_run *p, ley_status *failed, ley_error *why, ley_error *error)
{
    ley_error own = {0};
    ley_status status = run_own(p, &own);
    if (status == LEY_OK && p->job->method->parts_move)
        status = help(p, &own);
    if (status != LEY_OK && p->job->method->refuse != NULL)
        p->job->method->refuse(p->job->task, own.message);
    ley_status left = status == LEY_OK ? LEY_OK : leave_rest(p, error);
    if (left == LEY_OK && status != LEY_OK && !rank_slabs_is_of_devices(status)) {
        ley_error_copy(error, &own);
        left = status;
    }
    p->is_able = p->is_able && status == LEY_OK;
    if (*failed == LEY_OK && status != LEY_OK) {
        *failed = status;
        ley_error_copy(why, &own);
    }
    ley_error_clear(&own);
    return left;
}

/* Once nobody takes any more, what is left on its own counter is dealt anew, too. *able: how many
 * ranks can do something. */
static ley_status end_round(parts_run *p, double *able, ley_error *error)
{
    *able = p->is_able ? 1 : 0;
    ranks_add(able, 1); /* which waits for all */
    return leave_rest(p, error);
}

/* Each round but the first leaves less, or fewer ranks that can do something. */
static ley_status run_rounds(parts_run *p, ley_error *error)
{
    slab_queue *queue = job_result_queue(p->job);
    bool is_any_able;
    size_t count;
    int64_t left, before;
    double able = INFINITY, were_able;
    ley_error why = {0};
    ley_status failed = LEY_OK;
    slab *own = rank_slabs_open(queue, &count);
    ley_status status = own != NULL ? deal(p, own, count, &left, &is_any_able, error)
                                    : ley_fail_memory(error, count * sizeof *own, "the ranks' slabs");
    free(own);
    if (status != LEY_OK)
        return status;
    do {
        before = p->is_wanted ? left : INT64_MAX;
        were_able = able;
        status = do_round(p, &failed, &why, error);
        if (status == LEY_OK)
            status = end_round(p, &able, error);
        if (status == LEY_OK)
            status = deal(p, queue->returned, queue->returned_count, &left, &is_any_able, error);
        if (status != LEY_OK)
            break;
        p->is_wanted = true;
        if (left > 0 && ranks_own() == 0)
            log_say(LEY_LOG_NOTE, "%lld layers of ranks that cannot do them are dealt anew", (long long)left);
    } while (left > 0 && (left < before || able < were_able) && is_any_able && p->job->method->parts_move);
    if (status == LEY_OK && left > 0)
        status = share_failure(failed, &why, error);
    ley_error_clear(&why);
    return status;
}

ley_status rank_parts_run(ley_job *job, ley_status (*run)(ley_job *job, ley_error *error), ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    const int64_t own = (int64_t)ley_atoms_count(job->atoms);
    parts_run p = {.job = job,
                   .run = run,
                   .part = ley_atoms_part(job->atoms),
                   .planes_each = job->method->piece_planes,
                   .atoms = calloc(ranks, sizeof *p.atoms),
                   .pieces = calloc(ranks, sizeof *p.pieces),
                   .is_able = job->engine->worker_count > 0};
    ley_status status =
        p.atoms != NULL && p.pieces != NULL ? LEY_OK : ley_fail_memory(error, 2 * ranks * sizeof *p.atoms, "the ranks");
    if (status == LEY_OK) {
        ranks_share(&own, sizeof own, p.atoms);
        ranks_show(ley_atoms_positions_A(job->atoms), (size_t)own * LEY_ATOM_NUMBERS * sizeof(double));
        status = run_rounds(&p, error); /* an error of one rank ends all of them */
        if (status == LEY_OK)
            ranks_show_no_more();
    }
    if (status == LEY_OK && p.is_away)
        status = prepare(&p, false, error);
    free(p.atoms);
    free(p.pieces);
    free(p.open);
    return status;
}
