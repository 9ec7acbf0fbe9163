/* What a work-group of separable.cl does, on GPUs: LEY_LX x LEY_LY work-items have a tile of
 * LEY_UX x LEY_UY points each, in fours along both axes. They list the terms that reach the tile,
 * SEGMENT of all at a time, in order, and multiply LEY_TILE of these at a time in registers, while
 * the next ones are formed in local memory. A density's tile stays in the caches from orbital to
 * orbital. Of derivatives each term has several products, of tables along x and of B and what it is
 * with one of its factors' derivatives:
 *
 *     psi = X B, psi_x = X' B, psi_y = X B_y, psi_z = X B_z, Laplacian psi = X'' B + X B_yy+zz */
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

/* What a point has: psi, its derivatives, its Laplacian; tables along x, of each of which B of a
 * term, or what is like it, is a factor; and factors along z. */
#define SUMS (LEY_DERIVATIVES == 0 ? 1 : LEY_DERIVATIVES == 1 ? 4 : 5)
#define TABLES_X (1 + LEY_DERIVATIVES)
#define TABLES_B (LEY_DERIVATIVES == 0 ? 1 : 2 + LEY_DERIVATIVES)
#define FACTORS (1 + LEY_DERIVATIVES)

/* Where terms come from; from one derivative's tables to the next ones' there are `x_step`. */
typedef struct {
    LEY_GLOBAL const int4 *terms;
    LEY_GLOBAL const float *x, *y, *z, *x_most, *y_most, *coefficients;
    size_t x_step, y_step, z_step, x_most_step, y_most_step;
    int count, plane;
    int4 slab;
    float threshold;
} sources;

/* Terms that reach the tile: their numbers, {first row, powers of y} in one number, and factors of
 * the plane. */
typedef struct {
    LEY_LOCAL int *term, *row;
    LEY_LOCAL float *along_z; /* [ROOM][LEY_POWERS][FACTORS] */
} list;

/* How far B of a term may be from 0 in the tile, times how far X may; so for derivatives. Where
 * `slot` is not negative its factors are put into the list. */
