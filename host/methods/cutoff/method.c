/* Short-range potentials as a method: phi_i = C sum over r_ij < a of q_j f(max(r_ij, r_min)). Stone
 * et al., GPU Gems (2010); Rodrigues et al., CF (2008); Hardy, Stone, Schulten, Parallel Computing
 * 35, 164 (2009).
 *
 * Data: atoms into bins, on all host cores, and the bins to each device once; or the atoms to each
 * device, which bins them. A slab is some layers of planes, whose potentials come back through
 * page-locked staging and are put into the map's rows; bins' overflow goes to the devices, or to
 * host threads meanwhile. Bounds: pairs within the cutoff, over the share of computed pairs that
 * these are, at one root or about seven multiply-adds each; and 4 bytes a point over the link. */
#include "run/method.h"
#include "clock.h"
#include "error.h"
#include "judge/accuracy.h"
#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/plan.h"
#include "methods/cutoff/short_range.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double slab_s = 0.1; /* aim: progress, balance and cancelling */
static const int64_t most_staging_bytes = (int64_t)64 << 20;
enum { LEAST_SLABS = 8 }; /* so that most of the way back lies beside kernels */

/* All devices' data. */
typedef struct cutoff_data {
    cutoff_problem problem;
    overflow_team *team; /* NULL: devices sum the overflow */
    bool *has_overflow;  /* of a layer of the map: the team's part has been added */
    bool bins_on_devices;
    pthread_mutex_t mutex; /* then for the problem's bins, which the first device that cannot bin makes on the host */
} cutoff_data;

typedef struct cutoff_state {
    ley_job *job;
    cutoff_kernel kernel;
    device_bins bins;
    int64_t slab_layers;
    cutoff_run slots[METHOD_SLOTS];
} cutoff_state;

static int64_t layers_of(const ley_job *job)
{
    return cutoff_layers(ley_map_lattice(job->map));
}

