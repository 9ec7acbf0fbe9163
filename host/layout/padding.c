#include "layout/padding.h"

#include "core/sizes.h"
#include "parallel.h"

#include <stdatomic.h>

enum { WORTH_THREADS = 1 << 20 }; /* points */

bool padding_bytes(const padded_slab *slab, int64_t *bytes)
{
    const int64_t point = slab->store == PADDED_FLOAT ? 4 : 8;
    int64_t size;
    return ley_multiply(slab->padded_x, slab->padded_y, &size) && ley_multiply(size, slab->planes, &size) &&
           ley_multiply(size, point, bytes);
}

/* Returns what padding_copy() does. */
static uint32_t crop_row(const padded_slab *slab, const void *padded, size_t at, size_t carries, float *row)
{
    const size_t n = (size_t)slab->n_x;
    if (slab->store == PADDED_FLOAT)
        return padding_copy(row, (const float *)padded + at, n);
    if (slab->store == PADDED_COMPENSATED)
        for (size_t x = 0; x < n; x++)
            row[x] = ((const float *)padded)[at + x] - ((const float *)padded)[carries + at + x];
    else
        for (size_t x = 0; x < n; x++)
            row[x] = (float)((const double *)padded)[at + x];
    return padding_copy(row, row, n);
}

/* One slab's way into the map. */
typedef struct crop {
    const padded_slab *slab;
    const void *padded;
    float *map;
    atomic_uint marks; /* of padding_copy() */
} crop;

/* Item i is the i-th row. */
static void crop_rows(void *context, size_t first, size_t last)
{
    crop *c = context;
    uint32_t marks = 0;
    const size_t row_points = (size_t)c->slab->padded_x, rows = (size_t)c->slab->n_y,
                 padded_rows = (size_t)c->slab->padded_y;
    const size_t carries = row_points * padded_rows * (size_t)c->slab->planes;
    for (size_t i = first; i < last; i++)
        marks |= crop_row(c->slab, c->padded, (i / rows * padded_rows + i % rows) * row_points, carries,
                          c->map + i * (size_t)c->slab->n_x);
    atomic_fetch_or_explicit(&c->marks, marks, memory_order_relaxed);
}

int padding_crop_threads(size_t points)
{
    return points < WORTH_THREADS ? 1 : parallel_cores();
}

bool padding_crop(const padded_slab *slab, const void *padded, float *map)
{
    crop c = {slab, padded, map, 0};
    const size_t rows = (size_t)(slab->n_y * slab->planes);
    if (padding_crop_threads(rows * (size_t)slab->n_x) == 1)
        crop_rows(&c, 0, rows);
    else
        parallel_ranges(rows, crop_rows, &c);
    return padding_is_finite(atomic_load(&c.marks));
}
