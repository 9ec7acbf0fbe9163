/* A work-item's block, for processors: planes of rows of the whole grid along x. The atoms of a
 * cell are staged, some at a time, as what their density is along x, times their weight, along y
 * and along z; those that reach a plane are added to rows of it, which stay in registers, as
 * vectors of LEY_WIDTH nodes along x, until all are. On grids that are oblique each atom is added
 * to the rows that it reaches. */
#ifndef LEY_ATOM_DENSITY_VECTORS_H
#define LEY_ATOM_DENSITY_VECTORS_H

#define STAGED 32 /* atoms: bits of a plane, which say which of them reach it */
#define PLANES 16 /* at a time, and rows of each: a window of cells at a common resolution */
#define ROWS 12
#define PITCH 16 /* of an atom's numbers along y and z */
#define lane_bits LEY_PASTE(int, LEY_WIDTH)
#define STORE(value, to) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, to)

/* Nodes [first, end) along each axis: those of a block, or those that a cell's atoms may reach. */
typedef struct node_range {
    int4 first, end;
} node_range;

LEY_FN real density_along(real way, float product, float fall, float limit)
{
    const real square = fall * way * way;
    return select((real)0, ley_exp2(-product * square), square <= (real)limit);
}

#if LEY_OBLIQUE
/* At most STAGED atoms of a cell. */
LEY_FN void add_cell(LEY_GLOBAL const float4 *gm_atoms, LEY_GLOBAL const float *gm_falls, int count,
                     const node_range *window, const node_range *block, int4 nodes, sixteen numbers,
                     LEY_GLOBAL float *gm_rho)
{
    for (int a = 0; a < count; a++) {
#if LEY_VARIED
        const float fall = gm_falls[a];
#else
        const float fall = numbers.s9;
#endif
        const float4 at = gm_atoms[a], reach = sqrt((float4)(numbers.s6, numbers.s7, numbers.s8, 0) / fall);
        const int4 first = max(convert_int4(ceil(at - reach)), block->first),
                   end = min(convert_int4(floor(at + reach)) + 1, block->end);
        for (int z = first.z; z < end.z; z++)
            for (int y = first.y; y < end.y; y++)
                for (int x = first.x / LEY_WIDTH * LEY_WIDTH; x < end.x; x += LEY_WIDTH) {
                    LEY_GLOBAL float *gm_to = gm_rho + ((size_t)z * nodes.y + y) * nodes.x + x;
                    const float dy = y - at.y, dz = z - at.z,
                                yz = numbers.s1 * dy * dy + numbers.s2 * dz * dz + numbers.s5 * dy * dz;
                    const real dx = LEY_LANES + (x - at.x);
                    const real square_A2 = yz + dx * (numbers.s0 * dx + (numbers.s3 * dy + numbers.s4 * dz));
                    STORE(LEY_LOAD(gm_to) + select((real)0, at.w * ley_exp2(-fall * square_A2),
                                                   fall * dx * dx <= (real)numbers.s6),
                          gm_to);
                }
    }
}
#else
/* What the atoms of a cell add to rows of a plane: `left` says which of them do. */
LEY_FN void add_rows(uint left, const real *along_x, const float *along_y, const float *along_z,
                     const node_range *block, int y, size_t pitch, LEY_GLOBAL float *gm_plane)
{
    real rows[ROWS];
    UNROLL for (int j = 0; j < ROWS; j++)
        rows[j] = 0;
    for (; left != 0; left &= left - 1) {
        const int a = LEY_LOWEST_BIT(left);
        const real xz = along_z[a * PITCH] * along_x[a];
        UNROLL for (int j = 0; j < ROWS; j++)
            rows[j] += along_y[a * PITCH + j] * xz;
    }
    UNROLL for (int j = 0; j < ROWS; j++)
        if (y + j >= block->first.y && y + j < block->end.y)
            STORE(LEY_LOAD(gm_plane + (y + j) * pitch) + rows[j], gm_plane + (y + j) * pitch);
}

/* At most STAGED atoms of a cell. */
LEY_FN void add_cell(LEY_GLOBAL const float4 *gm_atoms, LEY_GLOBAL const float *gm_falls, int count,
                     const node_range *window, const node_range *block, int4 nodes, sixteen numbers,
                     LEY_GLOBAL float *gm_rho)
{
    real along_x[STAGED];
    float along_y[STAGED * PITCH], along_z[STAGED * PITCH], fall[STAGED];
    int reached[PLANES];
    for (int a = 0; a < count; a++)
#if LEY_VARIED
        fall[a] = gm_falls[a];
#else
        fall[a] = numbers.s9;
#endif
    for (int z = window->first.z; z < window->end.z; z += PLANES) {
        for (int lanes = 0; lanes < PLANES; lanes += LEY_WIDTH) {
            lane_bits bits = 0;
            for (int a = 0; a < count; a++) {
                const real along =
                    density_along(LEY_LANES + (z + lanes - gm_atoms[a].z), numbers.s2, fall[a], numbers.s8);
                STORE(along, along_z + a * PITCH + lanes);
                bits |= (along != 0) & (lane_bits)(1 << a);
            }
            STORE(bits, reached + lanes);
        }
        for (int y = window->first.y; y < window->end.y; y += ROWS) {
            for (int a = 0; a < count; a++)
                for (int lanes = 0; lanes < ROWS; lanes += LEY_WIDTH)
                    STORE(density_along(LEY_LANES + (y + lanes - gm_atoms[a].y), numbers.s1, fall[a], numbers.s7),
                          along_y + a * PITCH + lanes);
            for (int x = window->first.x; x < window->end.x; x += LEY_WIDTH) {
                const int from = min(max(x, 0), nodes.x - LEY_WIDTH);
                const real node = LEY_LANES + (float)from;
                for (int a = 0; a < count; a++)
                    along_x[a] = select((real)0,
                                        gm_atoms[a].w * density_along(node - gm_atoms[a].x, numbers.s0, fall[a],
                                                                      numbers.s6),
                                        node >= (real)x && node < (real)(x + LEY_WIDTH));
                for (int k = max(block->first.z - z, 0); k < min(block->end.z - z, PLANES); k++)
                    if (reached[k] != 0)
                        add_rows((uint)reached[k], along_x, along_y, along_z + k, block, y, nodes.x,
                                 gm_rho + (size_t)(z + k) * nodes.y * nodes.x + from);
            }
        }
    }
}
#endif

#if LEY_SETS
LEY_FN void sum_brick(LEY_GLOBAL const float *gm_rho, LEY_GLOBAL const float *gm_map, LEY_GLOBAL const float *gm_mask,
                      float threshold, size_t first, int4 nodes, LEY_GLOBAL float *gm_to)
{
    real sums[SUMS];
    for (int k = 0; k < SUMS; k++)
        sums[k] = 0;
    for (int k = 0; k < BRICK * BRICK; k++) {
        const size_t node = first + ((size_t)(k / BRICK) * nodes.y + k % BRICK) * nodes.x;
        add_nodes(LEY_LOAD(gm_rho + node), LEY_LOAD(gm_map + node), MASK_AT(node), threshold, sums);
    }
    for (int k = 0; k < SUMS; k++)
        gm_to[k] = SUM_OF_LANES(sums[k]);
}
#endif

#endif
