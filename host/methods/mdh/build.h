/* The Multiple Debye-Hueckel kernels, chosen for a device, built and put to the test. */
#ifndef LEY_MDH_BUILD_H
#define LEY_MDH_BUILD_H

#include "methods/mdh/kernel.h"

/* Calibrates the device if need be, chooses the variant, and gets the kernels: from the cache, or
 * built and tested. */
ley_status mdh_kernel_create(dev *device, const mdh_wish *wish, mdh_kernel *kernel, ley_error *error);

#endif
