/* The kernel of separable sums, chosen for a device, built and put to the test. */
#ifndef LEY_WAVEFUNCTION_BUILD_H
#define LEY_WAVEFUNCTION_BUILD_H

#include "methods/wavefunction/kernel.h"

/* Names of the variants. */
const char *separable_variant(size_t i);

/* Chooses, calibrates, builds and tests. Errors beside those of devices: LEY_ERROR_USAGE,
 * LEY_ERROR_NO_DEVICE. */
ley_status separable_kernel_create(dev *device, const separable_wish *wish, separable_kernel *kernel, ley_error *error);

/* Its kind, and its specification as text. */
const kernel_kind *separable_kernel_kind(const separable_kernel *kernel);
void separable_kernel_describe(const separable_kernel *kernel, char *text, size_t size);

#endif
