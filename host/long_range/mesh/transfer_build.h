/* The transfers' kernels on a device: chosen, built and tested. */
#ifndef LEY_LONG_RANGE_MESH_TRANSFER_BUILD_H
#define LEY_LONG_RANGE_MESH_TRANSFER_BUILD_H

#include "long_range/mesh/transfer.h"
#include "methods/cutoff/stages.h"

/* Builds and tests what is wanted. Errors: those of kernel_create(). */
ley_status transfer_kernels_create(dev *device, const transfer_wish *wish, transfer_kernels *kernels, ley_error *error);

/* How long building the interpolation kernel of maps takes whose points are so many of a mesh's
 * spacings apart, with a window of so many points, in s; 0: the device has been used with it. */
double transfer_interpolation_building_s(const dev_info *info, int points, const double nodes_per_point[3]);

/* What the short-range kernel would add by itself, of a map along the mesh's axes. */
cutoff_epilogue transfer_epilogue(const transfer_wish *wish);

#endif
