/* Long-range potentials as a method: phi_i = C sum_j q_j / max(r_ij, r_min), all pairs and images,
 * screened or not, as a sum within the cutoff and a smooth rest on meshes. Hardy, Stone,
 * Schulten, Parallel Computing 35, 164 (2009), equations 11 to 17.
 *
 * Data: charges into the finest mesh's bins, on all host cores, and to each device; or by each
 * device, where these bin for the short-range sum. Each device makes the potentials of the finest
 * mesh for itself and keeps them. The short-range sum's slabs
 * (methods/cutoff/stages.h) get these interpolated and added before they travel, so that the map
 * crosses the bus once. Bounds: those of the short-range sum; of the rest, multiply-adds of the
 * lattice cutoff. */
#include "long_range/method.h"

#include "clock.h"
#include "core/options.h"
#include "error.h"
#include "law/long_range.h"
#include "log.h"
#include "long_range/estimate/stricter.h"
#include "long_range/estimate/tolerance.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/host_threads.h"
#include "long_range/mesh/device_spread.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/mesh_stage.h"
#include "long_range/model/memory_limits.h"
#include "long_range/model/problem.h"
#include "long_range/model/short_range_part.h"
#include "long_range/points.h"
#include "long_range/solver.h"
#include "long_range/task.h"
#include "methods/cutoff/stages.h"
#include "numerics/influence.h"
#include "parallel.h"
#include "plan/forecast.h"
#include "ranks.h"
#include "schedule/job.h"
#include "schedule/job_memory.h"
#include "schedule/rank_share.h"
#include "source/atoms.h"
#include "target/map.h"
#include "target/points.h"
#include "target/target.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

static void host_needs(const void *context, job_needs *needs)
{
    const msm_task *task = context;
    job_needs_map(needs, &task->points, task->near.map, CUTOFF_LAYER);
    msm_problem_needs(task->near.atoms, &task->points, &task->options, &task->meshes, needs);
}

ley_status ley_long_range_check_memory(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range,
                                       ley_error *error)
{
    ley_long_range r;
    hierarchy h;
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, &r, range, error);
    if (status == LEY_OK)
        status = ley_grid_check(grid, error);
    if (status != LEY_OK)
        return status;
    job_needs needs = {.count = 0};
    job_needs_map(&needs, grid, NULL, CUTOFF_LAYER);
    if (msm_meshes(&r, atoms, grid, &h, NULL) == LEY_OK)
        msm_problem_needs(atoms, grid, &r, &h, &needs);
    return memory_check(needs.list, needs.count, error);
}

double ley_long_range_halo_A(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range)
{
    ley_long_range r;
    hierarchy h;
    pairs_formula formula;
    if (OPTIONS_TAKE(ley_long_range, fft, &r, range, NULL) != LEY_OK || msm_meshes(&r, atoms, grid, &h, NULL) != LEY_OK)
        return INFINITY;
    const ley_short_range near = msm_near_of(&r, &h, &formula);
    const double halo_A = ley_short_range_halo_A(atoms, grid, &near);
    return h.levels > 0 ? fmax(halo_A, mesh_share_halo_A(&h, grid)) : halo_A;
}

static const cutoff_addition addition;

static ley_status create_for_map(ley_engine *engine, const ley_atoms *atoms, ley_map *map, const ley_long_range *range,
                                 const ley_run_options *options, void **made, ley_error *error)
{
    msm_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    const ley_status status = msm_task_init(task, engine, atoms, map, ley_map_grid(map), range, options, error);
    if (status != LEY_OK) {
        free(task);
        return status;
    }
    task->near.addition = task->meshes.levels > 0 ? &addition : NULL;
    *made = task;
    return LEY_OK;
}

static ley_status create(ley_engine *engine, const ley_atoms *atoms, const ley_target *target,
                         const ley_long_range *range, const ley_run_options *options, void **made, ley_error *error)
{
    ley_long_range r;
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, &r, range, error);
    if (status == LEY_OK)
        status = target_check(target, TARGET_MAP | TARGET_POINTS, method_msm.name, error);
    if (status != LEY_OK)
        return status;
    return target->points != NULL ? msm_points_task_create(engine, atoms, target->points, &r, options, made, error)
                                  : create_for_map(engine, atoms, target->map, &r, options, made, error);
}

ley_status msm_task_create(const ley_atoms *atoms, ley_map *map, const ley_long_range *range, void **made,
                           ley_error *error)
{
    return create(NULL, atoms, &(ley_target){.map = map}, range, NULL, made, error);
}

const hierarchy *msm_task_meshes(const void *task)
{
    return &((const msm_task *)task)->meshes;
}

