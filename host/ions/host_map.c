/* The map that the host searches, in floats as devices do. */
#include "for_this_cpu.h"
#include "ions/bricks.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>

/* ---- The solute ------------------------------------------------------------------------------ */

typedef struct masking {
    host_map *map;
    const ions_spheres *spheres;
    int64_t reach[3];
} masking;

/* Whether a node is to be left out because of an atom. */
static bool is_within(const masking *k, size_t i, int64_t x, int64_t y, int64_t z)
{
    const ions_spheres *s = k->spheres;
    double place_A[3];
    ions_grid_place_A(k->map->map.grid, (const int64_t[3]){x, y, z}, place_A);
    const double dx = place_A[0] - s->x_A[i], dy = place_A[1] - s->y_A[i], dz = place_A[2] - s->z_A[i];
    return dx * dx + dy * dy + dz * dz <= s->from_A * s->from_A;
}

/* The nodes of a row between two places, of which rounding may have taken one too many. */
static void leave_out_row(const masking *k, size_t i, double from, double to, int64_t y, int64_t z)
{
    const ions_grid *g = k->map->map.grid;
    const int64_t row = (z / BRICK * g->bricks[1] + y / BRICK) * g->bricks[0];
    const int in_brick = (int)((z % BRICK * BRICK + y % BRICK) * BRICK);
    int64_t low = (int64_t)ceil(fmax(from, 0)), high = (int64_t)floor(fmin(to, (double)(g->n[0] - 1)));
    if (low <= high && !is_within(k, i, low, y, z))
        low++;
    if (low <= high && !is_within(k, i, high, y, z))
        high--;
    for (int64_t x = low; x <= high; x++)
        k->map->bricks[(row + x / BRICK) * BRICK_NODES + in_brick + x % BRICK] = NAN;
}

/* A layer of bricks along z is a thread's: no two write to the same. */
static void leave_out_layers(void *context, size_t first, size_t last)
{
    const double rounding = 1e-6;
    const masking *k = context;
    const ions_grid *g = k->map->map.grid;
    const double(*m)[3] = g->metric, radius = k->spheres->from_A / g->h_A + rounding;
    const int64_t least_z = (int64_t)first * BRICK,
                  most_z = (int64_t)last * BRICK < g->n[2] ? (int64_t)last * BRICK - 1 : g->n[2] - 1;
    for (size_t i = 0; i < k->spheres->n; i++) {
        double at[3];
        ions_grid_in_nodes(g, (const double[3]){k->spheres->x_A[i], k->spheres->y_A[i], k->spheres->z_A[i]}, at);
        int64_t z0 = (int64_t)floor(at[2]) - k->reach[2], z1 = (int64_t)ceil(at[2]) + k->reach[2];
        int64_t y0 = (int64_t)floor(at[1]) - k->reach[1], y1 = (int64_t)ceil(at[1]) + k->reach[1];
        z0 = z0 > least_z ? z0 : least_z;
        z1 = z1 < most_z ? z1 : most_z;
        y0 = y0 > 0 ? y0 : 0;
        y1 = y1 < g->n[1] - 1 ? y1 : g->n[1] - 1;
        for (int64_t z = z0; z <= z1; z++)
            for (int64_t y = y0; y <= y1; y++) {
                const double dy = (double)y - at[1], dz = (double)z - at[2], b = m[0][1] * dy + m[0][2] * dz;
                const double c = m[1][1] * dy * dy + m[2][2] * dz * dz + 2 * m[1][2] * dy * dz;
                const double rest = b * b - c + radius * radius;
                if (rest >= 0)
                    leave_out_row(k, i, at[0] - b - sqrt(rest), at[0] - b + sqrt(rest), y, z);
            }
    }
}

static ley_status mask(ions_map *map, const ions_spheres *spheres, ley_error *error)
{
    masking k = {.map = (host_map *)map, .spheres = spheres};
    (void)error;
    ions_grid_reach(map->grid, spheres->from_A / map->grid->h_A, k.reach);
    parallel_ranges((size_t)map->grid->bricks[2], leave_out_layers, &k);
    return LEY_OK;
}

/* ---- Ions ------------------------------------------------------------------------------------ */

typedef struct updating {
    host_map *map;
    const ions_effect *effects;
    const ions_work *work;
    ions_record *records;
} updating;

/* One effect upon a brick whose first node is at `at`, in open space. */
FOR_THIS_CPU static void add_effect(const ions_grid *g, const ions_effect *e, const float at[3], float *values)
{
    const float m11 = (float)g->metric[1][1], m22 = (float)g->metric[2][2], m01 = (float)(2 * g->metric[0][1]),
                m02 = (float)(2 * g->metric[0][2]), m12 = (float)(2 * g->metric[1][2]), charge = e->charge,
                radius2 = e->radius2, x0 = at[0] - e->at[0];
    for (int row = 0; row < BRICK * BRICK; row++) {
        float *v = values + row * BRICK;
        const float y = at[1] + (float)(row % BRICK) - e->at[1], z = at[2] + (float)(row / BRICK) - e->at[2];
        const float across = m11 * y * y + m22 * z * z + m12 * y * z, along = m01 * y + m02 * z;
        for (int i = 0; i < BRICK; i++) {
            const float x = x0 + (float)i, d2 = x * x + along * x + across;
            const float sum = v[i] + charge * (1.0f / sqrtf(d2 > 0.25f ? d2 : 0.25f));
            v[i] = d2 < radius2 ? NAN : sum;
        }
    }
}

