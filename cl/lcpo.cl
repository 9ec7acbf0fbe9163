/* Areas of particles by linear combinations of pairwise overlaps, frame after frame: of the spheres
 * of radius R around particles, neighbours being those whose spheres overlap,
 *
 *     area_i = P1 S_i + P2 sum_j A_ij + P3 sum_j sum_k A_jk + P4 sum_j A_ij sum_k A_jk,
 *
 * S_i = 4 pi R_i^2, A_ij = 2 pi R_i (R_i - r/2 - (R_i^2 - R_j^2) / (2 r)); j and k other neighbours
 * of i. J. Weiser, P. S. Shenkin and W. C. Still, J. Comput. Chem. 20, 217 (1999).
 *
 * gm_position  [frames][padded] x, y, z, charge
 * gm_cell      where LEY_PERIODIC, [frames][6]: see energy_image.h
 * gm_radius    [padded], with the probe; 0: there is no sphere
 * gm_factors   [padded] P1 to P4, times the tension
 * n            particles that are there
 * room         for neighbours of a particle
 * offset       of each particle's energy
 * gm_list      [frames][padded][room] a work-item's own neighbours
 * gm_energy    [frames][LEY_TERM_COUNT][padded]; infinite: there is no room for all neighbours
 *
 * Global size: padded, frames. */
#if !defined(LEY_PERIODIC)
#error "the specification is incomplete: see LEY_LCPO_KEYS in spec.h"
#endif
#include "dialect.h"

#include "energy_image.h"

/* The square of the way between two. */
LEY_FN float square_between(float4 a, float4 b, LEY_REFERENCE(image_cell) cell)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
#if LEY_PERIODIC
    ley_bring_near(cell, &x, &y, &z);
#endif
    return x * x + y * y + z * z;
}

/* What sphere b buries of sphere a. */
LEY_FN float buried(float a, float b, float square)
{
    const float inverse = LEY_RSQRT(square), r = square * inverse;
    return r < a + b ? 6.2831853f * a * (a - 0.5f * r - (a * a - b * b) * 0.5f * inverse) : 0;
}

/* Neighbours of a particle; how many it has. */
LEY_FN int find_neighbours(LEY_GLOBAL const float4 *gm_position, LEY_REFERENCE(image_cell) cell,
                           LEY_GLOBAL const float *gm_radius, int n, int room, int own, float4 at, float radius,
                           LEY_GLOBAL int *gm_own)
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        const float reach = radius + gm_radius[j];
        if (square_between(at, gm_position[j], cell) < reach * reach && gm_radius[j] > 0 && j != own) {
            if (count < room)
                gm_own[count] = j;
            count++;
        }
    }
    return count;
}

LEY_KERNEL lcpo(LEY_PARAMETERS(LEY_LCPO_ARGUMENTS))
{
    const size_t own = LEY_GLOBAL_ID(0), frame = LEY_GLOBAL_ID(1);
    if (own >= (size_t)padded)
        return;
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    image_cell cell LEY_CLEARED;
#endif
    LEY_GLOBAL const float4 *gm_at = gm_position + frame * padded;
    LEY_GLOBAL int *gm_own = gm_list + (frame * padded + own) * room;
    const float4 at = gm_at[own], factors = gm_factors[own];
    const float radius = gm_radius[own];
    const int count = radius > 0 ? find_neighbours(gm_at, cell, gm_radius, n, room, (int)own, at, radius, gm_own) : 0;
    const bool has_room = count <= room;
    float pairs = 0, others = 0, products = 0;
    for (int j = 0; j < count && has_room; j++) {
        const int first = gm_own[j];
        const float4 between = gm_at[first];
        const float a = gm_radius[first], of_own = buried(radius, a, square_between(at, between, cell));
        float sum = 0;
        for (int k = 0; k < count; k++) {
            const int second = gm_own[k];
            const float square = k == j ? 1 : square_between(between, gm_at[second], cell);
            sum += k == j ? 0 : buried(a, gm_radius[second], square);
        }
        pairs += of_own;
        others += sum;
        products += of_own * sum;
    }
    const float energy = offset + factors.x * (12.566371f * radius * radius) + factors.y * pairs + factors.z * others +
                         factors.w * products;
    gm_energy[(frame * LEY_TERM_COUNT + LEY_TERM_SURFACE) * padded + own] =
        has_room ? energy : LEY_AS_FLOAT(0x7f800000);
}
