/* All pairs within the cutoff summed by one core of the host: the papers' sequential loop, with
 * which `leyden bench` compares devices. Atoms outside, the points of each one's sphere inside, x
 * innermost. */
#ifndef LEY_CUTOFF_SERIAL_PAIRS_H
#define LEY_CUTOFF_SERIAL_PAIRS_H

#include "methods/cutoff/problem.h"

/* Sets the map, which has the problem's grid, to the sums over all atoms, in floats, and says how
 * long that took. The grid's steps are along x, y and z; the cutoff is less than 1e8 of them, and
 * the grid has less than 2^29 points along each axis. The pair function is no expression, and
 * nothing is periodic. Errors: LEY_ERROR_MEMORY. */
ley_status serial_pairs_map(const cutoff_problem *problem, ley_map *map, double *seconds, ley_error *error);

#endif
