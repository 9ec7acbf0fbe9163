#include "long_range/bench/gain.h"

#include "clock.h"
#include "error.h"
#include "long_range/bench/box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one engine's jobs took. */
typedef struct jobs {
    bench_repeats repeats;
    double *runs_s; /* [BENCH_MOST_REPEATS] */
    size_t devices_used;
    ley_accuracy accuracy;
} jobs;

static size_t count_used(const ley_report *report)
{
    size_t used = 0;
    for (size_t i = 0; i < report->device_count; i++)
        used += report->devices[i].points > 0;
    return used;
}

static ley_status run_once(ley_engine *engine, const ley_bench_options *o, const msm_box *box,
                           const ley_long_range *range, size_t verify_points, jobs *j, double *took_s, ley_error *error)
{
    ley_run_options options;
    ley_job *job = NULL;
    ley_run_options_default(&options);
    options.math = o->math;
    options.sum = o->sum;
    options.verify_points = verify_points;
    const double start_s = ley_clock_s();
    ley_status status =
        ley_job_create_long_range(engine, box->atoms, (ley_target){.map = box->map}, range, &options, &job, error);
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    *took_s = ley_clock_s() - start_s;
    if (status == LEY_OK) {
        const ley_report *report = ley_job_report(job);
        j->devices_used = count_used(report);
        if (verify_points > 0)
            j->accuracy = report->accuracy;
    }
    ley_job_destroy(job);
    return status;
}

/* Kernels are built and the map is judged in a job that does not count. */
static ley_status run_jobs(ley_engine *engine, const ley_bench_options *o, const msm_box *box,
                           const ley_long_range *range, jobs *j, ley_error *error)
{
    j->repeats = bench_repeats_begin(o->repeats, o->most_s);
    double took_s;
    ley_status status = run_once(engine, o, box, range, BENCH_SAMPLE_POINTS, j, &took_s, error);
    while (status == LEY_OK && bench_repeats_go_on(&j->repeats)) {
        double *run_s = &j->runs_s[j->repeats.done++];
        status = bench_cancelled(o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                    : run_once(engine, o, box, range, 0, j, run_s, error);
        j->repeats.spent_s += *run_s;
    }
    return status;
}

/* Seconds per atom of the preset's whole; not a number: it was not measured, or is wrong. */
static double whole_s(const bench_device *d, const char *preset)
{
    char name[sizeof d->rows[0].name];
    snprintf(name, sizeof name, "%s: atoms to map", preset);
    for (size_t i = 0; i < d->device.row_count && d->device.atoms > 0; i++) {
        const ley_bench_row *row = &d->rows[i].row;
        if (strcmp(d->rows[i].name, name) == 0 && row->status == LEY_OK && row->accuracy.passed && row->median_s > 0)
            return row->median_s / (double)d->device.atoms;
    }
    return NAN;
}

static ley_status find_fastest(const ley_engine *engine, const bench_device *devices, const char *preset,
                               size_t *fastest, ley_error *error)
{
    double least_s = INFINITY;
    for (size_t i = 0; i < engine->worker_count; i++) {
        const double taken_s = whole_s(&devices[i], preset);
        if (taken_s < least_s) {
            least_s = taken_s;
            *fastest = i;
        }
    }
    return isfinite(least_s) ? LEY_OK : ley_fail(error, LEY_ERROR_NO_DEVICE, "no device was timed by itself");
}

/* The device by itself is opened once more, as an engine's devices are its own. */
static ley_status run_alone(const ley_engine *engine, const ley_bench_options *o, const msm_box *box,
                            const ley_long_range *range, ley_bench_gain *g, ley_error *error)
{
    double runs_s[BENCH_MOST_REPEATS];
    jobs alone = {.runs_s = runs_s};
    char selector[32];
    ley_engine *own = NULL;
    snprintf(selector, sizeof selector, "%d", (int)engine->workers[g->fastest].public_info.index);
    ley_status status = ley_engine_create(selector, &own, error);
    if (status == LEY_OK)
        status = run_jobs(own, o, box, range, &alone, error);
    ley_engine_destroy(own);
    if (status == LEY_OK) {
        const bench_statistics times = bench_statistics_of(runs_s, (size_t)alone.repeats.done);
        g->fastest_s = times.median_s;
        g->fastest_spread = times.spread;
        g->fastest_runs = times.n;
    }
    return status;
}

static ley_status run_together(ley_engine *engine, const ley_bench_options *o, const msm_box *box,
                               const ley_long_range *range, bench_gain *gain, ley_error *error)
{
    ley_bench_gain *g = &gain->gain;
    jobs all = {.runs_s = gain->runs_s};
    const ley_status status = run_jobs(engine, o, box, range, &all, error);
    if (status == LEY_OK) {
        const bench_statistics times = bench_statistics_of(gain->runs_s, (size_t)all.repeats.done);
        g->run_count = times.n;
        g->runs_wanted = (size_t)all.repeats.wanted;
        g->median_s = times.median_s;
        g->spread = times.spread;
        g->gain = g->fastest_s / times.median_s;
        g->devices_used = all.devices_used;
        g->accuracy = all.accuracy;
    }
    return status;
}

void msm_measure_gain(ley_engine *engine, const ley_bench_options *o, const bench_device *devices, const char *preset,
                      const ley_long_range *range, bench_gain *gain)
{
    ley_bench_gain *g = &gain->gain;
    msm_box box = {.atoms = NULL};
    snprintf(gain->name, sizeof gain->name, "%s: data-parallel", preset);
    *g = (ley_bench_gain){.device_count = engine->worker_count,
                          .fastest_s = NAN,
                          .fastest_spread = NAN,
                          .median_s = NAN,
                          .spread = NAN,
                          .gain = NAN};
    if (engine->worker_count < 2)
        return;
    g->status = find_fastest(engine, devices, preset, &g->fastest, &gain->failure);
    if (g->status == LEY_OK)
        g->status = msm_box_make(devices[g->fastest].device.atoms, &box, &gain->failure);
    if (g->status == LEY_OK)
        g->status = run_alone(engine, o, &box, range, g, &gain->failure);
    if (g->status == LEY_OK)
        g->status = run_together(engine, o, &box, range, gain, &gain->failure);
    msm_box_clear(&box);
    if (o->row_done != NULL)
        o->row_done(o->context);
}
