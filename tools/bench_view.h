/* Tables of a benchmark's report, as the command prints them, and as Markdown and the page have
 * them. */
#ifndef LEYDEN_BENCH_VIEW_H
#define LEYDEN_BENCH_VIEW_H

#include "console.h"
#include "json.h"
#include "table.h"

/* Of a device: its rows; ever larger boxes; what papers have measured, with how many times as fast
 * this device is. Their first row is the heading; one without others is left out. To be released by
 * table_release(). */
text_table bench_view_rows(const json_t *device);
text_table bench_view_sizes(const json_t *device);
text_table bench_view_papers(const json_t *table, const json_t *device);

/* Of a table: what all devices gain together over the fastest one, and below what the papers' have;
 * "-" stands where there is one device. To be released, as those above. */
text_table bench_view_gains(const json_t *table);

/* Sentences about a device: its problem, its limits, what speaks against them, the load. From
 * i = 0; empty behind the last. */
short_text bench_view_fact(const json_t *device, size_t i);

/* How much larger the papers' problem is than the one that was measured; empty: it is that one. */
short_text bench_view_scale(const json_t *device);

/* The text of a cell, "" where nothing was put. */
const char *bench_view_cell(const text_table *table, size_t row, size_t column);

/* Rows that are right and were timed. */
bool bench_view_is_sound(const json_t *row);

/* What a row took, in seconds, as tables have it; not a number: nothing. */
double bench_view_seconds(const json_t *row);

/* Where papers' figures come from, from i = 0; NULL behind the last. */
const char *bench_view_source(const json_t *report, size_t i);

#endif
