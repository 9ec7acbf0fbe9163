/* A block of a map's points whose axes are those of a mesh, and the nodes that have a part in
 * any of them: what interpolation.cl reads, and the epilogue of cutoff.cl. Its arguments are those
 * of LEY_INTERPOLATED_ARGUMENTS, which interpolation.cl explains. */
#ifndef LEY_INTERPOLATION_BLOCK_H
#define LEY_INTERPOLATION_BLOCK_H

#include "nodes.h"

/* With LEY_FIELD a coordinate has slopes as well as weights, sets 1 and 0. Along z each component
 * takes one set of what the other axes make of either: of weights, of slopes along x, of slopes
 * along y. */
#define WEIGHT_SETS (LEY_FIELD ? 2 : 1)
#define PLANE_SETS (LEY_FIELD ? 3 : 1)
#define PLANE_SET_OF(component) ((component) % 3)
#define Z_SET_OF(component) ((component) == 3)
#define FOR_WEIGHT_SETS(s) UNROLL for (int s = 0; s < WEIGHT_SETS; s++)
#define FOR_PLANE_SETS(p) UNROLL for (int p = 0; p < PLANE_SETS; p++)

/* A block's points and nodes along an axis. */
typedef struct {
    int first, count; /* points */
    int node, nodes;  /* the first node, and how many */
} stretch;

/* What a block reads; tables of one axis each, the map's weights and nodes from coordinate 0 on. */
typedef struct {
    stretch along_x, along_y, along_z;
    LEY_GLOBAL const int *gm_nodes_x, *gm_nodes_y, *gm_nodes_z;
    LEY_GLOBAL const float *gm_weights_x, *gm_weights_y, *gm_weights_z;
    LEY_GLOBAL const float *gm_potentials;
    LEY_GLOBAL const int *gm_places;
    int4 mesh;
} block;

/* Of `size` points from the first one on, those before `end`; each has `window` nodes. */
LEY_FN stretch stretch_of(LEY_GLOBAL const int *gm_nodes, int window, int first, int size, int end)
{
    stretch s;
    s.first = first;
    s.count = min(size, end - first);
    s.node = gm_nodes[first];
    s.nodes = gm_nodes[first + s.count - 1] + window - s.node;
    return s;
}

/* All but the stretches. */
LEY_FN void read_tables(block *b, LEY_GLOBAL const float *gm_potentials, LEY_GLOBAL const int *gm_places, int4 mesh,
                        LEY_GLOBAL const int *gm_nodes, LEY_GLOBAL const float *gm_weights, int4 axes, int window)
{
    b->gm_nodes_x = gm_nodes;
    b->gm_nodes_y = gm_nodes + axes.x;
    b->gm_nodes_z = gm_nodes + axes.y;
    b->gm_weights_x = gm_weights;
    b->gm_weights_y = gm_weights + axes.x * (WEIGHT_SETS * window);
    b->gm_weights_z = gm_weights + axes.y * (WEIGHT_SETS * window);
    b->gm_potentials = gm_potentials;
    b->gm_places = gm_places;
    b->mesh = mesh;
}

/* Weights of an axis's point, or slopes. */
LEY_FN LEY_GLOBAL const float *weights_of(LEY_GLOBAL const float *gm_weights, int window, int point, int set)
{
    return gm_weights + (point * WEIGHT_SETS + set) * window;
}

/* What the coordinates of the block's nodes along x and y add to their numbers; negative: there are
 * no such nodes. */
LEY_FN int column_at(const block *b, int x, int y)
{
    if (x < b->along_x.nodes && y < b->along_y.nodes)
        return b->gm_places[b->mesh.x + b->along_x.node + x] + b->gm_places[b->mesh.y + b->along_y.node + y];
    return LEY_NOWHERE;
}

/* The same of a plane of them. */
LEY_FN int plane_at(const block *b, int z)
{
    return b->gm_places[b->mesh.z + b->along_z.node + z];
}

/* The potential of the node that is where both say; 0 where there is none. */
LEY_FN float potential_at(const block *b, int column, int plane)
{
    const node_number at = node_in_row(column, row_of(b->mesh, 0, plane));
    return at < 0 ? 0.0f : b->gm_potentials[at + nodes_before(b->mesh)];
}

#endif
