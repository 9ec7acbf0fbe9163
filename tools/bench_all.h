/* All of it in one run: the screen, in a minute; and behind it, where that is asked for, the
 * papers' tables on the user's devices. */
#ifndef LEYDEN_BENCH_ALL_H
#define LEYDEN_BENCH_ALL_H

#include "bench_part.h"

extern const bench_row all_bench;

/* Whether the papers' tables are asked for. */
bool bench_is_full(const parsed_arguments *arguments);

/* Says on stderr how long that is going to take with so many devices. */
void bench_all_announce(bool is_full, size_t devices);

/* Measures the parts one after the other; what there is no more time for is named in
 * results->left_out. `options` has what is the same of all, and the atoms of the screen's box, 0:
 * as usual. `begun` is told of each part. Errors: those of ley_bench_run(). */
ley_status bench_all_run(ley_engine *engine, const ley_bench_options *options, bool is_full,
                         void (*begun)(void *context, const char *part), bench_results *results, ley_error *error);

#endif
