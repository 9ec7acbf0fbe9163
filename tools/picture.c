#include "picture.h"
#include "canvas.h"
#include "console.h"
#include "contours.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths for a picture 1000 pixels wide; everything grows with the width, and below least_width
 * the plane alone shrinks. */
enum {
    text_size = 21,
    title_size = 26,
    label_size = 16, /* of contours */
    cell_size = 2,   /* of the raster that contours are drawn by: finer ones show no difference */
    margin = 22,
    tick_length = 7,
    text_gap = 9,
    bar_gap = 32, /* at least */
    bar_width = 26,
    least_width = 480,
    least_side = 24,  /* of the plane: what is thinner cannot be seen, and is drawn out of proportion */
    least_frame = 300 /* of the room for plane and colour bar */
};

static const double pi = 3.14159265358979323846;

typedef struct rectangle {
    double x, y, width, height;
} rectangle;

typedef struct drawing {
    const plane_picture *picture;
    cairo_t *cairo;
    double unit;       /* pixels a length of 1 */
    const char *minus; /* the best minus sign that the font has */
    const char *angstrom;
    double low_A[2], high_A[2]; /* edges of the plane */
    tick_marks axis_ticks[2], bar_ticks;
    double bar_scale; /* labels of the colour bar show values / bar_scale */
    char bar_title[96];
    double bar_gap;     /* pixels between plane and colour bar */
    double left, right; /* room for the labels beside the plane */
    rectangle plane, bar;
    double full_width, full_height;
    char title[256];
    plane_field cells;     /* for contours; no values where none are drawn */
    contour_label *labels; /* of them */
    size_t label_count;
} drawing;

/* ---- Ticks and texts ------------------------------------------------------------------------- */

tick_marks ticks_choose(double low, double high, int most)
{
    most = most > 1 ? most : 1;
    double raw = (high - low) / most, power = pow(10, floor(log10(raw)));
    static const double factors[] = {1, 2, 5, 10, 20};
    tick_marks ticks = {.step = power};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        ticks.step = factors[i] * power;
        double slack = 1e-9 * (high - low) / ticks.step;
        double first = ceil(low / ticks.step - slack), last = floor(high / ticks.step + slack);
        ticks.first = (int64_t)first;
        ticks.count = last >= first ? (int64_t)(last - first) + 1 : 0;
        if (ticks.count <= most)
            break;
    }
    return ticks;
}

static short_text tick_text(const drawing *canvas, const tick_marks *ticks, int64_t i, double scale)
{
    double value = (double)(ticks->first + i) * ticks->step / scale;
    int decimals = (int)fmin(fmax(ceil(-log10(ticks->step / scale) - 1e-9), 0), 12);
    return text_of("%s%.*f", ticks->first + i < 0 ? canvas->minus : "", decimals, fabs(value));
}

/* Large and small values share a power of ten, which stands in the colour bar's title. */
static void choose_bar_title(drawing *canvas)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const plane_picture *picture = canvas->picture;
    double largest = fmax(fabs(picture->low), fabs(picture->high));
    int exponent = (int)floor(log10(largest));
    char scale[48] = "";
    canvas->bar_scale = 1;
    if (exponent >= 5 || exponent <= -3) {
        canvas->bar_scale = pow(10, exponent);
        short_text digits = text_of("%d", abs(exponent));
        bool can_raise = canvas_font_has(canvas->cairo, "⁴") && canvas_font_has(canvas->cairo, "⁻");
        snprintf(scale, sizeof scale, can_raise ? "10%s" : "1e%s", exponent < 0 ? (can_raise ? "⁻" : "-") : "");
        for (const char *digit = digits.s; *digit != '\0'; digit++)
            strcat(scale, can_raise ? raised[*digit - '0'] : (char[]){*digit, '\0'});
    }
    bool has_units = picture->units[0] != '\0';
    if (scale[0] == '\0' && !has_units)
        snprintf(canvas->bar_title, sizeof canvas->bar_title, "%s", picture->quantity);
    else
        snprintf(canvas->bar_title, sizeof canvas->bar_title, "%s (%s%s%s)", picture->quantity, scale,
                 scale[0] != '\0' && has_units ? " " : "", picture->units);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The widest label of an axis or bar: its first or its last. */
