/* Short-range potentials on regions of a lattice, from atoms in bins: the CUDA twin of cl/cutoff.cl, which explains what it does and why.
 * The same arguments, the same specification keys.
 *
 * What differs: a table in constant memory is a symbol, which the back end fills before a launch; a warp votes by itself. */
#include "dialect.cuh"
#include "regions.h"

#define CONSTANT_SPACE LEY_CONSTANT

#define ITEMS (LEY_LX * LEY_LY * LEY_LZ)

/* A group of one warp needs no barrier of the block. */
#if ITEMS == 32 && __CUDACC_VER_MAJOR__ >= 9
#define SYNCHRONIZE() __syncwarp()
#else
#define SYNCHRONIZE() __syncthreads()
#endif

#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
typedef double total;
#else
typedef real total;
#endif

struct points {
    atom step, side, limits, series, fringe;
    atom extent;               /* of the region */
    real x[LEY_UX], y[LEY_UY]; /* the points' coordinates from the region's lowest corner */
    scalar z[LEY_UZ];
    real sum[POINTS];
    /* In shared memory, the k-th point's number k ITEMS: totals of the sums over a tile's atoms each, and of these Kahan's carry, what the last
     * addition lost, its sign turned. */
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    total *totals;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    real *carry;
#endif
};

/* An atom as it is staged: its place from the region's lowest corner in units, and its own numbers. */
struct staged {
    atom a;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float2 more;
#endif
};
#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND(s) (s).more.x
#define THIRD(s) (s).more.y
#else
#define SECOND(s) 0
#define THIRD(s) 0
#endif

/* What is in global memory. */
struct bins {
    const int4 *__restrict__ table;
    int n_table;
    const atom *__restrict__ slots;
    const float2 *__restrict__ more;
    const int *__restrict__ extra;
    int has_extra;
};

/* A bin in reach: where it begins from the region's lowest corner, and its number. */
struct __align__(16) found {
    float x, y, z;
    int bin;
};

#if LEY_TABLE == LEY_ATOMS_CONSTANT
/* 64,000 bytes: the back end copies the table here. */
__constant__ int4 cm_first[64000 / sizeof(int4)]; /* CUDA_CONSTANT_SYMBOL_BYTES */
#define TABLE(b, i) cm_first[i]
#else
#define TABLE(b, i) (b).table[i]
#endif

LEY_FN void clear(points &p)
{
    UNROLL for (int k = 0; k < POINTS; k++) {
        p.sum[k] = 0;
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
        p.totals[k * ITEMS] = 0;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
        p.carry[k * ITEMS] = 0;
#endif
    }
}

/* Adds a point's sum over a tile's atoms to its total. */
LEY_FN void end_tile(points &p, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    p.totals[k * ITEMS] += (double)p.sum[k];
    p.sum[k] = 0;
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    const real before = p.totals[k * ITEMS], term = p.sum[k] - p.carry[k * ITEMS], after = before + term;
    p.carry[k * ITEMS] = (after - before) - term;
    p.totals[k * ITEMS] = after;
    p.sum[k] = 0;
#endif
}

LEY_FN real result(const points &p, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    return (float)p.totals[k * ITEMS];
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    return p.totals[k * ITEMS] - p.carry[k * ITEMS];
#else
    return p.sum[k];
#endif
}

/* The pair function's value at this distance, 0 beyond the cutoff, added to a sum. The unit is such that beyond `near` no value is
 * above 1, where LEY_SATURATE ends. */
LEY_FN void add_term(real &sum, const points &p, real r2, real inverse_r, scalar first, scalar second, scalar third)
{
    const real value = ley_pair_value(r2, inverse_r, p.series, p.limits.z, first, second, third);
    const scalar factor = LEY_PAIR_OF_CHARGE ? first : 1;
#if LEY_PAIR == LEY_PAIR_SPEC_TESTED
    sum += value;
#elif LEY_PAIR_ENDS && LEY_PRUNE
    sum += factor * LEY_SATURATE(value);
#elif LEY_PAIR_ENDS
    sum += factor * fmaxf(value, 0);
#else
    if (r2 < p.limits.x)
        sum += factor * value;
#endif
}

/* The value in full precision, the distance being clamped. */
LEY_FN real careful_value(const points &p, real r2, const staged &s)
{
    const real inverse_r = LEY_RSQRT(r2);
#if LEY_PAIR_CANCELS
    return ley_factored_value(r2, inverse_r, p.fringe.x, p.fringe.z);
#else
    return ley_pair_value(r2, inverse_r, p.series, p.limits.z, s.a.w, SECOND(s), THIRD(s));
#endif
}

