#include "long_range/mesh_share.h"

#include "cancel.h"
#include "clock.h"
#include "costs.h"
#include "error.h"
#include "log.h"
#include "long_range/fourier/spectral.h"
#include "long_range/fourier/zero_mode.h"
#include "long_range/mesh/transfer.h"
#include "long_range/model/local_forecast.h"
#include "long_range/model/problem.h"
#include "memory.h"
#include "parallel.h"
#include "plan/forecast.h"
#include "source/atoms.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another rank is waited for as long as spreading all atoms takes, but not less than this. */
static const double least_patience_s = 5;

/* At the end others are there, unless the job fails. */
static const double most_end_s = 5;

/* Whether this rank has but a part of the atoms; of all, which is done as ever: NULL. */
static const atoms_part *part_of(const mesh_share_problem *p)
{
    const atoms_part *part = ley_atoms_part(p->atoms);
    return part != NULL && part->planes != NULL ? part : NULL;
}

/* ---- Whether it pays ------------------------------------------------------------------------- */

/* What ranks are to have in common, and what rank 0 has decided. */
typedef struct share_terms {
    int64_t n[3], first[3];
    double step_A[3][3], origin_A[3];
    int64_t transform[3]; /* nodes of FFTW's on this rank's first device; 0: it has another one */
    double alone_s, predicted_s, exchange_s;
    bool is_able, pays, transforms;
} share_terms;

static double mesh_bytes(const hierarchy *h)
{
    return (double)h->level[0].n[0] * (double)h->level[0].n[1] * (double)(spread_layers_of(h) * SPREAD_EDGE) *
           sizeof(float);
}

/* In layers and wires transforms look at all charges. */
static bool looks_at_all(const hierarchy *h)
{
    return h->solver != HIERARCHY_MULTILEVEL && h->cell.dimensions % 3 != 0;
}

static bool can_share(const hierarchy *h, const job_view *job)
{
    const double most_bytes = 1 << 30; /* of a layer, for MPI */
    return h->levels > 0 && job->device_count > 0 && !looks_at_all(h) &&
           mesh_bytes(h) / (double)spread_layers_of(h) < most_bytes &&
           memory_check_one("the ranks' charges", mesh_bytes(h), "a wider mesh spacing", NULL) == LEY_OK;
}

/* That come to each rank. */
static double moved_bytes(const hierarchy *h, const share_terms *t, int ranks)
{
    return mesh_bytes(h) * (1 - 1.0 / ranks) + (t->transforms ? rank_transform_moved(h, t->transform, ranks) : 0);
}

/* What a device is predicted to take for a mesh's transform of n nodes, one way; 0, and no nodes:
 * not by FFTW, or not all of it. */
static double find_transform(const hierarchy *h, const char *library, const dev_info *info, int ranks, int64_t n[3])
{
    fft_wish wish = {.library = library != NULL && library[0] != '\0' ? library : NULL, .in_place = true};
    fft_prediction predicted = {.transform_s = 0};
    bool is = h->solver == HIERARCHY_FOURIER && !long_wavelengths_are_wanted(h);
    memset(n, 0, 3 * sizeof *n);
    if (is)
        spectral_extent(info, h, n);
    for (int axis = 0; axis < 3; axis++) {
        wish.n[axis] = (size_t)n[axis];
        wish.filled[axis] = (size_t)h->level[0].n[axis];
    }
    is = is && fft_predict(info, &wish, &predicted) && strcmp(predicted.library, "fftw") == 0 &&
         memory_check_one("the ranks' transforms", rank_transform_bytes(h, n, ranks), "a wider mesh spacing", NULL) ==
             LEY_OK;
    if (!is)
        memset(n, 0, 3 * sizeof *n);
    return is ? predicted.transform_s : 0;
}

/* Charges come to all ranks, which go on alone; or they are transformed on the way, where that is
 * sooner. */
