#include "ions/search.h"

#include "clock.h"
#include "error.h"
#include "ions/bounds.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bricks that are brought up to date at a time, the most promising first. Sums of pairs for all
 * that one ion leaves open, and the places that this is at least and at most. */
enum {
    FIRST_BRICKS = 48,
    SAMPLE = 16,
    TOGETHER = 4,
    LEAST_PLACES = 64,
    MOST_PLACES = 16384,
    CHECKED = 2,
    CHECKED_NODES = 2 * CHECKED * BRICK_NODES,
    CHECKED_ROWS = 8
};
static const double most_pairs = 2e9;

/* Energies are equal that differ by the rounding of double sums. Floats: of a sum. */
static const double equal = 1e-12, float_rounding = 1.2e-7;

/* ---- For tests ------------------------------------------------------------------------------- */

static double assumed_delta = -1;
static size_t first_bricks = FIRST_BRICKS;
static int begun;

void search_assume(double delta, size_t bricks)
{
    assumed_delta = delta;
    first_bricks = bricks > 0 ? bricks : FIRST_BRICKS;
    begun = 0;
}

int search_begun(void)
{
    return begun;
}

/* ---- The search ------------------------------------------------------------------------------ */

typedef struct candidate {
    int64_t number, node[3];
    double place_A[3];
    double found;           /* the map's potential */
    double exact, absolute; /* the potential */
    size_t ions;            /* so many are there */
    bool is_left_out;
} candidate;

typedef struct placed {
    double charge_e;
    candidate at;
    double energy, delta, gap; /* any other node is better only if the map is off by more than the gap */
    bool is_open;              /* the energy is not known yet; by delta the potential may be off */
} placed;

struct search {
    search_options o;
    const ions_grid *g;
    search_counts done;
    double delta;  /* how far the map's potential may be off, kcal/mol/e */
    double box[3]; /* extent of the grid, A: of the images that matter */

    brick_bounds bounds;
    /* Of bricks, as they were at a version. */
    ions_record *records;
    int32_t *versions;
    int32_t *fresh; /* those that are up to date, at this version */
    size_t fresh_count;

    ions_effect *effects;
    size_t effect_count, effect_room;
    int32_t *ends; /* [version]: effects up to it */
    int32_t version, version_room;
    placed *ions;
    size_t ion_count, ion_room, looked_at; /* looked_at: those that sum_some() has done with */

    /* For one update or list. */
    ions_work *work;
    ions_record *news;
    int32_t *chosen;
    ions_found *found;
    size_t most_found;
};

const search_counts *search_has_done(const search *s)
{
    return &s->done;
}

static bool is_cancelled(const search *s)
{
    return s->o.cancel != NULL && *s->o.cancel;
}

void search_end(search *s)
{
    if (s == NULL)
        return;
    s->o.map->meanwhile = NULL;
    bounds_free(&s->bounds);
    free(s->records);
    free(s->versions);
    free(s->effects);
    free(s->ends);
    free(s->ions);
    free(s->work);
    free(s->news);
    free(s->chosen);
    free(s->fresh);
    free(s->found);
    free(s);
}

static bool make_room(search *s)
{
    const size_t n = (size_t)s->g->brick_count;
    s->records = calloc(n, sizeof *s->records);
    s->versions = calloc(n, sizeof *s->versions);
    s->fresh = calloc(n, sizeof *s->fresh);
    s->version_room = 64;
    s->ends = calloc((size_t)s->version_room, sizeof *s->ends);
    s->effect_room = 64;
    s->effects = calloc(s->effect_room, sizeof *s->effects);
    s->ion_room = 64;
    s->ions = calloc(s->ion_room, sizeof *s->ions);
    s->work = calloc(n, sizeof *s->work);
    s->news = calloc(n, sizeof *s->news);
    s->chosen = calloc(n, sizeof *s->chosen);
    s->found = calloc(s->most_found > CHECKED_NODES ? s->most_found : CHECKED_NODES, sizeof *s->found);
    return s->records != NULL && s->versions != NULL && s->fresh != NULL && s->ends != NULL && s->effects != NULL &&
           s->ions != NULL && s->work != NULL && s->news != NULL && s->chosen != NULL && s->found != NULL;
}

/* ---- Bricks up to date ----------------------------------------------------------------------- */

/* Brings the chosen bricks up to date. */
static ley_status update(search *s, size_t count, ley_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const int32_t b = s->chosen[i];
        s->work[i] = (ions_work){.brick = b,
                                 .first = s->versions[b] < 0 ? 0 : s->ends[s->versions[b]],
                                 .last = s->ends[s->version],
                                 .record = (int32_t)i};
    }
    const double begin_s = ley_clock_s();
    const ley_status status = s->o.map->update(s->o.map, s->effects, count, s->work, s->news, error);
    s->done.updates++;
    s->done.updates_s += ley_clock_s() - begin_s;
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        const int32_t b = s->chosen[i];
        if (isnan(s->news[i].least) || isnan(s->news[i].most) || isnan(s->news[i].next_least) ||
            isnan(s->news[i].next_most) || !(s->news[i].count >= 0) ||
            (s->news[i].count > 0 && !(s->news[i].at_least >= 0 && s->news[i].at_most >= 0)))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick of the map has no least value");
        if (s->versions[b] != s->version)
            s->fresh[s->fresh_count++] = b;
        s->records[b] = s->news[i];
        if (s->bounds.g != NULL)
            bounds_set(&s->bounds, b, s->news[i].least, s->news[i].most);
        s->versions[b] = s->version;
    }
    s->done.searched += (int64_t)count;
    return status;
}

