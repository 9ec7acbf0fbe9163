#include "verify/squares.h"

#include "error.h"
#include "law/accuracy.h"
#include "target/map.h"

#include <stdlib.h>

/* The last block that begins no later. */
static int64_t find_block(const double *before, int64_t count, double drawn)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (before[middle] <= drawn)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The value at which the sum of a block's squares has come so far. */
static int64_t find_value(const ley_map *map, int64_t block, double left, float *buffer)
{
    const int64_t first = map_block_first(map, block), count = map_block_first(map, block + 1) - first;
    const float *value = map_values_from(map, first, count, buffer);
    int64_t found = 0;
    for (int64_t i = 0; i < count && left >= 0; i++)
        if (value[i] != 0) {
            found = i;
            left -= (double)value[i] * (double)value[i];
        }
    return first + found;
}

ley_status squares_draw(const ley_map *map, size_t n, uint64_t *random, int64_t *drawn, double *all, ley_error *error)
{
    const int64_t count = map_block_count(map);
    int64_t largest = 0;
    for (int64_t b = 0; b < count; b++) {
        const int64_t values = map_block_first(map, b + 1) - map_block_first(map, b);
        largest = values > largest ? values : largest;
    }
    double *before = malloc((size_t)count * sizeof *before), sum = 0; /* sums, then what is before each */
    float *buffer = malloc((size_t)largest * sizeof *buffer);
    ley_status status = LEY_OK;
    if (before == NULL || buffer == NULL)
        status = ley_fail_memory(error, (size_t)count * sizeof *before, "the verification");
    else if (map_block_squares(map, before))
        for (int64_t b = 0; b < count; b++) {
            const double own = before[b];
            before[b] = sum;
            sum += own;
        }
    for (size_t i = 0; i < n && sum > 0; i++) {
        const double at = sum * ((double)(accuracy_random(random) >> 11) * 0x1p-53);
        const int64_t block = find_block(before, count, at);
        drawn[i] = find_value(map, block, at - before[block], buffer);
    }
    *all = sum;
    free(before);
    free(buffer);
    return status;
}
