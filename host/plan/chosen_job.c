/* What users ask for without a method: ley_job_create_chosen(), ley_request_estimate(),
 * ley_map_compute(). */
#include "plan/chosen_job.h"

#include "core/options.h"
#include "core/parameters.h"
#include "error.h"
#include "plan/chooser.h"
#include "ranks.h"
#include "schedule/rank_share.h"
#include "source/atoms.h"
#include "target/target.h"

#include <stdio.h>
#include <string.h>

/* The points by which values are held to a tolerance: of 50 the root mean square is off by up to a
 * factor of two, as few of them lie where the errors are large. */
enum { POINTS_FOR_TOLERANCE = 256 };

/* clang-format off */
static const char *const method_names[] = {"auto", "dcs", "msm", "cutoff", NULL};

static const ley_parameter rows[] = {
    {.name = "method", .type = LEY_PARAMETER_OTHER, .value = "METHOD", .choices = method_names,
     .sentence = "method of summation"},
    {.name = "tol", .type = LEY_PARAMETER_REAL, .value = "T", .default_value = {LEY_USUAL_TOLERANCE},
     .low = LEY_LEAST_TOLERANCE, .high = LEY_MOST_TOLERANCE, .methods = "auto, msm",
     .unset = "0.0001; none with `method` msm, where the mesh options decide",
     .sentence = "largest relative root mean square (RMS) error allowed in the result",
     .details = "the fastest settings predicted to be twice as accurate are used, with compensated sums where "
                "needed, unless `sum` is given; the error is then measured at 256 points or more, and where it is "
                "above `tol` the job is repeated with stricter settings; where none suffice, the result is written "
                "all the same and the exit code is 5; with `verify` 0 the error is not measured",
     PARAMETER_FIELD(ley_request, tolerance)},
};
/* clang-format on */

const ley_parameter_table request_parameters = PARAMETER_TABLE(ley_request, rows);

void ley_request_default(ley_request *request)
{
    parameters_default(&request_parameters, request);
    request->method = method_names[0];
    ley_long_range_default(&request->potential);
    ley_grid_options_default(&request->grid);
}

/* ---- A request, taken ------------------------------------------------------------------------ */

static ley_status check(const ley_request *r, ley_error *error)
{
    const bool is_auto = strcmp(r->method, "auto") == 0;
    bool is_known = is_auto;
    for (size_t i = 0; method_registry[i] != NULL; i++)
        is_known =
            is_known || (method_registry[i]->request != NULL && strcmp(method_registry[i]->name, r->method) == 0);
    if (!is_known)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "a request's method is auto or one that makes the sum of all charges, "
                        "not '%.40s'",
                        r->method);
    if ((is_auto || r->tolerance != 0) && options_check_tolerance(r->tolerance, error) != LEY_OK)
        return LEY_ERROR_USAGE;
    return options_check_medium(&r->potential, error);
}

static ley_status take_request(const ley_request *request, ley_request *taken, ley_error *error)
{
    ley_long_range sum;
    ley_status status = OPTIONS_TAKE(ley_request, grid, taken, request, error);
    if (status == LEY_OK)
        status = OPTIONS_TAKE(ley_long_range, fft, &sum, &taken->potential, error);
    return status == LEY_OK ? check(taken, error) : status;
}

/* Whether the options of the run say by which sums; else the request decides. */
static bool sum_is_fixed(const sum_request *r)
{
    return (r->asked.fixed & LEY_FIX_SUM) != 0 || r->options.decision_count > 0;
}

