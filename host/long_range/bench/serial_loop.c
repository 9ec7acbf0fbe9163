#include "long_range/bench/serial_loop.h"

#include "clock.h"
#include "error.h"
#include "long_range/bench/lattice_serial_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A place's first node along each axis, in its mesh, and the weights. */
typedef struct place {
    int64_t node[3];
    float weight[3][WINDOW_MOST_POINTS];
} place;

static place place_of(const hierarchy *h, const double at_A[3])
{
    place p;
    double index[3], weight[WINDOW_MOST_POINTS];
    hierarchy_index(h, at_A, index);
    for (int axis = 0; axis < 3; axis++) {
        const double below = floor(index[axis]);
        p.node[axis] = (int64_t)below - h->window->points / 2 + 1 - h->level[0].first[axis];
        window_weights(h->window, index[axis] - below, weight);
        for (int i = 0; i < h->window->points; i++)
            p.weight[axis][i] = (float)weight[i];
    }
    return p;
}

static size_t nodes_of(const hierarchy *h, int level)
{
    return (size_t)hierarchy_nodes(&h->level[level]);
}

/* ---- Between atoms, points and nodes --------------------------------------------------------- */

static void anterpolate(const hierarchy *h, const ley_atoms *atoms, float *charges)
{
    const int64_t *n = h->level[0].n;
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    memset(charges, 0, nodes_of(h, 0) * sizeof *charges);
    for (size_t a = 0; a < ley_atoms_count(atoms); a++) {
        const place p = place_of(h, position_A + 3 * a);
        for (int k = 0; k < h->window->points && charge_e[a] != 0; k++)
            for (int j = 0; j < h->window->points; j++) {
                const float share = (float)charge_e[a] * p.weight[2][k] * p.weight[1][j];
                float *row = charges + ((p.node[2] + k) * n[1] + p.node[1] + j) * n[0] + p.node[0];
                for (int i = 0; i < h->window->points; i++)
                    row[i] += share * p.weight[0][i];
            }
    }
}

/* to[i] = sum over k of weight[k] from[k * stride + i]. */
static void blend(const float *from, int64_t stride, const float *weight, int points, int64_t n, float *to)
{
    memset(to, 0, (size_t)n * sizeof *to);
    for (int k = 0; k < points; k++)
        for (int64_t i = 0; i < n; i++)
            to[i] += weight[k] * from[k * stride + i];
}

/* A plane of nodes of a plane of points, a row of it of a row of these, and then the points. */
static void interpolate(const hierarchy *h, const ley_grid *points, float constant, const float *potentials,
                        const place *along[3], float *plane, float *map)
{
    const int64_t *n = h->level[0].n, *m = points->n;
    float *row = plane + n[0] * n[1];
    for (int64_t z = 0; z < m[2]; z++) {
        const place *at_z = &along[2][z];
        blend(potentials + at_z->node[2] * n[0] * n[1], n[0] * n[1], at_z->weight[2], h->window->points, n[0] * n[1],
              plane);
        for (int64_t y = 0; y < m[1]; y++) {
            const place *at_y = &along[1][y];
            blend(plane + at_y->node[1] * n[0], n[0], at_y->weight[1], h->window->points, n[0], row);
            for (int64_t x = 0; x < m[0]; x++) {
                const place *at_x = &along[0][x];
                float sum = 0;
                for (int i = 0; i < h->window->points; i++)
                    sum += at_x->weight[0][i] * row[at_x->node[0] + i];
                *map++ += constant * sum;
            }
        }
    }
}

static ley_status interpolate_map(const hierarchy *h, const ley_grid *points, double constant, const float *potentials,
                                  float *map, ley_error *error)
{
    const int64_t *n = h->level[0].n, *m = points->n;
    float *plane = malloc((size_t)(n[0] * n[1] + n[0]) * sizeof *plane);
    place *all = malloc((size_t)(m[0] + m[1] + m[2]) * sizeof *all);
    const place *along[3] = {all, all + m[0], all + m[0] + m[1]};
    for (int axis = 0, done = 0; axis < 3 && all != NULL; done += (int)m[axis++])
        for (int64_t i = 0; i < m[axis]; i++) {
            double at_A[3];
            for (int c = 0; c < 3; c++)
                at_A[c] = points->origin_A[c] + (double)i * points->step_A[axis][c];
            all[done + i] = place_of(h, at_A);
        }
    if (plane != NULL && all != NULL)
        interpolate(h, points, (float)constant, potentials, along, plane, map);
    const bool is_done = plane != NULL && all != NULL;
    free(plane);
    free(all);
    return is_done ? LEY_OK : ley_fail_memory(error, (size_t)(n[0] * n[1]) * sizeof *plane, "the host loop");
}

/* ---- Between levels, axis by axis ------------------------------------------------------------ */

/* The nodes below an axis are neighbours in memory, those above it are apart. */
typedef struct axis_pass {
    int64_t below, above, fine, coarse, shift; /* nodes of both along the axis; 2 first coarse - first fine */
    const float *two_scale;                    /* [2 points - 1] */
    int points;
} axis_pass;

