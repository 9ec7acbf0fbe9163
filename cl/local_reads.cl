/* Reads from local memory, 16 bytes at a time and all work-items of a group the same ones, as kernels read staged atoms: for the device's own
 * limit. A work-item reads `times` rounds of CHAINS; gm_out, [CHAINS][global size], gets the sums of what each of them read.
 * gm_in: numbers to read, at least 4 SLOTS. */
#include "dialect.h"

#define CHAINS 8
#define SLOTS 64

__kernel void local_reads(__global const real *restrict gm_in, int times, __global real *restrict gm_out)
{
    __local atom sm_slots[SLOTS];
    const size_t item = get_global_id(0), items = get_global_size(0);
    __global const scalar *numbers = (__global const scalar *)gm_in;
    for (int slot = (int)get_local_id(0); slot < SLOTS; slot += (int)get_local_size(0))
        sm_slots[slot] = (atom)(numbers[4 * slot], numbers[4 * slot + 1], numbers[4 * slot + 2], numbers[4 * slot + 3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atom sum[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        sum[k] = (atom)0;
    for (int t = 0, first = 0; t < times; t++, first = (first + CHAINS) % SLOTS) {
        _Pragma("unroll") for (int k = 0; k < CHAINS; k++)
            sum[k] += sm_slots[first + k];
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = sum[k].x + sum[k].y + sum[k].z + sum[k].w;
}
