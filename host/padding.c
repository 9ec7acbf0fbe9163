#include "padding.h"

#include "sizes.h"

#include <string.h>

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

void padding_crop(const padded_slab *slab, const void *padded, float *map)
{
    const size_t row_points = (size_t)slab->padded_x, carries = row_points * (size_t)(slab->padded_y * slab->planes);
    for (int64_t z = 0; z < slab->planes; z++)
        for (int64_t y = 0; y < slab->n_y; y++)
            crop_row(slab, padded, (size_t)(z * slab->padded_y + y) * row_points, carries,
                     map + (size_t)(z * slab->n_y + y) * (size_t)slab->n_x);
}
