/* Stages of a short-range sum.
 *
 * Data: atoms into bins, on all host cores, and the bins to each device once; or the atoms to each
 * device, which bins them. A slab is some layers of planes, whose potentials come back through
 * page-locked staging and are put into the map's rows. */
#include "methods/cutoff/stages.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/short_range.h"
#include "methods/cutoff/step_costs.h"
#include "plan/forecast.h"
#include "schedule/job.h"
#include "schedule/slab_size.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_staging_bytes = 32 << 20;

/* So that most of the way back lies beside kernels; fewer of small maps, whose rows the host would
 * bring home in too small pieces. */
enum { LEAST_SLABS = 8 };
static const double small_slab_bytes = 1.5e6;

typedef struct cutoff_state {
    cutoff_task *task;
    cutoff_kernel kernel;
    const device_bins *bins;
    bool has_host_bins; /* in buffers of the kernel's own */
    int64_t slab_layers;
    cutoff_run slots[METHOD_SLOTS];
} cutoff_state;

/* ---- The task -------------------------------------------------------------------------------- */

void cutoff_task_clear(cutoff_task *task)
{
    short_range_free(&task->range);
    pthread_mutex_destroy(&task->mutex);
}

ley_status cutoff_task_init(cutoff_task *task, const ley_atoms *atoms, ley_map *map, const ley_short_range *r,
                            ley_error *error)
{
    *task = (cutoff_task){.atoms = atoms, .map = map};
    pthread_mutex_init(&task->mutex, NULL);
    ley_status status = short_range_check_atoms(r, atoms, r->r_min_A, error);
    if (status == LEY_OK)
        status = short_range_check_charges(r, atoms, error);
    return status == LEY_OK ? short_range_copy(r, ley_atoms_count(atoms), &task->range, error) : status;
}

/* At points it is their addition's. */
static bool has_field(const cutoff_task *task)
{
    return task->map != NULL && map_components(task->map) > 1;
}

int64_t cutoff_count_layers(const void *context)
{
    return cutoff_layers(ley_map_grid(((const cutoff_task *)context)->map));
}

int64_t cutoff_count_points(const void *context, slab s)
{
    const cutoff_task *task = context;
    const int64_t *n = ley_map_grid(task->map)->n, end = (s.first + s.count) * CUTOFF_LAYER;
    return ((end < n[2] ? end : n[2]) - s.first * CUTOFF_LAYER) * n[0] * n[1];
}

double cutoff_count_pairs(const void *context)
{
    return ((const cutoff_task *)context)->pairs;
}

/* ---- Once a job ------------------------------------------------------------------------------ */

static device_bins host_bins(const binned_atoms *b)
{
    return (device_bins){.bins = b->bins,
                         .extra_bins = b->extra_bins,
                         .binned = b->binned,
                         .overflow = b->overflow,
                         .outside = b->outside,
                         .neutral = b->neutral};
}

/* Of several devices the slowest counts; where one of them took the host's bins, the host does. The
 * caller holds the mutex, where there are devices. */
static void note_bins(cutoff_task *task, const device_bins *b, ley_place place, double predicted_s, double binning_s)
{
    const bool is_first = place == LEY_PLACE_HOST && task->plan.binning != LEY_PLACE_HOST;
    if ((is_first || place == task->plan.binning) && (is_first || binning_s > task->binning_s)) {
        task->binning_s = binning_s;
        task->predicted_binning_s = predicted_s;
    }
    if (place == LEY_PLACE_HOST)
        task->plan.binning = place;
    task->bins = *b;
}

static void log_plan(const cutoff_task *task)
{
    static const char *const places[] = {"auto", "host", "devices"};
    const ley_short_range *wish = &task->range;
    const cutoff_plan *p = &task->plan;
    const bool is_given = wish->binning != LEY_PLACE_AUTO && wish->transposition != LEY_PLACE_AUTO;
    log_say(LEY_LOG_NOTE, "plan: %lld bins of %d slots by %s, rows by %s%s", (long long)task->problem->plan.bins,
            task->problem->plan.options.depth, places[p->binning], places[p->transposition],
            is_given ? ", as asked for" : "");
    log_say(LEY_LOG_DETAIL, "plan: the host has taken %.3g s for bins", task->binning_s);
}

