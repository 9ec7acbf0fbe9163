/* A job from preparing to its report. */
#include "plan/job_run.h"
#include "clock.h"
#include "error.h"
#include "log.h"
#include "schedule/kept_planes.h"
#include "schedule/rank_share.h"
#include "schedule/schedule.h"
#include "verify/rank_verification.h"

#include <stdlib.h>
#include <string.h>

/* With the sum "auto": what floats may be off by, relative to the values. */
static const double most_float_rms = 1e-5;

/* ---- The report ------------------------------------------------------------------------------ */

/* The words of recipes stand beside their names. */
static const char *root_word(const char *name)
{
    int root = 0;
    while (root < LEY_ROOT_COUNT && strcmp(calibrate_root_name(root), name) != 0)
        root++;
    return root < LEY_ROOT_COUNT ? calibrate_root_word(root) : NULL;
}

static const char *exp_word(const char *name)
{
    int exp = 0;
    while (exp < LEY_EXP_COUNT && strcmp(calibrate_exp_name(exp), name) != 0)
        exp++;
    return exp < LEY_EXP_COUNT ? calibrate_exp_word(exp) : NULL;
}

/* Of a result that is no slab's, whoever was ready for slabs of something. */
static bool had_part(const ley_job *job, const device_record *record)
{
    if (job->forecast != NULL)
        return record->slab > 0;
    return job->method->stages[job->method->result].split == STAGE_SLABS
               ? record->report.points > 0
               : record->slab > 0 && record->failure.status == LEY_OK;
}

static void put_decisions_of(const device_record *record, const dev_info *info, job_plan *made)
{
    const kernel_notes *k = &record->kernel;
    if (k->variant != NULL)
        plan_add(made, info, "variant", k->variant);
    if (k->root != NULL && root_word(k->root) != NULL)
        plan_add(made, info, "root", root_word(k->root));
    if (k->exp != NULL && exp_word(k->exp) != NULL)
        plan_add(made, info, "exp", exp_word(k->exp));
    if (record->slab > 0)
        plan_add_number(made, info, "slab", record->slab);
    for (size_t i = 0; i < sizeof k->decisions / sizeof *k->decisions; i++)
        if (k->decisions[i].word != NULL)
            plan_add(made, info, k->decisions[i].name, k->decisions[i].word);
        else if (k->decisions[i].name != NULL)
            plan_add_number(made, info, k->decisions[i].name, k->decisions[i].value);
}

/* Two devices of one name decide alike. */
void job_put_decisions(ley_job *job)
{
    static const char *const sums[] = {"float", "compensated", "double"};
    plan_destroy(job->made); /* of a first run in floats */
    job_plan *made = job->made = calloc(1, sizeof *made);
    if (made == NULL)
        return;
    plan_add(made, NULL, "method", job->method->name);
    plan_add(made, NULL, "target", ley_target_name(job->method->target));
    plan_add(made, NULL, "math", plan_maths[job->options.math]);
    plan_add(made, NULL, "sum", sums[job->options.sum]);
    if (job->method->decisions != NULL)
        job->method->decisions(job->task, made);
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (had_part(job, &job->records[i]) && !plan_names(made, job->engine->workers[i].info))
            put_decisions_of(&job->records[i], job->engine->workers[i].info, made);
    job->report.decision_count = made->count;
    job->report.decisions = made->list;
}

