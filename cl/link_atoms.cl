/* Atoms into lists, one per bin. What is done with an atom is what host/layout/binning.c does,
 * operation by operation, so that both put it into the same bin and the same slot:
 *
 * gm_position  [n_atoms][3] A
 * gm_charge    [n_atoms] e
 * origin       of the mesh, A; fourth, what a charge is multiplied by
 * low, high    where atoms are in reach, from the origin, A
 * side         of a bin, A
 * bins_per_A   1 / side
 * zero         along each axis the bin that begins at the origin
 * n            bins along each axis, and all
 * gm_count     [bins + 2] atoms of each bin; behind them the atoms out of reach, and those in
 *              reach without charge. 0 beforehand
 * gm_head      [bins] 1 + the first atom of the bin's list. 0 beforehand, and where there is
 *              none
 * gm_next      [n_atoms] 1 + the list's next atom; 0: there is none
 * gm_records   [n_atoms] {x, y, z, q} as slots hold them: A from the bin's lowest corner, and
 *              the multiplied charge
 *
 * Lists are in no order: fill_bins brings one in. Global size: n_atoms, rounded up to
 * work-groups. */
#include "dialect.h"

LEY_NO_CONTRACTION

LEY_FN int along(scalar d, scalar bins_per_A, scalar zero, int bins)
{
    return min((int)(LEY_ROUNDED_PRODUCT(d, bins_per_A) + zero), bins - 1);
}

LEY_FN float from_corner(scalar d, int bin, scalar zero, scalar side)
{
    return (float)(d - LEY_ROUNDED_PRODUCT((scalar)bin - zero, side));
}

LEY_KERNEL link_atoms(LEY_PARAMETERS(LEY_LINK_ATOMS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)n_atoms)
        return;
    const scalar x = gm_position[3 * i] - origin.x, y = gm_position[3 * i + 1] - origin.y,
                 z = gm_position[3 * i + 2] - origin.z;
    const float charge = (float)(origin.w * gm_charge[i]);
    if (!(x >= low.x && x <= high.x && y >= low.y && y <= high.y && z >= low.z && z <= high.z)) {
        LEY_ATOMIC_ADD(&gm_count[n.w], 1);
        return;
    }
    if (charge == 0) {
        LEY_ATOMIC_ADD(&gm_count[n.w + 1], 1);
        return;
    }
    const int at_x = along(x, bins_per_A.x, zero.x, n.x), at_y = along(y, bins_per_A.y, zero.y, n.y),
              at_z = along(z, bins_per_A.z, zero.z, n.z);
    const int bin = (at_z * n.y + at_y) * n.x + at_x;
    gm_records[i] = LEY_FLOAT4(from_corner(x, at_x, zero.x, side.x), from_corner(y, at_y, zero.y, side.y),
                               from_corner(z, at_z, zero.z, side.z), charge);
    LEY_ATOMIC_ADD(&gm_count[bin], 1);
    gm_next[i] = LEY_ATOMIC_EXCHANGE(&gm_head[bin], (int)i + 1);
}
