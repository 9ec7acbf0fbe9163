/* Short-range potentials on regions of a lattice, from atoms in bins:
 *
 *     phi(r_i) = sum over atoms j with |r_i - r_j| < a of q_j f(max(|r_i - r_j|, r_min))
 *
 * gm_table      {dx, dy, dz, offset} each: the bins around a region's own ("home"), as steps along the axes and in bins
 * n_table       how many
 * gm_homes      for each region along x, then y, then z: {bins from bin 0 to home along that axis; home's lowest coordinate less the
 *               region's, units, as the bits of a float}
 * first_region  index along z of the launch's first regions
 * gm_slots      [bins][LEY_DEPTH] {x, y, z, first}: A from the bin's lowest corner, and the atom's charge times every constant factor (or the
 *               first number that LEY_PAIR takes); unused slots lie beyond any cutoff. Behind the lattice's bins those that hold what
 *               these have no room for
 * gm_more       [bins][LEY_DEPTH] {second, third}: the atoms' further numbers; read only where LEY_PAIR has any
 * gm_extra      bin b goes on in bins gm_extra[b] to before gm_extra[b + 1]; read only when
 * has_extra     is not 0
 * step          {h_x, h_y, h_z, units in an A}; h in the unit that the sums are in
 * side          {s_x, s_y, s_z, slack}: of a bin, units; by how much an atom may lie outside its bin
 * limits        {a^2, r_min^2, k, near^2}: units^2; k of the pair function; how near atoms are summed apart, at least r_min
 * series        constants of the pair function, see pair.h
 * n_close       of the table, which they begin: bins so close that they may cover a region, see is_fringe()
 * fringe        {1/a, LEY_COVERED / the charge that covers a region, 1/a^2, -}: of functions that LEY_PAIR_CANCELS
 * gm_phi        regions in the order of the work-groups, or rows padded to whole regions: LEY_STORE
 *
 * A work-group computes a region: it looks for bins within reach of the region, stages those of their atoms that are within reach, and
 * sums these at each of its points, so that most of the distances that it computes count. Atoms near the region are summed
 * apart: no maximum in the main loop. Where a pair function's sign tells that the cutoff is passed, it has no test either: cost of a pair
 * then is an addition, a root, the function and a multiply-add. The scheme of regions and bins is that of Stone et al., GPU Gems
 * (2010); what is left out here, LEY_PRUNE 0 keeps. */
#if !defined(LEY_LX) || !defined(LEY_PAIR) || !defined(LEY_TOTAL) || !defined(LEY_TILE) || !defined(LEY_DEPTH)
#error "the specification is incomplete: see LEY_CUTOFF_KEYS in spec.h"
#endif
#include "dialect.h"
#include "regions.h"

#define ITEMS (LEY_WIDTH == 1 ? LEY_LX * LEY_LY * LEY_LZ : 1)

#if LEY_TABLE == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE __constant
#else
#define CONSTANT_SPACE __global
#endif

#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#if LEY_WIDTH == 1
typedef double total;
#define TO_TOTAL(x) ((double)(x))
#define FROM_TOTAL(x) ((float)(x))
#else
typedef LEY_PASTE(double, LEY_WIDTH) total;
#define TO_TOTAL(x) LEY_PASTE(convert_double, LEY_WIDTH)(x)
#define FROM_TOTAL(x) LEY_PASTE(convert_float, LEY_WIDTH)(x)
#endif
#else
typedef real total;
#endif

/* Terms are computed 1/TERM_SCALE times as large, of charges TERM_SCALE times as large: where all terms of the pair function can have the
 * root's factor, it need not be applied to each root. */
#if LEY_WIDTH > 1 && LEY_PAIR_SCALES
#define TERM_SCALE LEY_ROOT_SCALE
#else
#define TERM_SCALE 1
#endif
#define root_of(r2) (ley_unscaled_root(r2) * (real)(1.0f * LEY_ROOT_SCALE / TERM_SCALE))