/* Takes a planned place where none is asked for. */
static ley_status take_place(const job_plan *given, const char *step, ley_place *place, ley_error *error)
{
    const ley_place planned = plan_place(given, step);
    if (planned != LEY_PLACE_AUTO && *place != LEY_PLACE_AUTO && planned != *place)
        return plan_fail(error, "%s is to be the %s's, and the options say otherwise", step,
                         plan_places[planned - LEY_PLACE_HOST]);
    *place = planned != LEY_PLACE_AUTO ? planned : *place;
    return LEY_OK;
}

static ley_status take_places(cutoff_task *task, const job_plan *given, ley_error *error)
{
    const ley_status status = take_place(given, "binning", &task->range.binning, error);
    return status == LEY_OK ? take_place(given, "transposition", &task->range.transposition, error) : status;
}

ley_status cutoff_begin_preparing(void *context, const job_view *job, ley_error *error)
{
    cutoff_task *task = context;
    const ley_short_range *r = &task->range;
    const ley_status taken = take_places(task, job->plan, error);
    if (taken != LEY_OK)
        return taken;
    if (!job->only_plans && !map_takes_values(task->map))
        return ley_fail(error, LEY_ERROR_USAGE, "the map has no values: it is for forecasts");
    task->job = job;
    task->problem = calloc(1, sizeof *task->problem);
    if (task->problem == NULL)
        return ley_fail_memory(error, sizeof *task->problem, "the problem");
    const double start_s = ley_clock_s();
    ley_status status = cutoff_problem_init(task->problem, task->atoms, ley_map_grid(task->map), r,
                                            ley_coulomb_constant(r->units, r->dielectric, r->temperature_K),
                                            r->dielectric, r->r_min_A, error);
    if (status == LEY_OK && has_field(task))
        status = cutoff_problem_add_field(task->problem, error);
    if (status == LEY_OK && (task->even_bins || job->options->sum == LEY_SUM_COMPENSATED))
        status = cutoff_problem_even_bins(task->problem, error);
    if (status != LEY_OK)
        return status;
    task->planned_s = ley_clock_s() - start_s;
    task->problem->plan.options.cancelled = job->cancelled;
    task->problem->is_part = task->addition != NULL;
    task->plan.binning = cutoff_plan_binning(job, r, task->problem);
    return LEY_OK;
}

ley_status cutoff_end_preparing(void *context, ley_error *error)
{
    cutoff_task *task = context;
    if (task->plan.binning != LEY_PLACE_DEVICE && !task->job->only_plans) {
        const double start_s = ley_clock_s();
        const ley_status status = cutoff_problem_bin(task->problem, error);
        if (status != LEY_OK)
            return status;
        const double binned_s = task->planned_s + (ley_clock_s() - start_s);
        const device_bins bins = host_bins(task->problem->binned);
        note_bins(task, &bins, LEY_PLACE_HOST, cutoff_host_binning_s(task->problem), binned_s);
    }
    const cutoff_problem *p = task->problem; /* bins are the devices', or nobody's, for a forecast: */
    task->pairs = p->binned == NULL ? cutoff_problem_expected_pairs(p) : cutoff_problem_pairs(p);
    if (job_view_cancelled(task->job))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    task->plan.transposition = cutoff_plan_transposition(&task->range);
    log_plan(task);
    return LEY_OK;
}

ley_status cutoff_prepare(void *context, const job_view *job, ley_error *error)
{
    const ley_status status = cutoff_begin_preparing(context, job, error);
    return status == LEY_OK ? cutoff_end_preparing(context, error) : status;
}

