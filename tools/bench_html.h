/* Reports of benchmarks as a page. */
#ifndef LEYDEN_BENCH_HTML_H
#define LEYDEN_BENCH_HTML_H

#include "json.h"

/* tools/bench_page.html line by line, NULL behind the last one: a page that draws the reports that
 * stand in it. The build makes this array. */
extern const char *const bench_page[];

/* One page with their tables and charts, which needs no other file. Prints errors; exit code. */
int bench_html_write(const json_t *reports, const char *path);

#endif
