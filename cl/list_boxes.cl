/* Boxes around the clusters of frames.
 *
 * gm_sorted  [frames][clusters LEY_CLUSTER] as in list_place.cl
 * clusters   of a frame; pitch: a multiple of vectors, no less
 * gm_box     [frames][6][pitch] the middles' x, y, z and half the lengths; of what is no cluster,
 *            or has no particle: a middle that is no number
 *
 * Global size: pitch, rounded up to work-groups, and frames. */
#if !defined(LEY_CLUSTER) || !defined(LEY_PLANAR)
#error "the specification is incomplete: see LEY_LIST_BOXES_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL list_boxes(LEY_PARAMETERS(LEY_LIST_BOXES_ARGUMENTS))
{
    const int cluster = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    const float far = 1e30f;
    float4 low = LEY_FLOAT4(far, far, far, 0), high = LEY_FLOAT4(-far, -far, -far, 0);
    if (cluster >= pitch)
        return;
    for (int i = 0; i < LEY_CLUSTER && cluster < clusters; i++) {
        LEY_GLOBAL const float4 *gm_at = gm_sorted + (frame * clusters + cluster) * LEY_CLUSTER;
#if LEY_PLANAR
        LEY_GLOBAL const float *gm_x = (LEY_GLOBAL const float *)gm_at + i;
        const float4 p = LEY_FLOAT4(gm_x[0], gm_x[LEY_CLUSTER], gm_x[2 * LEY_CLUSTER], 0);
#else
        const float4 p = gm_at[i];
#endif
        if (!(p.x == p.x))
            continue;
        low = LEY_FLOAT4(LEY_MIN(low.x, p.x), LEY_MIN(low.y, p.y), LEY_MIN(low.z, p.z), 0);
        high = LEY_FLOAT4(LEY_MAX(high.x, p.x), LEY_MAX(high.y, p.y), LEY_MAX(high.z, p.z), 0);
    }
    LEY_GLOBAL float *gm_own = gm_box + frame * 6 * pitch + cluster;
    gm_own[0] = low.x > high.x ? LEY_AS_FLOAT(0x7fc00000) : 0.5f * (low.x + high.x);
    gm_own[pitch] = 0.5f * (low.y + high.y);
    gm_own[2 * (size_t)pitch] = 0.5f * (low.z + high.z);
    gm_own[3 * (size_t)pitch] = 0.5f * (high.x - low.x);
    gm_own[4 * (size_t)pitch] = 0.5f * (high.y - low.y);
    gm_own[5 * (size_t)pitch] = 0.5f * (high.z - low.z);
}
