/* The potential of a solute, by the method that reaches the tolerance soonest. */
#include "error.h"
#include "ions/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Further than any place of the target is from an atom. */
static double longest_A(const ley_atoms *atoms, ley_target target)
{
    double low_A[3], high_A[3], sum = 0;
    ley_atoms_bounds_A(atoms, low_A, high_A);
    const int64_t count = target.map != NULL ? 8 : ley_points_count(target.points);
    for (int64_t i = 0; i < count; i++) {
        double at_A[3];
        if (target.map == NULL) {
            memcpy(at_A, ley_points_positions_A(target.points) + 3 * i, sizeof at_A);
        } else {
            const ley_grid *g = ley_map_grid(target.map);
            const int64_t corner[3] = {(i & 1) * (g->n[0] - 1), (i >> 1 & 1) * (g->n[1] - 1), (i >> 2) * (g->n[2] - 1)};
            for (int axis = 0; axis < 3; axis++)
                at_A[axis] = g->origin_A[axis] + (double)corner[0] * g->step_A[0][axis] +
                             (double)corner[1] * g->step_A[1][axis] + (double)corner[2] * g->step_A[2][axis];
        }
        for (int axis = 0; axis < 3; axis++) {
            low_A[axis] = fmin(low_A[axis], at_A[axis]);
            high_A[axis] = fmax(high_A[axis], at_A[axis]);
        }
    }
    for (int axis = 0; axis < 3; axis++)
        sum += pow(high_A[axis] - low_A[axis], 2);
    return 1.001 * sqrt(sum) + 1;
}

/* Sums of q / r^2 over all atoms. */
static ley_status create_square_job(ions_task *t, const ley_atoms *atoms, ley_target target,
                                    const ley_run_options *options, ley_error *error)
{
    ley_short_range range;
    ley_short_range_default(&range);
    range.units = LEY_UNITS_KCAL_MOL_E;
    range.pair = LEY_PAIR_DISTANCE_DIELECTRIC;
    range.cutoff_A = longest_A(atoms, target);
    ley_status status = LEY_OK;
    if (t->engine == NULL && t->opened == NULL && !options->by_host)
        status = ley_engine_create(NULL, &t->opened, error);
    return status == LEY_OK ? ley_job_create_short_range(t->engine != NULL ? t->engine : t->opened, atoms, target,
                                                         &range, options, &t->job, error)
                            : status;
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
    ley_status status = t->o.distance_dielectric ? create_square_job(t, atoms, target, &options, error)
                                                 : create_job(t, atoms, target, &request, &options, error);
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
