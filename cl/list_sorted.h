/* Where kernels of pair lists have a slot's position and charge: LEY_PLANAR of spec.h says how. */
#ifndef LEY_LIST_SORTED_H
#define LEY_LIST_SORTED_H

LEY_FN float4 ley_sorted_at(LEY_GLOBAL const float4 *gm_sorted, int slot)
{
#if LEY_PLANAR
    LEY_GLOBAL const float *gm_at =
        (LEY_GLOBAL const float *)(gm_sorted + slot / LEY_CLUSTER * LEY_CLUSTER) + slot % LEY_CLUSTER;
    return LEY_FLOAT4(gm_at[0], gm_at[LEY_CLUSTER], gm_at[2 * LEY_CLUSTER], gm_at[3 * LEY_CLUSTER]);
#else
    return gm_sorted[slot];
#endif
}

LEY_FN void ley_sorted_store(LEY_GLOBAL float4 *gm_sorted, int slot, float4 p)
{
#if LEY_PLANAR
    LEY_GLOBAL float *gm_to =
        (LEY_GLOBAL float *)(gm_sorted + slot / LEY_CLUSTER * LEY_CLUSTER) + slot % LEY_CLUSTER;
    gm_to[0] = p.x;
    gm_to[LEY_CLUSTER] = p.y;
    gm_to[2 * LEY_CLUSTER] = p.z;
    gm_to[3 * LEY_CLUSTER] = p.w;
#else
    gm_sorted[slot] = p;
#endif
}

#endif
