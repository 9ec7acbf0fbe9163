#include "methods/cutoff/point_stages.h"

#include "clock.h"
#include "error.h"
#include "methods/cutoff/point_pairs_build.h"
#include "methods/cutoff/step_costs.h"
#include "plan/forecast.h"
#include "schedule/job_memory.h"
#include "schedule/slab_size.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>

/* Each of them may be a work-group of its own, where they are far apart. */
static const int64_t most_slab_points = 1 << 17;

typedef struct points_state {
    cutoff_points_task *task;
    point_pairs_kernel kernel;
    int64_t slab_points;
    double point_s; /* how long a point is predicted to take */
    point_pairs_run slots[METHOD_SLOTS];
    void *added; /* the addition's; NULL: there is nothing to end */
} points_state;

/* ---- The problem ----------------------------------------------------------------------------- */

ley_status cutoff_points_check(const ley_short_range *r, ley_error *error)
{
    if (r->binning == LEY_PLACE_DEVICE || r->transposition != LEY_PLACE_AUTO)
        return ley_fail(error, LEY_ERROR_USAGE, "at points the host makes the bins, and nothing is brought into rows");
    return LEY_OK;
}

static ley_status make_bins(cutoff_points_task *task, const ley_grid *grid, ley_error *error)
{
    cutoff_task *sums = &task->sums;
    const ley_short_range *r = &sums->range;
    sums->problem = calloc(1, sizeof *sums->problem);
    if (sums->problem == NULL)
        return ley_fail_memory(error, sizeof *sums->problem, "the bins");
    ley_status status = cutoff_problem_init(sums->problem, sums->atoms, grid, r,
                                            ley_coulomb_constant(r->units, r->dielectric, r->temperature_K),
                                            r->dielectric, r->r_min_A, error);
    if (status != LEY_OK)
        return status;
    sums->problem->plan.options.cancelled = sums->job->cancelled;
    if (task->points->excluded_first != NULL)
        sums->problem->plan.options.with_index = true;
    if (task->points->field != NULL)
        status = cutoff_problem_add_field(sums->problem, error);
    if (status != LEY_OK || sums->job->only_plans)
        return status;
    return cutoff_problem_bin(sums->problem, error);
}

ley_status cutoff_points_prepare(void *context, const job_view *job, ley_error *error)
{
    cutoff_points_task *task = context;
    ley_grid grid;
    task->sums.job = job;
    const double start_s = ley_clock_s();
    ley_status status = point_list_create(ley_points_count(task->points), ley_points_positions_A(task->points),
                                          task->sums.atoms, &task->sums.range, &task->list, &grid, error);
    task->has_list = status == LEY_OK;
    task->ordering_s = ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = make_bins(task, &grid, error);
    if (status != LEY_OK)
        return status;
    task->sums.pairs = point_list_pairs(&task->list, task->sums.problem);
    task->sums.binning_s = ley_clock_s() - start_s;
    return LEY_OK;
}

void cutoff_points_release(void *context, bool is_kept)
{
    cutoff_points_task *task = context;
    cutoff_release(&task->sums, is_kept);
    if (task->has_list)
        point_list_destroy(&task->list);
    task->has_list = false;
}

void cutoff_points_host_needs(const void *context, job_needs *needs)
{
    const cutoff_points_task *task = context;
    job_needs_points(needs, ley_points_count(task->points), task->points->field != NULL);
    if (task->sums.problem != NULL)
        cutoff_problem_add_needs(task->sums.problem, needs);
}

double cutoff_points_host_s(const void *context)
{
    const cutoff_points_task *task = context;
    return task->ordering_s + cutoff_host_binning_s(task->sums.problem);
}

int64_t cutoff_points_count(const void *context)
{
    return ley_points_count(((const cutoff_points_task *)context)->points);
}

int64_t cutoff_points_of(const void *context, slab s)
{
    (void)context;
    return s.count;
}

/* ---- A device -------------------------------------------------------------------------------- */

