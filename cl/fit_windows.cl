/* Sums of a density a and a map b over windows, frame after frame: a window's nodes are those
 * within a distance of any of its atoms. A work-item has a window of a frame.
 *
 * gm_places    [frames][n_places] {x, y, z, -}, in nodes from the grid's first one on, window after
 *              window
 * gm_boxes     [frames][n_boxes][2] least and largest x, y, z of each LEY_FIT_CHUNK atoms of a
 *              window, and as far around as the distance goes
 * gm_window    [2][windows + 1] where a window's atoms begin, and its boxes
 * size         nodes along x, y, z
 * numbers      products of the grid's steps, A^2: of x, y and z with themselves, twice those of
 *              x y, x z and y z; .s9: the square of the distance, A^2
 * gm_map       [nodes], x fastest; not-a-numbers where a node does not count
 * gm_density   [frames][nodes]
 * gm_sums      [frames][windows][LEY_FIT_WINDOW_SUMS] nodes, a, b, a b, a^2, b^2
 *
 * Global size: windows, rounded up to work-groups, and frames. */
#include "dialect.h"

LEY_FN bool is_near(LEY_GLOBAL const float4 *gm_atoms, LEY_GLOBAL const float4 *gm_own_boxes, int count, int x, int y,
                    int z, LEY_REFERENCE(sixteen) numbers)
{
    for (int first = 0; first < count; first += LEY_FIT_CHUNK) {
        const float4 low = gm_own_boxes[first / LEY_FIT_CHUNK * 2], high = gm_own_boxes[first / LEY_FIT_CHUNK * 2 + 1];
        if (x < low.x || x > high.x || y < low.y || y > high.y || z < low.z || z > high.z)
            continue;
        for (int i = first; i < min(first + LEY_FIT_CHUNK, count); i++) {
            const float dx = x - gm_atoms[i].x, dy = y - gm_atoms[i].y, dz = z - gm_atoms[i].z;
            if (numbers.s0 * dx * dx + numbers.s1 * dy * dy + numbers.s2 * dz * dz + numbers.s3 * dx * dy +
                    numbers.s4 * dx * dz + numbers.s5 * dy * dz <=
                numbers.s9)
                return true;
        }
    }
    return false;
}

LEY_KERNEL fit_windows(LEY_PARAMETERS(LEY_FIT_WINDOWS_ARGUMENTS))
{
    const int window = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1);
    if (window >= windows)
        return;
    const int begin = gm_window[window], count = gm_window[window + 1] - begin;
    LEY_GLOBAL const float4 *gm_atoms = gm_places + frame * n_places + begin,
                            *gm_own_boxes = gm_boxes + 2 * (frame * n_boxes + gm_window[windows + 1 + window]);
    float low_x = 1e9f, low_y = 1e9f, low_z = 1e9f, high_x = -1e9f, high_y = -1e9f, high_z = -1e9f;
    float n = 0, of_a = 0, of_b = 0, of_ab = 0, of_aa = 0, of_bb = 0;
    for (int k = 0; k < (count + LEY_FIT_CHUNK - 1) / LEY_FIT_CHUNK; k++) {
        const float4 low = gm_own_boxes[2 * k], high = gm_own_boxes[2 * k + 1];
        low_x = LEY_MIN(low_x, low.x);
        low_y = LEY_MIN(low_y, low.y);
        low_z = LEY_MIN(low_z, low.z);
        high_x = LEY_MAX(high_x, high.x);
        high_y = LEY_MAX(high_y, high.y);
        high_z = LEY_MAX(high_z, high.z);
    }
    const int x0 = max((int)floor(low_x), 0), x1 = min((int)floor(high_x) + 1, size.x - 1),
              y0 = max((int)floor(low_y), 0), y1 = min((int)floor(high_y) + 1, size.y - 1),
              z0 = max((int)floor(low_z), 0), z1 = min((int)floor(high_z) + 1, size.z - 1);
    for (int z = z0; z <= z1; z++)
        for (int y = y0; y <= y1; y++)
            for (int x = x0; x <= x1; x++) {
                const size_t node = ((size_t)z * size.y + y) * size.x + x;
                const float b = gm_map[node];
                if (b != b || !is_near(gm_atoms, gm_own_boxes, count, x, y, z, numbers))
                    continue;
                const float a = gm_density[frame * ((size_t)size.x * size.y * size.z) + node];
                n += 1;
                of_a += a;
                of_b += b;
                of_ab += a * b;
                of_aa += a * a;
                of_bb += b * b;
            }
    LEY_GLOBAL float *gm_own = gm_sums + (frame * windows + window) * LEY_FIT_WINDOW_SUMS;
    gm_own[0] = n;
    gm_own[1] = of_a;
    gm_own[2] = of_b;
    gm_own[3] = of_ab;
    gm_own[4] = of_aa;
    gm_own[5] = of_bb;
}
