/* How much of the sky each vertex sees: ambient occlusion without noise. From each of many
 * directions the surface is drawn into a buffer of depths, by its vertices, and a vertex is seen
 * where nothing is in front of it. */
#include "error.h"
#include "parallel.h"
#include "surface/triangles.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { DIRECTIONS = 64, MOST_PIXELS = 1024, UNIT = 1 << 12 };

typedef struct sky {
    const ley_surface *surface;
    double middle_A[3], reach_A; /* a ball around all vertices */
    double pixel_A;
    int pixels;            /* along each side of the buffer */
    uint32_t *seen, *full; /* of each vertex, in units: what it sees, and would see alone */
    pthread_mutex_t lock;
    bool is_out_of_memory;
} sky;

/* A direction, and two across it. */
typedef struct view {
    double along[3], right[3], up[3];
} view;

/* Directions that share the sphere evenly, on a spiral. */
static view view_at(size_t i)
{
    const double z = 1 - (2 * (double)i + 1) / DIRECTIONS, angle = (double)i * 2.39996322972865332;
    const double across = sqrt(1 - z * z);
    view v = {.along = {across * cos(angle), across * sin(angle), z}};
    v.right[0] = -sin(angle);
    v.right[1] = cos(angle);
    for (int x = 0; x < 3; x++)
        v.up[x] = v.along[(x + 1) % 3] * v.right[(x + 2) % 3] - v.along[(x + 2) % 3] * v.right[(x + 1) % 3];
    return v;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Where a vertex is in the buffer: the lower of the two pixels next to it, and how far beyond its
 * middle; its depth is the larger the nearer it is to the sky. */
typedef struct shot {
    size_t first;
    float within[2], depth;
} shot;

static shot shoot(const sky *s, const view *v, int64_t i)
{
    double apart[3];
    for (int x = 0; x < 3; x++)
        apart[x] = s->surface->vertex_A[3 * i + x] - s->middle_A[x];
    const double place[2] = {(dot(apart, v->right) + s->reach_A) / s->pixel_A,
                             (dot(apart, v->up) + s->reach_A) / s->pixel_A};
    const int column = (int)place[0], row = (int)place[1]; /* neither is negative: the ball is around all */
    return (shot){(size_t)row * (size_t)s->pixels + (size_t)column,
                  {(float)(place[0] - column), (float)(place[1] - row)},
                  (float)dot(apart, v->along)};
}

/* The four pixels around a place: in the next column, in the next row. */
static size_t beside(const sky *s, int k)
{
    return (size_t)(k & 1) + (size_t)(k >> 1) * (size_t)s->pixels;
}

static void draw_depths(const sky *s, const view *v, float *depth)
{
    const size_t count = (size_t)s->pixels * (size_t)s->pixels;
    for (size_t i = 0; i < count; i++)
        depth[i] = -INFINITY;
    for (int64_t i = 0; i < s->surface->vertices; i++) {
        const shot at = shoot(s, v, i);
        for (int k = 0; k < 4; k++) {
            float *to = depth + at.first + beside(s, k);
            *to = at.depth > *to ? at.depth : *to;
        }
    }
}

/* Of a slope a pixel has a range of depths. */
static const double steepest = 4;

static void look(const sky *s, const view *v, const float *depth, uint32_t *seen, uint32_t *full)
{
    for (int64_t i = 0; i < s->surface->vertices; i++) {
        const float *n = s->surface->normal + 3 * i;
        const double cosine = (double)n[0] * v->along[0] + (double)n[1] * v->along[1] + (double)n[2] * v->along[2];
        if (cosine <= 0)
            continue;
        const shot at = shoot(s, v, i);
        const double slope = fmin(sqrt(1 - fmin(cosine * cosine, 1)) / cosine, steepest);
        const float least = (float)(at.depth + s->pixel_A * (1 + 1.5 * slope));
        float share = 0;
        for (int k = 0; k < 4; k++) {
            const float across = (k & 1) != 0 ? at.within[0] : 1 - at.within[0];
            const float up = k >> 1 != 0 ? at.within[1] : 1 - at.within[1];
            share += depth[at.first + beside(s, k)] <= least ? across * up : 0;
        }
        seen[i] += (uint32_t)(UNIT * cosine * (double)share);
        full[i] += (uint32_t)(UNIT * cosine);
    }
}

static void look_from(void *context, size_t first, size_t last)
{
    sky *s = context;
    const size_t n = (size_t)s->surface->vertices;
    float *depth = malloc((size_t)s->pixels * (size_t)s->pixels * sizeof *depth);
    uint32_t *seen = calloc(2 * n, sizeof *seen);
    if (depth != NULL && seen != NULL)
        for (size_t i = first; i < last; i++) {
            const view v = view_at(i);
            draw_depths(s, &v, depth);
            look(s, &v, depth, seen, seen + n);
        }
    pthread_mutex_lock(&s->lock);
    s->is_out_of_memory |= depth == NULL || seen == NULL;
    for (size_t i = 0; !s->is_out_of_memory && i < n; i++) { /* whole numbers: in any order */
        s->seen[i] += seen[i];
        s->full[i] += seen[n + i];
    }
    pthread_mutex_unlock(&s->lock);
    free(depth);
    free(seen);
}

/* The ball, and pixels that are as large as triangles are, or as many as allowed. */
static void set_frame(sky *s)
{
    const ley_surface *surface = s->surface;
    double low[3], high[3], reach2 = 0;
    for (int x = 0; x < 3; x++)
        low[x] = high[x] = surface->vertex_A[x];
    for (int64_t i = 0; i < 3 * surface->vertices; i++) {
        low[i % 3] = fmin(low[i % 3], surface->vertex_A[i]);
        high[i % 3] = fmax(high[i % 3], surface->vertex_A[i]);
    }
    for (int x = 0; x < 3; x++) {
        s->middle_A[x] = (low[x] + high[x]) / 2;
        reach2 += (high[x] - low[x]) * (high[x] - low[x]) / 4;
    }
    s->pixel_A = fmax(sqrt(surface->area_A2 / (double)surface->vertices) * 1.5, 2 * sqrt(reach2) / (MOST_PIXELS - 4));
    s->reach_A = sqrt(reach2) + s->pixel_A;
    s->pixels = (int)(2 * s->reach_A / s->pixel_A) + 3;
}

ley_status ley_surface_openness(const ley_surface *surface, float *share, ley_error *error)
{
    const size_t n = (size_t)surface->vertices;
    sky s = {.surface = surface, .seen = calloc(2 * n, sizeof(uint32_t))};
    s.full = s.seen + n;
    if (s.seen == NULL)
        return ley_fail_memory(error, 2 * n * sizeof(uint32_t), "what vertices see of the sky");
    set_frame(&s);
    pthread_mutex_init(&s.lock, NULL);
    parallel_ranges(DIRECTIONS, look_from, &s);
    pthread_mutex_destroy(&s.lock);
    for (size_t i = 0; i < n; i++)
        share[i] = s.full[i] > 0 ? (float)s.seen[i] / (float)s.full[i] : 0;
    free(s.seen);
    return s.is_out_of_memory ? ley_fail_memory(error, 2 * n * sizeof(uint32_t), "what vertices see of the sky")
                              : LEY_OK;
}
