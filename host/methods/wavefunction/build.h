/* The kernel of separable sums, chosen for a device, built and put to the test. */
#ifndef LEY_WAVEFUNCTION_BUILD_H
#define LEY_WAVEFUNCTION_BUILD_H

#include "methods/wavefunction/kernel.h"

/* Names of the variants; and what a device gets for a basis with angular momenta below `powers` and
 * so many derivatives, 0 to 2. `variant` NULL: by its class. Errors: LEY_ERROR_USAGE,
 * LEY_ERROR_NO_DEVICE. */
const char *separable_variant(size_t i);
ley_status separable_choose(const dev_info *info, const char *variant, int powers, int derivatives,
                            separable_choice *choice, ley_error *error);

/* Chooses, calibrates, builds and tests. */
ley_status separable_kernel_create(dev *device, const char *variant, int powers, int derivatives,
                                   separable_kernel *kernel, ley_error *error);

#endif
