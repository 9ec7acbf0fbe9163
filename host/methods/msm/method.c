/* Long-range potentials as a method: phi_i = C sum_j q_j / max(r_ij, r_min), all pairs and images,
 * screened or not, as a sum within the cutoff and a smooth rest on lattices. Hardy, Stone,
 * Schulten, Parallel Computing 35, 164 (2009), equations 11 to 17.
 *
 * Data: charges into the finest lattice's bins, on all host cores, and to each device, which makes
 * the potentials of the finest lattice for itself and keeps them. The short-range sum's slabs
 * (methods/cutoff/stages.h) get these interpolated and added before they travel, so that the map
 * crosses the bus once. Bounds: those of the short-range sum; of the rest, multiply-adds of the
 * lattice cutoff. */
#include "methods/msm/method.h"

#include "clock.h"
#include "core/options.h"
#include "error.h"
#include "log.h"
#include "methods/cutoff/stages.h"
#include "methods/msm/pairs.h"
#include "methods/msm/problem.h"
#include "methods/msm/solver.h"
#include "numerics/expected_error.h"
#include "run/job.h"
#include "run/job_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Atoms into the finest lattice's bins, in a thread. */
typedef struct spreading {
    const struct msm_task *task;
    const atomic_bool *cancelled;
    pthread_t thread;
    bool has_thread, is_awaited; /* the latter under the mutex of the task's `near` */
    spread *atoms;
    double seconds, expected;
    ley_status status;
    ley_error error;
} spreading;

typedef struct msm_task {
    cutoff_task near;                    /* the first member: cutoff's stages take this for their task */
    ley_long_range options;              /* the solver resolved; but for `fft`: */
    char library[16];                    /* empty: whichever is fastest */
    hierarchy lattices;                  /* none, of 0 levels, where screening leaves nothing to them */
    double constant;                     /* C */
    double expected;                     /* expected_error() */
    char extents[160];                   /* "60 x 60 x 60, 33 x 33 x 33" */
    double spread_s, step_s[WORK_STEPS]; /* under the mutex of `near`, of the slowest device; and: */
    double lattices_s, predicted_s, spectrum_s;

    ley_long_range other; /* in place of the options, where no device has transforms; and why that was taken: */
    bool has_other;
    char why[256]; /* empty: it was not */

    /* From prepare() to release(). While devices bin for their short-range sums, a thread spreads
     * the atoms: */
    spread *atoms;
    spreading beside;
} msm_task;

/* ---- The problem ----------------------------------------------------------------------------- */

static void end_task(void *context)
{
    cutoff_task_clear(context);
    free(context);
}

static ley_short_range near_of(const ley_long_range *r, const hierarchy *h, pairs_formula *formula)
{
    return pairs_of(r, h->levels > 0 ? &h->level[0].split : NULL, formula);
}

ley_status ley_long_range_check_memory(const ley_atoms *atoms, const ley_lattice *lattice, const ley_long_range *range,
                                       ley_error *error)
{
    ley_long_range r;
    hierarchy h;
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, &r, range, error);
    if (status == LEY_OK)
        status = ley_lattice_check(lattice, error);
    if (status != LEY_OK)
        return status;
    job_needs needs = {.count = 0};
    job_needs_map(&needs, lattice, CUTOFF_LAYER);
    if (msm_lattices(&r, atoms, lattice, &h, NULL) == LEY_OK) {
        pairs_formula formula;
        const ley_short_range near = near_of(&r, &h, &formula);
        cutoff_problem_needs(atoms, lattice, &near, &needs);
        if (h.levels > 0)
            job_needs_add(&needs, "atoms in a lattice's bins", msm_bytes(&h, ley_atoms_count(atoms)),
                          "fewer atoms, or a wider --lattice-spacing");
    }
    return memory_check(needs.list, needs.count, error);
}

static void put_extents(msm_task *task)
{
    const hierarchy *h = &task->lattices;
    size_t used = 0;
    for (int k = 0; k < h->levels && used < sizeof task->extents; k++)
        used += (size_t)snprintf(task->extents + used, sizeof task->extents - used, "%s%lld x %lld x %lld",
                                 k > 0 ? ", " : "", (long long)h->level[k].n[0], (long long)h->level[k].n[1],
                                 (long long)h->level[k].n[2]);
}

