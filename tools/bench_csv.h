/* A benchmark's report as CSV. */
#ifndef LEYDEN_BENCH_CSV_H
#define LEYDEN_BENCH_CSV_H

#include "json.h"

/* A line for each row of each device and table, below a heading; what is unknown is empty. Prints
 * errors; exit code. */
int bench_csv_write(const json_t *report, const char *path);

#endif
