/* Sums of pairs within a cutoff, in `leyden bench`. */
#ifndef LEYDEN_BENCH_CUTOFF_H
#define LEYDEN_BENCH_CUTOFF_H

#include "bench_row.h"

extern const bench_row cutoff_bench;

#endif
