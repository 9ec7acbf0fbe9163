/* The kernel of densities by their matrices, chosen for a device. */
#ifndef LEY_WAVEFUNCTION_DENSITY_MATRIX_BUILD_H
#define LEY_WAVEFUNCTION_DENSITY_MATRIX_BUILD_H

#include "methods/wavefunction/kernel.h"

/* The name of its variant, and whether a device is one for which that is the fastest. */
#define DENSITY_BY_MATRIX "matrix"
bool density_matrix_suits(const dev_info *info, const separable_wish *wish);

/* What a kernel of this specification is. */
separable_choice density_matrix_choice(const density_matrix_spec *spec);

/* Errors: LEY_ERROR_NO_DEVICE where the device has too little local memory for the basis, or what
 * is wanted is no density. */
ley_status density_matrix_choose(const dev_info *info, const calibration *facts, const separable_wish *wish,
                                 separable_choice *choice, ley_error *error);

#endif
