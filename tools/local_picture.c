#include "local_picture.h"

#include "canvas.h"
#include "console.h"

#include <math.h>
#include <stdio.h>

enum { width = 1000, height = 560, text_size = 20, title_size = 24, margin = 24, text_gap = 9 };

static const struct {
    double x, y, width, height;
} frame = {110, 70, 850, 400};

typedef struct drawing {
    const double *pearson;
    int count;
    const char *what, *title;
    double low; /* of the axis, in tenths: a multiple of 0.1 below all; its other end is 1 */
} drawing;

static double across(const drawing *d, double number)
{
    return frame.x + frame.width * (number - 0.5) / d->count;
}

static double upwards(const drawing *d, double value)
{
    return frame.y + frame.height * (1 - (value - d->low) / (1 - d->low));
}

/* 1, 2 or 5 times a power of ten, of which at most ten are in the count. */
static int step_of(int count)
{
    int step = 1;
    for (int k = 0; 10 * step < count; k++)
        step = step / (k % 3 == 1 ? 2 : 1) * (k % 3 == 1 ? 5 : 2);
    return step;
}

static void draw_line(cairo_t *cairo, double x, double y, double to_x, double to_y)
{
    cairo_set_source_rgb(cairo, 0.85, 0.85, 0.85);
    cairo_set_line_width(cairo, 1);
    cairo_move_to(cairo, canvas_on_pixel(x), canvas_on_pixel(y));
    cairo_line_to(cairo, canvas_on_pixel(to_x), canvas_on_pixel(to_y));
    cairo_stroke(cairo);
    cairo_set_source_rgb(cairo, 0.12, 0.12, 0.12);
}

static void draw_axes(cairo_t *cairo, const drawing *d)
{
    const int tenths = (int)lround(10 * (1 - d->low)), step = step_of(d->count), each = step_of(tenths);
    canvas_font(cairo, text_size, false);
    const double cap = canvas_cap_height(cairo);
    for (int k = 0; k <= tenths; k += each) {
        const double y = upwards(d, 1 - 0.1 * k);
        draw_line(cairo, frame.x, y, frame.x + frame.width, y);
        canvas_words(cairo, frame.x - text_gap, y + 0.5 * cap, 1, text_of("%.1f", 1 - 0.1 * k).s);
    }
    for (int k = step; k <= d->count; k += step) {
        const double x = across(d, k);
        draw_line(cairo, x, frame.y, x, frame.y + frame.height);
        canvas_words(cairo, x, frame.y + frame.height + text_gap + cap, 0.5, text_of("%d", k).s);
    }
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, frame.x - 0.5, frame.y - 0.5, frame.width + 1, frame.height + 1);
    cairo_stroke(cairo);
    canvas_words(cairo, frame.x + 0.5 * frame.width, frame.y + frame.height + 2 * text_gap + 2 * text_size, 0.5,
                 d->what);
    canvas_words_up(cairo, margin + text_size, frame.y + 0.5 * frame.height, "local correlation with the map");
}

/* Between windows that have one; a dot for each where there is room. */
static void draw_values(cairo_t *cairo, const drawing *d)
{
    const double dot = d->count <= 200 ? 3.5 : d->count <= 1000 ? 1.75 : 1;
    bool is_within = false;
    cairo_set_source_rgb(cairo, 0.12, 0.35, 0.72);
    cairo_set_line_width(cairo, 1.5);
    for (int k = 0; k < d->count; k++) {
        const double x = across(d, k + 1), y = upwards(d, d->pearson[k]);
        if (isfinite(y))
            (is_within ? cairo_line_to : cairo_move_to)(cairo, x, y);
        is_within = isfinite(y);
    }
    cairo_stroke(cairo);
    for (int k = 0; k < d->count; k++)
        if (isfinite(d->pearson[k])) {
            cairo_new_sub_path(cairo);
            cairo_arc(cairo, across(d, k + 1), upwards(d, d->pearson[k]), dot, 0, 2 * M_PI);
        }
    cairo_fill(cairo);
}

static void draw(cairo_t *cairo, const void *context)
{
    const drawing *d = context;
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    draw_axes(cairo, d);
    draw_values(cairo, d);
    cairo_set_source_rgb(cairo, 0.12, 0.12, 0.12);
    canvas_font(cairo, title_size, true);
    canvas_words(cairo, frame.x + 0.5 * frame.width, margin + 0.8 * title_size, 0.5, d->title);
}

int local_picture_write(const double *pearson, int count, const char *what, const char *title, const char *path)
{
    short_text readable = text_of("%s", title);
    drawing d = {.pearson = pearson, .count = count, .what = what, .title = readable.s, .low = 0.9};
    canvas_make_readable(readable.s);
    for (int k = 0; k < count; k++)
        if (isfinite(pearson[k]))
            d.low = fmin(d.low, floor(10 * pearson[k] - 0.25) / 10);
    return canvas_write(path, width, height, CANVAS_DPI, false, draw, &d);
}
