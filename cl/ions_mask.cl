/* Leaves out the nodes of a grid that are near atoms: they become not-a-numbers.
 *
 * gm_atoms    where atoms are, in nodes: x, y, z, -
 * first_atom  of this launch
 * grid        nodes along x, y and z
 * bricks      of LEY_BRICK nodes along each axis, along x, y and z: as ions_bricks.cl has them
 * reach       rows of nodes that a sphere reaches: -, along y, along z, on either side
 * metric      a way (x, y, z) in nodes has the squared length, over that of a step along x,
 *             x^2 + s0 y^2 + s1 z^2 + s2 x y + s3 x z + s4 y z; nodes at s5 or less are left out
 * gm_phi      the nodes' values, in bricks
 *
 * Global size: a work-group for each atom. All write the same: the order does not matter. */
#include "dialect.h"

#define NODES (LEY_BRICK * LEY_BRICK * LEY_BRICK)

/* Nodes low to high of a row. */
LEY_FN void leave_out(LEY_GLOBAL float *gm_phi, int4 grid, int4 bricks, int low, int high, int y, int z)
{
    const size_t row = (size_t)(z / LEY_BRICK * bricks.y + y / LEY_BRICK) * bricks.x;
    LEY_GLOBAL float *gm_row = gm_phi + row * NODES + (z % LEY_BRICK * LEY_BRICK + y % LEY_BRICK) * LEY_BRICK;
    const int first = low > 0 ? low : 0, last = high < grid.x - 1 ? high : grid.x - 1;
    for (int x = first; x <= last; x++)
        gm_row[(size_t)(x / LEY_BRICK) * NODES + x % LEY_BRICK] = LEY_AS_FLOAT(0x7fc00000);
}

LEY_KERNEL ions_mask(LEY_PARAMETERS(LEY_IONS_MASK_ARGUMENTS))
{
    const float4 at = gm_atoms[first_atom + (int)LEY_GROUP_ID(0)];
    const int columns = 2 * reach.y + 1, rows = columns * (2 * reach.z + 1);
    const int first_y = (int)floor(at.y) - reach.y, first_z = (int)floor(at.z) - reach.z;
    for (int row = (int)LEY_LOCAL_ID(0); row < rows; row += (int)LEY_LOCAL_SIZE(0)) {
        const int y = first_y + row % columns, z = first_z + row / columns;
        const float dy = (float)y - at.y, dz = (float)z - at.z;
        const float half_along = 0.5f * (metric.s2 * dy + metric.s3 * dz);
        const float rest = half_along * half_along + metric.s5 -
                           (metric.s0 * dy * dy + metric.s1 * dz * dz + metric.s4 * dy * dz);
        if (rest >= 0 && y >= 0 && y < grid.y && z >= 0 && z < grid.z) {
            const float middle = at.x - half_along, half_row = sqrt(rest);
            leave_out(gm_phi, grid, bricks, (int)ceil(middle - half_row), (int)floor(middle + half_row), y, z);
        }
    }
}
