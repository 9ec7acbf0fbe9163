/* The kernel of electrons' potentials, chosen, built and tested. */
#ifndef LEY_WAVEFUNCTION_ESP_BUILD_H
#define LEY_WAVEFUNCTION_ESP_BUILD_H

#include "methods/wavefunction/esp.h"

/* For the degrees that are marked. `math`: TUNING_... */
ley_status esp_kernel_create(dev *device, const bool wanted[HERMITE_CLASSES], bool has_field, int math, esp_kernel *k,
                             ley_error *error);

#endif
