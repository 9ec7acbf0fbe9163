/* Atoms into bins on the device itself: what binning.h does on the host, bit for bit. */
#ifndef LEY_DEVICE_BINNING_H
#define LEY_DEVICE_BINNING_H

#include "methods/cutoff/kernel.h"

KERNEL_ARGUMENTS_STRUCT(link_atoms, LEY_LINK_ATOMS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fill_bins, LEY_FILL_BINS_ARGUMENTS);
extern const kernel_kind link_atoms_kind, fill_bins_kind;

/* A device's bins, as binned_atoms counts them. */
typedef struct device_bins {
    int64_t bins, extra_bins; /* the plan's, and those behind them that hold the overflow */
    int64_t binned, overflow, outside, neutral;
    int64_t longest;      /* atoms of the fullest bin */
    const char *declined; /* why the host must do it, or NULL */
} device_bins;

/* All atoms as they are in the host's memory: [n][3] in A, and [n] in e. */
typedef struct device_atoms {
    size_t n;
    buffer_of_double position, charge;
} device_atoms;

/* Why devices cannot bin this problem's atoms, whatever device it is: numbers that are no
 * charges. NULL: they can. */
const char *device_binning_obstacle(const cutoff_problem *problem);

/* What a device's memory takes beside the slots, were there no overflow. */
double device_binning_bytes(const cutoff_problem *problem);

/* A device's two kernels of binning, from the cache, or built and put to the test against
 * binning_fill(). They may not work there, and never do without double precision. */
typedef struct device_binning {
    dev_kernel link, fill;
    bool works;
    dev_staging *way; /* [4 n] doubles, on which atoms travel again and again; NULL: they find their own */
} device_binning;

void device_binning_create(dev *device, device_binning *kernels);
void device_binning_destroy(device_binning *kernels);

/* Bins the problem's atoms: all that was binned in `*slots`, [bins and extra bins][depth] of {x, y,
 * z, q}, and in `*extra`, [bins + 1], where each bin goes on: cutoff.cl's gm_slots and gm_extra.
 * `*extra` is none without overflow. Both are of the arena. When counts->declined is set
 * afterwards, there are no buffers: an obstacle, no double precision, too little memory, kernels
 * that do not work there, or more than 128 atoms in a bin. The atoms themselves are of the arena,
 * too, in `*atoms`, for who wants them there; NULL: nobody does. Errors: what the device fails
 * with; LEY_ERROR_MEMORY; LEY_ERROR_WRONG_RESULT when its counts are not those of the atoms. */
ley_status device_binning_run(arena *r, const device_binning *kernels, const cutoff_problem *problem,
                              buffer_of_atom *slots, buffer_of_int *extra, device_atoms *atoms, device_bins *counts,
                              ley_error *error);

#endif
