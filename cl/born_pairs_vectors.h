/* What a work-item of born_pairs.cl does alone, on CPU devices: its own particles are vectors, each
 * other one's numbers are broadcast. */
#ifndef LEY_BORN_PAIRS_VECTORS_H
#define LEY_BORN_PAIRS_VECTORS_H

#define SOME(is) any(is)

LEY_FN void load_own(own *o, int u, __global const float4 *gm_at, __global const float4 *gm_spheres,
                     __global const float4 *gm_states)
{
    const int number = (int)(LEY_GROUP_ID(0) * LEY_UX + u) * LEY_WIDTH;
    float x[LEY_WIDTH], y[LEY_WIDTH], z[LEY_WIDTH], first[LEY_WIDTH], second[LEY_WIDTH], s[LEY_WIDTH], rho[LEY_WIDTH],
        w[LEY_WIDTH];
    for (int i = 0; i < LEY_WIDTH; i++) {
        const float4 at = gm_at[number + i], sphere = gm_spheres[number + i], state = gm_states[number + i];
        x[i] = at.x;
        y[i] = at.y;
        z[i] = at.z;
        s[i] = sphere.y;
        rho[i] = sphere.x;
        w[i] = state.z;
        first[i] = LEY_PASS == LEY_BORN_ENERGIES ? state.x : sphere.y * sphere.y;
        second[i] = LEY_PASS == LEY_BORN_ENERGIES ? -state.y : sphere.y * sphere.y * sphere.y;
    }
    o->number[u] = number;
    o->x[u] = LEY_LOAD(x);
    o->y[u] = LEY_LOAD(y);
    o->z[u] = LEY_LOAD(z);
    o->first[u] = LEY_LOAD(first);
    o->second[u] = LEY_LOAD(second);
    o->s[u] = LEY_LOAD(s);
    o->rho[u] = LEY_LOAD(rho);
    o->w[u] = LEY_LOAD(w);
}

LEY_FN void store(real value, __global float *gm_sums, int number)
{
    LEY_PASTE(vstore, LEY_WIDTH)(value, 0, gm_sums + number);
}

#endif
