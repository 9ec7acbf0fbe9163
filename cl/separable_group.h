/* What a work-group of separable.cl does, on GPUs: LEY_LX x LEY_LY work-items have a tile of
 * LEY_UX x LEY_UY points each, in fours along both axes. They list the terms that reach the tile,
 * SEGMENT of all at a time, in order, and multiply LEY_TILE of these at a time in registers, while
 * the next ones are formed in local memory. */
#ifndef LEY_SEPARABLE_GROUP_H
#define LEY_SEPARABLE_GROUP_H

#define ITEMS (LEY_LX * LEY_LY)
#define TILE_X (LEY_LX * LEY_UX)
#define TILE_Y (LEY_LY * LEY_UY)
#define EACH 4 /* terms that a work-item looks at in a segment */
#define SEGMENT (ITEMS * EACH)
#define ROOM (SEGMENT + LEY_TILE)
#define FOURS_X (LEY_TILE * (TILE_X / 4))
#define FOURS_Y (LEY_TILE * (TILE_Y / 4))
#define POINTS_X (LEY_UX / 4)
#define POINTS_Y (LEY_UY / 4)

/* Where terms come from. */
typedef struct {
    LEY_GLOBAL const int4 *terms;
    LEY_GLOBAL const float *x, *y, *z, *x_most, *y_most, *coefficients;
    int count, plane;
    int4 slab;
    float threshold;
} sources;

/* Terms that reach the tile: their numbers, {first row, powers of y} in one number, and factors of
 * the plane. */
typedef struct {
    LEY_LOCAL int *term, *row;
    LEY_LOCAL float *along_z; /* [ROOM][LEY_POWERS] */
} list;

/* How far B of a term may be from 0 in the tile, times how far X may. Where `slot` is not negative
 * its factors are put into the list. */
LEY_FN bool reaches(LEY_REFERENCE(sources) s, int t, LEY_REFERENCE(list) l, int slot)
{
    const int4 term = s.terms[t];
    if (!ley_reaches_plane(term, s.slab, s.plane))
        return false;
    float most = 0;
    int c = term.z;
    for (int j = 0; j < term.y; j++) {
        const float factor = ley_along_z(s.coefficients, s.z + term.x, term.y - j, &c);
        most += LEY_ABS(factor) * s.y_most[term.x + j];
        if (slot >= 0)
            l.along_z[slot * LEY_POWERS + j] = factor;
    }
    if (slot >= 0) {
        l.term[slot] = t;
        l.row[slot] = term.x * 8 + term.y;
    }
    return most * s.x_most[t] > s.threshold;
}

/* Adds those of a segment's terms that reach to the list, which has `count`. Returns how many it
 * has then. */
LEY_FN int list_segment(LEY_REFERENCE(sources) s, int base, LEY_REFERENCE(list) l, int count, int item,
                        LEY_LOCAL int *sm_counts)
{
    int marks = 0, own = 0;
    UNROLL for (int e = 0; e < EACH; e++) {
        const int t = base + item * EACH + e;
        if (t < s.count && reaches(s, t, l, -1)) {
            marks |= 1 << e;
            own++;
        }
    }
    sm_counts[item] = own;
    LEY_BARRIER();
    for (int step = 1; step < ITEMS; step *= 2) { /* sums of all work-items up to each */
        const int before = item >= step ? sm_counts[item - step] : 0;
        LEY_BARRIER();
        sm_counts[item] += before;
        LEY_BARRIER();
    }
    int slot = count + sm_counts[item] - own;
    UNROLL for (int e = 0; e < EACH; e++)
        if (marks >> e & 1)
            reaches(s, base + item * EACH + e, l, slot++);
    count += sm_counts[ITEMS - 1];
    LEY_BARRIER();
    return count;
}

/* Forms X and B of LEY_TILE terms from number `first` of the list on. */
LEY_FN void form(LEY_REFERENCE(sources) s, LEY_REFERENCE(list) l, int first, int item, int pitch_x, int pitch_y,
                 LEY_LOCAL float4 *sm_x, LEY_LOCAL float4 *sm_b)
{
    for (int e = item; e < LEY_TILE * (TILE_X / 4); e += ITEMS) {
        const int k = e / (TILE_X / 4), four = e % (TILE_X / 4);
        sm_x[e] = ((LEY_GLOBAL const float4 *)(s.x + (size_t)l.term[first + k] * pitch_x))[four];
    }
    for (int e = item; e < LEY_TILE * (TILE_Y / 4); e += ITEMS) {
        const int slot = first + e / (TILE_Y / 4), four = e % (TILE_Y / 4), row = l.row[slot] / 8,
                  powers = l.row[slot] % 8;
        float4 b = LEY_FLOAT4(0, 0, 0, 0);
        for (int j = 0; j < powers; j++) {
            const float factor = l.along_z[slot * LEY_POWERS + j];
            const float4 y = ((LEY_GLOBAL const float4 *)(s.y + (size_t)(row + j) * pitch_y))[four];
            b.x += factor * y.x;
            b.y += factor * y.y;
            b.z += factor * y.z;
            b.w += factor * y.w;
        }
        sm_b[e] = b;
    }
}

