#include "fit/device_part.h"

#include "fit/kernels.h"
#include "watch.h"

/* As many as are worth a work-item of a processor. */
static int parts_of(const fit_problem *problem, const dev_info *info)
{
    enum { ATOMS = 4096, MOST = 32 };
    const size_t worth = problem->model.count / ATOMS + 1,
                 units = info->compute_units > 0 ? (size_t)info->compute_units : 1, most = units < MOST ? units : MOST;
    return (int)(worth < most ? worth : most);
}

ley_status fit_part_begin(fit_part *part, const fit_problem *problem, dev *device, int64_t frames, ley_error *error)
{
    const atom_density_spec spec = fit_density_spec(problem, device->info);
    const fit_gradient_spec gradient = fit_gradient_spec_of(device->info, false, problem->is_varied);
    const kernel_dialect windows = fit_windows_spec();
    watch_expect(0);
    const int group = fit_places_group(device->info, false);
    ley_status status = fit_memory_make(part, problem, device, &spec, group,
                                        group > 1 ? 1 : parts_of(problem, device->info), frames, error);
    if (status == LEY_OK)
        status = fit_places_build(&part->places, device, error);
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
    sequence_step(&b->sequence, FIT_STEP_SORT);
    fit_places_launch(&part->places, &b->sequence, frames);
    sequence_step(&b->sequence, FIT_STEP_DENSITY);
    fit_launch_density(part, b, &part->density);
    if (part->problem->windows > 0)
        fit_launch_windows(part, b, &part->windows);
    if (part->problem->has_gradient)
        fit_launch_gradient(part, b, &part->gradient);
    fit_batch_read(part, b);
    return sequence_status(&b->sequence, error);
}
