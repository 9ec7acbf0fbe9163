/* Lennard-Jones and Coulomb energies of pairs that have their own, without cutoff, frame after
 * frame; each particle gathers its own.
 *
 * gm_position  [frames][padded] x, y, z, charge
 * gm_cell      where LEY_PERIODIC, [frames][6]: see energy_image.h
 * gm_first     [padded + 1] where a particle's pairs begin in
 * gm_partner   the other particle, and
 * gm_numbers   a, b, and the product of charges times Coulomb's constant
 * gm_energy    [frames][LEY_TERM_COUNT][padded]
 * gm_force     where LEY_FORCES, [frames][padded], to which forces are added
 *
 * Global size: padded, frames. */
#if !defined(LEY_PERIODIC) || !defined(LEY_FORCES)
#error "the specification is incomplete: see LEY_PAIRS_14_KEYS in spec.h"
#endif
#include "dialect.h"

#include "energy_image.h"

LEY_KERNEL pairs_14(LEY_PARAMETERS(LEY_PAIRS_14_ARGUMENTS))
{
    const size_t own = LEY_GLOBAL_ID(0), frame = LEY_GLOBAL_ID(1);
    if (own >= (size_t)padded)
        return;
    const float4 at = gm_position[frame * padded + own];
    float lennard_jones = 0, coulomb = 0, force_x = 0, force_y = 0, force_z = 0;
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#endif
    for (int k = gm_first[own]; k < gm_first[own + 1]; k++) {
        const float4 other = gm_position[frame * padded + gm_partner[k]], numbers = gm_numbers[k];
        float x = at.x - other.x, y = at.y - other.y, z = at.z - other.z;
#if LEY_PERIODIC
        ley_bring_nearest(cell, &x, &y, &z);
#endif
        const float inverse = LEY_RSQRT(x * x + y * y + z * z), inverse2 = inverse * inverse,
                    inverse6 = inverse2 * inverse2 * inverse2, electric = numbers.z * inverse;
        lennard_jones += inverse6 * (numbers.x * inverse6 - numbers.y);
        coulomb += electric;
#if LEY_FORCES
        const float slope =
            inverse2 * (electric + 6 * inverse6 * (2 * numbers.x * inverse6 - numbers.y));
        force_x += slope * x;
        force_y += slope * y;
        force_z += slope * z;
#endif
    }
    LEY_GLOBAL float *gm_own = gm_energy + frame * LEY_TERM_COUNT * padded + own;
    gm_own[(size_t)LEY_TERM_LENNARD_JONES_14 * padded] = 0.5f * lennard_jones;
    gm_own[(size_t)LEY_TERM_COULOMB_14 * padded] = 0.5f * coulomb;
#if LEY_FORCES
    gm_force[frame * padded + own].x += force_x;
    gm_force[frame * padded + own].y += force_y;
    gm_force[frame * padded + own].z += force_z;
#endif
}
