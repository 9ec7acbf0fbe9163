#include "long_range/multilevel/lattice_layout.h"

#include "core/sizes.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

enum { SUB_CUBE = LEY_CUBE * LEY_CUBE * LEY_CUBE };

/* ---- Levels ---------------------------------------------------------------------------------- */

static ley_status add_level(lattice_layout *layout, int level, ley_error *error)
{
    int64_t nodes = SUB_CUBE;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = layout->levels[level].n[axis];
        if (n < 1)
            return ley_fail(error, LEY_ERROR_USAGE, "level %d of the meshes has %lld nodes along an axis", level,
                            (long long)n);
        layout->cubes[level][axis] = n < INT32_MAX ? ley_round_up(n, LEY_CUBE) / LEY_CUBE : n;
        if (!ley_multiply(nodes, layout->cubes[level][axis], &nodes))
            nodes = INT64_MAX;
    }
    if (nodes >= -LEY_NOWHERE || layout->first_node[level] > INT32_MAX - nodes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "level %d of the meshes has more nodes than a kernel can number",
                        level);
    layout->first_node[level + 1] = layout->first_node[level] + nodes;
    return LEY_OK;
}

ley_status lattice_layout_make(const lattice_level *levels, int count, lattice_layout *layout, ley_error *error)
{
    ley_status status = LEY_OK;
    *layout = (lattice_layout){.count = count};
    if (count < 1 || count > LATTICE_MOST_LEVELS)
        return ley_fail(error, LEY_ERROR_USAGE, "%d levels of meshes, not 1 to %d", count, LATTICE_MOST_LEVELS);
    for (int level = 0; level < count && status == LEY_OK; level++) {
        layout->levels[level] = levels[level];
        status = add_level(layout, level, error);
    }
    return status;
}

int64_t lattice_layout_bytes(const lattice_layout *layout)
{
    return layout->first_node[layout->count] * (int64_t)sizeof(float);
}

int64_t lattice_layout_node(const lattice_layout *layout, int level, int64_t x, int64_t y, int64_t z)
{
    const int64_t *cubes = layout->cubes[level];
    const int64_t cube = (z / LEY_CUBE * cubes[1] + y / LEY_CUBE) * cubes[0] + x / LEY_CUBE;
    return layout->first_node[level] + cube * SUB_CUBE + (z % LEY_CUBE * LEY_CUBE + y % LEY_CUBE) * LEY_CUBE +
           x % LEY_CUBE;
}

coordinate_table lattice_layout_array(const lattice_layout *layout, int level)
{
    const lattice_level *l = &layout->levels[level];
    return (coordinate_table){.n = {l->n[0], l->n[1], l->n[2]},
                              .periodic = {l->periodic[0], l->periodic[1], l->periodic[2]},
                              .in_cubes = true,
                              .pitch = {layout->cubes[level][0], layout->cubes[level][1]},
                              .first = layout->first_node[level]};
}

tiled_slab lattice_layout_slab(const lattice_layout *layout, int level)
{
    const int64_t *n = layout->levels[level].n;
    return (tiled_slab){.n = {n[0], n[1], n[2]}, .region = {LEY_CUBE, LEY_CUBE, LEY_CUBE}, .store = PADDED_FLOAT};
}

/* ---- Weights --------------------------------------------------------------------------------- */

double lattice_weight(const lattice_weights *w, int dx, int dy, int dz)
{
    const int d[3] = {dx, dy, dz};
    size_t at = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const int place = w->mirrored ? abs(d[axis]) : d[axis] + w->radius[axis];
        if (abs(d[axis]) > w->radius[axis])
            return 0;
        at = at * (size_t)LEY_ALONG(w->radius[axis], w->mirrored) + (size_t)place;
    }
    return w->values[at];
}

size_t lattice_weights_count(const lattice_weights *w)
{
    size_t count = 1;
    for (int axis = 0; axis < 3; axis++)
        count *= (size_t)LEY_ALONG(w->radius[axis], w->mirrored);
    return count;
}

/* Of nodes along an axis those that have a neighbour at this distance. */
static double neighbours(const lattice_level *level, int axis, int d)
{
    const double n = (double)level->n[axis];
    return level->periodic[axis] ? n : fmax(n - abs(d), 0);
}