static ley_status init_task(msm_task *task, const ley_atoms *atoms, ley_map *map, const ley_long_range *r,
                            ley_error *error)
{
    pairs_formula formula;
    ley_status status = msm_lattices(r, atoms, ley_map_lattice(map), &task->lattices, error);
    if (status != LEY_OK)
        return status;
    const ley_short_range near = near_of(r, &task->lattices, &formula);
    task->has_other = msm_otherwise(r, &task->other);
    task->options = msm_resolved(r);
    task->options.fft = task->other.fft = NULL;
    snprintf(task->library, sizeof task->library, "%s", r->fft != NULL ? r->fft : "");
    task->constant = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    put_extents(task);
    status = cutoff_task_init(&task->near, atoms, map, &near, error);
    if (status != LEY_OK)
        cutoff_task_clear(&task->near);
    return status;
}

static const cutoff_addition addition;

_Static_assert((int)CYCLE_ANTERPOLATION == (int)SPECTRAL_ANTERPOLATION, "the first step of both");

ley_status msm_task_create(const ley_atoms *atoms, ley_map *map, const ley_long_range *range, void **made,
                           ley_error *error)
{
    ley_long_range r;
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, &r, range, error);
    if (status == LEY_OK)
        status = ley_lattice_check_orthogonal(ley_map_lattice(map), "method msm", error);
    if (status == LEY_OK)
        status = options_check_medium(r.units, r.dielectric, r.temperature_K, r.r_min_A, error);
    if (status != LEY_OK)
        return status;
    msm_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    status = init_task(task, atoms, map, &r, error);
    if (status != LEY_OK) {
        free(task);
        return status;
    }
    task->near.addition = task->lattices.levels > 0 ? &addition : NULL;
    *made = task;
    return LEY_OK;
}

const hierarchy *msm_task_lattices(const void *task)
{
    return &((const msm_task *)task)->lattices;
}

double msm_task_bins_s(const void *context)
{
    const msm_task *task = context;
    return task->spread_s + task->near.binning_s;
}

ley_status ley_job_create_long_range(ley_engine *engine, const ley_atoms *atoms, ley_map *map,
                                     const ley_long_range *range, const ley_run_options *options, ley_job **job,
                                     ley_error *error)
{
    void *task;
    const ley_status status = msm_task_create(atoms, map, range, &task, error);
    return status == LEY_OK ? job_create(engine, &method_msm, task, atoms, options, job, error) : status;
}

/* Pairs stay as they are, and so must the splitting: that of lattices made anew would be of the
 * band that suits their window. */
static bool otherwise(void *context, const char *why)
{
    msm_task *task = context;
    const splitting split = task->lattices.level[0].split;
    if (!task->has_other ||
        msm_lattices(&task->other, task->near.atoms, ley_map_lattice(task->near.map), &task->lattices, NULL) != LEY_OK)
        return false;
    for (int k = 0; k < task->lattices.levels && split.kappa_a == 0; k++)
        task->lattices.level[k].split = split;
    task->has_other = false;
    task->options = task->other;
    snprintf(task->why, sizeof task->why, "%s", why);
    put_extents(task);
    return true;
}

/* ---- Once a job ------------------------------------------------------------------------------ */

static ley_status spread_atoms(spreading *s)
{
    const ley_atoms *atoms = s->task->near.atoms;
    const hierarchy *h = &s->task->lattices;
    const double start_s = ley_clock_s();
    s->atoms = calloc(1, sizeof *s->atoms);
    if (s->atoms == NULL)
        return ley_fail_memory(&s->error, sizeof *s->atoms, "the atoms");
    const ley_status status = spread_make(h, ley_atoms_count(atoms), ley_atoms_positions_A(atoms),
                                          ley_atoms_charges_e(atoms), s->cancelled, s->atoms, &s->error);
    s->seconds = ley_clock_s() - start_s;
    if (status != LEY_OK)
        return status;
    s->expected = expected_error(h);
    log_say(LEY_LOG_NOTE, "plan: %s, %s, lattices of %s nodes, expected to be off by %.2g",
            splitting_name(h->level[0].split.kind), h->window->name, s->task->extents, s->expected);
    return LEY_OK;
}

static void *spread_beside(void *context)
{
    spreading *s = context;
    s->status = spread_atoms(s);
    return NULL;
}

static void begin_spreading(msm_task *task, const job_view *job)
{
    spreading *s = &task->beside;
    *s = (spreading){.task = task, .cancelled = job->cancelled, .is_awaited = true};
    s->has_thread = pthread_create(&s->thread, NULL, spread_beside, s) == 0;
    if (!s->has_thread)
        spread_beside(s);
}

