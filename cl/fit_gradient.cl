/* What the density a and a map b do to an atom, frame after frame: with e the atom's own density at
 * a node, and d the way from the atom to the node, in nodes along each axis, sums over the nodes in
 * its reach of e b d, e a d and e d, of which a gradient is made. A work-item has an atom.
 *
 * gm_atoms, gm_falls, gm_first, n_atoms, numbers  as in atom_density.cl
 * cells        of a frame
 * size         nodes along x, y, z
 * gm_map       [nodes], x fastest; not-a-numbers where a node does not count
 * gm_density   [frames][nodes]
 * gm_sums      [frames][n_atoms][LEY_FIT_ATOM_SUMS]; those behind a frame's last atom stay
 *
 * Global size: n_atoms, rounded up to work-groups, and frames. */
#if !defined(LEY_EXP) || !defined(LEY_VARIED)
#error "the specification is incomplete: see LEY_FIT_GRADIENT_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL fit_gradient(LEY_PARAMETERS(LEY_FIT_GRADIENT_ARGUMENTS))
{
    const int own = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1), nodes = (size_t)size.x * size.y * size.z;
    if (own >= gm_first[frame * (cells + 1) + cells])
        return;
    const float4 at = gm_atoms[frame * n_atoms + own];
#if LEY_VARIED
    const float fall = gm_falls[frame * n_atoms + own];
#else
    const float fall = numbers.s9;
#endif
    const float reach_x = sqrt(numbers.s6 / fall), reach_y = sqrt(numbers.s7 / fall), reach_z = sqrt(numbers.s8 / fall);
    const int x0 = max((int)ceil(at.x - reach_x), 0), x1 = min((int)floor(at.x + reach_x), size.x - 1),
              y0 = max((int)ceil(at.y - reach_y), 0), y1 = min((int)floor(at.y + reach_y), size.y - 1),
              z0 = max((int)ceil(at.z - reach_z), 0), z1 = min((int)floor(at.z + reach_z), size.z - 1);
    float bx = 0, by = 0, bz = 0, ax = 0, ay = 0, az = 0, ex = 0, ey = 0, ez = 0;
    for (int z = z0; z <= z1; z++)
        for (int y = y0; y <= y1; y++) {
            const size_t row = ((size_t)z * size.y + y) * size.x;
            const float dy = y - at.y, dz = z - at.z,
                        yz = numbers.s1 * dy * dy + numbers.s2 * dz * dz + numbers.s5 * dy * dz,
                        by_x = numbers.s3 * dy + numbers.s4 * dz;
            float row_b = 0, row_a = 0, row_e = 0;
            for (int x = x0; x <= x1; x++) {
                const float b = gm_map[row + x], a = gm_density[frame * nodes + row + x], dx = x - at.x,
                            square_A2 = yz + dx * (by_x + numbers.s0 * dx),
                            e = b == b ? at.w * ley_exp2(-fall * square_A2) : 0.0f, eb = b == b ? e * b : 0.0f,
                            ea = e * a;
                bx += eb * dx;
                ax += ea * dx;
                ex += e * dx;
                row_b += eb;
                row_a += ea;
                row_e += e;
            }
            by += row_b * dy;
            ay += row_a * dy;
            ey += row_e * dy;
            bz += row_b * dz;
            az += row_a * dz;
            ez += row_e * dz;
        }
    LEY_GLOBAL float *gm_own = gm_sums + (frame * n_atoms + own) * LEY_FIT_ATOM_SUMS;
    gm_own[0] = bx;
    gm_own[1] = by;
    gm_own[2] = bz;
    gm_own[3] = ax;
    gm_own[4] = ay;
    gm_own[5] = az;
    gm_own[6] = ex;
    gm_own[7] = ey;
    gm_own[8] = ez;
}
