/* Orbitals and densities as a method. On orthogonal grids they are separable sums: each device has
 * the wavefunction's tables along the axes and the coefficients of all orbitals; slabs of planes
 * are computed in passes, of many orbitals each, and come back through page-locked staging.
 * Bounds: a multiply-add for each point, term and pass; 4 bytes a point and value over the link. */
#include "methods/wavefunction/method.h"

#include "core/units.h"
#include "error.h"
#include "methods/wavefunction/build.h"
#include "methods/wavefunction/list_build.h"
#include "methods/wavefunction/task.h"
#include "parallel.h"
#include "plan/forecast.h"
#include "schedule/host_sum.h"
#include "schedule/job.h"
#include "schedule/job_memory.h"
#include "schedule/slab_size.h"
#include "target/map.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_staging_bytes = 64 << 20; /* page-locked: drivers take 0.7 s per GiB */

static const char *const units[LEY_WAVEFUNCTION_KINDS][3] = {
    [LEY_ORBITALS] = {"bohr^-3/2"},
    [LEY_DENSITY] = {"bohr^-3", "bohr^-4", "bohr^-5"},
    [LEY_SPIN_DENSITY] = {"bohr^-3", "bohr^-4", "bohr^-5"},
};

/* One of the two kernels, by the task. */
typedef struct wavefunction_state {
    wavefunction_task *task;
    bool is_listed;
    separable_kernel kernel;
    list_kernel list;
    int64_t slab_planes;
    separable_run slots[METHOD_SLOTS];
    list_run list_slots[METHOD_SLOTS];
} wavefunction_state;

/* ---- The job --------------------------------------------------------------------------------- */

ley_status ley_job_create_wavefunction(ley_engine *engine, const ley_wavefunction *w,
                                       const ley_wavefunction_request *request, const ley_wavefunction_options *options,
                                       const ley_run_options *run_options, ley_job **job, ley_error *error)
{
    wavefunction_task *task = NULL;
    const ley_status status = wavefunction_task_create(w, request, options, &task, error);
    if (status != LEY_OK)
        return status;
    return job_create(engine, request->kind == LEY_POTENTIAL ? &method_esp : &method_wavefunction, task, w->atoms,
                      &(ley_target){.map = NULL}, run_options, job, error);
}

/* What is asked for, or else what the plan says of a device: kernels of different kinds share no
 * job. */
static const char *variant_of(const job_view *job)
{
    const char *variant = job->options->variant;
    for (size_t i = 0; i < job->device_count && variant == NULL; i++)
        variant = plan_word(job->plan, job->devices[i].info, "variant");
    return variant;
}

ley_status wavefunction_take_job(wavefunction_task *task, const job_view *job, ley_error *error)
{
    task->job = job;
    for (size_t i = 0; i < task->values && task->request.maps != NULL; i++)
        if (!job->only_plans && !map_takes_values(task->maps[i]))
            return ley_fail(error, LEY_ERROR_USAGE, "the map has no values: it is for forecasts");
    return LEY_OK;
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    wavefunction_task *task = context;
    const ley_status status = wavefunction_take_job(task, job, error);
    return status == LEY_OK ? wavefunction_task_prepare(task, (int)job->options->sum, variant_of(job), error) : status;
}

void wavefunction_release(void *context, bool is_kept)
{
    (void)is_kept; /* devices have copies */
    wavefunction_task_release(context);
}

void wavefunction_host_needs(const void *context, job_needs *needs)
{
    const wavefunction_task *task = context;
    if (task->request.maps == NULL)
        return;
    job_needs_map(needs, &task->grid, task->maps[0], 1); /* the others are there already, unless it is a dry run */
    if (!map_takes_values(task->maps[0]) && task->values > 1)
        job_needs_add(needs, "the other maps",
                      (double)(task->values - 1) * (double)ley_grid_points(&task->grid) * sizeof(float),
                      "fewer values, or fewer points");
}

static ley_status renew(void *context, ley_error *error)
{
    return wavefunction_task_renew(context, error);
}

int64_t wavefunction_count_planes(const void *context)
{
    return ((const wavefunction_task *)context)->grid.n[2];
}

int64_t wavefunction_plane_points(const wavefunction_task *task)
{
    return task->grid.n[0] * task->grid.n[1];
}

