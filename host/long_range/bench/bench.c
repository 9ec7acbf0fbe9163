/* The benchmark of long-range potentials: a box of water, a map at 0.5 A, as in the papers. Steps
 * are the rows. They are measured as they are in a job, one behind the other, several times; the
 * map that they make is judged by a sample of direct sums. */

#include "error.h"
#include "law/accuracy.h"
#include "law/long_range_sum.h"
#include "long_range/bench/box.h"
#include "long_range/bench/gain.h"
#include "long_range/bench/serial_loop.h"
#include "long_range/method.h"
#include "long_range/model/problem.h"
#include "long_range/model/short_range_part.h"
#include "long_range/multilevel/lattice_tuning.h"
#include "methods/cutoff/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is measured ------------------------------------------------------------------------ */

/* The last one is the caller's, or chosen for a tolerance. */
typedef enum preset { PRESET_PAPERS, PRESET_DEFAULT, PRESET_FFT, PRESET_CHOSEN, PRESET_COUNT } preset;
static const char *const preset_names[PRESET_COUNT] = {"papers", "default", "fft", "chosen"};

static ley_long_range range_of(preset p, const ley_bench_options *o)
{
    ley_long_range r;
    ley_long_range_default(&r);
    if (p == PRESET_CHOSEN)
        r = o->range;
    if (p == PRESET_PAPERS)
        ley_long_range_papers(&r);
    if (p == PRESET_FFT) {
        r.splitting = LEY_SPLITTING_OPTIMAL;
        r.window = LEY_WINDOW_BSPLINE6;
        r.solver = LEY_SOLVER_FOURIER;
    }
    if (p >= PRESET_FFT)
        r.fft = o->fft;
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
    {PRESET_FFT, MSM_BACK, "fft: inverse"}, LAST_ROWS(PRESET_FFT, "fft"),
    FIRST_ROWS(PRESET_CHOSEN, "chosen"), {PRESET_CHOSEN, MSM_RESTRICTION, "chosen: restriction"},
    {PRESET_CHOSEN, MSM_LATTICE_CUTOFF, "chosen: lattice cutoff"}, {PRESET_CHOSEN, MSM_TOP_LEVEL, "chosen: top level"},
    {PRESET_CHOSEN, MSM_PROLONGATION, "chosen: prolongation"}, {PRESET_CHOSEN, MSM_FORWARD, "chosen: forward"},
    {PRESET_CHOSEN, MSM_PRODUCT, "chosen: product"}, {PRESET_CHOSEN, MSM_BACK, "chosen: inverse"},
    LAST_ROWS(PRESET_CHOSEN, "chosen")};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows, CHOSEN_ROWS = 13 };
_Static_assert((int)ROWS - (int)CHOSEN_ROWS <= (int)BENCH_MOST_VARIANTS, "room for all rows");

static bool is_wanted(const ley_bench_options *o, preset p)
{
    return o->preset == NULL ? p != PRESET_CHOSEN : strcmp(o->preset, preset_names[p]) == 0;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static const int most_ratio =
    (LATTICE_MOST_RADIUS + 1) / 2; /* of the cutoff to the meshes' spacing, which is 1 at least */

static bool needs_transforms(const ley_bench_options *o)
{
    return o->fft != NULL || (o->preset != NULL && strcmp(o->preset, preset_names[PRESET_FFT]) == 0);
}

static ley_status check_chosen(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    if (o->linear)
        return ley_fail(error, LEY_ERROR_USAGE, "larger and larger boxes are for preset papers or default");
    if (o->tolerance_count > 1)
        return ley_fail(error, LEY_ERROR_USAGE, "%zu tolerances, of which the steps of a job have one",
                        o->tolerance_count);
    return bench_check_box(engine, o, error);
}

static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    const ley_long_range range = range_of(PRESET_PAPERS, o); /* of all presets the same meshes and cutoff */
    const double most_A = most_ratio * range.spacing_A;
    bool is_any = false;
    for (int p = 0; p < PRESET_COUNT; p++)
        is_any = is_any || is_wanted(o, (preset)p);
    if (!is_any)
        return ley_fail(error, LEY_ERROR_USAGE, "no preset is named %s", o->preset);
    if (is_wanted(o, PRESET_CHOSEN))
        return check_chosen(engine, o, error);
    if (o->linear && needs_transforms(o))
        return ley_fail(error, LEY_ERROR_USAGE, "one core has no transforms to compare with: preset papers or default");
    if (!(range.cutoff_A >= range.spacing_A && range.cutoff_A <= most_A))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "a cutoff of %g A: the meshes of this benchmark are %g A apart, for which it must be %g to "
                        "%g A",
                        range.cutoff_A, range.spacing_A, range.spacing_A, most_A);
    return bench_check_box(engine, o, error);
}