/* `r` has the atoms and the target. */
static ley_status begin(sum_request *r, ley_engine *engine, const ley_request *request, const ley_run_options *options,
                        ley_error *error)
{
    ley_status status = take_request(request, &r->asked, error);
    if (status != LEY_OK)
        return status;
    r->grid = target_grid(&r->target);
    status = OPTIONS_TAKE(ley_run_options, aim, &r->options, options, error);
    if (status != LEY_OK)
        return status;
    if (strcmp(r->asked.method, "auto") != 0)
        r->asked.fixed |= LEY_FIX_METHOD;
    if (!sum_is_fixed(r))
        r->options.sum = LEY_SUM_AUTO;
    else if (r->options.sum == LEY_SUM_AUTO) /* floats come first then */
        r->options.sum = LEY_SUM_FLOAT;
    r->worker_count = engine != NULL ? engine->worker_count : 0;
    r->workers = engine != NULL ? engine->workers : NULL;
    return LEY_OK;
}

static size_t list_candidates(sum_request *r, candidate *list)
{
    const size_t count = chooser_candidates(r, method_registry, list);
    for (size_t i = 0; i < count; i++)
        r->facts |= list[i].method->request->needs(&r->options);
    return count;
}

static void end(sum_request *r, candidate *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ley_error_clear(&list[i].refusal);
    sum_request_end(r);
}

/* ---- The job --------------------------------------------------------------------------------- */

/* The caller's, with what the request and the choice say of it. */
static ley_status job_options(const sum_request *r, const candidate *chosen, const ley_run_options *options,
                              ley_run_options *made, ley_error *error)
{
    const ley_status status = OPTIONS_TAKE(ley_run_options, aim, made, options, error);
    if (status != LEY_OK)
        return status;
    if (made->tolerance == 0 && r->asked.tolerance > 0) {
        made->tolerance = r->asked.tolerance;
        made->verify_least = made->verify_least > 0 ? made->verify_least : POINTS_FOR_TOLERANCE;
    }
    if (chosen == NULL || sum_is_fixed(r))
        return LEY_OK;
    if (chosen->method->request->has_meshes)
        made->sum = chosen->is_estimated ? chosen->estimate.sum : made->sum;
    else if ((r->asked.fixed & LEY_FIX_METHOD) == 0 && made->verify_points > 0)
        made->sum = LEY_SUM_AUTO; /* direct sums that turn out to nearly cancel are done in doubles */
    return LEY_OK;
}

/* Who says what meshes are to be gets meshes. */
static ley_status create_by_host(const sum_request *r, candidate *list, size_t count, const ley_run_options *options,
                                 ley_job **job, ley_error *error)
{
    const candidate *first = chooser_soonest(list, count, r->asked.tolerance);
    const ley_run_options *o = &r->options;
    const bool is_asked = o->by_host || plan_find(o->decisions, o->decision_count, NULL, "computed_by") != NULL;
    ley_run_options own;
    if (first != NULL && first->method->request->has_meshes &&
        (r->asked.fixed & (PLANNED_MESHES | LEY_FIX_MESHES)) != 0)
        return ley_fail(error, is_asked ? LEY_ERROR_USAGE : LEY_ERROR_NO_DEVICE,
                        "the host is to do the job alone, and meshes are for devices");
    const ley_status status = job_options(r, NULL, options, &own, error);
    if (status != LEY_OK)
        return status;
    return first != NULL ? first->method->request->create(r, NULL, &r->asked.potential, &own, job, error)
                         : chooser_refuse(list, count, error);
}

/* All ranks take what rank 0 has chosen: what each of them has measured differs. `fft` has room for
 * a name. */
static void take_first_choice(candidate *list, const candidate **chosen, char fft[RANK_FFT])
{
    size_t index = (size_t)(*chosen - list);
    candidate *c;
    ranks_broadcast(&index, sizeof index);
    *chosen = c = &list[index];
    ranks_broadcast(&c->is_estimated, sizeof c->is_estimated);
    rank_share_range(&c->estimate.range, fft);
    ranks_broadcast(&c->estimate.sum, sizeof c->estimate.sum);
}

