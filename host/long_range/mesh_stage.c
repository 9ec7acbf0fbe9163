#include "long_range/mesh_stage.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "long_range/estimate/parameter_search.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/mesh/device_spread.h"
#include "long_range/mesh/gather_points.h"
#include "long_range/model/problem.h"
#include "long_range/task.h"
#include "memory/upload.h"
#include "plan/forecast.h"
#include "target/points.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const product msm_product_field = {.name = "field"};

typedef struct field_wish {
    hierarchy meshes;
    local_levels levels; /* none are local: `meshes` are all, and not the lower ones of these */
    transfer_wish transfer;
    int sum;
    fft_wish fft;
    char library[16]; /* of `fft`, where one is asked for */
    job_plan *plan;   /* whose libraries are taken; or NULL */
    bool spreads;     /* the device puts atoms into bins, */
    bool puts_long;   /* and into the mesh of long waves */
    bool awaits;      /* potentials that ranks make together */
    bool only_plans;  /* nothing is going to be computed: no transforms are made */
} field_wish;

/* Of plans: a library, with tables or without. */
const char *const msm_library_words[] = {"fftw", "vkfft", "vkfft-tables", "clfft", "cufft", NULL};
static const char tables_word[] = "-tables";

typedef struct field_state {
    msm_task *task;
    hierarchy meshes;    /* its own: a device that is late outlives the task */
    local_levels levels; /* where some are local, `solver` is of these alone, and of the others: */
    solver solver, upper;
    bool has_upper; /* ranks do not make the potentials of these together */
    float *top;     /* the potentials that local levels are given */
    device_spread spread;
    struct spread bins; /* where the device puts atoms into bins */
    device_long longs;
    bool is_ready, puts_long;
    bool awaits;               /* potentials of all ranks, which each device has from the host */
    bool is_loaded;            /* with meshes that stay, and atoms that others are to take the place of */
    long_charges long_charges; /* by the device: */
    long_wavelengths long_wavelengths;
    const atomic_bool *unwanted;
    flight flight;
    command_sequence command_sequence;
} field_state;

bool msm_field_is_wanted(const void *context)
{
    return ((const msm_task *)context)->meshes.levels > 0;
}

/* Whether the mesh's axes are those of the map, in the same order and directions: a coordinate on
 * the mesh then follows from one of the map. What directions are apart by rounding is nothing to
 * weights, which are floats. */
static bool is_along_axes(const hierarchy *h, const ley_grid *points)
{
    const double rounding = 1e-8; /* of nodes */
    bool is = true;
    for (int axis = 0; axis < 3; axis++)
        for (int m = 0; m < 3; m++) {
            const double nodes = transfer_step_nodes(h, axis, points->step_A[m]);
            is = is && (m == axis ? nodes > 0 : fabs(nodes) * (double)points->n[m] <= rounding);
        }
    return is;
}

/* Whether the map's rows are along the mesh's first axis. */
static bool is_along_rows(const hierarchy *h, const ley_grid *points)
{
    const double *step_A = points->step_A[0];
    return transfer_step_nodes(h, 0, step_A) > 0 && transfer_is_no_step(transfer_step_nodes(h, 1, step_A)) &&
           transfer_is_no_step(transfer_step_nodes(h, 2, step_A));
}

void msm_transfer_wish(const struct msm_task *task, transfer_wish *wish)
{
    const hierarchy *h = &task->meshes;
    const ley_grid *points = &task->points;
    *wish = (transfer_wish){.window = h->window,
                            .along_axes = task->near.map != NULL && is_along_axes(h, points),
                            .oblique = !ley_grid_is_orthogonal(points),
                            .of_list = task->near.map == NULL,
                            .by_plane = h->solver == HIERARCHY_FOURIER && spectral_is_by_plane(h),
                            .field = msm_has_field(task)};
    double spacing_A[3];
    ley_grid_spacing_A(points, spacing_A);
    wish->along_rows = task->near.map != NULL && !wish->along_axes && is_along_rows(h, points);
    for (int axis = 0; axis < (wish->along_axes ? 3 : wish->along_rows ? 1 : 0); axis++)
        wish->nodes_per_point[axis] = spacing_A[axis] / cell_length(h->step_A[axis]);
}