static bool is_empty(const search *s, int64_t b)
{
    return !(s->records[b].count > 0);
}

/* Of bricks that are not up to date, those that may have a potential up to `limit`. */
static size_t choose_bricks(search *s, double limit)
{
    size_t count = 0;
    const size_t all = bounds_up_to(&s->bounds, limit, s->chosen);
    for (size_t i = 0; i < all; i++)
        if (s->versions[s->chosen[i]] != s->version && !is_empty(s, s->chosen[i]))
            s->chosen[count++] = s->chosen[i];
    return count;
}

/* The least potential of bricks that are up to date, of the sign of the charge; infinite: they have
 * no nodes. */
static double best_of_map(const search *s, double charge_e)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->fresh_count; i++) {
        const ions_record *r = &s->records[s->fresh[i]];
        best = fmin(best, charge_e > 0 ? (double)r->least : -(double)r->most);
    }
    return best;
}

/* Until no other brick may have a potential of the charge's sign below `wanted`, or one as good as
 * the best: that is `best`. Infinite: no node is left. */
static ley_status bring_up(search *s, double charge_e, double wanted, double *best, ley_error *error)
{
    ley_status status = LEY_OK;
    bounds_find(&s->bounds, charge_e);
    if (s->fresh_count == 0)
        status = update(s, bounds_first(&s->bounds, first_bricks, s->chosen), error);
    while (status == LEY_OK) {
        *best = best_of_map(s, charge_e);
        const size_t count = choose_bricks(s, fmax(wanted, *best + 2 * s->delta));
        if (count == 0)
            return LEY_OK;
        status = update(s, count, error);
        if (status == LEY_OK && is_cancelled(s))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    return status;
}

/* ---- Effects --------------------------------------------------------------------------------- */

static bool has_room(search *s, size_t effects)
{
    if (s->version + 2 > s->version_room) {
        int32_t *more = realloc(s->ends, 2 * (size_t)s->version_room * sizeof *more);
        if (more == NULL)
            return false;
        s->ends = more;
        s->version_room *= 2;
    }
    if (s->ion_count + 1 > s->ion_room) {
        placed *more = realloc(s->ions, 2 * s->ion_room * sizeof *more);
        if (more == NULL)
            return false;
        s->ions = more;
        s->ion_room *= 2;
    }
    if (s->effect_count + effects > s->effect_room) {
        const size_t room = 2 * (s->effect_count + effects);
        ions_effect *more = realloc(s->effects, room * sizeof *more);
        if (more == NULL)
            return false;
        s->effects = more;
        s->effect_room = room;
    }
    return true;
}

static void end_version(search *s)
{
    s->ends[++s->version] = (int32_t)s->effect_count;
    s->fresh_count = 0;
}

static void add_effect(search *s, const double at[3], double charge, double radius2)
{
    s->effects[s->effect_count++] = (ions_effect){
        .at = {(float)at[0], (float)at[1], (float)at[2]}, .charge = (float)charge, .radius2 = (float)radius2};
}

/* A single node that the map has let pass, though it is too near to the solute. */
static ley_status leave_out(search *s, const int64_t node[3], ley_error *error)
{
    if (!has_room(s, 1))
        return ley_fail_memory(error, s->effect_count * sizeof *s->effects, "the ions' effects");
    add_effect(s, (const double[3]){(double)node[0], (double)node[1], (double)node[2]}, 0, 1e-3);
    end_version(s);
    return LEY_OK;
}

/* Images of an ion that leave out nodes of the cell, the ion first. */
static ley_status add_images(search *s, const placed *ion, double charge, ley_error *error)
{
    int64_t reach[3], times[3];
    ions_grid_reach(s->g, sqrt(s->g->between2), reach);
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
        times[i] = (reach[i] + s->g->n[i] - 1) / s->g->n[i];
        count *= (size_t)(2 * times[i] + 1);
    }
    if (!has_room(s, count))
        return ley_fail_memory(error, count * sizeof *s->effects, "the ions' effects");
    add_effect(s, (const double[3]){(double)ion->at.node[0], (double)ion->at.node[1], (double)ion->at.node[2]}, charge,
               s->g->between2);
    for (int64_t a = -times[0]; a <= times[0]; a++)
        for (int64_t b = -times[1]; b <= times[1]; b++)
            for (int64_t c = -times[2]; c <= times[2]; c++) {
                const int64_t cells[3] = {a, b, c};
                double at[3];
                bool matters = a != 0 || b != 0 || c != 0;
                for (int i = 0; i < 3; i++) {
                    at[i] = (double)(ion->at.node[i] + cells[i] * s->g->n[i]);
                    matters = matters && at[i] >= -(double)reach[i] && at[i] < (double)(s->g->n[i] + reach[i]);
                }
                if (matters)
                    add_effect(s, at, 0, s->g->between2);
            }
    return LEY_OK;
}

