/* The density of one frame, as integers of fixed point, becomes floats to be transformed; it is
 * added to a sum, and zeros are left in its place.
 *
 * gm_frame  [nodes] integers of 64 bits, the lower half first
 * scale     what a quantum is
 * gm_sum    the same
 * gm_mesh   [nodes]
 *
 * Global size: nodes, rounded up to work-groups. */
#include "dialect.h"

LEY_KERNEL density_floats(LEY_PARAMETERS(LEY_DENSITY_FLOATS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)nodes)
        return;
    gm_mesh[i] = (float)LEY_LONG_AT(gm_frame + i) * scale;
    LEY_LONG_AT(gm_sum + i) += LEY_LONG_AT(gm_frame + i);
    LEY_LONG_AT(gm_frame + i) = 0;
}
