/* Long-range potentials as a method: phi_i = C sum_j q_j / max(r_ij, r_min), all pairs and images,
 * screened or not, as a sum within the cutoff and a smooth rest on lattices. Hardy, Stone,
 * Schulten, Parallel Computing 35, 164 (2009), equations 11 to 17.
 *
 * Data: charges into the finest lattice's bins, on all host cores, and to each device; or by each
 * device, where these bin for the short-range sum. Each device makes the potentials of the finest
 * lattice for itself and keeps them. The short-range sum's slabs
 * (methods/cutoff/stages.h) get these interpolated and added before they travel, so that the map
 * crosses the bus once. Bounds: those of the short-range sum; of the rest, multiply-adds of the
 * lattice cutoff. */
#include "methods/msm/method.h"

#include "clock.h"
#include "core/atoms.h"
#include "core/map.h"
#include "core/options.h"
#include "error.h"
#include "judge/long_range.h"
#include "log.h"
#include "methods/cutoff/stages.h"
#include "methods/msm/beside.h"
#include "methods/msm/device_spread.h"
#include "methods/msm/fit.h"
#include "methods/msm/kept_spectrum.h"
#include "methods/msm/pairs.h"
#include "methods/msm/problem.h"
#include "methods/msm/solver.h"
#include "numerics/influence.h"
#include "parallel.h"
#include "run/forecast.h"
#include "run/job.h"
#include "run/job_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_SIZE = 256 };

