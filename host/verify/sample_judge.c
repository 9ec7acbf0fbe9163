#include "verify/sample_judge.h"

#include "dev_kernel.h"
#include "error.h"
#include "log.h"
#include "schedule/method.h"
#include "verify/rank_sums.h"
#include "verify/sample_recompute.h"

#include <math.h>
#include <stdlib.h>

/* In place of a device. */
enum { ALL_POINTS = -1, FIXED_POINTS = -2 };

static bool is_among(const sampled_point *p, int64_t device)
{
    return p->judge != JUDGE_NOBODY &&
           (device == ALL_POINTS || (device == FIXED_POINTS && p->is_fixed) || device == (int64_t)p->device);
}

/* The points of one device, or of all, or those that the seed decides. `multiple`: of what is
 * right, where that is what is wrong; else 1. */
static ley_accuracy judge_points(const sample *s, int64_t device, double *values, reference_value *right,
                                 size_t *indices, size_t *worst, double *multiple)
{
    size_t n = 0, on_host = 0, at = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], device)) {
            values[n] = s->points[i].value;
            right[n] = s->points[i].right;
            indices[n++] = i;
            on_host += s->points[i].judge == JUDGE_HOST;
        }
    ley_accuracy a = accuracy_compare(n, values, right, s->limits, &at);
    a.host_points = on_host;
    *worst = n > 0 ? indices[at] : 0;
    if (!a.passed || !accuracy_is_multiple(n, values, right, s->limits, multiple))
        *multiple = 1;
    a.passed = a.passed && *multiple == 1;
    return a;
}

/* Where a method's values are noisy: how large values are, from the points that are known and from
 * places beside some charges, wherever the points are. False: that is known, or not asked for. */
static bool find_noise(sample *s)
{
    enum { CHARGES = 16 };
    const size_t atoms = ley_atoms_count(s->terms.atoms);
    uint64_t random = s->job->options.verify_seed;
    double squares = 0;
    size_t n = 0;
    if (s->limits.share == 0 || s->limits.noise > 0 || atoms == 0)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], ALL_POINTS) && isfinite(s->points[i].right.value)) {
            squares += pow(s->points[i].right.value, 2);
            n++;
        }
    sampled_point beside[CHARGES];
    for (int i = 0; i < CHARGES; i++) {
        const double *at_A = ley_atoms_positions_A(s->terms.atoms) + 3 * (accuracy_random(&random) % atoms);
        beside[i] = (sampled_point){.place_A = {at_A[0] + 1, at_A[1] - 0.8, at_A[2] + 1.2}};
        if (!job_is_by_parts(s->job))
            beside[i].right = reference_sum(&s->terms, beside[i].place_A);
    }
    if (job_is_by_parts(s->job) && sample_sum_on_ranks(s, CHARGES, beside) != LEY_OK)
        return false;
    for (int i = 0; i < CHARGES; i++, n++)
        squares += pow(beside[i].right.value, 2);
    s->limits.noise = s->limits.share * sqrt(squares / (double)n);
    return s->limits.noise > 0;
}

/* By how much the method's own steps may be off more than it expects of them, and of how many
 * points it is asked. */
static const double most_excess = 4;
enum { MOST_ASKED = 50 };

/* The point that is most in error and others of the device's. */
static size_t choose_asked(const sample *s, size_t device, size_t worst, size_t *indices)
{
    size_t n = 0, all = 0, passed = 0;
    indices[n++] = worst;
    for (size_t i = 0; i < s->count; i++)
        all += i != worst && is_among(&s->points[i], (int64_t)device);
    const size_t step = all / MOST_ASKED + 1;
    for (size_t i = 0; i < s->count; i++)
        if (i != worst && is_among(&s->points[i], (int64_t)device) && passed++ % step == 0 && n < MOST_ASKED)
            indices[n++] = i;
    return n;
}