static double widest_label(const drawing *canvas, const tick_marks *ticks, double scale)
{
    double widest = 0;
    for (int64_t i = 0; i < ticks->count; i++)
        widest = fmax(widest, canvas_width(canvas->cairo, tick_text(canvas, ticks, i, scale).s));
    return widest;
}

static int ticks_that_fit(double length, double room_each)
{
    return (int)fmin(fmax(length / room_each, 2), 12);
}

/* As many as there is room for their widths; the labels depend on the number of ticks, so a second
 * look is needed. */
static tick_marks choose_ticks_across(const drawing *canvas)
{
    double unit = canvas->unit, room = 80 * unit;
    tick_marks ticks;
    for (int i = 0; i < 2; i++) {
        ticks = ticks_choose(canvas->low_A[0], canvas->high_A[0], ticks_that_fit(canvas->plane.width, room));
        room = fmax(room, widest_label(canvas, &ticks, 1) + 2 * text_size * unit);
    }
    return ticks;
}

/* Size of the plane: its true proportions in the width that is left, and not much higher than
 * wide. */
static void choose_plane_size(drawing *canvas)
{
    double unit = canvas->unit;
    double width_A = canvas->high_A[0] - canvas->low_A[0], height_A = canvas->high_A[1] - canvas->low_A[1];
    double width = fmax(canvas->picture->width - canvas->left - canvas->right, 100 * unit);
    double height = width * height_A / width_A, highest = 1000 * unit;
    if (height > highest) {
        width *= highest / height;
        height = highest;
    }
    canvas->plane.width = round(fmax(width, least_side * unit));
    canvas->plane.height = round(fmax(height, least_side * unit));
}

static void choose_labels(drawing *canvas)
{
    const plane_picture *picture = canvas->picture;
    double unit = canvas->unit, frame = fmax(canvas->plane.height, least_frame * unit), room = 48 * unit;
    canvas_font(canvas->cairo, text_size * canvas->unit, false);
    canvas->axis_ticks[0] = choose_ticks_across(canvas);
    canvas->axis_ticks[1] =
        ticks_choose(canvas->low_A[1], canvas->high_A[1], ticks_that_fit(canvas->plane.height, room));
    canvas->bar_ticks = ticks_choose(picture->low, picture->high, ticks_that_fit(frame - 2 * bar_width * unit, room));
    double label = (tick_length + text_gap) * unit, title = (text_gap + text_size + margin) * unit;
    canvas->left = ceil(widest_label(canvas, &canvas->axis_ticks[1], 1) + label + title);
    /* The last label below the plane reaches beyond it, and a bar higher than the plane stands in
     * its way. */
    canvas->bar_gap = fmax(bar_gap * unit, 0.5 * widest_label(canvas, &canvas->axis_ticks[0], 1) + text_gap * unit);
    canvas->right = ceil(canvas->bar_gap + bar_width * unit + label +
                         widest_label(canvas, &canvas->bar_ticks, canvas->bar_scale) + title);
}

