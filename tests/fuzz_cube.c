/* libFuzzer: any bytes as a cube file. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz_map.h"

#include <float.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Units that a title in ASCII tells in parentheses. */
static bool is_plain(const char *units)
{
    for (; *units != '\0'; units++)
        if (*units < ' ' || *units > '~' || strchr("()", *units) != NULL)
            return false;
    return true;
}

/* Seven digits of each value, of atomic units where the map's are others: then the smallest floats
 * have fewer. */
static void same(const ley_map *map, const ley_map *again)
{
    const ley_grid *a = ley_map_grid(map), *b = ley_map_grid(again);
    for (int64_t i = 0; i < ley_grid_points(a); i++) {
        const double value = (double)ley_map_read_values(map)[i];
        require(fabs((double)ley_map_read_values(again)[i] - value) <= 1e-6 * fabs(value) + 1e5 * (double)FLT_TRUE_MIN);
    }
    for (int i = 0; i < 9; i++)
        require(fabs(a->step_A[i / 3][i % 3] - b->step_A[i / 3][i % 3]) <= 1e-15 * fabs(a->step_A[i / 3][i % 3]));
    require(strcmp(ley_map_units(map), ley_map_units(again)) == 0 || !is_plain(ley_map_units(map)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_map(fuzz_format(".cube"), data, size, same);
}
