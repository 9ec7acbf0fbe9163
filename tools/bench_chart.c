#include "bench_chart.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In units of the drawing, which is as wide as the page lets it be. */
enum { WIDTH = 480, HEIGHT = 340, LEFT = 72, RIGHT = 24, TOP = 12, BOTTOM = 48, LINE = 18, COLOURS = 4 };

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
    text_file_print(to, "</text>\n<text transform=\"translate(17 %d) rotate(-90)\" text-anchor=\"middle\">",
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

/* ---- Labels ---------------------------------------------------------------------------------- */

/* What has a place already, marks and labels. */
typedef struct box {
    double left, right, top, bottom;
} box;

enum { MOST_BOXES = 2 * CHART_MOST_SERIES * CHART_MOST_POINTS };
typedef struct placed {
    size_t n;
    box boxes[MOST_BOXES];
} placed;

/* Of the largest letters that the style sheet has, which are those for phones. */
static const double label_letter = 7.8, name_letter = 8.4;

static void keep_place(placed *p, box b)
{
    if (p->n < MOST_BOXES)
        p->boxes[p->n++] = b;
}

static bool is_free(const placed *p, const box *b)
{
    bool is = b->left >= LEFT && b->right <= WIDTH && b->top >= 0 && b->bottom <= HEIGHT - BOTTOM;
    for (size_t i = 0; i < p->n && is; i++) {
        const box *o = &p->boxes[i];
        is = b->right <= o->left || o->right <= b->left || b->bottom <= o->top || o->bottom <= b->top;
    }
    return is;
}

/* Around a label above or below a mark, to the left or to the right of it as far as the drawing
 * reaches, so many lines away. */
static box place_of(double x, double y, double width, bool is_left, bool is_above, int away)
{
    const double baseline = is_above ? y - 6 - away * LINE : y + 15 + away * LINE;
    const double left = is_left ? fmax(x - 7 - width, LEFT) : fmin(x + 7, WIDTH - width);
    return (box){left, left + width, baseline - 11, baseline + 4};
}

static box find_place(const placed *p, double x, double y, const char *label)
{
    enum { MOST_AWAY = 3 };
    const double width = label_letter * (double)strlen(label);
    const bool is_left = x > LEFT + 0.6 * (WIDTH - LEFT - RIGHT);
    for (int away = 0; away < MOST_AWAY; away++)
        for (int i = 0; i < 4; i++) {
            const box b = place_of(x, y, width, is_left != (i >= 2), is_left == (i % 2 != 0), away);
            if (is_free(p, &b))
                return b;
        }
    return place_of(x, y, width, is_left, !is_left, 0);
}

static void put_mark(text_file *to, const chart_series *s, size_t i, double x, double y)
{
    text_file_print(to, "<circle class=\"mark c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", s->colour % COLOURS, x,
                    y);
    chart_put_text(to, text_of("%s: %.4g, %.3g", s->label[i][0] != '\0' ? s->label[i] : s->name, s->x[i], s->y[i]).s);
    text_file_print(to, "</title></circle>\n");
}

static void put_label(text_file *to, placed *p, const char *label, double x, double y)
{
    const box b = find_place(p, x, y, label);
    const bool is_left = b.left < x;
    keep_place(p, b);
    text_file_print(to, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", is_left ? b.right : b.left,
                    b.bottom - 4, is_left ? "end" : "start");
    chart_put_text(to, label);
    text_file_print(to, "</text>\n");
}

/* Of all series: a label lies on no mark and on no other label, where there is room. */
static void put_marks(text_file *to, const axes *a, const chart *c)
{
    enum { RADIUS = 4 };
    placed p = {.n = 0};
    for (size_t s = 0; s < c->n; s++)
        for (size_t i = 0; i < c->series[s].n && c->series[s].has_marks; i++) {
            const double x = across(a, c->series[s].x[i]), y = upwards(a, c->series[s].y[i]);
            put_mark(to, &c->series[s], i, x, y);
            keep_place(&p, (box){x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS});
        }
    for (size_t s = 0; s < c->n; s++)
        for (size_t i = 0; i < c->series[s].n && c->series[s].has_marks; i++)
            if (c->series[s].label[i][0] != '\0')
                put_label(to, &p, c->series[s].label[i], across(a, c->series[s].x[i]), upwards(a, c->series[s].y[i]));
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
    put_marks(to, &a, c);
    text_file_print(to, "</svg>\n");
    put_names(to, c);
    text_file_print(to, "</figure>\n");
}

/* ---- Bars ------------------------------------------------------------------------------------ */

/* How long "X: " is, which all names begin with; 0: they do not. */
static size_t common_beginning(const chart_bar *bars, size_t n)
{
    const char *colon = n > 0 ? strstr(bars[0].name, ": ") : NULL;
    const size_t length = colon != NULL ? (size_t)(colon - bars[0].name) + 2 : 0;
    for (size_t i = 1; i < n; i++)
        if (strncmp(bars[i].name, bars[0].name, length) != 0)
            return 0;
    return length;
}

void chart_put_bars(text_file *to, const char *title, const chart_bar *bars, size_t n)
{
    enum { FIGURES = 90, BAR = 15, STEP = 22, MOST_NAMES = 280 };
    const size_t beginning = common_beginning(bars, n);
    double most = 0, names = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, bars[i].value);
        names = fmax(names, name_letter * (double)strlen(bars[i].name + beginning) + 10);
    }
    names = fmin(names, MOST_NAMES);
    put_title(to, title);
    text_file_print(to, "<svg viewBox=\"0 0 %d %zu\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n", WIDTH,
                    n * STEP + 4);
    for (size_t i = 0; i < n; i++) {
        const double width = (WIDTH - names - FIGURES) * bars[i].value / most, y = (double)(i * STEP) + 4;
        text_file_print(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", names - 6, y + BAR - 3);
        chart_put_text(to, bars[i].name + beginning);
        text_file_print(to, "</text><rect class=\"bar c%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
                        bars[i].colour % COLOURS, names, y, fmax(width, 1), BAR);
        text_file_print(to, "<text x=\"%.1f\" y=\"%.1f\">", names + width + 5, y + BAR - 3);
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
