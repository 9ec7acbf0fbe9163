/* Direct Coulomb summation as a method: phi_i = C sum_j q_j / max(r_ij, r_min). Stone et al., J.
 * Comput. Chem. 28, 2618 (2007).
 *
 * Data: atoms go to each device once; a slab's potentials come back through page-locked staging and
 * lose their padding on the way into the map. Bounds: pairs over the device's root rate; 4 bytes a
 * point over its link, which for more than a few hundred atoms is nothing. */
#include "run/method.h"
#include "error.h"
#include "judge/accuracy.h"
#include "methods/dcs/kernel.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double slab_s = 0.1, launch_s = 0.25; /* aims: progress and balance; cancelling */
static const int64_t most_staging_bytes = (int64_t)256 << 20;

typedef struct dcs_state {
    ley_job *job;
    dcs_kernel kernel;
    int64_t slab_planes;
    dcs_run slots[METHOD_SLOTS];
} dcs_state;

static ley_status prepare(ley_job *job, ley_error *error)
{
    dcs_problem *problem = malloc(sizeof *problem);
    if (problem == NULL)
        return ley_fail_memory(error, sizeof *problem, "the job");
    *problem = (dcs_problem){job->atoms, *ley_map_lattice(job->map), job->coulomb_constant, job->options.r_min_A,
                             &job->cancelled};
    job->method_data = problem;
    return LEY_OK;
}

static void release(ley_job *job)
{
    free(job->method_data);
    job->method_data = NULL;
}

static int64_t count_planes(const ley_job *job)
{
    return ley_map_lattice(job->map)->n[2];
}

static int64_t count_points(const ley_job *job, slab s)
{
    const int64_t *n = ley_map_lattice(job->map)->n;
    return s.count * n[0] * n[1];
}

/* Bytes that a slab's buffer may have: what the staging shall be at most, the device's largest
 * allocation, and half of three quarters of its memory beside the atoms. One plane may be larger
 * than the staging shall be. */
static int64_t slab_bytes(const dev_info *info, int64_t plane_bytes, int64_t atom_bytes)
{
    int64_t room = plane_bytes > most_staging_bytes ? plane_bytes : most_staging_bytes;
    if (info->max_allocation_bytes > 0 && (uint64_t)room > info->max_allocation_bytes)
        room = (int64_t)info->max_allocation_bytes;
    const int64_t memory = (int64_t)(info->global_bytes / 4 * 3) - atom_bytes;
    if (info->global_bytes > 0 && room > memory / METHOD_SLOTS)
        room = memory / METHOD_SLOTS;
    return room;
}

/* Planes a slab: as many as there is room for, and no more than the device computes in slab_s. */
static ley_status size_slabs(dcs_state *s, const dcs_problem *problem, ley_error *error)
{
    const dev_info *info = s->kernel.device->info;
    const padded_slab layout = dcs_kernel_layout(&s->kernel, &problem->lattice);
    const int64_t atom_bytes =
        (int64_t)(ley_atoms_count(problem->atoms) * dcs_packed_bytes(dcs_packing_of(&s->kernel.choice.spec)));
    int64_t plane_bytes = INT64_MAX;
    padding_bytes(&layout, &plane_bytes);
    const int64_t room = slab_bytes(info, plane_bytes, atom_bytes);
    if (plane_bytes > room)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: one plane of the lattice needs %s, there is room for %s",
                        info->name, ley_size((double)plane_bytes).s, ley_size(room > 0 ? (double)room : 0).s);
    const dcs_spec *spec = &s->kernel.choice.spec;
    if ((uint64_t)(layout.padded_x / tuning_dcs_tile_x(spec)) > info->max_groups[0] ||
        (uint64_t)(layout.padded_y / tuning_dcs_tile_y(spec)) > info->max_groups[1])
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "%s: a plane of %lld x %lld points has more tiles than a launch may have", info->name,
                        (long long)problem->lattice.n[0], (long long)problem->lattice.n[1]);
    const double pairs = (double)layout.padded_x * (double)layout.padded_y * (double)ley_atoms_count(problem->atoms);
    const double planes = floor(dcs_kernel_expected_rate(&s->kernel) * slab_s / pairs);
    s->slab_planes = room / plane_bytes;
    if (s->slab_planes > planes)
        s->slab_planes = planes > 1 ? (int64_t)planes : 1;
    if (s->job->options.slab_planes > 0 && s->slab_planes > s->job->options.slab_planes)
        s->slab_planes = s->job->options.slab_planes;
    if ((uint64_t)s->slab_planes > info->max_groups[2])
        s->slab_planes = (int64_t)info->max_groups[2];
    if (s->slab_planes > problem->lattice.n[2])
        s->slab_planes = problem->lattice.n[2];
    return LEY_OK;
}

/* How long the largest launch is predicted to take. */
static double expected_launch_s(const dcs_state *s)
{
    const dcs_kernel *k = &s->kernel;
    const double points = (double)k->layout.padded_x * (double)k->layout.padded_y * (double)s->slab_planes;
    return k->batch_count > 0 ? points * (double)k->batches[0].count / dcs_kernel_expected_rate(k) : 0;
}

static ley_status begin(ley_job *job, worker *w, device_record *record, void **state, ley_error *error)
{
    dcs_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->job = job;
    const dcs_problem *problem = job->method_data;
    const dcs_wish wish = {.variant = job->variant,
                           .math = job->options.math,
                           .sum = job->options.sum,
                           .n_x = problem->lattice.n[0],
                           .n_y = problem->lattice.n[1]};
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
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = dcs_run_create(&s->slots[i], &s->kernel, s->slab_planes, error);
    watch_expect(expected_launch_s(s));
    return status;
}

static void end(void *state)
{
    dcs_state *s = state;
    if (s == NULL)
        return;
    for (int i = 0; i < METHOD_SLOTS; i++)
        dcs_run_destroy(&s->slots[i]);
    dcs_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const dcs_state *)state)->slab_planes;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    dcs_state *s = state;
    return dcs_run_begin(&s->slots[slot], piece.first, piece.count, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    dcs_state *s = state;
    dcs_run *run = &s->slots[slot];
    const int64_t *n = ley_map_lattice(s->job->map)->n;
    ley_status status =
        dcs_run_finish(run, &s->job->cancelled, ley_map_values(s->job->map) + piece.first * n[0] * n[1], error);
    *times = method_slab_times(&run->launches);
    return status;
}

static void drop(void *state, int slot)
{
    dcs_state *s = state;
    launches_abandon(&s->slots[slot].launches);
}

static ley_status finish(ley_job *job, ley_error *error)
{
    (void)error;
    ley_map_set_units(job->map, ley_units_name(job->options.units));
    return LEY_OK;
}

static void terms(const ley_job *job, reference_terms *t)
{
    *t = (reference_terms){
        .term = LEY_TERM_DCS, .constant = job->coulomb_constant, .atoms = job->atoms, .r_min_A = job->options.r_min_A};
}

static accuracy_limits limits(const ley_job *job)
{
    const ley_job_options *o = &job->options;
    return (accuracy_limits){dcs_problem_promise(job->method_data, job->variant, o->math, o->sum), ACCURACY_NOTHING};
}

static int64_t point(const ley_job *job, slab s, int64_t i)
{
    const int64_t *n = ley_map_lattice(job->map)->n;
    return s.first * n[0] * n[1] + i;
}

const method method_dcs = {
    .name = "dcs",
    .prepare = prepare,
    .release = release,
    .count = count_planes,
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
    .double_has_more_digits = true,
    .variant_name = tuning_dcs_variant,
};
