#include "methods/cutoff/epilogue_self_test.h"

#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>

/* Coordinates of nodes before 0 and behind the last one that a point has; and what comes before the
 * mesh in its buffer. */
enum { BEYOND = 12, FIRST = 3 };

/* Nodes per step of the map: a region's last point has the last node that there is room for. */
static double ratio_of(int nodes, int window)
{
    return (nodes - window - 1) / (CUTOFF_LAYER - 1.0);
}

static int64_t extent(const test_mesh *t, int axis, double ratio)
{
    return (int64_t)ceil((double)t->points->n[axis] * ratio) + 2 * BEYOND;
}

/* What comes before it in its buffer. */
static int32_t first_of(const test_mesh *t)
{
    return t->by_plane ? 0 : FIRST;
}

/* What each coordinate adds to a node's number, or to that of its plane, from -BEYOND on. */
static void put_places(test_mesh *t, double ratio)
{
    const int64_t plane = t->n[0] * t->n[1], stride[3] = {1, t->n[0], t->by_plane ? 1 : plane};
    const int32_t nowhere = t->by_plane ? (int32_t)-plane : LEY_NOWHERE;
    int32_t at = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = t->n[axis];
        t->at[axis] = at + BEYOND;
        for (int64_t i = -BEYOND; i < extent(t, axis, ratio) - BEYOND; i++, at++)
            t->places[at] = axis == 1 && (i < 0 || i >= n) ? nowhere : (int32_t)((i % n + n) % n * stride[axis]);
    }
    t->at[3] = t->by_plane ? (int32_t)plane : FIRST;
}

static void put_points(test_mesh *t, double ratio)
{
    uint32_t state = 1846;
    int64_t at = 0;
    for (int axis = 0; axis < 3; axis++) {
        t->axes[axis] = (int32_t)(axis < 2 ? at + t->points->n[axis] : t->window);
        for (int64_t i = 0; i < t->points->n[axis]; i++, at++) {
            t->nodes[at] = (int32_t)floor((double)i * ratio + 0.3 * (axis + 1)) - t->window / 2;
            for (int k = 0; k < t->window; k++)
                t->weights[at * t->window + k] = (float)(self_test_fraction(&state) - 0.2);
        }
    }
}

ley_status test_mesh_create(test_mesh *t, const ley_grid *points, int nodes, bool by_plane, double scale,
                            ley_error *error)
{
    *t = (test_mesh){.points = points,
                     .n = {11, 9, 10},
                     .window = nodes >= 13   ? 8
                               : nodes >= 10 ? 6
                                             : 4,
                     .by_plane = by_plane};
    const double ratio = ratio_of(nodes, t->window);
    const size_t count = (size_t)(points->n[0] + points->n[1] + points->n[2]);
    uint32_t state = 1921;
    t->place_count = (size_t)(extent(t, 0, ratio) + extent(t, 1, ratio) + extent(t, 2, ratio));
    t->potential_count = (size_t)(first_of(t) + t->n[0] * t->n[1] * t->n[2]);
    t->places = malloc(t->place_count * sizeof *t->places);
    t->nodes = malloc(count * sizeof *t->nodes);
    t->weights = malloc(count * (size_t)t->window * sizeof *t->weights);
    t->potentials = malloc(t->potential_count * sizeof *t->potentials);
    if (t->places == NULL || t->nodes == NULL || t->weights == NULL || t->potentials == NULL)
        return ley_fail_memory(error, t->place_count * sizeof *t->places, "the self-test");
    put_places(t, ratio);
    put_points(t, ratio);
    for (size_t i = 0; i < t->potential_count; i++)
        t->potentials[i] = i < (size_t)first_of(t) ? NAN : (float)(scale * (self_test_fraction(&state) - 0.4));
    return LEY_OK;
}

void test_mesh_destroy(test_mesh *t)
{
    free(t->places);
    free(t->nodes);
    free(t->weights);
    free(t->potentials);
}

ley_status test_mesh_upload(const test_mesh *t, arena *memory, cutoff_mesh *made, ley_error *error)
{
    const int64_t *n = t->points->n;
    const size_t count = (size_t)(n[0] + n[1] + n[2]), window = (size_t)t->window;
    *made = (cutoff_mesh){.axes = {t->axes[0], t->axes[1], t->axes[2], 0}};
    for (int k = 0; k < 4; k++)
        made->mesh[k] = t->at[k];
    ley_status status =
        arena_upload(memory, t->places, t->place_count * sizeof *t->places, &made->places.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(memory, t->nodes, count * sizeof *t->nodes, &made->nodes.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(memory, t->weights, count * window * sizeof *t->weights, &made->weights.buffer, error);
    return status == LEY_OK ? arena_upload(memory, t->potentials, t->potential_count * sizeof *t->potentials,
                                           &made->potentials.buffer, error)
                            : status;
}

void test_mesh_add(const test_mesh *t, const double point_A[3], reference_value *sum)
{
    const float *weight[3];
    const int32_t *place[3];
    int64_t at = 0, index[3] = {0};
    for (int axis = 0; axis < 3; axis++) {
        const ley_grid *l = t->points;
        double from_A = point_A[axis] - l->origin_A[axis];
        for (int m = 0; m < axis; m++) /* steps are along all axes; along y and z; along z */
            from_A -= (double)index[m] * l->step_A[m][axis];
        index[axis] = (int64_t)floor(from_A / l->step_A[axis][axis] + 0.5);
        const int64_t i = at + index[axis];
        weight[axis] = t->weights + i * t->window;
        place[axis] = t->places + t->at[axis] + t->nodes[i];
        at += l->n[axis];
    }
    for (int z = 0; z < t->window; z++)
        for (int y = 0; y < t->window; y++)
            for (int x = 0; x < t->window; x++) {
                const int32_t plane = (int32_t)(t->by_plane ? t->n[0] * t->n[1] : 1),
                              node = place[1][y] < 0 ? -1 : place[0][x] + place[1][y] + place[2][z] * plane;
                const double term = node < 0 ? 0
                                             : (double)weight[0][x] * (double)weight[1][y] * (double)weight[2][z] *
                                                   (double)t->potentials[first_of(t) + node];
                sum->value += term;
                sum->absolute += fabs(term);
            }
}
