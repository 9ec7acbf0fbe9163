/* The mesh's potential at a particle, node by node: a work-item has one. */
#ifndef LEY_MESH_GATHER_GROUP_H
#define LEY_MESH_GATHER_GROUP_H

LEY_FN void weights_of(LEY_GLOBAL const float *gm_window, float t, float *weight, float *slope)
{
    UNROLL for (int i = 0; i < LEY_WINDOW; i++) {
        weight[i] = gm_window[(LEY_WINDOW - 1) * LEY_LANES_OF_WINDOW + i];
        slope[i] = 0;
    }
    for (int k = LEY_WINDOW - 2; k >= 0; k--)
        UNROLL for (int i = 0; i < LEY_WINDOW; i++) {
            slope[i] = LEY_FMA(slope[i], t - 0.5f, weight[i]);
            weight[i] = LEY_FMA(weight[i], t - 0.5f, gm_window[k * LEY_LANES_OF_WINDOW + i]);
        }
}

LEY_FN mesh_value gather(LEY_GLOBAL const float4 *gm_place, LEY_GLOBAL const float *gm_window, int4 mesh,
                         LEY_GLOBAL const float *gm_phi, float4 p)
{
    float w_x[LEY_WINDOW], w_y[LEY_WINDOW], w_z[LEY_WINDOW], d_x[LEY_WINDOW], d_y[LEY_WINDOW], d_z[LEY_WINDOW], t;
    mesh_value sum;
    const int first_x = first_node(find_node(p.x, p.y, p.z, gm_place[0], gm_place[3], mesh.x, &t), mesh.x);
    weights_of(gm_window, t, w_x, d_x);
    const int first_y = first_node(find_node(p.x, p.y, p.z, gm_place[1], gm_place[4], mesh.y, &t), mesh.y);
    weights_of(gm_window, t, w_y, d_y);
    const int first_z = first_node(find_node(p.x, p.y, p.z, gm_place[2], gm_place[5], mesh.z, &t), mesh.z);
    weights_of(gm_window, t, w_z, d_z);
    sum.phi = sum.x = sum.y = sum.z = 0;
    UNROLL for (int k = 0; k < LEY_WINDOW; k++) {
        const int z = first_z + k < mesh.z ? first_z + k : first_z + k - mesh.z;
        float plane = 0, along_x = 0, along_y = 0;
        UNROLL for (int j = 0; j < LEY_WINDOW; j++) {
            const int y = first_y + j < mesh.y ? first_y + j : first_y + j - mesh.y;
            LEY_GLOBAL const float *gm_row = gm_phi + ((size_t)z * mesh.y + y) * mesh.x;
            float row = 0, slope = 0;
            UNROLL for (int i = 0; i < LEY_WINDOW; i++) {
                const float value = gm_row[first_x + i < mesh.x ? first_x + i : first_x + i - mesh.x];
                row = LEY_FMA(w_x[i], value, row);
                slope = LEY_FMA(d_x[i], value, slope);
            }
            plane = LEY_FMA(w_y[j], row, plane);
            along_x = LEY_FMA(w_y[j], slope, along_x);
            along_y = LEY_FMA(d_y[j], row, along_y);
        }
        sum.phi = LEY_FMA(w_z[k], plane, sum.phi);
        sum.x = LEY_FMA(w_z[k], along_x, sum.x);
        sum.y = LEY_FMA(w_z[k], along_y, sum.y);
        sum.z = LEY_FMA(d_z[k], plane, sum.z);
    }
    return sum;
}

#endif
