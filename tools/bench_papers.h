/* What papers have measured of the same problems, on the hardware of their time: facts and figures,
 * each with its paper. */
#ifndef LEYDEN_BENCH_PAPERS_H
#define LEYDEN_BENCH_PAPERS_H

#include "json.h"

/* Figures that belong to a table of this name, an array: hardware, seconds or billion evaluations
 * per second or another value, the row that they belong to (null: the whole table), the paper. */
json_t *bench_papers_of(const char *table);

/* How many times as large the papers' problem is as the one that was measured ("papers_scale",
 * null: not of this table), and of each row what the papers' problem would take ("papers_s"). */
void bench_papers_put_device(json_t *object, const char *table, const ley_bench_device *device);

#endif
