#include "long_range/mesh/spread.h"

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
        return ley_fail_memory(error, s->source_count * sizeof *s->sources, "tiles of a mesh");
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
    bool *wants; /* [bins along z]: whether their atoms are wanted */
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

int64_t spread_first_node(const hierarchy *h, int axis, double index, float *u)
{
    const hierarchy_level *level = &h->level[0];
    const int64_t shift = 1 - h->window->points / 2;
    int64_t below = (int64_t)index; /* towards 0, and then down */
    below -= (double)below > index;
    *u = (float)(index - (double)below - 0.5);
    const int64_t node = below + shift, images = h->cell.periodic[axis] ? level->n[axis]
                                                 : axis == 2            ? h->image_planes
                                                                        : 0;
    return images > 0 ? ((node - level->first[axis]) % images + images) % images : node - level->first[axis];
}

size_t spread_find(const hierarchy *h, const spread *s, const double position_A[3], int32_t *corner, float u[3])
{
    double index[3];
    size_t bin[3];
    *corner = 0;
    hierarchy_index(h, position_A, index);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t node = spread_first_node(h, axis, index[axis], &u[axis]);
        if (node < 0 || node >= h->level[0].n[axis])
            return SPREAD_NOWHERE;
        bin[axis] = (size_t)node / SPREAD_EDGE;
        *corner |= (int32_t)(node % SPREAD_EDGE) << (5 * axis);
    }
    return (bin[2] * (size_t)s->bins[1] + bin[1]) * (size_t)s->bins[0] + bin[0];
}

/* Whether the atom is wanted; and then its bin. */
static bool find_bin(const sorting *s, size_t i, size_t *bin, int32_t *corner, float u[3])
{
    if (s->charge_e[i] == 0)
        return false;
    *bin = spread_find(s->h, s->made, s->position_A + 3 * i, corner, u);
    return *bin != SPREAD_NOWHERE && s->wants[*bin / (size_t)(s->made->bins[0] * s->made->bins[1])];
}

static size_t first_of(const sorting *s, size_t part)
{
    return parallel_first(s->n, s->parts, part);
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
    size_t bin;
    bool is_over = false;
    for (size_t i = first_of(s, part); i < end && !is_over; i++) {
        is_over = look(s, i);
        if (find_bin(s, i, &bin, &corner, u))
            counts[bin]++;
    }
    s->is_over[part] = is_over;
}

