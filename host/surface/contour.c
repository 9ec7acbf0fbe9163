/* Marching cubes in two passes over the planes of a map, on all cores: one counts what each plane
 * adds, the other one writes it to where the plane's own begins, so that the bytes do not depend on
 * how many threads there are. Each line between two points that is crossed has one vertex, which
 * all cells around it share.
 *
 * Vertices of plane k come in this order: those on its lines along the first and the second axis,
 * by points, then those on lines to plane k + 1. */
#include "surface/contour.h"

#include "cancel.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "surface/cube_cases.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* No vertex is nearer to a point than this share of a step, so that no triangle is without area. */
static const double least_share = 1e-3;

typedef struct plane_count {
    int64_t in_plane, upward, triangles;
    int at_border; /* a bit for each side of the surface on which points at the map's border are */
} plane_count;

typedef struct work {
    const contour *of;
    ley_surface *surface;
    const float *values;
    int64_t n[3];
    const ley_grid *grid;
    double across[3][3];    /* the gradient of the number of steps along each axis */
    bool is_mirrored;       /* the grid's axes are left-handed */
    plane_count *planes;    /* what each adds; after the first pass, where that begins */
    const cube_case *cases; /* [CUBE_CASES] */
    atomic_bool is_out_of_memory;
} work;

/* ---- What is inside -------------------------------------------------------------------------- */

/* Which points of a plane are inside, and of each row whether all are (1), none is (0), or some
 * (2). */
typedef struct plane_sides {
    uint8_t *point, *row;
} plane_sides;

static void find_sides(const work *w, int64_t k, plane_sides *sides)
{
    const float level = w->of->level, *value = w->values + k * w->n[0] * w->n[1];
    uint8_t *point = sides->point;
    for (int64_t j = 0; j < w->n[1]; j++, value += w->n[0], point += w->n[0]) {
        int64_t inside = 0;
        if (w->of->is_below)
            for (int64_t i = 0; i < w->n[0]; i++)
                inside += point[i] = value[i] <= level;
        else
            for (int64_t i = 0; i < w->n[0]; i++)
                inside += point[i] = value[i] >= level;
        sides->row[j] = inside == 0 ? 0 : inside == w->n[0] ? 1 : 2;
    }
}

/* Whether nothing is crossed between these rows. */
static bool are_one(uint8_t a, uint8_t b)
{
    return a == b && a != 2;
}

