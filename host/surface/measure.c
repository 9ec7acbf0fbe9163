/* Area, volume, and whether a surface is closed. */
#include "surface/surface.h"

#include <math.h>
#include <stdlib.h>

/* ---- Closed? --------------------------------------------------------------------------------- */

/* A side from one vertex to another, and what of the same two others have been met: sides in one
 * direction less those in the other one must be 0 for each two vertices. */
typedef struct side {
    int32_t low, high, balance, next; /* next: another side of the same `low`; -1: none */
} side;

static bool are_sides_paired(const ley_surface *s)
{
    const size_t most = (size_t)(3 * s->triangles);
    int32_t *first = malloc((size_t)(s->vertices + 1) * sizeof *first);
    side *sides = malloc((most + 1) * sizeof *sides);
    bool is_paired = first != NULL && sides != NULL && most < INT32_MAX;
    int32_t count = 0;
    int64_t open = 0;
    for (int64_t i = 0; is_paired && i < s->vertices; i++)
        first[i] = -1;
    for (int64_t i = 0; is_paired && i < 3 * s->triangles; i++) {
        const int32_t a = s->triangle[i], b = s->triangle[i % 3 == 2 ? i - 2 : i + 1];
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        int32_t at = first[low];
        while (at >= 0 && sides[at].high != high)
            at = sides[at].next;
        if (at < 0) {
            sides[count] = (side){low, high, 0, first[low]};
            first[low] = at = count++;
        }
        open -= sides[at].balance != 0;
        sides[at].balance += a < b ? 1 : -1;
        open += sides[at].balance != 0;
    }
    free(first);
    free(sides);
    return is_paired && open == 0;
}

/* ---- Area and volume ------------------------------------------------------------------------- */

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
static void add_triangle(const int32_t corner[3], vector middle, ley_surface *s)
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
    s->area_A2 += patch_area(p, b);
    s->volume_A3 += dot(p[0], cross(p[1], p[2])) / 6 + sqrt(dot(twice, twice)) * bend_A / 48;
}

void surface_measure(ley_surface *surface)
{
    surface->area_A2 = surface->volume_A3 = 0;
    if (surface->triangles == 0)
        return;
    const vector middle = vertex(surface, surface->triangle[0]);
    for (int64_t i = 0; i < surface->triangles; i++)
        add_triangle(surface->triangle + 3 * i, middle, surface);
    surface->is_closed = are_sides_paired(surface);
}
