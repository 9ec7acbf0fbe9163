/* What stands in a report of `leyden bench`. */
#ifndef LEYDEN_BENCH_VALUES_H
#define LEYDEN_BENCH_VALUES_H

#include "console.h"
#include "json.h"

/* Of a report: texts, "" where there is none; numbers, not-a-numbers where there is none. */
const char *bench_text_at(const json_t *object, const char *key);
double bench_number_at(const json_t *object, const char *key);

/* "3.5e-07"; "-" of what was not measured. */
short_text bench_error_text(double error);

/* "0: name, driver": a device of a table. */
short_text bench_device_text(const json_t *device);

#endif