/* An atom near the region, or any atom of a fringe. */
LEY_FN void add_near(points &p, const staged &s)
{
    const atom a = s.a;
    FOR_Y(v) FOR_X(u) {
        const real dx = p.x[u] - a.x, dy = p.y[v] - a.y, dxy2 = dx * dx + dy * dy;
        FOR_Z(w) {
            const scalar dz = p.z[w] - a.z;
            const real r2 = dxy2 + dz * dz, value = careful_value(p, ley_clamped_r2(r2, p.limits.y), s);
            const scalar factor = LEY_PAIR_OF_CHARGE ? a.w : 1;
            p.sum[INDEX(u, v, w)] += LEY_PAIR == LEY_PAIR_SPEC_TESTED || r2 < p.limits.x ? factor * value : (real)0;
        }
    }
}

/* How far a box lies from the region, squared. */
LEY_FN scalar distance2(const points &p, scalar x, scalar y, scalar z, scalar size_x, scalar size_y, scalar size_z)
{
    const scalar dx = fmaxf(fmaxf(x - p.extent.x, -(x + size_x)), 0.0f), dy = fmaxf(fmaxf(y - p.extent.y, -(y + size_y)), 0.0f),
                 dz = fmaxf(fmaxf(z - p.extent.z, -(z + size_z)), 0.0f);
    return dx * dx + dy * dy + dz * dz;
}

/* The neighbour of home that an entry of the table says; whether it is in reach. */
LEY_FN bool find(const points &p, const found &home, int4 entry, found *f)
{
    const scalar slack = p.side.w;
    f->x = home.x + entry.x * p.side.x;
    f->y = home.y + entry.y * p.side.y;
    f->z = home.z + entry.z * p.side.z;
    f->bin = home.bin + entry.w;
    return !LEY_PRUNE || distance2(p, f->x - slack, f->y - slack, f->z - slack, p.side.x + 2 * slack, p.side.y + 2 * slack,
                                   p.side.z + 2 * slack) < p.limits.x;
}

/* An atom of a bin, in units from the region's lowest corner, and how far it is from the region, squared. */
LEY_FN scalar fetch(const points &p, const bins &b, const found &f, int slot, staged *s)
{
    const size_t at = (size_t)f.bin * LEY_DEPTH + slot;
    s->a = b.slots[at];
    s->a.x = s->a.x * p.step.w + f.x;
    s->a.y = s->a.y * p.step.w + f.y;
    s->a.z = s->a.z * p.step.w + f.z;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    s->more = b.more[at];
#endif
    return distance2(p, s->a.x, s->a.y, s->a.z, 0, 0, 0);
}

/* Of a fringe all atoms are near. */
LEY_FN void set_fringe(points &p)
{
    p.limits.w = p.limits.x;
}

#if LEY_PAIR_CANCELS
/* The larger square of what is between x and the ends of a half. */
LEY_FN scalar farther2(scalar x, scalar low, scalar high)
{
    const scalar d = fmaxf(x - low, high - x);
    return d * d;
}

/* What a charge is sure to be worth in an octant of the region, from the squared distance of its farthest corner, in fringe.y: at least
 * a quarter of (1 - r^2/a^2)^zero / a. */
LEY_FN int worth(const points &p, scalar charge, scalar farthest2)
{
    const scalar t = fmaxf(1 - farthest2 * p.fringe.z, 0.0f), t3 = t * t * t;
    const scalar least = LEY_ZERO_OF(LEY_PAIR) == 3 ? t3 : LEY_ZERO_OF(LEY_PAIR) == 4 ? t3 * t : t3 * t * t;
    return (int)fminf(fabsf(charge) * p.fringe.y * least, (scalar)LEY_COVERED);
}

/* By octant, along x first. */
LEY_FN void find_worths(const points &p, atom a, int *worths)
{
    const scalar middle_x = REGION_X / 2 * p.step.x, middle_y = REGION_Y / 2 * p.step.y, middle_z = REGION_Z / 2 * p.step.z;
    const scalar x[2] = {farther2(a.x, 0, middle_x - p.step.x), farther2(a.x, middle_x, p.extent.x)};
    const scalar y[2] = {farther2(a.y, 0, middle_y - p.step.y), farther2(a.y, middle_y, p.extent.y)};
    const scalar z[2] = {farther2(a.z, 0, middle_z - p.step.z), farther2(a.z, middle_z, p.extent.z)};
    UNROLL for (int o = 0; o < OCTANTS; o++)
        worths[o] = worth(p, a.w, x[o & 1] + y[o >> 1 & 1] + z[o >> 2]);
}
#endif

