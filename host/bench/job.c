#include "bench/job.h"

#include "clock.h"
#include "error.h"
#include "law/accuracy.h"

#include <stdlib.h>
#include <string.h>

/* Each stage has its state on the device, what it is readied by, and, of a stage on the host, its
 * thread. */
typedef struct run {
    worker *worker;
    const ley_bench_options *options;
    const method *method;
    void *task;
    bench_job_times *times;
    ley_run_options job_options;
    device_view device;
    job_view view;
    atomic_bool cancelled;
    arena arena;
    stage_products products;
    kernel_notes notes;
    void *wishes[BENCH_MOST_STAGES], *states[BENCH_MOST_STAGES];
} run;

static bool is_wanted(const run *r, size_t i)
{
    const stage *s = &r->method->stages[i];
    return s->is_wanted == NULL || s->is_wanted(r->task);
}

static ley_status check_cancel(run *r, ley_error *error)
{
    if (!bench_cancelled(r->options))
        return LEY_OK;
    atomic_store(&r->cancelled, true);
    return ley_fail(error, LEY_CANCELLED, "cancelled");
}

/* ---- Before anything is timed ---------------------------------------------------------------- */

static void set_view(run *r)
{
    ley_run_options_default(&r->job_options);
    r->job_options.math = r->options->math;
    r->job_options.sum = r->options->sum;
    r->device.info = r->worker->info;
    r->device.is_known =
        r->method->needs != NULL && calibrate_known(r->worker->device, r->worker->info,
                                                    r->method->needs(r->task, &r->job_options), &r->device.facts);
    r->view =
        (job_view){.options = &r->job_options, .device_count = 1, .devices = &r->device, .cancelled = &r->cancelled};
}

static ley_status make_ready(run *r, ley_error *error)
{
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    r->worker->device->pairs = 0; /* benchmarks are of what devices can do */
    for (size_t i = 0; i < r->method->stage_count && status == LEY_OK; i++) {
        const stage *s = &r->method->stages[i];
        if (s->ready == NULL || !is_wanted(r, i))
            continue;
        status = s->wish(r->task, &r->view, &r->wishes[i], error);
        if (status == LEY_OK)
            status = s->ready(r->worker->device, r->wishes[i], &r->notes, &r->states[i], error);
    }
    r->times->ready_s = ley_clock_s() - start_s;
    return status;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void add_times(sequence_times *sum, const slab_times *times)
{
    sum->kernel_s += times->kernel_s;
    for (int i = 0; i < WORK_STEPS; i++) {
        sum->step_s[i] += times->step_s[i];
        sum->step_launches[i] += times->step_launches[i];
    }
}

static ley_status collect(run *r, size_t i, int slot, slab piece, ley_error *error)
{
    slab_times times = {.kernel_s = 0};
    const ley_status status = r->method->stages[i].collect(r->states[i], slot, piece, &times, error);
    add_times(&r->times->work[i], &times);
    return status;
}

static ley_status do_whole(run *r, size_t i, ley_error *error)
{
    const slab all = {0, 1};
    const ley_status status = r->method->stages[i].submit(r->states[i], 0, all, error);
    return status == LEY_OK ? collect(r, i, 0, all, error) : status;
}

/* As the schedule does: while one slab computes, the one before travels. */
static ley_status do_slabs(run *r, size_t i, ley_error *error)
{
    const stage *s = &r->method->stages[i];
    const int64_t most = s->slab_count(r->states[i]);
    slab flying[METHOD_SLOTS], piece;
    slab_queue queue;
    ley_status status = LEY_OK;
    int first = 0, count = 0;
    slab_queue_init(&queue, s->count(r->task));
    slab_queue_join(&queue);
    do {
        status = check_cancel(r, error);
        while (status == LEY_OK && count < METHOD_SLOTS && slab_queue_take(&queue, most, count == 0, &piece)) {
            const int slot = (first + count++) % METHOD_SLOTS;
            flying[slot] = piece;
            status = s->submit(r->states[i], slot, piece, error);
        }
        if (status == LEY_OK && count > 0) {
            status = collect(r, i, first, flying[first], error);
            slab_queue_done(&queue, flying[first]);
            first = (first + 1) % METHOD_SLOTS;
            count--;
        }
    } while (status == LEY_OK && (count > 0 || slab_queue_left(&queue) > 0));
    for (int k = 0; k < count; k++)
        s->drop(r->states[i], (first + k) % METHOD_SLOTS);
    slab_queue_leave(&queue);
    slab_queue_destroy(&queue);
    return status;
}

static ley_status do_stage(run *r, size_t i, ley_error *error)
{
    const stage *s = &r->method->stages[i];
    const stage_place place = {
        .device = r->worker->device, .arena = &r->arena, .job = &r->view, .notes = &r->notes, .products = &r->products};
    const double start_s = ley_clock_s();
    const ley_status status = s->begin(r->task, &place, &r->states[i], error);
    r->times->begin_s[i] = ley_clock_s() - start_s;
    if (status != LEY_OK)
        return status;
    return s->split == STAGE_SLABS ? do_slabs(r, i, error) : do_whole(r, i, error);
}

static ley_status do_stages(run *r, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; i < r->method->stage_count && status == LEY_OK; i++)
        if (is_wanted(r, i))
            status = do_stage(r, i, error);
    return status == LEY_OK && r->method->finish != NULL ? r->method->finish(r->task, error) : status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static reference_value right_value(const void *context, const double point_A[3])
{
    return reference_sum(context, point_A);
}

static ley_status judge_once(const run *r, const ley_map *map, ley_accuracy *accuracy, ley_error *error)
{
    reference_terms terms;
    r->method->terms(r->task, &terms);
    return accuracy_sample_map(map, right_value, &terms, BENCH_SAMPLE_POINTS, 1, r->method->limits(r->task).tolerance,
                               NULL, accuracy, NULL, error);
}

static ley_status judge(const run *r, const ley_map *map, ley_accuracy *accuracy, ley_error *error)
{
    const ley_status status = judge_once(r, map, accuracy, error);
    const bool is_wider =
        status == LEY_OK && !accuracy->passed && r->method->look_closer != NULL && r->method->look_closer(r->task);
    return is_wider ? judge_once(r, map, accuracy, error) : status;
}

static void end_stages(run *r)
{
    for (size_t i = r->method->stage_count; i-- > 0;) {
        if (r->states[i] != NULL)
            r->method->stages[i].end(r->states[i]);
        if (r->method->stages[i].wish_destroy != NULL)
            r->method->stages[i].wish_destroy(r->wishes[i]);
    }
    arena_clear(&r->arena);
}

ley_status bench_job_run(worker *w, const ley_bench_options *options, const method *of, void *task, const ley_map *map,
                         bench_job_times *times, ley_accuracy *accuracy, ley_error *error)
{
    run r = {
        .worker = w, .options = options, .method = of, .task = task, .times = times, .arena = {.device = w->device}};
    *times = (bench_job_times){.whole_s = 0};
    set_view(&r);
    const double start_s = ley_clock_s();
    ley_status status = of->prepare(task, &r.view, error);
    times->prepare_s = ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = make_ready(&r, error);
    const double ready_s = ley_clock_s();
    if (status == LEY_OK)
        status = do_stages(&r, error);
    times->whole_s = times->prepare_s + ley_clock_s() - ready_s;
    if (status == LEY_OK && accuracy != NULL)
        status = judge(&r, map, accuracy, error);
    end_stages(&r);
    of->release(task, false);
    return status;
}
