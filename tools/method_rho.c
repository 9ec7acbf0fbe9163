/* Electron densities, in the command. */
#include "method_row.h"
#include "registry.h"
#include "wavefunction_maps.h"

const method_row rho_row = {
    .option = {.name = "rho"},
    .title = "sums of squared orbitals",
    .command = &density_command,
    .is_usual = true,
    .kernels = "wavefunction",
    .rate = "terms/s",
    .create = wavefunction_create,
};
