/* A peer to measure against: direct Coulomb summation in plain C on the host's cores, vectorised by
 * hand. Not a way to compute maps, only a yardstick for CPU devices in the benchmark. */
#ifndef LEY_YARDSTICK_H
#define LEY_YARDSTICK_H

#include "bench/statistics.h"

#include <stddef.h>

typedef struct yardstick {
    const char *instructions; /* what it was vectorised for */
    int threads;
    bench_statistics times;
    double evaluations_per_s; /* by the median of these */
} yardstick;

/* Times n_atoms {x, y, z, q} on a grid of n_x x n_y x n_z points with equal spacing h; n_x and
 * n_y are rounded down to multiples of 16. phi: float[n_x n_y n_z]. */
yardstick yardstick_measure(const float (*atoms)[4], size_t n_atoms, int n_x, int n_y, int n_z, float h,
                            bench_repeats repeats, float *phi);

#endif
