/* Averages over frames in the host's memory: frames a second of each way, and PMEPot's algorithm
 * beside them. What is right is known from sums over all charges and images at some points. */
#include "bench/pmepot.h"
#include "clock.h"
#include "error.h"
#include "methods/frames.h"
#include "methods/subjects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 32, KEPT_LARGE = 8, JUDGED = 2, JUDGED_POINTS = 32, MOST_FRAMES = 16384 };

/* Frames that prepare a run: at least a chunk, whose first frame is verified once more if another
 * frame is added to it. */
enum { WARM = 16 };

/* Frames are added in blocks, as Python's readers do. */
static const size_t large_frame_bytes = (size_t)12 << 20, block_bytes = (size_t)8 << 20;
static const double clamp_A = 0.05; /* of bare charges, as jobs have it */
static const char pmepot_name[] = "pmepot";

typedef struct way {
    const char *name;
    bool deviation, exact_cells, is_bare;
} way;

static const way ways[] = {{"mean", false, false, false},
                           {"deviation", true, false, false},
                           {"exact-cells", false, true, false},
                           {"bare", false, false, true},
                           {pmepot_name, false, false, false}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct average_problem {
    water_frames frames; /* taken in turn */
    ley_atoms *atoms;
    double cell_A[KEPT][9]; /* the first frame's for each of a block */
    int64_t n[3];
} average_problem;

/* ---- The problem ----------------------------------------------------------------------------- */

static const char *named(size_t i)
{
    return i < WAYS ? ways[i].name : NULL;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t usual_n = slow ? 12 : 108, usual_atoms = slow ? 30 : 92001,
                  atoms = o->atoms > 0 ? o->atoms : usual_atoms,
                  n = llround((double)usual_n * cbrt((double)atoms / (double)usual_atoms)); /* as dense */
    (void)facts;
    d->points = 1;
    for (int axis = 0; axis < 3; axis++) {
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : n > 8 ? n : 8;
        d->points *= d->n[axis];
    }
    d->atoms = atoms - atoms % 3;
}

static void end(void *problem)
{
    average_problem *p = problem;
    if (p == NULL)
        return;
    ley_atoms_destroy(p->atoms);
    water_frames_clear(&p->frames);
    free(p);
}

static ley_status fill(average_problem *p, const ley_bench_device *d, ley_error *error)
{
    const size_t frame_bytes = 3 * sizeof(float) * (size_t)d->atoms;
    double edge_A[3];
    for (int axis = 0; axis < 3; axis++)
        edge_A[axis] = (double)(p->n[axis] = d->n[axis]); /* 1 A from point to point */
    ley_status status =
        water_frames_make(d->atoms, frame_bytes > large_frame_bytes ? KEPT_LARGE : KEPT, edge_A, &p->frames, error);
    if (status != LEY_OK)
        return status;
    for (int i = 0; i < KEPT; i++)
        memcpy(p->cell_A[i], p->frames.cell_A, sizeof p->cell_A[i]);
    return water_frames_atoms(&p->frames, &p->atoms, error);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    average_problem *p = calloc(1, sizeof *p);
    (void)o;
    const ley_status status = p != NULL ? fill(p, d, error) : ley_fail_memory(error, sizeof *p, "the benchmark");
    if (status == LEY_OK)
        *problem = p;
    else
        end(p);
    return status;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct average_run {
    const average_problem *p;
    const ley_bench_options *o;
    const way *way;
    ley_engine *engine;
    ley_average_options average;
    size_t frames; /* of a run */
    int count;
    double processor_s[BENCH_MOST_REPEATS + 1]; /* of all threads, a frame; the first run warms up */
    ley_average_totals totals;
} average_run;

/* Cells change only where they are taken exactly. */
static const double *cell_of(const average_run *r, size_t frame)
{
    return r->way->exact_cells ? r->p->frames.cell_A + 9 * frame : r->p->cell_A[0];
}

/* Of so many that are still to be added. */
static size_t block_from(const average_run *r, size_t frame, size_t left)
{
    const size_t kept = r->p->frames.count - frame, fit = block_bytes / (3 * sizeof(float) * r->p->frames.atoms),
                 most = fit < 1      ? 1
                        : fit < kept ? fit
                                     : kept;
    return left < most ? left : most;
}

static ley_status add_frames(const average_run *r, ley_average *a, size_t first, size_t count, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0, block = 0; i < count && status == LEY_OK; i += block) {
        const size_t frame = (first + i) % r->p->frames.count;
        block = block_from(r, frame, count - i);
        status = bench_cancelled(r->o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                       : ley_average_add(a, block, water_frame_positions_A(&r->p->frames, frame),
                                                         cell_of(r, frame), error);
    }
    return status;
}

/* The first frames, with which everything is prepared, do not count. */
static ley_status time_frames(average_run *r, double *seconds, ley_error *error)
{
    const size_t warm = r->way->is_bare || r->o->repeats <= 1 ? 1 : WARM;
    ley_average *a = NULL;
    ley_status status = ley_average_create(r->engine, r->p->atoms, &r->average, &a, error);
    if (status == LEY_OK)
        status = add_frames(r, a, 0, warm, error);
    if (status == LEY_OK)
        status = ley_average_finish(a, &r->totals, error);
    const double start_s = ley_clock_s(), start_processor_s = frames_processor_s();
    if (status == LEY_OK)
        status = add_frames(r, a, warm, r->frames, error);
    if (status == LEY_OK)
        status = ley_average_finish(a, &r->totals, error);
    *seconds = ley_clock_s() - start_s;
    r->processor_s[r->count] = (frames_processor_s() - start_processor_s) / (double)r->frames;
    ley_average_destroy(a);
    return status;
}

static ley_status add_to_pmepot(const average_run *r, pmepot *loop, size_t count, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++)
        status = bench_cancelled(r->o)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled")
                     : pmepot_add(loop, r->p->frames.atoms, r->p->frames.charge_e,
                                  water_frame_positions_A(&r->p->frames, i % r->p->frames.count), error);
    return status;
}

static ley_status time_pmepot(average_run *r, double *seconds, ley_error *error)
{
    pmepot *loop = NULL;
    ley_status status = pmepot_create(r->p->n, r->p->frames.edge_A, &loop, error);
    const double start_s = ley_clock_s(), start_processor_s = frames_processor_s();
    if (status == LEY_OK)
        status = add_to_pmepot(r, loop, r->frames, error);
    *seconds = ley_clock_s() - start_s;
    r->processor_s[r->count] = (frames_processor_s() - start_processor_s) / (double)r->frames;
    pmepot_destroy(loop);
    return status;
}

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    average_run *r = context;
    const ley_status status =
        r->way->name == pmepot_name ? time_pmepot(r, seconds, error) : time_frames(r, seconds, error);
    r->count += r->count < BENCH_MOST_REPEATS;
    return status;
}

