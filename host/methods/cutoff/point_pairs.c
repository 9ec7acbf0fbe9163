#include "methods/cutoff/point_pairs.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which variant --------------------------------------------------------------------------- */

/* Share of the computed pairs that count, roughly. */
static const double hits = 0.3;

static const struct variant {
    const char *name;
    int where, wg, width, ux;
} variants[] = {{"group64", ANYWHERE, 64, 1, 2},
                {"vector4", ON_CPU, 1, 4, 4},
                {"vector8", ON_CPU, 1, 8, 4},
                {"vector16", ON_CPU, 1, 16, 4}};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

const char *point_pairs_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

const char *point_pairs_usual(const dev_info *info, int sum)
{
    (void)sum;
    const int width = calibrate_width(info);
    for (size_t i = 0; i < VARIANT_COUNT && width > 1; i++)
        if (variants[i].width == width)
            return variants[i].name;
    return variants[0].name;
}

ley_status point_pairs_choose(const dev_info *info, const calibration *c, const cutoff_wish *wish,
                              point_pairs_choice *choice, ley_error *error)
{
    const char *name = wish->variant != NULL ? wish->variant : point_pairs_usual(info, wish->sum);
    const struct variant *v = variants;
    while (v < variants + VARIANT_COUNT && strcmp(v->name, name) != 0)
        v++;
    if (v == variants + VARIANT_COUNT)
        return tuning_unknown(name, error);
    ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    if (status != LEY_OK)
        return status;
    if ((size_t)v->wg > info->max_work_group || (size_t)v->wg > info->max_work_items[0])
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    point_pairs_spec spec = {.wg = v->wg,
                             .width = v->width,
                             .ux = v->ux,
                             .depth = wish->depth,
                             .sum = LEY_SPEC_SUM_FLOAT,
                             .total = wish->sum,
                             .pair = wish->pair,
                             .field = wish->field};
    if (wish->math != TUNING_STANDARD)
        spec.root = calibrate_fastest_root(info, c, v->width, tuning_pairs_need(wish->math, wish->sum));
    status =
        tuning_take_planned(info, &wish->planned, v->width, wish->math == TUNING_STANDARD, &spec.root, NULL, error);
    if (status == LEY_OK)
        *choice = (point_pairs_choice){.variant = v->name, .spec = spec};
    return status;
}

double point_pairs_rate(const dev_info *info, const calibration *facts, const point_pairs_spec *s)
{
    const double root_s = 1 / fmax(facts->roots_per_s[s->root], 1),
                 rest_s = (s->field ? 24 : 10) / fmax(facts->fma_per_s, 1);
    return fmax(hits * tuning_share_of_lanes(info, s->width, s->ux) / (root_s + rest_s), 1e5);
}

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status point_pairs_load(point_pairs_kernel *k, const cutoff_problem *problem, const point_list *list,
                            ley_error *error)
{
    k->list = list;
    k->bins.device = k->bins.arena.device = k->bins.flight.device = k->device;
    k->bins.problem = problem;
    return cutoff_kernel_upload_bins(&k->bins, problem, error);
}

void point_pairs_destroy(point_pairs_kernel *k)
{
    cutoff_kernel_destroy(&k->bins);
    kernel_destroy(&k->kernel);
    *k = (point_pairs_kernel){.device = k->device};
}

/* ---- Points, packed -------------------------------------------------------------------------- */

int64_t point_pairs_group(const point_pairs_spec *spec)
{
    return (int64_t)spec->wg * spec->width * spec->ux;
}

/* A work-group's points lie in a box whose edges are no longer than this, in cutoffs: where points
 * are few, a group of all of them would go through the bins of all space between them. */
static const double most_edge = 2;

typedef struct box {
    double low_A[3], high_A[3];
} box;

/* Widens the box to a place, unless it becomes too long by that. */
static bool take_in(box *b, const double place_A[3], double most_edge_A)
{
    box wider = *b;
    for (int axis = 0; axis < 3; axis++) {
        wider.low_A[axis] = fmin(wider.low_A[axis], place_A[axis]);
        wider.high_A[axis] = fmax(wider.high_A[axis], place_A[axis]);
        if (wider.high_A[axis] - wider.low_A[axis] > most_edge_A)
            return false;
    }
    *b = wider;
    return true;
}