/* The larger of two numbers; fmax() costs CPUs several instructions for what is no number. */
#if LEY_WIDTH == 1
#define LARGER(a, b) fmax(a, b)
#else
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#endif

#if LEY_WIDTH == 1
#define TOTALS(type, name) __local type *name
#else
#define TOTALS(type, name) type name[POINTS]
#endif

typedef struct {
    atom step, side, limits, series, fringe;
    atom extent;                    /* of the region */
    real x[LEY_UX], y[LEY_UY];      /* the points' coordinates from the region's lowest corner */
    scalar z[LEY_UZ];
    real sum[POINTS];
    /* Totals of the sums over a tile's atoms each, and of these Kahan's carry: what the last addition lost, its sign turned. The k-th
     * point's is number k ITEMS; a work-group has them in local memory. */
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    TOTALS(total, totals);
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    TOTALS(real, carry);
#endif
} points;

/* An atom as it is staged: its place from the region's lowest corner in units, and its own numbers. */
typedef struct {
    atom a;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float2 more;
#endif
} staged;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND(s) (s).more.x
#define THIRD(s) (s).more.y
#define SECOND_OF(t, j) (t)->more[j].x
#define THIRD_OF(t, j) (t)->more[j].y
#else
#define SECOND(s) 0
#define THIRD(s) 0
#define SECOND_OF(t, j) 0
#define THIRD_OF(t, j) 0
#endif

/* What is in global memory. */
typedef struct {
    CONSTANT_SPACE const int4 *table;
    int n_table;
    __global const atom *slots;
    __global const float2 *more;
    __global const int *extra;
    int has_extra;
} bins;

/* A bin in reach: where it begins from the region's lowest corner, and its number. */
typedef struct {
    float x, y, z;
    int bin;
} found;

LEY_FN void clear(points *p)
{
    UNROLL for (int k = 0; k < POINTS; k++) {
        p->sum[k] = 0;
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
        p->totals[k * ITEMS] = 0;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
        p->carry[k * ITEMS] = 0;
#endif
    }
}

/* Adds a point's sum over a tile's atoms to its total. */
LEY_FN void end_tile(points *p, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    p->totals[k * ITEMS] += TO_TOTAL(p->sum[k]);
    p->sum[k] = 0;
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    const real before = p->totals[k * ITEMS], term = p->sum[k] - p->carry[k * ITEMS], after = before + term;
    p->carry[k * ITEMS] = (after - before) - term;
    p->totals[k * ITEMS] = after;
    p->sum[k] = 0;
#endif
}

LEY_FN real result(const points *p, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    return FROM_TOTAL(p->totals[k * ITEMS]);
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    return p->totals[k * ITEMS] - p->carry[k * ITEMS];
#else
    return p->sum[k];
#endif
}

/* The pair function's value at this distance, 0 beyond the cutoff, added to a sum. The unit is such that beyond `near` no value is
 * above 1, where LEY_SATURATE ends. */
LEY_FN void add_term(real *sum, const points *p, real r2, real inverse_r, scalar first, scalar second, scalar third)
{
    const real value = ley_pair_value(r2, inverse_r, p->series, p->limits.z, first, second, third);
    const scalar factor = LEY_PAIR_OF_CHARGE ? first : 1;
#if LEY_PAIR == LEY_PAIR_SPEC_TESTED
    *sum += value;
#elif LEY_PAIR_ENDS && LEY_PRUNE && defined(LEY_SATURATE)
    *sum += factor * LEY_SATURATE(value);
#elif LEY_PAIR_ENDS
    *sum += factor * (value > 0 ? value : (real)0);
#elif LEY_WIDTH == 1
    if (r2 < p->limits.x)
        *sum += factor * value;
#else
    *sum += factor * (r2 < p->limits.x ? value : (real)0);
#endif
}

