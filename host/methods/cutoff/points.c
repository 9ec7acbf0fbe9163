/* Short-range potentials at the points of a list, phi_i = C sum over r_ij < a of q_j f(max(r_ij,
 * r_min)), and the field there, less the gradient, where the points have one. The host puts atoms
 * into bins; devices sum what overflows these, too. A slab is some of the points, in their order in
 * space. */
#include "methods/cutoff/points.h"

#include "clock.h"
#include "core/options.h"
#include "core/points.h"
#include "error.h"
#include "judge/accuracy.h"
#include "methods/cutoff/point_pairs_build.h"
#include "methods/cutoff/short_range.h"
#include "methods/cutoff/stages.h"
#include "run/job.h"
#include "run/slab_size.h"

#include <math.h>
#include <stdlib.h>

/* Each of them may be a work-group of its own, where they are far apart. */
static const int64_t most_slab_points = 1 << 17;

typedef struct points_task {
    cutoff_task sums; /* first: what short-range sums of any kind have; of a map nothing */
    ley_points *points;
    bool has_list;
    point_list list;
} points_task;

typedef struct points_state {
    points_task *task;
    point_pairs_kernel kernel;
    int64_t slab_points;
    double point_s; /* how long a point is predicted to take */
    point_pairs_run slots[METHOD_SLOTS];
} points_state;

/* ---- The problem ----------------------------------------------------------------------------- */

static void end_task(void *context)
{
    cutoff_task_clear(&((points_task *)context)->sums);
    free(context);
}

static ley_status check_places(const ley_short_range *r, ley_error *error)
{
    if (r->binning == LEY_PLACE_DEVICE || r->overflow == LEY_PLACE_HOST || r->transposition != LEY_PLACE_AUTO)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "at points the host makes the bins, devices sum what overflows them, and nothing is brought "
                        "into rows");
    return LEY_OK;
}

ley_status ley_job_create_short_range_points(ley_engine *engine, const ley_atoms *atoms, ley_points *points,
                                             const ley_short_range *range, const ley_run_options *options,
                                             ley_job **job, ley_error *error)
{
    ley_short_range r;
    ley_status status = OPTIONS_TAKE(ley_short_range, transposition, &r, range, error);
    if (status == LEY_OK)
        status = options_check_medium(r.units, r.dielectric, r.temperature_K, r.r_min_A, error);
    if (status == LEY_OK)
        status = short_range_check(&r, error);
    if (status == LEY_OK)
        status = check_places(&r, error);
    if (status != LEY_OK)
        return status;
    points_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    task->points = points;
    status = cutoff_task_init(&task->sums, atoms, NULL, &r, error);
    if (status != LEY_OK) {
        end_task(task);
        return status;
    }
    return job_create(engine, &method_cutoff_points, task, atoms, options, job, error);
}

static ley_status make_bins(points_task *task, const ley_lattice *lattice, ley_error *error)
{
    cutoff_task *sums = &task->sums;
    const ley_short_range *r = &sums->range;
    sums->problem = calloc(1, sizeof *sums->problem);
    if (sums->problem == NULL)
        return ley_fail_memory(error, sizeof *sums->problem, "the bins");
    ley_status status = cutoff_problem_init(sums->problem, sums->atoms, lattice, r,
                                            ley_coulomb_constant(r->units, r->dielectric, r->temperature_K),
                                            r->dielectric, r->r_min_A, error);
    if (status != LEY_OK)
        return status;
    sums->problem->plan.options.cancelled = sums->job->cancelled;
    if (task->points->field != NULL)
        status = cutoff_problem_add_field(sums->problem, error);
    if (status == LEY_OK)
        status = cutoff_problem_bin(sums->problem, error);
    return status == LEY_OK ? cutoff_problem_add_extra(sums->problem, error) : status;
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    points_task *task = context;
    ley_lattice lattice;
    task->sums.job = job;
    task->sums.prepared_from_s = ley_clock_s();
    ley_status status = point_list_create(ley_points_count(task->points), ley_points_positions_A(task->points),
                                          task->sums.atoms, &task->sums.range, &task->list, &lattice, error);
    task->has_list = status == LEY_OK;
    if (status == LEY_OK)
        status = make_bins(task, &lattice, error);
    if (status != LEY_OK)
        return status;
    task->sums.pairs = point_list_pairs(&task->list, task->sums.problem);
    task->sums.binning_s = ley_clock_s() - task->sums.prepared_from_s;
    return LEY_OK;
}

static void release(void *context, bool is_kept)
{
    points_task *task = context;
    cutoff_release(&task->sums, is_kept);
    if (task->has_list)
        point_list_destroy(&task->list);
    task->has_list = false;
}

static int64_t count_points(const void *context)
{
    return ley_points_count(((const points_task *)context)->points);
}

static int64_t points_of(const void *context, slab s)
{
    (void)context;
    return s.count;
}

/* ---- A device -------------------------------------------------------------------------------- */

