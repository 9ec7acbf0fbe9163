/* Lists of points, and the potentials and fields there. */
#include "core/points.h"

#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

ley_status ley_points_create(int64_t n, const double *point_A, ley_points **points, ley_error *error)
{
    ley_points *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ley_fail_memory(error, sizeof *made, "the points");
    const ley_status status = ley_boundary_create_points(n, point_A, &made->list, error);
    if (status == LEY_OK)
        *points = made;
    else
        free(made);
    return status;
}

ley_status ley_points_create_lattice(const ley_lattice *lattice, ley_points **points, ley_error *error)
{
    ley_status status = ley_lattice_check(lattice, error);
    if (status != LEY_OK)
        return status;
    const int64_t n = ley_lattice_points(lattice);
    if (n > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%lld points, and the field is there at %d at most", (long long)n,
                        INT32_MAX);
    /* With their field, in their order in space, and on their way. */
    status = memory_check_one("the map's points and the field there", 150.0 * (double)n, "fewer points", error);
    double *point_A = status == LEY_OK ? malloc(3 * (size_t)n * sizeof *point_A) : NULL;
    if (status != LEY_OK || point_A == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, 3 * (size_t)n * sizeof *point_A, "the map's points");
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i % lattice->n[0], i / lattice->n[0] % lattice->n[1], i / lattice->n[0] / lattice->n[1]};
        ley_lattice_point_A(lattice, at, point_A + 3 * i);
    }
    status = ley_points_create(n, point_A, points, error);
    free(point_A);
    return status;
}

ley_status ley_points_to_map(const ley_points *points, const ley_lattice *lattice, int axis, ley_map **map,
                             ley_error *error)
{
    const int64_t n = points->list->n;
    char units[sizeof points->units + 2];
    if (ley_lattice_points(lattice) != n)
        return ley_fail(error, LEY_ERROR_USAGE, "%lld points are not those of the lattice", (long long)n);
    if (axis > 2 || (axis >= 0 && points->field == NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "the points have no field along axis %d", axis);
    const ley_status status = ley_map_create(lattice, map, error);
    if (status != LEY_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        ley_map_values(*map)[i] = (float)(axis < 0 ? points->list->value[i] : points->field[3 * i + axis]);
    snprintf(units, sizeof units, "%s%s", points->units, axis >= 0 ? "/A" : "");
    ley_map_set_units(*map, units);
    return LEY_OK;
}

void ley_points_destroy(ley_points *points)
{
    if (points == NULL)
        return;
    ley_boundary_destroy(points->list);
    free(points->field);
    free(points);
}

int64_t ley_points_count(const ley_points *points)
{
    return points->list->n;
}

const double *ley_points_positions_A(const ley_points *points)
{
    return points->list->point_A;
}

double *ley_points_values(ley_points *points)
{
    return points->list->value;
}

const double *ley_points_read_values(const ley_points *points)
{
    return points->list->value;
}

ley_status ley_points_add_field(ley_points *points, ley_error *error)
{
    const size_t numbers = 3 * (size_t)points->list->n;
    if (points->field != NULL)
        return LEY_OK;
    ley_status status =
        memory_check_one("the field at the points", (double)numbers * sizeof(double), "fewer points", error);
    if (status != LEY_OK)
        return status;
    points->field = malloc(numbers * sizeof *points->field);
    if (points->field == NULL)
        return ley_fail_memory(error, numbers * sizeof *points->field, "the field at the points");
    for (size_t i = 0; i < numbers; i++)
        points->field[i] = NAN;
    return LEY_OK;
}

double *ley_points_field(ley_points *points)
{
    return points->field;
}

const double *ley_points_read_field(const ley_points *points)
{
    return points->field;
}

const char *ley_points_units(const ley_points *points)
{
    return points->units;
}

void ley_points_set_units(ley_points *points, const char *units)
{
    snprintf(points->units, sizeof points->units, "%s", units);
}