/* Bins lie where they lay, whatever is in them now. */
ley_status cutoff_renew(void *context, ley_error *error)
{
    cutoff_task *task = context;
    const ley_status status = cutoff_problem_move(task->problem, error);
    if (status != LEY_OK)
        return status;
    memset(task->step_s, 0, sizeof task->step_s);
    task->binning_s = task->transposition_s = task->upload_s = 0;
    task->predicted_upload_s = task->predicted_rows_s = task->planned_s = 0;
    return task->plan.binning == LEY_PLACE_DEVICE ? LEY_OK : cutoff_end_preparing(task, error);
}

void cutoff_release(void *context, bool is_kept)
{
    cutoff_task *task = context;
    if (task->problem != NULL && is_kept) { /* bins may still be on their way to a device */
        dev_keep(task->problem);
    } else if (task->problem != NULL) {
        cutoff_problem_clear(task->problem);
        free(task->problem);
    }
    task->problem = NULL;
}

/* ---- Bins on a device ------------------------------------------------------------------------ */

/* Slots and the overflow's bins, which the sums take. */
typedef struct bins_state {
    cutoff_task *task;
    arena arena; /* of: */
    device_binning kernels;
    buffer_of_atom slots;
    buffer_of_int extra;
    device_atoms atoms; /* none, where nobody wants them */
    device_bins counts;
} bins_state;

const product cutoff_product_bins = {.name = "bins"};

bool cutoff_bins_are_wanted(const void *context)
{
    return ((const cutoff_task *)context)->plan.binning == LEY_PLACE_DEVICE;
}

/* Any device is asked for the same. */
ley_status cutoff_bins_wish(const void *context, const job_view *job, void **wish, ley_error *error)
{
    (void)context, (void)job, (void)error;
    *wish = NULL;
    return LEY_OK;
}

ley_status cutoff_bins_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    (void)wish, (void)noted;
    bins_state *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a device's bins");
    b->arena.device = device;
    *state = b;
    device_binning_create(device, &b->kernels);
    device_binning_context context = {&b->arena, &b->kernels};
    costs_get(&device_binning_costs, device->info, &context, (double[COSTS_MOST]){0});
    return LEY_OK;
}

ley_status cutoff_bins_begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    bins_state *b = *state;
    (void)error;
    b->task = context;
    b->arena.within = place->arena;
    stage_make(place, &cutoff_product_bins, b);
    return LEY_OK;
}

ley_status cutoff_bins_renew(void *context, const stage_place *place, void *state, ley_error *error)
{
    bins_state *b = state;
    const cutoff_task *task = context;
    arena_free_buffer(&b->arena, &b->slots.buffer);
    arena_free_buffer(&b->arena, &b->extra.buffer);
    cutoff_bins_free_atoms(place);
    return b->kernels.way != NULL
               ? LEY_OK
               : arena_staging(&b->arena, 4 * ley_atoms_count(task->atoms) * sizeof(double), &b->kernels.way, error);
}

void cutoff_bins_end(void *state)
{
    bins_state *b = state;
    arena_clear(&b->arena);
    device_binning_destroy(&b->kernels);
    free(b);
}

const device_atoms *cutoff_bins_atoms(const stage_place *place)
{
    const bins_state *b = stage_get(place, &cutoff_product_bins);
    return b != NULL && b->atoms.position.buffer != NULL ? &b->atoms : NULL;
}

void cutoff_bins_free_atoms(const stage_place *place)
{
    bins_state *b = stage_get(place, &cutoff_product_bins);
    if (b == NULL)
        return;
    arena_free_buffer(&b->arena, &b->atoms.position.buffer);
    arena_free_buffer(&b->arena, &b->atoms.charge.buffer);
}

