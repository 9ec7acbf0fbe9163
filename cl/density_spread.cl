/* Charges of frames onto the nodes of a mesh over the cell's fractional coordinates, as integers of
 * fixed point, whose sums depend on no order:
 *
 *     density[node] += sum over atoms of charge w_i(t_x) w_j(t_y) w_k(t_z),
 *
 * i, j, k being how far the node is from the atom's first one. Atoms wrap around the cell.
 *
 * gm_positions  [frames][n_atoms][3], as they are in the trajectory
 * gm_charges    [n_atoms], times 2^e, a node's quantum being 2^-e
 * gm_cells      [frames][2][3] from a position to nodes along an axis: {by x, by y, by z, in
 *               nodes: of the place 0, less whole ones}, {what is lost where these are
 *               floats, those whole ones}
 * gm_window     [LEY_WINDOW][LEY_LANES_OF_WINDOW] by powers of t - 1/2 the weights of an atom's
 *               nodes, from floor(s) - LEY_WINDOW / 2 + 1 on
 * mesh          nodes along x, y, z; frames, of vectors
 * first_frame   of the launch
 * gm_parts      of vectors: floats that work-items have for themselves, see
 *               density_spread_vectors.h
 * gm_density    [n_z][n_y][n_x] integers of 64 bits, the lower half first, of groups */
#if !defined(LEY_WINDOW) || !defined(LEY_WG)
#error "the specification is incomplete: see LEY_DENSITY_SPREAD_KEYS in spec.h"
#endif
#include "dialect.h"

#include "mesh_node.h"

#if LEY_WIDTH == 1
#include "density_spread_group.h"
#else
#include "density_spread_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) density_spread(LEY_PARAMETERS(LEY_DENSITY_SPREAD_ARGUMENTS))
{
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float sm_weights[3 * ATOMS * LEY_WINDOW];
    LEY_LOCAL_VARIABLE int sm_node[3 * ATOMS];
    const int first = (int)LEY_GROUP_ID(0) * ATOMS;
    stage_atoms(gm_positions, gm_charges, n_atoms, gm_cells, gm_window, mesh, first,
                (size_t)first_frame + LEY_GROUP_ID(1), sm_weights, sm_node);
    LEY_BARRIER();
    add_atoms(n_atoms, mesh, first, sm_weights, sm_node, gm_density);
#else
    add_share(gm_positions, gm_charges, n_atoms, gm_cells, gm_window, mesh, first_frame, gm_parts);
#endif
}