static void predict(const hierarchy *h, size_t atoms, double transform_s, const device_view *d, const local_ranks *r,
                    share_terms *t)
{
    const double ranks = r->ranks, bytes = mesh_bytes(h), others = 1 - 1 / ranks;
    const ranks_speed link = r->link;
    double bus[COSTS_MOST];
    costs_known(&bus_costs, d->info, bus);
    const double spread_s = transfer_foresee_anterpolation_s(d->info, d->is_known ? &d->facts : NULL, h->window, atoms);
    const double turns_s =
        2 * link.latency_s * ranks + rank_transform_moved(h, t->transform, r->ranks) / link.bytes_per_s;
    t->transforms = 2 * transform_s * others > turns_s && !zero_mode_is_needed(h); /* of which ranks have parts */
    t->alone_s = spread_s + (t->transforms ? 2 * transform_s : 0);
    t->exchange_s = link.latency_s * ranks + others * bytes / link.bytes_per_s + (t->transforms ? turns_s : 0);
    t->predicted_s = t->alone_s / ranks + t->exchange_s + bytes * (bus[COST_TO_DEVICE] + bus[COST_TO_HOST] / ranks) +
                     bus[COST_START];
    t->pays = t->predicted_s < t->alone_s;
}

void mesh_share_foresee(const void *shared, const ley_link *link, rank_outlook *made)
{
    const mesh_outlook *o = shared;
    const hierarchy *h = &o->meshes;
    const local_ranks r = {(int)link->ranks, {link->latency_s, link->bytes_per_s}};
    share_terms t = {.is_able = !looks_at_all(h)};
    local_forecast local;
    *made = (rank_outlook){.halo_A = o->near_A};
    if (h->levels == 0 || r.ranks < 2) {
        made->can_part = h->levels == 0;
        return;
    }
    const double transform_s = find_transform(h, o->library, o->device.info, r.ranks, t.transform);
    predict(h, o->atoms, transform_s, &o->device, &r, &t);
    if (t.is_able && t.pays)
        *made = (rank_outlook){.alone_s = t.alone_s,
                               .together_s = t.predicted_s - t.exchange_s,
                               .exchange_s = t.exchange_s,
                               .moved_bytes = moved_bytes(h, &t, r.ranks),
                               .host_bytes =
                                   mesh_bytes(h) + (t.transforms ? rank_transform_bytes(h, t.transform, r.ranks) : 0),
                               .transforms = t.transforms};
    made->can_part = o->can_part && local_forecast_choose(h, &r, o->atoms, &o->device, &local);
    if (!made->can_part)
        return;
    made->local_levels = local.levels;
    made->part_s = local.device_s;
    made->part_exchange_s = local.exchange_s;
    made->part_moved_bytes = local.moved_bytes;
    made->part_device_bytes = local.device_bytes;
    made->part_host_bytes = local.host_bytes;
    made->halo_A = fmax(local_halo_A(h, local.levels), o->near_A);
}

static share_terms find_terms(const hierarchy *h, const mesh_share_problem *p, const job_view *job)
{
    const size_t atoms = ley_atoms_count(p->atoms);
    share_terms t;
    memset(&t, 0, sizeof t);
    memcpy(t.n, h->level[0].n, sizeof t.n);
    memcpy(t.first, h->level[0].first, sizeof t.first);
    memcpy(t.step_A, h->step_A, sizeof t.step_A);
    memcpy(t.origin_A, h->origin_A, sizeof t.origin_A);
    t.is_able = can_share(h, job);
    const device_view *d = &job->devices[0];
    const char *planned = t.is_able ? plan_word(job->plan, d->info, "fft") : NULL;
    const double transform_s =
        t.is_able ? find_transform(h, planned != NULL ? planned : p->library, d->info, job->ranks, t.transform) : 0;
    if (t.is_able && ranks_own() == 0)
        predict(h, atoms, transform_s, d, &(local_ranks){job->ranks, ranks_link()}, &t);
    t.pays = t.pays || part_of(p) != NULL;
    return t;
}

