/* Particles to their slots: by bins, within a bin by their numbers.
 *
 * gm_position, particles, padded, gm_next, gm_bin  as in list_bins.cl
 * gm_type      [padded]
 * slots        of a frame: a multiple of clusters
 * bins         of a frame
 * gm_first     [frames][bins] slots before a bin's
 * gm_head      [frames][bins] as in list_bins.cl
 * gm_slot      [frames][padded] the slot of each particle
 * gm_own       [frames][slots] the particle of each slot; -1: none
 * gm_sorted    [frames][slots] {x, y, z, charge}, or as LEY_PLANAR says; of no particle: no numbers
 * gm_sorted_type  [frames][slots]; of no particle: 0
 *
 * Global size: slots, rounded up to work-groups, and frames. */
#if !defined(LEY_CLUSTER) || !defined(LEY_PLANAR)
#error "the specification is incomplete: see LEY_LIST_PLACE_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list_sorted.h"

LEY_KERNEL list_place(LEY_PARAMETERS(LEY_LIST_PLACE_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    if (i >= slots)
        return;
    if (i >= particles) {
        const float none = LEY_AS_FLOAT(0x7fc00000);
        gm_own[frame * slots + i] = -1;
        ley_sorted_store(gm_sorted + frame * slots, i, LEY_FLOAT4(none, none, none, 0));
        gm_sorted_type[frame * slots + i] = 0;
        return;
    }
    const size_t bin = frame * bins + gm_bin[frame * padded + i];
    int slot = gm_first[bin];
    for (int other = gm_head[bin]; other > 0; other = gm_next[frame * padded + other - 1])
        slot += other - 1 < i ? 1 : 0;
    gm_slot[frame * padded + i] = slot;
    gm_own[frame * slots + slot] = i;
    ley_sorted_store(gm_sorted + frame * slots, slot, gm_position[frame * padded + i]);
    gm_sorted_type[frame * slots + slot] = gm_type[i];
}
