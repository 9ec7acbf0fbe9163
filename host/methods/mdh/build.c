#include "methods/mdh/build.h"

#include "engine/specifications.h"
#include "methods/mdh/self_test.h"

#include <stdio.h>

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
    ley_status status = calibrate_get(
        device, tuning_planned_needs(&wish->planned, tuning_mdh_needs(device->info, wish)), &kernel->facts, error);
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
