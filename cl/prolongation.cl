/* Prolongation: adds the potentials of the next coarser mesh to those of a mesh,
 *
 *     e[f] += sum over m of J[f - 2 m] E[m],
 *
 * the transpose of restriction.cl. Along an axis an even f has one m, an odd one LEY_WINDOW.
 *
 * gm_two_scale  as in restriction.cl
 * gm_places     see nodes.h; of the coarser mesh as far as LEY_WINDOW / 2 nodes beyond its ends
 * fine, coarse  where the meshes are in it
 * shift         along each axis: the finer mesh's coordinate of the coarser one's node 0
 * nodes         of the finer mesh along each axis
 * gm_from       potentials of the coarser mesh
 * gm_to         of the finer one: in the same buffer, or in one of its own
 *
 * Global size: the finer mesh's nodes along x, y, z, each rounded up to work-groups. */
#include "dialect.h"
#include "nodes.h"

/* Which m have a part in coordinate f, as so many from the first; and where J of the first is in
 * gm_two_scale. */
typedef struct {
    int first, count, at;
} parts;

/* From a coordinate relative to the coarser mesh's node 0. */
LEY_FN parts parts_of(int f)
{
    parts p;
    const bool is_odd = (f & 1) != 0;
    p.count = is_odd ? LEY_WINDOW : 1;
    p.first = is_odd ? (f + 1 - LEY_WINDOW) / 2 : f / 2; /* even numbers: exact below 0, too */
    p.at = is_odd ? LEY_WINDOW : LEY_WINDOW / 2; /* J[f - 2 m] falls from the largest j as m grows */
    return p;
}

/* J of the i-th m. */
LEY_FN float share_of(LEY_GLOBAL const float *gm_two_scale, parts p, int i)
{
    const int at = p.at - i;
    return gm_two_scale[p.count == 1 ? p.at : at > LEY_WINDOW / 2 ? at : at - 1];
}

LEY_KERNEL prolongation(LEY_PARAMETERS(LEY_PROLONGATION_ARGUMENTS))
{
    const int x = (int)LEY_GLOBAL_ID(0), y = (int)LEY_GLOBAL_ID(1), z = (int)LEY_GLOBAL_ID(2);
    if (x >= nodes.x || y >= nodes.y || z >= nodes.z)
        return;
    const parts along_x = parts_of(x - shift.x), along_y = parts_of(y - shift.y), along_z = parts_of(z - shift.z);
    float sum = 0;
    for (int k = 0; k < along_z.count; k++)
        for (int j = 0; j < along_y.count; j++) {
            const int beside = row_at(gm_places, coarse, along_y.first + j, along_z.first + k);
            float row = 0;
            if (beside < 0)
                continue;
            for (int i = 0; i < along_x.count; i++) {
                const int at = node_of(gm_places, coarse, along_x.first + i, beside);
                row += at < 0 ? 0.0f : share_of(gm_two_scale, along_x, i) * gm_from[at];
            }
            sum += share_of(gm_two_scale, along_y, j) * share_of(gm_two_scale, along_z, k) * row;
        }
    gm_to[node_at(gm_places, fine, x, y, z)] += sum;
}
