/* The kernels of densities of atoms, and their known-answer tests: some atoms on a small grid,
 * against the law. */
#ifndef LEY_FIT_KERNELS_H
#define LEY_FIT_KERNELS_H

#include "fit/part.h"

extern const kernel_kind atom_density_kind, fit_windows_kind, fit_gradient_kind;

#endif
