/* Restriction: charges of a mesh's next coarser one,
 *
 *     Q[m] = sum over j of J[j] q[2 m + j],   |j_x|, |j_y|, |j_z| < LEY_WINDOW,
 *
 * where J[j] = phi(j / 2) is the nodal window half-way between nodes: 1 at 0, 0 at other even j.
 *
 * gm_two_scale  [LEY_WINDOW + 1] J at odd j below 0, from the least, at 0, and at odd j above
 * gm_places     see nodes.h; of the finer mesh as far as LEY_WINDOW - 1 nodes beyond its ends
 * fine, coarse  where the meshes are in it
 * shift         along each axis: the finer mesh's coordinate of the coarser one's node 0
 * nodes         of the coarser mesh along each axis
 * gm_from       charges of the finer mesh
 * gm_to         of the coarser one: in the same buffer, or in one of its own
 *
 * Global size: the coarser mesh's nodes along x, y, z, each rounded up to work-groups. */
#include "dialect.h"
#include "nodes.h"

/* The i-th j of those where J is not 0. */
LEY_FN int offset(int i)
{
    return i < LEY_WINDOW / 2 ? 2 * i + 1 - LEY_WINDOW : i == LEY_WINDOW / 2 ? 0 : 2 * i - 1 - LEY_WINDOW;
}

LEY_KERNEL restriction(LEY_PARAMETERS(LEY_RESTRICTION_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = (int)LEY_GLOBAL_ID(2);
    if (x >= nodes.x || y >= nodes.y || z >= nodes.z)
        return;
    float sum = 0;
    for (int k = 0; k <= LEY_WINDOW; k++)
        for (int j = 0; j <= LEY_WINDOW; j++) {
            const int beside = row_at(gm_places, fine, 2 * y + shift.y + offset(j), 2 * z + shift.z + offset(k));
            float row = 0;
            if (beside < 0) /* in a mesh that is thin, half of them */
                continue;
            for (int i = 0; i <= LEY_WINDOW; i++) {
                const int at = node_of(gm_places, fine, 2 * x + shift.x + offset(i), beside);
                row += at < 0 ? 0.0f : gm_two_scale[i] * gm_from[at];
            }
            sum += gm_two_scale[j] * gm_two_scale[k] * row;
        }
    gm_to[node_at(gm_places, coarse, x, y, z)] = sum;
}
