/* Reports of benchmarks as Markdown. */
#ifndef LEYDEN_BENCH_MARKDOWN_H
#define LEYDEN_BENCH_MARKDOWN_H

#include "json.h"

/* Devices side by side, screens, and of a single report the tables behind them, with what was
 * measured, where and when; "-" is standard output. Prints errors; exit code. */
int bench_markdown_write(const json_t *reports, const char *path);

#endif
