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
 * room         for neighbours of a particle; a multiple of LEY_WIDTH
 * offset       of each particle's energy
 * gm_list      [frames][padded][room] a particle's neighbours; of vectors see lcpo_vectors.h
 * gm_energy    [frames][LEY_TERM_COUNT][padded]; infinite: there is no room for all neighbours
 *
 * Global size: padded / LEY_WIDTH, frames. */
#if !defined(LEY_PERIODIC) || !defined(LEY_WG)
#error "the specification is incomplete: see LEY_LCPO_KEYS in spec.h"
#endif
#include "dialect.h"

#include "energy_image.h"

/* The energy from the sums over pairs; infinite: there was no room for all. */
LEY_FN float energy_of(float offset, float4 factors, float radius, float pairs, float others, float products,
                       bool has_room)
{
    const float area = factors.x * (12.566371f * radius * radius) + factors.y * pairs + factors.z * others +
                       factors.w * products;
    return has_room ? offset + area : LEY_AS_FLOAT(0x7f800000);
}

#if LEY_WIDTH == 1
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

#else
#include "lcpo_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) lcpo(LEY_PARAMETERS(LEY_LCPO_ARGUMENTS))
{
    const size_t own = LEY_GLOBAL_ID(0) * LEY_WIDTH, frame = LEY_GLOBAL_ID(1);
    if (own >= (size_t)padded)
        return;
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    image_cell cell LEY_CLEARED;
#endif
    LEY_GLOBAL const float4 *gm_at = gm_position + frame * padded;
    LEY_GLOBAL int *gm_own = gm_list + (frame * padded + own) * room;
    LEY_GLOBAL float *gm_made = gm_energy + (frame * LEY_TERM_COUNT + LEY_TERM_SURFACE) * padded + own;
#if LEY_WIDTH == 1
    const float4 at = gm_at[own];
    const float radius = gm_radius[own];
    const int count = radius > 0 ? find_neighbours(gm_at, cell, gm_radius, n, room, (int)own, at, radius, gm_own) : 0;
    float pairs = 0, others = 0, products = 0;
    for (int j = 0; j < count && count <= room; j++) {
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
    *gm_made = energy_of(offset, gm_factors[own], radius, pairs, others, products, count <= room);
#else
    LEY_GLOBAL float *gm_near = (LEY_GLOBAL float *)(gm_list + LEY_GROUPS(1) * padded * room) +
                                (frame * padded + own) / LEY_WIDTH * 4 * room;
    int counts[LEY_WIDTH];
    find_all(gm_at, &cell, gm_radius, n, room, own, gm_own, counts);
    for (int lane = 0; lane < LEY_WIDTH; lane++) {
        const bool has_room = counts[lane] <= room;
        const float4 sums = sum_pairs(gm_at, &cell, gm_radius, gm_at[own + lane], gm_radius[own + lane],
                                      gm_own + (size_t)lane * room, has_room ? counts[lane] : 0, room, gm_near);
        gm_made[lane] = energy_of(offset, gm_factors[own + lane], gm_radius[own + lane], sums.x, sums.y, sums.z,
                                  has_room);
    }
#endif
}
