/* Direct Coulomb summation as a method: phi_i = C sum_j q_j / max(r_ij, r_min). Stone et al., J.
 * Comput. Chem. 28, 2618 (2007).
 *
 * Data: atoms go to each device once; a slab's potentials come back through page-locked staging and
 * lose their padding on the way into the map; so does the field, where the map has one. Bounds:
 * pairs over the device's root rate; 4 bytes a point over its link, which for more than a few
 * hundred atoms is nothing. */
#include "methods/dcs/method.h"
#include "core/options.h"
#include "core/parameters.h"
#include "error.h"
#include "law/accuracy.h"
#include "law/dcs.h"
#include "layout/grid_frame.h"
#include "methods/dcs/build.h"
#include "methods/dcs/estimate.h"
#include "methods/dcs/kernel.h"
#include "methods/dcs/points.h"
#include "plan/forecast.h"
#include "schedule/host_sum.h"
#include "schedule/job.h"
#include "schedule/job_memory.h"
#include "schedule/slab_size.h"
#include "target/map.h"
#include "target/target.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double launch_s = 0.25; /* aim: cancelling */
static const double most_staging_bytes = 256 << 20, packed_atom_bytes = 32, turned_atom_bytes = 40;

enum { NEWTON_ROOTS, LAUNCH_ATOMS };
static const plan_row plan_rows[] = {
    [NEWTON_ROOTS] = {.name = "newton_roots", .of_device = true, .low = 0, .high = 64},
    [LAUNCH_ATOMS] = {.name = "launch_atoms", .of_device = true, .low = 1, .high = INT32_MAX},
    {.name = NULL}};

typedef struct dcs_task {
    const ley_atoms *atoms;
    ley_atoms *turned; /* in the frame of an oblique grid, from prepare() to release(); or NULL */
    grid_frame frame;
    dcs_problem problem;
    ley_map *map;
    ley_direct options;
    const job_view *job;
} dcs_task;

typedef struct dcs_state {
    dcs_task *task;
    dcs_kernel kernel;
    int64_t slab_planes;
    dcs_run slots[METHOD_SLOTS];
} dcs_state;

/* ---- The problem ----------------------------------------------------------------------------- */

void ley_direct_default(ley_direct *direct)
{
    parameters_default(&direct_parameters, direct);
}

static void add_needs(const ley_atoms *atoms, const ley_grid *grid, const ley_map *map, job_needs *needs)
{
    job_needs_map(needs, grid, map, 1);
    job_needs_add(needs, "packed atoms", (double)ley_atoms_count(atoms) * packed_atom_bytes, "fewer atoms");
    if (!ley_grid_is_orthogonal(grid))
        job_needs_add(needs, "turned atoms", (double)ley_atoms_count(atoms) * turned_atom_bytes, "fewer atoms");
}

ley_status ley_direct_check_memory(const ley_atoms *atoms, const ley_grid *grid, const ley_direct *direct,
                                   ley_error *error)
{
    (void)direct;
    job_needs needs = {.count = 0};
    ley_status status = ley_grid_check(grid, error);
    if (status != LEY_OK)
        return status;
    add_needs(atoms, grid, NULL, &needs);
    return memory_check(needs.list, needs.count, error);
}

static void host_needs(const void *context, job_needs *needs)
{
    const dcs_task *task = context;
    add_needs(task->atoms, ley_map_grid(task->map), task->map, needs);
}

ley_status dcs_task_create(const ley_atoms *atoms, ley_map *map, const ley_direct *direct, void **task,
                           ley_error *error)
{
    dcs_task *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ley_fail_memory(error, sizeof *made, "the job");
    *made = (dcs_task){
        .atoms = atoms,
        .problem = {.atoms = atoms,
                    .coulomb_constant = ley_coulomb_constant(direct->units, direct->dielectric, direct->temperature_K),
                    .r_min_A = direct->r_min_A},
        .map = map,
        .options = *direct};
    grid_frame_make(ley_map_grid(map), GRID_FRAME_ROWS_ALONG_X, &made->frame);
    made->problem.grid = made->frame.grid;
    *task = made;
    return LEY_OK;
}