static int64_t count_points(const ley_job *job, slab s)
{
    const int64_t *n = ley_map_lattice(job->map)->n, end = (s.first + s.count) * CUTOFF_LAYER;
    return ((end < n[2] ? end : n[2]) - s.first * CUTOFF_LAYER) * n[0] * n[1];
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

/* Of several devices the slowest counts; where one of them took the host's bins, the host does. */
static void note_bins(ley_job *job, const device_bins *b, ley_place place, double binning_s)
{
    ley_short_range_report *r = &job->report.short_range;
    pthread_mutex_lock(&job->mutex);
    const bool is_first = place == LEY_PLACE_HOST && r->binning != LEY_PLACE_HOST;
    if (is_first || place == r->binning)
        r->binning_s = is_first ? binning_s : fmax(r->binning_s, binning_s);
    if (place == LEY_PLACE_HOST)
        r->binning = place;
    r->binned = b->binned;
    r->overflow = b->overflow;
    r->outside = b->outside;
    r->neutral = b->neutral;
    pthread_mutex_unlock(&job->mutex);
}

static ley_status share_out(ley_job *job, cutoff_data *d, ley_error *error)
{
    const double pairs =
        d->bins_on_devices ? cutoff_problem_expected_pairs(&d->problem) : cutoff_problem_pairs(&d->problem);
    if (job_cancelled(job))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    cutoff_plan(job, &d->problem, pairs);
    job->report.evaluations = pairs;
    ley_place *place = &job->report.short_range.overflow_sum;
    if (d->bins_on_devices || d->problem.binned->overflow == 0)
        return LEY_OK;
    if (*place == LEY_PLACE_HOST) {
        const bool is_asked = job->options.short_range.overflow == LEY_PLACE_HOST;
        const ley_status status = overflow_team_start(job, &d->problem, &d->team, is_asked ? error : NULL);
        if (status == LEY_OK || is_asked)
            return status;
        *place = LEY_PLACE_DEVICE; /* no memory for a second map */
    }
    return cutoff_problem_add_extra(&d->problem, error);
}

static ley_status prepare(ley_job *job, ley_error *error)
{
    cutoff_data *d = calloc(1, sizeof *d);
    const ley_job_options *o = &job->options;
    ley_short_range_report *r = &job->report.short_range;
    if (d == NULL)
        return ley_fail_memory(error, sizeof *d, "the job");
    pthread_mutex_init(&d->mutex, NULL);
    job->method_data = d;
    d->has_overflow = calloc((size_t)layers_of(job), sizeof *d->has_overflow);
    if (d->has_overflow == NULL)
        return ley_fail_memory(error, (size_t)layers_of(job), "the layers");
    const double start_s = ley_clock_s();
    ley_status status = cutoff_problem_init(&d->problem, job->atoms, ley_map_lattice(job->map), &o->short_range,
                                            job->coulomb_constant, o->dielectric, o->r_min_A, error);
    if (status != LEY_OK)
        return status;
    d->problem.plan.options.cancelled = &job->cancelled;
    r->bins = d->problem.plan.bins;
    r->bin_depth = d->problem.plan.options.depth;
    memcpy(r->bin_side_A, d->problem.plan.side_A, sizeof r->bin_side_A);
    r->binning = cutoff_plan_binning(job, &d->problem);
    d->bins_on_devices = r->binning == LEY_PLACE_DEVICE;
    if (!d->bins_on_devices) {
        status = cutoff_problem_bin(&d->problem, error);
        if (status != LEY_OK)
            return status;
        const device_bins bins = host_bins(d->problem.binned);
        note_bins(job, &bins, LEY_PLACE_HOST, ley_clock_s() - start_s);
    }
    return share_out(job, d, error);
}

static void release(ley_job *job)
{
    cutoff_data *d = job->method_data;
    if (d != NULL) {
        overflow_team_destroy(d->team);
        if (job->has_left) { /* bins may still be on their way to the device that was left behind */
            dev_keep(d);
        } else {
            free(d->has_overflow);
            cutoff_problem_clear(&d->problem);
            pthread_mutex_destroy(&d->mutex);
            free(d);
        }
    }
    job->method_data = NULL;
}

/* ---- Once a device --------------------------------------------------------------------------- */

/* The problem's bins on the host after all, with the overflow for devices. */
static ley_status bin_on_host(ley_job *job, cutoff_data *d, ley_error *error)
{
    const double start_s = ley_clock_s();
    pthread_mutex_lock(&d->mutex);
    ley_status status = LEY_OK;
    if (d->problem.binned == NULL) {
        status = cutoff_problem_bin(&d->problem, error);
        if (status == LEY_OK)
            status = cutoff_problem_add_extra(&d->problem, error);
        if (status == LEY_OK) {
            const device_bins bins = host_bins(d->problem.binned);
            note_bins(job, &bins, LEY_PLACE_HOST, ley_clock_s() - start_s);
        } else {
            binning_destroy(d->problem.binned);
            d->problem.binned = NULL; /* the next device tries again */
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return status;
}

/* Makes the bins on the device, where that was planned; a device that cannot takes the host's. */
static ley_status place_bins(cutoff_state *s, cutoff_data *d, ley_error *error)
{
    ley_status status = LEY_OK;
    if (d->bins_on_devices) {
        const double start_s = ley_clock_s();
        status = device_binning_run(s->kernel.device, &d->problem, &s->kernel.slots, &s->kernel.extra, &s->bins, error);
        if (status != LEY_OK)
            return status;
        if (s->bins.declined == NULL) {
            note_bins(s->job, &s->bins, LEY_PLACE_DEVICE, ley_clock_s() - start_s);
            return LEY_OK;
        }
        status = bin_on_host(s->job, d, error);
    }
    if (status == LEY_OK)
        s->bins = host_bins(d->problem.binned);
    return status;
}

/* Layers a slab: as many as there is room for, no more than the device computes in slab_s, and few
 * enough for the way back to be hidden. */
static ley_status size_slabs(cutoff_state *s, ley_error *error)
{
    const dev_info *info = s->kernel.device->info;
    const cutoff_data *d = s->job->method_data;
    const device_bins *b = &s->bins;
    const double layers = (double)layers_of(s->job),
                 rate = tuning_cutoff_rate(&s->kernel.choice.spec, &s->kernel.facts);
    int64_t layer_bytes = INT64_MAX;
    cutoff_kernel_bytes(&s->kernel, 1, &layer_bytes);
    const double bins_bytes =
        (double)(b->bins + b->extra_bins) * (double)d->problem.plan.options.depth * (d->problem.more != NULL ? 24 : 16);
    double room = fmax((double)most_staging_bytes, (double)layer_bytes);
    if (info->max_allocation_bytes > 0)
        room = fmin(room, (double)info->max_allocation_bytes);
    if (info->global_bytes > 0)
        room = fmin(room, ((double)info->global_bytes * 0.75 - bins_bytes) / METHOD_SLOTS);
    if ((double)layer_bytes > room)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: %d planes of the lattice need %s, there is room for %s",
                        info->name, CUTOFF_LAYER, ley_size((double)layer_bytes).s, ley_size(fmax(room, 0)).s);
    double wanted = fmin(floor(room / (double)layer_bytes), ceil(layers / LEAST_SLABS));
    wanted = fmin(wanted, floor(rate * slab_s / fmax(s->job->report.evaluations / layers, 1)));
    if (info->max_groups[2] > 0)
        wanted = fmin(wanted, floor((double)info->max_groups[2] * (double)s->kernel.region[2] / CUTOFF_LAYER));
    if (s->job->options.slab_planes > 0)
        wanted = fmin(wanted, ceil((double)s->job->options.slab_planes / CUTOFF_LAYER));
    s->slab_layers = (int64_t)fmax(wanted, 1);
    watch_expect((double)s->slab_layers * s->job->report.evaluations / layers / rate);
    return LEY_OK;
}

static ley_status begin(ley_job *job, worker *w, device_record *record, void **state, ley_error *error)
{
    cutoff_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->job = job;
    s->kernel.device = w->device;
    cutoff_data *d = job->method_data;
    const cutoff_wish wish = cutoff_wish_of(
        job, job->report.short_range.transposition == LEY_PLACE_HOST ? LEY_STORE_REGIONS : LEY_STORE_ROWS);
    ley_status status = cutoff_kernel_create(w->device, &wish, &d->problem, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    record->report.variant = s->kernel.choice.variant;
    record->report.root = calibrate_root_name(s->kernel.choice.spec.root);
    record->report.from_cache = s->kernel.from_cache;
    snprintf(record->specification, sizeof record->specification, "%s", s->kernel.options);
    status = place_bins(s, d, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&s->kernel, &d->problem, error);
    if (status == LEY_OK)
        status = size_slabs(s, error);
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = cutoff_run_create(&s->slots[i], &s->kernel, s->slab_layers, error);
    return status;
}

static void end(void *state)
{
    cutoff_state *s = state;
    if (s == NULL)
        return;
    for (int i = 0; i < METHOD_SLOTS; i++)
        cutoff_run_destroy(&s->slots[i]);
    cutoff_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const cutoff_state *)state)->slab_layers;
}

/* ---- Once a slab ----------------------------------------------------------------------------- */

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    cutoff_state *s = state;
    return cutoff_run_begin(&s->slots[slot], piece.first, piece.count, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    cutoff_state *s = state;
    cutoff_run *run = &s->slots[slot];
    double store_s = 0;
    const cutoff_data *d = s->job->method_data;
    memset(d->has_overflow + piece.first, 0, (size_t)piece.count * sizeof *d->has_overflow);
    ley_status status = cutoff_run_finish(run, &s->job->cancelled, ley_map_values(s->job->map), &store_s, error);
    *times = method_slab_times(&run->launches);
    pthread_mutex_lock(&s->job->mutex);
    s->job->report.short_range.transposition_s += store_s;
    pthread_mutex_unlock(&s->job->mutex);
    return status;
}

static void drop(void *state, int slot)
{
    cutoff_state *s = state;
    launches_abandon(&s->slots[slot].launches);
}

/* ---- The rest -------------------------------------------------------------------------------- */

/* To the layers that devices have computed since the last time. */
static void add_overflow(const ley_job *job, cutoff_data *d)
{
    for (int64_t first = 0, end = 0; first < layers_of(job); first = end + 1) {
        for (end = first; end < layers_of(job) && !d->has_overflow[end]; end++)
            d->has_overflow[end] = true;
        if (end > first)
            overflow_team_add(d->team, first * CUTOFF_LAYER, end * CUTOFF_LAYER, ley_map_values(job->map));
    }
}

static ley_status finish(ley_job *job, ley_error *error)
{
    cutoff_data *d = job->method_data;
    ley_short_range_report *r = &job->report.short_range;
    const double devices_done_s = ley_clock_s();
    if (d->team != NULL) {
        double host_done_s;
        overflow_team_wait(d->team, &host_done_s);
        if (job_cancelled(job))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        r->devices_waited_s = fmax(host_done_s - devices_done_s, 0);
        r->host_waited_s = fmax(devices_done_s - host_done_s, 0);
        add_overflow(job, d);
    }
    ley_map_set_units(job->map, short_range_units(&job->options.short_range, job->options.units));
    return LEY_OK;
}

static void terms(const ley_job *job, reference_terms *t)
{
    const cutoff_data *d = job->method_data;
    *t = cutoff_problem_sum(&d->problem);
}

static accuracy_limits limits(const ley_job *job)
{
    const cutoff_data *d = job->method_data;
    const ley_job_options *o = &job->options;
    return (accuracy_limits){
        short_range_promise(&o->short_range, o->math, o->r_min_A, cutoff_problem_largest_A(&d->problem)),
        ACCURACY_NOTHING};
}

static int64_t point(const ley_job *job, slab s, int64_t i)
{
    const int64_t *n = ley_map_lattice(job->map)->n;
    return s.first * CUTOFF_LAYER * n[0] * n[1] + i;
}

const method method_cutoff = {
    .name = "cutoff",
    .prepare = prepare,
    .release = release,
    .count = layers_of,
    .points = count_points,
    .begin = begin,
    .end = end,
    .slab_count = slab_count,
    .submit = submit,
    .collect = collect,
    .drop = drop,
    .finish = finish,
    .terms = terms,
    .limits = limits,
    .point = point,
    .variant_name = tuning_cutoff_variant,
};
