#include "verify/run_check.h"

#include "error.h"
#include "parallel.h"
#include "verify/field_verification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void recompute(void *context, size_t first, size_t last)
{
    run_check *c = context;
    for (size_t i = first; i < last; i++) {
        const reference_terms at = method_terms_at(c->method, c->task, &c->terms, c->points[i].number);
        c->points[i].right = reference_sum(&at, c->points[i].place_A);
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
}

static void *check(void *context)
{
    run_check *c = context;
    double *values = malloc(c->count * sizeof *values);
    reference_value *right = malloc(c->count * sizeof *right);
    c->status = values != NULL && right != NULL
                    ? reference_begin(&c->terms, c->count, NULL, &c->error)
                    : ley_fail_memory(&c->error, c->count * sizeof *right, "the verification");
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
    }
}

ley_status run_check_begin(run_check *c, const ley_job *job, int64_t run, size_t points, uint64_t *random,
                           ley_error *error)
{
    const method *m = job->method;
    run_check_end(c);
    *c = (run_check){.run = run, .method = m, .task = job->task, .count = points, .limits = m->limits(job->task)};
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
