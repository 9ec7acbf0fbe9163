/* The words of cl/dialect.h, which explains them, for CUDA C. A kernel's X.cu includes this file
 * and then its source cl/X.cl; what it has of its own it says there.
 *
 * Kept within what NVRTC 7 and compute capability 1.3 understand: no C++ beyond C without
 * templates. */
#ifndef LEY_DIALECT_CUH
#define LEY_DIALECT_CUH
#define LEY_DIALECT_H /* in place of cl/dialect.h */

#include "arguments.h"
#include "spec.h"

#define LEY_PASTE_(a, b) a##b
#define LEY_PASTE(a, b) LEY_PASTE_(a, b)

/* ---- Types ----------------------------------------------------------------------------------- */

/* An atom is as large and lies as OpenCL's vector of four does. */
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
typedef double scalar;
#define LEY_ATOM_ALIGN 32
#else
typedef float scalar;
#define LEY_ATOM_ALIGN 16
#endif
struct __align__(LEY_ATOM_ALIGN) atom {
    scalar x, y, z, w;
};
struct __align__(LEY_ATOM_ALIGN) sixteen {
    scalar s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;
};
typedef scalar real;
#define LEY_DOUBLE double
#define LEY_TO_DOUBLE(x) ((double)(x))
#define LEY_TO_FLOAT(x) ((float)(x))

#if LEY_WIDTH != 1
#error "vectors are for CPU devices"
#endif
#define LEY_LANES ((real)0)
#define LEY_BITS_SUFFIX
#define LEY_LOAD(scalars) (*(scalars))

#define LEY_FN static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

LEY_FN atom ley_atom(scalar x, scalar y, scalar z, scalar w)
{
    const atom a = {x, y, z, w};
    return a;
}
LEY_FN void ley_add_atom(atom *sum, atom a)
{
    sum->x += a.x;
    sum->y += a.y;
    sum->z += a.z;
    sum->w += a.w;
}

LEY_FN atom ley_scaled_atom(atom a, scalar factor)
{
    return ley_atom(a.x * factor, a.y * factor, a.z * factor, a.w * factor);
}

#define LEY_ATOM(x, y, z, w) ley_atom(x, y, z, w)
#define LEY_INT4(x, y, z, w) make_int4(x, y, z, w)
#define LEY_FLOAT4(x, y, z, w) make_float4(x, y, z, w)
#define LEY_ADD_ATOM(sum, a) ley_add_atom(&(sum), a)
#define LEY_SCALED_ATOM(a, factor) ley_scaled_atom(a, factor)

/* ---- Kernels and work-items ------------------------------------------------------------------ */

#define LEY_KERNEL extern "C" __global__ void
#define LEY_KERNEL_OF(x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z))

#define LEY_PARAMETERS(list) list(LEY_FIRST_PARAMETER, LEY_NEXT_PARAMETER)
#define LEY_FIRST_PARAMETER(kind, type, name) LEY_PARAMETER_##kind(type, name)
#define LEY_NEXT_PARAMETER(kind, type, name) , LEY_PARAMETER_##kind(type, name)
#define LEY_PARAMETER_CONSTANT(type, name) CONSTANT_SPACE const type *__restrict__ name
#define LEY_PARAMETER_READ(type, name) const type *__restrict__ name
#define LEY_PARAMETER_WRITE(type, name) type *__restrict__ name
#define LEY_PARAMETER_INT(type, name) type name
#define LEY_PARAMETER_VALUE(type, name) type name

#define LEY_REFERENCE(type) const type &
#define LEY_CLEARED = {}
#define LEY_GLOBAL
#define LEY_CONSTANT
#define LEY_LOCAL
#define LEY_LOCAL_VARIABLE __shared__
/* 64,000 bytes: CUDA_CONSTANT_SYMBOL_BYTES of the back end, which copies a launch's CONSTANT
 * argument here. */
#define LEY_CONSTANT_SYMBOL(type) __constant__ type cm_first[64000 / sizeof(type)];
#define LEY_IN_CONSTANT(buffer) cm_first

#define LEY_BARRIER() __syncthreads()
/* A group of one warp needs no barrier of the block. */
#if __CUDACC_VER_MAJOR__ >= 9
#define LEY_BARRIER_OF(items) ((items) == 32 ? __syncwarp() : __syncthreads())
#else
#define LEY_BARRIER_OF(items) LEY_BARRIER()
#endif

#define LEY_AXIS_0 x
#define LEY_AXIS_1 y
#define LEY_AXIS_2 z
#define LEY_LOCAL_ID(d) ((int)threadIdx.LEY_AXIS_##d)
#define LEY_LOCAL_SIZE(d) ((int)blockDim.LEY_AXIS_##d)
#define LEY_GROUP_ID(d) ((int)blockIdx.LEY_AXIS_##d)
#define LEY_GROUPS(d) ((size_t)gridDim.LEY_AXIS_##d)
#define LEY_GLOBAL_ID(d) ((size_t)blockIdx.LEY_AXIS_##d * blockDim.LEY_AXIS_##d + threadIdx.LEY_AXIS_##d)
#define LEY_GLOBAL_SIZE(d) ((size_t)(gridDim.LEY_AXIS_##d * blockDim.LEY_AXIS_##d))

