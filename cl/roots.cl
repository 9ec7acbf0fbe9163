/* Reciprocal square roots by the recipe LEY_ROOT, for its error and for its rate:
 *
 *     gm_out[i] = f(f(... f(gm_in[i]))),  f(x) = 1/sqrt(x), `times` times (but for the recipe's
 *                                         constant factor in all but the last)
 *
 * Once: the error. Often: nothing but roots, CHAINS independent ones per work-item; x runs to a
 * fixed point near 1, so that no special case slows the device. gm_in, gm_out: [CHAINS][global
 * size]. */
#include "dialect.h"

#define CHAINS 8

LEY_KERNEL roots(LEY_PARAMETERS(LEY_ROOTS_ARGUMENTS))
{
    const size_t item = LEY_GLOBAL_ID(0), items = LEY_GLOBAL_SIZE(0);
    real x[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        x[k] = gm_in[k * items + item];
    for (int t = 1; t < times; t++) {
        UNROLL for (int k = 0; k < CHAINS; k++)
            x[k] = ley_unscaled_root(x[k]);
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = LEY_ROOT_SCALE * ley_unscaled_root(x[k]);
}
