/* Direct Coulomb summation at the points of a list: phi_i = C sum_j q_j / max(r_ij, r_min), and the
 * field there, where the points have one. These are Multiple Debye-Hueckel values without
 * screening, but for r_min: the same kernels compute them. */
#include "methods/dcs/points.h"
#include "error.h"
#include "law/dcs.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/stages.h"
#include "schedule/host_sum.h"
#include "target/points.h"

#include <stdlib.h>

typedef struct points_task {
    mdh_sums sums; /* first */
    ley_points *points;
    ley_direct options;
} points_task;

ley_status dcs_points_task_create(const coulomb_problem *p, void **made, ley_error *error)
{
    ley_points *points = p->target.points;
    const ley_status status = points_check_excluded(points, p->atoms, error);
    if (status != LEY_OK)
        return status;
    points_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    *task =
        (points_task){.sums = {.atoms = p->atoms, .boundary = points->list, .field = points->field, .points = points},
                      .points = points,
                      .options = p->medium};
    *made = task;
    return LEY_OK;
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
    .name = "dcs",
    .target = LEY_TARGET_POINTS,
    .kernel = &mdh_kind,
    .prepare = prepare,
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
    .double_has_more_digits = true,
};