/* All ranks come to the same: rank 0 has decided, and all have the same mesh and transform. */
static bool agree(const share_terms *all, int ranks)
{
    bool is = all[0].pays;
    for (int r = 0; r < ranks; r++)
        is = is && all[r].is_able && memcmp(&all[r], &all[0], offsetof(share_terms, alone_s)) == 0;
    return is;
}

static void clear(mesh_share *s)
{
    rank_transform_clear(&s->transform);
    free(s->first);
    free(s->rows);
    free(s->said);
    pthread_mutex_destroy(&s->mutex);
    *s = (mesh_share){.is_wanted = false};
}

static ley_status begin(mesh_share *s, const hierarchy *h, const share_terms *t, int ranks, ley_error *error)
{
    s->is_wanted = true;
    s->meshes = h;
    s->rows = malloc((size_t)mesh_bytes(h));
    s->said = calloc((size_t)ranks, sizeof *s->said);
    s->layer_numbers = (size_t)(h->level[0].n[0] * h->level[0].n[1] * SPREAD_EDGE);
    s->transforms = t->transforms;
    s->moved_bytes = moved_bytes(h, t, ranks);
    s->alone_s = t->alone_s;
    s->predicted_s = t->predicted_s;
    s->exchange_s = t->exchange_s;
    if (s->rows == NULL || s->said == NULL)
        return ley_fail_memory(error, (size_t)mesh_bytes(h), "the ranks' charges");
    log_say(LEY_LOG_NOTE, "ranks %s%s: layers %lld to %lld of %lld here",
            s->levels.count > 0 ? "make their own charges" : "spread their own atoms",
            s->transforms ? ", and transform them together" : "", (long long)s->own.first, (long long)s->own.end - 1,
            (long long)spread_layers_of(h));
    return s->transforms ? rank_transform_create(&s->transform, h, t->transform, s->first, error) : LEY_OK;
}

static ley_status plan_share(mesh_share *s, const hierarchy *h, const mesh_share_problem *p, const job_view *job,
                             ley_error *error)
{
    share_terms own = find_terms(h, p, job), *all = calloc((size_t)job->ranks, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, (size_t)job->ranks * sizeof *all, "the ranks");
    ranks_share(&own, sizeof own, all);
    const bool is_agreed = agree(all, job->ranks);
    ley_status status = is_agreed ? begin(s, h, &all[0], job->ranks, error) : LEY_OK;
    if (!is_agreed && s->is_part)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "a mesh of %lld x %lld x %lld nodes cannot be made by ranks that have parts of the atoms: "
                          "give them a PQR file, of which each has all atoms",
                          (long long)h->level[0].n[0], (long long)h->level[0].n[1], (long long)h->level[0].n[2]);
    free(all);
    return status;
}

/* ---- Who makes what -------------------------------------------------------------------------- */

static void deal_evenly(int64_t layers, int ranks, int64_t *first)
{
    for (int r = 0; r <= ranks; r++)
        first[r] = layers * r / ranks;
}

static bool can_part(const hierarchy *h, const ley_grid *points)
{
    return h->cell.dimensions % 3 == 0 && !long_wavelengths_are_wanted(h) &&
           transfer_step_nodes(h, 2, points->step_A[2]) > 0 &&
           transfer_is_no_step(transfer_step_nodes(h, 2, points->step_A[0])) &&
           transfer_is_no_step(transfer_step_nodes(h, 2, points->step_A[1]));
}

/* Where a plane of the map is, along the meshes' last axis. */
static double plane_index(const hierarchy *h, const ley_grid *map, int64_t plane)
{
    const ley_grid points = msm_points(&h->cell, map);
    double point_A[3], at[3];
    ley_grid_point_A(&points, (const int64_t[3]){0, 0, plane}, point_A);
    hierarchy_index(h, point_A, at);
    return at[2];
}