ley_status msm_field_wish(const void *context, const job_view *job, void **wish, ley_error *error)
{
    const msm_task *task = context;
    field_wish *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "the job");
    w->levels = task->share.levels;
    w->meshes = w->levels.count > 0 ? w->levels.lower : task->meshes;
    msm_transfer_wish(task, &w->transfer);
    w->sum = job->options->sum;
    w->spreads = task->near.keeps_atoms;
    w->puts_long = task->long_place == LEY_PLACE_DEVICE;
    w->awaits = task->share.transforms;
    w->only_plans = job->only_plans;
    if (task->library[0] != '\0')
        w->fft.library = strcpy(w->library, task->library);
    *wish = w;
    return plan_copy(job->plan, &w->plan, error);
}

void msm_field_wish_destroy(void *wish)
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
    for (size_t i = 0; msm_library_words[i] != NULL; i++)
        if (strcmp(msm_library_words[i], word) == 0) {
            noted->decisions[0].name = "fft";
            noted->decisions[0].word = msm_library_words[i];
        }
}

/* What is done by transforms, or NULL. */
static const spectral *field_spectral(const field_state *f)
{
    return solver_spectral(f->has_upper ? &f->upper : &f->solver);
}

static ley_status ready_solver(solver *s, dev *device, const hierarchy *h, const field_wish *w, const fft_wish *fft,
                               ley_error *error)
{
    return (w->only_plans ? solver_foresee : solver_ready)(s, device, h, &w->transfer, w->sum, fft, error);
}

ley_status msm_field_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const field_wish *w = wish;
    char library[16];
    const fft_wish fft = fft_wish_of(w, device->info, library);
    field_state *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a device's meshes");
    *state = f;
    f->meshes = w->meshes;
    f->levels = w->levels;
    f->flight.device = device;
    f->is_ready = true;
    f->puts_long = w->puts_long;
    f->awaits = w->awaits;
    if (w->spreads || w->puts_long)
        device_spread_create(device, &f->spread);
    if (w->puts_long)
        device_long_create(device, &f->spread, &f->longs);
    ley_status status = ready_solver(&f->solver, device, &f->meshes, w, &fft, error);
    if (status == LEY_OK && w->levels.count > 0 && !w->awaits) {
        f->has_upper = true;
        status = ready_solver(&f->upper, device, &f->levels.upper, w, &fft, error);
    }
    const spectral *by = field_spectral(f);
    if (status == LEY_OK && by != NULL)
        note_library(&by->fft, noted);
    return status;
}

/* ---- Long waves ------------------------------------------------------------------------------ */

static void forget_long(field_state *f)
{
    long_charges_clear(&f->long_charges);
    long_wavelengths_clear(&f->long_wavelengths);
}

static void note_long(msm_task *task, double seconds, double waited_s, bool by_host)
{
    pthread_mutex_lock(&task->near.mutex);
    task->long_s = fmax(task->long_s, seconds);
    task->long_wait_s = fmax(task->long_wait_s, waited_s);
    task->long_place = by_host ? LEY_PLACE_HOST : task->long_place;
    pthread_mutex_unlock(&task->near.mutex);
}

/* Those of the charges that the device has put there, or the host's. */
static ley_status take_long(void *context, const int64_t n[3], const long_wavelengths **waves, ley_error *error)
{
    field_state *f = context;
    const long_wavelengths_source host = host_threads_long_wavelengths(&f->task->host_threads);
    const double start_s = ley_clock_s();
    ley_status status = LEY_OK;
    if (f->long_charges.values_e == NULL)
        status = host.take(host.context, n, waves, error);
    else if (f->long_wavelengths.values == NULL)
        status = long_wavelengths_make(&f->meshes, n, &f->long_charges, f->unwanted, &f->long_wavelengths, error);
    if (f->long_charges.values_e != NULL)
        *waves = &f->long_wavelengths;
    note_long(f->task, 0, ley_clock_s() - start_s, false);
    return status;
}

