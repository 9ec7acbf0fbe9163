/* What `leyden bench` prints of a device. */
#ifndef LEYDEN_BENCH_TEXT_H
#define LEYDEN_BENCH_TEXT_H

#include "bench_row.h"
#include "console.h"

void bench_print_device(const bench_row *method, const ley_bench_device *device);

/* "-" where there is none: a share in per cent; launches that were timed. */
short_text bench_percent_text(double share);
short_text bench_runs_text(size_t runs);

#endif
