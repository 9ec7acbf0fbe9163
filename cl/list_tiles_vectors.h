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

LEY_FN bool is_near(const tiles_row *r, real x, real y, real z, float4 p, bool each, float reach2)
{
    real dx = x - p.x, dy = y - p.y, dz = z - p.z;
    if (each)
        LEY_NEAREST_IMAGE(r->gm_frame, dx, dy, dz)
    return any(dx * dx + dy * dy + dz * dz < (real)reach2);
}

LEY_FN void add_cluster(tiles_row *r, int cluster, int shift, unsigned excluded, real x, real y, real z, float4 middle,
                        float4 size, float reach2)
{
    int mask[LEY_CLUSTER];
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
    const bool each = shift == LEY_LIST_EACH;
    for (int k = 0; k < LEY_CLUSTER; k++) {
        const float4 p = r->gm_sorted[cluster * LEY_CLUSTER + k] + by;
        const float gx = fmax(fabs(p.x - middle.x) - size.x, 0.0f), gy = fmax(fabs(p.y - middle.y) - size.y, 0.0f),
                    gz = fmax(fabs(p.z - middle.z) - size.z, 0.0f);
        if ((each || gx * gx + gy * gy + gz * gz < reach2) && is_near(r, x, y, z, p, each, reach2)) {
            if (r->near < r->room_near)
                r->gm_near[r->near] = cluster * LEY_CLUSTER + k + (shift << LEY_LIST_SHIFT);
            r->near++;
        }
    }
}

LEY_FN void make_row(tiles_row *r, float reach)
{
    const float4 middle = box_part(r, 0, r->row), size = box_part(r, 3, r->row);
    float own[3][LEY_WIDTH], shift[LEY_WIDTH];
    unsigned excluded = 0;
    for (int i = 0; i < LEY_WIDTH; i++) {
        const float4 p = r->gm_sorted[r->row * LEY_CLUSTER + i];
        own[0][i] = p.x;
        own[1][i] = p.y;
        own[2][i] = p.z;
        excluded |= excluded_clusters(r, r->gm_own[i]);
    }
    const real x = LEY_LOAD(own[0]), y = LEY_LOAD(own[1]), z = LEY_LOAD(own[2]);
    for (int begin = 0; begin < r->clusters; begin += LEY_WIDTH) {
        __global const float *gm_at = r->gm_box + begin;
        const size_t pitch = r->pitch;
        const real found = near_shift(r->gm_frame, middle, size, LEY_LOAD(gm_at), LEY_LOAD(gm_at + pitch),
                                      LEY_LOAD(gm_at + 2 * pitch), LEY_LOAD(gm_at + 3 * pitch),
                                      LEY_LOAD(gm_at + 4 * pitch), LEY_LOAD(gm_at + 5 * pitch), reach);
        if (!any(found >= (real)0))
            continue;
        LEY_PASTE(vstore, LEY_WIDTH)(found, 0, shift);
        for (int k = 0; k < LEY_WIDTH; k++)
            if (shift[k] >= 0)
                add_cluster(r, begin + k, (int)shift[k], excluded, x, y, z, middle, size, reach * reach);
    }
}

#endif
