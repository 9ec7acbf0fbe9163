/* Direct Coulomb summation as a method: phi_i = C sum_j q_j / max(r_ij, r_min). Stone et al., J. Comput. Chem. 28, 2618 (2007).
 *
 * Data: atoms go to each device once; a slab's potentials come back through page-locked staging and lose their padding on
 * the way into the map. Bounds: pairs over the device's root rate; 4 bytes a point over its link, which for more than a few
 * hundred atoms is nothing. */
#include "dcs_kernel.h"
#include "error.h"
#include "method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double slab_s = 0.1, launch_s = 0.25; /* aims: progress and balance; cancelling */
static const int64_t most_staging_bytes = (int64_t)256 << 20;

typedef struct dcs_slot {
    dev_buffer *phi;
    dev_staging *staging;
    dev_event **kernels; /* one a batch */
    dev_event *read;
    bool launched;
} dcs_slot;

typedef struct dcs_state {
    ley_job *job;
    dcs_kernel kernel;
    int64_t slab_planes;
    dcs_slot slots[METHOD_SLOTS];
} dcs_state;

static ley_status prepare(ley_job *job, ley_error *error)
{
    dcs_problem *problem = malloc(sizeof *problem);
    if (problem == NULL)
        return ley_fail_memory(error, sizeof *problem, "the job");
    *problem = (dcs_problem){job->atoms, *ley_map_lattice(job->map), job->coulomb_constant, job->options.r_min_A};
    job->method_data = problem;
    return LEY_OK;
}

static void release(ley_job *job)
{
    free(job->method_data);
    job->method_data = NULL;
}

/* Planes a slab: what the device's allocation limit, three quarters of its memory and the staging allow, and no more than
 * it computes in slab_s. */
static ley_status size_slabs(dcs_state *s, const dcs_problem *problem, ley_error *error)
{
    const dev_info *info = s->kernel.device->info;
    const padded_slab layout = dcs_kernel_layout(&s->kernel, &problem->lattice);
    int64_t plane_bytes = 0, room = most_staging_bytes;
    bool fits = padding_bytes(&layout, &plane_bytes);
    if (info->max_allocation_bytes > 0 && (uint64_t)room > info->max_allocation_bytes)
        room = (int64_t)info->max_allocation_bytes;
    if (info->global_bytes > 0 && (uint64_t)room > info->global_bytes / 4 * 3 / METHOD_SLOTS)
        room = (int64_t)(info->global_bytes / 4 * 3 / METHOD_SLOTS);
    if (plane_bytes > room && plane_bytes <= (int64_t)info->max_allocation_bytes)
        room = plane_bytes; /* a single plane may be larger than we like */
    if (!fits || plane_bytes > room)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: one plane of the lattice needs %lld bytes, one buffer holds %lld",
                        info->name, (long long)plane_bytes, (long long)room);
    const double pairs = (double)layout.padded_x * (double)layout.padded_y * (double)ley_atoms_count(problem->atoms);
    const double planes = floor(dcs_kernel_expected_rate(&s->kernel) * slab_s / pairs);
    s->slab_planes = room / plane_bytes;
    if (s->slab_planes > planes)
        s->slab_planes = planes > 1 ? (int64_t)planes : 1;
    if (s->job->options.slab_planes > 0 && s->slab_planes > s->job->options.slab_planes)
        s->slab_planes = s->job->options.slab_planes;
    if (s->slab_planes > problem->lattice.n[2])
        s->slab_planes = problem->lattice.n[2];
    return LEY_OK;
}