/* Waits until the atoms are in their bins, and takes them. Any thread may call it. */
static ley_status await_atoms(msm_task *task, ley_error *error)
{
    spreading *s = &task->beside;
    pthread_mutex_lock(&task->near.mutex);
    if (s->is_awaited) {
        if (s->has_thread)
            pthread_join(s->thread, NULL);
        s->is_awaited = false;
        task->atoms = s->atoms;
        task->spread_s = s->seconds;
        task->expected = s->expected;
    }
    const ley_status status = s->status;
    if (status != LEY_OK)
        ley_error_copy(error, &s->error);
    pthread_mutex_unlock(&task->near.mutex);
    return status;
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    msm_task *task = context;
    memset(task->step_s, 0, sizeof task->step_s);
    memset(task->near.step_s, 0, sizeof task->near.step_s);
    task->lattices_s = 0;
    if (task->lattices.levels == 0) {
        log_say(LEY_LOG_NOTE, "plan: no lattices: screening leaves nothing beyond the cutoff");
        return cutoff_prepare(task, job, error);
    }
    begin_spreading(task, job);
    const ley_status status = cutoff_prepare(task, job, error);
    if (status == LEY_OK && task->near.plan.binning == LEY_PLACE_DEVICE)
        return LEY_OK;
    const ley_status waited = await_atoms(task, status == LEY_OK ? error : NULL);
    return status == LEY_OK ? waited : status;
}

static void release(void *context, bool is_kept)
{
    msm_task *task = context;
    if (task->lattices.levels > 0)
        await_atoms(task, NULL);
    ley_error_clear(&task->beside.error);
    cutoff_release(task, is_kept);
    if (task->atoms != NULL && is_kept) { /* they may still be on their way to a device */
        dev_keep(task->atoms);
    } else if (task->atoms != NULL) {
        spread_clear(task->atoms);
        free(task->atoms);
    }
    task->atoms = NULL;
}

/* ---- The lattices' potentials, on each device ------------------------------------------------ */

static const product product_field = {.name = "field"};

typedef struct field_wish {
    hierarchy lattices;
    transfer_wish transfer;
    int sum;
    fft_wish fft;
    char library[16]; /* of `fft`, where one is asked for */
} field_wish;

typedef struct field_state {
    msm_task *task;
    hierarchy lattices; /* its own: a device that is late outlives the task */
    solver solver;
    bool is_ready;
    flight flight;
    work work;
} field_state;

static bool field_is_wanted(const void *context)
{
    return ((const msm_task *)context)->lattices.levels > 0;
}

/* Whether the lattice's axes are those of the map, in the same directions. */
static bool is_along_axes(const hierarchy *h)
{
    const ley_lattice nodes = {.step_A = {{h->step_A[0][0], h->step_A[0][1], h->step_A[0][2]},
                                          {h->step_A[1][0], h->step_A[1][1], h->step_A[1][2]},
                                          {h->step_A[2][0], h->step_A[2][1], h->step_A[2][2]}}};
    return ley_lattice_is_orthogonal(&nodes);
}

static ley_status wish_field(const void *context, const job_view *job, void **wish, ley_error *error)
{
    const msm_task *task = context;
    const hierarchy *h = &task->lattices;
    const ley_lattice *points = ley_map_lattice(task->near.map);
    field_wish *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "the job");
    w->lattices = *h;
    w->transfer = (transfer_wish){.window = h->window, .along_axes = is_along_axes(h)};
    for (int axis = 0; axis < 3 && w->transfer.along_axes; axis++)
        w->transfer.nodes_per_point[axis] = points->step_A[axis][axis] / h->step_A[axis][axis];
    w->sum = job->options->sum;
    if (task->library[0] != '\0')
        w->fft.library = strcpy(w->library, task->library);
    *wish = w;
    return LEY_OK;
}

static ley_status ready_field(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const field_wish *w = wish;
    (void)noted;
    field_state *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a device's lattices");
    *state = f;
    f->lattices = w->lattices;
    f->flight.device = device;
    f->is_ready = true;
    return solver_ready(&f->solver, device, &f->lattices, &w->transfer, w->sum, &w->fft, error);
}

static ley_status begin_field(void *context, const stage_place *place, void **state, ley_error *error)
{
    field_state *f = *state;
    f->task = context;
    solver_room(&f->solver)->within = place->room;
    f->solver.cycle.cancelled = f->solver.spectral.cancelled = place->job->cancelled;
    stage_make(place, &product_field, f);
    const ley_status status = await_atoms(f->task, error);
    return status == LEY_OK ? solver_load(&f->solver, f->task->atoms, error) : status;
}

