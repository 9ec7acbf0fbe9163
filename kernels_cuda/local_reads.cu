/* Reads from shared memory, 16 bytes at a time and all threads of a block the same ones, for the device's own limit: the CUDA twin of
 * cl/local_reads.cl. */
#include "dialect.cuh"

#define CHAINS 8
#define SLOTS 64

extern "C" __global__ void local_reads(const real *__restrict__ gm_in, int times, real *__restrict__ gm_out)
{
    __shared__ atom sm_slots[SLOTS];
    const size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x, items = (size_t)gridDim.x * blockDim.x;
    for (int slot = (int)threadIdx.x; slot < SLOTS; slot += (int)blockDim.x) {
        sm_slots[slot].x = gm_in[4 * slot];
        sm_slots[slot].y = gm_in[4 * slot + 1];
        sm_slots[slot].z = gm_in[4 * slot + 2];
        sm_slots[slot].w = gm_in[4 * slot + 3];
    }
    __syncthreads();
    atom sum[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        sum[k].x = sum[k].y = sum[k].z = sum[k].w = 0;
    for (int t = 0, first = 0; t < times; t++, first = (first + CHAINS) % SLOTS) {
#pragma unroll
        for (int k = 0; k < CHAINS; k++) {
            const atom a = sm_slots[first + k];
            sum[k].x += a.x;
            sum[k].y += a.y;
            sum[k].z += a.z;
            sum[k].w += a.w;
        }
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = sum[k].x + sum[k].y + sum[k].z + sum[k].w;
}
