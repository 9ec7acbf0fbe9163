/* The meshes' part of multilevel summation as plain loops in C on one core, every step: the
 * benchmark's peer. */
#ifndef LEY_LONG_RANGE_BENCH_SERIAL_LOOP_H
#define LEY_LONG_RANGE_BENCH_SERIAL_LOOP_H

#include "leyden.h"
#include "numerics/hierarchy.h"

typedef struct serial_loop_times {
    double atoms_s, nodes_s, points_s; /* anterpolation; between nodes; interpolation */
} serial_loop_times;

/* Adds `constant` times the far potential to the map, float[n_z][n_y][n_x], whose axes are the
 * mesh's. The hierarchy is open, and of several levels. Errors: LEY_ERROR_MEMORY. */
ley_status serial_loop_add(const hierarchy *h, const ley_atoms *atoms, const ley_grid *points, double constant,
                           float *map, serial_loop_times *times, ley_error *error);

#endif
