#include "methods/mdh/kernel.h"

#include "error.h"
#include "memory.h"
#include "methods/mdh/pack.h"
#include "methods/mdh/self_test.h"
#include "run/specifications.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const mdh_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->wg;
    size[1] = size[2] = 1;
}

static kernel_dialect sums_spec(int sum)
{
    return (kernel_dialect){.sum = sum, .width = 1, .root = LEY_ROOT_STANDARD};
}

static void sum_group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = MDH_SUM_GROUP;
    size[1] = size[2] = 1;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    const mdh_spec *s = spec;
    (void)info;
    return s->atoms == LEY_ATOMS_LOCAL ? (size_t)tuning_mdh_local_bytes(s) : 0;
}

/* The self-test runs the kernels as a job does, before this one is the kernel's own. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const mdh_kernel *kernel = context;
    mdh_kernel trial = {.device = built->device,
                        .facts = kernel->facts,
                        .choice = kernel->choice,
                        .kernel = *built,
                        .sums = kernel->sums};
    ley_status status = mdh_self_test(&trial, error);
    trial.kernel.program = trial.sums.program = NULL; /* the caller's */
    mdh_kernel_destroy(&trial);
    return status;
}

/* Alone: it may come to be built while mdh is in the cache. */
static ley_status test_sums(const dev_kernel *built, void *context, ley_error *error)
{
    const mdh_kernel *kernel = context;
    const mdh_kernel trial = {.device = built->device, .choice = kernel->choice, .sums = *built};
    return mdh_sums_self_test(&trial, error);
}

KERNEL_DESCRIBE_ARGUMENTS(mdh, LEY_MDH_ARGUMENTS)
const kernel_kind mdh_kind = {
    KERNEL_DESCRIPTION(mdh, LEY_MDH_KEYS, mdh),
    .variant = tuning_mdh_variant,
    .usual = tuning_mdh_default,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = tuning_mdh_specs,
};

static void sum_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    char name[KERNEL_NAME];
    (void)depth;
    for (int sum = LEY_SPEC_SUM_FLOAT; sum <= (info->has_double ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_COMPENSATED);
         sum++) {
        const kernel_dialect spec = sums_spec(sum);
        snprintf(name, sizeof name, "sum_parts-%s", specifications_sum(sum));
        visit(context, name, &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(sum_parts, LEY_SUM_PARTS_ARGUMENTS)
const kernel_kind sum_parts_kind = {
    KERNEL_DESCRIPTION(sum_parts, LEY_DIALECT_KEYS, sum_parts),
    .group = sum_group_of,
    .test = test_sums,
    .specs = sum_specs,
};

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status mdh_kernel_create(dev *device, const mdh_wish *wish, mdh_kernel *kernel, ley_error *error)
{
    *kernel = (mdh_kernel){.device = device};
    ley_status status = calibrate_get(device, &kernel->facts, error);
    if (status == LEY_OK)
        status = tuning_mdh(device->info, &kernel->facts, wish, &kernel->choice, error);
    if (status != LEY_OK)
        return status;
    const kernel_dialect sums = sums_spec(kernel->choice.spec.sum);
    status = kernel_create(device, &sum_parts_kind, &sums, NULL, kernel, &kernel->sums, error);
    if (status == LEY_OK)
        status = kernel_create(device, &mdh_kind, &kernel->choice.spec, NULL, kernel, &kernel->kernel, error);
    return status;
}

double mdh_kernel_expected_rate(const mdh_kernel *kernel)
{
    const mdh_spec *spec = &kernel->choice.spec;
    /* Double precision is not calibrated; on some GPUs it is 64 times slower. Too low a guess only
     * makes more slabs. */
    const double slower = spec->sum == LEY_SPEC_SUM_DOUBLE ? 64 : 1;
    const double roots = kernel->facts.roots_per_s[spec->root], exps = kernel->facts.exps_per_s[spec->exp];
    const double a_pair_s = 1 / fmax(roots, 1) + (spec->screening == LEY_SCREENING_NONE ? 0 : 1 / fmax(exps, 1));
    return fmax(0.5 / a_pair_s / slower, 1e5);
}

ley_status mdh_kernel_load(mdh_kernel *k, const mdh_problem *problem, ley_error *error)
{
    const size_t n = ley_atoms_count(problem->atoms), bytes = mdh_placed_bytes(&k->choice.spec);
    const dev_info *info = k->device->info;
    k->room.device = k->flight.device = k->device;
    k->problem = problem;
    if (info->max_allocation_bytes > 0 && (uint64_t)n * bytes > info->max_allocation_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%zu atoms need %s, more than its largest buffer", n,
                        ley_size((double)n * (double)bytes).s);
    const double copies = info->device_class == DEV_CPU ? 2 : 1;
    ley_status status = memory_check_one("packed atoms", copies * (double)n * (double)bytes, "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    void *packed = calloc(n, bytes);
    if (packed == NULL)
        return ley_fail_memory(error, n * bytes, "packed atoms");
    k->n_atoms = mdh_pack_atoms(&k->choice.spec, problem, packed);
    if (problem->cancelled != NULL && atomic_load_explicit(problem->cancelled, memory_order_relaxed)) {
        free(packed);
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    const size_t size = (k->n_atoms > 0 ? (size_t)k->n_atoms : 1) * bytes;
    status = room_buffer(&k->room, size, DEV_READ_ONLY, &k->atoms.buffer, error);
    if (status == LEY_OK)
        status = k->device->backend->write(k->device, k->atoms.buffer, 0, packed, size, error);
    free(packed);
    return status;
}

void mdh_kernel_destroy(mdh_kernel *k)
{
    room_clear(&k->room);
    kernel_destroy(&k->kernel);
    kernel_destroy(&k->sums);
    *k = (mdh_kernel){.device = k->device};
}
