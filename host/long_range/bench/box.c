#include "long_range/bench/box.h"

#include "bandwidth.h"
#include "bench/job.h"
#include "clock.h"
#include "error.h"
#include "long_range/estimate/tolerance.h"
#include "long_range/fourier/spectral.h"
#include "long_range/method.h"
#include "long_range/model/problem.h"
#include "long_range/model/short_range_part.h"
#include "long_range/multilevel/v_cycle.h"
#include "methods/cutoff/stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double map_spacing_A = 0.5, padding_A = 0.25;

/* Of the molecules: a regular grid of them would add up errors of the meshes. */
static const double disorder_A = 0.25;

static const int64_t papers_atoms = 1534539, cpu_atoms = 20001, slow_atoms = 30;

/* ---- The box --------------------------------------------------------------------------------- */

void msm_box_choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0, gpu = w->info->device_class == DEV_GPU;
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
    d->atoms = o->atoms > 0 ? o->atoms : slow ? slow_atoms : gpu ? papers_atoms : cpu_atoms;
}

void msm_box_clear(msm_box *box)
{
    ley_map_destroy(box->map);
    ley_atoms_destroy(box->atoms);
    *box = (msm_box){.atoms = NULL};
}

ley_status msm_box_make(int64_t atoms, msm_box *box, ley_error *error)
{
    ley_status status = ley_waterbox_create(atoms, 1, disorder_A, &box->atoms, error);
    if (status == LEY_OK)
        status = ley_grid_around(box->atoms, map_spacing_A, padding_A, &box->points, error);
    return status == LEY_OK ? ley_map_create(&box->points, &box->map, error) : status;
}

ley_status msm_box_meshes(const worker *w, const ley_bench_options *o, const msm_box *box, double tolerance,
                          unsigned fixed, ley_long_range *range, ley_sum *sum, ley_error *error)
{
    ley_run_options job;
    ley_choice forecast = {.sum = o->sum};
    ley_run_options_default(&job);
    job.math = o->math;
    job.sum = o->sum == LEY_SUM_FLOAT ? LEY_SUM_AUTO : o->sum;
    const ley_status status =
        msm_choose_on(w, box->atoms, &box->points, tolerance, fixed, &job, range, &forecast, error);
    *sum = status == LEY_OK ? forecast.sum : o->sum;
    return status;
}

ley_status msm_box_pairs(const msm_box *box, const ley_long_range *range, double *pairs, ley_error *error)
{
    hierarchy h;
    pairs_formula formula;
    cutoff_problem problem = {.binned = NULL};
    ley_status status = msm_meshes(range, box->atoms, &box->points, &h, error);
    if (status != LEY_OK)
        return status;
    const ley_short_range near = pairs_of(range, &h.level[0].split, &formula);
    status =
        cutoff_problem_init(&problem, box->atoms, &box->points, &near, 1, range->dielectric, range->r_min_A, error);
    if (status == LEY_OK)
        *pairs = cutoff_problem_expected_pairs(&problem);
    cutoff_problem_clear(&problem);
    return status;
}

void msm_describe(const ley_long_range *range, hierarchy_solver solver, char *text, size_t size)
{
    static const char *const windows[] = {LEY_WINDOW_TABLE(LEY_NAME)},
                             *const splittings[] = {LEY_SPLITTING_TABLE(LEY_NAME)},
                             *const solvers[] = {LEY_SOLVER_TABLE(LEY_NAME)};
    snprintf(text, size, "%s, %s, %s, cutoff %g A, nodes %g A apart", windows[range->window],
             splittings[range->splitting], solvers[solver], range->cutoff_A, range->spacing_A);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* What a run took, and making its task before. */
typedef struct run_times {
    bench_job_times job;
    double bins_s, create_s;
} run_times;

bool msm_has_step(hierarchy_solver solver, msm_step step)
{
    if (step == MSM_FORWARD || step == MSM_PRODUCT || step == MSM_BACK)
        return solver != HIERARCHY_MULTILEVEL;
    if (step == MSM_TOP_LEVEL)
        return solver == HIERARCHY_MULTILEVEL;
    return solver != HIERARCHY_FOURIER || step < MSM_RESTRICTION || step > MSM_PROLONGATION;
}

/* Where a step of the device stands in what a run has timed. */
static int work_step_of(hierarchy_solver solver, msm_step step)
{
    static const int v_cycle_steps[MSM_STEP_COUNT] = {[MSM_ANTERPOLATION] = CYCLE_ANTERPOLATION,
                                                      [MSM_RESTRICTION] = CYCLE_RESTRICTION,
                                                      [MSM_LATTICE_CUTOFF] = CYCLE_LATTICE_CUTOFF,
                                                      [MSM_TOP_LEVEL] = CYCLE_TOP_LEVEL,
                                                      [MSM_PROLONGATION] = CYCLE_PROLONGATION,
                                                      [MSM_FORWARD] = CYCLE_FORWARD,
                                                      [MSM_PRODUCT] = CYCLE_PRODUCT,
                                                      [MSM_BACK] = CYCLE_BACK},
                     spectral_steps[MSM_STEP_COUNT] = {[MSM_ANTERPOLATION] = SPECTRAL_ANTERPOLATION,
                                                       [MSM_FORWARD] = SPECTRAL_FORWARD,
                                                       [MSM_PRODUCT] = SPECTRAL_PRODUCT,
                                                       [MSM_BACK] = SPECTRAL_BACK};
    return solver == HIERARCHY_FOURIER ? spectral_steps[step] : v_cycle_steps[step];
}

static double seconds_of(hierarchy_solver solver, msm_step step, const run_times *t, size_t *launches)
{
    const sequence_times *sum = &t->job.work[MSM_STAGE_SUM], *field = &t->job.work[MSM_STAGE_FIELD];
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
        *launches = field->step_launches[work_step_of(solver, step)];
        return field->step_s[work_step_of(solver, step)];
    }
}

