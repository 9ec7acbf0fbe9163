#include "methods/cutoff/plan.h"

#include "methods/cutoff/device_binning.h"
#include "parallel.h"

#include <math.h>

/* Rates of what is not known better, pairs within the cutoff per second. */
static const double unknown_gpu_rate = 5e11, unknown_cpu_rate = 3e9;

/* Adding a second map: bytes per second and core. */
static const double add_bytes_per_s = 4e9;

/* Binning: seconds per atom, of a core or of a device; of a device's launches and reads; bytes per
 * second to a device. */
static const double host_binning_s = 20e-9, device_binning_s = 1e-9, device_start_s = 1e-3, upload_bytes_per_s = 8e9;

/* Rows: bytes per second and core that are copied, or brought into rows; bytes per second of a
 * device's memory, in transactions of so many. */
static const double copied_bytes_per_s = 5e9, transposed_bytes_per_s = 4.4e9, device_bytes_per_s = 1e11,
                    transaction_bytes = 32;

/* The host takes the overflow only where it is predicted to be done well before the devices. */
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
static double devices_rate(const job_view *job, const ley_short_range *range, bool *host_is_device)
{
    const cutoff_wish wish = cutoff_wish_of(job->options, range, LEY_STORE_ROWS);
    double sum = 0;
    *host_is_device = false;
    for (size_t i = 0; i < job->device_count; i++) {
        const device_view *d = &job->devices[i];
        cutoff_choice choice;
        const bool is_cpu = d->info->device_class == DEV_CPU;
        if (d->is_known && tuning_cutoff(d->info, &d->facts, &wish, &choice, NULL) == LEY_OK)
            sum += tuning_cutoff_rate(&choice.spec, &d->facts);
        else
            sum += is_cpu ? unknown_cpu_rate : unknown_gpu_rate;
        *host_is_device = *host_is_device || is_cpu;
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

ley_place cutoff_plan_binning(const job_view *job, const ley_short_range *range, const cutoff_problem *p)
{
    if (range->binning == LEY_PLACE_HOST || range->overflow == LEY_PLACE_HOST || device_binning_obstacle(p) != NULL)
        return LEY_PLACE_HOST;
    if (range->binning == LEY_PLACE_DEVICE)
        return LEY_PLACE_DEVICE;
    const double atoms = (double)ley_atoms_count(p->atoms);
    const double host_s = atoms * host_binning_s / parallel_cores() + (double)p->plan.slot_bytes / upload_bytes_per_s;
    const double device_s = atoms * (4 * sizeof(double) / upload_bytes_per_s + device_binning_s) + device_start_s;
    return all_can_bin(job) && device_s < host_s ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

/* The host's loop counts points in 32 bits. */
static bool fits_host_loop(const cutoff_problem *p)
{
    bool fits = true;
    for (int axis = 0; axis < 3; axis++)
        fits = fits && p->cutoff_A / p->lattice.step_A[axis][axis] < 1e8 && p->lattice.n[axis] < 1 << 29;
    return fits;
}

/* Its sums are floats; an expression it does not have. */
static bool host_can_sum(const job_view *job, const ley_short_range *range, const cutoff_problem *p)
{
    return range->pair != LEY_PAIR_EXPRESSION && job->options->sum == LEY_SUM_FLOAT && fits_host_loop(p);
}

/* The kernel writes rows, in stretches as long as a region, of which the rest of a transaction is
 * lost, and the host copies them; or it writes regions one after the other, and the host brings
 * them into rows. */
static ley_place transposition_place(const cutoff_problem *p, double cores)
{
    const double bytes = 4 * (double)ley_lattice_points(&p->lattice), stretch = 4.0 * CUTOFF_LAYER;
    const double on_device_s =
        bytes * (fmax(transaction_bytes / stretch, 1) - 1) / device_bytes_per_s + bytes / (copied_bytes_per_s * cores);
    return on_device_s <= bytes / (transposed_bytes_per_s * cores) ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

void cutoff_plan_sums(const job_view *job, const ley_short_range *range, const cutoff_problem *p, double pairs,
                      cutoff_plan *plan)
{
    const binned_atoms *b = p->binned;
    bool host_is_device;
    const double rate = devices_rate(job, range, &host_is_device), cores = parallel_cores();
    const double share = b != NULL && b->binned > 0 ? (double)b->overflow / (double)b->binned : 0;
    const double adding_s = (double)ley_lattice_points(&p->lattice) * 12 / (add_bytes_per_s * cores);
    plan->predicted_overflow_s = share > 0 ? pairs * share / (overflow_rate() * cores) + adding_s : 0;
    plan->predicted_device_s = pairs * (1 - share) / rate;
    const bool sooner = host_can_sum(job, range, p) && b != NULL && !host_is_device &&
                        plan->predicted_overflow_s < safety * plan->predicted_device_s;
    const bool is_given =
        range->overflow == LEY_PLACE_DEVICE || (range->overflow == LEY_PLACE_HOST && fits_host_loop(p));
    plan->overflow_sum = is_given ? range->overflow : sooner ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
    plan->transposition = range->transposition != LEY_PLACE_AUTO ? range->transposition : transposition_place(p, cores);
}
