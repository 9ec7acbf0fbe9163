#include "methods/cutoff/build.h"

#include "methods/cutoff/self_test.h"

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const cutoff_spec *s = spec;
    const bool alone = s->width > 1;
    (void)info;
    size[0] = alone ? 1 : (size_t)s->lx;
    size[1] = alone ? 1 : (size_t)s->ly;
    size[2] = alone ? 1 : (size_t)s->lz;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return (size_t)tuning_cutoff_local_bytes(spec);
}

/* The self-test runs the kernel as a job does, before it is the kernel's own. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const cutoff_kernel *kernel = context;
    cutoff_kernel trial = {.device = built->device,
                           .facts = kernel->facts,
                           .choice = kernel->choice,
                           .kernel = *built,
                           .problem = kernel->problem};
    ley_status status = cutoff_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    cutoff_kernel_destroy(&trial);
    return status;
}

KERNEL_DESCRIBE_ARGUMENTS(cutoff, LEY_CUTOFF_ARGUMENTS)
const kernel_kind cutoff_kind = {
    KERNEL_DESCRIPTION(cutoff, LEY_CUTOFF_KEYS, cutoff),
    .variant = tuning_cutoff_variant,
    .usual = tuning_cutoff_default,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = tuning_cutoff_specs,
};

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status cutoff_kernel_create(dev *device, const cutoff_wish *wish, const cutoff_problem *problem,
                                cutoff_kernel *kernel, ley_error *error)
{
    *kernel = (cutoff_kernel){.device = device, .problem = problem};
    ley_status status =
        calibrate_get(device, tuning_planned_needs(&wish->planned, tuning_cutoff_needs(wish)), &kernel->facts, error);
    if (status == LEY_OK)
        status = tuning_cutoff(device->info, &kernel->facts, wish, &kernel->choice, error);
    if (status == LEY_OK)
        status =
            kernel_create(device, &cutoff_kind, &kernel->choice.spec, problem->prelude, kernel, &kernel->kernel, error);
    return status;
}
