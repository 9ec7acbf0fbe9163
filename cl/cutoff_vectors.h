/* What one work-item of cutoff.cl does alone, on CPU devices: a region, a vector of its points
 * at a time. */
#ifndef LEY_CUTOFF_VECTORS_H
#define LEY_CUTOFF_VECTORS_H

typedef LEY_PASTE(int, LEY_WIDTH) ints;
typedef real unaligned_real __attribute__((aligned(4)));

/* A column is what a vector's lanes have along x and y, and all planes: PARTS of PART_Z vectors. */
#define PARTS LEY_SPLIT
#define PART_Z (LEY_UZ / PARTS)
#define PART_SUMS (LEY_COMPONENTS(LEY_FIELD) * PART_Z) /* component c of vector w is c PART_Z + w */
#define FOR_PARTS(k) UNROLL for (int k = 0; k < PARTS; k++)

/* Room behind a tile's last atom, for whole vectors. */
#define ROOM (LEY_TILE + LEY_WIDTH)

/* Where there is nothing: beyond any cutoff, along each axis. */
#define NOWHERE 1e15f

/* What LEY_LZ planes have of their own, one number each, as many times as a vector has room for. */
#if LEY_LZ == 1
typedef scalar planes;
#define OF_PLANES(of) ((real)(of))
#elif LEY_LZ == 2
typedef ulong planes;
#define LONGS(n) LEY_PASTE(ulong, n)
#if LEY_WIDTH == 8
#define OF_PLANES(of) as_float8((ulong4)(of))
#else
#define OF_PLANES(of) as_float16((ulong8)(of))
#endif
#endif

/* Atoms within reach, as they were found; of each of them, how far it is along z from each part,
 * squared, and from each plane, as the inner loop reads it; of a column, how far from its points
 * along x, and along x and y, squared; and of each part which ones are within its reach: numbers,
 * as bits. */
typedef struct {
    scalar x[ROOM], y[ROOM], z[ROOM], charge[ROOM];
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    scalar second[ROOM], third[ROOM];
#endif
    scalar beside2[PARTS][ROOM];
    planes dz2[LEY_UZ][ROOM];
    real dx2[LEY_TILE], dxy2[LEY_TILE];
    scalar list[PARTS][ROOM];
} tile;

#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND_OF(t, j) (t)->second[j]
#define THIRD_OF(t, j) (t)->third[j]
#else
#define SECOND_OF(t, j) 0
#define THIRD_OF(t, j) 0
#endif

/* A bit for each lane in which x is below a limit; and those lanes of x that have a bit, put behind
 * the n numbers of a list: how many these are then. There must be room for a vector. */
#if LEY_ROOT == LEY_ROOT_AVX512
LEY_FN unsigned marks_below(real x, scalar limit)
{
    return ley_lanes_below(x, limit);
}

LEY_FN int append(scalar *list, int n, real x, unsigned marks)
{
    *(unaligned_real *)(list + n) = ley_marked_lanes(x, marks);
    return n + popcount(marks);
}
#elif LEY_WIDTH >= 8
/* Lanes are packed eight at a time: of each pattern of marks the numbers of the marked lanes, four
 * bits each, from the lowest bits on. */
#define MARKED(m, lane) ((unsigned)(m) >> (lane)&1)
#define PUT_BEFORE(packed, m, lane) ((packed) << 4 * MARKED(m, lane) | (lane)*MARKED(m, lane))
#define PACKED_HIGH(m) PUT_BEFORE(PUT_BEFORE(PUT_BEFORE(PUT_BEFORE(0, m, 7), m, 6), m, 5), m, 4)
#define PACKED(m) PUT_BEFORE(PUT_BEFORE(PUT_BEFORE(PUT_BEFORE(PACKED_HIGH(m), m, 3), m, 2), m, 1), m, 0)
#define PACKED_4(m) PACKED(m), PACKED((m) + 1), PACKED((m) + 2), PACKED((m) + 3)
#define PACKED_16(m) PACKED_4(m), PACKED_4((m) + 4), PACKED_4((m) + 8), PACKED_4((m) + 12)
#define PACKED_64(m) PACKED_16(m), PACKED_16((m) + 16), PACKED_16((m) + 32), PACKED_16((m) + 48)
__constant unsigned packed_lanes[256] = {PACKED_64(0), PACKED_64(64), PACKED_64(128), PACKED_64(192)};
#define NIBBLES ((uint8)(0, 4, 8, 12, 16, 20, 24, 28))

