/* Atoms as long_spread.cl takes them, in double precision, in the order of their numbers within
 * each bin of a coarse mesh.
 *
 * gm_position  [n_atoms][3] A
 * gm_charge    [n_atoms] e
 * n_atoms
 * origin, along_x, along_y, along_z, whole, nodes, bins  see spread.h
 * gm_bin       [n_atoms] each atom's bin; -1: it has none
 * gm_first     [bins + 1] where each bin's atoms begin
 * gm_list      their numbers, in no order within a bin
 * gm_atoms     {x, y, z, charge}: the atom's place in its bin, in nodes from the bin's first one
 *
 * An atom's place in its bin is how many of the bin's atoms have smaller numbers. Global size:
 * n_atoms, rounded up to work-groups. */
#include "dialect.h"

LEY_NO_CONTRACTION

#include "spread.h"

LEY_KERNEL long_place(LEY_PARAMETERS(LEY_LONG_PLACE_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)n_atoms || gm_bin[i] < 0)
        return;
    const int first = gm_first[gm_bin[i]], end = gm_first[gm_bin[i] + 1];
    int at = first;
    for (int k = first; k < end; k++)
        at += gm_list[k] < (int)i ? 1 : 0;
    if (at >= end) /* the list is of other atoms */
        return;
    const home h = find_home(gm_position, i, origin, along_x, along_y, along_z, whole, nodes, bins);
    gm_atoms[at] = LEY_ATOM((h.corner & 31) + (h.x + 0.5), (h.corner >> 5 & 31) + (h.y + 0.5),
                            (h.corner >> 10) + (h.z + 0.5), gm_charge[i]);
}
