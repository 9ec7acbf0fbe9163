/* A peer to measure against: the papers' loop in plain C on the host's cores, point by point over
 * atoms, shells, primitives and functions in single precision. Not a way to compute orbitals. */
#ifndef LEY_WAVEFUNCTION_LOOP_H
#define LEY_WAVEFUNCTION_LOOP_H

#include "bench/statistics.h"
#include "leyden.h"

typedef struct orbital_loop {
    int threads;
    double points; /* that were computed each time: a part of the grid's planes, as it takes long */
    bench_statistics times;
    double worst; /* error of some of them, relative to the largest value */
} orbital_loop;

/* No times: there was no memory. */
orbital_loop orbital_loop_measure(const ley_wavefunction *wavefunction, int64_t orbital, const ley_grid *grid,
                                  bench_repeats repeats);

#endif
