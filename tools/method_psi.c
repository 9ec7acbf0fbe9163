/* Molecular orbitals, in the command. */
#include "method_row.h"
#include "registry.h"
#include "wavefunction_maps.h"

const method_row psi_row = {
    .option = {.name = "psi"},
    .title = "sums of contracted Gaussians",
    .command = &orbital_command,
    .is_usual = true,
    .kernels = "wavefunction",
    .rate = "terms/s",
    .create = wavefunction_create,
};
