#include "methods/cutoff/epilogue.h"

#include <string.h>

const char *const cutoff_interpolation_words[] = {"epilogue", "pass", NULL};
static const char *const epilogue_word = "epilogue";

/* What of the rate of multiply-adds the epilogue is taken to reach: a third of its instructions
 * read local memory. And how much sooner it must be than a pass of its own. */
static const double multiply_add_share = 0.25, safety = 0.7;

/* Each node gives something to each of a region's points along an axis, zeros among them: columns
 * of nodes along z, then rows along y, then points along x. */
double cutoff_epilogue_s(const calibration *facts, int nodes)
{
    const double n = nodes, edge = CUTOFF_LAYER, columns = n * n, rows = edge * n, points = edge * edge * edge;
    const double multiply_adds = n * (columns * edge + rows * edge + points);
    return facts->fma_per_s > 0 ? multiply_adds / points / (multiply_add_share * facts->fma_per_s) : 0;
}

ley_status cutoff_epilogue_choose(dev *device, const cutoff_epilogue *wish, const job_plan *plan, int *nodes,
                                  ley_error *error)
{
    const char *planned = plan_word(plan, device->info, "interpolation");
    calibration facts;
    *nodes = 0;
    if (planned != NULL)
        *nodes = strcmp(planned, epilogue_word) == 0 ? wish->nodes : 0;
    if (planned != NULL || wish->nodes == 0 || device->info->device_class == DEV_CPU)
        return LEY_OK;
    const ley_status status = calibrate_get(device, CALIBRATE_MULTIPLY_ADDS, &facts, error);
    if (status != LEY_OK)
        return status;
    const double kernel_s = cutoff_epilogue_s(&facts, wish->nodes), pass_s = wish->pass_s(device->info, &facts, wish);
    *nodes = kernel_s > 0 && kernel_s < safety * pass_s ? wish->nodes : 0;
    return LEY_OK;
}

ley_status cutoff_epilogue_check(const dev_info *info, const job_plan *plan, const cutoff_choice *choice,
                                 const char **word, ley_error *error)
{
    const char *planned = plan_word(plan, info, "interpolation");
    *word = cutoff_interpolation_words[choice->spec.nodes > 0 ? 0 : 1];
    return planned == NULL || strcmp(planned, *word) == 0
               ? LEY_OK
               : plan_fail(error,
                           "interpolation of %s is to be in the kernel's epilogue, which variant %s cannot have "
                           "for this map and mesh",
                           info->name, choice->variant);
}