/* The same in a periodic cell: of images the table has the potential. */
static void add_periodic(const ions_grid *g, const ions_effect *e, const float *table, const int64_t at[3],
                         float *values)
{
    const double(*m)[3] = g->metric;
    int64_t ion[3];
    for (int axis = 0; axis < 3; axis++)
        ion[axis] = (int64_t)e->at[axis];
    for (int local = 0; local < BRICK_NODES; local++) {
        const int64_t d[3] = {at[0] + local % BRICK - ion[0], at[1] + local / BRICK % BRICK - ion[1],
                              at[2] + local / (BRICK * BRICK) - ion[2]};
        const double x = (double)d[0], y = (double)d[1], z = (double)d[2];
        const double d2 =
            x * x + m[1][1] * y * y + m[2][2] * z * z + 2 * (m[0][1] * x * y + m[0][2] * x * z + m[1][2] * y * z);
        if (d2 < (double)e->radius2)
            values[local] = NAN;
        else if (e->charge != 0 && !isnan(values[local])) {
            int64_t w[3];
            for (int axis = 0; axis < 3; axis++)
                w[axis] = ((d[axis] % g->n[axis]) + g->n[axis]) % g->n[axis];
            values[local] += e->charge * table[(w[2] * g->n[1] + w[1]) * g->n[0] + w[0]];
        }
    }
}

static int first_of(const float *values, float value)
{
    int i = 0;
    while (i + 1 < BRICK_NODES && values[i] != value)
        i++;
    return i;
}

FOR_THIS_CPU static ions_record look_at(const float *values)
{
    float least[BRICK], most[BRICK], count[BRICK];
    for (int k = 0; k < BRICK; k++) {
        least[k] = INFINITY;
        most[k] = -INFINITY;
        count[k] = 0;
    }
    for (int i = 0; i < BRICK_NODES; i += BRICK)
        for (int k = 0; k < BRICK; k++) {
            const float v = values[i + k];
            least[k] = v < least[k] ? v : least[k];
            most[k] = v > most[k] ? v : most[k];
            count[k] += v == v ? 1.0f : 0.0f;
        }
    ions_record r = {.least = INFINITY, .most = -INFINITY};
    for (int k = 0; k < BRICK; k++) {
        r.least = least[k] < r.least ? least[k] : r.least;
        r.most = most[k] > r.most ? most[k] : r.most;
        r.count += count[k];
    }
    return r;
}

static void update_bricks(void *context, size_t first, size_t last)
{
    const updating *u = context;
    const ions_grid *g = u->map->map.grid;
    for (size_t i = first; i < last; i++) {
        const ions_work *w = &u->work[i];
        const int64_t at[3] = {w->brick % g->bricks[0] * BRICK, w->brick / g->bricks[0] % g->bricks[1] * BRICK,
                               w->brick / (g->bricks[0] * g->bricks[1]) * BRICK};
        const float corner[3] = {(float)at[0], (float)at[1], (float)at[2]};
        float *values = u->map->bricks + (size_t)w->brick * BRICK_NODES;
        for (int k = w->first; k < w->last; k++)
            if (g->is_periodic)
                add_periodic(g, &u->effects[k], u->map->table, at, values);
            else
                add_effect(g, &u->effects[k], corner, values);
        u->records[i] = look_at(values);
        if (u->records[i].count > 0) {
            u->records[i].at_least = (float)first_of(values, u->records[i].least);
            u->records[i].at_most = (float)first_of(values, u->records[i].most);
        }
    }
}

static ley_status update(ions_map *map, const ions_effect *effects, size_t n, const ions_work *work,
                         ions_record *records, ley_error *error)
{
    updating u = {(host_map *)map, effects, work, records};
    (void)error;
    parallel_ranges(n, update_bricks, &u);
    return LEY_OK;
}

static ley_status list(ions_map *map, size_t n, const int32_t *bricks, const ions_query *q, ions_found *found,
                       size_t *total, ley_error *error)
{
    const host_map *m = (const host_map *)map;
    (void)error;
    *total = 0;
    for (size_t b = 0; b < n; b++)
        for (int local = 0; local < BRICK_NODES; local++) {
            const float value = m->bricks[(size_t)bricks[b] * BRICK_NODES + (size_t)local];
            if (!(q->sign * value <= q->limit))
                continue;
            const int64_t number = ions_grid_number(map->grid, bricks[b], local);
            if (number < q->first || number > q->last)
                continue;
            if (*total < q->most)
                found[*total] = (ions_found){.brick = bricks[b], .local = local, .value = value};
            ++*total;
        }
    return LEY_OK;
}

void host_map_make(const ions_grid *g, float *bricks, const float *table, host_map *made)
{
    *made = (host_map){.map = {.name = "host", .grid = g, .mask = mask, .update = update, .list = list},
                       .bricks = bricks,
                       .table = table};
}
