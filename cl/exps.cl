/* 2^x by the recipe LEY_EXP, for its error and for its rate:
 *
 *     gm_out[i] = f(f(... f(gm_in[i]))),  f(x) = 2^-x, `times` times
 *
 * Once: the error. Often: nothing but exponentials, CHAINS independent ones per work-item; x
 * runs to the fixed point 0.64. gm_in, gm_out: [CHAINS][global size]; gm_in between 0 and 125. */
#include "dialect.h"

#define CHAINS 8

LEY_KERNEL exps(LEY_PARAMETERS(LEY_EXPS_ARGUMENTS))
{
    const size_t item = LEY_GLOBAL_ID(0), items = LEY_GLOBAL_SIZE(0);
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
        UNROLL for (int k = 0; k < CHAINS; k++)
            x[k] = ley_exp2(-x[k]);
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
