/* What a work-group of born_pairs.cl does where each pair is in one group, for both of its
 * particles. It has the pairs of a block of LEY_TILE particles with another block, or with itself.
 * LANES work-items, a team, have those of SIDE of the one and SIDE of the other: each item owns
 * LEY_UX of the former, which are LANES apart, and meets LANES of the latter in turn, the first one
 * that of its own place. Sums of those that are met go from item to item, as what they belong to
 * does, until they are back. Marked pairs, of which an item has few, it adds at the end for each of
 * the two by itself. */
#ifndef LEY_BORN_PAIRS_HALF_H
#define LEY_BORN_PAIRS_HALF_H

#define LANES 32
#define SIDE (LANES * LEY_UX)
#define SIDES (LEY_TILE / SIDE)
#define ITEM ((int)LEY_LOCAL_ID(0))
#define LANE (ITEM % LANES)
#define STEP 2 /* of those that are met, at a time */

#if LEY_WG != LANES * SIDES * SIDES
#error "a team has one of the pairs of a block's sides"
#endif

/* Where particles are, in global memory: of one frame. */
typedef struct sources {
    LEY_GLOBAL const float4 *gm_at, *gm_spheres, *gm_states;
} sources;

LEY_FN other other_of(sources from, int number)
{
    other a;
    a.at = first_of(from.gm_at[number], from.gm_spheres[number]);
    a.more = more_of(from.gm_spheres[number], from.gm_states[number]);
    return a;
}

/* Of charges w is q. */
LEY_FN void load_own(own *o, int u, sources from, int number)
{
    const other a = other_of(from, number);
    o->number[u] = number;
    o->x[u] = a.at.x;
    o->y[u] = a.at.y;
    o->z[u] = a.at.z;
#if LEY_PASS == LEY_BORN_ENERGIES
    o->first[u] = a.more.x;
    o->second[u] = -a.more.y;
    o->w[u] = a.at.w;
#else
    o->first[u] = a.at.w;
    o->second[u] = a.more.x;
    o->s[u] = from.gm_spheres[number].y;
    o->rho[u] = a.more.z;
    o->w[u] = a.more.y;
#endif
}

/* What the next item of a team has; without shuffles through local memory. */
#define NEXT (LANE + 1 & LANES - 1)
#if LEY_SHUFFLES(LANES)
#define TAKE_NEXT(value) (value) = ley_shuffle(value, NEXT)
#else
#define TAKE_NEXT(value) (value) = next_of(value, sm_taken)
LEY_FN float next_of(float value, LEY_LOCAL float *sm_taken)
{
    LEY_BARRIER_OF(LEY_WG);
    sm_taken[ITEM] = value;
    LEY_BARRIER_OF(LEY_WG);
    return sm_taken[ITEM - LANE + NEXT];
}
#endif

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Adds a pair's share to the sums of both, unless it is left out. */
#if LEY_PASS == LEY_BORN_ENERGIES
#define IS_MARKED(d2) false
LEY_FN void add_both(const own *o, int u, other a, real x, real y, real z, real d2, bool is_out,
                     LEY_REFERENCE(sixteen) numbers, real *sum, real *met)
{
    const charges c = charges_of(o, u, a, d2, 1, numbers);
    add_charges(c, a.at.w, x, y, z, sum);
    add_charges(c, o->w[u], -x, -y, -z, met);
}
#else
LEY_FN void add_both(const own *o, int u, other a, real x, real y, real z, real d2, bool is_out,
                     LEY_REFERENCE(sixteen) numbers, real *sum, real *met)
{
#if LEY_PASS == LEY_BORN_INTEGRALS
    const real root = root_of(d2), by_d2 = root * root, by_d4 = by_d2 * by_d2,
               value = a.more.x * (by_d4 * sphere_value(a.at.w * by_d2)),
               back = o->second[u] * (by_d4 * sphere_value(o->first[u] * by_d2));
#else
    const real value = far_term(o, u, a, d2), back = value;
#endif
    if (!is_out) {
        add_value(sum, WITHIN(d2, value), x, y, z);
        add_value(met, WITHIN(d2, back), -x, -y, -z);
    }
}
#endif

