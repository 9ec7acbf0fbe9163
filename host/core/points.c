/* Lists of points, and the potentials and fields there. */
#include "core/points.h"

#include "error.h"
#include "memory.h"

#include <math.h>
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