typedef struct msm_task {
    cutoff_task near;       /* the first member: cutoff's stages take this for their task */
    ley_long_range options; /* the solver resolved; but for `fft`: */
    char library[16];       /* empty: whichever is fastest */
    hierarchy lattices;     /* none, of 0 levels, where screening leaves nothing to them */
    double constant;        /* C */
    beside_figures figures; /* once the sums are done */
    char extents[160];      /* "60 x 60 x 60, 33 x 33 x 33" */
    char transforms[160];   /* whose: "vkfft 1.2.26"; and in place of whose, and why. Under the mutex of `near`: */
    char passed_over[256];  /* "clfft: its known answer was wrong" */
    double spread_s, step_s[WORK_STEPS]; /* under the mutex of `near`, of the slowest device; and: */
    double lattices_s, predicted_s, spectrum_s;

    ley_long_range other; /* in place of the options, where no device has transforms; and why that was taken: */
    bool has_other;
    char why[WHY_SIZE]; /* empty: it was not */

    beside beside; /* from prepare() to release() */
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

static void add_needs(const ley_atoms *atoms, const ley_lattice *lattice, const ley_long_range *r, const hierarchy *h,
                      job_needs *needs)
{
    pairs_formula formula;
    const ley_short_range near = near_of(r, h, &formula);
    cutoff_problem_needs(atoms, lattice, &near, needs);
    if (h->levels > 0)
        job_needs_add(needs, "atoms in a lattice's bins", msm_bytes(h, ley_atoms_count(atoms)),
                      "fewer atoms, or a wider --lattice-spacing");
}

static void host_needs(const void *context, job_needs *needs)
{
    const msm_task *task = context;
    job_needs_map(needs, ley_map_lattice(task->near.map), map_get_store(task->near.map) != NULL, CUTOFF_LAYER);
    add_needs(task->near.atoms, ley_map_lattice(task->near.map), &task->options, &task->lattices, needs);
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
    job_needs_map(&needs, lattice, false, CUTOFF_LAYER);
    if (msm_lattices(&r, atoms, lattice, &h, NULL) == LEY_OK)
        add_needs(atoms, lattice, &r, &h, &needs);
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

/* Anterpolated charges do not sum to what atoms do, by the digits of floats, and the mean potential
 * has that in full. */
static ley_status check_mean(const hierarchy *h, const ley_atoms *atoms, ley_error *error)
{
    const double most = 50, mean = cycle_mean(h), total_e = ley_atoms_total_charge_e(atoms),
                 *charge_e = ley_atoms_charges_e(atoms);
    double square_e2 = 0;
    if (h->levels == 0 || h->solver != HIERARCHY_DIRECT || mean * h->level[0].cutoff_A <= most)
        return LEY_OK;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        square_e2 += charge_e[i] * charge_e[i];
    return !cycle_has_mean(h, ley_atoms_count(atoms), total_e, square_e2)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT,
                          "a net charge of %g e, repeated along %s axes and screened as weakly as this, has so large a "
                          "mean potential that solver direct has no digits left for the rest: --solver fft has, and so "
                          "has direct where charges sum to 0",
                          total_e, h->cell.dimensions == 3 ? "three" : "two");
}

static ley_status init_task(msm_task *task, const ley_atoms *atoms, ley_map *map, const ley_long_range *r,
                            ley_error *error)
{
    pairs_formula formula;
    ley_status status = msm_lattices(r, atoms, ley_map_lattice(map), &task->lattices, error);
    if (status == LEY_OK)
        status = check_mean(&task->lattices, atoms, error);
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
    ley_long_range fitted;
    job_plan *given = NULL;
    char why[WHY_SIZE] = "";
    ley_run_options run = {.decision_count = 0};
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, &fitted, range, error);
    if (status == LEY_OK)
        status = OPTIONS_TAKE(ley_run_options, decisions, &run, options, error);
    if (status == LEY_OK && run.decision_count > 0)
        status = plan_of_list(run.decisions, run.decision_count, &given, error);
    if (status == LEY_OK && ley_lattice_check(ley_map_lattice(map), NULL) == LEY_OK)
        fit_solver(engine, atoms, ley_map_lattice(map), given, &fitted, why, sizeof why);
    plan_destroy(given);
    if (status == LEY_OK)
        status = msm_task_create(atoms, map, &fitted, &task, error);
    if (status != LEY_OK)
        return status;
    memcpy(((msm_task *)task)->why, why, sizeof why);
    return job_create(engine, &method_msm, task, atoms, options, job, error);
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

/* Of plans and reports, by ley_solver; a task's is never auto. */
static const char *const solver_words[] = {LEY_SOLVER_TABLE(LEY_NAME) NULL};

/* The solver that a plan says is taken: the other one where that had come to pass. */
static ley_status take_solver(msm_task *task, const job_plan *given, ley_error *error)
{
    const char *planned = plan_word(given, NULL, "solver");
    const bool is_direct = planned != NULL && strcmp(planned, "direct") == 0;
    const int64_t levels = plan_number(given, NULL, "levels");
    if (planned == NULL || task->lattices.levels == 0)
        return LEY_OK;
    if (is_direct && task->options.solver != LEY_SOLVER_DIRECT && !otherwise(task, "as the plan says"))
        return plan_fail(error, "solver is to be direct, and %s is asked for", solver_words[task->options.solver]);
    if (strcmp(planned, solver_words[task->options.solver]) != 0)
        return plan_fail(error, "solver is to be %s, and what is asked for is %s", planned,
                         solver_words[task->options.solver]);
    if (task->options.solver == LEY_SOLVER_MIXED && levels > 0 && levels != task->lattices.levels)
        return plan_fail(error, "levels are to be %lld, and what is asked for has %d", (long long)levels,
                         task->lattices.levels);
    task->has_other = false;
    return LEY_OK;
}

/* Splitting, cutoff and lattice are those that are asked for: ley_long_range_choose() has taken
 * them from the plan. */
static ley_status check_lattices(const msm_task *task, const job_plan *given, ley_error *error)
{
    const ley_long_range *r = &task->options;
    const char *split = plan_word(given, NULL, "splitting"), *own = msm_splitting_words[r->splitting];
    const double cutoff_A = plan_real(given, "cutoff"), spacing_A = plan_real(given, "spacing");
    if (split != NULL && strcmp(split, own) != 0)
        return plan_fail(error, "splitting is to be %s, and %s is asked for", split, own);
    if (isfinite(cutoff_A) && cutoff_A != r->cutoff_A)
        return plan_fail(error, "cutoff is to be %g A, and %g A is asked for", cutoff_A, r->cutoff_A);
    if (isfinite(spacing_A) && spacing_A != r->spacing_A)
        return plan_fail(error, "spacing is to be %g A, and %g A is asked for", spacing_A, r->spacing_A);
    return LEY_OK;
}

/* The window is that of the solver that is taken. */
static ley_status check_window(const msm_task *task, const job_plan *given, ley_error *error)
{
    const char *planned = plan_word(given, NULL, "window"), *own = msm_window_words[task->options.window];
    return planned == NULL || strcmp(planned, own) == 0
               ? LEY_OK
               : plan_fail(error, "window is to be %s, and %s is asked for", planned, own);
}

/* And the libraries are those that are asked for. */
static ley_status check_libraries(const msm_task *task, const job_plan *given, ley_error *error)
{
    for (size_t i = 0; given != NULL && task->library[0] != '\0' && i < given->count; i++)
        if (strcmp(given->list[i].name, "fft") == 0 &&
            strncmp(given->list[i].value, task->library, strlen(task->library)) != 0)
            return plan_fail(error, "fft of %s is to be %s, and %s is asked for", given->list[i].device,
                             given->list[i].value, task->library);
    return LEY_OK;
}

/* Where devices bin atoms for their short-range sums, they do so for their lattices, too. */
static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    msm_task *task = context;
    const hierarchy *h = &task->lattices;
    memset(task->step_s, 0, sizeof task->step_s);
    memset(task->near.step_s, 0, sizeof task->near.step_s);
    task->lattices_s = task->spread_s = 0;
    task->transforms[0] = task->passed_over[0] = '\0';
    ley_status planned = check_lattices(task, job->plan, error);
    if (planned == LEY_OK)
        planned = take_solver(task, job->plan, error);
    if (planned == LEY_OK)
        planned = check_window(task, job->plan, error);
    if (planned == LEY_OK)
        planned = check_libraries(task, job->plan, error);
    if (planned != LEY_OK)
        return planned;
    if (h->levels == 0) {
        log_say(LEY_LOG_NOTE, "plan: no lattices: screening leaves nothing beyond the cutoff");
        return cutoff_prepare(task, job, error);
    }
    log_say(LEY_LOG_NOTE, "plan: %s, %s, lattices of %s nodes", splitting_name(h->level[0].split.kind), h->window->name,
            task->extents);
    ley_status status = cutoff_begin_preparing(task, job, error);
    if (status != LEY_OK)
        return status;
    const bool by_devices = task->near.plan.binning == LEY_PLACE_DEVICE;
    const spread *atoms;
    task->near.keeps_atoms = by_devices;
    if (job->only_plans)
        return cutoff_end_preparing(task, error);
    beside_begin(&task->beside, h, task->near.atoms, job->cancelled, !by_devices);
    status = cutoff_end_preparing(task, error);
    return status == LEY_OK && !by_devices ? beside_take_atoms(&task->beside, &atoms, error) : status;
}

