/* What a work-group of born_pairs.cl does with others: it brings a tile of them into local memory,
 * then each item goes through it. Pairs of spheres that are near, or may have a neck, it marks,
 * a bit for each, and adds them at the end of the tile: a work-item has few of them, but at most
 * times some item of a group would have one, and all had to wait for it. */
#ifndef LEY_BORN_PAIRS_GROUP_H
#define LEY_BORN_PAIRS_GROUP_H

/* Marks of a word, which others are filled up to by some that are far away and have nothing; and of
 * these so many at a time. */
#define WORD 32
#define STEP 8
#define MARK_WORDS (LEY_TILE / WORD)
#define FAR_AWAY 1e15f

LEY_FN void load_own(own *o, int u, LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const float4 *gm_spheres,
                     LEY_GLOBAL const float4 *gm_states)
{
    const int number = (int)(LEY_GROUP_ID(0) * LEY_UX + u) * LEY_WG + (int)LEY_LOCAL_ID(0);
    const float4 at = gm_at[number], sphere = gm_spheres[number], state = gm_states[number];
    o->number[u] = number;
    o->x[u] = at.x;
    o->y[u] = at.y;
    o->z[u] = at.z;
#if LEY_PASS == LEY_BORN_ENERGIES
    o->first[u] = state.x;
    o->second[u] = -state.y;
#else
    o->first[u] = sphere.y * sphere.y;
    o->second[u] = sphere.y * sphere.y * sphere.y;
    o->s[u] = sphere.y;
    o->rho[u] = sphere.x;
    o->w[u] = state.z;
#endif
}

LEY_FN void stage(LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const float4 *gm_spheres,
                  LEY_GLOBAL const float4 *gm_states, int begin, int end, LEY_LOCAL float4 *sm_at,
                  LEY_LOCAL float4 *sm_more)
{
    LEY_BARRIER_OF(LEY_WG);
    for (int j = begin + (int)LEY_LOCAL_ID(0); j < end; j += LEY_WG) {
        sm_at[j - begin] = first_of(gm_at[j], gm_spheres[j]);
        sm_more[j - begin] = more_of(gm_spheres[j], gm_states[j]);
    }
    for (int k = end - begin + (int)LEY_LOCAL_ID(0); k < (end - begin + WORD - 1) / WORD * WORD; k += LEY_WG) {
        sm_at[k] = LEY_FLOAT4(FAR_AWAY, 0, 0, 0);
        sm_more[k] = LEY_FLOAT4(LEY_PASS == LEY_BORN_ENERGIES ? 1 : 0, 0, 0, 0);
    }
    LEY_BARRIER_OF(LEY_WG);
}

/* Takes the k-th one that is staged. */
#define TAKE(a, k) \
    other a; \
    a.at = sm_at[k]; \
    a.more = sm_more[k]

#if LEY_PASS == LEY_BORN_ENERGIES
LEY_FN void sum_tile(const own *o, LEY_LOCAL const float4 *sm_at, LEY_LOCAL const float4 *sm_more,
                     LEY_LOCAL unsigned *sm_marks, int begin, int end, LEY_REFERENCE(image_cell) cell,
                     LEY_REFERENCE(sixteen) numbers, LEY_GLOBAL const float *gm_neck, int4 size, real *sum)
{
    for (int first = 0; first < end - begin; first += STEP)
        UNROLL for (int k = first; k < first + STEP; k++) {
            TAKE(a, k);
            UNROLL for (int u = 0; u < LEY_UX; u++) {
                real x, y, z;
                const real d2 = way_from(o, u, a.at, cell, &x, &y, &z);
                add_charges(charges_of(o, u, a, d2, a.at.w, numbers), 1, x, y, z, sum + u * SUMS);
            }
        }
}
#else
#define MARKS(u, word) sm_marks[((u) * MARK_WORDS + (word)) * LEY_WG + LEY_LOCAL_ID(0)]

LEY_FN void sum_tile(const own *o, LEY_LOCAL const float4 *sm_at, LEY_LOCAL const float4 *sm_more,
                     LEY_LOCAL unsigned *sm_marks, int begin, int end, LEY_REFERENCE(image_cell) cell,
                     LEY_REFERENCE(sixteen) numbers, LEY_GLOBAL const float *gm_neck, int4 size, real *sum)
{
    for (int base = 0; base < end - begin; base += WORD) {
        const unsigned there = end - begin - base < WORD ? (1u << (end - begin - base)) - 1 : ~0u;
        unsigned marks[LEY_UX];
        UNROLL for (int u = 0; u < LEY_UX; u++)
            marks[u] = 0;
        for (int first = 0; first < WORD; first += STEP) {
            unsigned of_step[LEY_UX]; /* whose bits are no variables */
            UNROLL for (int u = 0; u < LEY_UX; u++)
                of_step[u] = 0;
            UNROLL for (int k = 0; k < STEP; k++) {
                TAKE(a, base + first + k);
                UNROLL for (int u = 0; u < LEY_UX; u++) {
                    real x, y, z;
                    const real d2 = way_from(o, u, a.at, cell, &x, &y, &z), far = far_term(o, u, a, d2);
                    const bool is_marked = IS_MARKED(d2);
                    of_step[u] |= is_marked ? 1u << k : 0;
                    if (!is_marked)
                        add_value(sum + u * SUMS, WITHIN(d2, far), x, y, z);
                }
            }
            UNROLL for (int u = 0; u < LEY_UX; u++)
                marks[u] |= of_step[u] << first;
        }
        UNROLL for (int u = 0; u < LEY_UX; u++)
            MARKS(u, base / WORD) = marks[u] & there;
    }
    UNROLL for (int u = 0; u < LEY_UX; u++) {
        unsigned left = 0;
        for (int base = -WORD;;) {
            /* Items that have few wait for those that have many, not at each word. */
            while (left == 0 && base + WORD < end - begin) {
                base += WORD;
                left = MARKS(u, base / WORD);
            }
            if (left == 0)
                break;
            const int k = base + LEY_LOWEST_BIT(left);
            left &= left - 1;
            TAKE(a, k);
            real x, y, z;
            const real d2 = way_from(o, u, a.at, cell, &x, &y, &z);
            add_value(sum + u * SUMS, WITHIN(d2, marked_term(o, u, a, begin + k, d2, numbers, gm_neck, size)), x, y, z);
        }
    }
}
#endif

LEY_FN void store(real value, LEY_GLOBAL float *gm_sums, int number)
{
    gm_sums[number] = value;
}

#endif
