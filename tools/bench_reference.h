/* Machines that `leyden bench` holds others against, bench_references.json: figures that this
 * command, or an earlier one, has measured on them. */
#ifndef LEYDEN_BENCH_REFERENCE_H
#define LEYDEN_BENCH_REFERENCE_H

#include "json.h"

/* The rows of the screen, in their order. */
typedef enum bench_screen_row {
    SCREEN_DIRECT,
    SCREEN_CUTOFF,
    SCREEN_MAP,
    SCREEN_BOUNDARY,
    SCREEN_COMMAND,
    SCREEN_ROWS
} bench_screen_row;

/* That file line by line, NULL behind the last one. The build makes this array. */
extern const char *const bench_references[];

/* Of the report: name, says, the values of the rows in their units, the score of each. The first
 * one is what scores are times of. */
json_t *bench_reference_all(void);

/* How many times as fast as the first of these; not a number: `value` is none. */
double bench_reference_times(const json_t *references, bench_screen_row row, double value);

/* The geometric mean of all rows' times. Not a number where one of them is. */
double bench_reference_score(const double times[SCREEN_ROWS]);

#endif