/* So many that the end of a run, with its checks, takes little of it: a frame's own time is what
 * more frames take longer. The loop has no such end. Kernels are built before. */
static ley_status choose_frames(average_run *r, ley_error *error)
{
    enum { FEW = 2, MORE = 16 };
    const double run_s = r->o->repeats > 1 ? 2 : 0.1; /* of tests, and of interpreters */
    double few_s = 0, more_s = 0;
    r->frames = FEW;
    ley_status status = run_once(r, &few_s, error);
    if (r->way->name == pmepot_name) {
        r->frames = frames_of_run(run_s, few_s, FEW, FEW, MOST_FRAMES);
    } else {
        if (status == LEY_OK)
            status = run_once(r, &few_s, error);
        r->frames = FEW + MORE;
        if (status == LEY_OK)
            status = run_once(r, &more_s, error);
        r->frames = frames_of_run(run_s, fmax(more_s - few_s, 0), MORE, FEW, MOST_FRAMES);
    }
    r->count = 0;
    return status;
}

/* ---- What is right --------------------------------------------------------------------------- */

/* Takes from the potential of point charges, in e / A, what it has more than that of Gaussian ones:
 * the terms of all images that are near enough. In a cell without charge the mean stays 0. */
static void smooth(const water_frames *f, size_t frame, const double cell_A[9], double sigma_A, const double at_A[3],
                   double *potential)
{
    const double reach_A = 6 * M_SQRT2 * sigma_A;
    const float *from_A = water_frame_positions_A(f, frame);
    for (size_t i = 0; i < f->atoms; i++) {
        double d_A[3];
        int64_t low[3], high[3];
        for (int d = 0; d < 3; d++) {
            d_A[d] = at_A[d] - from_A[3 * i + (size_t)d];
            low[d] = (int64_t)ceil((-reach_A - d_A[d]) / cell_A[4 * d]);
            high[d] = (int64_t)floor((reach_A - d_A[d]) / cell_A[4 * d]);
        }
        for (int64_t z = low[2]; z <= high[2]; z++)
            for (int64_t y = low[1]; y <= high[1]; y++)
                for (int64_t x = low[0]; x <= high[0]; x++) {
                    const double r_A = hypot(hypot(d_A[0] + (double)x * cell_A[0], d_A[1] + (double)y * cell_A[4]),
                                             d_A[2] + (double)z * cell_A[8]);
                    *potential -= f->charge_e[i] * (1 / fmax(r_A, clamp_A) - erf(r_A / (M_SQRT2 * sigma_A)) / r_A);
                }
    }
}

