#include "long_range/mesh/coordinates.h"

#include "error.h"

#include <stdlib.h>

static int64_t node_along(const coordinate_table *a, int axis, int64_t i)
{
    const int64_t edge = a->edge > 0 ? a->edge : LEY_CUBE, in_cube[] = {1, edge, edge * edge};
    const int64_t step = axis == 0 ? 1 : axis == 1 ? a->pitch[0] : a->pitch[0] * a->pitch[1];
    return a->in_cubes ? i / edge * step * edge * edge * edge + i % edge * in_cube[axis] : i * step;
}

int32_t coordinates_along_axis(const coordinate_table *a, int axis, int64_t i)
{
    const int64_t n = a->n[axis];
    if (!a->periodic[axis] && (i < 0 || i >= n))
        return a->by_plane && axis < 2 ? (int32_t)(-a->pitch[0] * a->pitch[1]) : LEY_NOWHERE;
    const int64_t own = (i % n + n) % n;
    return (int32_t)(a->by_plane && axis == 2 ? own : node_along(a, axis, own));
}

/* Of so many numbers: three LEY_NOWHERE are no less than the least int. */
static bool are_few(double count)
{
    return count <= -(double)LEY_NOWHERE;
}

/* A node's number within its first `axes` axes, of the last one of all. */
static double last_along(const coordinate_table *a, int axes)
{
    double last = 0;
    for (int axis = 0; axis < axes; axis++)
        last += (double)node_along(a, axis, a->n[axis] - 1);
    return last;
}

bool coordinates_are_many(const coordinate_table *a)
{
    return !are_few((double)a->first + 1 + last_along(a, 3));
}

/* A plane with its padding is an argument of kernels. */
bool coordinates_can_number(const coordinate_table *a)
{
    if (!a->by_plane)
        return !coordinates_are_many(a);
    return !a->in_cubes && a->first == 0 && are_few((double)a->n[2]) &&
           are_few((double)a->pitch[0] * (double)a->pitch[1]) && are_few(1 + last_along(a, 2));
}

ley_status coordinates_add(coordinates *p, const coordinate_table *a, int64_t before, int64_t after,
                           coordinates_of *made, ley_error *error)
{
    if (!coordinates_can_number(a))
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "a mesh of %lld x %lld x %lld nodes is more than a kernel can number", (long long)a->n[0],
                        (long long)a->n[1], (long long)a->n[2]);
    const size_t more = (size_t)(a->n[0] + a->n[1] + a->n[2] + 3 * (before + after));
    if (p->count + more > p->capacity) {
        const size_t capacity = 2 * (p->count + more);
        int32_t *grown = realloc(p->values, capacity * sizeof *grown);
        if (grown == NULL)
            return ley_fail_memory(error, capacity * sizeof *grown, "tables of meshes");
        p->values = grown;
        p->capacity = capacity;
    }
    for (int axis = 0; axis < 3; axis++) {
        made->at[axis] = (int32_t)(p->count + (size_t)before);
        for (int64_t i = -before; i < a->n[axis] + after; i++)
            p->values[p->count++] = coordinates_along_axis(a, axis, i);
    }
    made->at[3] = (int32_t)(a->by_plane ? a->pitch[0] * a->pitch[1] : a->first);
    return LEY_OK;
}
