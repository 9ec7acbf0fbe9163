/* The short-range kernel for points of a list, chosen for a device, built and put to the test. */
#ifndef LEY_POINT_PAIRS_BUILD_H
#define LEY_POINT_PAIRS_BUILD_H

#include "methods/cutoff/point_pairs.h"

/* Calibrates the device if need be, chooses the variant, and gets the kernel: from the cache, or
 * built and tested. `problem`: of a user's own pair function. */
ley_status point_pairs_create(dev *device, const cutoff_wish *wish, const cutoff_problem *problem,
                              point_pairs_kernel *kernel, ley_error *error);

#endif
