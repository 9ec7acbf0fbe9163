#include "ions/host_map.h"

#include "error.h"
#include "for_this_cpu.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- The solute ------------------------------------------------------------------------------
 *
 * Bricks in parts of 4 x 4 x 4 nodes: an atom that all of a part is near to leaves it out at once,
 * which is what most atoms do. */

enum { PART = 4, PARTS = BRICK / PART };

/* What is near a brick, and then near a part of it. */
typedef struct masking {
    host_map *map;
    const ions_spheres *spheres;
    atomic_bool has_failed;
} masking;

typedef struct close_atoms {
    size_t count, room, *which;
} close_atoms;

static bool find_close(const masking *m, const double low_A[3], const double high_A[3], close_atoms *close)
{
    double from_A[3], to_A[3];
    for (int axis = 0; axis < 3; axis++) {
        from_A[axis] = low_A[axis] - 1.000001 * m->spheres->from_A;
        to_A[axis] = high_A[axis] + 1.000001 * m->spheres->from_A;
    }
    close->count = bins_in_box(m->spheres->bins, from_A, to_A, close->room, close->which);
    if (close->count <= close->room)
        return true;
    size_t *more = realloc(close->which, 2 * close->count * sizeof *more);
    if (more == NULL)
        return false;
    close->which = more;
    close->room = 2 * close->count;
    close->count = bins_in_box(m->spheres->bins, from_A, to_A, close->room, close->which);
    return true;
}

static bool is_within(const ions_spheres *s, size_t atom, const double place_A[3])
{
    double *const *at_A = s->bins->at_A;
    const double dx = place_A[0] - at_A[0][atom], dy = place_A[1] - at_A[1][atom], dz = place_A[2] - at_A[2][atom];
    return dx * dx + dy * dy + dz * dz <= s->from_A * s->from_A;
}

/* Of the atoms, those that are near some of a part, in near[]; *is_out: one is near all of it. */
static size_t near_part(const ions_spheres *s, const close_atoms *close, const double low_A[3], const double high_A[3],
                        size_t *near, bool *is_out)
{
    const double reach2 = s->from_A * s->from_A, surely = 1 - 1e-9;
    double *const *at_A = s->bins->at_A;
    size_t count = 0;
    for (size_t i = 0; i < close->count; i++) {
        const size_t atom = close->which[i];
        double least2 = 0, most2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double below = low_A[axis] - at_A[axis][atom], above = at_A[axis][atom] - high_A[axis];
            const double least = below > 0 ? below : above > 0 ? above : 0, most = -below > -above ? -below : -above;
            least2 += least * least;
            most2 += most * most;
        }
        *is_out = most2 <= reach2 * surely;
        if (*is_out)
            return 0;
        near[count] = atom;
        count += least2 * surely <= reach2;
    }
    return count;
}

/* Node by node; the atom that was near the last one is asked first. */
static void leave_out_nodes(const masking *m, const int64_t first[3], const int64_t last[3], size_t count, size_t *near,
                            float *values)
{
    for (int64_t z = first[2]; z <= last[2]; z++)
        for (int64_t y = first[1]; y <= last[1]; y++)
            for (int64_t x = first[0]; x <= last[0]; x++) {
                double place_A[3];
                size_t i = 0;
                ions_grid_place_A(m->map->map.grid, (const int64_t[3]){x, y, z}, place_A);
                while (i < count && !is_within(m->spheres, near[i], place_A))
                    i++;
                if (i == count)
                    continue;
                values[(z % BRICK * BRICK + y % BRICK) * BRICK + x % BRICK] = NAN;
                const size_t atom = near[i];
                near[i] = near[0];
                near[0] = atom;
            }
}

static void leave_out_part(const masking *m, const int64_t first[3], const close_atoms *close, size_t *near,
                           float *values)
{
    const ions_grid *g = m->map->map.grid;
    int64_t last[3];
    double low_A[3], high_A[3];
    bool is_out = false;
    for (int axis = 0; axis < 3; axis++) {
        last[axis] = first[axis] + PART - 1 < g->n[axis] - 1 ? first[axis] + PART - 1 : g->n[axis] - 1;
        if (first[axis] > last[axis])
            return;
    }
    ions_grid_box(g, first, last, low_A, high_A);
    const size_t count = near_part(m->spheres, close, low_A, high_A, near, &is_out);
    if (!is_out && count > 0)
        leave_out_nodes(m, first, last, count, near, values);
    for (int64_t z = first[2]; is_out && z <= last[2]; z++)
        for (int64_t y = first[1]; y <= last[1]; y++)
            for (int64_t x = first[0]; x <= last[0]; x++)
                values[(z % BRICK * BRICK + y % BRICK) * BRICK + x % BRICK] = NAN;
}

