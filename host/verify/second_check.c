#include "verify/second_check.h"

#include "cancel.h"
#include "error.h"
#include "law/reference.h"
#include "parallel.h"

#include <stdlib.h>

/* What values may be off by, of their terms; and fields, whose second way is less exact. */
static const double most_error = 1e-6, most_field_error = 1e-5;

typedef struct check {
    const second_sum *second;
    second_point *points;
    const atomic_bool *cancelled;
} check;

static void check_point(const second_sum *second, second_point *p)
{
    double right[3], rounding = 0;
    p->right = reference_sum(&p->terms, p->place_A); /* by which errors are judged */
    p->right.value = (double)second_value(second, &p->terms, p->place_A);
    p->has_field = p->has_field && second_field(second, &p->terms, p->place_A, right, &rounding);
    if (!p->has_field)
        return;
    reference_field(&p->terms, p->place_A, p->right_field);
    for (int axis = 0; axis < 3; axis++) {
        p->right_field[axis].value = right[axis];
        p->right_field[axis].lower -= rounding;
        p->right_field[axis].higher += rounding;
    }
}

static void check_points(void *context, size_t first, size_t last)
{
    const check *c = context;
    for (size_t k = first; k < last && !cancel_is_asked(c->cancelled); k++)
        check_point(c->second, &c->points[k]);
}

/* Room for 3 n numbers of each. */
static ley_status judge(const second_sum *second, size_t n, const second_point *points, double nothing, double *value,
                        reference_value *right, ley_accuracy *accuracy, ley_accuracy *field_accuracy, ley_error *error)
{
    const accuracy_limits limits = {.tolerance = most_error, .nothing = nothing},
                          field_limits = {.tolerance = most_field_error, .nothing = ACCURACY_NOTHING};
    size_t worst = 0, count = 0;
    for (size_t k = 0; k < n; k++) {
        value[k] = points[k].value;
        right[k] = points[k].right;
    }
    *accuracy = accuracy_compare(n, value, right, limits, &worst);
    accuracy->host_points = n;
    for (size_t k = 0; k < n; k++)
        for (int axis = 0; axis < 3 && points[k].has_field; axis++, count++) {
            value[count] = points[k].field[axis];
            right[count] = points[k].right_field[axis];
        }
    *field_accuracy = accuracy_compare(count, value, right, field_limits, NULL);
    field_accuracy->points = field_accuracy->host_points = count / 3;
    if (n > 0 && !accuracy->passed)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                        "the host: verification failed: at (%.9g, %.9g, %.9g) A the value is %.9g, and %.9g by %s",
                        points[worst].place_A[0], points[worst].place_A[1], points[worst].place_A[2],
                        points[worst].value, points[worst].right.value, second_says(second));
    if (count > 0 && !field_accuracy->passed)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                        "the host: verification failed: the field is off by %.3g of its terms from differences of "
                        "potentials",
                        field_accuracy->max_error);
    return LEY_OK;
}

ley_status second_check(const second_sum *second, size_t n, second_point *points, double nothing,
                        const atomic_bool *cancelled, ley_accuracy *accuracy, ley_accuracy *field_accuracy,
                        ley_error *error)
{
    check c = {second, points, cancelled};
    double *value = malloc((3 * n + 1) * sizeof *value);
    reference_value *right = malloc((3 * n + 1) * sizeof *right);
    ley_status status =
        value == NULL || right == NULL ? ley_fail_memory(error, 3 * n * sizeof *right, "the verification") : LEY_OK;
    if (status == LEY_OK)
        parallel_ranges(n, check_points, &c);
    if (status == LEY_OK && cancel_is_asked(cancelled))
        status = ley_fail(error, LEY_CANCELLED, "cancelled");
    if (status == LEY_OK)
        status = judge(second, n, points, nothing, value, right, accuracy, field_accuracy, error);
    free(value);
    free(right);
    return status;
}