/* At a candidate, or where one alone is left. */
static ley_status add_ion(search *s, double charge_e, const candidate *at, bool is_open, double gap, ley_error *error)
{
    if (!has_room(s, 1))
        return ley_fail_memory(error, s->effect_count * sizeof *s->effects, "the ions' effects");
    placed *ion = &s->ions[s->ion_count];
    *ion = (placed){.charge_e = charge_e,
                    .at = *at,
                    .energy = charge_e * at->exact,
                    .delta = s->delta,
                    .gap = gap,
                    .is_open = is_open};
    const double charge = s->o.constant * charge_e * ions_grid_unit(s->g);
    if (s->g->is_periodic) {
        const ley_status status = add_images(s, ion, charge, error);
        if (status != LEY_OK)
            return status;
        bounds_forget(&s->bounds);
    } else {
        add_effect(s, (const double[3]){(double)ion->at.node[0], (double)ion->at.node[1], (double)ion->at.node[2]},
                   charge, s->g->between2);
        bounds_widen(&s->bounds, s->o.constant * charge_e, ion->at.place_A);
    }
    s->delta += float_rounding * fabs(charge) / (s->g->is_square ? s->g->between2 : sqrt(s->g->between2));
    s->ion_count++;
    end_version(s);
    return LEY_OK;
}

/* ---- Single nodes ---------------------------------------------------------------------------- */

/* The solute's potential at all of them, once for each node. */
static ley_status sum_solute(search *s, candidate *c, size_t count, ley_error *error)
{
    double(*place_A)[3] = malloc((count + 1) * sizeof *place_A);
    exact_value *values = malloc((count + 1) * sizeof *values);
    size_t *which = malloc((count + 1) * sizeof *which), n = 0;
    ley_status status = place_A != NULL && values != NULL && which != NULL
                            ? LEY_OK
                            : ley_fail_memory(error, count * sizeof *values, "places to recompute");
    for (size_t i = 0; i < count && status == LEY_OK; i++)
        if (ions_known_at(s->o.known, c[i].number) == NULL) {
            memcpy(place_A[n], c[i].place_A, sizeof *place_A);
            which[n++] = i;
        }
    if (status == LEY_OK)
        status = exact_at(s->o.exact, n, (const double(*)[3])place_A, values, error);
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        status = ions_known_add(s->o.known, c[which[i]].number, &values[i], error);
    s->done.recomputed += (int64_t)n;
    free(place_A);
    free(values);
    free(which);
    return status;
}

static bool is_near_ion(const search *s, const placed *ion, const candidate *c)
{
    double way[3];
    if (s->g->is_cubic)
        return false; /* the map has left it out, exactly */
    for (int axis = 0; axis < 3; axis++)
        way[axis] = c->place_A[axis] - ion->at.place_A[axis];
    const double steps2 = s->g->between2 / (1 - 1e-5);
    return exact_distance_A2(s->o.exact, way) < steps2 * s->g->h_A * s->g->h_A * (1 - 1e-12);
}

typedef struct with_ions {
    const search *s;
    candidate *c;
} with_ions;

static void add_ions(void *context, size_t first, size_t last)
{
    const with_ions *w = context;
    const search *s = w->s;
    for (size_t i = first; i < last; i++) {
        candidate *c = &w->c[i];
        const exact_value *solute = ions_known_at(s->o.known, c->number);
        double sum = solute->potential, absolute = solute->absolute;
        c->is_left_out = solute->nearest_A2 <= s->o.from_A * s->o.from_A;
        for (size_t k = 0; k < c->ions; k++) {
            double way_A[3];
            for (int axis = 0; axis < 3; axis++)
                way_A[axis] = c->place_A[axis] - s->ions[k].at.place_A[axis];
            const double term = s->ions[k].charge_e * exact_pair(s->o.exact, way_A);
            sum += term;
            absolute += fabs(term);
            c->is_left_out = c->is_left_out || is_near_ion(s, &s->ions[k], c);
        }
        c->exact = s->o.constant * sum;
        c->absolute = s->o.constant * absolute;
    }
}

static ley_status recompute(search *s, candidate *c, size_t count, ley_error *error)
{
    with_ions w = {s, c};
    const ley_status status = sum_solute(s, c, count, error);
    if (status == LEY_OK && (count > 1 || s->g->is_periodic))
        parallel_ranges(count, add_ions, &w);
    else if (status == LEY_OK)
        add_ions(&w, 0, count);
    return status;
}

static candidate candidate_of(const search *s, int64_t brick, int local, float found)
{
    candidate c = {.number = ions_grid_number(s->g, brick, local), .found = (double)found, .ions = s->ion_count};
    ions_grid_node(s->g, c.number, c.node);
    ions_grid_place_A(s->g, c.node, c.place_A);
    return c;
}

