/* Fused multiply-adds, `times` per chain, for the device's own limit: x <- 0.5 x + 1 runs to 2.
 * gm_out: [CHAINS][global size]. */
#include "dialect.h"

#define CHAINS 16

LEY_KERNEL multiply_adds(LEY_PARAMETERS(LEY_MULTIPLY_ADDS_ARGUMENTS))
{
    const size_t item = LEY_GLOBAL_ID(0), items = LEY_GLOBAL_SIZE(0);
    const real a = gm_in[0], b = gm_in[1]; /* unknown to the compiler, so that it cannot fold the loop */
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 0; t < times; t++) {
        UNROLL for (int k = 0; k < CHAINS; k++)
            x[k] = a * x[k] + b;
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = x[k];
}
