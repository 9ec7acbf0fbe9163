/* What a work-item of lcpo.cl does alone, on CPU devices: it has LEY_WIDTH particles, side by side,
 * whose neighbours it finds together; then it goes through these particles one by one, and through
 * the neighbours of each in vectors.
 *
 * gm_list  [frames][padded][room], and behind these [frames][padded / LEY_WIDTH][4][room] floats:
 *          x, y, z and R of a particle's neighbours */
#ifndef LEY_LCPO_VECTORS_H
#define LEY_LCPO_VECTORS_H

#define STORE(value, at) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, at)

/* What spheres bury of one; where b is 0 there is none. */
LEY_FN real buried_by(float a, real b, real square)
{
    const real inverse = rsqrt(square), r = square * inverse;
    return ((r < a + b) & (b > 0)) ? 6.2831853f * a * (a - 0.5f * r - (a * a - b * b) * 0.5f * inverse) : (real)0;
}

/* The squares of the ways from a point to others. */
LEY_FN real squares_from(float4 from, real x, real y, real z, const image_cell *cell)
{
    x -= from.x;
    y -= from.y;
    z -= from.z;
#if LEY_PERIODIC
    ley_bring_near(*cell, &x, &y, &z);
#endif
    return x * x + y * y + z * z;
}

/* How many neighbours each lane has; gm_own: their lists. */
LEY_FN void find_all(__global const float4 *gm_at, const image_cell *cell, __global const float *gm_radius, int n,
                     int room, size_t own, __global int *gm_own, int *counts)
{
    float at[4][LEY_WIDTH];
    for (int lane = 0; lane < LEY_WIDTH; lane++) {
        at[0][lane] = gm_at[own + lane].x;
        at[1][lane] = gm_at[own + lane].y;
        at[2][lane] = gm_at[own + lane].z;
        at[3][lane] = gm_radius[own + lane];
        counts[lane] = 0;
    }
    const real x = LEY_LOAD(at[0]), y = LEY_LOAD(at[1]), z = LEY_LOAD(at[2]), radius = LEY_LOAD(at[3]);
    for (int j = 0; j < n; j++) {
        const float other = gm_radius[j];
        const real reach = radius + other, left = reach * reach - squares_from(gm_at[j], x, y, z, cell);
        if (other == 0 || !any(left > 0))
            continue;
        STORE(left, at[0]);
        for (int lane = 0; lane < LEY_WIDTH; lane++)
            if (at[0][lane] > 0 && at[3][lane] > 0 && (int)own + lane != j) {
                if (counts[lane] < room)
                    gm_own[(size_t)lane * room + counts[lane]] = j;
                counts[lane]++;
            }
    }
}

/* Sums over pairs of neighbours: of A_ij, of A_jk, of their products. */
LEY_FN float4 sum_pairs(__global const float4 *gm_at, const image_cell *cell, __global const float *gm_radius,
                        float4 at, float radius, __global const int *gm_own, int count, int room,
                        __global float *gm_near)
{
    __global float *gm_x = gm_near, *gm_y = gm_near + room, *gm_z = gm_near + 2 * room, *gm_r = gm_near + 3 * room;
    float4 sums = (float4)(0);
    for (int k = 0; k < (count + LEY_WIDTH - 1) / LEY_WIDTH * LEY_WIDTH; k++) {
        const float4 place = k < count ? gm_at[gm_own[k]] : at;
        gm_x[k] = place.x;
        gm_y[k] = place.y;
        gm_z[k] = place.z;
        gm_r[k] = k < count ? gm_radius[gm_own[k]] : 0;
    }
    for (int j = 0; j < count; j++) {
        const float4 between = (float4)(gm_x[j], gm_y[j], gm_z[j], 0);
        const float a = gm_r[j];
        real sum = (real)0;
        for (int k = 0; k < count; k += LEY_WIDTH) {
            const real square =
                squares_from(between, LEY_LOAD(gm_x + k), LEY_LOAD(gm_y + k), LEY_LOAD(gm_z + k), cell);
            const real single = (real)(float)k + LEY_LANES;
            sum += single == (real)j ? (real)0 : buried_by(a, LEY_LOAD(gm_r + k), square);
        }
        float lanes[LEY_WIDTH], others = 0;
        STORE(sum, lanes);
        for (int lane = 0; lane < LEY_WIDTH; lane++)
            others += lanes[lane];
        const float of_own =
            buried_by(radius, (real)a, squares_from(at, (real)between.x, (real)between.y, (real)between.z, cell)).s0;
        sums += (float4)(of_own, others, of_own * others, 0);
    }
    return sums;
}

#endif