/* While a device is at an update: some ions that are to be summed at the end, once there are enough
 * for the atoms to be read for all of them together. What fails now will fail then. */
static void sum_some(void *context)
{
    search *s = context;
    candidate c[TOGETHER];
    size_t count = 0, k = s->looked_at;
    for (; k < s->ion_count && count < TOGETHER; k++)
        if (s->ions[k].is_open)
            c[count++] = s->ions[k].at;
    if (count < TOGETHER)
        return;
    s->looked_at = k;
    sum_solute(s, c, count, NULL);
}

/* ---- What the map is off by ------------------------------------------------------------------ */

/* The least values of the bricks with the least ones, and so for the largest, are recomputed. */
static ley_status find_delta(search *s, ley_error *error)
{
    candidate c[2 * SAMPLE];
    size_t count = 0;
    double largest = 0, off = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        bounds_find(&s->bounds, sign);
        const size_t filled = bounds_first(&s->bounds, SAMPLE, s->chosen);
        for (size_t i = 0; i < filled; i++) {
            const ions_record *r = &s->records[s->chosen[i]];
            const float local = sign > 0 ? r->at_least : r->at_most, value = sign > 0 ? r->least : r->most;
            largest = fmax(largest, fabs((double)value));
            c[count++] = candidate_of(s, s->chosen[i], (int)local, value);
        }
    }
    const ley_status status = s->o.has_charges ? recompute(s, c, count, error) : LEY_OK;
    for (size_t i = 0; i < count && s->o.has_charges && status == LEY_OK; i++)
        off = fmax(off, fabs(c[i].found - c[i].exact));
    s->delta = s->o.has_charges ? fmax(4 * off, 4 * float_rounding * largest) : 0;
    if (assumed_delta >= 0)
        s->delta = assumed_delta;
    begun++;
    return status;
}

/* Looks at all bricks; those that have nodes have bounds from then on. */
static ley_status look_at_all(search *s, ley_error *error)
{
    const size_t n = (size_t)s->g->brick_count;
    size_t count = 0;
    for (size_t b = 0; b < n; b++) {
        s->chosen[b] = (int32_t)b;
        s->versions[b] = -1;
    }
    const ley_status status = update(s, n, error);
    for (size_t b = 0; b < n && status == LEY_OK; b++) {
        s->done.free_nodes += (int64_t)s->records[b].count;
        if (s->records[b].count > 0)
            s->chosen[count++] = (int32_t)b;
    }
    s->done.searched = 0;
    if (status != LEY_OK)
        return status;
    if (!bounds_create(s->g, count, s->chosen, &s->bounds))
        return ley_fail_memory(error, 60 * count, "the search");
    for (size_t i = 0; i < count; i++) {
        const ions_record *r = &s->records[s->chosen[i]];
        bounds_set(&s->bounds, s->chosen[i], r->least, r->most);
    }
    return LEY_OK;
}

ley_status search_begin(const search_options *o, search **made, ley_error *error)
{
    search *s = calloc(1, sizeof *s);
    const double places = most_pairs / (double)(o->atoms > 0 ? o->atoms : 1);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "the search");
    s->o = *o;
    s->o.map->meanwhile = sum_some;
    s->o.map->context = s;
    s->g = o->map->grid;
    s->most_found = (size_t)fmin(fmax(places, LEAST_PLACES), MOST_PLACES);
    ley_status status = make_room(s) ? LEY_OK : ley_fail_memory(error, 200 * (size_t)s->g->brick_count, "the search");
    if (status == LEY_OK)
        status = look_at_all(s, error);
    if (status == LEY_OK)
        status = find_delta(s, error);
    if (status == LEY_OK)
        *made = s;
    else
        search_end(s);
    return status;
}

/* ---- The best node --------------------------------------------------------------------------- */

/* The best node, if no other one's potential is up to `limit`; *gap: by how much the next one is
 * behind it at least. Floats between the limit and the next float may be found, too. */
static bool is_one(const search *s, double charge_e, double limit, ions_found *one, double *gap)
{
    const float most = nextafterf((float)limit, INFINITY), sign = charge_e > 0 ? 1 : -1;
    float best = INFINITY, next = INFINITY;
    for (size_t i = 0; i < s->fresh_count; i++) {
        const ions_record *r = &s->records[s->fresh[i]];
        const float here = sign * (sign > 0 ? r->least : r->most),
                    behind = sign * (sign > 0 ? r->next_least : r->next_most);
        next = fminf(next, here < best ? fminf(best, behind) : here);
        if (!(here < best))
            continue;
        best = here;
        *one = (ions_found){
            .brick = s->fresh[i], .local = (int32_t)(sign > 0 ? r->at_least : r->at_most), .value = sign * here};
    }
    *gap = fmin((double)next, bounds_above(&s->bounds, limit)) - (double)best;
    return best <= most && !(next <= most) && one->local >= 0 && one->local < BRICK_NODES;
}

