/* Energies and forces of the pairs of lists, of frames: for each particle half of the energies of
 * its pairs, and its force, from the formulas of pair_terms.h.
 *
 * gm_sorted    [frames][clusters LEY_CLUSTER] as list_place.cl has put them
 * gm_sorted_type  [frames][clusters LEY_CLUSTER]
 * gm_frames    as in list.h
 * gm_rows, gm_tiles, gm_masks, gm_near  as in list_tiles.cl, made with the same LEY_CLUSTER and
 *              LEY_FULL
 * room         {tiles, particles, parts, types}: what a row has room for; work-groups for a row, of
 *              vectors 1; types
 * gm_table     [types][types] {a, b} of a pair's Lennard-Jones energy
 * numbers, series  as in pair_terms.h
 * scale        {Coulomb's constant, quanta in kcal/mol, quanta in kcal/mol/A, the most quanta}
 * gm_sums      [frames][LEY_LIST_SUMS][clusters LEY_CLUSTER] integers of 64 bits, the lower half
 *              first: what is added here with a LEY_FULL of 0, quanta; energies are doubled
 * gm_floats    [frames][parts][LEY_LIST_SUMS][clusters LEY_CLUSTER] what is written with 1, of
 *              rows that were made
 * gm_done      [frames] {becomes 1 where there was no room in the sums; with a LEY_FULL of 0
 *              work-groups that have done their part, as they add up: of rows that were made, which
 *              have one tile at least}
 *
 * A work-group has a part of a row, or, of vectors, a work-item the whole one. Work-groups: parts
 * of rows, and frames. */
#if !defined(LEY_CLUSTER) || !defined(LEY_FULL) || !defined(LEY_SUB_GROUPS) || !defined(LEY_LENNARD_JONES) || \
    !defined(LEY_COULOMB) || !defined(LEY_FORCES) || !defined(LEY_TYPES) || !defined(LEY_EXP)
#error "the specification is incomplete: see LEY_LISTED_PAIRS_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list.h"
#include "pair_sums.h"
#include "pair_terms.h"

#if LEY_WIDTH == 1
#include "listed_pairs_group.h"
#else
#include "listed_pairs_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_CLUSTER : 1, 1, 1) listed_pairs(LEY_PARAMETERS(LEY_LISTED_PAIRS_ARGUMENTS))
{
    const int parts = room.z, row = (int)LEY_GROUP_ID(0) / parts, part = (int)LEY_GROUP_ID(0) % parts;
    const size_t frame = LEY_GROUP_ID(1), slots = (size_t)clusters * LEY_CLUSTER, own = frame * clusters + row;
    LEY_GLOBAL const float4 *gm_frame = gm_frames + frame * LEY_LIST_ROWS, *gm_at = gm_sorted + frame * slots;
    LEY_GLOBAL const int *gm_type = gm_sorted_type + frame * slots, *gm_tile = gm_tiles + own * room.x,
                         *gm_mask = gm_masks + own * room.x * LEY_CLUSTER, *gm_list = gm_near + own * room.y;
    const int2 counts = gm_rows[own];
    const int tiles = min(counts.x, room.x), near = min(counts.y, room.y);
    LEY_GLOBAL float *gm_own = gm_floats + (frame * parts + part) * LEY_LIST_SUMS * slots + (size_t)row * LEY_CLUSTER;
#if LEY_WIDTH > 1
    LEY_LOCAL_VARIABLE float sm_table[2 * (LEY_TYPES > 0 ? LEY_TYPES : 1) * LEY_WIDTH];
    LEY_LOCAL_VARIABLE float4 sm_shift[LEY_LIST_EACH + 1];
    const pair_sums sums = row_sums(gm_frame, gm_at, gm_type, row, gm_tile, tiles, gm_mask, gm_list, near, room.w,
                                    gm_table, numbers, series, scale.x, sm_table, sm_shift);
    if (tiles > 0)
        store_sums(&sums, slots, gm_own);
#else
    LEY_LOCAL_VARIABLE float4 sm_other[LEY_CLUSTER];
    LEY_LOCAL_VARIABLE int sm_type[LEY_CLUSTER];
    LEY_LOCAL_VARIABLE float sm_taken[LEY_CLUSTER];
    own_particles particles;
    pair_sums sums[OWN];
    const int lane = LEY_LOCAL_ID(0), chunks = tiles + (near + LEY_CLUSTER - 1) / LEY_CLUSTER;
    load_row(gm_at + row * LEY_CLUSTER, gm_type + row * LEY_CLUSTER, room.w, scale.x, &particles);
    FOR_OWN(u) clear_sums(&sums[u]);
    for (int chunk = part; chunk < chunks; chunk += parts) {
        const int entry = (chunk - tiles) * LEY_CLUSTER + lane, is_tile = chunk < tiles;
        const int name = is_tile ? gm_tile[chunk] : entry < near ? gm_list[entry] : -1,
                  slot = name < 0 ? -1 : (name & LEY_LIST_NUMBER) * (is_tile ? LEY_CLUSTER : 1) + (is_tile ? lane : 0),
                  shift = name < 0 ? LEY_LIST_NONE : name >> LEY_LIST_SHIFT;
        const unsigned marks =
            is_tile ? particles.there & marks_of(gm_mask + (size_t)chunk * LEY_CLUSTER) : particles.there;
        stage_other(gm_frame, gm_at, gm_type, slot, shift, sm_other, sm_type);
        const pair_sums others =
            add_staged(gm_frame, &particles, gm_table, marks, numbers, series, sm_other, sm_type, sm_taken, sums);
#if !LEY_FULL
        if (slot >= 0)
            add_to_memory(&others, slot, slots, scale, gm_sums + frame * LEY_LIST_SUMS * slots, gm_done + frame);
#endif
    }
    const pair_sums own_sums = row_sums(sums, sm_taken);
#if LEY_FULL
    if (tiles > 0)
        store_sums_at(&own_sums, slots, gm_own + lane);
#else
    add_to_memory(&own_sums, row * LEY_CLUSTER + lane, slots, scale, gm_sums + frame * LEY_LIST_SUMS * slots,
                  gm_done + frame);
    if (lane == 0 && tiles > 0)
        LEY_ATOMIC_ADD((LEY_GLOBAL int *)(gm_done + frame) + 1, 1);
#endif
#endif
}
