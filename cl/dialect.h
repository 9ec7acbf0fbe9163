/* The words that kernels are written in, for OpenCL C; kernels_cuda/dialect.cuh has the same ones
 * for CUDA C. What both languages read has no word that only one of them knows; what is for
 * vectors, X_vectors.h, is for OpenCL C alone.
 *
 *   scalar, real, atom    one number, LEY_WIDTH of them, {x, y, z, q}: float or double by LEY_SUM
 *   sixteen               16 numbers, .s0 to .sf
 *   LEY_KERNEL            qualifies a kernel
 *   LEY_KERNEL_OF(x, y, z)  one whose work-groups have x, y, z work-items
 *   LEY_PARAMETERS(list)  a kernel's parameters, from a list of arguments.h. Where that says
 *                         CONSTANT, the kernel defines CONSTANT_SPACE beforehand, as
 *                         LEY_CONSTANT or LEY_GLOBAL
 *   LEY_FN                qualifies any other function
 *   LEY_REFERENCE(type)   what a function reads of a larger type: by reference in CUDA, whose
 *                         compilers would else keep all of it in registers
 *   LEY_CLEARED           after the name of a struct that is set in part or later: zeros it where
 *                         that saves registers
 *   LEY_GLOBAL, LEY_CONSTANT, LEY_LOCAL  qualify what a pointer points to
 *   LEY_LOCAL_VARIABLE    qualifies a kernel's variable in local memory
 *   LEY_CONSTANT_SYMBOL(type)  makes what CUDA needs for constant memory: a symbol, which the
 *                         back end fills before a launch
 *   LEY_IN_CONSTANT(buffer)  where the CONSTANT argument then lies
 *   LEY_BARRIER()         of the work-group; LEY_BARRIER_OF(items): of one of so many work-items
 *   LEY_LOCAL_ID(d)       a work-item's number in its group; LEY_LOCAL_SIZE(d): how many these are
 *   LEY_GROUP_ID(d)       the number of its group; LEY_GROUPS(d): how many there are
 *   LEY_GLOBAL_ID(d)      its number among all work-items; LEY_GLOBAL_SIZE(d): how many these are
 *   LEY_ATOM, LEY_INT4, LEY_FLOAT4  make what they are called from four numbers
 *   LEY_ADD_ATOM(sum, a)  adds all four numbers; LEY_SCALED_ATOM(a, factor): multiplied
 *   LEY_ATOMIC_OR, LEY_ATOMIC_ADD, LEY_ATOMIC_EXCHANGE  of a pointer and a value
 *   LEY_LONG_AT(p)        the integer of 64 bits that an int2 is, its lower half first; and
 *   LEY_ATOMIC_ADD_LONG   adds one to it, among all work-items
 *   LEY_ROUNDED_LONG(x)   the integer of 64 bits that is nearest to a float
 *   LEY_CLAMP(x, low, high)  of ints
 *   LEY_RINT(x)           the whole number that is nearest to a real
 *   LEY_COUNT_BITS(bits)  how many are set; LEY_LOWEST_BIT(bits): the number of the lowest of these
 *   LEY_VOTES(items)      whether a group of so many votes without a barrier; ley_votes(wants): a
 *                         bit for each of its work-items
 *   LEY_SHUFFLES(items)   whether a group of so many passes floats on without local memory;
 *                         ley_shuffle(x, item): the x of that work-item
 *   LEY_DOUBLE            as many doubles as a real has floats; LEY_TO_DOUBLE(x), LEY_TO_FLOAT(x)
 *   LEY_AS_FLOAT(i)       the float of these bits; LEY_AS_INT(x): and back
 *   LEY_REAL_OF(i)        the real of as many ints
 *   LEY_ABS, LEY_RSQRT, LEY_MAX, LEY_MIN, LEY_DIVIDE  of scalars and reals; pair.h has more
 *   LEY_NATIVE_RSQRT, LEY_NATIVE_SQRT, LEY_NATIVE_EXP, LEY_NATIVE_EXP2, LEY_NATIVE_DIVIDE,
 *   LEY_NATIVE_RECIP      of floats: the device's own, of no promised error; LEY_EXP2, LEY_FMA: the
 *                         standard's
 *   LEY_ROUNDED_PRODUCT(a, b)  of doubles, rounded before anything is added to it; in a file that
 *                         begins with LEY_NO_CONTRACTION
 *   LEY_LANES             the numbers 0, 1, 2, ... of a real; LEY_LOAD: a real from an array of
 *                         scalars
 *   LEY_SATURATE(x)       x limited to [0, 1]; defined only where that costs nothing
 *   ley_unscaled_root, ley_exp2  1/sqrt and 2^x by the recipes LEY_ROOT and LEY_EXP
 *   UNROLL                before a loop of constant length
 *   ROLLED                before a loop that is to stay as it is, which saves registers */
