#include "ions/bricks.h"

#include "error.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of grids that are not cubic: what floats may be off by. */
static const double rounding = 1e-5;

ley_status ions_grid_make(const ley_grid *grid, double between_A, bool is_periodic, ions_grid *g, ley_error *error)
{
    double spacing_A[3];
    *g = (ions_grid){.grid = *grid, .is_periodic = is_periodic, .is_cubic = true, .brick_count = 1};
    ley_grid_spacing_A(grid, spacing_A);
    g->h_A = spacing_A[0];
    for (int i = 0; i < 3; i++) {
        g->n[i] = grid->n[i];
        g->bricks[i] = (grid->n[i] + BRICK - 1) / BRICK;
        g->brick_count *= g->bricks[i];
        for (int k = 0; k < 3; k++) {
            g->metric[i][k] = cell_dot(grid->step_A[i], grid->step_A[k]) / (g->h_A * g->h_A);
            g->is_cubic = g->is_cubic && fabs(g->metric[i][k] - (i == k)) < 1e-12;
        }
    }
    for (int i = 0; g->is_cubic && i < 9; i++)
        g->metric[i / 3][i % 3] = i % 4 == 0;
    const double steps = fmax(1, rint(between_A / g->h_A));
    g->between2 = g->is_cubic ? steps * steps - 0.5 : steps * steps * (1 - rounding);
    if (ley_grid_points(grid) > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%lld nodes, and at most 2147483647 can be searched: take a larger spacing, or less padding",
                        (long long)ley_grid_points(grid));
    return LEY_OK;
}

double ions_grid_distance2(const ions_grid *g, const double way[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += way[i] * g->metric[i][k] * way[k];
    return sum;
}

int64_t ions_grid_number(const ions_grid *g, int64_t brick, int local)
{
    int64_t at[3];
    ions_grid_corner(g, brick, at);
    return ((at[2] + local / (BRICK * BRICK)) * g->n[1] + at[1] + local / BRICK % BRICK) * g->n[0] + at[0] +
           local % BRICK;
}

void ions_grid_node(const ions_grid *g, int64_t number, int64_t node[3])
{
    node[0] = number % g->n[0];
    node[1] = number / g->n[0] % g->n[1];
    node[2] = number / (g->n[0] * g->n[1]);
}

void ions_grid_place_A(const ions_grid *g, const int64_t node[3], double place_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        place_A[axis] = 0;
        for (int i = 0; i < 3; i++)
            place_A[axis] += (double)node[i] * g->grid.step_A[i][axis];
    }
}

void ions_grid_corner(const ions_grid *g, int64_t brick, int64_t node[3])
{
    node[0] = brick % g->bricks[0] * BRICK;
    node[1] = brick / g->bricks[0] % g->bricks[1] * BRICK;
    node[2] = brick / (g->bricks[0] * g->bricks[1]) * BRICK;
}

void ions_grid_box(const ions_grid *g, const int64_t first[3], const int64_t last[3], double low_A[3], double high_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = INFINITY;
        high_A[axis] = -INFINITY;
    }
    for (int corner = 0; corner < 8; corner++) {
        int64_t node[3];
        double place_A[3];
        for (int axis = 0; axis < 3; axis++)
            node[axis] = (corner >> axis & 1) == 0 ? first[axis] : last[axis];
        ions_grid_place_A(g, node, place_A);
        for (int axis = 0; axis < 3; axis++) {
            low_A[axis] = fmin(low_A[axis], place_A[axis]);
            high_A[axis] = fmax(high_A[axis], place_A[axis]);
        }
    }
}

void ions_grid_in_nodes(const ions_grid *g, const double place_A[3], double at[3])
{
    const double(*s)[3] = g->grid.step_A;
    double volume = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = s[(i + 1) % 3], *b = s[(i + 2) % 3];
        const double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        volume = cell_dot(s[i], normal);
        at[i] = cell_dot(place_A, normal) / volume;
    }
}

void ions_grid_reach(const ions_grid *g, double radius, int64_t reach[3])
{
    const double(*s)[3] = g->grid.step_A;
    for (int i = 0; i < 3; i++) {
        const double *a = s[(i + 1) % 3], *b = s[(i + 2) % 3];
        const double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        reach[i] = (int64_t)ceil(radius * g->h_A * cell_length(normal) / fabs(cell_dot(s[i], normal))) + 1;
    }
}

/* ---- What is left out ------------------------------------------------------------------------ */

typedef struct placing {
    const ions_grid *grid;
    ions_spheres *spheres;
} placing;

static void put_in_nodes(void *context, size_t first, size_t last)
{
    const placing *p = context;
    double *const *at_A = p->spheres->bins->at_A;
    for (size_t i = first; i < last; i++) {
        double at[3];
        ions_grid_in_nodes(p->grid, (const double[3]){at_A[0][i], at_A[1][i], at_A[2][i]}, at);
        for (int axis = 0; axis < 3; axis++)
            p->spheres->in_nodes[i][axis] = (float)at[axis];
        p->spheres->in_nodes[i][3] = 0;
    }
}

ley_status ions_spheres_make(const ions_grid *g, size_t n, const double *const from_A[3], double reach_A,
                             ions_spheres *s, ley_error *error)
{
    double longest = 0;
    *s = (ions_spheres){.from_A = reach_A, .in_nodes = malloc((n + 1) * sizeof *s->in_nodes)};
    if (s->in_nodes == NULL)
        return ley_fail_memory(error, n * sizeof *s->in_nodes, "the atoms in nodes");
    const ley_status status = bins_create(n, from_A, reach_A, &s->bins, error);
    if (status != LEY_OK)
        return status;
    for (int axis = 0; axis < 3; axis++)
        longest = fmax(longest, (double)g->n[axis]);
    s->radius = reach_A / g->h_A - (2e-4 + 4e-7 * longest);
    parallel_ranges(n, put_in_nodes, &(placing){g, s});
    return LEY_OK;
}

void ions_spheres_free(ions_spheres *s)
{
    bins_destroy(s->bins);
    free(s->in_nodes);
}

/* ---- Bricks ---------------------------------------------------------------------------------- */

typedef struct filling {
    const ions_grid *grid;
    const float *values;
    float *bricks;
} filling;

static void fill_bricks(void *context, size_t first, size_t last)
{
    const filling *f = context;
    const int64_t *n = f->grid->n;
    for (size_t b = first; b < last; b++) {
        int64_t at[3];
        ions_grid_corner(f->grid, (int64_t)b, at);
        float *to = f->bricks + b * BRICK_NODES;
        const int64_t columns = n[0] - at[0] < BRICK ? n[0] - at[0] : BRICK;
        for (int row = 0; row < BRICK * BRICK; row++, to += BRICK) {
            const int64_t y = at[1] + row % BRICK, z = at[2] + row / BRICK;
            const int64_t filled = y < n[1] && z < n[2] ? columns : 0;
            if (filled > 0)
                memcpy(to, f->values + (z * n[1] + y) * n[0] + at[0], (size_t)filled * sizeof *to);
            for (int64_t i = filled; i < BRICK; i++)
                to[i] = NAN;
        }
    }
}

void ions_bricks_fill(const ions_grid *g, const float *values, float *bricks)
{
    filling f = {g, values, bricks};
    parallel_ranges((size_t)g->brick_count, fill_bricks, &f);
}
