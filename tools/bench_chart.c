#include "bench_chart.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In units of the drawing, which is as wide as the page lets it be. */
enum { WIDTH = 480, HEIGHT = 340, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 46, LINE = 16, COLOURS = 4 };

static const text_escape escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

void chart_put_text(text_file *to, const char *text)
{
    text_file_put(to, text, escapes, sizeof escapes / sizeof *escapes);
}

/* ---- A chart --------------------------------------------------------------------------------- */

chart chart_begin(const char *title, const char *across, const char *upwards)
{
    return (chart){title, across, upwards, 0, allocate(CHART_MOST_SERIES, sizeof(chart_series))};
}

chart_series *chart_add(chart *c, size_t colour, const char *name)
{
    if (c->n == CHART_MOST_SERIES)
        return NULL;
    chart_series *series = &c->series[c->n++];
    series->colour = colour;
    series->has_line = series->has_marks = true;
    snprintf(series->name, sizeof series->name, "%s", name);
    return series;
}

void chart_point(chart_series *series, double x, double y, const char *label)
{
    if (series == NULL || !(x > 0 && isfinite(x) && y > 0 && isfinite(y)) || series->n == CHART_MOST_POINTS)
        return;
    series->x[series->n] = x;
    series->y[series->n] = y;
    snprintf(series->label[series->n++], CHART_NAME, "%s", label != NULL ? label : "");
}

void chart_end(chart *c)
{
    free(c->series);
    *c = (chart){.n = 0};
}

/* ---- Axes ------------------------------------------------------------------------------------ */

typedef struct axes {
    int low[2], high[2]; /* powers of ten */
} axes;

static bool find_axes(const chart *c, axes *a)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    for (size_t s = 0; s < c->n; s++)
        for (size_t i = 0; i < c->series[s].n; i++) {
            const double at[2] = {c->series[s].x[i], c->series[s].y[i]};
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = fmin(low[axis], at[axis]);
                high[axis] = fmax(high[axis], at[axis]);
            }
        }
    for (int axis = 0; axis < 2; axis++) {
        if (!(high[axis] > 0))
            return false;
        a->low[axis] = (int)floor(log10(low[axis]));
        a->high[axis] = (int)ceil(log10(high[axis]));
        a->high[axis] += a->high[axis] == a->low[axis];
    }
    return true;
}

static double across(const axes *a, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(x) - a->low[0]) / (a->high[0] - a->low[0]);
}

static double upwards(const axes *a, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(y) - a->low[1]) / (a->high[1] - a->low[1]);
}

/* Powers of ten that are not too many: 1,000, 10,000 up to a million, 10 to a power beyond. */
static void put_power(text_file *to, int power)
{
    if (power >= -2 && power <= 4)
        text_file_print(to, "%g", pow(10, power));
    else
        text_file_print(to, "10<tspan dy=\"-5\" font-size=\"9\">%d</tspan>", power);
}

