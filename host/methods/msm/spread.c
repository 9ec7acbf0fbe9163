#include "methods/msm/spread.h"

#include "cancel.h"
#include "core/sizes.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which bins reach which tiles ------------------------------------------------------------ */

/* Bin b has the first nodes [E b, E b + E) of [0, n), and with them its nodes reach window - 1
 * further. Along a periodic axis it has images n nodes apart. Calls with NULL only count. */
static size_t put_sources(const hierarchy *h, int axis, int64_t tile, int32_t (*sources)[2])
{
    const int64_t n = h->level[0].n[axis], first = tile * SPREAD_EDGE,
                  end = first + SPREAD_EDGE < n ? first + SPREAD_EDGE : n, reach = h->window->points - 1;
    const int64_t images = h->cell.periodic[axis] ? (reach + SPREAD_EDGE) / n + 2 : 0;
    size_t count = 0;
    for (int64_t image = -images; image <= images; image++)
        for (int64_t bin = 0; bin * SPREAD_EDGE < n; bin++) {
            const int64_t low = bin * SPREAD_EDGE, high = low + SPREAD_EDGE < n ? low + SPREAD_EDGE : n;
            if (low + image * n >= end || high - 1 + image * n + reach < first)
                continue;
            if (sources != NULL) {
                sources[count][0] = (int32_t)bin;
                sources[count][1] = (int32_t)(low + image * n - first);
            }
            count++;
        }
    return count;
}

static ley_status make_tiles(const hierarchy *h, spread *s, ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        s->bins[axis] = ley_round_up(h->level[0].n[axis], SPREAD_EDGE) / SPREAD_EDGE;
        s->tile_count += (size_t)s->bins[axis];
        for (int64_t tile = 0; tile < s->bins[axis]; tile++)
            s->source_count += put_sources(h, axis, tile, NULL);
    }
    s->tiles = malloc(s->tile_count * sizeof *s->tiles);
    s->sources = malloc(s->source_count * sizeof *s->sources);
    if (s->tiles == NULL || s->sources == NULL)
        return ley_fail_memory(error, s->source_count * sizeof *s->sources, "tiles of a lattice");
    size_t at = 0, which = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t tile = 0; tile < s->bins[axis]; tile++) {
            const size_t count = put_sources(h, axis, tile, s->sources + at);
            s->tiles[which][0] = (int32_t)at;
            s->tiles[which++][1] = (int32_t)count;
            at += count;
        }
    return LEY_OK;
}

/* ---- Atoms into bins ------------------------------------------------------------------------- */

typedef struct sorting {
    const hierarchy *h;
    size_t n, parts, bins;
    const double *position_A, *charge_e;
    const atomic_bool *cancelled;
    int32_t *counts; /* [parts][bins]: of each part's atoms; later, where its next one goes */
    spread *made;
    bool is_over[64]; /* of each part: cancelled */
} sorting;

enum { MOST_PARTS = 64, LEAST_PER_PART = 4096, LOOK_EACH = 65536 };
_Static_assert(sizeof((sorting *)NULL)->is_over == MOST_PARTS, "one flag per part");

size_t spread_bins(const spread *s)
{
    return (size_t)(s->bins[0] * s->bins[1] * s->bins[2]);
}

/* The first node along an axis that has a share in an atom, in [0, n); its fraction between its
 * neighbours. */
static int64_t first_node(const hierarchy *h, int axis, double index, float *u)
{
    const hierarchy_level *level = &h->level[0];
    const int64_t shift = 1 - h->window->points / 2;
    int64_t below = (int64_t)index; /* towards 0, and then down */
    below -= (double)below > index;
    *u = (float)(index - (double)below - 0.5);
    const int64_t node = below + shift;
    return h->cell.periodic[axis] ? (node % level->n[axis] + level->n[axis]) % level->n[axis]
                                  : node - level->first[axis];
}

size_t spread_find(const hierarchy *h, const spread *s, const double position_A[3], int32_t *corner, float u[3])
{
    double index[3];
    size_t bin[3];
    *corner = 0;
    hierarchy_index(h, position_A, index);
    for (int axis = 0; axis < 3; axis++) {
        const size_t node = (size_t)first_node(h, axis, index[axis], &u[axis]);
        bin[axis] = node / SPREAD_EDGE;
        *corner |= (int32_t)(node % SPREAD_EDGE) << (5 * axis);
    }
    return (bin[2] * (size_t)s->bins[1] + bin[1]) * (size_t)s->bins[0] + bin[0];
}

static size_t find_bin(const sorting *s, size_t i, int32_t *corner, float u[3])
{
    return spread_find(s->h, s->made, s->position_A + 3 * i, corner, u);
}