static void lay_out(drawing *canvas)
{
    double unit = canvas->unit;
    const plane_picture *picture = canvas->picture;
    for (int axis = 0; axis < 2; axis++) {
        int64_t n = axis == 0 ? picture->plane.columns : picture->plane.rows;
        double beyond_A = n == 1 ? 0.5 * picture->spacing_A[axis] : 0;
        canvas->low_A[axis] = picture->origin_A[axis] - beyond_A;
        canvas->high_A[axis] = picture->origin_A[axis] + (double)(n - 1) * picture->spacing_A[axis] + beyond_A;
    }
    canvas_font(canvas->cairo, text_size * canvas->unit, false);
    choose_bar_title(canvas);
    canvas->left = canvas->right = 130 * unit; /* a guess; the labels depend on the plane's size, and it on them */
    for (int i = 0; i < 2; i++) {
        choose_plane_size(canvas);
        choose_labels(canvas);
    }
    choose_plane_size(canvas);
    double top = round((margin + title_size + text_size + 2.5 * text_gap) * unit);
    double bottom = round((tick_length + 2 * text_gap + 2 * text_size + 0.6 * margin) * unit);
    double frame = fmax(canvas->plane.height, least_frame * unit),
           group = canvas->left + canvas->plane.width + canvas->right;
    canvas->full_width = ceil(fmax(group, 0.55 * picture->width));
    canvas->full_height = ceil(top + frame + bottom);
    canvas->plane.x = round(0.5 * (canvas->full_width - group) + canvas->left);
    canvas->plane.y = round(top + 0.5 * (frame - canvas->plane.height));
    canvas->bar = (rectangle){round(canvas->plane.x + canvas->plane.width + canvas->bar_gap), round(top),
                              round(bar_width * unit), round(frame)};
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void paint_pixels(const drawing *canvas, cairo_surface_t *pixels, double x, double y)
{
    cairo_set_source_surface(canvas->cairo, pixels, x, y);
    cairo_pattern_set_filter(cairo_get_source(canvas->cairo), CAIRO_FILTER_NEAREST);
    cairo_paint(canvas->cairo);
    cairo_set_source_rgb(canvas->cairo, 0.12, 0.12, 0.12);
}

/* Cells as pixels, whose upper left corner is at (x, y). */
static void draw_field(const drawing *canvas, const plane_field *cells, const ley_colours *colours, double x, double y)
{
    cairo_surface_t *pixels = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)cells->columns, (int)cells->rows);
    unsigned char *data = cairo_image_surface_get_data(pixels);
    int stride = cairo_image_surface_get_stride(pixels);
    for (int64_t row = 0; data != NULL && row < cells->rows; row++) {
        uint32_t *line = (uint32_t *)(void *)(data + (cells->rows - 1 - row) * stride);
        for (int64_t column = 0; column < cells->columns; column++)
            line[column] = ley_colours_at(colours, cells->values[row * cells->columns + column]);
    }
    cairo_surface_mark_dirty(pixels);
    paint_pixels(canvas, pixels, x, y);
    cairo_surface_destroy(pixels);
}

typedef struct contour_pen {
    cairo_t *cairo;
    double x, y, step_x, step_y;
} contour_pen;

static void draw_contour_piece(void *context, double x0, double y0, double x1, double y1)
{
    const contour_pen *pen = context;
    cairo_move_to(pen->cairo, pen->x + (x0 + 0.5) * pen->step_x, pen->y - (y0 + 0.5) * pen->step_y);
    cairo_line_to(pen->cairo, pen->x + (x1 + 0.5) * pen->step_x, pen->y - (y1 + 0.5) * pen->step_y);
}

/* Pixels to a cell of the contours' raster. */
static void cell_steps(const drawing *canvas, double step[2])
{
    step[0] = canvas->plane.width / (double)canvas->cells.columns;
    step[1] = canvas->plane.height / (double)canvas->cells.rows;
}

static void label_place(const drawing *canvas, const contour_label *label, double place[2])
{
    double step[2];
    cell_steps(canvas, step);
    place[0] = canvas->plane.x + label->x * step[0];
    place[1] = canvas->plane.y + canvas->plane.height - label->y * step[1];
}

/* To the plane, but for the contours' labels. */
static void clip_to_plane(const drawing *canvas)
{
    cairo_t *cairo = canvas->cairo;
    double place[2], step[2];
    cell_steps(canvas, step);
    cairo_rectangle(cairo, canvas->plane.x, canvas->plane.y, canvas->plane.width, canvas->plane.height);
    for (size_t i = 0; i < canvas->label_count; i++) {
        const contour_label *label = &canvas->labels[i];
        const double width = label->width * step[0], height = label_size * canvas->unit;
        label_place(canvas, label, place);
        cairo_save(cairo);
        cairo_translate(cairo, place[0], place[1]);
        cairo_rotate(cairo, -label->angle);
        cairo_rectangle(cairo, -0.5 * width, 0.5 * height, width, -height); /* turns the other way: a hole */
        cairo_restore(cairo);
    }
    cairo_clip(cairo);
}