/* The value in full precision, the distance being clamped. */
LEY_FN real careful_value(const points *p, real r2, staged s)
{
    const real inverse_r = rsqrt(r2);
#if LEY_PAIR_CANCELS
    return ley_factored_value(r2, inverse_r, p->fringe.x, p->fringe.z) * (real)(1.0f / TERM_SCALE);
#else
    return ley_pair_value(r2, inverse_r * (real)(1.0f / TERM_SCALE), p->series, p->limits.z, s.a.w, SECOND(s), THIRD(s));
#endif
}

/* An atom near the region, or any atom of a fringe. */
LEY_FN void add_near(points *p, staged s)
{
    const atom a = s.a;
    FOR_Y(v) FOR_X(u) {
        const real dx = p->x[u] - a.x, dy = p->y[v] - a.y, dxy2 = dx * dx + dy * dy;
        FOR_Z(w) {
            const scalar dz = p->z[w] - a.z;
            const real r2 = dxy2 + dz * dz, value = careful_value(p, ley_clamped_r2(r2, (real)p->limits.y), s);
            const scalar factor = LEY_PAIR_OF_CHARGE ? a.w : 1;
            p->sum[INDEX(u, v, w)] += LEY_PAIR == LEY_PAIR_SPEC_TESTED || r2 < p->limits.x ? factor * value : (real)0;
        }
    }
}

/* How far a box lies from the region, squared. */
LEY_FN scalar distance2(const points *p, scalar x, scalar y, scalar z, scalar size_x, scalar size_y, scalar size_z)
{
    const scalar dx = LARGER(LARGER(x - p->extent.x, -(x + size_x)), 0.0f), dy = LARGER(LARGER(y - p->extent.y, -(y + size_y)), 0.0f),
                 dz = LARGER(LARGER(z - p->extent.z, -(z + size_z)), 0.0f);
    return dx * dx + dy * dy + dz * dz;
}

/* The neighbour of home that an entry of the table says; whether it is in reach. */
LEY_FN bool find(const points *p, found home, int4 entry, found *f)
{
    const scalar slack = p->side.w;
    f->x = home.x + entry.x * p->side.x;
    f->y = home.y + entry.y * p->side.y;
    f->z = home.z + entry.z * p->side.z;
    f->bin = home.bin + entry.w;
    return !LEY_PRUNE || distance2(p, f->x - slack, f->y - slack, f->z - slack, p->side.x + 2 * slack, p->side.y + 2 * slack,
                                   p->side.z + 2 * slack) < p->limits.x;
}

/* Of a fringe all atoms are near. */
LEY_FN void set_fringe(points *p)
{
    p->limits.w = p->limits.x;
}

#if LEY_PAIR_CANCELS
/* The larger square of what is between x and the ends of a half. */
LEY_FN scalar farther2(scalar x, scalar low, scalar high)
{
    const scalar d = LARGER(x - low, high - x);
    return d * d;
}

/* What a charge is sure to be worth in an octant of the region, from the squared distance of its farthest corner, in fringe.y: at least
 * a quarter of (1 - r^2/a^2)^zero / a. */
LEY_FN int worth(const points *p, scalar charge, scalar farthest2)
{
    const scalar t = LARGER(1 - farthest2 * p->fringe.z, 0.0f), t3 = t * t * t;
    const scalar least = LEY_ZERO_OF(LEY_PAIR) == 3 ? t3 : LEY_ZERO_OF(LEY_PAIR) == 4 ? t3 * t : t3 * t * t;
    return (int)fmin(fabs(charge) * p->fringe.y * least, (scalar)LEY_COVERED);
}

/* By octant, along x first. */
LEY_FN void find_worths(const points *p, atom a, int *worths)
{
    const scalar middle_x = REGION_X / 2 * p->step.x, middle_y = REGION_Y / 2 * p->step.y, middle_z = REGION_Z / 2 * p->step.z;
    const scalar x[2] = {farther2(a.x, 0, middle_x - p->step.x), farther2(a.x, middle_x, p->extent.x)};
    const scalar y[2] = {farther2(a.y, 0, middle_y - p->step.y), farther2(a.y, middle_y, p->extent.y)};
    const scalar z[2] = {farther2(a.z, 0, middle_z - p->step.z), farther2(a.z, middle_z, p->extent.z)};
    UNROLL for (int o = 0; o < OCTANTS; o++)
        worths[o] = worth(p, a.w, x[o & 1] + y[o >> 1 & 1] + z[o >> 2]);
}
#endif