double mesh_share_halo_A(const hierarchy *h, const ley_grid *points)
{
    const double most_gap = 2 * SPREAD_EDGE, low = plane_index(h, points, 0),
                 high = plane_index(h, points, points->n[2] - 1),
                 gap = h->cell.periodic[2] ? fmax(fabs(low), fabs((double)h->level[0].n[2] - high)) : 0;
    return can_part(h, points) && gap <= most_gap
               ? local_halo_A(h, local_halo_levels(h, ranks_count())) + gap / cell_length(h->inverse_per_A[2])
               : INFINITY;
}

/* The layers of a level that begin next to where ranks' planes do; or as many for each. */
static void deal_by_planes(const mesh_share_problem *p, int level, int ranks, int64_t *first)
{
    const atoms_part *part = part_of(p);
    const hierarchy_level *l = &p->meshes->level[level];
    const int64_t layers = (l->n[2] + SPREAD_EDGE - 1) / SPREAD_EDGE;
    bool is_in_order = true;
    deal_evenly(layers, ranks, first);
    for (int r = 1; r < ranks; r++) {
        const double at = floor(
            (ldexp(plane_index(p->meshes, p->points, part->planes[r]), -level) - (double)l->first[2]) / SPREAD_EDGE +
            0.5);
        first[r] = part->planes[r] == 0                 ? 0
                   : part->planes[r] == p->points->n[2] ? layers
                                                        : (int64_t)fmin(fmax(at, 0), (double)layers);
        is_in_order = is_in_order && first[r] >= first[r - 1];
    }
    if (!is_in_order)
        deal_evenly(layers, ranks, first);
}

/* Whether this rank has the atoms that have a share in these planes' charges. Across an open axis
 * the first rank has all that are below its planes, and the last one all that are above. */
static bool has_atoms(const mesh_share_problem *p, const double index[2], hierarchy_planes charges)
{
    const atoms_part *part = part_of(p);
    const bool is_open = !p->meshes->cell.periodic[2];
    const int half = p->meshes->window->points / 2;
    const double halo = part->halo_A * cell_length(p->meshes->inverse_per_A[2]);
    const bool has_below = is_open && part->first == 0, has_above = is_open && part->end == p->points->n[2];
    return charges.first >= charges.end || ((has_below || index[0] - (double)(charges.first - half) <= halo) &&
                                            (has_above || (double)(charges.end - 1 + half) - index[1] <= halo));
}

/* This rank's levels, so many of which are local; false: it has not the atoms for that. */
static bool make_levels(const mesh_share_problem *p, int count, const int64_t *first, local_levels *made)
{
    const atoms_part *part = part_of(p);
    const hierarchy *h = p->meshes;
    const spread_layers own = {first[ranks_own()], first[ranks_own() + 1]};
    const int64_t begin = h->level[0].first[2];
    hierarchy_planes wanted = {0, 0};
    double index[2] = {0, 0};
    if (part->first < part->end) {
        index[0] = plane_index(h, p->points, part->first);
        index[1] = plane_index(h, p->points, part->end - 1);
        wanted = hierarchy_interpolated(h, index[0], index[1]);
    }
    if (!can_part(h, p->points) || !local_levels_make(h, count, wanted, own, made))
        return false;
    if (count == 0)
        made->charges = (hierarchy_planes){begin + own.first * SPREAD_EDGE, begin + own.end * SPREAD_EDGE};
    return has_atoms(p, index, made->charges);
}

/* How long each number of local levels is predicted to take this rank; infinite: it cannot. */
static void predict_levels(const mesh_share_problem *p, const job_view *job, int64_t *first, double *level_s)
{
    const int64_t planned = plan_number(job->plan, NULL, "local_levels");
    const local_ranks r = {job->ranks, ranks_link()};
    for (int count = 0; count < HIERARCHY_MOST_LEVELS; count++) {
        local_levels l;
        level_s[count] = INFINITY;
        if (count >= p->meshes->levels || job->device_count == 0 || (planned >= 0 && planned != count))
            continue;
        deal_by_planes(p, count, job->ranks, first);
        if (!make_levels(p, count, first, &l))
            continue;
        const local_forecast f = local_forecast_of(&l, &r, ley_atoms_count(p->atoms), &job->devices[0]);
        if (local_forecast_fits(&l, &f, &job->devices[0]) &&
            memory_check_one("the ranks' charges", f.host_bytes, "a wider mesh spacing", NULL) == LEY_OK)
            level_s[count] = f.device_s + f.exchange_s;
    }
}

