#include "surface_view.h"
#include "console.h"

#include <math.h>
#include <stdlib.h>

const double view_light_direction[3] = {0.5, -0.7, 1};
const double view_light_amount = 0.5, view_ambient = 0.64, view_gloss = 0.1, view_gloss_exponent = 40;

/* What is left of the light where a vertex sees nothing of the sky, and where it does not face the
 * viewer. */
static const double least_open = 0.4, least_facing = 0.5;

static void middle_of(const ley_surface *surface, double middle_A[3])
{
    const double *vertex_A = ley_surface_vertices_A(surface);
    double low[3], high[3];
    for (int x = 0; x < 3; x++)
        low[x] = high[x] = vertex_A[x];
    for (int64_t i = 0; i < 3 * ley_surface_vertex_count(surface); i++) {
        low[i % 3] = fmin(low[i % 3], vertex_A[i]);
        high[i % 3] = fmax(high[i % 3], vertex_A[i]);
    }
    for (int x = 0; x < 3; x++)
        middle_A[x] = (low[x] + high[x]) / 2;
}

/* Turned to the right about the vertical, and away from the viewer. */
static void turn(const double from[3], double cosine, double sine, float to[3])
{
    to[0] = (float)(cosine * from[0] + sine * from[2]);
    to[1] = (float)from[1];
    to[2] = (float)(sine * from[0] - cosine * from[2]);
}

static void colour_vertex(const surface_picture *picture, int64_t i, double openness, double facing, float colour[3])
{
    const double value = (double)ley_surface_read_values(picture->surface)[i];
    const uint32_t rgb = picture->colours != NULL ? ley_colours_at(picture->colours, value) : 0xf2f2f2;
    const double light =
        (least_open + (1 - least_open) * openness) * (least_facing + (1 - least_facing) * fmax(facing, 0));
    for (int x = 0; x < 3; x++)
        colour[x] = (float)(light * (rgb >> (16 - 8 * x) & 255) / 255.0);
}

static void set_vertices(const surface_picture *picture, double angle, const float *openness, surface_view *view)
{
    const double *vertex_A = ley_surface_vertices_A(picture->surface);
    const float *normal = ley_surface_normals(picture->surface);
    const double radians = angle * 3.14159265358979323846 / 180, cosine = cos(radians), sine = sin(radians);
    double middle_A[3];
    middle_of(picture->surface, middle_A);
    for (int64_t i = 0; i < ley_surface_vertex_count(picture->surface); i++) {
        view_vertex *v = &view->vertices[i];
        double place[3], towards[3];
        for (int x = 0; x < 3; x++) {
            place[x] = vertex_A[3 * i + x] - middle_A[x];
            towards[x] = (double)normal[3 * i + x];
        }
        turn(place, cosine, sine, v->place);
        turn(towards, cosine, sine, v->normal);
        colour_vertex(picture, i, (double)openness[i], -(double)v->normal[2], v->colour);
        for (int x = 0; x < 2; x++)
            view->half_A[x] = fmax(view->half_A[x], fabs((double)v->place[x]));
        view->depth_A = fmax(view->depth_A, fabs((double)v->place[2]));
    }
}

surface_view surface_view_make(const surface_picture *picture, double angle, const float *openness)
{
    const size_t n = (size_t)ley_surface_vertex_count(picture->surface);
    surface_view view = {.surface = picture->surface, .vertices = allocate(n, sizeof *view.vertices)};
    set_vertices(picture, angle, openness, &view);
    return view;
}

void surface_view_end(surface_view *view)
{
    free(view->vertices);
    view->vertices = NULL;
}
