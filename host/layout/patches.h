/* The nodes of a grid's six faces, each once. Edges belong to several faces; turned like a
 * pinwheel, blocks of (n_a - 1) x (n_b - 1) nodes, one per face, cover all but two opposite
 * corners, which are blocks of their own. So a node is computed once, and of 2^k + 1 nodes along an
 * edge, as multigrid has them, every block has 2^k. */
#ifndef LEY_PATCHES_H
#define LEY_PATCHES_H

#include "target/boundary.h"

/* Nodes first_a .. first_a + n_a - 1 along the face's lower-numbered axis, in rows first_b .. along
 * the other one. */
typedef struct patch {
    int face;
    int64_t first_a, n_a, first_b, n_b;
} patch;

enum { PATCH_COUNT = LEY_FACE_COUNT + 2 };

void patches_of(const ley_grid *grid, patch patches[PATCH_COUNT]);

/* Rows and nodes of all patches: the nodes are those of the surface, each once. */
int64_t patches_rows(const ley_grid *grid);
int64_t patches_nodes(const ley_grid *grid);

/* Copies the values on edges and corners from the face whose patch has them to the others. */
void patches_share_edges(ley_boundary *boundary);

#endif