/* The problem's bins on the host after all. */
static ley_status bin_on_host(cutoff_task *task, ley_error *error)
{
    const double start_s = ley_clock_s();
    pthread_mutex_lock(&task->mutex);
    ley_status status = LEY_OK;
    cutoff_problem *p = task->problem;
    if (p->binned == NULL) {
        status = cutoff_problem_bin(p, error);
        if (status == LEY_OK) {
            const device_bins bins = host_bins(p->binned);
            note_bins(task, &bins, LEY_PLACE_HOST, cutoff_host_binning_s(p), ley_clock_s() - start_s);
        } else {
            binning_destroy(p->binned);
            p->binned = NULL; /* the next device tries again */
        }
    }
    pthread_mutex_unlock(&task->mutex);
    return status;
}

/* Makes the bins; a device that cannot takes the host's. */
ley_status cutoff_bins_submit(void *state, int slot, slab piece, ley_error *error)
{
    (void)slot;
    (void)piece;
    bins_state *b = state;
    cutoff_task *task = b->task;
    const double predicted_s = cutoff_device_binning_s(task->problem, b->arena.device->info), start_s = ley_clock_s();
    ley_status status = device_binning_run(&b->arena, &b->kernels, task->problem, &b->slots, &b->extra,
                                           task->keeps_atoms ? &b->atoms : NULL, &b->counts, error);
    if (status != LEY_OK)
        return status;
    if (b->counts.declined == NULL) {
        pthread_mutex_lock(&task->mutex);
        note_bins(task, &b->counts, LEY_PLACE_DEVICE, predicted_s, ley_clock_s() - start_s);
        pthread_mutex_unlock(&task->mutex);
        return LEY_OK;
    }
    log_say(LEY_LOG_NOTE, "%s: the host makes the bins: %s", b->arena.device->info->name, b->counts.declined);
    status = bin_on_host(task, error);
    if (status == LEY_OK)
        b->counts = host_bins(task->problem->binned);
    return status;
}

ley_status cutoff_bins_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    (void)state;
    (void)slot;
    (void)piece;
    (void)times;
    (void)error;
    return LEY_OK;
}

void cutoff_bins_drop(void *state, int slot)
{
    (void)state;
    (void)slot;
}

/* ---- The sums -------------------------------------------------------------------------------- */

/* Pairs per second. */
static double predicted_rate(const cutoff_task *task, const cutoff_state *s)
{
    double reach[3];
    cutoff_problem_reach(task->problem, reach);
    return tuning_cutoff_rate(s->kernel.device->info, &s->kernel.choice.spec, &s->kernel.facts, reach);
}

/* Of a kernel that adds a grid's potentials by itself: for so many points. */
static double predicted_epilogue_s(const cutoff_state *s, double points)
{
    const int nodes = s->kernel.choice.spec.nodes;
    return nodes > 0 ? points * cutoff_epilogue_s(&s->kernel.facts, nodes) : 0;
}

/* Several devices share slabs. */
static int64_t least_slabs(const cutoff_task *task, int64_t layers)
{
    const double bytes = (double)cutoff_count_points(task, (slab){0, layers}) * sizeof(float);
    return task->job->device_count > 1 ? LEAST_SLABS : (int64_t)fmin(LEAST_SLABS, fmax(1, bytes / small_slab_bytes));
}

/* That devices of this rank may be asked for. */
static int64_t own_layers(const cutoff_task *task)
{
    int64_t planes[2];
    cutoff_problem_planes(task->problem, planes);
    return (planes[1] - planes[0] + CUTOFF_LAYER - 1) / CUTOFF_LAYER;
}

/* Slabs are of layers; few enough for the way back to be hidden. `fixed_bytes`: what is not in the
 * room yet, beside slabs. */