static ley_status take_direct(const coulomb_problem *p, const method **m, void **made, ley_error *error)
{
    const ley_status status = target_check(&p->target, TARGET_MAP | TARGET_POINTS, method_dcs.name, error);
    if (status != LEY_OK)
        return status;
    *m = method_for_target(&method_dcs, &p->target);
    return p->target.points != NULL ? dcs_points_task_create(p, made, error)
                                    : dcs_task_create(p->atoms, p->target.map, &p->medium, made, error);
}

ley_status ley_job_create_direct(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                 const ley_direct *direct, const ley_run_options *options, ley_job **job,
                                 ley_error *error)
{
    coulomb_problem p = {.atoms = atoms, .target = target};
    ley_direct *d = &p.medium;
    const method *m;
    void *task;
    ley_status status = OPTIONS_TAKE(ley_direct, r_min_A, d, direct, error);
    if (status == LEY_OK)
        status = options_check_medium(d, error);
    if (status == LEY_OK)
        status = take_direct(&p, &m, &task, error);
    return status == LEY_OK ? job_create(engine, m, task, atoms, &target, options, job, error) : status;
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    dcs_task *task = context;
    if (!job->only_plans && !map_takes_values(task->map))
        return ley_fail(error, LEY_ERROR_USAGE, "the map has no values: it is for forecasts");
    task->job = job;
    task->problem.cancelled = job->cancelled;
    if (!task->frame.is_turned || job->only_plans)
        return LEY_OK;
    const ley_status status = grid_frame_atoms(&task->frame, task->atoms, &task->turned, error);
    if (status == LEY_OK)
        task->problem.atoms = task->turned;
    return status;
}

static void release(void *context, bool is_kept)
{
    dcs_task *task = context;
    (void)is_kept; /* devices have packed atoms only */
    ley_atoms_destroy(task->turned);
    task->turned = NULL;
    task->problem.atoms = task->atoms;
}

static int64_t count_planes(const void *context)
{
    return ((const dcs_task *)context)->problem.grid.n[2];
}

static int64_t count_points(const void *context, slab s)
{
    const int64_t *n = ((const dcs_task *)context)->problem.grid.n;
    return s.count * n[0] * n[1];
}

/* ---- A device -------------------------------------------------------------------------------- */

/* Slabs are of whole planes, each of which is one row of work-groups along z. */
static ley_status size_slabs(dcs_state *s, ley_error *error)
{
    const dcs_problem *problem = &s->task->problem;
    const dev_info *info = s->kernel.device->info;
    const padded_slab layout = dcs_kernel_layout(&s->kernel, &problem->grid);
    const dcs_spec *spec = &s->kernel.choice.spec;
    const double atoms = (double)ley_atoms_count(problem->atoms);
    if ((uint64_t)(layout.padded_x / tuning_dcs_tile_x(spec)) > info->max_groups[0] ||
        (uint64_t)(layout.padded_y / tuning_dcs_tile_y(spec)) > info->max_groups[1])
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "a plane of %lld x %lld points has more tiles than a launch may have",
                        (long long)problem->grid.n[0], (long long)problem->grid.n[1]);
    slab_needs needs = {.pieces = problem->grid.n[2],
                        .piece_s = (double)layout.padded_x * (double)layout.padded_y * atoms /
                                   dcs_kernel_expected_rate(&s->kernel),
                        .piece_bytes = INT64_MAX,
                        .fixed_bytes = atoms * (double)dcs_packed_bytes(dcs_packing_of(spec)),
                        .staging_bytes = map_is_stored(s->task->map) ? MAP_STORE_BYTES : most_staging_bytes,
                        .most_per_launch = (double)info->max_groups[2],
                        .most_pieces = s->task->job->options->slab_planes,
                        .planned = plan_slab(s->task->job->plan, info),
                        .piece = "one plane of the grid needs"};
    padding_bytes(&layout, &needs.piece_bytes);
    return slab_size(&s->kernel.arena, &needs, &s->slab_planes, error);
}

