/* Which bin of a mesh an atom is in, and where in it: what host/long_range/mesh/spread.c does,
 * operation by operation, so that both put it into the same bin with the same numbers.
 *
 * origin              of the mesh, A
 * along_x, _y, _z     three numbers of each: their product with what is from the origin is the
 *                     atom's index along the axis; fourth, what the node below has to be added to
 *                     be the atom's first one
 * whole               nodes of a period along each axis; 0: it is not periodic
 * nodes               along each axis; fourth, along the edge of a bin
 * bins                along x and y */
#ifndef LEY_SPREAD_H
#define LEY_SPREAD_H

typedef struct {
    int bin;        /* -1: a node of the atom's would be outside the mesh */
    int corner;     /* x + 32 y + 1024 z: its first node in the bin */
    scalar x, y, z; /* what it is from the middle between two nodes, in spacings */
} home;

/* Its first node along an axis; negative: outside. Periods are whole numbers of nodes, and so are
 * products with them. */
LEY_FN int first_node(scalar x, scalar y, scalar z, atom along, scalar whole, int nodes, scalar *u)
{
    const scalar index =
        LEY_ROUNDED_PRODUCT(along.x, x) + LEY_ROUNDED_PRODUCT(along.y, y) + LEY_ROUNDED_PRODUCT(along.z, z);
    const scalar below = floor(index);
    *u = index - below - 0.5;
    scalar node = below + along.w;
    if (whole > 0) {
        node -= LEY_ROUNDED_PRODUCT(floor(node / whole), whole);
        node += node < 0 ? whole : 0; /* the quotient was rounded */
        node -= node >= whole ? whole : 0;
    }
    return node >= 0 && node < (scalar)nodes ? (int)node : -1;
}

LEY_FN home find_home(LEY_GLOBAL const scalar *gm_position, size_t i, atom origin, atom along_x, atom along_y,
                      atom along_z, atom whole, int4 nodes, int4 bins)
{
    const scalar x = gm_position[3 * i] - origin.x, y = gm_position[3 * i + 1] - origin.y,
                 z = gm_position[3 * i + 2] - origin.z;
    home h;
    const int at_x = first_node(x, y, z, along_x, whole.x, nodes.x, &h.x),
              at_y = first_node(x, y, z, along_y, whole.y, nodes.y, &h.y),
              at_z = first_node(x, y, z, along_z, whole.z, nodes.z, &h.z);
    h.bin = -1;
    h.corner = 0;
    if (at_x >= 0 && at_y >= 0 && at_z >= 0) {
        h.bin = ((at_z / nodes.w) * bins.y + at_y / nodes.w) * bins.x + at_x / nodes.w;
        h.corner = at_x % nodes.w | (at_y % nodes.w) << 5 | (at_z % nodes.w) << 10;
    }
    return h;
}

#endif
