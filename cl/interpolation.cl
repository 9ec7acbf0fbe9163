/* Interpolation: adds to points of a map what a lattice's potentials are there,
 *
 *     phi[x, y, z] += sum over i, j, k of w_x[i] w_y[j] w_z[k] e[b_x + i, b_y + j, b_z + k],
 *
 * where the map's axes are the lattice's, whatever the ratio of their spacings and wherever one
 * lies on the other. A work-group has a block of points. It stages the nodes that have a part in
 * any of them, and interpolates along x, then along y, then along z.
 *
 * gm_potentials the lattice's nodes
 * gm_places     see nodes.h; of the lattice, and of the map: points are where their three numbers
 *               say together
 * lattice       where the lattice is in gm_places
 * gm_nodes      of each of the map's coordinates along x, y, z, one axis after the other: the first
 *               node that has a part in it
 * gm_weights    [LEY_WINDOW] for each of them
 * axes          where the axes begin in gm_nodes: y, z; fourth, points of the map along z
 * points        of the map along x, y, the first and the end of its planes along z
 * map           where the map's places are in gm_places; fourth, what comes before plane points.z
 * accumulate    0: store instead of adding
 * gm_phi        the map's planes
 *
 * Global size: blocks along x, y, z, times the group's work-items. */
#if !defined(LEY_BLOCK_X) || !defined(LEY_NODES_X) || !defined(LEY_ITEMS)
#error "the specification is incomplete: see LEY_INTERPOLATION_KEYS in spec.h"
#endif
#include "dialect.h"
#include "nodes.h"

#define VECTORS (LEY_BLOCK_X / LEY_WIDTH)

/* A block's points and nodes along an axis. */
typedef struct {
    int first, count; /* points */
    int node, nodes;  /* the first node, and how many */
} stretch;

LEY_FN stretch stretch_of(LEY_GLOBAL const int *gm_nodes, int first, int size, int end)
{
    stretch s;
    s.first = first;
    s.count = min(size, end - first);
    s.node = gm_nodes[first];
    s.nodes = gm_nodes[first + s.count - 1] + LEY_WINDOW - s.node;
    return s;
}

/* The block's nodes: x fastest, LEY_NODES_X along x, LEY_NODES_Y along y. */
LEY_FN void stage(LEY_LOCAL float *sm_nodes, LEY_GLOBAL const float *gm_potentials, LEY_GLOBAL const int *gm_places,
                  int4 lattice, stretch along_x, stretch along_y, stretch along_z, int item)
{
    const int count = along_x.nodes * along_y.nodes * along_z.nodes;
    for (int i = item; i < count; i += LEY_ITEMS) {
        const int x = i % along_x.nodes, row = i / along_x.nodes, y = row % along_y.nodes, z = row / along_y.nodes;
        const int at = node_at(gm_places, lattice, along_x.node + x, along_y.node + y, along_z.node + z);
        sm_nodes[(z * LEY_NODES_Y + y) * LEY_NODES_X + x] = at < 0 ? 0.0f : gm_potentials[at];
    }
}

LEY_FN void along_rows(LEY_LOCAL float *sm_rows, LEY_LOCAL const float *sm_nodes, LEY_GLOBAL const int *gm_nodes,
                       LEY_GLOBAL const float *gm_weights, stretch along_x, stretch along_y, stretch along_z, int item)
{
    const int count = along_z.nodes * along_y.nodes * LEY_BLOCK_X;
    for (int i = item; i < count; i += LEY_ITEMS) {
        const int x = i % LEY_BLOCK_X, row = i / LEY_BLOCK_X, y = row % along_y.nodes, z = row / along_y.nodes;
        float sum = 0;
        if (x < along_x.count) {
            const int point = along_x.first + x;
            LEY_LOCAL const float *sm_from =
                sm_nodes + (z * LEY_NODES_Y + y) * LEY_NODES_X + gm_nodes[point] - along_x.node;
            UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                sum += gm_weights[point * LEY_WINDOW + k] * sm_from[k];
        }
        sm_rows[(z * LEY_NODES_Y + y) * LEY_BLOCK_X + x] = sum;
    }
}

