#include "law/long_range.h"

#include "error.h"
#include "law/fourier.h"
#include "numerics/influence.h"
#include "numerics/lattice_sum.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Between places and nodes ---------------------------------------------------------------- */

/* The nodes of a place: the first one's index, and the weights along each axis. */
typedef struct place {
    int64_t first[3];
    double weight[3][WINDOW_MOST_POINTS];
} place;

static place place_of(const hierarchy *h, const double point_A[3])
{
    place p;
    double index[3];
    hierarchy_index(h, point_A, index);
    for (int m = 0; m < 3; m++) {
        const double below = floor(index[m]);
        p.first[m] = (int64_t)below - h->window->points / 2 + 1;
        window_weights(h->window, index[m] - below, p.weight[m]);
    }
    return p;
}

/* The number and the weight of the place's node i, j, l; -1: the mesh has no such node. */
static int64_t node_of(const hierarchy *h, const place *p, int i, int j, int l, double *weight)
{
    const int64_t at[3] = {p->first[0] + i, p->first[1] + j, p->first[2] + l};
    *weight = p->weight[0][i] * p->weight[1][j] * p->weight[2][l];
    return hierarchy_number(h, 0, at);
}

void long_range_anterpolate(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                            double *charge)
{
    const int points = h->window->points;
    for (size_t a = 0; a < n; a++) {
        const place p = place_of(h, position_A + 3 * a);
        for (int l = 0; l < points; l++)
            for (int j = 0; j < points; j++)
                for (int i = 0; i < points; i++) {
                    double weight;
                    const int64_t node = node_of(h, &p, i, j, l, &weight);
                    if (node >= 0)
                        charge[node] += weight * charge_e[a];
                }
    }
}

double long_range_interpolate(const hierarchy *h, const double *potential, const double point_A[3])
{
    const int points = h->window->points;
    const place p = place_of(h, point_A);
    double sum = 0;
    for (int l = 0; l < points; l++)
        for (int j = 0; j < points; j++)
            for (int i = 0; i < points; i++) {
                double weight;
                const int64_t node = node_of(h, &p, i, j, l, &weight);
                if (node >= 0)
                    sum += weight * potential[node];
            }
    return sum;
}

/* ---- Between levels -------------------------------------------------------------------------- */

/* Node `number` of a level as indices. */
static void node_index(const hierarchy_level *level, int64_t number, int64_t i[3])
{
    i[0] = level->first[0] + number % level->n[0];
    i[1] = level->first[1] + number / level->n[0] % level->n[1];
    i[2] = level->first[2] + number / level->n[0] / level->n[1];
}

/* Calls for every fine node, by its number, in which coarse node `number` has a share. */
typedef void share_function(void *context, int64_t node, double weight);

static void share(const hierarchy *h, int fine, int64_t number, share_function *function, void *context)
{
    const int reach = h->window->points - 1;
    double along[2 * WINDOW_MOST_POINTS];
    int64_t m[3];
    for (int i = -reach; i <= reach; i++)
        along[i + reach] = window_two_scale(h->window, i);
    node_index(&h->level[fine + 1], number, m);
    for (int l = -reach; l <= reach; l++)
        for (int j = -reach; j <= reach; j++) {
            const double across = along[j + reach] * along[l + reach];
            for (int i = -reach; i <= reach && across != 0; i++) {
                const int64_t at[3] = {2 * m[0] + i, 2 * m[1] + j, 2 * m[2] + l};
                const int64_t node = along[i + reach] != 0 ? hierarchy_number(h, fine, at) : -1;
                if (node >= 0)
                    function(context, node, along[i + reach] * across);
            }
        }
}

typedef struct gathering {
    const double *fine;
    double sum;
} gathering;

static void gather(void *context, int64_t node, double weight)
{
    gathering *g = context;
    g->sum += weight * g->fine[node];
}

typedef struct scattering {
    double *fine, value;
} scattering;

static void scatter(void *context, int64_t node, double weight)
{
    const scattering *s = context;
    s->fine[node] += weight * s->value;
}

