/* What one work-item of anterpolate.cl does alone, on CPU devices: rows of its tile are vectors
 * along x, LEY_WIDTH being LEY_EDGE. */
#ifndef LEY_ANTERPOLATE_VECTORS_H
#define LEY_ANTERPOLATE_VECTORS_H

LEY_FN void add_bin(exact_sum *sum, __global const float *gm_window, __global const float4 *gm_atoms,
                    __global const int *gm_corners, int first, int end, int from_x, int from_y, int from_z)
{
    for (int j = first; j < end; j++) {
        const float4 a = gm_atoms[j];
        const int corner = gm_corners[j];
        const int at_x = from_x + CORNER_X(corner), at_y = from_y + CORNER_Y(corner), at_z = from_z + CORNER_Z(corner);
        if (!meets(at_x) || !meets(at_y) || !meets(at_z))
            continue;
        float along_x[LEY_EDGE], along_y[LEY_WINDOW];
        for (int x = 0; x < LEY_EDGE; x++)
            along_x[x] = a.w * weight_of(gm_window, x - at_x, a.x);
        for (int i = 0; i < LEY_WINDOW; i++)
            along_y[i] = weight_of(gm_window, i, a.y);
        const real row = LEY_LOAD(along_x);
        for (int k = max(0, -at_z); k < min(LEY_WINDOW, LEY_EDGE - at_z); k++) {
            const float along_z = weight_of(gm_window, k, a.z);
            for (int i = max(0, -at_y); i < min(LEY_WINDOW, LEY_EDGE - at_y); i++)
                add_exactly(&sum[(at_z + k) * LEY_EDGE + at_y + i], row, (real)(along_y[i] * along_z));
        }
    }
}

LEY_FN void store(const exact_sum *sum, const tile *t, __global const int *gm_places, int4 places,
                  __global float *gm_charges)
{
    for (int z = 0; z < LEY_EDGE; z++)
        for (int y = 0; y < LEY_EDGE; y++) {
            float row[LEY_WIDTH];
            LEY_PASTE(vstore, LEY_WIDTH)(sum[z * LEY_EDGE + y].sum - sum[z * LEY_EDGE + y].carry, 0, row);
            for (int x = 0; x < LEY_EDGE; x++) {
                const int at = node_at(gm_places, places, t->x + x, t->y + y, t->z + z);
                if (at >= 0)
                    gm_charges[at] = row[x];
            }
        }
}

#endif
