#include "run/job.h"

#include "clock.h"
#include "core/solvent.h"
#include "error.h"
#include "methods/cutoff/short_range.h"
#include "run/method.h"
#include "run/schedule.h"
#include "run/verification.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const method *const methods[] = {
    [LEY_METHOD_DCS] = &method_dcs, [LEY_METHOD_MDH] = &method_mdh, [LEY_METHOD_CUTOFF] = &method_cutoff};

/* With the sum "auto": what floats may be off by, relative to the values. */
static const double most_float_rms = 1e-5;

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
                                 .short_range = {.pair = LEY_PAIR_TAYLOR2,
                                                 .cutoff_A = 12,
                                                 .probe_radius_A = 1.7,
                                                 .probe_depth_kcal_mol = 0.1,
                                                 .steepness = 12,
                                                 .depth_for_all_kcal_mol = 0.1,
                                                 .bin_depth = 8,
                                                 .bin_fill = 0.75},
                                 .verify_points = 1000,
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
    if ((unsigned)o->math > LEY_MATH_AUTO || (unsigned)o->sum > LEY_SUM_AUTO)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown arithmetic");
    /* With these bounds no potential of any atoms overflows a float. */
    if (!(o->dielectric >= 1e-3 && o->dielectric <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "dielectric %g, must be 1e-3 to 1e6", o->dielectric);
    if (!(o->temperature_K >= 1e-3 && o->temperature_K <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "temperature %g K, must be 1e-3 to 1e6", o->temperature_K);
    if (!(o->r_min_A >= 1e-6 && o->r_min_A <= 1e3))
        return ley_fail(error, LEY_ERROR_USAGE, "r_min %g A, must be 1e-6 to 1e3", o->r_min_A);
    if (o->sum == LEY_SUM_AUTO && o->verify_points == 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "the sum's type is to follow from the error, and verification, which measures it, is off");
    if (o->slab_planes < 0)
        return ley_fail(error, LEY_ERROR_USAGE, "slab planes %lld, must not be negative", (long long)o->slab_planes);
    if (o->variant != NULL && !known_variant(o->method, o->variant))
        return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", o->variant);
    return o->method == LEY_METHOD_CUTOFF ? short_range_check(&o->short_range, o, error) : LEY_OK;
}

static ley_status create_into(ley_job *j, const ley_solvent *solvent, ley_error *error)
{
    const size_t devices = j->engine->candidate_count;
    j->records = calloc(devices, sizeof *j->records);
    j->device_reports = calloc(devices, sizeof *j->device_reports);
    if (j->options.variant != NULL)
        j->variant = strdup(j->options.variant);
    if (j->records == NULL || j->device_reports == NULL || (j->options.variant != NULL && j->variant == NULL))
        return ley_fail_memory(error, devices * sizeof *j->records, "the job");
    j->options.variant = j->variant;
    if (j->options.method == LEY_METHOD_CUTOFF) {
        const ley_short_range *wanted = &j->options.short_range;
        ley_status status = short_range_check_atoms(wanted, j->atoms, j->options.r_min_A, error);
        if (status == LEY_OK)
            status = short_range_check_charges(&j->options, j->atoms, error);
        if (status == LEY_OK)
            status = short_range_copy(wanted, ley_atoms_count(j->atoms), &j->short_range, error);
        if (status != LEY_OK)
            return status;
        j->options.short_range = j->short_range;
    }
    if (solvent != NULL) {
        j->solvent = *solvent;
        j->ions = calloc(solvent->ion_count + 1, sizeof *j->ions);
        if (j->ions == NULL)
            return ley_fail_memory(error, (solvent->ion_count + 1) * sizeof *j->ions, "the job's ions");
        for (size_t i = 0; i < solvent->ion_count; i++)
            j->ions[i] = solvent->ions[i];
        j->solvent.ions = j->ions;
    }
    j->queue.end = j->method->count(j);
    j->report.atoms = (int64_t)ley_atoms_count(j->atoms);
    j->report.points = j->method->points(j, (slab){0, j->method->count(j)});
    j->report.evaluations = (double)j->report.atoms * (double)j->report.points;
    return LEY_OK;
}

/* Kernels take a lattice for its origin and three spacings. */
static ley_status check_map(const ley_map *map, const method *m, ley_error *error)
{
    char whose[64];
    snprintf(whose, sizeof whose, "method %s", m->name);
    return ley_lattice_check_orthogonal(ley_map_lattice(map), whose, error);
}

/* A job of a map or of a boundary: `what` says which, and holds what the caller gave. */
static ley_status create(const ley_job *what, const ley_job_options *options, const ley_solvent *solvent, ley_job **job,
                         ley_error *error)
{
    ley_status status = check_options(options, error);
    if (status == LEY_OK && what->map != NULL)
        status = check_map(what->map, methods[options->method], error);
    if (status != LEY_OK)
        return status;
    ley_job *j = calloc(1, sizeof *j);
    if (j == NULL)
        return ley_fail_memory(error, sizeof *j, "the job");
    j->engine = what->engine;
    j->atoms = what->atoms;
    j->map = what->map;
    j->boundary = what->boundary;
    j->options = *options;
    j->method = methods[options->method];
    j->coulomb_constant = ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
    slab_queue_init(&j->queue, 0);
    pthread_mutex_init(&j->mutex, NULL);
    atomic_init(&j->cancelled, false);
    status = create_into(j, solvent, error);
    if (status != LEY_OK) {
        ley_job_destroy(j);
        return status;
    }
    *job = j;
    return LEY_OK;
}

ley_status ley_job_create(ley_engine *engine, const ley_atoms *atoms, ley_map *map, const ley_job_options *options,
                          ley_job **job, ley_error *error)
{
    if (options->method == LEY_METHOD_MDH)
        return ley_fail(error, LEY_ERROR_USAGE, "Multiple Debye-Hueckel values are of boundaries, not of maps");
    return create(&(ley_job){.engine = engine, .atoms = atoms, .map = map}, options, NULL, job, error);
}

ley_status ley_job_create_boundary(ley_engine *engine, const ley_atoms *atoms, ley_boundary *boundary,
                                   const ley_solvent *solvent, const ley_job_options *options, ley_job **job,
                                   ley_error *error)
{
    ley_job_options taken = *options;
    taken.method = LEY_METHOD_MDH;
    taken.units = LEY_UNITS_KT_E;
    ley_status status = solvent_check(solvent, error);
    if (status == LEY_OK)
        status = ley_boundary_check_atoms(boundary, atoms, error);
    if (status != LEY_OK)
        return status;
    return create(&(ley_job){.engine = engine, .atoms = atoms, .boundary = boundary}, &taken, solvent, job, error);
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
    free(job->ions);
    short_range_free(&job->short_range);
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
        d->evaluations_per_s = d->kernel_s > 0 ? d->share * r->evaluations / d->kernel_s : 0;
        d->specification = record->specification;
        d->status = record->failure.status;
        d->failure = d->status != LEY_OK ? record->failure.message : NULL;
        d->failure_log = record->failure.log;
        job->device_reports[i] = *d;
    }
    r->devices = job->device_reports;
    r->slabs = job->slabs;
    if (r->compute_s > 0)
        r->evaluations_per_s = (double)job->points_done / (double)r->points * r->evaluations / r->compute_s;
}

