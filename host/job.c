#include "job.h"

#include "accuracy.h"
#include "clock.h"
#include "error.h"
#include "methods/method.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

static const method *const methods[] = {[LEY_METHOD_DCS] = &method_dcs};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

void ley_job_options_default(ley_job_options *options)
{
    *options = (ley_job_options){.method = LEY_METHOD_DCS,
                                 .units = LEY_UNITS_KT_E,
                                 .dielectric = 1,
                                 .temperature_K = 298.15,
                                 .r_min_A = 0.05,
                                 .math = LEY_MATH_AUTO,
                                 .sum = LEY_SUM_FLOAT,
                                 .verify_seed = 1};
}

const char *ley_variant_name(ley_method which, size_t i)
{
    return (unsigned)which < METHOD_COUNT ? methods[which]->variant_name(i) : NULL;
}

static bool known_variant(ley_method which, const char *name)
{
    const char *known;
    for (size_t i = 0; (known = ley_variant_name(which, i)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

static ley_status check_options(const ley_job_options *o, ley_error *error)
{
    if ((unsigned)o->method >= METHOD_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown method %d", (int)o->method);
    if ((unsigned)o->units > LEY_UNITS_KCAL_MOL_E)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown units %d", (int)o->units);
    if ((unsigned)o->math > LEY_MATH_AUTO || (unsigned)o->sum > LEY_SUM_DOUBLE)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown arithmetic");
    /* With these bounds no potential of any atoms overflows a float. */
    if (!(o->dielectric >= 1e-3 && o->dielectric <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "dielectric %g, must be 1e-3 to 1e6", o->dielectric);
    if (!(o->temperature_K >= 1e-3 && o->temperature_K <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "temperature %g K, must be 1e-3 to 1e6", o->temperature_K);
    if (!(o->r_min_A >= 1e-6 && o->r_min_A <= 1e3))
        return ley_fail(error, LEY_ERROR_USAGE, "r_min %g A, must be 1e-6 to 1e3", o->r_min_A);
    if (o->slab_planes < 0)
        return ley_fail(error, LEY_ERROR_USAGE, "slab planes %lld, must not be negative", (long long)o->slab_planes);
    if (o->variant != NULL && !known_variant(o->method, o->variant))
        return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", o->variant);
    return LEY_OK;
}

static ley_status create_into(ley_job *j, ley_error *error)
{
    const size_t devices = j->engine->candidate_count;
    j->records = calloc(devices, sizeof *j->records);
    j->device_reports = calloc(devices, sizeof *j->device_reports);
    if (j->options.variant != NULL)
        j->variant = strdup(j->options.variant);
    if (j->records == NULL || j->device_reports == NULL || (j->options.variant != NULL && j->variant == NULL))
        return ley_fail_memory(error, devices * sizeof *j->records, "the job");
    j->options.variant = j->variant;
    j->report.atoms = (int64_t)ley_atoms_count(j->atoms);
    j->report.points = ley_lattice_points(ley_map_lattice(j->map));
    j->report.evaluations = (double)j->report.atoms * (double)j->report.points;
    return LEY_OK;
}

ley_status ley_job_create(ley_engine *engine, const ley_atoms *atoms, ley_map *map, const ley_job_options *options,
                          ley_job **job, ley_error *error)
{
    ley_status status = check_options(options, error);
    if (status != LEY_OK)
        return status;
    ley_job *j = calloc(1, sizeof *j);
    if (j == NULL)
        return ley_fail_memory(error, sizeof *j, "the job");
    j->engine = engine;
    j->atoms = atoms;
    j->map = map;
    j->options = *options;
    j->method = methods[options->method];
    j->coulomb_constant = ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
    slab_queue_init(&j->queue, ley_map_lattice(map)->n[2]);
    pthread_mutex_init(&j->mutex, NULL);
    atomic_init(&j->cancelled, false);
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
        for (size_t i = 0; i < job->engine->candidate_count; i++)
            ley_error_clear(&job->records[i].failure);
    slab_queue_destroy(&job->queue);
    pthread_mutex_destroy(&job->mutex);
    free(job->records);
    free(job->device_reports);
    free(job->slabs);
    free(job->variant);
    free(job);
}

void ley_job_cancel(ley_job *job)
{
    atomic_store_explicit(&job->cancelled, true, memory_order_relaxed);
}

static void complete_report(ley_job *job)
{
    ley_report *r = &job->report;
    r->device_count = job->engine->worker_count;
    for (size_t i = 0; i < r->device_count; i++) {
        device_record *record = &job->records[i];
        ley_device_report *d = &record->report;
        d->device = &job->engine->workers[i].public_info;
        d->share = (double)d->points / (double)r->points;
        d->evaluations_per_s = d->kernel_s > 0 ? (double)d->points * (double)r->atoms / d->kernel_s : 0;
        d->specification = record->specification;
        d->status = record->failure.status;
        d->failure = d->status != LEY_OK ? record->failure.message : NULL;
        d->failure_log = record->failure.log;
        job->device_reports[i] = *d;
    }
    r->devices = job->device_reports;
    r->slabs = job->slabs;
    if (r->compute_s > 0)
        r->evaluations_per_s = (double)job->points_done * (double)r->atoms / r->compute_s;
}

static ley_status verify(ley_job *job, ley_error *error)
{
    const ley_job_options *o = &job->options;
    const double start_s = ley_clock_s();
    ley_status status = accuracy_sample(job->atoms, job->map, job->coulomb_constant, o->r_min_A, o->verify_points,
                                        o->verify_seed, accuracy_promise(o->math, o->sum), &job->cancelled,
                                        &job->report.accuracy, error);
    job->report.verify_s = ley_clock_s() - start_s;
    if (status == LEY_OK && !job->report.accuracy.passed)
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "verification failed: relative RMS error %.3g, at most %.3g is right%s",
                          job->report.accuracy.relative_rms, job->report.accuracy.tolerance,
                          o->sum != LEY_SUM_DOUBLE ? " (where charges nearly cancel, a double sum is needed)" : "");
    return status;
}

ley_status ley_job_run(ley_job *job, ley_error *error)
{
    if (job->report.devices != NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "the job has been run already");
    job->start_s = ley_clock_s();
    ley_status status = job->method->prepare(job, error);
    const double computing_s = ley_clock_s();
    job->report.prepare_s = computing_s - job->start_s;
    if (status == LEY_OK)
        status = schedule_run(job, error);
    job->report.compute_s = ley_clock_s() - computing_s;
    job->method->release(job);
    ley_map_set_units(job->map, ley_units_name(job->options.units));
    if (status == LEY_OK && job->options.verify_points > 0)
        status = verify(job, error);
    complete_report(job);
    return status;
}

const ley_report *ley_job_report(const ley_job *job)
{
    return &job->report;
}