/* Chooses places of the contours' labels, whose widths depend on the font. */
static void place_labels(drawing *canvas)
{
    const tick_marks *ticks = &canvas->bar_ticks;
    const double cell = cell_size * canvas->unit;
    contour_level levels[64];
    canvas->cells = field_rasterize(&canvas->picture->plane, (int64_t)ceil(canvas->plane.width / cell),
                                    (int64_t)ceil(canvas->plane.height / cell));
    canvas_font(canvas->cairo, label_size * canvas->unit, false);
    size_t count = 0;
    for (; count < (size_t)ticks->count && count < sizeof levels / sizeof *levels; count++) {
        const short_text text = tick_text(canvas, ticks, (int64_t)count, canvas->bar_scale);
        levels[count] = (contour_level){(double)(ticks->first + (int64_t)count) * ticks->step,
                                        (canvas_width(canvas->cairo, text.s) + 8 * canvas->unit) / cell};
    }
    canvas->labels = contours_place(&canvas->cells, levels, count, label_size / cell_size, &canvas->label_count);
}

/* In white on dark colours. */
static void choose_label_colour(const drawing *canvas, const contour_label *label, const ley_colours *colours)
{
    const tick_marks *ticks = &canvas->bar_ticks;
    const uint32_t colour = ley_colours_at(colours, (double)(ticks->first + (int64_t)label->level) * ticks->step);
    const double light = 0.2126 * (colour >> 16) + 0.7152 * (colour >> 8 & 255) + 0.0722 * (colour & 255);
    const double shade = light < 110 ? 1 : 0.12;
    cairo_set_source_rgb(canvas->cairo, shade, shade, shade);
}

static void draw_labels(const drawing *canvas, const ley_colours *colours)
{
    double place[2];
    canvas_font(canvas->cairo, label_size * canvas->unit, false);
    const double cap = canvas_cap_height(canvas->cairo);
    for (size_t i = 0; i < canvas->label_count; i++) {
        const contour_label *label = &canvas->labels[i];
        label_place(canvas, label, place);
        choose_label_colour(canvas, label, colours);
        canvas_words_turned(canvas->cairo, place[0] + 0.5 * cap * sin(label->angle),
                            place[1] + 0.5 * cap * cos(label->angle), 0.5, -label->angle,
                            tick_text(canvas, &canvas->bar_ticks, (int64_t)label->level, canvas->bar_scale).s);
    }
}

static void draw_contours(const drawing *canvas, const ley_colours *colours)
{
    const rectangle *plane = &canvas->plane;
    double step[2];
    cell_steps(canvas, step);
    contour_pen pen = {canvas->cairo, plane->x, plane->y + plane->height, step[0], step[1]};
    cairo_save(canvas->cairo);
    clip_to_plane(canvas);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    for (int64_t i = 0; i < canvas->bar_ticks.count; i++) {
        int64_t number = canvas->bar_ticks.first + i;
        field_contour(&canvas->cells, (double)number * canvas->bar_ticks.step, draw_contour_piece, &pen);
        cairo_set_line_width(canvas->cairo, (number == 0 ? 1.8 : 1.0) * canvas->unit);
        cairo_set_source_rgb(canvas->cairo, 0.25, 0.25, 0.25);
        cairo_stroke(canvas->cairo);
    }
    cairo_restore(canvas->cairo);
    draw_labels(canvas, colours);
    cairo_set_source_rgb(canvas->cairo, 0.12, 0.12, 0.12);
}

/* Lines that are seen on every colour of the scale, and are none of its contours: green within a
 * light rim. */