static ley_status create_on_devices(sum_request *r, candidate *list, size_t count, ley_engine *engine,
                                    const ley_run_options *options, ley_job **job, ley_error *error)
{
    const candidate *chosen;
    ley_run_options own;
    char fft[RANK_FFT];
    ley_status status = chooser_choose(r, list, count, &chosen, error);
    if (status == LEY_OK)
        take_first_choice(list, &chosen, fft);
    if (status == LEY_OK)
        status = job_options(r, chosen, options, &own, error);
    if (status != LEY_OK)
        return status;
    const ley_long_range *range = chosen->is_estimated ? &chosen->estimate.range : &r->asked.potential;
    status = request_deal(chosen->method->request, engine, r->atoms, &r->grid, range, error);
    return status == LEY_OK ? chosen->method->request->create(r, engine, range, &own, job, error) : status;
}

/* Whether some way of doing it may do with parts of the atoms, and estimates with shares. */
static bool can_part(const sum_request *r, const ley_engine *engine)
{
    const bool *periodic = r->asked.potential.periodic;
    return engine != NULL && !r->options.by_host && r->target.points == NULL && ley_grid_is_orthogonal(&r->grid) &&
           periodic[0] == periodic[1] && periodic[1] == periodic[2];
}

static ley_status create(sum_request *r, ley_engine *engine, const ley_request *request, const ley_run_options *options,
                         ley_job **job, ley_error *error)
{
    candidate list[LEY_MOST_ESTIMATES];
    ley_status status = target_check(&r->target, TARGET_MAP | TARGET_POINTS, request->method, error);
    if (status == LEY_OK)
        status = begin(r, engine, request, options, error);
    if (status == LEY_OK && !can_part(r, engine))
        status = ley_atoms_take_all((ley_atoms *)(uintptr_t)r->atoms, error);
    if (status != LEY_OK)
        return status;
    const size_t count = list_candidates(r, list);
    status = engine == NULL || r->options.by_host ? create_by_host(r, list, count, options, job, error)
                                                  : create_on_devices(r, list, count, engine, options, job, error);
    end(r, list, count);
    return status;
}

ley_status ley_job_create_chosen(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                 const ley_request *request, const ley_run_options *options, ley_job **job,
                                 ley_error *error)
{
    sum_request r = {.atoms = atoms, .target = target};
    return create(&r, engine, request, options, job, error);
}

ley_status chosen_job_create_kept(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                  const ley_request *request, const ley_run_options *options, ley_job **job,
                                  ley_error *error)
{
    sum_request r = {.atoms = atoms, .target = target, .is_kept = true};
    const ley_status status = create(&r, engine, request, options, job, error);
    if (status == LEY_OK)
        (*job)->is_kept = true;
    return status;
}

/* ---- Before it ------------------------------------------------------------------------------- */

ley_status ley_request_check_memory(const ley_request *request, const ley_atoms *atoms, const ley_grid *grid,
                                    ley_error *error)
{
    sum_request r = {.atoms = atoms, .target = {.grid = grid}, .grid = *grid};
    candidate list[LEY_MOST_ESTIMATES];
    job_needs needs = {.count = 0};
    const ley_status status = take_request(request, &r.asked, error);
    if (status != LEY_OK)
        return status;
    if (ley_atoms_part(atoms) != NULL) { /* what else ranks need is known once atoms are dealt */
        job_needs_map(&needs, grid, NULL, 1);
        return job_needs_check(&needs, error);
    }
    const size_t count = chooser_candidates(&r, method_registry, list);
    end(&r, list, count);
    if (count == 0)
        return chooser_refuse(list, count, error);
    return list[0].method->request->check_memory(atoms, grid, &r.asked.potential, error);
}

static ley_estimate told(const candidate *c, bool is_chosen)
{
    const estimate *e = &c->estimate;
    ley_estimate told = {.method = c->method->name, .is_chosen = is_chosen, .status = c->refusal.status};
    snprintf(told.reason, sizeof told.reason, "%.255s", c->refusal.message);
    if (c->refusal.status != LEY_OK || !c->is_estimated)
        return told;
    told.seconds = e->seconds;
    told.building_s = e->building_s;
    told.relative_rms = e->relative_rms;
    told.bytes = e->bytes;
    told.sum = e->sum;
    return told;
}

