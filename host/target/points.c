/* Lists of points, and the potentials and fields there. */
#include "target/points.h"

#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    free(points->excluded_first);
    free(points->excluded);
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

/* ---- Atoms that are left out ----------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* Ascending, each once. */
static void tidy(int64_t n, int64_t *first, int64_t *atom)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first[i], end = first[i + 1];
        first[i] = kept;
        qsort(atom + from, (size_t)(end - from), sizeof *atom, by_number);
        for (int64_t k = from; k < end; k++)
            if (k == from || atom[k] != atom[k - 1])
                atom[kept++] = atom[k];
    }
    first[n] = kept;
}

ley_status points_take_excluded(ley_points *points, int64_t *first, int64_t *atom, ley_error *error)
{
    const int64_t n = points->list->n;
    free(points->excluded_first);
    free(points->excluded);
    points->excluded_first = first;
    points->excluded = atom;
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < n && status == LEY_OK; i++)
        for (int64_t k = first[i]; status == LEY_OK && k < first[i + 1]; k++)
            if (atom[k] < 0 || atom[k] > INT32_MAX)
                status =
                    ley_fail(error, LEY_ERROR_INPUT,
                             "point %lld excludes atom %lld, both counted from 0: it must be 0 or more, and below 2^31",
                             (long long)i, (long long)atom[k]);
    if (status == LEY_OK) {
        tidy(n, first, atom);
        return LEY_OK;
    }
    free(first);
    free(atom);
    points->excluded_first = points->excluded = NULL;
    return status;
}

ley_status ley_points_exclude(ley_points *points, const int64_t *first, const int64_t *atom, ley_error *error)
{
    const size_t n = (size_t)points->list->n;
    for (size_t i = 0; i < n; i++)
        if (first[0] != 0 || first[i + 1] < first[i])
            return ley_fail(
                error, LEY_ERROR_INPUT,
                "the lists of atoms to exclude begin with 0 and follow each other, but that of point %zu, counted "
                "from 0, is from %lld to before %lld",
                i, (long long)first[i], (long long)first[i + 1]);
    const size_t listed = (size_t)first[n];
    const double bytes = (double)(n + 2 + listed) * sizeof(int64_t);
    const ley_status status = memory_check_one("the lists of atoms to exclude", bytes, "fewer atoms in them", error);
    if (status != LEY_OK)
        return status;
    int64_t *own_first = malloc((n + 1) * sizeof *own_first), *own = malloc((listed + 1) * sizeof *own);
    if (own_first == NULL || own == NULL) {
        free(own_first);
        free(own);
        return ley_fail_memory(error, (size_t)bytes, "the lists of atoms to exclude");
    }
    memcpy(own_first, first, (n + 1) * sizeof *first);
    if (listed > 0)
        memcpy(own, atom, listed * sizeof *atom);
    return points_take_excluded(points, own_first, own, error);
}

ley_grid points_grid(const ley_points *points)
{
    const double *point_A = ley_points_positions_A(points);
    const int64_t n = ley_points_count(points);
    double low_A[3], high_A[3], spacing_A[3];
    int64_t nodes[3];
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = high_A[axis] = point_A[axis];
        for (int64_t i = 1; i < n; i++) {
            low_A[axis] = fmin(low_A[axis], point_A[3 * i + axis]);
            high_A[axis] = fmax(high_A[axis], point_A[3 * i + axis]);
        }
        nodes[axis] = high_A[axis] > low_A[axis] ? (int64_t)fmax(ceil(cbrt((double)n)), 2) : 1;
        spacing_A[axis] = nodes[axis] > 1 ? (high_A[axis] - low_A[axis]) / (double)(nodes[axis] - 1) : 1;
    }
    return ley_grid_orthogonal(low_A, spacing_A, nodes);
}

const int64_t *points_excluded(const ley_points *points, int64_t i, size_t *count)
{
    *count = 0;
    if (points == NULL || points->excluded_first == NULL)
        return NULL;
    *count = (size_t)(points->excluded_first[i + 1] - points->excluded_first[i]);
    return points->excluded + points->excluded_first[i];
}

ley_status points_check_excluded(const ley_points *points, const ley_atoms *atoms, ley_error *error)
{
    const int64_t n = points->list->n, most = (int64_t)ley_atoms_count(atoms);
    for (int64_t i = 0; points->excluded_first != NULL && i < n; i++) {
        const int64_t begin = points->excluded_first[i], end = points->excluded_first[i + 1];
        if (end > begin && points->excluded[end - 1] >= most)
            return ley_fail(error, LEY_ERROR_INPUT,
                            "point %lld excludes atom %lld, both counted from 0, and there %s %lld atom%s",
                            (long long)i, (long long)points->excluded[end - 1], most == 1 ? "is" : "are",
                            (long long)most, most == 1 ? "" : "s");
    }
    return LEY_OK;
}

const char *ley_points_units(const ley_points *points)
{
    return points->units;
}

void ley_points_set_units(ley_points *points, const char *units)
{
    snprintf(points->units, sizeof points->units, "%s", units);
}

bool points_field_at(const ley_points *points, int64_t i, double field[3])
{
    if (points->field != NULL)
        memcpy(field, points->field + 3 * i, 3 * sizeof *field);
    return points->field != NULL;
}