void job_complete_report(ley_job *job)
{
    ley_report *r = &job->report;
    r->device_count = job->engine->worker_count;
    for (size_t i = 0; i < r->device_count; i++) {
        device_record *record = &job->records[i];
        ley_device_report *d = &record->report;
        d->device = &job->engine->workers[i].public_info;
        d->variant = record->kernel.variant;
        d->root = record->kernel.root;
        d->exp = record->kernel.exp;
        d->from_cache = record->kernel.from_cache;
        d->share = (double)d->points / (double)r->points;
        d->evaluations_per_s = d->kernel_s > 0 ? d->share * r->evaluations / d->kernel_s : 0;
        d->specification = record->kernel.specification;
        d->status = record->failure.status;
        d->failure = d->status != LEY_OK ? record->failure.message : NULL;
        d->failure_log = record->failure.log;
        d->late = record->late[0] != '\0' ? record->late : NULL;
        job->device_reports[i] = *d;
    }
    rank_share_complete_report(job);
    r->devices = job->device_reports;
    r->slabs = job->slabs;
    r->stages = job->stage_reports;
    r->note_count = job->notes.count;
    r->notes = job->notes.list;
    if (r->compute_s > 0)
        r->evaluations_per_s =
            (double)(job->points_done - r->kept_points) / (double)r->points * r->evaluations / r->compute_s;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static ley_status finish(ley_job *job, ley_error *error)
{
    return job->method->finish != NULL ? job->method->finish(job->task, error) : LEY_OK;
}

/* Computes what is open, and measures it; until no device is wrong, or none is left. */
static ley_status compute(ley_job *job, ley_error *error)
{
    ley_status status;
    size_t wrong = 0;
    do {
        const double start_s = ley_clock_s();
        status = schedule_run(job, error);
        if (status == LEY_OK)
            status = rank_share_gather(job, error);
        if (status == LEY_OK && rank_share_is_first(job))
            status = finish(job, error);
        const double computed_s = ley_clock_s();
        job->report.compute_s += computed_s - start_s;
        if (status == LEY_OK && job->options.verify_points > 0 && job->method->terms != NULL) {
            status = rank_verification_run(job, &wrong, error);
            job->report.verify_s += ley_clock_s() - computed_s;
        }
    } while (status == LEY_OK && wrong > 0);
    return status;
}

/* What the method may look at, of the devices in use now. */
ley_status job_take_view(ley_job *job, ley_error *error)
{
    const size_t count = job->engine->worker_count;
    device_view *devices = calloc(count + 1, sizeof *devices);
    if (devices == NULL)
        return ley_fail_memory(error, count * sizeof *devices, "the job's view");
    for (size_t i = 0; i < count; i++) {
        const worker *w = &job->engine->workers[i];
        devices[i].info = w->info;
        devices[i].is_known =
            job->method->needs != NULL &&
            calibrate_known(worker_device(w), w->info, job->method->needs(job->task, &job->options), &devices[i].facts);
    }
    job->view = (job_view){.options = &job->options,
                           .device_count = count,
                           .devices = devices,
                           .cancelled = job->cancelled,
                           .plan = job->given,
                           .ranks = job->report.ranks,
                           .is_kept = job->is_kept};
    return LEY_OK;
}

void job_end_view(ley_job *job)
{
    free((device_view *)(uintptr_t)job->view.devices);
    job->view.devices = NULL;
}

ley_status job_prepare(ley_job *job, ley_error *error)
{
    const method *m = job->method;
    ley_status status = m->prepare(job->task, &job->view, error);
    for (size_t i = 0; i < m->stage_count; i++)
        job->stages[i].is_wanted = m->stages[i].is_wanted == NULL || m->stages[i].is_wanted(job->task);
    if (status == LEY_OK && m->evaluations != NULL)
        job->report.evaluations = rank_share_sum(job, m->evaluations(job->task));
    return status;
}

/* What all devices were predicted to take together. Double precision is not calibrated. */
static void note_phases(ley_job *job)
{
    double kernel_s = 0, predicted_kernel_s = 0, transfer_s = 0, predicted_transfer_s = 0;
    bool is_predicted = job->options.sum != LEY_SUM_DOUBLE || !job->method->double_has_more_digits;
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const device_record *r = &job->records[i];
        kernel_s += r->report.kernel_s;
        predicted_kernel_s += r->predicted_kernel_s;
        is_predicted = is_predicted && r->unpredicted == 0;
        transfer_s += r->report.transfer_s;
        predicted_transfer_s += r->predicted_transfer_s;
    }
    notes_phase(&job->notes, "phase_kernels", is_predicted ? predicted_kernel_s : 0, kernel_s);
    notes_phase(&job->notes, "phase_transfer", predicted_transfer_s, transfer_s);
}

void job_leave(ley_job *job)
{
    if (job->view.devices == NULL)
        return;
    schedule_end(job);
    job->method->release(job->task, job->has_left);
    job_end_view(job);
}

static ley_status prepare_and_compute(ley_job *job, ley_error *error)
{
    const double start_s = ley_clock_s();
    job_leave(job);
    ley_status status = job_take_view(job, error);
    if (status != LEY_OK)
        return status;
    status = job_prepare(job, error);
    if (status == LEY_OK)
        status = kept_planes_take(job, error);
    job->report.prepare_s += ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = compute(job, error);
    job->notes.count = 0;
    if (job->method->note != NULL)
        job->method->note(job->task, &job->notes);
    note_phases(job);
    if (status == LEY_OK)
        job_put_decisions(job);
    if (status != LEY_OK || job->kept_pass == NULL)
        job_leave(job);
    return status;
}

/* Of what is wished, as it is measured by a sample. */
static double most_value_rms(const ley_job *job)
{
    const double share = 0.75, wished = job->options.tolerance;
    return wished > 0 ? share * wished : most_float_rms;
}

/* Whether the results deserve a double sum: each is right by its terms, but these nearly cancel;
 * and a device has one. */
