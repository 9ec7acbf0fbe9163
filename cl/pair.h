/* Pair formulas: what one charge does at one point, written once for C11, OpenCL C and CUDA C.
 *
 * A dialect header (dialect.h for OpenCL) names the arithmetic beforehand:
 *   real           float, double or, for CPU devices, a vector of them
 *   LEY_FN         qualifiers of an inline function
 *   LEY_MAX(a, b), LEY_MIN(a, b)  the larger and the smaller of two reals
 *   LEY_DIVIDE(a, b)  a/b, right to three ulp, of reals that are neither large nor small; where
 *                     the kernels of cutoff.cl are
 *   LEY_AS_BITS(x), LEY_AS_REAL(i)  reinterpretation as a signed integer of the same shape, and
 *                                   back (float only)
 *   LEY_ADD_EXPONENT(bits, n)  bits + (n << 23), whatever leaves at the top
 * Scalar formulas only: no loops, no memory spaces. */
#ifndef LEY_PAIR_H
#define LEY_PAIR_H

#include "pair_formulas.h"
#include "pair_table.h"

/* Squared distance below which a pair counts as r_min apart: r^2 <- max(r^2, r_min^2), in A^2. */
LEY_FN real ley_clamped_r2(real r2_A2, real r_min2_A2)
{
    return LEY_MAX(r2_A2, r_min2_A2);
}

/* 1/sqrt(x) up to a constant factor, by multiplications and additions alone: a first guess y
 * from the exponent's bits (2.9 % off, but for a factor), then two steps y <- y (b - x y^2).
 * Newton's own step is y (3/2 - x y^2 / 2); here the factor 1/2 is left out and the constants
 * are those that make the relative error of both steps together smallest over two binades:
 * 3.3e-7 at most in exact arithmetic, 5e-7 in floats, 2.4e-7 in the mean square, with a mean of
 * -2e-8. Multiply by LEY_NEWTON_SCALE to have 1/sqrt(x): once per atom, with its charge, where it
 * costs nothing. x: positive, normal, below 1e38. */
#ifdef LEY_AS_BITS
#define LEY_NEWTON_SCALE 0.17289579f
LEY_FN real ley_unscaled_newton_root(real x)
{
    real y = LEY_AS_REAL(0x5f203000 - (LEY_AS_BITS(x) >> 1));
    y = y * (2.39391345f - x * (y * y));
    return y * (6.08945469f - x * (y * y));
}

/* 2^f for |f| <= 1/2: the polynomial of degree 5 of smallest relative error: 7.5e-8, and 2.4e-7
 * in floats. */
LEY_FN real ley_exp2_fraction(real f)
{
    return 1.000000072f + f * (0.6931469671f + f * (0.2402211972f +
           f * (0.05550713273f + f * (0.009675541331f + f * 0.001327647217f))));
}

/* 2^(n - a b) for -127 <= n - a b <= 125; between -126 and -127 it is too small, never too
 * large, and at -127 it is 0 or a float's least number. Added to 1.5 2^23 a number loses its
 * fraction, and its integer part stands in the lowest bits, from where a shift brings it into
 * the exponent; `shift` is LEY_EXP2_SHIFT + n, n a whole number. The product is never rounded
 * where multiply-adds are fused. */
LEY_FN real ley_exp2_shifted(real shift, real a, real b)
{
    const real shifted = shift - a * b, whole = shift - shifted;
    return LEY_AS_REAL(LEY_ADD_EXPONENT(LEY_AS_BITS(ley_exp2_fraction(whole - a * b)), LEY_AS_BITS(shifted)));
}

/* 2^(-a b) for 0 <= a b <= 127. */
LEY_FN real ley_exp2_minus(real a, real b)
{
    return ley_exp2_shifted((real)LEY_EXP2_SHIFT, a, b);
}

/* 2^x for x up to 125, above which it stays; below -126, where floats end, it vanishes. */
LEY_FN real ley_polynomial_exp2(real x)
{
    return ley_exp2_minus((real)-1.0f, LEY_MAX(LEY_MIN(x, 125.0f), -127.0f));
}
#endif

/* ---- Pair functions of cutoff.cl: pair_formulas.h has the formulas --------------------------- */

/* LEY_PAIR_OF_CHARGE: the value is to be multiplied by the first number, the charge.
 * LEY_PAIR_SCALES: a factor that 1/r, the series and k have in common is one of the value. */
