/* The potential of a solute, by the method that reaches the tolerance soonest. */
#include "error.h"
#include "ions/internal.h"

#include <stdlib.h>

static void look_at_cancel(void *context, const ley_progress *progress)
{
    ions_task *t = context;
    (void)progress;
    if (ions_is_cancelled(t))
        ley_job_cancel(t->job);
}

/* By the host where that is sooner, or on the engine, which is opened where there is none. Where
 * there is no device the host does what it would have left to one. */
static ley_status create_job(ions_task *t, const ley_atoms *atoms, ley_target target, const ley_request *request,
                             const ley_run_options *options, ley_error *error)
{
    ley_engine *engine = t->engine != NULL ? t->engine : t->opened;
    ley_status status = ley_job_create_chosen(engine, atoms, target, request, options, &t->job, error);
    if (status != LEY_ERROR_NO_DEVICE || engine != NULL || options->by_host)
        return status;
    if (error != NULL)
        ley_error_clear(error);
    status = ley_engine_create(NULL, &t->opened, error);
    if (status == LEY_OK)
        return ley_job_create_chosen(t->opened, atoms, target, request, options, &t->job, error);
    if (status == LEY_ERROR_NO_DEVICE &&
        ley_job_create_chosen(NULL, atoms, target, request, options, &t->job, NULL) == LEY_OK) {
        if (error != NULL)
            ley_error_clear(error);
        return LEY_OK;
    }
    return status;
}

ley_status ions_potential(ions_task *t, const ley_atoms *atoms, ley_target target, ley_error *error)
{
    ley_request request = t->request;
    ley_run_options options;
    ley_run_options_default(&options);
    options.progress = look_at_cancel;
    options.progress_context = t;
    options.by_host = t->engine == NULL && t->opened == NULL && t->o.placing == LEY_PLACE_HOST;
    request.potential.units = LEY_UNITS_KCAL_MOL_E;
    request.potential.dielectric = 1;
    t->job = NULL;
    ley_status status = create_job(t, atoms, target, &request, &options, error);
    if (status == LEY_OK)
        status = ley_job_run(t->job, error);
    if (status == LEY_OK) {
        const ley_report *report = ley_job_report(t->job);
        t->potential_rms = report->accuracy.points > 0 ? report->accuracy.relative_rms : 0;
        t->method = report->host != NULL ? report->host : report->method;
    }
    ley_job_destroy(t->job);
    t->job = NULL;
    return status;
}
