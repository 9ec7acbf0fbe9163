/* What one work-item of cutoff.cl does alone, on CPU devices: a region, a vector of its points
 * at a time. */
#ifndef LEY_CUTOFF_VECTORS_H
#define LEY_CUTOFF_VECTORS_H

/* Of a tile's j-th atom. */
#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND_OF(t, j) (t)->more[j].x
#define THIRD_OF(t, j) (t)->more[j].y
#else
#define SECOND_OF(t, j) 0
#define THIRD_OF(t, j) 0
#endif

/* Atoms within reach, as they were found, and their coordinates; of each the squares of its
 * distances from the region's planes, which the inner loop broadcasts. */
typedef struct {
    atom a[LEY_TILE];
    scalar x[LEY_TILE], y[LEY_TILE], z[LEY_TILE];
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float2 more[LEY_TILE];
#endif
    scalar dz2[LEY_TILE * LEY_UZ];
} tile;

/* Of the tile's atoms those within reach of a column: a vector's lanes along x and y, and all
 * planes. LEY_WIDTH at a time. */
LEY_FN int prune(const points *p, const tile *t, int count, int u, int v, int *list)
{
    const scalar low_x = u * LEY_LX * p->step.x, low_y = v * LEY_LY * p->step.y;
    const scalar high_x = low_x + (LEY_LX - 1) * p->step.x, high_y = low_y + (LEY_LY - 1) * p->step.y;
    int n = 0;
    for (int j = 0; j < count; j += LEY_WIDTH) {
        const real x = LEY_LOAD(t->x + j), y = LEY_LOAD(t->y + j), z = LEY_LOAD(t->z + j);
        /* What is between the faces, clamped by comparisons: fmax() of vectors is slow where it
         * minds what is no number. */
        const real from_x = x < low_x ? low_x - x : x - high_x, from_y = y < low_y ? low_y - y : y - high_y,
                   from_z = z < 0 ? -z : z - p->extent.z;
        const real dx = from_x > 0 ? from_x : (real)0, dy = from_y > 0 ? from_y : (real)0,
                   dz = from_z > 0 ? from_z : (real)0;
        scalar d2[LEY_WIDTH];
        LEY_PASTE(vstore, LEY_WIDTH)(dx * dx + dy * dy + dz * dz, 0, d2);
        const int end = min(LEY_WIDTH, count - j);
        for (int lane = 0; lane < end; lane++) {
            list[n] = j + lane;
            n += d2[lane] < p->limits.x;
        }
    }
    return n;
}

LEY_FN void sum_tile(points *p, tile *t, int count)
{
    int list[LEY_TILE];
    for (int j = 0; j < count; j++) {
        t->x[j] = t->a[j].x;
        t->y[j] = t->a[j].y;
        t->z[j] = t->a[j].z;
        FOR_Z(w) {
            const scalar dz = p->z[w] - t->z[j];
            t->dz2[j * LEY_UZ + w] = dz * dz;
        }
    }
    for (int v = 0; v < LEY_UY; v++)
        for (int u = 0; u < LEY_UX; u++) {
            const int n = prune(p, t, count, u, v, list);
            real sum[LEY_UZ];
            FOR_Z(w) sum[w] = p->sum[INDEX(u, v, w)];
            for (int i = 0; i < n; i++) {
                const int j = list[i];
                const real dx = p->x[u] - t->x[j], dy = p->y[v] - t->y[j], dxy2 = dx * dx + dy * dy;
                FOR_Z(w) {
                    const real r2 = dxy2 + t->dz2[j * LEY_UZ + w];
                    add_term(&sum[w], p, r2, root_of(r2), t->a[j].w, SECOND_OF(t, j), THIRD_OF(t, j));
                }
            }
            FOR_Z(w) {
                p->sum[INDEX(u, v, w)] = sum[w];
                end_tile(p, INDEX(u, v, w));
            }
        }
}

/* Puts an atom behind the n of a tile, and returns how many these are now: it stays if it is
 * wanted, which is -1. */
LEY_FN int put(tile *t, int n, const bins *b, size_t at, atom a, int wanted)
{
    t->a[n] = a;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    t->more[n] = b->more[at];
#endif
    return n - wanted;
}

#define FOUR(v) ((float16)(v, v, v, v))

