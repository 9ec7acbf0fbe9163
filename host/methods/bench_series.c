/* Series: potential and field at a few points, frame after frame, from the host's memory to the
 * host's memory, on the host's threads. What is right is known from sums that are made otherwise
 * (law/periodic.h). */
#include "clock.h"
#include "error.h"
#include "methods/frames.h"
#include "methods/subjects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 32, MOST_POINTS = 1000, JUDGED_POINTS = 64, USUAL_ATOMS = 46998 };

static const struct {
    const char *name;
    size_t points;
} ways[] = {{"2", 2}, {"50", 50}, {"1000", MOST_POINTS}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The first half of the points of a row are on oxygens, which they exclude, the others anywhere. */
typedef struct series_problem {
    water_frames frames;
    double *point_A, *potential, *field;
    int64_t first[MOST_POINTS + 1], excluded[MOST_POINTS];
} series_problem;

/* ---- The problem ----------------------------------------------------------------------------- */

static const char *named(size_t i)
{
    return i < WAYS ? ways[i].name : NULL;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    (void)w, (void)facts;
    d->atoms = o->atoms > 0 ? o->atoms - o->atoms % 3 : USUAL_ATOMS;
    d->points = MOST_POINTS;
}

static void end(void *problem)
{
    series_problem *p = problem;
    if (p == NULL)
        return;
    water_frames_clear(&p->frames);
    free(p->point_A);
    free(p->potential);
    free(p->field);
    free(p);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    const size_t values = (size_t)KEPT * MOST_POINTS;
    series_problem *p = calloc(1, sizeof *p);
    (void)o;
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    p->point_A = malloc(3 * values * sizeof *p->point_A);
    p->potential = malloc(values * sizeof *p->potential);
    p->field = malloc(3 * values * sizeof *p->field);
    ley_status status = p->point_A != NULL && p->potential != NULL && p->field != NULL
                            ? water_frames_make(d->atoms, KEPT, NULL, &p->frames, error)
                            : ley_fail_memory(error, 7 * values * sizeof *p->point_A, "the benchmark");
    if (status == LEY_OK)
        *problem = p;
    else
        end(p);
    return status;
}

static void place_points(series_problem *p, size_t points)
{
    const size_t on_atoms = (points + 1) / 2, molecules = p->frames.atoms / 3;
    uint64_t random = 3;
    for (size_t i = 0; i < points; i++) {
        if (i < on_atoms)
            p->excluded[i] = (int64_t)(3 * (i * 997 % molecules));
        p->first[i + 1] = (int64_t)(i < on_atoms ? i + 1 : on_atoms);
    }
    for (size_t f = 0; f < p->frames.count; f++)
        for (size_t i = 0; i < points; i++)
            for (size_t axis = 0; axis < 3; axis++)
                p->point_A[3 * (points * f + i) + axis] =
                    i < on_atoms ? (double)water_frame_positions_A(&p->frames, f)[3 * (size_t)p->excluded[i] + axis]
                                 : p->frames.edge_A[axis] * bench_random(&random);
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct series_run {
    series_problem *p;
    const ley_bench_options *o;
    ley_series *series;
    size_t points, frames; /* of a run */
    int count;
    double processor_s[BENCH_MOST_REPEATS + 1]; /* of all threads, a frame; the first run warms up */
} series_run;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    series_run *r = context;
    const series_problem *p = r->p;
    const ley_series_frames frames = {.count = r->frames,
                                      .position_A = p->frames.position_A,
                                      .cell_A = p->frames.cell_A,
                                      .point_A = p->point_A,
                                      .potential = p->potential,
                                      .field = p->field,
                                      .cancel = r->o->cancel};
    const double start_s = ley_clock_s(), start_processor_s = frames_processor_s();
    const ley_status status = ley_series_run(r->series, &frames, error);
    *seconds = ley_clock_s() - start_s;
    r->processor_s[r->count] = (frames_processor_s() - start_processor_s) / (double)r->frames;
    r->count += r->count < BENCH_MOST_REPEATS;
    return status;
}

/* Once to choose cutoff and waves, and once to see how many frames make a run long enough. */
static ley_status choose_frames(series_run *r, ley_error *error)
{
    static const double run_s = 0.5;
    double seconds = 0;
    r->frames = 2;
    ley_status status = run_once(r, &seconds, error);
    if (status == LEY_OK)
        status = run_once(r, &seconds, error);
    r->frames = frames_of_run(run_s, seconds, r->frames, 1, r->p->frames.count);
    r->count = 0;
    return status;
}

/* Of the first frame potentials and fields at some points, each relative to their root mean
 * square. */
static ley_status judge(const series_run *r, double constant, double off[2], ley_error *error)
{
    static const double r_min_A = 0.05;
    const series_problem *p = r->p;
    const size_t points = r->points < JUDGED_POINTS ? r->points : JUDGED_POINTS;
    double at_A[JUDGED_POINTS][3] = {{0}}, right[JUDGED_POINTS], field[JUDGED_POINTS][3], sums[2][2] = {{0}};
    size_t number[JUDGED_POINTS];
    for (size_t i = 0; i < points; i++) { /* from both ends: on atoms and not */
        number[i] = i % 2 == 0 ? i / 2 : r->points - 1 - i / 2;
        memcpy(at_A[i], p->point_A + 3 * number[i], sizeof at_A[i]);
    }
    const ley_status status =
        water_frame_potential(&p->frames, 0, p->frames.cell_A, r_min_A, points, at_A[0], right, field[0], error);
    for (size_t i = 0; i < points && status == LEY_OK; i++) {
        const size_t k = number[i];
        if (p->first[k + 1] > p->first[k]) /* its own term, which has no field */
            right[i] -= p->frames.charge_e[p->excluded[p->first[k]]] / r_min_A;
        sums[0][0] += pow(p->potential[k] / constant - right[i], 2);
        sums[0][1] += right[i] * right[i];
        for (size_t axis = 0; axis < 3; axis++) {
            sums[1][0] += pow(p->field[3 * k + axis] / constant - field[i][axis], 2);
            sums[1][1] += field[i][axis] * field[i][axis];
        }
    }
    for (int i = 0; i < 2; i++)
        off[i] = sqrt(sums[i][0] / sums[i][1]);
    return status;
}

/* What is off by more than was asked for is wrong. */
static ley_status put_figures(const series_run *r, const double off[2], double tolerance, bench_row *b)
{
    const ley_series_report how = ley_series_report_of(r->series);
    const double error = fmax(off[0], off[1]);
    bench_put_figure(&b->row, "frames_per_s", (double)r->frames / b->row.median_s);
    bench_put_figure(&b->row, "processor_ms", 1e3 * bench_statistics_of(r->processor_s + 1, b->row.run_count).median_s);
    bench_put_figure(&b->row, "potential_error", off[0]);
    bench_put_figure(&b->row, "field_error", off[1]);
    const size_t judged = r->points < JUDGED_POINTS ? r->points : JUDGED_POINTS;
    b->row.accuracy = (ley_accuracy){.points = judged,
                                     .compared = judged,
                                     .relative_rms = error,
                                     .max_error = error,
                                     .tolerance = tolerance,
                                     .passed = error <= tolerance};
    snprintf(b->specification, sizeof b->specification, "%s, rc %.1f A, %lld waves; field off by %.2g", how.method,
             how.cutoff_A, (long long)how.waves, off[1]);
    return error <= tolerance ? LEY_OK
                              : ley_fail(&b->failure, LEY_ERROR_WRONG_RESULT,
                                         "potentials are off by %.2g, fields by %.2g, for a tolerance of %.2g", off[0],
                                         off[1], tolerance);
}

static ley_status measure_points(series_run *r, const ley_bench_options *o, bench_row *b)
{
    ley_series_options options;
    double off[2];
    ley_series_options_default(&options);
    place_points(r->p, r->points);
    ley_status status =
        ley_series_create(r->p->frames.atoms, r->p->frames.charge_e, r->points, &options, &r->series, &b->failure);
    if (status == LEY_OK)
        status = ley_series_exclude(r->series, r->p->first, r->p->excluded, &b->failure);
    if (status == LEY_OK)
        status = choose_frames(r, &b->failure);
    const double pairs = (double)r->p->frames.atoms * (double)r->points * (double)r->frames;
    if (status == LEY_OK)
        status = bench_time(o, pairs, run_once, r, b, &b->failure);
    if (status == LEY_OK)
        status =
            judge(r, ley_coulomb_constant(options.units, options.dielectric, options.temperature_K), off, &b->failure);
    if (status == LEY_OK)
        status = put_figures(r, off, options.tolerance, b);
    ley_series_destroy(r->series);
    return status;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    series_run r = {.p = (series_problem *)(uintptr_t)problem, .o = o};
    size_t i = 0;
    (void)w, (void)limits;
    while (strcmp(ways[i].name, name) != 0)
        i++;
    r.points = ways[i].points;
    return measure_points(&r, o, b);
}

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    return bench_check_box(engine, o, error);
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "frames_per_s", .unit = "frames/s", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "frames a second, by the median"},
    {.name = "processor_ms", .unit = "ms", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of all processors, a frame, median"},
    {.name = "potential_error", .sentence = "relative RMS error of potentials, against sums that are made otherwise"},
    {.name = "field_error", .sentence = "the same of fields"},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_series = {
    .figures = figures,
    .name = "series",
    .makes_grid = true,
    .is_of_host = true,
    .named = named,
    .needs_no_facts = true,
    .check = check,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
};
