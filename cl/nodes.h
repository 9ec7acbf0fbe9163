/* Where a mesh's nodes are in its buffer. gm_places holds, for each axis, what a node's
 * coordinate adds to its number, as lattice.cl has it: LEY_NOWHERE where there is none. `places`
 * says where coordinate 0 of each axis is in gm_places, and, fourth, how many nodes of the buffer
 * come before the mesh.
 *
 * With LEY_BY_PLANE, of more nodes than an int numbers, gm_places holds along z the number of a
 * plane, `places` says, fourth, how many nodes a plane has, and nothing comes before the mesh.
 * Where there is no node along x or y, it holds so many below 0 as a plane has: with what the other
 * axis adds that stays negative, with what planes do it would not. */
#ifndef LEY_NODES_H
#define LEY_NODES_H

#if LEY_BY_PLANE
typedef long node_number;
#else
typedef int node_number;
#endif

/* What comes before the mesh. */
LEY_FN int nodes_before(int4 places)
{
    return LEY_BY_PLANE ? 0 : places.w;
}

/* Of a row of nodes along x, from what its coordinates along y and z say: what it adds to their
 * numbers; negative: there is no such row. */
LEY_FN node_number row_of(int4 places, int y, int z)
{
#if LEY_BY_PLANE
    return y < 0 ? -1 : (node_number)z * places.w + y;
#else
    return y + z;
#endif
}

/* The same of a node of the row, from what its coordinate along x says. */
LEY_FN node_number node_in_row(int x, node_number row)
{
#if LEY_BY_PLANE
    return x < 0 || row < 0 ? -1 : x + row;
#else
    return x + row;
#endif
}

/* What the row of nodes along x with these coordinates adds to their numbers; negative: there is no
 * such row. */
LEY_FN node_number row_at(LEY_GLOBAL const int *gm_places, int4 places, int y, int z)
{
    return row_of(places, gm_places[places.y + y], gm_places[places.z + z]);
}

/* The number in the buffer of a node of the row; negative: there is no such node. */
LEY_FN node_number node_of(LEY_GLOBAL const int *gm_places, int4 places, int x, node_number row)
{
    const node_number at = node_in_row(gm_places[places.x + x], row);
    return at < 0 ? -1 : at + nodes_before(places);
}

/* The same, of a node anywhere. */
LEY_FN node_number node_at(LEY_GLOBAL const int *gm_places, int4 places, int x, int y, int z)
{
    return node_of(gm_places, places, x, row_at(gm_places, places, y, z));
}

#endif