/* Atoms that are not on the device go there for it alone. */
static ley_status put_sent(field_state *f, arena *memory, const char **declined, ley_error *error)
{
    const ley_atoms *of = f->task->near.atoms;
    device_atoms atoms = {.n = ley_atoms_count(of)};
    const size_t bytes = atoms.n * sizeof(double);
    if (3 * (double)bytes > (double)arena_largest(memory) || 4 * (double)bytes > (double)arena_left(memory) ||
        arena_buffer(memory, 3 * bytes, DEV_READ_ONLY, &atoms.position.buffer, NULL) != LEY_OK ||
        arena_buffer(memory, bytes, DEV_READ_ONLY, &atoms.charge.buffer, NULL) != LEY_OK) {
        *declined = "its memory is too small";
        return LEY_OK;
    }
    ley_status status =
        upload_bytes(memory->device, atoms.position.buffer, 0, ley_atoms_positions_A(of), 3 * bytes, error);
    if (status == LEY_OK)
        status = upload_bytes(memory->device, atoms.charge.buffer, 0, ley_atoms_charges_e(of), bytes, error);
    return status == LEY_OK ? device_long_run(&f->longs, memory, &f->meshes, &atoms, &f->long_charges, declined, error)
                            : status;
}

/* `atoms` NULL: they are not on the device. */
static ley_status put_long(field_state *f, const device_atoms *atoms, ley_error *error)
{
    arena own = {.device = f->flight.device, .within = solver_room(&f->solver)};
    const char *declined = NULL;
    const double start_s = ley_clock_s();
    const ley_status status =
        atoms != NULL ? device_long_run(&f->longs, &own, &f->meshes, atoms, &f->long_charges, &declined, error)
                      : put_sent(f, &own, &declined, error);
    arena_clear(&own);
    if (declined != NULL)
        log_say(LEY_LOG_NOTE, "%s: the host makes long waves: %s", f->flight.device->info->name, declined);
    note_long(f->task, ley_clock_s() - start_s, 0, declined != NULL);
    return status;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static void note_spreading(msm_task *task, double seconds)
{
    pthread_mutex_lock(&task->near.mutex);
    task->spread_s = fmax(task->spread_s, seconds);
    pthread_mutex_unlock(&task->near.mutex);
}

static ley_status load(field_state *f, const spread *atoms, ley_error *error)
{
    return (f->is_loaded ? solver_load_atoms : solver_load)(&f->solver, atoms, error);
}

static ley_status load_host_atoms(field_state *f, ley_error *error)
{
    const spread *atoms;
    const ley_status status = host_threads_take_atoms(&f->task->host_threads, &atoms, error);
    if (status != LEY_OK)
        return status;
    note_spreading(f->task, f->task->host_threads.spread_s);
    return load(f, atoms, error);
}

/* Bins of the mesh, which stay as long as it does; with what transforms ask of the charges. */
static ley_status begin_spread(field_state *f, size_t n, ley_error *error)
{
    const bool is_there = f->bins.first != NULL && !solver_looks_at_charges(&f->solver);
    if (is_there)
        return LEY_OK;
    spread_clear(&f->bins);
    const ley_status status = spread_begin(&f->meshes, n, ley_atoms_charges_e(f->task->near.atoms), &f->bins, error);
    f->bins.total_e = ley_atoms_total_charge_e(f->task->near.atoms); /* the molecule's, of which these may be a part */
    return status;
}

/* *declined: why the host must put the atoms into bins; NULL: the device has. */
static ley_status load_device_atoms(field_state *f, const device_atoms *atoms, const char **declined, ley_error *error)
{
    const double start_s = ley_clock_s();
    ley_status status = begin_spread(f, atoms->n, error);
    if (status == LEY_OK)
        status = device_spread_run(&f->spread, solver_room(&f->solver), &f->meshes, atoms, &f->bins,
                                   solver_atoms(&f->solver), declined, error);
    if (status != LEY_OK || *declined != NULL)
        return status;
    note_spreading(f->task, ley_clock_s() - start_s);
    return load(f, &f->bins, error);
}

/* Levels above local ones, with charges from ranks in place of atoms. */
static ley_status load_upper(field_state *f, ley_error *error)
{
    const spread none = {.atoms = 0};
    return f->has_upper && !f->is_loaded ? solver_load(&f->upper, &none, error) : LEY_OK;
}

static ley_status load_field(field_state *f, const stage_place *place, ley_error *error)
{
    const device_atoms *atoms = cutoff_bins_atoms(place);
    const char *declined = "it has not binned them before";
    ley_status status = LEY_OK;
    forget_long(f);
    if (long_wavelengths_are_wanted(&f->meshes))
        solver_take_long_waves(&f->solver, (long_wavelengths_source){.take = take_long, .context = f});
    if (long_wavelengths_are_wanted(&f->meshes) && f->puts_long)
        status = put_long(f, atoms, error);
    if (atoms != NULL && status == LEY_OK)
        status = load_device_atoms(f, atoms, &declined, error);
    if (status != LEY_OK)
        return status;
    cutoff_bins_free_atoms(place);
    if (declined == NULL)
        return LEY_OK;
    if (atoms != NULL)
        log_say(LEY_LOG_NOTE, "%s: the host puts atoms into the mesh's bins: %s", place->device->info->name, declined);
    return load_host_atoms(f, error);
}

static void unload(field_state *f)
{
    solver_unload(&f->solver);
    if (f->has_upper)
        solver_unload(&f->upper);
}

ley_status msm_field_begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    field_state *f = *state;
    f->task = context;
    solver_room(&f->solver)->within = place->arena;
    if (f->has_upper)
        solver_room(&f->upper)->within = place->arena;
    f->unwanted = place->is_unwanted != NULL ? place->is_unwanted : place->job->cancelled;
    solver_cancel_by(&f->solver, f->unwanted);
    solver_cancel_by(&f->upper, f->unwanted);
    stage_make(place, &msm_product_field, f);
    solver_await_potentials(&f->solver, f->awaits);
    ley_status status = load_field(f, place, error);
    if (status == LEY_OK)
        status = load_upper(f, error);
    if (status == LEY_CANCELLED) /* it may begin once more */
        unload(f);
    return status;
}

