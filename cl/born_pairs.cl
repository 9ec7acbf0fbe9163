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
 * Groups: {padded / (LEY_WG LEY_UX LEY_WIDTH), parts, frames}; with LEY_HALF {blocks,
 * blocks / 2 + 1, frames} and as many parts as blocks, which are padded / LEY_TILE. */
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

LEY_KERNEL_OF(LEY_WG, 1, 1) born_pairs(LEY_PARAMETERS(LEY_BORN_PAIRS_ARGUMENTS))
{
    const size_t frame = LEY_GROUP_ID(2);
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    const image_cell cell LEY_CLEARED;
#endif
    own o LEY_CLEARED;
#if LEY_HALF
    /* A block with itself, and with the one that is half of all away, is two groups': each for its
     * own sums alone. */
    const int blocks = size.z, apart = (int)LEY_GROUP_ID(1), block = (int)LEY_GROUP_ID(0),
              met_block = block + apart < blocks ? block + apart : block + apart - blocks;
    const bool is_both = apart != 0 && 2 * apart != blocks;
    const sides team = sides_of(block, met_block);
    const size_t part = (size_t)SUMS * size.y;
    LEY_GLOBAL float *gm_frame = gm_parts + frame * blocks * part;
    sources from;
    from.gm_at = gm_at + frame * size.y;
    from.gm_spheres = gm_spheres;
    from.gm_states = gm_states + frame * size.y;
    LEY_LOCAL_VARIABLE float4 sm_at[LEY_TILE];
    LEY_LOCAL_VARIABLE float2 sm_more[LEY_TILE];
    LEY_LOCAL_VARIABLE float sm_sums[SIDES * SUMS * LEY_TILE];
    LEY_LOCAL_VARIABLE float sm_taken[LEY_WG];
    LEY_LOCAL_VARIABLE unsigned sm_marks[LEY_BORN_MARKS(LEY_PASS, LEY_HALF, LEY_TILE, LEY_UX, LEY_WG)];
    LEY_LOCAL_VARIABLE unsigned sm_any[LEY_WG / LANES];
    real sum[ALL_SUMS];
    UNROLL for (int u = 0; u < LEY_UX; u++)
        load_own(&o, u, from, team.rows + u * LANES + LANE);
    UNROLL for (int k = 0; k < ALL_SUMS; k++)
        sum[k] = 0;
    stage_block(from, met_block * LEY_TILE, sm_at, sm_more);
    if (LANE == 0)
        sm_any[team.team] = 0;
    LEY_BARRIER_OF(LEY_WG);
    add_side(team, &o, sm_at, sm_more, sm_taken, cell, numbers, sum, sm_sums, sm_marks, sm_any);
    LEY_BARRIER_OF(LEY_WG);
#if LEY_PASS != LEY_BORN_ENERGIES
    add_marked_of_side(team, is_both, from, sm_marks, sm_any[team.team], cell, numbers, gm_neck, size, sum, sm_sums);
    LEY_BARRIER_OF(LEY_WG);
#endif
    if (is_both)
        store_block(sm_sums, gm_frame + (blocks - apart) * part + met_block * LEY_TILE, size.y);
    LEY_BARRIER_OF(LEY_WG);
    UNROLL for (int k = 0; k < ALL_SUMS; k++)
        sm_sums[PART(team.met, k % SUMS) + team.own * SIDE + k / SUMS * LANES + LANE] = sum[k];
    LEY_BARRIER_OF(LEY_WG);
    store_block(sm_sums, gm_frame + apart * part + block * LEY_TILE, size.y);
#else
    const size_t part = LEY_GROUP_ID(1);
    const int4 range = gm_ranges[part];
    LEY_GLOBAL const float4 *gm_frame = gm_at + frame * size.y, *gm_own_states = gm_states + frame * size.y;
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
#endif
}
