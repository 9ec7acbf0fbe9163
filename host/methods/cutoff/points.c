/* Short-range potentials at the points of a list, phi_i = C sum over r_ij < a of q_j f(max(r_ij,
 * r_min)), and the field there, minus the gradient, where the points have one. The host puts atoms
 * into bins. A slab is some of the points, in their order in space. */
#include "methods/cutoff/points.h"

#include "error.h"
#include "law/accuracy.h"
#include "law/pairs.h"
#include "methods/cutoff/by_host.h"
#include "methods/cutoff/point_stages.h"
#include "methods/cutoff/short_range.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>

/* ---- The problem ----------------------------------------------------------------------------- */

static void end_task(void *context)
{
    cutoff_task_clear(&((cutoff_points_task *)context)->sums);
    free(context);
}

ley_status cutoff_points_task_create(const ley_atoms *atoms, ley_points *points, const ley_short_range *range,
                                     void **made, ley_error *error)
{
    ley_status status = cutoff_points_check(range, error);
    if (status == LEY_OK)
        status = points_check_excluded(points, atoms, error);
    if (status != LEY_OK)
        return status;
    cutoff_points_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    task->points = points;
    status = cutoff_task_init(&task->sums, atoms, NULL, range, error);
    if (status != LEY_OK)
        end_task(task);
    else
        *made = task;
    return status;
}

/* ---- The result ------------------------------------------------------------------------------ */

static ley_status finish(void *context, ley_error *error)
{
    (void)error;
    const cutoff_points_task *task = context;
    ley_points_set_units(task->points, short_range_units(&task->sums.range, task->sums.range.units));
    return LEY_OK;
}

/* What places are rounded by. */
static double largest_A(const cutoff_points_task *task)
{
    const double *side_A = task->sums.problem->plan.side_A;
    return fmax(side_A[0], fmax(side_A[1], side_A[2]));
}

static void terms(const void *context, reference_terms *t)
{
    const cutoff_points_task *task = context;
    *t = cutoff_problem_sum(task->sums.problem);
    t->largest_A = largest_A(task);
}

static accuracy_limits limits(const void *context)
{
    const cutoff_points_task *task = context;
    const ley_short_range *r = &task->sums.range;
    reference_terms sum;
    terms(context, &sum);
    return (accuracy_limits){.tolerance =
                                 short_range_promise(r, task->sums.job->options->math, r->r_min_A, largest_A(task)),
                             .nothing = ACCURACY_NOTHING,
                             .place = reference_place(&sum)};
}

static bool by_host(const void *context, host_sum *sum)
{
    const cutoff_points_task *task = context;
    if (!cutoff_by_host(&task->sums, sum))
        return false;
    sum->list = task->points->list;
    sum->points = task->points;
    return true;
}

static const stage stages[] = {CUTOFF_STAGE_POINTS(NULL)};

const method method_cutoff_points = {
    .name = "cutoff",
    .target = LEY_TARGET_POINTS,
    .kernel = &point_pairs_kind,
    .prepare = cutoff_points_prepare,
    .release = cutoff_points_release,
    .host_needs = cutoff_points_host_needs,
    .outline = cutoff_outline,
    .host_s = cutoff_points_host_s,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .points = cutoff_points_of,
    .evaluations = cutoff_points_pairs,
    .finish = finish,
    .note = cutoff_points_note,
    .pieces = "points",
    .terms = terms,
    .limits = limits,
    .point = cutoff_points_point,
    .value = cutoff_points_value,
    .field = cutoff_points_field,
    .excluded = cutoff_points_excluded,
    .by_host = by_host,
};
