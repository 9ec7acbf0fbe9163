/* The screen of `leyden bench`: what a device is, five rows, one score, in the report and as
 * tables. */
#ifndef LEYDEN_BENCH_SCREEN_H
#define LEYDEN_BENCH_SCREEN_H

#include "bench_part.h"
#include "table.h"

/* The names of the parts that the rows are made of, and what the map is to. */
extern const char *const bench_screen_parts[];
extern const double bench_screen_tolerance;

/* "pairs/s", "atoms/s" or "s": of row i. */
const char *bench_screen_unit(size_t i);

/* Of each device a screen, without times and score. */
json_t *bench_screen_make(const bench_results *results);

/* Puts the references into a report, and into its screens how many times as fast each row is, and
 * the score, where all rows are right and the problem is the usual one. */
void bench_screen_judge(json_t *report);

typedef struct bench_sentence {
    char s[512];
} bench_sentence;

/* Of a screen: its device, power, limits and problem, from i = 0, empty behind the last; its rows;
 * what is to be said of them, like the facts; the score, or why there is none; and that in one line
 * with program, device and date. The table is to be released. */
bench_sentence bench_screen_fact(const json_t *screen, size_t i);
text_table bench_screen_table(const json_t *screen);
bench_sentence bench_screen_remark(const json_t *screen, size_t i);
bench_sentence bench_screen_score(const json_t *report, const json_t *screen);
bench_sentence bench_screen_line(const json_t *report, const json_t *screen);

/* The screens of several reports beside each other and beside the references, a row each; what ~
 * means there. One row only: there are none. */
text_table bench_screen_sides(const json_t *reports);
extern const char bench_screen_sides_remark[];

/* What is printed of a report: its screens. Of reports: them beside each other; nothing where there
 * are no screens. */
void bench_screen_print(const json_t *report);
void bench_screen_print_sides(const json_t *reports);

/* Whether any has a screen. */
bool bench_screen_is_there(const json_t *reports);

#endif
