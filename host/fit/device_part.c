#include "fit/device_part.h"

#include "fit/kernels.h"
#include "watch.h"

ley_status fit_part_begin(fit_part *part, const fit_problem *problem, dev *device, ley_error *error)
{
    const atom_density_spec spec = fit_density_spec(problem, device->info);
    const fit_gradient_spec gradient = fit_gradient_spec_of(problem, device->info);
    const kernel_dialect windows = fit_windows_spec();
    watch_expect(0);
    ley_status status = fit_memory_make(part, problem, device, &spec, INT64_MAX, error);
    if (status == LEY_OK)
        status = kernel_create(device, &atom_density_kind, &spec, NULL, NULL, &part->density, error);
    if (status == LEY_OK && problem->windows > 0)
        status = kernel_create(device, &fit_windows_kind, &windows, NULL, NULL, &part->windows, error);
    if (status == LEY_OK && problem->has_gradient)
        status = kernel_create(device, &fit_gradient_kind, &gradient, NULL, NULL, &part->gradient, error);
    return status;
}

ley_status fit_part_start(fit_part *part, fit_batch *b, int64_t first, int frames, const float *position_A,
                          const double *threshold, int *bad, ley_error *error)
{
    const ley_status status = fit_batch_begin(part, b, frames, position_A, threshold, bad, error);
    if (status != LEY_OK)
        return status;
    b->first = first;
    fit_launch_density(part, b, &part->density);
    if (part->problem->windows > 0)
        fit_launch_windows(part, b, &part->windows);
    if (part->problem->has_gradient)
        fit_launch_gradient(part, b, &part->gradient);
    fit_batch_read(part, b);
    return sequence_status(&b->sequence, error);
}
