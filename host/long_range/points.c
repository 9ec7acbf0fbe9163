/* Long-range potentials at the points of a list: phi_i = C sum_j q_j / max(r_ij, r_min), all pairs
 * and images, screened or not. What is within the cutoff is summed by the kernels of short-range
 * sums at points; the rest is taken from the finest mesh at each point. Both come back beside
 * each other, and the host adds them. */
#include "long_range/points.h"

#include "error.h"
#include "long_range/estimate/stricter.h"
#include "long_range/mesh/gather_points.h"
#include "long_range/mesh_stage.h"
#include "long_range/model/problem.h"
#include "long_range/task.h"
#include "schedule/job_memory.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>

/* ---- The problem ----------------------------------------------------------------------------- */

static const cutoff_points_addition addition;

ley_status msm_points_task_create(ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                  const ley_long_range *range, const ley_run_options *options, void **made,
                                  ley_error *error)
{
    const ley_grid grid = points_grid(points);
    ley_status status = points_check_excluded(points, atoms, error);
    if (status != LEY_OK)
        return status;
    msm_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    task->listed.points = points;
    status = msm_task_init(task, engine, atoms, NULL, &grid, range, options, error);
    if (status != LEY_OK) {
        free(task);
        return status;
    }
    task->listed.addition = task->meshes.levels > 0 ? &addition : NULL;
    *made = task;
    return LEY_OK;
}

static ley_status stricter(const void *context, ley_engine *engine, const ley_run_options *options, const method **m,
                           void **made, ley_sum *sum, ley_error *error)
{
    const msm_task *task = context;
    const coulomb_problem where = {.atoms = task->near.atoms, .target = {.points = task->listed.points}};
    ley_long_range r;
    const ley_status status = msm_choose_stricter(task, engine, &where, options, &r, sum, error);
    if (status != LEY_OK)
        return msm_take_direct(task, &where, options, m, made, sum, error);
    return msm_points_task_create(engine, where.atoms, where.target.points, &r, options, made, error);
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    msm_task *task = context;
    const spread *atoms;
    ley_status status = msm_task_begin(task, job, error);
    const bool is_spread = task->meshes.levels > 0 && !job->only_plans;
    msm_task_place_long(task, job, false);
    if (status == LEY_OK && is_spread)
        msm_task_begin_host_threads(task, job, true);
    if (status == LEY_OK)
        status = cutoff_points_prepare(task, job, error);
    return status == LEY_OK && is_spread ? host_threads_take_atoms(&task->host_threads, &atoms, error) : status;
}

static void host_needs(const void *context, job_needs *needs)
{
    const msm_task *task = context;
    cutoff_points_host_needs(task, needs);
    msm_add_needs(&task->meshes, task->near.atoms, needs);
}

static ley_status finish(void *context, ley_error *error)
{
    msm_task *task = context;
    (void)error;
    ley_points_set_units(task->listed.points, ley_units_name(task->options.units));
    msm_task_expect(task);
    return LEY_OK;
}

static void release(void *context, bool is_kept)
{
    msm_task *task = context;
    msm_task_leave(task, is_kept);
    cutoff_points_release(task, is_kept);
}

/* ---- What meshes add ----------------------------------------------------------------------- */

typedef struct added {
    msm_task *task;
    gather_points far;
    gather_run slots[METHOD_SLOTS];
} added;

static ley_status begin_addition(void *context, const stage_place *place, arena *memory, void **state, ley_error *error)
{
    msm_task *task = context;
    const solver *s = msm_field_solver(place);
    added *a = calloc(1, sizeof *a);
    if (a == NULL)
        return ley_fail_memory(error, sizeof *a, "the meshes at points");
    *state = a;
    a->task = task;
    return gather_points_create(&a->far, solver_kernels(s), &task->meshes, solver_array(s), solver_potentials(s),
                                memory, error);
}

static ley_status submit_addition(void *state, int slot, command_sequence *w, slab piece, ley_error *error)
{
    added *a = state;
    const cutoff_points_task *listed = &a->task->listed;
    sequence_step(w, MSM_STEP_INTERPOLATION);
    return gather_points_run(&a->far, &a->slots[slot], w, piece.count, listed->list.order + piece.first,
                             ley_points_positions_A(listed->points), error);
}

static ley_status collect_addition(void *state, int slot, slab piece, ley_error *error)
{
    added *a = state;
    const cutoff_points_task *listed = &a->task->listed;
    double *value = listed->points->list->value;
    const ley_status status = gather_points_add(&a->far, &a->slots[slot], a->task->constant,
                                                listed->list.order + piece.first, value, listed->points->field, error);
    for (int64_t i = 0; i < piece.count && status == LEY_OK; i++)
        value[listed->list.order[piece.first + i]] += msm_mean(a->task);
    return status;
}

/* The smooth part: gamma(r/a)/a, and beyond the cutoff the whole. */
static void of_charge(const void *context, const double way_A[3], double *value, double field[3])
{
    const splitting *s = &((const msm_task *)context)->meshes.level[0].split;
    const double a_A = ((const msm_task *)context)->meshes.level[0].cutoff_A, rho = cell_length(way_A) / a_A,
                 slope = splitting_gamma_slope(s, rho);
    *value = splitting_gamma(s, rho) / a_A;
    for (int axis = 0; axis < 3; axis++)
        field[axis] = rho > 0 ? -slope / (a_A * a_A) * way_A[axis] / (rho * a_A) : 0;
}

static double point_bytes(const void *context)
{
    return gather_points_bytes(((const msm_task *)context)->listed.points->field != NULL);
}

static const cutoff_points_addition addition = {.begin = begin_addition,
                                                .end = free,
                                                .submit = submit_addition,
                                                .collect = collect_addition,
                                                .of_charge = of_charge,
                                                .point_bytes = point_bytes};

/* ---- The method ------------------------------------------------------------------------------ */

static void note(const void *context, notes *n)
{
    const msm_task *task = context;
    msm_note_meshes(task, n);
    cutoff_points_note(task, n);
    if (task->meshes.levels > 0)
        notes_phase(n, "phase_meshes", task->predicted_s, task->meshes_s);
}

static const plan_row plan_rows[] = {MSM_PLAN_ROWS, {.name = NULL}};

static const product *const made_by_field[] = {&msm_product_field, NULL};

static const stage stages[] = {MSM_STAGE_FIELD_ROW(NULL, made_by_field), CUTOFF_STAGE_POINTS(made_by_field)};

const method method_msm_points = {
    .name = "msm",
    .target = LEY_TARGET_POINTS,
    .kernel = &point_pairs_kind,
    .needs = cutoff_needs,
    .prepare = prepare,
    .stricter = stricter,
    .otherwise = msm_task_otherwise,
    .release = release,
    .host_needs = host_needs,
    .outline = msm_outline,
    .host_s = cutoff_points_host_s,
    .end = msm_task_end,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = 1,
    .points = cutoff_points_of,
    .evaluations = cutoff_points_pairs,
    .finish = finish,
    .note = note,
    .plan_rows = plan_rows,
    .pieces = "points",
    .decisions = msm_decide_meshes,
    .error_scale = "the root of the squared terms",
    .terms = msm_terms,
    .limits = msm_limits,
    .look_closer = msm_look_closer,
    .point = cutoff_points_point,
    .value = cutoff_points_value,
    .field = cutoff_points_field,
    .excluded = cutoff_points_excluded,
    .field_is_allowed = true,
    .by_host = msm_by_host,
    .by_steps = msm_by_steps,
    .distrust = msm_distrust,
};