static size_t first_of(const sorting *s, size_t part)
{
    return s->n / s->parts * part + (s->n % s->parts < part ? s->n % s->parts : part);
}

static bool look(const sorting *s, size_t i)
{
    return i % LOOK_EACH == 0 && cancel_is_asked(s->cancelled);
}

/* A part's flag lies beside what all threads read, and is written but once. */
static void count_part(void *context, size_t part)
{
    sorting *s = context;
    const size_t end = first_of(s, part + 1);
    int32_t corner, *counts = s->counts + part * s->bins;
    float u[3];
    bool is_over = false;
    for (size_t i = first_of(s, part); i < end && !is_over; i++) {
        is_over = look(s, i);
        if (s->charge_e[i] != 0)
            counts[find_bin(s, i, &corner, u)]++;
    }
    s->is_over[part] = is_over;
}

static void put_part(void *context, size_t part)
{
    sorting *s = context;
    const size_t end = first_of(s, part + 1);
    int32_t corner, *next = s->counts + part * s->bins;
    float u[3];
    bool is_over = false;
    for (size_t i = first_of(s, part); i < end && !is_over; i++) {
        is_over = look(s, i);
        if (s->charge_e[i] == 0)
            continue;
        const int32_t at = next[find_bin(s, i, &corner, u)]++;
        memcpy(s->made->at[at], u, sizeof u);
        s->made->at[at][3] = (float)s->charge_e[i];
        s->made->corner[at] = corner;
    }
    s->is_over[part] = is_over;
}

static bool is_cancelled(const sorting *s)
{
    for (size_t part = 0; part < s->parts; part++)
        if (s->is_over[part])
            return true;
    return false;
}

/* Where each part's atoms of each bin go. */
static void add_up(sorting *s)
{
    int32_t at = 0;
    for (size_t bin = 0; bin < s->bins; bin++) {
        s->made->first[bin] = at;
        for (size_t part = 0; part < s->parts; part++) {
            const int32_t count = s->counts[part * s->bins + bin];
            s->counts[part * s->bins + bin] = at;
            at += count;
        }
    }
    s->made->first[s->bins] = at;
    s->made->atoms = (size_t)at;
}

