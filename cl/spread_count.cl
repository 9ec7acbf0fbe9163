/* How many atoms are in each bin of a mesh, and a place in it for each of them: the first step
 * of what host/long_range/mesh/spread.c does.
 *
 * gm_position  [n_atoms][3] A
 * gm_charge    [n_atoms] e
 * n_atoms
 * origin, along_x, along_y, along_z, whole, nodes, bins  see spread.h; the third of bins along z,
 *              the fourth all of them
 * gm_count     [bins + 2] atoms of each bin; behind them those that are outside the mesh, and
 *              those without charge. 0 beforehand
 * gm_bin       [n_atoms] each atom's bin; -1: it has none
 * gm_place     [n_atoms] in its bin, in no order
 *
 * Global size: n_atoms, rounded up to work-groups. */
#include "dialect.h"

LEY_NO_CONTRACTION

#include "spread.h"

LEY_KERNEL spread_count(LEY_PARAMETERS(LEY_SPREAD_COUNT_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)n_atoms)
        return;
    int bin = -1, counter = bins.w + 1;
    if (gm_charge[i] != 0) {
        bin = find_home(gm_position, i, origin, along_x, along_y, along_z, whole, nodes, bins).bin;
        counter = bin >= 0 ? bin : bins.w;
    }
    gm_bin[i] = bin;
    gm_place[i] = LEY_ATOMIC_ADD(&gm_count[counter], 1);
}