static ley_status size_slabs(points_state *s, ley_error *error)
{
    const cutoff_points_task *task = s->task;
    const dev_info *info = s->kernel.device->info;
    const double points = (double)task->list.n;
    s->point_s = fmax(task->sums.pairs / points, 1) /
                 point_pairs_rate(s->kernel.device->info, &s->kernel.facts, &s->kernel.choice.spec);
    const double most_groups = info->max_groups[0] > 0 ? (double)info->max_groups[0] : (double)INT32_MAX;
    const slab_needs needs = {.pieces = task->list.n,
                              .piece_s = s->point_s,
                              .most_per_launch = fmin((double)most_slab_points, most_groups),
                              .most_pieces = task->sums.job->options->slab_planes,
                              .planned = plan_slab(task->sums.job->plan, info)};
    return slab_size(&s->kernel.bins.arena, &needs, &s->slab_points, error);
}

ley_status cutoff_points_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const cutoff_points_task *task = context;
    const ley_status status = cutoff_sum_wish(context, job, made, error);
    if (*made != NULL)
        ((cutoff_order *)*made)->wish.field = task->points->field != NULL;
    return status;
}

ley_status cutoff_points_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const cutoff_order *o = wish;
    cutoff_wish own = o->wish;
    points_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->kernel.device = s->kernel.bins.device = device;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    own.planned = tuning_planned_for(o->plan, device->info, NULL);
    const ley_status status = point_pairs_create(device, &own, &o->problem, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    noted->variant = s->kernel.choice.variant;
    noted->root = calibrate_root_name(s->kernel.choice.spec.root);
    noted->from_cache = s->kernel.kernel.from_cache;
    kernel_options(&point_pairs_kind, &s->kernel.choice.spec, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

ley_status cutoff_points_begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    points_state *s = *state;
    s->task = context;
    s->kernel.bins.arena = (arena){.device = place->device, .within = place->arena};
    const cutoff_points_addition *addition = s->task->addition;
    ley_status status = point_pairs_load(&s->kernel, s->task->sums.problem, &s->task->list, error);
    if (status == LEY_OK && addition != NULL)
        status = addition->begin(context, place, &s->kernel.bins.arena, &s->added, error);
    return status == LEY_OK ? size_slabs(s, error) : status;
}

/* Groups are not full where points are few: a fourth of their places are empty, roughly. */
static const double places_per_point = 4.0 / 3;

/* Of three slabs, with an eighth more than the first one takes. */
static double slabs_bytes(const points_state *s, double *largest)
{
    const double point = point_pairs_point_bytes(&s->kernel.choice.spec, largest),
                 places = 1.125 * places_per_point * (double)s->slab_points;
    const cutoff_points_addition *addition = s->task->addition;
    *largest *= places;
    return METHOD_SLOTS *
           (places * point + (addition != NULL ? (double)s->slab_points * addition->point_bytes(s->task) : 0));
}

ley_status cutoff_points_forecast(void *context, const stage_place *place, void *state, device_forecast *f,
                                  ley_error *error)
{
    points_state *s = state;
    s->task = context;
    s->kernel.bins.arena = (arena){.device = place->device, .within = place->arena};
    const cutoff_problem *p = s->task->sums.problem;
    const double points = (double)s->task->list.n, slots = (double)p->plan.slot_bytes,
                 bins = p->plan.options.keep_neutral ? 1.5 * slots : slots;
    double largest;
    const ley_status sized = size_slabs(s, error),
                     binned = forecast_need(f, "bins", bins, slots, sized == LEY_OK ? error : NULL);
    ley_status status = sized != LEY_OK ? sized : binned;
    f->slab = sized == LEY_OK ? s->slab_points : 1;
    const double bytes = slabs_bytes(s, &largest);
    const ley_status slabs = forecast_need(f, "slabs", bytes, largest, status == LEY_OK ? error : NULL);
    forecast_before(f, "upload", cutoff_upload_s(p, place->device->info));
    forecast_slabs(f, "kernels", points * s->point_s, false);
    forecast_transfer(f, points * LEY_COMPONENTS(s->kernel.choice.spec.field) * sizeof(float),
                      ceil(points / (double)f->slab));
    return status == LEY_OK ? slabs : status;
}

void cutoff_points_end(void *state)
{
    points_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        point_pairs_run_end(&s->slots[i]);
    if (s->added != NULL)
        s->task->addition->end(s->added);
    point_pairs_destroy(&s->kernel);
    free(s);
}

/* Of devices that have not been measured yet. */
static const double unknown_cpu_pairs_per_s = 1e9, unknown_gpu_pairs_per_s = 1e11;

double cutoff_points_expected_rate(const dev_info *info, const calibration *facts)
{
    const cutoff_wish wish = {.math = TUNING_AUTO, .pair = LEY_PAIR_TAYLOR4, .depth = 8};
    point_pairs_choice choice;
    if (facts == NULL || point_pairs_choose(info, facts, &wish, &choice, NULL) != LEY_OK)
        return info->device_class == DEV_CPU ? unknown_cpu_pairs_per_s : unknown_gpu_pairs_per_s;
    return point_pairs_rate(info, facts, &choice.spec);
}

int64_t cutoff_points_slab_count(const void *state)
{
    return ((const points_state *)state)->slab_points;
}

ley_status cutoff_points_submit(void *state, int slot, slab piece, ley_error *error)
{
    points_state *s = state;
    const ley_status status =
        point_pairs_run_begin(&s->slots[slot], &s->kernel, piece.first, piece.count, s->point_s * (double)piece.count,
                              s->task->sums.job->cancelled, error);
    return status == LEY_OK && s->added != NULL
               ? s->task->addition->submit(s->added, slot, &s->slots[slot].command_sequence, piece, error)
               : status;
}

ley_status cutoff_points_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    points_state *s = state;
    point_pairs_run *run = &s->slots[slot];
    cutoff_points_task *task = s->task;
    ley_status status = point_pairs_run_finish(run, task->points->list->value, task->points->field, error);
    if (status == LEY_OK)
        cutoff_points_exclude(task->sums.problem, &task->list, task->points,
                              task->addition != NULL ? task->addition->of_charge : NULL, task, piece.first,
                              piece.count);
    if (status == LEY_OK && s->added != NULL)
        status = task->addition->collect(s->added, slot, piece, error);
    *times = run->command_sequence.times;
    pthread_mutex_lock(&task->sums.mutex);
    for (int i = 0; i < WORK_STEPS; i++)
        task->sums.step_s[i] += times->step_s[i];
    pthread_mutex_unlock(&task->sums.mutex);
    return status;
}

