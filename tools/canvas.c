#include "canvas.h"
#include "console.h"
#include "file.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Where a context for SVG has the elements of its texts: cairo would make outlines of them. */
static const cairo_user_data_key_t texts_key;

static void put_escaped(FILE *to, const char *words)
{
    for (; *words != '\0'; words++)
        if (*words == '<' || *words == '>' || *words == '&')
            fputs(*words == '<' ? "&lt;" : *words == '>' ? "&gt;" : "&amp;", to);
        else
            fputc((unsigned char)*words < ' ' ? ' ' : *words, to);
}

static void put_text(FILE *to, cairo_t *cairo, double x, double y, double across, double angle, const char *words)
{
    cairo_matrix_t matrix;
    double red = 0, green = 0, blue = 0, opacity;
    cairo_get_font_matrix(cairo, &matrix);
    cairo_pattern_get_rgba(cairo_get_source(cairo), &red, &green, &blue, &opacity);
    const bool is_bold = cairo_toy_font_face_get_weight(cairo_get_font_face(cairo)) == CAIRO_FONT_WEIGHT_BOLD;
    fprintf(to, "<text transform=\"translate(%.2f %.2f)", x, y);
    if (angle != 0)
        fprintf(to, " rotate(%.2f)", angle / pi * 180);
    fprintf(to, "\" font-size=\"%.2f\"%s text-anchor=\"%s\" fill=\"#%02lx%02lx%02lx\">", matrix.xx,
            is_bold ? " font-weight=\"bold\"" : "",
            across < 0.25   ? "start"
            : across < 0.75 ? "middle"
                            : "end",
            lround(255 * red), lround(255 * green), lround(255 * blue));
    put_escaped(to, words);
    fputs("</text>\n", to);
}

void canvas_words_turned(cairo_t *cairo, double x, double y, double across, double angle, const char *words)
{
    FILE *texts = cairo_get_user_data(cairo, &texts_key);
    if (texts != NULL) {
        put_text(texts, cairo, x, y, across, angle, words);
        return;
    }
    cairo_save(cairo);
    cairo_move_to(cairo, x, y);
    cairo_rotate(cairo, angle);
    cairo_rel_move_to(cairo, -across * canvas_width(cairo, words), 0);
    cairo_show_text(cairo, words);
    cairo_restore(cairo);
}

void canvas_words(cairo_t *cairo, double x, double y, double across, const char *words)
{
    canvas_words_turned(cairo, x, y, across, 0, words);
}

void canvas_words_up(cairo_t *cairo, double x, double y, const char *words)
{
    canvas_words_turned(cairo, x, y, 0.5, -0.5 * pi, words);
}

/* How many glyphs, and the first one; -1: the words are no text. */
static int glyphs_of(cairo_t *cairo, const char *words, unsigned long *first)
{
    cairo_glyph_t *glyphs = NULL;
    int count = 0;
    const cairo_status_t status = cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(cairo), 0, 0, words, -1,
                                                                   &glyphs, &count, NULL, NULL, NULL);
    *first = count > 0 ? glyphs[0].index : 0;
    cairo_glyph_free(glyphs);
    return status == CAIRO_STATUS_SUCCESS ? count : -1;
}

bool canvas_font_has(cairo_t *cairo, const char *character)
{
    unsigned long glyph;
    return glyphs_of(cairo, character, &glyph) == 1 && glyph != 0;
}

static bool can_be_drawn(const char *words)
{
    unsigned long glyph;
    cairo_surface_t *scratch = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t *cairo = canvas_begin(scratch);
    canvas_font(cairo, 10, false);
    const bool can = glyphs_of(cairo, words, &glyph) >= 0;
    cairo_destroy(cairo);
    cairo_surface_destroy(scratch);
    return can;
}

int canvas_check_title(const subcommand *command, const char *title)
{
    return title == NULL || can_be_drawn(title)
               ? 0
               : fail_usage(command,
                            "--title is not UTF-8; to convert it from Latin-1, type: --title \"$(echo 'TITLE' | "
                            "iconv -f latin1 -t utf-8)\"");
}

void canvas_make_readable(char *words)
{
    if (can_be_drawn(words))
        return;
    char *last = words + strlen(words) - 1; /* the first byte of a character, whose others are 10xxxxxx */
    while (last > words && (unsigned char)*last >> 6 == 2)
        last--;
    const char cut = *last;
    *last = '\0';
    if ((unsigned char)cut >> 6 == 3 && can_be_drawn(words))
        return;
    *last = cut;
    for (char *at = words; *at != '\0'; at++)
        *at = (unsigned char)*at < 128 ? *at : '?';
}

double canvas_on_pixel(double position)
{
    return floor(position) + 0.5;
}

/* ---- The file -------------------------------------------------------------------------------- */

enum { PNG_HEAD = 33, PNG_SIZE = 21 }; /* bytes of signature and IHDR; of a chunk pHYs */

typedef struct target {
    ley_file *file;
    ley_status status;
    ley_error *error;
    double dpi;
    bool is_png;
    unsigned int written; /* of PNG_HEAD */
    FILE *svg;            /* cairo's part of it; NULL: it is none */
} target;

static void put(target *to, const void *data, size_t length)
{
    if (to->status == LEY_OK)
        to->status = ley_file_write(to->file, data, length, to->error);
}

static void put_bits(unsigned char *at, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(bits >> (24 - 8 * i));
}

/* The CRC that ends a chunk. */
static uint32_t png_check(const unsigned char *bytes, size_t count)
{
    uint32_t check = 0xffffffff;
    for (size_t i = 0; i < count; i++) {
        check ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            check = check >> 1 ^ (check & 1 ? 0xedb88320 : 0);
    }
    return ~check;
}

