/* Generalised Born of all pairs of particles, in three passes (docs/energies.md has the formulas);
 * born_particles.cl does after each of them what is of single particles. Every work-item gathers
 * for particles i of its own what all j do to them, i itself included where it belongs to the sum:
 *
 *   LEY_BORN_INTEGRALS  I_i = sum over j of T(d; rho_i, s_j), and with LEY_NECK the necks: how much
 *                       of the surroundings of a sphere rho others of radius s fill, weighed by
 *                       1/r^4
 *   LEY_BORN_ENERGIES   sum of q_j v/f, f^2 = d^2 + B_i B_j e, e = exp(-d^2/(4 B_i B_j)); v is 1,
 *                       or with LEY_SALT 1/eps_p - exp(-kappa f)/eps_s. With LEY_FORCES also, h
 *                       being -(d/df (v/f))/f, sum of q_j h e (B_i B_j + d^2/4), for the slope, and
 *                       of q_j h (1 - e/4) (r_i - r_j)
 *   LEY_BORN_CHAIN      sum of -(w_i T'(d; rho_i, s_j) + w_j T'(d; rho_j, s_i)) (r_i - r_j)/d, w
 *                       the slopes dE/dI: a force
 *
 * LEY_CUTOFF: LEY_BORN_CUT leaves out pairs farther than c, LEY_BORN_TAPERED those alone of the
 * energies; its spheres end at c.
 *
 * gm_at         [frames][padded] {x, y, z, q}
 * gm_spheres    [padded] {rho, s, class, -}: rho without the offset of all radii; a class are
 *               particles of the same radius
 * gm_states     [frames][padded] {B, sqrt(log2(e))/(2 B), w, -}
 * gm_neck       [4][classes][padded] of j's class and i: at which d the neck of T(rho_i, s_j) is
 *               highest, how high it is; and the same of T(rho_j, s_i)
 * gm_cell       where LEY_PERIODIC, [frames][6]: see energy_image.h
 * gm_ranges     [parts] {first j, the one behind the last, group, -}; not read with LEY_HALF
 * size          particles, padded ones, parts, classes
 * numbers       0: d^2 within which spheres may be near; 1: d^2 within which two may have a neck;
 *               2: d of two that have one is rho_i + rho_j and this at most; 3, 4: c, c^2;
 *               5, 6: d^2 from which on, and to which spheres reach c; 7: -kappa log2(e); 8: kappa;
 *               9: 1/eps_p; 10: 1/eps_s
 * gm_parts      [frames][parts][sums][padded], each part of the sums over its j: with LEY_HALF over
 *               the block that is so many behind that of i, around
 *
 * Groups: {padded / (LEY_WG LEY_UX LEY_WIDTH), parts, frames}; with LEY_HALF {blocks, blocks / 2 + 1,
 * frames} and as many parts as blocks, which are padded / LEY_TILE. */
#if !defined(LEY_PASS) || !defined(LEY_NECK) || !defined(LEY_CUTOFF) || !defined(LEY_EXP) || !defined(LEY_HALF)
#error "the specification is incomplete: see LEY_BORN_PAIRS_KEYS in spec.h"
#endif
#include "dialect.h"

#include "energy_image.h"

#define SUMS LEY_BORN_SUMS(LEY_PASS, LEY_FORCES)
#define ALL_SUMS (LEY_UX * SUMS)

/* Particles i: of their spheres s^2, s^3 as first and second; of their charges B and
 * -sqrt(log2(e))/(2 B). */
typedef struct own {
    int number[LEY_UX];
    real x[LEY_UX], y[LEY_UX], z[LEY_UX];
    real first[LEY_UX], second[LEY_UX], s[LEY_UX], rho[LEY_UX], w[LEY_UX];
} own;

/* A particle j: {x, y, z, s^2} and {s^3, w, rho, class}; or {x, y, z, q} and its state. */
typedef struct other {
    float4 at, more;
} other;

LEY_FN float4 first_of(float4 at, float4 sphere)
{
    return LEY_PASS == LEY_BORN_ENERGIES ? at : LEY_FLOAT4(at.x, at.y, at.z, sphere.y * sphere.y);
}

LEY_FN float4 more_of(float4 sphere, float4 state)
{
    return LEY_PASS == LEY_BORN_ENERGIES ? state
                                         : LEY_FLOAT4(sphere.y * sphere.y * sphere.y, state.z, sphere.x, sphere.z);
}

