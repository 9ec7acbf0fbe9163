/* What a map takes by what it may be off by: the map of a box of water for ever stricter
 * tolerances, each with what is chosen for it on this device, and direct summation as the other
 * end. */
#include "methods/frontier.h"

#include "bench/job.h"
#include "error.h"
#include "long_range/bench/box.h"
#include "long_range/model/problem.h"
#include "methods/dcs/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOLERANCES = 16 };

static const double usual_tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
static const char direct_name[] = "direct";

/* A direct sum that is predicted to take longer is made of some of the map's planes only. */
static const double most_direct_s = 2;

typedef struct frontier {
    msm_box box;
    size_t count;
    double tolerance[MOST_TOLERANCES];
    char name[MOST_TOLERANCES][16];
} frontier;

/* ---- The problem ----------------------------------------------------------------------------- */

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    if (o->tolerance_count > MOST_TOLERANCES)
        return ley_fail(error, LEY_ERROR_USAGE, "%zu tolerances, %d at most", o->tolerance_count, MOST_TOLERANCES);
    for (size_t i = 0; i < o->tolerance_count; i++) {
        if (!(o->tolerances[i] >= LEY_LEAST_TOLERANCE && o->tolerances[i] <= LEY_MOST_TOLERANCE))
            return ley_fail(error, LEY_ERROR_USAGE, "tolerance %g, must be %g to %g", o->tolerances[i],
                            LEY_LEAST_TOLERANCE, LEY_MOST_TOLERANCE);
        for (size_t k = 0; k < i; k++)
            if (o->tolerances[k] == o->tolerances[i])
                return ley_fail(error, LEY_ERROR_USAGE, "tolerance %g is there twice", o->tolerances[i]);
    }
    return bench_check_box(engine, o, error);
}

static void end(void *problem)
{
    frontier *f = problem;
    if (f != NULL)
        msm_box_clear(&f->box);
    free(f);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    frontier *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "the benchmark");
    const bool is_usual = o->tolerance_count == 0;
    f->count = is_usual ? sizeof usual_tolerances / sizeof *usual_tolerances : o->tolerance_count;
    for (size_t i = 0; i < f->count; i++) {
        f->tolerance[i] = is_usual ? usual_tolerances[i] : o->tolerances[i];
        snprintf(f->name[i], sizeof f->name[i], "%.6g", f->tolerance[i]);
    }
    const ley_status status = msm_box_make(d->atoms, &f->box, error);
    if (status != LEY_OK)
        end(f);
    else
        *problem = f;
    return status;
}

static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    const frontier *f = problem;
    (void)w, (void)o, (void)error;
    memcpy(d->n, f->box.points.n, sizeof d->n);
    d->points = ley_grid_points(&f->box.points);
    return LEY_OK;
}

static const char *variant(const worker *w, const ley_bench_options *o, const void *problem, size_t i)
{
    const frontier *f = problem;
    (void)w, (void)o;
    return i < f->count ? f->name[i] : i == f->count ? direct_name : NULL;
}

/* ---- Grids -------------------------------------------------------------------------------- */

/* Of all steps of the device; of the whole job the spread. */
static void put_steps(const msm_measured *m, const ley_bench_device *limits, bench_row *b)
{
    ley_bench_row *row = &b->row;
    double least_s = 0, launches = 0, multiply_adds = 0;
    for (int i = MSM_ANTERPOLATION; i <= MSM_SHORT_RANGE; i++) {
        row->kernel_s += m->seconds[i];
        launches += (double)m->launches[i];
        multiply_adds += m->needs[i].multiply_adds;
        row->bytes += m->needs[i].bytes;
        least_s += msm_least_s(m, (msm_step)i, limits);
    }
    bench_put_figure(row, "launches", launches);
    bench_put_figure(row, "multiply_adds", multiply_adds);
    row->whole_s = m->seconds[MSM_WHOLE];
    bench_put_times(b, &m->repeats, m->runs_s[MSM_WHOLE]);
    row->joules = m->joules;
    row->fma_share = row->kernel_s > 0 ? least_s / row->kernel_s : 0;
    row->evaluations_per_s = row->kernel_s > 0 ? m->pairs / row->kernel_s : 0;
    row->accuracy = m->accuracy;
}

static ley_status measure_meshes(worker *w, const ley_bench_options *o, const frontier *f,
                                 const ley_bench_device *limits, bench_row *b)
{
    msm_measured m = {.is_done = true, .energy = b->energy};
    ley_long_range range;
    ley_bench_options own = *o;
    ley_long_range_default(&range);
    range.fft = o->fft;
    ley_status status = msm_box_meshes(w, o, &f->box, b->row.tolerance, 0, &range, &own.sum, &b->failure);
    if (status == LEY_OK)
        status = msm_box_pairs(&f->box, &range, &m.pairs, &b->failure);
    if (status == LEY_OK)
        status = msm_measure(w, &own, &f->box, &range, &m, &b->failure);
    if (status == LEY_OK) {
        put_steps(&m, limits, b);
        msm_describe(&range, m.solver, b->specification, sizeof b->specification);
    }
    return status;
}

/* ---- Direct summation ------------------------------------------------------------------------ */

