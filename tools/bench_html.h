/* A benchmark's report as a page. */
#ifndef LEYDEN_BENCH_HTML_H
#define LEYDEN_BENCH_HTML_H

#include "json.h"

/* One page with its tables and charts, which needs no other file. Prints errors; exit code. */
int bench_html_write(const json_t *report, const char *path);

#endif