/* Of each judged frame at some points of the grid, which are the same fractions of each cell. */
static ley_status make_right(const average_run *r, const size_t point[JUDGED_POINTS],
                             double right[JUDGED][JUDGED_POINTS], ley_error *error)
{
    const water_frames *f = &r->p->frames;
    const double constant = ley_coulomb_constant(r->average.units, r->average.dielectric, r->average.temperature_K);
    ley_status status = LEY_OK;
    for (size_t frame = 0; frame < JUDGED && status == LEY_OK; frame++) {
        const double *cell_A = cell_of(r, frame);
        double at_A[JUDGED_POINTS][3];
        for (size_t i = 0; i < JUDGED_POINTS; i++) {
            const int64_t k = (int64_t)point[i], *n = r->p->n, node[3] = {k % n[0], k / n[0] % n[1], k / n[0] / n[1]};
            for (int axis = 0; axis < 3; axis++)
                at_A[i][axis] = (double)node[axis] / (double)n[axis] * cell_A[4 * axis];
        }
        status = water_frame_potential(f, frame, cell_A, clamp_A, JUDGED_POINTS, at_A[0], right[frame], NULL, error);
        for (size_t i = 0; i < JUDGED_POINTS && status == LEY_OK; i++) {
            if (!r->way->is_bare)
                smooth(f, frame, cell_A, r->average.smooth_A, at_A[i], &right[frame][i]);
            right[frame][i] *= constant;
        }
    }
    return status;
}

/* The map of the judged frames. */
static ley_status make_map(const average_run *r, ley_map **map, ley_error *error)
{
    ley_average *a = NULL;
    ley_status status = ley_average_create(r->engine, r->p->atoms, &r->average, &a, error);
    if (status == LEY_OK)
        status = add_frames(r, a, 0, JUDGED, error);
    if (status == LEY_OK)
        status = ley_average_map(a, r->way->deviation ? LEY_AVERAGE_DEVIATION : LEY_AVERAGE_MEAN, map, error);
    ley_average_destroy(a);
    return status;
}

/* What is off by more than was asked for is wrong. */
static ley_status put_error(bench_row *b, size_t points, double off, double all, double tolerance, ley_error *error)
{
    ley_accuracy *a = &b->row.accuracy;
    a->points = a->compared = points;
    a->absolute_rms = sqrt(off / (double)points);
    a->relative_rms = sqrt(off / all);
    a->tolerance = tolerance;
    a->passed = a->relative_rms <= tolerance;
    return a->passed ? LEY_OK
                     : ley_fail(error, LEY_ERROR_WRONG_RESULT, "off by %.2g, for a tolerance of %.2g", a->relative_rms,
                                tolerance);
}

/* Relative to the root mean square of the frames' potentials, of deviations, too. */
static ley_status judge_average(const average_run *r, bench_row *b, ley_error *error)
{
    ley_map *map = NULL;
    size_t point[JUDGED_POINTS];
    double right[JUDGED][JUDGED_POINTS], off = 0, all = 0;
    uint64_t random = 7;
    for (size_t i = 0; i < JUDGED_POINTS; i++)
        point[i] = (size_t)(bench_random(&random) * (double)(r->p->n[0] * r->p->n[1] * r->p->n[2]));
    ley_status status = make_map(r, &map, error);
    if (status == LEY_OK)
        status = make_right(r, point, right, error);
    for (size_t i = 0; i < JUDGED_POINTS && status == LEY_OK; i++) {
        const double a = right[0][i], c = right[1][i], is = (double)ley_map_read_values(map)[point[i]];
        off += pow(is - (r->way->deviation ? fabs(a - c) / M_SQRT2 : (a + c) / 2), 2);
        all += (a * a + c * c) / 2;
    }
    if (status == LEY_OK)
        status = put_error(b, JUDGED_POINTS, off, all, r->average.tolerance, error);
    ley_map_destroy(map);
    return status;
}

