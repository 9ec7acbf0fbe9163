/* What a work-group of listed_pairs.cl does: it brings LEY_CLUSTER particles that are near its row
 * into local memory at a time. A work-item has OWN of the row's particles, which are STEPS apart;
 * STEPS work-items, a team, have all of these together, and the same number of the others, which
 * each of them meets in turn, the first one that of its own place. With a LEY_FULL of 0 sums of the
 * others go from work-item to work-item of the team, as what they belong to does, until they are
 * back. */
#ifndef LEY_LISTED_PAIRS_GROUP_H
#define LEY_LISTED_PAIRS_GROUP_H

#define OWN 4
#define STEPS (LEY_CLUSTER / OWN)
#define FOR_OWN(u) UNROLL for (int u = 0; u < OWN; u++)
#define FAR_AWAY 1e15f

/* `pairs`: where the table has those of a particle; `there`: STEPS bits for each, which are set
 * unless there is no such particle. */
typedef struct {
    real x[OWN], y[OWN], z[OWN], charge[OWN];
    unsigned pairs[OWN], there;
} own_particles;

LEY_FN void load_row(LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const int *gm_type, int types, float coulomb,
                     own_particles *own)
{
    own->there = 0;
    FOR_OWN(u) {
        const int number = LEY_LOCAL_ID(0) % STEPS + u * STEPS;
        const float4 at = gm_at[number];
        const bool is = at.x == at.x;
        own->x[u] = is ? at.x : 0;
        own->y[u] = is ? at.y : 0;
        own->z[u] = is ? at.z : 0;
        own->charge[u] = at.w * coulomb;
        own->pairs[u] = (unsigned)(gm_type[number] * types);
        own->there |= is ? ((1u << STEPS) - 1) << u * STEPS : 0;
    }
}

/* Of a tile's masks STEPS bits for each of a work-item's particles, in the order in which it meets
 * the others. */
LEY_FN unsigned marks_of(LEY_GLOBAL const int *gm_mask)
{
    const int place = LEY_LOCAL_ID(0) % STEPS, team = LEY_LOCAL_ID(0) - place;
    unsigned marks = 0;
    FOR_OWN(u) {
        const unsigned bits = (unsigned)gm_mask[place + u * STEPS] >> team & ((1u << STEPS) - 1);
        marks |= ((bits | bits << STEPS) >> place & ((1u << STEPS) - 1)) << u * STEPS;
    }
    return marks;
}

/* ---- Numbers that go from work-item to work-item --------------------------------------------- */

/* What another work-item has; without shuffles through local memory. */
#if LEY_SHUFFLES(LEY_CLUSTER)
#define TAKE(value, from) (value) = ley_shuffle(value, from)
#else
#define TAKE(value, from) (value) = through_memory(value, from, sm_taken)
LEY_FN float through_memory(float value, int from, LEY_LOCAL float *sm_taken)
{
    LEY_BARRIER_OF(LEY_CLUSTER);
    sm_taken[LEY_LOCAL_ID(0)] = value;
    LEY_BARRIER_OF(LEY_CLUSTER);
    return sm_taken[from];
}
#endif

LEY_FN void take_sums(pair_sums *s, int from, LEY_LOCAL float *sm_taken)
{
    TAKE(s->lennard_jones, from);
    TAKE(s->coulomb, from);
#if LEY_FORCES
    TAKE(s->x, from);
    TAKE(s->y, from);
    TAKE(s->z, from);
#endif
}

/* All teams' sums of the row's particle that has the work-item's number. */
LEY_FN pair_sums row_sums(pair_sums *sums, LEY_LOCAL float *sm_taken)
{
    pair_sums own;
    clear_sums(&own);
    FOR_OWN(u) {
        UNROLL for (int apart = STEPS; apart < LEY_CLUSTER; apart *= 2) {
            pair_sums met = sums[u];
            take_sums(&met, LEY_LOCAL_ID(0) ^ apart, sm_taken);
            add_sums(&sums[u], &met);
        }
        /* Not an element by its number, which would be in memory. */
        const bool is = LEY_LOCAL_ID(0) / STEPS == u;
        own.lennard_jones += is ? sums[u].lennard_jones : 0;
        own.coulomb += is ? sums[u].coulomb : 0;
        own.x += is ? sums[u].x : 0;
        own.y += is ? sums[u].y : 0;
        own.z += is ? sums[u].z : 0;
    }
    return own;
}

