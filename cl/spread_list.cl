/* The atoms of each bin of a mesh, one bin after the other, in no order within one.
 *
 * n_atoms
 * gm_bin       [n_atoms] each atom's bin; -1: it has none
 * gm_place     [n_atoms] its place in there
 * gm_first     [bins + 1] where each bin's atoms begin
 * gm_list      [atoms with a bin] the atoms' numbers
 *
 * Global size: n_atoms, rounded up to work-groups. */
#include "dialect.h"

LEY_KERNEL spread_list(LEY_PARAMETERS(LEY_SPREAD_LIST_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i < (size_t)n_atoms && gm_bin[i] >= 0)
        gm_list[gm_first[gm_bin[i]] + gm_place[i]] = (int)i;
}
