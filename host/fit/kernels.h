/* Kernels of densities of atoms: cl/atom_density.cl, fit_windows.cl, fit_gradient.cl. */
#ifndef LEY_FIT_KERNELS_H
#define LEY_FIT_KERNELS_H

#include "arguments.h"
#include "fit/problem.h"
#include "kernel_kind.h"

extern const kernel_kind atom_density_kind, fit_windows_kind, fit_gradient_kind;
KERNEL_ARGUMENTS_STRUCT(atom_density, LEY_ATOM_DENSITY_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_windows, LEY_FIT_WINDOWS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_gradient, LEY_FIT_GRADIENT_ARGUMENTS);

/* As LEY_ATOM_DENSITY_KEYS and LEY_FIT_GRADIENT_KEYS. */
typedef struct atom_density_spec {
    LEY_ATOM_DENSITY_KEYS(KERNEL_KEY_FIELD)
} atom_density_spec;

typedef struct fit_gradient_spec {
    LEY_FIT_GRADIENT_KEYS(KERNEL_KEY_FIELD)
} fit_gradient_spec;

/* What a device is given; `is_group`: work-groups also where it has vectors. */
atom_density_spec fit_density_spec(const fit_problem *p, const dev_info *info, bool is_group);
fit_gradient_spec fit_gradient_spec_of(const fit_problem *p, const dev_info *info);
kernel_dialect fit_windows_spec(void);

#endif
