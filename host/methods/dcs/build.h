/* The direct-Coulomb-summation kernel, chosen for a device, built and put to the test. */
#ifndef LEY_DCS_BUILD_H
#define LEY_DCS_BUILD_H

#include "methods/dcs/kernel.h"

/* Calibrates the device if need be, chooses the variant, and gets the kernel: from the cache, or
 * built and tested. */
ley_status dcs_kernel_create(dev *device, const dcs_wish *wish, dcs_kernel *kernel, ley_error *error);

#endif