ley_status ley_request_estimate(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                const ley_request *request, const ley_run_options *options,
                                ley_estimate estimates[LEY_MOST_ESTIMATES], size_t *count, ley_error *error)
{
    sum_request r = {.atoms = atoms, .target = target};
    candidate list[LEY_MOST_ESTIMATES];
    const candidate *chosen;
    ley_status status = target_check(&target, TARGET_MAP | TARGET_POINTS | TARGET_OUTLINE, request->method, error);
    if (status == LEY_OK)
        status = begin(&r, engine, request, options, error);
    if (status != LEY_OK)
        return status;
    const size_t candidates = list_candidates(&r, list);
    status = chooser_choose(&r, list, candidates, &chosen, error);
    if (status == LEY_OK) {
        chooser_estimate(&r, list, candidates);
        *count = candidates;
        for (size_t i = 0; i < candidates; i++)
            estimates[i] = told(&list[i], &list[i] == chosen);
    }
    end(&r, list, candidates);
    return status;
}

/* ---- A map in one call ----------------------------------------------------------------------- */

/* Without an engine: by the host, or by a device that is opened here. Where there is none, the host
 * takes what it would have left to one. */
static ley_status create_anywhere(ley_engine *given, ley_engine **opened, const ley_atoms *atoms, ley_target target,
                                  const ley_request *request, ley_job **job, ley_error *error)
{
    ley_run_options options;
    ley_run_options_default(&options);
    ley_status status = ley_job_create_chosen(given, atoms, target, request, &options, job, error);
    if (status != LEY_ERROR_NO_DEVICE || given != NULL)
        return status;
    status = ley_engine_create(NULL, opened, error);
    if (status == LEY_OK)
        return ley_job_create_chosen(*opened, atoms, target, request, &options, job, error);
    if (status == LEY_ERROR_NO_DEVICE &&
        ley_job_create_chosen(NULL, atoms, target, request, &options, job, NULL) == LEY_OK) {
        if (error != NULL)
            ley_error_clear(error);
        return LEY_OK;
    }
    return status;
}

static ley_status run(ley_job *job, double tolerance, ley_accuracy *accuracy, ley_error *error)
{
    const ley_status status = ley_job_run(job, error);
    const ley_report *report = ley_job_report(job);
    if (status != LEY_OK)
        return status;
    if (report->tolerance_share > 1)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                        "the map is off by %.3g of its root mean square, and %g is allowed",
                        report->accuracy.relative_rms, tolerance);
    if (accuracy != NULL)
        *accuracy = report->accuracy;
    return LEY_OK;
}

ley_status ley_map_compute(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid, const ley_request *request,
                           ley_map **map, ley_accuracy *accuracy, ley_error *error)
{
    ley_request asked;
    ley_grid chosen;
    ley_map *made = NULL;
    ley_engine *opened = NULL;
    ley_job *job = NULL;
    ley_status status = take_request(request, &asked, error);
    if (status == LEY_OK && grid == NULL)
        status = ley_grid_choose(&asked.grid, atoms, asked.potential.periodic,
                                 (const double(*)[3])asked.potential.cell_A, &chosen, error);
    if (status == LEY_OK)
        status = ley_request_check_memory(&asked, atoms, grid != NULL ? grid : &chosen, error);
    if (status == LEY_OK)
        status = ley_map_create(grid != NULL ? grid : &chosen, &made, error);
    if (status == LEY_OK)
        status = create_anywhere(engine, &opened, atoms, (ley_target){.map = made}, &asked, &job, error);
    if (status == LEY_OK)
        status = run(job, asked.tolerance, accuracy, error);
    if (status == LEY_OK)
        ley_map_set_atoms(made, atoms);
    ley_job_destroy(job);
    ley_engine_destroy(opened);
    if (status == LEY_OK)
        *map = made;
    else
        ley_map_destroy(made);
    return status;
}