/* Lists nodes whose potential, of the sign of the charge, is up to `limit`. */
static ley_status list(search *s, double charge_e, double limit, int64_t last, size_t *total, ley_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < s->fresh_count; i++) {
        const ions_record *r = &s->records[s->fresh[i]];
        if ((charge_e > 0 ? (double)r->least : -(double)r->most) <= limit)
            s->chosen[count++] = s->fresh[i];
    }
    const ions_query query = {.sign = charge_e > 0 ? 1 : -1,
                              .limit = nextafterf((float)limit, INFINITY),
                              .last = last,
                              .most = s->most_found};
    const double begin_s = ley_clock_s();
    const ley_status status = s->o.map->list(s->o.map, count, s->chosen, &query, s->found, total, error);
    s->done.lists++;
    s->done.lists_s += ley_clock_s() - begin_s;
    return status;
}

/* More nodes are as good as can be recomputed: the limit is lowered to where they can, or to the
 * best; and of nodes that are equal by the map the first ones are taken. */
static ley_status list_fewer(search *s, double charge_e, double best, double *limit, size_t *total, ley_error *error)
{
    const int64_t nodes = ley_grid_points(&s->g->grid);
    double low = best, high = *limit;
    ley_status status = list(s, charge_e, best, nodes, total, error);
    for (int i = 0; i < 20 && status == LEY_OK && *total <= s->most_found; i++) {
        *limit = 0.5 * (low + high);
        status = list(s, charge_e, *limit, nodes, total, error);
        if (*total <= s->most_found)
            low = *limit;
        else
            high = *limit;
        *total = 0;
    }
    *limit = low;
    if (status == LEY_OK)
        status = list(s, charge_e, low, nodes, total, error);
    int64_t first = 0, last = nodes;
    while (status == LEY_OK && *total > s->most_found && last - first > 1) {
        const int64_t middle = first + (last - first) / 2;
        status = list(s, charge_e, low, middle, total, error);
        if (*total > s->most_found)
            last = middle;
        else if (*total > s->most_found / 2)
            break;
        else {
            first = middle;
            *total = s->most_found + 1;
        }
    }
    return status;
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* What an ion adds at a node, as maps have it. */
static double term_of(const search *s, const placed *ion, const int64_t node[3])
{
    const ions_grid *g = s->g;
    double way[3];
    int64_t wrapped[3];
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = (double)(node[axis] - ion->at.node[axis]);
        wrapped[axis] = (node[axis] - ion->at.node[axis] + g->n[axis]) % g->n[axis];
    }
    const double factor = s->o.map->table != NULL
                              ? (double)s->o.map->table[(wrapped[2] * g->n[1] + wrapped[1]) * g->n[0] + wrapped[0]]
                              : 1 / (g->is_square ? ions_grid_distance2(g, way) : sqrt(ions_grid_distance2(g, way)));
    return s->o.constant * ion->charge_e * ions_grid_unit(g) * factor;
}

/* A map's value is its first one and what was added, but for rounding; else it was wrongly
 * computed. */
static ley_status check_found(const search *s, const candidate *c, ley_error *error)
{
    const int64_t *n = c->node;
    if (s->o.map->before == NULL)
        return LEY_OK;
    const int64_t brick = (n[2] / BRICK * s->g->bricks[1] + n[1] / BRICK) * s->g->bricks[0] + n[0] / BRICK;
    const int64_t local = (n[2] % BRICK * BRICK + n[1] % BRICK) * BRICK + n[0] % BRICK;
    const double before = (double)s->o.map->before[brick * BRICK_NODES + local];
    double sum = before, absolute = fabs(before);
    for (size_t k = 0; k < s->ion_count; k++) {
        const double term = term_of(s, &s->ions[k], n);
        sum += term;
        absolute += fabs(term);
    }
    const double most = 2e-6 * absolute * (1 + sqrt((double)s->ion_count));
    return fabs(c->found - sum) <= most
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "the potential at node (%lld, %lld, %lld) is %.7g, not %.7g",
                          (long long)n[0], (long long)n[1], (long long)n[2], c->found, sum);
}

/* What is there to choose from: nodes up to the limit, recomputed, in their order. */
static ley_status make_candidates(search *s, double charge_e, double best, double *limit, candidate **made,
                                  size_t *count, bool *is_all, ley_error *error)
{
    size_t total = 0;
    *made = NULL;
    *is_all = true;
    ley_status status = LEY_OK;
    double gap;
    if (is_one(s, charge_e, *limit, s->found, &gap))
        total = 1;
    else
        status = list(s, charge_e, *limit, ley_grid_points(&s->g->grid), &total, error);
    if (status == LEY_OK && total > s->most_found) {
        *is_all = false;
        status = list_fewer(s, charge_e, best, limit, &total, error);
    }
    if (status != LEY_OK)
        return status;
    if (total == 0)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "no node of the map has the value that is its least");
    *count = total < s->most_found ? total : s->most_found;
    candidate *c = malloc(*count * sizeof *c);
    if (c == NULL)
        return ley_fail_memory(error, *count * sizeof *c, "nodes to choose from");
    for (size_t i = 0; i < *count; i++)
        c[i] = candidate_of(s, s->found[i].brick, s->found[i].local, s->found[i].value);
    qsort(c, *count, sizeof *c, compare_candidates);
    for (size_t i = 0; i < *count && status == LEY_OK; i++)
        status = check_found(s, &c[i], error);
    if (status == LEY_OK)
        status = recompute(s, c, *count, error);
    *made = c;
    return status;
}

