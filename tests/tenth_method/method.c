#include "tenth_method/method.h"

#include "bench/bench.h"
#include "core/parameters.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "error.h"
#include "law/reference.h"
#include "methods/registry.h"
#include "schedule/job.h"
#include "schedule/slab_size.h"
#include "tenth_method/laws/squares.h"
#include "tenth_method/squares.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The law ------------------------------------------------------------------------------------
 *
 * The map's points are atoms, whose charges are the values. */

static reference_value sum_of_squares(const reference_terms *t, const double point_A[3])
{
    reference_value sum = {0};
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++)
        reference_add(&sum, t->constant, ley_squares_term(ley_atoms_charges_e(t->atoms)[j]));
    return sum;
}

DECLARE_METHOD(squares)
DECLARE_KERNEL(squares)

const law law_squares = {.name = "squares", .number = LEY_LAW_SQUARES, .value = sum_of_squares};

/* ---- Its parameters ------------------------------------------------------------------------- */

static const ley_parameter parameters[] = {
    {.name = "mean",
     .type = LEY_PARAMETER_FLAG,
     .sentence = "say the root of their mean, too",
     PARAMETER_FIELD(squares_options, has_mean)},
};

static const ley_parameter_table squares_parameters = PARAMETER_TABLE(squares_options, parameters);

/* ---- The kernel ------------------------------------------------------------------------------ */

KERNEL_ARGUMENTS_STRUCT(squares, LEY_SQUARES_ARGUMENTS);
KERNEL_DESCRIBE_ARGUMENTS(squares, LEY_SQUARES_ARGUMENTS)

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    size[0] = 64;
    size[1] = size[2] = 1;
}

static ley_status test_kernel(const dev_kernel *kernel, void *context, ley_error *error);

const kernel_kind squares_kind = {KERNEL_DESCRIPTION(squares, LEY_DIALECT_KEYS, squares), .group = group_of,
                                  .test = test_kernel};

static const kernel_dialect floats = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

/* A device at work: rows of values go there, a sum for each comes back. */
typedef struct rows {
    dev_kernel kernel;
    arena arena;
    flight flight;
    command_sequence command_sequence;
    dev_buffer *values;
    results sums;
} rows;

static ley_status rows_begin(rows *r, dev *device, int64_t values, int64_t sums, ley_error *error)
{
    r->arena.device = r->flight.device = device;
    ley_status status = arena_buffer(&r->arena, (size_t)values * sizeof(float), DEV_READ_ONLY, &r->values, error);
    return status == LEY_OK ? arena_results(&r->arena, sums * (int64_t)sizeof(float), &r->sums, error) : status;
}

static void rows_end(rows *r)
{
    sequence_end(&r->command_sequence);
    arena_clear(&r->arena);
    kernel_destroy(&r->kernel);
}

static void rows_sum(rows *r, const float *values, int64_t count, int64_t n, bool is_squared,
                     const atomic_bool *cancelled)
{
    const size_t groups[3] = {(size_t)count, 1, 1};
    sequence_begin(&r->command_sequence, &r->flight, cancelled);
    sequence_poison(&r->command_sequence, &r->sums, (size_t)count * sizeof(float));
    sequence_write(&r->command_sequence, r->values, 0, values, (size_t)(count * n) * sizeof *values);
    sequence_launch(&r->command_sequence, &r->kernel, groups,
                    KERNEL_ARGUMENTS(squares, .gm_values = {r->values}, .n = (int32_t)n, .is_squared = is_squared,
                                     .gm_sums = {r->sums.buffer}),
                    0);
    sequence_read(&r->command_sequence, r->sums.buffer, 0, r->sums.staging, (size_t)count * sizeof(float));
}

/* Waits, and takes the sums. */
static ley_status rows_finish(rows *r, double *sums, int64_t count, ley_error *error)
{
    ley_status status = sequence_finish(&r->command_sequence, error);
    const float *came = r->sums.staging->bytes;
    for (int64_t i = 0; status == LEY_OK && i < count; i++) {
        if (!isfinite(came[i]))
            return sequence_no_number(error);
        sums[i] = (double)came[i];
    }
    return status;
}

