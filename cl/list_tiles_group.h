/* What a work-group of list_tiles.cl does: it has a row, a work-item for each of its particles, and
 * then for each of those of another cluster. */
#ifndef LEY_LIST_TILES_GROUP_H
#define LEY_LIST_TILES_GROUP_H

/* A bit for each work-item that wants. *sm_word is free for it. */
LEY_FN unsigned all_votes(bool wants, LEY_LOCAL int *sm_word)
{
#if LEY_VOTES(LEY_CLUSTER)
    return ley_votes(wants);
#else
    LEY_BARRIER();
    if (LEY_LOCAL_ID(0) == 0)
        *sm_word = 0;
    LEY_BARRIER();
    if (wants)
        LEY_ATOMIC_OR(sm_word, (int)(1u << LEY_LOCAL_ID(0)));
    LEY_BARRIER();
    return (unsigned)*sm_word;
#endif
}

/* The mask of a work-item's particle in a tile; *has_some: whether partners there are excluded. */
LEY_FN unsigned mask_of(const tiles_row *r, int particle, int cluster, bool *has_some)
{
    const int lane = LEY_LOCAL_ID(0);
    unsigned mask = 0xffffffffu;
    *has_some = false;
    if (cluster == r->row)
        mask = LEY_FULL ? ~(1u << lane) : ~((2u << lane) - 1);
    if (particle >= 0)
        for (int e = r->gm_first[particle]; e < r->gm_first[particle + 1]; e++) {
            const int slot = r->gm_slot[r->gm_excluded[e]];
            if (slot / LEY_CLUSTER == cluster) {
                mask &= ~(1u << slot % LEY_CLUSTER);
                *has_some = true;
            }
        }
    return mask;
}

/* Whether what is at x, y, z is within reach of one of the row's particles. */
LEY_FN bool is_near(const tiles_row *r, LEY_LOCAL const float4 *sm_own, real x, real y, real z, bool each, float reach2)
{
    bool found = false;
    if (each) {
        ROLLED for (int k = 0; k < LEY_CLUSTER; k++) {
            real dx = x - sm_own[k].x, dy = y - sm_own[k].y, dz = z - sm_own[k].z;
            LEY_NEAREST_IMAGE(r->gm_frame, dx, dy, dz)
            found = found || dx * dx + dy * dy + dz * dz < reach2;
        }
        return found;
    }
    UNROLL for (int k = 0; k < LEY_CLUSTER; k++) {
        const real dx = x - sm_own[k].x, dy = y - sm_own[k].y, dz = z - sm_own[k].z;
        found = found || dx * dx + dy * dy + dz * dz < reach2;
    }
    return found;
}

LEY_FN void add_cluster(tiles_row *r, int name, unsigned excluded, int particle, float reach2,
                        LEY_LOCAL const float4 *sm_own, LEY_LOCAL int *sm_word)
{
    const int lane = LEY_LOCAL_ID(0), cluster = name & LEY_LIST_NUMBER, shift = name >> LEY_LIST_SHIFT;
    if (cluster == r->row || all_votes((excluded >> (cluster & 31) & 1) != 0, sm_word) != 0) {
        bool has_some;
        const unsigned mask = mask_of(r, particle, cluster, &has_some);
        if (cluster == r->row || all_votes(has_some, sm_word) != 0) {
            if (r->tiles < r->room_tiles) {
                if (lane == 0)
                    r->gm_tiles[r->tiles] = name;
                r->gm_masks[(size_t)r->tiles * LEY_CLUSTER + lane] = (int)mask;
            }
            r->tiles++;
            return;
        }
    }
    const float4 p = r->gm_sorted[(size_t)cluster * LEY_CLUSTER + lane], by = ley_list_shift(r->gm_frame, shift);
    const bool is = is_near(r, sm_own, p.x + by.x, p.y + by.y, p.z + by.z, shift == LEY_LIST_EACH, reach2);
    const unsigned votes = all_votes(is, sm_word);
    const int place = r->near + LEY_COUNT_BITS(votes & ((1u << lane) - 1));
    if (is && place < r->room_near)
        r->gm_near[place] = cluster * LEY_CLUSTER + lane + (shift << LEY_LIST_SHIFT);
    r->near += LEY_COUNT_BITS(votes);
}

/* What a box, if there is one, has as near_shift() does. */
LEY_FN int shift_of(const tiles_row *r, bool is_box, int box, float reach)
{
    if (!is_box)
        return -1;
    const float4 at = box_part(r, 0, box), across = box_part(r, 3, box);
    return (int)near_shift(r->gm_frame, r->middle, r->size, at.x, at.y, at.z, across.x, across.y, across.z, reach);
}

/* Adds what a block has among the `candidates` clusters from the row on. */
LEY_FN void add_block(tiles_row *r, int block, int candidates, unsigned excluded, int particle, float reach,
                      LEY_LOCAL const float4 *sm_own, LEY_LOCAL int *sm_name)
{
    const int lane = LEY_LOCAL_ID(0), cluster = block * LEY_LIST_BLOCK + lane,
              further = cluster - r->row + (cluster < r->row ? r->clusters : 0);
    const int shift = shift_of(r, cluster < r->clusters && further < candidates, cluster, reach);
    LEY_BARRIER_OF(LEY_CLUSTER);
    sm_name[lane] = cluster + (shift << LEY_LIST_SHIFT);
    LEY_BARRIER_OF(LEY_CLUSTER);
    for (unsigned votes = all_votes(shift >= 0, sm_name + LEY_CLUSTER); votes != 0; votes &= votes - 1)
        add_cluster(r, sm_name[LEY_LOWEST_BIT(votes)], excluded, particle, reach * reach, sm_own,
                    sm_name + LEY_CLUSTER);
}

/* Blocks from the row's on: all of them, or those that half of all clusters may be in. */
LEY_FN void collect_row(tiles_row *r, float reach, LEY_LOCAL float4 *sm_own, LEY_LOCAL int *sm_name)
{
    const int lane = LEY_LOCAL_ID(0), particle = r->gm_own[lane], middle_row = r->clusters / 2;
    const int candidates = LEY_FULL                                             ? r->clusters
                           : r->clusters % 2 != 0 || r->row < middle_row ? middle_row + 1
                                                                         : middle_row;
    const int blocks = LEY_FULL ? r->blocks : min(r->blocks, candidates / LEY_LIST_BLOCK + 3);
    const unsigned excluded = excluded_clusters(r, particle);
    sm_own[lane] = r->gm_sorted[(size_t)r->row * LEY_CLUSTER + lane];
    for (int begin = 0; begin < blocks; begin += LEY_CLUSTER) {
        int first = r->row / LEY_LIST_BLOCK + begin, block = first + lane;
        block -= block >= r->blocks ? r->blocks : 0;
        const int shift = shift_of(r, begin + lane < blocks, r->blocks * LEY_LIST_BLOCK + block, reach);
        for (unsigned votes = all_votes(shift >= 0, sm_name + LEY_CLUSTER); votes != 0; votes &= votes - 1) {
            int near = first + LEY_LOWEST_BIT(votes);
            near -= near >= r->blocks ? r->blocks : 0;
            add_block(r, near, candidates, excluded, particle, reach, sm_own, sm_name);
        }
    }
}

#endif
