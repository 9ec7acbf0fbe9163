/* The benchmark of long-range potentials: a box of water, a map at 0.5 A, as in the papers. Steps
 * are the rows. They are measured as they are in a job, one behind the other, several times; the
 * map that they make is judged by a sample of direct sums. */

#include "bandwidth.h"
#include "clock.h"
#include "error.h"
#include "judge/accuracy.h"
#include "methods/cutoff/stages.h"
#include "methods/msm/bench_steps.h"
#include "methods/msm/core_loop.h"
#include "methods/msm/cycle.h"
#include "methods/msm/lattice_tuning.h"
#include "methods/msm/method.h"
#include "methods/msm/pairs.h"
#include "methods/msm/problem.h"
#include "methods/msm/spectral.h"
#include "run/bench_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double map_spacing_A = 0.5, padding_A = 0.25, enough_s = 3;

/* Of the molecules: a regular grid of them would add up errors of the lattices. */
static const double disorder_A = 0.25;

static const int64_t papers_atoms = 1534539, cpu_atoms = 20001, slow_atoms = 30;

/* ---- What is measured ------------------------------------------------------------------------ */

typedef enum preset { PRESET_PAPERS, PRESET_DEFAULT, PRESET_FFT, PRESET_COUNT } preset;
static const char *const preset_names[PRESET_COUNT] = {"papers", "default", "fft"};

static ley_long_range range_of(preset p, const ley_bench_options *o)
{
    ley_long_range r;
    ley_long_range_default(&r);
    if (p == PRESET_PAPERS)
        ley_long_range_papers(&r);
    if (p == PRESET_FFT) {
        r.splitting = LEY_SPLITTING_PSWF;
        r.window = LEY_WINDOW_BSPLINE6;
        r.solver = LEY_SOLVER_FFT;
        r.fft = o->fft;
    }
    if (o->cutoff_A > 0)
        r.cutoff_A = o->cutoff_A;
    return r;
}

typedef struct row_of_step {
    preset preset;
    msm_step step;
    const char *name;
} row_of_step;

/* clang-format off */
#define FIRST_ROWS(preset, name) \
    {preset, MSM_BINS, name ": atoms into bins"}, {preset, MSM_TABLES, name ": tables to the device"}, \
    {preset, MSM_ANTERPOLATION, name ": anterpolation"}
#define LAST_ROWS(preset, name) \
    {preset, MSM_INTERPOLATION, name ": interpolation"}, {preset, MSM_SHORT_RANGE, name ": short range"}, \
    {preset, MSM_WHOLE, name ": atoms to map"}
#define CYCLE_ROWS(preset, name) \
    FIRST_ROWS(preset, name), {preset, MSM_RESTRICTION, name ": restriction"}, \
    {preset, MSM_LATTICE_CUTOFF, name ": lattice cutoff"}, {preset, MSM_TOP_LEVEL, name ": top level"}, \
    {preset, MSM_PROLONGATION, name ": prolongation"}, LAST_ROWS(preset, name)
static const row_of_step rows[] = {
    CYCLE_ROWS(PRESET_PAPERS, "papers"), CYCLE_ROWS(PRESET_DEFAULT, "default"),
    FIRST_ROWS(PRESET_FFT, "fft"), {PRESET_FFT, MSM_FORWARD, "fft: forward"}, {PRESET_FFT, MSM_PRODUCT, "fft: product"},
    {PRESET_FFT, MSM_BACK, "fft: inverse"}, LAST_ROWS(PRESET_FFT, "fft")};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)BENCH_MOST_VARIANTS, "room for all rows");

static bool is_wanted(const ley_bench_options *o, preset p)
{
    return o->preset == NULL || strcmp(o->preset, preset_names[p]) == 0;
}

static const char *variant(const worker *w, const ley_bench_options *o, size_t i)
{
    (void)w;
    for (size_t k = 0; k < ROWS; k++)
        if (is_wanted(o, rows[k].preset) && i-- == 0)
            return rows[k].name;
    return NULL;
}

static const row_of_step *row_named(const char *name)
{
    size_t i = 0;
    while (i + 1 < ROWS && strcmp(rows[i].name, name) != 0)
        i++;
    return &rows[i];
}

/* ---- The problem ----------------------------------------------------------------------------- */

static const int most_ratio =
    (LATTICE_MOST_RADIUS + 1) / 2; /* of the cutoff to the lattices' spacing, which is 1 at least */

