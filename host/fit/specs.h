/* Specifications of the kernels of densities of atoms, and their arguments: cl/atom_density.cl,
 * fit_windows.cl, fit_gradient.cl. */
#ifndef LEY_FIT_SPECS_H
#define LEY_FIT_SPECS_H

#include "arguments.h"
#include "fit/problem.h"
#include "kernel_kind.h"

KERNEL_ARGUMENTS_STRUCT(atom_density, LEY_ATOM_DENSITY_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_cells, LEY_FIT_CELLS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_place, LEY_FIT_PLACE_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_windows, LEY_FIT_WINDOWS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(fit_gradient, LEY_FIT_GRADIENT_ARGUMENTS);

/* As LEY_ATOM_DENSITY_KEYS and so on. */
typedef struct atom_density_spec {
    LEY_ATOM_DENSITY_KEYS(KERNEL_KEY_FIELD)
} atom_density_spec;

typedef struct fit_gradient_spec {
    LEY_FIT_GRADIENT_KEYS(KERNEL_KEY_FIELD)
} fit_gradient_spec;

typedef struct fit_cells_spec {
    LEY_FIT_CELLS_KEYS(KERNEL_KEY_FIELD)
} fit_cells_spec;

typedef struct fit_place_spec {
    LEY_FIT_PLACE_KEYS(KERNEL_KEY_FIELD)
} fit_place_spec;

/* A dialect without vectors. */
#define FIT_PLAIN .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD

/* Whether the device is a processor with vectors; `is_group`: work-groups also there. */
bool fit_has_vectors(const dev_info *info);
atom_density_spec fit_spec_of(const dev_info *info, bool is_group, bool is_oblique, bool is_varied, bool is_stored,
                              int sets);

/* What a device is given for a problem. */
atom_density_spec fit_density_spec(const fit_problem *p, const dev_info *info);
fit_gradient_spec fit_gradient_spec_of(const dev_info *info, bool is_group, bool is_varied);
int fit_places_group(const dev_info *info, bool is_group); /* atoms of a work-group of fit_cells.cl; 1: see there */
kernel_dialect fit_windows_spec(void);

#endif