/* Rows of whole numbers, whose sums and squares no float rounds. */
static ley_status test_kernel(const dev_kernel *kernel, void *context, ley_error *error)
{
    enum { ROWS = 3, N = 150 };
    float values[ROWS * N];
    double sums[ROWS];
    rows r = {.kernel = *kernel};
    for (int i = 0; i < ROWS * N; i++)
        values[i] = (float)(i % 7 - 3);
    ley_status status = rows_begin(&r, kernel->device, ROWS * N, ROWS, error);
    for (int squared = 0; squared <= 1 && status == LEY_OK; squared++) {
        rows_sum(&r, values, ROWS, N, squared, NULL);
        status = rows_finish(&r, sums, ROWS, error);
        for (int row = 0; row < ROWS && status == LEY_OK; row++) {
            double right = 0;
            for (int i = 0; i < N; i++)
                right += squared ? pow((double)values[row * N + i], 2) : (double)values[row * N + i];
            if (sums[row] != right)
                status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "a sum is %g, not %g", sums[row], right);
        }
    }
    r.kernel = (dev_kernel){.program = NULL}; /* the caller's */
    rows_end(&r);
    return status;
}

/* ---- The task -------------------------------------------------------------------------------- */

typedef struct squares_task {
    const ley_map *map;
    ley_atoms *points; /* of the map, for verification */
    const job_view *job;
    double *plane_sums; /* what the first stage makes */
    float *rounded;     /* the same, as the second stage's kernel takes them */
    double *sum;        /* and this the second one */
} squares_task;

static int64_t count_planes(const void *context)
{
    return ley_map_grid(((const squares_task *)context)->map)->n[2];
}

static int64_t plane_points(const squares_task *task)
{
    const int64_t *n = ley_map_grid(task->map)->n;
    return n[0] * n[1];
}

/* Of the result, which is one number. */
static int64_t count_points(const void *context, slab s)
{
    return s.count;
}

static int64_t count_one(const void *context)
{
    return 1;
}

static void end_task(void *context)
{
    squares_task *task = context;
    ley_atoms_destroy(task->points);
    free(task->plane_sums);
    free(task->rounded);
    free(task);
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    ((squares_task *)context)->job = job;
    return LEY_OK;
}

static void release(void *context, bool is_kept)
{
}

static ley_status make_points(squares_task *task, ley_error *error)
{
    const ley_grid *l = ley_map_grid(task->map);
    const int64_t n = ley_grid_points(l);
    double *numbers = calloc((size_t)n, 4 * sizeof *numbers);
    if (numbers == NULL)
        return ley_fail_memory(error, (size_t)n * 4 * sizeof *numbers, "the map's points");
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / (l->n[0] * l->n[1])};
        for (int axis = 0; axis < 3; axis++)
            numbers[3 * i + axis] = l->origin_A[axis] + (double)at[axis] * l->step_A[axis][axis];
        numbers[3 * n + i] = (double)ley_map_read_values(task->map)[i];
    }
    ley_status status = ley_atoms_create((size_t)n, numbers, numbers + 3 * n, NULL, &task->points, error);
    free(numbers);
    return status;
}

ley_status job_create_squares(ley_engine *engine, const ley_map *map, double *sum, const ley_run_options *options,
                              ley_job **job, ley_error *error)
{
    squares_task *task = calloc(1, sizeof *task);
    const size_t planes = (size_t)ley_map_grid(map)->n[2];
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    *task = (squares_task){
        .map = map, .plane_sums = calloc(planes, sizeof(double)), .rounded = calloc(planes, sizeof(float)), .sum = sum};
    ley_status status = task->plane_sums == NULL || task->rounded == NULL
                            ? ley_fail_memory(error, planes * sizeof(double), "the planes' sums")
                            : make_points(task, error);
    if (status != LEY_OK) {
        end_task(task);
        return status;
    }
    return job_create(engine, &method_squares, task, NULL, &(ley_target){.map = NULL}, options, job, error);
}

/* ---- Its stages ------------------------------------------------------------------------------ */

typedef struct squares_state {
    squares_task *task;
    int64_t slab_planes;
    rows slots[METHOD_SLOTS];
} squares_state;

static ley_status begin(squares_state *s, const stage_place *place, int slots, int64_t values, int64_t sums,
                        ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < slots && status == LEY_OK; i++) {
        status = kernel_create(place->device, &squares_kind, &floats, NULL, NULL, &s->slots[i].kernel, error);
        if (status == LEY_OK)
            status = rows_begin(&s->slots[i], place->device, values, sums, error);
    }
    place->notes->from_cache = s->slots[0].kernel.from_cache;
    return status;
}