/* How many threads before this one want something, and how many of all. */
#if ITEMS == 32 && __CUDA_ARCH__ >= 200
LEY_FN int rank_of(bool wants, int item, unsigned *, int *count)
{
#if __CUDACC_VER_MAJOR__ >= 9
    const unsigned votes = __ballot_sync(0xffffffffu, wants);
#else
    const unsigned votes = __ballot(wants);
#endif
    *count = __popc(votes);
    return __popc(votes & ((1u << item) - 1));
}
#else
LEY_FN int rank_of(bool wants, int item, unsigned *sm_marks, int *count)
{
    int before = 0, all = 0;
    SYNCHRONIZE();
    ((unsigned char *)sm_marks)[item] = wants;
    SYNCHRONIZE();
    for (int w = 0; w < ITEMS / 4; w++) { /* four marks at a time: the highest byte of the product is their sum */
        const unsigned marks = sm_marks[w], lower = (1u << 8 * (item % 4)) - 1;
        if (w == item / 4)
            before = all + (int)(((marks & lower) * 0x01010101u) >> 24);
        all += (int)((marks * 0x01010101u) >> 24);
    }
    *count = all;
    return before;
}
#endif

/* Where a vote is a round through local memory, a class more is one more of them, not more of the program. */
#if ITEMS == 32
#define UNROLL_VOTES UNROLL
#else
#define UNROLL_VOTES
#endif

/* Shared memory: atoms within reach, as they were found and sorted; bins within reach; marks. */
struct shared {
    staged tile[LEY_TILE];
#if LEY_PRUNE
    staged sorted[LEY_TILE];
    int class_of[LEY_TILE];
#endif
    found bins[2 * ITEMS];
    unsigned marks[ITEMS / 4];
#if LEY_PAIR_CANCELS
    int worths[OCTANTS];
#endif
};

#if LEY_PAIR_CANCELS
/* Whether the bins close to the region leave an octant of it uncovered. */
LEY_FN bool is_fringe(const points &p, const bins &b, const found &home, int n_close, int item, shared *sm)
{
    bool uncovered = true;
    if (item < OCTANTS)
        sm->worths[item] = 0;
    for (int first = 0; first < n_close * LEY_DEPTH && uncovered; first += ITEMS) {
        const int i = first + item;
        SYNCHRONIZE();
        if (i < n_close * LEY_DEPTH) {
            found f;
            staged s;
            int worths[OCTANTS];
            find(p, home, TABLE(b, i / LEY_DEPTH), &f);
            fetch(p, b, f, i % LEY_DEPTH, &s);
            find_worths(p, s.a, worths);
            UNROLL for (int o = 0; o < OCTANTS; o++)
                if (worths[o] > 0)
                    atomicAdd(&sm->worths[o], worths[o]);
        }
        SYNCHRONIZE();
        uncovered = false;
        UNROLL for (int o = 0; o < OCTANTS; o++)
            uncovered = uncovered || sm->worths[o] < LEY_COVERED;
    }
    SYNCHRONIZE();
    return uncovered;
}
#endif

/* Adds an atom that is farther than r_min from the region, or where nothing is pruned any atom, to the points of these halves. */
LEY_FN void add(points &p, const staged &s, int half_x, int half_z)
{
    const atom a = s.a;
    scalar dz2[LEY_UZ];
    FOR_Z(w) {
        const scalar dz = p.z[w] - a.z;
        dz2[w] = dz * dz;
    }
    FOR_Y(v) FOR_X(u) if (IS_IN(half_x, u, LEY_UX)) {
        const scalar dx = p.x[u] - a.x, dy = p.y[v] - a.y, dxy2 = dx * dx + dy * dy;
        FOR_Z(w) if (IS_IN(half_z, w, LEY_UZ)) {
            const int k = INDEX(u, v, w);
            const scalar r2 = LEY_PRUNE ? dxy2 + dz2[w] : ley_clamped_r2(dxy2 + dz2[w], p.limits.y);
            add_term(p.sum[k], p, r2, ley_unscaled_root(r2) * LEY_ROOT_SCALE, a.w, SECOND(s), THIRD(s));
        }
    }
}