static ley_status finish(void *context, ley_error *error)
{
    msm_task *task = context;
    const ley_status status = cutoff_finish(task, error);
    if (status != LEY_OK || task->lattices.levels == 0)
        return status;
    const ley_status judged = beside_take_figures(&task->beside, &task->figures, error);
    if (judged == LEY_OK)
        log_say(LEY_LOG_NOTE, "lattices are expected to be off by %.2g", task->figures.expected);
    return judged;
}

static void release(void *context, bool is_kept)
{
    msm_task *task = context;
    beside_end(&task->beside, is_kept);
    cutoff_release(task, is_kept);
}

/* ---- The lattices' potentials, on each device ------------------------------------------------ */

static const product product_field = {.name = "field"};

typedef struct field_wish {
    hierarchy lattices;
    transfer_wish transfer;
    int sum;
    fft_wish fft;
    char library[16]; /* of `fft`, where one is asked for */
    job_plan *plan;   /* whose libraries are taken; or NULL */
    bool spreads;     /* the device puts atoms into bins */
    bool only_plans;  /* nothing is going to be computed: no transforms are made */
} field_wish;

/* Of plans: a library, with tables or without. */
static const char *const library_words[] = {"vkfft", "vkfft-tables", "clfft", "cufft", NULL};
static const char tables_word[] = "-tables";

