#include "verify/field_verification.h"

#include "error.h"
#include "law/reference.h"
#include "parallel.h"
#include "schedule/method.h"
#include "verify/rank_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A slope is steeper than its function by one power of the distance, and has a direction. */
static const double times_tolerance = 3;

typedef struct recomputed {
    const reference_terms *terms;
    const field_point *points;
    ley_job *job;
    reference_value (*right)[3];
    double squares; /* of the field of all points that the fixed ones stand for; 0: there are no strata */
} recomputed;

bool field_is_there(const ley_job *job, int64_t number)
{
    double field[3];
    return job->method->field != NULL && job->method->field(job->task, number, field);
}

accuracy_limits field_limits(const method *m, accuracy_limits limits)
{
    limits.place = 0; /* fields have a step at r_min, if nowhere else */
    limits.tolerance = m->field_is_allowed ? 1 : times_tolerance * limits.tolerance;
    return limits;
}

static void recompute(void *context, size_t first, size_t last)
{
    const recomputed *r = context;
    for (size_t i = first; i < last && !job_cancelled(r->job); i++) {
        const reference_terms terms = method_terms_at(r->job->method, r->job->task, r->terms, r->points[i].number);
        reference_field(&terms, r->points[i].place_A, r->right[i]);
    }
}

static ley_status recompute_on_ranks(const recomputed *r, size_t n, ley_error *error)
{
    rank_sums_point *points = malloc((n + 1) * sizeof *points);
    if (points == NULL)
        return ley_fail_memory(error, n * sizeof *points, "the verification");
    for (size_t i = 0; i < n; i++) {
        points[i].number = r->points[i].number;
        memcpy(points[i].place_A, r->points[i].place_A, sizeof points[i].place_A);
    }
    const ley_status status = rank_sums_ask(r->job, r->terms, n, points, true, r->right[0], error);
    free(points);
    return status;
}

/* In place of a device. */
enum { FIXED_POINTS = -1 };

/* The components of a device's points, or of those that are fixed, one after the other. */
typedef struct judged {
    size_t n, worst; /* worst: an index of `point` */
    double *value;
    reference_value *right;
    size_t *point;
    double multiple;
    ley_accuracy accuracy;
} judged;

static void judge(const recomputed *r, size_t n, int64_t device, accuracy_limits limits, judged *j)
{
    j->n = 0;
    j->multiple = 1;
    for (size_t i = 0; i < n; i++) {
        const field_point *p = &r->points[i];
        if (device == FIXED_POINTS ? !p->is_fixed : device != (int64_t)p->device)
            continue;
        double field[3];
        r->job->method->field(r->job->task, p->number, field);
        for (int axis = 0; axis < 3; axis++, j->n++) {
            j->value[j->n] = field[axis];
            j->right[j->n] = r->right[i][axis];
            j->point[j->n] = i;
        }
    }
    j->accuracy = accuracy_compare(j->n, j->value, j->right, limits, &j->worst);
    if (j->accuracy.passed && accuracy_is_multiple(j->n, j->value, j->right, limits, &j->multiple))
        j->accuracy.passed = false;
    j->accuracy.points /= 3;
    j->accuracy.host_points = j->accuracy.points;
}

static void tell(ley_job *job, size_t device, const recomputed *r, const judged *j)
{
    const double *at_A = r->points[j->point[j->worst]].place_A;
    ley_fail(&job->records[device].failure, LEY_ERROR_WRONG_RESULT,
             "%s: verification failed: at (%.9g, %.9g, %.9g) A the field along %c is %.9g, double precision says %.9g: "
             "an error of %.3g of %s, at most %.3g is right",
             job_record_name(job, device), at_A[0], at_A[1], at_A[2], (int)('x' + j->worst % 3), j->value[j->worst],
             j->right[j->worst].value, j->accuracy.max_error, job->report.field_error_scale, j->accuracy.tolerance);
}

/* Of the fixed points, which have been judged. */
static void measure_by_strata(const recomputed *r, const accuracy_limits *limits, judged *j)
{
    double error2 = 0, points = 0;
    for (size_t k = 0; k < j->n; k++) {
        const double weight = r->points[j->point[k]].weight;
        error2 += weight * pow(accuracy_error(j->value[k], &j->right[k], limits), 2);
        points += weight / 3;
    }
    if (!(r->squares > 0) || !isfinite(error2) || !(points > 0))
        return;
    j->accuracy.relative_rms = sqrt(error2 / r->squares);
    j->accuracy.absolute_rms = sqrt(error2 / (3 * points));
}

static void judge_all(ley_job *job, const recomputed *r, size_t n, accuracy_limits limits, judged *j, bool *is_wrong)
{
    for (size_t device = 0; device < job_record_count(job); device++) {
        judge(r, n, (int64_t)device, limits, j);
        is_wrong[device] = j->n > 0 && !j->accuracy.passed;
        if (is_wrong[device])
            tell(job, device, r, j);
    }
    judge(r, n, FIXED_POINTS, limits, j);
    measure_by_strata(r, &limits, j);
    job->report.field_accuracy = j->accuracy;
}

ley_status field_verification(ley_job *job, const reference_terms *terms, accuracy_limits limits, size_t n,
                              const field_point *points, double squares, bool *is_wrong, ley_error *error)
{
    const size_t bytes = 3 * (n + 1) * (sizeof(double) + 2 * sizeof(reference_value) + sizeof(size_t));
    recomputed r = {
        .terms = terms, .points = points, .job = job, .squares = squares, .right = malloc((n + 1) * sizeof *r.right)};
    judged j = {.value = malloc(3 * (n + 1) * sizeof *j.value),
                .right = malloc(3 * (n + 1) * sizeof *j.right),
                .point = malloc(3 * (n + 1) * sizeof *j.point)};
    ley_status status = r.right == NULL || j.value == NULL || j.right == NULL || j.point == NULL
                            ? ley_fail_memory(error, bytes, "the verification")
                            : LEY_OK;
    if (status == LEY_OK && job_is_by_parts(job))
        status = recompute_on_ranks(&r, n, error);
    else if (status == LEY_OK)
        parallel_ranges(n, recompute, &r);
    if (status == LEY_OK && job_cancelled(job))
        status = ley_fail(error, LEY_CANCELLED, "cancelled");
    if (status == LEY_OK)
        judge_all(job, &r, n, field_limits(job->method, limits), &j, is_wrong);
    free(r.right);
    free(j.value);
    free(j.right);
    free(j.point);
    return status;
}