int64_t wavefunction_count_points(const void *context, slab s)
{
    const wavefunction_task *task = context;
    return s.count * wavefunction_plane_points(task) * (int64_t)task->values;
}

static double count_evaluations(const void *context)
{
    const wavefunction_task *task = context;
    double passes = 0;
    for (size_t i = 0; i < task->problem.pass_count; i++)
        passes += (double)task->problem.passes[i].orbitals * separable_sets(&task->problem.passes[i]);
    return passes * (double)ley_grid_points(&task->grid) * task->e.rows;
}

/* ---- A device -------------------------------------------------------------------------------- */

typedef struct order {
    separable_wish separable;
    bool is_listed;
    list_wish list;
    job_plan *plan;
} order;

static void end_wish(void *wish)
{
    order *o = wish;
    list_wish_destroy(&o->list);
    plan_destroy(o->plan);
    free(o);
}

static ley_status make_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const wavefunction_task *task = context;
    order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return ley_fail_memory(error, sizeof *o, "the job");
    *o = (order){.separable = wavefunction_task_wish(task, job->options->variant, (int)job->options->math),
                 .is_listed = task->is_listed,
                 .list = {.math = (int)job->options->math,
                          .sum = task->sum,
                          .has_derivatives = task->has_gradient || task->request.laplacian,
                          .is_single = task->used_count == 1}};
    ley_status status = plan_copy(job->plan, &o->plan, error);
    if (status == LEY_OK && task->is_listed)
        status = list_wish_create(&task->e, variant_of(job), &o->list, error);
    o->list.variant = task->is_many ? LIST_OF_MANY : o->separable.variant;
    if (status == LEY_OK)
        *made = o;
    else
        end_wish(o);
    return status;
}