static void leave_out_bricks(void *context, size_t first, size_t last)
{
    masking *m = context;
    const ions_grid *g = m->map->map.grid;
    close_atoms close = {.count = 0};
    size_t *near = NULL, room = 0;
    for (size_t b = first; b < last && !atomic_load(&m->has_failed); b++) {
        int64_t at[3];
        double low_A[3], high_A[3];
        ions_grid_corner(g, (int64_t)b, at);
        const int64_t end[3] = {at[0] + BRICK - 1, at[1] + BRICK - 1, at[2] + BRICK - 1};
        ions_grid_box(g, at, end, low_A, high_A);
        bool is_there = find_close(m, low_A, high_A, &close);
        if (is_there && close.count > room) {
            free(near);
            room = 2 * close.count;
            near = malloc(room * sizeof *near);
            is_there = near != NULL;
        }
        if (!is_there)
            atomic_store(&m->has_failed, true);
        for (int part = 0; is_there && close.count > 0 && part < PARTS * PARTS * PARTS; part++) {
            const int64_t from[3] = {at[0] + part % PARTS * PART, at[1] + part / PARTS % PARTS * PART,
                                     at[2] + part / (PARTS * PARTS) * PART};
            leave_out_part(m, from, &close, near, m->map->bricks + b * BRICK_NODES);
        }
    }
    free(close.which);
    free(near);
}

static ley_status mask(ions_map *map, const ions_spheres *spheres, ley_error *error)
{
    masking m = {.map = (host_map *)map, .spheres = spheres};
    if (spheres->bins->n > 0)
        parallel_ranges((size_t)map->grid->brick_count, leave_out_bricks, &m);
    return atomic_load(&m.has_failed) ? ley_fail_memory(error, spheres->bins->n * sizeof(size_t), "atoms next to nodes")
                                      : LEY_OK;
}

/* ---- Ions ------------------------------------------------------------------------------------ */

typedef struct updating {
    host_map *map;
    const ions_effect *effects;
    const ions_work *work;
    ions_record *records;
} updating;

/* One effect upon a brick whose first node is at `at`, in open space. */
static inline __attribute__((always_inline)) void add_terms(const ions_grid *g, bool is_square, const ions_effect *e,
                                                            const float at[3], float *values)
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
            const float bounded = d2 > 0.25f ? d2 : 0.25f,
                        sum = v[i] + charge * (1.0f / (is_square ? bounded : sqrtf(bounded)));
            v[i] = d2 < radius2 ? NAN : sum;
        }
    }
}

FOR_THIS_CPU static void add_effect(const ions_grid *g, const ions_effect *e, const float at[3], float *values)
{
    if (g->is_square)
        add_terms(g, true, e, at, values);
    else
        add_terms(g, false, e, at, values);
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
    float least[BRICK], most[BRICK], next_least[BRICK], next_most[BRICK], count[BRICK];
    for (int k = 0; k < BRICK; k++) {
        least[k] = next_least[k] = INFINITY;
        most[k] = next_most[k] = -INFINITY;
        count[k] = 0;
    }
    for (int i = 0; i < BRICK_NODES; i += BRICK)
        for (int k = 0; k < BRICK; k++) {
            const float v = values[i + k], upper = v < least[k] ? least[k] : v, lower = v > most[k] ? most[k] : v;
            next_least[k] = upper < next_least[k] ? upper : next_least[k];
            next_most[k] = lower > next_most[k] ? lower : next_most[k];
            least[k] = v < least[k] ? v : least[k];
            most[k] = v > most[k] ? v : most[k];
            count[k] += v == v ? 1.0f : 0.0f;
        }
    ions_record r = {.least = INFINITY, .most = -INFINITY, .next_least = INFINITY, .next_most = -INFINITY};
    for (int k = 0; k < BRICK; k++) {
        r.next_least = fminf(fminf(r.next_least, next_least[k]), fmaxf(r.least, least[k]));
        r.next_most = fmaxf(fmaxf(r.next_most, next_most[k]), fminf(r.most, most[k]));
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
        int64_t at[3];
        ions_grid_corner(g, w->brick, at);
        const float corner[3] = {(float)at[0], (float)at[1], (float)at[2]};
        float *values = u->map->bricks + (size_t)w->brick * BRICK_NODES;
        for (int k = w->first; k < w->last; k++)
            if (g->is_periodic)
                add_periodic(g, &u->effects[k], u->map->map.table, at, values);
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
    *made = (host_map){.map = {.name = "host", .grid = g, .table = table, .mask = mask, .update = update, .list = list},
                       .bricks = bricks};
}
