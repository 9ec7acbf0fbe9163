#include "energy/origins.h"

#include "energy/listed.h"
#include "error.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A list with a buffer takes longer to make and has more pairs: it serves so many frames at least,
 * and no more than are soon looked at. */
enum { LEAST = 3, MOST = 64 };

/* ---- From one frame to another --------------------------------------------------------------- */

typedef struct span {
    const float *from, *to; /* [particles][3] */
    bool is_periodic, has_changed;
    cell before, after;
    double most_A; /* that a particle may move */
    atomic_bool is_beyond;
} span;

static bool make_cell(const double *vector_A, cell *made)
{
    static const bool all[3] = {true, true, true};
    double vectors_A[3][3];
    memcpy(vectors_A, vector_A, sizeof vectors_A);
    return cell_make(all, (const double(*)[3])vectors_A, made, NULL) == LEY_OK;
}

/* To the image within the cell around 0, as devices have it. */
static void bring_within(const cell *c, double x_A[3])
{
    double along[3];
    cell_components(c, x_A, along);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            x_A[d] -= rint(along[k]) * c->vector_A[k][d];
}

static void look_at(void *context, size_t first, size_t last)
{
    span *s = context;
    for (size_t i = first; i < last && !atomic_load_explicit(&s->is_beyond, memory_order_relaxed); i++) {
        double x_A[3], way_A[3];
        for (int d = 0; d < 3; d++) {
            x_A[d] = (double)s->from[3 * i + (size_t)d];
            way_A[d] = (double)s->to[3 * i + (size_t)d];
        }
        if (s->has_changed) {
            bring_within(&s->before, x_A);
            bring_within(&s->after, way_A);
        }
        for (int d = 0; d < 3; d++)
            way_A[d] -= x_A[d];
        if (s->is_periodic)
            bring_within(&s->after, way_A);
        if (!(cell_dot(way_A, way_A) <= s->most_A * s->most_A))
            atomic_store_explicit(&s->is_beyond, true, memory_order_relaxed);
    }
}

/* Whether all pairs within the cutoff in the frame `to` are in a list with a buffer of the frame
 * `from`. Of two particles each moves, and so does the image of the other by up to one of each
 * vector: together by no more than the buffer. */
static bool is_served(const ley_energy *e, int64_t from, int64_t to)
{
    enum { FEW = 256 }; /* of frames that jump these are enough */
    const energy_frame a = energy_run_frame(e, from), b = energy_run_frame(e, to);
    const size_t count = (size_t)a.particles->particles, few = count < FEW ? count : FEW;
    span s = {.from = a.position_A, .to = b.position_A, .is_periodic = a.cell_A != NULL};
    double left_A = LISTED_BUFFER_A;
    atomic_init(&s.is_beyond, false);
    if (s.is_periodic && (!make_cell(a.cell_A, &s.before) || !make_cell(b.cell_A, &s.after)))
        return false;
    for (int k = 0; k < 3 && s.is_periodic; k++) {
        double change_A[3];
        for (int d = 0; d < 3; d++)
            change_A[d] = s.after.vector_A[k][d] - s.before.vector_A[k][d];
        left_A -= cell_length(change_A);
        s.has_changed = s.has_changed || cell_length(change_A) > 0;
    }
    s.most_A = left_A / 2;
    if (!(s.most_A > 0))
        return false;
    look_at(&s, 0, few);
    if (!atomic_load(&s.is_beyond))
        parallel_ranges(count, look_at, &s);
    return !atomic_load(&s.is_beyond);
}

/* Whether the cell is so wide that no pair is in reach by two images. */
static bool can_serve(const ley_energy *e, int64_t frame)
{
    const energy_frame f = energy_run_frame(e, frame);
    const double reach_A = e->problem.options.cutoff_A + LISTED_SLACK_A + LISTED_BUFFER_A;
    cell c;
    if (f.cell_A == NULL)
        return true;
    bool is_wide = make_cell(f.cell_A, &c);
    for (int k = 0; k < 3 && is_wide; k++)
        is_wide = cell_length(c.dual_per_A[k]) * 2 * reach_A <= 1;
    return is_wide;
}

/* ---- Frames of a run ------------------------------------------------------------------------- */

/* Of the next frames, one or more. */
static void decide(ley_energy *e)
{
    energy_origins *o = &e->origins;
    const int64_t first = o->decided;
    int64_t end = first + 1;
    if (can_serve(e, first))
        while (end < e->queue.frames && end < first + MOST && is_served(e, first, end))
            end++;
    const bool is_origin = end - first >= LEAST;
    if (!is_origin)
        end = first + 1;
    for (; o->decided < end; o->decided++)
        o->first[o->decided] = is_origin ? first : -1;
}

ley_status energy_origin_find(ley_energy *e, int64_t frame, energy_origin *found, ley_error *error)
{
    energy_origins *o = &e->origins;
    const size_t bytes = (size_t)e->queue.frames * sizeof *o->first;
    *found = (energy_origin){.number = 0};
    pthread_mutex_lock(&o->mutex);
    if (o->first == NULL)
        o->first = malloc(bytes);
    while (o->first != NULL && o->decided <= frame)
        decide(e);
    const bool has = o->first != NULL;
    const int64_t origin = has ? o->first[frame] : -1;
    pthread_mutex_unlock(&o->mutex);
    if (origin >= 0) {
        const energy_frame f = energy_run_frame(e, origin);
        *found = (energy_origin){.number = o->before + origin + 1,
                                 .is_own = origin == frame,
                                 .position_A = f.position_A,
                                 .cell_A = f.cell_A};
    }
    return has ? LEY_OK : ley_fail_memory(error, bytes, "lists of pairs");
}

void energy_origins_forget(energy_origins *o, int64_t frames)
{
    pthread_mutex_lock(&o->mutex);
    free(o->first);
    o->first = NULL;
    o->decided = 0;
    o->before += frames;
    pthread_mutex_unlock(&o->mutex);
}
