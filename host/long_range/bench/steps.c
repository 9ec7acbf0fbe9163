#include "long_range/bench/steps.h"

#include "fft.h"
#include "numerics/influence.h"

#include <math.h>
#include <stdlib.h>

static const double fma_of_pair = 6; /* its square, the function, the sum, beside the root */
enum { VALUE = sizeof(float), ATOM = 5 * sizeof(float), EIGHTH = 8 };

static double cube(double x)
{
    return x * x * x;
}

static double nodes_at(const hierarchy *h, int level)
{
    return (double)hierarchy_nodes(&h->level[level]);
}

/* Of levels [first, end). */
static double nodes_of(const hierarchy *h, int first, int end)
{
    double nodes = 0;
    for (int k = first; k < end; k++)
        nodes += nodes_at(h, k);
    return nodes;
}

double msm_node_pairs(const hierarchy *h, int level)
{
    const int64_t *n = h->level[level].n;
    int64_t reach[3];
    double pairs = 0;
    hierarchy_reach(h, reach);
    for (int64_t z = -reach[2]; z <= reach[2]; z++)
        for (int64_t y = -reach[1]; y <= reach[1]; y++)
            for (int64_t x = -reach[0]; x <= reach[0]; x++) {
                double d_A[3];
                hierarchy_displacement(h, level, (const double[3]){(double)x, (double)y, (double)z}, d_A);
                if (hierarchy_weight(h, level, cell_length(d_A)) != 0)
                    pairs += fmax((double)(n[0] - llabs(x)), 0) * fmax((double)(n[1] - llabs(y)), 0) *
                             fmax((double)(n[2] - llabs(z)), 0);
            }
    return pairs;
}

static step_needs cutoff_needs_of(const hierarchy *h)
{
    step_needs needs = {0, 2 * VALUE * nodes_of(h, 0, h->levels - 1)};
    for (int k = 0; k + 1 < h->levels; k++)
        needs.multiply_adds += msm_node_pairs(h, k);
    return needs;
}

/* Values of a real mesh: 5/2 n log2 n operations, two of which are a multiply-add; rows without
 * charges, or that nobody wants, are left out. */
static step_needs transform_needs(const hierarchy *h)
{
    int64_t n[3];
    influence_extent(h, n);
    const double values = (double)n[0] * (double)n[1] * (double)n[2];
    const size_t all[3] = {(size_t)n[0], (size_t)n[1], (size_t)n[2]};
    size_t filled[3];
    for (int axis = 0; axis < 3; axis++)
        filled[axis] = (size_t)h->level[0].n[axis];
    const double bytes = fft_least_bytes(all, filled), share = bytes / fft_least_bytes(all, NULL);
    return (step_needs){1.25 * values * log2(values) * share, bytes};
}

/* Each wave twice, and the eighth of the influence function that mirrors leave. */
static step_needs product_needs(const hierarchy *h)
{
    int64_t n[3];
    influence_extent(h, n);
    const double waves = (double)(n[0] / 2 + 1) * (double)n[1] * (double)n[2];
    return (step_needs){2 * waves, waves * (4 * VALUE + 2.0 * VALUE / EIGHTH)};
}

/* Separably: planes of nodes for the points' planes, rows of them for their rows, then points. */
static step_needs interpolation_needs(const hierarchy *h, const ley_grid *points)
{
    const double count = (double)ley_grid_points(points), w = h->window->points,
                 x = fmin((double)h->level[0].n[0] / (double)points->n[0], 1),
                 y = fmin((double)h->level[0].n[1] / (double)points->n[1], 1);
    return (step_needs){count * w * (1 + x + x * y), VALUE * (2 * count + nodes_at(h, 0))};
}

step_needs msm_step_needs(msm_step step, const hierarchy *h, const ley_grid *points, int64_t atoms, double pairs)
{
    const int top = h->levels - 1;
    const double w = h->window->points, n = (double)atoms, nodes = nodes_at(h, 0);
    switch (step) {
    case MSM_ANTERPOLATION:
        return (step_needs){n * (cube(w) + 3 * w * w), ATOM * n + VALUE * nodes};
    case MSM_RESTRICTION:
        return (step_needs){nodes_of(h, 1, top + 1) * cube(w + 1),
                            VALUE * (nodes_of(h, 0, top) + nodes_of(h, 1, top + 1))};
    case MSM_LATTICE_CUTOFF:
        return cutoff_needs_of(h);
    case MSM_TOP_LEVEL:
        return (step_needs){nodes_at(h, top) * nodes_at(h, top), 2 * VALUE * nodes_at(h, top)};
    case MSM_PROLONGATION:
        return (step_needs){nodes_of(h, 0, top) * cube((w + 1) / 2),
                            VALUE * (2 * nodes_of(h, 0, top) + nodes_of(h, 1, top + 1))};
    case MSM_FORWARD:
    case MSM_BACK:
        return transform_needs(h);
    case MSM_PRODUCT:
        return product_needs(h);
    case MSM_INTERPOLATION:
        return interpolation_needs(h, points);
    case MSM_SHORT_RANGE:
        return (step_needs){fma_of_pair * pairs, VALUE * (double)ley_grid_points(points) + ATOM * n};
    default:
        return (step_needs){0, 0};
    }
}
