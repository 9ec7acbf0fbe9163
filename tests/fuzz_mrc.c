/* libFuzzer: any bytes as an MRC map. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The grid to what float32 tells; a narrow cell tells its angles less well. */
static void same(const ley_map *map, const ley_map *again)
{
    const ley_grid *a = ley_map_grid(map), *b = ley_map_grid(again);
    require(memcmp(ley_map_read_values(map), ley_map_read_values(again), (size_t)ley_grid_points(a) * sizeof(float)) ==
            0);
    require(fabs(a->step_A[0][0] - b->step_A[0][0]) <= 1e-6 * a->step_A[0][0]);
    require(strcmp(ley_map_units(map), ley_map_units(again)) == 0 || strchr(ley_map_units(map), '(') != NULL ||
            strchr(ley_map_units(map), ')') != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_map(fuzz_format(".mrc"), data, size, same);
}