#ifndef LEY_DIALECT_H
#define LEY_DIALECT_H

#include "arguments.h"
#include "spec.h"

/* Vectors longer than a processor's registers are passed to functions in memory. Nobody calls these
 * from elsewhere. */
#if defined(__clang__) && defined(__x86_64__)
#pragma clang diagnostic ignored "-Wpsabi"
#endif

#define LEY_PASTE_(a, b) a##b
#define LEY_PASTE(a, b) LEY_PASTE_(a, b)

/* ---- Types ----------------------------------------------------------------------------------- */

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
typedef LEY_PASTE(scalar, 16) sixteen;

/* Doubles beside reals that are floats. */
#ifdef LEY_TOTAL
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if LEY_WIDTH == 1
#define LEY_DOUBLE double
#define LEY_TO_DOUBLE(x) ((double)(x))
#define LEY_TO_FLOAT(x) ((float)(x))
#else
#define LEY_DOUBLE LEY_PASTE(double, LEY_WIDTH)
#define LEY_TO_DOUBLE(x) LEY_PASTE(convert_double, LEY_WIDTH)(x)
#define LEY_TO_FLOAT(x) LEY_PASTE(convert_float, LEY_WIDTH)(x)
#endif
#endif

#define LEY_ATOM(x, y, z, w) ((atom)(x, y, z, w))
#define LEY_INT4(x, y, z, w) ((int4)(x, y, z, w))
#define LEY_FLOAT4(x, y, z, w) ((float4)(x, y, z, w))
#define LEY_ADD_ATOM(sum, a) (sum) += (a)
#define LEY_SCALED_ATOM(a, factor) ((a) * (factor))

/* ---- Kernels and work-items ------------------------------------------------------------------ */

/* Neither static nor always_inline: with either one PoCL 5 breaks off while it compiles the
 * kernels. AMD's linker, though, wants a definition of what the compiler did not inline, which
 * C99's inline does not give. */
#ifdef __AMDGCN__
#define LEY_FN static inline
#else
#define LEY_FN inline
#endif
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

#define LEY_KERNEL __kernel void
#define LEY_KERNEL_OF(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void

#define LEY_PARAMETERS(list) list(LEY_FIRST_PARAMETER, LEY_NEXT_PARAMETER)
#define LEY_FIRST_PARAMETER(kind, type, name) LEY_PARAMETER_##kind(type, name)
#define LEY_NEXT_PARAMETER(kind, type, name) , LEY_PARAMETER_##kind(type, name)
#define LEY_PARAMETER_CONSTANT(type, name) CONSTANT_SPACE const type *restrict name
#define LEY_PARAMETER_READ(type, name) __global const type *restrict name
#define LEY_PARAMETER_WRITE(type, name) __global type *restrict name
#define LEY_PARAMETER_INT(type, name) type name
#define LEY_PARAMETER_VALUE(type, name) type name

#define LEY_REFERENCE(type) const type
#define LEY_CLEARED
#define LEY_GLOBAL __global
#define LEY_CONSTANT __constant
#define LEY_LOCAL __local
#define LEY_LOCAL_VARIABLE __local
#define LEY_CONSTANT_SYMBOL(type)
#define LEY_IN_CONSTANT(buffer) buffer

