/* Lennard-Jones and Coulomb energies of all pairs, cl/pair_energies.cl, and of groups with each
 * other, cl/group_sums.cl. */
#ifndef LEY_ENERGY_PAIRS_H
#define LEY_ENERGY_PAIRS_H

#include "energy/module.h"
#include "kernel_kind.h"

extern const kernel_kind pair_energies_kind, group_sums_kind;
KERNEL_ARGUMENTS_STRUCT(pair_energies, LEY_PAIR_ENERGIES_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(group_sums, LEY_GROUP_SUMS_ARGUMENTS);

/* Modules: pairs, and sums of what all modules before have put into parts. */
extern const energy_module energy_pairs, energy_matrix;

#endif
