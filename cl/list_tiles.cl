/* What is near each cluster of frames: a row of the list. Boxes of blocks are looked at first, then
 * those of the clusters of blocks that may be in reach.
 *
 * Clusters with excluded pairs, and the cluster itself, are tiles, with a mask of the pairs that
 * count. Of other clusters those particles are in the row that are within reach of one of its own.
 * With a LEY_FULL of 1 every pair is in the rows of both its clusters, else in one of them: of rows
 * i and i + d, modulo their number, in that from which it is not further to the other.
 *
 * gm_sorted    [frames][clusters LEY_CLUSTER] as in list_place.cl
 * gm_own, gm_slot, padded  as there
 * gm_box       as in list_boxes.cl, with pitch
 * gm_frames    as in list.h
 * gm_first, gm_excluded  [padded + 1] where a particle's excluded partners begin in the latter
 * reach        A
 * room         {tiles, particles} of a row
 * gm_rows      [frames][clusters] {tiles, particles} of each; more than there is room for: all that
 *              there are
 * gm_tiles     [frames][clusters][room.x] names of clusters
 * gm_masks     [frames][clusters][room.x][LEY_CLUSTER] of groups: for each particle of the row a
 *              bit for each of the tile's; of vectors: for each of the tile's a bit for each of the
 *              row's
 * gm_near      [frames][clusters][room.y] names of slots
 * gm_beyond    [2] the bits of all numbers of tiles, and of particles, that there was no room for,
 *              together. 0 beforehand */
#if !defined(LEY_CLUSTER) || !defined(LEY_FULL) || !defined(LEY_PTX)
#error "the specification is incomplete: see LEY_LIST_TILES_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list.h"
#include "list_row.h"

/* The shift of other clusters' names, whose boxes these are; -1: they are out of reach. Along each
 * vector all images are too far, or else the nearest ones of the middles are, and no pair has
 * another image that is near. Boxes may have any size: where they are so wide that their nearest
 * image is not the same for all pairs, they are in reach, with LEY_LIST_EACH, unless all images are
 * too far. */
LEY_FN real near_shift(LEY_GLOBAL const float4 *gm_frame, float4 middle, float4 size, real x, real y, real z, real hx,
                       real hy, real hz, float reach)
{
    const float4 u = gm_frame[0], v = gm_frame[1], w = gm_frame[2];
    const float4 of_u = gm_frame[3], of_v = gm_frame[4], of_w = gm_frame[5];
    real dx = x - middle.x, dy = y - middle.y, dz = z - middle.z;
    hx += size.x;
    hy += size.y;
    hz += size.z;
    real f_u = of_u.x * dx + of_u.y * dy + of_u.z * dz, f_v = of_v.x * dx + of_v.y * dy + of_v.z * dz,
         f_w = of_w.x * dx + of_w.y * dy + of_w.z * dz;
    const real n_u = LEY_WHOLE(f_u), n_v = LEY_WHOLE(f_v), n_w = LEY_WHOLE(f_w);
    const real e_u = fabs(of_u.x) * hx + fabs(of_u.y) * hy + fabs(of_u.z) * hz,
               e_v = fabs(of_v.x) * hx + fabs(of_v.y) * hy + fabs(of_v.z) * hz,
               e_w = fabs(of_w.x) * hx + fabs(of_w.y) * hy + fabs(of_w.z) * hz;
    f_u = LEY_ABS(f_u - n_u);
    f_v = LEY_ABS(f_v - n_v);
    f_w = LEY_ABS(f_w - n_w);
    dx = LEY_MAX(LEY_ABS(dx - (n_u * u.x + n_v * v.x + n_w * w.x)) - hx, (real)0);
    dy = LEY_MAX(LEY_ABS(dy - (n_u * u.y + n_v * v.y + n_w * w.y)) - hy, (real)0);
    dz = LEY_MAX(LEY_ABS(dz - (n_u * u.z + n_v * v.z + n_w * w.z)) - hz, (real)0);
    const real widest = LEY_MAX(LEY_MAX(f_u + e_u, f_v + e_v), f_w + e_w),
               farthest = LEY_MAX(LEY_MAX(f_u - e_u - of_u.w, f_v - e_v - of_v.w), f_w - e_w - of_w.w);
    const real shift = widest < (real)0.49999f ? n_u + 3 * n_v + 9 * n_w + LEY_LIST_NONE : (real)LEY_LIST_EACH;
    const real apart = widest < (real)0.49999f ? dx * dx + dy * dy + dz * dz : (real)0;
    const real found = apart <= (real)(reach * reach) ? shift : (real)-1.0f;
    return x == x && farthest <= (real)1e-5f ? found : (real)-1.0f;
}

#if LEY_WIDTH == 1
#include "list_tiles_group.h"
#else
#include "list_tiles_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_CLUSTER : 1, 1, 1) list_tiles(LEY_PARAMETERS(LEY_LIST_TILES_ARGUMENTS))
{
    const int row = (int)LEY_GROUP_ID(0);
    const size_t frame = LEY_GROUP_ID(1), own = frame * clusters + row;
    tiles_row r;
    r.gm_sorted = gm_sorted + frame * clusters * LEY_CLUSTER;
    r.gm_own = gm_own + own * LEY_CLUSTER;
    r.gm_slot = gm_slot + frame * padded;
    r.gm_first = gm_first;
    r.gm_excluded = gm_excluded;
    r.gm_box = gm_box + frame * 6 * pitch;
    r.gm_frame = gm_frames + frame * LEY_LIST_ROWS;
    r.row = row;
    r.clusters = clusters;
    r.blocks = (clusters + LEY_LIST_BLOCK - 1) / LEY_LIST_BLOCK;
    r.pitch = pitch;
    r.room_tiles = room.x;
    r.room_near = room.y;
    r.gm_tiles = gm_tiles + own * room.x;
    r.gm_masks = gm_masks + own * room.x * LEY_CLUSTER;
    r.gm_near = gm_near + own * room.y;
    r.tiles = r.near = 0;
    r.middle = box_part(&r, 0, row);
    r.size = box_part(&r, 3, row);
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float4 sm_own[LEY_CLUSTER];
    LEY_LOCAL_VARIABLE int sm_name[LEY_CLUSTER + 1];
    collect_row(&r, reach, sm_own, sm_name);
#else
    LEY_LOCAL_VARIABLE float sm_own[3 * LEY_CLUSTER];
    collect_row(&r, reach, sm_own);
#endif
    if (LEY_LOCAL_ID(0) == 0) {
        LEY_GLOBAL int *gm_counts = (LEY_GLOBAL int *)(gm_rows + own);
        gm_counts[0] = r.tiles;
        gm_counts[1] = r.near;
        if (r.tiles > room.x)
            LEY_ATOMIC_OR(&gm_beyond[0], r.tiles);
        if (r.near > room.y)
            LEY_ATOMIC_OR(&gm_beyond[1], r.near);
    }
}
