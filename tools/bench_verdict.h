/* What became of a benchmark: whether anything is wrong, has failed, or could not be measured. */
#ifndef LEYDEN_BENCH_VERDICT_H
#define LEYDEN_BENCH_VERDICT_H

#include "leyden.h"

/* Of a row: its values are wrong; the device cannot do it; anything else went wrong. */
bool bench_is_wrong(const ley_bench_row *row);
bool bench_is_absent(const ley_bench_row *row);
bool bench_is_failed(const ley_bench_row *row);
const char *bench_why_absent(const ley_bench_row *row);

/* The first row that is absent, where that is all that there is of all devices; NULL: something was
 * measured, or nothing was asked for. */
const ley_bench_row *bench_nothing_measured(const ley_bench *bench);

/* 5 when anything is wrong, else 4 when anything failed, else 3 when nothing could be measured. */
ley_status bench_verdict(const ley_bench *bench);

/* The best rate among variants that are right, in pairs per second; 0: there is none. */
double bench_best_rate(const ley_bench_device *device);

#endif
