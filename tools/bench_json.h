/* The report of `leyden bench`, docs/bench.schema.json: what other outputs are made of, too. */
#ifndef LEYDEN_BENCH_JSON_H
#define LEYDEN_BENCH_JSON_H

#include "bench_part.h"
#include "console.h"

json_t *bench_json_make(const parsed_arguments *arguments, const bench_results *results, ley_status outcome);

/* Reads one that an earlier run has written, and judges its screens by today's references; NULL:
 * prints errors, and *code is the exit code. */
json_t *bench_json_read(const char *path, int *code);

#endif
