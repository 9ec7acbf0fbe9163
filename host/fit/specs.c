#include "fit/specs.h"

#include "calibrate.h"

bool fit_has_vectors(const dev_info *info)
{
    return info->device_class == DEV_CPU && info->vector_width >= 4;
}

/* Multiplications on processors, the device's own function elsewhere. */
static int exp_for(const dev_info *info)
{
    return info->device_class == DEV_CPU ? LEY_EXP_POLYNOMIAL : LEY_EXP_STANDARD;
}

atom_density_spec fit_spec_of(const dev_info *info, bool is_group, bool is_oblique, bool is_varied, bool is_stored,
                              int sets)
{
    enum { GROUP = LEY_DENSITY_BRICK * LEY_DENSITY_BRICK };
    const bool is_vector =
        (fit_has_vectors(info) && !is_group) || (info->max_work_group > 0 && info->max_work_group < GROUP);
    const int width = calibrate_width(info);
    return (atom_density_spec){.sum = LEY_SPEC_SUM_FLOAT,
                               .width = !is_vector                  ? 1
                                        : width > LEY_DENSITY_BRICK ? width
                                                                    : LEY_DENSITY_BRICK,
                               .root = LEY_ROOT_STANDARD,
                               .exp = exp_for(info),
                               .wg = is_vector ? 1 : GROUP,
                               .oblique = is_oblique,
                               .varied = is_varied,
                               .stored = is_stored || is_vector, /* as it is summed there */
                               .sets = sets};
}

atom_density_spec fit_density_spec(const fit_problem *p, const dev_info *info)
{
    return fit_spec_of(info, false, p->is_oblique, p->is_varied, fit_is_stored(p), fit_sets(p));
}

fit_gradient_spec fit_gradient_spec_of(const dev_info *info, bool is_group, bool is_varied)
{
    const int width = fit_spec_of(info, is_group, false, is_varied, true, LEY_FIT_ALL).width;
    return (fit_gradient_spec){.sum = LEY_SPEC_SUM_FLOAT,
                               .width = width,
                               .root = LEY_ROOT_STANDARD,
                               .exp = exp_for(info),
                               .varied = is_varied};
}

int fit_places_group(const dev_info *info, bool is_group)
{
    enum { MOST = 128 };
    if (info->device_class == DEV_CPU && !is_group)
        return 1;
    return info->max_work_group > 0 && info->max_work_group < MOST ? (int)info->max_work_group : MOST;
}

kernel_dialect fit_windows_spec(void)
{
    return (kernel_dialect){FIT_PLAIN};
}