ley_status msm_field_renew(void *context, const stage_place *place, void *state, ley_error *error)
{
    field_state *f = state;
    (void)context;
    f->is_loaded = true;
    solver_unload_atoms(&f->solver);
    return load_field(f, place, error);
}

size_t msm_field_lent_bytes(const void *state)
{
    const field_state *f = state;
    return f->awaits ? 0 : solver_lent_bytes(&f->solver);
}

dev_buffer *msm_field_lent(const void *state)
{
    return solver_potentials(&((const field_state *)state)->solver).buffer;
}

ley_status msm_field_borrow(void *context, const stage_place *place, void **state, dev_buffer **buffer,
                            ley_error *error)
{
    field_state *f = *state;
    f->task = context;
    unload(f);
    solver_room(&f->solver)->within = place->arena;
    cutoff_bins_free_atoms(place);
    stage_make(place, &msm_product_field, f);
    const ley_status status = solver_borrow(&f->solver, error);
    *buffer = solver_potentials(&f->solver).buffer;
    return status;
}

static double seconds(const field_state *f, size_t atoms)
{
    return solver_seconds(&f->solver, atoms) + (f->has_upper ? solver_seconds(&f->upper, 0) : 0);
}

double msm_field_predict(const void *context, const void *state)
{
    const msm_task *task = context;
    return seconds(state, ley_atoms_count(task->near.atoms));
}

/* Whether the short-range kernel interpolates by itself: what it takes then is among its own. */
static bool is_in_epilogue(const kernel_notes *noted)
{
    bool is = false;
    for (size_t i = 0; i < sizeof noted->decisions / sizeof *noted->decisions; i++)
        is = is || noted->decisions[i].word == cutoff_interpolation_words[0];
    return is;
}