static ley_status begin_planes(void *context, const stage_place *place, void **state, ley_error *error)
{
    squares_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->task = context;
    const slab_needs needs = {.pieces = count_planes(context),
                              .piece_s = (double)plane_points(s->task) * 1e-9,
                              .piece_bytes = plane_points(s->task) * (int64_t)sizeof(float),
                              .staging_bytes = 64 << 20,
                              .most_pieces = place->job->options->slab_planes,
                              .planned = plan_slab(place->job->plan, place->device->info),
                              .piece = "one plane of the grid needs"};
    ley_status status = slab_size(place->arena, &needs, &s->slab_planes, error);
    return status == LEY_OK
               ? begin(s, place, METHOD_SLOTS, s->slab_planes * plane_points(s->task), s->slab_planes, error)
               : status;
}

static ley_status begin_whole(void *context, const stage_place *place, void **state, ley_error *error)
{
    squares_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->task = context;
    s->slab_planes = 1;
    return begin(s, place, 1, count_planes(context), 1, error);
}

static void end(void *state)
{
    squares_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        if (s->slots[i].arena.device != NULL)
            rows_end(&s->slots[i]);
        else
            kernel_destroy(&s->slots[i].kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const squares_state *)state)->slab_planes;
}

static ley_status submit_planes(void *state, int slot, slab piece, ley_error *error)
{
    squares_state *s = state;
    const int64_t n = plane_points(s->task);
    rows_sum(&s->slots[slot], ley_map_read_values(s->task->map) + piece.first * n, piece.count, n, true,
             s->task->job->cancelled);
    return sequence_status(&s->slots[slot].command_sequence, error);
}

static ley_status collect_planes(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    squares_state *s = state;
    const sequence_times *t = &s->slots[slot].command_sequence.times;
    ley_status status = rows_finish(&s->slots[slot], s->task->plane_sums + piece.first, piece.count, error);
    *times = (slab_times){.kernel = t->kernel, .transfer = t->transfer, .kernel_s = t->kernel_s};
    return status;
}

static ley_status submit_whole(void *state, int slot, slab piece, ley_error *error)
{
    squares_state *s = state;
    const int64_t planes = count_planes(s->task);
    for (int64_t i = 0; i < planes; i++)
        s->task->rounded[i] = (float)s->task->plane_sums[i];
    rows_sum(&s->slots[slot], s->task->rounded, 1, planes, false, s->task->job->cancelled);
    return sequence_status(&s->slots[slot].command_sequence, error);
}

static ley_status collect_whole(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    squares_state *s = state;
    return rows_finish(&s->slots[slot], s->task->sum, 1, error);
}

static void drop(void *state, int slot)
{
    sequence_finish(&((squares_state *)state)->slots[slot].command_sequence, NULL);
}

static const product plane_sums = {.name = "plane sums"}; /* they stand in the task */
static const product *const of_planes[] = {&plane_sums, NULL};

enum { PLANES, WHOLE };

static const stage stages[] = {
    [PLANES] = {.name = "planes",
                .split = STAGE_SLABS,
                .makes = of_planes,
                .count = count_planes,
                .begin = begin_planes,
                .end = end,
                .slab_count = slab_count,
                .submit = submit_planes,
                .collect = collect_planes,
                .drop = drop},
    [WHOLE] = {.name = "whole",
               .split = STAGE_ONE_DEVICE,
               .needs = of_planes,
               .count = count_one,
               .begin = begin_whole,
               .end = end,
               .submit = submit_whole,
               .collect = collect_whole,
               .drop = drop},
};

/* ---- Verification ---------------------------------------------------------------------------- */

static void terms(const void *context, reference_terms *t)
{
    *t = (reference_terms){.law = &law_squares, .constant = 1, .atoms = ((const squares_task *)context)->points};
}

/* A rounding of a float for each number that a work-item adds, and for each work-item. */
static accuracy_limits limits_of(int64_t values, int64_t sums)
{
    const int64_t additions = values / 64 + sums / 64 + 2 * (64 + 2);
    return (accuracy_limits){.tolerance = 6e-8 * (double)additions, .nothing = ACCURACY_NOTHING};
}

static accuracy_limits limits(const void *context)
{
    return limits_of(plane_points(context), count_planes(context));
}

/* There is one result, the first. */
static int64_t point(const void *context, slab s, int64_t i)
{
    return s.first + i;
}