#if LEY_PASS != LEY_BORN_ENERGIES
/* The pairs of a particle with those that have a mark: bit b of word w is that of others + w LANES
 * + b. */
LEY_FN void add_marked(sources from, int number, int others, const unsigned *marks, LEY_REFERENCE(image_cell) cell,
                       LEY_REFERENCE(sixteen) numbers, LEY_GLOBAL const float *gm_neck, int4 size, real *sum)
{
    own o LEY_CLEARED;
    unsigned left[LEY_UX];
    load_own(&o, 0, from, number);
    UNROLL for (int w = 0; w < LEY_UX; w++)
        left[w] = marks[w];
    for (;;) {
        unsigned bits = 0;
        int j = others;
        UNROLL for (int w = LEY_UX - 1; w >= 0; w--) {
            j = left[w] != 0 ? others + w * LANES : j;
            bits = left[w] != 0 ? left[w] : bits;
        }
        if (bits == 0)
            break;
        UNROLL for (int w = 0; w < LEY_UX; w++)
            left[w] &= j == others + w * LANES ? bits - 1 : ~0u;
        j += LEY_LOWEST_BIT(bits);
        const other a = other_of(from, j);
        real x, y, z;
        const real d2 = way_from(&o, 0, a.at, cell, &x, &y, &z);
        add_value(sum, WITHIN(d2, marked_term(&o, 0, a, j, d2, numbers, gm_neck, size)), x, y, z);
    }
}
#endif

/* Those of an item's own particles with LANES that are in local memory; marks[u], whose bit b is
 * that of the b-th of these. */
LEY_FN void add_lanes(const own *o, LEY_LOCAL const float4 *sm_at, LEY_LOCAL const float2 *sm_more,
                      LEY_LOCAL float *sm_taken, LEY_REFERENCE(image_cell) cell, LEY_REFERENCE(sixteen) numbers,
                      real *sum, real *met, unsigned *marks)
{
    unsigned bit = 1u << LANE;
    ROLLED for (int first = 0; first < LANES; first += STEP)
        UNROLL for (int k = first; k < first + STEP; k++) {
            const float2 more = sm_more[LANE + k & LANES - 1];
            other a;
            a.at = sm_at[LANE + k & LANES - 1];
            a.more = LEY_FLOAT4(more.x, more.y, 0, 0);
            UNROLL for (int u = 0; u < LEY_UX; u++) {
                real x, y, z;
                const real d2 = way_from(o, u, a.at, cell, &x, &y, &z);
                const bool is_marked = IS_MARKED(d2);
                if (is_marked)
                    marks[u] |= bit;
                add_both(o, u, a, x, y, z, d2, is_marked, numbers, sum + u * SUMS, met);
            }
            bit = bit << 1 | bit >> (LANES - 1);
            UNROLL for (int s = 0; s < SUMS; s++)
                TAKE_NEXT(met[s]);
        }
}

/* ---- Of a work-group ------------------------------------------------------------------------- */

/* What a team has: its number, which side of either block that is, and where these begin. */
typedef struct sides {
    int team, own, met, rows, met_rows;
} sides;

LEY_FN sides sides_of(int block, int met_block)
{
    sides s;
    s.team = ITEM / LANES;
    s.own = s.team % SIDES;
    s.met = s.team / SIDES;
    s.rows = block * LEY_TILE + s.own * SIDE;
    s.met_rows = met_block * LEY_TILE + s.met * SIDE;
    return s;
}

#define PART(side, k) (((side) * SUMS + (k)) * LEY_TILE)
#define WORD(w, u, item) sm_marks[((w) * LEY_UX + (u)) * LEY_WG + (item)]

LEY_FN void stage_block(sources from, int first, LEY_LOCAL float4 *sm_at, LEY_LOCAL float2 *sm_more)
{
    for (int j = ITEM; j < LEY_TILE; j += LEY_WG) {
        const other a = other_of(from, first + j);
        sm_at[j] = a.at;
        sm_more[j].x = a.more.x;
        sm_more[j].y = a.more.y;
    }
}

/* All pairs of a team but those that it marks: sums of its own particles; of those that are met, to
 * local memory. */