/* What forecasts of several ranks are made of; NULL: there is no memory. */
static mesh_outlook *outlook_of(const msm_task *task, const stage_place *place, size_t atoms)
{
    mesh_outlook *o = calloc(1, sizeof *o);
    if (o == NULL)
        return NULL;
    o->meshes = task->meshes;
    o->atoms = atoms;
    o->can_part = task->near.map != NULL && isfinite(mesh_share_halo_A(&task->meshes, &task->points));
    o->near_A =
        task->near.map != NULL ? ley_short_range_halo_A(task->near.atoms, &task->points, &task->near.range) : INFINITY;
    o->device.info = place->device->info;
    for (size_t i = 0; i < place->job->device_count; i++)
        if (place->job->devices[i].info == place->device->info)
            o->device = place->job->devices[i];
    snprintf(o->library, sizeof o->library, "%s", task->library);
    return o;
}

ley_status msm_field_forecast(void *context, const stage_place *place, void *state, device_forecast *f,
                              ley_error *error)
{
    const msm_task *task = context;
    const solver *s = &((const field_state *)state)->solver;
    const size_t atoms = ley_atoms_count(task->near.atoms);
    double largest;
    const double meshes = solver_bytes(s, &largest), bins = msm_bytes(&task->meshes, atoms, 1);
    solver_describe(s, f->details, sizeof f->details);
    if (solver_prepare_s(s) > 0)
        forecast_before(f, "plans of transforms", solver_prepare_s(s));
    const double all_s = seconds(state, atoms);
    const double spread_s = fmin(transfer_anterpolation_s(solver_kernels(s), atoms), all_s);
    forecast_before(f, "spreading", spread_s);
    f->shared = outlook_of(task, place, atoms);
    f->foresee = f->shared != NULL ? mesh_share_foresee : NULL;
    forecast_before(f, "meshes", all_s - spread_s);
    if (task->long_place == LEY_PLACE_DEVICE)
        forecast_before(f, "long waves", (double)atoms * device_long_atom_s(place->device->info, NULL));
    if (task->near.map == NULL)
        forecast_slabs(
            f, "interpolation",
            gather_points_seconds(solver_kernels(s), &task->meshes, (double)ley_points_count(task->listed.points)),
            false);
    else if (!is_in_epilogue(place->notes))
        forecast_slabs(f, "interpolation", transfer_interpolation_s(solver_kernels(s), task->points.n), false);
    const ley_status status = forecast_need(f, "meshes", meshes, largest, error),
                     binned = forecast_need(f, "atoms in a mesh's bins", bins, (double)atoms * sizeof(float[4]),
                                            status == LEY_OK ? error : NULL);
    return status == LEY_OK ? binned : status;
}

void msm_field_end(void *state)
{
    field_state *f = state;
    sequence_end(&f->command_sequence);
    if (f->is_ready)
        solver_end(&f->solver);
    if (f->has_upper)
        solver_end(&f->upper);
    free(f->top);
    device_long_destroy(&f->longs);
    device_spread_destroy(&f->spread);
    spread_clear(&f->bins);
    forget_long(f);
    free(f);
}

/* This rank's share of the charges, from the atoms that are loaded. */
static ley_status make_share(void *context, spread_layers own, float *rows, ley_error *error)
{
    field_state *f = context;
    const spread *atoms;
    ley_status status = host_threads_take_atoms(&f->task->host_threads, &atoms, error);
    if (status == LEY_OK)
        status = solver_spread(&f->solver, &f->flight, own, rows, error);
    return status == LEY_OK ? mesh_share_check(&f->task->share, atoms, rows, error) : status;
}

static void note_common_levels(msm_task *task, double seconds)
{
    pthread_mutex_lock(&task->near.mutex);
    task->share.common_s = fmax(task->share.common_s, seconds);
    pthread_mutex_unlock(&task->near.mutex);
}

/* From charges of the first level that all ranks have, or its potentials, to what local levels are
 * given of it. */