static ley_status make_slots(dcs_state *s, ley_error *error)
{
    dev *device = s->kernel.device;
    padded_slab layout = s->kernel.layout;
    int64_t bytes = 0;
    layout.planes = s->slab_planes;
    padding_bytes(&layout, &bytes);
    for (int i = 0; i < METHOD_SLOTS; i++) {
        dcs_slot *slot = &s->slots[i];
        slot->kernels = calloc(s->kernel.batch_count, sizeof(dev_event *));
        if (slot->kernels == NULL)
            return ley_fail_memory(error, s->kernel.batch_count * sizeof(dev_event *), "events");
        ley_status status = device->backend->buffer_create(device, (size_t)bytes, DEV_READ_WRITE, &slot->phi, error);
        if (status == LEY_OK)
            status = device->backend->staging_create(device, (size_t)bytes, &slot->staging, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status begin(ley_job *job, worker *w, device_record *record, void **state, ley_error *error)
{
    dcs_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->job = job;
    const dcs_problem *problem = job->method_data;
    const tuning_wish wish = {.variant = job->variant, .math = job->options.math, .sum = job->options.sum,
                              .n_x = problem->lattice.n[0], .n_y = problem->lattice.n[1]};
    ley_status status = dcs_kernel_create(w->device, &wish, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    record->report.variant = s->kernel.choice.variant;
    record->report.root = calibrate_root_name(s->kernel.choice.spec.root);
    record->report.from_cache = s->kernel.from_cache;
    snprintf(record->specification, sizeof record->specification, "%s", s->kernel.options);
    status = size_slabs(s, problem, error);
    if (status == LEY_OK)
        status = dcs_kernel_load(&s->kernel, problem, s->slab_planes, launch_s, error);
    return status == LEY_OK ? make_slots(s, error) : status;
}

static void end(void *state)
{
    dcs_state *s = state;
    if (s == NULL)
        return;
    dev *device = s->kernel.device;
    for (int i = 0; i < METHOD_SLOTS; i++) {
        if (s->slots[i].staging != NULL)
            device->backend->staging_destroy(device, s->slots[i].staging);
        if (s->slots[i].phi != NULL)
            device->backend->buffer_destroy(device, s->slots[i].phi);
        free(s->slots[i].kernels);
    }
    dcs_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_planes(const void *state)
{
    return ((const dcs_state *)state)->slab_planes;
}

static padded_slab slab_layout(const dcs_state *s, slab piece)
{
    padded_slab layout = s->kernel.layout;
    layout.planes = piece.planes;
    return layout;
}

static ley_status submit(void *state, int slot_index, slab piece, ley_error *error)
{
    dcs_state *s = state;
    dcs_slot *slot = &s->slots[slot_index];
    dev *device = s->kernel.device;
    const padded_slab layout = slab_layout(s, piece);
    int64_t bytes = 0;
    padding_bytes(&layout, &bytes);
    ley_status status = dcs_kernel_launch(&s->kernel, piece.first, piece.planes, slot->phi, slot->kernels, error);
    if (status != LEY_OK)
        return status;
    slot->launched = true;
    status = device->backend->read(device, slot->phi, 0, slot->staging, (size_t)bytes,
                                   slot->kernels[s->kernel.batch_count - 1], &slot->read, error);
    if (status != LEY_OK)
        slot->read = NULL;
    return status;
}

static ley_status wait_slot(dcs_state *s, dcs_slot *slot, slab_times *times, ley_error *error)
{
    dev *device = s->kernel.device;
    ley_status status = LEY_OK, read_status = LEY_OK;
    if (slot->launched)
        status = dcs_kernel_wait(&s->kernel, slot->kernels, s->kernel.batch_count, &times->kernel, error);
    if (slot->read != NULL)
        read_status = device->backend->wait(device, slot->read, &times->transfer, status == LEY_OK ? error : NULL);
    slot->launched = false;
    slot->read = NULL;
    return status != LEY_OK ? status : read_status;
}

static ley_status collect(void *state, int slot_index, slab piece, slab_times *times, ley_error *error)
{
    dcs_state *s = state;
    dcs_slot *slot = &s->slots[slot_index];
    const ley_lattice *lattice = ley_map_lattice(s->job->map);
    ley_status status = wait_slot(s, slot, times, error);
    if (status != LEY_OK)
        return status;
    const padded_slab layout = slab_layout(s, piece);
    padding_crop(&layout, slot->staging->bytes, ley_map_values(s->job->map) + piece.first * lattice->n[0] * lattice->n[1]);
    return LEY_OK;
}

static void drop(void *state, int slot_index)
{
    dcs_state *s = state;
    slab_times times;
    wait_slot(s, &s->slots[slot_index], &times, NULL);
}

const method method_dcs = {
    .name = "dcs",
    .prepare = prepare,
    .release = release,
    .begin = begin,
    .end = end,
    .slab_planes = slab_planes,
    .submit = submit,
    .collect = collect,
    .drop = drop,
    .variant_name = tuning_dcs_variant,
};
