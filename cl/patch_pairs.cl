/* Energies and forces of pairs within the cutoff by patches, as the first kernels for cards had
 * them (J. C. Phillips, J. E. Stone and K. Schulten, SC 2008): what listed_pairs.cl is measured
 * against, and nothing else takes. The cell is cut into patches at least as wide as the cutoff. A
 * work-group has a patch and one of the 27 that it and its neighbours are, with their image: a
 * work-item keeps a particle of the patch, and those of the other come through local memory.
 * listed_gather.cl, the second pass, adds up what a particle has of these 27.
 *
 * gm_sorted    [frames][slots] {x, y, z, charge}, patch by patch
 * gm_which     [frames][slots] {type, particle, bit, most}
 * gm_first     [frames][patches + 1] each patch's first slot
 * size         {patches along the cell's vectors, slots}
 * gm_cell      [frames][6]: the cell's vectors are the first three
 * gm_bits      bit + d, for each d from -most to most: whether a particle has no pair with the one
 *              whose number is greater by d; nor has it with itself
 * gm_table     [types][types] {a, b} of a pair's Lennard-Jones energy
 * numbers, series  as in pair_terms.h
 * scale        Coulomb's constant
 * gm_floats    [frames][27][LEY_LIST_SUMS][slots], all of which are written
 *
 * Work-groups: patches, 27, frames. */
#if !defined(LEY_WG) || !defined(LEY_LENNARD_JONES) || !defined(LEY_COULOMB)
#error "the specification is incomplete: see LEY_PATCH_PAIRS_KEYS in spec.h"
#endif
#include "dialect.h"

#include "pair_sums.h"
#include "pair_terms.h"

/* A place among `size`, of the image *whole, of one that is beside them. */
LEY_FN int wrapped(int at, int size, float *whole)
{
    *whole = at < 0 ? -1.0f : at < size ? 0.0f : 1.0f;
    return at < 0 ? at + size : at < size ? at : at - size;
}

LEY_FN bool is_excluded(LEY_GLOBAL const int *gm_bits, int particle, int4 other)
{
    const int d = particle - other.y, bit = other.z + d;
    return d >= -other.w && d <= other.w && (gm_bits[bit >> 5] >> (bit & 31) & 1) != 0;
}

LEY_FN void add_pair(float4 p, float4 other, LEY_GLOBAL const float2 *gm_pair, LEY_REFERENCE(sixteen) numbers,
                     LEY_REFERENCE(sixteen) series, float r2, pair_sums *s)
{
    const pair_terms t = ley_pair_terms(r2, gm_pair->x, gm_pair->y, p.w * other.w, numbers, series);
    s->lennard_jones += t.lennard_jones;
    s->coulomb += t.coulomb;
    s->x += t.slope * (p.x - other.x);
    s->y += t.slope * (p.y - other.y);
    s->z += t.slope * (p.z - other.z);
}

LEY_KERNEL_OF(LEY_WG, 1, 1) patch_pairs(LEY_PARAMETERS(LEY_PATCH_PAIRS_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE float4 sm_other[LEY_WG];
    LEY_LOCAL_VARIABLE int4 sm_which[LEY_WG];
    const int patch = (int)LEY_GROUP_ID(0), pair = (int)LEY_GROUP_ID(1), lane = LEY_LOCAL_ID(0), slots = size.w;
    const size_t frame = LEY_GROUP_ID(2);
    LEY_GLOBAL const float4 *gm_at = gm_sorted + frame * slots, *gm_vector = gm_cell + 6 * frame;
    LEY_GLOBAL const int4 *gm_who = gm_which + frame * slots;
    LEY_GLOBAL const int *gm_begin = gm_first + frame * (size.x * size.y * size.z + 1);
    LEY_GLOBAL float *gm_own = gm_floats + (frame * 27 + pair) * LEY_LIST_SUMS * slots;
    float a, b, c;
    const int x = wrapped(patch % size.x + pair % 3 - 1, size.x, &a),
              y = wrapped(patch / size.x % size.y + pair / 3 % 3 - 1, size.y, &b),
              z = wrapped(patch / (size.x * size.y) + pair / 9 - 1, size.z, &c), beside = (z * size.y + y) * size.x + x;
    const float4 u = gm_vector[0], v = gm_vector[1], w = gm_vector[2];
    const float by_x = a * u.x + b * v.x + c * w.x, by_y = a * u.y + b * v.y + c * w.y,
                by_z = a * u.z + b * v.z + c * w.z;
    const int end = gm_begin[patch + 1], others_end = gm_begin[beside + 1];
    for (int own = gm_begin[patch]; own < end; own += LEY_WG) {
        const int slot = min(own + lane, end - 1);
        float4 p = gm_at[slot];
        const int4 who = gm_who[slot];
        pair_sums sums;
        p.w *= scale;
        clear_sums(&sums);
        for (int begin = gm_begin[beside]; begin < others_end; begin += LEY_WG) {
            const int count = min(LEY_WG, others_end - begin);
            LEY_BARRIER();
            if (lane < count) {
                const float4 at = gm_at[begin + lane];
                sm_other[lane] = LEY_FLOAT4(at.x + by_x, at.y + by_y, at.z + by_z, at.w);
                sm_which[lane] = gm_who[begin + lane];
            }
            LEY_BARRIER();
            ROLLED for (int k = 0; k < count; k++) {
                const float4 other = sm_other[k];
                const float dx = p.x - other.x, dy = p.y - other.y, dz = p.z - other.z,
                            r2 = dx * dx + dy * dy + dz * dz;
                if (r2 < numbers.s0 && !is_excluded(gm_bits, who.y, sm_which[k]))
                    add_pair(p, other, gm_table + who.x * types + sm_which[k].x, numbers, series, r2, &sums);
            }
        }
        if (own + lane < end)
            store_sums_at(&sums, slots, gm_own + slot);
    }
}