/* Adds their products to the points' sums. */
LEY_FN void multiply(LEY_LOCAL const float4 *sm_x, LEY_LOCAL const float4 *sm_b, int item_x, int item_y,
                     float *sum)
{
    UNROLL for (int k = 0; k < LEY_TILE; k++) {
        float x[LEY_UX], b[LEY_UY];
        UNROLL for (int u = 0; u < POINTS_X; u++) {
            const float4 four = sm_x[k * (TILE_X / 4) + u * LEY_LX + item_x];
            x[4 * u] = four.x, x[4 * u + 1] = four.y, x[4 * u + 2] = four.z, x[4 * u + 3] = four.w;
        }
        UNROLL for (int v = 0; v < POINTS_Y; v++) {
            const float4 four = sm_b[k * (TILE_Y / 4) + v * LEY_LY + item_y];
            b[4 * v] = four.x, b[4 * v + 1] = four.y, b[4 * v + 2] = four.z, b[4 * v + 3] = four.w;
        }
        UNROLL for (int v = 0; v < LEY_UY; v++)
            UNROLL for (int u = 0; u < LEY_UX; u++)
                sum[v * LEY_UX + u] += b[v] * x[u];
    }
}

/* What is left of the list, less than LEY_TILE of it, from `first` on, goes to its front. */
LEY_FN void move_rest(LEY_REFERENCE(list) l, int first, int count, int item)
{
    LEY_BARRIER();
    if (first > 0)
        for (int slot = item; slot < count - first; slot += ITEMS) {
            l.term[slot] = l.term[first + slot];
            l.row[slot] = l.row[first + slot];
            for (int j = 0; j < LEY_POWERS; j++)
                l.along_z[slot * LEY_POWERS + j] = l.along_z[(first + slot) * LEY_POWERS + j];
        }
    LEY_BARRIER();
}

/* A tile of a plane of an orbital, with room for two tiles of terms, for the list and its
 * counts. */
LEY_FN void compute(ALL_PARAMETERS, LEY_LOCAL float4 *sm_x, LEY_LOCAL float4 *sm_b,
                    LEY_LOCAL int *sm_term, LEY_LOCAL int *sm_row, LEY_LOCAL int *sm_counts,
                    LEY_LOCAL float *sm_along_z)
{
    const int item_x = LEY_LOCAL_ID(0), item_y = LEY_LOCAL_ID(1), item = item_y * LEY_LX + item_x;
    const int tile_x = LEY_GROUP_ID(0), tile_y = LEY_GROUP_ID(1);
    const int orbital = (int)LEY_GROUP_ID(2) / slab.y, plane = (int)LEY_GROUP_ID(2) - orbital * slab.y;
    sources s;
    s.terms = gm_terms;
    s.x = gm_x + first.x + tile_x * TILE_X;
    s.y = gm_y + first.y + tile_y * TILE_Y;
    s.z = gm_z + first.z + (size_t)(slab.x + plane) * size.x;
    s.x_most = gm_x_most + first_most.x + (size_t)tile_x * size.x;
    s.y_most = gm_y_most + first_most.y + (size_t)tile_y * size.x;
    s.coefficients = gm_coefficients + first.w + (size_t)orbital * slab.z;
    s.count = n_terms;
    s.plane = plane;
    s.slab = slab;
    s.threshold = weights.x;
    list l;
    l.term = sm_term;
    l.row = sm_row;
    l.along_z = sm_along_z;

    float sum[LEY_UX * LEY_UY];
    UNROLL for (int k = 0; k < LEY_UX * LEY_UY; k++) sum[k] = 0;
    int count = 0;
    for (int base = 0; base < n_terms; base += SEGMENT) {
        count = list_segment(s, base, l, count, item, sm_counts);
        if (base + SEGMENT >= n_terms) { /* the last ones, filled up by terms of factor 0 */
            for (int slot = count + item; slot < count + LEY_TILE - 1; slot += ITEMS)
                sm_term[slot] = sm_row[slot] = 0;
            count = (count + LEY_TILE - 1) / LEY_TILE * LEY_TILE;
            LEY_BARRIER();
        }
        int done = 0, now = 0;
        if (count >= LEY_TILE)
            form(s, l, 0, item, size.y, size.z, sm_x, sm_b);
        LEY_BARRIER();
        for (; done + LEY_TILE <= count; done += LEY_TILE, now ^= 1) {
            if (done + 2 * LEY_TILE <= count)
                form(s, l, done + LEY_TILE, item, size.y, size.z, sm_x + (now ^ 1) * FOURS_X,
                     sm_b + (now ^ 1) * FOURS_Y);
            multiply(sm_x + now * FOURS_X, sm_b + now * FOURS_Y, item_x, item_y, sum);
            LEY_BARRIER();
        }
        move_rest(l, done, count, item);
        count -= done;
    }

    const size_t component = (size_t)slab.y * size.y * size.z;
    UNROLL for (int v = 0; v < LEY_UY; v++) {
        const int row = tile_y * TILE_Y + v / 4 * 4 * LEY_LY + item_y * 4 + v % 4;
        const size_t begin =
            orbital * component + ((size_t)plane * size.z + row) * size.y + tile_x * TILE_X + item_x * 4;
        UNROLL for (int u = 0; u < LEY_UX; u++)
            ley_put_value(gm_values, places, weights, component, begin + u / 4 * 4 * LEY_LX + u % 4,
                          sum[v * LEY_UX + u]);
    }
}

#endif