#if LEY_WIDTH == 1
/* ---- A work-group's part ------------------------------------------------------------------------------------------------- */

/* An atom of a bin, in units from the region's lowest corner, and how far it is from the region, squared. */
LEY_FN scalar fetch(const points *p, const bins *b, found f, int slot, staged *s)
{
    const size_t at = (size_t)f.bin * LEY_DEPTH + slot;
    s->a = b->slots[at];
    s->a.x = s->a.x * p->step.w + f.x;
    s->a.y = s->a.y * p->step.w + f.y;
    s->a.z = s->a.z * p->step.w + f.z;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    s->more = b->more[at];
#endif
    return distance2(p, s->a.x, s->a.y, s->a.z, 0, 0, 0);
}

/* How many work-items before this one want something, and how many of all. */
#if LEY_PTX && ITEMS == 32
LEY_FN int rank_of(bool wants, int item, __local uint *sm_marks, int *count)
{
    uint votes;
    __asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(votes) : "r"((int)wants));
    *count = popcount(votes);
    return popcount(votes & ((1u << item) - 1));
}
#else
LEY_FN int rank_of(bool wants, int item, __local uint *sm_marks, int *count)
{
    int before = 0, all = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__local uchar *)sm_marks)[item] = wants;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = 0; w < ITEMS / 4; w++) { /* four marks at a time: the highest byte of the product is their sum */
        const uint marks = sm_marks[w], lower = (1u << 8 * (item % 4)) - 1;
        if (w == item / 4)
            before = all + (int)(((marks & lower) * 0x01010101u) >> 24);
        all += (int)((marks * 0x01010101u) >> 24);
    }
    *count = all;
    return before;
}
#endif

/* Where a vote is a round through local memory, a class more is one more of them, not more of the program. */
#if LEY_PTX && ITEMS == 32
#define UNROLL_VOTES UNROLL
#else
#define UNROLL_VOTES
#endif

/* Local memory: atoms within reach, as they were found and sorted; bins within reach; marks. */
typedef struct {
    staged tile[LEY_TILE];
#if LEY_PRUNE
    staged sorted[LEY_TILE];
    int class_of[LEY_TILE];
#endif
    found bins[2 * ITEMS];
    uint marks[ITEMS / 4];
#if LEY_PAIR_CANCELS
    int worths[OCTANTS];
#endif
} shared;