#if LEY_WIDTH == 8
#define LANE_BITS ((ints)(1, 2, 4, 8, 16, 32, 64, 128))
#else
#define LANE_BITS ((ints)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768))
#endif
LEY_FN unsigned marks_below(real x, scalar limit)
{
    const ints bits = (x < limit) & LANE_BITS;
#if LEY_WIDTH == 8
    const int4 four = bits.lo | bits.hi;
#else
    const int8 eight = bits.lo | bits.hi;
    const int4 four = eight.lo | eight.hi;
#endif
    return (unsigned)(four.x | four.y | four.z | four.w);
}

LEY_FN int append_eight(scalar *list, int n, float8 x, unsigned marks)
{
    typedef float8 unaligned_eight __attribute__((aligned(4)));
    *(unaligned_eight *)(list + n) = shuffle(x, (uint8)packed_lanes[marks] >> NIBBLES);
    return n + popcount(marks);
}

LEY_FN int append(scalar *list, int n, real x, unsigned marks)
{
#if LEY_WIDTH == 8
    return append_eight(list, n, x, marks);
#else
    n = append_eight(list, n, x.lo, marks & 255);
    return append_eight(list, n, x.hi, marks >> 8);
#endif
}
#else
LEY_FN unsigned marks_below(real x, scalar limit)
{
    scalar lanes[LEY_WIDTH];
    unsigned marks = 0;
    *(unaligned_real *)lanes = x;
    for (int lane = 0; lane < LEY_WIDTH; lane++)
        marks |= (unsigned)(lanes[lane] < limit) << lane;
    return marks;
}

LEY_FN int append(scalar *list, int n, real x, unsigned marks)
{
    scalar lanes[LEY_WIDTH];
    *(unaligned_real *)lanes = x;
    for (int lane = 0; lane < LEY_WIDTH; lane++) {
        list[n] = lanes[lane];
        n += marks >> lane & 1;
    }
    return n;
}
#endif

LEY_FN real load(const scalar *from)
{
    return *(const unaligned_real *)from;
}

/* What x is beyond the ends of a box. Clamped by comparisons: fmax() of vectors is slow where it
 * minds what is no number. */
LEY_FN real beyond(real x, scalar low, scalar high)
{
    const real below = low - x, above = x - high, out = below > above ? below : above;
    return out > 0 ? out : (real)0;
}

/* Of a tile's atoms, what is the same for all columns: of oblique meshes nothing is. */
LEY_FN void measure_planes(const points *p, tile *t, int count)
{
#if !LEY_OBLIQUE
    const scalar h = p->step.z, part = PART_Z * LEY_LZ * h;
#endif
    *(unaligned_real *)(t->x + count) = (real)NOWHERE;
    *(unaligned_real *)(t->y + count) = (real)NOWHERE;
    *(unaligned_real *)(t->z + count) = (real)NOWHERE;
#if !LEY_OBLIQUE
    for (int j = 0; j < count; j += LEY_WIDTH) {
        const real z = load(t->z + j);
        FOR_PARTS(k) {
            const real d = beyond(z, k * part, (k + 1) * part - h);
            *(unaligned_real *)(t->beside2[k] + j) = d * d;
        }
        FOR_Z(w) {
            const real d = LEY_LZ * w * h - z, d2 = d * d;
#if LEY_LZ == 1
            *(unaligned_real *)(t->dz2[w] + j) = d2;
#else
            const real e = d + h, e2 = e * e;
            typedef LONGS(LEY_WIDTH) longs;
            typedef longs unaligned_longs __attribute__((aligned(8)));
            *(unaligned_longs *)(t->dz2[w] + j) =
                LEY_PASTE(convert_ulong, LEY_WIDTH)(LEY_PASTE(as_uint, LEY_WIDTH)(d2)) |
                LEY_PASTE(convert_ulong, LEY_WIDTH)(LEY_PASTE(as_uint, LEY_WIDTH)(e2)) << 32;
#endif
        }
    }
#endif
}

/* Of all columns with the same x, the distances along it. */
LEY_FN void measure_x(const points *p, tile *t, int count, int u)
{
    for (int j = 0; j < count; j++) {
        const real dx = p->x[u] - t->x[j];
        t->dx2[j] = dx * dx;
    }
}