static ley_status make_top(field_state *f, const float *rows, ley_error *error)
{
    const local_levels *l = &f->levels;
    const double start_s = ley_clock_s();
    const size_t own = local_levels_lower_numbers(l), all = f->has_upper ? local_levels_upper_numbers(l) : 0;
    float *potentials = malloc((all + 1) * sizeof *potentials);
    ley_status status = LEY_OK;
    free(f->top);
    f->top = malloc(own * sizeof *f->top);
    if (f->top == NULL || potentials == NULL)
        status = ley_fail_memory(error, (own + all) * sizeof *f->top, "the potentials of a level");
    if (status == LEY_OK && f->has_upper) {
        solver_take_charges(&f->upper, rows);
        status = solver_run_to_rows(&f->upper, &f->flight, potentials, error);
        note_common_levels(f->task, ley_clock_s() - start_s);
    }
    if (status == LEY_OK)
        local_levels_take(l, f->has_upper ? potentials : rows, f->top);
    free(potentials);
    solver_take_top_potentials(&f->solver, f->top);
    return status;
}

/* The charges or potentials that ranks have made together; or all atoms, where that did not come to
 * pass. */
static ley_status take_share(field_state *f, ley_error *error)
{
    const float *rows;
    const spread *atoms;
    ley_status status = mesh_share_take(&f->task->share, make_share, f, f->unwanted, &rows, error);
    if (status == LEY_OK && f->levels.count > 0)
        return make_top(f, rows, error);
    if (status != LEY_OK)
        return status;
    (f->task->share.transforms ? solver_take_potentials : solver_take_charges)(&f->solver, rows);
    if (rows != NULL)
        return LEY_OK;
    solver_await_potentials(&f->solver, false);
    solver_unload(&f->solver);
    status = host_threads_take_all_atoms(&f->task->host_threads, &atoms, error);
    return status == LEY_OK ? solver_load(&f->solver, atoms, error) : status;
}

ley_status msm_field_submit(void *state, int slot, slab piece, ley_error *error)
{
    field_state *f = state;
    (void)slot, (void)piece;
    const ley_status status = f->task->share.is_wanted ? take_share(f, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    sequence_begin(&f->command_sequence, &f->flight, f->unwanted);
    solver_run(&f->solver, &f->command_sequence);
    return sequence_status(&f->command_sequence, error);
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

ley_status msm_field_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    field_state *f = state;
    msm_task *task = f->task;
    (void)slot, (void)piece;
    const ley_status status = sequence_finish(&f->command_sequence, error);
    *times = f->command_sequence.times;
    if (status == LEY_OK)
        solver_learn(&f->solver, times);
    if (status == LEY_OK && task->near.map != NULL && !msm_has_field(task))
        search_note_pairs(f->flight.device->info, &task->options, &f->meshes.level[0].split,
                          task->near.job->options->sum);
    const spectral *by = field_spectral(f);
    if (status == LEY_OK && by != NULL)
        search_note_transform(f->flight.device->info, by->fft.n, task->options.cutoff_A);
    if (status == LEY_OK && task->options.solver != LEY_SOLVER_FOURIER)
        search_note_levels(f->flight.device->info, task->options.window);
    pthread_mutex_lock(&task->near.mutex);
    if (status == LEY_OK && by != NULL)
        note_transforms(task, &by->fft);
    if (f->command_sequence.times.kernel_s > task->meshes_s) {
        task->meshes_s = f->command_sequence.times.kernel_s;
        task->predicted_s = f->command_sequence.times.unpredicted == 0 ? f->command_sequence.times.predicted_s : 0;
        task->spectrum_s = by != NULL ? by->spectrum_s : 0;
        memcpy(task->step_s, f->command_sequence.times.step_s, sizeof task->step_s);
    }
    pthread_mutex_unlock(&task->near.mutex);
    return status;
}

void msm_field_drop(void *state, int slot)
{
    (void)slot;
    sequence_finish(&((field_state *)state)->command_sequence, NULL);
}

const solver *msm_field_solver(const stage_place *place)
{
    return &((const field_state *)stage_get(place, &msm_product_field))->solver;
}
