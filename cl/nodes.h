/* Where a lattice's nodes are in its buffer. gm_places holds, for each axis, what a node's
 * coordinate adds to its number, as lattice.cl has it: LEY_NOWHERE where there is none. `places`
 * says where coordinate 0 of each axis is in gm_places, and, fourth, how many nodes of the buffer
 * come before the lattice. */
#ifndef LEY_NODES_H
#define LEY_NODES_H

/* What the row of nodes along x with these coordinates adds to their numbers; negative: there is no
 * such row. */
LEY_FN int row_at(LEY_GLOBAL const int *gm_places, int4 places, int y, int z)
{
    return gm_places[places.y + y] + gm_places[places.z + z];
}

/* The number in the buffer of a node of the row; negative: there is no such node. */
LEY_FN int node_of(LEY_GLOBAL const int *gm_places, int4 places, int x, int row)
{
    const int at = gm_places[places.x + x] + row;
    return at < 0 ? -1 : at + places.w;
}

/* The same, of a node anywhere. */
LEY_FN int node_at(LEY_GLOBAL const int *gm_places, int4 places, int x, int y, int z)
{
    return node_of(gm_places, places, x, row_at(gm_places, places, y, z));
}

#endif
