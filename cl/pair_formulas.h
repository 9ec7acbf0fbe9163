/* The formulas of the pair functions as kernels and the host's serial loop compute them. The rows
 * are those of pair_table.h.
 *
 * LEY_PAIR_VALUE_NAME is what an atom does at distance r below the cutoff a, of
 *   r2, inverse_r           r^2 and 1/r, in a unit of the caller's choice
 *   inverse_r2, inverse_r6  their powers
 *   series, k               constants of the function: LEY_PAIR_CONSTANTS_NAME
 *   t                       1 + series.x r^2
 *   first, second, third    the atom's own numbers, as LEY_BRINGS_... says; the caller multiplies
 *                           by a charge
 * LEY_PAIR_CONSTANTS_NAME is {series.x, .y, .z, .w, k}, which the host makes, in doubles, of
 *   a         the cutoff, in the same unit
 *   kappa     of 2^(-kappa r), where the function LEY_IS_SCREENED
 *   n         such functions are computed 2^n times as large, n - kappa r being at least -126
 *   constant  C, of a function that LEY_BRINGS_ARGUMENT
 * laws/pairs.h has the same functions, written otherwise, for the judge. Preprocessor only: pair.h
 * makes functions of it. */
#ifndef LEY_PAIR_FORMULAS_H
#define LEY_PAIR_FORMULAS_H

/* clang-format off */

#define LEY_PAIR_VALUE_COULOMB inverse_r
#define LEY_PAIR_CONSTANTS_COULOMB {0}

#define LEY_PAIR_VALUE_SHIFTED inverse_r * (t * t)
#define LEY_PAIR_CONSTANTS_SHIFTED {-1 / (a * a)}

/* 1/r less g(r^2/a^2)/a, g the Taylor polynomial of s^(-1/2) about 1: what is added to 1/r, by
 * powers of r^2. */
#define LEY_PAIR_VALUE_TAYLOR2 r2 * (series.y + series.z * r2) + (inverse_r + series.x)
#define LEY_PAIR_CONSTANTS_TAYLOR2 {-15.0 / 8 / a, 5.0 / 4 / pow(a, 3), -3.0 / 8 / pow(a, 5)}

#define LEY_PAIR_VALUE_TAYLOR3 r2 * (series.y + r2 * (series.z + series.w * r2)) + (inverse_r + series.x)
#define LEY_PAIR_CONSTANTS_TAYLOR3 {-35.0 / 16 / a, 35.0 / 16 / pow(a, 3), -21.0 / 16 / pow(a, 5), 5.0 / 16 / pow(a, 7)}

#define LEY_PAIR_VALUE_TAYLOR4 r2 * (series.y + r2 * (series.z + r2 * (series.w + k * r2))) + (inverse_r + series.x)
#define LEY_PAIR_CONSTANTS_TAYLOR4 \
    {-315.0 / 128 / a, 105.0 / 32 / pow(a, 3), -189.0 / 64 / pow(a, 5), 45.0 / 32 / pow(a, 7), -35.0 / 128 / pow(a, 9)}

#define LEY_PAIR_VALUE_YUKAWA inverse_r * ley_exp2_shifted((real)series.x, r2 * inverse_r, (real)k)
#define LEY_PAIR_CONSTANTS_YUKAWA {LEY_EXP2_SHIFT + n, 0, 0, 0, kappa}

#define LEY_PAIR_VALUE_DISTANCE_DIELECTRIC inverse_r2
#define LEY_PAIR_CONSTANTS_DISTANCE_DIELECTRIC {0}

/* first A, second B */
#define LEY_PAIR_VALUE_LENNARD_JONES inverse_r6 * (first * inverse_r6 - second)
#define LEY_PAIR_CONSTANTS_LENNARD_JONES {0}

/* first A, second B log2(e), third C */
#define LEY_PAIR_VALUE_BUCKINGHAM first * ley_polynomial_exp2(-second * (r2 * inverse_r)) - third * inverse_r6
#define LEY_PAIR_CONSTANTS_BUCKINGHAM {0}

/* The caller's own: of charge 1, where that can be multiplied by, as by the functions above. */
#ifdef LEY_USER_PAIR
#define LEY_PAIR_VALUE_EXPRESSION \
    (LEY_USER_PAIR_IS_LINEAR ? 1 : k) * \
        ley_user_pair(r2 * inverse_r, r2, inverse_r, (real)(LEY_USER_PAIR_IS_LINEAR ? 1 : first), own)
