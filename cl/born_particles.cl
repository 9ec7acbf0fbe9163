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

#define SUMS LEY_BORN_SUMS(LEY_PASS, LEY_FORCES)
#define HALF_ROOT_LOG2_E 0.60056120439f

/* The k-th sum, of parts [first, end). */
LEY_FN float sum_of(LEY_GLOBAL const float *gm_parts, int4 size, int first, int end, int k)
{
    float sum = 0, carry = 0;
    for (int part = first; part < end; part++) {
        const float term = gm_parts[((size_t)part * SUMS + k) * size.x] - carry, grown = sum + term;
        carry = (grown - sum) - term;
        sum = grown;
    }
    return sum;
}

LEY_KERNEL_OF(LEY_WG, 1, 1) born_particles(LEY_PARAMETERS(LEY_BORN_PARTICLES_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0), frame = LEY_GROUP_ID(1), at = frame * size.x + i;
    LEY_GLOBAL const float *gm_own = gm_parts + frame * size.y * SUMS * size.x + i;
    const float4 curve = gm_factors[i], radii = gm_factors[size.x + i];
#if LEY_PASS == LEY_BORN_INTEGRALS
    const float integral = sum_of(gm_own, size, 0, size.y, 0), psi = curve.w * integral;
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
    const float factor = numbers.x * radii.w;
    float sum = 0;
    for (int first = 0, end = 0; first < size.y; first = end) {
        const int group = gm_ranges[first].z;
        while (end < size.y && gm_ranges[end].z == group)
            end++;
        const float own = sum_of(gm_own, size, first, end, 0);
        if (group >= 0)
            gm_column[((frame * LEY_COLUMN_COUNT + LEY_COLUMN_BORN) * size.z + group) * size.x + i] = factor * own;
        sum += own;
    }
    gm_energy[(frame * LEY_TERM_COUNT + LEY_TERM_BORN) * size.x + i] = factor * sum;
#if LEY_FORCES
    const float4 state = gm_states[at];
    const float slope = -factor * sum_of(gm_own, size, 0, size.y, 1) / state.x;
    gm_states[at] = LEY_FLOAT4(state.x, state.y, state.z * slope, slope);
    const float4 force = gm_force[at];
    gm_force[at] = LEY_FLOAT4(force.x + 2 * factor * sum_of(gm_own, size, 0, size.y, 2),
                              force.y + 2 * factor * sum_of(gm_own, size, 0, size.y, 3),
                              force.z + 2 * factor * sum_of(gm_own, size, 0, size.y, 4), force.w);
#else
    gm_slope[at] = 0;
#endif
#else
    const float4 force = gm_force[at];
    gm_slope[at] = gm_states[at].w;
    gm_force[at] = LEY_FLOAT4(force.x + sum_of(gm_own, size, 0, size.y, 0),
                              force.y + sum_of(gm_own, size, 0, size.y, 1),
                              force.z + sum_of(gm_own, size, 0, size.y, 2), force.w);
#endif
}