#if LEY_OBLIQUE
/* What the first part of a column spans along y and z, of all lanes. */
LEY_FN void find_column(const points *p, int u, int v, scalar *low_y, scalar *high_y, scalar *low_z, scalar *high_z)
{
    const scalar across_x = (LEY_LX - 1) * p->shear.x, across_y = (LEY_LX - 1) * p->shear.y,
                 across_z = (LEY_LY - 1) * p->shear.z;
    *low_y = v * LEY_LY * p->step.y + u * LEY_LX * p->shear.x + (across_x < 0 ? across_x : 0);
    *high_y = v * LEY_LY * p->step.y + u * LEY_LX * p->shear.x + (across_x > 0 ? across_x : 0) +
              (LEY_LY - 1) * p->step.y;
    *low_z = u * LEY_LX * p->shear.y + v * LEY_LY * p->shear.z + (across_y < 0 ? across_y : 0) +
             (across_z < 0 ? across_z : 0);
    *high_z = u * LEY_LX * p->shear.y + v * LEY_LY * p->shear.z + (across_y > 0 ? across_y : 0) +
              (across_z > 0 ? across_z : 0) + (PART_Z * LEY_LZ - 1) * p->step.z;
}

/* Of a column's planes from `first` on, z of its points; and how far along z from them an atom is,
 * squared. */
#define PLANES_OF_COLUMN(first) \
    real own_z[PART_Z]; \
    UNROLL for (int w = 0; w < PART_Z; w++) own_z[w] = p->z[(first) + w] + SHIFT_Z(p, u, v)
#define ALONG_Z2(t, j, first, w) ((own_z[w] - (t)->z[j]) * (own_z[w] - (t)->z[j]))
#else
#define PLANES_OF_COLUMN(first)
#define ALONG_Z2(t, j, first, w) OF_PLANES((t)->dz2[(first) + (w)][j])
#endif

/* Of a column, the distances across, and the lists of its parts: n[k] numbers. */
LEY_FN void prune(const points *p, tile *t, int count, int u, int v, int n[PARTS])
{
    const scalar low_x = u * LEY_LX * p->step.x, high_x = low_x + (LEY_LX - 1) * p->step.x, limit = p->limits.x;
#if LEY_OBLIQUE
    const scalar part = PART_Z * LEY_LZ * p->step.z;
    scalar low_y, high_y, low_z, high_z;
    find_column(p, u, v, &low_y, &high_y, &low_z, &high_z);
#else
    const scalar low_y = v * LEY_LY * p->step.y, high_y = low_y + (LEY_LY - 1) * p->step.y;
#endif
    int listed[PARTS];
    FOR_PARTS(k) listed[k] = 0;
    for (int j = 0; j < count; j += LEY_WIDTH) {
        const ints number = LEY_PASTE(convert_int, LEY_WIDTH)(LEY_LANES) + j;
        const real dx = beyond(load(t->x + j), low_x, high_x), dy = beyond(load(t->y + j), low_y, high_y),
                   d2 = dx * dx + dy * dy;
#if LEY_OBLIQUE
        const real z = load(t->z + j);
        FOR_PARTS(k) {
            const real dz = beyond(z, low_z + k * part, high_z + k * part);
            listed[k] = append(t->list[k], listed[k], LEY_AS_REAL(number), marks_below(d2 + dz * dz, limit));
        }
#else
        FOR_PARTS(k) listed[k] = append(t->list[k], listed[k], LEY_AS_REAL(number),
                                        marks_below(d2 + load(t->beside2[k] + j), limit));
#endif
    }
    FOR_PARTS(k) n[k] = listed[k];
    for (int j = 0; j < count; j++) {
        const real dy = p->y[v] - (t->y[j] - SHIFT_Y(p, u));
        t->dxy2[j] = t->dx2[j] + dy * dy;
    }
}

