#include "verify/rank_sums.h"

#include "error.h"
#include "io/atoms_share.h"
#include "law/periodic.h"
#include "parallel.h"
#include "ranks.h"
#include "schedule/method.h"
#include "source/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points at a time: what comes back is as much of each rank. */
enum { TOGETHER = 1024 };

typedef enum wanted { SUMS, FIELDS, SQUARES, ATOMS } wanted;

typedef struct question {
    int64_t n; /* 0: it was the last one */
    wanted wanted;
    ley_long_range_shares shares; /* what rank 0 allows, from all atoms: others know their own part's */
    double field_per_A, field_share;
    rank_sums_point point[TOGETHER];
    double weight[TOGETHER]; /* of squares */
} question;

typedef struct answer {
    const ley_job *job;
    const reference_terms *terms;
    const question *asked;
    reference_value *sums;
} answer;

reference_terms rank_sums_terms(const ley_job *job)
{
    reference_terms terms;
    job->method->terms(job->task, &terms);
    if (job_is_by_parts(job))
        terms.atoms = ley_atoms_share(job->atoms);
    return terms;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void sum_some(void *context, size_t first, size_t last)
{
    const answer *a = context;
    for (size_t i = first; i < last; i++) {
        const rank_sums_point *p = &a->asked->point[i];
        const reference_terms terms = method_terms_at(a->job->method, a->job->task, a->terms, p->number);
        if (a->asked->wanted == FIELDS)
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
    const bool are_squares = a->terms->law->sums_squares, has_value = a->asked->wanted != FIELDS;
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
    const size_t n = (size_t)a->asked->n * ((a->asked->wanted == FIELDS) ? 3 : 1), ranks = (size_t)ranks_count(),
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
                            .wanted = are_fields ? FIELDS : SUMS,
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

/* ---- What is rarely asked for ---------------------------------------------------------------- */

/* On all ranks. */
static void square_together(const reference_terms *terms, const question *asked, double squares[2])
{
    tolerance_place place[TOGETHER];
    for (int64_t i = 0; i < asked->n; i++) {
        place[i] = (tolerance_place){.weight = asked->weight[i]};
        memcpy(place[i].place_A, asked->point[i].place_A, sizeof place[i].place_A);
    }
    tolerance_squares_at(terms, (size_t)asked->n, place, squares);
    ranks_add(squares, 2);
}

ley_status rank_sums_squares(const reference_terms *terms, size_t n, const tolerance_place *places,
                             tolerance_terms *made, ley_error *error)
{
    double all[2] = {0, 0}, weights = 0;
    question *asked = calloc(1, sizeof *asked);
    if (asked == NULL)
        return ley_fail_memory(error, sizeof *asked, "the verification");
    for (size_t first = 0; first < n; first += TOGETHER) {
        double squares[2];
        *asked = (question){.n = n - first < TOGETHER ? (int64_t)(n - first) : TOGETHER, .wanted = SQUARES};
        for (int64_t i = 0; i < asked->n; i++) {
            const tolerance_place *p = &places[first + (size_t)i];
            memcpy(asked->point[i].place_A, p->place_A, sizeof p->place_A);
            weights += asked->weight[i] = p->weight;
        }
        ranks_broadcast(asked, sizeof *asked);
        square_together(terms, asked, squares);
        all[0] += squares[0];
        all[1] += squares[1];
    }
    free(asked);
    *made = tolerance_terms_of(terms, all, weights);
    return LEY_OK;
}

ley_status rank_sums_all_atoms(const ley_job *job, ley_error *error)
{
    if (ley_atoms_all(job->atoms) != NULL)
        return LEY_OK;
    question *asked = calloc(1, sizeof *asked);
    if (asked == NULL)
        return ley_fail_memory(error, sizeof *asked, "the verification");
    *asked = (question){.n = 1, .wanted = ATOMS};
    ranks_broadcast(asked, sizeof *asked);
    free(asked);
    return atoms_share_bring((ley_atoms *)(uintptr_t)job->atoms, error);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* What rank 0 has no memory for does not come, and it goes on without. */
static ley_status answer_one(const ley_job *job, reference_terms *terms, const question *asked, ley_error *error)
{
    double squares[2];
    if (asked->wanted == ATOMS) {
        atoms_share_bring((ley_atoms *)(uintptr_t)job->atoms, NULL);
        return LEY_OK;
    }
    if (asked->wanted == SQUARES) {
        square_together(terms, asked, squares);
        return LEY_OK;
    }
    terms->shares = asked->shares;
    if (terms->images != NULL)
        periodic_sum_allow(terms->images, asked->shares);
    terms->field_per_A = asked->field_per_A;
    terms->field_share = asked->field_share;
    return answer_together(&(answer){job, terms, asked, NULL}, error);
}

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
        status = answer_one(job, &terms, asked, error);
    }
    if (asked != NULL)
        reference_end(&terms);
    free(asked);
    return status;
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
    ley_atoms_put_all((ley_atoms *)(uintptr_t)job->atoms, NULL);
    return status;
}