/* Whether the values are what the method's steps make of the problem when each of them is right:
 * then these are somewhat more off than the method expected of itself, as with charges that lie in
 * step with its grids, and the device is not to blame. */
static bool is_methods_own(const sample *s, size_t device, const ley_accuracy *a, size_t worst)
{
    const ley_job *job = s->job;
    size_t indices[MOST_ASKED], at;
    double place_A[MOST_ASKED][3], values[MOST_ASKED], made[MOST_ASKED];
    reference_value right[MOST_ASKED];
    if (job->method->by_steps == NULL || !(a->max_error <= most_excess * s->limits.tolerance))
        return false;
    if (job_is_by_parts(job) &&
        (job->method->by_steps(job->task, 0, NULL, NULL, NULL) != LEY_OK || rank_sums_all_atoms(job, NULL) != LEY_OK))
        return false;
    const size_t n = choose_asked(s, device, worst, indices);
    for (size_t i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            place_A[i][axis] = s->points[indices[i]].place_A[axis];
    if (job->method->by_steps(job->task, n, (const double(*)[3])place_A, made, NULL) != LEY_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        values[i] = s->points[indices[i]].value;
        right[i] = s->points[indices[i]].right;
        if (sample_excludes_atoms(s)) /* of points, whose atoms are all here; steps make the sum of all atoms */
            right[i].value += made[i] - reference_sum(&s->terms, place_A[i]).value;
        else
            right[i].value = made[i];
    }
    accuracy_limits limits = s->limits;
    limits.tolerance = limits.rounding;
    const ley_accuracy own = accuracy_compare(n, values, right, limits, &at);
    log_say(LEY_LOG_NOTE, "an error of %.3g, more than %.3g: by the method's own steps in double precision it is %.3g",
            a->max_error, s->limits.tolerance, own.max_error);
    return own.passed;
}

void sample_dismiss(ley_job *job, size_t device)
{
    log_say(LEY_LOG_WARNING, "a device leaves the job, its slabs are open again: %s",
            job->records[device].failure.message);
    if (device >= job->engine->candidate_count) /* a rank, which does so itself */
        return;
    if (worker_device(&job->engine->workers[device]) != NULL)
        kernels_distrust(worker_device(&job->engine->workers[device]));
    if (job->method->distrust != NULL)
        job->method->distrust(job->task);
    job_reopen_slabs(job, device);
}

/* Its values follow from what another device made, which may be the one that is wrong: from now on
 * it makes that itself. */
static bool is_excused(sample *s, size_t device)
{
    device_record *record = &s->job->records[device];
    if (record->lender == 0 || record->makes_own)
        return false;
    record->makes_own = true;
    log_say(LEY_LOG_WARNING, "%s: its values are wrong, and follow from what %s has made: it does without that",
            job_record_name(s->job, device), s->job->engine->workers[record->lender - 1].info->name);
    job_reopen_slabs(s->job, device);
    return true;
}

static void blame(sample *s, size_t device, const ley_accuracy *a, const sampled_point *worst, double multiple)
{
    ley_job *job = s->job;
    if (multiple != 1)
        ley_fail(&job->records[device].failure, LEY_ERROR_WRONG_RESULT,
                 "%s: verification failed: at %zu points the values are %.3g times what double precision says, such as "
                 "%.9g for %.9g at "
                 "(%.9g, %.9g, %.9g) A",
                 job_record_name(job, device), (size_t)a->points, multiple, worst->value, worst->right.value,
                 worst->place_A[0], worst->place_A[1], worst->place_A[2]);
    else
        ley_fail(&job->records[device].failure, LEY_ERROR_WRONG_RESULT,
                 "%s: verification failed: at (%.9g, %.9g, %.9g) A the value is %.9g, double precision says %.9g: an "
                 "error of %.3g of %s, at most %.3g is right",
                 job_record_name(job, device), worst->place_A[0], worst->place_A[1], worst->place_A[2], worst->value,
                 worst->right.value, a->max_error, job->report.error_scale, a->tolerance);
    sample_dismiss(job, device);
}

bool sample_look_closer(sample *s)
{
    const method *m = s->job->method;
    if (m->look_closer != NULL && job_is_by_parts(s->job))
        rank_sums_all_atoms(s->job, NULL);
    s->is_wider = m->look_closer != NULL && m->look_closer(s->job->task);
    return s->is_wider;
}

/* For how many points each stands that was drawn from all alike or by its square: by how often both
 * together are expected to draw it. */
static void weigh_drawn(sample *s, int64_t group)
{
    double alike = 0, by_square = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], group))
            *(s->points[i].is_drawn_by_square ? &by_square : &alike) += 1;
    for (size_t i = 0; i < s->count; i++) {
        const double square = s->points[i].value * s->points[i].value;
        s->points[i].weight = 1 / (alike / (double)s->job->report.points + by_square * square / s->squares);
    }
}