static ley_status forecast(void *context, const stage_place *place, void *state, device_forecast *f, ley_error *error)
{
    dcs_state *s = state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    const dcs_problem *problem = &s->task->problem;
    const double atoms = (double)ley_atoms_count(problem->atoms),
                 bytes = atoms * (double)dcs_packed_bytes(dcs_packing_of(&s->kernel.choice.spec));
    padded_slab layout = dcs_kernel_layout(&s->kernel, &problem->grid);
    int64_t slab_bytes = INT64_MAX;
    const ley_status sized = size_slabs(s, error),
                     status = forecast_need(f, "packed atoms", bytes, bytes, sized == LEY_OK ? error : NULL);
    layout.planes = f->slab = sized == LEY_OK ? s->slab_planes : 1;
    padding_bytes(&layout, &slab_bytes);
    const double planes = (double)problem->grid.n[2], kernels_s = (double)layout.padded_x * (double)layout.padded_y *
                                                                  planes * atoms / dcs_kernel_expected_rate(&s->kernel);
    const ley_status slabs =
        forecast_in_slabs(f, (double)slab_bytes, planes, kernels_s, sized == LEY_OK && status == LEY_OK ? error : NULL);
    return sized != LEY_OK ? sized : status != LEY_OK ? status : slabs;
}

/* How long the largest launch is predicted to take. */
static double expected_launch_s(const dcs_state *s)
{
    const dcs_kernel *k = &s->kernel;
    const double points = (double)k->layout.padded_x * (double)k->layout.padded_y * (double)s->slab_planes;
    return k->batch_count > 0 ? points * (double)k->batches[0].count / dcs_kernel_expected_rate(k) : 0;
}

/* What a device is to be ready for. */
typedef struct order {
    dcs_wish wish;
    job_plan *plan;
} order;

static ley_status make_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const dcs_task *task = context;
    order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return ley_fail_memory(error, sizeof *o, "the job");
    *made = o;
    o->wish = (dcs_wish){.variant = job->options->variant,
                         .math = job->options->math,
                         .sum = job->options->sum,
                         .field = map_components(task->map) > 1,
                         .oblique = !ley_grid_is_orthogonal(&task->problem.grid),
                         .n_x = task->problem.grid.n[0],
                         .n_y = task->problem.grid.n[1]};
    return plan_copy(job->plan, &o->plan, error);
}

static void destroy_wish(void *made)
{
    order *o = made;
    if (o != NULL)
        plan_destroy(o->plan);
    free(o);
}

static ley_status ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const order *o = wish;
    dcs_wish own = o->wish;
    dcs_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    own.planned = tuning_planned_for(o->plan, device->info, plan_rows[NEWTON_ROOTS].name);
    ley_status status = dcs_kernel_create(device, &own, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    noted->variant = s->kernel.choice.variant;
    noted->root = calibrate_root_name(s->kernel.choice.spec.root);
    noted->from_cache = s->kernel.kernel.from_cache;
    noted->decisions[NEWTON_ROOTS].name = plan_rows[NEWTON_ROOTS].name;
    noted->decisions[NEWTON_ROOTS].value = s->kernel.choice.spec.newton_roots;
    kernel_options(&dcs_kind, &s->kernel.choice.spec, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

static ley_status begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    dcs_state *s = *state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    ley_status status = size_slabs(s, error);
    const int64_t planned = plan_number(place->job->plan, place->device->info, plan_rows[LAUNCH_ATOMS].name);
    if (status == LEY_OK)
        status = planned > 0 ? dcs_kernel_load_batches(&s->kernel, &s->task->problem, (size_t)planned, error)
                             : dcs_kernel_load(&s->kernel, &s->task->problem, s->slab_planes, launch_s, error);
    if (status == LEY_OK) {
        place->notes->decisions[LAUNCH_ATOMS].name = plan_rows[LAUNCH_ATOMS].name;
        place->notes->decisions[LAUNCH_ATOMS].value = s->kernel.batches[0].count;
    }
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = dcs_run_create(&s->slots[i], &s->kernel, s->slab_planes, error);
    watch_expect(expected_launch_s(s));
    return status;
}

static ley_status renew_task(void *context, ley_error *error)
{
    const dcs_task *task = context;
    return task->turned != NULL ? grid_frame_move(&task->frame, task->atoms, task->turned, error) : LEY_OK;
}

static ley_status renew(void *context, const stage_place *place, void *state, ley_error *error)
{
    (void)context, (void)place;
    return dcs_kernel_reload(&((dcs_state *)state)->kernel, error);
}

static void end(void *state)
{
    dcs_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        dcs_run_destroy(&s->slots[i]);
    dcs_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const dcs_state *)state)->slab_planes;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    dcs_state *s = state;
    return dcs_run_begin(&s->slots[slot], piece.first, piece.count, s->task->job->cancelled, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    dcs_state *s = state;
    dcs_run *run = &s->slots[slot];
    float *planes[MAP_MOST_COMPONENTS];
    ley_status status = map_slabs_take(s->task->map, piece.first, piece.count, planes, error);
    if (status != LEY_OK)
        return status;
    status = dcs_run_finish(run, planes, error);
    if (status == LEY_OK && map_components(s->task->map) > 1)
        grid_frame_turn_back(&s->task->frame, (size_t)count_points(s->task, piece), planes + 1);
    *times = run->command_sequence.times;
    const ley_status given = map_slabs_give(s->task->map, piece.first, piece.count, planes, status == LEY_OK, error);
    return status == LEY_OK ? given : status;
}

