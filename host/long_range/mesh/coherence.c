#include "long_range/mesh/coherence.h"

#include "cancel.h"
#include "error.h"
#include "long_range/mesh/spread.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes are many, and few have charges: charges are sorted by stretches of nodes, whose sums stay
 * in a core's cache. */
enum { STRETCH = 1 << 16, MOST_PARTS = 64, LEAST_PER_PART = 4096, LOOK_EACH = 65536 };

typedef struct node_charge {
    uint32_t node; /* of the stretch */
    float charge_e;
} node_charge;

typedef struct gathering {
    const hierarchy *h;
    size_t n, parts, stretches;
    const double *position_A, *charge_e;
    const atomic_bool *cancelled;
    size_t *places;       /* [stretches][parts]: of each part's charges; later, where its next one goes */
    node_charge *charges; /* [n]: by stretches, and within them in their order */
    double *single_e2;    /* [parts]: squares of charges */
    double *together_e2;  /* [stretches]: squares of sums */
} gathering;

static size_t first_of(const gathering *g, size_t part)
{
    return parallel_first(g->n, g->parts, part);
}

/* False: it has no charge, and the mesh may have no nodes there. */
static bool find_node(const gathering *g, size_t i, size_t *stretch, uint32_t *node)
{
    const hierarchy_level *level = &g->h->level[0];
    double index[3];
    float u;
    if (g->charge_e[i] == 0)
        return false;
    hierarchy_index(g->h, g->position_A + 3 * i, index);
    int64_t at = 0;
    for (int axis = 2; axis >= 0; axis--)
        at = at * level->n[axis] + spread_first_node(g->h, axis, index[axis], &u);
    *stretch = (size_t)at / STRETCH;
    *node = (uint32_t)((size_t)at % STRETCH);
    return true;
}

static void count_parts(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    size_t stretch;
    uint32_t node;
    for (size_t part = first; part < last && !cancel_is_asked(g->cancelled); part++)
        for (size_t i = first_of(g, part); i < first_of(g, part + 1); i++) {
            const double q_e = (double)(float)g->charge_e[i];
            g->single_e2[part] += q_e * q_e;
            if (find_node(g, i, &stretch, &node))
                g->places[stretch * g->parts + part]++;
        }
}

/* Counts become places. */
static void sum_up(const gathering *g)
{
    size_t sum = 0;
    for (size_t k = 0; k < g->stretches * g->parts; k++) {
        const size_t count = g->places[k];
        g->places[k] = sum;
        sum += count;
    }
}

static void put_parts(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    size_t stretch;
    uint32_t node;
    for (size_t part = first; part < last && !cancel_is_asked(g->cancelled); part++)
        for (size_t i = first_of(g, part); i < first_of(g, part + 1); i++)
            if (find_node(g, i, &stretch, &node))
                g->charges[g->places[stretch * g->parts + part]++] = (node_charge){node, (float)g->charge_e[i]};
}

/* The places are those behind the last charges now. */
static void square_stretches(void *context, size_t first, size_t last)
{
    const gathering *g = context;
    double *sum_e = malloc(STRETCH * sizeof *sum_e);
    for (size_t k = first; k < last && !cancel_is_asked(g->cancelled); k++) {
        const size_t from = k == 0 ? 0 : g->places[k * g->parts - 1], to = g->places[(k + 1) * g->parts - 1];
        double together_e2 = sum_e != NULL || from == to ? 0 : INFINITY;
        if (sum_e == NULL || from == to) {
            g->together_e2[k] = together_e2;
            continue;
        }
        memset(sum_e, 0, STRETCH * sizeof *sum_e);
        for (size_t i = from; i < to; i++)
            sum_e[g->charges[i].node] += (double)g->charges[i].charge_e;
        for (size_t i = 0; i < STRETCH; i++)
            together_e2 += sum_e[i] * sum_e[i];
        g->together_e2[k] = together_e2;
    }
    free(sum_e);
}

static double sum_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

static double find(gathering *g)
{
    parallel_ranges(g->parts, count_parts, g);
    sum_up(g);
    parallel_ranges(g->parts, put_parts, g);
    parallel_ranges(g->stretches, square_stretches, g);
    const double single_e2 = sum_of(g->single_e2, g->parts), together_e2 = sum_of(g->together_e2, g->stretches);
    return together_e2 > single_e2 ? sqrt(together_e2 / single_e2) : 1;
}

ley_status coherence_find(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                          const atomic_bool *cancelled, double *coherence, ley_error *error)
{
    const size_t parts = n / LEAST_PER_PART + 1 < MOST_PARTS ? n / LEAST_PER_PART + 1 : MOST_PARTS,
                 stretches = ((size_t)hierarchy_nodes(&h->level[0]) + STRETCH - 1) / STRETCH;
    gathering g = {.h = h,
                   .n = n,
                   .parts = parts,
                   .stretches = stretches,
                   .position_A = position_A,
                   .charge_e = charge_e,
                   .cancelled = cancelled,
                   .places = calloc(stretches * parts, sizeof *g.places),
                   .charges = malloc(n * sizeof *g.charges),
                   .single_e2 = calloc(parts + stretches, sizeof *g.single_e2)};
    const bool has_memory = g.places != NULL && g.charges != NULL && g.single_e2 != NULL;
    if (has_memory) {
        g.together_e2 = g.single_e2 + parts;
        *coherence = find(&g);
    }
    free(g.places);
    free(g.charges);
    free(g.single_e2);
    if (cancel_is_asked(cancelled))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    return has_memory && isfinite(*coherence)
               ? LEY_OK
               : ley_fail_memory(error, n * sizeof *g.charges, "charges between a mesh's nodes");
}
