/* What Ewald's sum has beside pairs within the cutoff, for particles of one frame: potential and
 * field of the mesh by the window and its slopes, less what it has of the particle's own charge, of
 * excluded partners, erf(alpha r) / r, and of the background:
 *
 *     energy = pairs + C q / 2 (phi(x) - 2 alpha / sqrt(pi) q - pi Q / (alpha^2 V)
 *                               - sum over excluded q' erf(alpha r) / r),
 *
 * and the force, -C q grad phi(x) and that of excluded pairs.
 *
 * gm_position  [frames][padded] {x, y, z, charge}
 * particles, padded  of a frame, and its places
 * gm_places    [frames][2][3] as gm_cells of density_spread.cl
 * gm_cells     [frames][6] the cell's vectors; what takes a difference to fractions of them
 * gm_window    as in density_spread.cl
 * mesh         nodes along x, y, z; the frame
 * gm_phi       [n_z][n_y][n_x], and LEY_WIDTH more that are numbers: e / A
 * gm_first, gm_excluded  [padded + 1] where a particle's excluded partners begin in the latter
 * factors      {C, 2 alpha / sqrt(pi), pi Q / alpha^2, alpha}
 * has_forces   whether forces are wanted
 * terms        {all, Coulomb's, pairs'}: how many terms energies have, which this is, and in whose
 *              place pairs within the cutoff have theirs
 * gm_energy    [frames][terms][padded]
 * gm_force     [frames][padded] {x, y, z, -} that is added to
 *
 * Global size: particles, rounded up to work-groups. */
#if !defined(LEY_WINDOW)
#error "the specification is incomplete: see LEY_MESH_GATHER_KEYS in spec.h"
#endif
#include "dialect.h"

#include "list.h"
#include "mesh_node.h"

typedef struct {
    float phi, x, y, z; /* and the gradient, along the mesh's axes, by nodes */
} mesh_value;

/* The first of the nodes that a position has a share in, from the node before it. */
LEY_FN int first_node(int node, int n)
{
    node += 1 - LEY_WINDOW / 2;
    return node < 0 ? node + n : node;
}

#if LEY_WIDTH == 1
#include "mesh_gather_group.h"
#else
#include "mesh_gather_vectors.h"
#endif

/* erf(alpha r) / r, and less its derivative over r. */
LEY_FN float2 erf_r(float r2, atom factors)
{
    const float alpha = factors.w, x2 = alpha * alpha * r2;
    float2 made;
    if (x2 < 0.25f) { /* by powers of (alpha r)^2 */
        made.x = factors.y * (1 - x2 * (1 / 3.0f - x2 * (0.1f - x2 * (1 / 42.0f - x2 * (1 / 216.0f)))));
        made.y = factors.y * alpha * alpha *
                 (2 / 3.0f - x2 * (0.4f - x2 * (1 / 7.0f - x2 * (1 / 27.0f - x2 * (1 / 132.0f)))));
        return made;
    }
    const float inverse = LEY_RSQRT(r2), r = r2 * inverse;
    made.x = erf(alpha * r) * inverse;
    made.y = (made.x - factors.y * exp(-x2)) * inverse * inverse;
    return made;
}

/* The shortest way to p from images of another. Where all fractions of a way are within 1/2, it is
 * the shortest if it is within half of each of the cell's widths, else one of those around it. */
LEY_FN void way_from(LEY_GLOBAL const float4 *gm_cell, float4 p, float4 other, float *dx, float *dy, float *dz)
{
    const float4 a = gm_cell[0], b = gm_cell[1], c = gm_cell[2], u = gm_cell[3], v = gm_cell[4], w = gm_cell[5];
    const float x = p.x - other.x, y = p.y - other.y, z = p.z - other.z, n_u = LEY_WHOLE(ley_along(u, x, y, z)),
                n_v = LEY_WHOLE(ley_along(v, x, y, z)), n_w = LEY_WHOLE(ley_along(w, x, y, z)),
                near_x = x - (n_u * a.x + n_v * b.x + n_w * c.x), near_y = y - (n_u * a.y + n_v * b.y + n_w * c.y),
                near_z = z - (n_u * a.z + n_v * b.z + n_w * c.z),
                widest = LEY_MAX(LEY_MAX(ley_along(u, u.x, u.y, u.z), ley_along(v, v.x, v.y, v.z)),
                                 ley_along(w, w.x, w.y, w.z));
    float least = near_x * near_x + near_y * near_y + near_z * near_z;
    *dx = near_x;
    *dy = near_y;
    *dz = near_z;
    for (int image = 0; image < 27 && 4 * least * widest > 1; image++) {
        const float i = (float)(image % 3 - 1), j = (float)(image / 3 % 3 - 1), k = (float)(image / 9 - 1),
                    to_x = near_x + (i * a.x + j * b.x + k * c.x), to_y = near_y + (i * a.y + j * b.y + k * c.y),
                    to_z = near_z + (i * a.z + j * b.z + k * c.z), square = to_x * to_x + to_y * to_y + to_z * to_z;
        if (square < least) {
            least = square;
            *dx = to_x;
            *dy = to_y;
            *dz = to_z;
        }
    }
}

LEY_KERNEL mesh_gather(LEY_PARAMETERS(LEY_MESH_GATHER_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    const size_t frame = mesh.w;
    if (i >= particles)
        return;
    LEY_GLOBAL const float4 *gm_place = gm_places + 6 * frame, *gm_cell = gm_cells + 6 * frame,
                            *gm_at = gm_position + frame * padded;
    const float4 p = gm_at[i], a = gm_place[0], b = gm_place[1], c = gm_place[2], u = gm_cell[3], v = gm_cell[4],
                 w = gm_cell[5];
    const mesh_value at = gather(gm_place, gm_window, mesh, gm_phi, p);
    const float per_volume =
        u.x * (v.y * w.z - v.z * w.y) + u.y * (v.z * w.x - v.x * w.z) + u.z * (v.x * w.y - v.y * w.x);
    float phi = at.phi - factors.y * p.w - factors.z * fabs(per_volume), x = at.x * a.x + at.y * b.x + at.z * c.x,
          y = at.x * a.y + at.y * b.y + at.z * c.y, z = at.x * a.z + at.y * b.z + at.z * c.z;
    for (int e = gm_first[i]; e < gm_first[i + 1]; e++) {
        const float4 other = gm_at[gm_excluded[e]];
        float dx, dy, dz;
        way_from(gm_cell, p, other, &dx, &dy, &dz);
        const float2 taken = erf_r(dx * dx + dy * dy + dz * dz, factors);
        phi -= other.w * taken.x;
        x += other.w * taken.y * dx;
        y += other.w * taken.y * dy;
        z += other.w * taken.y * dz;
    }
    LEY_GLOBAL float *gm_own = gm_energy + frame * terms.x * padded + i;
    gm_own[(size_t)terms.y * padded] = gm_own[(size_t)terms.z * padded] + 0.5f * factors.x * p.w * phi;
    if (has_forces) {
        LEY_GLOBAL float4 *gm_to = gm_force + frame * padded + i;
        const float4 before = *gm_to;
        const float by = -factors.x * p.w;
        *gm_to = LEY_FLOAT4(before.x + by * x, before.y + by * y, before.z + by * z, before.w);
    }
}
