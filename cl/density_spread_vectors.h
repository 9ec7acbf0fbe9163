/* What a work-item of density_spread.cl does alone, on CPU devices: it has a mesh of floats for
 * itself, behind the last nodes along each axis those that wrap around, and adds vectors along x,
 * without a look at others. density_merge.cl adds these meshes up. Work-items share the atoms of
 * all frames evenly.
 *
 * gm_parts  [work-items][n_z + LEY_WINDOW][n_y + LEY_WINDOW][pitch], of zeros; the pitch is that of
 *           LEY_DENSITY_PITCH */
#ifndef LEY_DENSITY_SPREAD_VECTORS_H
#define LEY_DENSITY_SPREAD_VECTORS_H

LEY_FN real weights_of(__global const float *gm_window, float t)
{
    real weight = LEY_LOAD(gm_window + (LEY_WINDOW - 1) * LEY_LANES_OF_WINDOW);
    UNROLL for (int k = LEY_WINDOW - 2; k >= 0; k--) weight =
        LEY_FMA(weight, (real)(t - 0.5f), LEY_LOAD(gm_window + k * LEY_LANES_OF_WINDOW));
    return weight;
}

LEY_FN void add_share(__global const float *gm_positions, __global const float *gm_charges, int n_atoms,
                      __global const float4 *gm_cells, __global const float *gm_window, int4 mesh, int first_frame,
                      __global float *gm_parts)
{
    const size_t part = LEY_GROUP_ID(0), parts = LEY_GROUPS(0), all = (size_t)mesh.w * n_atoms;
    const int pitch = LEY_DENSITY_PITCH(mesh.x), rows = mesh.y + LEY_WINDOW;
    __global float *gm_own = gm_parts + part * pitch * rows * (mesh.z + LEY_WINDOW);
    size_t frame = all * part / parts / n_atoms;
    int number = (int)(all * part / parts % n_atoms);
    float weight_y[LEY_WIDTH], weight_z[LEY_WIDTH];
    for (size_t left = all * (part + 1) / parts - all * part / parts; left > 0; left--) {
        __global const float *gm_at = gm_positions + 3 * ((first_frame + frame) * n_atoms + number);
        __global const float4 *gm_cell = gm_cells + 6 * (first_frame + frame);
        const float px = gm_at[0], py = gm_at[1], pz = gm_at[2];
        float t_x, t_y, t_z;
        const int x = find_node(px, py, pz, gm_cell[0], gm_cell[3], mesh.x, &t_x),
                  y = find_node(px, py, pz, gm_cell[1], gm_cell[4], mesh.y, &t_y),
                  z = find_node(px, py, pz, gm_cell[2], gm_cell[5], mesh.z, &t_z);
        const real weight_x = weights_of(gm_window, t_x) * gm_charges[number];
        LEY_PASTE(vstore, LEY_WIDTH)(weights_of(gm_window, t_y), 0, weight_y);
        LEY_PASTE(vstore, LEY_WIDTH)(weights_of(gm_window, t_z), 0, weight_z);
        __global float *gm_corner = gm_own + ((size_t)z * rows + y) * pitch + x;
        UNROLL for (int k = 0; k < LEY_WINDOW; k++) {
            __global float *gm_row = gm_corner + (size_t)k * rows * pitch;
            const real plane = weight_x * weight_z[k];
            UNROLL for (int j = 0; j < LEY_WINDOW; j++) {
                __global float *gm_nodes = gm_row + j * pitch;
                LEY_PASTE(vstore, LEY_WIDTH)(LEY_FMA(plane, (real)weight_y[j], LEY_LOAD(gm_nodes)), 0, gm_nodes);
            }
        }
        number++;
        if (number == n_atoms) {
            number = 0;
            frame++;
        }
    }
}

#endif
