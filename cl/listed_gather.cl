/* What listed_pairs.cl has summed, from slots to particles of frames.
 *
 * particles, padded  of a frame, and places of a frame
 * gm_slot, gm_own  as in list_place.cl
 * slots, parts, gm_sums, gm_floats, gm_done  as in listed_pairs.cl
 * per_quantum  {kcal/mol of half an energy, kcal/mol/A} in a quantum
 * has_forces   whether forces are wanted
 * terms        {all, Lennard-Jones', Coulomb's, groups}: how many terms energies have, and which
 *              these are; work-groups that sum a frame's pairs
 * gm_energy    [frames][terms][padded] half of the energies of a particle's pairs, infinite in a
 *              frame that there was no room for, no number in one that is not whole, or of a
 *              particle that is not in its slot; behind the last particle: 0
 * gm_force     [frames][padded] {x, y, z, -} to which forces are added
 *
 * Global size: padded, rounded up to work-groups, and frames. */
#if !defined(LEY_FULL)
#error "the specification is incomplete: see LEY_LISTED_GATHER_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL listed_gather(LEY_PARAMETERS(LEY_LISTED_GATHER_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    if (i >= padded)
        return;
    LEY_GLOBAL float *gm_made = gm_energy + frame * terms.x * padded + i;
    float sum[LEY_LIST_SUMS] = {0, 0, 0, 0, 0};
    if (i < particles) {
        const size_t slot = gm_slot[frame * padded + i], all = LEY_LIST_SUMS * (size_t)slots;
        for (int k = 0; k < LEY_LIST_SUMS; k++) {
#if LEY_FULL
            for (int part = 0; part < parts; part++)
                sum[k] += gm_floats[(frame * parts + part) * all + k * (size_t)slots + slot];
#else
            sum[k] = (float)LEY_LONG_AT(gm_sums + frame * all + k * (size_t)slots + slot) *
                     (k < 2 ? per_quantum.x : per_quantum.y);
#endif
        }
        const int2 done = gm_done[frame];
        if ((!LEY_FULL && done.y != terms.w) || gm_own[frame * slots + slot] != i)
            sum[0] = sum[1] = LEY_AS_FLOAT(0x7fc00000);
        if (done.x != 0)
            sum[0] = sum[1] = LEY_AS_FLOAT(0x7f800000);
    }
    gm_made[(size_t)terms.y * padded] = sum[0];
    gm_made[(size_t)terms.z * padded] = sum[1];
    if (has_forces && i < particles) {
        LEY_GLOBAL float4 *gm_to = gm_force + frame * padded + i;
        const float4 before = *gm_to;
        *gm_to = LEY_FLOAT4(before.x + sum[2], before.y + sum[3], before.z + sum[4], before.w);
    }
}
