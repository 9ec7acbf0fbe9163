#include "verify/verification.h"

#include "clock.h"
#include "error.h"
#include "law/tolerance_floor.h"
#include "parallel.h"
#include "schedule/method.h"
#include "target/map.h"
#include "verify/field_verification.h"
#include "verify/rank_sums.h"
#include "verify/sample_judge.h"
#include "verify/sample_recompute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points that are recomputed at least, unless the options say otherwise; and how long the others
 * may take. */
enum { USUAL_LEAST_POINTS = 50 };
static const double share_of_run = 0.02, usual_s = 0.05;
static double replaced_s;

void verification_time_replace(double seconds)
{
    replaced_s = seconds;
}

static double budget_s(double run_s)
{
    return replaced_s > 0 ? replaced_s : fmax(share_of_run * run_s, usual_s);
}

/* ---- Its tolerance --------------------------------------------------------------------------- */

static ley_status judge_tolerance(const sample *s, ley_error *error)
{
    ley_job *job = s->job;
    tolerance_place *places = malloc((s->count + 1) * sizeof *places);
    size_t n = 0;
    if (places == NULL)
        return ley_fail_memory(error, s->count * sizeof *places, "the verification");
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].is_fixed && s->points[i].judge != JUDGE_NOBODY) {
            const reference_terms at = method_terms_at(job->method, job->task, &s->terms, s->points[i].number);
            places[n].weight = s->points[i].weight > 0 ? s->points[i].weight : 1;
            places[n].excluded = at.excluded;
            places[n].excluded_count = at.excluded_count;
            memcpy(places[n++].place_A, s->points[i].place_A, sizeof places->place_A);
        }
    reference_terms terms = s->terms;
    const bool asks_ranks = terms.atoms != NULL && job_is_by_parts(job);
    ley_status status = LEY_OK;
    terms.atoms = asks_ranks ? NULL : terms.atoms;
    tolerance_judge(&job->report, job->options.tolerance, &terms, n, places, &job->terms);
    if (asks_ranks && job->report.tolerance_share > 1) {
        status = rank_sums_squares(&s->terms, n, places, &job->terms, error);
        tolerance_judge_by(&job->report, job->options.tolerance, &job->terms);
    }
    free(places);
    return status;
}

/* ---- Its field ------------------------------------------------------------------------------- */

/* Of the points of the strata, so many parts: on however many cores, the sum is the same. */
enum { FIELD_PARTS = 256 };

typedef struct field_sum {
    const sample *sample;
    double squares[FIELD_PARTS];
} field_sum;

static void square_parts(void *context, size_t first, size_t last)
{
    field_sum *f = context;
    const ley_job *job = f->sample->job;
    const stratified_sample *from = &f->sample->stratified_sample;
    for (size_t part = first; part < last; part++)
        for (size_t k = parallel_first((size_t)from->count, FIELD_PARTS, part);
             k < parallel_first((size_t)from->count, FIELD_PARTS, part + 1); k++) {
            const int64_t number = sample_point(f->sample, stratified_sample_point(from, (int64_t)k)).number;
            double field[3];
            job->method->field(job->task, number, field);
            for (int axis = 0; axis < 3; axis++)
                f->squares[part] += isfinite(field[axis]) ? field[axis] * field[axis] : 0;
        }
}

/* Of a map the sums of its planes are known, as far as all are there and large enough. */
static bool add_planes(const ley_map *map, double *sum)
{
    const size_t count = (size_t)map_block_count(map);
    double *blocks = malloc(count * sizeof *blocks);
    const bool is_known = blocks != NULL && map_block_squares(map, blocks);
    for (size_t b = 0; b < count && is_known; b++)
        *sum += blocks[b];
    free(blocks);
    return is_known;
}

/* The same of as many points as were looked at. */
static bool sum_planes(const sample *s, double *sum)
{
    const method *m = s->job->method;
    const ley_map *map = m->map != NULL ? m->map(s->job->task) : NULL;
    bool is_known = map != NULL;
    *sum = 0;
    for (int axis = 0; axis < 3 && is_known; axis++)
        is_known = add_planes(ley_map_field(map, axis), sum);
    if (is_known)
        *sum *= (double)s->stratified_sample.count / (double)ley_grid_points(ley_map_grid(map));
    return is_known;
}