#define LEY_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LEY_BARRIER_OF(items) LEY_BARRIER()
#define LEY_LOCAL_ID(d) get_local_id(d)
#define LEY_LOCAL_SIZE(d) get_local_size(d)
#define LEY_GROUP_ID(d) get_group_id(d)
#define LEY_GROUPS(d) get_num_groups(d)
#define LEY_GLOBAL_ID(d) get_global_id(d)
#define LEY_GLOBAL_SIZE(d) get_global_size(d)

/* Votes of a group that is a warp or a sub-group, and what its work-items pass on. */
#ifdef LEY_SUB_GROUPS
#define LEY_VOTES(items) (LEY_SUB_GROUPS != LEY_SUB_GROUPS_NONE && (items) == 32)
#define LEY_SHUFFLES(items) LEY_VOTES(items)
#if LEY_SUB_GROUPS == LEY_SUB_GROUPS_PTX
LEY_FN unsigned ley_votes(bool wants)
{
    unsigned votes;
    __asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                   : "=r"(votes)
                   : "r"((int)wants));
    return votes;
}
LEY_FN float ley_shuffle(float x, int item)
{
    float y;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y) : "f"(x), "r"(item));
    return y;
}
#elif LEY_SUB_GROUPS != LEY_SUB_GROUPS_NONE
#undef LEY_KERNEL_OF
#define LEY_KERNEL_OF(x, y, z) \
    __kernel __attribute__((reqd_work_group_size(x, y, z))) __attribute__((intel_reqd_sub_group_size(32))) void
#ifdef cl_khr_subgroup_ballot
LEY_FN unsigned ley_votes(bool wants) { return sub_group_ballot(wants ? 1 : 0).x; }
#else
LEY_FN unsigned ley_votes(bool wants) { return sub_group_reduce_add(wants ? 1u << get_sub_group_local_id() : 0u); }
#endif
#if LEY_SUB_GROUPS == LEY_SUB_GROUPS_KHR
LEY_FN float ley_shuffle(float x, int item) { return sub_group_shuffle(x, (uint)item); }
#else
LEY_FN float ley_shuffle(float x, int item) { return intel_sub_group_shuffle(x, (uint)item); }
#endif
#endif
#endif

#define LEY_ATOMIC_OR(p, bits) atomic_or(p, bits)
#define LEY_ATOMIC_ADD(p, n) atomic_add(p, n)
#define LEY_ATOMIC_EXCHANGE(p, n) atomic_xchg(p, n)

#define LEY_ROUNDED_LONG(x) ((long)rint(x))
#define LEY_LONG_AT(p) (*(__global long *)(p))
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define LEY_ATOMIC_ADD_LONG(p, n) atom_add((volatile __global long *)(p), n)
#else
#define LEY_ATOMIC_ADD_LONG(p, n) ley_atomic_add_long(p, n)
/* By halves: whoever's addition to the lower one ends below what was there carries. */
LEY_FN void ley_atomic_add_long(volatile __global int2 *p, long n)
{
    volatile __global uint *halves = (volatile __global uint *)p;
    const uint low = (uint)n, before = atomic_add(halves, low), carry = before + low < before ? 1 : 0;
    atomic_add(halves + 1, (uint)(n >> 32) + carry);
}
#endif

/* ---- Arithmetic ------------------------------------------------------------------------------ */

#define LEY_MAX(a, b) fmax(a, b)
#define LEY_MIN(a, b) fmin(a, b)
#define LEY_ABS(x) fabs(x)
#define LEY_RSQRT(x) rsqrt(x)
#define LEY_DIVIDE(a, b) ((a) / (b))
#define LEY_EXP2(x) exp2(x)
#define LEY_FMA(a, b, c) fma(a, b, c)
#define LEY_RINT(x) rint(x)
#define LEY_NATIVE_RSQRT(x) native_rsqrt(x)
#define LEY_NATIVE_SQRT(x) native_sqrt(x)
#define LEY_NATIVE_EXP(x) native_exp(x)
#define LEY_NATIVE_EXP2(x) native_exp2(x)
#define LEY_NATIVE_DIVIDE(a, b) native_divide(a, b)
#define LEY_NATIVE_RECIP(x) native_recip(x)
#define LEY_CLAMP(x, low, high) clamp(x, low, high)
#define LEY_COUNT_BITS(bits) popcount(bits)
#define LEY_LOWEST_BIT(bits) (31 - (int)clz((bits) & -(bits)))
#define LEY_AS_FLOAT(i) as_float(i)
#define LEY_AS_INT(x) as_int(x)
#define LEY_REAL_OF(i) LEY_PASTE(convert_, real)(i)
#if LEY_SUM != LEY_SPEC_SUM_DOUBLE
#define LEY_AS_BITS(x) LEY_PASTE(as_int, LEY_BITS_SUFFIX)(x)
#define LEY_AS_REAL(i) LEY_PASTE(as_float, LEY_BITS_SUFFIX)(i)
#define LEY_ADD_EXPONENT(bits, n) ((bits) + ((n) << 23))
#endif