static ley_status sort_atoms(sorting *s, ley_error *error)
{
    spread *made = s->made;
    made->at = malloc((s->n + 1) * sizeof *made->at);
    made->corner = malloc((s->n + 1) * sizeof *made->corner);
    s->counts = calloc(s->parts * s->bins, sizeof *s->counts);
    if (made->at == NULL || made->corner == NULL || s->counts == NULL)
        return ley_fail_memory(error, (s->n + 1) * sizeof *made->at, "atoms in bins");
    parallel_each(s->parts, count_part, s);
    add_up(s);
    if (!is_cancelled(s))
        parallel_each(s->parts, put_part, s);
    return is_cancelled(s) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

static void add_charges(size_t n, const double *charge_e, spread *made)
{
    for (size_t i = 0; i < n; i++) {
        made->total_e += charge_e[i];
        made->square_e2 += charge_e[i] * charge_e[i];
    }
}

static size_t parts_for(size_t n)
{
    const size_t cores = (size_t)parallel_cores(), most = n / LEAST_PER_PART + 1;
    const size_t parts = cores < most ? cores : most;
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

ley_status spread_begin(const hierarchy *h, size_t n, const double *charge_e, spread *made, ley_error *error)
{
    *made = (spread){.atoms = 0};
    ley_status status = n < INT32_MAX ? make_tiles(h, made, error)
                                      : ley_fail(error, LEY_ERROR_INPUT, "%zu atoms are more than a lattice takes", n);
    made->first = status == LEY_OK ? calloc(spread_bins(made) + 1, sizeof *made->first) : NULL;
    if (status == LEY_OK && made->first == NULL)
        status = ley_fail_memory(error, (spread_bins(made) + 1) * sizeof *made->first, "bins of a lattice");
    if (status == LEY_OK && (h->kappa_per_A > 0 || h->cell.dimensions > 0))
        add_charges(n, charge_e, made);
    if (status != LEY_OK)
        spread_clear(made);
    return status;
}

ley_status spread_make(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                       const atomic_bool *cancelled, spread *made, ley_error *error)
{
    ley_status status = spread_begin(h, n, charge_e, made, error);
    if (status != LEY_OK)
        return status;
    sorting s = {.h = h,
                 .n = n,
                 .parts = parts_for(n),
                 .bins = spread_bins(made),
                 .position_A = position_A,
                 .charge_e = charge_e,
                 .cancelled = cancelled,
                 .made = made};
    status = sort_atoms(&s, error);
    free(s.counts);
    if (status != LEY_OK)
        spread_clear(made);
    return status;
}

void spread_clear(spread *s)
{
    free(s->first);
    free(s->at);
    free(s->corner);
    free(s->tiles);
    free(s->sources);
    *s = (spread){.atoms = 0};
}

/* ---- Charges between the same nodes ---------------------------------------------------------- */

/* Sums over atoms and over nodes are those of stretches, added up in their order: the same bytes on
 * any number of cores. */
enum { STRETCH = 1 << 16 };

typedef struct gathering {
    const hierarchy *h;
    size_t n, nodes;
    const double *position_A, *charge_e;
    double scale; /* charges are summed as whole numbers, so that it does not matter who comes first */
    _Atomic int64_t *sum;
    double *largest_e, *square_e2; /* of each stretch */
    const atomic_bool *cancelled;
} gathering;

static size_t stretches_of(size_t n)
{
    return (n + STRETCH - 1) / STRETCH;
}

static size_t end_of(size_t stretch, size_t n)
{
    return (stretch + 1) * STRETCH < n ? (stretch + 1) * STRETCH : n;
}

static void look_at_charges(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    for (size_t k = first; k < last; k++) {
        double largest_e = 0, square_e2 = 0;
        for (size_t i = k * STRETCH; i < end_of(k, g->n); i++) {
            const double q_e = (double)(float)g->charge_e[i];
            largest_e = fmax(largest_e, fabs(g->charge_e[i]));
            square_e2 += q_e * q_e;
        }
        g->largest_e[k] = largest_e;
        g->square_e2[k] = square_e2;
    }
}

static void clear_nodes(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    memset(g->sum + first * STRETCH, 0, (end_of(last - 1, g->nodes) - first * STRETCH) * sizeof *g->sum);
}

static void gather(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    const hierarchy_level *level = &g->h->level[0];
    double index[3];
    float u;
    for (size_t i = first; i < last; i++) {
        if (i % LOOK_EACH == 0 && cancel_is_asked(g->cancelled))
            return;
        if (g->charge_e[i] == 0) /* the lattice may have no nodes there */
            continue;
        hierarchy_index(g->h, g->position_A + 3 * i, index);
        int64_t at = 0;
        for (int axis = 2; axis >= 0; axis--)
            at = at * level->n[axis] + first_node(g->h, axis, index[axis], &u);
        atomic_fetch_add_explicit(&g->sum[at], llrint(g->scale * (double)(float)g->charge_e[i]), memory_order_relaxed);
    }
}

static void square_nodes(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    for (size_t k = first; k < last; k++) {
        g->square_e2[k] = 0;
        for (size_t i = k * STRETCH; i < end_of(k, g->nodes); i++) {
            const double q_e = (double)atomic_load_explicit(&g->sum[i], memory_order_relaxed) / g->scale;
            g->square_e2[k] += q_e * q_e;
        }
    }
}

static double add_stretches(const gathering *g, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < stretches_of(count); k++)
        sum += g->square_e2[k];
    return sum;
}

/* Charges are summed by their first nodes; of `g` the rest is set. */
static double find_coherence(gathering *g, double single_e2)
{
    parallel_ranges(stretches_of(g->nodes), clear_nodes, g);
    parallel_ranges(g->n, gather, g);
    parallel_ranges(stretches_of(g->nodes), square_nodes, g);
    const double together_e2 = add_stretches(g, g->nodes);
    return together_e2 > single_e2 ? sqrt(together_e2 / single_e2) : 1;
}

ley_status spread_coherence(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                            const atomic_bool *cancelled, double *coherence, ley_error *error)
{
    const size_t nodes = (size_t)hierarchy_nodes(&h->level[0]), stretches = stretches_of(n > nodes ? n : nodes);
    double largest_e = 0;
    gathering g = {.h = h,
                   .n = n,
                   .nodes = nodes,
                   .position_A = position_A,
                   .charge_e = charge_e,
                   .sum = memory_in_large_pages((int64_t)(nodes * sizeof *g.sum)),
                   .largest_e = calloc(2 * stretches, sizeof *g.largest_e),
                   .cancelled = cancelled};
    const bool has_memory = g.sum != NULL && g.largest_e != NULL;
    *coherence = 1;
    if (has_memory) {
        g.square_e2 = g.largest_e + stretches;
        parallel_ranges(stretches_of(n), look_at_charges, &g);
    }
    for (size_t k = 0; k < stretches && has_memory; k++)
        largest_e = fmax(largest_e, g.largest_e[k]);
    g.scale = 0x1p62 / ((double)n * largest_e);
    if (has_memory && largest_e > 0)
        *coherence = find_coherence(&g, add_stretches(&g, n));
    free(g.largest_e);
    free(g.sum);
    if (!has_memory)
        return ley_fail_memory(error, nodes * sizeof *g.sum, "charges between a lattice's nodes");
    return cancel_is_asked(cancelled) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}
