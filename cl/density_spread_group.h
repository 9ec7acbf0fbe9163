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

LEY_KERNEL_OF(LEY_WG, 1, 1) density_spread(LEY_PARAMETERS(LEY_DENSITY_SPREAD_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE float sm_weights[3 * ATOMS * LEY_WINDOW];
    LEY_LOCAL_VARIABLE int sm_node[3 * ATOMS];
    const int item = LEY_LOCAL_ID(0), first = (int)LEY_GROUP_ID(0) * ATOMS;
    const size_t frame = (size_t)first_frame + LEY_GROUP_ID(1);
    if (item < 3 * ATOMS && first + item / 3 < n_atoms) {
        const int axis = item % 3, atom_number = first + item / 3;
        LEY_GLOBAL const float *gm_at = gm_positions + 3 * (frame * n_atoms + atom_number);
        float t;
        sm_node[item] = find_node(gm_at[0], gm_at[1], gm_at[2], gm_cells[6 * frame + axis], gm_cells[6 * frame + 3 + axis],
                                  axis == 0   ? mesh.x
                                  : axis == 1 ? mesh.y
                                              : mesh.z,
                                  &t);
        stage(gm_window, sm_weights + item * LEY_WINDOW, t, axis == 2 ? gm_charges[atom_number] : 1);
    }
    LEY_BARRIER();
    const int own = item / SQUARE, i = item % LEY_WINDOW, j = item / LEY_WINDOW % LEY_WINDOW;
    if (own >= ATOMS || first + own >= n_atoms)
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
