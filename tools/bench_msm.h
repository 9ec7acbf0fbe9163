/* Long-range potentials, in `leyden bench`. */
#ifndef LEYDEN_BENCH_MSM_H
#define LEYDEN_BENCH_MSM_H

#include "bench_row.h"

extern const bench_row msm_bench;

#endif
