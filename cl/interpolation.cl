/* Interpolation: adds to points of a map what a mesh's potentials are there,
 *
 *     phi[x, y, z] += sum over i, j, k of w_x[i] w_y[j] w_z[k] e[b_x + i, b_y + j, b_z + k],
 *
 * and with LEY_FIELD to the field beside it what each weight's slope along x, y or z makes of the
 * same nodes,
 *
 *     E_x[x, y, z] += sum over i, j, k of s_x[i] w_y[j] w_z[k] e[b_x + i, b_y + j, b_z + k],
 *
 * where the map's axes are the mesh's, whatever the ratio of their spacings and wherever one
 * lies on the other. Where they are not perpendicular to each other, LEY_OBLIQUE, the field's
 * components are
 *
 *     E_x + shear.x E_y + shear.y E_z,  E_y + shear.z E_z,  E_z
 *
 * of these, along axes of which the third is the mesh's, and the second in the plane of the mesh's
 * second and third. A work-group has a block of points. It reads the nodes that have a part in
 * any of them once, and interpolates along x, then along y, then along z.
 *
 * gm_potentials the mesh's nodes
 * gm_places     see nodes.h; of the mesh, and of the map: points are where their three numbers
 *               say together
 * mesh       where the mesh is in gm_places
 * gm_nodes      of each of the map's coordinates along x, y, z, one axis after the other: the first
 *               node that has a part in it
 * gm_weights    [LEY_WINDOW] for each of them; with LEY_FIELD each time [LEY_WINDOW] slopes behind
 *               that, less the derivative per A
 * axes          where the axes begin in gm_nodes: y, z; third, LEY_WINDOW; fourth, with LEY_FIELD,
 *               numbers of gm_phi from one component to the next
 * points        of the map along x, y, the first and the end of its planes along z
 * map           where the map's places are in gm_places; fourth, what comes before plane points.z
 * shear         of oblique axes
 * accumulate    0: store instead of adding
 * gm_phi        the map's planes; with LEY_FIELD of each component
 *
 * Groups: blocks along x, y, z. */
#if !defined(LEY_BLOCK_X) || !defined(LEY_NODES_X)
#error "the specification is incomplete: see LEY_INTERPOLATION_KEYS in spec.h"
#endif
#include "dialect.h"
#include "interpolation_block.h"

/* Where a block's points are stored. */
typedef struct {
    LEY_GLOBAL float *gm_phi;
    LEY_GLOBAL const int *gm_x, *gm_y, *gm_z; /* what the block's coordinates add, from its first ones on */
    int before;
    size_t component;
    int accumulate;
    atom shear;
} target;

LEY_FN void put(LEY_REFERENCE(target) t, int component, int place, float value)
{
#if LEY_FIELD
    const size_t at = component * t.component + (t.before + place);
#else
    const int at = t.before + place;
#endif
    t.gm_phi[at] = t.accumulate ? t.gm_phi[at] + value : value;
}

#if LEY_WIDTH == 1
#include "interpolation_group.h"
#else
#include "interpolation_vectors.h"
#endif

LEY_KERNEL_OF(ITEMS, 1, 1) interpolation(LEY_PARAMETERS(LEY_INTERPOLATION_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE shared sm;
    block b;
    target t;
    read_tables(&b, gm_potentials, gm_places, mesh, gm_nodes, gm_weights, axes, LEY_WINDOW);
    b.along_x =
        stretch_of(b.gm_nodes_x, LEY_WINDOW, (int)LEY_GROUP_ID(0) * LEY_BLOCK_X, LEY_BLOCK_X, points.x);
    b.along_y =
        stretch_of(b.gm_nodes_y, LEY_WINDOW, (int)LEY_GROUP_ID(1) * LEY_BLOCK_Y, LEY_BLOCK_Y, points.y);
    b.along_z = stretch_of(b.gm_nodes_z, LEY_WINDOW, points.z + (int)LEY_GROUP_ID(2) * LEY_BLOCK_Z, LEY_BLOCK_Z,
                           points.w);
    t.gm_phi = gm_phi;
    t.gm_x = gm_places + map.x + b.along_x.first;
    t.gm_y = gm_places + map.y + b.along_y.first;
    t.gm_z = gm_places + map.z + b.along_z.first - points.z;
    t.before = map.w;
    t.component = axes.w;
    t.accumulate = accumulate;
    t.shear = shear;
    interpolate(&b, &t, &sm);
}