static ley_status ready_list(dev *device, const order *o, kernel_notes *noted, wavefunction_state *s, ley_error *error)
{
    list_wish own = o->list;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    own.planned = tuning_planned_for(o->plan, device->info, NULL);
    const ley_status status = list_kernel_create(device, &own, &s->list, error);
    if (status != LEY_OK)
        return status;
    noted->variant = s->list.variant;
    noted->exp = calibrate_exp_name(s->list.spec.exp);
    noted->from_cache = s->list.kernel.from_cache;
    kernel_options(&gaussians_kind, &s->list.spec, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

static ley_status ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const order *o = wish;
    wavefunction_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->is_listed = o->is_listed;
    if (o->is_listed)
        return ready_list(device, o, noted, s, error);
    separable_wish own = o->separable;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    const ley_status status = separable_kernel_create(device, &own, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    noted->variant = s->kernel.choice.variant;
    noted->from_cache = s->kernel.kernel.from_cache;
    separable_kernel_describe(&s->kernel, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

static ley_status size_slabs(wavefunction_state *s, ley_error *error)
{
    const wavefunction_task *task = s->task;
    const separable_problem *problem = &task->problem;
    const dev_info *info = s->kernel.device->info;
    const padded_slab layout = separable_layout(&s->kernel, problem);
    int32_t most_orbitals = 1; /* that are stored by a launch */
    for (size_t i = 0; i < problem->pass_count && !problem->adds; i++)
        most_orbitals = problem->passes[i].orbitals > most_orbitals ? problem->passes[i].orbitals : most_orbitals;
    slab_needs needs = {.pieces = task->grid.n[2],
                        .piece_s = separable_plane_s(&s->kernel, problem),
                        .piece_bytes = INT64_MAX,
                        .fixed_bytes = separable_bytes(&s->kernel, problem),
                        .staging_bytes = map_is_stored(task->maps[0]) ? MAP_STORE_BYTES : most_staging_bytes,
                        .most_per_launch = (double)(info->max_groups[2] / (uint64_t)most_orbitals),
                        .most_pieces = task->job->options->slab_planes,
                        .planned = plan_slab(task->job->plan, info),
                        .piece = "one plane of the grid needs"};
    padding_bytes(&layout, &needs.piece_bytes);
    return slab_size(&s->kernel.arena, &needs, &s->slab_planes, error);
}

static ley_status size_list_slabs(wavefunction_state *s, ley_error *error)
{
    const wavefunction_task *task = s->task;
    const double points = (double)wavefunction_plane_points(task),
                 bytes = (double)list_point_bytes(&s->list, &task->list) * points;
    const slab_needs needs = {.pieces = task->grid.n[2],
                              .piece_s = points * list_point_s(&s->list, &task->list),
                              .piece_bytes = (int64_t)bytes,
                              .fixed_bytes = list_bytes(&s->list, &task->list),
                              .staging_bytes = most_staging_bytes,
                              .most_per_launch = (double)INT32_MAX / (2 * points),
                              .most_pieces = task->job->options->slab_planes,
                              .planned = plan_slab(task->job->plan, s->list.device->info),
                              .piece = task->request.maps != NULL ? "one plane of the grid needs" : "a point needs"};
    return slab_size(&s->list.arena, &needs, &s->slab_planes, error);
}

static ley_status begin_list(wavefunction_state *s, const stage_place *place, ley_error *error)
{
    s->list.arena = (arena){.device = place->device, .within = place->arena};
    ley_status status = size_list_slabs(s, error);
    if (status == LEY_OK)
        status = list_kernel_load(&s->list, &s->task->list, error);
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status =
            list_run_create(&s->list_slots[i], &s->list, s->slab_planes * wavefunction_plane_points(s->task), error);
    return status;
}

static ley_status begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    wavefunction_state *s = *state;
    s->task = context;
    if (s->is_listed)
        return begin_list(s, place, error);
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    ley_status status = size_slabs(s, error);
    if (status == LEY_OK)
        status = separable_kernel_load(&s->kernel, &s->task->problem, error);
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = separable_run_create(&s->slots[i], &s->kernel, s->slab_planes, error);
    return status;
}

static ley_status renew_stage(void *context, const stage_place *place, void *state, ley_error *error)
{
    wavefunction_state *s = state;
    (void)context, (void)place;
    return s->is_listed ? list_kernel_renew(&s->list, error) : separable_kernel_renew(&s->kernel, error);
}

/* What does not depend on slabs, these, their kernels and their way back. */
static ley_status forecast(void *context, const stage_place *place, void *state, device_forecast *f, ley_error *error)
{
    wavefunction_state *s = state;
    s->task = context;
    s->kernel.arena = s->list.arena = (arena){.device = place->device, .within = place->arena};
    const wavefunction_task *task = s->task;
    const double points = (double)wavefunction_plane_points(task), planes = (double)task->grid.n[2],
                 fixed = s->is_listed ? list_bytes(&s->list, &task->list) : separable_bytes(&s->kernel, &task->problem),
                 plane_s = s->is_listed ? points * list_point_s(&s->list, &task->list)
                                        : separable_plane_s(&s->kernel, &task->problem);
    int64_t plane_bytes = list_point_bytes(&s->list, &task->list) * wavefunction_plane_points(task);
    if (!s->is_listed) {
        const padded_slab layout = separable_layout(&s->kernel, &task->problem);
        padding_bytes(&layout, &plane_bytes);
    }
    const ley_status sized = s->is_listed ? size_list_slabs(s, error) : size_slabs(s, error),
                     needed = forecast_need(f, "tables and orbitals", fixed, fixed, sized == LEY_OK ? error : NULL);
    f->slab = sized == LEY_OK ? s->slab_planes : 1;
    const ley_status slabs = forecast_in_slabs(f, (double)plane_bytes * (double)f->slab, planes, planes * plane_s,
                                               sized == LEY_OK && needed == LEY_OK ? error : NULL);
    return sized != LEY_OK ? sized : needed != LEY_OK ? needed : slabs;
}

static void end(void *state)
{
    wavefunction_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++) {
        separable_run_destroy(&s->slots[i]);
        list_run_destroy(&s->list_slots[i]);
    }
    separable_kernel_destroy(&s->kernel);
    list_kernel_destroy(&s->list);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const wavefunction_state *)state)->slab_planes;
}

void wavefunction_place(const void *context, int64_t i, double place[3])
{
    const slab_points *p = context;
    const int64_t at = p->first + i, *n = p->task->grid.n;
    const int64_t index[3] = {at % n[0], at / n[0] % n[1], at / (n[0] * n[1])};
    if (p->task->request.maps != NULL)
        ley_grid_point_A(&p->task->grid, index, place);
    else
        memcpy(place, p->task->request.point_A + 3 * at, 3 * sizeof *place);
    for (int axis = 0; axis < 3; axis++)
        place[axis] /= units_bohr_A;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    wavefunction_state *s = state;
    const slab_points points = {s->task, piece.first * wavefunction_plane_points(s->task)};
    if (s->is_listed)
        return list_run_begin(&s->list_slots[slot], wavefunction_place, &points,
                              piece.count * wavefunction_plane_points(s->task), s->task->job->cancelled, error);
    return separable_run_begin(&s->slots[slot], piece.first, piece.count, s->task->job->cancelled, error);
}

