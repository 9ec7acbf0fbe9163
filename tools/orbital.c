/* leyden orbital: molecular orbitals on a grid or at points. */
#include "registry.h"
#include "wavefunction_maps.h"

static const option_row orbital_rows[] = {
    WAVEFUNCTION_OUTPUT(
        "map to write, in the format of its ending",
        "of several orbitals each has a file of its own, with its number in the place of {} or in front of "
        "the ending"),
    {.name = "orbital",
     .kind = OPTION_TEXT,
     .offset = offsetof(wavefunction_values, orbitals),
     .value = "NAMES",
     .required = true,
     .help = "orbitals: homo, lumo, homo-1, numbers from 1, ranges (12-20, homo-2..lumo), with commas between them",
     .more = "alpha: or beta: in front of a name counts the orbitals of that spin alone"},
    {.name = "together",
     .kind = OPTION_FLAG,
     .offset = offsetof(wavefunction_values, together),
     .help = "write several orbitals into one cube file, with as many values at each point"},
    WAVEFUNCTION_ROWS,
};

const subcommand orbital_command = {
    .name = "orbital",
    .summary = "Compute molecular orbitals on a grid or at points.",
    .examples = {"leyden orbital c60.npz --orbital homo -o homo.cube",
                 "leyden orbital c60.npz --orbital homo,lumo,12-20 -o 'orbital_{}.cube'"},
    .operand = "WAVEFUNCTION",
    .operand_help = "a wavefunction, .npz; docs/formats.md has the layout",
    .details = "Values are in bohr^-3/2. The grid reaches --padding beyond all nuclei. Terms are left out where all of "
               "them together are less than 1e-6 of an orbital's largest value.",
    .options = OPTION_BLOCK(orbital_rows, wavefunction_values, wavefunction_set_defaults),
    .shared = wavefunction_shared,
    .is_dealt = true,
    .run = wavefunction_run,
};
