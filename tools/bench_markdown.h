/* A benchmark's report as Markdown. */
#ifndef LEYDEN_BENCH_MARKDOWN_H
#define LEYDEN_BENCH_MARKDOWN_H

#include "json.h"

/* Tables with what was measured, where and when; "-" is standard output. Prints errors; exit
 * code. */
int bench_markdown_write(const json_t *report, const char *path);

#endif