static void put_axes(text_file *to, const chart *c, const axes *a)
{
    const int step[2] = {(a->high[0] - a->low[0] + 6) / 7, (a->high[1] - a->low[1] + 6) / 7};
    for (int p = a->low[0]; p <= a->high[0]; p += step[0]) {
        const double x = across(a, pow(10, p));
        text_file_print(to, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", x, TOP, HEIGHT - BOTTOM);
        text_file_print(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x, HEIGHT - BOTTOM + LINE);
        put_power(to, p);
        text_file_print(to, "</text>\n");
    }
    for (int p = a->low[1]; p <= a->high[1]; p += step[1]) {
        const double y = upwards(a, pow(10, p));
        text_file_print(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        text_file_print(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, y + 4);
        put_power(to, p);
        text_file_print(to, "</text>\n");
    }
    text_file_print(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (WIDTH + LEFT - RIGHT) / 2, HEIGHT - 8);
    chart_put_text(to, c->across);
    text_file_print(to, "</text>\n<text transform=\"translate(12 %d) rotate(-90)\" text-anchor=\"middle\">",
                    (HEIGHT + TOP - BOTTOM) / 2);
    chart_put_text(to, c->upwards);
    text_file_print(to, "</text>\n");
}

/* ---- Series ---------------------------------------------------------------------------------- */

static void put_line(text_file *to, const axes *a, const chart_series *s)
{
    text_file_print(to, "<path class=\"line c%zu%s\" d=\"", s->colour % COLOURS, s->is_dashed ? " dashed" : "");
    for (size_t i = 0; i < s->n; i++)
        text_file_print(to, "%c%.1f %.1f", i == 0 ? 'M' : 'L', across(a, s->x[i]), upwards(a, s->y[i]));
    text_file_print(to, "\"/>\n");
}

/* A label stands on the side where there is room. */
static void put_marks(text_file *to, const axes *a, const chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const double x = across(a, s->x[i]), y = upwards(a, s->y[i]);
        const bool is_left = x > LEFT + 0.6 * (WIDTH - LEFT - RIGHT);
        text_file_print(to, "<circle class=\"mark c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", s->colour % COLOURS,
                        x, y);
        chart_put_text(to,
                       text_of("%s: %.4g, %.3g", s->label[i][0] != '\0' ? s->label[i] : s->name, s->x[i], s->y[i]).s);
        text_file_print(to, "</title></circle>");
        if (s->label[i][0] != '\0') {
            text_file_print(to, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                            is_left ? x - 7 : x + 7, is_left ? y + 15 : y - 6, is_left ? "end" : "start");
            chart_put_text(to, s->label[i]);
            text_file_print(to, "</text>");
        }
        text_file_print(to, "\n");
    }
}

/* Names stand below the drawing, so that they never lie on a line. */
static void put_names(text_file *to, const chart *c)
{
    text_file_print(to, "<p class=\"names\">");
    for (size_t s = 0; s < c->n; s++) {
        if (c->series[s].n == 0 || c->series[s].name[0] == '\0')
            continue;
        text_file_print(to, "<span><i class=\"key k%zu%s\"></i>", c->series[s].colour % COLOURS,
                        c->series[s].is_dashed ? " dashed" : "");
        chart_put_text(to, c->series[s].name);
        text_file_print(to, "</span> ");
    }
    text_file_print(to, "</p>\n");
}

static void put_title(text_file *to, const char *title)
{
    text_file_print(to, "<figure><figcaption>");
    chart_put_text(to, title);
    text_file_print(to, "</figcaption>\n");
}

void chart_put(text_file *to, const chart *c)
{
    axes a;
    if (!find_axes(c, &a))
        return;
    put_title(to, c->title);
    text_file_print(to, "<svg viewBox=\"0 0 %d %d\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n", WIDTH,
                    HEIGHT);
    put_axes(to, c, &a);
    for (size_t s = 0; s < c->n; s++)
        if (c->series[s].has_line && c->series[s].n > 1)
            put_line(to, &a, &c->series[s]);
    for (size_t s = 0; s < c->n; s++)
        if (c->series[s].has_marks)
            put_marks(to, &a, &c->series[s]);
    text_file_print(to, "</svg>\n");
    put_names(to, c);
    text_file_print(to, "</figure>\n");
}

/* ---- Bars ------------------------------------------------------------------------------------ */

void chart_put_bars(text_file *to, const char *title, const chart_bar *bars, size_t n)
{
    enum { NAMES = 172, FIGURES = 72, BAR = 15, STEP = 22 };
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, bars[i].value);
    put_title(to, title);
    text_file_print(to, "<svg viewBox=\"0 0 %d %zu\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n", WIDTH,
                    n * STEP + 4);
    for (size_t i = 0; i < n; i++) {
        const double width = (WIDTH - NAMES - FIGURES) * bars[i].value / most, y = (double)(i * STEP) + 4;
        text_file_print(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", NAMES - 6, y + BAR - 3);
        chart_put_text(to, bars[i].name);
        text_file_print(to, "</text><rect class=\"bar c%zu\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
                        bars[i].colour % COLOURS, NAMES, y, fmax(width, 1), BAR);
        text_file_print(to, "<text x=\"%.1f\" y=\"%.1f\">", NAMES + width + 5, y + BAR - 3);
        chart_put_text(to, bars[i].figure);
        text_file_print(to, "</text>\n");
    }
    text_file_print(to, "</svg>\n");
}

void chart_put_name(text_file *to, size_t colour, const char *name)
{
    text_file_print(to, "<p class=\"names\"><i class=\"key k%zu\"></i>", colour % COLOURS);
    chart_put_text(to, name);
    text_file_print(to, "</p>\n");
}