/* Against the library's mean by the same convention. */
static ley_status judge_pmepot(const average_run *r, bench_row *b, ley_error *error)
{
    const size_t points = (size_t)(r->p->n[0] * r->p->n[1] * r->p->n[2]);
    average_run same = *r;
    ley_map *map = NULL;
    pmepot *loop = NULL;
    double off = 0, all = 0;
    same.average.pmepot = true;
    same.average.smooth_A = 2 * M_SQRT2; /* of its factor of 0.25 per A */
    ley_status status = make_map(&same, &map, error);
    if (status == LEY_OK)
        status = pmepot_create(r->p->n, r->p->frames.edge_A, &loop, error);
    if (status == LEY_OK)
        status = add_to_pmepot(r, loop, JUDGED, error);
    const double constant = ley_coulomb_constant(r->average.units, r->average.dielectric, r->average.temperature_K);
    for (size_t i = 0; i < points && status == LEY_OK; i++) {
        const double right = (double)ley_map_read_values(map)[i];
        off += pow(constant * pmepot_mean(loop, i) - right, 2);
        all += right * right;
    }
    if (status == LEY_OK)
        status = put_error(b, points, off, all, r->average.tolerance, error);
    pmepot_destroy(loop);
    ley_map_destroy(map);
    return status;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static void put_figures(const average_run *r, bench_row *b)
{
    const ley_average_totals *t = &r->totals;
    bench_put_figure(&b->row, "frames_per_s", (double)r->frames / b->row.median_s);
    bench_put_figure(&b->row, "processor_ms", 1e3 * bench_statistics_of(r->processor_s + 1, b->row.run_count).median_s);
    if (r->way->name == pmepot_name) {
        snprintf(b->specification, sizeof b->specification, "PMEPot's algorithm in plain C, one thread");
        return;
    }
    bench_put_figure(&b->row, "order", t->order);
    bench_put_figure(&b->row, "mesh", (double)(t->mesh[0] * t->mesh[1] * t->mesh[2]));
    bench_put_figure(&b->row, "checked_error", t->relative_rms);
    bench_put_figure(&b->row, "mean_error", t->mean_error);
    snprintf(b->specification, sizeof b->specification,
             "order %d, mesh %lld x %lld x %lld, %lld frames checked: %.2g, mean %.2g", t->order, (long long)t->mesh[0],
             (long long)t->mesh[1], (long long)t->mesh[2], (long long)t->checked_frames, t->relative_rms,
             t->mean_error);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const average_problem *p = problem;
    average_run r = {.p = p, .o = o, .way = ways};
    (void)limits;
    while (strcmp(r.way->name, name) != 0)
        r.way++;
    ley_average_options_default(&r.average);
    memcpy(r.average.n, p->n, sizeof r.average.n);
    r.average.deviation = r.way->deviation;
    r.average.exact_cells = r.way->exact_cells;
    r.average.smooth_A = r.way->is_bare ? 0 : r.average.smooth_A;
    ley_status status = bench_open(w, &r.engine, &b->failure);
    if (status == LEY_OK)
        status = choose_frames(&r, &b->failure);
    if (status == LEY_OK)
        status = bench_time(o, (double)p->frames.atoms * (double)r.frames, run_once, &r, b, &b->failure);
    if (status == LEY_OK) {
        put_figures(&r, b);
        status = r.way->name == pmepot_name ? judge_pmepot(&r, b, &b->failure) : judge_average(&r, b, &b->failure);
    }
    ley_engine_destroy(r.engine);
    return status;
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
    {.name = "order", .sentence = "of the splines", .is_count = true},
    {.name = "mesh", .sentence = "nodes of the mesh", .is_count = true},
    {.name = "checked_error", .sentence = "relative RMS error of the frames that the run itself has verified"},
    {.name = "mean_error", .sentence = "of a structure factor of the mean, relative to its root mean square"},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_average = {
    .figures = figures,
    .name = "average",
    .named = named,
    .needs_no_facts = true,
    .check = check,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
};