/* Of all values, as far as strata or draws tell, the others beside the group; that of values which
 * should be 0 stays what it is. */
static void measure_all_values(sample *s, int64_t group, ley_accuracy *a)
{
    double error2 = 0, beyond2 = 0, right2 = 0;
    stratified_sample of = s->stratified_sample;
    const bool is_drawn = of.count == 0 && s->squares > 0;
    if ((of.count == 0 && !is_drawn) || a->relative_rms == 0 || !isfinite(a->relative_rms) ||
        !isfinite(a->absolute_rms))
        return;
    if (is_drawn) {
        weigh_drawn(s, group);
        of = (stratified_sample){.count = s->job->report.points, .squares = s->squares};
    }
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], is_drawn ? group : FIXED_POINTS)) {
            const sampled_point *p = &s->points[i];
            error2 += p->weight * pow(accuracy_error(p->value, &p->right, &s->limits), 2);
            right2 += p->weight * p->right.value * p->right.value;
            beyond2 += p->weight * (p->value * p->value - p->right.value * p->right.value);
        }
    a->absolute_rms = stratified_sample_absolute_rms(&of, error2);
    a->relative_rms = stratified_sample_relative_rms(&of, error2, beyond2, right2);
}

ley_status sample_judge(sample *s, size_t *wrong, ley_error *error)
{
    double *values = malloc((s->count + 1) * sizeof *values);
    reference_value *right = malloc((s->count + 1) * sizeof *right);
    size_t *indices = malloc((s->count + 1) * sizeof *indices), worst;
    double multiple, own = 0;
    ley_status status = values == NULL || right == NULL || indices == NULL
                            ? ley_fail_memory(error, s->count * sizeof *right, "the verification")
                            : LEY_OK;
    for (size_t device = 0; status == LEY_OK && device < job_record_count(s->job); device++) {
        ley_accuracy a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && !sample_is_confirmed(s, device, worst))
            a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && multiple == 1 && find_noise(s))
            a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && sample_look_closer(s))
            break;
        if (a.points > 0 && !a.passed && multiple == 1 && is_methods_own(s, device, &a, worst)) {
            own = fmax(own, a.max_error);
            continue;
        }
        if (a.points == 0 || a.passed)
            continue;
        if (!is_excused(s, device))
            blame(s, device, &a, &s->points[worst], multiple);
        ++*wrong;
    }
    s->limits.tolerance = fmax(s->limits.tolerance, own);
    if (status == LEY_OK && !s->is_wider) {
        s->job->report.seeded_accuracy = judge_points(s, FIXED_POINTS, values, right, indices, &worst, &multiple);
        s->job->report.accuracy = judge_points(s, ALL_POINTS, values, right, indices, &worst, &multiple);
        measure_all_values(s, FIXED_POINTS, &s->job->report.seeded_accuracy);
        measure_all_values(s, ALL_POINTS, &s->job->report.accuracy);
    }
    free(values);
    free(right);
    free(indices);
    return status;
}
