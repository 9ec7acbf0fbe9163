/* What density_spread.cl's work-items have on CPU devices, added up, rounded to integers, and added
 * to what is there:
 *
 *     density[z][y][x] += rounded sum over parts of what stands for the node in them
 *
 * and zeros in its place.
 *
 * gm_parts    as density_spread_vectors.h says; place p, and p + n, stand for node p - LEY_WINDOW /
 *             2 + 1
 * parts       how many there are
 * mesh        nodes along x, y, z
 * gm_density  [n_z][n_y][n_x] integers of 64 bits, the lower half first
 *
 * Global size: rows of places, n_y n_z, rounded up to work-groups. */
#if !defined(LEY_WINDOW)
#error "the specification is incomplete: see LEY_DENSITY_MERGE_KEYS in spec.h"
#endif
#include "dialect.h"

/* Places at a time. */
#define STRETCH 64

LEY_KERNEL density_merge(LEY_PARAMETERS(LEY_DENSITY_MERGE_ARGUMENTS))
{
    const int row = (int)LEY_GLOBAL_ID(0), pitch = LEY_DENSITY_PITCH(mesh.x), rows = mesh.y + LEY_WINDOW;
    if (row >= mesh.y * mesh.z)
        return;
    const int at_y = row % mesh.y, at_z = row / mesh.y, shift = LEY_WINDOW / 2 - 1,
              y = at_y < shift ? at_y - shift + mesh.y : at_y - shift,
              z = at_z < shift ? at_z - shift + mesh.z : at_z - shift,
              images = (at_y < LEY_WINDOW ? 2 : 1) * (at_z < LEY_WINDOW ? 2 : 1);
    const size_t size = (size_t)pitch * rows * (mesh.z + LEY_WINDOW);
    for (int first = 0; first < mesh.x; first += STRETCH) {
        const int count = min(STRETCH, mesh.x - first);
        float sum[STRETCH];
        for (int i = 0; i < STRETCH; i++)
            sum[i] = 0;
        for (int image = 0; image < images * parts; image++) {
            const int own = image % images, beyond_y = at_y < LEY_WINDOW ? own % 2 : 0,
                      beyond_z = at_y < LEY_WINDOW ? own / 2 : own;
            LEY_GLOBAL float *gm_row = gm_parts + image / images * size +
                                       ((size_t)(at_z + beyond_z * mesh.z) * rows + at_y + beyond_y * mesh.y) * pitch;
            for (int i = 0; i < count; i++)
                sum[i] += gm_row[first + i];
            for (int i = 0; i < count; i++)
                gm_row[first + i] = 0;
            for (int i = 0; i < LEY_WINDOW && first == 0; i++) {
                sum[i] += gm_row[mesh.x + i];
                gm_row[mesh.x + i] = 0;
            }
        }
        for (int i = 0; i < count; i++) {
            const int x = first + i - shift;
            LEY_LONG_AT(gm_density + ((size_t)z * mesh.y + y) * mesh.x + (x < 0 ? x + mesh.x : x)) +=
                LEY_ROUNDED_LONG(sum[i]);
        }
    }
}
