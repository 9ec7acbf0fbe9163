/* Loops of the judge for processors that have wide vectors, beside those that any has: the same
 * lines compiled for each. Sums may differ by rounding, as fused multiplications round once. */
#ifndef LEY_LAW_WIDE_H
#define LEY_LAW_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define WIDE_INLINE inline __attribute__((always_inline))

/* Defines NAME_wide(parameters), which calls static WIDE_INLINE void NAME(parameters) by
 * instructions of this processor. */
#if defined(__x86_64__)
#define WIDE_VERSIONS(name, parameters, arguments) \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))) static void name##_avx512 parameters \
    { \
        name arguments; \
    } \
    __attribute__((target("avx2,fma"))) static void name##_avx2 parameters \
    { \
        name arguments; \
    } \
    static void name##_any parameters \
    { \
        name arguments; \
    } \
    static void name##_wide parameters \
    { \
        if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) \
            name##_avx512 arguments; \
        else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) \
            name##_avx2 arguments; \
        else \
            name##_any arguments; \
    }
#else
#define WIDE_VERSIONS(name, parameters, arguments) \
    static void name##_wide parameters \
    { \
        name arguments; \
    }
#endif

/* exp(x) of x <= 0 but for rounding, as loops take it: 2^n times the series of what is left. Below
 * -700 it is exp(-700). */
static WIDE_INLINE double wide_exp(double x)
{
    static const double digits = 0x1.8p52, high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33;
    const double safe = x < -700 ? -700 : x, shifted = safe * M_LOG2E + digits, n = shifted - digits;
    const double t = (safe - n * high) - n * low, t2 = t * t, t4 = t2 * t2;
    const double series = (1 + t) + t2 * (1.0 / 2 + t * (1.0 / 6)) +
                          t4 * ((1.0 / 24 + t * (1.0 / 120)) + t2 * (1.0 / 720 + t * (1.0 / 5040)) +
                                t4 * ((1.0 / 40320 + t * (1.0 / 362880)) + t2 * (1.0 / 3628800 + t * (1.0 / 39916800)) +
                                      t4 * (1.0 / 479001600)));
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return series * power;
}

#endif
