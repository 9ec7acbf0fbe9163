/* Area and volume: sums over pieces of the triangles, then over pieces, in their order whatever the
 * number of threads. */
#include "surface/measure.h"

#include "cancel.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE_TRIANGLES = 1 << 14 };

typedef struct piece {
    double area_A2, volume_A3;
} piece;

typedef struct work {
    const ley_surface *surface;
    int64_t first, count; /* triangles */
    piece *pieces;
    const volatile bool *cancel;
} work;

typedef struct vector {
    double x, y, z;
} vector;

static vector vertex(const ley_surface *s, int32_t i)
{
    return (vector){s->vertex_A[3 * i], s->vertex_A[3 * i + 1], s->vertex_A[3 * i + 2]};
}

static vector normal(const ley_surface *s, int32_t i)
{
    return (vector){(double)s->normal[3 * i], (double)s->normal[3 * i + 1], (double)s->normal[3 * i + 2]};
}

static vector less(vector a, vector b)
{
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static vector sum(vector a, vector b)
{
    return (vector){a.x + b.x, a.y + b.y, a.z + b.z};
}

static vector cross(vector a, vector b)
{
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double dot(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vector times(double by, vector a)
{
    return (vector){by * a.x, by * a.y, by * a.z};
}

/* From the middle of a side to the smooth surface. Along the side that bends by the difference of
 * the normals at its ends, an arc that is highest in the middle. */
static vector bulge(vector p, vector p_normal, vector q, vector q_normal)
{
    const vector between = sum(p_normal, q_normal);
    const double length = sqrt(dot(between, between));
    return length > 0 ? times(dot(less(q_normal, p_normal), less(q, p)) / (8 * length), between) : (vector){0, 0, 0};
}

/* The area of the patch of second order through three corners and the bulges of the sides from
 * corner i to the next one, which neighbouring patches share. */
static double patch_area(const vector p[3], const vector b[3])
{
    double area = 0;
    for (int point = 0; point < 3; point++) {
        double l[3] = {1.0 / 6, 1.0 / 6, 1.0 / 6};
        l[point] = 2.0 / 3;
        const vector u = sum(sum(times(l[0] - l[1], b[0]), times(l[2], b[1])), times(-l[2], b[2]));
        const vector v = sum(sum(times(-l[1], b[0]), times(l[1], b[1])), times(l[0] - l[2], b[2]));
        const vector n = cross(sum(less(p[1], p[0]), times(4, u)), sum(less(p[2], p[0]), times(4, v)));
        area += sqrt(dot(n, n)) / 6;
    }
    return area;
}

/* The volume between the triangle and the smooth surface is the integral of what the sides bulge,
 * interpolated. Places are from `middle`. */
static void add_triangle(const ley_surface *s, const int32_t corner[3], vector middle, piece *to)
{
    vector p[3], n[3], b[3];
    double bend_A = 0;
    for (int i = 0; i < 3; i++) {
        p[i] = less(vertex(s, corner[i]), middle);
        n[i] = normal(s, corner[i]);
    }
    for (int i = 0; i < 3; i++) {
        const int next = (i + 1) % 3;
        b[i] = bulge(p[i], n[i], p[next], n[next]);
        bend_A += dot(less(n[next], n[i]), less(p[next], p[i]));
    }
    const vector twice = cross(less(p[1], p[0]), less(p[2], p[0]));
    to->area_A2 += patch_area(p, b);
    to->volume_A3 += dot(p[0], cross(p[1], p[2])) / 6 + sqrt(dot(twice, twice)) * bend_A / 48;
}

static void measure_pieces(void *context, size_t first, size_t last)
{
    const work *w = context;
    const ley_surface *s = w->surface;
    const vector middle = vertex(s, s->triangle[3 * w->first]);
    for (size_t i = first; i < last && !cancel_flag_is_set(w->cancel); i++) {
        const int64_t begin = w->first + (int64_t)i * PIECE_TRIANGLES, end = begin + PIECE_TRIANGLES;
        w->pieces[i] = (piece){0, 0};
        for (int64_t t = begin; t < end && t < w->first + w->count; t++)
            add_triangle(s, s->triangle + 3 * t, middle, &w->pieces[i]);
    }
}

ley_status surface_measure(const ley_surface *surface, int64_t first, int64_t count, double *area_A2, double *volume_A3,
                           const volatile bool *cancel, ley_error *error)
{
    const size_t pieces = (size_t)(count / PIECE_TRIANGLES + 1);
    work w = {surface, first, count, malloc(pieces * sizeof(piece)), cancel};
    if (w.pieces == NULL)
        return ley_fail_memory(error, pieces * sizeof(piece), "the area of the surface");
    parallel_ranges(pieces, measure_pieces, &w);
    const bool is_cancelled = cancel_flag_is_set(cancel);
    *area_A2 = *volume_A3 = 0;
    for (size_t i = 0; i < pieces && !is_cancelled; i++) {
        *area_A2 += w.pieces[i].area_A2;
        *volume_A3 += w.pieces[i].volume_A3;
    }
    free(w.pieces);
    return is_cancelled ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}
