/* Anterpolation: charges onto the nodes of a mesh,
 *
 *     q[node] = sum over atoms of charge w_i(t_x) w_j(t_y) w_k(t_z),
 *
 * i, j, k being how far the node is from the atom's first one. A work-group owns a tile of
 * LEY_EDGE x LEY_EDGE x LEY_EDGE nodes and takes what reaches it of the atoms around, so that
 * nothing is added to by two of them, and the same atoms give the same bytes.
 *
 * Atoms are in bins by their first node, LEY_EDGE nodes along each edge, each atom once.
 *
 * gm_window     [LEY_WINDOW][LEY_WINDOW] coefficients of the window: w_i(t) = sum_k c[i][k] u^k,
 *               u = t - 1/2
 * gm_tiles      {first, count} in gm_sources of each tile along x, y, z, one axis after the other
 * tiles         along x, y; fourth: work-groups of earlier launches
 * gm_sources    {bin, nodes} along an axis: a bin that reaches the tile, and how far its first node
 *               is from the tile's: where an axis is periodic, also images
 * bins          along x, y
 * gm_first      [bins + 1] the first atom of each bin
 * gm_atoms      {u_x, u_y, u_z, charge}
 * gm_corners    x + 32 y + 1024 z: the atom's first node in its bin
 * gm_places, places  see nodes.h; there are places for all nodes of all tiles
 * gm_charges    the mesh's nodes
 *
 * Global size: work-groups in one row, tiles in the order of x, y, z. */
#if !defined(LEY_EDGE) || !defined(LEY_WINDOW) || !defined(LEY_WIDTH)
#error "the specification is incomplete: see LEY_ANTERPOLATE_KEYS in spec.h"
#endif
#include "dialect.h"
#include "nodes.h"

/* Where a tile is, and which bins reach it. */
typedef struct {
    int x, y, z;                    /* its first node */
    int2 along_x, along_y, along_z; /* {first, count} of its sources */
} tile;

LEY_FN tile find_tile(LEY_GLOBAL const int2 *gm_tiles, int4 tiles, int number)
{
    const int x = number % tiles.x, row = number / tiles.x, y = row % tiles.y, z = row / tiles.y;
    tile t;
    t.x = x * LEY_EDGE;
    t.y = y * LEY_EDGE;
    t.z = z * LEY_EDGE;
    t.along_x = gm_tiles[x];
    t.along_y = gm_tiles[tiles.x + y];
    t.along_z = gm_tiles[tiles.x + tiles.y + z];
    return t;
}

#define CORNER_X(corner) ((corner) & 31)
#define CORNER_Y(corner) ((corner) >> 5 & 31)
#define CORNER_Z(corner) ((corner) >> 10)

/* Of an atom whose first node is so far from the tile's: whether a node of its is in the tile. */
LEY_FN bool meets(int from)
{
    return from > -LEY_WINDOW && from < LEY_EDGE;
}

/* A sum and what its last addition lost, the sign turned (Kahan). Wide windows end in weights that
 * are a billionth of their largest one: a plain sum loses them, of small charges a larger part than
 * of large ones. So neutral matter got a net charge of 1e-9 e an atom, which is what a box of a
 * million of them was off by. */
typedef struct {
    real sum, carry;
} exact_sum;

LEY_FN void add_exactly(exact_sum *s, real a, real b)
{
    const real term = a * b - s->carry, after = s->sum + term;
    s->carry = (after - s->sum) - term;
    s->sum = after;
}

#if LEY_WIDTH == 1
#include "anterpolate_group.h"
#else
#include "anterpolate_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_EDGE : 1, LEY_WIDTH == 1 ? LEY_EDGE : 1, 1)
anterpolate(LEY_PARAMETERS(LEY_ANTERPOLATE_ARGUMENTS))
{
    const tile t = find_tile(gm_tiles, tiles, tiles.w + (int)LEY_GROUP_ID(0));
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE shared sm;
    exact_sum sum[LEY_EDGE];
    UNROLL for (int k = 0; k < LEY_EDGE; k++)
        sum[k].sum = sum[k].carry = 0;
    begin(&sm, gm_window);
#else
    collection sum;
    begin(&sum, gm_window);
#endif
    for (int c = 0; c < t.along_z.y; c++)
        for (int b = 0; b < t.along_y.y; b++)
            for (int a = 0; a < t.along_x.y; a++) {
                const int2 from_x = gm_sources[t.along_x.x + a], from_y = gm_sources[t.along_y.x + b],
                           from_z = gm_sources[t.along_z.x + c];
                const int bin = (from_z.x * bins.y + from_y.x) * bins.x + from_x.x;
#if LEY_WIDTH == 1
                add_bin(sum, gm_atoms, gm_corners, gm_first[bin], gm_first[bin + 1], from_x.y, from_y.y, from_z.y, &sm);
#else
                add_bin(&sum, gm_atoms, gm_corners, gm_first[bin], gm_first[bin + 1], from_x.y, from_y.y, from_z.y);
#endif
            }
#if LEY_WIDTH == 1
    store(sum, &t, gm_places, places, gm_charges);
#else
    add_staged(&sum);
    store(&sum, &t, gm_places, places, gm_charges);
#endif
}