/* The number that takes the slowest rank the least; -1: none can be. */
static int soonest(const double (*level_s)[HIERARCHY_MOST_LEVELS], int ranks)
{
    int best = -1;
    double least_s = INFINITY;
    for (int count = 0; count < HIERARCHY_MOST_LEVELS; count++) {
        double slowest_s = 0;
        for (int r = 0; r < ranks; r++)
            slowest_s = fmax(slowest_s, level_s[r][count]);
        if (slowest_s < least_s) {
            best = count;
            least_s = slowest_s;
        }
    }
    return best;
}

static ley_status fail_to_choose(const mesh_share_problem *p, ley_error *error)
{
    const hierarchy *h = p->meshes;
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%d ranks that have parts of the atoms cannot make these meshes: a mesh that each has whole takes "
                    "too much memory, atoms are missing that lie further than %.4g A beyond a rank's planes (one local "
                    "level takes up to %.4g A), planes are too few for so many ranks, or they lie aslant in the cell: "
                    "start fewer ranks, take a wider mesh spacing, or a PQR file, of which each rank has all atoms",
                    ranks_count(), part_of(p)->halo_A, local_halo_A(h, 1));
}

static ley_status choose_levels(mesh_share *s, const mesh_share_problem *p, const job_view *job, ley_error *error)
{
    double own_s[HIERARCHY_MOST_LEVELS], (*all_s)[HIERARCHY_MOST_LEVELS] = calloc((size_t)job->ranks, sizeof *all_s);
    if (all_s == NULL)
        return ley_fail_memory(error, (size_t)job->ranks * sizeof *all_s, "the ranks");
    predict_levels(p, job, s->first, own_s);
    ranks_share(own_s, sizeof own_s, all_s);
    const int count = soonest((const double(*)[HIERARCHY_MOST_LEVELS])all_s, job->ranks);
    free(all_s);
    if (count < 0)
        return fail_to_choose(p, error);
    deal_by_planes(p, count, job->ranks, s->first);
    make_levels(p, count, s->first, &s->levels);
    return LEY_OK;
}

spread_layers mesh_share_own(const mesh_share *s)
{
    return s->levels.count > 0 ? local_levels_layers(&s->levels, s->own) : s->own;
}

/* ---- Making and taking ----------------------------------------------------------------------- */

static float *rows_of(const mesh_share *s, int64_t layer)
{
    return s->rows + (size_t)layer * s->layer_numbers;
}

/* What stands in place of a share that was not made. */
static void spoil(mesh_share *s)
{
    if (s->own.first < s->own.end)
        *rows_of(s, s->own.first) = NAN;
}

static void send(mesh_share *s)
{
    s->exchange = ranks_exchange_begin(s->rows, s->layer_numbers * sizeof *s->rows, s->first);
    s->began_s = ley_clock_s();
    s->state = SHARE_EXCHANGED;
}

static bool are_numbers(const mesh_share *s)
{
    bool are = true;
    for (int r = 0; r < ranks_count(); r++)
        are = are && (s->first[r] == s->first[r + 1] || !isnan(*rows_of(s, s->first[r])));
    return are;
}

/* Once the call is done. */
static bool have_all_made(const mesh_share *s)
{
    bool have = true;
    for (int r = 0; r < ranks_count(); r++)
        have = have && s->said[r].has_made;
    return have;
}

