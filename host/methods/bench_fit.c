/* How well frames fit a map, from the host's memory: a small protein in batches, a million atoms,
 * and a virus capsid as the papers have one, a hollow shell as dense as protein. The map is the
 * density of the first frame, whose correlation with itself is 1. */
#include "clock.h"
#include "error.h"
#include "methods/frames.h"
#include "methods/subjects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fit_way {
    const char *name;
    int64_t atoms;
    double inner_A, resolution_A; /* of a shell, else 0 */
    bool gradient;
} fit_way;

static const fit_way ways[] = {{"protein", 3341, 0, 5, false},
                               {"protein-gradient", 3341, 0, 5, true},
                               {"million-5A", 1000000, 0, 5, false},
                               {"million-10A", 1000000, 0, 10, false},
                               {"capsid-6.5A", 702240, 135, 6.5, false}}; /* of rabbit hemorrhagic disease virus */
enum { WAYS = sizeof ways / sizeof *ways, KEPT_BYTES = 192 << 20, MOST_KEPT = 1024 };

typedef struct fit_bench_run {
    const fit_way *way;
    const ley_bench_options *o;
    ley_engine *engine;
    int64_t kept, frames;    /* in memory, taken in turn; of a run */
    double processor_s;      /* of all threads, a frame of the last run */
    double kernel_s, sort_s; /* of the device's kernels, and of sorting alone */
    double *weight, *score;
    float *position_A, *gradient;
    ley_map *map;
    ley_fit *fit;
} fit_bench_run;

static const char *named(size_t i)
{
    return i < WAYS ? ways[i].name : NULL;
}

static const char *on_request(const dev_info *info, const char *name)
{
    (void)name;
    return info->quirks & DEV_QUIRK_INTERPRETER
               ? "its kernels are interpreted, and these are many atoms: it is measured where its variant is named"
               : NULL;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    (void)w, (void)facts, (void)o;
    d->points = 1;
    d->atoms = ways->atoms;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o, (void)d, (void)error;
    *problem = NULL;
    return LEY_OK;
}

static void end(void *problem)
{
    (void)problem;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* Atoms on a lattice as dense as protein, within a ball or a shell; in each frame each is moved. */
static void place(const fit_bench_run *r)
{
    static const double apart_A = 2.15, disorder_A = 1;
    const fit_way *way = r->way;
    const double volume_A3 = pow(apart_A, 3) * (double)way->atoms * 1.02,
                 outer_A = cbrt(3 * volume_A3 / (4 * M_PI) + pow(way->inner_A, 3));
    const int64_t half = (int64_t)(outer_A / apart_A) + 2;
    uint64_t random = 11;
    int64_t i = 0;
    for (int64_t k = 0; i < way->atoms && k < 8 * half * half * half; k++) {
        const double at[3] = {apart_A * (double)(k % (2 * half) - half),
                              apart_A * (double)(k / (2 * half) % (2 * half) - half),
                              apart_A * (double)(k / (4 * half * half) - half)},
                     r2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        if (r2 < way->inner_A * way->inner_A || r2 > outer_A * outer_A)
            continue;
        static const double weights[8] = {1, 6, 1, 7, 1, 6, 8, 1};
        r->weight[i] = weights[i % 8];
        for (int64_t f = 0; f < r->kept; f++)
            for (int d = 0; d < 3; d++)
                r->position_A[3 * (f * way->atoms + i) + d] =
                    (float)(at[d] + disorder_A * (bench_random(&random) - 0.5));
        i++;
    }
}

static ley_status make_map(fit_bench_run *r, const ley_density_options *o, ley_error *error)
{
    ley_atoms *atoms = NULL;
    ley_grid grid;
    const size_t n = (size_t)r->way->atoms;
    double *place_A = malloc(3 * n * sizeof *place_A);
    if (place_A == NULL)
        return ley_fail_memory(error, 3 * n * sizeof *place_A, "the benchmark");
    for (size_t i = 0; i < 3 * n; i++)
        place_A[i] = (double)r->position_A[i];
    ley_status status = ley_atoms_create(n, place_A, r->weight, NULL, &atoms, error);
    free(place_A);
    if (status == LEY_OK)
        status = ley_density_grid(atoms, o, &grid, error);
    if (status == LEY_OK)
        status = ley_density_map_create(r->engine, atoms, r->weight, o, &grid, false, &r->map, NULL, error);
    ley_atoms_destroy(atoms);
    return status;
}

static ley_status begin(fit_bench_run *r, ley_error *error)
{
    const size_t n = (size_t)r->way->atoms;
    ley_density_options o;
    ley_density_options_default(&o);
    o.resolution_A = r->way->resolution_A;
    r->kept = KEPT_BYTES / (int64_t)(3 * n * sizeof(float));
    r->kept = r->kept < 2 ? 2 : r->kept > MOST_KEPT ? MOST_KEPT : r->kept;
    r->weight = malloc(n * sizeof *r->weight);
    r->position_A = malloc((size_t)r->kept * 3 * n * sizeof *r->position_A);
    r->score = malloc((size_t)r->kept * LEY_FIT_SCORES * sizeof *r->score);
    r->gradient = r->way->gradient ? malloc((size_t)r->kept * 3 * n * sizeof *r->gradient) : NULL;
    if (r->weight == NULL || r->position_A == NULL || r->score == NULL || (r->way->gradient && r->gradient == NULL))
        return ley_fail_memory(error, (size_t)r->kept * 3 * n * sizeof *r->position_A, "the benchmark");
    place(r);
    ley_status status = make_map(r, &o, error);
    const ley_fit_target target = {.size = sizeof target, .map = r->map, .has_gradient = r->way->gradient};
    return status == LEY_OK ? ley_fit_create(r->engine, &target, n, r->weight, NULL, &o, &r->fit, error) : status;
}

static void end_run(fit_bench_run *r)
{
    ley_fit_destroy(r->fit);
    ley_map_destroy(r->map);
    ley_engine_destroy(r->engine);
    free(r->weight);
    free(r->score);
    free(r->position_A);
    free(r->gradient);
}

/* ---- A row ----------------------------------------------------------------------------------- */

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    fit_bench_run *r = context;
    const ley_fit_results results = {.size = sizeof results, .score = r->score, .gradient = r->gradient};
    const double start_s = ley_clock_s(), start_processor_s = frames_processor_s();
    ley_fit_totals before, after;
    ley_fit_get_totals(r->fit, &before);
    ley_status status = LEY_OK;
    for (int64_t left = r->frames; left > 0 && status == LEY_OK; left -= r->kept)
        status = bench_cancelled(r->o)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled")
                     : ley_fit_run(r->fit, left < r->kept ? left : r->kept, r->position_A, NULL, &results, error);
    *seconds = ley_clock_s() - start_s;
    r->processor_s = (frames_processor_s() - start_processor_s) / (double)r->frames;
    ley_fit_get_totals(r->fit, &after);
    r->kernel_s = (after.device_seconds - before.device_seconds) / (double)r->frames;
    r->sort_s = (after.sort_seconds - before.sort_seconds) / (double)r->frames;
    return status;
}

