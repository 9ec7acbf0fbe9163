/* The mesh's potential at a particle, on CPU devices, in vectors along x, which are no shorter than
 * the window: what they have behind it counts nothing. */
#ifndef LEY_MESH_GATHER_VECTORS_H
#define LEY_MESH_GATHER_VECTORS_H

LEY_FN void weights_of(__global const float *gm_window, float t, real *weight, real *slope)
{
    *weight = LEY_LOAD(gm_window + (LEY_WINDOW - 1) * LEY_LANES_OF_WINDOW);
    *slope = (real)0;
    UNROLL for (int k = LEY_WINDOW - 2; k >= 0; k--) {
        *slope = LEY_FMA(*slope, (real)(t - 0.5f), *weight);
        *weight = LEY_FMA(*weight, (real)(t - 0.5f), LEY_LOAD(gm_window + k * LEY_LANES_OF_WINDOW));
    }
}

LEY_FN float sum_of(real x)
{
    float lanes[LEY_WIDTH], sum = 0;
    LEY_PASTE(vstore, LEY_WIDTH)(x, 0, lanes);
    for (int i = 0; i < LEY_WINDOW; i++)
        sum += lanes[i];
    return sum;
}

/* A row from its node `first` on, round the cell. */
LEY_FN real load_row(__global const float *gm_row, int first, int n)
{
    float lanes[LEY_WIDTH];
    if (first + LEY_WINDOW <= n)
        return LEY_LOAD(gm_row + first);
    for (int i = 0; i < LEY_WIDTH; i++)
        lanes[i] = i < LEY_WINDOW ? gm_row[first + i < n ? first + i : first + i - n] : 0;
    return LEY_LOAD(lanes);
}

LEY_FN mesh_value gather(__global const float4 *gm_place, __global const float *gm_window, int4 mesh,
                         __global const float *gm_phi, float4 p)
{
    float w_y[LEY_WIDTH], w_z[LEY_WIDTH], d_y[LEY_WIDTH], d_z[LEY_WIDTH], t;
    real weight, slope, w_x, d_x, plain = (real)0, along_y = (real)0, along_z = (real)0;
    mesh_value sum;
    const int first_x = first_node(find_node(p.x, p.y, p.z, gm_place[0], gm_place[3], mesh.x, &t), mesh.x);
    weights_of(gm_window, t, &w_x, &d_x);
    const int first_y = first_node(find_node(p.x, p.y, p.z, gm_place[1], gm_place[4], mesh.y, &t), mesh.y);
    weights_of(gm_window, t, &weight, &slope);
    LEY_PASTE(vstore, LEY_WIDTH)(weight, 0, w_y);
    LEY_PASTE(vstore, LEY_WIDTH)(slope, 0, d_y);
    const int first_z = first_node(find_node(p.x, p.y, p.z, gm_place[2], gm_place[5], mesh.z, &t), mesh.z);
    weights_of(gm_window, t, &weight, &slope);
    LEY_PASTE(vstore, LEY_WIDTH)(weight, 0, w_z);
    LEY_PASTE(vstore, LEY_WIDTH)(slope, 0, d_z);
    for (int k = 0; k < LEY_WINDOW; k++) {
        const int z = first_z + k < mesh.z ? first_z + k : first_z + k - mesh.z;
        real plane = (real)0, slope_y = (real)0;
        for (int j = 0; j < LEY_WINDOW; j++) {
            const int y = first_y + j < mesh.y ? first_y + j : first_y + j - mesh.y;
            const real row = load_row(gm_phi + ((size_t)z * mesh.y + y) * mesh.x, first_x, mesh.x);
            plane = LEY_FMA(row, (real)w_y[j], plane);
            slope_y = LEY_FMA(row, (real)d_y[j], slope_y);
        }
        plain = LEY_FMA(plane, (real)w_z[k], plain);
        along_y = LEY_FMA(slope_y, (real)w_z[k], along_y);
        along_z = LEY_FMA(plane, (real)d_z[k], along_z);
    }
    sum.phi = sum_of(plain * w_x);
    sum.x = sum_of(plain * d_x);
    sum.y = sum_of(along_y * w_x);
    sum.z = sum_of(along_z * w_x);
    return sum;
}

#endif