static bool needs_transforms(const ley_bench_options *o)
{
    return o->fft != NULL || (o->preset != NULL && strcmp(o->preset, preset_names[PRESET_FFT]) == 0);
}

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    const ley_long_range range = range_of(PRESET_PAPERS, o); /* of all presets the same lattices and cutoff */
    const double most_A = most_ratio * range.spacing_A;
    if (variant(NULL, o, 0) == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "no preset is named %s", o->preset);
    if (o->linear && needs_transforms(o))
        return ley_fail(error, LEY_ERROR_USAGE, "one core has no transforms to compare with: preset papers or default");
    if (!(range.cutoff_A >= range.spacing_A && range.cutoff_A <= most_A))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "a cutoff of %g A: the lattices of this benchmark are %g A apart, for which it must be %g to "
                        "%g A",
                        range.cutoff_A, range.spacing_A, range.spacing_A, most_A);
    return bench_check_box(engine, o, error);
}

/* A preset's steps, once they have been measured. */
typedef struct measured {
    bool is_done;
    ley_status status;
    ley_error failure;
    ley_accuracy accuracy;
    step_needs needs[MSM_STEP_COUNT];
    double seconds[MSM_STEP_COUNT], spread[MSM_STEP_COUNT]; /* medians */
    size_t launches[MSM_STEP_COUNT];
} measured;

typedef struct msm_bench {
    ley_atoms *atoms;
    ley_lattice points;
    ley_map *map;
    double pairs;
    measured presets[PRESET_COUNT];
} msm_bench;

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0, gpu = w->info->device_class == DEV_GPU;
    const ley_long_range papers = range_of(PRESET_PAPERS, o);
    ley_run_options job;
    ley_short_range near;
    cutoff_choice choice = {.variant = NULL};
    ley_run_options_default(&job);
    ley_short_range_default(&near);
    job.math = o->math;
    job.sum = o->sum;
    const cutoff_wish wish = cutoff_wish_of(&job, &near, LEY_STORE_ROWS);
    tuning_cutoff(w->info, facts, &wish, &choice, NULL);
    d->root = calibrate_root_name(choice.spec.root);
    d->roots_per_s = facts->roots_per_s[choice.spec.root];
    d->fma_per_s = facts->fma_per_s;
    d->memory_bytes_per_s = bandwidth_measure(w->device);
    d->cutoff_A = papers.cutoff_A;
    d->atoms = o->atoms > 0 ? o->atoms : slow ? slow_atoms : gpu ? papers_atoms : cpu_atoms;
}

static void end(void *problem)
{
    msm_bench *p = problem;
    if (p == NULL)
        return;
    for (int i = 0; i < PRESET_COUNT; i++)
        ley_error_clear(&p->presets[i].failure);
    ley_map_destroy(p->map);
    ley_atoms_destroy(p->atoms);
    free(p);
}