LEY_FN void add_side(sides s, const own *o, LEY_LOCAL const float4 *sm_at, LEY_LOCAL const float2 *sm_more,
                     LEY_LOCAL float *sm_taken, LEY_REFERENCE(image_cell) cell, LEY_REFERENCE(sixteen) numbers,
                     real *sum, LEY_LOCAL float *sm_sums, LEY_LOCAL unsigned *sm_marks, LEY_LOCAL unsigned *sm_any)
{
    ROLLED for (int w = 0; w < LEY_UX; w++) {
        const int first = s.met * SIDE + w * LANES;
        real met[SUMS];
        unsigned marks[LEY_UX];
        UNROLL for (int k = 0; k < SUMS; k++)
            met[k] = 0;
        UNROLL for (int u = 0; u < LEY_UX; u++)
            marks[u] = 0;
        add_lanes(o, sm_at + first, sm_more + first, sm_taken, cell, numbers, sum, met, marks);
        UNROLL for (int k = 0; k < SUMS; k++)
            sm_sums[PART(s.own, k) + first + LANE] = met[k];
#if LEY_PASS != LEY_BORN_ENERGIES
        unsigned some = 0;
        UNROLL for (int u = 0; u < LEY_UX; u++) {
            WORD(w, u, ITEM) = marks[u];
            some |= marks[u];
        }
        if (some != 0)
            LEY_ATOMIC_OR(sm_any + s.team, 1u << w);
#endif
    }
}

#if LEY_PASS != LEY_BORN_ENERGIES
/* Bit b is bit `lane` of the word of a team's b-th item. */
LEY_FN unsigned across(LEY_LOCAL const unsigned *sm_words, int lane)
{
    unsigned word = 0;
    for (int b = 0; b < LANES; b++)
        word |= (sm_words[b] >> lane & 1) << b;
    return word;
}

/* Those that were marked: first for the team's own particles, then for those that are met; `words`:
 * a bit for each w of which some are. */
LEY_FN void add_marked_of_side(sides s, bool is_both, sources from, LEY_LOCAL const unsigned *sm_marks, unsigned words,
                               LEY_REFERENCE(image_cell) cell, LEY_REFERENCE(sixteen) numbers,
                               LEY_GLOBAL const float *gm_neck, int4 size, real *sum, LEY_LOCAL float *sm_sums)
{
    for (int n = 0; n < (words == 0 ? 0 : is_both ? 2 * LEY_UX : LEY_UX); n++) {
        const bool is_own = n < LEY_UX;
        const int k = n % LEY_UX, at = k * LANES + LANE;
        unsigned marks[LEY_UX];
        real marked[SUMS];
        UNROLL for (int w = 0; w < LEY_UX; w++)
            marks[w] = is_own                ? WORD(w, k, ITEM)
                       : (words >> k & 1) != 0 ? across(&WORD(k, w, ITEM - LANE), LANE)
                                             : 0;
        UNROLL for (int c = 0; c < SUMS; c++)
            marked[c] = 0;
        add_marked(from, (is_own ? s.rows : s.met_rows) + at, is_own ? s.met_rows : s.rows, marks, cell, numbers,
                   gm_neck, size, marked);
        UNROLL for (int c = 0; c < LEY_UX * SUMS; c++)
            sum[c] += is_own && c / SUMS == k ? marked[c % SUMS] : 0;
        if (!is_own)
            UNROLL for (int c = 0; c < SUMS; c++)
                sm_sums[PART(s.own, c) + s.met * SIDE + at] += marked[c];
    }
}
#endif

/* What the sides have of a block, to memory. */
LEY_FN void store_block(LEY_LOCAL const float *sm_sums, LEY_GLOBAL float *gm_block, int padded)
{
    UNROLL for (int k = 0; k < SUMS; k++)
        UNROLL for (int n = 0; n < LEY_TILE; n += LEY_WG) {
            float sum = 0;
            UNROLL for (int side = 0; side < SIDES; side++)
                sum += sm_sums[PART(side, k) + n + ITEM];
            gm_block[(size_t)k * padded + n + ITEM] = sum;
        }
}

#endif
