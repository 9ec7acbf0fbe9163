/* Particles of frames into bins, which are numbered along Hilbert's curve (J. Skilling, AIP Conf.
 * Proc. 707, 381 (2004)), as linked lists in no order.
 *
 * gm_position  [frames][padded] {x, y, z, charge}
 * particles    of a frame; padded: places of a frame
 * gm_frames    as in list.h
 * bits         bins along each axis are 2^bits
 * gm_count     [frames][8^bits] particles of each bin. 0 beforehand
 * gm_head      [frames][8^bits] 1 + the first particle of the bin's list. 0 beforehand, and where
 *              there is none
 * gm_next      [frames][padded] 1 + the list's next particle; 0: there is none
 * gm_bin       [frames][padded]
 *
 * Global size: particles, rounded up to work-groups, and frames. */
#include "dialect.h"

#include "list.h"

LEY_FN int hilbert(int x, int y, int z, int bits)
{
    int number = 0, turn = 0;
    for (int q = 1 << (bits - 1); q > 1; q >>= 1) {
        const int below = q - 1;
        if (x & q)
            x ^= below;
        if (y & q) {
            x ^= below;
        } else {
            const int t = (x ^ y) & below;
            x ^= t;
            y ^= t;
        }
        if (z & q) {
            x ^= below;
        } else {
            const int t = (x ^ z) & below;
            x ^= t;
            z ^= t;
        }
    }
    y ^= x;
    z ^= y;
    for (int q = 1 << (bits - 1); q > 1; q >>= 1)
        if (z & q)
            turn ^= q - 1;
    x ^= turn;
    y ^= turn;
    z ^= turn;
    for (int b = bits - 1; b >= 0; b--)
        number = number << 3 | (x >> b & 1) << 2 | (y >> b & 1) << 1 | (z >> b & 1);
    return number;
}

LEY_FN int bin_along(float4 row, float4 p, int last)
{
    const float at = ley_along(row, p.x, p.y, p.z) + row.w;
    return at > 0 ? min((int)LEY_MIN(at, (float)last), last) : 0; /* also of a place that is no number */
}

LEY_KERNEL list_bins(LEY_PARAMETERS(LEY_LIST_BINS_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0), last = (1 << bits) - 1;
    const size_t frame = LEY_GLOBAL_ID(1), first_bin = frame << 3 * bits;
    if (i >= particles)
        return;
    LEY_GLOBAL const float4 *gm_frame = gm_frames + LEY_LIST_ROWS * frame;
    const float4 p = gm_position[frame * padded + i];
    const int bin = hilbert(bin_along(gm_frame[6], p, last), bin_along(gm_frame[7], p, last),
                            bin_along(gm_frame[8], p, last), bits);
    LEY_ATOMIC_ADD(&gm_count[first_bin + bin], 1);
    gm_next[frame * padded + i] = LEY_ATOMIC_EXCHANGE(&gm_head[first_bin + bin], i + 1);
    gm_bin[frame * padded + i] = bin;
}
