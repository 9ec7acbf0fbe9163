/* What one work-item of lattice.cl does alone, on CPU devices: it stages the charges of its
 * region's neighbourhood in rows, and computes its nodes row by row, a vector of them at a time. */
#ifndef LEY_LATTICE_VECTORS_H
#define LEY_LATTICE_VECTORS_H

#define ROWS (REGION_Y + 2 * LEY_RY)
#define ROW_NODES ((PLANES * PITCH + LEY_WIDTH - 1) / LEY_WIDTH * LEY_WIDTH)
#define PIECES (PITCH / LEY_CUBE)

/* In place of vloadn(), which some compilers make of many small loads. */
typedef real unaligned_real __attribute__((aligned(4)));
typedef float4 unaligned_four __attribute__((aligned(4)));
#define FOUR(p) (*(unaligned_four *)(p))

LEY_FN real load(const float *p)
{
    return *(const unaligned_real *)p;
}

/* Where four nodes along x are: their first one's place; or that there are none; or that they are
 * not together in one sub-cube. */
#define SCATTERED (LEY_NOWHERE + 1)

typedef struct {
    float staged[ROWS * ROW_NODES]; /* by row along y, plane, node along x */
    float folded[ROW_NODES];
} tile;

LEY_FN void find_pieces(const region *r, int *pieces)
{
    for (int i = 0; i < PIECES; i++) {
        const int4 at = vload4(0, r->place_x - HALO_X + i * LEY_CUBE);
        const bool together = all(at == at.x + (int4)(0, 1, 2, 3)) && at.x % LEY_CUBE == 0;
        pieces[i] = all(at < 0) ? LEY_NOWHERE : together ? at.x : SCATTERED;
    }
}

LEY_FN float4 charges_of(const region *r, int piece, int i, int place_yz)
{
    __global const int *place_x = r->place_x - HALO_X + i * LEY_CUBE;
    if (piece == SCATTERED)
        return (float4)(charge_at(r->charges, place_x[0], place_yz), charge_at(r->charges, place_x[1], place_yz),
                        charge_at(r->charges, place_x[2], place_yz), charge_at(r->charges, place_x[3], place_yz));
    return piece + place_yz >= 0 ? *(__global const unaligned_four *)(r->charges + piece + place_yz) : (float4)0;
}

LEY_FN void stage(const region *r, tile *t)
{
    int pieces[PIECES];
    find_pieces(r, pieces);
    for (int y = 0; y < ROWS; y++)
        for (int p = 0; p < PLANES; p++) {
            const int place_yz = r->place_y[y - LEY_RY] + r->place_z[p - DEPTH];
            float *row = t->staged + y * ROW_NODES + p * PITCH;
            for (int i = 0; i < PIECES; i++)
                FOUR(row + i * LEY_CUBE) = charges_of(r, pieces[i], i, place_yz);
        }
}

/* Rows dy above and below row y of the region, added up. */
LEY_FN void fold(tile *t, int y, int dy)
{
    const float *upper = t->staged + (y + LEY_RY + dy) * ROW_NODES;
#if LEY_MIRRORED
    const float *lower = t->staged + (y + LEY_RY - dy) * ROW_NODES;
    for (int i = 0; i < ROW_NODES; i += LEY_WIDTH)
        *(unaligned_real *)(t->folded + i) = load(upper + i) + load(lower + i);
#else
    for (int i = 0; i < ROW_NODES; i += LEY_WIDTH)
        *(unaligned_real *)(t->folded + i) = load(upper + i);
#endif
}

#if LEY_MIRRORED
#define CHARGES_AT(at) (load(right + (at)) + load(left + (at)))
#else
#define CHARGES_AT(at) load(right + (at))
#endif

/* One plane of charges, for the nodes in planes [first_z, end_z) of the region. */
#define ADD_PLANE(at, w, first_z, end_z) \
    UNROLL for (int u = 0; u < LEY_UX; u++) { \
        const real charge = CHARGES_AT((at) + u * LEY_WIDTH); \
        UNROLL for (int z = (first_z); z < (end_z); z++) \
            sum[z * LEY_UX + u] += (w)[-z] * charge; \
    }

/* Adds the columns at dx (and -dx) to the sums, from `reach` planes before the first node's row on:
 * planes that not all of the nodes have in reach, those that all have, and again not all. */
LEY_FN void add_columns(sums *s, const float *first, int dx, CONSTANT_SPACE const float *column, int reach)
{
    const float *right = first + dx - reach * PITCH, *left = first - dx - reach * PITCH;
    CONSTANT_SPACE const float *w = column + DEPTH - reach;
    const int both = 2 * reach + 1;
    real sum[NODES];
    UNROLL for (int k = 0; k < NODES; k++)
        sum[k] = s->sum[k];
    UNROLL for (int p = 0; p < LEY_UZ - 1; p++)
        ADD_PLANE(p * PITCH, w + p, 0, p + 1)
    for (int p = LEY_UZ - 1; p < both; p++)
        ADD_PLANE(p * PITCH, w + p, 0, LEY_UZ)
    right += both * PITCH;
    left += both * PITCH;
    UNROLL for (int p = 0; p < LEY_UZ - 1; p++)
        ADD_PLANE(p * PITCH, w + both + p, p + 1, LEY_UZ)
    UNROLL for (int k = 0; k < NODES; k++)
        s->sum[k] = sum[k];
}

LEY_FN void sum_row(sums *s, tile *t, int y, CONSTANT_SPACE const float *weights)
{
    for (int dy = FIRST_Y; dy <= LEY_RY; dy++) {
        const int extent = (int)weights[dy - FIRST_Y];
        fold(t, y, dy);
        for (int dx = LEY_MIRRORED ? 0 : -extent; dx <= extent; dx++) {
            CONSTANT_SPACE const float *column = COLUMN_AT(weights, dx, dy);
            add_columns(s, t->folded + DEPTH * PITCH + HALO_X, dx, column, (int)column[COLUMN - 1]);
        }
        end_part(s);
    }
}

LEY_FN void store(const sums *s, const region *r, int y)
{
    for (int k = 0; k < NODES; k++) {
        float lanes[LEY_WIDTH];
        *(unaligned_real *)lanes = result(s, k) * r->scale;
        for (int lane = 0; lane < LEY_WIDTH; lane += LEY_CUBE) {
            __global float *gm_nodes = place_of(r, r->x + k % LEY_UX * STRIDE_X + lane, r->y + y, r->z + k / LEY_UX);
            if (gm_nodes != 0)
                *(__global unaligned_four *)gm_nodes = FOUR(lanes + lane);
        }
    }
}

#endif
