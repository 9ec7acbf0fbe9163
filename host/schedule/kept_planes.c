#include "schedule/kept_planes.h"

#include "core/hash.h"
#include "error.h"
#include "log.h"
#include "ranks.h"
#include "schedule/rank_share.h"
#include "source/atoms.h"
#include "source/atoms_part.h"
#include "target/map.h"

#include <stdlib.h>
#include <string.h>

static int64_t planes_of(const method *m)
{
    return m->piece_planes > 0 ? m->piece_planes : 1;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return hash_add(text != NULL ? hash_add(hash, text, strlen(text)) : hash, "\n", 1);
}

/* How the job's values are made, as far as it is decided before devices begin. Where atoms are
 * binned does not matter to them. */
static uint64_t pass_of(const ley_job *job)
{
    static const char *const of_places[] = {"binning", "transposition"};
    job_plan *made = calloc(1, sizeof *made);
    const int32_t sum[2] = {(int32_t)job->options.sum, job->is_by_host};
    uint64_t hash = hash_add(add_text(HASH_BEGIN, job->method->name), sum, sizeof sum);
    if (made != NULL && job->method->decisions != NULL)
        job->method->decisions(job->task, made);
    for (size_t i = 0; made != NULL && i < made->count; i++) {
        const ley_decision *d = &made->list[i];
        bool counts = true;
        for (size_t k = 0; k < sizeof of_places / sizeof *of_places; k++)
            counts = counts && strcmp(d->name, of_places[k]) != 0;
        if (counts)
            hash = add_text(add_text(hash, d->name), d->value);
    }
    plan_destroy(made);
    if (job->is_shared) /* as rank 0 has it */
        ranks_broadcast(&hash, sizeof hash);
    return hash;
}

static bool is_there(const ley_map *map, int64_t piece, int64_t planes)
{
    const int64_t all = ley_map_grid(map)->n[2];
    bool is = true;
    for (int64_t z = piece * planes; z < (piece + 1) * planes && z < all; z++)
        is = is && map_plane_is_there(map, z);
    return is;
}

/* Where ranks wait for what each of them makes of its atoms beside its planes, one that has all of
 * its planes computes a piece of them once more, unless all ranks have theirs. *points: of all such
 * pieces. */
static ley_status open_one_each(const ley_job *job, ley_map *map, int64_t planes, int64_t *points, ley_error *error)
{
    const int64_t *n = ley_map_grid(map)->n;
    ley_status status = LEY_OK;
    int64_t there = 0;
    *points = 0;
    for (int64_t z = 0; z < n[2]; z++)
        there += map_plane_is_there(map, z);
    if (there == n[2] || !job_is_by_parts(job) || job->method->parts_move)
        return LEY_OK;
    for (int r = 0; r < ranks_count() && status == LEY_OK; r++) {
        const int64_t first = ley_atoms_part(job->atoms)->planes[r], end = ley_atoms_part(job->atoms)->planes[r + 1],
                      count = end - first < planes ? end - first : planes;
        bool has_all = first < end;
        for (int64_t z = first; z < end; z++)
            has_all = has_all && map_plane_is_there(map, z);
        *points += has_all ? count * n[0] * n[1] : 0;
        if (has_all && r == ranks_own())
            status = map_planes_forget(map, first, count, error);
    }
    return status;
}

ley_status kept_planes_open(ley_job *job, slab_queue *queue, int64_t planes, int64_t *points, ley_error *error)
{
    ley_map *map = job->target.map;
    const int64_t *n = map != NULL ? ley_map_grid(map)->n : NULL, pieces = queue->end - queue->next;
    *points = 0;
    if (map == NULL || !map_is_kept(map))
        return LEY_OK;
    ley_status status = map_begin_pass(map, pass_of(job), error);
    for (int64_t z = 0; z < n[2]; z++)
        *points += map_plane_is_there(map, z) ? n[0] * n[1] : 0;
    int64_t again = 0;
    if (status == LEY_OK)
        status = open_one_each(job, map, planes, &again, error);
    *points -= again;
    slab *open = status == LEY_OK ? calloc((size_t)pieces + 1, sizeof *open) : NULL;
    if (open == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, (size_t)pieces * sizeof *open, "the job's slabs");
    size_t count = 0;
    for (int64_t p = queue->end; p-- > queue->next;) /* the last one of the list is taken first */
        if (is_there(map, p, planes)) {
            continue;
        } else if (count > 0 && open[count - 1].first == p + 1) {
            open[count - 1] = (slab){p, open[count - 1].count + 1};
        } else {
            open[count++] = (slab){p, 1};
        }
    slab_queue_open(queue, open, count);
    if (*points > 0)
        log_say(LEY_LOG_NOTE, "%lld of %lld points are there already", (long long)*points,
                (long long)(n[0] * n[1] * n[2]));
    return LEY_OK;
}

/* In one piece for each gap between what is open. */
static ley_status report_there(ley_job *job, int64_t first, const slab_queue *queue, ley_error *error)
{
    ley_report *r = &job->report;
    const size_t most = r->slab_count + queue->returned_count + 1;
    ley_slab_report *grown = realloc(job->slabs, (most + 64) * sizeof *grown);
    if (grown == NULL)
        return ley_fail_memory(error, most * sizeof *grown, "the slabs' reports");
    job->slabs = grown;
    job->slab_capacity = most + 64;
    for (size_t i = queue->returned_count + 1; i-- > 0;) {
        const slab open = i > 0 ? queue->returned[i - 1] : (slab){queue->end, 0};
        const slab there = {first, open.first - first};
        first = open.first + open.count;
        if (there.count == 0)
            continue;
        const int64_t points = job->method->points(job->task, there);
        job->slabs[r->slab_count++] = (ley_slab_report){.device = 0, .first = there.first, .count = there.count};
        job->records[0].report.slabs++;
        job->records[0].report.points += points;
        job->points_done += points;
    }
    return LEY_OK;
}

ley_status kept_planes_take(ley_job *job, ley_error *error)
{
    slab_queue *queue = job_result_queue(job);
    const int64_t first = queue->next;
    const ley_status status = kept_planes_open(job, queue, planes_of(job->method), &job->report.kept_points, error);
    return status == LEY_OK && job->report.kept_points > 0 && (rank_share_is_first(job) || job_is_by_parts(job))
               ? report_there(job, first, queue, error)
               : status;
}
