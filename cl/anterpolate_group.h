/* What a work-group of anterpolate.cl does, on GPUs: each work-item has a column of nodes along z.
 * Atoms are staged as the weights that they have at the tile's coordinates. */
#ifndef LEY_ANTERPOLATE_GROUP_H
#define LEY_ANTERPOLATE_GROUP_H

#define BATCH (LEY_EDGE * LEY_EDGE)
#define STRIDE (LEY_EDGE + 1) /* from atom to atom: work-items that stage them write to different banks */
#define FOURS ((LEY_WINDOW + 3) / 4)
#define EDGE_FOURS (LEY_EDGE / 4)
#define STRIDE_FOURS (EDGE_FOURS + 1)
#if LEY_EDGE % 4 != 0
#error "tiles are a multiple of four nodes wide"
#endif

/* What a work-group stages. */
typedef struct {
    float4 window[LEY_WINDOW * FOURS];          /* coefficients, four at a time */
    float4 z[BATCH * STRIDE_FOURS];             /* weights of atoms at the tile's nodes along z, */
    float x[BATCH * STRIDE], y[BATCH * STRIDE]; /* along x, times the charge, and y */
    int meets[BATCH];                           /* see fours_met() */
} shared;

/* Which fours of the tile's nodes along z an atom has nodes in: bit k is the k-th. A tile of eight
 * nodes and a window of eight miss each other by a quarter. */
LEY_FN int fours_met(int from)
{
    int met = 0;
    UNROLL for (int k = 0; k < EDGE_FOURS; k++)
        met |= (from < 4 * k + 4 && from > 4 * k - LEY_WINDOW ? 1 : 0) << k;
    return met;
}

LEY_FN float4 four_coefficients(LEY_GLOBAL const float *gm_window, int number)
{
    const int i = number / FOURS * LEY_WINDOW, k = number % FOURS * 4;
    return LEY_FLOAT4(gm_window[i + k], k + 1 < LEY_WINDOW ? gm_window[i + k + 1] : 0,
                      k + 2 < LEY_WINDOW ? gm_window[i + k + 2] : 0, k + 3 < LEY_WINDOW ? gm_window[i + k + 3] : 0);
}

LEY_FN void begin(LEY_LOCAL shared *sm, LEY_GLOBAL const float *gm_window)
{
    for (int i = (int)(LEY_LOCAL_ID(1) * LEY_EDGE + LEY_LOCAL_ID(0)); i < LEY_WINDOW * FOURS; i += BATCH)
        sm->window[i] = four_coefficients(gm_window, i);
}

/* One of four; k is known when the kernel is compiled. */
LEY_FN float part_of(float4 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

/* The weight of an atom's i-th node. */
LEY_FN float staged_weight(LEY_LOCAL const shared *sm, int i, float u)
{
    float4 fours[FOURS];
    UNROLL for (int k = 0; k < FOURS; k++)
        fours[k] = sm->window[i * FOURS + k];
    float sum = part_of(fours[(LEY_WINDOW - 1) / 4], (LEY_WINDOW - 1) % 4);
    UNROLL for (int k = LEY_WINDOW - 2; k >= 0; k--)
        sum = sum * u + part_of(fours[k / 4], k % 4);
    return sum;
}

/* Stages the weights of one axis; `factor` is in all of them. All work-items are at the same node
 * of their atom's, so that they read the same coefficients. */
LEY_FN void stage(LEY_LOCAL const shared *sm, LEY_LOCAL float *sm_weights, int from, float u, float factor)
{
    UNROLL for (int node = 0; node < LEY_EDGE; node++)
        if (node < from || node >= from + LEY_WINDOW)
            sm_weights[node] = 0;
    UNROLL for (int i = 0; i < LEY_WINDOW; i++) {
        const float weight = factor * staged_weight(sm, i, u);
        if (from + i >= 0 && from + i < LEY_EDGE)
            sm_weights[from + i] = weight;
    }
}

LEY_FN void add_bin(exact_sum *sum, LEY_GLOBAL const float4 *gm_atoms, LEY_GLOBAL const int *gm_corners, int first,
                    int end, int from_x, int from_y, int from_z, LEY_LOCAL shared *sm)
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
            sm->meets[item] = is_met ? fours_met(at_z) : 0;
            if (is_met) {
                stage(sm, sm->x + item * STRIDE, at_x, a.x, a.w);
                stage(sm, sm->y + item * STRIDE, at_y, a.y, 1);
                stage(sm, (LEY_LOCAL float *)(sm->z + item * STRIDE_FOURS), at_z, a.z, 1);
            }
        }
        LEY_BARRIER();
        for (int j = 0; j < count; j++) {
            const int met = sm->meets[j];
            const float across = met != 0 ? sm->x[j * STRIDE + x] * sm->y[j * STRIDE + y] : 0;
            if (across == 0) /* work-items of some rows that it has no nodes in go on together */
                continue;
            UNROLL for (int k = 0; k < EDGE_FOURS; k++) {
                if ((met >> k & 1) == 0)
                    continue;
                const float4 along = sm->z[j * STRIDE_FOURS + k];
                add_exactly(&sum[4 * k], across, along.x);
                add_exactly(&sum[4 * k + 1], across, along.y);
                add_exactly(&sum[4 * k + 2], across, along.z);
                add_exactly(&sum[4 * k + 3], across, along.w);
            }
        }
    }
}

LEY_FN void store(const exact_sum *sum, const tile *t, LEY_GLOBAL const int *gm_places, int4 places,
                  LEY_GLOBAL float *gm_charges)
{
    for (int z = 0; z < LEY_EDGE; z++) {
        const node_number at =
            node_at(gm_places, places, t->x + (int)LEY_LOCAL_ID(0), t->y + (int)LEY_LOCAL_ID(1), t->z + z);
        if (at >= 0)
            gm_charges[at] = sum[z].sum - sum[z].carry;
    }
}

#endif
