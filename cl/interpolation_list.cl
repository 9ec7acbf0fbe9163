/* Interpolation at the points of a list: each takes its LEY_WINDOW^3 nodes,
 *
 *     phi[p] = sum over i, j, k of w_i(t_x) w_j(t_y) w_k(t_z) e[b + (i, j, k)],
 *
 * and with LEY_FIELD the derivatives of that along the mesh's axes, per node, from those of the
 * weights.
 *
 * gm_window      as in anterpolate.cl
 * gm_potentials, gm_places, mesh  as in interpolation.cl
 * gm_cells       of each point the node below it, along x, y, z, -
 * gm_fractions   how far it is above that, less 1/2: t - 1/2, along x, y, z, -
 * count          points
 * gm_phi         [LEY_COMPONENTS][count]
 *
 * Global size: the points, rounded up to work-groups. */
#include "dialect.h"
#include "nodes.h"

typedef struct {
    float weight[LEY_WINDOW];
    float slope[LEY_FIELD ? LEY_WINDOW : 1];
    int place[LEY_WINDOW]; /* what each node's coordinate adds to its number */
} share;

/* gm_places: of the mesh along this axis. */
LEY_FN share share_of(LEY_GLOBAL const float *gm_window, LEY_GLOBAL const int *gm_places, int cell, float u)
{
    share s;
    const int first = cell + 1 - LEY_WINDOW / 2;
    for (int i = 0; i < LEY_WINDOW; i++) {
        float sum = gm_window[i * LEY_WINDOW + LEY_WINDOW - 1], slope = 0;
        for (int k = LEY_WINDOW - 2; k >= 0; k--) {
            slope = slope * u + sum;
            sum = sum * u + gm_window[i * LEY_WINDOW + k];
        }
        s.weight[i] = sum;
        s.slope[LEY_FIELD ? i : 0] = slope;
        s.place[i] = gm_places[first + i];
    }
    return s;
}

LEY_KERNEL interpolation_list(LEY_PARAMETERS(LEY_INTERPOLATION_LIST_ARGUMENTS))
{
    const int p = (int)LEY_GLOBAL_ID(0);
    if (p >= count)
        return;
    const int4 cell = gm_cells[p];
    const float4 u = gm_fractions[p];
    const share x = share_of(gm_window, gm_places + mesh.x, cell.x, u.x),
                y = share_of(gm_window, gm_places + mesh.y, cell.y, u.y),
                z = share_of(gm_window, gm_places + mesh.z, cell.z, u.z);
    float phi = 0;
#if LEY_FIELD
    float along_x = 0, along_y = 0, along_z = 0;
#endif
    for (int k = 0; k < LEY_WINDOW; k++)
        for (int j = 0; j < LEY_WINDOW; j++) {
            const node_number row_place = row_of(mesh, y.place[j], z.place[k]);
            float row = 0, row_slope = 0;
            for (int i = 0; i < LEY_WINDOW; i++) {
                const node_number at = node_in_row(x.place[i], row_place); /* negative: there is no such node */
                const float value = at < 0 ? 0.0f : gm_potentials[at + nodes_before(mesh)];
                row += x.weight[i] * value;
                row_slope += x.slope[LEY_FIELD ? i : 0] * value;
            }
            phi += y.weight[j] * z.weight[k] * row;
#if LEY_FIELD
            along_x += y.weight[j] * z.weight[k] * row_slope;
            along_y += y.slope[j] * z.weight[k] * row;
            along_z += y.weight[j] * z.slope[k] * row;
#endif
        }
    gm_phi[p] = phi;
#if LEY_FIELD
    gm_phi[count + p] = along_x;
    gm_phi[2 * (size_t)count + p] = along_y;
    gm_phi[3 * (size_t)count + p] = along_z;
#endif
}