/* Adds the listed atoms to vectors [first, first + PART_Z) of a column. */
LEY_FN void sum_list(points *p, const tile *t, const scalar *list, int n, int u, int v, int first)
{
    constants c;
    copy_constants(p, &c);
    real sum[PART_SUMS];
    PLANES_OF_COLUMN(first);
    UNROLL for (int s = 0; s < PART_SUMS; s++)
        sum[s] = p->sum[s / PART_Z * POINTS + INDEX(u, v, first + s % PART_Z)];
#if LEY_FIELD
    const real x = p->x[u], y = p->y[v] + SHIFT_Y(p, u);
    real z[PART_Z];
    UNROLL for (int w = 0; w < PART_Z; w++)
        z[w] = p->z[first + w] + SHIFT_Z(p, u, v);
#endif
    for (int i = 0; i < n; i++) {
        const int j = as_int(list[i]);
        const real dxy2 = t->dxy2[j];
        UNROLL for (int w = 0; w < PART_Z; w++) {
            const real r2 = dxy2 + ALONG_Z2(t, j, first, w);
            add_term(&sum[w], &c, r2, root_of(r2), t->charge[j], SECOND_OF(t, j), THIRD_OF(t, j));
#if LEY_FIELD
            add_field(sum, w, PART_Z, &c, r2, root_of(r2), r2, t->charge[j], SECOND_OF(t, j), THIRD_OF(t, j),
                      x - t->x[j], y - t->y[j], z[w] - t->z[j]);
#endif
        }
    }
    UNROLL for (int s = 0; s < PART_SUMS; s++)
        p->sum[s / PART_Z * POINTS + INDEX(u, v, first + s % PART_Z)] = sum[s];
}

#if LEY_PAIR_CANCELS
/* The same with care. */
LEY_FN void sum_list_carefully(points *p, const tile *t, const scalar *list, int n, int u, int v, int first)
{
    staged s;
    PLANES_OF_COLUMN(first);
    for (int i = 0; i < n; i++) {
        const int j = as_int(list[i]);
        for (int w = 0; w < PART_Z; w++) {
            const real r2 = t->dxy2[j] + ALONG_Z2(t, j, first, w);
            const real value = careful_value(p, r2, root_of(r2) * (real)TERM_SCALE, s);
            p->sum[INDEX(u, v, first + w)] += t->charge[j] * (r2 < p->limits.x ? value : (real)0);
#if LEY_FIELD
            s.a.w = t->charge[j];
            add_field_carefully(p, INDEX(u, v, first + w), r2, s, p->x[u] - t->x[j],
                                p->y[v] + SHIFT_Y(p, u) - t->y[j], p->z[first + w] + SHIFT_Z(p, u, v) - t->z[j]);
#endif
        }
    }
}
#endif

LEY_FN void sum_tile(points *p, tile *t, int count)
{
    int n[PARTS];
    measure_planes(p, t, count);
    for (int u = 0; u < LEY_UX; u++) {
        measure_x(p, t, count, u);
        for (int v = 0; v < LEY_UY; v++) {
            prune(p, t, count, u, v, n);
            for (int k = 0; k < PARTS; k++) {
#if LEY_PAIR_CANCELS
                if (p->careful) {
                    sum_list_carefully(p, t, t->list[k], n[k], u, v, k * PART_Z);
                    continue;
                }
#endif
                sum_list(p, t, t->list[k], n[k], u, v, k * PART_Z);
            }
            UNROLL for (int c = 0; c < LEY_COMPONENTS(LEY_FIELD); c++)
                FOR_Z(w) end_tile(p, c * POINTS + INDEX(u, v, w));
        }
    }
}

/* Bins are read four slots at a time, so many fours each; CHUNKS of these make a vector. Behind the
 * last slot of a bin whose depth is no multiple of four follow others', which are put away. */
#define FOURS ((LEY_DEPTH + 3) / 4)
#define CHUNKS (LEY_WIDTH / 4)
#define AWAY(slot) ((slot) < LEY_DEPTH ? 0.0f : NOWHERE)
#define FOUR(v) ((float16)(v, v, v, v))

/* One number of each slot. */
#if LEY_WIDTH == 4
#define OF_CHUNKS(c, numbers) ((real)((c)[0].numbers))
#elif LEY_WIDTH == 8
#define OF_CHUNKS(c, numbers) ((real)((c)[0].numbers, (c)[1].numbers))
#else
#define OF_CHUNKS(c, numbers) ((real)((c)[0].numbers, (c)[1].numbers, (c)[2].numbers, (c)[3].numbers))
#endif

typedef float16 unaligned_float16 __attribute__((aligned(4)));
typedef float8 unaligned_float8 __attribute__((aligned(4)));
typedef int16 unaligned_int16 __attribute__((aligned(4)));

