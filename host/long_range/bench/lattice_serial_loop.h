/* The lattice cutoff as a plain loop in C on one core: the benchmark's peer. */
#ifndef LEY_LONG_RANGE_BENCH_LATTICE_SERIAL_LOOP_H
#define LEY_LONG_RANGE_BENCH_LATTICE_SERIAL_LOOP_H

#include "long_range/multilevel/lattice_layout.h"

/* One level with open ends: potentials of all nodes, float[n_z][n_y][n_x] as the charges are.
 * `weights`: all of them, [2 radius[2] + 1][2 radius[1] + 1][2 radius[0] + 1]. */
void lattice_host_loop(const lattice_level *level, const int radius[3], const float *weights, const float *charges,
                       float *potentials);

/* What it was compiled for. */
const char *lattice_host_loop_name(void);

#endif
