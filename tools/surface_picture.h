/* Pictures of surfaces by the ray tracer Tachyon, and scenes for it. */
#ifndef LEYDEN_SURFACE_PICTURE_H
#define LEYDEN_SURFACE_PICTURE_H

#include "surface_view.h"

/* Draws it into a PNG, which is so many pixels high. Prints errors; exit code. */
int surface_picture_write(const surface_picture *picture, const char *path, int *height);

/* Writes the first view as a scene that the program tachyon draws. Prints errors; exit code. */
int surface_scene_write(const surface_picture *picture, const char *path);

#endif