/* A step that no job has takes no time. */
static void put_medians(const run_times *times, msm_measured *m)
{
    for (int i = 0; i < MSM_STEP_COUNT; i++) {
        const msm_step step = (msm_step)i;
        if (!msm_has_step(m->solver, step))
            continue;
        for (int k = 0; k < m->repeats.done; k++)
            m->runs_s[step][k] = seconds_of(m->solver, step, &times[k], &m->launches[step]);
        m->seconds[step] = bench_statistics_of(m->runs_s[step], (size_t)m->repeats.done).median_s;
    }
}

/* A whole job, from its task on. */
static ley_status run_once(worker *w, const ley_bench_options *o, const msm_box *box, const ley_long_range *range,
                           msm_measured *m, run_times *t, ley_accuracy *accuracy, ley_error *error)
{
    const double start_s = ley_clock_s();
    void *task;
    const ley_status made = msm_task_create(box->atoms, box->map, range, &task, error);
    if (made != LEY_OK)
        return made;
    *t = (run_times){.create_s = ley_clock_s() - start_s};
    const hierarchy *h = msm_task_meshes(task);
    m->solver = h->solver;
    hierarchy top;
    hierarchy_top(h, &top);
    for (int step = 0; step < MSM_STEP_COUNT && accuracy != NULL; step++)
        if (msm_has_step(m->solver, (msm_step)step))
            m->needs[step] = msm_step_needs((msm_step)step, step >= MSM_FORWARD && step <= MSM_BACK ? &top : h,
                                            &box->points, (int64_t)ley_atoms_count(box->atoms), m->pairs);
    const ley_status status = bench_job_run(w, o, &method_msm, task, box->map, &t->job, accuracy, error);
    t->bins_s = msm_task_bins_s(task);
    method_msm.end(task);
    return status;
}

ley_status msm_measure(worker *w, const ley_bench_options *o, const msm_box *box, const ley_long_range *range,
                       msm_measured *m, ley_error *error)
{
    m->repeats = bench_repeats_begin(o->repeats, o->most_s);
    run_times *times = calloc((size_t)m->repeats.wanted, sizeof *times);
    ley_status status = times != NULL ? run_once(w, o, box, range, m, &times[0], &m->accuracy, error) /* to warm up */
                                      : ley_fail_memory(error, (size_t)m->repeats.wanted * sizeof *times, "the times");
    const double start_s = ley_clock_s();
    double before_J = 0;
    m->joules = NAN;
    const bool is_counted = m->energy != NULL && energy_read(m->energy, &before_J);
    if (status == LEY_OK)
        m->repeats.spent_s = times[0].job.whole_s;
    while (status == LEY_OK && bench_repeats_go_on(&m->repeats)) {
        run_times *t = &times[m->repeats.done++];
        status = bench_cancelled(o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                    : run_once(w, o, box, range, m, t, NULL, error);
        m->repeats.spent_s += t->job.whole_s;
    }
    if (status == LEY_OK && is_counted)
        m->joules = bench_joules(m->energy, before_J, ley_clock_s() - start_s, (size_t)m->repeats.done);
    if (status == LEY_OK)
        put_medians(times, m);
    free(times);
    return status;
}

double msm_least_s(const msm_measured *m, msm_step step, const ley_bench_device *limits)
{
    const double fma_s = limits->fma_per_s > 0 ? m->needs[step].multiply_adds / limits->fma_per_s : 0;
    return step == MSM_SHORT_RANGE && limits->roots_per_s > 0 ? fmax(fma_s, m->pairs / limits->roots_per_s) : fma_s;
}