/* How large the picture is, which cairo does not write: pixels to a metre. */
static void put_png_size(target *to)
{
    unsigned char chunk[PNG_SIZE] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    const uint32_t per_metre = (uint32_t)lround(to->dpi / 0.0254);
    put_bits(chunk + 8, per_metre);
    put_bits(chunk + 12, per_metre);
    chunk[16] = 1;
    put_bits(chunk + 17, png_check(chunk + 4, 13));
    put(to, chunk, sizeof chunk);
}

static cairo_status_t write_bytes(void *context, const unsigned char *data, unsigned int length)
{
    target *to = context;
    if (to->svg != NULL)
        return fwrite(data, 1, length, to->svg) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
    if (to->is_png && to->written < PNG_HEAD) {
        const unsigned int left = PNG_HEAD - to->written, part = length < left ? length : left;
        put(to, data, part);
        data += part;
        length -= part;
        to->written += part;
        if (to->written == PNG_HEAD)
            put_png_size(to);
    }
    put(to, data, length);
    return to->status == LEY_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Ends the surface, whose last bytes may only come then. */
static cairo_status_t draw_on(cairo_surface_t *surface, FILE *texts, void (*draw)(cairo_t *cairo, const void *context),
                              const void *context)
{
    cairo_t *cairo = canvas_begin(surface);
    cairo_set_user_data(cairo, &texts_key, texts, NULL);
    draw(cairo, context);
    const cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    return status;
}

static double points_of_pixel(const target *to)
{
    return 72 / to->dpi;
}

/* A page in points, drawn upon in pixels, and without the time at which it was made: the same
 * picture is the same bytes. */
static cairo_surface_t *make_page(target *to, int width, int height)
{
    const double each = points_of_pixel(to);
    cairo_surface_t *page = to->svg != NULL
                                ? cairo_svg_surface_create_for_stream(write_bytes, to, each * width, each * height)
                                : cairo_pdf_surface_create_for_stream(write_bytes, to, each * width, each * height);
    if (to->svg == NULL)
        cairo_pdf_surface_set_metadata(page, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_surface_set_device_scale(page, each, each);
    return page;
}

/* Draws a page to its end. */
static cairo_status_t draw_page(target *to, int width, int height, FILE *texts,
                                void (*draw)(cairo_t *cairo, const void *context), const void *context)
{
    cairo_surface_t *page = make_page(to, width, height);
    cairo_status_t status = draw_on(page, texts, draw, context);
    cairo_surface_finish(page);
    status = status == CAIRO_STATUS_SUCCESS ? cairo_surface_status(page) : status;
    cairo_surface_destroy(page);
    return status;
}

static cairo_status_t draw_png(target *to, int width, int height, bool is_clear,
                               void (*draw)(cairo_t *cairo, const void *context), const void *context)
{
    cairo_surface_t *pixels =
        cairo_image_surface_create(is_clear ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, width, height);
    cairo_status_t status = draw_on(pixels, NULL, draw, context);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(pixels, write_bytes, to);
    cairo_surface_destroy(pixels);
    return status;
}

/* What cairo has written, with the texts in front of its end. */
static void join_svg(target *to, const char *svg, size_t size, const char *texts, size_t texts_size)
{
    static const char end[] = "</svg>\n";
    const size_t body = size >= strlen(end) ? size - strlen(end) : 0;
    char group[128];
    const int length = snprintf(group, sizeof group, "<g font-family=\"sans-serif\" transform=\"scale(%.6f)\">\n",
                                points_of_pixel(to));
    put(to, svg, body);
    put(to, group, (size_t)length);
    put(to, texts, texts_size);
    put(to, "</g>\n", strlen("</g>\n"));
    put(to, end, strlen(end));
}

static cairo_status_t draw_svg(target *to, int width, int height, void (*draw)(cairo_t *cairo, const void *context),
                               const void *context)
{
    char *svg = NULL, *words = NULL;
    size_t size, words_size;
    to->svg = open_memstream(&svg, &size);
    FILE *texts = open_memstream(&words, &words_size);
    cairo_status_t status =
        to->svg != NULL && texts != NULL ? draw_page(to, width, height, texts, draw, context) : CAIRO_STATUS_NO_MEMORY;
    if ((to->svg != NULL && fclose(to->svg) != 0) || (texts != NULL && fclose(texts) != 0))
        status = CAIRO_STATUS_NO_MEMORY;
    if (status == CAIRO_STATUS_SUCCESS)
        join_svg(to, svg, size, words, words_size);
    free(svg);
    free(words);
    return status;
}

int canvas_write(const char *path, int width, int height, double dpi, bool is_clear,
                 void (*draw)(cairo_t *cairo, const void *context), const void *context)
{
    ley_error error = {0};
    const bool is_svg = ends_with(path, ".svg"), is_pdf = ends_with(path, ".pdf");
    target to = {.error = &error, .dpi = dpi, .is_png = !is_svg && !is_pdf};
    to.status = file_begin(path, &to.file, &error);
    if (to.status != LEY_OK)
        return file_end(to.file, to.status, &error);
    const cairo_status_t status = is_svg   ? draw_svg(&to, width, height, draw, context)
                                  : is_pdf ? draw_page(&to, width, height, NULL, draw, context)
                                           : draw_png(&to, width, height, is_clear, draw, context);
    if (to.status == LEY_OK && status != CAIRO_STATUS_SUCCESS) {
        to.status = status == CAIRO_STATUS_NO_MEMORY ? LEY_ERROR_MEMORY : LEY_ERROR_FILE;
        snprintf(error.message, sizeof error.message, "%s: %s", path, cairo_status_to_string(status));
    }
    return file_end(to.file, to.status, &error);
}