static void end_field(void *state)
{
    field_state *f = state;
    work_end(&f->work);
    if (f->is_ready)
        solver_end(&f->solver);
    free(f);
}

static ley_status submit_field(void *state, int slot, slab piece, ley_error *error)
{
    field_state *f = state;
    (void)slot, (void)piece;
    work_begin(&f->work, &f->flight, f->task->near.job->cancelled);
    solver_run(&f->solver, &f->work);
    return work_status(&f->work, error);
}

static ley_status collect_field(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    field_state *f = state;
    msm_task *task = f->task;
    (void)slot, (void)piece;
    const ley_status status = work_finish(&f->work, error);
    *times = f->work.times;
    pthread_mutex_lock(&task->near.mutex);
    if (f->work.times.kernel_s > task->lattices_s) {
        task->lattices_s = f->work.times.kernel_s;
        task->predicted_s = f->work.times.unpredicted == 0 ? f->work.times.predicted_s : 0;
        task->spectrum_s = f->solver.kind == HIERARCHY_FFT ? f->solver.spectral.spectrum_s : 0;
        memcpy(task->step_s, f->work.times.step_s, sizeof task->step_s);
    }
    pthread_mutex_unlock(&task->near.mutex);
    return status;
}

static void drop_field(void *state, int slot)
{
    (void)slot;
    work_finish(&((field_state *)state)->work, NULL);
}

/* ---- Added to the short-range sums ----------------------------------------------------------- */

typedef struct added {
    const solver *solver;
    transfer_map map;
} added;

static ley_status begin_addition(void *context, const stage_place *place, const cutoff_kernel *kernel, int64_t planes,
                                 room *memory, void **state, ley_error *error)
{
    const msm_task *task = context;
    const ley_lattice points = msm_points(&task->lattices.cell, ley_map_lattice(task->near.map));
    const field_state *field = stage_get(place, &product_field);
    const cutoff_layout layout = cutoff_kernel_layout(kernel);
    const places_array array = {.n = {points.n[0], points.n[1], planes},
                                .in_cubes = layout.in_cubes,
                                .edge = layout.edge,
                                .pitch = {layout.pitch[0], layout.pitch[1]}};
    added *a = calloc(1, sizeof *a);
    if (a == NULL)
        return ley_fail_memory(error, sizeof *a, "a device's map");
    *state = a;
    a->solver = &field->solver;
    return transfer_map_create(&a->map, solver_lattices(a->solver), solver_array(a->solver), &points, &array,
                               task->constant, memory, error);
}

static void add(void *state, work *w, int64_t first, int64_t planes, buffer_of_float phi)
{
    const added *a = state;
    work_step(w, MSM_STEP_INTERPOLATION);
    transfer_interpolate(w, solver_lattices(a->solver), &a->map, first, planes, true, solver_potentials(a->solver),
                         phi);
}

static const cutoff_addition addition = {.begin = begin_addition, .end = free, .add = add};

/* ---- The result ------------------------------------------------------------------------------ */

static void note_solver(const msm_task *task, notes *n)
{
    if (task->options.solver == LEY_SOLVER_FFT) {
        notes_number(n, "spectrum_s", task->spectrum_s);
        notes_number(n, "transforms_s", task->step_s[SPECTRAL_FORWARD] + task->step_s[SPECTRAL_BACK]);
        notes_number(n, "product_s", task->step_s[SPECTRAL_PRODUCT]);
        return;
    }
    notes_number(n, "restriction_s", task->step_s[CYCLE_RESTRICTION]);
    notes_number(n, "lattice_cutoff_s", task->step_s[CYCLE_LATTICE_CUTOFF]);
    notes_number(n, "top_level_s", task->step_s[CYCLE_TOP_LEVEL]);
    notes_number(n, "prolongation_s", task->step_s[CYCLE_PROLONGATION]);
}

static void note_lattices(const msm_task *task, notes *n)
{
    const hierarchy *h = &task->lattices;
    notes_text(n, "splitting", splitting_name(h->level[0].split.kind));
    notes_text(n, "window", h->window->name);
    notes_text(n, "solver", h->solver == HIERARCHY_FFT ? "fft" : "direct");
    if (task->why[0] != '\0')
        notes_text(n, "otherwise", task->why);
    notes_number(n, "lattice_spacing_A", task->options.spacing_A);
    notes_count(n, "levels", h->levels);
    notes_text(n, "lattices", task->extents);
    notes_number(n, "expected_error", task->expected);
    notes_number(n, "spread_s", task->spread_s);
    notes_number(n, "anterpolation_s", task->step_s[CYCLE_ANTERPOLATION]);
    note_solver(task, n);
    notes_number(n, "interpolation_s", task->near.step_s[MSM_STEP_INTERPOLATION]);
}