ley_status wavefunction_take_planes(const wavefunction_task *task, slab piece, float **planes, size_t *taken,
                                    ley_error *error)
{
    ley_status status = LEY_OK;
    for (*taken = 0; *taken < task->values && status == LEY_OK; *taken += status == LEY_OK)
        status = map_planes_take(task->maps[*taken], piece.first, piece.count,
                                 &planes[wavefunction_sum_place(task, *taken)], error);
    return status;
}

ley_status wavefunction_give_planes(const wavefunction_task *task, slab piece, float **planes, size_t taken,
                                    bool is_done, ley_error *error)
{
    ley_status first = LEY_OK;
    for (size_t i = 0; i < taken; i++) {
        const ley_status status =
            map_planes_give(task->maps[i], piece.first, piece.count, planes[wavefunction_sum_place(task, i)], is_done,
                            first == LEY_OK ? error : NULL);
        first = first == LEY_OK ? status : first;
    }
    return first;
}

/* Of a density; no more than is stored at most. */
static double reduced_gradient(double rho, double x, double y, double z)
{
    const double size = fabs(rho), s = sqrt(x * x + y * y + z * z) / (2 * cbrt(3 * M_PI * M_PI) * size * cbrt(size));
    return s < LEY_MOST_REDUCED_GRADIENT ? s : LEY_MOST_REDUCED_GRADIENT;
}

/* Planes of sums, and behind them the one of what is made of these. */
typedef struct reducing {
    float *const *planes;
    size_t sums;
} reducing;

static void reduce(void *context, size_t first, size_t last)
{
    const reducing *r = context;
    float *const *p = r->planes;
    for (size_t i = first; i < last; i++)
        p[r->sums][i] = (float)reduced_gradient((double)p[0][i], (double)p[1][i], (double)p[2][i], (double)p[3][i]);
}

/* Waits, and stores the planes of a slab's sums, and what is made of them. The gradient has room of
 * its own where only the reduced one is wanted. */
static ley_status finish_planes(separable_run *run, const wavefunction_task *task, size_t points, float **planes,
                                ley_error *error)
{
    const bool is_reduced = task->request.reduced_gradient, needs_room = is_reduced && !task->request.gradient;
    float *room = needs_room ? malloc(3 * points * sizeof *room) : NULL;
    if (needs_room && room == NULL)
        return ley_fail_memory(error, 3 * points * sizeof *room, "a slab");
    for (size_t axis = 0; axis < 3 && needs_room; axis++)
        planes[1 + axis] = room + axis * points;
    const ley_status status = separable_run_finish(run, planes, error);
    if (status == LEY_OK && is_reduced)
        parallel_ranges(points, reduce, &(reducing){planes, task->sums});
    free(room);
    return status;
}

/* A value of point i of a list. */
static double list_value(const list_run *run, const wavefunction_task *task, size_t value, int64_t i)
{
    const size_t place = wavefunction_sum_place(task, value);
    return place < task->sums ? list_run_value(run, (int64_t)place, i)
                              : reduced_gradient(list_run_value(run, 0, i), list_run_value(run, 1, i),
                                                 list_run_value(run, 2, i), list_run_value(run, 3, i));
}

