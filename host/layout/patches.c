#include "layout/patches.h"

/* Whether the block of a face leaves out its first node along a and b, rather than the last. */
static const struct {
    int a, b;
} turns[LEY_FACE_COUNT] = {{1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 0}, {0, 1}};

void patches_of(const ley_grid *grid, patch patches[PATCH_COUNT])
{
    const int64_t *n = grid->n;
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        int a, b;
        boundary_face_axes(face, &a, &b);
        patches[face] = (patch){face, turns[face].a, n[a] - 1, turns[face].b, n[b] - 1};
    }
    patches[LEY_FACE_COUNT] = (patch){0, 0, 1, 0, 1};
    patches[LEY_FACE_COUNT + 1] = (patch){1, n[1] - 1, 1, n[2] - 1, 1};
}

int64_t patches_rows(const ley_grid *grid)
{
    patch patches[PATCH_COUNT];
    int64_t rows = 0;
    patches_of(grid, patches);
    for (int i = 0; i < PATCH_COUNT; i++)
        rows += patches[i].n_b;
    return rows;
}

int64_t patches_nodes(const ley_grid *grid)
{
    const int64_t x = grid->n[0] - 1, y = grid->n[1] - 1, z = grid->n[2] - 1;
    return 2 * (x * y + y * z + z * x) + 2;
}

static bool has(const patch *p, int64_t a, int64_t b)
{
    return a >= p->first_a && a < p->first_a + p->n_a && b >= p->first_b && b < p->first_b + p->n_b;
}

/* Index of the value that a patch holds for a node. */
static int64_t owned(const ley_boundary *boundary, const patch patches[PATCH_COUNT], const int64_t node[3])
{
    const int64_t *n = boundary->grid.n;
    for (int i = 0; i < PATCH_COUNT; i++) {
        int a, b;
        const int face = patches[i].face;
        boundary_face_axes(face, &a, &b);
        if (node[face / 2] == (face % 2 == 0 ? 0 : n[face / 2] - 1) && has(&patches[i], node[a], node[b]))
            return boundary->face[face] + node[b] * n[a] + node[a];
    }
    return -1;
}

void patches_share_edges(ley_boundary *boundary)
{
    patch patches[PATCH_COUNT];
    patches_of(&boundary->grid, patches);
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        int a, b;
        boundary_face_axes(face, &a, &b);
        const int64_t n_a = boundary->grid.n[a], n_b = boundary->grid.n[b];
        for (int64_t j = 0; j < n_b; j++)
            for (int64_t i = 0; i < n_a; i += j == 0 || j == n_b - 1 ? 1 : n_a - 1) {
                const int64_t at = boundary->face[face] + j * n_a + i;
                int64_t node[3];
                if (!has(&patches[face], i, j) && boundary_node(boundary, at, node))
                    boundary->value[at] = boundary->value[owned(boundary, patches, node)];
            }
    }
}
