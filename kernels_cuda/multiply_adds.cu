/* Fused multiply-adds, `times` a chain, for the device's own limit: the CUDA twin of cl/multiply_adds.cl. */
#include "dialect.cuh"

#define CHAINS 16

extern "C" __global__ void multiply_adds(const real *__restrict__ gm_in, int times, real *__restrict__ gm_out)
{
    const size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x, items = (size_t)gridDim.x * blockDim.x;
    const real a = gm_in[0], b = gm_in[1]; /* unknown to the compiler, so that it cannot fold the loop */
    real x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            x[k] = a * x[k] + b;
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