typedef struct field_state {
    msm_task *task;
    hierarchy lattices; /* its own: a device that is late outlives the task */
    solver solver;
    device_spread spread;
    bool is_ready;
    const atomic_bool *unwanted;
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
    w->spreads = task->near.keeps_atoms;
    w->only_plans = job->only_plans;
    if (task->library[0] != '\0')
        w->fft.library = strcpy(w->library, task->library);
    *wish = w;
    return plan_copy(job->plan, &w->plan, error);
}

static void destroy_field_wish(void *wish)
{
    field_wish *w = wish;
    if (w != NULL)
        plan_destroy(w->plan);
    free(w);
}

/* What the plan says of the device's transforms. */
static fft_wish fft_wish_of(const field_wish *w, const dev_info *info, char library[16])
{
    const char *planned = plan_word(w->plan, info, "fft");
    fft_wish fft = w->fft;
    if (planned == NULL)
        return fft;
    const char *tables = strstr(planned, tables_word);
    snprintf(library, 16, "%.*s", (int)(tables != NULL ? tables - planned : 15), planned);
    fft.library = library;
    fft.tables = tables != NULL ? FFT_TABLES_YES : FFT_TABLES_NO;
    return fft;
}

static void note_library(const dev_fft *fft, kernel_notes *noted)
{
    char word[32];
    snprintf(word, sizeof word, "%s%s", fft->library, fft->tables ? tables_word : "");
    for (size_t i = 0; library_words[i] != NULL; i++)
        if (strcmp(library_words[i], word) == 0) {
            noted->decisions[0].name = "fft";
            noted->decisions[0].word = library_words[i];
        }
}

static ley_status ready_field(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const field_wish *w = wish;
    char library[16];
    const fft_wish fft = fft_wish_of(w, device->info, library);
    field_state *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a device's lattices");
    *state = f;
    f->lattices = w->lattices;
    f->flight.device = device;
    f->is_ready = true;
    if (w->spreads)
        device_spread_create(device, &f->spread);
    const ley_status status = (w->only_plans ? solver_foresee : solver_ready)(&f->solver, device, &f->lattices,
                                                                              &w->transfer, w->sum, &fft, error);
    const spectral *by = solver_spectral(&f->solver);
    if (status == LEY_OK && by != NULL)
        note_library(&by->fft, noted);
    return status;
}

static void note_spreading(msm_task *task, double seconds)
{
    pthread_mutex_lock(&task->near.mutex);
    task->spread_s = fmax(task->spread_s, seconds);
    pthread_mutex_unlock(&task->near.mutex);
}

static ley_status load_host_atoms(field_state *f, ley_error *error)
{
    const spread *atoms;
    const ley_status status = beside_take_atoms(&f->task->beside, &atoms, error);
    if (status != LEY_OK)
        return status;
    note_spreading(f->task, f->task->beside.spread_s);
    return solver_load(&f->solver, atoms, error);
}

/* *declined: why the host must put the atoms into bins; NULL: the device has. */
static ley_status load_device_atoms(field_state *f, const device_atoms *atoms, const char **declined, ley_error *error)
{
    const ley_atoms *of = f->task->near.atoms;
    const double start_s = ley_clock_s();
    spread s;
    ley_status status = spread_begin(&f->lattices, atoms->n, ley_atoms_charges_e(of), &s, error);
    if (status != LEY_OK)
        return status;
    status = device_spread_run(&f->spread, solver_room(&f->solver), &f->lattices, atoms, &s, solver_atoms(&f->solver),
                               declined, error);
    const double spread_s = ley_clock_s() - start_s;
    if (status == LEY_OK && *declined == NULL) {
        note_spreading(f->task, spread_s);
        status = solver_load(&f->solver, &s, error);
    }
    spread_clear(&s);
    return status;
}

