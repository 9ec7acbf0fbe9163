/* A wavefunction's values again and again, for one set of coefficients after the other. */
#include "plan/job_run.h"

#include "core/units.h"
#include "engine/engine.h"
#include "error.h"
#include "log.h"
#include "methods/wavefunction/method.h"
#include "methods/wavefunction/task.h"
#include "schedule/job.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of every run that are computed once more. */
enum { CHECKED = 4 };

struct ley_wavefunction_plan {
    ley_engine *engine;
    ley_wavefunction *wavefunction; /* of its own */
    ley_wavefunction_request request;
    int64_t *orbitals; /* the request's */
    double *occupations;
    ley_map **maps;
    ley_wavefunction_options options;
    ley_run_options run_options;
    char *variant; /* of the latter */
    ley_job *job;
    uint32_t random;
    bool is_alert; /* threads of the host look out for the next run */
};

static ley_status copy_request(ley_wavefunction_plan *p, const ley_wavefunction_request *r, ley_error *error)
{
    const size_t maps = r->maps != NULL ? ley_wavefunction_values(r) : 0,
                 orbitals = r->orbitals != NULL ? r->orbital_count : 0,
                 occupations = r->occupations != NULL ? orbitals : 0;
    if (r->kind == LEY_POTENTIAL)
        return ley_fail(error, LEY_ERROR_USAGE, "potentials have jobs, not plans: ley_job_create_wavefunction()");
    p->request = *r;
    p->maps = calloc(maps + 1, sizeof *p->maps);
    p->orbitals = calloc(orbitals + 1, sizeof *p->orbitals);
    p->occupations = calloc(occupations + 1, sizeof *p->occupations);
    if (p->maps == NULL || p->orbitals == NULL || p->occupations == NULL)
        return ley_fail_memory(error, (maps + orbitals + occupations) * sizeof *p->orbitals, "the plan");
    if (maps > 0) {
        memcpy(p->maps, r->maps, maps * sizeof *p->maps);
        p->request.maps = p->maps;
    }
    if (orbitals > 0) {
        memcpy(p->orbitals, r->orbitals, orbitals * sizeof *p->orbitals);
        p->request.orbitals = p->orbitals;
    }
    if (occupations > 0) {
        memcpy(p->occupations, r->occupations, occupations * sizeof *p->occupations);
        p->request.occupations = p->occupations;
    }
    return LEY_OK;
}

/* A job, whose kernels, tables and buffers are to stay. */
static ley_status make_job(ley_wavefunction_plan *p, ley_error *error)
{
    const ley_status status = ley_job_create_wavefunction(p->engine, p->wavefunction, &p->request, &p->options,
                                                          &p->run_options, &p->job, error);
    if (status == LEY_OK)
        p->job->is_kept = true;
    return status;
}

ley_status ley_wavefunction_plan_create(ley_engine *engine, const ley_wavefunction *w,
                                        const ley_wavefunction_request *request,
                                        const ley_wavefunction_options *options, const ley_run_options *run_options,
                                        ley_wavefunction_plan **plan, ley_error *error)
{
    if (engine == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "plans of wavefunctions are for devices, and no engine was given");
    ley_wavefunction_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the plan");
    *p = (ley_wavefunction_plan){.engine = engine, .random = 1};
    const ley_wavefunction_arrays arrays = ley_wavefunction_get(w);
    ley_wavefunction_options_default(&p->options);
    ley_run_options_default(&p->run_options);
    if (options != NULL)
        p->options = *options;
    if (run_options != NULL)
        p->run_options = *run_options;
    ley_status status = ley_wavefunction_create(&arrays, &p->wavefunction, error);
    if (status == LEY_OK)
        status = copy_request(p, request, error);
    if (status == LEY_OK && p->run_options.variant != NULL) {
        p->variant = strdup(p->run_options.variant);
        p->run_options.variant = p->variant;
        status = p->variant != NULL ? LEY_OK : ley_fail_memory(error, strlen(run_options->variant), "the plan");
    }
    if (status == LEY_OK)
        status = make_job(p, error);
    if (status == LEY_OK)
        *plan = p;
    else
        ley_wavefunction_plan_destroy(p);
    return status;
}

static void end_job(ley_wavefunction_plan *p)
{
    if (p->job == NULL)
        return;
    job_leave(p->job);
    ley_job_destroy(p->job);
    p->job = NULL;
}

