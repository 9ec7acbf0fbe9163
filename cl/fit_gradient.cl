/* What the density a and a map b do to an atom, frame after frame: with e the atom's own density at
 * a node, and d the way from the atom to the node, in nodes along each axis, sums over the nodes in
 * its reach of e b d, e a d and e d, of which a gradient is made. A work-item has an atom, and
 * LEY_WIDTH nodes of a row at a time.
 *
 * gm_atoms, gm_falls, n_atoms, numbers  as in atom_density.cl
 * gm_cell, gm_order  as in fit_place.cl
 * gm_first     [frames][bins] the last one: how many of a frame's atoms are in cells
 * bins         of a frame
 * size         nodes along x, y, z; along x a multiple of LEY_WIDTH
 * gm_map       [nodes], x fastest; not-a-numbers where a node does not count
 * gm_density   [frames][nodes]
 * gm_sums      [frames][n_atoms][LEY_FIT_ATOM_SUMS], in the order of the atoms' numbers
 *
 * Global size: n_atoms, rounded up to work-groups, and frames. */
#if !defined(LEY_EXP) || !defined(LEY_VARIED)
#error "the specification is incomplete: see LEY_FIT_GRADIENT_KEYS in spec.h"
#endif
#include "dialect.h"

#include "fit_lanes.h"

LEY_KERNEL fit_gradient(LEY_PARAMETERS(LEY_FIT_GRADIENT_ARGUMENTS))
{
    const int own = (int)LEY_GLOBAL_ID(0);
    const size_t frame = LEY_GLOBAL_ID(1), nodes = (size_t)size.x * size.y * size.z;
    LEY_GLOBAL float *gm_frame = gm_sums + frame * n_atoms * LEY_FIT_ATOM_SUMS;
    if (own >= n_atoms)
        return;
    if (gm_cell[frame * n_atoms + own] < 0) /* it reaches no node */
        for (int k = 0; k < LEY_FIT_ATOM_SUMS; k++)
            gm_frame[own * LEY_FIT_ATOM_SUMS + k] = 0;
    if (own >= gm_first[frame * bins + bins - 1])
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
    real bx = 0, by = 0, bz = 0, ax = 0, ay = 0, az = 0, ex = 0, ey = 0, ez = 0;
    for (int z = z0; z <= z1; z++)
        for (int y = y0; y <= y1; y++) {
            const size_t row = ((size_t)z * size.y + y) * size.x;
            const float dy = y - at.y, dz = z - at.z,
                        yz = numbers.s1 * dy * dy + numbers.s2 * dz * dz + numbers.s5 * dy * dz,
                        by_x = numbers.s3 * dy + numbers.s4 * dz;
            real row_b = 0, row_a = 0, row_e = 0;
            for (int first = x0; first <= x1; first += LEY_WIDTH) {
                const int from = min(first, size.x - LEY_WIDTH);
                const real x = from + LEY_LANES, b = LEY_LOAD(gm_map + row + from),
                           a = LEY_LOAD(gm_density + frame * nodes + row + from), dx = x - at.x,
                           square_A2 = yz + dx * (by_x + numbers.s0 * dx),
                           e = PICK(b == b && x >= (real)first && x <= (real)x1, at.w * ley_exp2(-fall * square_A2),
                                    0.0f),
                           eb = PICK(b == b, e * b, 0.0f), ea = e * a;
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
    LEY_GLOBAL float *gm_own = gm_frame + gm_order[frame * n_atoms + own] * LEY_FIT_ATOM_SUMS;
    gm_own[0] = SUM_OF_LANES(bx);
    gm_own[1] = SUM_OF_LANES(by);
    gm_own[2] = SUM_OF_LANES(bz);
    gm_own[3] = SUM_OF_LANES(ax);
    gm_own[4] = SUM_OF_LANES(ay);
    gm_own[5] = SUM_OF_LANES(az);
    gm_own[6] = SUM_OF_LANES(ex);
    gm_own[7] = SUM_OF_LANES(ey);
    gm_own[8] = SUM_OF_LANES(ez);
}
