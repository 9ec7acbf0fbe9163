/* The benchmark of the lattice cutoff. */
#ifndef LEY_LONG_RANGE_BENCH_LATTICE_H
#define LEY_LONG_RANGE_BENCH_LATTICE_H

#include "bench/bench.h"

extern const bench_subject bench_lattice;

#endif
