/* Charges for long waves, put into their coarse mesh on the device itself, in double precision:
 * what long_charges_make() does on the host, but for the order of its sums. */
#ifndef LEY_LONG_RANGE_FOURIER_DEVICE_LONG_WAVELENGTHS_H
#define LEY_LONG_RANGE_FOURIER_DEVICE_LONG_WAVELENGTHS_H

#include "long_range/fourier/long_wavelengths.h"
#include "long_range/mesh/device_spread.h"
#include "schedule/method.h"

KERNEL_ARGUMENTS_STRUCT(long_place, LEY_LONG_PLACE_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(long_spread, LEY_LONG_SPREAD_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(long_gather, LEY_LONG_GATHER_ARGUMENTS);
extern const kernel_kind long_place_kind, long_spread_kind, long_gather_kind;

/* A device's kernels, from the cache, or built and put to the test against long_charges_make().
 * They may not work there, and never do without double precision. */
typedef struct device_long {
    const device_spread *lists; /* whose kernels put atoms into bins; it must outlive this */
    dev_kernel place, spread, gather;
    bool works;
} device_long;

void device_long_create(dev *device, const device_spread *lists, device_long *kernels);
void device_long_destroy(device_long *kernels);

/* Makes long_charges of atoms that are on the device, with buffers that are gone when it returns.
 * When *declined is set afterwards, nothing has been made, and the host must do it: no double
 * precision, too little memory, kernels that do not work there, or bins that hold too many atoms.
 * Errors: what the device fails with; LEY_ERROR_MEMORY; LEY_ERROR_WRONG_RESULT when its counts are
 * not those of the atoms. */
ley_status device_long_run(const device_long *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                           long_charges *made, const char **declined, ley_error *error);

/* What an atom is predicted to take there: as jobs have shown, or as follows from the rate of
 * multiply-adds of floats where doubles have a small part of it; 0: it cannot be done there.
 * `facts` NULL: nothing has been measured. */
double device_long_atom_s(const dev_info *info, const calibration *facts);

/* Where so many atoms are put into the coarse mesh: by devices where each of those in use can,
 * and is predicted to have done it well before the host's cores. `are_there`: the atoms are on the
 * devices anyway. */
ley_place device_long_plan(const job_view *job, size_t atoms, bool are_there);

#endif