/* Waits, and stores a slab's values, in planes of maps or among those of a list. */
static ley_status finish_list(list_run *run, const wavefunction_task *task, slab piece, float *const *planes,
                              ley_error *error)
{
    const int64_t count = piece.count * wavefunction_plane_points(task);
    const ley_status status = list_run_finish(run, error);
    for (size_t v = 0; v < task->values && status == LEY_OK; v++)
        for (int64_t i = 0; i < count; i++) {
            const double value = list_value(run, task, v, i);
            if (planes != NULL)
                planes[wavefunction_sum_place(task, v)][i] = (float)value;
            else
                task->request.values[(int64_t)v * task->request.points + piece.first + i] = value;
        }
    return status;
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    wavefunction_state *s = state;
    separable_run *run = &s->slots[slot];
    list_run *list = &s->list_slots[slot];
    size_t taken = 0;
    if (s->task->request.maps == NULL) {
        const ley_status listed = finish_list(list, s->task, piece, NULL, error);
        *times = list->command_sequence.times;
        return listed;
    }
    float **planes = calloc(s->task->sums + 1, sizeof *planes);
    if (planes == NULL)
        return ley_fail_memory(error, s->task->sums * sizeof *planes, "a slab");
    ley_status status = wavefunction_take_planes(s->task, piece, planes, &taken, error);
    if (status == LEY_OK)
        status = s->is_listed ? finish_list(list, s->task, piece, planes, error)
                              : finish_planes(run, s->task, (size_t)(piece.count * wavefunction_plane_points(s->task)),
                                              planes, error);
    *times = s->is_listed ? list->command_sequence.times : run->command_sequence.times;
    const ley_status given = wavefunction_give_planes(s->task, piece, planes, taken, status == LEY_OK, error);
    free(planes);
    return status == LEY_OK ? given : status;
}

