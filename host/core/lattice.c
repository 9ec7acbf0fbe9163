#include "core/sizes.h"
#include "error.h"
#include "leyden.h"

#include <float.h>
#include <math.h>

ley_status ley_lattice_check(const ley_lattice *lattice, ley_error *error)
{
    int64_t points = 1, bytes;
    bool fits = true;
    for (int axis = 0; axis < 3; axis++) {
        if (lattice->n[axis] < 1 || lattice->n[axis] > LEY_MAX_EXTENT)
            return ley_fail(error, LEY_ERROR_INPUT, "lattice: %lld points along %c, must be 1 to %d",
                            (long long)lattice->n[axis], 'x' + axis, LEY_MAX_EXTENT);
        if (!(lattice->spacing_A[axis] >= 1e-6 && lattice->spacing_A[axis] <= 1e8))
            return ley_fail(error, LEY_ERROR_INPUT, "lattice: spacing %g A along %c, must be 1e-6 to 1e8",
                            lattice->spacing_A[axis], 'x' + axis);
        if (!(fabs(lattice->origin_A[axis]) <= 1e9))
            return ley_fail(error, LEY_ERROR_INPUT, "lattice: origin %g A along %c is not within 1e9 A",
                            lattice->origin_A[axis], 'x' + axis);
        if (!((double)lattice->n[axis] * lattice->spacing_A[axis] <= 1e9))
            return ley_fail(error, LEY_ERROR_INPUT, "lattice: longer than 1e9 A along %c", 'x' + axis);
        fits = fits && ley_multiply(points, lattice->n[axis], &points);
    }
    if (!fits || !ley_multiply(points, (int64_t)sizeof(float), &bytes))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice: %lld x %lld x %lld points overflow 64 bits",
                        (long long)lattice->n[0], (long long)lattice->n[1], (long long)lattice->n[2]);
    return LEY_OK;
}

int64_t ley_lattice_points(const ley_lattice *lattice)
{
    return lattice->n[0] * lattice->n[1] * lattice->n[2];
}

ley_status ley_lattice_around(const ley_atoms *atoms, double spacing_A, double padding_A, ley_lattice *lattice,
                              ley_error *error)
{
    if (!(spacing_A >= 1e-6 && spacing_A <= 1e8))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice: spacing %g A, must be 1e-6 to 1e8", spacing_A);
    if (!(padding_A >= 0 && padding_A <= 1e8))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice: padding %g A, must be 0 to 1e8", padding_A);
    ley_lattice result;
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
            return ley_fail(error, LEY_ERROR_INPUT, "lattice: spacing %g A makes %.3g points along %c", spacing_A,
                            intervals + 1, 'x' + axis);
        result.n[axis] = (int64_t)intervals + 1;
        result.spacing_A[axis] = spacing_A;
        result.origin_A[axis] = first * spacing_A;
    }
    ley_status status = ley_lattice_check(&result, error);
    if (status == LEY_OK)
        *lattice = result;
    return status;
}
