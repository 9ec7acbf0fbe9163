/* Surface energies on devices: cl/lcpo.cl. */
#ifndef LEY_ENERGY_SURFACE_H
#define LEY_ENERGY_SURFACE_H

#include "energy/module.h"
#include "kernel_kind.h"

extern const kernel_kind lcpo_kind;
KERNEL_ARGUMENTS_STRUCT(lcpo, LEY_LCPO_ARGUMENTS);

/* Whether devices compute them; the host does the numerical ones, and those with forces. */
bool energy_surface_is_devices(const energy_problem *problem);

extern const energy_module energy_surfaces;

#endif