#ifdef LEY_PAIR
#ifndef LEY_USER_PAIR_IS_LINEAR
#define LEY_USER_PAIR_IS_LINEAR 0 /* 1: in the charge; the value is what a charge of 1 does */
#endif
#define LEY_PAIR_OF_CHARGE (LEY_BRINGS_OF(LEY_PAIR) == LEY_BRINGS_CHARGE || LEY_USER_PAIR_IS_LINEAR)
#define LEY_PAIR_SCALES (LEY_SCALING_OF(LEY_PAIR) == LEY_SCALES_ALL)
#define LEY_PAIR_ENDS LEY_ENDS_OF(LEY_PAIR)
#define LEY_PAIR_CANCELS LEY_CANCELS_OF(LEY_PAIR)

/* LEY_OWN_PARAMETER: the last parameter of functions that need the numbers of the user's function;
 * LEY_OWN_OF(p): p's own, for it. */
#define LEY_OWN_PARAMETER
#define LEY_OWN_OF(p)
#ifdef LEY_USER_PAIR
#undef LEY_OWN_PARAMETER
#undef LEY_OWN_OF
#define LEY_OWN_PARAMETER , LEY_REFERENCE(own_numbers) own
#define LEY_OWN_OF(p) , (p)->own
typedef struct {
    sixteen low, high;
} own_numbers;
LEY_USER_PAIR /* ley_user_pair(r, r2, inverse_r, q, own), made from the user's expression */
#endif
#ifdef LEY_USER_SLOPE
LEY_USER_SLOPE /* ley_user_slope(), its derivative, where that is wanted */
#endif

#ifndef LEY_PAIR_WHICH
#define LEY_PAIR_WHICH /* the host, where LEY_PAIR is no constant, has it as a first parameter */
#endif
#define LEY_RETURN_VALUE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    if ((of) == (number)) \
        return LEY_PAIR_VALUE_##NAME;
LEY_FN real ley_pair_value(LEY_PAIR_WHICH real r2, real inverse_r, atom series, scalar k, scalar first, scalar second,
                           scalar third LEY_OWN_PARAMETER)
{
    const real inverse_r2 = inverse_r * inverse_r, inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2;
    const real t = 1 + series.x * r2;
    LEY_PAIR_ROWS(LEY_RETURN_VALUE, LEY_PAIR)
    return (real)1; /* counts */
}

#ifdef LEY_DIVIDE
#define LEY_FACTORED_keeps(of, number, NAME)
#define LEY_FACTORED_cancels(of, number, NAME) \
    if ((of) == (number)) \
        return LEY_PAIR_FACTORED_##NAME;
#define LEY_RETURN_FACTORED(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    LEY_FACTORED_##near(of, number, NAME)
LEY_FN real ley_factored_value(LEY_PAIR_WHICH real r2, real inverse_r, scalar inverse_a, scalar inverse_a2)
{
    const real x = r2 * inverse_r * inverse_a, d = LEY_DIVIDE(1 - r2 * inverse_a2, 1 + x), d3 = d * d * d;
    LEY_PAIR_FUNCTIONS(LEY_RETURN_FACTORED, LEY_PAIR)
    return d3; /* of no function */
}

#define LEY_RETURN_SLOPE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    if ((of) == (number)) \
        return LEY_PAIR_SLOPE_##NAME;
LEY_FN real ley_pair_slope(LEY_PAIR_WHICH real r2, real inverse_r, atom series, scalar k, scalar first, scalar second,
                           scalar third, scalar inverse_a, scalar inverse_a2 LEY_OWN_PARAMETER)
{
    const real inverse_r2 = inverse_r * inverse_r, inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2;
    const real t = 1 + series.x * r2, x = r2 * inverse_r * inverse_a, d = LEY_DIVIDE(1 - r2 * inverse_a2, 1 + x),
               d2 = d * d;
    LEY_PAIR_ROWS(LEY_RETURN_SLOPE, LEY_PAIR)
    return d2; /* of no function */
}

/* The same where other atoms are well within the cutoff. A factor that 1/r, the series and k have
 * in common is one of the slope where it is one of the value; inverse_r2 is without it. */
#define LEY_PLAIN_SLOPE_keeps(NAME) LEY_PAIR_SLOPE_##NAME
#define LEY_PLAIN_SLOPE_cancels(NAME) LEY_PAIR_PLAIN_SLOPE_##NAME
#define LEY_RETURN_PLAIN_SLOPE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    if ((of) == (number)) \
        return LEY_PLAIN_SLOPE_##near(NAME);
LEY_FN real ley_plain_slope(LEY_PAIR_WHICH real r2, real inverse_r, real inverse_r2, atom series, scalar k,
                            scalar first, scalar second, scalar third LEY_OWN_PARAMETER)
{
    const real inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2, t = 1 + series.x * r2;
    LEY_PAIR_ROWS(LEY_RETURN_PLAIN_SLOPE, LEY_PAIR)
    return t; /* of no function */
}
#endif
#endif

#endif