void long_range_restrict(const hierarchy *h, int fine, const double *fine_charge, double *coarse_charge)
{
    const int64_t nodes = hierarchy_nodes(&h->level[fine + 1]);
    for (int64_t number = 0; number < nodes; number++) {
        gathering g = {fine_charge, 0};
        share(h, fine, number, gather, &g);
        coarse_charge[number] = g.sum;
    }
}

void long_range_prolongate(const hierarchy *h, int fine, const double *coarse, double *fine_potential)
{
    const int64_t nodes = hierarchy_nodes(&h->level[fine + 1]);
    for (int64_t number = 0; number < nodes; number++) {
        scattering s = {fine_potential, coarse[number]};
        share(h, fine, number, scatter, &s);
    }
}

/* ---- On a level ------------------------------------------------------------------------------ */

/* Weights by displacement, reach[m] nodes to either side along axis m. */
typedef struct stencil {
    int64_t reach[3];
    double *weight;
} stencil;

static ley_status make_stencil(stencil *s, ley_error *error)
{
    const size_t count = (size_t)((2 * s->reach[0] + 1) * (2 * s->reach[1] + 1) * (2 * s->reach[2] + 1));
    s->weight = calloc(count, sizeof *s->weight);
    return s->weight != NULL ? LEY_OK : ley_fail_memory(error, count * sizeof *s->weight, "a mesh's weights");
}

static double *stencil_weight(const stencil *s, const int64_t d[3])
{
    const int64_t *reach = s->reach;
    return &s->weight[((d[2] + reach[2]) * (2 * reach[1] + 1) + d[1] + reach[1]) * (2 * reach[0] + 1) + d[0] +
                      reach[0]];
}

/* Along one axis, of the node `at` and those to either side of it: their places in the array, or -1
 * where there is none. */
static void axis_places(const hierarchy *h, int level, int axis, int64_t at, int64_t reach, int64_t *near)
{
    const int64_t n = h->level[level].n[axis];
    for (int64_t d = -reach; d <= reach; d++) {
        const int64_t to = at + d;
        if (h->cell.periodic[axis])
            near[d + reach] = (to % n + n) % n;
        else
            near[d + reach] = to >= 0 && to < n ? to : -1;
    }
}

/* What all charges within reach do to a node, whose neighbours along each axis are given. */
static double convolve(const hierarchy_level *level, const stencil *s, const double *charge, int64_t *const near[3])
{
    const double *weight = s->weight;
    const int64_t width = 2 * s->reach[0] + 1;
    double sum = 0;
    for (int64_t l = 0; l <= 2 * s->reach[2]; l++)
        for (int64_t j = 0; j <= 2 * s->reach[1]; j++, weight += width) {
            if (near[2][l] < 0 || near[1][j] < 0)
                continue;
            const double *row = charge + (near[2][l] * level->n[1] + near[1][j]) * level->n[0];
            for (int64_t i = 0; i < width; i++)
                if (near[0][i] >= 0)
                    sum += weight[i] * row[near[0][i]];
        }
    return sum;
}

typedef struct convolution {
    const hierarchy *h;
    int level;
    const stencil *s;
    const double *charge;
    double *potential;
    atomic_bool lacks_memory;
} convolution;

/* Rows of nodes. */
static void convolve_rows(void *context, size_t first, size_t last)
{
    convolution *c = context;
    const int64_t *n = c->h->level[c->level].n, *reach = c->s->reach;
    const int64_t longest = 2 * (reach[0] + reach[1] + reach[2]) + 1;
    int64_t *near[3] = {calloc(3 * (size_t)longest, sizeof *near[0])};
    if (near[0] == NULL) {
        atomic_store(&c->lacks_memory, true);
        return;
    }
    near[1] = near[0] + longest;
    near[2] = near[1] + longest;
    for (int64_t row = (int64_t)first; row < (int64_t)last; row++) {
        axis_places(c->h, c->level, 2, row / n[1], reach[2], near[2]);
        axis_places(c->h, c->level, 1, row % n[1], reach[1], near[1]);
        for (int64_t i = 0; i < n[0]; i++) {
            axis_places(c->h, c->level, 0, i, reach[0], near[0]);
            c->potential[row * n[0] + i] = convolve(&c->h->level[c->level], c->s, c->charge, near);
        }
    }
    free(near[0]);
}

