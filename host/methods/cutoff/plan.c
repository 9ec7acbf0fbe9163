#include "methods/cutoff/plan.h"

#include "methods/cutoff/step_costs.h"

#include <math.h>

/* What is not the usual way is gone only where it is predicted to be done well before it: the host
 * takes the overflow, or brings regions into rows. */
static const double safety = 0.7;

cutoff_wish cutoff_wish_of(const ley_run_options *o, const ley_short_range *range, int store)
{
    return (cutoff_wish){.variant = o->variant,
                         .math = o->math,
                         .sum = o->sum,
                         .pair = (int)range->pair,
                         .store = store,
                         .depth = range->bin_depth};
}

/* Of all devices in use; and whether one of them is the host's own processor. */
static double devices_rate(const job_view *job, const ley_short_range *range, const cutoff_problem *p,
                           bool *host_is_device)
{
    cutoff_wish wish = cutoff_wish_of(job->options, range, LEY_STORE_ROWS);
    cutoff_problem_reach(p, wish.reach);
    double sum = 0;
    *host_is_device = false;
    for (size_t i = 0; i < job->device_count; i++) {
        const device_view *d = &job->devices[i];
        sum += tuning_cutoff_expected_rate(d->info, d->is_known ? &d->facts : NULL, &wish);
        *host_is_device = *host_is_device || d->info->device_class == DEV_CPU;
    }
    return fmax(sum, 1);
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
    if (range->binning == LEY_PLACE_HOST || range->overflow == LEY_PLACE_HOST || device_binning_obstacle(p) != NULL)
        return LEY_PLACE_HOST;
    if (range->binning == LEY_PLACE_DEVICE)
        return LEY_PLACE_DEVICE;
    return all_can_bin(job) && (job->is_kept || devices_bin_sooner(job, p)) ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

/* The host's loop counts points in 32 bits. */
static bool fits_host_loop(const cutoff_problem *p)
{
    const overflow_terms t = cutoff_problem_terms(p);
    double reach = t.cutoff, spacing_A[3];
    bool fits = true;
    ley_grid_spacing_A(&p->grid, spacing_A);
    for (int axis = 0; axis < 3; axis++)
        reach += (double)p->grid.n[axis] * spacing_A[axis] * p->unit_per_A;
    for (int axis = 0; axis < 3; axis++)
        fits = fits && t.cutoff / t.step[axis][axis] < 1e8 && reach / t.step[axis][axis] < 1 << 29;
    return fits;
}

/* Its sums are floats; an expression it does not have. */
static bool host_can_sum(const job_view *job, const ley_short_range *range, const cutoff_problem *p)
{
    return range->pair != LEY_PAIR_EXPRESSION && job->options->sum == LEY_SUM_FLOAT && fits_host_loop(p);
}

/* The kernel writes rows, in stretches as long as a region, each of them a whole transaction of the
 * device's memory, and the host copies them; or it writes regions one after the other, and the host
 * brings them into rows. */
static ley_place transposition_place(void)
{
    double rows[COSTS_MOST];
    costs_get(&row_costs, NULL, NULL, rows);
    return rows[COST_ROW_TRANSPOSED] < safety * rows[COST_ROW_COPIED] ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
}

void cutoff_plan_sums(const job_view *job, const ley_short_range *range, const cutoff_problem *p, double pairs,
                      cutoff_plan *plan)
{
    const binned_atoms *b = p->binned;
    bool host_is_device;
    const double rate = devices_rate(job, range, p, &host_is_device);
    const double share = b != NULL && b->binned > 0 ? (double)b->overflow / (double)b->binned : 0;
    const bool can_sum = share > 0 && host_can_sum(job, range, p) && !host_is_device,
               is_asked = share > 0 && range->overflow == LEY_PLACE_HOST && fits_host_loop(p);
    const bool is_a_choice = can_sum || is_asked;
    plan->predicted_adding_s = is_a_choice ? cutoff_adding_s(p) : 0;
    plan->predicted_overflow_s = is_a_choice ? cutoff_overflow_s(p, pairs * share) + plan->predicted_adding_s : 0;
    plan->predicted_device_s = pairs * (1 - share) / rate;
    const bool sooner = can_sum && plan->predicted_overflow_s < safety * plan->predicted_device_s;
    const bool is_given =
        range->overflow == LEY_PLACE_DEVICE || (range->overflow == LEY_PLACE_HOST && fits_host_loop(p));
    plan->overflow_sum = is_given ? range->overflow : sooner ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
    plan->transposition = range->transposition != LEY_PLACE_AUTO ? range->transposition : transposition_place();
}
