/* Interpolation by work-items that are alone: a block in local memory as a whole, in vectors along
 * x. There, what a node gives to a vector's points is a vector as well, with zeros where its window
 * ends: fewer operations than point by point, as neighbours share most of their nodes. */
#define ITEMS 1
#define VECTORS (LEY_BLOCK_X / LEY_WIDTH)

typedef struct {
    real shares[LEY_NODES_X * VECTORS];                   /* of each of x's nodes in the block's points along x */
    float nodes[LEY_NODES_Z * LEY_NODES_Y * LEY_NODES_X]; /* x fastest */
    real rows[LEY_NODES_Z * LEY_NODES_Y * VECTORS];       /* at points along x, nodes along y and z */
    real planes[LEY_NODES_Z * LEY_BLOCK_Y * VECTORS];     /* at points along x and y, nodes along z */
} shared;

LEY_FN void find_shares(const block *b, LEY_LOCAL float *sm_shares)
{
    for (int i = 0; i < b->along_x.nodes * LEY_BLOCK_X; i++)
        sm_shares[i] = 0;
    for (int x = 0; x < b->along_x.count; x++) {
        const int point = b->along_x.first + x, node = b->gm_nodes_x[point] - b->along_x.node;
        for (int k = 0; k < LEY_WINDOW; k++)
            sm_shares[(node + k) * LEY_BLOCK_X + x] = b->gm_weights_x[point * LEY_WINDOW + k];
    }
}

/* Whether coordinates from the first one on are next to each other in memory. */
LEY_FN bool are_together(LEY_GLOBAL const int *gm_first, int count)
{
    return gm_first[0] >= 0 && gm_first[count - 1] - gm_first[0] == count - 1;
}

LEY_FN void read_nodes(const block *b, LEY_LOCAL float *sm_nodes)
{
    LEY_GLOBAL const int *gm_x = b->gm_places + b->lattice.x + b->along_x.node;
    const bool together = are_together(gm_x, b->along_x.nodes);
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.nodes; y++) {
            const int row = row_at(b->gm_places, b->lattice, b->along_y.node + y, b->along_z.node + z);
            LEY_LOCAL float *sm_row = sm_nodes + (z * LEY_NODES_Y + y) * LEY_NODES_X;
            if (together && row >= 0) {
                LEY_GLOBAL const float *gm_row = b->gm_potentials + (gm_x[0] + row + b->lattice.w);
                for (int x = 0; x < b->along_x.nodes; x++)
                    sm_row[x] = gm_row[x];
            } else {
                for (int x = 0; x < b->along_x.nodes; x++) {
                    const int at = gm_x[x] + row;
                    sm_row[x] = at < 0 ? 0.0f : b->gm_potentials[at + b->lattice.w];
                }
            }
        }
}

LEY_FN void along_rows(const block *b, LEY_LOCAL const shared *sm, LEY_LOCAL real *sm_rows)
{
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.nodes; y++) {
            const int row = z * LEY_NODES_Y + y;
            for (int v = 0; v < VECTORS; v++) {
                real sum = 0;
                for (int x = 0; x < b->along_x.nodes; x++)
                    sum += sm->nodes[row * LEY_NODES_X + x] * sm->shares[x * VECTORS + v];
                sm_rows[row * VECTORS + v] = sum;
            }
        }
}

LEY_FN void along_columns(const block *b, LEY_LOCAL const real *sm_rows, LEY_LOCAL real *sm_planes)
{
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.count; y++) {
            const int point = b->along_y.first + y, from = z * LEY_NODES_Y + b->gm_nodes_y[point] - b->along_y.node;
            for (int v = 0; v < VECTORS; v++) {
                real sum = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                    sum += b->gm_weights_y[point * LEY_WINDOW + k] * sm_rows[(from + k) * VECTORS + v];
                sm_planes[(z * LEY_BLOCK_Y + y) * VECTORS + v] = sum;
            }
        }
}

/* Maps are stored in rows, or in sub-cubes of eight points a row. */
#if LEY_WIDTH < 8
#define PART LEY_WIDTH
#else
#define PART 8
#endif
typedef LEY_PASTE(float, PART) part __attribute__((aligned(4)));

LEY_FN void put_vector(const block *b, const target *t, int place, int x, real value)
{
    const float *lanes = (const float *)&value;
    for (int first = 0; first < LEY_WIDTH && x + first < b->along_x.count; first += PART) {
        LEY_GLOBAL const int *gm_x = t->gm_x + x + first;
        if (x + first + PART <= b->along_x.count && are_together(gm_x, PART)) {
            LEY_GLOBAL part *gm_part = (LEY_GLOBAL part *)(t->gm_phi + (t->before + place + gm_x[0]));
            const part values = *(const part *)(lanes + first);
            *gm_part = t->accumulate ? *gm_part + values : values;
        } else {
            for (int lane = 0; lane < PART && x + first + lane < b->along_x.count; lane++)
                put(*t, place + gm_x[lane], lanes[first + lane]);
        }
    }
}

LEY_FN void interpolate(const block *b, const target *t, LEY_LOCAL shared *sm)
{
    find_shares(b, (LEY_LOCAL float *)sm->shares);
    read_nodes(b, sm->nodes);
    along_rows(b, sm, sm->rows);
    along_columns(b, sm->rows, sm->planes);
    for (int z = 0; z < b->along_z.count; z++) {
        const int point = b->along_z.first + z, from = b->gm_nodes_z[point] - b->along_z.node;
        for (int y = 0; y < b->along_y.count; y++)
            for (int v = 0; v < VECTORS; v++) {
                real sum = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                    sum += b->gm_weights_z[point * LEY_WINDOW + k] *
                           sm->planes[((from + k) * LEY_BLOCK_Y + y) * VECTORS + v];
                put_vector(b, t, t->gm_y[y] + t->gm_z[z], v * LEY_WIDTH, sum);
            }
    }
}
