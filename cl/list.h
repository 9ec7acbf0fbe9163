/* What kernels of pair lists share. Particles are sorted in space, LEY_CLUSTER of them are a
 * cluster, and a particle's number among all of a frame's is its slot. A list names what is near a
 * cluster by a slot, or by a cluster of them, and how that is shifted to be there:
 *
 *     name = number + (shift << LEY_LIST_SHIFT)
 *
 * A shift n_a + 1 + 3 (n_b + 1) + 9 (n_c + 1) takes so many of the cell's vectors a, b, c away from
 * what is named; LEY_LIST_EACH of spec.h: each pair has its own nearest image.
 *
 * gm_frames  [frames][LEY_LIST_ROWS]: the cell's vectors; what takes a difference to fractions of
 *            them, with the reach of the list in such fractions; what takes a position to bins,
 *            with the bin of the place 0. Not periodic: the first six are 0 */
#ifndef LEY_LIST_H
#define LEY_LIST_H

#define LEY_LIST_NUMBER ((1 << LEY_LIST_SHIFT) - 1)
#define LEY_LIST_NONE 13 /* no vector */

LEY_FN float ley_along(float4 row, float x, float y, float z) { return row.x * x + row.y * y + row.z * z; }

/* The nearest whole number. */
#define LEY_WHOLE(x) floor((x) + 0.5f)

/* What a name's shift adds to what is named, if that is not different for each pair. */
LEY_FN float4 ley_list_shift(LEY_GLOBAL const float4 *gm_frame, int shift)
{
    const float a = (float)(1 - shift % 3), b = (float)(1 - shift / 3 % 3), c = (float)(1 - shift / 9);
    const float4 u = gm_frame[0], v = gm_frame[1], w = gm_frame[2];
    return shift == LEY_LIST_EACH ? LEY_FLOAT4(0, 0, 0, 0)
                                  : LEY_FLOAT4(a * u.x + b * v.x + c * w.x, a * u.y + b * v.y + c * w.y,
                                               a * u.z + b * v.z + c * w.z, 0);
}

/* Takes a difference to that of the nearest image; exact where it is less than half of the cell. */
#define LEY_NEAREST_IMAGE(gm_frame, dx, dy, dz) \
    { \
        const float4 u = (gm_frame)[0], v = (gm_frame)[1], w = (gm_frame)[2]; \
        const float4 of_u = (gm_frame)[3], of_v = (gm_frame)[4], of_w = (gm_frame)[5]; \
        const real n_u = LEY_WHOLE(of_u.x * dx + of_u.y * dy + of_u.z * dz), \
                   n_v = LEY_WHOLE(of_v.x * dx + of_v.y * dy + of_v.z * dz), \
                   n_w = LEY_WHOLE(of_w.x * dx + of_w.y * dy + of_w.z * dz); \
        dx -= n_u * u.x + n_v * v.x + n_w * w.x; \
        dy -= n_u * u.y + n_v * v.y + n_w * w.y; \
        dz -= n_u * u.z + n_v * v.z + n_w * w.z; \
    }

#endif
