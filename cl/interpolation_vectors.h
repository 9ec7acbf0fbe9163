/* Interpolation by work-items that are alone: a block in local memory as a whole, in vectors along
 * x. */
#define ITEMS 1
#define VECTORS (LEY_BLOCK_X / LEY_WIDTH)

typedef struct {
    float nodes[LEY_NODES_Z * LEY_NODES_Y * LEY_NODES_X]; /* x fastest */
    real rows[LEY_NODES_Z * LEY_NODES_Y * VECTORS];       /* at points along x, nodes along y and z */
    real planes[LEY_NODES_Z * LEY_BLOCK_Y * VECTORS];     /* at points along x and y, nodes along z */
} shared;

LEY_FN void read_nodes(const block *b, LEY_LOCAL float *sm_nodes)
{
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.nodes; y++) {
            const int row = row_at(b->gm_places, b->lattice, b->along_y.node + y, b->along_z.node + z);
            LEY_LOCAL float *sm_row = sm_nodes + (z * LEY_NODES_Y + y) * LEY_NODES_X;
            for (int x = 0; x < b->along_x.nodes; x++) {
                const int at = node_of(b->gm_places, b->lattice, b->along_x.node + x, row);
                sm_row[x] = at < 0 ? 0.0f : b->gm_potentials[at];
            }
        }
}

LEY_FN void along_rows(const block *b, LEY_LOCAL const float *sm_nodes, LEY_LOCAL float *sm_rows)
{
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.nodes; y++)
            for (int x = 0; x < LEY_BLOCK_X; x++) {
                float sum = 0;
                if (x < b->along_x.count) {
                    const int point = b->along_x.first + x;
                    LEY_LOCAL const float *sm_from =
                        sm_nodes + (z * LEY_NODES_Y + y) * LEY_NODES_X + b->gm_nodes_x[point] - b->along_x.node;
                    UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                        sum += b->gm_weights_x[point * LEY_WINDOW + k] * sm_from[k];
                }
                sm_rows[(z * LEY_NODES_Y + y) * LEY_BLOCK_X + x] = sum;
            }
}

LEY_FN void along_columns(const block *b, LEY_LOCAL const real *sm_rows, LEY_LOCAL real *sm_planes)
{
    for (int z = 0; z < b->along_z.nodes; z++)
        for (int y = 0; y < b->along_y.count; y++) {
            const int point = b->along_y.first + y, from = z * LEY_NODES_Y + b->gm_nodes_y[point] - b->along_y.node;
            for (int x = 0; x < VECTORS; x++) {
                real sum = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                    sum += b->gm_weights_y[point * LEY_WINDOW + k] * sm_rows[(from + k) * VECTORS + x];
                sm_planes[(z * LEY_BLOCK_Y + y) * VECTORS + x] = sum;
            }
        }
}

LEY_FN void put_vector(const block *b, const target *t, int place, int x, real value)
{
    const float *lanes = (const float *)&value;
    for (int lane = 0; lane < LEY_WIDTH && x + lane < b->along_x.count; lane++)
        put(*t, place + t->gm_x[x + lane], lanes[lane]);
}

LEY_FN void interpolate(const block *b, const target *t, LEY_LOCAL shared *sm)
{
    read_nodes(b, sm->nodes);
    along_rows(b, sm->nodes, (LEY_LOCAL float *)sm->rows);
    along_columns(b, sm->rows, sm->planes);
    for (int z = 0; z < b->along_z.count; z++) {
        const int point = b->along_z.first + z, from = b->gm_nodes_z[point] - b->along_z.node;
        for (int y = 0; y < b->along_y.count; y++)
            for (int x = 0; x < VECTORS; x++) {
                real sum = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                    sum += b->gm_weights_z[point * LEY_WINDOW + k] *
                           sm->planes[((from + k) * LEY_BLOCK_Y + y) * VECTORS + x];
                put_vector(b, t, t->gm_y[y] + t->gm_z[z], x * LEY_WIDTH, sum);
            }
    }
}