/* Not by rounding. */
static bool is_clearly_near(const search *s, const candidate *c)
{
    return sqrt(ions_known_at(s->o.known, c->number)->nearest_A2) < s->o.from_A - s->o.margin_A;
}

/* Leaves out what the map has let pass. */
static ley_status drop_left_out(search *s, candidate *c, size_t *count, ley_error *error)
{
    size_t kept = 0;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < *count && status == LEY_OK; i++) {
        if (c[i].is_left_out)
            status =
                is_clearly_near(s, &c[i])
                    ? ley_fail(error, LEY_ERROR_WRONG_RESULT, "node (%lld, %lld, %lld) is to be left out, and is not",
                               (long long)c[i].node[0], (long long)c[i].node[1], (long long)c[i].node[2])
                    : leave_out(s, c[i].node, error);
        else
            c[kept++] = c[i];
    }
    *count = kept;
    return status;
}

size_t search_choice(int64_t seed, size_t ion, size_t count)
{
    uint64_t x = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)ion * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return seed == 0 || count == 0 ? 0 : (size_t)(x % count);
}

/* The best of all, and of equals the one that is meant. */
static const candidate *choose(const search *s, const candidate *c, size_t count, double charge_e)
{
    size_t best = 0, equals = 0, wanted;
    for (size_t i = 1; i < count; i++)
        best = charge_e * c[i].exact < charge_e * c[best].exact ? i : best;
    const double most = charge_e * c[best].exact + equal * fabs(charge_e) * c[best].absolute;
    for (size_t i = 0; i < count; i++)
        equals += charge_e * c[i].exact <= most;
    wanted = search_choice(s->o.seed, s->ion_count, equals);
    for (size_t i = 0; i < count; i++)
        if (charge_e * c[i].exact <= most && wanted-- == 0)
            return &c[i];
    return &c[best];
}

/* Whether the map was off by no more than was thought; else what is thought grows. */
static bool delta_is_right(search *s, const candidate *c, size_t count)
{
    double off = 0;
    for (size_t i = 0; i < count; i++)
        off = fmax(off, fabs(c[i].found - c[i].exact));
    if (off <= s->delta)
        return true;
    s->delta = 2 * off;
    return false;
}

/* Whether it may be left out, though the map has it: rounding decides, or distances in the cell. */
static bool may_be_left_out(const search *s, const candidate *c)
{
    bool is_near = bins_has_within(s->o.near, c->place_A, s->o.from_A * (1 + 1e-9));
    for (size_t k = 0; k < s->ion_count && !is_near; k++)
        is_near = is_near_ion(s, &s->ions[k], c);
    return is_near;
}

/* Whether an ion has been added where one node alone may be best. */
static ley_status place_at_one(search *s, double charge_e, double limit, bool *is_done, ley_error *error)
{
    ions_found one;
    double gap;
    *is_done = false;
    if (!s->o.is_deferred || !is_one(s, charge_e, limit, &one, &gap))
        return LEY_OK;
    const candidate c = candidate_of(s, one.brick, one.local, one.value);
    if (may_be_left_out(s, &c))
        return LEY_OK;
    *is_done = true;
    const ley_status status = check_found(s, &c, error);
    return status == LEY_OK ? add_ion(s, charge_e, &c, true, gap, error) : status;
}

static void note_energy(search *s, const placed *ion)
{
    s->done.energy_error = fmax(s->done.energy_error, fabs(ion->charge_e * ion->at.found - ion->energy));
    s->done.largest = fmax(s->done.largest, fabs(ion->energy));
}

/* Where the map was off by more than was thought: whether no other node may be better even so, as
 * it may be off by twice the most that was seen. */
static bool gaps_are_wide(const search *s, double most)
{
    bool are_wide = true;
    for (size_t k = 0; k < s->ion_count; k++)
        are_wide = are_wide && 2 * most <= s->ions[k].gap;
    return are_wide;
}

ley_status search_settle(search *s, bool *is_right, ley_error *error)
{
    size_t count = 0;
    double most = 0;
    bool is_within = true;
    candidate *c = calloc(s->ion_count + 1, sizeof *c);
    *is_right = true;
    if (c == NULL)
        return ley_fail_memory(error, s->ion_count * sizeof *c, "nodes to sum");
    for (size_t k = 0; k < s->ion_count; k++)
        if (s->ions[k].is_open)
            c[count++] = s->ions[k].at;
    const ley_status status = count > 0 ? recompute(s, c, count, error) : LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        placed *ion = &s->ions[c[i].ions];
        const double off = fabs(c[i].found - c[i].exact);
        most = fmax(most, off);
        is_within = is_within && off <= ion->delta;
        *is_right = *is_right && !c[i].is_left_out;
        ion->energy = ion->charge_e * c[i].exact;
        ion->gap -= off;
        ion->is_open = false;
        note_energy(s, ion);
    }
    *is_right = *is_right && (is_within || gaps_are_wide(s, most));
    free(c);
    return status;
}