/* The way from j to the u-th i, and its square. */
LEY_FN real way_from(const own *o, int u, float4 at, LEY_REFERENCE(image_cell) cell, real *x, real *y, real *z)
{
    *x = o->x[u] - at.x;
    *y = o->y[u] - at.y;
    *z = o->z[u] - at.z;
#if LEY_PERIODIC && LEY_CUTOFF != LEY_BORN_CUT_NOT
    ley_bring_near(cell, x, y, z);
#elif LEY_PERIODIC
    ley_bring_nearest(cell, x, y, z);
#endif
    return *x * *x + *y * *y + *z * *z;
}

LEY_FN real root_of(real x) { return LEY_ROOT_SCALE * ley_unscaled_root(x); }

#if LEY_WIDTH == 1
#define SOME(is) (is)
#else
#include "born_votes_vectors.h"
#endif
#if LEY_PASS == LEY_BORN_ENERGIES
#include "born_charges.h"
#else
#include "born_spheres.h"
#endif
#if LEY_HALF
#include "born_pairs_half.h"
#elif LEY_WIDTH == 1
#include "born_pairs_group.h"
#else
#include "born_pairs_vectors.h"
#endif

#if LEY_HALF
LEY_KERNEL_OF(LEY_WG, 1, 1) born_pairs(LEY_PARAMETERS(LEY_BORN_PAIRS_ARGUMENTS))
{
    /* The block's own pairs, and those with the block that is half of all away, are two groups': they
     * are not halved. */
    const int blocks = size.z, slot = (int)LEY_GROUP_ID(1), block = (int)LEY_GROUP_ID(0),
              met_block = block + slot < blocks ? block + slot : block + slot - blocks;
    const bool is_both = slot != 0 && 2 * slot != blocks;
    const int team = ITEM / LANES, rows = block * LEY_TILE + team % SIDES * SIDE, met_side = team / SIDES * SIDE;
    const size_t frame = LEY_GROUP_ID(2);
    sources from;
    from.gm_at = gm_at + frame * size.y;
    from.gm_spheres = gm_spheres;
    from.gm_states = gm_states + frame * size.y;
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    const image_cell cell LEY_CLEARED;
#endif
    LEY_LOCAL_VARIABLE float4 sm_at[LEY_TILE];
    LEY_LOCAL_VARIABLE float2 sm_more[LEY_TILE];
    LEY_LOCAL_VARIABLE float sm_sums[SIDES * SUMS * LEY_TILE];
    LEY_LOCAL_VARIABLE float sm_taken[LEY_WG];
    LEY_LOCAL_VARIABLE unsigned sm_marks[LEY_BORN_MARKS(LEY_PASS, LEY_HALF, LEY_TILE, LEY_UX, LEY_WG)];
    LEY_LOCAL_VARIABLE unsigned sm_any[LEY_WG / LANES];
    own o LEY_CLEARED;
    real sum[ALL_SUMS];
    UNROLL for (int u = 0; u < LEY_UX; u++)
        load_own(&o, u, from, rows + u * LANES + LANE);
    UNROLL for (int k = 0; k < ALL_SUMS; k++)
        sum[k] = 0;
    for (int j = ITEM; j < LEY_TILE; j += LEY_WG) {
        const other a = other_of(from, met_block * LEY_TILE + j);
        sm_at[j] = a.at;
        sm_more[j].x = a.more.x;
        sm_more[j].y = a.more.y;
    }
    if (LANE == 0)
        sm_any[team] = 0;
    LEY_BARRIER_OF(LEY_WG);
    ROLLED for (int w = 0; w < LEY_UX; w++) {
        const int first = met_side + w * LANES;
        real met[SUMS];
        unsigned marks[LEY_UX];
        UNROLL for (int k = 0; k < SUMS; k++)
            met[k] = 0;
        UNROLL for (int u = 0; u < LEY_UX; u++)
            marks[u] = 0;
        add_lanes(&o, sm_at + first, sm_more + first, sm_taken, cell, numbers, sum, met, marks);
        UNROLL for (int k = 0; k < SUMS; k++)
            sm_sums[PART(team % SIDES, k) + first + LANE] = met[k];
#if LEY_PASS != LEY_BORN_ENERGIES
        unsigned any = 0;
        UNROLL for (int u = 0; u < LEY_UX; u++) {
            WORD(w, u, ITEM) = marks[u];
            any |= marks[u];
        }
        if (any != 0)
            LEY_ATOMIC_OR(sm_any + team, 1u << w);
#endif
    }
    LEY_BARRIER_OF(LEY_WG);
#if LEY_PASS != LEY_BORN_ENERGIES
    const int met_rows = met_block * LEY_TILE + met_side;
    const unsigned any = sm_any[team];
    /* First its own particles, then those that are met. */
    for (int n = 0; n < (any == 0 ? 0 : is_both ? 2 * LEY_UX : LEY_UX); n++) {
        const int k = n % LEY_UX;
        unsigned marks[LEY_UX];
        real marked[SUMS];
        UNROLL for (int w = 0; w < LEY_UX; w++)
            marks[w] = n < LEY_UX           ? WORD(w, k, ITEM)
                       : (any >> k & 1) != 0 ? across(&WORD(k, w, ITEM - LANE), LANE)
                                             : 0;
        UNROLL for (int s = 0; s < SUMS; s++)
            marked[s] = 0;
        add_marked(from, (n < LEY_UX ? rows : met_rows) + k * LANES + LANE, n < LEY_UX ? met_rows : rows, marks, cell,
                   numbers, gm_neck, size, marked);
        UNROLL for (int s = 0; s < ALL_SUMS; s++)
            sum[s] += n < LEY_UX && s / SUMS == k ? marked[s % SUMS] : 0;
        if (n >= LEY_UX)
            UNROLL for (int s = 0; s < SUMS; s++)
                sm_sums[PART(team % SIDES, s) + met_side + k * LANES + LANE] += marked[s];
    }
    LEY_BARRIER_OF(LEY_WG);
#endif
    LEY_GLOBAL float *gm_frame = gm_parts + frame * size.z * SUMS * size.y;
    if (is_both)
        store_block(sm_sums, gm_frame + (size_t)(blocks - slot) * SUMS * size.y + met_block * LEY_TILE, size.y);
    LEY_BARRIER_OF(LEY_WG);
    UNROLL for (int k = 0; k < ALL_SUMS; k++)
        sm_sums[PART(team / SIDES, k % SUMS) + team % SIDES * SIDE + k / SUMS * LANES + LANE] = sum[k];
    LEY_BARRIER_OF(LEY_WG);
    store_block(sm_sums, gm_frame + (size_t)slot * SUMS * size.y + block * LEY_TILE, size.y);
}
#else
LEY_KERNEL_OF(LEY_WG, 1, 1) born_pairs(LEY_PARAMETERS(LEY_BORN_PAIRS_ARGUMENTS))
{
    const size_t frame = LEY_GROUP_ID(2), part = LEY_GROUP_ID(1);
    const int4 range = gm_ranges[part];
    LEY_GLOBAL const float4 *gm_frame = gm_at + frame * size.y, *gm_own_states = gm_states + frame * size.y;
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    const image_cell cell LEY_CLEARED;
#endif
    own o LEY_CLEARED;
    real total[ALL_SUMS], carry[ALL_SUMS];
    UNROLL for (int u = 0; u < LEY_UX; u++)
        load_own(&o, u, gm_frame, gm_spheres, gm_own_states);
    UNROLL for (int k = 0; k < ALL_SUMS; k++)
        total[k] = carry[k] = 0;
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float4 sm_at[LEY_TILE];
    LEY_LOCAL_VARIABLE float4 sm_more[LEY_TILE];
    LEY_LOCAL_VARIABLE unsigned sm_marks[LEY_BORN_MARKS(LEY_PASS, LEY_HALF, LEY_TILE, LEY_UX, LEY_WG)];
#endif
    for (int begin = range.x; begin < range.y; begin += LEY_TILE) {
        const int end = min(begin + LEY_TILE, range.y);
        real sum[ALL_SUMS];
        UNROLL for (int k = 0; k < ALL_SUMS; k++)
            sum[k] = 0;
#if LEY_WIDTH == 1
        stage(gm_frame, gm_spheres, gm_own_states, begin, end, sm_at, sm_more);
        sum_tile(&o, sm_at, sm_more, sm_marks, begin, end, cell, numbers, gm_neck, size, sum);
#else
        sum_tile(&o, gm_frame, gm_spheres, gm_own_states, begin, end, cell, numbers, gm_neck, size, sum);
#endif
        UNROLL for (int k = 0; k < ALL_SUMS; k++) {
            const real term = sum[k] - carry[k], grown = total[k] + term;
            carry[k] = (grown - total[k]) - term;
            total[k] = grown;
        }
    }
    LEY_GLOBAL float *gm_own = gm_parts + (frame * size.z + part) * SUMS * size.y;
    UNROLL for (int u = 0; u < LEY_UX; u++)
        UNROLL for (int k = 0; k < SUMS; k++)
            store(total[u * SUMS + k], gm_own + (size_t)k * size.y, o.number[u]);
}
#endif
