/* Adds potentials and their squares to sums that are integers of fixed point.
 *
 * gm_phi        [points]
 * most          values beyond it, and not-a-numbers, are not added: there is no room for them
 * scale, square_scale  quanta in a unit; the latter 0: no squares
 * gm_sum, gm_square    [points] integers of 64 bits, the lower half first
 * gm_beyond     [1] becomes 1 where there was such a value
 *
 * Global size: points, rounded up to work-groups. */
#include "dialect.h"

LEY_KERNEL potential_sums(LEY_PARAMETERS(LEY_POTENTIAL_SUMS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)points)
        return;
    const float phi = gm_phi[i];
    if (!(fabs(phi) <= most)) {
        gm_beyond[0] = 1;
        return;
    }
    LEY_LONG_AT(gm_sum + i) += LEY_ROUNDED_LONG(phi * scale);
    if (square_scale != 0) { /* a variance is a small difference of large numbers: no digit of a square is lost */
        const float square = LEY_FMA(phi, phi, 0.0f), lost = LEY_FMA(phi, phi, -square);
        LEY_LONG_AT(gm_square + i) += LEY_ROUNDED_LONG(square * square_scale) + LEY_ROUNDED_LONG(lost * square_scale);
    }
}
