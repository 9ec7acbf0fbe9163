/* Short-range potentials as a method: phi_i = C sum over r_ij < a of q_j f(max(r_ij, r_min)). Stone
 * et al., GPU Gems (2010); Rodrigues et al., CF (2008); Hardy, Stone, Schulten, Parallel Computing
 * 35, 164 (2009). Bounds: pairs within the cutoff, over the share of computed pairs that these are,
 * at one root or about seven multiply-adds each, twice that with the field; and 4 bytes per point
 * and component over the link. */
#include "methods/cutoff/method.h"

#include "core/options.h"
#include "error.h"
#include "law/accuracy.h"
#include "law/pairs.h"
#include "methods/cutoff/by_host.h"
#include "methods/cutoff/points.h"
#include "methods/cutoff/short_range.h"
#include "methods/cutoff/stages.h"
#include "schedule/job.h"
#include "schedule/job_memory.h"
#include "target/map.h"
#include "target/target.h"

#include <stdlib.h>

/* ---- The problem ----------------------------------------------------------------------------- */

static void end_task(void *context)
{
    cutoff_task_clear(context);
    free(context);
}

static void host_needs(const void *context, job_needs *needs)
{
    const cutoff_task *task = context;
    job_needs_map(needs, ley_map_grid(task->map), task->map, CUTOFF_LAYER);
    cutoff_problem_needs(task->atoms, ley_map_grid(task->map), &task->range, needs);
}

ley_status ley_short_range_check_memory(const ley_atoms *atoms, const ley_grid *grid, const ley_short_range *range,
                                        ley_error *error)
{
    ley_short_range r;
    ley_status status = OPTIONS_TAKE(ley_short_range, transposition, &r, range, error);
    if (status == LEY_OK)
        status = ley_grid_check(grid, error);
    if (status != LEY_OK)
        return status;
    job_needs needs = {.count = 0};
    job_needs_map(&needs, grid, NULL, CUTOFF_LAYER);
    cutoff_problem_needs(atoms, grid, &r, &needs);
    return memory_check(needs.list, needs.count, error);
}

static ley_status task_create(const ley_atoms *atoms, ley_map *map, const ley_short_range *range, void **made,
                              ley_error *error)
{
    cutoff_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    const ley_status status = cutoff_task_init(task, atoms, map, range, error);
    if (status != LEY_OK)
        end_task(task);
    else
        *made = task;
    return status;
}

ley_status ley_job_create_short_range(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                      const ley_short_range *range, const ley_run_options *options, ley_job **job,
                                      ley_error *error)
{
    ley_short_range r;
    void *task;
    ley_status status = OPTIONS_TAKE(ley_short_range, transposition, &r, range, error);
    if (status == LEY_OK)
        status = options_check_medium(&r, error);
    if (status == LEY_OK)
        status = short_range_check(&r, error);
    if (status == LEY_OK)
        status = target_check(&target, TARGET_MAP | TARGET_POINTS, method_cutoff.name, error);
    if (status == LEY_OK)
        status = target.points != NULL ? cutoff_points_task_create(atoms, target.points, &r, &task, error)
                                       : task_create(atoms, target.map, &r, &task, error);
    return status == LEY_OK ? job_create(engine, method_for_target(&method_cutoff, &target), task, atoms, &target,
                                         options, job, error)
                            : status;
}

static void terms(const void *context, reference_terms *t)
{
    *t = cutoff_problem_sum(((const cutoff_task *)context)->problem);
}

static accuracy_limits limits(const void *context)
{
    const cutoff_task *task = context;
    reference_terms sum;
    terms(context, &sum);
    return (accuracy_limits){.tolerance = cutoff_promise(context, task->range.pair, task->range.r_min_A),
                             .nothing = ACCURACY_NOTHING,
                             .place = reference_place(&sum)};
}

static bool by_host(const void *context, host_sum *sum)
{
    return cutoff_by_host(context, sum);
}

static const product *const made_by_bins[] = {&cutoff_product_bins, NULL};

enum { BINS, SUM };

static const stage stages[] = {
    [BINS] = CUTOFF_STAGE_BINS(made_by_bins),
    [SUM] = CUTOFF_STAGE_SUM(made_by_bins),
};

const method method_cutoff = {
    .name = "cutoff",
    .at_points = &method_cutoff_points,
    .parameters = &short_range_parameters,
    .kernel = &cutoff_kind,
    .prepare = cutoff_prepare,
    .renew = cutoff_renew,
    .parts_move = true,
    .release = cutoff_release,
    .host_needs = host_needs,
    .outline = cutoff_outline,
    .host_s = cutoff_host_s,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = SUM,
    .points = cutoff_count_points,
    .evaluations = cutoff_count_pairs,
    .finish = cutoff_finish,
    .note = cutoff_note,
    .plan_rows = cutoff_plan_rows,
    .piece_planes = CUTOFF_LAYER,
    .pieces = "layers of 8 planes",
    .decisions = cutoff_decisions,
    .terms = terms,
    .limits = limits,
    .point = cutoff_point,
    .value = cutoff_value,
    .field = cutoff_field,
    .map = cutoff_map,
    .by_host = by_host,
    .bench = &bench_cutoff,
};