static void drop(void *state, int slot)
{
    dcs_state *s = state;
    sequence_finish(&s->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

static ley_status finish(void *context, ley_error *error)
{
    (void)error;
    const dcs_task *task = context;
    map_name_units(task->map, ley_units_name(task->options.units));
    return LEY_OK;
}

static void terms(const void *context, reference_terms *t)
{
    const dcs_task *task = context;
    *t = (reference_terms){.law = &law_dcs,
                           .constant = task->problem.coulomb_constant,
                           .atoms = task->atoms,
                           .r_min_A = task->problem.r_min_A};
}

static accuracy_limits limits(const void *context)
{
    const dcs_task *task = context;
    const ley_run_options *o = task->job->options;
    return (accuracy_limits){.tolerance = dcs_problem_promise(&task->problem, o->variant, o->math, o->sum),
                             .nothing = ACCURACY_NOTHING};
}

static int64_t point(const void *context, slab s, int64_t i)
{
    const int64_t *n = ((const dcs_task *)context)->problem.grid.n;
    return s.first * n[0] * n[1] + i;
}

static double value(const void *context, int64_t number, double place_A[3])
{
    return map_value(((const dcs_task *)context)->map, number, place_A);
}

static bool field(const void *context, int64_t number, double field[3])
{
    return map_field_at(((const dcs_task *)context)->map, number, field);
}

static const ley_map *map(const void *context)
{
    return ((const dcs_task *)context)->map;
}

static bool by_host(const void *context, host_sum *sum)
{
    const dcs_task *task = context;
    *sum = (host_sum){
        .map = task->map, .units = ley_units_name(task->options.units), .how = "direct summation", .builds_s = 3};
    terms(task, &sum->terms);
    return true;
}

static const stage stages[] = {{.name = "sum",
                                .split = STAGE_SLABS,
                                .count = count_planes,
                                .wish = make_wish,
                                .wish_destroy = destroy_wish,
                                .ready = ready,
                                .begin = begin,
                                .renew = renew,
                                .forecast = forecast,
                                .end = end,
                                .slab_count = slab_count,
                                .submit = submit,
                                .collect = collect,
                                .drop = drop}};

const method method_dcs = {
    .name = "dcs",
    .at_points = &method_dcs_points,
    .parameters = &direct_parameters,
    .kernel = &dcs_kind,
    .prepare = prepare,
    .renew = renew_task,
    .take_direct = take_direct,
    .release = release,
    .host_needs = host_needs,
    .end = free,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .points = count_points,
    .finish = finish,
    .plan_rows = plan_rows,
    .terms = terms,
    .limits = limits,
    .point = point,
    .value = value,
    .field = field,
    .map = map,
    .by_host = by_host,
    .request = &dcs_request,
    .bench = &bench_dcs,
    .double_has_more_digits = true,
};
