/* The end of a work-group of cutoff.cl that adds a mesh's potentials to its sums before it
 * stores them, by interpolation along the map's axes: z first, then y, then x. Along an axis the
 * eight points of a region take from each of its nodes what a table in local memory says, with
 * zeros where a point's window ends: so a node is read once for all eight, by one work-item, which
 * keeps their sums in registers. Local memory holds one array, of nodes along x and y and points
 * along z at first, of which rows along y become points in place. It lies where bins and atoms
 * were. */
#ifndef LEY_CUTOFF_EPILOGUE_H
#define LEY_CUTOFF_EPILOGUE_H

#include "interpolation_block.h"

#define EDGE 8                /* points of a region along each axis */
#define PITCH (LEY_NODES | 1) /* of rows along x, so that rows begin in different banks */
#define COLUMNS (LEY_NODES * LEY_NODES)
#define ROWS (EDGE * LEY_NODES)
#define AT_A_TIME 2 /* columns or rows of a work-item */
#if REGION_X != EDGE || REGION_Y != EDGE || REGION_Z != EDGE || LEY_NODES < EDGE
#error "the epilogue is for regions of eight points along each axis, and no fewer nodes"
#endif

typedef struct {
    float4 shares_x[LEY_NODES * EDGE / 4], shares_y[LEY_NODES * EDGE / 4], shares_z[LEY_NODES * EDGE / 4];
    int planes[LEY_NODES]; /* see plane_at() */
    float values[EDGE * LEY_NODES * PITCH];
} mesh_part;

/* What each node along an axis gives to each of the eight points; points behind the map are those
 * at its end once more. */
LEY_FN void fill_shares(LEY_GLOBAL const int *gm_nodes, LEY_GLOBAL const float *gm_weights, int window, stretch s,
                        int item, LEY_LOCAL float *sm_shares)
{
    for (int i = item; i < LEY_NODES * EDGE; i += ITEMS) {
        const int point = s.first + min(i % EDGE, s.count - 1), k = s.node + i / EDGE - gm_nodes[point];
        sm_shares[i] = k >= 0 && k < window ? gm_weights[point * window + k] : 0.0f;
    }
}

/* Adds to the eight points' sums what a node gives to them. */
LEY_FN void add_node(float *sum, LEY_LOCAL const float4 *sm_shares, float value)
{
    const float4 low = sm_shares[0], high = sm_shares[1];
    sum[0] += low.x * value;
    sum[1] += low.y * value;
    sum[2] += low.z * value;
    sum[3] += low.w * value;
    sum[4] += high.x * value;
    sum[5] += high.y * value;
    sum[6] += high.z * value;
    sum[7] += high.w * value;
}

LEY_FN void interpolate_columns(const block *b, int item, LEY_LOCAL mesh_part *sm)
{
    ROLLED for (int first = item; first < COLUMNS; first += AT_A_TIME * ITEMS)
    {
        float sum[AT_A_TIME][EDGE];
        int place[AT_A_TIME];
        UNROLL for (int i = 0; i < AT_A_TIME; i++)
        {
            const int column = first + i * ITEMS;
            place[i] = column_at(b, column % LEY_NODES, column / LEY_NODES);
            UNROLL for (int z = 0; z < EDGE; z++) sum[i][z] = 0;
        }
        ROLLED for (int k = 0; k < b->along_z.nodes; k++)
        {
            const int plane = sm->planes[k];
            UNROLL for (int i = 0; i < AT_A_TIME; i++)
                add_node(sum[i], sm->shares_z + 2 * k, potential_at(b, place[i], plane));
        }
        UNROLL for (int i = 0; i < AT_A_TIME; i++)
        {
            const int column = first + i * ITEMS, at = column / LEY_NODES * PITCH + column % LEY_NODES;
            UNROLL for (int z = 0; z < EDGE; z++) if (column < COLUMNS) sm->values[z * LEY_NODES * PITCH + at] =
                sum[i][z];
        }
    }
}

LEY_FN void interpolate_rows(const block *b, int item, LEY_LOCAL mesh_part *sm)
{
    ROLLED for (int first = item; first < ROWS; first += AT_A_TIME * ITEMS)
    {
        float sum[AT_A_TIME][EDGE];
        UNROLL for (int i = 0; i < AT_A_TIME; i++) UNROLL for (int y = 0; y < EDGE; y++) sum[i][y] = 0;
        ROLLED for (int k = 0; k < b->along_y.nodes; k++) UNROLL for (int i = 0; i < AT_A_TIME; i++)
        {
            const int row = first + i * ITEMS, at = row / LEY_NODES * LEY_NODES * PITCH + row % LEY_NODES;
            add_node(sum[i], sm->shares_y + 2 * k, row < ROWS ? sm->values[at + k * PITCH] : 0.0f);
        }
        UNROLL for (int i = 0; i < AT_A_TIME; i++)
        {
            const int row = first + i * ITEMS, at = row / LEY_NODES * LEY_NODES * PITCH + row % LEY_NODES;
            UNROLL for (int y = 0; y < EDGE; y++) if (row < ROWS) sm->values[at + y * PITCH] = sum[i][y];
        }
    }
}

/* Sets what is added to the work-item's points. All work-items are through with local memory. */
LEY_FN void interpolate_region(points *p, const block *b, int window, int item, LEY_LOCAL mesh_part *sm)
{
    fill_shares(b->gm_nodes_x, b->gm_weights_x, window, b->along_x, item, (LEY_LOCAL float *)sm->shares_x);
    fill_shares(b->gm_nodes_y, b->gm_weights_y, window, b->along_y, item, (LEY_LOCAL float *)sm->shares_y);
    fill_shares(b->gm_nodes_z, b->gm_weights_z, window, b->along_z, item, (LEY_LOCAL float *)sm->shares_z);
    for (int k = item; k < b->along_z.nodes; k += ITEMS)
        sm->planes[k] = plane_at(b, k);
    LEY_BARRIER_OF(ITEMS);
    interpolate_columns(b, item, sm);
    LEY_BARRIER_OF(ITEMS);
    interpolate_rows(b, item, sm);
    LEY_BARRIER_OF(ITEMS);
    UNROLL for (int k = 0; k < POINTS; k++) p->added[k] = 0;
    ROLLED for (int k = 0; k < b->along_x.nodes; k++)
    {
        LEY_LOCAL const float *sm_shares = (LEY_LOCAL const float *)(sm->shares_x + 2 * k) + LEY_LOCAL_ID(0);
        float share[LEY_UX];
        FOR_X(u) share[u] = sm_shares[u * LEY_LX];
        FOR_Z(w) FOR_Y(v)
        {
            const int z = (int)LEY_LOCAL_ID(2) + w * LEY_LZ, y = (int)LEY_LOCAL_ID(1) + v * LEY_LY;
            const float value = sm->values[(z * LEY_NODES + y) * PITCH + k];
            FOR_X(u) p->added[INDEX(u, v, w)] += share[u] * value;
        }
    }
}

#endif