/* 0: there are no strata. */
static double field_squares(const sample *s)
{
    field_sum f = {.sample = s};
    double sum = 0;
    if (s->stratified_sample.count == 0 || sum_planes(s, &sum))
        return sum;
    parallel_ranges(FIELD_PARTS, square_parts, &f);
    for (size_t part = 0; part < FIELD_PARTS; part++)
        sum += f.squares[part];
    return sum;
}

/* At the points that the host has, where the values are right. */
static ley_status judge_field(sample *s, size_t *wrong, ley_error *error)
{
    ley_job *job = s->job;
    const size_t devices = job_record_count(job);
    if (*wrong > 0 || s->is_wider || s->count == 0 || !field_is_there(job, s->points[0].number))
        return LEY_OK;
    field_point *points = malloc(s->count * sizeof *points);
    bool *is_wrong = calloc(devices, sizeof *is_wrong);
    size_t n = 0;
    ley_status status = points == NULL || is_wrong == NULL
                            ? ley_fail_memory(error, s->count * sizeof *points, "the verification")
                            : LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < s->count; i++) {
        const sampled_point *p = &s->points[i];
        if (!p->is_fixed && !p->is_for_host)
            continue;
        points[n] =
            (field_point){.number = p->number, .device = p->device, .is_fixed = p->is_fixed, .weight = p->weight};
        memcpy(points[n++].place_A, p->place_A, sizeof p->place_A);
    }
    if (status == LEY_OK)
        status = field_verification(job, &s->terms, s->limits, n, points, field_squares(s), is_wrong, error);
    for (size_t device = 0; status == LEY_OK && device < devices; device++) {
        if (is_wrong[device] && (s->is_wider || sample_look_closer(s))) {
            ley_error_clear(&job->records[device].failure);
        } else if (is_wrong[device]) {
            sample_dismiss(job, device);
            ++*wrong;
        }
    }
    free(points);
    free(is_wrong);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status verify(ley_job *job, size_t *wrong, bool *is_wider, ley_error *error)
{
    const int64_t total = job->report.points;
    const size_t wanted = job->options.verify_points < (uint64_t)total ? job->options.verify_points : (size_t)total;
    uint64_t random = job->options.verify_seed;
    sample s = {
        .job = job, .start_s = ley_clock_s(), .limits = job->method->limits(job->task), .terms = rank_sums_terms(job)};
    s.least = job->options.verify_least > 0 ? job->options.verify_least : USUAL_LEAST_POINTS;
    s.budget_s = budget_s(job->report.compute_s);
    s.points = malloc((wanted + job->report.slab_count + 1) * sizeof *s.points);
    *wrong = 0;
    if (s.points == NULL)
        return ley_fail_memory(error, wanted * sizeof *s.points, "the verification");
    ley_status status = sample_choose(&s, wanted, total, &random, error);
    if (status == LEY_OK)
        status = sample_check_store(job, error);
    if (status == LEY_OK)
        status = reference_begin(&s.terms, s.least, job->cancelled, error);
    if (status == LEY_OK) {
        sample_recompute(&s);
        status = job_cancelled(job) ? ley_fail(error, LEY_CANCELLED, "cancelled") : sample_judge(&s, wrong, error);
        if (status == LEY_OK)
            status = judge_field(&s, wrong, error);
        if (status == LEY_OK && *wrong == 0 && !s.is_wider)
            status = judge_tolerance(&s, error);
        reference_end(&s.terms);
    }
    *is_wider = s.is_wider;
    stratified_sample_clear(&s.stratified_sample);
    free(s.points);
    return status;
}

ley_status verification_run(ley_job *job, size_t *wrong, ley_error *error)
{
    bool is_wider = false;
    const ley_status status = verify(job, wrong, &is_wider, error);
    return status == LEY_OK && is_wider ? verify(job, wrong, &is_wider, error) : status;
}
