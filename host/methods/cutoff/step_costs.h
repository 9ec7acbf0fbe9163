/* What steps of a short-range job cost on this machine, for its plan: see platform/costs.h. */
#ifndef LEY_CUTOFF_STEP_COSTS_H
#define LEY_CUTOFF_STEP_COSTS_H

#include "costs.h"
#include "methods/cutoff/device_binning.h"

/* An atom into its bin, by one core, beside touching the bins' memory. */
extern const costs_kind binning_costs;

/* A byte of a map, by one core: rows are copied into it, or regions are brought into rows. */
enum { COST_ROW_COPIED, COST_ROW_TRANSPOSED };
extern const costs_kind row_costs;

/* All atoms of a small box and of a larger one into bins by a device, from where they are. Its
 * context: */
enum { COST_SAMPLE, COST_LARGE_SAMPLE };
extern const costs_kind device_binning_costs;
typedef struct device_binning_context {
    arena *arena;
    const device_binning *kernels;
} device_binning_context;

/* Seconds that the host needs to put a slab of so many points into the map, one way or the other.
 * On a processor that computes meanwhile, its threads and the kernels' share the cores. */
double cutoff_rows_s(ley_place transposition, double points, bool host_is_device);

/* How long the host's bins take to a device. */
double cutoff_upload_s(const cutoff_problem *problem, const dev_info *info);

/* How long the host takes to bin the problem's atoms; and a device, from where they are. */
double cutoff_host_binning_s(const cutoff_problem *problem);
double cutoff_device_binning_s(const cutoff_problem *problem, const dev_info *info);

#endif