static ley_status size_slabs(cutoff_state *s, double fixed_bytes, ley_error *error)
{
    const dev_info *info = s->kernel.device->info;
    const cutoff_task *task = s->task;
    const int64_t layers = own_layers(task);
    const double rate = predicted_rate(task, s);
    slab_needs needs = {.pieces = layers,
                        .piece_s = fmax(task->pairs / (double)layers, 1) / rate +
                                   predicted_epilogue_s(s, (double)cutoff_count_points(task, (slab){0, 1})),
                        .piece_bytes = INT64_MAX,
                        .fixed_bytes = fixed_bytes,
                        .staging_bytes = (has_field(task) ? 2 : 1) *
                                         (map_is_stored(task->map) ? MAP_STORE_BYTES : most_staging_bytes),
                        .most_per_launch = (double)info->max_groups[2] * (double)s->kernel.region[2] / CUTOFF_LAYER,
                        .least_slabs = least_slabs(task, layers),
                        .most_pieces = (task->job->options->slab_planes + CUTOFF_LAYER - 1) / CUTOFF_LAYER,
                        .planned = plan_slab(task->job->plan, info),
                        .piece = "8 planes of the grid need"};
    _Static_assert(CUTOFF_LAYER == 8, "what the refusal says");
    cutoff_kernel_bytes(&s->kernel, 1, &needs.piece_bytes);
    s->kernel.layer_s = needs.piece_s;
    return slab_size(&s->kernel.arena, &needs, &s->slab_layers, error);
}

/* The bins that this device has made become its kernel's, where it has not declined; or the host's
 * do. */
static void take_bins(cutoff_state *s, const stage_place *place)
{
    bins_state *made = stage_get(place, &cutoff_product_bins);
    if (made == NULL || made->slots.buffer == NULL) {
        s->bins = &s->task->bins;
        return;
    }
    s->bins = &made->counts;
    s->kernel.slots = made->slots;
    s->kernel.extra = made->extra;
}

static void note_upload(const cutoff_state *s, double seconds)
{
    cutoff_task *task = s->task;
    const double predicted_s = cutoff_upload_s(task->problem, s->kernel.device->info);
    pthread_mutex_lock(&task->mutex);
    task->upload_s += seconds;
    task->predicted_upload_s += predicted_s;
    pthread_mutex_unlock(&task->mutex);
}

void cutoff_sum_wish_destroy(void *made)
{
    cutoff_order *o = made;
    if (o == NULL)
        return;
    short_range_free(&o->range);
    free(o->problem.prelude);
    plan_destroy(o->plan);
    free(o);
}

ley_status cutoff_sum_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const cutoff_task *task = context;
    cutoff_order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return ley_fail_memory(error, sizeof *o, "the job");
    *made = o;
    o->wish = cutoff_wish_of(job->options, &task->range,
                             task->plan.transposition == LEY_PLACE_HOST ? LEY_STORE_REGIONS : LEY_STORE_ROWS);
    o->wish.field = has_field(task);
    cutoff_problem_reach(task->problem, o->wish.reach);
    o->wish.oblique = !ley_grid_is_orthogonal(&task->problem->grid);
    o->has_addition = task->addition != NULL;
    if (o->has_addition && !o->wish.field)
        task->addition->epilogue(task, &o->epilogue);
    o->problem.range = &o->range;
    ley_short_range range = task->range;
    range.depth_kcal_mol = NULL; /* of the job's atoms */
    const ley_status status = plan_copy(job->plan, &o->plan, error);
    if (status != LEY_OK)
        return status;
    const char *prelude = task->problem->prelude;
    if (prelude != NULL && (o->problem.prelude = strdup(prelude)) == NULL)
        return ley_fail_memory(error, strlen(prelude), "the pair function");
    return short_range_copy(&range, 0, &o->range, error);
}

/* What the plan takes of a device's calibration. */
uint64_t cutoff_needs(const void *context, const ley_run_options *options)
{
    const cutoff_task *task = context;
    const cutoff_wish wish = cutoff_wish_of(options, &task->range, LEY_STORE_ROWS);
    return tuning_cutoff_needs(&wish);
}

static ley_status note_interpolation(dev *device, const cutoff_order *o, const cutoff_choice *choice,
                                     kernel_notes *noted, ley_error *error)
{
    const char *word;
    const ley_status status = cutoff_epilogue_check(device->info, o->plan, choice, &word, error);
    if (status == LEY_OK) {
        noted->decisions[1].name = "interpolation"; /* decisions[0] is of what makes the addition */
        noted->decisions[1].word = word;
    }
    return status;
}

