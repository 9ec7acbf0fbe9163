#include "schedule/job.h"
#include "schedule/kept_planes.h"

#include "core/options.h"
#include "core/parameters.h"
#include "error.h"
#include "ranks.h"
#include "schedule/given_plan.h"
#include "schedule/host_sum.h"
#include "source/atoms.h"
#include "target/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

static const char *const math_words[] = {LEY_MATH_TABLE(LEY_NAME) NULL};
static const char *const sum_words[] = {LEY_SUM_TABLE(LEY_NAME) NULL};

/* clang-format off */
static const ley_parameter rows[] = {
    {.name = "math", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "MATH", .choices = math_words,
     .default_value = {LEY_MATH_AUTO},
     .sentence = "implementation of reciprocal square roots and exponentials: standard (of the OpenCL or CUDA "
                 "standard), native (the device's own), or auto, the fastest one whose measured error is small "
                 "enough for the method",
     PARAMETER_FIELD(ley_run_options, math)},
    {.name = "sum", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "TYPE", .choices = sum_words,
     .default_value = {LEY_SUM_FLOAT},
     .sentence = "number type of the terms and of their sum",
     .details = "compensated adds float terms by Kahan summation; auto sums in float and repeats the job in double "
                "where verification finds a relative RMS error above 1e-5; jobs that the host does alone are always "
                "summed in double",
     PARAMETER_FIELD(ley_run_options, sum)},
    {.name = "variant", .type = LEY_PARAMETER_TEXT, .level = LEY_EXPERT, .value = "NAME", .unset = "by the class of "
                                                                                                   "the device",
     .sentence = "name of the kernel variant to run", PARAMETER_FIELD(ley_run_options, variant)},
    {.name = "slab", .former = (const char *const[]){"slab_planes", "slab_rows", NULL},
     .type = LEY_PARAMETER_INTEGER, .level = LEY_EXPERT, .value = "N", .low = 1, .high = INT32_MAX,
     .unset = "chosen for memory and load balance",
     .sentence = "largest piece of work: planes of a grid, rows of a boundary's face, or points",
     .details = "methods cutoff and msm round it to whole layers of 8 planes",
     PARAMETER_FIELD(ley_run_options, slab_planes)},
    {.name = "verify", .type = LEY_PARAMETER_INTEGER, .value = "N", .default_value = {1000}, .low = 0,
     .high = INT32_MAX, .sentence = "number of random points, at most, whose values are recomputed in double "
                                    "precision to measure the error; 0 turns this off",
     .details = "as many are taken as fit into 2 % of the run time or 0.05 s, but at least 50; a device whose values "
                "are wrong leaves the job, and wrong values are never written",
     PARAMETER_FIELD(ley_run_options, verify_points)},
    {.name = "seed", .type = LEY_PARAMETER_INTEGER, .level = LEY_EXPERT, .value = "S", .low = 0,
     .high = 9007199254740991, .sentence = "seed of the random points of `verify`",
     PARAMETER_FIELD(ley_run_options, verify_seed)},
};
/* clang-format on */

const ley_parameter_table run_parameters = PARAMETER_TABLE(ley_run_options, rows);

void ley_run_options_default(ley_run_options *options)
{
    parameters_default(&run_parameters, options);
}

const char *ley_method_name(size_t i)
{
    for (size_t k = 0; method_registry[k] != NULL; k++)
        if (k == i)
            return method_registry[k]->name;
    return NULL;
}

