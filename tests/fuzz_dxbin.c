/* libFuzzer: any bytes as a binary OpenDX map. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const ley_map *map, const ley_map *again)
{
    const ley_grid *a = ley_map_grid(map), *b = ley_map_grid(again);
    require(memcmp(a->step_A, b->step_A, sizeof a->step_A) == 0);
    require(a->origin_A[0] == b->origin_A[0] && a->origin_A[1] == b->origin_A[1] && a->origin_A[2] == b->origin_A[2]);
    require(memcmp(ley_map_read_values(map), ley_map_read_values(again), (size_t)ley_grid_points(a) * sizeof(float)) ==
            0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_map(fuzz_format(".dxbin"), data, size, same);
}
