/* A job from its first run to its last: one that misses its tolerance is done again, by ever
 * stricter plans. */
#include "clock.h"
#include "error.h"
#include "log.h"
#include "plan/host_job.h"
#include "plan/job_run.h"
#include "schedule/job_memory.h"
#include "schedule/rank_share.h"
#include "target/map.h"

#include <math.h>

/* Shares of the tolerance: what first plans aim at; what the next one aims at, of what would just
 * have done; and the least, for floats have no more digits. */
static const double usual_aim = 0.5, less = 0.6, least_aim = 0.01;

/* What the host may take where no plan of devices reaches the tolerance. */
static const double most_host_s = 60;

/* How a job can be done: by this task, off by so much of the tolerance. */
typedef struct attempt {
    const method *method;
    void *task;
    ley_sum sum; /* that the options ask for */
    double share;
} attempt;

static bool is_missed(const ley_report *r)
{
    return r->tolerance_share > 1 && isfinite(r->tolerance_share);
}

static double next_aim(double aim, double share)
{
    return fmax(aim * fmin(less, less / share), least_aim);
}

static attempt now_of(const ley_job *job, ley_sum sum, ley_status status)
{
    const double share = job->report.tolerance_share;
    return (attempt){.method = job->method,
                     .task = job->task,
                     .sum = sum,
                     .share = status == LEY_OK && isfinite(share) ? share : INFINITY};
}

/* Of maps in memory somebody has asked before these were made. */
static ley_status check_memory(const method *m, const void *task, ley_error *error)
{
    const ley_map *map = m->map != NULL ? m->map(task) : NULL;
    job_needs needs = {.count = 0};
    if (m->host_needs == NULL || (map != NULL && !map_is_stored(map)))
        return LEY_OK;
    m->host_needs(task, &needs);
    return job_needs_check(&needs, error);
}

/* The job's task becomes a stricter one. False: there is none, or no memory for it. */
static bool take_stricter(ley_job *job, double aim, const attempt *now, ley_sum *sum)
{
    ley_error why = {0};
    ley_run_options options = job->options;
    const method *m = now->method;
    void *task = NULL;
    options.aim = aim;
    options.sum = now->sum;
    ley_status status = m->stricter(now->task, job->engine, &options, &m, &task, sum, &why);
    if (status == LEY_OK && (status = check_memory(m, task, &why)) != LEY_OK)
        m->end(task);
    if (status != LEY_OK) {
        log_say(LEY_LOG_NOTE, "nothing stricter than %.2g of the tolerance: %s", aim, why.message);
        ley_error_clear(&why);
        return false;
    }
    job_leave(job);
    job_take(job, m, task);
    return true;
}

static ley_status run_again(ley_job *job, ley_sum sum, ley_error *error)
{
    for (size_t i = 0; i < job->engine->candidate_count; i++)
        if (job->records[i].failure.status == LEY_ERROR_NO_DEVICE)
            ley_error_clear(&job->records[i].failure);
    job->options.sum = sum;
    job->report.float_relative_rms = 0;
    job_begin_again(job);
    return job_run_task(job, error);
}

static void note_missed(ley_report *r)
{
    r->missed_rms[r->missed_count++] = r->accuracy.relative_rms;
}

/* Everything that was tried, the first one first. */
typedef struct tries {
    attempt list[1 + LEY_MOST_TRIES];
    size_t count, best;
} tries;

static void add(tries *t, const attempt *made)
{
    t->list[t->count] = *made;
    if (made->share < t->list[t->best].share)
        t->best = t->count;
    t->count++;
}

/* Whether the tolerance is missed, and doubles of the host are to be had in so many seconds. */
static bool host_could_reach_it(const ley_job *job, double most_s)
{
    const method *m = job->method;
    ley_run_options options = job->options;
    host_sum sum = {.map = NULL};
    options.sum = LEY_SUM_DOUBLE; /* which is more than any other that was asked for */
    return is_missed(&job->report) && job->given == NULL &&
           host_sum_check(m, job->task, &options, NULL, NULL) == LEY_OK && m->by_host(job->task, &sum) && sum.is_free &&
           host_sum_seconds(&sum) <= most_s;
}

static bool host_reaches_it(const ley_job *job, double most_s)
{
    return rank_share_agree(job, host_could_reach_it(job, most_s));
}

