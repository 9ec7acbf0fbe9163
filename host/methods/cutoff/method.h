/* Short-range sums within a cutoff as a method. */
#ifndef LEY_CUTOFF_METHOD_H
#define LEY_CUTOFF_METHOD_H

#include "run/bench.h"
#include "run/method.h"

extern const method method_cutoff;
extern const bench_subject bench_cutoff; /* bench.c */

#endif
