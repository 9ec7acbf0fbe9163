/* OpenCL C's names for what pair.h and the kernels compute with, by LEY_SUM and LEY_WIDTH:
 * `scalar` one number, `real` LEY_WIDTH of them, `atom` {x, y, z, q}; LEY_LOAD takes LEY_WIDTH scalars from an array. */
#ifndef LEY_DIALECT_H
#define LEY_DIALECT_H

#include "spec.h"

#define LEY_PASTE_(a, b) a##b
#define LEY_PASTE(a, b) LEY_PASTE_(a, b)

#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define scalar double
#else
#define scalar float
#endif

#if LEY_WIDTH == 1
#define real scalar
#define LEY_LANES ((real)0)
#define LEY_BITS_SUFFIX
#define LEY_LOAD(scalars) (*(scalars))
#else
#define real LEY_PASTE(scalar, LEY_WIDTH)
#define LEY_BITS_SUFFIX LEY_WIDTH
#define LEY_LOAD(scalars) LEY_PASTE(vload, LEY_WIDTH)(0, scalars)
#if LEY_WIDTH == 2
#define LEY_LANES ((real)(0, 1))
#elif LEY_WIDTH == 4
#define LEY_LANES ((real)(0, 1, 2, 3))
#elif LEY_WIDTH == 8
#define LEY_LANES ((real)(0, 1, 2, 3, 4, 5, 6, 7))
#elif LEY_WIDTH == 16
#define LEY_LANES ((real)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#endif
#endif
typedef LEY_PASTE(scalar, 4) atom;

/* Neither static nor always_inline: with either one PoCL 5 breaks off while it compiles the kernels. AMD's linker, though, wants a
 * definition of what the compiler did not inline, which C99's inline does not give. */
#ifdef __AMDGCN__
#define LEY_FN static inline
#else
#define LEY_FN inline
#endif
#define UNROLL _Pragma("unroll")
#define LEY_MAX(a, b) fmax(a, b)
#define LEY_MIN(a, b) fmin(a, b)
#define LEY_DIVIDE(a, b) ((a) / (b))
#if LEY_SUM != LEY_SPEC_SUM_DOUBLE
#define LEY_AS_BITS(x) LEY_PASTE(as_int, LEY_BITS_SUFFIX)(x)
#define LEY_AS_REAL(i) LEY_PASTE(as_float, LEY_BITS_SUFFIX)(i)
#define LEY_ADD_EXPONENT(bits, n) ((bits) + ((n) << 23))
#endif

/* What a user's pair function is made of: see host/expression.h. */
#define LEY_REAL(x) ((real)(x##f))
#define LEY_F_EXP(x) exp(x)
#define LEY_F_LOG(x) log(x)
#define LEY_F_SQRT(x) sqrt(x)
#define LEY_F_ERF(x) erf(x)
#define LEY_F_ERFC(x) erfc(x)
#define LEY_F_SIN(x) sin(x)
#define LEY_F_COS(x) cos(x)
#define LEY_F_TANH(x) tanh(x)
#define LEY_F_ABS(x) fabs(x)
#define LEY_F_MIN(x, y) fmin(x, y)
#define LEY_F_MAX(x, y) fmax(x, y)
#define LEY_F_POW(x, y) pow(x, y)

#include "pair.h"

/* 1/sqrt(x) times 1/LEY_ROOT_SCALE, by the recipe LEY_ROOT. */
#if LEY_ROOT == LEY_ROOT_STANDARD
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return rsqrt(x); }
#elif LEY_ROOT == LEY_ROOT_RECIPROCAL
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return 1 / sqrt(x); }
#elif LEY_ROOT == LEY_ROOT_NATIVE
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return native_rsqrt(x); }
#elif LEY_ROOT == LEY_ROOT_NEWTON
#define LEY_ROOT_SCALE LEY_NEWTON_SCALE
#define ley_unscaled_root ley_unscaled_newton_root
#elif LEY_ROOT == LEY_ROOT_PTX
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x)
{
    real y;
    __asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/* x, to [0, 1]: costs nothing where an addition or multiply-add ends it. */
#define LEY_SATURATE(x) ley_saturate(x)
LEY_FN real ley_saturate(real x)
{
    real y;
    __asm("cvt.sat.f32.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif LEY_ROOT == LEY_ROOT_AVX512
#define LEY_ROOT_SCALE 0.5f
LEY_FN real ley_unscaled_root(real x)
{
    real y;
    __asm("vrsqrt14ps %1, %0" : "=v"(y) : "v"(x));
    return y * (3.0f - x * (y * y));
}
#endif

#endif
