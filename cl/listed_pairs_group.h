/* What a work-group of listed_pairs.cl does with LEY_CLUSTER particles that are near its row: a
 * work-item has one of the row's. With a LEY_FULL of 1 it takes all others in turn, from local
 * memory. With 0 others go from work-item to work-item with the sums of what they had of those
 * that they have met, until they are back, which is a walk along the diagonals of the tile. */
#ifndef LEY_LISTED_PAIRS_GROUP_H
#define LEY_LISTED_PAIRS_GROUP_H

typedef struct {
    real x, y, z, charge;
    int type;
} other_particle;

/* The pair's share, if `wanted`, to *s; its force as seen from the row's particle. */
LEY_FN void add_pair(LEY_GLOBAL const float4 *gm_frame, float4 p, LEY_GLOBAL const float2 *gm_pairs,
                     other_particle other, bool each, bool wanted, LEY_REFERENCE(sixteen) numbers,
                     LEY_REFERENCE(sixteen) series, pair_sums *s)
{
    real dx = p.x - other.x, dy = p.y - other.y, dz = p.z - other.z;
    if (each)
        LEY_NEAREST_IMAGE(gm_frame, dx, dy, dz)
    const real r2 = dx * dx + dy * dy + dz * dz;
    const bool is_near = wanted && r2 < numbers.s0;
    const float2 factors = gm_pairs[other.type];
    const pair_terms t = ley_pair_terms(r2, factors.x, factors.y, p.w * other.charge, numbers, series);
    s->lennard_jones = is_near ? t.lennard_jones : 0;
    s->coulomb = is_near ? t.coulomb : 0;
    s->x = is_near ? t.slope * dx : 0;
    s->y = is_near ? t.slope * dy : 0;
    s->z = is_near ? t.slope * dz : 0;
}

#if LEY_FULL
LEY_FN void store_sums(const pair_sums *s, size_t slots, LEY_GLOBAL float *gm_own)
{
    gm_own[0] = 0.5f * s->lennard_jones;
    gm_own[slots] = 0.5f * s->coulomb;
    gm_own[2 * slots] = s->x;
    gm_own[3 * slots] = s->y;
    gm_own[4 * slots] = s->z;
}
#else
LEY_FN void add_quanta(real value, LEY_GLOBAL int2 *gm_sum, float most, LEY_GLOBAL int2 *gm_done)
{
    if (LEY_ABS(value) <= most)
        LEY_ATOMIC_ADD_LONG(gm_sum, LEY_ROUNDED_LONG(value));
    else
        gm_done->x = 1;
}

LEY_FN void add_to_memory(const pair_sums *s, int slot, size_t slots, atom scale, LEY_GLOBAL int2 *gm_sums,
                          LEY_GLOBAL int2 *gm_done)
{
    LEY_GLOBAL int2 *gm_own = gm_sums + slot;
    add_quanta(s->lennard_jones * scale.y, gm_own, scale.w, gm_done);
    add_quanta(s->coulomb * scale.y, gm_own + slots, scale.w, gm_done);
#if LEY_FORCES
    add_quanta(s->x * scale.z, gm_own + 2 * slots, scale.w, gm_done);
    add_quanta(s->y * scale.z, gm_own + 3 * slots, scale.w, gm_done);
    add_quanta(s->z * scale.z, gm_own + 4 * slots, scale.w, gm_done);
#endif
}

/* The number of the next work-item, the first one's behind the last. Without shuffles through local
 * memory. */
#if LEY_SHUFFLES(LEY_CLUSTER)
#define PASS_ON(value) (value) = ley_shuffle(value, (LEY_LOCAL_ID(0) + 1) % LEY_CLUSTER)
#define PASS_ON_INT(value) (value) = LEY_AS_INT(ley_shuffle(LEY_AS_FLOAT(value), (LEY_LOCAL_ID(0) + 1) % LEY_CLUSTER))
#else
#define PASS_ON(value) (value) = through_memory(value, sm_words)
#define PASS_ON_INT(value) (value) = LEY_AS_INT(through_memory(LEY_AS_FLOAT(value), sm_words))
LEY_FN float through_memory(float value, LEY_LOCAL int *sm_words)
{
    LEY_BARRIER_OF(LEY_CLUSTER);
    sm_words[LEY_LOCAL_ID(0)] = LEY_AS_INT(value);
    LEY_BARRIER_OF(LEY_CLUSTER);
    return LEY_AS_FLOAT(sm_words[(LEY_LOCAL_ID(0) + 1) % LEY_CLUSTER]);
}
#endif
#endif

