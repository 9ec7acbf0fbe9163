#include "architectures.h"

#include "../quirks.h"
#include "internal.h"

#include <stdio.h>

enum { K = 1024, GRID = 65535 };
#define WIDE 2147483647u

const cuda_architecture cuda_architectures[] = {
    {"GT200", 13, 512, {512, 512, 64}, {GRID, GRID, 1}, 16 * K, 16 * K, 124},
    {"Fermi", 20, 1024, {1024, 1024, 64}, {GRID, GRID, GRID}, 48 * K, 32 * K, 63},
    {"Kepler GK104", 30, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 63},
    {"Kepler GK110", 35, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Maxwell", 50, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Pascal", 60, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Volta", 70, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Turing", 75, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Ampere", 80, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Ampere GA10x", 86, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Ada", 89, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Hopper", 90, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {"Blackwell", 100, 1024, {1024, 1024, 64}, {WIDE, GRID, GRID}, 48 * K, 64 * K, 255},
    {.name = NULL},
};

void cuda_architecture_describe(const cuda_architecture *a, dev_info *info)
{
    *info = (dev_info){.device_class = DEV_GPU,
                       .capability = a->capability,
                       .compute_units = 1,
                       .vector_width = 1,
                       .max_work_group = a->max_threads,
                       .global_bytes = (uint64_t)1 << 30,
                       .max_allocation_bytes = (uint64_t)1 << 30,
                       .local_bytes = a->shared_bytes,
                       .constant_bytes = CUDA_CONSTANT_SYMBOL_BYTES,
                       .has_double = a->capability >= 13,
                       .has_denormals = a->capability >= 20};
    for (int axis = 0; axis < 3; axis++) {
        info->max_work_items[axis] = a->max_block[axis];
        info->max_groups[axis] = a->max_grid[axis];
    }
    snprintf(info->name, sizeof info->name, "%s", a->name);
    snprintf(info->platform, sizeof info->platform, "CUDA");
    snprintf(info->vendor, sizeof info->vendor, "CUDA");
    snprintf(info->version, sizeof info->version, "compute capability %d.%d", a->capability / 10, a->capability % 10);
    quirks_apply(info);
}
