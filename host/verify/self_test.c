#include "verify/self_test.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local self_test_finding *listener;

void self_test_listen(self_test_finding *finding)
{
    listener = finding;
}

/* No number is worse than any. */
void self_test_note(double error, double tolerance, double scale, double found, double right)
{
    const double share = isnan(error) ? INFINITY : error / tolerance;
    if (listener != NULL && share > listener->worst)
        *listener = (self_test_finding){.worst = share,
                                        .error = error,
                                        .tolerance = tolerance,
                                        .found = found,
                                        .right = right,
                                        .allowed = tolerance * scale};
}

static _Thread_local int halves_less;

void self_test_shrink(int halves)
{
    halves_less = halves;
}

int self_test_less(int count)
{
    const int less = count >> halves_less;
    return less > 1 ? less : 1;
}

ley_status self_test_create(self_test *t, size_t count, ley_error *error)
{
    t->count = count;
    t->point_A = calloc(count, 4 * sizeof(double));
    t->value = (double *)(t->point_A + count);
    return t->point_A != NULL ? LEY_OK : ley_fail_memory(error, count * 4 * sizeof(double), "the self-test");
}

void self_test_destroy(self_test *t)
{
    free(t->point_A);
    t->point_A = NULL;
}

typedef struct judged {
    const self_test *t;
    reference_value *right;
} judged;

static void recompute(void *context, size_t first, size_t last)
{
    const judged *j = context;
    for (size_t i = first; i < last; i++)
        j->right[i] = j->t->reference(j->t->context, j->t->point_A[i]);
}

static int compare_absolutes(const void *a, const void *b)
{
    const double x = ((const reference_value *)a)->absolute, y = ((const reference_value *)b)->absolute;
    return (x > y) - (x < y);
}

/* Adds a share of the median of the absolute terms to all of them. */
static ley_status raise_absolutes(const self_test *t, reference_value *right, ley_error *error)
{
    reference_value *sorted = t->least_share > 0 ? malloc(t->count * sizeof *sorted) : NULL;
    if (t->least_share > 0 && sorted == NULL)
        return ley_fail_memory(error, t->count * sizeof *sorted, "the self-test");
    if (sorted == NULL)
        return LEY_OK;
    memcpy(sorted, right, t->count * sizeof *sorted);
    qsort(sorted, t->count, sizeof *sorted, compare_absolutes);
    for (size_t i = 0; i < t->count; i++)
        right[i].absolute += t->least_share * sorted[t->count / 2].absolute;
    free(sorted);
    return LEY_OK;
}

ley_status self_test_judge(const self_test *t, ley_error *error)
{
    judged j = {t, calloc(t->count, sizeof *j.right)};
    if (j.right == NULL)
        return ley_fail_memory(error, t->count * sizeof *j.right, "the self-test");
    parallel_ranges(t->count, recompute, &j);
    ley_status status = raise_absolutes(t, j.right, error);
    size_t worst = 0;
    const ley_accuracy a = accuracy_compare(
        t->count, t->value, j.right, (accuracy_limits){.tolerance = t->tolerance, .nothing = ACCURACY_NOTHING}, &worst);
    const double *at_A = t->point_A[worst];
    if (status == LEY_OK)
        self_test_note(a.max_error, a.tolerance, j.right[worst].absolute, t->value[worst], j.right[worst].value);
    if (status == LEY_OK && !a.passed)
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "variant %s: %s: point %zu of %zu, at %.6g, %.6g, %.6g A, is %.9g, not %.9g: "
                          "an error of %.3g of the absolute terms, at most %.3g is right",
                          t->variant, t->problem, worst, t->count, at_A[0], at_A[1], at_A[2], t->value[worst],
                          j.right[worst].value, a.max_error, a.tolerance);
    free(j.right);
    return status;
}
