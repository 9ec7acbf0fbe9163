/* What a work-group of anterpolate.cl does, on GPUs: each work-item has a column of nodes along z.
 * Atoms are staged as the weights that they have at the tile's coordinates. */
#ifndef LEY_ANTERPOLATE_GROUP_H
#define LEY_ANTERPOLATE_GROUP_H

#define BATCH (LEY_EDGE * LEY_EDGE)

/* Stages the weights of one axis; `factor` is in all of them. */
LEY_FN void stage(LEY_LOCAL float *sm_weights, LEY_GLOBAL const float *gm_window, int from, float u, float factor)
{
    for (int node = 0; node < LEY_EDGE; node++)
        sm_weights[node] = factor * weight_of(gm_window, node - from, u);
}

LEY_FN void add_bin(exact_sum *sum, LEY_GLOBAL const float *gm_window, LEY_GLOBAL const float4 *gm_atoms,
                    LEY_GLOBAL const int *gm_corners, int first, int end, int from_x, int from_y, int from_z,
                    LEY_LOCAL float *sm_x, LEY_LOCAL float *sm_y, LEY_LOCAL float *sm_z, LEY_LOCAL int *sm_meets)
{
    const int x = LEY_LOCAL_ID(0), y = LEY_LOCAL_ID(1), item = y * LEY_EDGE + x;
    for (int base = first; base < end; base += BATCH) {
        const int count = min(BATCH, end - base);
        LEY_BARRIER();
        if (item < count) {
            const float4 a = gm_atoms[base + item];
            const int corner = gm_corners[base + item];
            const int at_x = from_x + CORNER_X(corner), at_y = from_y + CORNER_Y(corner),
                      at_z = from_z + CORNER_Z(corner);
            const bool is_met = meets(at_x) && meets(at_y) && meets(at_z);
            sm_meets[item] = is_met;
            if (is_met) {
                stage(sm_x + item * LEY_EDGE, gm_window, at_x, a.x, a.w);
                stage(sm_y + item * LEY_EDGE, gm_window, at_y, a.y, 1);
                stage(sm_z + item * LEY_EDGE, gm_window, at_z, a.z, 1);
            }
        }
        LEY_BARRIER();
        for (int j = 0; j < count; j++) {
            if (!sm_meets[j])
                continue;
            const float across = sm_x[j * LEY_EDGE + x] * sm_y[j * LEY_EDGE + y];
            UNROLL for (int z = 0; z < LEY_EDGE; z++)
                add_exactly(&sum[z], across, sm_z[j * LEY_EDGE + z]);
        }
    }
}

LEY_FN void store(const exact_sum *sum, const tile *t, LEY_GLOBAL const int *gm_places, int4 places,
                  LEY_GLOBAL float *gm_charges)
{
    for (int z = 0; z < LEY_EDGE; z++) {
        const int at = node_at(gm_places, places, t->x + (int)LEY_LOCAL_ID(0), t->y + (int)LEY_LOCAL_ID(1), t->z + z);
        if (at >= 0)
            gm_charges[at] = sum[z].sum - sum[z].carry;
    }
}

#endif
