/* Lennard-Jones and Coulomb energies of pairs that have their own: cl/pairs_14.cl. */
#ifndef LEY_ENERGY_PAIRS_14_H
#define LEY_ENERGY_PAIRS_14_H

#include "energy/module.h"
#include "kernel_kind.h"

extern const kernel_kind pairs_14_kind;
KERNEL_ARGUMENTS_STRUCT(pairs_14, LEY_PAIRS_14_ARGUMENTS);

extern const energy_module energy_pairs_14;

#endif