LEY_FN void add_list(points &p, const staged *sm_list, int from, int to, int half_x, int half_z)
{
    for (int j = from; j < to; j++)
        add(p, sm_list[j], half_x, half_z);
}

#if LEY_PRUNE
/* How far x is from [low, high], squared. */
LEY_FN scalar beyond(scalar x, scalar low, scalar high)
{
    const scalar d = fmaxf(fmaxf(low - x, x - high), 0.0f);
    return d * d;
}

/* The half that an atom is in reach of, of which at least one is, for all distances across (squared) below `limit`. */
LEY_FN int half_of(scalar lower2, scalar upper2, scalar limit)
{
    return lower2 < limit ? (upper2 < limit ? BOTH : LOWER) : UPPER;
}

LEY_FN int class_of(const points &p, atom a)
{
    const scalar middle_x = REGION_X / 2 * p.step.x, middle_z = REGION_Z / 2 * p.step.z;
    const scalar x_low = beyond(a.x, 0, middle_x - p.step.x), x_high = beyond(a.x, middle_x, p.extent.x);
    const scalar z_low = beyond(a.z, 0, middle_z - p.step.z), z_high = beyond(a.z, middle_z, p.extent.z);
    const scalar x2 = fminf(x_low, x_high), y2 = beyond(a.y, 0, p.extent.y), z2 = fminf(z_low, z_high);
    if (beyond(a.x, 0, p.extent.x) + y2 + beyond(a.z, 0, p.extent.z) < p.limits.w)
        return NEAR;
    if (!LEY_SPLIT)
        return 0;
    return 3 * half_of(x_low, x_high, p.limits.x - y2 - z2) + half_of(z_low, z_high, p.limits.x - y2 - x2);
}

/* Sorts what is staged by class, in the order in which it was found; end[c] becomes where class c ends. */
LEY_FN void sort(const points &p, shared *sm, int count, int item, int *end)
{
    int n, before = 0;
    UNROLL_VOTES for (int c = 0; c < CLASSES; c++)
        end[c] = 0;
    for (int first = 0; first < count; first += ITEMS) {
        int own = -1;
        if (first + item < count)
            sm->class_of[first + item] = own = class_of(p, sm->tile[first + item].a);
        UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
            rank_of(own == c, item, sm->marks, &n);
            end[c] += n;
        }
    }
    UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
        n = end[c];
        end[c] = before;
        before += n;
    }
    for (int first = 0; first < count; first += ITEMS) {
        const int own = first + item < count ? sm->class_of[first + item] : -1;
        int at = 0;
        UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
            const int rank = rank_of(own == c, item, sm->marks, &n);
            at = own == c ? end[c] + rank : at;
            end[c] += n;
        }
        if (own >= 0)
            sm->sorted[at] = sm->tile[first + item];
    }
    SYNCHRONIZE();
}
#endif

/* Sums what is staged. */
LEY_FN void sum_tile(points &p, shared *sm, int count, int item)
{
    int end[CLASSES], from = 0;
    SYNCHRONIZE();
#if LEY_PRUNE
    sort(p, sm, count, item, end);
    const staged *sm_list = sm->sorted;
#else
    end[0] = p.limits.w < p.limits.x ? count : 0;
    end[NEAR] = count;
    const staged *sm_list = sm->tile;
#endif
    UNROLL for (int c = 0; c < CLASSES; c++) {
        if (c == NEAR)
            for (int j = from; j < end[c]; j++)
                add_near(p, sm_list[j]);
        else
            add_list(p, sm_list, from, end[c], c / 3, c % 3);
        from = end[c];
    }
    UNROLL for (int k = 0; k < POINTS; k++)
        end_tile(p, k);
    SYNCHRONIZE();
}

/* Stages the atoms of the bins found, and sums when the tile is full, or at last. */
LEY_FN void stage(points &p, const bins &b, shared *sm, int item, int n_bins, bool last, int *staged_atoms)
{
    SYNCHRONIZE();
    for (int first = 0;; first += ITEMS) { /* each step stands here once: what compilers get is large enough */
        const int i = first + item;
        const bool through = first >= n_bins * LEY_DEPTH;
        int count;
        staged s = {};
        if (through ? last : *staged_atoms + ITEMS > LEY_TILE) {
            sum_tile(p, sm, *staged_atoms, item);
            *staged_atoms = 0;
        }
        if (through)
            break;
        bool wants = i < n_bins * LEY_DEPTH;
        if (wants) {
            const scalar d2 = fetch(p, b, sm->bins[i / LEY_DEPTH], i % LEY_DEPTH, &s);
            wants = !LEY_PRUNE || d2 < p.limits.x;
        }
        const int rank = rank_of(wants, item, sm->marks, &count);
        if (wants)
            sm->tile[*staged_atoms + rank] = s;
        *staged_atoms += count;
    }
    SYNCHRONIZE();
}

