/* leyden density: electron densities on a grid, and their derivatives. */
#include "method_list.h"
#include "registry.h"
#include "wavefunction_maps.h"

static const option_row density_rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .required = true,
     .value = "MAP",
     .offset = offsetof(wavefunction_values, output),
     .help = "map to write, in the format of its ending",
     .more = "%s; derivatives have files of their own: MAP_dx.cube, MAP_laplacian.cube and so on",
     .names = map_formats},
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
    WAVEFUNCTION_ROWS,
};

static const option_method *method_at(size_t i)
{
    return method_option_at(&density_command, i);
}

static int run(const parsed_arguments *arguments)
{
    return wavefunction_run(arguments, method_row_at(arguments->command, 0));
}

static const option_block *const shared[] = {&job_options, NULL};

const subcommand density_command = {
    .name = "density",
    .summary = "Compute the electron density of a wavefunction on a grid.",
    .examples = {"leyden density c60.npz -o rho.cube", "leyden density radical.npz -o spin.cube --spin"},
    .operand = "WAVEFUNCTION",
    .operand_help = "a wavefunction, .npz; docs/formats.md has the layout",
    .details = "The density is the sum of the occupied orbitals' squares times their occupations, in bohr^-3. The "
               "grid reaches --padding beyond all nuclei.",
    .options = OPTION_BLOCK(density_rows, wavefunction_values, wavefunction_set_defaults),
    .method = method_at,
    .shared = shared,
    .run = run,
};