typedef struct msm_bench {
    msm_box box;
    double pairs; /* within the cutoff, which is the same one of all presets */
    msm_measured presets[PRESET_COUNT];
    ley_long_range chosen;
    ley_sum sum; /* of the pairs, of the chosen one */
} msm_bench;

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    msm_box_choose(w, facts, o, d);
    d->cutoff_A = range_of(PRESET_PAPERS, o).cutoff_A; /* of all presets; that of the chosen one is not known yet */
}

static void end(void *problem)
{
    msm_bench *p = problem;
    if (p == NULL)
        return;
    for (int i = 0; i < PRESET_COUNT; i++)
        ley_error_clear(&p->presets[i].failure);
    msm_box_clear(&p->box);
    free(p);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    msm_bench *p = calloc(1, sizeof *p);
    (void)o;
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    const ley_status status = msm_box_make(d->atoms, &p->box, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

/* What is open of it is chosen for the tolerance, on this device. */
static ley_status choose_range(const worker *w, const ley_bench_options *o, msm_bench *p, ley_error *error)
{
    p->chosen = range_of(PRESET_CHOSEN, o);
    p->sum = o->sum;
    return o->tolerance_count > 0
               ? msm_box_meshes(w, o, &p->box, o->tolerances[0], o->fixed, &p->chosen, &p->sum, error)
               : LEY_OK;
}

static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    msm_bench *p = (msm_bench *)(uintptr_t)problem;
    ley_long_range range = range_of(PRESET_PAPERS, o);
    ley_status status = LEY_OK;
    if (is_wanted(o, PRESET_CHOSEN)) {
        status = choose_range(w, o, p, error);
        range = p->chosen;
    }
    if (status == LEY_OK)
        status = msm_box_pairs(&p->box, &range, &p->pairs, error);
    for (int axis = 0; axis < 3; axis++)
        d->n[axis] = p->box.points.n[axis];
    d->points = ley_grid_points(&p->box.points);
    d->pairs = p->pairs;
    d->cutoff_A = range.cutoff_A;
    return status;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static const char *variant(const worker *w, const ley_bench_options *o, const void *problem, size_t i)
{
    const msm_bench *p = problem;
    const hierarchy_solver solver = (hierarchy_solver)msm_resolved(&p->chosen).solver;
    (void)w;
    for (size_t k = 0; k < ROWS; k++)
        if (is_wanted(o, rows[k].preset) && (rows[k].preset != PRESET_CHOSEN || msm_has_step(solver, rows[k].step)) &&
            i-- == 0)
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

static msm_measured *measured_of(worker *w, const ley_bench_options *o, msm_bench *p, preset chosen)
{
    msm_measured *m = &p->presets[chosen];
    const ley_long_range range = chosen == PRESET_CHOSEN ? p->chosen : range_of(chosen, o);
    m->pairs = p->pairs;
    ley_bench_options own = *o;
    own.sum = chosen == PRESET_CHOSEN ? p->sum : o->sum;
    if (!m->is_done)
        m->status = msm_measure(w, &own, &p->box, &range, m, &m->failure);
    m->is_done = true;
    return m;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    msm_bench *p = (msm_bench *)(uintptr_t)problem;
    const row_of_step *of = row_named(name);
    p->presets[of->preset].energy = b->energy;
    const msm_measured *m = measured_of(w, o, p, of->preset);
    if (m->status != LEY_OK) {
        ley_error_copy(&b->failure, &m->failure);
        return m->status;
    }
    const double seconds = m->seconds[of->step];
    b->row.kernel_s = seconds;
    bench_put_times(b, &m->repeats, m->runs_s[of->step]);
    b->row.joules = of->step == MSM_WHOLE ? m->joules : NAN;
    bench_put_figure(&b->row, "launches", (double)m->launches[of->step]);
    bench_put_figure(&b->row, "multiply_adds", m->needs[of->step].multiply_adds);
    b->row.bytes = m->needs[of->step].bytes;
    b->row.evaluations_per_s = seconds > 0 ? m->needs[of->step].multiply_adds / seconds : 0;
    b->row.fma_share = seconds > 0 ? msm_least_s(m, of->step, limits) / seconds : 0;
    bench_put_figure(&b->row, "memory_share", bench_memory_share(b->row.bytes, seconds, limits));
    b->row.accuracy = m->accuracy;
    const ley_long_range range = of->preset == PRESET_CHOSEN ? p->chosen : range_of(of->preset, o);
    msm_describe(&range, m->solver, b->specification, sizeof b->specification);
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
    const int64_t atoms = (int64_t)ley_atoms_count(p->box.atoms);
    core_work all = {p->pairs, (double)atoms, 0, (double)ley_grid_points(&p->box.points)};
    for (int step = MSM_RESTRICTION; step <= MSM_PROLONGATION; step++)
        all.node_pairs += msm_step_needs((msm_step)step, h, &p->box.points, atoms, p->pairs).multiply_adds;
    return all;
}

static void predict_core(const core_rates *r, const core_work *all, ley_bench_size *size)
{
    size->core_mesh_s = r->atom_s * all->atoms + r->node_pair_s * all->node_pairs + r->point_s * all->points;
    size->core_s = r->pair_s * all->pairs + size->core_mesh_s;
}

static reference_value right_value(const void *context, const double point_A[3])
{
    return reference_sum(context, point_A);
}

/* The core's own map is right, too: as exact as the meshes are expected to be. */
static ley_status judge_core(const msm_bench *p, const ley_long_range *range, double tolerance, ley_error *error)
{
    const reference_terms terms = {.law = &law_long_range,
                                   .constant =
                                       ley_coulomb_constant(range->units, range->dielectric, range->temperature_K),
                                   .atoms = p->box.atoms,
                                   .r_min_A = range->r_min_A};
    ley_accuracy accuracy;
    const ley_status status = accuracy_sample_map(p->box.map, right_value, &terms, BENCH_SAMPLE_POINTS, 1, tolerance,
                                                  NULL, &accuracy, NULL, error);
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
    serial_loop_times meshes = {0, 0, 0};
    double pairs_s = 0;
    ley_status status = cutoff_problem_init(&problem, p->box.atoms, &p->box.points, &near, constant, range->dielectric,
                                            range->r_min_A, error);
    if (status == LEY_OK)
        status = serial_pairs_map(&problem, p->box.map, &pairs_s, error);
    cutoff_problem_clear(&problem);
    if (status == LEY_OK)
        status = serial_loop_add(h, p->box.atoms, &p->box.points, constant, ley_map_values(p->box.map), &meshes, error);
    if (status == LEY_OK)
        status = judge_core(p, range, tolerance, error);
    *rates = (core_rates){pairs_s / all.pairs, meshes.atoms_s / all.atoms, meshes.nodes_s / all.node_pairs,
                          meshes.points_s / all.points};
    return status;
}

/* One box. The core measures it, where that is not predicted to take long. */
static ley_status measure_size(worker *w, const ley_bench_options *o, const ley_bench_device *d, preset chosen,
                               core_rates *rates, bench_size *to, ley_error *error)
{
    const ley_long_range range = range_of(chosen, o);
    ley_bench_device one = *d;
    ley_bench_size *size = &to->size;
    void *problem = NULL;
    hierarchy h;
    one.atoms = size->atoms;
    ley_status status = make(o, &one, &problem, error);
    msm_bench *p = problem;
    msm_measured *m = p != NULL ? &p->presets[chosen] : NULL;
    if (status == LEY_OK)
        status = msm_box_pairs(&p->box, &range, &p->pairs, error);
    if (status == LEY_OK) {
        m->pairs = p->pairs;
        status = msm_measure(w, o, &p->box, &range, m, error);
    }
    if (status == LEY_OK)
        status = msm_meshes(&range, p->box.atoms, &p->box.points, &h, error);
    if (status == LEY_OK) {
        const core_work all = work_of(p, &h);
        memcpy(size->n, p->box.points.n, sizeof size->n);
        size->pairs = p->pairs;
        size->whole_s = m->seconds[MSM_WHOLE];
        for (int step = MSM_ANTERPOLATION; step <= MSM_SHORT_RANGE; step++)
            size->kernel_s += m->seconds[step];
        size->accuracy = m->accuracy;
        bench_put_size_times(to, m->runs_s[MSM_WHOLE], (size_t)m->repeats.done);
        predict_core(rates, &all, size);
        size->is_core_scaled = size->core_s > most_core_s;
        if (!size->is_core_scaled)
            status = measure_core(p, &range, &h, m->accuracy.tolerance, rates, error);
        predict_core(rates, &all, size);
    }
    end(p);
    return status;
}

static ley_status scale(worker *w, const ley_bench_options *o, ley_bench_device *d, bench_size sizes[BENCH_MOST_SIZES],
                        ley_error *error)
{
    const preset chosen = is_wanted(o, PRESET_PAPERS) ? PRESET_PAPERS : PRESET_DEFAULT;
    const bool is_slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t largest = o->atoms > 0 || is_slow || w->info->device_class == DEV_GPU ? d->atoms : curve_cpu_atoms;
    core_rates rates = {0, 0, 0, 0};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof curve_atoms / sizeof *curve_atoms && status == LEY_OK; i++) {
        const bool is_last = curve_atoms[i] >= largest || i + 1 == sizeof curve_atoms / sizeof *curve_atoms;
        if (bench_cancelled(o))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        bench_size *size = &sizes[d->size_count];
        size->size = (ley_bench_size){.atoms = is_last ? largest : curve_atoms[i]};
        status = measure_size(w, o, d, chosen, &rates, size, error);
        d->size_count += status == LEY_OK;
        if (o->row_done != NULL)
            o->row_done(o->context);
        if (is_last)
            break;
    }
    return status;
}

/* ---- Several devices ------------------------------------------------------------------------- */

static size_t together(ley_engine *engine, const ley_bench_options *o, const bench_device *devices,
                       bench_gain gains[BENCH_MOST_GAINS])
{
    size_t count = 0;
    for (int p = 0; p < PRESET_CHOSEN; p++) /* the chosen one is another one on each device */
        if (is_wanted(o, (preset)p)) {
            const ley_long_range range = range_of((preset)p, o);
            msm_measure_gain(engine, o, devices, preset_names[p], &range, &gains[count++]);
        }
    return count;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    BENCH_LAUNCHES,
    BENCH_MULTIPLY_ADDS,
    BENCH_MEMORY_SHARE,
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_msm = {
    .figures = figures,
    .makes_grid = true,
    .check = check,
    .variant = variant,
    .choose = choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
    .scale = scale,
    .together = together,
};
