/* A picture of a plane of numbers: colours, axes in Angstrom, a colour bar. */
#ifndef LEYDEN_PICTURE_H
#define LEYDEN_PICTURE_H

#include "field.h"

#include <stdbool.h>
#include <stddef.h>

/* A circle on the plane: where, along columns and rows, and how large. */
typedef struct plane_circle {
    double place_A[2], radius_A;
} plane_circle;

typedef struct plane_picture {
    plane_field plane;                /* row 0 is drawn lowest */
    double origin_A[2], spacing_A[2]; /* of the first point; along columns, along rows */
    const char *axis[2];              /* "x", "y" */
    const char *normal;               /* "z" */
    double at_A;                      /* where the plane cuts that axis */
    int64_t index;                    /* which plane of the map it is */
    const char *title;
    const char *medium;   /* "dielectric 78.54"; empty when unknown */
    const char *quantity; /* "potential": what the values are */
    const char *units;    /* of the values; empty when unknown */
    double low, high;     /* range of the colour bar, low < high */
    bool contours;        /* lines at the colour bar's ticks, with values */
    const plane_circle *circles;
    size_t circle_count;
    int width;     /* pixels, about */
    double dpi;    /* pixels to an inch */
    bool is_clear; /* no background */
} plane_picture;

/* Draws it into a file: PNG, which has so many pixels across and upwards, or SVG or PDF for a name
 * that ends so. Prints errors; exit code. */
int picture_write(const plane_picture *picture, const char *path, int pixels[2]);

/* Values at multiples of 1, 2 or 5 times a power of ten in [low, high]: at most `most` of them. */
typedef struct tick_marks {
    double step;
    int64_t first, count; /* the values are (first + i) * step */
} tick_marks;

tick_marks ticks_choose(double low, double high, int most);

#endif