typedef struct direct_run {
    worker *worker;
    const ley_bench_options *options;
    const ley_atoms *atoms;
    ley_map *map;
    bool is_judged;
    int count;
    double kernel_s[BENCH_MOST_REPEATS + 1];
    size_t launches;
    ley_accuracy accuracy;
} direct_run;

static ley_status run_direct(void *context, double *seconds, ley_error *error)
{
    direct_run *r = context;
    ley_direct direct;
    bench_job_times times;
    void *task;
    ley_direct_default(&direct);
    if (bench_cancelled(r->options))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    ley_status status = dcs_task_create(r->atoms, r->map, &direct, &task, error);
    if (status != LEY_OK)
        return status;
    status = bench_job_run(r->worker, r->options, &method_dcs, task, r->map, &times, r->is_judged ? NULL : &r->accuracy,
                           error);
    method_dcs.end(task);
    r->is_judged = true;
    *seconds = times.whole_s;
    r->kernel_s[r->count] = times.work[0].kernel_s;
    r->count += r->count < BENCH_MOST_REPEATS;
    r->launches = 0;
    for (int i = 0; i < WORK_STEPS; i++)
        r->launches += times.work[0].step_launches[i];
    return status;
}

/* The first run, which warms up, does not count. */
static double median_kernel_s(const direct_run *r)
{
    const int skipped = r->count > 1;
    return bench_statistics_of(r->kernel_s + skipped, (size_t)(r->count - skipped)).median_s;
}

/* Planes in the middle of the map, as many as there is time for. */
static ley_grid part_of(const msm_box *box, double roots_per_s)
{
    ley_grid part = box->points;
    const double all_s = (double)ley_atoms_count(box->atoms) * (double)ley_grid_points(&part) / fmax(roots_per_s, 1);
    const int64_t all = part.n[2];
    part.n[2] = (int64_t)fmin(fmax(floor((double)all * most_direct_s / all_s), 1), (double)all);
    for (int axis = 0; axis < 3; axis++)
        part.origin_A[axis] += (double)((all - part.n[2]) / 2) * part.step_A[2][axis];
    return part;
}

static ley_status measure_direct(worker *w, const ley_bench_options *o, const frontier *f,
                                 const ley_bench_device *limits, bench_row *b)
{
    const ley_grid part = part_of(&f->box, limits->roots_per_s);
    const double atoms = (double)ley_atoms_count(f->box.atoms), points = (double)ley_grid_points(&part);
    direct_run r = {.worker = w, .options = o, .atoms = f->box.atoms};
    ley_status status = ley_map_create(&part, &r.map, &b->failure);
    if (status == LEY_OK)
        status = bench_time(o, atoms * points, run_direct, &r, b, &b->failure);
    ley_map_destroy(r.map);
    if (status != LEY_OK)
        return status;
    const double share = points / (double)limits->points, kernel_s = median_kernel_s(&r);
    bench_put_figure(&b->row, "measured_share", share);
    b->row.median_s /= share;
    b->row.joules /= share;
    for (size_t i = 0; i < b->row.run_count; i++)
        b->runs_s[i] /= share;
    b->row.whole_s = b->row.median_s;
    b->row.kernel_s = kernel_s / share;
    b->row.evaluations_per_s = kernel_s > 0 ? atoms * points / kernel_s : 0;
    bench_put_figure(&b->row, "launches", ceil((double)r.launches / share));
    b->row.fma_share = limits->roots_per_s > 0 ? b->row.evaluations_per_s / limits->roots_per_s : 0;
    b->row.bytes = sizeof(float) * points / share;
    b->row.accuracy = r.accuracy;
    snprintf(b->specification, sizeof b->specification, "direct summation");
    return LEY_OK;
}

/* ---- A row ----------------------------------------------------------------------------------- */

/* What is off by more than was asked for is wrong, how long it took or not. */
static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const frontier *f = problem;
    size_t i = 0;
    while (i < f->count && strcmp(f->name[i], name) != 0)
        i++;
    b->row.tolerance = i < f->count ? f->tolerance[i] : 0;
    bench_put_figure(&b->row, "measured_share", 1);
    const ley_status status = i < f->count ? measure_meshes(w, o, f, limits, b) : measure_direct(w, o, f, limits, b);
    if (status != LEY_OK)
        return status;
    bench_put_figure(&b->row, "memory_share", bench_memory_share(b->row.bytes, b->row.kernel_s, limits));
    return b->row.tolerance > 0 && b->row.accuracy.relative_rms > b->row.tolerance
               ? ley_fail(&b->failure, LEY_ERROR_WRONG_RESULT, "off by %.2g, for a tolerance of %.2g",
                          b->row.accuracy.relative_rms, b->row.tolerance)
               : LEY_OK;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "measured_share", .sentence = "of the map's points that were computed; seconds are scaled to all of them"},
    BENCH_LAUNCHES,
    BENCH_MULTIPLY_ADDS,
    BENCH_MEMORY_SHARE,
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_frontier = {
    .figures = figures,
    .name = "frontier",
    .makes_grid = true,
    .check = check,
    .variant = variant,
    .choose = msm_box_choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
};
