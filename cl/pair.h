/* Pair formulas: what one charge does at one point, written once for C11, OpenCL C 1.2 and CUDA C.
 *
 * A dialect header (dialect.h for OpenCL) names the arithmetic beforehand:
 *   real           float, double or, for CPU devices, a vector of them
 *   LEY_FN         qualifiers of an inline function
 *   LEY_MAX(a, b)  the larger of two reals
 *   LEY_AS_BITS(x), LEY_AS_REAL(i)  reinterpretation as a signed integer of the same shape, and back (float only)
 * Scalar formulas only: no loops, no memory spaces. */
#ifndef LEY_PAIR_H
#define LEY_PAIR_H

/* Squared distance below which a pair counts as r_min apart: r^2 <- max(r^2, r_min^2), in A^2. */
LEY_FN real ley_clamped_r2(real r2_A2, real r_min2_A2)
{
    return LEY_MAX(r2_A2, r_min2_A2);
}

/* 1/sqrt(x) up to a constant factor, by multiplications and additions alone: a first guess y from the exponent's
 * bits (2.9 % off, but for a factor), then two steps y <- y (b - x y^2). Newton's own step is y (3/2 - x y^2 / 2); here the factor 1/2 is
 * left out and the constants are those that make the relative error of both steps together smallest over two
 * binades: 3.3e-7 at most in exact arithmetic, 5e-7 in floats, 2.4e-7 in the mean square, with a mean of -2e-8. Multiply by LEY_NEWTON_SCALE to have 1/sqrt(x): once
 * an atom, with its charge, where it costs nothing. x: positive, normal, below 1e38. */
#ifdef LEY_AS_BITS
#define LEY_NEWTON_SCALE 0.17289579f
LEY_FN real ley_unscaled_newton_root(real x)
{
    real y = LEY_AS_REAL(0x5f203000 - (LEY_AS_BITS(x) >> 1));
    y = y * (2.39391345f - x * (y * y));
    return y * (6.08945469f - x * (y * y));
}
#endif

#endif
