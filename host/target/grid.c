#include "core/sizes.h"
#include "error.h"
#include "leyden.h"

#include <float.h>
#include <math.h>

/* What the steps' volume must be of the product of their lengths, at least. */
static const double least_volume = 1e-6;

static double length_A(const double v_A[3])
{
    return hypot(hypot(v_A[0], v_A[1]), v_A[2]);
}

/* The volume that the steps span, over the product of their lengths: 1 of an orthogonal grid. */
static double relative_volume(const ley_grid *grid)
{
    double u[3][3];
    for (int m = 0; m < 3; m++)
        for (int axis = 0; axis < 3; axis++)
            u[m][axis] = grid->step_A[m][axis] / length_A(grid->step_A[m]);
    return fabs(u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) - u[0][1] * (u[1][0] * u[2][2] - u[1][2] * u[2][0]) +
                u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]));
}

ley_grid ley_grid_orthogonal(const double origin_A[3], const double spacing_A[3], const int64_t n[3])
{
    return (ley_grid){.origin_A = {origin_A[0] + 0.0, origin_A[1] + 0.0, origin_A[2] + 0.0}, /* 0 has no sign */
                      .step_A = LEY_STEPS(spacing_A[0], spacing_A[1], spacing_A[2]),
                      .n = {n[0], n[1], n[2]}};
}

static bool is_along(const double step_A[3], int axis)
{
    return step_A[axis] > 0 && step_A[(axis + 1) % 3] == 0 && step_A[(axis + 2) % 3] == 0;
}

bool ley_grid_is_orthogonal(const ley_grid *grid)
{
    return is_along(grid->step_A[0], 0) && is_along(grid->step_A[1], 1) && is_along(grid->step_A[2], 2);
}

ley_status ley_grid_check_orthogonal(const ley_grid *grid, const char *whose, ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        const double *step_A = grid->step_A[axis];
        if (!is_along(step_A, axis))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "%s: the grid's axes must be along x, y and z, in this order: the step from point to "
                            "point along axis %d is (%g, %g, %g) A, not along +%c",
                            whose, axis + 1, step_A[0] + 0.0, step_A[1] + 0.0, step_A[2] + 0.0, 'x' + axis);
    }
    return LEY_OK;
}

void ley_grid_spacing_A(const ley_grid *grid, double spacing_A[3])
{
    for (int m = 0; m < 3; m++)
        spacing_A[m] = length_A(grid->step_A[m]);
}

void ley_grid_point_A(const ley_grid *grid, const int64_t index[3], double point_A[3])
{
    const double i = (double)index[0], j = (double)index[1], k = (double)index[2];
    for (int axis = 0; axis < 3; axis++)
        point_A[axis] =
            grid->origin_A[axis] + i * grid->step_A[0][axis] + j * grid->step_A[1][axis] + k * grid->step_A[2][axis];
}

ley_status ley_grid_check(const ley_grid *grid, ley_error *error)
{
    int64_t points = 1, bytes;
    bool fits = true;
    double spacing_A[3];
    ley_grid_spacing_A(grid, spacing_A);
    for (int axis = 0; axis < 3; axis++) {
        if (grid->n[axis] < 1 || grid->n[axis] > LEY_MAX_EXTENT)
            return ley_fail(error, LEY_ERROR_INPUT, "grid: %lld points along %c, must be 1 to %d",
                            (long long)grid->n[axis], 'x' + axis, LEY_MAX_EXTENT);
        if (!(spacing_A[axis] >= 1e-6 && spacing_A[axis] <= 1e8))
            return ley_fail(error, LEY_ERROR_INPUT, "grid: spacing %g A along %c, must be 1e-6 to 1e8", spacing_A[axis],
                            'x' + axis);
        if (!(fabs(grid->origin_A[axis]) <= 1e9))
            return ley_fail(error, LEY_ERROR_INPUT, "grid: origin %g A along %c is not within 1e9 A",
                            grid->origin_A[axis], 'x' + axis);
        if (!((double)grid->n[axis] * spacing_A[axis] <= 1e9))
            return ley_fail(error, LEY_ERROR_INPUT, "grid: longer than 1e9 A along %c", 'x' + axis);
        fits = fits && ley_multiply(points, grid->n[axis], &points);
    }
    if (!(relative_volume(grid) >= least_volume))
        return ley_fail(error, LEY_ERROR_INPUT, "grid: its three steps lie in a plane, or two of them on a line");
    if (!fits || !ley_multiply(points, (int64_t)sizeof(float), &bytes))
        return ley_fail(error, LEY_ERROR_INPUT, "grid: %lld x %lld x %lld points overflow 64 bits",
                        (long long)grid->n[0], (long long)grid->n[1], (long long)grid->n[2]);
    return LEY_OK;
}

int64_t ley_grid_points(const ley_grid *grid)
{
    return grid->n[0] * grid->n[1] * grid->n[2];
}

ley_status ley_grid_around(const ley_atoms *atoms, double spacing_A, double padding_A, ley_grid *grid, ley_error *error)
{
    if (!(spacing_A >= 1e-6 && spacing_A <= 1e8))
        return ley_fail(error, LEY_ERROR_INPUT, "grid: spacing %g A, must be 1e-6 to 1e8", spacing_A);
    if (!(padding_A >= 0 && padding_A <= 1e8))
        return ley_fail(error, LEY_ERROR_INPUT, "grid: padding %g A, must be 0 to 1e8", padding_A);
    ley_grid result = {.step_A = LEY_STEPS(spacing_A, spacing_A, spacing_A)};
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        /* What the quotients may be off by: with 10 A beside 0 and spacings of 0.1 A the origin
         * shall be -10, not -10.1. */
        const double reach_A = fmax(fabs(low_A[axis]), fabs(high_A[axis])) + padding_A;
        const double rounding = 4 * DBL_EPSILON * reach_A / spacing_A;
        const double first = floor((low_A[axis] - padding_A) / spacing_A + rounding);
        const double intervals = ceil((high_A[axis] + padding_A) / spacing_A - rounding) - first;
        if (!(intervals < LEY_MAX_EXTENT))
            return ley_fail(error, LEY_ERROR_INPUT, "grid: spacing %g A makes %.3g points along %c", spacing_A,
                            intervals + 1, 'x' + axis);
        result.n[axis] = (int64_t)intervals + 1;
        result.origin_A[axis] = first * spacing_A + 0.0; /* 0 has no sign */
    }
    ley_status status = ley_grid_check(&result, error);
    if (status == LEY_OK)
        *grid = result;
    return status;
}
