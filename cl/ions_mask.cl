/* Leaves out the nodes of a grid that are near atoms: they become not-a-numbers.
 *
 * gm_atoms     where atoms are, in nodes: x, y, z, -; bin after bin, along x, then y, then z
 * gm_first     [bins + 1]: the first atom of each bin
 * first_brick  of this launch
 * bricks       of LEY_BRICK nodes along each axis, along x and y: as ions_bricks.cl has them
 * bins         along x, y and z
 * box          in bins, node (x, y, z) is at s0 x + s1 y + s2 z along x, s3 to s5 along y, s6 to
 *              s8 along z, but for what is added to that: s9 to sb where the bins begin that atoms
 *              near the row from this node on may be in, sc to se where they end
 * metric       a way (x, y, z) in nodes has the squared length, over that of a step along x,
 *              x^2 + s0 y^2 + s1 z^2 + s2 x y + s3 x z + s4 y z; nodes at s5 or less are left out
 * gm_phi       the nodes' values, in bricks
 *
 * Global size: a work-group for each brick. */
#include "dialect.h"

#define ROWS (LEY_BRICK * LEY_BRICK)
#define ALL ((1 << LEY_BRICK) - 1)

/* Of the nodes of the row from (x, y, z) on, a bit each: those that an atom leaves out. */
LEY_FN int near_atom(float4 at, int x, int y, int z, LEY_REFERENCE(sixteen) metric)
{
    const float dy = (float)y - at.y, dz = (float)z - at.z;
    const float half_along = 0.5f * (metric.s2 * dy + metric.s3 * dz);
    const float rest = half_along * half_along + metric.s5 -
                       (metric.s0 * dy * dy + metric.s1 * dz * dz + metric.s4 * dy * dz);
    if (!(rest >= 0))
        return 0;
    const float middle = at.x - (float)x - half_along, half_row = sqrt(rest);
    const int low = (int)ceil(middle - half_row), high = (int)floor(middle + half_row);
    const int first = low > 0 ? low : 0, last = high < LEY_BRICK - 1 ? high : LEY_BRICK - 1;
    return first <= last ? (2 << last) - (1 << first) : 0;
}

LEY_FN int bin_at(float at, int n)
{
    const int bin = (int)floor(at);
    return bin < 0 ? 0 : bin < n ? bin : n - 1;
}

/* The same for all atoms, until all nodes are left out. */
LEY_FN int near_atoms(LEY_GLOBAL const float4 *gm_atoms, LEY_GLOBAL const int *gm_first, int4 bins, int x, int y,
                      int z, LEY_REFERENCE(sixteen) box, LEY_REFERENCE(sixteen) metric)
{
    const float at_x = box.s0 * (float)x + box.s1 * (float)y + box.s2 * (float)z,
                at_y = box.s3 * (float)x + box.s4 * (float)y + box.s5 * (float)z,
                at_z = box.s6 * (float)x + box.s7 * (float)y + box.s8 * (float)z;
    const int low_x = bin_at(at_x + box.s9, bins.x), high_x = bin_at(at_x + box.sc, bins.x),
              low_y = bin_at(at_y + box.sa, bins.y), high_y = bin_at(at_y + box.sd, bins.y),
              low_z = bin_at(at_z + box.sb, bins.z), high_z = bin_at(at_z + box.se, bins.z);
    int out = 0;
    for (int k = low_z; k <= high_z; k++)
        for (int j = low_y; j <= high_y && out != ALL; j++) {
            const int row = (k * bins.y + j) * bins.x, last = gm_first[row + high_x + 1];
            for (int i = gm_first[row + low_x]; i < last && out != ALL; i++)
                out |= near_atom(gm_atoms[i], x, y, z, metric);
        }
    return out;
}

LEY_KERNEL ions_mask(LEY_PARAMETERS(LEY_IONS_MASK_ARGUMENTS))
{
    const int brick = first_brick + (int)LEY_GROUP_ID(0);
    const int x = brick % bricks.x * LEY_BRICK, first_y = brick / bricks.x % bricks.y * LEY_BRICK,
              first_z = brick / (bricks.x * bricks.y) * LEY_BRICK;
    LEY_GLOBAL float *gm_values = gm_phi + (size_t)brick * (LEY_BRICK * ROWS);
    for (int row = (int)LEY_LOCAL_ID(0); row < ROWS; row += (int)LEY_LOCAL_SIZE(0)) {
        const int out = near_atoms(gm_atoms, gm_first, bins, x, first_y + row % LEY_BRICK, first_z + row / LEY_BRICK,
                                   box, metric);
        for (int k = 0; k < LEY_BRICK && out != 0; k++)
            if ((out >> k & 1) != 0)
                gm_values[row * LEY_BRICK + k] = LEY_AS_FLOAT(0x7fc00000);
    }
}
