/* Lists nodes of bricks by their values, in any order:
 *
 *     factor phi <= limit,   first <= number of the node <= last.
 *
 * gm_work     bricks: number, -
 * first_work  of this launch
 * grid        nodes along x, y and z: node (x, y, z) has the number (z grid.y + y) grid.x + x
 * bricks      of LEY_BRICK nodes along each axis, along x and y
 * numbers     first, last; how many nodes there is room for
 * gm_phi      bricks of LEY_BRICK^3 values, x fastest
 * gm_found    first how many nodes there are, which may be more than there is room for, -; then for
 *             each its brick, its place in that, the bits of its value, -
 *
 * Global size: a work-group for each brick. */
#include "dialect.h"

LEY_KERNEL ions_nodes(LEY_PARAMETERS(LEY_IONS_NODES_ARGUMENTS))
{
    const int brick = gm_work[first_work + (int)LEY_GROUP_ID(0)].x;
    LEY_GLOBAL const float *gm_values = gm_phi + (size_t)brick * (LEY_BRICK * LEY_BRICK * LEY_BRICK);
    for (int at = (int)LEY_LOCAL_ID(0); at < LEY_BRICK * LEY_BRICK * LEY_BRICK; at += (int)LEY_LOCAL_SIZE(0)) {
        const float value = gm_values[at];
        if (!(factor * value <= limit))
            continue;
        const int x = brick % bricks.x * LEY_BRICK + at % LEY_BRICK,
                  y = brick / bricks.x % bricks.y * LEY_BRICK + at / LEY_BRICK % LEY_BRICK,
                  z = brick / (bricks.x * bricks.y) * LEY_BRICK + at / (LEY_BRICK * LEY_BRICK);
        const int number = (z * grid.y + y) * grid.x + x;
        if (number < numbers.x || number > numbers.y)
            continue;
        const int place = LEY_ATOMIC_ADD((LEY_GLOBAL int *)gm_found, 1);
        if (place < numbers.z)
            gm_found[1 + place] = LEY_INT4(brick, at, LEY_AS_INT(value), 0);
    }
}
