/* Slots of a list to where their particles are in another frame: to the images that are nearest to
 * where they were.
 *
 * gm_position  [frames][padded] {x, y, z, charge}
 * padded       places of a frame
 * gm_frames    as in list.h, of the new frames
 * gm_own       [frames][slots] as in list_place.cl
 * slots        of a frame
 * gm_sorted    [frames][slots] as there
 * gm_slot      [frames][padded] as there, again
 *
 * Global size: slots, rounded up to work-groups, and frames. */
#if !defined(LEY_CLUSTER) || !defined(LEY_PLANAR)
#error "the specification is incomplete: see LEY_LIST_MOVE_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list.h"
#include "list_sorted.h"

LEY_KERNEL list_move(LEY_PARAMETERS(LEY_LIST_MOVE_ARGUMENTS))
{
    const int slot = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    if (slot >= slots)
        return;
    const int particle = gm_own[frame * slots + slot];
    if (particle < 0)
        return;
    LEY_GLOBAL const float4 *gm_frame = gm_frames + LEY_LIST_ROWS * frame;
    const float4 p = gm_position[frame * padded + particle], before = ley_sorted_at(gm_sorted + frame * slots, slot);
    const float4 u = gm_frame[0], v = gm_frame[1], w = gm_frame[2];
    const float x = p.x - before.x, y = p.y - before.y, z = p.z - before.z;
    const float n_u = LEY_WHOLE(ley_along(gm_frame[3], x, y, z)), n_v = LEY_WHOLE(ley_along(gm_frame[4], x, y, z)),
                n_w = LEY_WHOLE(ley_along(gm_frame[5], x, y, z));
    ley_sorted_store(gm_sorted + frame * slots, slot,
                     LEY_FLOAT4(p.x - (n_u * u.x + n_v * v.x + n_w * w.x), p.y - (n_u * u.y + n_v * v.y + n_w * w.y),
                                p.z - (n_u * u.z + n_v * v.z + n_w * w.z), p.w));
    gm_slot[frame * padded + particle] = slot;
}
