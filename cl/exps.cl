/* 2^x by the recipe LEY_EXP, for its error and for its rate:
 *
 *     gm_out[i] = f(f(... f(gm_in[i]))),  f(x) = 2^-x, `times` times
 *
 * Once: the error. Often: nothing but exponentials, CHAINS independent ones a work-item; x runs to the fixed point 0.64. gm_in, gm_out:
 * [CHAINS][global size]; gm_in between 0 and 125. */
#include "dialect.h"
#include "exp2.h"

#define CHAINS 8

__kernel void exps(__global const real *restrict gm_in, int times, __global real *restrict gm_out)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
        _Pragma("unroll") for (int k = 0; k < CHAINS; k++)
            x[k] = ley_exp2(-x[k]);
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
