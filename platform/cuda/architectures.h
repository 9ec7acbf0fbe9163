/* What each generation of NVIDIA's architectures allows a kernel: the one table, after "CUDA C
 * Programming Guide", appendix Compute Capabilities (its editions 3.0 to 13.0). */
#ifndef LEY_CUDA_ARCHITECTURES_H
#define LEY_CUDA_ARCHITECTURES_H

#include "../device.h"

typedef struct cuda_architecture {
    const char *name;
    int capability;     /* 10 major + minor */
    size_t max_threads; /* a block */
    size_t max_block[3];
    size_t max_grid[3];
    size_t shared_bytes;  /* a block, without asking for more */
    int registers;        /* a block */
    int thread_registers; /* a thread */
} cuda_architecture;

/* All of them, ending with a NULL name. */
extern const cuda_architecture cuda_architectures[];

/* A device of this architecture as probing would describe it, quirks and all, for planning launches
 * without one. */
void cuda_architecture_describe(const cuda_architecture *architecture, dev_info *info);

#endif
