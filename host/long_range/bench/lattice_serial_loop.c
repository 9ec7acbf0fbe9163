#include "long_range/bench/lattice_serial_loop.h"

#include <string.h>

typedef struct loop {
    const lattice_level *level;
    const int *radius;
    const float *weights, *charges;
    float *potentials;
} loop;

/* A row of potentials with one weight after the other, but for zeros: nodes follow one another in
 * memory, and the compiler vectorises along them. (Node by node, the sum of a row of weights being
 * the innermost loop, it is five times slower.) */
static inline __attribute__((always_inline)) void add_row(const loop *l, const float *weights, const float *charges,
                                                          float *row)
{
    const int64_t n = l->level->n[0];
    const int r = l->radius[0];
    for (int64_t dx = -r; dx <= r; dx++) {
        const float weight = weights[dx + r];
        const int64_t first = dx < 0 ? -dx : 0, end = dx > 0 ? n - dx : n;
        if (weight == 0)
            continue;
        for (int64_t x = first; x < end; x++)
            row[x] += weight * charges[x + dx];
    }
}

/* Equation 18 of Hardy et al. (2009), clipped at the ends. */
static inline __attribute__((always_inline)) void run(const loop *l)
{
    const int64_t *n = l->level->n;
    const int *r = l->radius;
    memset(l->potentials, 0, (size_t)(n[0] * n[1] * n[2]) * sizeof(float));
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            float *row = l->potentials + (z * n[1] + y) * n[0];
            for (int64_t dz = -r[2]; dz <= r[2]; dz++)
                for (int64_t dy = -r[1]; dy <= r[1]; dy++)
                    if (z + dz >= 0 && z + dz < n[2] && y + dy >= 0 && y + dy < n[1])
                        add_row(l, l->weights + ((dz + r[2]) * (2 * r[1] + 1) + dy + r[1]) * (2 * r[0] + 1),
                                l->charges + ((z + dz) * n[1] + y + dy) * n[0], row);
            for (int64_t x = 0; x < n[0]; x++)
                row[x] *= (float)l->level->scale;
        }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))) static void run_avx512(const loop *l)
{
    run(l);
}

__attribute__((target("avx2,fma"))) static void run_avx2(const loop *l)
{
    run(l);
}
#endif

void lattice_host_loop(const lattice_level *level, const int radius[3], const float *weights, const float *charges,
                       float *potentials)
{
    const loop l = {level, radius, weights, charges, potentials};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        run_avx512(&l);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        run_avx2(&l);
        return;
    }
#endif
    run(&l);
}

const char *lattice_host_loop_name(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "AVX-512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "AVX2";
#endif
    return "the compiler's choice";
}
