#include "run/squares.h"

#include "core/map.h"
#include "error.h"
#include "judge/accuracy.h"

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
    map_squares squares;
    *all = 0;
    if (!map_get_squares(map, &squares) || !(squares.all > 0))
        return LEY_OK;
    int64_t largest = 0;
    for (int64_t b = 0; b < squares.count; b++) {
        const int64_t count = map_block_first(map, b + 1) - map_block_first(map, b);
        largest = count > largest ? count : largest;
    }
    double *before = malloc((size_t)squares.count * sizeof *before), sum = 0;
    float *buffer = malloc((size_t)largest * sizeof *buffer);
    if (before == NULL || buffer == NULL) {
        free(before);
        free(buffer);
        return ley_fail_memory(error, (size_t)squares.count * sizeof *before, "the verification");
    }
    for (int64_t b = 0; b < squares.count; b++) {
        before[b] = sum;
        sum += squares.sums[b];
    }
    for (size_t i = 0; i < n; i++) {
        const double at = sum * ((double)(accuracy_random(random) >> 11) * 0x1p-53);
        const int64_t block = find_block(before, squares.count, at);
        drawn[i] = find_value(map, block, at - before[block], buffer);
    }
    *all = squares.all;
    free(before);
    free(buffer);
    return LEY_OK;
}