/* Bins within reach: where they begin, from the region's first point, and their first slots. */
#define MOST_FOUND 64
typedef struct {
    int count;
    size_t slot[MOST_FOUND + CHUNKS];
    float4 at[MOST_FOUND + CHUNKS];
} found_bins;

/* Adds those of a vector's atoms that are marked, which are near the region. */
LEY_FN void add_marked(points *p, unsigned marks, real x, real y, real z, real charge, real second, real third,
                       real lost_x, real lost_y, real lost_z)
{
    scalar lanes[9][LEY_WIDTH];
    atom lost = (atom)(0, 0, 0, 0);
    *(unaligned_real *)lanes[0] = x;
    *(unaligned_real *)lanes[1] = y;
    *(unaligned_real *)lanes[2] = z;
    *(unaligned_real *)lanes[3] = charge;
    *(unaligned_real *)lanes[4] = second;
    *(unaligned_real *)lanes[5] = third;
#if LEY_FINE
    *(unaligned_real *)lanes[6] = lost_x;
    *(unaligned_real *)lanes[7] = lost_y;
    *(unaligned_real *)lanes[8] = lost_z;
#endif
    for (; marks != 0; marks &= marks - 1) {
        const int i = LEY_LOWEST_BIT(marks);
        staged s;
        s.a = (atom)(lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i]);
#if LEY_PAIR_MORE(LEY_PAIR) > 0
        s.more = (float2)(lanes[4][i], lanes[5][i]);
#endif
#if LEY_FINE
        lost = (atom)(lanes[6][i], lanes[7][i], lanes[8][i], 0);
#endif
        add_near(p, s, lost);
    }
}

/* As many slots as a vector has lanes, from so many fours of the bins on: puts their atoms within
 * reach into a tile, which has n, and adds those near the region. Returns how many it has then. */
LEY_FN int stage(points *p, const bins *b, const found_bins *f, int first, tile *t, int n)
{
    const float16 scale = FOUR((float4)(p->step.w, p->step.w, p->step.w, TERM_SCALE));
    float16 slots[CHUNKS], lost[CHUNKS];
    UNROLL for (int c = 0; c < CHUNKS; c++) {
        const int i = (first + c) / FOURS, four = (first + c) % FOURS;
        const float16 in_bin = *(__global const unaligned_float16 *)(b->slots + f->slot[i] + 4 * four) * scale,
                      corner = FOUR(f->at[i]);
        slots[c] = in_bin + corner;
#if LEY_FINE
        const float16 added = slots[c] - in_bin;
        lost[c] = (in_bin - (slots[c] - added)) + (corner - added);
#else
        lost[c] = 0;
#endif
    }
    real x = OF_CHUNKS(slots, s048c), y = OF_CHUNKS(slots, s159d), z = OF_CHUNKS(slots, s26ae),
         charge = OF_CHUNKS(slots, s37bf), second = 0, third = 0;
#if LEY_DEPTH % 4 != 0
    float4 away[CHUNKS];
    UNROLL for (int c = 0; c < CHUNKS; c++) {
        const int slot = (first + c) % FOURS * 4;
        away[c] = (float4)(AWAY(slot), AWAY(slot + 1), AWAY(slot + 2), AWAY(slot + 3));
    }
    x = OF_CHUNKS(away, xyzw) > 0 ? (real)NOWHERE : x; /* whatever stands there, which may be no number */
#endif
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float8 more[CHUNKS];
    UNROLL for (int c = 0; c < CHUNKS; c++) {
        const size_t at = f->slot[(first + c) / FOURS] + (first + c) % FOURS * 4;
        more[c] = *(__global const unaligned_float8 *)(b->more + at);
    }
    second = OF_CHUNKS(more, s0246);
    third = OF_CHUNKS(more, s1357);
#endif
    const real dx = beyond(x, 0, p->extent.x), dy = beyond(y, LOWEST(p, y), p->extent.y),
               dz = beyond(z, LOWEST(p, z), p->extent.z),
               d2 = dx * dx + dy * dy + dz * dz;
    const unsigned near = marks_below(d2, p->limits.w), wanted = marks_below(d2, p->limits.x) & ~near;
    append(t->x, n, x, wanted);
    append(t->y, n, y, wanted);
    append(t->z, n, z, wanted);
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    append(t->second, n, second, wanted);
    append(t->third, n, third, wanted);
#endif
    if (near != 0)
        add_marked(p, near, x, y, z, charge, second, third, OF_CHUNKS(lost, s048c), OF_CHUNKS(lost, s159d),
                   OF_CHUNKS(lost, s26ae));
    return append(t->charge, n, charge, wanted);
}

