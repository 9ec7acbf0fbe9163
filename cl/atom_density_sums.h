/* Sums over nodes of a density a and a map b: of all nodes that count a, a^2, a b; of those of the
 * mask the same; of those where a is no less than a threshold 1, a, b, a b, a^2, b^2. */
#ifndef LEY_ATOM_DENSITY_SUMS_H
#define LEY_ATOM_DENSITY_SUMS_H

#include "fit_lanes.h"

LEY_FN void add_nodes(real rho, real value, real mask, float threshold, real *sums)
{
    const real counts = PICK(value == value, 1.0f, 0.0f), a = PICK(value == value, rho, 0.0f),
               b = PICK(value == value, value, 0.0f);
    int k = 0;
#if LEY_SETS & LEY_FIT_ALL
    sums[k++] += a;
    sums[k++] += a * a;
    sums[k++] += a * b;
#endif
#if LEY_SETS & LEY_FIT_MASKED
    const real masked = mask * a;
    sums[k++] += masked;
    sums[k++] += masked * a;
    sums[k++] += masked * b;
#endif
#if LEY_SETS & LEY_FIT_ABOVE
    const real is_above = PICK(a >= (real)threshold, counts, 0.0f), high = is_above * a, there = is_above * b;
    sums[k++] += is_above;
    sums[k++] += high;
    sums[k++] += there;
    sums[k++] += high * b;
    sums[k++] += high * a;
    sums[k++] += there * b;
#endif
}

#endif
