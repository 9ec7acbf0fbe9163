/* Boxes around the blocks of frames: of LEY_LIST_BLOCK clusters each, which follow each other along
 * the curve.
 *
 * blocks    of a frame
 * pitch, gm_box  as in list_boxes.cl, which has made the clusters' boxes. Those of blocks are
 *            behind LEY_LIST_BLOCK of them for each block
 *
 * Global size: blocks, rounded up to work-groups, and frames. */
#include "dialect.h"

#include "list_box.h"

LEY_KERNEL list_blocks(LEY_PARAMETERS(LEY_LIST_BLOCKS_ARGUMENTS))
{
    const int block = (int)LEY_GLOBAL_ID(0);
    LEY_GLOBAL float *gm_own = gm_box + LEY_GLOBAL_ID(1) * 6 * pitch;
    list_box box;
    if (block >= blocks)
        return;
    ley_box_clear(&box);
    for (int i = 0; i < LEY_LIST_BLOCK; i++) {
        LEY_GLOBAL const float *gm_at = gm_own + LEY_LIST_BLOCK * block + i;
        if (gm_at[0] == gm_at[0])
            ley_box_add(&box, gm_at[0], gm_at[pitch], gm_at[2 * (size_t)pitch], gm_at[3 * (size_t)pitch],
                        gm_at[4 * (size_t)pitch], gm_at[5 * (size_t)pitch]);
    }
    ley_box_store(&box, gm_own + LEY_LIST_BLOCK * blocks + block, pitch);
}
