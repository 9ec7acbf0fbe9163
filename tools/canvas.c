#include "canvas.h"
#include "console.h"
#include "file.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>

static const char font[] = "sans-serif";
static const double pi = 3.14159265358979323846;

cairo_t *canvas_begin(cairo_surface_t *surface)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    return cairo;
}

void canvas_font(cairo_t *cairo, double pixels, bool bold)
{
    cairo_select_font_face(cairo, font, CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, pixels);
}

double canvas_width(cairo_t *cairo, const char *words)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, words, &extents);
    return extents.x_advance;
}

double canvas_cap_height(cairo_t *cairo)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, "H", &extents);
    return extents.height;
}

void canvas_words(cairo_t *cairo, double x, double y, double across, const char *words)
{
    cairo_move_to(cairo, x - across * canvas_width(cairo, words), y);
    cairo_show_text(cairo, words);
}

void canvas_words_up(cairo_t *cairo, double x, double y, const char *words)
{
    cairo_save(cairo);
    cairo_move_to(cairo, x, y);
    cairo_rotate(cairo, -0.5 * pi);
    cairo_rel_move_to(cairo, -0.5 * canvas_width(cairo, words), 0);
    cairo_show_text(cairo, words);
    cairo_restore(cairo);
}

bool canvas_font_has(cairo_t *cairo, const char *character)
{
    cairo_glyph_t *glyphs = NULL;
    int count = 0;
    cairo_status_t status = cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(cairo), 0, 0, character, -1, &glyphs,
                                                             &count, NULL, NULL, NULL);
    bool has = status == CAIRO_STATUS_SUCCESS && count == 1 && glyphs[0].index != 0;
    cairo_glyph_free(glyphs);
    return has;
}

double canvas_on_pixel(double position)
{
    return floor(position) + 0.5;
}

/* ---- The file -------------------------------------------------------------------------------- */

typedef struct target {
    ley_file *file;
    ley_status status;
    ley_error *error;
} target;

static cairo_status_t write_bytes(void *context, const unsigned char *data, unsigned int length)
{
    target *to = context;
    if (to->status == LEY_OK)
        to->status = ley_file_write(to->file, data, length, to->error);
    return to->status == LEY_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Ends the surface, whose last bytes may only come then. */
static cairo_status_t draw_on(cairo_surface_t *surface, void (*draw)(cairo_t *cairo, const void *context),
                              const void *context)
{
    cairo_t *cairo = canvas_begin(surface);
    draw(cairo, context);
    const cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    return status;
}

/* A pixel of a page is as large as on the web: 96 to an inch, of 72 points. */
static const double pixel_points = 0.75;

/* A page without the time at which it was made: the same picture is the same bytes. */
static cairo_surface_t *make_page(target *to, int width, int height)
{
    cairo_surface_t *page =
        cairo_pdf_surface_create_for_stream(write_bytes, to, pixel_points * width, pixel_points * height);
    cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_surface_set_device_scale(page, pixel_points, pixel_points);
    return page;
}

static int write_as(const char *path, int width, int height, cairo_format_t format,
                    void (*draw)(cairo_t *cairo, const void *context), const void *context)
{
    ley_error error = {0};
    target to = {.error = &error};
    const bool is_svg = ends_with(path, ".svg"), is_pdf = ends_with(path, ".pdf");
    to.status = file_begin(path, &to.file, &error);
    if (to.status != LEY_OK)
        return file_end(to.file, to.status, &error);
    cairo_surface_t *surface = is_svg   ? cairo_svg_surface_create_for_stream(write_bytes, &to, width, height)
                               : is_pdf ? make_page(&to, width, height)
                                        : cairo_image_surface_create(format, width, height);
    cairo_status_t status = draw_on(surface, draw, context);
    if (is_svg || is_pdf)
        cairo_surface_finish(surface);
    else if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, write_bytes, &to);
    status = status == CAIRO_STATUS_SUCCESS ? cairo_surface_status(surface) : status;
    if (to.status == LEY_OK && status != CAIRO_STATUS_SUCCESS) {
        to.status = status == CAIRO_STATUS_NO_MEMORY ? LEY_ERROR_MEMORY : LEY_ERROR_FILE;
        snprintf(error.message, sizeof error.message, "%s: %s", path, cairo_status_to_string(status));
    }
    cairo_surface_destroy(surface);
    return file_end(to.file, to.status, &error);
}

int canvas_write(const char *path, int width, int height, void (*draw)(cairo_t *cairo, const void *context),
                 const void *context)
{
    return write_as(path, width, height, CAIRO_FORMAT_RGB24, draw, context);
}

int canvas_write_png(const char *path, int width, int height, bool is_clear,
                     void (*draw)(cairo_t *cairo, const void *context), const void *context)
{
    return write_as(path, width, height, is_clear ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, draw, context);
}
