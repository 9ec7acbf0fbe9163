/* Brings bricks of a grid up to date, and finds the least and the largest value of each:
 *
 *     phi(r) += charge / |r - r_ion|,  not-a-number where |r - r_ion|^2 < radius^2
 *
 * or, where LEY_SQUARE, charge / |r - r_ion|^2, for some effects of ions, distances in steps along
 * x. Not-a-numbers stay so.
 *
 * gm_work     bricks: number, the first effect, the first behind the last, the record
 * first_work  of this launch
 * tag         which records have, as a float
 * gm_effects  two vectors each: x, y, z in nodes, charge; radius^2, -
 * grid        nodes along x, y and z
 * bricks      of LEY_BRICK nodes along each axis, along x and y
 * metric      as ions_mask.cl has it
 * gm_table    where LEY_PERIODIC: [grid] in place of 1 / |r - r_ion|, with all images, by the way
 *             from ion to node; else not read
 * gm_phi      bricks of LEY_BRICK^3 values, x fastest
 * gm_records  of each brick LEY_BRICK_PARTS(LEY_WIDTH), in the order of their nodes: two vectors
 *             each: least, largest, how many values, tag; the first value that is the least, and
 *             the largest; the next after the least, and before the largest; infinities where there
 *             is none
 *
 * Global size: a work-group for each part of a brick, the parts of a brick one after the other. */
#if !defined(LEY_PERIODIC) || !defined(LEY_SQUARE)
#error "the specification is incomplete: see LEY_IONS_BRICKS_KEYS in spec.h"
#endif
#include "dialect.h"

#define ROWS (LEY_BRICK * LEY_BRICK)
#define NODES (LEY_BRICK * ROWS)
#define PARTS LEY_BRICK_PARTS(LEY_WIDTH)
#define DEPTH (LEY_BRICK / PARTS)
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

/* Of 1 / |r - r_ion|. */
#if LEY_SQUARE
#define TERM(root) ((root) * (root))
#else
#define TERM(root) (root)
#endif

/* Least and largest value of some nodes, the first nodes that have them, the values next to these,
 * how many there are. */
typedef struct {
    float least, most, next_least, next_most, count;
    int at_least, at_most;
} extremes;

#if LEY_WIDTH > 1
#include "ions_bricks_vectors.h"
#else
#include "ions_bricks_group.h"
#endif

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_BRICK * LEY_BRICK : 1, 1, 1)
ions_bricks(LEY_PARAMETERS(LEY_IONS_BRICKS_ARGUMENTS))
{
    const int4 work = gm_work[first_work + (int)LEY_GROUP_ID(0) / PARTS];
    const int part = (int)LEY_GROUP_ID(0) % PARTS, record = work.w * PARTS + part;
    const int4 first = LEY_INT4(work.x % bricks.x * LEY_BRICK, work.x / bricks.x % bricks.y * LEY_BRICK,
                                work.x / (bricks.x * bricks.y) * LEY_BRICK, 0);
    LEY_GLOBAL float *gm_values = gm_phi + (size_t)work.x * NODES;
#if LEY_WIDTH > 1
    const extremes e = update(work, first, gm_effects, grid, metric, gm_table, gm_values);
#else
    LEY_LOCAL_VARIABLE float sm_values[5 * ROWS];
    LEY_LOCAL_VARIABLE int sm_nodes[2 * ROWS];
    LEY_LOCAL_VARIABLE float4 sm_effects[ROWS];
    extremes e = update(work, first, part * DEPTH, gm_effects, grid, metric, gm_table, gm_values, sm_effects);
    reduce(&e, sm_values, sm_nodes);
    if (LEY_LOCAL_ID(0) == 0)
#endif
    {
        gm_records[2 * record] = LEY_FLOAT4(e.least, e.most, e.count, (float)tag);
        gm_records[2 * record + 1] = LEY_FLOAT4((float)e.at_least, (float)e.at_most, e.next_least, e.next_most);
    }
}
