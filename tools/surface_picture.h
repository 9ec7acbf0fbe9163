/* Pictures of surfaces by the ray tracer Tachyon, and scenes for it. */
#ifndef LEYDEN_SURFACE_PICTURE_H
#define LEYDEN_SURFACE_PICTURE_H

#include "leyden.h"

typedef struct surface_picture {
    const ley_surface *surface;
    const ley_colours *colours; /* of its values, with a colour bar; NULL: white */
    const double *angle;        /* degrees by which the surface is turned about the vertical: a view of each */
    size_t angle_count;
    const char *title; /* or NULL */
    const char *label; /* below the colour bar */
    int width;         /* pixels */
    bool is_clear;     /* the background is transparent, not white */
} surface_picture;

/* Draws it into a PNG. Prints errors; exit code. */
int surface_picture_write(const surface_picture *picture, const char *path);

/* Writes the first view as a scene that the program tachyon draws. Prints errors; exit code. */
int surface_scene_write(const surface_picture *picture, const char *path);

#endif