/* What work-item has of `slot`, shifted; slot < 0: nothing. */
LEY_FN other_particle load_other(LEY_GLOBAL const float4 *gm_frame, LEY_GLOBAL const float4 *gm_at,
                                 LEY_GLOBAL const int *gm_type, int slot, int shift)
{
    other_particle other;
    const float4 by = ley_list_shift(gm_frame, shift);
    other.x = other.y = other.z = LEY_AS_FLOAT(0x7fc00000);
    other.charge = 0;
    other.type = 0;
    if (slot >= 0) {
        const float4 at = gm_at[slot];
        other.x = at.x + by.x;
        other.y = at.y + by.y;
        other.z = at.z + by.z;
        other.charge = at.w;
        other.type = gm_type[slot];
    }
    return other;
}

LEY_FN void add_chunk(LEY_GLOBAL const float4 *gm_frame, float4 p, LEY_GLOBAL const float2 *gm_pairs,
                      LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const int *gm_type, int slot, int shift, int mask,
                      LEY_REFERENCE(sixteen) numbers, LEY_REFERENCE(sixteen) series, atom scale, size_t slots,
                      LEY_GLOBAL int2 *gm_sums, LEY_GLOBAL int2 *gm_done, LEY_LOCAL float4 *sm_other,
                      LEY_LOCAL int *sm_words, pair_sums *sums)
{
    const int lane = LEY_LOCAL_ID(0);
    other_particle other = load_other(gm_frame, gm_at, gm_type, slot, shift);
    pair_sums own, pair;
    p.w *= scale.x;
    clear_sums(&own);
#if LEY_FULL
    /* Of a list, others of several shifts are in one chunk. */
    LEY_BARRIER_OF(LEY_CLUSTER);
    sm_other[lane] = LEY_FLOAT4(other.x, other.y, other.z, other.charge);
    sm_words[lane] = other.type << 1 | (shift == LEY_LIST_EACH ? 1 : 0);
    LEY_BARRIER_OF(LEY_CLUSTER);
    ROLLED for (int k = 0; k < LEY_CLUSTER; k++) {
        other.x = sm_other[k].x;
        other.y = sm_other[k].y;
        other.z = sm_other[k].z;
        other.charge = sm_other[k].w;
        other.type = sm_words[k] >> 1;
        add_pair(gm_frame, p, gm_pairs, other, (sm_words[k] & 1) != 0, (mask >> k & 1) != 0, numbers, series, &pair);
        add_sums(&own, &pair);
    }
#else
    pair_sums others;
    clear_sums(&others);
    other.type = other.type << 1 | (shift == LEY_LIST_EACH ? 1 : 0);
    ROLLED for (int k = 0; k < LEY_CLUSTER; k++) {
        other_particle met = other;
        met.type = other.type >> 1;
        add_pair(gm_frame, p, gm_pairs, met, (other.type & 1) != 0, (mask >> (lane + k) % LEY_CLUSTER & 1) != 0,
                 numbers, series, &pair);
        add_sums(&own, &pair);
        others.lennard_jones += pair.lennard_jones;
        others.coulomb += pair.coulomb;
        PASS_ON(other.x);
        PASS_ON(other.y);
        PASS_ON(other.z);
        PASS_ON(other.charge);
        PASS_ON_INT(other.type);
        PASS_ON(others.lennard_jones);
        PASS_ON(others.coulomb);
#if LEY_FORCES
        others.x -= pair.x;
        others.y -= pair.y;
        others.z -= pair.z;
        PASS_ON(others.x);
        PASS_ON(others.y);
        PASS_ON(others.z);
#endif
    }
    if (slot >= 0)
        add_to_memory(&others, slot, slots, scale, gm_sums, gm_done);
#endif
    add_sums(sums, &own);
}

#endif