/* Stages the atoms of the bins found, and sums whenever the tile is full. */
LEY_FN int stage_found(points *p, const bins *b, found_bins *f, tile *t, int n)
{
    const int fours = f->count * FOURS;
    for (int c = 0; c < CHUNKS && f->count > 0; c++) { /* what makes the last vector whole lies nowhere */
        f->slot[f->count + c] = f->slot[f->count - 1];
        f->at[f->count + c] = (float4)(NOWHERE, NOWHERE, NOWHERE, 0);
    }
    for (int first = 0; first < fours; first += CHUNKS) {
        if (n > LEY_TILE - LEY_WIDTH) {
            sum_tile(p, t, n);
            n = 0;
        }
        n = stage(p, b, f, first, t, n);
    }
    f->count = 0;
    return n;
}

#if LEY_PAIR_CANCELS
/* A cell has two points along each axis, where a vector's lane has as many: each lane has
 * CELLS_X x CELLS_Y x CELLS_Z of them, side by side. */
#define CELL(points) ((points) < 2 ? (points) : 2)
#define CELLS_X (LEY_UX / CELL(LEY_UX))
#define CELLS_Y (LEY_UY / CELL(LEY_UY))
#define CELLS_Z (LEY_UZ / CELL(LEY_UZ))
#define CELLS (CELLS_X * CELLS_Y * CELLS_Z)

/* What squares of distances from an atom are at most in a lane's cells along an axis. */
LEY_FN void find_farthest(scalar x, real lanes, int cells, int edge, scalar h, real *farthest2)
{
    UNROLL for (int c = 0; c < cells; c++) {
        const real low = (lanes * cells + c) * (edge * h);
        farthest2[c] = farther2(x, low, low + (edge - 1) * h);
    }
}

#if LEY_OBLIQUE
/* What a cell spans along y and z depends on which columns it has. */
LEY_FN void add_worths(const points *p, atom a, real sums[CELLS])
{
    for (int i = 0; i < CELLS; i++) {
        const real first_x = (LANES_X * CELLS_X + i % CELLS_X) * CELL(LEY_UX),
                   first_y = (LANES_Y * CELLS_Y + i / CELLS_X % CELLS_Y) * CELL(LEY_UY),
                   first_z = (LANES_Z * CELLS_Z + i / (CELLS_X * CELLS_Y)) * CELL(LEY_UZ);
        const real low_x = first_x * p->step.x, high_x = low_x + (CELL(LEY_UX) - 1) * p->step.x;
        real low_y = first_y * p->step.y, high_y = low_y + (CELL(LEY_UY) - 1) * p->step.y,
             low_z = first_z * p->step.z, high_z = low_z + (CELL(LEY_UZ) - 1) * p->step.z;
        widen(first_x, CELL(LEY_UX), p->shear.x, &low_y, &high_y);
        widen(first_x, CELL(LEY_UX), p->shear.y, &low_z, &high_z);
        widen(first_y, CELL(LEY_UY), p->shear.z, &low_z, &high_z);
        sums[i] += worth(p, a.w, farther2(a.x, low_x, high_x) + farther2(a.y, low_y, high_y) +
                                     farther2(a.z, low_z, high_z));
    }
}
#else
LEY_FN void add_worths(const points *p, atom a, real sums[CELLS])
{
    real x[CELLS_X], y[CELLS_Y], z[CELLS_Z];
    find_farthest(a.x, LANES_X, CELLS_X, CELL(LEY_UX), p->step.x, x);
    find_farthest(a.y, LANES_Y, CELLS_Y, CELL(LEY_UY), p->step.y, y);
    find_farthest(a.z, LANES_Z, CELLS_Z, CELL(LEY_UZ), p->step.z, z);
    UNROLL for (int i = 0; i < CELLS; i++)
        sums[i] += worth(p, a.w, x[i % CELLS_X] + y[i / CELLS_X % CELLS_Y] + z[i / (CELLS_X * CELLS_Y)]);
}
#endif

