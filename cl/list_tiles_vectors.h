/* What a work-item of list_tiles.cl does alone, on CPU devices: it has a row, of which vectors hold
 * all particles. */
#ifndef LEY_LIST_TILES_VECTORS_H
#define LEY_LIST_TILES_VECTORS_H

/* Whether the cluster is a tile of the row; its masks then. */
LEY_FN bool find_masks(const tiles_row *r, int cluster, int *mask)
{
    bool found = cluster == r->row;
    for (int k = 0; k < LEY_CLUSTER; k++)
        mask[k] = (1 << LEY_CLUSTER) - 1 - (found ? 1 << k : 0);
    for (int i = 0; i < LEY_CLUSTER; i++) {
        const int particle = r->gm_own[i];
        for (int e = particle < 0 ? 0 : r->gm_first[particle]; particle >= 0 && e < r->gm_first[particle + 1]; e++) {
            const int slot = r->gm_slot[r->gm_excluded[e]];
            if (slot / LEY_CLUSTER == cluster) {
                mask[slot % LEY_CLUSTER] &= ~(1 << i);
                found = true;
            }
        }
    }
    return found;
}

/* The squares of the distances of a cluster's particles, at x, y, z, from the nearest of the
 * row's. */
LEY_FN real least_square(const tiles_row *r, __local const float *sm_own, real x, real y, real z, bool each)
{
    real least = (real)1e30f;
    if (each) {
        for (int i = 0; i < LEY_CLUSTER; i++) {
            real dx = x - sm_own[i], dy = y - sm_own[LEY_CLUSTER + i], dz = z - sm_own[2 * LEY_CLUSTER + i];
            LEY_NEAREST_IMAGE(r->gm_frame, dx, dy, dz)
            least = LEY_MIN(least, dx * dx + dy * dy + dz * dz);
        }
        return least;
    }
    UNROLL for (int i = 0; i < LEY_CLUSTER; i++) {
        const real dx = x - sm_own[i], dy = y - sm_own[LEY_CLUSTER + i], dz = z - sm_own[2 * LEY_CLUSTER + i];
        least = LEY_MIN(least, dx * dx + dy * dy + dz * dz);
    }
    return least;
}

LEY_FN void add_cluster(tiles_row *r, int cluster, int shift, unsigned excluded, __local const float *sm_own,
                        float reach2)
{
    int mask[LEY_CLUSTER];
    float squares[LEY_CLUSTER];
    if ((cluster == r->row || (excluded >> (cluster & 31) & 1) != 0) && find_masks(r, cluster, mask)) {
        if (r->tiles < r->room_tiles) {
            r->gm_tiles[r->tiles] = cluster + (shift << LEY_LIST_SHIFT);
            for (int k = 0; k < LEY_CLUSTER; k++)
                r->gm_masks[r->tiles * LEY_CLUSTER + k] = mask[k];
        }
        r->tiles++;
        return;
    }
    const float4 by = ley_list_shift(r->gm_frame, shift);
    __global const float *gm_at = (__global const float *)(r->gm_sorted + cluster * LEY_CLUSTER);
    const real square = least_square(r, sm_own, LEY_LOAD(gm_at) + by.x, LEY_LOAD(gm_at + LEY_CLUSTER) + by.y,
                                     LEY_LOAD(gm_at + 2 * LEY_CLUSTER) + by.z, shift == LEY_LIST_EACH);
    const int name = cluster * LEY_CLUSTER + (shift << LEY_LIST_SHIFT);
#if LEY_ROOT == LEY_ROOT_AVX512
    if (r->near + LEY_WIDTH <= r->room_near) {
        const unsigned marks = ley_lanes_below(square, reach2);
        const int16 names = name + (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        vstore16(as_int16(ley_marked_lanes(as_float16(names), marks)), 0, r->gm_near + r->near);
        r->near += popcount(marks);
        return;
    }
#endif
    LEY_PASTE(vstore, LEY_WIDTH)(square, 0, squares);
    for (int k = 0; k < LEY_CLUSTER; k++) {
        if (r->near < r->room_near)
            r->gm_near[r->near] = name + k;
        r->near += squares[k] < reach2 ? 1 : 0;
    }
}

/* What each of LEY_WIDTH boxes, from number `first` on, has as near_shift() does, to shift[];
 * whether one is in reach. */
LEY_FN bool shifts_of(const tiles_row *r, int first, float reach, float *shift)
{
    __global const float *gm_at = r->gm_box + first;
    const size_t pitch = r->pitch;
    const real found = near_shift(r->gm_frame, r->middle, r->size, LEY_LOAD(gm_at), LEY_LOAD(gm_at + pitch),
                                  LEY_LOAD(gm_at + 2 * pitch), LEY_LOAD(gm_at + 3 * pitch),
                                  LEY_LOAD(gm_at + 4 * pitch), LEY_LOAD(gm_at + 5 * pitch), reach);
    if (!any(found >= (real)0))
        return false;
    LEY_PASTE(vstore, LEY_WIDTH)(found, 0, shift);
    return true;
}

LEY_FN void add_block(tiles_row *r, int block, float reach, unsigned excluded, __local const float *sm_own)
{
    float shift[LEY_WIDTH];
    const int end = min((block + 1) * LEY_LIST_BLOCK, r->clusters);
    for (int begin = block * LEY_LIST_BLOCK; begin < end; begin += LEY_WIDTH)
        if (shifts_of(r, begin, reach, shift))
            for (int k = 0; k < LEY_WIDTH; k++)
                if (shift[k] >= 0)
                    add_cluster(r, begin + k, (int)shift[k], excluded, sm_own, reach * reach);
}

LEY_FN void collect_row(tiles_row *r, float reach, __local float *sm_own)
{
    __global const float *gm_row = (__global const float *)(r->gm_sorted + r->row * LEY_CLUSTER);
    float shift[LEY_WIDTH];
    unsigned excluded = 0;
    for (int i = 0; i < LEY_CLUSTER; i++) {
        const float x = gm_row[i];
        sm_own[i] = x == x ? x : 1e12f; /* behind the last particle */
        sm_own[LEY_CLUSTER + i] = gm_row[LEY_CLUSTER + i];
        sm_own[2 * LEY_CLUSTER + i] = gm_row[2 * LEY_CLUSTER + i];
        excluded |= excluded_clusters(r, r->gm_own[i]);
    }
    for (int begin = 0; begin < r->blocks; begin += LEY_WIDTH)
        if (shifts_of(r, r->blocks * LEY_LIST_BLOCK + begin, reach, shift))
            for (int k = 0; k < LEY_WIDTH; k++)
                if (shift[k] >= 0)
                    add_block(r, begin + k, reach, excluded, sm_own);
}

#endif