static void note(const void *context, notes *n)
{
    const msm_task *task = context;
    const double background_e = ley_long_range_background_e(task->near.atoms, &task->options);
    if (task->lattices.levels > 0)
        note_lattices(task, n);
    else
        notes_count(n, "levels", 0);
    if (background_e != 0)
        notes_number(n, "background_e", background_e);
    notes_number(n, "short_range_s", task->near.step_s[MSM_STEP_SHORT_RANGE]);
    cutoff_note(task, n);
    if (task->lattices.levels > 0)
        notes_phase(n, "phase_lattices", task->predicted_s, task->lattices_s);
}

static void terms(const void *context, reference_terms *t)
{
    const msm_task *task = context;
    *t = (reference_terms){.term = LEY_TERM_LONG_RANGE,
                           .constant = task->constant,
                           .atoms = task->near.atoms,
                           .r_min_A = task->options.r_min_A,
                           .kappa_per_A = task->options.kappa_per_A,
                           .cell = &task->lattices.cell,
                           .near_A = 2 * task->options.cutoff_A};
}

/* Below r_min pairs count as r_min apart, and lattices do not know of it. */
static double contact_error(const msm_task *task)
{
    const splitting *s = &task->lattices.level[0].split;
    const double r_min = task->options.r_min_A / task->options.cutoff_A;
    return task->lattices.levels > 0 ? 2 * r_min * (splitting_gamma(s, 0) - splitting_gamma(s, r_min)) : 0;
}

/* Errors are as large as expected_error() says where charges are independent of each other: of some
 * thousand points the worst is off by four to five times that, with every window and splitting.
 * Molecules, crystals and charges of one sign are off by less (tests/test_msm.c), but for heaps of
 * charges of one sign between the same nodes; a wrong lattice by what it carries, a hundred times
 * more. */
static accuracy_limits limits(const void *context)
{
    const double safety = 8;
    const msm_task *task = context;
    const ley_pair steepest = task->options.kappa_per_A > 0 ? LEY_PAIR_YUKAWA : LEY_PAIR_COULOMB;
    const double together = task->lattices.levels > 0 ? task->expected * spread_coherence(task->atoms) : 0;
    return (accuracy_limits){safety * together + contact_error(task) + cutoff_promise(&task->near, steepest),
                             ACCURACY_NOTHING};
}

static const product *const made_by_bins[] = {&cutoff_product_bins, NULL},
                            *const made_by_field[] = {&product_field, NULL},
                            *const needed_by_sum[] = {&cutoff_product_bins, &product_field, NULL};

static const stage stages[] = {
    [MSM_STAGE_BINS] = CUTOFF_STAGE_BINS(made_by_bins),
    [MSM_STAGE_OVERFLOW] = CUTOFF_STAGE_OVERFLOW,
    [MSM_STAGE_FIELD] = {.name = "field",
                         .split = STAGE_EACH_DEVICE,
                         .makes = made_by_field,
                         .is_wanted = field_is_wanted,
                         .wish = wish_field,
                         .wish_destroy = free,
                         .ready = ready_field,
                         .begin = begin_field,
                         .end = end_field,
                         .submit = submit_field,
                         .collect = collect_field,
                         .drop = drop_field},
    [MSM_STAGE_SUM] = CUTOFF_STAGE_SUM(needed_by_sum),
};

const method method_msm = {
    .name = "msm",
    .kernel = &cutoff_kind,
    .needs = cutoff_needs,
    .prepare = prepare,
    .otherwise = otherwise,
    .release = release,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = MSM_STAGE_SUM,
    .points = cutoff_count_points,
    .evaluations = cutoff_count_pairs,
    .finish = cutoff_finish,
    .note = note,
    .plan_rows = cutoff_plan_rows,
    .piece_planes = CUTOFF_LAYER,
    .decisions = cutoff_decisions,
    .error_scale = "the root of the squared terms",
    .terms = terms,
    .limits = limits,
    .point = cutoff_point,
    .value = cutoff_value,
    .bench = &bench_msm,
};
