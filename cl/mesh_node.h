/* Where a position is on a mesh over the cell's fractional coordinates: see density_spread.cl. */
#ifndef LEY_MESH_NODE_H
#define LEY_MESH_NODE_H

/* 1.5 2^23: added to a number, and taken away, it leaves a whole one that is near. */
#define SHIFT 12582912.0f

/* From a position to nodes along an axis: the node before it; *t: how far it is behind that. Whole
 * nodes are taken from each product before digits are lost. */
LEY_FN int find_node(float x, float y, float z, float4 row, float4 lost, int n, float *t)
{
    const float whole_x = x * row.x + SHIFT - SHIFT, whole_y = y * row.y + SHIFT - SHIFT,
                whole_z = z * row.z + SHIFT - SHIFT;
    float rest = LEY_FMA(x, row.x, -whole_x) + LEY_FMA(y, row.y, -whole_y) + LEY_FMA(z, row.z, -whole_z);
    rest += LEY_FMA(x, lost.x, LEY_FMA(y, lost.y, LEY_FMA(z, lost.z, row.w)));
    int below = (int)rest;
    below -= rest < (float)below ? 1 : 0;
    int node = ((int)whole_x + (int)whole_y + (int)whole_z + (int)lost.w + below) % n;
    *t = rest - (float)below;
    return node < 0 ? node + n : node;
}

#endif