double msm_task_bins_s(const void *context)
{
    const msm_task *task = context;
    return task->spread_s + task->near.binning_s;
}

ley_status ley_job_create_long_range(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                     const ley_long_range *range, const ley_run_options *options, ley_job **job,
                                     ley_error *error)
{
    void *task;
    const ley_status status = create(engine, atoms, &target, range, options, &task, error);
    return status == LEY_OK
               ? job_create(engine, method_for_target(&method_msm, &target), task, atoms, &target, options, job, error)
               : status;
}

bool ley_job_long_range(const ley_job *job, ley_long_range *range)
{
    const msm_task *task = job->task;
    if (job->method != &method_msm && job->method != method_msm.at_points)
        return false;
    *range = task->asked;
    range->fft = task->library[0] != '\0' ? task->library : NULL;
    return true;
}

/* ---- For requests ---------------------------------------------------------------------------- */

static ley_status create_for(const sum_request *r, ley_engine *engine, const ley_long_range *range,
                             const ley_run_options *options, ley_job **job, ley_error *error)
{
    return ley_job_create_long_range(engine, r->atoms, r->target, range, options, job, error);
}

static const request_row request = {.has_meshes = true,
                                    .needs = msm_estimate_needs,
                                    .estimate = msm_estimate,
                                    .create = create_for,
                                    .check_memory = ley_long_range_check_memory,
                                    .halo_A = ley_long_range_halo_A};

static ley_status stricter(const void *context, ley_engine *engine, const ley_run_options *options, const method **m,
                           void **made, ley_sum *sum, ley_error *error)
{
    const msm_task *task = context;
    const coulomb_problem where = {.atoms = task->near.atoms, .target = {.map = task->near.map}};
    ley_long_range r = task->asked;
    char fft[RANK_FFT];
    bool is_there = msm_choose_stricter(task, engine, &where, options, &r, sum, error) == LEY_OK;
    ranks_broadcast(&is_there, sizeof is_there);
    ranks_broadcast(sum, sizeof *sum);
    rank_share_range(&r, fft);
    if (!is_there)
        return msm_take_direct(task, &where, options, m, made, sum, error);
    const ley_status status = request_deal(&request, engine, where.atoms, &task->points, &r, error);
    if (status != LEY_OK)
        return status;
    return create_for_map(engine, where.atoms, where.target.map, &r, options, made, error);
}

/* ---- Once a job ------------------------------------------------------------------------------ */

/* Where devices bin atoms for their short-range sums, they do so for their meshes, too; but of maps
 * that are not orthogonal they have the atoms in another frame. */
static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    msm_task *task = context;
    const hierarchy *h = &task->meshes;
    ley_status status = msm_task_begin(task, job, error);
    if (status != LEY_OK)
        return status;
    if (h->levels == 0)
        return cutoff_prepare(task, job, error);
    task->near.even_bins = long_wavelengths_are_wanted(h);
    status = cutoff_begin_preparing(task, job, error);
    if (status != LEY_OK)
        return status;
    const bool by_devices =
        task->near.plan.binning == LEY_PLACE_DEVICE && ley_grid_is_orthogonal(&task->points) && !task->share.is_wanted;
    const spread *atoms;
    task->near.keeps_atoms = by_devices;
    msm_task_place_long(task, job, by_devices);
    if (job->only_plans)
        return cutoff_end_preparing(task, error);
    msm_task_begin_host_threads(task, job, !by_devices);
    status = cutoff_end_preparing(task, error);
    return status == LEY_OK && !by_devices ? host_threads_take_atoms(&task->host_threads, &atoms, error) : status;
}

static ley_status renew(void *context, ley_error *error)
{
    msm_task *task = context;
    const bool spreads = !task->near.keeps_atoms;
    const spread *atoms;
    ley_status status = msm_task_renew(task, spreads, error);
    if (status == LEY_OK)
        status = cutoff_renew(task, error);
    return status == LEY_OK && spreads && task->meshes.levels > 0
               ? host_threads_take_atoms(&task->host_threads, &atoms, error)
               : status;
}

static ley_status finish(void *context, ley_error *error)
{
    const ley_status status = cutoff_finish(context, error);
    if (status == LEY_OK)
        msm_task_expect(context);
    return status;
}

static void release(void *context, bool is_kept)
{
    msm_task *task = context;
    msm_task_leave(task, is_kept);
    cutoff_release(task, is_kept);
}

static void refuse(void *context, const char *why)
{
    mesh_share_refuse(&((msm_task *)context)->share, why);
}

/* ---- Added to the short-range sums ----------------------------------------------------------- */