/* Also by compilers that do not heed the pragma: assemblers behind them join a product and a sum,
 * also across a volatile variable, but not a multiply-add and a sum. */
#define LEY_NO_CONTRACTION _Pragma("OPENCL FP_CONTRACT OFF")
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define LEY_ROUNDED_PRODUCT(a, b) fma(a, b, (scalar)0)
#endif

/* What a user's pair function is made of: see host/expression/expression.h. */
#define LEY_REAL(x) ((real)(x##f))
#define LEY_F_EXP(x) exp(x)
#define LEY_F_LOG(x) log(x)
#define LEY_F_LOG1P(x) log1p(x)
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

/* ---- Recipes --------------------------------------------------------------------------------- */

/* Twice 1/sqrt(x), from a first guess: one step of Newton's. */
#if LEY_ROOT == LEY_ROOT_AVX512 || LEY_ROOT == LEY_ROOT_REFINED
LEY_FN real ley_root_step(real guess, real x) { return guess * (3.0f - x * (guess * guess)); }
#endif

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
#elif LEY_ROOT == LEY_ROOT_REFINED
#define LEY_ROOT_SCALE 0.5f
LEY_FN real ley_unscaled_root(real x) { return ley_root_step(native_rsqrt(x), x); }
#elif LEY_ROOT == LEY_ROOT_AVX512
#define LEY_ROOT_SCALE 0.5f
/* Instructions by clang's own names, whose vectors are other types than OpenCL's. (PoCL 5 and 6
 * break off at inline assembly in kernels without local memory.) */
typedef float avx512_floats __attribute__((__vector_size__(64)));
#define LEY_TO_AVX512(x) __builtin_astype((x), avx512_floats)
#define LEY_OF_AVX512(x) __builtin_astype((x), float16)
#define LEY_ALL_LANES ((ushort)0xffff)

LEY_FN real ley_unscaled_root(real x)
{
    const avx512_floats of = LEY_TO_AVX512(x);
    const real y = LEY_OF_AVX512(__builtin_ia32_rsqrt14ps512_mask(of, of, LEY_ALL_LANES));
    return ley_root_step(y, x);
}

/* A bit for each lane in which x is below a limit: not where it is no number. */
LEY_FN unsigned ley_lanes_below(real x, scalar limit)
{
    return (ushort)__builtin_ia32_cmpps512_mask(LEY_TO_AVX512(x), LEY_TO_AVX512((real)limit), 17, LEY_ALL_LANES, 4);
}

/* Those lanes of x that have a bit, side by side from the first one on. */
LEY_FN real ley_marked_lanes(real x, unsigned marks)
{
    return LEY_OF_AVX512(__builtin_ia32_compresssf512_mask(LEY_TO_AVX512(x), LEY_TO_AVX512((real)0), (ushort)marks));
}
#endif

/* 2^x by the recipe LEY_EXP. */
#ifdef LEY_EXP
#if LEY_EXP == LEY_EXP_STANDARD
LEY_FN real ley_exp2(real x) { return exp2(x); }
#elif LEY_EXP == LEY_EXP_NATIVE
LEY_FN real ley_exp2(real x) { return native_exp2(x); }
#elif LEY_EXP == LEY_EXP_POLYNOMIAL
#define ley_exp2 ley_polynomial_exp2
#elif LEY_EXP == LEY_EXP_PTX
LEY_FN real ley_exp2(real x)
{
    real y;
    __asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif
#endif

#endif
