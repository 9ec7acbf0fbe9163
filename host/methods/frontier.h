/* The benchmark of what a map takes by what it may be off by. */
#ifndef LEY_FRONTIER_H
#define LEY_FRONTIER_H

#include "bench/bench.h"

extern const bench_subject bench_frontier;

#endif
