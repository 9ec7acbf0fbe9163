#include "verify/rank_sums.h"

#include "error.h"
#include "parallel.h"
#include "ranks.h"
#include "schedule/method.h"
#include "source/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points at a time: what comes back is as much of each rank. */
enum { TOGETHER = 1024 };

typedef struct question {
    int64_t n; /* 0: it was the last one */
    bool are_fields;
    ley_long_range_shares shares; /* what rank 0 allows, from all atoms: others know their own part's */
    double field_per_A, field_share;
    rank_sums_point point[TOGETHER];
} question;

typedef struct answer {
    const ley_job *job;
    const reference_terms *terms;
    const question *asked;
    reference_value *sums;
} answer;

/* ---- Own atoms ------------------------------------------------------------------------------- */

static bool is_own(const atoms_part *part, double z_A)
{
    return !part->is_empty && z_A >= part->own_A[0] && z_A < part->own_A[1];
}

/* There must be an atom: one that adds nothing anywhere. */
static const double nowhere_A[3] = {1e8, 1e8, 1e8};

static ley_status copy_own(const ley_atoms *atoms, ley_atoms **made, ley_error *error)
{
    const atoms_part *part = ley_atoms_part(atoms);
    const double *position_A = ley_atoms_positions_A(atoms);
    const size_t n = ley_atoms_count(atoms);
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += is_own(part, position_A[3 * i + 2]);
    const size_t count = own > 0 ? own : 1;
    ley_status status = ley_atoms_allocate(count, made, error);
    if (status != LEY_OK)
        return status;
    double *numbers = ley_atoms_numbers(*made), *to_A = numbers;
    memcpy(numbers, nowhere_A, sizeof nowhere_A);
    for (size_t i = 0, k = 0; i < n; i++) {
        if (!is_own(part, position_A[3 * i + 2]))
            continue;
        memcpy(to_A + 3 * k, position_A + 3 * i, 3 * sizeof *to_A);
        numbers[3 * count + k] = ley_atoms_charges_e(atoms)[i];
        numbers[4 * count + k++] = ley_atoms_radii_A(atoms)[i];
    }
    return ley_atoms_complete(*made, error);
}

reference_terms rank_sums_terms(const ley_job *job)
{
    reference_terms terms;
    job->method->terms(job->task, &terms);
    if (job->own_atoms != NULL)
        terms.atoms = job->own_atoms;
    return terms;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void sum_some(void *context, size_t first, size_t last)
{
    const answer *a = context;
    for (size_t i = first; i < last; i++) {
        const rank_sums_point *p = &a->asked->point[i];
        const reference_terms terms = method_terms_at(a->job->method, a->job->task, a->terms, p->number);
        if (a->asked->are_fields)
            reference_field(&terms, p->place_A, a->sums + 3 * i);
        else
            a->sums[i] = reference_sum(&terms, p->place_A);
    }
}

/* What is absolute in sums of squares is a root of these, and of values their magnitude
 * (law/law.h). */
static double squared(const reference_value *v, bool has_value)
{
    return pow(v->absolute - (has_value ? fabs(v->value) : 0), 2);
}

static reference_value add_up(const answer *a, const reference_value *all, size_t stride)
{
    const bool are_squares = a->terms->law->sums_squares, has_value = !a->asked->are_fields;
    reference_value sum = {.value = 0};
    double squares = 0;
    for (size_t r = 0; r < (size_t)ranks_count(); r++) {
        const reference_value *v = &all[r * stride];
        sum.value += v->value;
        sum.lower += v->lower;
        sum.higher += v->higher;
        sum.absolute += v->absolute;
        squares += squared(v, has_value);
    }
    if (are_squares)
        sum.absolute = sqrt(squares) + (has_value ? fabs(sum.value) : 0);
    return sum;
}

/* On all ranks; the sums of all are rank 0's. */
static ley_status answer_together(answer *a, ley_error *error)
{
    const size_t n = (size_t)a->asked->n * (a->asked->are_fields ? 3 : 1), ranks = (size_t)ranks_count(),
                 bytes = (ranks + 1) * n * sizeof(reference_value);
    reference_value *own = malloc(bytes), *sums = a->sums;
    if (own == NULL)
        return ley_fail_memory(error, bytes, "the verification");
    reference_value *all = own + n;
    a->sums = own;
    parallel_ranges((size_t)a->asked->n, sum_some, a);
    ranks_share(own, n * sizeof *own, all);
    for (size_t i = 0; i < n && sums != NULL; i++)
        sums[i] = add_up(a, all + i, n);
    free(own);
    return LEY_OK;
}

ley_status rank_sums_ask(const ley_job *job, const reference_terms *terms, size_t n, const rank_sums_point *points,
                         bool are_fields, reference_value *sums, ley_error *error)
{
    question *asked = calloc(1, sizeof *asked);
    ley_status status = asked != NULL ? LEY_OK : ley_fail_memory(error, sizeof *asked, "the verification");
    for (size_t first = 0; first < n && status == LEY_OK; first += TOGETHER) {
        *asked = (question){.n = n - first < TOGETHER ? (int64_t)(n - first) : TOGETHER,
                            .are_fields = are_fields,
                            .shares = terms->shares,
                            .field_per_A = terms->field_per_A,
                            .field_share = terms->field_share};
        memcpy(asked->point, points + first, (size_t)asked->n * sizeof *points);
        ranks_broadcast(asked, sizeof *asked);
        status = answer_together(&(answer){job, terms, asked, sums + first * (are_fields ? 3 : 1)}, error);
    }
    free(asked);
    return status;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* Until rank 0 has no more to ask for. */
static ley_status answer_all(const ley_job *job, ley_error *error)
{
    reference_terms terms = rank_sums_terms(job);
    question *asked = calloc(1, sizeof *asked);
    ley_status status = asked != NULL ? reference_begin(&terms, TOGETHER, job->cancelled, error)
                                      : ley_fail_memory(error, sizeof *asked, "the verification");
    while (status == LEY_OK) {
        ranks_broadcast(asked, sizeof *asked);
        if (asked->n == 0)
            break;
        terms.shares = asked->shares;
        terms.field_per_A = asked->field_per_A;
        terms.field_share = asked->field_share;
        status = answer_together(&(answer){job, &terms, asked, NULL}, error);
    }
    if (asked != NULL)
        reference_end(&terms);
    free(asked);
    return status;
}

ley_status rank_sums_begin(ley_job *job, ley_error *error)
{
    return job_is_by_parts(job) ? copy_own(job->atoms, &job->own_atoms, error) : LEY_OK;
}

ley_status rank_sums_end(ley_job *job, ley_status status, ley_error *error)
{
    if (!job_is_by_parts(job))
        return status;
    if (status == LEY_OK && ranks_own() > 0)
        status = answer_all(job, error);
    question *last = ranks_own() == 0 ? calloc(1, sizeof *last) : NULL;
    if (last != NULL)
        ranks_broadcast(last, sizeof *last);
    free(last);
    ley_atoms_destroy(job->own_atoms);
    job->own_atoms = NULL;
    return status;
}
