#include "padding.h"

#include "parallel.h"
#include "sizes.h"

#include <string.h>

enum { WORTH_THREADS = 1 << 20 }; /* points */

bool padding_bytes(const padded_slab *slab, int64_t *bytes)
{
    const int64_t point = slab->store == PADDED_FLOAT ? 4 : 8;
    int64_t size;
    return ley_multiply(slab->padded_x, slab->padded_y, &size) && ley_multiply(size, slab->planes, &size) &&
           ley_multiply(size, point, bytes);
}

static void crop_row(const padded_slab *slab, const void *padded, size_t at, size_t carries, float *row)
{
    const size_t n = (size_t)slab->n_x;
    switch (slab->store) {
    case PADDED_FLOAT:
        memcpy(row, (const float *)padded + at, n * sizeof(float));
        break;
    case PADDED_COMPENSATED:
        for (size_t x = 0; x < n; x++)
            row[x] = ((const float *)padded)[at + x] - ((const float *)padded)[carries + at + x];
        break;
    case PADDED_DOUBLE:
        for (size_t x = 0; x < n; x++)
            row[x] = (float)((const double *)padded)[at + x];
        break;
    }
}

/* One slab's way into the map. */
typedef struct crop {
    const padded_slab *slab;
    const void *padded;
    float *map;
} crop;

/* Item i is the i-th row. */
static void crop_rows(void *context, size_t first, size_t last)
{
    const crop *c = context;
    const size_t row_points = (size_t)c->slab->padded_x, rows = (size_t)c->slab->n_y, padded_rows = (size_t)c->slab->padded_y;
    const size_t carries = row_points * padded_rows * (size_t)c->slab->planes;
    for (size_t i = first; i < last; i++)
        crop_row(c->slab, c->padded, (i / rows * padded_rows + i % rows) * row_points, carries, c->map + i * (size_t)c->slab->n_x);
}

void padding_crop(const padded_slab *slab, const void *padded, float *map)
{
    crop c = {slab, padded, map};
    const size_t rows = (size_t)(slab->n_y * slab->planes);
    if (rows * (size_t)slab->n_x < WORTH_THREADS)
        crop_rows(&c, 0, rows);
    else
        parallel_ranges(rows, crop_rows, &c);
}
