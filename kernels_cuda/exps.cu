/* 2^x by the recipe LEY_EXP, for its error and for its rate: the CUDA twin of cl/exps.cl. */
#include "dialect.cuh"
#include "exp2.cuh"

#define CHAINS 8

extern "C" __global__ void exps(const real *__restrict__ gm_in, int times, real *__restrict__ gm_out)
{
    const size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x, items = (size_t)gridDim.x * blockDim.x;
    real x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            x[k] = ley_exp2(-x[k]);
    }
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