static void draw_circles(const drawing *canvas)
{
    const plane_picture *picture = canvas->picture;
    const rectangle *plane = &canvas->plane;
    const double scale = plane->width / (canvas->high_A[0] - canvas->low_A[0]),
                 scale_up = plane->height / (canvas->high_A[1] - canvas->low_A[1]);
    cairo_save(canvas->cairo);
    clip_to_plane(canvas);
    for (size_t i = 0; i < picture->circle_count; i++) {
        const plane_circle *circle = &picture->circles[i];
        cairo_save(canvas->cairo);
        cairo_translate(canvas->cairo, plane->x + (circle->place_A[0] - canvas->low_A[0]) * scale,
                        plane->y + plane->height - (circle->place_A[1] - canvas->low_A[1]) * scale_up);
        cairo_scale(canvas->cairo, scale, scale_up); /* what is too thin to be seen is drawn out of proportion */
        cairo_arc(canvas->cairo, 0, 0, circle->radius_A, 0, 2 * pi);
        cairo_restore(canvas->cairo);
        cairo_set_source_rgba(canvas->cairo, 1, 1, 1, 0.6);
        cairo_set_line_width(canvas->cairo, 3 * canvas->unit);
        cairo_stroke_preserve(canvas->cairo);
        cairo_set_source_rgba(canvas->cairo, 0, 0.4, 0.2, 0.9);
        cairo_set_line_width(canvas->cairo, 1.3 * canvas->unit);
        cairo_stroke(canvas->cairo);
    }
    cairo_restore(canvas->cairo);
}

static void draw_frame(const drawing *canvas, const rectangle *box)
{
    cairo_set_line_width(canvas->cairo, fmax(1, round(1.3 * canvas->unit)));
    cairo_rectangle(canvas->cairo, box->x - 0.5, box->y - 0.5, box->width + 1, box->height + 1);
    cairo_stroke(canvas->cairo);
}

static void draw_axis_titles(const drawing *canvas, double label_base, double label_left)
{
    const rectangle *plane = &canvas->plane;
    double unit = canvas->unit, gap = (text_gap + text_size) * unit;
    short_text title = text_of("%s (%s)", canvas->picture->axis[0], canvas->angstrom);
    canvas_words(canvas->cairo, plane->x + 0.5 * plane->width, label_base + gap, 0.5, title.s);
    title = text_of("%s (%s)", canvas->picture->axis[1], canvas->angstrom);
    canvas_words_up(canvas->cairo, label_left - text_gap * unit, plane->y + 0.5 * plane->height, title.s);
}

static void draw_axes(const drawing *canvas)
{
    const rectangle *plane = &canvas->plane;
    double unit = canvas->unit, bottom = plane->y + plane->height, tick = tick_length * unit;
    canvas_font(canvas->cairo, text_size * canvas->unit, false);
    double cap = canvas_cap_height(canvas->cairo), label_base = bottom + tick + text_gap * unit + cap;
    cairo_set_line_width(canvas->cairo, fmax(1, round(1.3 * unit)));
    for (int axis = 0; axis < 2; axis++) {
        const tick_marks *ticks = &canvas->axis_ticks[axis];
        for (int64_t i = 0; i < ticks->count; i++) {
            double position = ((double)(ticks->first + i) * ticks->step - canvas->low_A[axis]) /
                              (canvas->high_A[axis] - canvas->low_A[axis]);
            short_text label = tick_text(canvas, ticks, i, 1);
            if (axis == 0) {
                double x = canvas_on_pixel(plane->x + position * plane->width);
                cairo_move_to(canvas->cairo, x, bottom);
                cairo_line_to(canvas->cairo, x, bottom + tick);
                cairo_stroke(canvas->cairo);
                canvas_words(canvas->cairo, x, label_base, 0.5, label.s);
            } else {
                double y = canvas_on_pixel(bottom - position * plane->height);
                cairo_move_to(canvas->cairo, plane->x - tick, y);
                cairo_line_to(canvas->cairo, plane->x, y);
                cairo_stroke(canvas->cairo);
                canvas_words(canvas->cairo, plane->x - tick - text_gap * unit, y + 0.5 * cap, 1, label.s);
            }
        }
    }
    draw_frame(canvas, plane);
    double widest = widest_label(canvas, &canvas->axis_ticks[1], 1);
    draw_axis_titles(canvas, label_base, plane->x - tick - text_gap * unit - widest);
}

