/* Interpolation by work-items that are alone: each goes through its block's planes of nodes, of
 * which it has the last ones in local memory, at points along x and y. Along x, what a node gives
 * to a vector's points is a vector as well, with zeros where its window ends: fewer operations than
 * point by point, as neighbours share most of their nodes; and several rows of nodes go together,
 * so that no sum waits for itself. */
#define ITEMS 1
#define VECTORS (LEY_BLOCK_X / LEY_WIDTH)
#define ROWS LEY_INTERPOLATION_ROWS
#define PLANES_OF_SET (LEY_WINDOW * LEY_BLOCK_Y * VECTORS)

typedef struct {
    real shares[WEIGHT_SETS * LEY_NODES_X * VECTORS]; /* of each of x's nodes in the block's points along x */
    float nodes[ROWS * LEY_NODES_X];                  /* x fastest */
    real rows[WEIGHT_SETS * LEY_NODES_Y * VECTORS];   /* of a plane of nodes: at points along x, nodes along y */
    real planes[PLANE_SETS * PLANES_OF_SET]; /* at points along x and y: node z's in place z % LEY_WINDOW */
} shared;

LEY_FN void find_shares(const block *b, int set, LEY_LOCAL float *sm_shares)
{
    for (int i = 0; i < b->along_x.nodes * LEY_BLOCK_X; i++)
        sm_shares[i] = 0;
    for (int x = 0; x < b->along_x.count; x++) {
        const int point = b->along_x.first + x, node = b->gm_nodes_x[point] - b->along_x.node;
        for (int k = 0; k < LEY_WINDOW; k++)
            sm_shares[(node + k) * LEY_BLOCK_X + x] = weights_of(b->gm_weights_x, LEY_WINDOW, point, set)[k];
    }
}

LEY_FN void find_bands(const block *b, int2 bands[VECTORS])
{
    LEY_GLOBAL const int *gm_nodes = b->gm_nodes_x + b->along_x.first;
    for (int v = 0; v < VECTORS; v++) {
        const int first = min(v * LEY_WIDTH, b->along_x.count - 1),
                  last = min(v * LEY_WIDTH + LEY_WIDTH, b->along_x.count) - 1;
        bands[v].x = gm_nodes[first] - b->along_x.node;
        bands[v].y = gm_nodes[last] + LEY_WINDOW - b->along_x.node;
    }
}