/* Four of a bin's slots: puts their atoms within reach into a tile, which has n, and adds those
 * near the region. Returns as put() does. Where a bin's slots are no multiple of four, others
 * follow; behind the last bin there is room to read them. */
LEY_FN int stage(points *p, const bins *b, found f, int slot, tile *t, int n)
{
    const size_t at = (size_t)f.bin * LEY_DEPTH + slot;
    const float16 scale = FOUR((float4)(p->step.w, p->step.w, p->step.w, TERM_SCALE));
    const float16 base = FOUR((float4)(f.x, f.y, f.z, 0));
    const float16 a = vload16(0, (__global const float *)(b->slots + at)) * scale + base;
    const float16 above = a - FOUR(p->extent), beside = LARGER(above, -a), out = LARGER(beside, (float16)0);
    const float16 out2 = out * out;
    const float4 d2 = out2.s048c + out2.s159d + out2.s26ae;
    const int4 is_own = slot + (int4)(0, 1, 2, 3) < LEY_DEPTH, is_near = is_own & (d2 < p->limits.w);
    const int4 wanted = is_own & (d2 < p->limits.x) & ~is_near;
    n = put(t, n, b, at, a.s0123, wanted.s0);
    n = put(t, n, b, at + 1, a.s4567, wanted.s1);
    n = put(t, n, b, at + 2, a.s89ab, wanted.s2);
    n = put(t, n, b, at + 3, a.scdef, wanted.s3);
    if (any(is_near)) {
        float atoms[16];
        int nears[4];
        vstore16(a, 0, atoms);
        vstore4(is_near, 0, nears);
        for (int i = 0; i < 4; i++)
            if (nears[i]) {
                staged s;
                s.a = vload4(i, atoms);
#if LEY_PAIR_MORE(LEY_PAIR) > 0
                s.more = b->more[at + i];
#endif
                add_near(p, s);
            }
    }
    return n;
}

#if LEY_PAIR_CANCELS
/* Whether the bins close to the region leave an octant of it uncovered. */
LEY_FN bool is_fringe(const points *p, const bins *b, found home, int n_close)
{
    int sums[OCTANTS] = {0};
    bool uncovered = true;
    for (int e = 0; e < n_close && uncovered; e++) {
        found f;
        find(p, home, b->table[e], &f);
        for (int slot = 0; slot < LEY_DEPTH; slot++) {
            const atom a = b->slots[(size_t)f.bin * LEY_DEPTH + slot];
            if (a.w == 0)
                continue;
            int worths[OCTANTS];
            find_worths(p, (atom)(a.x * p->step.w + f.x, a.y * p->step.w + f.y, a.z * p->step.w + f.z, a.w), worths);
            for (int o = 0; o < OCTANTS; o++)
                sums[o] += worths[o];
        }
        uncovered = false;
        for (int o = 0; o < OCTANTS; o++)
            uncovered |= sums[o] < LEY_COVERED;
    }
    return uncovered;
}
#endif

LEY_FN void sum_neighbourhood(points *p, const bins *b, found home)
{
    tile t;
    int far = 0;
    for (int e = 0; e < b->n_table; e++) {
        found f;
        if (!find(p, home, b->table[e], &f))
            continue;
        int next = 0, end = 0;
        if (b->has_extra) {
            next = b->extra[f.bin];
            end = b->extra[f.bin + 1];
        }
        for (;;) { /* the bin itself, then those in which it goes on */
            if (far >= LEY_TILE - LEY_DEPTH) {
                sum_tile(p, &t, far);
                far = 0;
            }
            for (int slot = 0; slot < LEY_DEPTH; slot += 4)
                far = stage(p, b, f, slot, &t, far);
            if (next >= end)
                break;
            f.bin = next++;
        }
    }
    sum_tile(p, &t, far);
}

/* Where a vector's values go, from that of the first one. */
LEY_FN void put_values(__global float *gm_point, size_t row, real value)
{
    float lanes[LEY_WIDTH];
    LEY_PASTE(vstore, LEY_WIDTH)(value, 0, lanes);
    for (int lane = 0; lane < LEY_WIDTH; lane++)
        gm_point[lane / LEY_LX * row + lane % LEY_LX] = lanes[lane];
}

#endif
