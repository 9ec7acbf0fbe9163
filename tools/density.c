/* leyden density: electron densities on a grid or at points, and their derivatives. */
#include "registry.h"
#include "wavefunction_maps.h"

static const option_row density_rows[] = {
    WAVEFUNCTION_OUTPUT("map to write, in the format of its ending",
                        "derivatives have files of their own: MAP_dx.cube, MAP_laplacian.cube and so on"),
    {.name = "orbital",
     .kind = OPTION_TEXT,
     .offset = offsetof(wavefunction_values, orbitals),
     .value = "NAMES",
     .unset = "all of them",
     .help = "only these orbitals, named as 'leyden orbital' names them"},
    {.name = "occupations",
     .kind = OPTION_REALS,
     .offset = offsetof(wavefunction_values, occupations),
     .value = "N[,N...]",
     .low = -1000,
     .high = 1000,
     .unset = "the orbitals' own",
     .help = "occupations of the orbitals of --orbital, in their order, or one for all",
     .more = "with 1 the density of an orbital is its square, with --orbital lumo,homo and 1,-1 it is the dual "
             "descriptor of reactivity"},
    {.name = "minus",
     .kind = OPTION_TEXT,
     .is_input = true,
     .offset = offsetof(wavefunction_values, less),
     .value = "WAVEFUNCTION",
     .unset = "none",
     .help = "less the density of this wavefunction: 'leyden density anion.npz --minus neutral.npz' is a Fukui "
             "function"},
    {.name = "spin",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, is_spin),
     .help = "the density of alpha electrons less that of beta electrons"},
    {.name = "gradient",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, gradient),
     .help = "also compute the derivatives along x, y and z, in bohr^-4"},
    {.name = "laplacian",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, laplacian),
     .help = "also compute the Laplacian, in bohr^-5"},
    {.name = "reduced-gradient",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, reduced_gradient),
     .help = "also compute the reduced gradient, |grad rho| / (2 (3 pi^2)^(1/3) rho^(4/3)), or 100 where that is more"},
    WAVEFUNCTION_ROWS,
};

const subcommand density_command = {
    .name = "density",
    .summary = "Compute the electron density of a wavefunction on a grid or at points.",
    .examples = {"leyden density c60.npz -o rho.cube", "leyden density radical.npz -o spin.cube --spin"},
    .operand = "WAVEFUNCTION",
    .operand_help = "a wavefunction, .npz; docs/formats.md has the layout",
    .details = "The density is the sum of the occupied orbitals' squares times their occupations, in bohr^-3. The "
               "grid reaches --padding beyond all nuclei.",
    .options = OPTION_BLOCK(density_rows, wavefunction_values, wavefunction_set_defaults),
    .shared = wavefunction_shared,
    .is_dealt = true,
    .run = wavefunction_run,
};