#if LEY_PAIR_CANCELS
/* Whether the bins close to the region leave an octant of it uncovered. */
LEY_FN bool is_fringe(const points *p, const bins *b, found home, int n_close, int item, __local shared *sm)
{
    bool uncovered = true;
    if (item < OCTANTS)
        sm->worths[item] = 0;
    for (int first = 0; first < n_close * LEY_DEPTH && uncovered; first += ITEMS) {
        const int i = first + item;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < n_close * LEY_DEPTH) {
            found f;
            staged s;
            int worths[OCTANTS];
            find(p, home, b->table[i / LEY_DEPTH], &f);
            fetch(p, b, f, i % LEY_DEPTH, &s);
            find_worths(p, s.a, worths);
            UNROLL for (int o = 0; o < OCTANTS; o++)
                if (worths[o] > 0)
                    atomic_add(&sm->worths[o], worths[o]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uncovered = false;
        UNROLL for (int o = 0; o < OCTANTS; o++)
            uncovered = uncovered || sm->worths[o] < LEY_COVERED;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return uncovered;
}
#endif

/* Adds an atom that is farther than r_min from the region, or where nothing is pruned any atom, to the points of these halves. */
LEY_FN void add(points *p, staged s, int half_x, int half_z)
{
    const atom a = s.a;
    scalar dz2[LEY_UZ];
    FOR_Z(w) {
        const scalar dz = p->z[w] - a.z;
        dz2[w] = dz * dz;
    }
    FOR_Y(v) FOR_X(u) if (IS_IN(half_x, u, LEY_UX)) {
        const scalar dx = p->x[u] - a.x, dy = p->y[v] - a.y, dxy2 = dx * dx + dy * dy;
        FOR_Z(w) if (IS_IN(half_z, w, LEY_UZ)) {
            const int k = INDEX(u, v, w);
            const scalar r2 = LEY_PRUNE ? dxy2 + dz2[w] : ley_clamped_r2(dxy2 + dz2[w], p->limits.y);
            add_term(&p->sum[k], p, r2, root_of(r2), a.w, SECOND(s), THIRD(s));
        }
    }
}

LEY_FN void add_list(points *p, __local const staged *sm_list, int from, int to, int half_x, int half_z)
{
    for (int j = from; j < to; j++)
        add(p, sm_list[j], half_x, half_z);
}

#if LEY_PRUNE
/* How far x is from [low, high], squared. */
LEY_FN scalar beyond(scalar x, scalar low, scalar high)
{
    const scalar d = fmax(fmax(low - x, x - high), 0.0f);
    return d * d;
}

/* The half that an atom is in reach of, of which at least one is, for all distances across (squared) below `limit`. */
LEY_FN int half_of(scalar lower2, scalar upper2, scalar limit)
{
    return lower2 < limit ? (upper2 < limit ? BOTH : LOWER) : UPPER;
}

LEY_FN int class_of(const points *p, atom a)
{
    const scalar middle_x = REGION_X / 2 * p->step.x, middle_z = REGION_Z / 2 * p->step.z;
    const scalar x_low = beyond(a.x, 0, middle_x - p->step.x), x_high = beyond(a.x, middle_x, p->extent.x);
    const scalar z_low = beyond(a.z, 0, middle_z - p->step.z), z_high = beyond(a.z, middle_z, p->extent.z);
    const scalar x2 = fmin(x_low, x_high), y2 = beyond(a.y, 0, p->extent.y), z2 = fmin(z_low, z_high);
    if (beyond(a.x, 0, p->extent.x) + y2 + beyond(a.z, 0, p->extent.z) < p->limits.w)
        return NEAR;
    if (!LEY_SPLIT)
        return 0;
    return 3 * half_of(x_low, x_high, p->limits.x - y2 - z2) + half_of(z_low, z_high, p->limits.x - y2 - x2);
}

/* Sorts what is staged by class, in the order in which it was found; end[c] becomes where class c ends. */
LEY_FN void sort(const points *p, __local shared *sm, int count, int item, int *end)
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
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* Sums what is staged. */
LEY_FN void sum_tile(points *p, __local shared *sm, int count, int item)
{
    int end[CLASSES], from = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#if LEY_PRUNE
    sort(p, sm, count, item, end);
    __local const staged *sm_list = sm->sorted;
#else
    end[0] = p->limits.w < p->limits.x ? count : 0;
    end[NEAR] = count;
    __local const staged *sm_list = sm->tile;
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
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Stages the atoms of the bins found, and sums when the tile is full, or at last. */
LEY_FN void stage(points *p, const bins *b, __local shared *sm, int item, int n_bins, bool last, int *staged_atoms)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int first = 0;; first += ITEMS) { /* each step stands here once: what compilers get is large enough */
        const int i = first + item;
        const bool through = first >= n_bins * LEY_DEPTH;
        int count;
        staged s;
        if (through ? last : *staged_atoms + ITEMS > LEY_TILE) {
            sum_tile(p, sm, *staged_atoms, item);
            *staged_atoms = 0;
        }
        if (through)
            break;
        bool wants = i < n_bins * LEY_DEPTH;
        if (wants) {
            const scalar d2 = fetch(p, b, sm->bins[i / LEY_DEPTH], i % LEY_DEPTH, &s);
            wants = !LEY_PRUNE || d2 < p->limits.x;
        }
        const int rank = rank_of(wants, item, sm->marks, &count);
        if (wants)
            sm->tile[*staged_atoms + rank] = s;
        *staged_atoms += count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Goes through the table; after each step through the bins in which those found go on, one after the other. */
LEY_FN void sum_neighbourhood(points *p, const bins *b, found home, int item, __local shared *sm)
{
    int n_bins = 0, staged_atoms = 0, first = 0, count = 0, next = 0, end = 0;
    found f;
    for (bool last = false; !last;) {
        bool wants = false;
        if (b->has_extra && count > 0) {
            wants = next < end;
            f.bin = next++;
        } else {
            last = first >= b->n_table;
            next = end = 0;
            if (first + item < b->n_table) {
                wants = find(p, home, b->table[first + item], &f);
                if (wants && b->has_extra) {
                    next = b->extra[f.bin];
                    end = b->extra[f.bin + 1];
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
#else
/* ---- One work-item's part, for CPU devices ------------------------------------------------------------------------------- */

/* Atoms within reach, as they were found, and their coordinates; of each the squares of its distances from the region's planes, which the
 * inner loop broadcasts. */
typedef struct {
    atom a[LEY_TILE];
    scalar x[LEY_TILE], y[LEY_TILE], z[LEY_TILE];
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float2 more[LEY_TILE];
#endif
    scalar dz2[LEY_TILE * LEY_UZ];
} tile;

/* Of the tile's atoms those within reach of a column: a vector's lanes along x and y, and all planes. LEY_WIDTH at a time. */
LEY_FN int prune(const points *p, const tile *t, int count, int u, int v, int *list)
{
    const scalar low_x = u * LEY_LX * p->step.x, low_y = v * LEY_LY * p->step.y;
    const scalar high_x = low_x + (LEY_LX - 1) * p->step.x, high_y = low_y + (LEY_LY - 1) * p->step.y;
    int n = 0;
    for (int j = 0; j < count; j += LEY_WIDTH) {
        const real x = LEY_LOAD(t->x + j), y = LEY_LOAD(t->y + j), z = LEY_LOAD(t->z + j);
        /* What is between the faces, clamped by comparisons: fmax() of vectors is slow where it minds what is no number. */
        const real from_x = x < low_x ? low_x - x : x - high_x, from_y = y < low_y ? low_y - y : y - high_y, from_z = z < 0 ? -z : z - p->extent.z;
        const real dx = from_x > 0 ? from_x : (real)0, dy = from_y > 0 ? from_y : (real)0, dz = from_z > 0 ? from_z : (real)0;
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

/* Puts an atom behind the n of a tile, and returns how many these are now: it stays if it is wanted, which is -1. */
LEY_FN int put(tile *t, int n, const bins *b, size_t at, atom a, int wanted)
{
    t->a[n] = a;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    t->more[n] = b->more[at];
#endif
    return n - wanted;
}

#define FOUR(v) ((float16)(v, v, v, v))

/* Four of a bin's slots: puts their atoms within reach into a tile, which has n, and adds those near the region. Returns as put() does. Where a
 * bin's slots are no multiple of four, others follow; behind the last bin there is room to read them. */
LEY_FN int stage(points *p, const bins *b, found f, int slot, tile *t, int n)
{
    const size_t at = (size_t)f.bin * LEY_DEPTH + slot;
    const float16 scale = FOUR((float4)(p->step.w, p->step.w, p->step.w, TERM_SCALE)), base = FOUR((float4)(f.x, f.y, f.z, 0));
    const float16 a = vload16(0, (__global const float *)(b->slots + at)) * scale + base;
    const float16 above = a - FOUR(p->extent), beside = LARGER(above, -a), out = LARGER(beside, (float16)0), out2 = out * out;
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
#endif

/* Where a work-item, or a vector's lanes, have their first point. */
#if LEY_WIDTH == 1
#define LANES_X ((real)get_local_id(0))
#define LANES_Y ((real)get_local_id(1))
#define ITEM_Z ((int)get_local_id(2))
#else
#define LANES_Y floor(LEY_LANES * (1.0f / LEY_LX))
#define LANES_X (LEY_LANES - LEY_LX * LANES_Y)
#define ITEM_Z 0
#endif

LEY_FN void store(const points *p, __global float *gm_phi)
{
    const size_t groups_x = get_num_groups(0), groups_y = get_num_groups(1);
    const size_t x = get_group_id(0), y = get_group_id(1), z = get_group_id(2);
#if LEY_STORE == LEY_STORE_ROWS
    const size_t row = groups_x * REGION_X, plane = groups_y * REGION_Y * row;
    __global float *gm_first = gm_phi + z * REGION_Z * plane + y * REGION_Y * row + x * REGION_X;
#else
    const size_t row = REGION_X, plane = REGION_X * REGION_Y;
    __global float *gm_first = gm_phi + ((z * groups_y + y) * groups_x + x) * (REGION_Z * plane);
#endif
    FOR_Z(w) FOR_Y(v) FOR_X(u) {
        __global float *gm_point = gm_first + (ITEM_Z + w * LEY_LZ) * plane + v * LEY_LY * row + u * LEY_LX;
        const real value = result(p, INDEX(u, v, w));
#if LEY_WIDTH == 1
        gm_point[get_local_id(1) * row + get_local_id(0)] = value;
#else
        float lanes[LEY_WIDTH];
        LEY_PASTE(vstore, LEY_WIDTH)(value, 0, lanes);
        for (int lane = 0; lane < LEY_WIDTH; lane++)
            gm_point[lane / LEY_LX * row + lane % LEY_LX] = lanes[lane];
#endif
    }
}

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_LX : 1, LEY_WIDTH == 1 ? LEY_LY : 1, LEY_LZ) cutoff(LEY_PARAMETERS(LEY_CUTOFF_ARGUMENTS))
{
    const int regions_x = get_num_groups(0), regions_y = get_num_groups(1);
    const int2 home_x = gm_homes[get_group_id(0)], home_y = gm_homes[regions_x + get_group_id(1)],
               home_z = gm_homes[regions_x + regions_y + first_region + get_group_id(2)];
    const found home = {as_float(home_x.y), as_float(home_y.y), as_float(home_z.y), home_x.x + home_y.x + home_z.x};
    const bins b = {gm_table, n_table, gm_slots, gm_more, gm_extra, has_extra};
    points p;
    p.step = step;
    p.side = side;
    p.limits = limits;
    p.series = series * (1.0f / TERM_SCALE);
    p.fringe = fringe;
    p.limits.z *= 1.0f / TERM_SCALE;
    p.extent = (atom)((REGION_X - 1) * step.x, (REGION_Y - 1) * step.y, (REGION_Z - 1) * step.z, 0);
    FOR_X(u) p.x[u] = (LANES_X + u * LEY_LX) * step.x;
    FOR_Y(v) p.y[v] = (LANES_Y + v * LEY_LY) * step.y;
    FOR_Z(w) p.z[w] = (ITEM_Z + w * LEY_LZ) * step.z;
#if LEY_WIDTH == 1
    __local shared sm;
    const int item = get_local_id(0) + LEY_LX * (get_local_id(1) + LEY_LY * get_local_id(2));
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    __local total sm_totals[POINTS * ITEMS];
    p.totals = sm_totals + item;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    __local real sm_carry[POINTS * ITEMS];
    p.carry = sm_carry + item;
#endif
    clear(&p);
#if LEY_PAIR_CANCELS
    if (is_fringe(&p, &b, home, n_close, item, &sm))
        set_fringe(&p);
#endif
    sum_neighbourhood(&p, &b, home, item, &sm);
#else
    clear(&p);
#if LEY_PAIR_CANCELS
    if (is_fringe(&p, &b, home, n_close))
        set_fringe(&p);
#endif
    sum_neighbourhood(&p, &b, home);
#endif
    store(&p, gm_phi);
}
