/* The lattice cutoff's kernel on a device: chosen, built and tested. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LATTICE_BUILD_H
#define LEY_LONG_RANGE_MULTILEVEL_LATTICE_BUILD_H

#include "long_range/multilevel/lattice_kernel.h"

ley_status lattice_kernel_create(dev *device, const lattice_wish *wish, lattice_kernel *kernel, ley_error *error);

#endif