/* Votes of a warp. */
#define LEY_VOTES(items) ((items) == 32 && __CUDA_ARCH__ >= 200)
#if __CUDA_ARCH__ >= 200
LEY_FN unsigned ley_votes(bool wants)
{
#if __CUDACC_VER_MAJOR__ >= 9
    return __ballot_sync(0xffffffffu, wants);
#else
    return __ballot(wants);
#endif
}
#endif
#define LEY_SHUFFLES(items) ((items) == 32 && __CUDA_ARCH__ >= 300)
#if __CUDA_ARCH__ >= 300
LEY_FN float ley_shuffle(float x, int item)
{
#if __CUDACC_VER_MAJOR__ >= 9
    return __shfl_sync(0xffffffffu, x, item);
#else
    return __shfl(x, item);
#endif
}
#endif

#define LEY_ATOMIC_OR(p, bits) atomicOr((unsigned *)(p), bits)
#define LEY_ATOMIC_ADD(p, n) atomicAdd(p, n)
#define LEY_ATOMIC_EXCHANGE(p, n) atomicExch(p, n)
#define LEY_ROUNDED_LONG(x) __float2ll_rn(x)
#define LEY_LONG_AT(p) (*(long long *)(p))
#if __CUDA_ARCH__ >= 120
#define LEY_ATOMIC_ADD_LONG(p, n) atomicAdd((unsigned long long *)(p), (unsigned long long)(n))
#else
LEY_FN void ley_atomic_add_long(int2 *p, long long n)
{
    unsigned *halves = (unsigned *)p;
    const unsigned low = (unsigned)n, before = atomicAdd(halves, low);
    atomicAdd(halves + 1, (unsigned)(n >> 32) + (before + low < before ? 1 : 0));
}
#define LEY_ATOMIC_ADD_LONG(p, n) ley_atomic_add_long(p, n)
#endif

/* ---- Arithmetic ------------------------------------------------------------------------------ */

#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define LEY_MAX(a, b) fmax(a, b)
#define LEY_MIN(a, b) fmin(a, b)
#define LEY_ABS(x) fabs(x)
#define LEY_RSQRT(x) rsqrt(x)
#define LEY_EXP2(x) exp2(x)
#define LEY_FMA(a, b, c) fma(a, b, c)
#define LEY_RINT(x) rint(x)
#else
#define LEY_MAX(a, b) fmaxf(a, b)
#define LEY_MIN(a, b) fminf(a, b)
#define LEY_ABS(x) fabsf(x)
#define LEY_RSQRT(x) rsqrtf(x)
#define LEY_DIVIDE(a, b) __fdividef(a, b)
#define LEY_EXP2(x) exp2f(x)
#define LEY_FMA(a, b, c) fmaf(a, b, c)
#define LEY_RINT(x) rintf(x)
#define LEY_AS_BITS(x) __float_as_int(x)
#define LEY_AS_REAL(i) __int_as_float(i)
#define LEY_ADD_EXPONENT(bits, n) ((int)((unsigned)(bits) + ((unsigned)(n) << 23)))
#endif
#define LEY_CLAMP(x, low, high) min(max(x, low), high)
#define LEY_COUNT_BITS(bits) __popc(bits)
#define LEY_LOWEST_BIT(bits) (__ffs((int)(bits)) - 1)
#define LEY_AS_FLOAT(i) __int_as_float(i)
#define LEY_AS_INT(x) __float_as_int(x)
#define LEY_REAL_OF(i) ((real)(i))
#define LEY_NO_CONTRACTION
#define LEY_ROUNDED_PRODUCT(a, b) __dmul_rn(a, b)
#define LEY_SATURATE(x) __saturatef(x) /* costs nothing where an addition or multiply-add ends it */

/* What a user's pair function is made of: see host/expression/expression.h. */
#define LEY_REAL(x) x##f
#define LEY_F_EXP(x) expf(x)
#define LEY_F_LOG(x) logf(x)
#define LEY_F_LOG1P(x) log1pf(x)
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

/* ---- Recipes --------------------------------------------------------------------------------- */

/* 1/sqrt(x) times 1/LEY_ROOT_SCALE, by the recipe LEY_ROOT. The native one is the
 * special-function unit's approximation, which CUDA C reaches only through a global option or
 * PTX: here it is PTX, denormals kept. */
#if LEY_ROOT == LEY_ROOT_STANDARD
#define LEY_ROOT_SCALE 1
LEY_FN real ley_unscaled_root(real x) { return LEY_RSQRT(x); }
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

/* The device's own functions: what the recipes take, and the compiler's intrinsics. */
LEY_FN float ley_native_rsqrt(float x)
{
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
LEY_FN float ley_native_sqrt(float x)
{
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
LEY_FN float ley_native_exp2(float x)
{
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
LEY_FN float ley_native_recip(float x)
{
    float y;
    asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define LEY_NATIVE_RSQRT(x) ley_native_rsqrt(x)
#define LEY_NATIVE_SQRT(x) ley_native_sqrt(x)
#define LEY_NATIVE_EXP(x) __expf(x)
#define LEY_NATIVE_EXP2(x) ley_native_exp2(x)
#define LEY_NATIVE_DIVIDE(a, b) __fdividef(a, b)
#define LEY_NATIVE_RECIP(x) ley_native_recip(x)

/* 2^x by the recipe LEY_EXP; the native one is PTX, too. */
#ifdef LEY_EXP
#if LEY_EXP == LEY_EXP_STANDARD
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
LEY_FN real ley_exp2(real x) { return exp2(x); }
#else
LEY_FN real ley_exp2(real x) { return exp2f(x); }
#endif
#elif LEY_EXP == LEY_EXP_NATIVE
LEY_FN real ley_exp2(real x)
{
    real y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif LEY_EXP == LEY_EXP_POLYNOMIAL
#define ley_exp2 ley_polynomial_exp2
#elif LEY_EXP == LEY_EXP_PTX
LEY_FN real ley_exp2(real x)
{
    real y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif
#endif

#endif
