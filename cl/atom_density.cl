/* Densities of atoms on the nodes of a grid, frame after frame,
 *
 *     rho(node) = sum over atoms of w 2^(-fall |node - atom|^2),
 *
 * of atoms whose distance from the node along each axis of the grid, perpendicular to the planes of
 * its other two, is within their reach; and sums of rho and a map over the nodes, in a fixed order.
 * A work-group has a brick of nodes of a frame; or, with a LEY_WIDTH above 1, a work-item alone has
 * a block of bricks.
 *
 * gm_atoms     [frames][n_atoms] {x, y, z, w}, in nodes from the grid's first one on, by cells of
 *              LEY_DENSITY_CELL nodes along each axis, x fastest; atoms outside of the grid are in
 *              the nearest cell
 * gm_falls     where LEY_VARIED, [frames][n_atoms], 1/A^2
 * gm_first     [frames][cells * parts + 1] where atoms of a part of a cell begin; of the last one:
 *              how many there are
 * gm_count     [frames][cells * parts + 1] the last one: LEY_FIT_PLACED, or a launch before was
 *              left out, and all become not-a-numbers
 * bricks       how many along x, y, z
 * block        how many of these a work-item that is alone has along x, y, z, at most; along x all
 * reach        in how many nodes along x, y, z atoms may be that count
 * numbers      products of the grid's steps, A^2: of x, y and z with themselves, twice those of
 *              x y, x z and y z; what fall times the square of the distance in nodes along x,
 *              y, z may be; fall, unless LEY_VARIED
 * gm_map       where LEY_SETS, [nodes], x fastest, of all bricks: values, not-a-numbers where a
 *              node does not count
 * gm_mask      [nodes] 1 or 0, where LEY_SETS has LEY_FIT_MASKED
 * gm_threshold [frames], where it has LEY_FIT_ABOVE
 * gm_density   where LEY_STORED, as it is with a LEY_WIDTH above 1, [frames][nodes]
 * gm_parts     where LEY_SETS, [frames][bricks][LEY_FIT_SUMS(LEY_SETS)]
 *
 * Global size: bricks times LEY_WG, or blocks; and frames. */
#if !defined(LEY_OBLIQUE) || !defined(LEY_VARIED) || !defined(LEY_STORED) || !defined(LEY_SETS)
#error "the specification is incomplete: see LEY_ATOM_DENSITY_KEYS in spec.h"
#endif
#include "dialect.h"

#define BRICK LEY_DENSITY_BRICK
#define CELL LEY_DENSITY_CELL
#define SUMS LEY_FIT_SUMS(LEY_SETS)

/* Cells along an axis whose atoms may reach nodes from `first` on, before `end`. */
#define FIRST_CELL(first, reach) (max((first) - (reach), 0) / CELL)
#define LAST_CELL(end, reach, nodes) (min((end)-1 + (reach), (nodes)-1) / CELL)