/* The sum over all nodes within the stencil's reach, at every node, on all cores. */
static ley_status convolve_all(const hierarchy *h, int level, const stencil *s, const double *charge, double *potential,
                               ley_error *error)
{
    convolution c = {.h = h, .level = level, .s = s, .charge = charge, .potential = potential};
    parallel_ranges((size_t)(h->level[level].n[1] * h->level[level].n[2]), convolve_rows, &c);
    return atomic_load(&c.lacks_memory) ? ley_fail_memory(error, sizeof c, "a mesh's neighbours") : LEY_OK;
}

ley_status long_range_cutoff(const hierarchy *h, int level, const double *charge, double *potential, ley_error *error)
{
    stencil s = {{0}, NULL};
    int64_t d[3];
    hierarchy_reach(h, s.reach);
    ley_status status = make_stencil(&s, error);
    if (status != LEY_OK)
        return status;
    for (d[2] = -s.reach[2]; d[2] <= s.reach[2]; d[2]++)
        for (d[1] = -s.reach[1]; d[1] <= s.reach[1]; d[1]++)
            for (d[0] = -s.reach[0]; d[0] <= s.reach[0]; d[0]++) {
                const double i[3] = {(double)d[0], (double)d[1], (double)d[2]};
                double d_A[3];
                hierarchy_displacement(h, level, i, d_A);
                *stencil_weight(&s, d) = hierarchy_weight(h, level, cell_length(d_A));
            }
    status = convolve_all(h, level, &s, charge, potential, error);
    free(s.weight);
    return status;
}

/* The weights of all pairs of the top level. Along a periodic axis each node counts once, with all
 * of its images, at displacements of 0 to n - 1. */
static void fill_top(const hierarchy *h, const lattice_sum *sum, stencil *s)
{
    const int level = h->levels - 1;
    int64_t d[3], low[3];
    for (int m = 0; m < 3; m++)
        low[m] = h->cell.periodic[m] ? 0 : -s->reach[m];
    for (d[2] = low[2]; d[2] <= s->reach[2]; d[2]++)
        for (d[1] = low[1]; d[1] <= s->reach[1]; d[1]++)
            for (d[0] = low[0]; d[0] <= s->reach[0]; d[0]++) {
                const double i[3] = {(double)d[0], (double)d[1], (double)d[2]};
                double d_A[3];
                hierarchy_displacement(h, level, i, d_A);
                *stencil_weight(s, d) = lattice_sum_at(sum, d_A);
            }
}

ley_status long_range_top(const hierarchy *h, const double *charge, double *potential, ley_error *error)
{
    const int level = h->levels - 1;
    const hierarchy_level *top = &h->level[level];
    const double origin_A[3] = {0}, unit = 1;
    const lattice_sum_options options = {.cell = h->cell,
                                         .kappa_per_A = h->kappa_per_A,
                                         .far = &top->split,
                                         .cutoff_A = top->cutoff_A,
                                         .without_mean = h->mean_per_A > 0};
    lattice_sum *sum = NULL;
    stencil s = {.reach = {top->n[0] - 1, top->n[1] - 1, top->n[2] - 1}};
    ley_status status = lattice_sum_create(&options, 1, origin_A, &unit, &sum, error);
    if (status == LEY_OK)
        status = make_stencil(&s, error);
    if (status == LEY_OK) {
        fill_top(h, sum, &s);
        status = convolve_all(h, level, &s, charge, potential, error);
    }
    free(s.weight);
    lattice_sum_destroy(sum);
    return status;
}

/* ---- By transforms --------------------------------------------------------------------------- */

static const bool all_axes[3] = {true, true, true};

/* The kernel: along open axes it is the same on both sides, and has been made on the first one. */
static void fill_kernel(const hierarchy *h, const int64_t n[3], fourier_number *kernel)
{
    const bool *periodic = h->cell.periodic;
    int64_t m[3], first[3];
    size_t at = 0;
    for (m[2] = 0; m[2] < n[2]; m[2]++)
        for (m[1] = 0; m[1] < n[1]; m[1]++)
            for (m[0] = 0; m[0] < n[0]; m[0]++, at++) {
                for (int axis = 0; axis < 3; axis++)
                    first[axis] = !periodic[axis] && 2 * m[axis] > n[axis] ? n[axis] - m[axis] : m[axis];
                const size_t same = (size_t)((first[2] * n[1] + first[1]) * n[0] + first[0]);
                kernel[at].real = same < at ? kernel[same].real : influence_kernel(h, n, m);
            }
}

