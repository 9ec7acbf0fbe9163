#include "long_range/multilevel/lattice_build.h"

#include "long_range/multilevel/lattice_self_test.h"

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const lattice_spec *s = spec;
    const bool alone = s->width > 1;
    (void)info;
    size[0] = alone ? 1 : (size_t)s->lx;
    size[1] = alone ? 1 : (size_t)s->ly;
    size[2] = alone ? 1 : (size_t)s->lz;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return (size_t)tuning_lattice_local_bytes(spec);
}

/* The self-test runs the kernel as a method does, before it is the kernel's own. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const lattice_kernel *kernel = context;
    const lattice_kernel trial = {
        .device = built->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = *built};
    return lattice_self_test(&trial, error);
}

KERNEL_DESCRIBE_ARGUMENTS(lattice, LEY_LATTICE_ARGUMENTS)
const kernel_kind lattice_kind = {
    KERNEL_DESCRIPTION(lattice, LEY_LATTICE_KEYS, lattice),
    .variant = tuning_lattice_variant,
    .usual = tuning_lattice_default,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = tuning_lattice_specs,
};

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status lattice_kernel_create(dev *device, const lattice_wish *wish, lattice_kernel *kernel, ley_error *error)
{
    *kernel = (lattice_kernel){.device = device};
    ley_status status = calibrate_get(device, CALIBRATE_MULTIPLY_ADDS, &kernel->facts, error);
    if (status == LEY_OK)
        status = tuning_lattice(device->info, wish, &kernel->choice, error);
    if (status == LEY_OK)
        status = kernel_create(device, &lattice_kind, &kernel->choice.spec, NULL, kernel, &kernel->kernel, error);
    return status;
}