static const box nowhere = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Where each work-group begins. Points that no atom is in reach of have no place. */
static ley_status cut_groups(point_pairs_run *run, ley_error *error)
{
    const point_list *list = run->kernel->list;
    const double most_edge_A = most_edge * run->kernel->bins.problem->cutoff_A;
    const int32_t each = (int32_t)point_pairs_group(&run->kernel->choice.spec);
    int32_t *begins = realloc(run->begins, ((size_t)run->count + 1) * sizeof *begins);
    if (begins == NULL)
        return ley_fail_memory(error, (size_t)run->count * sizeof *begins, "groups of points");
    run->begins = begins;
    run->groups = 0;
    box b = nowhere;
    for (int32_t i = 0; i < run->count; i++) {
        const double *place_A = run->first + i < list->inside ? list->place_A[run->first + i] : NULL;
        const bool is_full = run->groups == 0 || i - begins[run->groups - 1] == each;
        if (is_full || (place_A != NULL && !take_in(&b, place_A, most_edge_A))) {
            begins[run->groups++] = i;
            b = nowhere;
            if (place_A != NULL)
                take_in(&b, place_A, most_edge_A);
        }
    }
    begins[run->groups] = (int32_t)run->count;
    return LEY_OK;
}

/* A group for point_pairs.cl: see gm_groups there. */
typedef struct packed_group {
    int32_t home[4], rows[4];
    float corner_A[3], reach_A, edge_A[4];
} packed_group;

typedef struct packing {
    const point_pairs_run *run;
    packed_group *groups;
    float *offsets;
    int32_t *bins;
} packing;

/* How far an atom may be from what its bin and its offset say, in sides and in edges of a group:
 * roundings. */
static const double slack = 2e-6;

/* The bin that a place is in along an axis, and where it is in the bin. */
static int64_t bin_of(const binning_plan *plan, int axis, double place_A, double *offset_A)
{
    const double from_A = place_A - plan->grid.origin_A[axis], bin = floor(from_A / plan->side_A[axis]);
    *offset_A = from_A - bin * plan->side_A[axis];
    return (int64_t)bin + plan->origin_bin[axis];
}

static int32_t within(int64_t bin, int64_t n)
{
    return (int32_t)(bin < 0 ? 0 : bin >= n ? n - 1 : bin);
}

/* The box of a group, of which so many points are inside. */
static packed_group box_of(const point_pairs_kernel *k, int64_t first, int64_t inside)
{
    const binning_plan *plan = &k->bins.problem->plan;
    packed_group g = {.rows = {0, -1, 0, -1}};
    double spare_A = 0, unused_A;
    box b = nowhere;
    for (int64_t i = 0; i < inside; i++)
        take_in(&b, k->list->place_A[first + i], INFINITY);
    for (int axis = 0; inside > 0 && axis < 3; axis++)
        spare_A += slack * (b.high_A[axis] - b.low_A[axis] + plan->side_A[axis]);
    const double reach_A = plan->reach_A * (1 + slack) + spare_A;
    for (int axis = 0; inside > 0 && axis < 3; axis++) {
        double corner_A;
        g.home[axis] = (int32_t)bin_of(plan, axis, b.low_A[axis], &corner_A);
        g.corner_A[axis] = (float)corner_A;
        g.edge_A[axis] = (float)(b.high_A[axis] - b.low_A[axis]);
        if (axis == 0)
            continue;
        g.rows[2 * axis - 2] = within(bin_of(plan, axis, b.low_A[axis] - reach_A, &unused_A), plan->n[axis]);
        g.rows[2 * axis - 1] = within(bin_of(plan, axis, b.high_A[axis] + reach_A, &unused_A), plan->n[axis]);
    }
    g.reach_A = (float)reach_A;
    return g;
}