double search_energy(const search *s, size_t ion)
{
    return s->ions[ion].energy;
}

ley_status search_place(search *s, double charge_e, int64_t *node, ley_error *error)
{
    double wanted = -INFINITY;
    *node = -1;
    for (;;) {
        double best;
        candidate *c;
        size_t count = 0;
        bool is_all;
        ley_status status = bring_up(s, charge_e, wanted, &best, error);
        if (status != LEY_OK)
            return status;
        if (!isfinite(best))
            return LEY_OK;
        double limit = fmax(wanted, best + 2 * s->delta);
        bool is_done;
        status = place_at_one(s, charge_e, limit, &is_done, error);
        if (is_done && status == LEY_OK)
            *node = s->ions[s->ion_count - 1].at.number;
        if (is_done || status != LEY_OK)
            return status;
        status = make_candidates(s, charge_e, best, &limit, &c, &count, &is_all, error);
        const size_t before = count;
        const bool is_right = status != LEY_OK || delta_is_right(s, c, count);
        if (status == LEY_OK)
            status = drop_left_out(s, c, &count, error);
        const candidate *chosen = status == LEY_OK && count > 0 ? choose(s, c, count, charge_e) : NULL;
        const double energy = chosen != NULL ? charge_e * chosen->exact : 0;
        const bool is_certain = !is_all || (is_right && energy / fabs(charge_e) + s->delta <= limit);
        if (chosen != NULL && is_certain) {
            *node = chosen->number;
            s->done.undecided += !is_all;
            status = add_ion(s, charge_e, chosen, false, is_all ? limit - energy / fabs(charge_e) : INFINITY, error);
            if (status == LEY_OK)
                note_energy(s, &s->ions[s->ion_count - 1]);
            free(c);
            return status;
        }
        wanted = chosen != NULL && count == before ? energy / fabs(charge_e) + s->delta : -INFINITY;
        free(c);
        if (status != LEY_OK)
            return status;
    }
}

/* ---- Whether the map is right ---------------------------------------------------------------- */

/* Atoms that reach into a brick: [n], from the origin. */
typedef struct close_atoms {
    size_t n;
    double (*at)[3];
} close_atoms;

static ley_status find_close(const search *s, int64_t b, close_atoms *close, ley_error *error)
{
    int64_t first[3];
    double low[3], high[3];
    ions_grid_corner(s->g, b, first);
    ions_grid_box(s->g, first, (const int64_t[3]){first[0] + BRICK - 1, first[1] + BRICK - 1, first[2] + BRICK - 1},
                  low, high);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] -= s->o.from_A + 0.01;
        high[axis] += s->o.from_A + 0.01;
    }
    const size_t n = bins_in_box(s->o.near, low, high, 0, NULL);
    size_t *which = malloc((n + 1) * sizeof *which);
    *close = (close_atoms){.n = n, .at = malloc((n + 1) * sizeof *close->at)};
    if (which == NULL || close->at == NULL) {
        free(which);
        return ley_fail_memory(error, n * sizeof *close->at, "atoms next to a brick");
    }
    bins_in_box(s->o.near, low, high, n, which);
    for (size_t i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            close->at[i][axis] = s->o.near->at_A[axis][which[i]];
    free(which);
    return LEY_OK;
}

/* Whether a node should be left out; *is_open: rounding decides it. */
static bool should_be_left_out(const search *s, const close_atoms *close, const candidate *c, bool *is_open)
{
    const double from_A = s->o.from_A, margin_A = s->o.margin_A;
    double nearest2 = INFINITY;
    for (size_t i = 0; i < close->n; i++) {
        double way[3];
        for (int axis = 0; axis < 3; axis++)
            way[axis] = c->place_A[axis] - close->at[i][axis];
        nearest2 = fmin(nearest2, cell_dot(way, way));
    }
    bool is_out = sqrt(nearest2) <= from_A;
    *is_open = fabs(sqrt(nearest2) - from_A) <= margin_A;
    for (size_t k = 0; k < s->ion_count && !is_out; k++) {
        double way[3];
        for (int axis = 0; axis < 3; axis++)
            way[axis] = c->place_A[axis] - s->ions[k].at.place_A[axis];
        const double steps2 = exact_distance_A2(s->o.exact, way) / (s->g->h_A * s->g->h_A);
        is_out = steps2 < s->g->between2;
        *is_open = *is_open || fabs(steps2 - s->g->between2) <= (s->g->is_cubic ? 0.25 : 1e-4 * s->g->between2);
    }
    return is_out;
}

/* A brick's nodes: their values, and whether each is as it should be. */
typedef struct checking {
    const search *s;
    int64_t brick;
    const close_atoms *close;
    float values[BRICK_NODES];
    bool is_wrong[BRICK_NODES];
} checking;