static void drop(void *state, int slot)
{
    wavefunction_state *s = state;
    sequence_finish(s->is_listed ? &s->list_slots[slot].command_sequence : &s->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* "ORBITAL 21", "DENSITY", "DENSITY, ALONG X", "SPIN DENSITY, LAPLACIAN". */
static void name_map(const wavefunction_task *task, size_t value)
{
    static const char *const derivatives[] = {"",          ", ALONG X",   ", ALONG Y",
                                              ", ALONG Z", ", LAPLACIAN", ", REDUCED GRADIENT"};
    const wavefunction_quantity *q = &task->quantities[value];
    char what[64];
    if (task->request.kind == LEY_ORBITALS)
        snprintf(what, sizeof what, "ORBITAL %lld", (long long)q->orbital + 1);
    else
        snprintf(what, sizeof what, "%s%s", task->request.kind == LEY_SPIN_DENSITY ? "SPIN DENSITY" : "DENSITY",
                 derivatives[q->derivative]);
    map_set_what(task->maps[value], what, task->wavefunction->atoms, task->wavefunction->arrays.numbers);
    map_name_units(task->maps[value], q->derivative == WAVEFUNCTION_REDUCED
                                          ? ""
                                          : units[task->request.kind][q->derivative == 0   ? 0
                                                                      : q->derivative == 4 ? 2
                                                                                           : 1]);
}

static ley_status finish(void *context, ley_error *error)
{
    const wavefunction_task *task = context;
    (void)error;
    for (size_t i = 0; i < task->values && task->request.maps != NULL; i++)
        name_map(task, i);
    return LEY_OK;
}

static void terms(const void *context, reference_terms *t)
{
    const wavefunction_task *task = context;
    *t = (reference_terms){
        .law = &law_wavefunction, .constant = 1, .atoms = task->wavefunction->atoms, .quantity = task->quantities};
}

static void terms_at(const void *context, int64_t number, reference_terms *t)
{
    const wavefunction_task *task = context;
    t->quantity = &task->quantities[number / ley_grid_points(&task->grid)];
}

/* ---- By the host alone ----------------------------------------------------------------------- */

static void set_value(const void *context, int64_t number, double value)
{
    const wavefunction_task *task = context;
    const int64_t each = ley_grid_points(&task->grid);
    if (task->request.maps != NULL)
        ley_map_values(task->maps[number / each])[number % each] = (float)value;
    else
        task->request.values[number] = value;
}

bool wavefunction_by_host(const wavefunction_task *task, double value_s, host_sum *sum)
{
    bool can = task->weights == NULL || task->request.kind == LEY_POTENTIAL;
    for (int64_t i = 0; i < task->wavefunction->arrays.orbitals && !can; i++)
        can = task->weights[i] != 0;
    sum->map = task->request.maps != NULL ? task->maps[0] : NULL;
    sum->count = (int64_t)task->values * ley_grid_points(&task->grid);
    sum->set = set_value;
    sum->value_s = value_s;
    for (size_t v = 0; v < task->values && sum->map != NULL; v++)
        can = can && !map_is_stored(task->maps[v]);
    return can;
}

/* Seconds of a value: of each Gaussian, and of each function of an orbital. */
static bool by_host(const void *context, host_sum *sum)
{
    static const double gaussian_s = 80e-9, function_s = 4e-9;
    const wavefunction_task *task = context;
    const ley_wavefunction_arrays *a = &task->wavefunction->arrays;
    double orbitals = 1;
    for (int64_t i = 0; i < a->orbitals && task->weights != NULL; i++)
        orbitals += task->weights[i] != 0;
    *sum = (host_sum){.how = "sums of contracted Gaussians", .builds_s = 1};
    terms(context, &sum->terms);
    return wavefunction_by_host(
        task, (double)a->primitives * gaussian_s + (double)task->wavefunction->functions * orbitals * function_s, sum);
}

static accuracy_limits limits(const void *context)
{
    const wavefunction_task *task = context;
    return (accuracy_limits){
        .tolerance = wavefunction_task_promise(task), .nothing = ACCURACY_NOTHING, .left_out = task->left_out};
}

/* Values are numbered by quantity, then by point; slabs have some planes of each. */
int64_t wavefunction_point_number(const void *context, slab s, int64_t i)
{
    const wavefunction_task *task = context;
    const int64_t each = s.count * wavefunction_plane_points(task);
    return i / each * ley_grid_points(&task->grid) + s.first * wavefunction_plane_points(task) + i % each;
}

ley_map *const *wavefunction_maps(const void *context, size_t *count)
{
    const wavefunction_task *task = context;
    *count = task->request.maps != NULL ? (size_t)task->values : 0;
    return task->maps;
}

double *wavefunction_list(const void *context)
{
    const wavefunction_task *task = context;
    return task->request.maps != NULL ? NULL : task->request.values;
}

double wavefunction_value_at(const void *context, int64_t number, double place_A[3])
{
    const wavefunction_task *task = context;
    const int64_t each = ley_grid_points(&task->grid);
    if (task->request.maps != NULL)
        return map_value(task->maps[number / each], number % each, place_A);
    memcpy(place_A, task->request.point_A + 3 * (number % each), 3 * sizeof *place_A);
    return task->request.values[number];
}

static const stage stages[] = {{.name = "sum",
                                .split = STAGE_SLABS,
                                .count = wavefunction_count_planes,
                                .wish = make_wish,
                                .wish_destroy = end_wish,
                                .ready = ready,
                                .begin = begin,
                                .renew = renew_stage,
                                .forecast = forecast,
                                .end = end,
                                .slab_count = slab_count,
                                .submit = submit,
                                .collect = collect,
                                .drop = drop}};

static uint64_t needs(const void *context, const ley_run_options *options)
{
    const bool is_fixed = options->math == LEY_MATH_STANDARD || options->sum == LEY_SUM_DOUBLE;
    return !wavefunction_task_is_listed(context, (int)options->sum, options->variant) ? CALIBRATE_MULTIPLY_ADDS
           : is_fixed                                                                 ? CALIBRATE_EXP(LEY_EXP_STANDARD)
                                                                                      : CALIBRATE_EXPS;
}

/* ---- The variants ---------------------------------------------------------------------------- */

/* Those of both kernels. */
static const char *variant_at(size_t i)
{
    size_t own = 0;
    while (separable_variant(own) != NULL)
        own++;
    return i < own ? separable_variant(i) : list_variant(i - own);
}

static const kernel_kind both_kinds = {.name = "wavefunction", .variant = variant_at};

const method method_wavefunction = {
    .name = "wavefunction",
    .parameters = &wavefunction_parameters,
    .kernel = &both_kinds,
    .needs = needs,
    .prepare = prepare,
    .release = wavefunction_release,
    .renew = renew,
    .host_needs = wavefunction_host_needs,
    .end = wavefunction_task_end,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .points = wavefunction_count_points,
    .evaluations = count_evaluations,
    .finish = finish,
    .terms = terms,
    .terms_at = terms_at,
    .error_scale = "the magnitudes of all functions and of the values",
    .limits = limits,
    .point = wavefunction_point_number,
    .value = wavefunction_value_at,
    .maps = wavefunction_maps,
    .list = wavefunction_list,
    .by_host = by_host,
    .double_has_more_digits = true,
    .has_exp = true,
};