LEY_FN bool reaches(LEY_REFERENCE(sources) s, int t, LEY_REFERENCE(list) l, int slot)
{
    const int4 term = s.terms[t];
    if (!ley_reaches_plane(term, s.slab, s.plane))
        return false;
    float most[TABLES_B];
    UNROLL for (int d = 0; d < TABLES_B; d++) most[d] = 0;
    int c = term.z;
    for (int j = 0; j < term.y; j++) {
        float factor[FACTORS];
        const int begin = c;
        UNROLL for (int d = 0; d < FACTORS; d++)
        {
            c = begin;
            factor[d] = ley_along_z(s.coefficients, s.z + d * s.z_step + term.x, term.y - j, &c);
            if (slot >= 0)
                l.along_z[(slot * LEY_POWERS + j) * FACTORS + d] = factor[d];
        }
        LEY_GLOBAL const float *y = s.y_most + term.x + j;
        most[0] += LEY_ABS(factor[0]) * y[0];
#if LEY_DERIVATIVES
        most[1] += LEY_ABS(factor[0]) * y[s.y_most_step];
        most[2] += LEY_ABS(factor[1]) * y[0];
#endif
#if LEY_DERIVATIVES == 2
        most[3] += LEY_ABS(factor[0]) * y[2 * s.y_most_step] + LEY_ABS(factor[2]) * y[0];
#endif
    }
    if (slot >= 0) {
        l.term[slot] = t;
        l.row[slot] = term.x * 8 + term.y;
    }
    float bound = most[0] * s.x_most[t];
    UNROLL for (int d = 1; d < TABLES_B; d++) bound = LEY_MAX(bound, most[d] * s.x_most[t]);
    UNROLL for (int d = 1; d < TABLES_X; d++) bound = LEY_MAX(bound, most[0] * s.x_most[d * s.x_most_step + t]);
    return bound > s.threshold;
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

/* Adds a factor times a vector. */
LEY_FN void add(float4 *sum, float factor, float4 y)
{
    sum->x += factor * y.x;
    sum->y += factor * y.y;
    sum->z += factor * y.z;
    sum->w += factor * y.w;
}

/* Forms X and B, and what is like them, of LEY_TILE terms from number `first` of the list on. */
LEY_FN void form(LEY_REFERENCE(sources) s, LEY_REFERENCE(list) l, int first, int item, int pitch_x, int pitch_y,
                 LEY_LOCAL float4 *sm_x, LEY_LOCAL float4 *sm_b)
{
    for (int e = item; e < LEY_TILE * (TILE_X / 4); e += ITEMS) {
        const int k = e / (TILE_X / 4), four = e % (TILE_X / 4);
        UNROLL for (int d = 0; d < TABLES_X; d++)
            sm_x[d * FOURS_X + e] =
                ((LEY_GLOBAL const float4 *)(s.x + d * s.x_step + (size_t)l.term[first + k] * pitch_x))[four];
    }
    for (int e = item; e < LEY_TILE * (TILE_Y / 4); e += ITEMS) {
        const int slot = first + e / (TILE_Y / 4), four = e % (TILE_Y / 4), row = l.row[slot] / 8,
                  powers = l.row[slot] % 8;
        float4 b[TABLES_B];
        UNROLL for (int d = 0; d < TABLES_B; d++) b[d] = LEY_FLOAT4(0, 0, 0, 0);
        for (int j = 0; j < powers; j++) {
            LEY_LOCAL const float *factor = l.along_z + (slot * LEY_POWERS + j) * FACTORS;
            LEY_GLOBAL const float4 *y = (LEY_GLOBAL const float4 *)(s.y + (size_t)(row + j) * pitch_y) + four;
            add(&b[0], factor[0], y[0]);
#if LEY_DERIVATIVES
            add(&b[1], factor[0], y[s.y_step / 4]);
            add(&b[2], factor[1], y[0]);
#endif
#if LEY_DERIVATIVES == 2
            add(&b[3], factor[0], y[2 * (s.y_step / 4)]);
            add(&b[3], factor[2], y[0]);
#endif
        }
        UNROLL for (int d = 0; d < TABLES_B; d++) sm_b[d * FOURS_Y + e] = b[d];
    }
}

/* Adds their products to the points' sums, [LEY_UY][LEY_UX][SUMS]. */
LEY_FN void multiply(LEY_LOCAL const float4 *sm_x, LEY_LOCAL const float4 *sm_b, int item_x, int item_y,
                     float *sum)
{
    UNROLL for (int k = 0; k < LEY_TILE; k++) {
        float x[TABLES_X][LEY_UX], b[TABLES_B][LEY_UY];
        UNROLL for (int d = 0; d < TABLES_X; d++)
            UNROLL for (int u = 0; u < POINTS_X; u++) {
                const float4 four = sm_x[d * FOURS_X + k * (TILE_X / 4) + u * LEY_LX + item_x];
                x[d][4 * u] = four.x, x[d][4 * u + 1] = four.y, x[d][4 * u + 2] = four.z, x[d][4 * u + 3] = four.w;
            }
        UNROLL for (int d = 0; d < TABLES_B; d++)
            UNROLL for (int v = 0; v < POINTS_Y; v++) {
                const float4 four = sm_b[d * FOURS_Y + k * (TILE_Y / 4) + v * LEY_LY + item_y];
                b[d][4 * v] = four.x, b[d][4 * v + 1] = four.y, b[d][4 * v + 2] = four.z, b[d][4 * v + 3] = four.w;
            }
        UNROLL for (int v = 0; v < LEY_UY; v++)
            UNROLL for (int u = 0; u < LEY_UX; u++) {
                float *at = sum + (v * LEY_UX + u) * SUMS;
                at[0] += b[0][v] * x[0][u];
#if LEY_DERIVATIVES
                at[1] += b[0][v] * x[1][u];
                at[2] += b[1][v] * x[0][u];
                at[3] += b[2][v] * x[0][u];
#endif
#if LEY_DERIVATIVES == 2
                at[4] += b[0][v] * x[2][u];
                at[4] += b[3][v] * x[0][u];
#endif
            }
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
            for (int j = 0; j < LEY_POWERS * FACTORS; j++)
                l.along_z[slot * LEY_POWERS * FACTORS + j] = l.along_z[(first + slot) * LEY_POWERS * FACTORS + j];
        }
    LEY_BARRIER();
}

/* All terms of an orbital, into [LEY_UY][LEY_UX][SUMS]. */
LEY_FN void sum_terms(LEY_REFERENCE(sources) s, LEY_REFERENCE(list) l, int item_x, int item_y, int pitch_x,
                      int pitch_y, LEY_LOCAL float4 *sm_x, LEY_LOCAL float4 *sm_b, LEY_LOCAL int *sm_counts,
                      float *sum)
{
    const int item = item_y * LEY_LX + item_x;
    UNROLL for (int k = 0; k < LEY_UX * LEY_UY * SUMS; k++) sum[k] = 0;
    int count = 0;
    for (int base = 0; base < s.count; base += SEGMENT) {
        count = list_segment(s, base, l, count, item, sm_counts);
        if (base + SEGMENT >= s.count) { /* the last ones, filled up by terms of factor 0 */
            for (int slot = count + item; slot < count + LEY_TILE - 1; slot += ITEMS)
                l.term[slot] = l.row[slot] = 0;
            count = (count + LEY_TILE - 1) / LEY_TILE * LEY_TILE;
            LEY_BARRIER();
        }
        int done = 0, now = 0;
        if (count >= LEY_TILE)
            form(s, l, 0, item, pitch_x, pitch_y, sm_x, sm_b);
        LEY_BARRIER();
        for (; done + LEY_TILE <= count; done += LEY_TILE, now ^= 1) {
            if (done + 2 * LEY_TILE <= count)
                form(s, l, done + LEY_TILE, item, pitch_x, pitch_y, sm_x + (now ^ 1) * TABLES_X * FOURS_X,
                     sm_b + (now ^ 1) * TABLES_B * FOURS_Y);
            multiply(sm_x + now * TABLES_X * FOURS_X, sm_b + now * TABLES_B * FOURS_Y, item_x, item_y, sum);
            LEY_BARRIER();
        }
        move_rest(l, done, count, item);
        count -= done;
    }
}

/* Stores number d of the work-item's points, or adds it; gm_own is where its first one is. */
LEY_FN void put(LEY_GLOBAL float *gm_own, int pitch_x, const float *values, int d, bool adds)
{
    UNROLL for (int v = 0; v < LEY_UY; v++)
        UNROLL for (int u = 0; u < LEY_UX; u++) {
            const size_t at = (size_t)(v / 4 * 4 * LEY_LY + v % 4) * pitch_x + u / 4 * 4 * LEY_LX + u % 4;
            const float before = adds ? gm_own[at] : 0;
            gm_own[at] = before + values[(v * LEY_UX + u) * SUMS + d];
        }
}

/* A tile of a plane of an orbital, or of the density of all, with room for two tiles of terms, for
 * the list and its counts. */
LEY_FN void compute(ALL_PARAMETERS, LEY_LOCAL float4 *sm_x, LEY_LOCAL float4 *sm_b,
                    LEY_LOCAL int *sm_term, LEY_LOCAL int *sm_row, LEY_LOCAL int *sm_counts,
                    LEY_LOCAL float *sm_along_z)
{
    const int item_x = LEY_LOCAL_ID(0), item_y = LEY_LOCAL_ID(1), tile_x = LEY_GROUP_ID(0), tile_y = LEY_GROUP_ID(1);
    const int own = (int)LEY_GROUP_ID(2) / slab.y, plane = (int)LEY_GROUP_ID(2) - own * slab.y;
    const size_t component = (size_t)slab.y * size.y * size.z;
    LEY_GLOBAL float *gm_own = gm_values + ((size_t)plane * size.z + tile_y * TILE_Y + item_y * 4) * size.y +
                               tile_x * TILE_X + item_x * 4;
    sources s;
    s.terms = gm_terms;
    s.x = gm_x + tile_x * TILE_X;
    s.y = gm_y + tile_y * TILE_Y;
    s.z = gm_z + (size_t)(slab.x + plane) * size.x;
    s.x_most = gm_x_most + (size_t)tile_x * size.x;
    s.y_most = gm_y_most + (size_t)tile_y * size.x;
    s.x_step = (size_t)size.x * size.y;
    s.y_step = (size_t)size.x * size.z;
    s.z_step = (size_t)size.x * size.w;
    s.x_most_step = (size_t)size.x * (size.y / TILE_X);
    s.y_most_step = (size_t)size.x * (size.z / TILE_Y);
    s.count = n_terms;
    s.plane = plane;
    s.slab = slab;
    list l;
    l.term = sm_term;
    l.row = sm_row;
    l.along_z = sm_along_z;

    float sum[LEY_UX * LEY_UY * SUMS];
    const int begin = orbitals.x + (places.x >= 0 ? own : 0), end = places.x >= 0 ? begin + 1 : begin + orbitals.y;
    for (int o = begin; o < end; o++) {
        s.coefficients = gm_coefficients + (size_t)o * slab.z;
        s.threshold = gm_weights[o].y;
        sum_terms(s, l, item_x, item_y, size.y, size.z, sm_x, sm_b, sm_counts, sum);
        if (places.x >= 0)
            put(gm_own + (size_t)(places.x + own) * component, size.y, sum, 0, false);
        if (places.y < 0)
            continue;
        const float weight = gm_weights[o].x;
        UNROLL for (int k = 0; k < LEY_UX * LEY_UY; k++) {
            float *of = sum + k * SUMS;
            const float psi = of[0];
#if LEY_DERIVATIVES == 2
            of[4] = 2 * weight * (of[1] * of[1] + of[2] * of[2] + of[3] * of[3] + psi * of[4]);
#endif
            UNROLL for (int d = 1; d < (SUMS < 4 ? SUMS : 4); d++) of[d] *= 2 * weight * psi;
            of[0] = weight * psi * psi;
        }
        put(gm_own + (size_t)places.y * component, size.y, sum, 0, true);
#if LEY_DERIVATIVES
        UNROLL for (int d = 0; d < 3; d++)
            if (places.z >= 0)
                put(gm_own + (size_t)(places.z + d) * component, size.y, sum, 1 + d, true);
#endif
#if LEY_DERIVATIVES == 2
        if (places.w >= 0)
            put(gm_own + (size_t)places.w * component, size.y, sum, 4, true);
#endif
    }
}

#endif