double lattice_pairs(const lattice_weights *w, const lattice_level *level)
{
    double pairs = 0;
    for (int dz = -w->radius[2]; dz <= w->radius[2]; dz++)
        for (int dy = -w->radius[1]; dy <= w->radius[1]; dy++)
            for (int dx = -w->radius[0]; dx <= w->radius[0]; dx++)
                if (lattice_weight(w, dx, dy, dz) != 0)
                    pairs += neighbours(level, 0, dx) * neighbours(level, 1, dy) * neighbours(level, 2, dz);
    return pairs;
}

/* ---- In double precision --------------------------------------------------------------------- */

typedef struct referee {
    const lattice_layout *layout;
    const lattice_weights *weights;
    const float *charges;
    reference_value *values;
    int level;
} referee;

/* The node that an index along an axis means; -1: none. */
static int64_t node_at(const lattice_level *level, int axis, int64_t i)
{
    const int64_t n = level->n[axis];
    if (level->periodic[axis])
        return (i % n + n) % n;
    return i >= 0 && i < n ? i : -1;
}

/* What one charge adds to the nodes of a plane that is dz below it. */
static void add_charge(const referee *r, const int64_t at[3], int dz, int64_t plane, double charge)
{
    const lattice_level *level = &r->layout->levels[r->level];
    for (int dy = -r->weights->radius[1]; dy <= r->weights->radius[1]; dy++) {
        const int64_t y = node_at(level, 1, at[1] - dy);
        for (int dx = -r->weights->radius[0]; y >= 0 && dx <= r->weights->radius[0]; dx++) {
            const int64_t x = node_at(level, 0, at[0] - dx);
            if (x < 0)
                continue;
            reference_value *value = &r->values[lattice_layout_node(r->layout, r->level, x, y, plane)];
            const double term = level->scale * lattice_weight(r->weights, dx, dy, dz) * charge;
            value->value += term;
            value->absolute += fabs(term);
        }
    }
}

/* Item i is the i-th plane of nodes. */
static void sum_planes(void *context, size_t first, size_t last)
{
    const referee *r = context;
    const lattice_level *level = &r->layout->levels[r->level];
    for (int64_t plane = (int64_t)first; plane < (int64_t)last; plane++) {
        for (int64_t y = 0; y < level->n[1]; y++)
            for (int64_t x = 0; x < level->n[0]; x++)
                r->values[lattice_layout_node(r->layout, r->level, x, y, plane)] = (reference_value){0, 0, 0, 0};
        for (int dz = -r->weights->radius[2]; dz <= r->weights->radius[2]; dz++) {
            const int64_t z = node_at(level, 2, plane + dz);
            for (int64_t y = 0; z >= 0 && y < level->n[1]; y++)
                for (int64_t x = 0; x < level->n[0]; x++) {
                    const double charge = (double)r->charges[lattice_layout_node(r->layout, r->level, x, y, z)];
                    if (charge != 0)
                        add_charge(r, (const int64_t[3]){x, y, z}, dz, plane, charge);
                }
        }
    }
}

void lattice_reference(const lattice_layout *layout, const lattice_weights *weights, const float *charges,
                       reference_value *values)
{
    referee r = {layout, weights, charges, values, 0};
    for (; r.level < layout->count; r.level++)
        parallel_ranges((size_t)layout->levels[r.level].n[2], sum_planes, &r);
}

reference_value lattice_reference_node(const lattice_layout *layout, const lattice_weights *weights,
                                       const float *charges, int level, const int64_t at[3])
{
    const lattice_level *l = &layout->levels[level];
    reference_value sum = {0, 0, 0, 0};
    for (int dz = -weights->radius[2]; dz <= weights->radius[2]; dz++)
        for (int dy = -weights->radius[1]; dy <= weights->radius[1]; dy++)
            for (int dx = -weights->radius[0]; dx <= weights->radius[0]; dx++) {
                const int64_t x = node_at(l, 0, at[0] + dx), y = node_at(l, 1, at[1] + dy),
                              z = node_at(l, 2, at[2] + dz);
                if (x < 0 || y < 0 || z < 0)
                    continue;
                const double term = l->scale * lattice_weight(weights, dx, dy, dz) *
                                    (double)charges[lattice_layout_node(layout, level, x, y, z)];
                sum.value += term;
                sum.absolute += fabs(term);
            }
    return sum;
}