static ley_status load_field(field_state *f, const stage_place *place, ley_error *error)
{
    const device_atoms *atoms = cutoff_bins_atoms(place);
    const char *declined = "it has not binned them before";
    const ley_status status = atoms != NULL ? load_device_atoms(f, atoms, &declined, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    cutoff_bins_free_atoms(place);
    if (declined == NULL)
        return LEY_OK;
    if (atoms != NULL)
        log_say(LEY_LOG_NOTE, "%s: the host puts atoms into the lattice's bins: %s", place->device->info->name,
                declined);
    return load_host_atoms(f, error);
}

static ley_status begin_field(void *context, const stage_place *place, void **state, ley_error *error)
{
    field_state *f = *state;
    f->task = context;
    solver_room(&f->solver)->within = place->room;
    f->unwanted = place->is_unwanted != NULL ? place->is_unwanted : place->job->cancelled;
    solver_cancel_by(&f->solver, f->unwanted);
    stage_make(place, &product_field, f);
    const ley_status status = load_field(f, place, error);
    if (status == LEY_CANCELLED) /* it may begin once more */
        solver_unload(&f->solver);
    return status;
}

static size_t field_lent_bytes(const void *state)
{
    return solver_lent_bytes(&((const field_state *)state)->solver);
}

static dev_buffer *lent_field(const void *state)
{
    return solver_potentials(&((const field_state *)state)->solver).buffer;
}

static ley_status borrow_field(void *context, const stage_place *place, void **state, dev_buffer **buffer,
                               ley_error *error)
{
    field_state *f = *state;
    f->task = context;
    solver_unload(&f->solver);
    solver_room(&f->solver)->within = place->room;
    cutoff_bins_free_atoms(place);
    stage_make(place, &product_field, f);
    const ley_status status = solver_borrow(&f->solver, error);
    *buffer = solver_potentials(&f->solver).buffer;
    return status;
}

static double predict_field(const void *context, const void *state)
{
    const msm_task *task = context;
    return solver_seconds(&((const field_state *)state)->solver, ley_atoms_count(task->near.atoms));
}

static ley_status forecast_field(void *context, const stage_place *place, void *state, device_forecast *f,
                                 ley_error *error)
{
    const msm_task *task = context;
    const solver *s = &((const field_state *)state)->solver;
    const size_t atoms = ley_atoms_count(task->near.atoms);
    double largest;
    const double lattices = solver_bytes(s, &largest), bins = msm_bytes(&task->lattices, atoms);
    (void)place;
    solver_describe(s, f->details, sizeof f->details);
    if (solver_prepare_s(s) > 0)
        forecast_before(f, "plans of transforms", solver_prepare_s(s));
    forecast_before(f, "lattices", solver_seconds(s, atoms));
    forecast_slabs(f, "interpolation", transfer_interpolation_s(solver_kernels(s), ley_map_lattice(task->near.map)->n),
                   false);
    const ley_status status = forecast_need(f, "lattices", lattices, largest, error),
                     binned = forecast_need(f, "atoms in a lattice's bins", bins, (double)atoms * sizeof(float[4]),
                                            status == LEY_OK ? error : NULL);
    return status == LEY_OK ? binned : status;
}

static void end_field(void *state)
{
    field_state *f = state;
    work_end(&f->work);
    if (f->is_ready)
        solver_end(&f->solver);
    device_spread_destroy(&f->spread);
    free(f);
}

static ley_status submit_field(void *state, int slot, slab piece, ley_error *error)
{
    field_state *f = state;
    (void)slot, (void)piece;
    work_begin(&f->work, &f->flight, f->unwanted);
    solver_run(&f->solver, &f->work);
    return work_status(&f->work, error);
}

/* Each text once, whatever devices there are. */
static void add_text(char *to, size_t size, const char *text)
{
    const size_t used = strlen(to);
    if (text[0] != '\0' && strstr(to, text) == NULL)
        snprintf(to + used, size - used, "%s%s", used > 0 ? "; " : "", text);
}

/* The caller holds the mutex. */
static void note_transforms(msm_task *task, const dev_fft *fft)
{
    char text[96];
    snprintf(text, sizeof text, "%s %s%s", fft->library, fft->version, fft->tables ? " with tables" : "");
    add_text(task->transforms, sizeof task->transforms, text);
    add_text(task->passed_over, sizeof task->passed_over, fft->passed_over);
}

static ley_status collect_field(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    field_state *f = state;
    msm_task *task = f->task;
    (void)slot, (void)piece;
    const ley_status status = work_finish(&f->work, error);
    *times = f->work.times;
    if (status == LEY_OK)
        solver_learn(&f->solver, times);
    pthread_mutex_lock(&task->near.mutex);
    const spectral *by = solver_spectral(&f->solver);
    if (by != NULL && status == LEY_OK)
        note_transforms(task, &by->fft);
    if (f->work.times.kernel_s > task->lattices_s) {
        task->lattices_s = f->work.times.kernel_s;
        task->predicted_s = f->work.times.unpredicted == 0 ? f->work.times.predicted_s : 0;
        task->spectrum_s = by != NULL ? by->spectrum_s : 0;
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
    const bool is_mixed = task->options.solver == LEY_SOLVER_MIXED;
    if (is_mixed || task->options.solver == LEY_SOLVER_FFT) {
        const double *step_s = task->step_s + (is_mixed ? CYCLE_FORWARD - SPECTRAL_FORWARD : 0);
        notes_text(n, "fft_library", task->transforms);
        if (task->passed_over[0] != '\0')
            notes_text(n, "fft_passed_over", task->passed_over);
        notes_number(n, "spectrum_s", task->spectrum_s);
        notes_number(n, "transforms_s", step_s[SPECTRAL_FORWARD] + step_s[SPECTRAL_BACK]);
        notes_number(n, "product_s", step_s[SPECTRAL_PRODUCT]);
    }
    if (task->options.solver == LEY_SOLVER_FFT)
        return;
    const bool has_levels = task->lattices.levels > 1; /* else all there is is the top one */
    if (has_levels) {
        notes_number(n, "restriction_s", task->step_s[CYCLE_RESTRICTION]);
        notes_number(n, "lattice_cutoff_s", task->step_s[CYCLE_LATTICE_CUTOFF]);
    }
    if (!is_mixed)
        notes_number(n, "top_level_s", task->step_s[CYCLE_TOP_LEVEL]);
    if (has_levels)
        notes_number(n, "prolongation_s", task->step_s[CYCLE_PROLONGATION]);
}

static void outline_lattices(const msm_task *task, notes *n)
{
    const hierarchy *h = &task->lattices;
    notes_text(n, "splitting", splitting_name(h->level[0].split.kind));
    notes_text(n, "window", h->window->name);
    notes_text(n, "solver", solver_words[task->options.solver]);
    if (task->why[0] != '\0')
        notes_text(n, "otherwise", task->why);
    notes_number(n, "lattice_spacing_A", task->options.spacing_A);
    notes_count(n, "levels", h->levels);
    notes_text(n, "lattices", task->extents);
}

static void outline(const void *context, notes *n)
{
    const msm_task *task = context;
    if (task->lattices.levels > 0)
        outline_lattices(task, n);
    else
        notes_count(n, "levels", 0);
    cutoff_outline(task, n);
}

static void note_lattices(const msm_task *task, notes *n)
{
    outline_lattices(task, n);
    notes_number(n, "expected_error", task->figures.expected);
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

/* Below its r_min the sum over pairs takes them for r_min apart, and lattices do not know of it. */
static double contact_error(const msm_task *task)
{
    const splitting *s = &task->lattices.level[0].split;
    return task->lattices.levels == 0
               ? 0
               : pairs_contact_error(s, task->options.cutoff_A, task->options.r_min_A, task->near.range.r_min_A);
}

/* Of charges that are independent of each other, but for those with the same nodes. Without
 * lattices, what is left beyond the cutoff. */
static double lattice_error(const msm_task *task)
{
    if (task->lattices.levels == 0)
        return 3 * exp(-task->options.kappa_per_A * task->options.cutoff_A);
    return task->figures.expected * task->figures.coherence;
}

/* What lattices may be off by, and what is left out beyond the cutoff, of the tolerance. */
static double own_error(const msm_task *task)
{
    const double safety = 8;
    return safety * lattice_error(task) + contact_error(task);
}

/* How large a value may be that is left out: of all charges just beyond the cutoff, and of as many
 * images as there are within two of these. */
static double left_out(const msm_task *task)
{
    const cell *c = &task->lattices.cell;
    const double a_A = task->options.cutoff_A;
    const double images = c->dimensions > 0 ? fmax(1, pow(4 * a_A, c->dimensions) / c->measure) : 1;
    return task->lattices.levels > 0 ? 0
                                     : fabs(task->constant) * ley_atoms_charge_magnitude_e(task->near.atoms) * images *
                                           exp(-task->options.kappa_per_A * a_A) / a_A;
}

/* Errors are as large as expected_error() says where charges are independent of each other: of some
 * thousand points the worst is off by four to five times that, with every window and splitting.
 * Molecules, crystals and charges of one sign are off by less (tests/test_msm.c), but for heaps of
 * charges of one sign between the same nodes; a wrong lattice by what it carries, a hundred times
 * more. */
static accuracy_limits limits(const void *context)
{
    const double transforms = 1e-6;
    const msm_task *task = context;
    const ley_pair steepest = task->options.kappa_per_A > 0 ? LEY_PAIR_YUKAWA : LEY_PAIR_COULOMB;
    const double rounding = cutoff_promise(&task->near, steepest, fmax(task->options.r_min_A, LEY_CONTACT));
    return (accuracy_limits){.tolerance = own_error(task) + rounding,
                             .nothing = ACCURACY_NOTHING,
                             .left_out = left_out(task),
                             .share = task->options.solver != LEY_SOLVER_DIRECT ? transforms : 0,
                             .rounding = rounding};
}

static const plan_row plan_rows[] = {CUTOFF_PLAN_ROWS,
                                     {.name = "splitting", .words = msm_splitting_words},
                                     {.name = "window", .words = msm_window_words},
                                     {.name = "cutoff", .high = 10000, .is_real = true},
                                     {.name = "spacing", .high = 10000, .is_real = true},
                                     {.name = "solver", .words = solver_words},
                                     {.name = "levels", .low = 2, .high = HIERARCHY_MOST_LEVELS},
                                     {.name = "fft", .of_device = true, .words = library_words},
                                     {.name = NULL}};

static void decide(const void *context, job_plan *made)
{
    const msm_task *task = context;
    const ley_long_range *r = &task->options;
    cutoff_decisions(&task->near, made);
    if (task->lattices.levels == 0)
        return;
    plan_add(made, NULL, "splitting", msm_splitting_words[r->splitting]);
    plan_add(made, NULL, "window", msm_window_words[r->window]);
    plan_add_real(made, NULL, "cutoff", r->cutoff_A);
    plan_add_real(made, NULL, "spacing", r->spacing_A);
    plan_add(made, NULL, "solver", solver_words[r->solver]);
    if (r->solver == LEY_SOLVER_MIXED)
        plan_add_number(made, NULL, "levels", task->lattices.levels);
}

static void terms(const void *context, reference_terms *t)
{
    const msm_task *task = context;
    const accuracy_limits all = limits(task);
    *t = (reference_terms){.term = LEY_TERM_LONG_RANGE,
                           .shares = {own_error(task) / all.tolerance, cutoff_place_A(&task->near) / all.tolerance},
                           .constant = task->constant,
                           .atoms = task->near.atoms,
                           .r_min_A = task->options.r_min_A,
                           .kappa_per_A = task->options.kappa_per_A,
                           .cell = &task->lattices.cell,
                           .near_A = 2 * task->options.cutoff_A};
}

/* Sums of nodes that a core is given for what its steps make, and waves of a transform. */
static const double most_pairs = 5e9, most_waves = 4e6;

static bool has_few_waves(const hierarchy *h)
{
    hierarchy top;
    int64_t n[3];
    hierarchy_top(h, &top);
    influence_extent(&top, n);
    return (double)n[0] * (double)n[1] * (double)n[2] <= most_waves;
}

static bool is_small(const hierarchy *h)
{
    int64_t reach[3];
    double pairs = 0;
    if (h->solver != HIERARCHY_DIRECT && !has_few_waves(h))
        return false;
    hierarchy_reach(h, reach);
    for (int k = 0; k < h->levels; k++) {
        const int64_t *of = h->level[k].n;
        const bool is_top = k == h->levels - 1;
        double each = 1;
        if (is_top && h->solver != HIERARCHY_DIRECT)
            break;
        for (int axis = 0; axis < 3; axis++)
            each *= 2 * (double)(is_top ? of[axis] : reach[axis]) + 1;
        pairs += (double)hierarchy_nodes(&h->level[k]) * each;
    }
    return pairs <= most_pairs * parallel_cores();
}

static ley_status by_steps(const void *context, size_t n, const double (*place_A)[3], double *value, ley_error *error)
{
    const msm_task *task = context;
    const hierarchy *h = &task->lattices;
    const ley_atoms *atoms = task->near.atoms;
    if (h->levels == 0 || !is_small(h))
        return ley_fail(error, LEY_ERROR_USAGE, "no lattices, or too large ones");
    double *near = malloc(n * sizeof *near);
    if (near == NULL)
        return ley_fail_memory(error, n * sizeof *near, "the verification");
    const ley_status status =
        long_range_potential(h, ley_atoms_count(atoms), ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms),
                             task->options.r_min_A, n, place_A[0], value, near, error);
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        value[i] = task->constant * (value[i] + near[i]);
    free(near);
    return status;
}

static void distrust(const void *context)
{
    (void)context;
    kept_spectrum_forget();
}

static const product *const made_by_bins[] = {&cutoff_product_bins, NULL},
                            *const made_by_field[] = {&product_field, NULL},
                            *const needed_by_sum[] = {&cutoff_product_bins, &product_field, NULL};

static const stage stages[] = {
    [MSM_STAGE_BINS] = CUTOFF_STAGE_BINS(made_by_bins),
    [MSM_STAGE_OVERFLOW] = CUTOFF_STAGE_OVERFLOW,
    [MSM_STAGE_FIELD] = {.name = "field",
                         .split = STAGE_EACH_DEVICE,
                         .needs = made_by_bins,
                         .makes = made_by_field,
                         .is_wanted = field_is_wanted,
                         .wish = wish_field,
                         .wish_destroy = destroy_field_wish,
                         .ready = ready_field,
                         .begin = begin_field,
                         .predict = predict_field,
                         .lent_bytes = field_lent_bytes,
                         .lent = lent_field,
                         .borrow = borrow_field,
                         .forecast = forecast_field,
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
    .host_needs = host_needs,
    .outline = outline,
    .host_s = cutoff_host_s,
    .end = end_task,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .result = MSM_STAGE_SUM,
    .points = cutoff_count_points,
    .evaluations = cutoff_count_pairs,
    .finish = finish,
    .note = note,
    .plan_rows = plan_rows,
    .piece_planes = CUTOFF_LAYER,
    .decisions = decide,
    .error_scale = "the root of the squared terms",
    .terms = terms,
    .limits = limits,
    .point = cutoff_point,
    .value = cutoff_value,
    .by_steps = by_steps,
    .distrust = distrust,
    .bench = &bench_msm,
};
