#include "frontier_picture.h"
#include "canvas.h"
#include "console.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

enum { width = 1000, height = 760, text_size = 20, title_size = 24, margin = 24, tick_length = 7, text_gap = 9 };

static const struct {
    double x, y, width, height;
} frame = {130, 90, 820, 560};

/* Lines of devices; those behind the last colour begin again. */
static const double colours[][3] = {{0.12, 0.35, 0.72}, {0.80, 0.27, 0.13}, {0.16, 0.55, 0.26}, {0.50, 0.25, 0.65}};
enum { COLOURS = sizeof colours / sizeof *colours };

/* Powers of ten at the ends of both axes. */
typedef struct drawing {
    const ley_bench *bench;
    int low[2], high[2];
    bool has_raised;
} drawing;

static bool is_drawn(const ley_bench_row *row)
{
    return row->status == LEY_OK && row->whole_s > 0 && row->accuracy.relative_rms > 0;
}

/* A row's place, in powers of ten. */
static void place_of(const ley_bench_row *row, double place[2])
{
    place[0] = log10(row->whole_s);
    place[1] = log10(row->accuracy.relative_rms);
}

static void choose_axes(drawing *d)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, place[2];
    for (size_t k = 0; k < ley_bench_device_count(d->bench); k++) {
        const ley_bench_device *device = ley_bench_get(d->bench, k);
        for (size_t i = 0; i < device->row_count; i++) {
            if (!is_drawn(&device->rows[i]))
                continue;
            place_of(&device->rows[i], place);
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = fmin(low[axis], place[axis]);
                high[axis] = fmax(high[axis], place[axis]);
            }
        }
    }
    for (int axis = 0; axis < 2; axis++) {
        d->low[axis] = isfinite(low[axis]) ? (int)floor(low[axis]) : -1;
        d->high[axis] = isfinite(high[axis]) ? (int)ceil(high[axis]) : 0;
        d->high[axis] += d->high[axis] == d->low[axis];
    }
}

static double across(const drawing *d, double power)
{
    return frame.x + frame.width * (power - d->low[0]) / (d->high[0] - d->low[0]);
}

static double upwards(const drawing *d, double power)
{
    return frame.y + frame.height * (1 - (power - d->low[1]) / (d->high[1] - d->low[1]));
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static short_text power_text(const drawing *d, int power)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const int size = power < 0 ? -power : power;
    if (!d->has_raised)
        return text_of("1e%d", power);
    return text_of("10%s%s%s", power < 0 ? "⁻" : "", size > 9 ? raised[size / 10 % 10] : "", raised[size % 10]);
}

/* Lines at 1, 2, ... 9 times powers of ten, the first of them darker and with its number. */
static void draw_lines(cairo_t *cairo, const drawing *d, int axis)
{
    for (int power = d->low[axis]; power <= d->high[axis]; power++)
        for (int digit = 1; digit <= (power < d->high[axis] ? 9 : 1); digit++) {
            const double at = power + log10(digit), shade = digit == 1 ? 0.72 : 0.91;
            cairo_set_source_rgb(cairo, shade, shade, shade);
            cairo_set_line_width(cairo, 1);
            if (axis == 0) {
                cairo_move_to(cairo, canvas_on_pixel(across(d, at)), frame.y);
                cairo_rel_line_to(cairo, 0, frame.height);
            } else {
                cairo_move_to(cairo, frame.x, canvas_on_pixel(upwards(d, at)));
                cairo_rel_line_to(cairo, frame.width, 0);
            }
            cairo_stroke(cairo);
        }
    cairo_set_source_rgb(cairo, 0.12, 0.12, 0.12);
    const double cap = canvas_cap_height(cairo);
    for (int power = d->low[axis]; power <= d->high[axis]; power++)
        if (axis == 0)
            canvas_words(cairo, across(d, power), frame.y + frame.height + text_gap + cap + tick_length, 0.5,
                         power_text(d, power).s);
        else
            canvas_words(cairo, frame.x - text_gap, upwards(d, power) + 0.5 * cap, 1, power_text(d, power).s);
}

