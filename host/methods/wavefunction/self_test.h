/* Known-answer self-tests of freshly built kernels of wavefunctions. */
#ifndef LEY_WAVEFUNCTION_SELF_TEST_H
#define LEY_WAVEFUNCTION_SELF_TEST_H

#include "methods/wavefunction/kernel.h"
#include "methods/wavefunction/list.h"

/* Functions of a basis that densities by their matrices are tested with, at most. */
enum { DENSITY_MATRIX_TESTED = 1024 };

/* LEY_ERROR_WRONG_RESULT where a value is off. The kernel has its program and choice, and nothing
 * is loaded. */
ley_status separable_self_test(const separable_kernel *kernel, ley_error *error);
ley_status list_self_test(const list_kernel *kernel, ley_error *error);

#endif
