/* Machines that `leyden bench` holds others against: figures that this command, or an earlier one,
 * has measured on them. */
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

typedef struct bench_reference {
    const char *name;          /* as it stands in a sentence */
    const char *says;          /* driver, date, what was measured */
    double value[SCREEN_ROWS]; /* in the units of the rows: per second, of the command seconds */
    bool is_of_other_problems; /* larger ones than those of the screen */
} bench_reference;

/* The first one is what scores are times of. */
extern const bench_reference bench_references[];
extern const size_t bench_reference_count;

/* How many times as fast as the first reference; not a number: `value` is none. */
double bench_reference_times(bench_screen_row row, double value);

/* The geometric mean of all rows' times. Not a number where one of them is. */
double bench_reference_score(const double times[SCREEN_ROWS]);

/* Of the report: name, says, values, score, other_problems of each. */
json_t *bench_reference_json(void);

#endif