ley_status cutoff_sum_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const cutoff_order *o = wish;
    cutoff_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->kernel.device = device;
    cutoff_wish own = o->wish;
    own.variant = tuning_planned_variant(o->plan, device->info, own.variant);
    own.planned = tuning_planned_for(o->plan, device->info, NULL);
    own.by_plane = o->has_addition && o->epilogue.by_plane;
    ley_status status =
        o->has_addition ? cutoff_epilogue_choose(device, &o->epilogue, o->plan, &own.nodes, error) : LEY_OK;
    if (status == LEY_OK)
        status = cutoff_kernel_create(device, &own, &o->problem, &s->kernel, error);
    if (status == LEY_OK && o->has_addition)
        status = note_interpolation(device, o, &s->kernel.choice, noted, error);
    if (status != LEY_OK)
        return status;
    noted->variant = s->kernel.choice.variant;
    noted->root = calibrate_root_name(s->kernel.choice.spec.root);
    noted->from_cache = s->kernel.kernel.from_cache;
    kernel_options(&cutoff_kind, &s->kernel.choice.spec, noted->specification, sizeof noted->specification);
    return LEY_OK;
}

static ley_status take_addition(cutoff_state *s, const stage_place *place, ley_error *error)
{
    const cutoff_addition *a = s->task->addition;
    s->kernel.add = a->add;
    const ley_status status =
        a->begin(s->task, place, &s->kernel, s->slab_layers * CUTOFF_LAYER, &s->kernel.arena, &s->kernel.added, error);
    if (status == LEY_OK && s->kernel.choice.spec.nodes > 0)
        a->mesh(s->kernel.added, &s->kernel.mesh);
    return status;
}

ley_status cutoff_sum_begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    cutoff_state *s = *state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    take_bins(s, place);
    const bool has_bins = s->kernel.slots.buffer != NULL;
    const double start_s = ley_clock_s();
    ley_status status = cutoff_kernel_load(&s->kernel, s->task->problem, error);
    s->has_host_bins = !has_bins;
    if (status == LEY_OK && !has_bins)
        note_upload(s, ley_clock_s() - start_s);
    if (status == LEY_OK)
        status = size_slabs(s, 0, error);
    if (status == LEY_OK && s->task->addition != NULL)
        status = take_addition(s, place, error);
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = cutoff_run_create(&s->slots[i], &s->kernel, s->slab_layers, error);
    return status;
}

ley_status cutoff_sum_renew(void *context, const stage_place *place, void *state, ley_error *error)
{
    cutoff_state *s = state;
    cutoff_task *task = context;
    if (s->has_host_bins)
        cutoff_kernel_free_bins(&s->kernel);
    s->kernel.slots.buffer = s->kernel.extra.buffer = NULL;
    take_bins(s, place);
    s->has_host_bins = s->kernel.slots.buffer == NULL;
    if (s->kernel.added != NULL && s->kernel.choice.spec.nodes > 0)
        task->addition->mesh(s->kernel.added, &s->kernel.mesh);
    return s->has_host_bins ? cutoff_kernel_upload_bins(&s->kernel, task->problem, error) : LEY_OK;
}

double cutoff_sum_predict(const void *context, const void *state)
{
    const cutoff_task *task = context;
    const double rate = predicted_rate(task, state);
    int64_t planes[2];
    cutoff_problem_planes(task->problem, planes);
    const int64_t *n = ley_map_grid(task->map)->n;
    const double added_s = predicted_epilogue_s(state, (double)(n[0] * n[1] * (planes[1] - planes[0])));
    return rate > 0 ? fmax(task->pairs, 1) / rate + added_s : 0;
}

/* What the bins take of a device, and of its time. One without room for atoms beside them takes the
 * host's. */