/* The first frame is the map; what was verified of it and of others. */
static ley_status put_figures(const fit_bench_run *r, bench_row *b)
{
    ley_accuracy *a = &b->row.accuracy;
    ley_fit_totals totals;
    ley_fit_get_totals(r->fit, &totals);
    a->points = a->compared = (size_t)totals.checked_nodes;
    a->relative_rms = fmax(fabs(r->score[LEY_FIT_PEARSON] - 1), totals.error);
    a->absolute_rms = a->relative_rms;
    a->tolerance = 1e-4;
    a->passed = a->relative_rms <= a->tolerance;
    bench_put_figure(&b->row, "frames_per_s", (double)r->frames / b->row.median_s);
    bench_put_figure(&b->row, "processor_ms", 1e3 * r->processor_s);
    bench_put_figure(&b->row, "kernel_ms", 1e3 * r->kernel_s);
    bench_put_figure(&b->row, "sort_ms", 1e3 * r->sort_s);
    bench_put_figure(&b->row, "frame_ms", 1e3 * b->row.median_s / (double)r->frames);
    snprintf(b->specification, sizeof b->specification,
             "%lld atoms at %g A, %lld nodes: %.4g ms a frame from memory; kernels %.4g ms, of them sorting %.4g",
             (long long)r->way->atoms, r->way->resolution_A, (long long)ley_grid_points(ley_map_grid(r->map)),
             1e3 * b->row.median_s / (double)r->frames, 1e3 * r->kernel_s, 1e3 * r->sort_s);
    return a->passed ? LEY_OK
                     : ley_fail(&b->failure, LEY_ERROR_WRONG_RESULT, "off by %.2g, for a tolerance of %.2g",
                                a->relative_rms, a->tolerance);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    fit_bench_run r = {.way = ways, .o = o, .frames = 1};
    double seconds = 0;
    (void)problem, (void)limits;
    while (strcmp(r.way->name, name) != 0)
        r.way++;
    ley_status status = bench_open(w, &r.engine, &b->failure);
    if (status == LEY_OK)
        status = begin(&r, &b->failure);
    if (status == LEY_OK)
        status = run_once(&r, &seconds, &b->failure); /* builds */
    if (status == LEY_OK)
        status = run_once(&r, &seconds, &b->failure);
    r.frames = (int64_t)frames_of_run(o->repeats > 1 ? 0.5 : 0.05, seconds, 1, 1, (size_t)(4 * r.kept));
    if (status == LEY_OK)
        status = bench_time(o, (double)r.way->atoms * (double)r.frames, run_once, &r, b, &b->failure);
    if (status == LEY_OK)
        status = put_figures(&r, b);
    end_run(&r);
    return status;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "frames_per_s", .unit = "frames/s", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "frames a second, by the median"},
    {.name = "processor_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of all processors, a frame, of the last run"},
    {.name = "kernel_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of the device's kernels, a frame, of the last run"},
    {.name = "sort_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of kernel_ms, for sorting atoms into cells"},
    {.name = "frame_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of a frame, median"},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_fit = {.figures = figures,
                                 .name = "fit",
                                 .named = named,
                                 .on_request = on_request,
                                 .needs_no_facts = true,
                                 .choose = choose,
                                 .make = make,
                                 .end = end,
                                 .measure = measure};
