#include "layout/transpose.h"

#include "core/sizes.h"
#include "parallel.h"

#include <stdatomic.h>
#include <string.h>

bool tiled_points(const tiled_slab *slab, int64_t *points)
{
    int64_t product = 1;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = slab->n[axis], region = slab->region[axis];
        if (n < 1 || region < 1 || n > INT64_MAX - region || !ley_multiply(product, ley_round_up(n, region), &product))
            return false;
    }
    *points = product;
    return true;
}

bool tiled_bytes(const tiled_slab *slab, int64_t *bytes)
{
    int64_t points;
    return tiled_points(slab, &points) && ley_multiply(points, slab->store == PADDED_FLOAT ? 4 : 8, bytes);
}

/* One direction of one slab. */
typedef struct transposition {
    const tiled_slab *slab;
    const void *from; /* tiled points to the map's rows, or the other way round */
    void *to;
    float padding;
    size_t n[3], region[3], regions[3], points, compensations;
    atomic_uint marks; /* of padding_copy(), of what was gathered */
} transposition;

static transposition transposition_of(const tiled_slab *slab, const void *from, void *to)
{
    transposition t = {.slab = slab, .from = from, .to = to, .points = 1, .compensations = 1};
    for (int axis = 0; axis < 3; axis++) {
        t.n[axis] = (size_t)slab->n[axis];
        t.region[axis] = (size_t)slab->region[axis];
        t.regions[axis] = (t.n[axis] + t.region[axis] - 1) / t.region[axis];
        t.points *= t.region[axis];
        t.compensations *= t.region[axis] * t.regions[axis];
    }
    return t;
}

/* A constant size becomes moves of vectors. Returns what padding_copy() does. */
static inline uint32_t copy_piece(float *to, const float *from, size_t n)
{
    return n == 8 ? padding_copy(to, from, 8) : padding_copy(to, from, n);
}

/* A row of the map, whose first point stands at `at`. Returns what padding_copy() does. */
static uint32_t gather_row(const transposition *t, size_t at, float *row)
{
    const float *single = t->from;
    const double *twice = t->from;
    const size_t step = t->region[0];
    uint32_t marks = 0;
    for (size_t x = 0; x < t->n[0]; x += step, at += t->points) {
        const size_t n = step < t->n[0] - x ? step : t->n[0] - x;
        switch (t->slab->store) {
        case PADDED_FLOAT:
            marks |= copy_piece(row + x, single + at, n);
            break;
        case PADDED_COMPENSATED:
            for (size_t i = 0; i < n; i++)
                row[x + i] = single[at + i] - single[t->compensations + at + i];
            break;
        case PADDED_DOUBLE:
            for (size_t i = 0; i < n; i++)
                row[x + i] = (float)twice[at + i];
            break;
        }
        if (t->slab->store != PADDED_FLOAT)
            marks |= copy_piece(row + x, row + x, n);
    }
    return marks;
}

/* Item i is the i-th row of regions along x: they fit into a core's own cache, and the map is
 * written from one end to the other. */
static void gather_rows(void *context, size_t first, size_t last)
{
    transposition *t = context;
    float *map = t->to;
    uint32_t marks = 0;
    for (size_t i = first; i < last; i++) {
        const size_t low_y = i % t->regions[1] * t->region[1], low_z = i / t->regions[1] * t->region[2];
        const size_t start = i * t->regions[0] * t->points;
        for (size_t z = low_z; z < low_z + t->region[2] && z < t->n[2]; z++)
            for (size_t y = low_y; y < low_y + t->region[1] && y < t->n[1]; y++)
                marks |= gather_row(t, start + ((z - low_z) * t->region[1] + y - low_y) * t->region[0],
                                    map + (z * t->n[1] + y) * t->n[0]);
    }
    atomic_fetch_or_explicit(&t->marks, marks, memory_order_relaxed);
}

bool transpose_to_rows(const tiled_slab *slab, const void *tiled, float *map)
{
    transposition t = transposition_of(slab, tiled, map);
    parallel_ranges(t.regions[1] * t.regions[2], gather_rows, &t);
    return padding_is_finite(atomic_load(&t.marks));
}

static void put(const transposition *t, size_t at, float value)
{
    if (t->slab->store == PADDED_DOUBLE)
        ((double *)t->to)[at] = (double)value;
    else
        ((float *)t->to)[at] = value;
    if (t->slab->store == PADDED_COMPENSATED)
        ((float *)t->to)[t->compensations + at] = 0;
}

/* Item i is a region. */
static void scatter_regions(void *context, size_t first, size_t last)
{
    const transposition *t = context;
    const float *map = t->from;
    for (size_t i = first; i < last; i++) {
        const size_t low_x = i % t->regions[0] * t->region[0], low_y = i / t->regions[0] % t->regions[1] * t->region[1],
                     low_z = i / t->regions[0] / t->regions[1] * t->region[2];
        size_t at = i * t->points;
        for (size_t z = low_z; z < low_z + t->region[2]; z++)
            for (size_t y = low_y; y < low_y + t->region[1]; y++)
                for (size_t x = low_x; x < low_x + t->region[0]; x++, at++)
                    put(t, at,
                        x < t->n[0] && y < t->n[1] && z < t->n[2] ? map[(z * t->n[1] + y) * t->n[0] + x] : t->padding);
    }
}

void transpose_to_regions(const tiled_slab *slab, const float *map, float padding, void *tiled)
{
    transposition t = transposition_of(slab, map, tiled);
    t.padding = padding;
    parallel_ranges(t.regions[0] * t.regions[1] * t.regions[2], scatter_regions, &t);
}