static ley_status forecast_bins(const cutoff_state *s, device_forecast *f, ley_error *error)
{
    const cutoff_problem *p = s->task->problem;
    const dev_info *info = s->kernel.device->info;
    const double slots = (double)p->plan.slot_bytes, more = p->plan.options.keep_neutral ? slots / 2 : 0,
                 beside = device_binning_bytes(p);
    const bool is_device =
        s->task->plan.binning == LEY_PLACE_DEVICE && f->bytes + slots + beside <= (double)arena_left(f->arena);
    if (!is_device) {
        forecast_before(f, "upload", cutoff_upload_s(p, info));
        return forecast_need(f, "bins", slots + more, slots, error);
    }
    forecast_before(f, "binning", cutoff_device_binning_s(p, info));
    const ley_status status = forecast_need(f, "bins", slots, slots, error);
    return status == LEY_OK ? forecast_need(f, "atoms on their way into bins", beside, 0, error) : status;
}

ley_status cutoff_sum_forecast(void *context, const stage_place *place, void *state, device_forecast *f,
                               ley_error *error)
{
    cutoff_state *s = state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    const cutoff_task *task = s->task;
    const double layers = (double)cutoff_count_layers(task);
    int64_t bytes = INT64_MAX;
    ley_status status = cutoff_kernel_lay_out(&s->kernel, task->problem, error);
    const ley_status bins = forecast_bins(s, f, status == LEY_OK ? error : NULL);
    status = status == LEY_OK ? bins : status;
    s->slab_layers = 1;
    const ley_status sized = size_slabs(s, f->bytes, status == LEY_OK ? error : NULL);
    status = status == LEY_OK ? sized : status;
    f->slab = s->slab_layers;
    cutoff_kernel_bytes(&s->kernel, f->slab, &bytes);
    const ley_status slabs =
        forecast_in_slabs(f, (double)bytes, layers, cutoff_sum_predict(task, s), status == LEY_OK ? error : NULL);
    return status == LEY_OK ? slabs : status;
}

void cutoff_sum_end(void *state)
{
    cutoff_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        cutoff_run_destroy(&s->slots[i]);
    if (s->kernel.added != NULL)
        s->task->addition->end(s->kernel.added);
    cutoff_kernel_destroy(&s->kernel);
    free(s);
}

int64_t cutoff_sum_slab_count(const void *state)
{
    return ((const cutoff_state *)state)->slab_layers;
}

ley_status cutoff_sum_submit(void *state, int slot, slab piece, ley_error *error)
{
    cutoff_state *s = state;
    return cutoff_run_begin(&s->slots[slot], piece.first, piece.count, s->task->job->cancelled, error);
}

static void add_offset(const cutoff_task *task, int64_t planes, float *values)
{
    const int64_t *n = ley_map_grid(task->map)->n, count = n[0] * n[1] * planes;
    for (int64_t i = 0; i < count && task->offset != 0; i++)
        values[i] = (float)((double)values[i] + task->offset);
}

ley_status cutoff_sum_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    cutoff_state *s = state;
    cutoff_task *task = s->task;
    cutoff_run *run = &s->slots[slot];
    double store_s = 0;
    float *planes[MAP_MOST_COMPONENTS];
    ley_status status = map_slabs_take(task->map, run->first, run->planes, planes, error);
    if (status != LEY_OK)
        return status;
    status = cutoff_run_finish(run, planes, &store_s, error);
    if (status == LEY_OK)
        add_offset(task, run->planes, planes[0]);
    if (status == LEY_OK && map_components(task->map) > 1)
        grid_frame_turn_back(&task->problem->frame, (size_t)cutoff_count_points(task, piece), planes + 1);
    const ley_status given = map_slabs_give(task->map, run->first, run->planes, planes, status == LEY_OK, error);
    status = status == LEY_OK ? given : status;
    *times = run->command_sequence.times;
    const double predicted_s =
        cutoff_rows_s(task->plan.transposition, map_components(task->map) * (double)cutoff_count_points(task, piece),
                      s->kernel.device->info->device_class == DEV_CPU);
    pthread_mutex_lock(&task->mutex);
    for (int i = 0; i < WORK_STEPS; i++)
        task->step_s[i] += run->command_sequence.times.step_s[i];
    task->transposition_s += store_s;
    task->predicted_rows_s += predicted_s;
    pthread_mutex_unlock(&task->mutex);
    return status;
}

