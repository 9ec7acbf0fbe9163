#include "methods/dcs/yardstick.h"

#include "clock.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS = 16, LANES = 16 };

typedef struct loop {
    const float (*atoms)[4];
    size_t n_atoms;
    int n_x, n_y;
    float h, *phi;
    void (*rows)(const struct loop *loop, int y, int z);
} loop;

/* ROWS rows of a plane, one point after the other: the compiler may vectorise along x. */
static void rows_plain(const loop *l, int y, int z)
{
    for (int r = 0; r < ROWS; r++) {
        float *row = l->phi + ((size_t)z * (size_t)l->n_y + (size_t)(y + r)) * (size_t)l->n_x;
        for (int x = 0; x < l->n_x; x++)
            row[x] = 0;
        for (size_t j = 0; j < l->n_atoms; j++) {
            const float dy = (float)(y + r) * l->h - l->atoms[j][1], dz = (float)z * l->h - l->atoms[j][2];
            const float dyz2 = dy * dy + dz * dz, x_j = l->atoms[j][0], q = l->atoms[j][3];
            for (int x = 0; x < l->n_x; x++) {
                const float dx = (float)x * l->h - x_j;
                row[x] += q / sqrtf(fmaxf(dx * dx + dyz2, 1e-6f));
            }
        }
    }
}

#if defined(__x86_64__)
/* The best we know in C: a block of atoms is laid out as dy^2 + dz^2 of each row, once for the
 * whole length of the rows; ROWS rows of 16 points stay in registers; vrsqrt14ps and a Newton
 * step. */
__attribute__((target("avx512f"))) static void rows_avx512(const loop *l, int y, int z)
{
    enum { BLOCK = 256 };
    const __m512 lanes = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 three = _mm512_set1_ps(3), least = _mm512_set1_ps(1e-6f);
    float dyz2[BLOCK][ROWS];
    for (size_t base = 0; base < l->n_atoms; base += BLOCK) {
        const size_t count = l->n_atoms - base < BLOCK ? l->n_atoms - base : BLOCK;
        const float(*atoms)[4] = l->atoms + base;
        for (size_t j = 0; j < count; j++)
            for (int r = 0; r < ROWS; r++) {
                const float dy = (float)(y + r) * l->h - atoms[j][1], dz = (float)z * l->h - atoms[j][2];
                dyz2[j][r] = dy * dy + dz * dz;
            }
        for (int x = 0; x < l->n_x; x += LANES) {
            const __m512 points = _mm512_mul_ps(_mm512_add_ps(lanes, _mm512_set1_ps((float)x)), _mm512_set1_ps(l->h));
            float *out = l->phi + ((size_t)z * (size_t)l->n_y + (size_t)y) * (size_t)l->n_x + x;
            __m512 sums[ROWS];
            for (int r = 0; r < ROWS; r++)
                sums[r] = base == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(out + (size_t)r * (size_t)l->n_x);
            for (size_t j = 0; j < count; j++) {
                const __m512 dx = _mm512_sub_ps(points, _mm512_set1_ps(atoms[j][0])), dx2 = _mm512_mul_ps(dx, dx);
                const __m512 dx2_safe = _mm512_add_ps(dx2, least), q = _mm512_set1_ps(0.5f * atoms[j][3]);
#pragma GCC unroll 16
                for (int r = 0; r < ROWS; r++) {
                    const __m512 r2 = _mm512_add_ps(dx2_safe, _mm512_set1_ps(dyz2[j][r]));
                    const __m512 guess = _mm512_rsqrt14_ps(r2);
                    const __m512 step = _mm512_fnmadd_ps(r2, _mm512_mul_ps(guess, guess), three);
                    sums[r] = _mm512_fmadd_ps(q, _mm512_mul_ps(guess, step), sums[r]);
                }
            }
            for (int r = 0; r < ROWS; r++)
                _mm512_storeu_ps(out + (size_t)r * (size_t)l->n_x, sums[r]);
        }
    }
}
#endif

/* Item i is the i-th group of ROWS rows of the grid. */
static void run_rows(void *context, size_t first, size_t last)
{
    const loop *l = context;
    const size_t groups = (size_t)(l->n_y / ROWS);
    for (size_t i = first; i < last; i++)
        l->rows(l, (int)(i % groups) * ROWS, (int)(i / groups));
}

yardstick yardstick_measure(const float (*atoms)[4], size_t n_atoms, int n_x, int n_y, int n_z, float h,
                            bench_repeats repeats, float *phi)
{
    double seconds[BENCH_MOST_REPEATS];
    loop l = {atoms, n_atoms, n_x / LANES * LANES, n_y / LANES * LANES, h, phi, rows_plain};
    yardstick result = {.instructions = "the compiler's choice", .threads = parallel_cores()};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        l.rows = rows_avx512;
        result.instructions = "AVX-512";
    }
#endif
    while (bench_repeats_go_on(&repeats)) {
        const double start_s = ley_clock_s();
        parallel_ranges((size_t)(l.n_y / ROWS) * (size_t)n_z, run_rows, &l);
        seconds[repeats.done] = ley_clock_s() - start_s;
        repeats.spent_s += seconds[repeats.done++];
    }
    result.times = bench_statistics_of(seconds, (size_t)repeats.done);
    result.evaluations_per_s = (double)l.n_x * l.n_y * n_z * (double)n_atoms / result.times.median_s;
    return result;
}
