/* What pictures share: texts, sharp lines, and the file that a drawing becomes. */
#ifndef LEYDEN_CANVAS_H
#define LEYDEN_CANVAS_H

#include "options.h"

#include <cairo.h>

/* Something to draw on. Texts have none of the hints that would make their widths depend on the
 * display. */
cairo_t *canvas_begin(cairo_surface_t *surface);

void canvas_font(cairo_t *cairo, double pixels, bool bold);
double canvas_width(cairo_t *cairo, const char *words);
double canvas_cap_height(cairo_t *cairo); /* of a capital letter: what texts are centred by */
bool canvas_font_has(cairo_t *cairo, const char *character);

/* Words that can be drawn are UTF-8. Of --title others are refused: an exit code. Of names of files
 * and of what else is any bytes, a last character that was cut is left out, or what is not ASCII
 * becomes '?'. */
int canvas_check_title(const subcommand *command, const char *title);
void canvas_make_readable(char *words);

/* Draws words with their anchor at (x, y): `across` 0 left, 0.5 middle, 1 right; `y` is the base
 * line. The second one writes upwards, centred at y, with its base line at x; the third one turned
 * by an angle, clockwise. Text of an SVG file stays text, in front of all else. */
void canvas_words(cairo_t *cairo, double x, double y, double across, const char *words);
void canvas_words_up(cairo_t *cairo, double x, double y, const char *words);
void canvas_words_turned(cairo_t *cairo, double x, double y, double across, double angle, const char *words);

/* A line's place on whole pixels, so that thin lines are sharp. */
double canvas_on_pixel(double position);

enum { CANVAS_DPI = 96 }; /* as on the web */

/* Makes a file of what `draw` draws: PNG, or SVG or PDF for a name that ends so. Each says how
 * large the picture is, by its pixels to an inch. `is_clear`: a PNG is transparent where nothing is
 * drawn, as the others always are. Prints errors; exit code. */
int canvas_write(const char *path, int width, int height, double dpi, bool is_clear,
                 void (*draw)(cairo_t *cairo, const void *context), const void *context);

#endif