static double value(const void *context, int64_t number, double place_A[3])
{
    place_A[0] = place_A[1] = place_A[2] = 0;
    return *((const squares_task *)context)->sum;
}

/* ---- The benchmark --------------------------------------------------------------------------- */

/* Planes of so many values, as many as keep a device busy for some milliseconds. */
enum { BENCH_EDGE = 512 };

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    d->fma_per_s = facts->fma_per_s;
    for (int axis = 0; axis < 3; axis++)
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : axis < 2 ? BENCH_EDGE : w->info->device_class == DEV_GPU ? 64 : 8;
    d->points = d->n[0] * d->n[1] * d->n[2];
}

static ley_status make_values(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    float *values = calloc((size_t)d->points, sizeof *values);
    uint64_t state = 1;
    if (values == NULL)
        return ley_fail_memory(error, (size_t)d->points * sizeof *values, "benchmark values");
    for (int64_t i = 0; i < d->points; i++)
        values[i] = (float)bench_random(&state);
    *problem = values;
    return LEY_OK;
}

static const char *variant(const worker *w, const ley_bench_options *o, const void *problem, size_t i)
{
    return i == 0 ? "rows" : NULL;
}

static const char *usual(const worker *w, const ley_bench_options *o, const ley_bench_device *d)
{
    return variant(w, o, NULL, 0);
}

typedef struct bench_rows {
    rows rows;
    const float *values;
    int64_t count, n;
    double *sums;
} bench_rows;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    bench_rows *b = context;
    rows_sum(&b->rows, b->values, b->count, b->n, true, NULL);
    const ley_status status = rows_finish(&b->rows, b->sums, b->count, error);
    *seconds = b->rows.command_sequence.times.kernel.end_s - b->rows.command_sequence.times.kernel.start_s;
    return status;
}

/* All sums, against those in double precision. */
static ley_status judge(const bench_rows *b, ley_accuracy *accuracy, ley_error *error)
{
    reference_value *right = calloc((size_t)b->count, sizeof *right);
    if (right == NULL)
        return ley_fail_memory(error, (size_t)b->count * sizeof *right, "the right sums");
    for (int64_t i = 0; i < b->count * b->n; i++)
        reference_add(&right[i / b->n], 1, ley_squares_term((double)b->values[i]));
    *accuracy = accuracy_compare((size_t)b->count, b->sums, right, limits_of(b->n, 0), NULL);
    free(right);
    return LEY_OK;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *d, bench_row *row)
{
    bench_rows b = {.values = problem, .count = d->n[2], .n = d->n[0] * d->n[1]};
    ley_error *error = &row->failure;
    b.sums = calloc((size_t)b.count, sizeof *b.sums);
    ley_status status = b.sums == NULL ? ley_fail_memory(error, (size_t)b.count * sizeof *b.sums, "sums") : LEY_OK;
    if (status == LEY_OK)
        status = kernel_create(w->device, &squares_kind, &floats, NULL, NULL, &b.rows.kernel, error);
    if (status == LEY_OK) {
        status = rows_begin(&b.rows, w->device, d->points, b.count, error);
        if (status == LEY_OK)
            status = bench_time(o, (double)d->points, run_once, &b, row, error);
        if (status == LEY_OK)
            status = judge(&b, &row->row.accuracy, error);
        bench_put_figure(&row->row, "planes_per_s", (double)b.count / row->row.median_s);
        row->row.fma_share = row->row.evaluations_per_s / d->fma_per_s;
        rows_end(&b.rows);
    }
    free(b.sums);
    return status;
}

static const ley_bench_figure figures[] = {
    {.name = "planes_per_s", .sentence = "planes that are summed in a second, median", .hangs_on_time = true},
    {.name = NULL}};

static const bench_subject bench_squares = {.figures = figures,
                                            .choose = choose,
                                            .make = make_values,
                                            .end = free,
                                            .variant = variant,
                                            .usual = usual,
                                            .measure = measure};

static void note(const void *context, notes *n)
{
    const squares_task *task = context;
    notes_count(n, "planes", count_planes(task));
    notes_number(n, "sum_of_squares", *task->sum);
}

const method method_squares = {
    .name = "squares",
    .parameters = &squares_parameters,
    .prepare = prepare,
    .release = release,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = WHOLE,
    .points = count_points,
    .terms = terms,
    .limits = limits,
    .point = point,
    .value = value,
    .note = note,
    .bench = &bench_squares,
};
