#include "methods/cutoff/plan.h"

#include "methods/cutoff/step_costs.h"

#include <math.h>

cutoff_wish cutoff_wish_of(const ley_run_options *o, const ley_short_range *range, int store)
{
    return (cutoff_wish){.variant = o->variant,
                         .math = o->math,
                         .sum = o->sum,
                         .pair = (int)range->pair,
                         .store = store,
                         .depth = range->bin_depth};
}

/* Whether every device in use is one beside the host, and able. */
static bool all_can_bin(const job_view *job)
{
    bool all = true;
    for (size_t i = 0; i < job->device_count; i++) {
        const dev_info *info = job->devices[i].info;
        all = all && info->device_class != DEV_CPU && info->has_double && !(info->quirks & DEV_QUIRK_INTERPRETER);
    }
    return all;
}

/* The slowest device counts: each one bins all atoms, or gets all bins. */
static bool devices_bin_sooner(const job_view *job, const cutoff_problem *p)
{
    double device_s = 0, arriving_s = 0;
    for (size_t i = 0; i < job->device_count; i++) {
        const dev_info *info = job->devices[i].info;
        device_s = fmax(device_s, cutoff_device_binning_s(p, info));
        arriving_s = fmax(arriving_s, cutoff_upload_s(p, info));
    }
    return device_s < cutoff_host_binning_s(p) + arriving_s;
}

ley_place cutoff_plan_binning(const job_view *job, const ley_short_range *range, const cutoff_problem *p)
{
    if (range->binning == LEY_PLACE_HOST || device_binning_obstacle(p) != NULL)
        return LEY_PLACE_HOST;
    if (range->binning == LEY_PLACE_DEVICE)
        return LEY_PLACE_DEVICE;
    return all_can_bin(job) && (job->is_kept || devices_bin_sooner(job, p)) ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

/* The kernel writes rows, in stretches as long as a region, each of them a whole transaction of the
 * device's memory, and the host copies them; or it writes regions one after the other, and the host
 * brings them into rows. */
ley_place cutoff_plan_transposition(const ley_short_range *range)
{
    static const double safety = 0.7; /* what is not the usual way is to be well before it */
    double rows[COSTS_MOST];
    if (range->transposition != LEY_PLACE_AUTO)
        return range->transposition;
    costs_get(&row_costs, NULL, NULL, rows);
    return rows[COST_ROW_TRANSPOSED] < safety * rows[COST_ROW_COPIED] ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
}
