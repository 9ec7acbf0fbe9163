/* The short-range kernel, chosen for a device, built and put to the test. */
#ifndef LEY_CUTOFF_BUILD_H
#define LEY_CUTOFF_BUILD_H

#include "methods/cutoff/kernel.h"

/* Calibrates the device if need be, chooses the variant, and gets the kernel: from the cache, or
 * built and tested. The problem need not have its bins yet. */
ley_status cutoff_kernel_create(dev *device, const cutoff_wish *wish, const cutoff_problem *problem,
                                cutoff_kernel *kernel, ley_error *error);

#endif
