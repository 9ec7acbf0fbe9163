#include "verify/run_check.h"

#include "error.h"
#include "parallel.h"
#include "verify/field_verification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of so many points the field is judged at one: its sums take longer. */
enum { POINTS_OF_A_FIELD = 4 };

static void recompute(void *context, size_t first, size_t last)
{
    run_check *c = context;
    for (size_t i = first; i < last; i++) {
        const reference_terms at = method_terms_at(c->method, c->task, &c->terms, c->points[i].number);
        c->points[i].right = reference_sum(&at, c->points[i].place_A);
        if (i < c->field_count)
            reference_field(&at, c->points[i].place_A, c->points[i].right_field);
    }
}

static void judge(run_check *c, double *values, reference_value *right)
{
    for (size_t i = 0; i < c->count; i++) {
        values[i] = c->points[i].value;
        right[i] = c->points[i].right;
    }
    c->accuracy = accuracy_compare(c->count, values, right, c->limits, &c->worst);
    c->accuracy.host_points = c->count;
    for (size_t k = 0; k < 3 * c->field_count; k++) {
        values[k] = c->points[k / 3].field[k % 3];
        right[k] = c->points[k / 3].right_field[k % 3];
    }
    if (c->field_count > 0)
        c->field_accuracy = accuracy_compare(3 * c->field_count, values, right, field_limits(c->method, c->limits),
                                             &c->worst_component);
}

static void *check(void *context)
{
    run_check *c = context;
    const size_t most = c->count > 3 * c->field_count ? c->count : 3 * c->field_count;
    double *values = malloc(most * sizeof *values);
    reference_value *right = malloc(most * sizeof *right);
    c->status = values != NULL && right != NULL ? reference_begin(&c->terms, c->count, NULL, &c->error)
                                                : ley_fail_memory(&c->error, most * sizeof *right, "the verification");
    if (c->status == LEY_OK) {
        parallel_ranges(c->count, recompute, c);
        judge(c, values, right);
        reference_end(&c->terms);
    }
    free(values);
    free(right);
    return NULL;
}

static void choose(run_check *c, const ley_job *job, uint64_t *random)
{
    const method *m = job->method;
    const slab all = {0, m->stages[m->result].count(job->task)};
    for (size_t i = 0; i < c->count; i++) {
        run_point *p = &c->points[i];
        p->number = m->point(job->task, all, (int64_t)(accuracy_random(random) % (uint64_t)job->report.points));
        p->value = m->value(job->task, p->number, p->place_A);
        if (c->field_count > 0)
            m->field(job->task, p->number, p->field);
    }
}

ley_status run_check_begin(run_check *c, const ley_job *job, int64_t run, size_t points, uint64_t *random,
                           ley_error *error)
{
    const method *m = job->method;
    run_check_end(c);
    *c = (run_check){.run = run, .method = m, .task = job->task, .count = points, .limits = m->limits(job->task)};
    c->field_count = field_is_there(job, 0) ? (points + POINTS_OF_A_FIELD - 1) / POINTS_OF_A_FIELD : 0;
    m->terms(job->task, &c->terms);
    ley_status status =
        ley_atoms_create(ley_atoms_count(job->atoms), ley_atoms_positions_A(job->atoms),
                         ley_atoms_charges_e(job->atoms), ley_atoms_radii_A(job->atoms), &c->atoms, error);
    if (status == LEY_OK && (c->points = calloc(points, sizeof *c->points)) == NULL)
        status = ley_fail_memory(error, points * sizeof *c->points, "the verification");
    if (status != LEY_OK)
        return status;
    c->terms.atoms = c->atoms;
    choose(c, job, random);
    c->is_running = parallel_start(&c->thread, check, c) == 0;
    if (!c->is_running)
        check(c);
    return LEY_OK;
}

ley_status run_check_wait(run_check *c, ley_error *error)
{
    if (c->is_running)
        pthread_join(c->thread, NULL);
    c->is_running = false;
    if (c->status != LEY_OK)
        ley_error_copy(error, &c->error);
    return c->status;
}

void run_check_end(run_check *c)
{
    run_check_wait(c, NULL);
    ley_error_clear(&c->error);
    ley_atoms_destroy(c->atoms);
    free(c->points);
    *c = (run_check){.count = 0};
}
