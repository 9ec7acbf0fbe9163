/* What a work-group of density_spread.cl does: it has some atoms, whose weights are staged, and a
 * work-item for each atom and each of its nodes along x and y, which adds to those along z. So the
 * nodes that neighbours add to at once are neighbours, too. Groups: along x atoms, along y
 * frames. */
#ifndef LEY_DENSITY_SPREAD_GROUP_H
#define LEY_DENSITY_SPREAD_GROUP_H

#define SQUARE (LEY_WINDOW * LEY_WINDOW)
#define ATOMS (LEY_WG / SQUARE)

/* One atom along one axis. */
LEY_FN void stage(LEY_GLOBAL const float *gm_window, LEY_LOCAL float *sm_weights, float t, float factor)
{
    float weight[LEY_WINDOW];
    UNROLL for (int i = 0; i < LEY_WINDOW; i++)
        weight[i] = gm_window[(LEY_WINDOW - 1) * LEY_LANES_OF_WINDOW + i];
    for (int k = LEY_WINDOW - 2; k >= 0; k--)
        UNROLL for (int i = 0; i < LEY_WINDOW; i++)
            weight[i] = LEY_FMA(weight[i], t - 0.5f, gm_window[k * LEY_LANES_OF_WINDOW + i]);
    UNROLL for (int i = 0; i < LEY_WINDOW; i++)
        sm_weights[i] = weight[i] * factor;
}

LEY_FN void stage_atoms(LEY_GLOBAL const float *gm_positions, LEY_GLOBAL const float *gm_charges, int n_atoms,
                        LEY_GLOBAL const float4 *gm_cells, LEY_GLOBAL const float *gm_window, int4 mesh, int first,
                        size_t frame, LEY_LOCAL float *sm_weights, LEY_LOCAL int *sm_node)
{
    for (int i = LEY_LOCAL_ID(0); i < 3 * ATOMS; i += LEY_WG) {
        const int axis = i % 3, number = first + i / 3, n = axis == 0 ? mesh.x : axis == 1 ? mesh.y : mesh.z;
        if (number < n_atoms) {
            LEY_GLOBAL const float *gm_at = gm_positions + 3 * (frame * n_atoms + number);
            float t;
            sm_node[i] = find_node(gm_at[0], gm_at[1], gm_at[2], gm_cells[6 * frame + axis],
                                   gm_cells[6 * frame + 3 + axis], n, &t);
            stage(gm_window, sm_weights + i * LEY_WINDOW, t, axis == 2 ? gm_charges[number] : 1);
        }
    }
}

LEY_FN void add_atoms(int n_atoms, int4 mesh, int first, LEY_LOCAL const float *sm_weights,
                      LEY_LOCAL const int *sm_node, LEY_GLOBAL int2 *gm_density)
{
    const int item = LEY_LOCAL_ID(0), own = item / SQUARE, i = item % LEY_WINDOW, j = item / LEY_WINDOW % LEY_WINDOW;
    if (first + own >= n_atoms)
        return;
    LEY_LOCAL const float *sm_own = sm_weights + 3 * own * LEY_WINDOW;
    const float across = sm_own[i] * sm_own[LEY_WINDOW + j];
    int x = sm_node[3 * own] + i - LEY_WINDOW / 2 + 1, y = sm_node[3 * own + 1] + j - LEY_WINDOW / 2 + 1,
        z = sm_node[3 * own + 2] - LEY_WINDOW / 2 + 1;
    x += x < 0 ? mesh.x : x >= mesh.x ? -mesh.x : 0;
    y += y < 0 ? mesh.y : y >= mesh.y ? -mesh.y : 0;
    z += z < 0 ? mesh.z : 0;
    UNROLL for (int k = 0; k < LEY_WINDOW; k++) {
        LEY_ATOMIC_ADD_LONG(gm_density + ((size_t)z * mesh.y + y) * mesh.x + x,
                            LEY_ROUNDED_LONG(across * sm_own[2 * LEY_WINDOW + k]));
        z = z + 1 == mesh.z ? 0 : z + 1;
    }
}

#endif