/* Where nobody can go on alone, as long as it takes: a rank that fails ends all. */
static double patience_s(const mesh_share *s)
{
    return s->is_part ? INFINITY : fmax(2 * s->alone_s, least_patience_s);
}

static void refuse(mesh_share *s)
{
    s->state = SHARE_REFUSED;
    if (!s->is_part)
        log_say(LEY_LOG_NOTE, "this rank spreads all atoms: not all ranks have spread theirs, or not in time");
}

/* The caller holds the mutex. */
static void look(mesh_share *s, double since_s)
{
    const double now_s = ley_clock_s(), from_s = s->state == SHARE_EXCHANGED ? s->began_s : since_s;
    if (s->state == SHARE_THERE || s->state == SHARE_REFUSED)
        return;
    if (s->state == SHARE_EXCHANGED && ranks_exchange_is_done(s->exchange)) {
        s->took_s = now_s - s->began_s;
        s->state = SHARE_THERE;
        if (!are_numbers(s))
            refuse(s);
    } else if (now_s - from_s > patience_s(s)) {
        refuse(s);
    }
}

/* Who waits for an exchange, and for how long so far. */
typedef struct turn_wait {
    const mesh_share *share;
    const atomic_bool *unwanted;
    double *waited_s;
} turn_wait;

static bool await_turn(void *context, ranks_exchange *turn)
{
    const turn_wait *w = context;
    const double start_s = ley_clock_s();
    bool is_done;
    while (!(is_done = ranks_exchange_is_done(turn)) && !cancel_is_asked(w->unwanted) &&
           ley_clock_s() - start_s < patience_s(w->share))
        sched_yield(); /* messages move while somebody looks at them */
    *w->waited_s += ley_clock_s() - start_s;
    return is_done;
}

static void begin_call(mesh_share *s)
{
    int64_t *each = s->first + ranks_count() + 1;
    for (int r = 0; r <= ranks_count(); r++)
        each[r] = r;
    s->call = ranks_exchange_begin(s->said, sizeof *s->said, each);
}

/* Waits for the others, so that what is on the way then is all that takes time; false: one has made
 * nothing, or not in time. */
static bool have_others_made(mesh_share *s, const atomic_bool *unwanted)
{
    turn_wait w = {s, unwanted, &s->waited_s};
    return await_turn(&w, s->call) && have_all_made(s);
}

/* Charges become potentials; false: they do not, and this rank goes on alone. */
static bool transform(mesh_share *s, const atomic_bool *unwanted)
{
    turn_wait w = {s, unwanted, &s->turns_s};
    ley_error error = {0};
    const double start_s = ley_clock_s();
    const ley_status status =
        rank_transform_run(&s->transform, rows_of(s, s->own.first), await_turn, &w, unwanted, &error);
    s->transform_s = ley_clock_s() - start_s - s->turns_s;
    if (status == LEY_OK)
        rank_transform_clear(&s->transform);
    else
        log_say(LEY_LOG_NOTE, "the ranks' transforms: %s", error.message);
    ley_error_clear(&error);
    return status == LEY_OK;
}

