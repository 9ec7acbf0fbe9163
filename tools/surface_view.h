/* A surface as it is seen: turned, coloured, shaded; its light and its camera. */
#ifndef LEYDEN_SURFACE_VIEW_H
#define LEYDEN_SURFACE_VIEW_H

#include "leyden.h"

typedef struct surface_picture {
    const ley_surface *surface;
    const ley_colours *colours; /* of its values, with a colour bar; NULL: white */
    const double *angle;        /* degrees by which the surface is turned about the vertical: a view of each */
    size_t angle_count;
    const char *title; /* or NULL */
    const char *label; /* below the colour bar */
    int width;         /* pixels */
    double dpi;        /* pixels to an inch, as the file has it */
    bool is_clear;     /* the background is transparent, not white */
} surface_picture;

/* Places are the ray tracer's: x to the right, y upwards, z away from the viewer; the surface is
 * around the origin. */
typedef struct view_vertex {
    float place[3], normal[3], colour[3];
} view_vertex;

typedef struct surface_view {
    const ley_surface *surface;
    view_vertex *vertices;
    double half_A[2], depth_A; /* the surface is within these of the origin, across, upwards and behind */
} surface_view;

/* A view of the picture, shaded by what each vertex sees of the sky; the caller ends it. */
surface_view surface_view_make(const surface_picture *picture, double angle, const float *openness);
void surface_view_end(surface_view *view);

/* The light comes from the upper left, and casts shadows; how much it is, beside what comes from
 * all of the sky and from the viewer, which is in the vertices' colours; and what the surface
 * reflects. */
extern const double view_light_direction[3];
extern const double view_light_amount, view_ambient, view_gloss, view_gloss_exponent;

#endif
