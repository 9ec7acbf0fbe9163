/* From the spectrum of charges on a mesh to that of the potential at points, whose numbers may be
 * more or fewer than the mesh's nodes: for each wave k of the points
 *
 *     F[k] = sum over waves m of the mesh with m = k modulo points of
 *            4 pi / V exp(-sigma^2 m^2 / 2) / m^2 S[m] / (W(m_x) W(m_y) W(m_z)),
 *
 * 0 where m is. Of waves as long as two nodes, which stand for two, half is either's.
 *
 * gm_spectrum  [mesh.z][mesh.y][mesh.x / 2 + 1] S
 * mesh         nodes along x, y, z
 * points       the same of the points
 * gm_splines   1 / W at 0 to mesh / 2: along x, y, z, one behind the other
 * gm_cells     [frames][2][3] as in density_spread.cl: nodes per A
 * frame        which one
 * half_square  sigma^2 / 2
 * gm_folded    [points.z][points.y][points.x / 2 + 1] F
 *
 * Global size: waves of the points along x, y, z, each rounded up to work-groups. */
#include "dialect.h"

#define TURN 6.28318530717958647692f

/* The first of the mesh's waves from -edge on that are wave k of n points. */
LEY_FN int first_alias(int k, int n, int edge) { return k - (k + edge) / n * n; }

LEY_KERNEL density_fold(LEY_PARAMETERS(LEY_DENSITY_FOLD_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = (int)LEY_GLOBAL_ID(2);
    if (x > points.x / 2 || y >= points.y || z >= points.z)
        return;
    const float4 a = gm_cells[6 * frame], b = gm_cells[6 * frame + 1], c = gm_cells[6 * frame + 2];
    const float per_x = TURN / mesh.x, per_y = TURN / mesh.y, per_z = TURN / mesh.z;
    /* 4 pi / V: the rows span n_x n_y n_z / V. */
    const float span = a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x),
                factor = 2 * TURN * fabs(span) / ((float)mesh.x * mesh.y * mesh.z);
    float2 sum;
    sum.x = sum.y = 0;
    for (int m_z = first_alias(z, points.z, mesh.z / 2); m_z <= mesh.z / 2; m_z += points.z)
        for (int m_y = first_alias(y, points.y, mesh.y / 2); m_y <= mesh.y / 2; m_y += points.y)
            for (int m_x = first_alias(x, points.x, mesh.x / 2); m_x <= mesh.x / 2; m_x += points.x) {
                const float u = m_x * per_x, v = m_y * per_y, w = m_z * per_z, k_x = u * a.x + v * b.x + w * c.x,
                            k_y = u * a.y + v * b.y + w * c.y, k_z = u * a.z + v * b.z + w * c.z,
                            k2 = k_x * k_x + k_y * k_y + k_z * k_z;
                const int sign = m_x < 0 ? -1 : 1, at_y = sign * m_y < 0 ? sign * m_y + mesh.y : sign * m_y,
                          at_z = sign * m_z < 0 ? sign * m_z + mesh.z : sign * m_z;
                float g = exp(-half_square * k2) / k2 * factor * gm_splines[m_x < 0 ? -m_x : m_x] *
                          gm_splines[mesh.x / 2 + 1 + (m_y < 0 ? -m_y : m_y)] *
                          gm_splines[mesh.x / 2 + mesh.y / 2 + 2 + (m_z < 0 ? -m_z : m_z)];
                if (2 * m_x == mesh.x || -2 * m_x == mesh.x)
                    g *= 0.5f;
                if (2 * m_y == mesh.y || -2 * m_y == mesh.y)
                    g *= 0.5f;
                if (2 * m_z == mesh.z || -2 * m_z == mesh.z)
                    g *= 0.5f;
                if (m_x == 0 && m_y == 0 && m_z == 0)
                    continue;
                const float2 s = gm_spectrum[((size_t)at_z * mesh.y + at_y) * (mesh.x / 2 + 1) + sign * m_x];
                sum.x += g * s.x;
                sum.y += sign * g * s.y;
            }
    gm_folded[((size_t)z * points.y + y) * (points.x / 2 + 1) + x] = sum;
}
