#include "ions/search.h"

#include "clock.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bricks that are brought up to date at a time, the most promising first. Sums of pairs for all
 * that one ion leaves open, and the places that this is at least and at most. */
enum { FIRST_BRICKS = 48, SAMPLE = 16, TOGETHER = 4, LEAST_PLACES = 64, MOST_PLACES = 16384 };
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
        status = search_update(s, bounds_first(&s->bounds, first_bricks, s->chosen), error);
    while (status == LEY_OK) {
        *best = best_of_map(s, charge_e);
        const size_t count = choose_bricks(s, fmax(wanted, *best + 2 * s->delta));
        if (count == 0)
            return LEY_OK;
        status = search_update(s, count, error);
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
        placed_ion *more = realloc(s->ions, 2 * s->ion_room * sizeof *more);
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
static ley_status add_images(search *s, const placed_ion *ion, double charge, ley_error *error)
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
    placed_ion *ion = &s->ions[s->ion_count];
    *ion = (placed_ion){.charge_e = charge_e,
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

static bool is_near_ion(const search *s, const placed_ion *ion, const candidate *c)
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
            c[count++] = search_candidate(s, s->chosen[i], (int)local, value);
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
    const ley_status status = search_update(s, n, error);
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
        c[i] = search_candidate(s, s->found[i].brick, s->found[i].local, s->found[i].value);
    qsort(c, *count, sizeof *c, compare_candidates);
    for (size_t i = 0; i < *count && status == LEY_OK; i++)
        status = search_check_found(s, &c[i], error);
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
    const candidate c = search_candidate(s, one.brick, one.local, one.value);
    if (may_be_left_out(s, &c))
        return LEY_OK;
    *is_done = true;
    const ley_status status = search_check_found(s, &c, error);
    return status == LEY_OK ? add_ion(s, charge_e, &c, true, gap, error) : status;
}

static void note_energy(search *s, const placed_ion *ion)
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
        placed_ion *ion = &s->ions[c[i].ions];
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
