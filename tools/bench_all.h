/* All kernels in one run: the papers' tables on the user's devices, in three sizes. */
#ifndef LEYDEN_BENCH_ALL_H
#define LEYDEN_BENCH_ALL_H

#include "bench_part.h"

extern const bench_row all_bench;

/* How much of it: --quick, --full or neither. */
typedef enum bench_level { BENCH_QUICK, BENCH_DEFAULT, BENCH_FULL, BENCH_LEVELS } bench_level;
bench_level bench_level_of(const parsed_arguments *arguments);
const char *bench_level_name(bench_level level);

/* Says on stderr how long that is going to take with so many devices. */
void bench_all_announce(bench_level level, size_t devices);

/* Measures the parts of this level, one after the other; what there is no more time for is named in
 * results->left_out. `options` has what is the same of all. `begun` is told of each part. Errors:
 * those of ley_bench_run(). */
ley_status bench_all_run(ley_engine *engine, const ley_bench_options *options, bench_level level, size_t devices,
                         void (*begun)(void *context, const char *part), bench_results *results, ley_error *error);

#endif
