/* Charts of a page, as SVG inside it: their colours are those of the page's style sheet. */
#ifndef LEYDEN_BENCH_CHART_H
#define LEYDEN_BENCH_CHART_H

#include "text_file.h"

#include <stdbool.h>
#include <stddef.h>

enum { CHART_MOST_POINTS = 64, CHART_MOST_SERIES = 12, CHART_NAME = 128 };

/* Points on logarithmic axes; what is not positive is left out. */
typedef struct chart_series {
    char name[CHART_NAME];
    size_t colour; /* devices are counted */
    bool has_line, has_marks, is_dashed;
    size_t n;
    double x[CHART_MOST_POINTS], y[CHART_MOST_POINTS];
    char label[CHART_MOST_POINTS][CHART_NAME]; /* beside a point, or empty */
} chart_series;

typedef struct chart {
    const char *title, *across, *upwards;
    size_t n;
    chart_series *series; /* [CHART_MOST_SERIES] */
} chart;

/* An empty one, to be freed by chart_end(); and a new series of it, NULL when it is full. */
chart chart_begin(const char *title, const char *across, const char *upwards);
chart_series *chart_add(chart *c, size_t colour, const char *name);
void chart_point(chart_series *series, double x, double y, const char *label);
void chart_end(chart *c);

/* Draws it; nothing, where it has no points. */
void chart_put(text_file *to, const chart *c);

/* Begins a figure: bars, from left to right, with their names before and their figures behind them;
 * and the name of a colour below them. The caller ends the figure. */
typedef struct chart_bar {
    char name[CHART_NAME], figure[CHART_NAME];
    double value;
    size_t colour;
} chart_bar;

void chart_put_bars(text_file *to, const char *title, const chart_bar *bars, size_t n);
void chart_put_name(text_file *to, size_t colour, const char *name);

/* Puts a text into the page, with its special characters made harmless. */
void chart_put_text(text_file *to, const char *text);

#endif