static void pack_groups(void *context, size_t first_group, size_t last_group)
{
    const packing *to = context;
    const point_pairs_run *run = to->run;
    const point_list *list = run->kernel->list;
    const binning_plan *plan = &run->kernel->bins.problem->plan;
    const int64_t each = point_pairs_group(&run->kernel->choice.spec);
    for (int64_t group = (int64_t)first_group; group < (int64_t)last_group; group++) {
        const int64_t first = run->first + run->begins[group], last = run->first + run->begins[group + 1],
                      inside = list->inside < last ? list->inside - first : last - first;
        to->groups[group] = box_of(run->kernel, first, inside);
        for (int axis = 0; axis < 3; axis++)
            for (int64_t i = 0; i < each; i++) {
                const size_t at = (size_t)((3 * group + axis) * each + i);
                double offset_A = 0;
                to->bins[at] = i < inside ? (int32_t)bin_of(plan, axis, list->place_A[first + i][axis], &offset_A) : 0;
                to->offsets[at] = i < inside ? (float)offset_A : -BINNING_FAR_A; /* nothing is in reach */
            }
    }
}

static ley_status send_points(point_pairs_run *run, ley_error *error)
{
    const size_t groups = (size_t)run->groups, worth_threads = 256,
                 numbers = groups * 3 * (size_t)point_pairs_group(&run->kernel->choice.spec);
    packing to = {.run = run,
                  .groups = malloc(groups * sizeof *to.groups),
                  .offsets = malloc(numbers * sizeof *to.offsets),
                  .bins = malloc(numbers * sizeof *to.bins)};
    ley_status status = LEY_OK;
    if (to.groups == NULL || to.offsets == NULL || to.bins == NULL)
        status = ley_fail_memory(error, numbers * 2 * sizeof(float), "packed points");
    else if (groups >= worth_threads)
        parallel_ranges(groups, pack_groups, &to);
    else
        pack_groups(&to, 0, groups);
    if (status == LEY_OK) {
        sequence_write(&run->command_sequence, run->boxes.buffer, 0, to.groups, groups * sizeof *to.groups);
        sequence_write(&run->command_sequence, run->offsets.buffer, 0, to.offsets, numbers * sizeof *to.offsets);
        sequence_write(&run->command_sequence, run->bins.buffer, 0, to.bins, numbers * sizeof *to.bins);
    }
    free(to.groups);
    free(to.offsets);
    free(to.bins);
    return status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static size_t component_bytes(const point_pairs_run *run, int64_t groups)
{
    return (size_t)(groups * point_pairs_group(&run->kernel->choice.spec)) * sizeof(float);
}

static size_t value_bytes(const point_pairs_run *run, int64_t groups)
{
    return LEY_COMPONENTS(run->kernel->choice.spec.field) * component_bytes(run, groups);
}

double point_pairs_point_bytes(const point_pairs_spec *spec, double *largest)
{
    const double group = (double)sizeof(packed_group) / (double)point_pairs_group(spec), places = 3 * sizeof(float),
                 phi = LEY_COMPONENTS(spec->field) * sizeof(float);
    *largest = fmax(places, phi);
    return group + 2 * places + phi;
}

static void free_buffers(point_pairs_run *run)
{
    arena *r = &run->kernel->bins.arena;
    arena_free_buffer(r, &run->boxes.buffer);
    arena_free_buffer(r, &run->offsets.buffer);
    arena_free_buffer(r, &run->bins.buffer);
    arena_free_results(r, &run->phi);
    run->capacity = 0;
}

static ley_status make_buffers(point_pairs_run *run, ley_error *error)
{
    arena *r = &run->kernel->bins.arena;
    const int64_t groups = run->groups + run->groups / 8;
    const size_t bytes = component_bytes(run, groups);
    if (run->capacity >= run->groups)
        return LEY_OK;
    free_buffers(run);
    ley_status status =
        arena_buffer(r, (size_t)groups * sizeof(packed_group), DEV_READ_ONLY, &run->boxes.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(r, 3 * bytes, DEV_READ_ONLY, &run->offsets.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(r, 3 * bytes, DEV_READ_ONLY, &run->bins.buffer, error);
    if (status == LEY_OK)
        status = arena_results(r, (int64_t)value_bytes(run, groups), &run->phi, error);
    if (status == LEY_OK)
        run->capacity = groups;
    return status;
}

void point_pairs_run_end(point_pairs_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL)
        free_buffers(run);
    free(run->begins);
    *run = (point_pairs_run){.kernel = NULL};
}

static void launch(point_pairs_run *run, double predicted_s)
{
    const point_pairs_kernel *k = run->kernel;
    const cutoff_problem *p = k->bins.problem;
    const binning_plan *plan = &p->plan;
    const size_t groups[3] = {(size_t)run->groups, 1, 1};
    point_pairs_arguments a = {
        .kind = &point_pairs_kind,
        .gm_groups = run->boxes,
        .gm_offsets = run->offsets,
        .gm_bins = run->bins,
        .gm_slots = k->bins.slots,
        .gm_more = k->bins.more.buffer != NULL ? k->bins.more : (buffer_of_float2){k->bins.slots.buffer}, /* anything */
        .gm_extra = k->bins.extra.buffer != NULL ? k->bins.extra : run->bins,                             /* anything */
        .has_extra = k->bins.extra.buffer != NULL,
        .n = {(int32_t)plan->n[0], (int32_t)plan->n[1], (int32_t)plan->n[2], 0},
        .side = {plan->side_A[0], plan->side_A[1], plan->side_A[2], p->unit_per_A * p->unit_per_A},
        .gm_phi = {run->phi.buffer},
    };
    for (int j = 0; j < 4; j++) {
        a.limits[j] = (double)p->limits[j];
        a.series[j] = (double)p->series[j];
        a.fringe[j] = (double)p->fringe[j];
    }
    memcpy(a.numbers, p->numbers[0], sizeof a.numbers);
    memcpy(a.more_numbers, p->numbers[1], sizeof a.more_numbers);
    sequence_launch(&run->command_sequence, &k->kernel, groups, &a, predicted_s);
}

ley_status point_pairs_run_begin(point_pairs_run *run, point_pairs_kernel *kernel, int64_t first, int64_t count,
                                 double predicted_s, const atomic_bool *cancelled, ley_error *error)
{
    run->kernel = kernel;
    run->first = first;
    run->count = count;
    sequence_begin(&run->command_sequence, &kernel->bins.flight, cancelled);
    ley_status status = cut_groups(run, error);
    if (status == LEY_OK)
        status = make_buffers(run, error);
    if (status == LEY_OK)
        status = send_points(run, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = value_bytes(run, run->groups);
    sequence_poison(&run->command_sequence, &run->phi, bytes);
    launch(run, predicted_s);
    sequence_read(&run->command_sequence, run->phi.buffer, 0, run->phi.staging, bytes);
    return sequence_status(&run->command_sequence, error);
}

/* One number of each point, of those that come first in `from`, to every `stride`-th place. False:
 * some are not finite. */
static bool store(const point_pairs_run *run, const float *from, int64_t stride, double *to)
{
    const int32_t *order = run->kernel->list->order + run->first;
    const int64_t each = point_pairs_group(&run->kernel->choice.spec);
    bool is_finite = true;
    for (int64_t group = 0; group < run->groups; group++, from += each)
        for (int32_t i = run->begins[group]; i < run->begins[group + 1]; i++) {
            const float v = from[i - run->begins[group]];
            to[stride * order[i]] = (double)v;
            is_finite = is_finite && isfinite(v);
        }
    return is_finite;
}

ley_status point_pairs_run_finish(point_pairs_run *run, double *values, double *field, ley_error *error)
{
    const ley_status status = sequence_finish(&run->command_sequence, error);
    if (status != LEY_OK)
        return status;
    const float *phi = (const float *)(const void *)run->phi.staging->bytes;
    const size_t component = component_bytes(run, run->groups) / sizeof *phi;
    bool is_finite = store(run, phi, 1, values);
    for (size_t axis = 0; axis < 3 && run->kernel->choice.spec.field; axis++)
        is_finite = store(run, phi + (axis + 1) * component, 3, field + axis) && is_finite;
    return is_finite ? LEY_OK : sequence_no_number(error);
}
