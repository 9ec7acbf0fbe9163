/* The benchmark of the lattice cutoff. */
#ifndef LEY_LATTICE_BENCH_H
#define LEY_LATTICE_BENCH_H

#include "bench/bench.h"

extern const bench_subject bench_lattice;

#endif