static void put_part(void *context, size_t part)
{
    sorting *s = context;
    const size_t end = first_of(s, part + 1);
    int32_t corner, *next = s->counts + part * s->bins;
    float u[3];
    size_t bin;
    bool is_over = false;
    for (size_t i = first_of(s, part); i < end && !is_over; i++) {
        is_over = look(s, i);
        if (!find_bin(s, i, &bin, &corner, u))
            continue;
        const int32_t at = next[bin]++;
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
    s->counts = calloc(s->parts * s->bins, sizeof *s->counts);
    if (s->counts == NULL)
        return ley_fail_memory(error, s->parts * s->bins * sizeof *s->counts, "atoms in bins");
    parallel_each(s->parts, count_part, s);
    add_up(s);
    made->at = malloc((made->atoms + 1) * sizeof *made->at);
    made->corner = malloc((made->atoms + 1) * sizeof *made->corner);
    if (made->at == NULL || made->corner == NULL)
        return ley_fail_memory(error, (made->atoms + 1) * sizeof *made->at, "atoms in bins");
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
                                      : ley_fail(error, LEY_ERROR_INPUT, "%zu atoms are more than a mesh takes", n);
    made->first = status == LEY_OK ? calloc(spread_bins(made) + 1, sizeof *made->first) : NULL;
    if (status == LEY_OK && made->first == NULL)
        status = ley_fail_memory(error, (spread_bins(made) + 1) * sizeof *made->first, "bins of a mesh");
    if (status == LEY_OK && (h->kappa_per_A > 0 || h->cell.dimensions > 0))
        add_charges(n, charge_e, made);
    if (status != LEY_OK)
        spread_clear(made);
    return status;
}

int64_t spread_layers_of(const hierarchy *h)
{
    return ley_round_up(h->level[0].n[2], SPREAD_EDGE) / SPREAD_EDGE;
}

/* Of an axis' tiles: the one that has this node. */
static const int32_t *tile_of(const spread *s, int axis, int64_t node)
{
    int64_t before = 0;
    for (int a = 0; a < axis; a++)
        before += s->bins[a];
    return s->tiles[before + node / SPREAD_EDGE];
}

/* Bins along z that reach these layers. */
static void mark_wanted(const spread *s, spread_layers layers, bool *wants)
{
    for (int64_t layer = layers.first; layer < layers.end; layer++) {
        const int32_t *tile = tile_of(s, 2, layer * SPREAD_EDGE);
        for (int32_t i = 0; i < tile[1]; i++)
            wants[s->sources[tile[0] + i][0]] = true;
    }
}

ley_status spread_make(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                       const atomic_bool *cancelled, spread *made, ley_error *error)
{
    const spread_layers all = {0, spread_layers_of(h)};
    return spread_make_layers(h, all, n, position_A, charge_e, cancelled, made, error);
}

ley_status spread_make_layers(const hierarchy *h, spread_layers layers, size_t n, const double *position_A,
                              const double *charge_e, const atomic_bool *cancelled, spread *made, ley_error *error)
{
    ley_status status = spread_begin(h, n, charge_e, made, error);
    if (status != LEY_OK)
        return status;
    sorting s = {.h = h,
                 .wants = calloc((size_t)made->bins[2], sizeof *s.wants),
                 .n = n,
                 .parts = parts_for(n),
                 .bins = spread_bins(made),
                 .position_A = position_A,
                 .charge_e = charge_e,
                 .cancelled = cancelled,
                 .made = made};
    if (s.wants == NULL)
        status = ley_fail_memory(error, (size_t)made->bins[2] * sizeof *s.wants, "bins of a mesh");
    else
        mark_wanted(made, layers, s.wants);
    if (status == LEY_OK)
        status = sort_atoms(&s, error);
    free(s.wants);
    free(s.counts);
    if (status != LEY_OK)
        spread_clear(made);
    return status;
}

/* The share of a node in the i-th atom, whose bin begins `from` nodes behind the node's tile. */
static double share_of(const hierarchy *h, const spread *s, int32_t i, const int64_t from[3], const int64_t node[3])
{
    double product = (double)s->at[i][3];
    for (int axis = 0; axis < 3; axis++) {
        double weight[WINDOW_MOST_POINTS];
        const int64_t first = from[axis] + (s->corner[i] >> (5 * axis) & 31), which = node[axis] % SPREAD_EDGE - first;
        if (which < 0 || which >= h->window->points)
            return 0;
        window_weights(h->window, (double)s->at[i][axis] + 0.5, weight);
        product *= weight[which];
    }
    return product;
}

double spread_charge_e(const hierarchy *h, const spread *s, const int64_t node[3], double *magnitude_e)
{
    const int32_t *tile[3] = {tile_of(s, 0, node[0]), tile_of(s, 1, node[1]), tile_of(s, 2, node[2])};
    double sum_e = 0;
    *magnitude_e = 0;
    for (int32_t which = 0; which < tile[0][1] * tile[1][1] * tile[2][1]; which++) {
        const int32_t *x = s->sources[tile[0][0] + which % tile[0][1]],
                      *y = s->sources[tile[1][0] + which / tile[0][1] % tile[1][1]],
                      *z = s->sources[tile[2][0] + which / tile[0][1] / tile[1][1]];
        const int64_t from[3] = {x[1], y[1], z[1]}, bin = (z[0] * s->bins[1] + y[0]) * s->bins[0] + x[0];
        for (int32_t i = s->first[bin]; i < s->first[bin + 1]; i++) {
            const double share_e = share_of(h, s, i, from, node);
            sum_e += share_e;
            *magnitude_e += fabs(share_e);
        }
    }
    return sum_e;
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