/* The triangle at an end of the colour bar: there are values beyond it. */
static void draw_arrow(const drawing *canvas, double base, double tip, uint32_t colour)
{
    const rectangle *bar = &canvas->bar;
    cairo_t *cairo = canvas->cairo;
    cairo_move_to(cairo, bar->x - 0.5, base);
    cairo_line_to(cairo, bar->x + 0.5 * bar->width, tip);
    cairo_line_to(cairo, bar->x + bar->width + 0.5, base);
    cairo_close_path(cairo);
    cairo_set_source_rgb(cairo, (colour >> 16) / 255.0, (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0);
    cairo_fill_preserve(cairo);
    cairo_set_source_rgb(cairo, 0.12, 0.12, 0.12);
    cairo_stroke(cairo);
}

static void draw_bar_labels(const drawing *canvas, double top, double bottom)
{
    const plane_picture *picture = canvas->picture;
    const rectangle *bar = &canvas->bar;
    double unit = canvas->unit, cap = canvas_cap_height(canvas->cairo), right = bar->x + bar->width,
           tick = tick_length * unit;
    double left = right + tick + text_gap * unit;
    for (int64_t i = 0; i < canvas->bar_ticks.count; i++) {
        double value = (double)(canvas->bar_ticks.first + i) * canvas->bar_ticks.step;
        double y = canvas_on_pixel(bottom - (value - picture->low) / (picture->high - picture->low) * (bottom - top));
        cairo_move_to(canvas->cairo, right, y);
        cairo_line_to(canvas->cairo, right + tick, y);
        cairo_stroke(canvas->cairo);
        double widest = widest_label(canvas, &canvas->bar_ticks, canvas->bar_scale);
        canvas_words(canvas->cairo, left + widest, y + 0.5 * cap, 1,
                     tick_text(canvas, &canvas->bar_ticks, i, canvas->bar_scale).s);
    }
    double edge = left + widest_label(canvas, &canvas->bar_ticks, canvas->bar_scale) + (text_gap + text_size) * unit;
    canvas_words_up(canvas->cairo, edge, 0.5 * (top + bottom), canvas->bar_title);
}

/* Pixels, as the plane is: where rectangles of a page meet, viewers show seams. */
static void draw_bar_colours(const drawing *canvas, const rectangle *bar, const ley_colours *colours)
{
    const plane_picture *picture = canvas->picture;
    const int64_t rows = (int64_t)bar->height;
    plane_field cells = {(int64_t)bar->width, rows, NULL};
    cells.values = allocate((size_t)(cells.columns * rows), sizeof(float));
    for (int64_t i = 0; i < cells.columns * rows; i++) {
        const double share = ((double)(rows - 1 - i / cells.columns) + 0.5) / bar->height;
        cells.values[i] = (float)(picture->high - share * (picture->high - picture->low));
    }
    draw_field(canvas, &cells, colours, bar->x, bar->y);
    free(cells.values);
}

static void draw_bar(const drawing *canvas, const ley_colours *colours)
{
    const plane_picture *picture = canvas->picture;
    rectangle bar = canvas->bar;
    double arrow = round(0.9 * bar.width), lowest, highest;
    field_bounds(&picture->plane, &lowest, &highest);
    bool below = lowest<picture->low, above = highest> picture->high;
    bar.y += above ? arrow : 0;
    bar.height -= (above ? arrow : 0) + (below ? arrow : 0);
    draw_bar_colours(canvas, &bar, colours);
    draw_frame(canvas, &bar);
    if (above)
        draw_arrow(canvas, bar.y - 0.5, bar.y - arrow, ley_colours_at(colours, picture->high));
    if (below)
        draw_arrow(canvas, bar.y + bar.height + 0.5, bar.y + bar.height + arrow, ley_colours_at(colours, picture->low));
    canvas_font(canvas->cairo, text_size * canvas->unit, false);
    draw_bar_labels(canvas, bar.y, bar.y + bar.height);
}

/* Takes characters off the end until the rest and "..." fit. */
static void shorten(const drawing *canvas, const char *words, double room, char text[256])
{
    const char *const dots = canvas_font_has(canvas->cairo, "…") ? "…" : "...";
    size_t length = strlen(words);
    length = length < 250 ? length : 250; /* with the dots it must fit */
    do {
        while (length > 0 && ((unsigned char)words[--length] & 0xc0) == 0x80) {
        }
        snprintf(text, 256, "%.*s%s", (int)length, words, dots);
    } while (length > 0 && canvas_width(canvas->cairo, text) > room);
}

/* A long title shrinks as far as it stays readable; then it is cut. */
static void draw_title(const drawing *canvas, const char *words, double size, bool bold, double base)
{
    char text[256];
    double room = canvas->full_width - 2 * margin * canvas->unit;
    canvas_font(canvas->cairo, size * canvas->unit, bold);
    double width = canvas_width(canvas->cairo, words);
    if (width > room)
        canvas_font(canvas->cairo, fmax(size * room / width, 0.65 * size) * canvas->unit, bold);
    if (canvas_width(canvas->cairo, words) > 1.001 * room) {
        shorten(canvas, words, room, text);
        words = text;
    }
    /* Centred above the plane, as far as the picture's edges let it. */
    double half = 0.5 * canvas_width(canvas->cairo, words), middle = canvas->plane.x + 0.5 * canvas->plane.width;
    middle = fmin(middle, canvas->full_width - margin * canvas->unit - half);
    middle = fmax(middle, margin * canvas->unit + half);
    canvas_words(canvas->cairo, middle, base, 0.5, words);
}

static void draw_titles(const drawing *canvas)
{
    const plane_picture *picture = canvas->picture;
    double unit = canvas->unit, base = (margin + 0.8 * title_size) * unit;
    bool has_units = picture->units[0] != '\0';
    short_text subtitle = text_of(
        "%s%s%s%s%s%s at %s = %s%.6g %s (plane %lld)", picture->quantity, has_units ? " in " : "", picture->units,
        picture->medium[0] != '\0' ? ", " : "", picture->medium, picture->medium[0] != '\0' ? "," : "", picture->normal,
        picture->at_A < 0 ? canvas->minus : "", fabs(picture->at_A), canvas->angstrom, (long long)picture->index);
    draw_title(canvas, canvas->title, title_size, true, base);
    draw_title(canvas, subtitle.s, text_size, false, base + (text_gap + 0.2 * title_size + 0.8 * text_size) * unit);
}

static void draw(const drawing *canvas)
{
    ley_colours colours;
    ley_colours_make(&colours, canvas->picture->low, canvas->picture->high);
    if (!canvas->picture->is_clear) {
        cairo_set_source_rgb(canvas->cairo, 1, 1, 1);
        cairo_paint(canvas->cairo);
    }
    plane_field cells =
        field_rasterize(&canvas->picture->plane, (int64_t)canvas->plane.width, (int64_t)canvas->plane.height);
    draw_field(canvas, &cells, &colours, canvas->plane.x, canvas->plane.y);
    free(cells.values);
    draw_circles(canvas);
    if (canvas->picture->contours)
        draw_contours(canvas, &colours);
    draw_axes(canvas);
    draw_bar(canvas, &colours);
    draw_titles(canvas);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void draw_on(cairo_t *cairo, const void *context)
{
    drawing canvas = *(const drawing *)context;
    canvas.cairo = cairo;
    draw(&canvas);
}

int picture_write(const plane_picture *picture, const char *path, int pixels[2])
{
    drawing canvas = {.picture = picture, .unit = fmax(picture->width, least_width) / 1000.0};
    cairo_surface_t *scratch = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    canvas.cairo = canvas_begin(scratch);
    canvas_font(canvas.cairo, text_size * canvas.unit, false);
    canvas.minus = canvas_font_has(canvas.cairo, "−") ? "−" : "-";
    canvas.angstrom = canvas_font_has(canvas.cairo, "Å") ? "Å" : "A";
    snprintf(canvas.title, sizeof canvas.title, "%s", picture->title);
    canvas_make_readable(canvas.title);
    lay_out(&canvas);
    if (picture->contours)
        place_labels(&canvas);
    cairo_destroy(canvas.cairo);
    cairo_surface_destroy(scratch);
    pixels[0] = (int)canvas.full_width;
    pixels[1] = (int)canvas.full_height;
    const int code = canvas_write(path, pixels[0], pixels[1], picture->dpi, picture->is_clear, draw_on, &canvas);
    free(canvas.cells.values);
    free(canvas.labels);
    return code;
}
