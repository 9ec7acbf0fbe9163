/* The known-answer self-test of freshly built kernels of potentials. */
#ifndef LEY_WAVEFUNCTION_ESP_SELF_TEST_H
#define LEY_WAVEFUNCTION_ESP_SELF_TEST_H

#include "methods/wavefunction/esp.h"

/* LEY_ERROR_WRONG_RESULT where a value is off. The kernel has the class of this degree alone, with
 * its program, and nothing is loaded. */
ley_status esp_self_test(const esp_kernel *kernel, int momentum, ley_error *error);

#endif