/* The method's own name for it, which is there for ever; NULL: unknown. */
static const char *own_variant(const method *m, const char *name)
{
    const char *known;
    for (size_t i = 0; m->kernel != NULL && (known = kernel_variant(m->kernel, i)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return known;
    return NULL;
}

static ley_status check_options(const ley_run_options *o, const method *m, ley_error *error)
{
    if ((unsigned)o->math >= LEY_MATH_COUNT || (unsigned)o->sum >= LEY_SUM_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown arithmetic");
    if (o->sum == LEY_SUM_AUTO && o->verify_points == 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "the sum's type is to follow from the error, and verification, which measures it, is off");
    if (!(o->tolerance >= 0 && isfinite(o->tolerance)))
        return ley_fail(error, LEY_ERROR_USAGE, "a tolerance of %g, must not be negative", o->tolerance);
    if (!(o->aim >= 0 && o->aim <= 1))
        return ley_fail(error, LEY_ERROR_USAGE, "an aim of %g of the tolerance, must be 0 to 1", o->aim);
    if (o->slab_planes < 0)
        return ley_fail(error, LEY_ERROR_USAGE, "slab planes %lld, must not be negative", (long long)o->slab_planes);
    if (o->variant != NULL && own_variant(m, o->variant) == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", o->variant);
    return LEY_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int64_t job_pieces(const ley_job *job, const stage *s)
{
    return s->split == STAGE_SLABS ? s->count(job->task) : s->split == STAGE_EACH_DEVICE ? 0 : 1;
}

slab_queue *job_result_queue(ley_job *job)
{
    return &job->stages[job->method->result].queue;
}

/* Room for the stages of any method that the job may come to. */
static size_t most_stages(const method *m)
{
    size_t most = m->stage_count;
    for (size_t k = 0; method_registry[k] != NULL; k++) {
        const method *one = method_registry[k], *list = one->at_points != NULL ? one->at_points : one;
        most = one->stage_count > most ? one->stage_count : most;
        most = list->stage_count > most ? list->stage_count : most;
    }
    return most;
}

bool job_is_by_parts(const ley_job *job)
{
    return job->atoms != NULL && ley_atoms_part(job->atoms) != NULL;
}

/* Of atoms that are a part the result's slabs are those of this rank's planes. */
void job_begin_queue(ley_job *job, stage_run *run)
{
    slab_queue_init(&run->queue, job_pieces(job, run->stage));
    if (!job_is_by_parts(job) || &run->queue != job_result_queue(job))
        return;
    const atoms_part *part = ley_atoms_part(job->atoms);
    const int64_t each = job->method->piece_planes;
    run->queue.next = (part->first + each - 1) / each;
    run->queue.end = (part->end + each - 1) / each;
}

static void begin_stages(ley_job *j)
{
    const method *m = j->method;
    for (size_t i = 0; i < m->stage_count; i++) {
        j->stages[i] = (stage_run){.stage = &m->stages[i]};
        job_begin_queue(j, &j->stages[i]);
    }
    j->report.method = m->name;
    j->report.error_scale = m->error_scale != NULL ? m->error_scale : "the absolute terms";
    j->report.field_error_scale = m->field_is_allowed ? "what its terms allow" : "the absolute terms";
    j->report.points = m->points(j->task, (slab){0, m->stages[m->result].count(j->task)});
    j->report.evaluations = (double)j->report.atoms * (double)j->report.points;
}

static void end_stages(ley_job *j)
{
    for (size_t i = 0; j->stages != NULL && i < j->method->stage_count; i++) {
        if (j->stages[i].stage != NULL)
            slab_queue_destroy(&j->stages[i].queue);
        free(j->stages[i].made);
    }
}

void job_take(ley_job *job, const method *m, void *task)
{
    end_stages(job);
    job->method = m;
    job->task = task;
    begin_stages(job);
}

size_t job_rank_record(const ley_job *job, int rank)
{
    return job->engine->candidate_count + (size_t)rank - 1;
}

size_t job_record_count(const ley_job *job)
{
    return job_rank_record(job, ranks_count());
}

const char *job_record_name(ley_job *job, size_t record)
{
    if (record < job->engine->candidate_count)
        return job->engine->workers[record].info->name;
    snprintf(job->rank_name, sizeof job->rank_name, "rank %zu", record - job->engine->candidate_count + 1);
    return job->rank_name;
}

static ley_status create_into(ley_job *j, ley_error *error)
{
    const method *m = j->method;
    const size_t devices = job_record_count(j);
    j->records = calloc(devices + 1, sizeof *j->records);
    j->device_reports = calloc(devices + 1, sizeof *j->device_reports);
    j->stages = calloc(most_stages(m), sizeof *j->stages);
    if (j->records == NULL || j->device_reports == NULL || j->stages == NULL)
        return ley_fail_memory(error, devices * sizeof *j->records, "the job");
    if (j->options.variant != NULL)
        j->options.variant = own_variant(m, j->options.variant);
    j->report.atoms = j->atoms != NULL ? (int64_t)ley_atoms_whole_count(j->atoms) : 0;
    begin_stages(j);
    return LEY_OK;
}

/* In place of an engine: none of its devices is there. */
static ley_engine nobody;

/* What the devices would be sooner for is not the host's, unless it is asked for. */
static ley_status take_engine(ley_engine *engine, const method *m, const void *task, const ley_run_options *options,
                              const job_plan *given, ley_engine **taken, ley_error *error)
{
    const bool asks_host = host_sum_is_asked(options, given);
    *taken = engine != NULL && !asks_host ? engine : &nobody;
    if (asks_host)
        return host_sum_check(m, task, options, given, error);
    if (engine != NULL || host_sum_is_sooner(m, task, options))
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_NO_DEVICE,
                    "method %s: no engine was given, and the host would not be faster than a device", m->name);
}

ley_status job_create(ley_engine *engine, const method *m, void *task, const ley_atoms *atoms, const ley_target *target,
                      const ley_run_options *options, ley_job **job, ley_error *error)
{
    ley_run_options taken;
    ley_status status = OPTIONS_TAKE(ley_run_options, aim, &taken, options, error);
    if (status == LEY_OK)
        status = check_options(&taken, m, error);
    if (status == LEY_OK)
        status = statistics_check(target, error);
    job_plan *given = NULL;
    if (status == LEY_OK)
        status = plan_take(&taken, m, &given, error);
    if (status == LEY_OK)
        status = take_engine(engine, m, task, &taken, given, &engine, error);
    taken.decision_count = 0; /* the caller's: the job has its own */
    taken.decisions = NULL;
    ley_job *j = status == LEY_OK ? calloc(1, sizeof *j) : NULL;
    if (j == NULL) {
        plan_destroy(given);
        m->end(task);
        return status != LEY_OK ? status : ley_fail_memory(error, sizeof *j, "the job");
    }
    j->engine = engine;
    j->is_by_host = engine == &nobody;
    j->method = m;
    j->task = task;
    j->atoms = atoms;
    j->target = *target;
    j->statistics = target->statistics;
    j->options = taken;
    j->given = given;
    pthread_mutex_init(&j->mutex, NULL);
    atomic_init(&j->own_cancelled, false);
    j->cancelled = &j->own_cancelled;
    status = create_into(j, error);
    if (status != LEY_OK) {
        ley_job_destroy(j);
        return status;
    }
    *job = j;
    return LEY_OK;
}

void ley_job_destroy(ley_job *job)
{
    if (job == NULL)
        return;
    if (job->records != NULL)
        for (size_t i = 0; i < job_record_count(job); i++)
            ley_error_clear(&job->records[i].failure);
    end_stages(job);
    pthread_mutex_destroy(&job->mutex);
    job->method->end(job->task);
    plan_destroy(job->given);
    plan_destroy(job->made);
    if (job->forecast != NULL)
        job->end_forecast(job->forecast);
    free(job->ranks);
    free(job->stages);
    free(job->records);
    free(job->device_reports);
    free(job->slabs);
    free(job->stage_reports);
    free(job);
}

void ley_job_cancel(ley_job *job)
{
    atomic_store_explicit(job->cancelled, true, memory_order_relaxed);
}

const ley_report *ley_job_report(const ley_job *job)
{
    return &job->report;
}

void job_note_stage(ley_job *job, const ley_stage_report *done)
{
    pthread_mutex_lock(&job->mutex);
    const size_t count = job->report.stage_count, capacity = count + 32;
    if (count == job->stage_capacity) {
        ley_stage_report *grown = realloc(job->stage_reports, capacity * sizeof *grown);
        if (grown != NULL) {
            job->stage_reports = grown;
            job->stage_capacity = capacity;
        }
    }
    if (count < job->stage_capacity) {
        ley_stage_report *r = &job->stage_reports[job->report.stage_count++];
        *r = *done;
        r->start_s -= job->start_s;
        r->end_s -= job->start_s;
    }
    pthread_mutex_unlock(&job->mutex);
}

/* ---- Open again ------------------------------------------------------------------------------ */

/* What a stage makes is to be made anew. */
static void reopen_stage(ley_job *job, size_t i)
{
    stage_run *s = &job->stages[i];
    const int64_t done = job_pieces(job, s->stage);
    if (done > 0 && slab_queue_left(&s->queue) == 0 && !slab_queue_reopen(&s->queue, (slab){0, done}))
        slab_queue_stop(&s->queue);
    free(s->made);
    s->made = NULL;
}

static bool needs_any_of(const stage *s, const stage *maker)
{
    for (size_t i = 0; s->needs != NULL && s->needs[i] != NULL; i++)
        for (size_t k = 0; maker->makes != NULL && maker->makes[k] != NULL; k++)
            if (s->needs[i] == maker->makes[k])
                return true;
    return false;
}

/* The slabs of the result that one device, or, where it is SIZE_MAX, any device has computed. */
static void reopen_result(ley_job *job, size_t device)
{
    ley_report *r = &job->report;
    size_t kept = 0;
    pthread_mutex_lock(&job->mutex);
    for (size_t i = 0; i < r->slab_count; i++) {
        const ley_slab_report *s = &job->slabs[i];
        const slab piece = {s->first, s->count};
        if (device != SIZE_MAX && s->device != device) {
            job->slabs[kept++] = *s;
            continue;
        }
        job->points_done -= job->method->points(job->task, piece);
        job->records[s->device].report.slabs--;
        job->records[s->device].report.points -= job->method->points(job->task, piece);
        kept_planes_forget(job, piece);
        if (!slab_queue_reopen(job_result_queue(job), piece))
            slab_queue_stop(job_result_queue(job));
    }
    r->slab_count = kept;
    pthread_mutex_unlock(&job->mutex);
}

void job_reopen_own_slabs(ley_job *job, size_t device)
{
    reopen_result(job, device);
}

/* What others computed with what it made for them. */
static void reopen_borrowers(ley_job *job, size_t lender)
{
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (i != lender && job->records[i].lender == lender + 1)
            reopen_result(job, i);
}

void job_reopen_slabs(ley_job *job, size_t device)
{
    const method *m = job->method;
    bool is_stale[64] = {false};
    bool result_is_stale = false;
    for (size_t i = 0; i < m->stage_count && i < 64; i++) {
        const stage_run *s = &job->stages[i];
        is_stale[i] = s->is_wanted && i != m->result &&
                      (s->stage->split == STAGE_SLABS || (s->stage->split == STAGE_ONE_DEVICE && s->maker == device));
        for (size_t k = 0; k < i; k++)
            is_stale[i] = is_stale[i] || (is_stale[k] && needs_any_of(s->stage, &m->stages[k]));
        if (is_stale[i] && i != m->result)
            reopen_stage(job, i);
        result_is_stale = result_is_stale || (is_stale[i] && i == m->result);
    }
    reopen_result(job, result_is_stale ? SIZE_MAX : device);
    reopen_borrowers(job, device);
}
