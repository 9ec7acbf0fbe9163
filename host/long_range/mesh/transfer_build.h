/* The transfers' kernels on a device: chosen, built and tested. */
#ifndef LEY_LONG_RANGE_MESH_TRANSFER_BUILD_H
#define LEY_LONG_RANGE_MESH_TRANSFER_BUILD_H

#include "long_range/mesh/transfer.h"
#include "methods/cutoff/stages.h"

/* Builds and tests what is wanted. Errors: those of kernel_create(). */
ley_status transfer_kernels_create(dev *device, const transfer_wish *wish, transfer_kernels *kernels, ley_error *error);

/* What the short-range kernel would add by itself, of a map along the lattice's axes. */
cutoff_epilogue transfer_epilogue(const transfer_wish *wish);

#endif