/* Whether coordinates from the first one on are next to each other in memory. */
LEY_FN bool are_together(LEY_GLOBAL const int *gm_first, int count)
{
    return gm_first[0] >= 0 && gm_first[count - 1] - gm_first[0] == count - 1;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Some nodes of a row, no more than a window has. */
#if LEY_WINDOW < 8
#define STRETCH 4
#else
#define STRETCH 8
#endif
typedef LEY_PASTE(float, STRETCH) some_nodes __attribute__((aligned(4)));

/* The row's last stretch may overlap the one before. */
LEY_FN void read_row(const block *b, bool together, int y, int z, LEY_LOCAL float *sm_row)
{
    LEY_GLOBAL const int *gm_x = b->gm_places + b->mesh.x + b->along_x.node;
    const node_number row = row_at(b->gm_places, b->mesh, b->along_y.node + y, b->along_z.node + z);
    const int nodes = b->along_x.nodes;
    if (together && row >= 0) {
        LEY_GLOBAL const float *gm_row = b->gm_potentials + (gm_x[0] + row + nodes_before(b->mesh));
        for (int x = 0; x < nodes; x += STRETCH) {
            const int from = min(x, nodes - STRETCH);
            *(LEY_LOCAL some_nodes *)(sm_row + from) = *(LEY_GLOBAL const some_nodes *)(gm_row + from);
        }
    } else {
        for (int x = 0; x < nodes; x++) {
            const node_number at = node_in_row(gm_x[x], row);
            sm_row[x] = at < 0 ? 0.0f : b->gm_potentials[at + nodes_before(b->mesh)];
        }
    }
}

/* ROWS rows of nodes from sm_nodes on, each at the block's points along x. `bands` are the nodes
 * that have a part in each of their vectors: the first one and the end. */
LEY_FN void interpolate_rows(LEY_LOCAL const float *sm_nodes, LEY_LOCAL const real *sm_shares,
                             const int2 bands[VECTORS], LEY_LOCAL real *sm_rows)
{
    for (int v = 0; v < VECTORS; v++) {
        const int end = bands[v].y;
        real sum[ROWS];
        UNROLL for (int row = 0; row < ROWS; row++) sum[row] = 0;
        for (int x = bands[v].x; x < end; x++) {
            const real share = sm_shares[x * VECTORS + v];
            UNROLL for (int row = 0; row < ROWS; row++) sum[row] += sm_nodes[row * LEY_NODES_X + x] * share;
        }
        UNROLL for (int row = 0; row < ROWS; row++) sm_rows[row * VECTORS + v] = sum[row];
    }
}

/* Plane z of the block's nodes, at its points along x and y. */
LEY_FN void make_plane(const block *b, bool together, const int2 bands[VECTORS], int z, LEY_LOCAL shared *sm)
{
    const int nodes_y = b->along_y.nodes, count = b->along_y.count;
    for (int y = 0; y < nodes_y; y += ROWS) {
        for (int row = 0; row < ROWS; row++)
            read_row(b, together, min(y + row, nodes_y - 1), z, sm->nodes + row * LEY_NODES_X);
        FOR_WEIGHT_SETS(s)
            interpolate_rows(sm->nodes, sm->shares + s * (LEY_NODES_X * VECTORS), bands,
                             sm->rows + s * (LEY_NODES_Y * VECTORS) + y * VECTORS);
    }
    LEY_GLOBAL const int *gm_nodes = b->gm_nodes_y + b->along_y.first;
    FOR_PLANE_SETS(p) {
        LEY_LOCAL const real *sm_set = sm->rows + (p == 1) * (LEY_NODES_Y * VECTORS);
        LEY_LOCAL real *sm_plane = sm->planes + p * PLANES_OF_SET + z % LEY_WINDOW * (LEY_BLOCK_Y * VECTORS);
        for (int y = 0; y < count; y++) {
            LEY_GLOBAL const float *gm_weights =
                weights_of(b->gm_weights_y, LEY_WINDOW, b->along_y.first + y, p == 2);
            LEY_LOCAL const real *sm_rows = sm_set + (gm_nodes[y] - b->along_y.node) * VECTORS;
            for (int v = 0; v < VECTORS; v++) {
                real sum = 0;
                UNROLL for (int k = 0; k < LEY_WINDOW; k++) sum += gm_weights[k] * sm_rows[k * VECTORS + v];
                sm_plane[y * VECTORS + v] = sum;
            }
        }
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Maps are stored in rows, or in sub-cubes of eight points a row. */
#if LEY_WIDTH < 8
#define PART LEY_WIDTH
#else
#define PART 8
#endif
#define PARTS (LEY_BLOCK_X / PART)
typedef LEY_PASTE(float, PART) part __attribute__((aligned(4)));

LEY_FN void put_part(LEY_GLOBAL float *gm_phi, part value, int accumulate)
{
    LEY_GLOBAL part *gm_part = (LEY_GLOBAL part *)gm_phi;
    *gm_part = accumulate ? *gm_part + value : value;
}

LEY_FN void put_lanes(const block *b, const target *t, int component, int place, int x, real value)
{
    const float *lanes = (const float *)&value;
    for (int lane = 0; lane < LEY_WIDTH && x + lane < b->along_x.count; lane++)
        put(*t, component, place + t->gm_x[x + lane], lanes[lane]);
}

/* Where the parts of a row of points are; false: there are not so many, or some are apart. */
LEY_FN bool find_parts(const block *b, const target *t, int places[PARTS])
{
    bool are_whole = b->along_x.count == LEY_BLOCK_X;
    for (int i = 0; i < PARTS && are_whole; i++) {
        are_whole = are_together(t->gm_x + i * PART, PART);
        places[i] = t->before + t->gm_x[i * PART];
    }
    return are_whole;
}

/* What planes of nodes, from these vectors on, give to points of plane z. */
LEY_FN real sum_planes(const float weight[LEY_WINDOW], LEY_LOCAL const real *const sm_plane[LEY_WINDOW], int vector)
{
    real sum = 0;
    UNROLL for (int k = 0; k < LEY_WINDOW; k++) sum += weight[k] * sm_plane[k][vector];
    return sum;
}

/* A component at the block's points of plane z, whose nodes begin with `from`. */
LEY_FN void put_plane(const block *b, const target *t, int component, const int parts[PARTS], bool are_whole, int z,
                      int from, LEY_LOCAL const real *sm_planes)
{
    LEY_GLOBAL const int *gm_y = t->gm_y;
    LEY_GLOBAL float *gm_phi = t->gm_phi + (LEY_FIELD ? component * t->component : 0);
    const int place = t->gm_z[z], count = b->along_y.count, accumulate = t->accumulate,
              set = PLANE_SET_OF(component) * PLANES_OF_SET;
    float weight[WEIGHT_SETS][LEY_WINDOW];
    LEY_LOCAL const real *sm_plane[LEY_WINDOW];
    UNROLL for (int k = 0; k < LEY_WINDOW; k++) {
        FOR_WEIGHT_SETS(s)
            weight[s][k] = weights_of(b->gm_weights_z, LEY_WINDOW, b->along_z.first + z, s)[k];
        sm_plane[k] = sm_planes + (from + k) % LEY_WINDOW * (LEY_BLOCK_Y * VECTORS);
    }
    for (int y = 0; y < count; y++)
        for (int v = 0; v < VECTORS; v++) {
            const int row = place + gm_y[y], at = y * VECTORS + v;
            real sum = sum_planes(weight[Z_SET_OF(component)], sm_plane, set + at);
#if LEY_OBLIQUE
            if (component == 1)
                sum += t->shear.x * sum_planes(weight[0], sm_plane, 2 * PLANES_OF_SET + at);
            if (component == 1 || component == 2)
                sum += (component == 1 ? t->shear.y : t->shear.z) * sum_planes(weight[1], sm_plane, at);
#endif
            if (!are_whole) {
                put_lanes(b, t, component, row, v * LEY_WIDTH, sum);
                continue;
            }
#if PART == LEY_WIDTH
            put_part(gm_phi + (row + parts[v]), sum, accumulate);
#else
            put_part(gm_phi + (row + parts[2 * v]), sum.lo, accumulate);
            put_part(gm_phi + (row + parts[2 * v + 1]), sum.hi, accumulate);
#endif
        }
}

LEY_FN void interpolate(const block *b, const target *t, LEY_LOCAL shared *sm)
{
    int parts[PARTS], next = 0;
    int2 bands[VECTORS];
    const bool are_whole = find_parts(b, t, parts),
               together = are_together(b->gm_places + b->mesh.x + b->along_x.node, b->along_x.nodes);
    FOR_WEIGHT_SETS(s)
        find_shares(b, s, (LEY_LOCAL float *)(sm->shares + s * (LEY_NODES_X * VECTORS)));
    find_bands(b, bands);
    for (int z = 0; z < b->along_z.count; z++) {
        const int from = b->gm_nodes_z[b->along_z.first + z] - b->along_z.node;
        for (next = max(next, from); next < from + LEY_WINDOW; next++)
            make_plane(b, together, bands, next, sm);
        UNROLL for (int c = 0; c < LEY_COMPONENTS(LEY_FIELD); c++)
            put_plane(b, t, c, parts, are_whole, z, from, sm->planes);
    }
}
