/* The types of what a report of `leyden bench` says, docs/bench.schema.json. */
#ifndef LEYDEN_BENCH_SCHEMA_H
#define LEYDEN_BENCH_SCHEMA_H

#include "json.h"

/* That file line by line, NULL behind the last one. The build makes this array. */
extern const char *const bench_schema[];

/* Whether each member that the schema names is of its type; members may be absent, as reports of
 * earlier versions lack some. Otherwise error names file, member, what is expected and what is
 * there. */
ley_status bench_schema_check(const char *path, const json_t *report, ley_error *error);

#endif
