/* The kernel of Gaussians at points anywhere, chosen for a device, built and put to the test. */
#ifndef LEY_WAVEFUNCTION_LIST_BUILD_H
#define LEY_WAVEFUNCTION_LIST_BUILD_H

#include "methods/wavefunction/list.h"

/* Chooses, calibrates, builds and tests. `math`: TUNING_... */
ley_status list_kernel_create(dev *device, bool has_derivatives, bool is_single, int math, list_kernel *kernel,
                              ley_error *error);

#endif
