/* What a work-group of born_pairs.cl does with others: it brings a tile of them into local memory,
 * then each work-item goes through it. */
#ifndef LEY_BORN_PAIRS_GROUP_H
#define LEY_BORN_PAIRS_GROUP_H

#define SOME(is) (is)

LEY_FN void load_own(own *o, int u, LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const float4 *gm_spheres,
                     LEY_GLOBAL const float4 *gm_states)
{
    const int number = (int)(LEY_GROUP_ID(0) * LEY_UX + u) * LEY_WG + (int)LEY_LOCAL_ID(0);
    const float4 at = gm_at[number], sphere = gm_spheres[number], state = gm_states[number];
    o->number[u] = number;
    o->x[u] = at.x;
    o->y[u] = at.y;
    o->z[u] = at.z;
#if LEY_PASS == LEY_BORN_ENERGIES
    o->first[u] = state.x;
    o->second[u] = -state.y;
#else
    o->first[u] = sphere.y * sphere.y;
    o->second[u] = sphere.y * sphere.y * sphere.y;
    o->s[u] = sphere.y;
    o->rho[u] = sphere.x;
    o->w[u] = state.z;
#endif
}

LEY_FN void stage(LEY_GLOBAL const float4 *gm_at, LEY_GLOBAL const float4 *gm_spheres,
                  LEY_GLOBAL const float4 *gm_states, int begin, int end, LEY_LOCAL float4 *sm_at,
                  LEY_LOCAL float4 *sm_more)
{
    LEY_BARRIER_OF(LEY_WG);
    for (int j = begin + (int)LEY_LOCAL_ID(0); j < end; j += LEY_WG) {
        sm_at[j - begin] = first_of(gm_at[j], gm_spheres[j]);
        sm_more[j - begin] = more_of(gm_spheres[j], gm_states[j]);
    }
    LEY_BARRIER_OF(LEY_WG);
}

LEY_FN void store(real value, LEY_GLOBAL float *gm_sums, int number)
{
    gm_sums[number] = value;
}

#endif