void cutoff_sum_drop(void *state, int slot)
{
    cutoff_state *s = state;
    sequence_finish(&s->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

ley_status cutoff_finish(void *context, ley_error *error)
{
    const cutoff_task *task = context;
    (void)error;
    map_name_units(task->map, short_range_units(&task->range, task->range.units));
    return LEY_OK;
}

static void note_phases(const cutoff_task *task, notes *n)
{
    notes_phase(n, "phase_binning", task->predicted_binning_s, task->binning_s);
    notes_phase(n, "phase_upload", task->predicted_upload_s, task->upload_s);
    notes_phase(n, "phase_rows", task->predicted_rows_s, task->transposition_s);
}

const plan_row cutoff_plan_rows[] = {CUTOFF_PLAN_ROWS, {.name = NULL}};

void cutoff_decisions(const void *context, job_plan *made)
{
    const cutoff_plan *p = &((const cutoff_task *)context)->plan;
    const ley_place places[] = {p->binning, p->transposition};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] != LEY_PLACE_AUTO)
            plan_add(made, NULL, cutoff_plan_rows[i].name, plan_places[places[i] - LEY_PLACE_HOST]);
}

void cutoff_outline(const void *context, notes *n)
{
    const cutoff_task *task = context;
    const cutoff_problem *p = task->problem;
    if (p == NULL || p->plan.bins == 0)
        return;
    notes_count(n, "bins", p->plan.bins);
    notes_count(n, "bin_depth", p->plan.options.depth);
    notes_vector(n, "bin_side_A", p->plan.side_A);
    notes_number(n, "pairs", task->pairs);
}

double cutoff_host_s(const void *context)
{
    const cutoff_task *task = context;
    return task->plan.binning == LEY_PLACE_DEVICE || task->problem == NULL ? 0 : cutoff_host_binning_s(task->problem);
}

void cutoff_note(const void *context, notes *n)
{
    const cutoff_task *task = context;
    const cutoff_problem *p = task->problem;
    if (p == NULL || p->plan.bins == 0)
        return;
    notes_count(n, "bins", p->plan.bins);
    notes_count(n, "bin_depth", p->plan.options.depth);
    notes_count(n, "binned", task->bins.binned);
    notes_vector(n, "bin_side_A", p->plan.side_A);
    notes_count(n, "overflow", task->bins.overflow);
    notes_count(n, "outside", task->bins.outside);
    notes_count(n, "neutral", task->bins.neutral);
    notes_place(n, "binning", task->plan.binning);
    notes_place(n, "transposition", task->plan.transposition);
    notes_number(n, "binning_s", task->binning_s);
    notes_number(n, "transposition_s", task->transposition_s);
    note_phases(task, n);
}

int64_t cutoff_point(const void *context, slab s, int64_t i)
{
    const int64_t *n = ley_map_grid(((const cutoff_task *)context)->map)->n;
    return s.first * CUTOFF_LAYER * n[0] * n[1] + i;
}

double cutoff_value(const void *context, int64_t number, double place_A[3])
{
    return map_value(((const cutoff_task *)context)->map, number, place_A);
}

bool cutoff_field(const void *context, int64_t number, double field[3])
{
    return map_field_at(((const cutoff_task *)context)->map, number, field);
}

const ley_map *cutoff_map(const void *context)
{
    return ((const cutoff_task *)context)->map;
}

double cutoff_promise(const cutoff_task *task, ley_pair steepest, double r_min_A)
{
    ley_short_range range = task->range;
    range.pair = steepest;
    return short_range_promise(&range, task->job->options->math, r_min_A, cutoff_problem_largest_A(task->problem));
}

double cutoff_place_A(const cutoff_task *task)
{
    return short_range_place_A(cutoff_problem_largest_A(task->problem));
}
