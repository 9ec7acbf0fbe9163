/* Fused multiply-adds, `times` a chain, for the device's own limit: x <- 0.5 x + 1 runs to 2. gm_out: [CHAINS][global size]. */
#include "dialect.h"

#define CHAINS 16

__kernel void multiply_adds(__global const real *restrict gm_in, int times, __global real *restrict gm_out)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    const real a = gm_in[0], b = gm_in[1]; /* unknown to the compiler, so that it cannot fold the loop */
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
        _Pragma("unroll") for (int k = 0; k < CHAINS; k++)
            x[k] = a * x[k] + b;
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