/* As long as the tolerance is missed, and the host would take longer than all so far. A try that
 * fails is the last one. */
static ley_status try_stricter(ley_job *job, tries *t, ley_error *error)
{
    double aim = job->options.aim > 0 ? job->options.aim : usual_aim;
    ley_status status = LEY_OK;
    while (status == LEY_OK && t->count <= LEY_MOST_TRIES && is_missed(&job->report) && job->given == NULL &&
           job->method->stricter != NULL && !host_reaches_it(job, ley_clock_s() - job->start_s)) {
        const attempt *last = &t->list[t->count - 1];
        const double next = next_aim(aim, last->share);
        ley_sum sum = last->sum;
        if (next >= aim || !rank_share_agree(job, take_stricter(job, next, last, &sum)))
            break;
        log_say(LEY_LOG_NOTE, "off by %.3g of the tolerance: all over again by a plan that aims at %.2g of it",
                last->share, next);
        note_missed(&job->report);
        aim = next;
        status = run_again(job, sum, error);
        const attempt now = now_of(job, sum, status);
        add(t, &now);
    }
    return status;
}

static ley_status run_until_met(ley_job *job, ley_error *error)
{
    ley_error why = {0};
    tries t = {.count = 0};
    const ley_sum asked = job->options.sum;
    ley_status status = job_run_task(job, error);
    if (status != LEY_OK)
        return status;
    const attempt first = now_of(job, asked, status);
    add(&t, &first);
    status = try_stricter(job, &t, &why);
    if (status != LEY_CANCELLED && t.best + 1 < t.count && !host_reaches_it(job, most_host_s)) {
        log_say(LEY_LOG_NOTE, "the best one, off by %.3g of the tolerance, is done once more%s%s", t.list[t.best].share,
                status != LEY_OK ? ": " : "", status != LEY_OK ? why.message : "");
        if (status == LEY_OK)
            note_missed(&job->report);
        ley_error_clear(&why);
        job_leave(job);
        job_take(job, t.list[t.best].method, t.list[t.best].task);
        status = run_again(job, t.list[t.best].sum, &why);
    }
    ley_error_copy(error, &why);
    ley_error_clear(&why);
    for (size_t i = 0; i < t.count; i++)
        if (t.list[i].task != job->task)
            t.list[i].method->end(t.list[i].task);
    return status;
}

/* In place of the best that devices have done. */
static ley_status run_by_host(ley_job *job, ley_error *error)
{
    log_say(LEY_LOG_NOTE, "off by %.3g of the tolerance at best: all over again by the host in double precision",
            job->report.tolerance_share);
    note_missed(&job->report);
    job_leave(job);
    const ley_status status = ley_atoms_take_all((ley_atoms *)(uintptr_t)job->atoms, error);
    if (status != LEY_OK)
        return status;
    job_begin_again(job);
    plan_destroy(job->made);
    job->made = NULL;
    job->report.device_count = job->report.note_count = job->report.stage_count = 0;
    job->report.evaluations = (double)job->report.atoms * (double)job->report.points;
    job->report.tolerance_share = job->report.tolerance_floor = job->report.float_relative_rms = 0;
    return host_job_run(job, error);
}

static ley_status run_on_devices(ley_job *job, ley_error *error)
{
    job_begin_plan(job);
    const ley_status status = run_until_met(job, error);
    job->report.sum = job->options.sum;
    job->report.double_has_more_digits = job->method->double_has_more_digits;
    job_complete_report(job);
    if (status == LEY_OK)
        host_sum_note_built(job->method);
    return status;
}

ley_status ley_job_run(ley_job *job, ley_error *error)
{
    if (job->has_begun)
        return ley_fail(error, LEY_ERROR_USAGE, "the job has been run already");
    job->has_begun = true;
    job->start_s = ley_clock_s();
    ley_status status = rank_share_begin(job, error);
    if (status == LEY_OK)
        status = job->is_by_host ? host_job_run(job, error) : run_on_devices(job, error);
    if (status == LEY_OK && !job->is_by_host && host_reaches_it(job, most_host_s))
        status = run_by_host(job, error);
    if (status == LEY_OK)
        tolerance_judge_last(&job->report, job->options.tolerance, &job->terms);
    return status == LEY_OK && job->statistics != NULL && rank_share_is_first(job)
               ? ley_statistics_add(job->statistics, error)
               : status;
}
