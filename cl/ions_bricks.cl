/* Brings bricks of a grid up to date, and finds the least and the largest value of each:
 *
 *     phi(r) += charge / |r - r_ion|,  not-a-number where |r - r_ion|^2 < radius^2
 *
 * for some effects of ions, distances in steps along x. Not-a-numbers stay so.
 *
 * gm_work     bricks: number, the first effect, the first behind the last, -
 * first_work  of this launch
 * gm_effects  two vectors each: x, y, z in nodes, charge; radius^2, -
 * grid        nodes along x, y and z
 * bricks      of LEY_BRICK nodes along each axis, along x and y
 * metric      as ions_mask.cl has it
 * gm_table    where LEY_PERIODIC: [grid] in place of 1 / |r - r_ion|, with all images, by the way
 *             from ion to node; else not read
 * gm_phi      bricks of LEY_BRICK^3 values, x fastest
 * gm_records  two vectors each: least, largest, how many values, 0; the first value that is the
 *             least, and the largest; infinities where there is none
 *
 * Global size: a work-group for each brick. */
#if !defined(LEY_PERIODIC)
#error "the specification is incomplete: see LEY_IONS_BRICKS_KEYS in spec.h"
#endif
#include "dialect.h"

#define ROWS (LEY_BRICK * LEY_BRICK)
#define NODES (LEY_BRICK * ROWS)
#define NOTHING LEY_AS_FLOAT(0x7fc00000)
#define INFINITE LEY_AS_FLOAT(0x7f800000)

#if LEY_PERIODIC
LEY_FN int wrapped(int way, int n)
{
    const int rest = way % n;
    return rest < 0 ? rest + n : rest;
}

/* What the table has for a way. */
LEY_FN float of_images(LEY_GLOBAL const float *gm_table, int4 grid, int x, int y, int z)
{
    return gm_table[((size_t)wrapped(z, grid.z) * grid.y + wrapped(y, grid.y)) * grid.x + wrapped(x, grid.x)];
}
#endif

#if LEY_WIDTH > 1
#include "ions_bricks_vectors.h"
#else
#include "ions_bricks_group.h"
#endif