static ley_status make_own(mesh_share *s, mesh_share_maker make, void *context, const atomic_bool *unwanted,
                           ley_error *error)
{
    const double start_s = ley_clock_s();
    const ley_status status =
        s->own.first < s->own.end ? make(context, mesh_share_own(s), rows_of(s, s->own.first), error) : LEY_OK;
    s->made_s = ley_clock_s() - start_s;
    s->said[ranks_own()].has_made = status == LEY_OK;
    if (status != LEY_OK && error != NULL)
        snprintf(s->said[ranks_own()].why, sizeof s->said->why, "%.200s", error->message);
    begin_call(s);
    const bool is_made =
        status == LEY_OK && have_others_made(s, unwanted) && (!s->transforms || transform(s, unwanted));
    pthread_mutex_lock(&s->mutex);
    if (s->state == SHARE_MAKING && is_made)
        send(s);
    else if (s->state == SHARE_MAKING)
        refuse(s);
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static ley_status fail_of_others(const mesh_share *s, ley_error *error)
{
    int r = 0;
    while (r + 1 < ranks_count() && s->said[r].has_made)
        r++;
    return ley_fail(error, LEY_ERROR_NO_DEVICE, "rank %d has not made the charges of its part%s%s", r,
                    s->said[r].why[0] != '\0' ? ": " : "", s->said[r].why);
}

ley_status mesh_share_take(mesh_share *s, mesh_share_maker make, void *context, const atomic_bool *unwanted,
                           const float **rows, ley_error *error)
{
    const double since_s = ley_clock_s();
    pthread_mutex_lock(&s->mutex);
    const bool makes = s->state == SHARE_OPEN;
    s->state = makes ? SHARE_MAKING : s->state;
    pthread_mutex_unlock(&s->mutex);
    const ley_status status = makes ? make_own(s, make, context, unwanted, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    for (;;) {
        pthread_mutex_lock(&s->mutex);
        look(s, since_s);
        const mesh_share_state state = s->state;
        pthread_mutex_unlock(&s->mutex);
        *rows = state == SHARE_THERE ? s->rows : NULL;
        if (state == SHARE_REFUSED && s->is_part)
            return fail_of_others(s, error);
        if (state == SHARE_THERE || state == SHARE_REFUSED)
            return LEY_OK;
        if (cancel_is_asked(unwanted))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        sched_yield();
    }
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* A rank without planes has no device at work that would come here, and others wait for it. */
static void *take_part(void *context)
{
    mesh_share *s = context;
    const float *rows;
    ley_error error = {0};
    mesh_share_take(s, NULL, NULL, s->cancelled, &rows, &error);
    ley_error_clear(&error);
    return NULL;
}

static ley_status begin_thread(mesh_share *s, const atomic_bool *cancelled, ley_error *error)
{
    s->cancelled = cancelled;
    s->has_thread = parallel_start(&s->thread, take_part, s) == 0;
    return s->has_thread ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "no thread for the ranks' meshes");
}

ley_status mesh_share_plan(mesh_share *s, const mesh_share_problem *p, const job_view *job, ley_error *error)
{
    const int ranks = job->ranks;
    const hierarchy *h = p->meshes;
    ley_status status = LEY_OK;
    *s = (mesh_share){.is_wanted = false};
    if (ranks < 2 || h->levels == 0)
        return LEY_OK;
    *s = (mesh_share){.is_part = part_of(p) != NULL, .first = malloc(2 * ((size_t)ranks + 1) * sizeof *s->first)};
    pthread_mutex_init(&s->mutex, NULL);
    if (s->first == NULL)
        status = ley_fail_memory(error, 2 * ((size_t)ranks + 1) * sizeof *s->first, "the ranks");
    if (status == LEY_OK && s->is_part)
        status = choose_levels(s, p, job, error);
    else if (status == LEY_OK)
        deal_evenly(spread_layers_of(h), ranks, s->first);
    if (status == LEY_OK) {
        s->own = (spread_layers){s->first[ranks_own()], s->first[ranks_own() + 1]};
        status = plan_share(s, s->is_part ? &s->levels.upper : h, p, job, error);
    }
    if (status == LEY_OK && s->is_part && part_of(p)->first >= part_of(p)->end && !job->only_plans)
        status = begin_thread(s, job->cancelled, error);
    if (status != LEY_OK || !s->is_wanted) /* a failure ends all ranks */
        clear(s);
    return status;
}

/* ---- The end --------------------------------------------------------------------------------- */

static bool await_end(void *context, ranks_exchange *x)
{
    const double *until_s = context;
    bool is_done;
    while (!(is_done = ranks_exchange_is_done(x)) && ley_clock_s() < *until_s)
        sched_yield();
    return is_done;
}

/* Exchanges that are left; false: a rank does not come, which is about to end all. */
static bool give_up(mesh_share *s)
{
    double until_s = ley_clock_s() + most_end_s;
    if (s->call == NULL)
        begin_call(s);
    if (!await_end(&until_s, s->call))
        return false;
    if (!have_all_made(s)) /* and nobody begins anything */
        return true;
    if (s->transforms && !rank_transform_give_up(&s->transform, await_end, &until_s))
        return false;
    if (s->exchange == NULL) {
        spoil(s);
        send(s);
    }
    return await_end(&until_s, s->exchange);
}

void mesh_share_end(mesh_share *s)
{
    if (!s->is_wanted)
        return;
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    if (give_up(s)) {
        ranks_exchange_end(s->call);
        ranks_exchange_end(s->exchange);
        clear(s);
    }
    s->is_wanted = false;
}

void mesh_share_refuse(mesh_share *s, const char *why)
{
    if (s->is_wanted && s->said != NULL && s->call == NULL)
        snprintf(s->said[ranks_own()].why, sizeof s->said->why, "%.200s", why);
    mesh_share_end(s);
}

/* ---- Checks and notes ------------------------------------------------------------------------ */

/* The bin that has the i-th atom. */
static size_t bin_of(const spread *s, size_t i)
{
    size_t low = 0, high = spread_bins(s);
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *((size_t)s->first[middle] <= i ? &low : &high) = middle;
    }
    return low;
}

/* A node near the middle of an atom's, along open axes one of its own; false: it is not among these
 * layers. */
static bool find_node(const mesh_share *s, const spread *atoms, size_t i, int64_t node[3])
{
    const hierarchy *h = s->meshes;
    size_t bin = bin_of(atoms, i);
    for (int axis = 0; axis < 3; axis++) {
        const size_t along = bin % (size_t)atoms->bins[axis];
        node[axis] = (int64_t)along * SPREAD_EDGE + (atoms->corner[i] >> (5 * axis) & 31) + h->window->points / 2;
        node[axis] %= h->level[0].n[axis];
        bin /= (size_t)atoms->bins[axis];
    }
    return node[2] / SPREAD_EDGE >= s->own.first && node[2] / SPREAD_EDGE < s->own.end;
}

ley_status mesh_share_check(const mesh_share *s, const spread *atoms, const float *rows, ley_error *error)
{
    enum { NODES = 64 };
    const double rounding = 1e-5, weight_rounding = 1e-6; /* of a window's weight, which may be next to 0 */
    const int64_t *n = s->meshes->level[0].n;
    for (size_t k = 0; k < NODES && s->levels.count == 0; k++) {
        int64_t node[3];
        double magnitude_e;
        if (atoms->atoms == 0 || !find_node(s, atoms, k * atoms->atoms / NODES, node))
            continue;
        const double right_e = spread_charge_e(s->meshes, atoms, node, &magnitude_e),
                     own_e = fabs((double)atoms->at[k * atoms->atoms / NODES][3]);
        const float is_e = rows[((node[2] - s->own.first * SPREAD_EDGE) * n[1] + node[1]) * n[0] + node[0]];
        if (!(fabs((double)is_e - right_e) <= rounding * magnitude_e + weight_rounding * own_e))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "anterpolation: node %lld, %lld, %lld has %g e, and its atoms bring %g e",
                            (long long)node[0], (long long)node[1], (long long)node[2], (double)is_e, right_e);
    }
    return LEY_OK;
}

void mesh_share_note(const mesh_share *s, notes *n)
{
    if (!s->is_wanted || s->state != SHARE_THERE)
        return;
    if (s->is_part)
        notes_count(n, "local_levels", s->levels.count);
    if (s->levels.count > 0)
        notes_number(n, "common_levels_s", s->common_s);
    notes_count(n, "exchange_bytes", (int64_t)s->moved_bytes);
    notes_number(n, "exchange_s", s->turns_s + s->took_s);
    notes_number(n, "exchange_waited_s", s->waited_s);
    notes_phase(n, "phase_exchange", s->exchange_s, s->turns_s + s->took_s);
}