static void draw_axes(cairo_t *cairo, const drawing *d)
{
    canvas_font(cairo, text_size, false);
    draw_lines(cairo, d, 0);
    draw_lines(cairo, d, 1);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, frame.x - 0.5, frame.y - 0.5, frame.width + 1, frame.height + 1);
    cairo_stroke(cairo);
    canvas_words(cairo, frame.x + 0.5 * frame.width, frame.y + frame.height + 3 * text_gap + 2 * text_size, 0.5,
                 "seconds from atoms in memory to the map in the host's memory");
    canvas_words_up(cairo, margin + text_size, frame.y + 0.5 * frame.height, "relative root mean square error");
}

/* ---- Devices --------------------------------------------------------------------------------- */

static void set_colour(cairo_t *cairo, size_t device)
{
    const double *c = colours[device % COLOURS];
    cairo_set_source_rgb(cairo, c[0], c[1], c[2]);
}

/* A disc for a tolerance, a square for direct summation, an empty one where it was scaled. */
static void draw_mark(cairo_t *cairo, const drawing *d, const ley_bench_row *row)
{
    const double size = 7;
    double place[2];
    place_of(row, place);
    cairo_new_sub_path(cairo);
    if (row->tolerance > 0)
        cairo_arc(cairo, across(d, place[0]), upwards(d, place[1]), size, 0, 2 * pi);
    else
        cairo_rectangle(cairo, across(d, place[0]) - size, upwards(d, place[1]) - size, 2 * size, 2 * size);
    if (ley_bench_row_figure(row, "measured_share") < 1)
        cairo_stroke(cairo);
    else
        cairo_fill(cairo);
}

static void draw_device(cairo_t *cairo, const drawing *d, size_t number)
{
    const ley_bench_device *device = ley_bench_get(d->bench, number);
    bool has_begun = false;
    double place[2];
    set_colour(cairo, number);
    cairo_set_line_width(cairo, 2.5);
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        if (!is_drawn(row) || row->tolerance == 0)
            continue;
        place_of(row, place);
        (has_begun ? cairo_line_to : cairo_move_to)(cairo, across(d, place[0]), upwards(d, place[1]));
        has_begun = true;
    }
    cairo_stroke(cairo);
    for (size_t i = 0; i < device->row_count; i++)
        if (is_drawn(&device->rows[i]))
            draw_mark(cairo, d, &device->rows[i]);
    /* Its name, below those of the devices before it. */
    canvas_font(cairo, 0.85 * text_size, false);
    canvas_words(cairo, frame.x + frame.width - text_gap, frame.y + (1.3 * text_size) * (double)(number + 1), 1,
                 text_of("%.90s (%.20s)", device->device->name, device->device->path).s);
}

static void draw(cairo_t *cairo, const void *context)
{
    drawing d = *(const drawing *)context;
    const ley_bench_device *first = ley_bench_get(d.bench, 0);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    canvas_font(cairo, text_size, false);
    d.has_raised = canvas_font_has(cairo, "⁴") && canvas_font_has(cairo, "⁻");
    draw_axes(cairo, &d);
    for (size_t k = 0; k < ley_bench_device_count(d.bench); k++)
        draw_device(cairo, &d, k);
    cairo_set_source_rgb(cairo, 0.12, 0.12, 0.12);
    canvas_font(cairo, title_size, true);
    canvas_words(cairo, frame.x + 0.5 * frame.width, margin + 0.8 * title_size, 0.5,
                 text_of("Water: %s atoms, %s points", count_text(first->atoms).s, grid_text(first->n).s).s);
    canvas_font(cairo, 0.85 * text_size, false);
    canvas_words(cairo, frame.x + 0.5 * frame.width, margin + title_size + text_gap + 0.6 * text_size, 0.5,
                 "discs: a tolerance each; squares: direct summation, empty where scaled from a part of the map");
}

int frontier_picture_write(const ley_bench *bench, const char *path)
{
    drawing d = {.bench = bench};
    choose_axes(&d);
    return canvas_write(path, width, height, CANVAS_DPI, false, draw, &d);
}