static void pass(const axis_pass *a, bool is_up, const float *from, float *to)
{
    memset(to, 0, (size_t)(a->below * a->above * (is_up ? a->coarse : a->fine)) * sizeof *to);
    for (int64_t o = 0; o < a->above; o++)
        for (int64_t m = 0; m < a->coarse; m++)
            for (int j = 1 - a->points; j < a->points; j++) {
                const int64_t f = 2 * m + j + a->shift;
                const float weight = a->two_scale[j + a->points - 1];
                if (weight == 0 || f < 0 || f >= a->fine)
                    continue;
                const int64_t fine = (o * a->fine + f) * a->below, coarse = (o * a->coarse + m) * a->below;
                const float *source = from + (is_up ? fine : coarse);
                float *target = to + (is_up ? coarse : fine);
                for (int64_t i = 0; i < a->below; i++)
                    target[i] += weight * source[i];
            }
}

/* From level `fine` to the next one, or back; `spare` has room for two of the finer mesh. */
static void between(const hierarchy *h, int fine, bool is_up, const float *from, float *to, float *spare)
{
    float two_scale[2 * WINDOW_MOST_POINTS];
    float *half[2] = {spare, spare + nodes_of(h, fine)};
    int64_t n[3]; /* of what there is so far */
    for (int j = 1 - h->window->points; j < h->window->points; j++)
        two_scale[j + h->window->points - 1] = (float)window_two_scale(h->window, j);
    memcpy(n, h->level[is_up ? fine : fine + 1].n, sizeof n);
    for (int axis = 2; axis >= 0; axis--) {
        const axis_pass a = {.below = (axis > 0 ? n[0] : 1) * (axis > 1 ? n[1] : 1),
                             .above = (axis < 1 ? n[1] : 1) * (axis < 2 ? n[2] : 1),
                             .fine = h->level[fine].n[axis],
                             .coarse = h->level[fine + 1].n[axis],
                             .shift = 2 * h->level[fine + 1].first[axis] - h->level[fine].first[axis],
                             .two_scale = two_scale,
                             .points = h->window->points};
        float *next = axis == 0 ? to : half[axis - 1];
        pass(&a, is_up, from, next);
        n[axis] = is_up ? a.coarse : a.fine;
        from = next;
    }
}

/* ---- On a level ------------------------------------------------------------------------------ */

static ley_status sum_level(const hierarchy *h, int level, const float *charges, float *potentials, ley_error *error)
{
    lattice_level l = {.scale = 1};
    int64_t reach[3];
    int radius[3];
    if (level == h->levels - 1)
        hierarchy_whole_reach(h, level, reach);
    else
        hierarchy_reach(h, reach);
    for (int axis = 0; axis < 3; axis++) {
        l.n[axis] = h->level[level].n[axis];
        radius[axis] = (int)reach[axis];
    }
    const size_t count = (size_t)((2 * reach[0] + 1) * (2 * reach[1] + 1) * (2 * reach[2] + 1));
    float *weights = malloc(count * sizeof *weights), *weight = weights;
    if (weights == NULL)
        return ley_fail_memory(error, count * sizeof *weights, "the host loop");
    for (int64_t z = -reach[2]; z <= reach[2]; z++)
        for (int64_t y = -reach[1]; y <= reach[1]; y++)
            for (int64_t x = -reach[0]; x <= reach[0]; x++) {
                double away_A[3];
                hierarchy_displacement(h, level, (const double[3]){(double)x, (double)y, (double)z}, away_A);
                *weight++ = (float)hierarchy_weight(h, level, cell_length(away_A));
            }
    lattice_host_loop(&l, radius, weights, charges, potentials);
    free(weights);
    return LEY_OK;
}

/* ---- The cycle ------------------------------------------------------------------------------- */

/* Meshes of all levels follow each other: charges, then potentials, then what is spare. */
static ley_status solve(const hierarchy *h, float *charges, float *potentials, float *spare, ley_error *error)
{
    size_t at[HIERARCHY_MOST_LEVELS + 1] = {0};
    ley_status status = LEY_OK;
    for (int k = 0; k < h->levels; k++)
        at[k + 1] = at[k] + nodes_of(h, k);
    for (int k = 0; k + 1 < h->levels; k++)
        between(h, k, true, charges + at[k], charges + at[k + 1], spare);
    for (int k = 0; k < h->levels && status == LEY_OK; k++)
        status = sum_level(h, k, charges + at[k], potentials + at[k], error);
    for (int k = h->levels - 2; k >= 0 && status == LEY_OK; k--) {
        float *brought = spare + 2 * nodes_of(h, 0);
        between(h, k, false, potentials + at[k + 1], brought, spare);
        for (size_t i = 0; i < nodes_of(h, k); i++)
            potentials[at[k] + i] += brought[i];
    }
    return status;
}

ley_status serial_loop_add(const hierarchy *h, const ley_atoms *atoms, const ley_grid *points, double constant,
                           float *map, serial_loop_times *times, ley_error *error)
{
    size_t nodes = 0;
    for (int k = 0; k < h->levels; k++)
        nodes += nodes_of(h, k);
    const size_t count = 2 * nodes + 3 * nodes_of(h, 0);
    float *all = malloc(count * sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, count * sizeof *all, "the host loop");
    const double start_s = ley_clock_s();
    anterpolate(h, atoms, all);
    const double spread_s = ley_clock_s();
    ley_status status = solve(h, all, all + nodes, all + 2 * nodes, error);
    const double solved_s = ley_clock_s();
    if (status == LEY_OK)
        status = interpolate_map(h, points, constant, all + nodes, map, error);
    *times = (serial_loop_times){spread_s - start_s, solved_s - spread_s, ley_clock_s() - solved_s};
    free(all);
    return status;
}