/* Multiplies by the window's factor along one axis. */
static void apply_factor(const hierarchy *h, const int64_t n[3], int axis, fourier_number *influence)
{
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1], count = n[0] * n[1] * n[2];
    for (int64_t m = 0; m < n[axis]; m++) {
        const double factor = influence_factor(h->window, m, n[axis]);
        for (int64_t block = m * stride; block < count; block += n[axis] * stride)
            for (int64_t i = block; i < block + stride; i++)
                influence[i].real *= factor;
    }
}

/* The influence function: the kernel, transformed along open axes, times the window's factors. */
static ley_status make_influence(const hierarchy *h, const int64_t n[3], fourier_number *influence, ley_error *error)
{
    const bool *periodic = h->cell.periodic, open[3] = {!periodic[0], !periodic[1], !periodic[2]};
    fill_kernel(h, n, influence);
    const ley_status status = fourier_transform(influence, n, open, false, error);
    for (int axis = 0; axis < 3; axis++)
        apply_factor(h, n, axis, influence);
    return status;
}

/* The mesh in the padded one, or back. */
static void copy_nodes(const hierarchy *h, const int64_t n[3], fourier_number *padded, double *nodes, bool back)
{
    const int64_t *own = h->level[0].n;
    for (int64_t l = 0; l < own[2]; l++)
        for (int64_t j = 0; j < own[1]; j++)
            for (int64_t i = 0; i < own[0]; i++) {
                fourier_number *there = &padded[(l * n[1] + j) * n[0] + i];
                double *here = &nodes[(l * own[1] + j) * own[0] + i];
                if (back)
                    *here = there->real;
                else
                    there->real = *here;
            }
}