/* Goes through the table; after each step through the bins in which those found go on, one after the other. */
LEY_FN void sum_neighbourhood(points &p, const bins &b, found home, int item, shared *sm)
{
    int n_bins = 0, staged_atoms = 0, first = 0, count = 0, next = 0, end = 0;
    found f = {};
    for (bool last = false; !last;) {
        bool wants = false;
        if (b.has_extra && count > 0) {
            wants = next < end;
            f.bin = next++;
        } else {
            last = first >= b.n_table;
            next = end = 0;
            if (first + item < b.n_table) {
                wants = find(p, home, TABLE(b, first + item), &f);
                if (wants && b.has_extra) {
                    next = b.extra[f.bin];
                    end = b.extra[f.bin + 1];
                }
            }
            first += ITEMS;
        }
        const int rank = rank_of(wants, item, sm->marks, &count);
        if (wants)
            sm->bins[n_bins + rank] = f;
        n_bins += count;
        if (n_bins > ITEMS || last) {
            stage(p, b, sm, item, n_bins, last, &staged_atoms);
            n_bins = 0;
        }
    }
}

LEY_FN void store(const points &p, float *gm_phi)
{
    const size_t groups_x = gridDim.x, groups_y = gridDim.y, x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
#if LEY_STORE == LEY_STORE_ROWS
    const size_t row = groups_x * REGION_X, plane = groups_y * REGION_Y * row;
    float *gm_first = gm_phi + z * REGION_Z * plane + y * REGION_Y * row + x * REGION_X;
#else
    const size_t row = REGION_X, plane = REGION_X * REGION_Y;
    float *gm_first = gm_phi + ((z * groups_y + y) * groups_x + x) * (REGION_Z * plane);
#endif
    FOR_Z(w) FOR_Y(v) FOR_X(u)
        gm_first[(threadIdx.z + w * LEY_LZ) * plane + (threadIdx.y + v * LEY_LY) * row + threadIdx.x + u * LEY_LX] =
            result(p, INDEX(u, v, w));
}

LEY_KERNEL_OF(LEY_LX, LEY_LY, LEY_LZ) cutoff(LEY_PARAMETERS(LEY_CUTOFF_ARGUMENTS))
{
    __shared__ shared sm;
    const int2 home_x = gm_homes[blockIdx.x], home_y = gm_homes[gridDim.x + blockIdx.y],
               home_z = gm_homes[gridDim.x + gridDim.y + first_region + blockIdx.z];
    const found home = {__int_as_float(home_x.y), __int_as_float(home_y.y), __int_as_float(home_z.y), home_x.x + home_y.x + home_z.x};
    const bins b = {gm_table, n_table, gm_slots, gm_more, gm_extra, has_extra};
    points p;
    p.step = step;
    p.side = side;
    p.limits = limits;
    p.series = series;
    p.fringe = fringe;
    p.extent.x = (REGION_X - 1) * step.x;
    p.extent.y = (REGION_Y - 1) * step.y;
    p.extent.z = (REGION_Z - 1) * step.z;
    FOR_X(u) p.x[u] = ((int)threadIdx.x + u * LEY_LX) * step.x;
    FOR_Y(v) p.y[v] = ((int)threadIdx.y + v * LEY_LY) * step.y;
    FOR_Z(w) p.z[w] = ((int)threadIdx.z + w * LEY_LZ) * step.z;
    const int item = threadIdx.x + LEY_LX * (threadIdx.y + LEY_LY * threadIdx.z);
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    __shared__ total sm_totals[POINTS * ITEMS];
    p.totals = sm_totals + item;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    __shared__ real sm_carry[POINTS * ITEMS];
    p.carry = sm_carry + item;
#endif
    clear(p);
#if LEY_PAIR_CANCELS
    if (is_fringe(p, b, home, n_close, item, &sm))
        set_fringe(p);
#endif
    sum_neighbourhood(p, b, home, item, &sm);
    store(p, gm_phi);
}