/* Whether the bins close to the region leave a cell of it uncovered. */
LEY_FN bool is_fringe(const points *p, const bins *b, found home, int n_close)
{
    real sums[CELLS];
    bool uncovered = true;
    UNROLL for (int i = 0; i < CELLS; i++)
        sums[i] = 0;
    for (int e = 0; e < n_close && uncovered; e++) {
        found f;
        real least;
        find(p, home, b->table[e], &f);
        for (int slot = 0; slot < LEY_DEPTH; slot++) {
            const atom a = b->slots[(size_t)f.bin * LEY_DEPTH + slot];
            if (a.w != 0)
                add_worths(p, (atom)(a.x * p->step.w + f.x, a.y * p->step.w + f.y, a.z * p->step.w + f.z, a.w), sums);
        }
        least = sums[0];
        UNROLL for (int i = 1; i < CELLS; i++)
            least = sums[i] < least ? sums[i] : least;
        uncovered = marks_below(least, p->fringe.y) != 0;
    }
    return uncovered;
}
#endif

/* Which of as many entries of the table as a vector has lanes are of bins within reach. */
LEY_FN unsigned find_vector(const points *p, found home, CONSTANT_SPACE const int4 *table)
{
    float16 entries[CHUNKS];
    UNROLL for (int c = 0; c < CHUNKS; c++)
        entries[c] = convert_float16(*(CONSTANT_SPACE const unaligned_int16 *)(table + 4 * c));
    const scalar slack = p->side.w;
    const real x = OF_CHUNKS(entries, s048c) * p->side.x + home.x, y = OF_CHUNKS(entries, s159d) * p->side.y + home.y,
               z = OF_CHUNKS(entries, s26ae) * p->side.z + home.z;
    const real dx = beyond(x, -p->side.x - slack, p->extent.x + slack),
               dy = beyond(y, LOWEST(p, y) - p->side.y - slack, p->extent.y + slack),
               dz = beyond(z, LOWEST(p, z) - p->side.z - slack, p->extent.z + slack);
    return marks_below(dx * dx + dy * dy + dz * dz, p->limits.x);
}

/* Puts a bin and those in which it goes on to those found. */
LEY_FN int add_found(points *p, const bins *b, found f, found_bins *near, tile *t, int n)
{
    int next = 0, end = 0;
    if (b->has_extra) {
        next = b->extra[f.bin];
        end = b->extra[f.bin + 1];
    }
    for (;;) {
        near->at[near->count] = (float4)(f.x, f.y, f.z, 0);
        near->slot[near->count++] = (size_t)f.bin * LEY_DEPTH;
        if (near->count == MOST_FOUND)
            n = stage_found(p, b, near, t, n);
        if (next >= end)
            return n;
        f.bin = next++;
    }
}

LEY_FN void sum_neighbourhood(points *p, const bins *b, found home)
{
    tile t;
    found_bins near;
    found f;
    int n = 0, e = 0;
    near.count = 0;
    for (; e + LEY_WIDTH <= b->n_table; e += LEY_WIDTH)
        for (unsigned marks = find_vector(p, home, b->table + e); marks != 0; marks &= marks - 1) {
            find(p, home, b->table[e + LEY_LOWEST_BIT(marks)], &f);
            n = add_found(p, b, f, &near, &t, n);
        }
    for (; e < b->n_table; e++)
        if (find(p, home, b->table[e], &f))
            n = add_found(p, b, f, &near, &t, n);
    n = stage_found(p, b, &near, &t, n);
    sum_tile(p, &t, n);
}

/* Where a vector's values go, from that of the first one: row by row of its lanes. */
LEY_FN void put_values(__global float *gm_point, size_t row, size_t plane, real value)
{
    typedef LEY_PASTE(float, LEY_LX) lanes_x __attribute__((aligned(4)));
    float lanes[LEY_WIDTH];
    *(unaligned_real *)lanes = value;
    UNROLL for (int y = 0; y < LEY_LY; y++)
        UNROLL for (int z = 0; z < LEY_LZ; z++) {
            const float *first = lanes + y * LEY_LX * LEY_LZ + z;
#if LEY_LX == 2
            *(__global lanes_x *)(gm_point + z * plane + y * row) = (lanes_x)(first[0], first[LEY_LZ]);
#else
            *(__global lanes_x *)(gm_point + z * plane + y * row) =
                (lanes_x)(first[0], first[LEY_LZ], first[2 * LEY_LZ], first[3 * LEY_LZ]);
#endif
        }
}

#endif