static ley_status check_node(const checking *k, int local, ley_error *error)
{
    const search *s = k->s;
    const float value = k->values[local];
    const candidate c = candidate_of(s, k->brick, local, value);
    int64_t at[3];
    ions_grid_corner(s->g, k->brick, at);
    at[0] += local % BRICK;
    at[1] += local / BRICK % BRICK;
    at[2] += local / (BRICK * BRICK);
    const bool is_beyond = at[0] >= s->g->n[0] || at[1] >= s->g->n[1] || at[2] >= s->g->n[2];
    bool is_open = false;
    const bool is_out = is_beyond || should_be_left_out(s, k->close, &c, &is_open);
    if (!is_open && is_out != isnan(value))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node (%lld, %lld, %lld) is %s", (long long)at[0],
                        (long long)at[1], (long long)at[2],
                        is_out ? "to be left out, and is not" : "left out, and should not be");
    return isnan(value) ? LEY_OK : check_found(s, &c, error);
}

/* Of some rows, among those that are checked. */
static void check_rows(void *context, size_t first, size_t last)
{
    checking *k = context;
    for (size_t row = first; row < last; row++)
        for (int i = 0; i < BRICK && ((int64_t)row + k->brick) % CHECKED_ROWS == 0; i++)
            k->is_wrong[row * BRICK + (size_t)i] = check_node(k, (int)row * BRICK + i, NULL) != LEY_OK;
}

static ley_status check_nodes(search *s, int64_t b, size_t total, const close_atoms *close, ley_error *error)
{
    checking k = {.s = s, .brick = b, .close = close};
    for (int i = 0; i < BRICK_NODES; i++)
        k.values[i] = NAN;
    for (size_t i = 0; i < total; i++)
        if (s->found[i].brick == b && s->found[i].local >= 0 && s->found[i].local < BRICK_NODES)
            k.values[s->found[i].local] = s->found[i].value;
    parallel_ranges(BRICK * BRICK, check_rows, &k);
    for (int i = 0; i < BRICK_NODES; i++)
        if (k.is_wrong[i])
            return check_node(&k, i, error);
    return LEY_OK;
}

/* Of all nodes of a brick among those that were found. */
static ley_status check_record(const search *s, int32_t b, size_t total, ley_error *error)
{
    const ions_record *r = &s->records[b];
    float least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const float v = s->found[i].value;
        if (s->found[i].brick != b)
            continue;
        count++;
        least[1] = fminf(least[1], fmaxf(least[0], v));
        most[1] = fmaxf(most[1], fminf(most[0], v));
        least[0] = fminf(least[0], v);
        most[0] = fmaxf(most[0], v);
    }
    if ((double)count != (double)r->count)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick has %zu nodes, and %.0f were counted", count,
                        (double)r->count);
    if (r->least != least[0] || r->next_least != least[1] || r->most != most[0] || r->next_most != most[1])
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick's least or largest values are not those of its nodes");
    return LEY_OK;
}

static ley_status check_brick(search *s, int32_t b, size_t total, ley_error *error)
{
    close_atoms close = {.n = 0};
    ley_status status = check_record(s, b, total, error);
    if (status == LEY_OK)
        status = find_close(s, b, &close, error);
    if (status == LEY_OK)
        status = check_nodes(s, b, total, &close, error);
    free(close.at);
    return status;
}

static size_t add_once(int32_t *bricks, size_t n, int64_t b)
{
    for (size_t i = 0; i < n; i++)
        if (bricks[i] == b)
            return n;
    bricks[n] = (int32_t)b;
    return n + 1;
}

/* Bricks at the solute's edge, where nodes are left out and others are not, and some of all. */
static size_t choose_checked(const search *s, int32_t *bricks)
{
    int64_t edge = 0, seen = 0, taken = 0;
    size_t n = 0;
    for (int64_t b = 0; b < s->g->brick_count; b++)
        edge += s->records[b].count > 0 && s->records[b].count < BRICK_NODES;
    for (int64_t b = 0; b < s->g->brick_count && taken < CHECKED; b++)
        if (s->records[b].count > 0 && s->records[b].count < BRICK_NODES &&
            seen++ == (2 * taken + 1) * edge / (2 * CHECKED)) {
            taken++;
            n = add_once(bricks, n, b);
        }
    for (int64_t i = 0; i < CHECKED; i++)
        n = add_once(bricks, n, (2 * i + 1) * s->g->brick_count / (2 * CHECKED));
    return n;
}

ley_status search_check(search *s, ley_error *error)
{
    const ions_query query = {.sign = 1, .limit = INFINITY, .last = INT32_MAX, .most = CHECKED_NODES};
    int32_t bricks[2 * CHECKED];
    const size_t n = choose_checked(s, bricks);
    size_t total = 0;
    memcpy(s->chosen, bricks, n * sizeof *bricks);
    ley_status status = update(s, n, error);
    if (status == LEY_OK)
        status = s->o.map->list(s->o.map, n, bricks, &query, s->found, &total, error);
    if (total > query.most)
        total = query.most;
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        status = check_brick(s, bricks[i], total, error);
    return status;
}