static int case_of(const uint8_t *const row[4], int64_t i)
{
    int inside = 0;
    for (int r = 0; r < 4; r++)
        inside |= (row[r][i] | row[r][i + 1] << 1) << 2 * r;
    return inside;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static int64_t count_in_plane(const work *w, const plane_sides *sides)
{
    int64_t count = 0;
    for (int64_t j = 0; j < w->n[1]; j++) {
        const uint8_t *row = sides->point + j * w->n[0];
        for (int64_t i = 0; sides->row[j] == 2 && i + 1 < w->n[0]; i++)
            count += row[i] ^ row[i + 1];
        for (int64_t i = 0; j + 1 < w->n[1] && !are_one(sides->row[j], sides->row[j + 1]) && i < w->n[0]; i++)
            count += row[i] ^ row[i + w->n[0]];
    }
    return count;
}

static int64_t count_upward(const work *w, const plane_sides *a, const plane_sides *b)
{
    int64_t count = 0;
    for (int64_t j = 0; j < w->n[1]; j++)
        for (int64_t i = 0; !are_one(a->row[j], b->row[j]) && i < w->n[0]; i++)
            count += a->point[j * w->n[0] + i] ^ b->point[j * w->n[0] + i];
    return count;
}

static bool are_cells_empty(const plane_sides *a, const plane_sides *b, int64_t j)
{
    return are_one(a->row[j], a->row[j + 1]) && are_one(b->row[j], b->row[j + 1]) && are_one(a->row[j], b->row[j]);
}

static int64_t count_triangles(const work *w, const plane_sides *a, const plane_sides *b)
{
    int64_t count = 0;
    for (int64_t j = 0; j + 1 < w->n[1]; j++) {
        const uint8_t *const row[4] = {a->point + j * w->n[0], a->point + (j + 1) * w->n[0], b->point + j * w->n[0],
                                       b->point + (j + 1) * w->n[0]};
        for (int64_t i = 0; !are_cells_empty(a, b, j) && i + 1 < w->n[0]; i++)
            count += w->cases[case_of(row, i)].count;
    }
    return count;
}

/* What a thread has of two planes; the numbers of vertices on lines that are crossed, from each
 * point along the three axes. */
typedef struct pair_of_planes {
    plane_sides a, b;
    int32_t *in_a, *in_b, *upward; /* [points][2], [points] */
    void *room;
} pair_of_planes;

static double bytes_of_pair(const int64_t n[3], bool with_numbers)
{
    return (double)(n[0] * n[1]) * (with_numbers ? 2 + 5 * sizeof(int32_t) : 2) + 2 * (double)n[1];
}

static bool pair_begin(work *w, bool with_numbers, pair_of_planes *p)
{
    const size_t points = (size_t)(w->n[0] * w->n[1]);
    char *room = malloc((size_t)bytes_of_pair(w->n, with_numbers));
    *p = (pair_of_planes){.room = room};
    if (room == NULL) {
        atomic_store(&w->is_out_of_memory, true);
        return false;
    }
    if (with_numbers) {
        p->in_a = (int32_t *)(void *)room;
        p->in_b = p->in_a + 2 * points;
        p->upward = p->in_b + 2 * points;
        room = (char *)(p->upward + points);
    }
    p->a = (plane_sides){(uint8_t *)room, (uint8_t *)room + 2 * points};
    p->b = (plane_sides){p->a.point + points, p->a.row + w->n[1]};
    return true;
}

static void pair_advance(pair_of_planes *p)
{
    const plane_sides sides = p->a;
    p->a = p->b;
    p->b = sides;
    int32_t *const numbers = p->in_a;
    p->in_a = p->in_b;
    p->in_b = numbers;
}

/* The sides of the surface on which points of plane k are that are at the border of the map. */
static int sides_at_border(const work *w, int64_t k, const plane_sides *sides)
{
    const bool is_end = k == 0 || k + 1 == w->n[2];
    int at_border = 0;
    for (int64_t j = 0; j < w->n[1]; j++) {
        const uint8_t *row = sides->point + j * w->n[0];
        if (is_end || j == 0 || j + 1 == w->n[1])
            at_border |= sides->row[j] == 2 ? 3 : 1 << sides->row[j];
        at_border |= 1 << row[0] | 1 << row[w->n[0] - 1];
    }
    return at_border;
}

static void count_planes(void *context, size_t first, size_t last)
{
    work *w = context;
    pair_of_planes p;
    if (!pair_begin(w, false, &p))
        return;
    find_sides(w, (int64_t)first, &p.a);
    for (size_t k = first; k < last && !cancel_flag_is_set(w->of->cancel); k++) {
        plane_count *count = &w->planes[k];
        *count = (plane_count){.in_plane = count_in_plane(w, &p.a), .at_border = sides_at_border(w, (int64_t)k, &p.a)};
        if ((int64_t)k + 1 < w->n[2]) {
            find_sides(w, (int64_t)k + 1, &p.b);
            count->upward = count_upward(w, &p.a, &p.b);
            count->triangles = count_triangles(w, &p.a, &p.b);
        }
        pair_advance(&p);
    }
    free(p.room);
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* What is interpolated: 0 on the surface, above 0 inside. Not-a-number: there is no such value. */
static double height(const work *w, double value)
{
    const contour *of = w->of;
    if (of->logarithms > 0)
        return value < of->logarithms ? NAN : log(value / of->level);
    return of->is_below ? of->level - value : value - of->level;
}

/* Heights around a line from a point to the next one along an axis. */
typedef struct line {
    double at[2];   /* at its ends; never not-a-numbers */
    double bend[2]; /* the second difference at either end */
} line;

/* The height at point `number`, `steps` along axis m from it; not-a-number: beyond the map. */
static double height_at(const work *w, int64_t number, const int64_t index[3], int m, int steps)
{
    const int64_t stride = m == 0 ? 1 : m == 1 ? w->n[0] : w->n[0] * w->n[1], to = index[m] + steps;
    return to < 0 || to >= w->n[m] ? NAN : height(w, (double)w->values[number + steps * stride]);
}

static line line_at(const work *w, int64_t number, const int64_t index[3], int m)
{
    line l;
    for (int end = 0; end < 2; end++) {
        l.at[end] = height_at(w, number, index, m, end);
        if (isnan(l.at[end]))
            l.at[end] = log(w->of->logarithms / w->of->level);
    }
    const double before = height_at(w, number, index, m, -1), behind = height_at(w, number, index, m, 2);
    l.bend[0] = before - 2 * l.at[0] + l.at[1];
    l.bend[1] = l.at[0] - 2 * l.at[1] + behind;
    if (isnan(l.bend[0]))
        l.bend[0] = isnan(l.bend[1]) ? 0 : l.bend[1];
    if (isnan(l.bend[1]))
        l.bend[1] = l.bend[0];
    return l;
}

/* The cubic through four points, or the parabola through three. */
static double line_height(const line *l, double t)
{
    return l->at[0] + t * (l->at[1] - l->at[0]) + t * (t - 1) / 2 * l->bend[0] +
           t * (t - 1) * (t + 1) / 6 * (l->bend[1] - l->bend[0]);
}

static double line_slope(const line *l, double t)
{
    return l->at[1] - l->at[0] + (2 * t - 1) / 2 * l->bend[0] + (3 * t * t - 1) / 6 * (l->bend[1] - l->bend[0]);
}

/* Where it is 0: between its ends, which are on either side (Illinois). */
static double line_root(const line *l)
{
    double low = 0, high = 1, at_low = l->at[0], at_high = l->at[1], t = at_low / (at_low - at_high);
    for (int i = 0, side = 0; i < 12 && high - low > 1e-9; i++) {
        t = (low * at_high - high * at_low) / (at_high - at_low);
        const double at = line_height(l, t);
        if (fabs(at) <= 1e-10 * (fabs(l->at[0]) + fabs(l->at[1])))
            break;
        if ((at < 0) == (at_low < 0)) {
            low = t;
            at_low = at;
            at_high /= side == 1 ? 2 : 1;
            side = 1;
        } else {
            high = t;
            at_high = at;
            at_low /= side == 2 ? 2 : 1;
            side = 2;
        }
    }
    return fmin(fmax(t, least_share), 1 - least_share);
}

/* The slope along axis m at a point, in heights per step. */
static double slope_at(const work *w, int64_t number, const int64_t index[3], int m)
{
    const double before = height_at(w, number, index, m, -1), here = height_at(w, number, index, m, 0),
                 behind = height_at(w, number, index, m, 1);
    if (!isnan(before) && !isnan(behind))
        return (behind - before) / 2;
    const double slope = isnan(before) ? behind - here : here - before;
    return isnan(slope) ? 0 : slope;
}

static void set_normal(const work *w, const double slope[3], const double otherwise[3], float normal[3])
{
    double outward[3] = {0, 0, 0};
    for (int m = 0; m < 3; m++)
        for (int x = 0; x < 3; x++)
            outward[x] -= slope[m] * w->across[m][x];
    double length = sqrt(outward[0] * outward[0] + outward[1] * outward[1] + outward[2] * outward[2]);
    const double *from = outward;
    if (!(length > 0)) {
        from = otherwise;
        length = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
    }
    for (int x = 0; x < 3; x++)
        normal[x] = (float)(from[x] / length);
}

/* The vertex on the line from a point along axis m. */
static void set_vertex(const work *w, int64_t vertex, const int64_t index[3], int m)
{
    const ley_grid *grid = w->grid;
    const int64_t number = (index[2] * w->n[1] + index[1]) * w->n[0] + index[0];
    const line l = line_at(w, number, index, m);
    const double t = line_root(&l);
    double *vertex_A = w->surface->vertex_A + 3 * vertex, slope[3], otherwise[3];
    ley_grid_point_A(grid, index, vertex_A);
    for (int x = 0; x < 3; x++) {
        vertex_A[x] += t * grid->step_A[m][x];
        otherwise[x] = l.at[0] < l.at[1] ? -grid->step_A[m][x] : grid->step_A[m][x];
    }
    int64_t next[3] = {index[0], index[1], index[2]};
    next[m]++;
    const int64_t next_number = (next[2] * w->n[1] + next[1]) * w->n[0] + next[0];
    for (int axis = 0; axis < 3; axis++)
        slope[axis] = axis == m ? line_slope(&l, t)
                                : (1 - t) * slope_at(w, number, index, axis) + t * slope_at(w, next_number, next, axis);
    set_normal(w, slope, otherwise, w->surface->normal + 3 * vertex);
}

/* Numbers the vertices in a plane, and makes them unless they are another thread's. */
static void number_in_plane(const work *w, int64_t k, const plane_sides *sides, int32_t *numbers, bool makes)
{
    int64_t vertex = w->planes[k].in_plane;
    for (int64_t j = 0; j < w->n[1]; j++) {
        const bool is_row = sides->row[j] == 2, is_next = j + 1 < w->n[1] && !are_one(sides->row[j], sides->row[j + 1]);
        if (!is_row && !is_next)
            continue;
        const uint8_t *row = sides->point + j * w->n[0];
        for (int64_t i = 0; i < w->n[0]; i++)
            for (int m = 0; m < 2; m++) {
                const bool is_line = m == 0 ? i + 1 < w->n[0] : is_next;
                if (!is_line || row[i] == row[i + (m == 0 ? 1 : w->n[0])])
                    continue;
                if (makes)
                    set_vertex(w, vertex, (const int64_t[3]){i, j, k}, m);
                numbers[2 * (j * w->n[0] + i) + m] = (int32_t)vertex++;
            }
    }
}

static void number_upward(const work *w, int64_t k, const pair_of_planes *p)
{
    int64_t vertex = w->planes[k].upward;
    for (int64_t j = 0; j < w->n[1]; j++)
        for (int64_t i = 0; !are_one(p->a.row[j], p->b.row[j]) && i < w->n[0]; i++) {
            const int64_t point = j * w->n[0] + i;
            if (p->a.point[point] == p->b.point[point])
                continue;
            set_vertex(w, vertex, (const int64_t[3]){i, j, k}, 2);
            p->upward[point] = (int32_t)vertex++;
        }
}

/* ---- Triangles ------------------------------------------------------------------------------- */

static int32_t vertex_of(const work *w, const pair_of_planes *p, int64_t point, int edge)
{
    const int axis = edge / 4, begin = cube_edge_begin(edge);
    point += (begin & 1) + (begin >> 1 & 1) * w->n[0];
    return axis == 2 ? p->upward[point] : (begin >> 2 ? p->in_b : p->in_a)[2 * point + axis];
}

static void make_triangles(const work *w, int64_t k, const pair_of_planes *p)
{
    int32_t *to = w->surface->triangle + 3 * w->planes[k].triangles;
    for (int64_t j = 0; j + 1 < w->n[1]; j++) {
        const int64_t first = j * w->n[0];
        const uint8_t *const row[4] = {p->a.point + first, p->a.point + first + w->n[0], p->b.point + first,
                                       p->b.point + first + w->n[0]};
        for (int64_t i = 0; !are_cells_empty(&p->a, &p->b, j) && i + 1 < w->n[0]; i++) {
            const cube_case *c = &w->cases[case_of(row, i)];
            for (int t = 0; t < c->count; t++, to += 3)
                for (int corner = 0; corner < 3; corner++)
                    to[w->is_mirrored ? 2 - corner : corner] = vertex_of(w, p, first + i, c->edge[3 * t + corner]);
        }
    }
}

static void make_planes(void *context, size_t first, size_t last)
{
    work *w = context;
    pair_of_planes p;
    if (!pair_begin(w, true, &p))
        return;
    find_sides(w, (int64_t)first, &p.a);
    number_in_plane(w, (int64_t)first, &p.a, p.in_a, true);
    for (size_t k = first; k < last && (int64_t)k + 1 < w->n[2] && !cancel_flag_is_set(w->of->cancel); k++) {
        find_sides(w, (int64_t)k + 1, &p.b);
        number_in_plane(w, (int64_t)k + 1, &p.b, p.in_b, k + 1 < last);
        number_upward(w, (int64_t)k, &p);
        make_triangles(w, (int64_t)k, &p);
        pair_advance(&p);
    }
    free(p.room);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Turns what each plane adds into where that begins, behind what the surface has; and what the
 * surface is to have then. */
static void place_planes(work *w, int64_t *vertices, int64_t *triangles)
{
    *vertices = w->surface->vertices;
    *triangles = w->surface->triangles;
    int at_border = 0;
    for (int64_t k = 0; k < w->n[2]; k++) {
        plane_count *p = &w->planes[k];
        const plane_count adds = *p;
        *p = (plane_count){*vertices, *vertices + adds.in_plane, *triangles, 0};
        *vertices += adds.in_plane + adds.upward;
        *triangles += adds.triangles;
        at_border |= adds.at_border;
    }
    w->surface->is_open |= at_border == 3; /* lines at the border are crossed, as it is of one piece */
}

/* What is longer then; NULL: there is no memory, and `array` is as it was. */
static void *grow(void *array, int64_t count, size_t size)
{
    return realloc(array, (size_t)(count > 0 ? count : 1) * size);
}

static bool grow_all(ley_surface *s, int64_t vertices, int64_t triangles)
{
    double *vertex_A = grow(s->vertex_A, 3 * vertices, sizeof *vertex_A);
    s->vertex_A = vertex_A != NULL ? vertex_A : s->vertex_A;
    float *normal = grow(s->normal, 3 * vertices, sizeof *normal);
    s->normal = normal != NULL ? normal : s->normal;
    float *value = grow(s->value, vertices, sizeof *value);
    s->value = value != NULL ? value : s->value;
    int32_t *triangle = grow(s->triangle, 3 * triangles, sizeof *triangle);
    s->triangle = triangle != NULL ? triangle : s->triangle;
    return vertex_A != NULL && normal != NULL && value != NULL && triangle != NULL;
}

static ley_status make_room(ley_surface *s, int64_t vertices, int64_t triangles, double planes_bytes, ley_error *error)
{
    enum { VERTEX_BYTES = 3 * sizeof(double) + 4 * sizeof(float), TRIANGLE_BYTES = 3 * sizeof(int32_t) };
    if (vertices > INT32_MAX || triangles > INT32_MAX)
        return ley_fail(
            error, LEY_ERROR_INPUT,
            "the surface would have %lld vertices and %lld triangles, more than %d: a coarser spacing makes "
            "fewer",
            (long long)vertices, (long long)triangles, INT32_MAX);
    const double bytes = (double)vertices * VERTEX_BYTES + (double)triangles * TRIANGLE_BYTES;
    const memory_need needs[] = {{"the surface", bytes, "a coarser spacing"},
                                 {"numbers of vertices", planes_bytes, ""}};
    ley_status status = memory_check(needs, 2, error);
    if (status != LEY_OK)
        return status;
    if (!grow_all(s, vertices, triangles))
        return ley_fail_memory(error, (size_t)bytes, "the surface");
    return LEY_OK;
}

static double triple_product(const double u[3], const double v[3], const double x[3])
{
    return u[0] * (v[1] * x[2] - v[2] * x[1]) + u[1] * (v[2] * x[0] - v[0] * x[2]) + u[2] * (v[0] * x[1] - v[1] * x[0]);
}

static void set_frame(work *w)
{
    const double(*s)[3] = w->grid->step_A;
    const double volume = triple_product(s[0], s[1], s[2]);
    w->is_mirrored = volume < 0;
    for (int m = 0; m < 3; m++) {
        const double *u = s[(m + 1) % 3], *v = s[(m + 2) % 3];
        for (int x = 0; x < 3; x++) {
            const int y = (x + 1) % 3, z = (x + 2) % 3;
            w->across[m][x] = (u[y] * v[z] - u[z] * v[y]) / volume;
        }
    }
}

static ley_status add(work *w, ley_error *error)
{
    int64_t vertices, triangles;
    parallel_ranges((size_t)w->n[2], count_planes, w);
    if (w->is_out_of_memory)
        return ley_fail_memory(error, (size_t)bytes_of_pair(w->n, false), "planes of the surface");
    if (cancel_flag_is_set(w->of->cancel))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    place_planes(w, &vertices, &triangles);
    ley_surface *s = w->surface;
    const ley_status status = make_room(s, vertices, triangles, parallel_cores() * bytes_of_pair(w->n, true), error);
    if (status != LEY_OK)
        return status;
    parallel_ranges((size_t)w->n[2], make_planes, w);
    if (w->is_out_of_memory)
        return ley_fail_memory(error, (size_t)bytes_of_pair(w->n, true), "planes of the surface");
    if (cancel_flag_is_set(w->of->cancel))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    for (int64_t i = s->vertices; i < vertices; i++)
        s->value[i] = w->of->level;
    s->vertices = vertices;
    s->triangles = triangles;
    return LEY_OK;
}

ley_status contour_add(const contour *of, ley_surface *surface, ley_error *error)
{
    cube_case cases[CUBE_CASES];
    if (!cube_cases_make(cases))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "cells of a surface cannot be filled");
    work w = {.of = of,
              .surface = surface,
              .values = ley_map_read_values(of->map),
              .grid = ley_map_grid(of->map),
              .cases = cases};
    memcpy(w.n, w.grid->n, sizeof w.n);
    set_frame(&w);
    w.planes = malloc((size_t)w.n[2] * sizeof *w.planes);
    if (w.planes == NULL)
        return ley_fail_memory(error, (size_t)w.n[2] * sizeof *w.planes, "planes of the surface");
    const ley_status status = add(&w, error);
    free(w.planes);
    return status;
}
