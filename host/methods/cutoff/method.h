/* Short-range sums within a cutoff as a method. */
#ifndef LEY_CUTOFF_METHOD_H
#define LEY_CUTOFF_METHOD_H

#include "bench/bench.h"
#include "schedule/method.h"

extern const method method_cutoff;
extern const bench_subject bench_cutoff; /* bench.c */

#endif
