#include "methods/dcs/build.h"

#include "methods/dcs/self_test.h"

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const dcs_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->wg_x;
    size[1] = (size_t)s->wg_y;
    size[2] = 1;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    const dcs_spec *s = spec;
    return s->atoms == LEY_ATOMS_LOCAL ? (size_t)tuning_dcs_local_bytes(info, s) : 0;
}

/* The self-test runs the kernel as a job does, before it is the kernel's own. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const dcs_kernel *kernel = context;
    dcs_kernel trial = {.device = built->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = *built};
    ley_status status = dcs_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    dcs_kernel_destroy(&trial);
    return status;
}

KERNEL_DESCRIBE_ARGUMENTS(dcs, LEY_DCS_ARGUMENTS)
const kernel_kind dcs_kind = {
    KERNEL_DESCRIPTION(dcs, LEY_DCS_KEYS, dcs),
    .variant = tuning_dcs_variant,
    .usual = tuning_dcs_default,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = tuning_dcs_specs,
};

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status dcs_kernel_create(dev *device, const dcs_wish *wish, dcs_kernel *kernel, ley_error *error)
{
    *kernel = (dcs_kernel){.device = device};
    ley_status status = calibrate_get(
        device, tuning_planned_needs(&wish->planned, tuning_dcs_needs(device->info, wish)), &kernel->facts, error);
    if (status == LEY_OK)
        status = tuning_dcs(device->info, &kernel->facts, wish, &kernel->choice, error);
    if (status == LEY_OK)
        status = kernel_create(device, &dcs_kind, &kernel->choice.spec, NULL, kernel, &kernel->kernel, error);
    return status;
}
