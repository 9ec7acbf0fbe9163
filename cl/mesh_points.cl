/* Positions of frames for density_spread.cl, which has three numbers of each.
 *
 * gm_position  [frames][padded] {x, y, z, charge}
 * particles    of a frame; padded: places of a frame
 * gm_to        [frames][particles][3]
 *
 * Global size: particles, rounded up to work-groups, and frames. */
#include "dialect.h"

LEY_KERNEL mesh_points(LEY_PARAMETERS(LEY_MESH_POINTS_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    if (i >= particles)
        return;
    const float4 p = gm_position[frame * padded + i];
    LEY_GLOBAL float *gm_own = gm_to + 3 * (frame * particles + i);
    gm_own[0] = p.x;
    gm_own[1] = p.y;
    gm_own[2] = p.z;
}
