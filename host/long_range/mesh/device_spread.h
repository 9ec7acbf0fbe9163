/* Atoms for anterpolation, put into the mesh's bins on the device itself: what spread.h does on
 * the host, bit for bit. */
#ifndef LEY_LONG_RANGE_MESH_DEVICE_SPREAD_H
#define LEY_LONG_RANGE_MESH_DEVICE_SPREAD_H

#include "long_range/mesh/device_lists.h"
#include "long_range/mesh/transfer.h"
#include "methods/cutoff/stages.h"

KERNEL_ARGUMENTS_STRUCT(spread_place, LEY_SPREAD_PLACE_ARGUMENTS);
extern const kernel_kind spread_place_kind;

/* A device's kernels, from the cache, or built and put to the test against spread_make(). They may
 * not work there, and never do without double precision. */
typedef struct device_spread {
    dev_kernel count, list, place;
    bool works;
} device_spread;

void device_spread_create(dev *device, device_spread *kernels);
void device_spread_destroy(device_spread *kernels);

/* Puts atoms that are on the device into bins. `s` is of spread_begin(); its `first` and `atoms`
 * are set. When *declined is set afterwards, nothing has been made, and the host must do it: no
 * double precision, too little memory, kernels that do not work there, or bins that hold too many
 * atoms. Errors: what the device fails with; LEY_ERROR_MEMORY; LEY_ERROR_WRONG_RESULT when its
 * counts are not those of the atoms. */
ley_status device_spread_run(const device_spread *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                             spread *s, transfer_atoms *made, const char **declined, ley_error *error);

#endif
