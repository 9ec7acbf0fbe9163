#include "methods/mdh/stages.h"

#include "error.h"
#include "law/accuracy.h"
#include "law/reference.h"
#include "layout/patches.h"
#include "methods/mdh/build.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/pack.h"
#include "methods/mdh/run.h"
#include "parallel.h"
#include "plan/forecast.h"
#include "schedule/job_memory.h"
#include "schedule/slab_size.h"
#include "target/points.h"
#include "verify/second_check.h"

#include <math.h>
#include <stdlib.h>

static const int64_t most_slab_points = 4 << 20;

/* Points of a list this near to an atom are recomputed in double precision: a kernel has positions
 * to 2e-8 A at best. */
static const double near_A = 0.05;

const plan_row mdh_plan_rows[] = {{.name = "polynomial_exps", .of_device = true, .low = 0, .high = 64}, {.name = NULL}};

typedef struct mdh_state {
    mdh_sums *task;
    mdh_kernel kernel;
    int64_t slab_rows;
    mdh_run slots[METHOD_SLOTS];
} mdh_state;

/* ---- The problem ----------------------------------------------------------------------------- */

ley_status mdh_sums_prepare(mdh_sums *sums, const job_view *job, double coulomb_constant, double kappa_per_A,
                            double r_min_A, ley_error *error)
{
    sums->job = job;
    sums->is_prepared = true;
    ley_status status =
        mdh_problem_init(&sums->problem, sums->atoms, sums->boundary, coulomb_constant, kappa_per_A, error);
    sums->problem.cancelled = job->cancelled;
    sums->problem.r_min_A = r_min_A;
    return status;
}

void mdh_sums_release(mdh_sums *sums)
{
    if (sums->is_prepared)
        mdh_problem_end(&sums->problem);
    sums->is_prepared = false;
    sums->problem = (mdh_problem){.atoms = NULL};
}

/* Before mdh_sums_prepare() the task knows its boundary alone. */
static int64_t count_rows(const void *context)
{
    const mdh_sums *task = context;
    const ley_grid *grid = ley_boundary_grid(task->boundary);
    return grid != NULL ? patches_rows(grid) : ley_boundary_points(task->boundary);
}

int64_t mdh_sums_points(const void *context, slab s)
{
    const mdh_sums *task = context;
    if (task->is_prepared)
        return mdh_problem_points(&task->problem, s.first, s.count);
    const ley_grid *grid = ley_boundary_grid(task->boundary); /* all of them, each node once */
    return grid != NULL ? patches_nodes(grid) : s.count;
}

/* ---- A device -------------------------------------------------------------------------------- */

/* Points that one launch takes: sum_parts has 64 of them in a work-group, mdh as many or more; each
 * patch may leave one group not full. */
static double launch_points(const dev_info *info)
{
    const double most_groups = info->max_groups[0] > 0 ? (double)info->max_groups[0] : (double)INT32_MAX;
    return fmin((double)most_slab_points, 64 * (most_groups - PATCH_COUNT));
}

/* Slabs are of rows, and no longer than a launch takes. */
static ley_status size_slabs(mdh_state *s, ley_error *error)
{
    const mdh_problem *problem = &s->task->problem;
    const double points = (double)mdh_problem_points(problem, 0, problem->rows);
    const double atoms = (double)ley_atoms_count(problem->atoms);
    double longest_row = 1;
    for (int i = 0; i < problem->patch_count; i++)
        longest_row = fmax(longest_row, (double)problem->patches[i].n_a);
    const slab_needs needs = {.pieces = problem->rows,
                              .piece_s = points / (double)problem->rows * atoms / mdh_kernel_expected_rate(&s->kernel),
                              .most_per_launch = launch_points(s->kernel.device->info) / longest_row,
                              .most_pieces = s->task->job->options->slab_planes,
                              .planned = plan_slab(s->task->job->plan, s->kernel.device->info)};
    return slab_size(&s->kernel.arena, &needs, &s->slab_rows, error);
}

/* What a device is to be ready for. */
typedef struct order {
    mdh_wish wish;
    job_plan *plan;
} order;

