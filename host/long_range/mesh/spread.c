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
        const size_t node = (size_t)spread_first_node(h, axis, index[axis], &u[axis]);
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
