/* Reciprocal square roots, 1/sqrt(x), by several recipes.
 *
 * The recipe is the user's and the device's choice (--math): which one is used stands in the kernel's
 * specification as LEY_ROOT, and calibration measures the error and the rate of each on the device itself.
 * `real` is the arithmetic type of the kernel: float, a float vector, or double; `real_bits` the signed
 * integer of the same shape. LEY_REAL_LANES is the number of its lanes.
 *
 * Included by OpenCL kernels only: every recipe but the Newton one names a built-in of the dialect. */
#ifndef LEY_ROOT_H
#define LEY_ROOT_H

#define LEY_ROOT_STANDARD 0  /* rsqrt(): 2 ulp by the OpenCL specification */
#define LEY_ROOT_NATIVE 1    /* native_rsqrt(): implementation-defined error */
#define LEY_ROOT_RECIPROCAL 2 /* 1/sqrt(): two correctly rounded or 2.5 ulp steps */
#define LEY_ROOT_NEWTON 3    /* bit trick and two Newton steps: no special-function unit */
#define LEY_ROOT_PTX 4       /* rsqrt.approx.ftz.f32: the special-function unit without denormal handling */
#define LEY_ROOT_AVX512 5    /* vrsqrt14ps and one Newton step */

/* Bit trick and two Newton steps, y <- y (b - x y^2), without their common factor: the result is
 * LEY_NEWTON_SCALE^-1 / sqrt(x). The caller folds LEY_NEWTON_SCALE into whatever it multiplies the root by.
 * Constants: minimax over a binade of the relative error of both steps together, 3.2e-7. */
#define LEY_NEWTON_SCALE 0.17289579f
inline real ley_root_newton_unscaled(real x)
{
    real y = LEY_AS_REAL(0x5f203000 - (LEY_AS_BITS(x) >> 1));
    y = y * (2.39391345f - x * (y * y));
    return y * (6.08945469f - x * (y * y));
}

#if LEY_ROOT == LEY_ROOT_STANDARD
inline real ley_root(real x) { return rsqrt(x); }
#elif LEY_ROOT == LEY_ROOT_NATIVE
inline real ley_root(real x) { return native_rsqrt(x); }
#elif LEY_ROOT == LEY_ROOT_RECIPROCAL
inline real ley_root(real x) { return 1.0f / sqrt(x); }
#elif LEY_ROOT == LEY_ROOT_NEWTON
inline real ley_root(real x) { return LEY_NEWTON_SCALE * ley_root_newton_unscaled(x); }
#elif LEY_ROOT == LEY_ROOT_PTX
inline real ley_root(real x)
{
    real y;
    __asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif LEY_ROOT == LEY_ROOT_AVX512
inline real ley_root(real x)
{
    real y;
    __asm("vrsqrt14ps %1, %0" : "=v"(y) : "v"(x));
    return y * (3.0f - x * (y * y));
}
#else
#error "unknown LEY_ROOT"
#endif

#endif
