/* A row of the list while list_tiles.cl makes it. */
#ifndef LEY_LIST_ROW_H
#define LEY_LIST_ROW_H

typedef struct {
    LEY_GLOBAL const float4 *gm_sorted, *gm_frame;
    LEY_GLOBAL const int *gm_own, *gm_slot, *gm_first, *gm_excluded;
    LEY_GLOBAL const float *gm_box;
    LEY_GLOBAL int *gm_tiles, *gm_masks, *gm_near;
    float4 middle, size; /* of its own box */
    int row, clusters, blocks, pitch, room_tiles, room_near;
    int tiles, near;
} tiles_row;

/* Three numbers, from number `part` on, of a box: of a cluster's, or behind them of a block's. */
LEY_FN float4 box_part(const tiles_row *r, int part, int box)
{
    LEY_GLOBAL const float *gm_at = r->gm_box + (size_t)part * r->pitch + box;
    return LEY_FLOAT4(gm_at[0], gm_at[r->pitch], gm_at[2 * (size_t)r->pitch], 0);
}

/* A bit for the cluster of each excluded partner of a particle, of which several share one. */
LEY_FN unsigned excluded_clusters(const tiles_row *r, int particle)
{
    unsigned bits = 0;
    if (particle >= 0)
        for (int e = r->gm_first[particle]; e < r->gm_first[particle + 1]; e++)
            bits |= 1u << (r->gm_slot[r->gm_excluded[e]] / LEY_CLUSTER & 31);
    return bits;
}

#endif
