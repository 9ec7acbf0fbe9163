/* Interpolation by work-groups: a work-item has a column of points along z. The group goes through
 * the block's planes of nodes from the lowest one up. Each plane is read into local memory, where
 * its rows are interpolated along x; from there every work-item interpolates along y for its own
 * column, and keeps what the last LEY_WINDOW planes gave in registers. Once a point has all of its
 * planes, it takes them from there: local memory holds two planes, however high the block is, and
 * one barrier a plane is enough, as what is written goes to the one that nobody reads. */
#define ITEMS (LEY_BLOCK_X * LEY_BLOCK_Y)
#define NODES (LEY_NODES_X * LEY_NODES_Y)
#define NODES_EACH ((NODES + ITEMS - 1) / ITEMS)
#define ROWS_OF_SET (LEY_NODES_Y * LEY_BLOCK_X)
#define ROWS_EACH ((LEY_NODES_Y + LEY_BLOCK_Y - 1) / LEY_BLOCK_Y)

typedef struct {
    float nodes[2][NODES];                    /* of a plane, x fastest */
    float rows[2][WEIGHT_SETS * ROWS_OF_SET]; /* at points along x, nodes along y */
} shared;

/* A work-item's weights along an axis of its column, and the block's node that the first one is
 * for. Columns behind the map are those at its end once more. */
typedef struct {
    float weight[WEIGHT_SETS][LEY_WINDOW];
    int node;
} share;

LEY_FN share share_of(LEY_GLOBAL const int *gm_nodes, LEY_GLOBAL const float *gm_weights, stretch along, int coordinate)
{
    const int point = along.first + min(coordinate, along.count - 1);
    share made;
    FOR_WEIGHT_SETS(s)
        UNROLL for (int k = 0; k < LEY_WINDOW; k++)
            made.weight[s][k] = weights_of(gm_weights, LEY_WINDOW, point, s)[k];
    made.node = gm_nodes[point] - along.node;
    return made;
}

/* The nodes of a plane that a work-item reads: what each one's two coordinates add to its number;
 * negative: there is none. */
typedef struct {
    int place[NODES_EACH];
} nodes_read;

LEY_FN nodes_read find_nodes(const block *b, int item)
{
    nodes_read r;
    UNROLL for (int i = 0; i < NODES_EACH; i++) {
        const int node = item + i * ITEMS, x = node % LEY_NODES_X, y = node / LEY_NODES_X;
        r.place[i] = column_at(b, x, y);
    }
    return r;
}

/* A plane's potentials on their way: read before the plane below is interpolated, and put into
 * local memory after that, so that nobody waits for them. */
typedef struct {
    float potential[NODES_EACH];
} nodes_under_way;

LEY_FN nodes_under_way read_plane(const block *b, LEY_REFERENCE(nodes_read) r, int plane)
{
    const int place_z = plane_at(b, plane);
    nodes_under_way n;
    UNROLL for (int i = 0; i < NODES_EACH; i++)
        n.potential[i] = potential_at(b, r.place[i], place_z);
    return n;
}

LEY_FN void put_plane(LEY_REFERENCE(nodes_under_way) n, int item, LEY_LOCAL float *sm_nodes)
{
    UNROLL for (int i = 0; i < NODES_EACH; i++)
        if (item + i * ITEMS < NODES)
            sm_nodes[item + i * ITEMS] = n.potential[i];
}

/* The work-item's points of a plane's rows: at its x, of every LEY_BLOCK_Y-th row. */
LEY_FN void along_rows(const block *b, LEY_REFERENCE(share) of_x, int item, LEY_LOCAL const float *sm_nodes,
                       LEY_LOCAL float *sm_rows)
{
    UNROLL for (int i = 0; i < ROWS_EACH; i++) {
        const int row = item / LEY_BLOCK_X + i * LEY_BLOCK_Y;
        if (row < b->along_y.nodes) {
            float sum[WEIGHT_SETS];
            FOR_WEIGHT_SETS(s)
                sum[s] = 0;
            UNROLL for (int k = 0; k < LEY_WINDOW; k++) {
                const float node = sm_nodes[row * LEY_NODES_X + of_x.node + k];
                FOR_WEIGHT_SETS(s)
                    sum[s] += of_x.weight[s][k] * node;
            }
            FOR_WEIGHT_SETS(s)
                sm_rows[s * ROWS_OF_SET + row * LEY_BLOCK_X + item % LEY_BLOCK_X] = sum[s];
        }
    }
}

/* A set of the last plane. */
LEY_FN float along_column(LEY_REFERENCE(share) of_y, int x, int set, LEY_LOCAL const float *sm_rows)
{
    float sum = 0;
    UNROLL for (int k = 0; k < LEY_WINDOW; k++)
        sum += of_y.weight[set == 2][k] * sm_rows[(set == 1) * ROWS_OF_SET + (of_y.node + k) * LEY_BLOCK_X + x];
    return sum;
}

LEY_FN void interpolate(const block *b, const target *t, LEY_LOCAL shared *sm)
{
    const int item = (int)LEY_LOCAL_ID(0), x = item % LEY_BLOCK_X, y = item / LEY_BLOCK_X;
    const bool is_inside = x < b->along_x.count && y < b->along_y.count;
    const int place = is_inside ? t->gm_x[x] + t->gm_y[y] : 0;
    const share of_x = share_of(b->gm_nodes_x, b->gm_weights_x, b->along_x, x),
                of_y = share_of(b->gm_nodes_y, b->gm_weights_y, b->along_y, y);
    const nodes_read reads = find_nodes(b, item);
    float kept[PLANE_SETS][LEY_WINDOW]; /* of the last planes, at the column */
    FOR_PLANE_SETS(p)
        UNROLL for (int k = 0; k < LEY_WINDOW; k++)
            kept[p][k] = 0;
    nodes_under_way next = read_plane(b, reads, 0);
    put_plane(next, item, sm->nodes[0]);
    LEY_BARRIER();
    for (int plane = 0, z = 0; plane < b->along_z.nodes; plane++) {
        const int now = plane % 2;
        if (plane + 1 < b->along_z.nodes)
            next = read_plane(b, reads, plane + 1);
        along_rows(b, of_x, item, sm->nodes[now], sm->rows[now]);
        put_plane(next, item, sm->nodes[1 - now]);
        LEY_BARRIER();
        FOR_PLANE_SETS(p) {
            UNROLL for (int k = 0; k + 1 < LEY_WINDOW; k++)
                kept[p][k] = kept[p][k + 1];
            kept[p][LEY_WINDOW - 1] = along_column(of_y, x, p, sm->rows[now]);
        }
        for (; z < b->along_z.count; z++) {
            const int point = b->along_z.first + z;
            if (b->gm_nodes_z[point] - b->along_z.node + LEY_WINDOW - 1 > plane)
                break;
            float sum[LEY_COMPONENTS(LEY_FIELD)];
            UNROLL for (int c = 0; c < LEY_COMPONENTS(LEY_FIELD); c++) {
                LEY_GLOBAL const float *gm_weights = weights_of(b->gm_weights_z, LEY_WINDOW, point, Z_SET_OF(c));
                sum[c] = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++)
                    sum[c] += gm_weights[k] * kept[PLANE_SET_OF(c)][k];
            }
#if LEY_OBLIQUE
            sum[1] += t->shear.x * sum[2] + t->shear.y * sum[3];
            sum[2] += t->shear.z * sum[3];
#endif
            UNROLL for (int c = 0; c < LEY_COMPONENTS(LEY_FIELD); c++)
                if (is_inside)
                    put(*t, c, place + t->gm_z[z], sum[c]);
        }
    }
}