void cutoff_points_drop(void *state, int slot)
{
    points_state *s = state;
    sequence_finish(&s->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

int64_t cutoff_points_point(const void *context, slab s, int64_t i)
{
    return ((const cutoff_points_task *)context)->list.order[s.first + i];
}

double cutoff_points_value(const void *context, int64_t number, double place_A[3])
{
    const ley_points *points = ((const cutoff_points_task *)context)->points;
    for (int axis = 0; axis < 3; axis++)
        place_A[axis] = ley_points_positions_A(points)[3 * number + axis];
    return ley_points_read_values(points)[number];
}

bool cutoff_points_field(const void *context, int64_t number, double field[3])
{
    return points_field_at(((const cutoff_points_task *)context)->points, number, field);
}

const int64_t *cutoff_points_excluded(const void *context, int64_t number, size_t *count)
{
    return points_excluded(((const cutoff_points_task *)context)->points, number, count);
}

double cutoff_points_pairs(const void *context)
{
    return ((const cutoff_points_task *)context)->sums.pairs;
}

void cutoff_points_note(const void *context, notes *n)
{
    const cutoff_task *sums = &((const cutoff_points_task *)context)->sums;
    const cutoff_problem *p = sums->problem;
    if (p == NULL || p->binned == NULL)
        return;
    notes_count(n, "bins", p->plan.bins);
    notes_count(n, "bin_depth", p->plan.options.depth);
    notes_count(n, "binned", p->binned->binned);
    notes_vector(n, "bin_side_A", p->plan.side_A);
    notes_count(n, "overflow", p->binned->overflow);
    notes_count(n, "outside", p->binned->outside);
    notes_count(n, "neutral", p->binned->neutral);
    notes_place(n, "binning", LEY_PLACE_HOST);
    notes_number(n, "binning_s", sums->binning_s);
}