/* ---- Sums in memory -------------------------------------------------------------------------- */

#if !LEY_FULL
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
#endif

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Puts `slot`, shifted, into local memory; slot < 0: nothing. Of a list, others of several shifts
 * are together. */
LEY_FN void stage_other(LEY_GLOBAL const float4 *gm_frame, LEY_GLOBAL const float4 *gm_at,
                        LEY_GLOBAL const int *gm_type, int slot, int shift, LEY_LOCAL float4 *sm_other,
                        LEY_LOCAL int *sm_type)
{
    const float4 by = ley_list_shift(gm_frame, shift);
    float4 at = LEY_FLOAT4(FAR_AWAY, 0, 0, 0);
    int type = 0;
    if (slot >= 0) {
        const float4 found = gm_at[slot];
        if (found.x == found.x) {
            at = LEY_FLOAT4(found.x + by.x, found.y + by.y, found.z + by.z, found.w);
            type = gm_type[slot] << 1 | (shift == LEY_LIST_EACH ? 1 : 0);
        }
    }
    LEY_BARRIER_OF(LEY_CLUSTER);
    sm_other[LEY_LOCAL_ID(0)] = at;
    sm_type[LEY_LOCAL_ID(0)] = type;
    LEY_BARRIER_OF(LEY_CLUSTER);
}

/* The pair's share, if `wanted`, to *own; of its force the opposite to *other. */
LEY_FN void add_pair(real dx, real dy, real dz, float2 factors, real qq, bool wanted, LEY_REFERENCE(sixteen) numbers,
                     LEY_REFERENCE(sixteen) series, pair_sums *own, pair_sums *other)
{
    const real r2 = dx * dx + dy * dy + dz * dz;
    const bool is_near = wanted && r2 < numbers.s0;
    const pair_terms t = ley_pair_terms(r2, factors.x, factors.y, qq, numbers, series);
    const real lennard_jones = is_near ? t.lennard_jones : 0, coulomb = is_near ? t.coulomb : 0;
    own->lennard_jones += lennard_jones;
    own->coulomb += coulomb;
    other->lennard_jones += lennard_jones;
    other->coulomb += coulomb;
#if LEY_FORCES
    const real slope = is_near ? t.slope : 0;
    own->x += slope * dx;
    own->y += slope * dy;
    own->z += slope * dz;
    other->x -= slope * dx;
    other->y -= slope * dy;
    other->z -= slope * dz;
#endif
}

/* All pairs of the row's particles with those that are staged: sums of the former in sums[OWN], of
 * the latter each work-item returns those of the one that it has staged. */
LEY_FN pair_sums add_staged(LEY_GLOBAL const float4 *gm_frame, const own_particles *own,
                            LEY_GLOBAL const float2 *gm_table, unsigned marks,
                            LEY_REFERENCE(sixteen) numbers, LEY_REFERENCE(sixteen) series,
                            LEY_LOCAL const float4 *sm_other, LEY_LOCAL const int *sm_type, LEY_LOCAL float *sm_taken,
                            pair_sums *sums)
{
    const int lane = LEY_LOCAL_ID(0), team = lane / STEPS * STEPS;
    pair_sums others;
    clear_sums(&others);
    ROLLED for (int k = 0; k < STEPS; k++) {
        const int met = team + (lane + k & STEPS - 1);
        const unsigned type = (unsigned)sm_type[met];
        const float4 at = sm_other[met];
        real dx[OWN], dy[OWN], dz[OWN];
        FOR_OWN(u) {
            dx[u] = own->x[u] - at.x;
            dy[u] = own->y[u] - at.y;
            dz[u] = own->z[u] - at.z;
        }
        if ((type & 1) != 0)
            FOR_OWN(i) LEY_NEAREST_IMAGE(gm_frame, dx[i], dy[i], dz[i])
        FOR_OWN(u)
            add_pair(dx[u], dy[u], dz[u], gm_table[own->pairs[u] + (type >> 1)], own->charge[u] * at.w,
                     (marks & 1u << u * STEPS) != 0, numbers, series, &sums[u], &others);
        marks >>= 1;
#if !LEY_FULL
        take_sums(&others, team + (lane + 1 & STEPS - 1), sm_taken);
#endif
    }
    return others;
}

#endif