/* From sm_rows, planes of LEY_NODES_Y rows, to planes of LEY_BLOCK_Y rows. */
LEY_FN void along_columns(LEY_LOCAL real *sm_planes, LEY_LOCAL const real *sm_rows, LEY_GLOBAL const int *gm_nodes,
                          LEY_GLOBAL const float *gm_weights, stretch along_y, stretch along_z, int item)
{
    const int count = along_z.nodes * along_y.count * VECTORS;
    for (int i = item; i < count; i += LEY_ITEMS) {
        const int x = i % VECTORS, row = i / VECTORS, y = row % along_y.count, z = row / along_y.count;
        const int point = along_y.first + y, from = z * LEY_NODES_Y + gm_nodes[point] - along_y.node;
        real sum = 0;
        UNROLL for (int k = 0; k < LEY_WINDOW; k++)
            sum += gm_weights[point * LEY_WINDOW + k] * sm_rows[(from + k) * VECTORS + x];
        sm_planes[(z * LEY_BLOCK_Y + y) * VECTORS + x] = sum;
    }
}

LEY_FN void put(LEY_GLOBAL float *gm_phi, int at, float value, int accumulate)
{
    gm_phi[at] = accumulate ? gm_phi[at] + value : value;
}

LEY_KERNEL_OF(LEY_ITEMS, 1, 1) interpolation(LEY_PARAMETERS(LEY_INTERPOLATION_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE float sm_nodes[LEY_NODES_Z * LEY_NODES_Y * LEY_NODES_X];
    LEY_LOCAL_VARIABLE real sm_rows[LEY_NODES_Z * LEY_NODES_Y * VECTORS];
    LEY_LOCAL_VARIABLE real sm_planes[LEY_NODES_Z * LEY_BLOCK_Y * VECTORS];
    const int item = (int)LEY_LOCAL_ID(0);
    const stretch along_x = stretch_of(gm_nodes, (int)LEY_GROUP_ID(0) * LEY_BLOCK_X, LEY_BLOCK_X, points.x);
    stretch along_y = stretch_of(gm_nodes + axes.x, (int)LEY_GROUP_ID(1) * LEY_BLOCK_Y, LEY_BLOCK_Y, points.y);
    stretch along_z =
        stretch_of(gm_nodes + axes.y, points.z + (int)LEY_GROUP_ID(2) * LEY_BLOCK_Z, LEY_BLOCK_Z, points.w);
    stage(sm_nodes, gm_potentials, gm_places, lattice, along_x, along_y, along_z, item);
    LEY_BARRIER();
    along_rows((LEY_LOCAL float *)sm_rows, sm_nodes, gm_nodes, gm_weights, along_x, along_y, along_z, item);
    LEY_BARRIER();
    along_columns(sm_planes, sm_rows, gm_nodes + axes.x, gm_weights + axes.x * LEY_WINDOW, along_y, along_z, item);
    LEY_BARRIER();
    LEY_GLOBAL const float *gm_weights_z = gm_weights + axes.y * LEY_WINDOW;
    for (int i = item; i < along_z.count * along_y.count * VECTORS; i += LEY_ITEMS) {
        const int x = i % VECTORS, row = i / VECTORS, y = row % along_y.count, z = row / along_y.count;
        const int point = along_z.first + z, from = gm_nodes[axes.y + point] - along_z.node;
        real sum = 0;
        UNROLL for (int k = 0; k < LEY_WINDOW; k++)
            sum += gm_weights_z[point * LEY_WINDOW + k] * sm_planes[((from + k) * LEY_BLOCK_Y + y) * VECTORS + x];
        const int place = gm_places[map.y + along_y.first + y] + gm_places[map.z + point - points.z] + map.w;
        const float *lanes = (const float *)&sum;
        for (int lane = 0; lane < LEY_WIDTH && x * LEY_WIDTH + lane < along_x.count; lane++)
            put(gm_phi, place + gm_places[map.x + along_x.first + x * LEY_WIDTH + lane], lanes[lane], accumulate);
    }
}