/* The pairs within the cutoff, which is the same one with all presets. */
static ley_status count_pairs(msm_bench *p, const ley_bench_options *o, ley_error *error)
{
    const ley_long_range range = range_of(PRESET_PAPERS, o);
    hierarchy h;
    pairs_formula formula;
    cutoff_problem problem = {.binned = NULL};
    ley_status status = msm_lattices(&range, p->atoms, &p->points, &h, error);
    if (status != LEY_OK)
        return status;
    const ley_short_range near = pairs_of(&range, &h.level[0].split, &formula);
    status = cutoff_problem_init(&problem, p->atoms, &p->points, &near, 1, range.dielectric, range.r_min_A, error);
    if (status == LEY_OK)
        p->pairs = cutoff_problem_expected_pairs(&problem);
    cutoff_problem_clear(&problem);
    return status;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    msm_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    ley_status status = ley_waterbox_create(d->atoms, 1, disorder_A, &p->atoms, error);
    if (status == LEY_OK)
        status = ley_lattice_around(p->atoms, map_spacing_A, padding_A, &p->points, error);
    if (status == LEY_OK)
        status = ley_map_create(&p->points, &p->map, error);
    if (status == LEY_OK)
        status = count_pairs(p, o, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    const msm_bench *p = problem;
    (void)w, (void)o, (void)error;
    for (int axis = 0; axis < 3; axis++)
        d->n[axis] = p->points.n[axis];
    d->points = ley_lattice_points(&p->points);
    d->pairs = p->pairs;
    return LEY_OK;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Where a step of the device stands in what a run has timed. */
static int work_step_of(preset p, msm_step step)
{
    static const int cycle_steps[MSM_STEP_COUNT] = {[MSM_ANTERPOLATION] = CYCLE_ANTERPOLATION,
                                                    [MSM_RESTRICTION] = CYCLE_RESTRICTION,
                                                    [MSM_LATTICE_CUTOFF] = CYCLE_LATTICE_CUTOFF,
                                                    [MSM_TOP_LEVEL] = CYCLE_TOP_LEVEL,
                                                    [MSM_PROLONGATION] = CYCLE_PROLONGATION},
                     spectral_steps[MSM_STEP_COUNT] = {[MSM_ANTERPOLATION] = SPECTRAL_ANTERPOLATION,
                                                       [MSM_FORWARD] = SPECTRAL_FORWARD,
                                                       [MSM_PRODUCT] = SPECTRAL_PRODUCT,
                                                       [MSM_BACK] = SPECTRAL_BACK};
    return p == PRESET_FFT ? spectral_steps[step] : cycle_steps[step];
}

/* What a run took, and making its task before. */
typedef struct run_times {
    bench_job_times job;
    double bins_s, create_s;
} run_times;

static double seconds_of(preset p, msm_step step, const run_times *t, size_t *launches)
{
    const work_times *sum = &t->job.work[MSM_STAGE_SUM], *field = &t->job.work[MSM_STAGE_FIELD];
    *launches = 0;
    switch (step) {
    case MSM_BINS:
        return t->bins_s;
    case MSM_TABLES:
        return t->job.begin_s[MSM_STAGE_FIELD];
    case MSM_WHOLE:
        return t->create_s + t->job.whole_s;
    case MSM_INTERPOLATION:
    case MSM_SHORT_RANGE: {
        const int at = step == MSM_INTERPOLATION ? MSM_STEP_INTERPOLATION : MSM_STEP_SHORT_RANGE;
        *launches = sum->step_launches[at];
        return sum->step_s[at];
    }
    default:
        *launches = field->step_launches[work_step_of(p, step)];
        return field->step_s[work_step_of(p, step)];
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_medians(preset p, const run_times *times, int n, measured *m)
{
    for (size_t i = 0; i < ROWS; i++) {
        double seconds[BENCH_MOST_REPEATS];
        const msm_step step = rows[i].step;
        if (rows[i].preset != p)
            continue;
        for (int k = 0; k < n; k++)
            seconds[k] = seconds_of(p, step, &times[k], &m->launches[step]);
        qsort(seconds, (size_t)n, sizeof *seconds, ascending);
        m->seconds[step] = seconds[n / 2];
        m->spread[step] = m->seconds[step] > 0 ? (seconds[n - 1] - seconds[0]) / m->seconds[step] : 0;
    }
}

/* A whole job, from its task on. */
static ley_status run_once(worker *w, const ley_bench_options *o, const msm_bench *p, const ley_long_range *range,
                           measured *m, run_times *t, ley_accuracy *accuracy, ley_error *error)
{
    const double start_s = ley_clock_s();
    void *task;
    const ley_status made = msm_task_create(p->atoms, p->map, range, &task, error);
    if (made != LEY_OK)
        return made;
    *t = (run_times){.create_s = ley_clock_s() - start_s};
    for (int step = 0; step < MSM_STEP_COUNT && accuracy != NULL; step++)
        m->needs[step] = msm_step_needs((msm_step)step, msm_task_lattices(task), &p->points,
                                        (int64_t)ley_atoms_count(p->atoms), p->pairs);
    const ley_status status = bench_job_run(w, o, &method_msm, task, p->map, &t->job, accuracy, error);
    t->bins_s = msm_task_bins_s(task);
    method_msm.end(task);
    return status;
}

/* Once to warm up, then as often as the options say or until enough time is spent. The first map is
 * judged. */
static ley_status measure_preset(worker *w, const ley_bench_options *o, const msm_bench *p, preset chosen, measured *m,
                                 ley_error *error)
{
    const int wanted = o->repeats < 1 ? 1 : o->repeats > BENCH_MOST_REPEATS ? BENCH_MOST_REPEATS : o->repeats;
    run_times *times = calloc((size_t)wanted, sizeof *times);
    ley_status status = times != NULL ? LEY_OK : ley_fail_memory(error, (size_t)wanted * sizeof *times, "the times");
    ley_long_range range = range_of(chosen, o);
    double spent_s = 0;
    int n = 0;
    for (int i = -1; i < wanted && status == LEY_OK && (spent_s < enough_s || i < 1); i++) {
        status = bench_cancelled(o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                    : run_once(w, o, p, &range, m, &times[n], i < 0 ? &m->accuracy : NULL, error);
        spent_s += times[n].job.whole_s;
        n += i >= 0 && status == LEY_OK;
    }
    if (status == LEY_OK)
        put_medians(chosen, times, n, m);
    free(times);
    return status;
}

/* Pairs take a root each beside their multiply-adds: where roots are slower, they are the limit. */
static double least_arithmetic_s(const measured *m, msm_step step, const ley_bench_device *limits, double pairs)
{
    const double fma_s = limits->fma_per_s > 0 ? m->needs[step].multiply_adds / limits->fma_per_s : 0;
    return step == MSM_SHORT_RANGE && limits->roots_per_s > 0 ? fmax(fma_s, pairs / limits->roots_per_s) : fma_s;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    msm_bench *p = (msm_bench *)(uintptr_t)problem;
    const row_of_step *of = row_named(name);
    measured *m = &p->presets[of->preset];
    if (!m->is_done)
        m->status = measure_preset(w, o, p, of->preset, m, &m->failure);
    m->is_done = true;
    if (m->status != LEY_OK) {
        ley_error_copy(&b->failure, &m->failure);
        return m->status;
    }
    const double seconds = m->seconds[of->step];
    b->row.kernel_s = seconds;
    b->row.spread = m->spread[of->step];
    b->row.launches = (int64_t)m->launches[of->step];
    b->row.multiply_adds = m->needs[of->step].multiply_adds;
    b->row.bytes = m->needs[of->step].bytes;
    b->row.evaluations_per_s = seconds > 0 ? b->row.multiply_adds / seconds : 0;
    b->row.fma_share = seconds > 0 ? least_arithmetic_s(m, of->step, limits, p->pairs) / seconds : 0;
    b->row.memory_share = seconds > 0 ? b->row.bytes / limits->memory_bytes_per_s / seconds : 0;
    b->row.accuracy = m->accuracy;
    return LEY_OK;
}

/* ---- Ever larger boxes, against one core ----------------------------------------------------- */

/* Atoms, among them the two of which the papers say what part of the peak they reach. */
static const int64_t curve_atoms[] = {999, 3000, 9000, 26247, 60000, 167877, 500001, 1534539};
static const int64_t curve_cpu_atoms = 26247;
static const double most_core_s = 60; /* boxes that are predicted to take longer are scaled */

/* What one core took, by what there is of each thing. */
typedef struct core_rates {
    double pair_s, atom_s, node_pair_s, point_s;
} core_rates;

typedef struct core_work {
    double pairs, atoms, node_pairs, points;
} core_work;

static core_work work_of(const msm_bench *p, const hierarchy *h)
{
    const int64_t atoms = (int64_t)ley_atoms_count(p->atoms);
    core_work all = {p->pairs, (double)atoms, 0, (double)ley_lattice_points(&p->points)};
    for (int step = MSM_RESTRICTION; step <= MSM_PROLONGATION; step++)
        all.node_pairs += msm_step_needs((msm_step)step, h, &p->points, atoms, p->pairs).multiply_adds;
    return all;
}

static void predict_core(const core_rates *r, const core_work *all, ley_bench_size *size)
{
    size->core_lattice_s = r->atom_s * all->atoms + r->node_pair_s * all->node_pairs + r->point_s * all->points;
    size->core_s = r->pair_s * all->pairs + size->core_lattice_s;
}

static reference_value right_value(const void *context, const double point_A[3])
{
    return reference_sum(context, point_A);
}

/* The core's own map is right, too: as exact as the lattices are expected to be. */
static ley_status judge_core(const msm_bench *p, const ley_long_range *range, double tolerance, ley_error *error)
{
    const reference_terms terms = {.term = LEY_TERM_LONG_RANGE,
                                   .constant =
                                       ley_coulomb_constant(range->units, range->dielectric, range->temperature_K),
                                   .atoms = p->atoms,
                                   .r_min_A = range->r_min_A};
    ley_accuracy accuracy;
    const ley_status status = accuracy_sample_map(p->map, right_value, &terms, BENCH_SAMPLE_POINTS, 1, tolerance, NULL,
                                                  &accuracy, NULL, error);
    return status == LEY_OK && !accuracy.passed
               ? ley_fail(error, LEY_ERROR_WRONG_RESULT, "the host loop: an error of %.3g, at most %.3g is right",
                          accuracy.max_error, tolerance)
               : status;
}

static ley_status measure_core(const msm_bench *p, const ley_long_range *range, const hierarchy *h, double tolerance,
                               core_rates *rates, ley_error *error)
{
    const double constant = ley_coulomb_constant(range->units, range->dielectric, range->temperature_K);
    const core_work all = work_of(p, h);
    pairs_formula formula;
    const ley_short_range near = pairs_of(range, &h->level[0].split, &formula);
    cutoff_problem problem = {.binned = NULL};
    core_loop_times lattices = {0, 0, 0};
    double pairs_s = 0;
    ley_status status =
        cutoff_problem_init(&problem, p->atoms, &p->points, &near, constant, range->dielectric, range->r_min_A, error);
    if (status == LEY_OK)
        status = overflow_map_on_core(&problem, p->map, &pairs_s, error);
    cutoff_problem_clear(&problem);
    if (status == LEY_OK)
        status = core_loop_add(h, p->atoms, &p->points, constant, ley_map_values(p->map), &lattices, error);
    if (status == LEY_OK)
        status = judge_core(p, range, tolerance, error);
    *rates = (core_rates){pairs_s / all.pairs, lattices.atoms_s / all.atoms, lattices.nodes_s / all.node_pairs,
                          lattices.points_s / all.points};
    return status;
}

/* One box. The core measures it, where that is not predicted to take long. */
static ley_status measure_size(worker *w, const ley_bench_options *o, const ley_bench_device *d, preset chosen,
                               core_rates *rates, ley_bench_size *size, ley_error *error)
{
    const ley_long_range range = range_of(chosen, o);
    ley_bench_device one = *d;
    void *problem = NULL;
    hierarchy h;
    one.atoms = size->atoms;
    ley_status status = make(o, &one, &problem, error);
    msm_bench *p = problem;
    measured *m = p != NULL ? &p->presets[chosen] : NULL;
    if (status == LEY_OK)
        status = measure_preset(w, o, p, chosen, m, error);
    if (status == LEY_OK)
        status = msm_lattices(&range, p->atoms, &p->points, &h, error);
    if (status == LEY_OK) {
        const core_work all = work_of(p, &h);
        memcpy(size->n, p->points.n, sizeof size->n);
        size->pairs = p->pairs;
        size->whole_s = m->seconds[MSM_WHOLE];
        for (int step = MSM_ANTERPOLATION; step <= MSM_SHORT_RANGE; step++)
            size->kernel_s += m->seconds[step];
        size->accuracy = m->accuracy;
        predict_core(rates, &all, size);
        size->is_core_scaled = size->core_s > most_core_s;
        if (!size->is_core_scaled)
            status = measure_core(p, &range, &h, m->accuracy.tolerance, rates, error);
        predict_core(rates, &all, size);
    }
    end(p);
    return status;
}

static ley_status scale(worker *w, const ley_bench_options *o, ley_bench_device *d,
                        ley_bench_size sizes[BENCH_MOST_SIZES], ley_error *error)
{
    const preset chosen = is_wanted(o, PRESET_PAPERS) ? PRESET_PAPERS : PRESET_DEFAULT;
    const int64_t largest = o->atoms > 0 || w->info->device_class == DEV_GPU ? d->atoms : curve_cpu_atoms;
    core_rates rates = {0, 0, 0, 0};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof curve_atoms / sizeof *curve_atoms && status == LEY_OK; i++) {
        const bool is_last = curve_atoms[i] >= largest || i + 1 == sizeof curve_atoms / sizeof *curve_atoms;
        if (bench_cancelled(o))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        ley_bench_size *size = &sizes[d->size_count];
        *size = (ley_bench_size){.atoms = is_last ? largest : curve_atoms[i]};
        status = measure_size(w, o, d, chosen, &rates, size, error);
        d->size_count += status == LEY_OK;
        if (o->row_done != NULL)
            o->row_done(o->context);
        if (is_last)
            break;
    }
    return status;
}

const bench_subject bench_msm = {
    .makes_lattice = true,
    .check = check,
    .variant = variant,
    .choose = choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
    .scale = scale,
};
