/* Densities of atoms on the nodes of a grid, frame after frame,
 *
 *     rho(node) = sum over atoms of w 2^(-fall |node - atom|^2),
 *
 * of atoms whose distance from the node along each axis of the grid, perpendicular to the planes of
 * its other two, is within their reach; and sums of rho and a map over the nodes, in a fixed order.
 * A work-group, or with a LEY_WIDTH above 1 a work-item alone, has a brick of nodes of a frame.
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
 * reach        in how many nodes along x, y, z atoms may be that count
 * numbers      products of the grid's steps, A^2: of x, y and z with themselves, twice those of
 *              x y, x z and y z; what fall times the square of the distance in nodes along x,
 *              y, z may be; fall, unless LEY_VARIED
 * gm_map       where LEY_SETS, [nodes], x fastest, of all bricks: values, not-a-numbers where a
 *              node does not count
 * gm_mask      [nodes] 1 or 0, where LEY_SETS has LEY_FIT_MASKED
 * gm_threshold [frames], where it has LEY_FIT_ABOVE
 * gm_density   where LEY_STORED, [frames][nodes]
 * gm_parts     where LEY_SETS, [frames][bricks][LEY_FIT_SUMS(LEY_SETS)]
 *
 * Global size: bricks times LEY_WG, and frames. */
#if !defined(LEY_OBLIQUE) || !defined(LEY_VARIED) || !defined(LEY_STORED) || !defined(LEY_SETS)
#error "the specification is incomplete: see LEY_ATOM_DENSITY_KEYS in spec.h"
#endif
#include "dialect.h"

#define BRICK LEY_DENSITY_BRICK
#define CELL LEY_DENSITY_CELL
#define SUMS LEY_FIT_SUMS(LEY_SETS)
#if LEY_WIDTH == 1
#define BRICK_X BRICK
#else
#define BRICK_X LEY_WIDTH
#endif

/* Cells along an axis whose atoms may reach a brick. */
#define FIRST_CELL(node, reach) (max((node) - (reach), 0) / CELL)
#define LAST_CELL(node, brick, reach, bricks) (min((node) + (brick)-1 + (reach), (bricks) * (brick)-1) / CELL)

#if LEY_SETS
#include "atom_density_sums.h"
#endif
#if LEY_WIDTH == 1
#include "atom_density_group.h"
#else
#include "atom_density_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) atom_density(LEY_PARAMETERS(LEY_ATOM_DENSITY_ARGUMENTS))
{
    const int number = (int)LEY_GROUP_ID(0), item = (int)LEY_LOCAL_ID(0);
    const size_t frame = LEY_GROUP_ID(1);
    const int first_x = number % bricks.x * BRICK_X, first_y = number / bricks.x % bricks.y * BRICK,
              first_z = number / (bricks.x * bricks.y) * BRICK;
    const int x0 = FIRST_CELL(first_x, reach.x), x1 = LAST_CELL(first_x, BRICK_X, reach.x, bricks.x),
              y0 = FIRST_CELL(first_y, reach.y), y1 = LAST_CELL(first_y, BRICK, reach.y, bricks.y),
              z0 = FIRST_CELL(first_z, reach.z), z1 = LAST_CELL(first_z, BRICK, reach.z, bricks.z);
    const int cells_x = bricks.x * BRICK_X / CELL, cells_y = bricks.y * BRICK / CELL,
              cells_z = bricks.z * BRICK / CELL;
    const size_t nodes_x = (size_t)bricks.x * BRICK_X, nodes_xy = nodes_x * bricks.y * BRICK;
    const size_t last = (size_t)cells_x * cells_y * cells_z * parts;
    LEY_GLOBAL const int *gm_frame = gm_first + frame * (last + 1);
    const bool is_placed = gm_count[frame * (last + 1) + last] == LEY_FIT_PLACED;
    real rho[SUMMED];
    bool is_empty = is_placed;
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float sm_tables[TABLES];
    LEY_LOCAL_VARIABLE float4 sm_along_z[LEY_WG * (BRICK / 4)];
    LEY_LOCAL_VARIABLE int sm_flags[LEY_WG / 4];
#elif !LEY_OBLIQUE
    real along_x[STAGED];
    float along_yz[STAGED * ROW];
    planes reached = 0;
    int staged = 0;
#endif

    for (int k = 0; k < SUMMED; k++)
        rho[k] = is_placed ? 0.0f : LEY_AS_FLOAT(0x7fc00000);
    for (int z = z0; z <= z1 && is_placed; z++)
        for (int y = y0; y <= y1; y++) {
            const int row = (z * cells_y + y) * cells_x, begin = gm_frame[(row + x0) * parts],
                      end = gm_frame[(row + x1 + 1) * parts];
            for (int base = begin; base < end; base += LEY_WG) {
                const int count = min(LEY_WG, end - base);
#if LEY_WIDTH == 1
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
#else
                is_empty = false;
                for (int k = 0; k < count; k++) {
                    const size_t at = frame * n_atoms + base + k;
                    const float4 own = gm_atoms[at];
#if LEY_VARIED
                    const float fall = gm_falls[at];
#else
                    const float fall = numbers.s9;
#endif
#if LEY_OBLIQUE
                    add_atom(own, fall, first_x, first_y, first_z, numbers, rho);
#else
                    staged += stage_atom(own, fall, first_x, first_y, first_z, numbers, staged, along_x, along_yz,
                                         &reached);
                    if (staged == STAGED) {
                        add_staged(reached, along_x, along_yz, rho);
                        reached = 0;
                        staged = 0;
                    }
#endif
                }
#endif
            }
        }
#if LEY_WIDTH == 1
    exchange_columns(item, sm_tables, rho);
#elif !LEY_OBLIQUE
    add_staged(reached, along_x, along_yz, rho);
#endif

#if LEY_STORED
    LEY_GLOBAL float *gm_own = gm_density + frame * nodes_xy * bricks.z * BRICK;
    for (int k = 0; k < NODES; k++)
        STORE_NODES(gm_own + NODE(k), rho[k]);
#endif
#if LEY_SETS
    LEY_GLOBAL float *gm_to = gm_parts + (frame * bricks.x * bricks.y * bricks.z + number) * SUMS;
    real sums[SUMS];
    for (int k = 0; k < SUMS; k++)
        sums[k] = 0;
    for (int k = 0; k < NODES && !is_empty; k++)
        add_nodes(rho[k], LEY_LOAD(gm_map + NODE(k)),
#if LEY_SETS & LEY_FIT_MASKED
                  LEY_LOAD(gm_mask + NODE(k)),
#else
                  (real)0,
#endif
#if LEY_SETS & LEY_FIT_ABOVE
                  gm_threshold[frame],
#else
                  0,
#endif
                  sums);
#if LEY_WIDTH == 1
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
#else
    for (int k = 0; k < SUMS; k++)
        gm_to[k] = SUM_OF_LANES(sums[k]);
#endif
#endif
}
