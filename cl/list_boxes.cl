/* Boxes around the clusters of frames.
 *
 * gm_sorted  [frames][clusters LEY_CLUSTER] as in list_place.cl
 * clusters   of a frame; pitch: that of boxes, which are those of clusters, up to a multiple of
 *            LEY_LIST_BLOCK, and then those of blocks, up to such a multiple
 * gm_box     [frames][6][pitch] the middles' x, y, z and half the lengths, a little more than these
 *            for rounding; of what is no cluster, or has no particle: a middle that is no number
 *
 * Global size: pitch, rounded up to work-groups, and frames. */
#if !defined(LEY_CLUSTER) || !defined(LEY_PLANAR)
#error "the specification is incomplete: see LEY_LIST_BOXES_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list_box.h"
#include "list_sorted.h"

LEY_KERNEL list_boxes(LEY_PARAMETERS(LEY_LIST_BOXES_ARGUMENTS))
{
    const int cluster = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    list_box box;
    if (cluster >= pitch)
        return;
    ley_box_clear(&box);
    for (int i = 0; i < LEY_CLUSTER && cluster < clusters; i++) {
        const float4 p = ley_sorted_at(gm_sorted + frame * clusters * LEY_CLUSTER, cluster * LEY_CLUSTER + i);
        if (p.x == p.x)
            ley_box_add(&box, p.x, p.y, p.z, 0, 0, 0);
    }
    ley_box_store(&box, gm_box + frame * 6 * pitch + cluster, pitch);
}