static bool asks_for_double(const ley_job *job)
{
    const double most = most_value_rms(job);
    const ley_accuracy *a = &job->report.accuracy, *field = &job->report.field_accuracy;
    const bool cancels = (a->compared > 0 && a->relative_rms > most) ||
                         (field->compared > 0 && field->relative_rms > fmax(most, most_float_rms));
    bool has_double = false;
    for (size_t i = 0; i < job->engine->worker_count; i++)
        has_double =
            has_double || (job->engine->workers[i].info->has_double && job->records[i].failure.status == LEY_OK);
    return rank_share_agree(job, has_double && job->method->double_has_more_digits && cancels);
}

/* Nothing is done yet, but for devices that have failed. */
void job_begin_again(ley_job *job)
{
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (job->records[i].failure.status == LEY_OK) {
            job->records[i].report = (ley_device_report){.device = NULL};
            job->records[i].kernel = (kernel_notes){.variant = NULL};
            job->records[i].predicted_kernel_s = job->records[i].predicted_transfer_s = 0;
            job->records[i].unpredicted = 0;
        }
    for (size_t i = 0; i < job->method->stage_count; i++) {
        slab_queue_destroy(&job->stages[i].queue);
        job_begin_queue(job, &job->stages[i]);
        free(job->stages[i].made);
        job->stages[i].made = NULL;
    }
    job->report.slab_count = 0;
    job->points_done = 0;
}

/* What no device can do may be done otherwise. */
static ley_status run_as_can(ley_job *job, ley_error *error)
{
    ley_error why = {0};
    ley_status status = prepare_and_compute(job, &why);
    if (status != LEY_ERROR_NO_DEVICE || job->method->otherwise == NULL || job_cancelled(job) ||
        !job->method->otherwise(job->task, why.message)) {
        ley_error_copy(error, &why);
        ley_error_clear(&why);
        return status;
    }
    log_say(LEY_LOG_WARNING, "otherwise, as no device can do it: %s", why.message);
    ley_error_clear(&why);
    for (size_t i = 0; i < job->engine->candidate_count; i++)
        if (job->records[i].failure.status == LEY_ERROR_NO_DEVICE &&
            (job->given == NULL || plan_has(job->given, job->engine->workers[i].info)))
            ley_error_clear(&job->records[i].failure);
    job_begin_again(job);
    return prepare_and_compute(job, error);
}

/* Floats first; where the sample shows that too few digits are left of them, in doubles. */
static ley_status run_auto(ley_job *job, ley_error *error)
{
    ley_report *r = &job->report;
    job->options.sum = LEY_SUM_FLOAT;
    ley_status status = run_as_can(job, error);
    if (status != LEY_OK || !asks_for_double(job))
        return status;
    r->float_relative_rms = r->accuracy.relative_rms;
    job->options.sum = LEY_SUM_DOUBLE;
    log_say(LEY_LOG_NOTE, "float sums are off by a relative RMS of %.3g, more than %.3g: all over again in double",
            r->float_relative_rms, most_value_rms(job));
    job_begin_again(job);
    return prepare_and_compute(job, error);
}

ley_status job_run_task(ley_job *job, ley_error *error)
{
    return job->options.sum == LEY_SUM_AUTO ? run_auto(job, error) : run_as_can(job, error);
}

bool job_is_kept(const ley_job *job)
{
    return job->kept_pass != NULL && job->method->renew != NULL;
}

ley_status job_run_again(ley_job *job, ley_error *error)
{
    ley_report *r = &job->report;
    job->start_s = ley_clock_s();
    r->prepare_s = r->compute_s = r->verify_s = 0;
    r->stage_count = 0;
    job_begin_again(job);
    ley_status status = job->method->renew(job->task, error);
    const double renewed_s = ley_clock_s();
    r->prepare_s = renewed_s - job->start_s;
    if (status == LEY_OK)
        status = schedule_run_again(job, error);
    if (status == LEY_OK)
        status = finish(job, error);
    r->compute_s = ley_clock_s() - renewed_s;
    job_complete_report(job);
    if (status != LEY_OK)
        job_leave(job);
    return status;
}

/* Which sum and roots these are stands in the plan; devices that it does not name are left out. */
void job_begin_plan(ley_job *job)
{
    const char *sum = plan_word(job->given, NULL, "sum"), *math = plan_word(job->given, NULL, "math");
    if (math != NULL && job->options.math == LEY_MATH_AUTO)
        job->options.math = plan_math(math);
    if (sum != NULL && job->options.sum == LEY_SUM_AUTO)
        job->options.sum = strcmp(sum, "double") == 0 ? LEY_SUM_DOUBLE : LEY_SUM_FLOAT;
    for (size_t i = 0; i < job->engine->candidate_count; i++)
        if (!plan_has(job->given, job->engine->workers[i].info))
            ley_fail(&job->records[i].failure, LEY_ERROR_NO_DEVICE, "%s: it has no part in the plan",
                     job->engine->workers[i].info->name);
}
