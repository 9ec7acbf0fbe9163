/* Reports of benchmarks as CSV. */
#ifndef LEYDEN_BENCH_CSV_H
#define LEYDEN_BENCH_CSV_H

#include "json.h"

/* A line for each row of each device, table and report, below a heading; what is unknown is empty.
 * Prints errors; exit code. */
int bench_csv_write(const json_t *reports, const char *path);

#endif
