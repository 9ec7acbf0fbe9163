/* What generalised Born computes of single particles behind each pass of born_pairs.cl, whose parts
 * it adds up:
 *
 *   LEY_BORN_INTEGRALS  the radius, 1/B = 1/rho - tanh(u)/R,
 *                       u = psi (alpha + psi (psi gamma - beta)), psi = rho I, R with the offset;
 *                       B is limited, but for one that is no number
 *   LEY_BORN_ENERGIES   the energy, the slope dE/dB, and dE/dI, of all and with each group
 *   LEY_BORN_CHAIN      the force; the slope dE/dB goes where it is read, which shows that this
 *                       pass was made
 *
 * gm_parts    [frames][parts][sums][padded]
 * gm_ranges   [parts] {-, -, group or -1, -}: a group's parts one behind the other
 * gm_factors  [2][padded] {alpha, -beta, gamma, rho} and {1/R, or 0: there is no sphere;
 *             1/rho - 1/R, most of B, charge}
 * size        padded particles, parts, groups of columns, -
 * numbers     {-C/2, without salt times 1/eps_p - 1/eps_s; 1: 1/B is 1/rho - I; -, -}
 * gm_states   [frames][padded] {B, sqrt(log2(e))/(2 B), dB/dI, then dE/dI, then dE/dB}
 * gm_energy, gm_column, gm_radius, gm_slope, gm_force: as in host/energy/part.h (gm_column: its
 *             parts), columns where there are groups, forces with LEY_FORCES
 *
 * Groups: {padded / LEY_WG, frames}. */
#if !defined(LEY_PASS) || !defined(LEY_FORCES)
#error "the specification is incomplete: see LEY_BORN_PARTICLES_KEYS in spec.h"
#endif
#include "dialect.h"

#include "kept_sum.h"

#define SUMS LEY_BORN_SUMS(LEY_PASS, LEY_FORCES)
#define HALF_ROOT_LOG2_E 0.60056120439f

/* All sums of all parts, AT_ONCE of which are on their way from memory; where there are groups, the
 * first one with each of them to gm_column [groups][padded]. */
#define AT_ONCE 4
LEY_FN void add_parts(LEY_GLOBAL const float *gm_parts, LEY_GLOBAL const int4 *gm_ranges, int4 size, float factor,
                      LEY_GLOBAL float *gm_column, float *sum)
{
    kept_sum all[SUMS];
    UNROLL for (int k = 0; k < SUMS; k++)
        all[k].sum = all[k].lost = 0;
#if LEY_PASS == LEY_BORN_ENERGIES
    kept_sum own = all[0];
#endif
    for (int first = 0; first < size.y; first += AT_ONCE) {
        float value[AT_ONCE][SUMS];
        UNROLL for (int n = 0; n < AT_ONCE; n++)
            UNROLL for (int k = 0; k < SUMS; k++)
                value[n][k] = first + n < size.y ? gm_parts[((size_t)(first + n) * SUMS + k) * size.x] : 0;
        UNROLL for (int n = 0; n < AT_ONCE; n++) {
            UNROLL for (int k = 0; k < SUMS; k++)
                keep(&all[k], value[n][k]);
#if LEY_PASS == LEY_BORN_ENERGIES
            const int part = first + n, group = part < size.y && size.z > 0 ? gm_ranges[part].z : -1;
            if (group < 0)
                continue;
            keep(&own, value[n][0]);
            if (part + 1 == size.y || gm_ranges[part + 1].z != group) {
                gm_column[(size_t)group * size.x] = factor * own.sum;
                own.sum = own.lost = 0;
            }
#endif
        }
    }
    UNROLL for (int k = 0; k < SUMS; k++)
        sum[k] = all[k].sum;
}

LEY_KERNEL_OF(LEY_WG, 1, 1) born_particles(LEY_PARAMETERS(LEY_BORN_PARTICLES_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0), frame = LEY_GROUP_ID(1), at = frame * size.x + i;
    LEY_GLOBAL const float *gm_own = gm_parts + frame * size.y * SUMS * size.x + i;
    LEY_GLOBAL float *gm_own_column = gm_column + (frame * LEY_COLUMN_COUNT + LEY_COLUMN_BORN) * size.z * size.x + i;
    const float4 curve = gm_factors[i], radii = gm_factors[size.x + i];
    const float factor = numbers.x * radii.w;
    float sum[SUMS];
    add_parts(gm_own, gm_ranges, size, factor, gm_own_column, sum);
#if LEY_PASS == LEY_BORN_INTEGRALS
    const float integral = sum[0], psi = curve.w * integral;
    /* 1 - tanh(u), without a difference of what is nearly the same. */
    const float u = psi * (curve.x + psi * (curve.y + psi * curve.z)), rest = 2 / (LEY_F_EXP(2 * u) + 1);
    const bool is_plain = numbers.y > 0;
    const float by_radius = is_plain ? radii.x + radii.y - integral : radii.y + rest * radii.x;
    const float slope = is_plain ? 1
                                 : rest * (2 - rest) * (curve.x + psi * (2 * curve.y + 3 * psi * curve.z)) * curve.w *
                                       radii.x;
    /* One without a sphere has no charge either. */
    const bool is_there = radii.x > 0, is_free = !(by_radius * radii.z <= 1);
    const float radius = !is_there ? 1 : is_free ? 1 / by_radius : radii.z;
    gm_states[at] =
        LEY_FLOAT4(radius, HALF_ROOT_LOG2_E / radius, is_there && is_free ? radius * radius * slope : 0, 0);
    gm_radius[at] = is_there ? radius : 0;
#elif LEY_PASS == LEY_BORN_ENERGIES
    gm_energy[(frame * LEY_TERM_COUNT + LEY_TERM_BORN) * size.x + i] = factor * sum[0];
#if LEY_FORCES
    const float4 state = gm_states[at];
    const float slope = -factor * sum[1] / state.x;
    gm_states[at] = LEY_FLOAT4(state.x, state.y, state.z * slope, slope);
    const float4 force = gm_force[at];
    gm_force[at] = LEY_FLOAT4(force.x + 2 * factor * sum[2], force.y + 2 * factor * sum[3],
                              force.z + 2 * factor * sum[4], force.w);
#else
    gm_slope[at] = 0;
#endif
#else
    const float4 force = gm_force[at];
    gm_slope[at] = gm_states[at].w;
    gm_force[at] = LEY_FLOAT4(force.x + sum[0], force.y + sum[1], force.z + sum[2], force.w);
#endif
}
