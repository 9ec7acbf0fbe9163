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

/* ---- Pair functions of cutoff.cl -------------------------------------------------------------
 *
 * What an atom does at distance r below the cutoff a: r2 = r^2, inverse_r = 1/r, in a unit of
 * the caller's choice. `series` and `k` are constants of the function, below; first, second and
 * third the atom's own numbers. LEY_PAIR_OF_CHARGE: the value is to be multiplied by the first
 * one, the charge. LEY_PAIR_ENDS: it is positive before the cutoff and negative behind it, so
 * that no distance need be tested. LEY_PAIR_CANCELS: next to the cutoff it is a small difference
 * of large numbers, which ley_factored_value() is not. host/judge/reference.c has the same
 * formulas, written otherwise. */
#ifdef LEY_PAIR
#define LEY_PAIR_OF_CHARGE (LEY_PAIR < LEY_PAIR_SPEC_LENNARD_JONES)
/* Whether a factor that 1/r, the series and k have in common is one of the value. */
#define LEY_PAIR_SCALES (LEY_PAIR <= LEY_PAIR_SPEC_TAYLOR4 && LEY_PAIR != LEY_PAIR_SPEC_SHIFTED)
#define LEY_PAIR_ENDS (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR2 || LEY_PAIR == LEY_PAIR_SPEC_TAYLOR4)
#define LEY_PAIR_CANCELS (LEY_PAIR >= LEY_PAIR_SPEC_TAYLOR2 && LEY_PAIR <= LEY_PAIR_SPEC_TAYLOR4)

#ifdef LEY_USER_PAIR
LEY_USER_PAIR /* ley_user_pair(r, r2, inverse_r, q), made from the user's expression */
#endif

#ifndef LEY_PAIR_WHICH
#define LEY_PAIR_WHICH /* the host, where LEY_PAIR is no constant, has it as a first parameter */
#endif
LEY_FN real ley_pair_value(LEY_PAIR_WHICH real r2, real inverse_r, atom series, scalar k, scalar first, scalar second,
                           scalar third)
{
    const real inverse_r2 = inverse_r * inverse_r, inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2;
    const real t = 1 + series.x * r2;
    if (LEY_PAIR == LEY_PAIR_SPEC_COULOMB)
        return inverse_r;
    if (LEY_PAIR == LEY_PAIR_SPEC_SHIFTED) /* series {-1/a^2} */
        return inverse_r * (t * t);
    if (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR2) /* series: what is added to 1/r, by powers of r^2 */
        return r2 * (series.y + series.z * r2) + (inverse_r + series.x);
    if (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR3)
        return r2 * (series.y + r2 * (series.z + series.w * r2)) + (inverse_r + series.x);
    if (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR4) /* k: that of r^8 */
        return r2 * (series.y + r2 * (series.z + r2 * (series.w + k * r2))) + (inverse_r + series.x);
    /* k = kappa log2(e); series {LEY_EXP2_SHIFT + n}: 2^n times the value, n - k r at least -126 */
    if (LEY_PAIR == LEY_PAIR_SPEC_YUKAWA)
        return inverse_r * ley_exp2_shifted((real)series.x, r2 * inverse_r, (real)k);
    if (LEY_PAIR == LEY_PAIR_SPEC_DISTANCE_DIELECTRIC)
        return inverse_r2;
    if (LEY_PAIR == LEY_PAIR_SPEC_LENNARD_JONES) /* first A, second B */
        return inverse_r6 * (first * inverse_r6 - second);
    if (LEY_PAIR == LEY_PAIR_SPEC_BUCKINGHAM) /* first A, second B log2(e), third C */
        return first * ley_polynomial_exp2(-second * (r2 * inverse_r)) - third * inverse_r6;
#ifdef LEY_USER_PAIR
    if (LEY_PAIR == LEY_PAIR_SPEC_EXPRESSION) /* k: the constant factor */
        return k * ley_user_pair(r2 * inverse_r, r2, inverse_r, (real)first);
#endif
    return (real)1; /* counts */
}

#ifdef LEY_DIVIDE
/* The value of a function that LEY_PAIR_CANCELS, before the cutoff, with 1 - r/a as a factor, so
 * that it keeps its digits next to the cutoff: it is as right as the distance is. */
LEY_FN real ley_factored_value(real r2, real inverse_r, scalar inverse_a, scalar inverse_a2)
{
    const real x = r2 * inverse_r * inverse_a, d = LEY_DIVIDE(1 - r2 * inverse_a2, 1 + x), d3 = d * d * d;
    if (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR2)
        return inverse_r * d3 * (1 + x * (1.125f + x * 0.375f));
    if (LEY_PAIR == LEY_PAIR_SPEC_TAYLOR3)
        return inverse_r * d3 * (d * (1 + x * (1.8125f + x * (1.25f + x * 0.3125f))));
    return inverse_r * d3 * (d * d * (1 + x * (2.5390625f + x * (2.6953125f + x * (1.3671875f + x * 0.2734375f)))));
}
#endif
#endif

#endif