ley_status long_range_transform(const hierarchy *h, const double *charge, double *potential, ley_error *error)
{
    int64_t n[3];
    influence_extent(h, n);
    const size_t count = (size_t)(n[0] * n[1] * n[2]);
    fourier_number *values = calloc(count, sizeof *values), *influence = calloc(count, sizeof *influence);
    ley_status status = LEY_OK;
    if (values == NULL || influence == NULL)
        status = ley_fail_memory(error, 2 * count * sizeof *values, "a mesh's transform");
    if (status == LEY_OK)
        status = make_influence(h, n, influence, error);
    if (status == LEY_OK) {
        memcpy(potential, charge, (size_t)hierarchy_nodes(&h->level[0]) * sizeof *potential);
        copy_nodes(h, n, values, potential, false);
        status = fourier_transform(values, n, all_axes, false, error);
    }
    if (status == LEY_OK) {
        for (size_t i = 0; i < count; i++) {
            values[i].real *= influence[i].real;
            values[i].imaginary *= influence[i].real;
        }
        status = fourier_transform(values, n, all_axes, true, error);
    }
    if (status == LEY_OK)
        copy_nodes(h, n, values, potential, true);
    free(values);
    free(influence);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* By all pairs of its nodes, or by transforms. */
static ley_status solve_top(const hierarchy *h, const double *charge, double *potential, ley_error *error)
{
    hierarchy top;
    if (h->solver != HIERARCHY_MIXED)
        return long_range_top(h, charge, potential, error);
    hierarchy_top(h, &top);
    return long_range_transform(&top, charge, potential, error);
}

/* Down to the top level and up again. */
static ley_status solve_levels(const hierarchy *h, const double *charge, double *potential, ley_error *error)
{
    double *q[HIERARCHY_MOST_LEVELS] = {NULL}, *e[HIERARCHY_MOST_LEVELS] = {NULL};
    const int top = h->levels - 1;
    ley_status status = LEY_OK;
    for (int k = 0; k <= top && status == LEY_OK; k++) {
        const size_t nodes = (size_t)hierarchy_nodes(&h->level[k]);
        q[k] = calloc(nodes, sizeof *q[k]);
        e[k] = calloc(nodes, sizeof *e[k]);
        if (q[k] == NULL || e[k] == NULL)
            status = ley_fail_memory(error, 2 * nodes * sizeof *q[k], "a level's nodes");
        else if (k == 0)
            memcpy(q[k], charge, nodes * sizeof *q[k]);
        else
            long_range_restrict(h, k - 1, q[k - 1], q[k]);
        if (status == LEY_OK)
            status = k < top ? long_range_cutoff(h, k, q[k], e[k], error) : solve_top(h, q[k], e[k], error);
    }
    for (int k = top - 1; k >= 0 && status == LEY_OK; k--)
        long_range_prolongate(h, k, e[k + 1], e[k]);
    if (status == LEY_OK)
        memcpy(potential, e[0], (size_t)hierarchy_nodes(&h->level[0]) * sizeof *potential);
    for (int k = 0; k <= top; k++) {
        free(q[k]);
        free(e[k]);
    }
    return status;
}

ley_status long_range_solve(const hierarchy *h, const double *charge, double *potential, ley_error *error)
{
    return h->solver == HIERARCHY_FOURIER ? long_range_transform(h, charge, potential, error)
                                          : solve_levels(h, charge, potential, error);
}

typedef struct short_sum {
    const hierarchy *h;
    double r_min_A, value;
} short_sum;

static void add_short(void *context, const double image_A[3])
{
    short_sum *s = context;
    const hierarchy_level *level = &s->h->level[0];
    const double r_A = cell_length(image_A), least = fmax(r_A, s->r_min_A) / level->cutoff_A;
    s->value += (splitting_whole(&level->split, least) - splitting_gamma(&level->split, r_A / level->cutoff_A)) /
                level->cutoff_A;
}

double long_range_short(const hierarchy *h, size_t n, const double *position_A, const double *charge_e, double r_min_A,
                        const double point_A[3])
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double x_A[3] = {point_A[0] - position_A[3 * j], point_A[1] - position_A[3 * j + 1],
                               point_A[2] - position_A[3 * j + 2]};
        short_sum s = {h, r_min_A, 0};
        cell_images(&h->cell, x_A, h->level[0].cutoff_A, add_short, &s);
        sum += charge_e[j] * s.value;
    }
    return sum;
}

static ley_status check_charges(const hierarchy *h, size_t n, const double *charge_e, ley_error *error)
{
    double total = 0, magnitude = 0;
    for (size_t j = 0; j < n; j++) {
        total += charge_e[j];
        magnitude += fabs(charge_e[j]);
    }
    return hierarchy_check_charge(h, total, magnitude, error);
}

static ley_status far_potential(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                                size_t points, const double *point_A, double *far, ley_error *error)
{
    const size_t nodes = (size_t)hierarchy_nodes(&h->level[0]);
    double *charge = calloc(nodes, sizeof *charge), *potential = calloc(nodes, sizeof *potential), total_e = 0;
    ley_status status = LEY_OK;
    if (charge == NULL || potential == NULL)
        status = ley_fail_memory(error, 2 * nodes * sizeof *charge, "a mesh");
    if (status == LEY_OK) {
        long_range_anterpolate(h, n, position_A, charge_e, charge);
        status = long_range_solve(h, charge, potential, error);
    }
    for (size_t j = 0; j < n; j++)
        total_e += charge_e[j];
    for (size_t i = 0; i < points && status == LEY_OK; i++)
        far[i] = long_range_interpolate(h, potential, point_A + 3 * i) + total_e * h->mean_per_A;
    free(charge);
    free(potential);
    return status;
}

ley_status long_range_potential(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                                double r_min_A, size_t points, const double *point_A, double *far, double *near,
                                ley_error *error)
{
    ley_status status = check_charges(h, n, charge_e, error);
    if (status == LEY_OK && far != NULL)
        status = far_potential(h, n, position_A, charge_e, points, point_A, far, error);
    for (size_t i = 0; i < points && near != NULL && status == LEY_OK; i++)
        near[i] = long_range_short(h, n, position_A, charge_e, r_min_A, point_A + 3 * i);
    return status;
}
