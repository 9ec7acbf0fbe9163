/* A transform times the influence function:
 *
 *     F[k] = G[k] F[k]
 *
 * gm_influence  [stored z][stored y][stored x] G; along y and z either of all waves or, where wave
 *               n - m is worth the same as m, of 0 ... n / 2
 * waves         of the transform along x, y, z: n_x / 2 + 1, n_y, n_z
 * stored        waves that are in gm_influence
 * gm_mean       the product itself where the wave is 0 along each periodic axis
 * mean          strides of gm_mean along x, y, z, 0 along periodic axes; w 0: there is none.
 *               Without LEY_MEAN neither is looked at
 * gm_long       [2 longs.z + 1][2 longs.y + 1][longs.x + 1] F of the waves -longs to longs, in
 *               place of the transform's own: 0 first, then those above it, then those below
 * longs         how many along x, y, z; x below 0: none. Without LEY_LONG neither is looked at
 * gm_spectrum   [n_z][n_y][n_x / 2 + 1] F, of which there may be more than an int numbers
 *
 * Global size: waves along x, y, z, each rounded up to work-groups. */
#if !defined(LEY_MEAN) || !defined(LEY_LONG)
#error "the specification is incomplete: see LEY_INFLUENCE_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL influence(LEY_PARAMETERS(LEY_INFLUENCE_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = (int)LEY_GLOBAL_ID(2);
    if (x >= waves.x || y >= waves.y || z >= waves.z)
        return;
    const int row = y < stored.y ? y : waves.y - y, plane = z < stored.z ? z : waves.z - z;
    const float g = gm_influence[((size_t)plane * stored.y + row) * stored.x + x];
    const size_t at = ((size_t)z * waves.y + y) * waves.x + x;
    float2 f = gm_spectrum[at];
#if LEY_LONG
    const int long_y = y <= longs.y ? y : y - waves.y + 2 * longs.y + 1,
              long_z = z <= longs.z ? z : z - waves.z + 2 * longs.z + 1;
    if (x <= longs.x && (y <= longs.y || long_y > longs.y) && (z <= longs.z || long_z > longs.z))
        f = gm_long[(long_z * (2 * longs.y + 1) + long_y) * (longs.x + 1) + x];
#endif
    f.x *= g;
    f.y *= g;
#if LEY_MEAN
    if (mean.w != 0 && (mean.x != 0 || x == 0) && (mean.y != 0 || y == 0) && (mean.z != 0 || z == 0))
        f = gm_mean[z * mean.z + y * mean.y + x * mean.x];
#endif
    gm_spectrum[at] = f;
}
