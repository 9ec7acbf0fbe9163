/* Potentials of molecules from their wavefunctions, in the command. */
#include "method_row.h"
#include "registry.h"
#include "wavefunction_maps.h"

const method_row phi_row = {
    .option = {.name = "phi"},
    .title = "one-electron integrals and nuclei",
    .command = &esp_command,
    .is_usual = true,
    .takes_points = true,
    .kernels = "esp",
    .rate = "pairs/s",
    .create = wavefunction_create,
};
