/* The sums of all parts of what mdh computed: the CUDA twin of cl/sum_parts.cl. */
#include "dialect.cuh"

extern "C" __global__ void sum_parts(const real *__restrict__ gm_parts, int n_parts, int part_values, real *__restrict__ gm_sums)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)part_values)
        return;
    real sum = 0;
    for (int p = 0; p < n_parts; p++)
        sum += gm_parts[(size_t)p * part_values + i];
#if LEY_SUM == LEY_SPEC_SUM_COMPENSATED
    real lost = 0;
    for (int p = 0; p < n_parts; p++)
        lost += gm_parts[(size_t)(n_parts + p) * part_values + i];
    sum -= lost;
#endif
    gm_sums[i] = sum;
}