void ley_wavefunction_plan_destroy(ley_wavefunction_plan *p)
{
    if (p == NULL)
        return;
    engine_stay_alert(p->engine, false, &p->is_alert);
    end_job(p);
    ley_wavefunction_destroy(p->wavefunction);
    free(p->orbitals);
    free(p->occupations);
    free(p->maps);
    free(p->variant);
    free(p);
}

/* ---- Updates --------------------------------------------------------------------------------- */

static ley_status check_numbers(const double *numbers, int64_t count, const char *what, ley_error *error)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return ley_fail(error, LEY_ERROR_INPUT, "%s %lld is %g", what, (long long)i + 1, numbers[i]);
    return LEY_OK;
}

ley_status ley_wavefunction_plan_update(ley_wavefunction_plan *p, const double *coefficients, const double *occupations,
                                        ley_error *error)
{
    const ley_wavefunction_arrays *a = &p->wavefunction->arrays;
    const int64_t count = a->orbitals * p->wavefunction->functions;
    ley_status status =
        coefficients != NULL ? check_numbers(coefficients, count, "the orbitals' coefficient", error) : LEY_OK;
    for (int64_t i = 0; occupations != NULL && status == LEY_OK && i < a->orbitals; i++)
        if (!(occupations[i] >= 0 && occupations[i] <= 2))
            status =
                ley_fail(error, LEY_ERROR_INPUT, "occupation %lld is %g, not 0 to 2", (long long)i + 1, occupations[i]);
    if (status != LEY_OK)
        return status;
    if (p->job != NULL && !p->job->has_begun)
        end_job(p);
    if (coefficients != NULL)
        memcpy((double *)(uintptr_t)a->orbital_coefficients, coefficients, (size_t)count * sizeof *coefficients);
    if (occupations != NULL)
        memcpy((double *)(uintptr_t)a->occupations, occupations, (size_t)a->orbitals * sizeof *occupations);
    return LEY_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Some values, at other places each time. */
static ley_status check_some(ley_wavefunction_plan *p, ley_error *error)
{
    const wavefunction_task *task = p->job->task;
    const method *m = p->job->method;
    const accuracy_limits limits = m->limits(task);
    const int64_t each = ley_grid_points(&task->grid), count = each * (int64_t)task->values;
    for (int i = 0; i < CHECKED; i++) {
        p->random = p->random * 1664525u + 1013904223u;
        const int64_t number = (int64_t)((double)p->random / 4294967296.0 * (double)count);
        double place[3];
        const double value = m->value(task, number, place);
        for (int axis = 0; axis < 3; axis++)
            place[axis] /= units_bohr_A;
        const reference_value right = wavefunction_value(&task->quantities[number / each], place);
        if (!(accuracy_error(value, &right, &limits) <= limits.tolerance))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "verification failed: at (%.9g, %.9g, %.9g) bohr the value is %.9g, double precision says "
                            "%.9g",
                            place[0], place[1], place[2], value, right.value);
    }
    return LEY_OK;
}

static ley_status run_anew(ley_wavefunction_plan *p, ley_error *error)
{
    if (p->job != NULL && p->job->has_begun)
        end_job(p);
    const ley_status status = p->job == NULL ? make_job(p, error) : LEY_OK;
    return status == LEY_OK ? ley_job_run(p->job, error) : status;
}

ley_status ley_wavefunction_plan_run(ley_wavefunction_plan *p, ley_error *error)
{
    ley_error why = {0};
    engine_stay_alert(p->engine, true, &p->is_alert);
    if (p->job == NULL || !job_is_kept(p->job))
        return run_anew(p, error);
    ley_status status = job_run_again(p->job, &why);
    if (status == LEY_OK && p->run_options.verify_points > 0)
        status = check_some(p, &why);
    if (status != LEY_OK && status != LEY_CANCELLED) {
        log_say(LEY_LOG_NOTE, "what was kept is made anew: %s", why.message);
        status = run_anew(p, error);
    } else if (status != LEY_OK) {
        ley_error_copy(error, &why);
    }
    ley_error_clear(&why);
    return status;
}

const ley_report *ley_wavefunction_plan_report(const ley_wavefunction_plan *p)
{
    return p->job != NULL && p->job->has_begun ? &p->job->report : NULL;
}
