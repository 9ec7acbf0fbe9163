/* leyden esp: the electrostatic potential of a wavefunction on a grid or at points, and its
 * field. */
#include "registry.h"
#include "wavefunction_maps.h"

static const char *const units[] = {"hartree/e", "kT/e", "V", "kcal/mol/e", "kJ/mol/e", NULL};

static const option_row esp_rows[] = {
    WAVEFUNCTION_OUTPUT("map to write, in the format of its ending",
                        "components of the field have files of their own: MAP_Ex.cube, MAP_Ey.cube and MAP_Ez.cube"),
    {.name = "field",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, field),
     .help = "also compute the electric field E = -grad V, in hartree/(e bohr), or in other --units per A"},
    {.name = "units",
     .kind = OPTION_CHOICE,
     .is_text = true,
     .offset = offsetof(wavefunction_values, units),
     .value = "UNITS",
     .choices = units,
     .help = "units of the potential"},
    {.name = "temperature",
     .kind = OPTION_REAL,
     .is_expert = true,
     .offset = offsetof(wavefunction_values, temperature_K),
     .value = "K",
     .low = 1e-3,
     .high = 1e6,
     .help = "temperature in Kelvin, which matters for kT/e only"},
    WAVEFUNCTION_ROWS,
};

static void set_defaults(void *to)
{
    wavefunction_values *values = to;
    wavefunction_set_defaults(values);
    values->is_potential = true;
    values->temperature_K = 298.15;
}

const subcommand esp_command = {
    .name = "esp",
    .summary = "Compute the electrostatic potential of a wavefunction.",
    .examples = {"leyden esp c60.npz -o esp.cube", "leyden esp c60.npz --points surface.csv --field -o esp.csv"},
    .operand = "WAVEFUNCTION",
    .operand_help = "a wavefunction, .npz; docs/formats.md has the layout",
    .details = "The potential is that of the nuclei less that of the electrons, by exact integrals. Pairs of Gaussians "
               "are left out where all of them together are less than 1e-7 hartree/e everywhere. The grid reaches "
               "--padding beyond all nuclei.",
    .options = OPTION_BLOCK(esp_rows, wavefunction_values, set_defaults),
    .shared = wavefunction_shared,
    .is_dealt = true,
    .run = wavefunction_run,
};
