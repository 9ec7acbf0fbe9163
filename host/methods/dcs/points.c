/* Direct Coulomb summation at the points of a list: phi_i = C sum_j q_j / max(r_ij, r_min), and the
 * field there, where the points have one. These are Multiple Debye-Hueckel values without
 * screening, but for r_min: the same kernels compute them. */
#include "methods/dcs/points.h"
#include "core/options.h"
#include "error.h"
#include "law/dcs.h"
#include "methods/dcs/estimate.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/stages.h"
#include "schedule/host_sum.h"
#include "schedule/job.h"
#include "target/points.h"

#include <stdlib.h>

typedef struct points_task {
    mdh_sums sums; /* first */
    ley_points *points;
    ley_direct options;
} points_task;

static ley_status take_direct(const coulomb_problem *p, void **made, ley_error *error)
{
    if (p->points == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "method dcs_points fills lists of points");
    points_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    *task = (points_task){
        .sums = {.atoms = p->atoms, .boundary = p->points->list, .field = p->points->field, .points = p->points},
        .points = p->points,
        .options = p->medium};
    *made = task;
    return LEY_OK;
}

ley_status ley_job_create_direct_points(ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                        const ley_direct *direct, const ley_run_options *options, ley_job **job,
                                        ley_error *error)
{
    coulomb_problem p = {.atoms = atoms, .points = points};
    ley_direct *d = &p.medium;
    void *task;
    ley_status status = OPTIONS_TAKE(ley_direct, r_min_A, d, direct, error);
    if (status == LEY_OK)
        status = options_check_medium(d, error);
    if (status == LEY_OK)
        status = points_check_excluded(points, atoms, error);
    if (status == LEY_OK)
        status = take_direct(&p, &task, error);
    return status == LEY_OK ? job_create(engine, &method_dcs_points, task, atoms, options, job, error) : status;
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    points_task *task = context;
    const ley_direct *d = &task->options;
    return mdh_sums_prepare(&task->sums, job, ley_coulomb_constant(d->units, d->dielectric, d->temperature_K), 0,
                            d->r_min_A, error);
}

static void release(void *context, bool is_kept)
{
    (void)is_kept;
    mdh_sums_release(&((points_task *)context)->sums);
}

static ley_status finish(void *context, ley_error *error)
{
    const points_task *task = context;
    ley_points_set_units(task->points, ley_units_name(task->options.units));
    return mdh_sums_recompute_near(&task->sums, error);
}

static bool by_host(const void *context, host_sum *sum)
{
    const points_task *task = context;
    const ley_direct *d = &task->options;
    *sum = (host_sum){.terms = {.law = &law_dcs,
                                .constant = ley_coulomb_constant(d->units, d->dielectric, d->temperature_K),
                                .atoms = task->sums.atoms,
                                .r_min_A = d->r_min_A},
                      .list = task->points->list,
                      .points = task->points,
                      .units = ley_units_name(d->units),
                      .how = "direct summation",
                      .builds_s = 3};
    return true;
}

const method method_dcs_points = {
    .name = "dcs_points",
    .kernel = &mdh_kind,
    .prepare = prepare,
    .take_direct = take_direct,
    .release = release,
    .host_needs = mdh_sums_host_needs,
    .end = free,
    .stages = mdh_stages,
    .stage_count = MDH_STAGE_COUNT,
    .points = mdh_sums_points,
    .finish = finish,
    .plan_rows = mdh_plan_rows,
    .pieces = "points",
    .terms = mdh_sums_terms,
    .limits = mdh_sums_limits,
    .point = mdh_sums_point,
    .value = mdh_sums_value,
    .field = mdh_sums_field,
    .excluded = mdh_sums_excluded,
    .by_host = by_host,
    .request = &dcs_points_request,
    .double_has_more_digits = true,
};
