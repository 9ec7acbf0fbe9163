/* What a work-item of born_pairs.cl does alone, on CPU devices: its own particles are vectors, each
 * other one's numbers are broadcast. */
#ifndef LEY_BORN_PAIRS_VECTORS_H
#define LEY_BORN_PAIRS_VECTORS_H

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

LEY_FN void add_other(const own *o, int u, other a, int j, const image_cell *cell, const sixteen *all,
                      __global const float *gm_neck, int4 size, real *sum)
{
    const sixteen numbers = *all;
    real x, y, z;
    const real d2 = way_from(o, u, a.at, *cell, &x, &y, &z);
#if LEY_PASS == LEY_BORN_ENERGIES
    add_charges(charges_of(o, u, a, d2, a.at.w, numbers), 1, x, y, z, sum);
#else
    real value = far_term(o, u, a, d2);
#if LEY_CUTOFF == LEY_BORN_TAPERED
    if (any(IS_NEAR(d2)))
#else
    if (is_some_below(d2, numbers.s0))
#endif
        value = IS_NEAR(d2) ? near_term(o, u, a, j, d2, numbers) : value;
#if LEY_NECK
    if (is_some_below(d2, numbers.s1))
        value += neck_term(o, u, a, j, d2, numbers, gm_neck, size);
#endif
    add_value(sum, WITHIN(d2, value), x, y, z);
#endif
}

LEY_FN void sum_tile(const own *o, __global const float4 *gm_at, __global const float4 *gm_spheres,
                     __global const float4 *gm_states, int begin, int end, image_cell cell, sixteen numbers,
                     __global const float *gm_neck, int4 size, real *sum)
{
    for (int j = begin; j < end; j++) {
        other a;
        a.at = first_of(gm_at[j], gm_spheres[j]);
        a.more = more_of(gm_spheres[j], gm_states[j]);
        UNROLL for (int u = 0; u < LEY_UX; u++)
            add_other(o, u, a, j, &cell, &numbers, gm_neck, size, sum + u * SUMS);
    }
}

LEY_FN void store(real value, __global float *gm_sums, int number)
{
    LEY_PASTE(vstore, LEY_WIDTH)(value, 0, gm_sums + number);
}

#endif