typedef struct added {
    const solver *solver;
    transfer_map map;
} added;

static ley_status begin_addition(void *context, const stage_place *place, const cutoff_kernel *kernel, int64_t planes,
                                 arena *memory, void **state, ley_error *error)
{
    const msm_task *task = context;
    const ley_grid points = msm_points(&task->meshes.cell, &task->points);
    const cutoff_layout layout = cutoff_kernel_layout(kernel);
    const coordinate_table array = {.n = {points.n[0], points.n[1], planes},
                                    .in_cubes = layout.in_cubes,
                                    .edge = layout.edge,
                                    .pitch = {layout.pitch[0], layout.pitch[1]}};
    added *a = calloc(1, sizeof *a);
    if (a == NULL)
        return ley_fail_memory(error, sizeof *a, "a device's map");
    *state = a;
    a->solver = msm_field_solver(place);
    return transfer_map_create(&a->map, solver_meshes(a->solver), solver_array(a->solver), &points, &array,
                               task->constant, memory, error);
}

static void add(void *state, command_sequence *w, int64_t first, int64_t planes, int64_t component, buffer_of_float phi)
{
    const added *a = state;
    sequence_step(w, MSM_STEP_INTERPOLATION);
    transfer_interpolate(w, solver_meshes(a->solver), &a->map, first, planes, true, component,
                         solver_potentials(a->solver), phi);
}

static void put_mesh(void *state, cutoff_mesh *made)
{
    const added *a = state;
    *made = transfer_map_mesh(solver_meshes(a->solver), &a->map, solver_potentials(a->solver));
}

/* On meshes along the map's axes. */
static void put_epilogue(const void *context, cutoff_epilogue *wish)
{
    const msm_task *task = context;
    transfer_wish t;
    msm_transfer_wish(task, &t);
    if (t.along_axes)
        *wish = transfer_epilogue(&t);
}

static const cutoff_addition addition = {
    .epilogue = put_epilogue, .begin = begin_addition, .end = free, .add = add, .mesh = put_mesh};

/* ---- The result ------------------------------------------------------------------------------ */

static void note(const void *context, notes *n)
{
    const msm_task *task = context;
    msm_note_meshes(task, n);
    cutoff_note(task, n);
    if (task->meshes.levels > 0)
        notes_phase(n, "phase_meshes", task->predicted_s, task->meshes_s);
}

static const plan_row plan_rows[] = {CUTOFF_PLAN_ROWS, MSM_PLAN_ROWS, CUTOFF_EPILOGUE_PLAN_ROW, {.name = NULL}};

static void decide(const void *context, job_plan *made)
{
    cutoff_decisions(&((const msm_task *)context)->near, made);
    msm_decide_meshes(context, made);
}

static const product *const made_by_bins[] = {&cutoff_product_bins, NULL},
                            *const made_by_field[] = {&msm_product_field, NULL},
                            *const needed_by_sum[] = {&cutoff_product_bins, &msm_product_field, NULL};

static const stage stages[] = {
    [MSM_STAGE_BINS] = CUTOFF_STAGE_BINS(made_by_bins),
    [MSM_STAGE_FIELD] = MSM_STAGE_FIELD_ROW(made_by_bins, made_by_field),
    [MSM_STAGE_SUM] = CUTOFF_STAGE_SUM(needed_by_sum),
};

const method method_msm = {
    .name = "msm",
    .at_points = &method_msm_points,
    .parameters = &long_range_parameters,
    .kernel = &cutoff_kind,
    .needs = cutoff_needs,
    .prepare = prepare,
    .renew = renew,
    .stricter = stricter,
    .otherwise = msm_task_otherwise,
    .release = release,
    .refuse = refuse,
    .host_needs = host_needs,
    .outline = msm_outline,
    .host_s = cutoff_host_s,
    .end = msm_task_end,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = MSM_STAGE_SUM,
    .points = cutoff_count_points,
    .evaluations = cutoff_count_pairs,
    .finish = finish,
    .note = note,
    .plan_rows = plan_rows,
    .piece_planes = CUTOFF_LAYER,
    .pieces = "layers of 8 planes",
    .decisions = decide,
    .error_scale = "the root of the squared terms",
    .terms = msm_terms,
    .limits = msm_limits,
    .look_closer = msm_look_closer,
    .point = cutoff_point,
    .value = cutoff_value,
    .field = cutoff_field,
    .field_is_allowed = true,
    .map = cutoff_map,
    .by_host = msm_by_host,
    .request = &request,
    .by_steps = msm_by_steps,
    .distrust = msm_distrust,
    .bench = &bench_msm,
};