#else
#define LEY_PAIR_VALUE_EXPRESSION (real)1
#endif
#define LEY_PAIR_CONSTANTS_EXPRESSION {0, 0, 0, 0, constant}

/* The values of functions whose row says `cancels`, before the cutoff, with 1 - r/a as a factor, so
 * that they keep their digits next to it: they are as right as the distance is. Of inverse_r, x =
 * r/a, d = 1 - x and its cube d3. */
#define LEY_PAIR_FACTORED_TAYLOR2 inverse_r * d3 * (1 + x * (1.125f + x * 0.375f))
#define LEY_PAIR_FACTORED_TAYLOR3 inverse_r * d3 * (d * (1 + x * (1.8125f + x * (1.25f + x * 0.3125f))))
#define LEY_PAIR_FACTORED_TAYLOR4 \
    inverse_r * d3 * (d * d * (1 + x * (2.5390625f + x * (2.6953125f + x * (1.3671875f + x * 0.2734375f)))))

/* LEY_PAIR_SLOPE_NAME is -f'(r)/r, by which the way from atom to point is multiplied to have the
 * field: of what values are made of, and x = r/a, d = 1 - x and its square d2. Those of functions
 * whose row says `cancels` have a power of d as a factor, as their values have. */
#define LEY_PAIR_SLOPE_COULOMB inverse_r * inverse_r2
#define LEY_PAIR_SLOPE_SHIFTED inverse_r * (t * (t * inverse_r2 - 4 * series.x))
#define LEY_PAIR_SLOPE_TAYLOR2 inverse_r * inverse_r2 * d2 * (1 + x * (2 + x * (3 + x * 1.5f)))
#define LEY_PAIR_SLOPE_TAYLOR3 inverse_r * inverse_r2 * d2 * (d * (1 + x * (3 + x * (6 + x * (5.625f + x * 1.875f)))))
#define LEY_PAIR_SLOPE_TAYLOR4 \
    inverse_r * inverse_r2 * d2 * (d2 * (1 + x * (4 + x * (10 + x * (13.4375f + x * (8.75f + x * 2.1875f))))))
#define LEY_PAIR_SLOPE_YUKAWA \
    inverse_r * ley_exp2_shifted((real)series.x, r2 * inverse_r, (real)k) * (inverse_r * (inverse_r + k * LEY_LN2))
#define LEY_PAIR_SLOPE_DISTANCE_DIELECTRIC 2 * inverse_r2 * inverse_r2
#define LEY_PAIR_SLOPE_LENNARD_JONES inverse_r6 * inverse_r2 * 6 * (2 * inverse_r6 * first - second)
#define LEY_PAIR_SLOPE_BUCKINGHAM \
    first * ley_polynomial_exp2(-(second * (r2 * inverse_r))) * (second * LEY_LN2 * inverse_r) - \
        6 * third * (inverse_r6 * inverse_r2)
#define LEY_LN2 0.69314718f

/* Of functions whose row says `cancels` the same by powers of r^2, as their values have it: without
 * a division, and with less digits next to the cutoff. */
#define LEY_PAIR_PLAIN_SLOPE_TAYLOR2 inverse_r * inverse_r2 - 2 * (series.y + 2 * series.z * r2)
#define LEY_PAIR_PLAIN_SLOPE_TAYLOR3 \
    inverse_r * inverse_r2 - 2 * (series.y + r2 * (2 * series.z + 3 * series.w * r2))
#define LEY_PAIR_PLAIN_SLOPE_TAYLOR4 \
    inverse_r * inverse_r2 - 2 * (series.y + r2 * (2 * series.z + r2 * (3 * series.w + 4 * k * r2)))

#ifdef LEY_USER_SLOPE
#define LEY_PAIR_SLOPE_EXPRESSION \
    (LEY_USER_PAIR_IS_LINEAR ? -1 : -k) * \
        ley_user_slope(r2 * inverse_r, r2, inverse_r, (real)(LEY_USER_PAIR_IS_LINEAR ? 1 : first), own) * inverse_r
#else
#define LEY_PAIR_SLOPE_EXPRESSION (real)1
#endif
/* clang-format on */

#endif