static ley_status size_slabs(points_state *s, ley_error *error)
{
    const points_task *task = s->task;
    const dev_info *info = s->kernel.device->info;
    const double points = (double)task->list.n;
    s->point_s = fmax(task->sums.pairs / points, 1) / point_pairs_rate(&s->kernel);
    const double most_groups = info->max_groups[0] > 0 ? (double)info->max_groups[0] : (double)INT32_MAX;
    const slab_needs needs = {.pieces = task->list.n,
                              .piece_s = s->point_s,
                              .most_per_launch = fmin((double)most_slab_points, most_groups),
                              .most_pieces = task->sums.job->options->slab_planes,
                              .planned = plan_slab(task->sums.job->plan, info)};
    return slab_size(&s->kernel.bins.room, &needs, &s->slab_points, error);
}

static ley_status make_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const points_task *task = context;
    const ley_status status = cutoff_sum_wish(context, job, made, error);
    if (*made != NULL)
        ((cutoff_order *)*made)->wish.field = task->points->field != NULL;
    return status;
}

static ley_status ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
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

static ley_status begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    points_state *s = *state;
    s->task = context;
    s->kernel.bins.room = (room){.device = place->device, .within = place->room};
    ley_status status = point_pairs_load(&s->kernel, s->task->sums.problem, &s->task->list, error);
    return status == LEY_OK ? size_slabs(s, error) : status;
}

static void end(void *state)
{
    points_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        point_pairs_run_end(&s->slots[i]);
    point_pairs_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const points_state *)state)->slab_points;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    points_state *s = state;
    return point_pairs_run_begin(&s->slots[slot], &s->kernel, piece.first, piece.count,
                                 s->point_s * (double)piece.count, s->task->sums.job->cancelled, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    (void)piece;
    points_state *s = state;
    point_pairs_run *run = &s->slots[slot];
    ley_points *points = s->task->points;
    const ley_status status = point_pairs_run_finish(run, points->list->value, points->field, error);
    *times = run->work.times;
    return status;
}

static void drop(void *state, int slot)
{
    points_state *s = state;
    work_finish(&s->slots[slot].work, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

static ley_status finish(void *context, ley_error *error)
{
    (void)error;
    const points_task *task = context;
    ley_points_set_units(task->points, short_range_units(&task->sums.range, task->sums.range.units));
    return LEY_OK;
}

/* What places are rounded by. */
static double largest_A(const points_task *task)
{
    const double *side_A = task->sums.problem->plan.side_A;
    return fmax(side_A[0], fmax(side_A[1], side_A[2]));
}

static void terms(const void *context, reference_terms *t)
{
    const points_task *task = context;
    *t = cutoff_problem_sum(task->sums.problem);
    t->largest_A = largest_A(task);
}

static accuracy_limits limits(const void *context)
{
    const points_task *task = context;
    const ley_short_range *r = &task->sums.range;
    return (accuracy_limits){.tolerance =
                                 short_range_promise(r, task->sums.job->options->math, r->r_min_A, largest_A(task)),
                             .nothing = ACCURACY_NOTHING};
}

static int64_t point(const void *context, slab s, int64_t i)
{
    return ((const points_task *)context)->list.order[s.first + i];
}

static double value(const void *context, int64_t number, double place_A[3])
{
    const ley_points *points = ((const points_task *)context)->points;
    for (int axis = 0; axis < 3; axis++)
        place_A[axis] = ley_points_positions_A(points)[3 * number + axis];
    return ley_points_read_values(points)[number];
}

static const double *field(const void *context, int64_t number)
{
    const double *all = ((const points_task *)context)->points->field;
    return all != NULL ? all + 3 * number : NULL;
}

static double evaluations(const void *context)
{
    return ((const points_task *)context)->sums.pairs;
}

static void note(const void *context, notes *n)
{
    const cutoff_task *sums = &((const points_task *)context)->sums;
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
    notes_place(n, "overflow_sum", LEY_PLACE_DEVICE);
    notes_number(n, "binning_s", sums->binning_s);
}

static uint64_t needs(const void *context, const ley_run_options *options)
{
    return cutoff_needs(context, options);
}

static const stage stages[] = {{.name = "sum",
                                .split = STAGE_SLABS,
                                .count = count_points,
                                .wish = make_wish,
                                .wish_destroy = cutoff_sum_wish_destroy,
                                .ready = ready,
                                .begin = begin,
                                .end = end,
                                .slab_count = slab_count,
                                .submit = submit,
                                .collect = collect,
                                .drop = drop}};

const method method_cutoff_points = {
    .name = "cutoff_points",
    .kernel = &point_pairs_kind,
    .needs = needs,
    .prepare = prepare,
    .release = release,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .points = points_of,
    .evaluations = evaluations,
    .finish = finish,
    .note = note,
    .terms = terms,
    .limits = limits,
    .point = point,
    .value = value,
    .field = field,
};
