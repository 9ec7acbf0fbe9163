/* CUDA C's names for what pair.h and the kernels compute with, by LEY_SUM: the twin of cl/dialect.h.
 * Kept within what NVRTC 7 and compute capability 1.3 understand: no C++ beyond templates-free C. */
#ifndef LEY_DIALECT_CUH
#define LEY_DIALECT_CUH

#include "spec.h"

#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
typedef double scalar;
struct __align__(16) atom {
    double x, y, z, w;
};
#else
typedef float scalar;
struct __align__(16) atom {
    float x, y, z, w;
};
#endif
typedef scalar real;

#if LEY_WIDTH != 1
#error "vectors are for CPU devices"
#endif

#define LEY_FN static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define LEY_SATURATE(x) __saturatef(x) /* to [0, 1]; costs nothing where an addition or multiply-add ends it */
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define LEY_MAX(a, b) fmax(a, b)
#define LEY_MIN(a, b) fmin(a, b)
#define ley_rsqrt(x) rsqrt(x)
#else
#define LEY_MAX(a, b) fmaxf(a, b)
#define LEY_MIN(a, b) fminf(a, b)
#define LEY_DIVIDE(a, b) __fdividef(a, b)
#define LEY_AS_BITS(x) __float_as_int(x)
#define LEY_AS_REAL(i) __int_as_float(i)
#define LEY_ADD_EXPONENT(bits, n) ((int)((unsigned)(bits) + ((unsigned)(n) << 23)))
#define ley_rsqrt(x) rsqrtf(x)
#endif

/* What a user's pair function is made of: see host/expression.h. */
#define LEY_REAL(x) x##f
#define LEY_F_EXP(x) expf(x)
#define LEY_F_LOG(x) logf(x)
#define LEY_F_SQRT(x) sqrtf(x)
#define LEY_F_ERF(x) erff(x)
#define LEY_F_ERFC(x) erfcf(x)
#define LEY_F_SIN(x) sinf(x)
#define LEY_F_COS(x) cosf(x)
#define LEY_F_TANH(x) tanhf(x)
#define LEY_F_ABS(x) fabsf(x)
#define LEY_F_MIN(x, y) fminf(x, y)
#define LEY_F_MAX(x, y) fmaxf(x, y)
#define LEY_F_POW(x, y) powf(x, y)

#include "pair.h"

/* 1/sqrt(x) times 1/LEY_ROOT_SCALE, by the recipe LEY_ROOT. The native one is the special-function unit's approximation, which CUDA C
 * reaches only through a global option or PTX: here it is PTX, denormals kept. */
#if LEY_ROOT == LEY_ROOT_STANDARD
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return ley_rsqrt(x); }
#elif LEY_ROOT == LEY_ROOT_RECIPROCAL
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return 1 / sqrt(x); }
#elif LEY_ROOT == LEY_ROOT_NATIVE
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x)
{
    real y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif LEY_ROOT == LEY_ROOT_NEWTON
#define LEY_ROOT_SCALE LEY_NEWTON_SCALE
#define ley_unscaled_root ley_unscaled_newton_root
#elif LEY_ROOT == LEY_ROOT_PTX
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x)
{
    real y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

#endif