#if LEY_SETS
#include "atom_density_sums.h"
#endif
#if LEY_SETS & LEY_FIT_MASKED
#define MASK_AT(node) LEY_LOAD(gm_mask + (node))
#else
#define MASK_AT(node) ((real)0)
#endif
#if LEY_SETS & LEY_FIT_ABOVE
#define THRESHOLD gm_threshold[frame]
#else
#define THRESHOLD 0
#endif
#if LEY_WIDTH == 1
#include "atom_density_group.h"
#else
#include "atom_density_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) atom_density(LEY_PARAMETERS(LEY_ATOM_DENSITY_ARGUMENTS))
{
#if LEY_WIDTH == 1
    const int number = (int)LEY_GROUP_ID(0), item = (int)LEY_LOCAL_ID(0);
    const size_t frame = LEY_GROUP_ID(1);
    const int first_x = number % bricks.x * BRICK, first_y = number / bricks.x % bricks.y * BRICK,
              first_z = number / (bricks.x * bricks.y) * BRICK;
    const int x0 = FIRST_CELL(first_x, reach.x), x1 = LAST_CELL(first_x + BRICK, reach.x, bricks.x * BRICK),
              y0 = FIRST_CELL(first_y, reach.y), y1 = LAST_CELL(first_y + BRICK, reach.y, bricks.y * BRICK),
              z0 = FIRST_CELL(first_z, reach.z), z1 = LAST_CELL(first_z + BRICK, reach.z, bricks.z * BRICK);
    const int cells_x = bricks.x * BRICK / CELL, cells_y = bricks.y * BRICK / CELL, cells_z = bricks.z * BRICK / CELL;
    const size_t nodes_x = (size_t)bricks.x * BRICK, nodes_xy = nodes_x * bricks.y * BRICK;
    const size_t last = (size_t)cells_x * cells_y * cells_z * parts;
    LEY_GLOBAL const int *gm_frame = gm_first + frame * (last + 1);
    const bool is_placed = gm_count[frame * (last + 1) + last] == LEY_FIT_PLACED;
    float rho[2 * BRICK];
    bool is_empty = is_placed;
    LEY_LOCAL_VARIABLE float sm_tables[TABLES];
    LEY_LOCAL_VARIABLE float4 sm_along_z[LEY_WG * (BRICK / 4)];
    LEY_LOCAL_VARIABLE int sm_flags[LEY_WG / 4];

    for (int k = 0; k < 2 * BRICK; k++)
        rho[k] = is_placed ? 0.0f : LEY_AS_FLOAT(0x7fc00000);
    for (int z = z0; z <= z1 && is_placed; z++)
        for (int y = y0; y <= y1; y++) {
            const int row = (z * cells_y + y) * cells_x, begin = gm_frame[(row + x0) * parts],
                      end = gm_frame[(row + x1 + 1) * parts];
            for (int base = begin; base < end; base += LEY_WG) {
                const int count = min(LEY_WG, end - base);
                const size_t at = frame * n_atoms + base + min(item, count - 1);
                const float4 own = gm_atoms[at];
#if LEY_VARIED
                const float fall = gm_falls[at];
#else
                const float fall = numbers.s9;
#endif
                const bool is_near = item < count && reaches_brick(own, fall, first_x, first_y, first_z, numbers);
                int near;
                ((LEY_LOCAL char *)sm_flags)[item] = is_near ? 1 : 0;
                LEY_BARRIER();
                const int to = flags_before(item, sm_flags, &near);
                if (is_near)
                    stage_atom(own, fall, first_x, first_y, first_z, numbers, to, sm_tables, sm_along_z);
                LEY_BARRIER();
                add_atoms(near, item, numbers, sm_tables, sm_along_z, rho);
                is_empty = is_empty && near == 0;
            }
        }
    exchange_columns(item, sm_tables, rho);

#if LEY_STORED
    LEY_GLOBAL float *gm_own = gm_density + frame * nodes_xy * bricks.z * BRICK;
    for (int k = 0; k < BRICK; k++)
        gm_own[NODE(k)] = rho[k];
#endif
#if LEY_SETS
    LEY_GLOBAL float *gm_to = gm_parts + (frame * bricks.x * bricks.y * bricks.z + number) * SUMS;
    float sums[SUMS];
    for (int k = 0; k < SUMS; k++)
        sums[k] = 0;
    for (int k = 0; k < BRICK && !is_empty; k++)
        add_nodes(rho[k], gm_map[NODE(k)], MASK_AT(NODE(k)), THRESHOLD, sums);
    LEY_BARRIER();
    for (int k = 0; k < SUMS; k++)
        sm_tables[k * PITCH + item] = sums[k];
    LEY_BARRIER();
    for (int k = item; k < SUMS; k += LEY_WG) {
        float sum = 0;
        for (int i = 0; i < LEY_WG; i++)
            sum += sm_tables[k * PITCH + i];
        gm_to[k] = sum;
    }
#endif
#else
    const int4 edge = LEY_INT4(LEY_WIDTH, BRICK, BRICK, 1), nodes = bricks * edge, cells = nodes / CELL;
    const int number = (int)LEY_GROUP_ID(0), blocks_y = (bricks.y + block.y - 1) / block.y;
    const size_t frame = LEY_GROUP_ID(1), last = (size_t)cells.x * cells.y * cells.z * parts;
    const int4 first = LEY_INT4(0, number % blocks_y, number / blocks_y, 0) * block, end = min(first + block, bricks);
    const node_range own = {first * edge, end * edge};
    const int y0 = FIRST_CELL(own.first.y, reach.y), y1 = LAST_CELL(own.end.y, reach.y, nodes.y),
              z0 = FIRST_CELL(own.first.z, reach.z), z1 = LAST_CELL(own.end.z, reach.z, nodes.z);
    LEY_GLOBAL const int *gm_frame = gm_first + frame * (last + 1);
    LEY_GLOBAL float *gm_rho = gm_density + frame * nodes.x * nodes.y * nodes.z;
    const bool is_placed = gm_count[frame * (last + 1) + last] == LEY_FIT_PLACED;

    for (int z = own.first.z; z < own.end.z; z++)
        for (int y = own.first.y; y < own.end.y; y++)
            for (int x = 0; x < nodes.x; x += LEY_WIDTH)
                STORE((real)(is_placed ? 0.0f : LEY_AS_FLOAT(0x7fc00000)),
                      gm_rho + ((size_t)z * nodes.y + y) * nodes.x + x);
    for (int z = z0; z <= z1 && is_placed; z++)
        for (int y = y0; y <= y1; y++)
            for (int x = 0; x < cells.x; x++) {
                const int4 cell = LEY_INT4(x, y, z, 0);
                const node_range window = {cell * CELL - reach, cell * CELL + reach + CELL};
                const size_t of_cell = ((size_t)z * cells.y + y) * cells.x + x, at = frame * n_atoms;
                const int stop = gm_frame[(of_cell + 1) * parts];
                for (int i = gm_frame[of_cell * parts]; i < stop; i += STAGED)
                    add_cell(gm_atoms + at + i, gm_falls + at + i, min(stop - i, STAGED), &window, &own, nodes, numbers,
                             gm_rho);
            }
#if LEY_SETS
    for (int z = first.z; z < end.z; z++)
        for (int y = first.y; y < end.y; y++)
            for (int x = 0; x < bricks.x; x++)
                sum_brick(gm_rho, gm_map, gm_mask, THRESHOLD,
                          ((size_t)z * BRICK * nodes.y + y * BRICK) * nodes.x + x * LEY_WIDTH, nodes,
                          gm_parts + (((frame * bricks.z + z) * bricks.y + y) * bricks.x + x) * SUMS);
#endif
#endif
}