static ley_status make_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const mdh_problem *problem = &((const mdh_sums *)context)->problem;
    const patch *typical = &problem->patches[0];
    order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return ley_fail_memory(error, sizeof *o, "the job");
    *made = o;
    o->wish = (mdh_wish){.variant = job->options->variant,
                         .math = job->options->math,
                         .sum = job->options->sum,
                         .screening = problem->screening,
                         .points = problem->patch_count > 0 ? LEY_POINTS_FACES : LEY_POINTS_LIST,
                         .field = ((const mdh_sums *)context)->field != NULL,
                         .n_a = typical->n_a,
                         .n_b = typical->n_b};
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
    mdh_wish own = o->wish;
    mdh_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->kernel.device = device;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    own.planned = tuning_planned_for(o->plan, device->info, mdh_plan_rows[0].name);
    ley_status status = mdh_kernel_create(device, &own, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    const mdh_spec *spec = &s->kernel.choice.spec;
    noted->variant = s->kernel.choice.variant;
    noted->root = calibrate_root_name(spec->root);
    noted->exp = spec->screening == LEY_SCREENING_NONE ? NULL : calibrate_exp_name(spec->exp);
    noted->from_cache = s->kernel.kernel.from_cache;
    noted->decisions[0].name = mdh_plan_rows[0].name;
    noted->decisions[0].value = spec->polynomial_exps;
    kernel_options(&mdh_kind, spec, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

static ley_status begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    mdh_state *s = *state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    ley_status status = size_slabs(s, error);
    return status == LEY_OK ? mdh_kernel_load(&s->kernel, &s->task->problem, error) : status;
}

static void end(void *state)
{
    mdh_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        mdh_run_end(&s->slots[i]);
    mdh_kernel_destroy(&s->kernel);
    free(s);
}

/* The packed atoms of all devices: double sums take as much again, and neutral atoms none. */
static const double packed_atom_bytes = 32;

void mdh_sums_host_needs(const void *context, job_needs *needs)
{
    const mdh_sums *task = context;
    job_needs_points(needs, ley_boundary_points(task->boundary), task->field != NULL);
    job_needs_add(needs, "packed atoms", (double)ley_atoms_count(task->atoms) * packed_atom_bytes, "fewer atoms");
}

static ley_status forecast(void *context, const stage_place *place, void *state, device_forecast *f, ley_error *error)
{
    mdh_state *s = state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    s->kernel.problem = &s->task->problem;
    s->kernel.n_atoms = (int)ley_atoms_count(s->task->atoms);
    const mdh_problem *problem = s->kernel.problem;
    const mdh_spec *spec = &s->kernel.choice.spec;
    const double points = (double)mdh_problem_points(problem, 0, problem->rows), atoms = s->kernel.n_atoms,
                 packed = atoms * (double)mdh_placed_bytes(spec);
    double largest;
    const ley_status sized = size_slabs(s, error),
                     placed = forecast_need(f, "packed atoms", packed, packed, sized == LEY_OK ? error : NULL);
    ley_status status = sized != LEY_OK ? sized : placed;
    f->slab = sized == LEY_OK ? s->slab_rows : 1;
    const double bytes = METHOD_SLOTS * mdh_run_bytes(&s->kernel, f->slab, &largest);
    const ley_status slabs = forecast_need(f, "slabs", bytes, largest, status == LEY_OK ? error : NULL);
    forecast_slabs(f, "kernels", points * atoms / mdh_kernel_expected_rate(&s->kernel), false);
    forecast_transfer(f, points * LEY_COMPONENTS(spec->field) * sizeof(float), ceil(points / (double)f->slab));
    return status == LEY_OK ? slabs : status;
}

static int64_t slab_count(const void *state)
{
    return ((const mdh_state *)state)->slab_rows;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    mdh_state *s = state;
    return mdh_run_begin(&s->slots[slot], &s->kernel, piece.first, piece.count, s->task->job->cancelled, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    (void)piece;
    mdh_state *s = state;
    mdh_run *run = &s->slots[slot];
    ley_status status = mdh_run_finish(run, ley_boundary_values(s->task->boundary), s->task->field, error);
    *times = run->command_sequence.times;
    return status;
}

static void drop(void *state, int slot)
{
    mdh_state *s = state;
    sequence_finish(&s->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* Points to recompute in double precision. */
typedef struct recomputation {
    const mdh_sums *task;
    reference_terms terms;
    size_t count, capacity;
    int64_t *indices;
    reference_value *values;
} recomputation;

static void recompute_field(const recomputation *r, const reference_terms *terms, int64_t index,
                            const double point_A[3])
{
    reference_value right[3];
    reference_field(terms, point_A, right);
    for (int axis = 0; axis < 3; axis++)
        r->task->field[3 * index + axis] = right[axis].value;
}

static void recompute(void *context, size_t first, size_t last)
{
    const recomputation *r = context;
    for (size_t i = first; i < last && !job_view_cancelled(r->task->job); i++) {
        double point_A[3];
        reference_terms terms = r->terms;
        terms.excluded = mdh_sums_excluded(r->task, r->indices[i], &terms.excluded_count);
        ley_boundary_point_A(r->task->boundary, r->indices[i], point_A);
        r->values[i] = reference_sum(&terms, point_A);
        if (r->task->field != NULL)
            recompute_field(r, &terms, r->indices[i], point_A);
    }
}

static ley_status run_recomputation(recomputation *r, ley_error *error)
{
    r->values = calloc(r->count + 1, sizeof *r->values);
    if (r->values == NULL)
        return ley_fail_memory(error, r->count * sizeof *r->values, "double-precision values");
    parallel_ranges(r->count, recompute, r);
    return job_view_cancelled(r->task->job) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* A point that several atoms are near to comes several times, mostly one after the other. */
static bool add_near(void *context, size_t atom, int64_t i)
{
    (void)atom;
    recomputation *r = context;
    if (r->count > 0 && r->indices[r->count - 1] == i)
        return true;
    if (r->count == r->capacity) {
        const size_t capacity = 2 * r->capacity + 16;
        int64_t *grown = realloc(r->indices, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        r->indices = grown;
        r->capacity = capacity;
    }
    r->indices[r->count++] = i;
    return true;
}

static ley_status add_excluding(recomputation *r, ley_error *error)
{
    const int64_t n = ley_boundary_points(r->task->boundary);
    size_t count = 0;
    for (int64_t i = 0; i < n && r->task->points != NULL; i++) {
        mdh_sums_excluded(r->task, i, &count);
        if (count > 0 && !add_near(r, 0, i))
            return ley_fail_memory(error, (size_t)n * sizeof *r->indices, "points that exclude atoms");
    }
    return LEY_OK;
}

/* Some of them, where anything is verified: nobody else judges what the host has made itself.
 * Places on atoms have no values. */
static ley_status check_near(const recomputation *r, ley_error *error)
{
    enum { MOST = 16 };
    const size_t step = r->count / MOST + 1;
    second_point points[MOST] = {{.value = 0}};
    size_t n = 0;
    ley_accuracy accuracy, of_fields;
    second_sum second;
    for (size_t i = 0; i < r->count && r->task->job->options->verify_points > 0; i += step) {
        second_point *p = &points[n];
        p->terms = r->terms;
        p->terms.excluded = mdh_sums_excluded(r->task, r->indices[i], &p->terms.excluded_count);
        p->value = r->values[i].value;
        ley_boundary_point_A(r->task->boundary, r->indices[i], p->place_A);
        p->has_field = mdh_sums_field(r->task, r->indices[i], p->field);
        n += isfinite(p->value);
    }
    ley_status status = n > 0 ? second_begin(&r->terms, &second, error) : LEY_OK;
    if (n == 0 || status != LEY_OK)
        return status;
    status = second_check(&second, n, points, ACCURACY_NOTHING_DOUBLE, r->task->job->cancelled, &accuracy, &of_fields,
                          error);
    second_end(&second);
    return status;
}

ley_status mdh_sums_recompute_near(const mdh_sums *task, ley_error *error)
{
    double *values = ley_boundary_values(task->boundary);
    recomputation near = {.task = task};
    if (ley_boundary_grid(task->boundary) != NULL)
        return LEY_OK;
    mdh_problem_terms(&task->problem, &near.terms);
    ley_status status = add_excluding(&near, error);
    if (status == LEY_OK && task->problem.r_min_A < near_A)
        status = boundary_find_near(task->boundary, task->atoms, near_A, add_near, &near, error);
    if (status == LEY_OK && near.count > 0)
        status = run_recomputation(&near, error);
    if (status == LEY_OK)
        status = check_near(&near, error);
    for (size_t i = 0; status == LEY_OK && i < near.count; i++)
        values[near.indices[i]] = near.values[i].value;
    free(near.indices);
    free(near.values);
    return status;
}

void mdh_sums_terms(const void *context, reference_terms *terms)
{
    mdh_problem_terms(&((const mdh_sums *)context)->problem, terms);
}

accuracy_limits mdh_sums_limits(const void *context)
{
    const mdh_sums *task = context;
    const ley_run_options *o = task->job->options;
    return (accuracy_limits){.tolerance = mdh_problem_promise(&task->problem, o->math, o->sum),
                             .nothing = o->sum == LEY_SUM_DOUBLE ? ACCURACY_NOTHING_DOUBLE : ACCURACY_NOTHING};
}

int64_t mdh_sums_point(const void *context, slab s, int64_t i)
{
    return mdh_problem_value(&((const mdh_sums *)context)->problem, s.first, s.count, i);
}

double mdh_sums_value(const void *context, int64_t number, double place_A[3])
{
    const ley_boundary *boundary = ((const mdh_sums *)context)->boundary;
    ley_boundary_point_A(boundary, number, place_A);
    return ley_boundary_read_values(boundary)[number];
}

bool mdh_sums_field(const void *context, int64_t number, double field[3])
{
    const ley_points *points = ((const mdh_sums *)context)->points;
    return points != NULL && points_field_at(points, number, field);
}

const int64_t *mdh_sums_excluded(const void *context, int64_t number, size_t *count)
{
    return points_excluded(((const mdh_sums *)context)->points, number, count);
}

const stage mdh_stages[MDH_STAGE_COUNT] = {{.name = "sum",
                                            .split = STAGE_SLABS,
                                            .count = count_rows,
                                            .wish = make_wish,
                                            .wish_destroy = destroy_wish,
                                            .ready = ready,
                                            .begin = begin,
                                            .forecast = forecast,
                                            .end = end,
                                            .slab_count = slab_count,
                                            .submit = submit,
                                            .collect = collect,
                                            .drop = drop}};
