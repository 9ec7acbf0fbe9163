/* What one work-item of anterpolate.cl does alone, on CPU devices: rows of its tile are vectors
 * along x, LEY_WIDTH being LEY_EDGE. Some atoms at a time are staged as the weights that they have
 * at the tile's coordinates, zeros among them; then they are added plane by plane, whose sums are
 * in registers. So sums wait neither for weights nor for memory, and no loop has a length that is
 * an atom's own. */
#ifndef LEY_ANTERPOLATE_VECTORS_H
#define LEY_ANTERPOLATE_VECTORS_H

#define BATCH 64
#define PITCH (2 * LEY_EDGE + LEY_WINDOW)

/* Doubles hold products of floats, and add them at less than what Kahan's sum takes. */
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
typedef double weight;
typedef LEY_DOUBLE weights;
#define TO_WEIGHTS LEY_TO_DOUBLE
typedef struct {
    weights sum;
} row_sum;
#define ADD_TO_ROW(row, a, b) (row).sum += (a) * (b)
#define SUM_OF_ROW(row) LEY_TO_FLOAT((row).sum)
#else
typedef float weight;
typedef real weights;
#define TO_WEIGHTS
typedef exact_sum row_sum;
#define ADD_TO_ROW(row, a, b) add_exactly(&(row), a, (real)(b))
#define SUM_OF_ROW(row) ((row).sum - (row).carry)
#endif

typedef real loose_real __attribute__((aligned(4)));

typedef struct {
    row_sum sum[LEY_EDGE * LEY_EDGE]; /* of the tile's rows, y fastest */
    weights along_x[BATCH];           /* of each staged atom, its charge in them */
    weights along_y[BATCH], along_z[BATCH];
    int reaching[LEY_EDGE * BATCH]; /* of each plane: which staged atoms have a share in it, */
    int counts[LEY_EDGE];           /* and how many these are */
    int staged;
    float shape[LEY_WINDOW * PITCH]; /* of each power of u its coefficients for the window's nodes, between zeros */
} collection;

LEY_FN void begin(collection *c, __global const float *gm_window)
{
    c->staged = 0;
    for (int z = 0; z < LEY_EDGE; z++)
        c->counts[z] = 0;
    for (int i = 0; i < LEY_WINDOW * PITCH; i++)
        c->shape[i] = 0;
    for (int i = 0; i < LEY_WINDOW; i++)
        for (int k = 0; k < LEY_WINDOW; k++)
            c->shape[k * PITCH + LEY_EDGE + i] = gm_window[i * LEY_WINDOW + k];
    for (int row = 0; row < LEY_EDGE * LEY_EDGE; row++)
        c->sum[row] = (row_sum){0};
}

/* The weights of an atom, whose first node is so far from the tile's, at each of the tile's nodes
 * along an axis. */
LEY_FN real weights_at(const float *shape, int from, float u)
{
    const float *power = shape + LEY_EDGE - from;
    real made = *(const loose_real *)(power + (LEY_WINDOW - 1) * PITCH);
    UNROLL for (int k = LEY_WINDOW - 2; k >= 0; k--) made = made * u + *(const loose_real *)(power + k * PITCH);
    return made;
}

LEY_FN void add_staged(collection *c)
{
    for (int z = 0; z < LEY_EDGE; z++) {
        const int count = c->counts[z];
        row_sum row[LEY_EDGE];
        UNROLL for (int y = 0; y < LEY_EDGE; y++) row[y] = c->sum[z * LEY_EDGE + y];
        for (int i = 0; i < count; i++) {
            const int atom = c->reaching[z * BATCH + i];
            const weight *along_y = (const weight *)&c->along_y[atom], *along_z = (const weight *)&c->along_z[atom];
            const weights across = c->along_x[atom] * along_z[z];
            UNROLL for (int y = 0; y < LEY_EDGE; y++) ADD_TO_ROW(row[y], across, along_y[y]);
        }
        UNROLL for (int y = 0; y < LEY_EDGE; y++) c->sum[z * LEY_EDGE + y] = row[y];
        c->counts[z] = 0;
    }
    c->staged = 0;
}

LEY_FN void add_bin(collection *c, __global const float4 *gm_atoms, __global const int *gm_corners, int first, int end,
                    int from_x, int from_y, int from_z)
{
    for (int j = first; j < end; j++) {
        const float4 a = gm_atoms[j];
        const int corner = gm_corners[j];
        const int at_x = from_x + CORNER_X(corner), at_y = from_y + CORNER_Y(corner), at_z = from_z + CORNER_Z(corner);
        if (!meets(at_x) || !meets(at_y) || !meets(at_z))
            continue;
        const int atom = c->staged++;
        c->along_x[atom] = TO_WEIGHTS(a.w * weights_at(c->shape, at_x, a.x));
        c->along_y[atom] = TO_WEIGHTS(weights_at(c->shape, at_y, a.y));
        c->along_z[atom] = TO_WEIGHTS(weights_at(c->shape, at_z, a.z));
        UNROLL for (int z = 0; z < LEY_EDGE; z++) {
            const int place = c->counts[z];
            c->reaching[z * BATCH + place] = atom;
            c->counts[z] = place + (z >= at_z && z < at_z + LEY_WINDOW ? 1 : 0);
        }
        if (c->staged == BATCH)
            add_staged(c);
    }
}

LEY_FN void store(const collection *c, const tile *t, __global const int *gm_places, int4 places,
                  __global float *gm_charges)
{
    __global const int *gm_x = gm_places + places.x + t->x;
    const bool together = gm_x[0] >= 0 && gm_x[LEY_EDGE - 1] - gm_x[0] == LEY_EDGE - 1;
    for (int z = 0; z < LEY_EDGE; z++)
        for (int y = 0; y < LEY_EDGE; y++) {
            const real sum = SUM_OF_ROW(c->sum[z * LEY_EDGE + y]);
            const float *row = (const float *)&sum;
            const node_number first = row_at(gm_places, places, t->y + y, t->z + z);
            if (together && first >= 0) {
                *(__global loose_real *)(gm_charges + (gm_x[0] + first + nodes_before(places))) = sum;
                continue;
            }
            for (int x = 0; x < LEY_EDGE; x++) {
                const node_number at = node_of(gm_places, places, t->x + x, first);
                if (at >= 0)
                    gm_charges[at] = row[x];
            }
        }
}

#endif