void job_reopen_slabs(ley_job *job, size_t device)
{
    ley_report *r = &job->report;
    size_t kept = 0;
    for (size_t i = 0; i < r->slab_count; i++) {
        const ley_slab_report *s = &job->slabs[i];
        const slab piece = {s->first, s->count};
        if (s->device != device) {
            job->slabs[kept++] = *s;
            continue;
        }
        job->points_done -= job->method->points(job, piece);
        if (!slab_queue_reopen(&job->queue, piece))
            slab_queue_stop(&job->queue);
    }
    r->slab_count = kept;
    job->records[device].report.slabs = job->records[device].report.points = 0;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Computes what is open, and measures it; until no device is wrong, or none is left. */
static ley_status compute(ley_job *job, ley_error *error)
{
    ley_status status;
    size_t wrong = 0;
    do {
        const double start_s = ley_clock_s();
        status = schedule_run(job, error);
        if (status == LEY_OK)
            status = job->method->finish(job, error);
        const double computed_s = ley_clock_s();
        job->report.compute_s += computed_s - start_s;
        if (status == LEY_OK && job->options.verify_points > 0) {
            status = verification_run(job, &wrong, error);
            job->report.verify_s += ley_clock_s() - computed_s;
        }
    } while (status == LEY_OK && wrong > 0);
    return status;
}

static ley_status prepare_and_compute(ley_job *job, ley_error *error)
{
    const double start_s = ley_clock_s();
    ley_status status = job->method->prepare(job, error);
    job->report.prepare_s += ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = compute(job, error);
    job->method->release(job);
    return status;
}

/* Whether the results deserve a double sum: each is right by its terms, but these nearly cancel;
 * and a device has one. */
static bool asks_for_double(const ley_job *job)
{
    const ley_accuracy *a = &job->report.accuracy;
    bool has_double = false;
    for (size_t i = 0; i < job->engine->worker_count; i++)
        has_double =
            has_double || (job->engine->workers[i].info->has_double && job->records[i].failure.status == LEY_OK);
    return has_double && job->method->double_has_more_digits && a->compared > 0 && a->relative_rms > most_float_rms;
}

/* Nothing is done yet, but for devices that have failed. */
static void start_again(ley_job *job)
{
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (job->records[i].failure.status == LEY_OK)
            job->records[i].report = (ley_device_report){.device = NULL};
    slab_queue_destroy(&job->queue);
    slab_queue_init(&job->queue, job->method->count(job));
    job->report.slab_count = 0;
    job->points_done = 0;
}

/* Floats first; where the sample shows that too few digits are left of them, in doubles. */
static ley_status run_auto(ley_job *job, ley_error *error)
{
    ley_report *r = &job->report;
    job->options.sum = LEY_SUM_FLOAT;
    ley_status status = prepare_and_compute(job, error);
    if (status != LEY_OK || !asks_for_double(job))
        return status;
    r->float_relative_rms = r->accuracy.relative_rms;
    job->options.sum = LEY_SUM_DOUBLE;
    start_again(job);
    return prepare_and_compute(job, error);
}

ley_status ley_job_run(ley_job *job, ley_error *error)
{
    if (job->report.devices != NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "the job has been run already");
    job->start_s = ley_clock_s();
    ley_status status = job->options.sum == LEY_SUM_AUTO ? run_auto(job, error) : prepare_and_compute(job, error);
    job->report.sum = job->options.sum;
    job->report.double_has_more_digits = job->method->double_has_more_digits;
    complete_report(job);
    return status;
}

const ley_report *ley_job_report(const ley_job *job)
{
    return &job->report;
}
