/* Short-range potentials at points of a list, from atoms in bins:
 *
 *     phi(r_i) = sum over atoms j with |r_i - r_j| < a of q_j f(max(|r_i - r_j|, r_min)),
 *
 * and with LEY_FIELD the field beside them, less the gradient, to which atoms nearer than r_min add
 * nothing:
 *
 *     E(r_i) = sum over atoms j with r_min <= |r_i - r_j| < a of -q_j f'(r)/r (r_i - r_j)
 *
 * gm_groups     four of each work-group, whose points lie in a box: {bin of the box's lowest corner
 *               along x, y, z, -}, {first and last bin along y and along z in reach of the box},
 * {the corner from that bin's lowest one, A, as the bits of floats; reach}, {the box's
 *               edges, A, likewise, -}
 * gm_offsets    [groups][3][LEY_WG LEY_UX LEY_WIDTH] where points are from their bins' lowest
 *               corners, A
 * gm_bins       the same of their bins along x, y, z
 * gm_slots, gm_more, gm_extra, has_extra  as in cutoff.cl
 * n             bins along x, y, z
 * side          {s_x, s_y, s_z, u^2}: of a bin, A; of the units in an A that sums are in
 * limits        {a^2, r_min^2, k, -}: units^2; k of the pair function
 * series, fringe  constants of the pair function, see pair.h: fringe is {1/a, -, 1/a^2, -}
 * numbers, more_numbers  as in cutoff.cl
 * gm_phi        [LEY_COMPONENTS][groups][LEY_UX][LEY_WG] vectors of LEY_WIDTH: the potential, then
 *               the field along x, y and z
 *
 * Global size: the groups. Bins of one row along x lie one behind the other: a group goes through
 * the rows within reach of its box, and of each row from the first bin to the last one in reach.
 * All work-items read the same atom at a time. Distances are differences of offsets and of whole
 * bins, so that they are rounded by the size of a bin wherever the points are. */
#if !defined(LEY_WG) || !defined(LEY_UX) || !defined(LEY_PAIR) || !defined(LEY_TOTAL) || !defined(LEY_DEPTH) || \
    !defined(LEY_FIELD)
#error "the specification is incomplete: see LEY_POINT_PAIRS_KEYS in spec.h"
#endif
#include "dialect.h"

#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
typedef LEY_DOUBLE total;
#else
typedef real total;
#endif
typedef LEY_PASTE(int, LEY_BITS_SUFFIX) whole;

#define FOR_POINTS(u) UNROLL for (int u = 0; u < LEY_UX; u++)
#define GROUP_POINTS (LEY_WG * LEY_UX * LEY_WIDTH)
#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND_OF(q, slot) (q)->more[slot].x
#define THIRD_OF(q, slot) (q)->more[slot].y
#else
#define SECOND_OF(q, slot) 0
#define THIRD_OF(q, slot) 0
#endif
#define CARRIES (LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED)
#define SUMS (LEY_COMPONENTS(LEY_FIELD) * LEY_UX) /* component c of points u is c LEY_UX + u */
#define FOR_SUMS(s) UNROLL for (int s = 0; s < SUMS; s++)

/* A work-item's points: where they are, and from the bin at hand; sums over a row of bins; totals
 * of these, and of them Kahan's carry. */
typedef struct {
    real offset_x[LEY_UX], offset_y[LEY_UX], offset_z[LEY_UX];
    whole bin_x[LEY_UX], bin_y[LEY_UX], bin_z[LEY_UX];
    real x[LEY_UX], y[LEY_UX], z[LEY_UX];
    real sum[SUMS];
    total totals[SUMS];
    real carry[CARRIES ? SUMS : 1];
} points;

typedef struct {
    LEY_GLOBAL const atom *slots;
    LEY_GLOBAL const float2 *more;
    atom side, limits, series, fringe;
#ifdef LEY_USER_PAIR
    own_numbers own;
#endif
} problem;

/* The pair function's value, the distance being clamped. */
LEY_FN real value_of(const problem *q, real r2, scalar first, scalar second, scalar third)
{
    const real inverse_r = ley_unscaled_root(r2) * (real)(1.0f * LEY_ROOT_SCALE);
#if LEY_PAIR_CANCELS
    return ley_factored_value(r2, inverse_r, q->fringe.x, q->fringe.z);
#else
    return ley_pair_value(r2, inverse_r, q->series, q->limits.z, first, second, third LEY_OWN_OF(q));
#endif
}

#if LEY_FIELD
/* What the way from an atom, in A, is multiplied by, but for side.w. */
LEY_FN real slope_of(const problem *q, real r2, scalar first, scalar second, scalar third)
{
    const real inverse_r = ley_unscaled_root(r2) * (real)(1.0f * LEY_ROOT_SCALE);
    return ley_pair_slope(r2, inverse_r, q->series, q->limits.z, first, second, third, q->fringe.x,
                          q->fringe.z LEY_OWN_OF(q));
}
#endif

/* Adds the atoms of a bin, whose slots begin with this one, to all points. */
LEY_FN void add_bin(points *p, const problem *q, size_t first_slot)
{
    for (int slot = 0; slot < LEY_DEPTH; slot++) {
        const atom a = q->slots[first_slot + slot];
        if (LEY_PAIR_OF_CHARGE && a.w == 0) /* the others are not used */
            break;
        const scalar second = SECOND_OF(q, first_slot + slot), third = THIRD_OF(q, first_slot + slot);
        FOR_POINTS(u) {
            const real dx = p->x[u] - a.x, dy = p->y[u] - a.y, dz = p->z[u] - a.z;
            const real r2 = (dx * dx + dy * dy + dz * dz) * q->side.w;
            const real clamped = ley_clamped_r2(r2, (real)q->limits.y);
            const scalar factor = LEY_PAIR_OF_CHARGE ? a.w : 1;
            p->sum[u] += r2 < q->limits.x ? factor * value_of(q, clamped, a.w, second, third) : (real)0;
#if LEY_FIELD
            const real any_slope = factor * slope_of(q, clamped, a.w, second, third),
                       slope_within = r2 >= q->limits.x ? (real)0 : any_slope,
                       slope = r2 < q->limits.y ? (real)0 : slope_within;
            p->sum[LEY_UX + u] += slope * dx;
            p->sum[2 * LEY_UX + u] += slope * dy;
            p->sum[3 * LEY_UX + u] += slope * dz;
#endif
        }
    }
}

/* Adds the sums over a row of bins to the totals. */
LEY_FN void end_row(points *p)
{
    FOR_SUMS(s) {
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
        p->totals[s] += LEY_TO_DOUBLE(p->sum[s]);
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
        const real before = p->totals[s], term = p->sum[s] - p->carry[s], after = before + term;
        p->carry[s] = (after - before) - term;
        p->totals[s] = after;
#else
        p->totals[s] += p->sum[s];
#endif
        p->sum[s] = 0;
    }
}

LEY_FN real result(const points *p, int s)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    return LEY_TO_FLOAT(p->totals[s]);
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    return p->totals[s] - p->carry[s];
#else
    return p->totals[s];
#endif
}

/* How far a bin lies from the group's box along an axis: from the box's lowest corner on it begins
 * at `low`. */
LEY_FN scalar beside(scalar low, scalar side, scalar edge)
{
    const scalar above = low - edge, below = -(low + side);
    return above > 0 ? above : below > 0 ? below : 0;
}

LEY_KERNEL_OF(LEY_WG, 1, 1) point_pairs(LEY_PARAMETERS(LEY_POINT_PAIRS_ARGUMENTS))
{
    const size_t group = LEY_GROUP_ID(0), item = LEY_LOCAL_ID(0);
    const int4 home = gm_groups[4 * group], rows = gm_groups[4 * group + 1], corner_bits = gm_groups[4 * group + 2],
               edge_bits = gm_groups[4 * group + 3];
    const scalar corner_x = LEY_AS_FLOAT(corner_bits.x), corner_y = LEY_AS_FLOAT(corner_bits.y),
                 corner_z = LEY_AS_FLOAT(corner_bits.z), reach = LEY_AS_FLOAT(corner_bits.w);
    const scalar edge_x = LEY_AS_FLOAT(edge_bits.x), edge_y = LEY_AS_FLOAT(edge_bits.y),
                 edge_z = LEY_AS_FLOAT(edge_bits.z);
    points p;
    problem q;
    q.slots = gm_slots;
    q.more = gm_more;
    q.side = side;
    q.limits = limits;
    q.series = series;
    q.fringe = fringe;
#ifdef LEY_USER_PAIR
    q.own.low = numbers;
    q.own.high = more_numbers;
#endif
    FOR_POINTS(u) {
        const size_t at = group * (3 * GROUP_POINTS) + (u * LEY_WG + item) * LEY_WIDTH;
        p.offset_x[u] = LEY_LOAD(gm_offsets + at);
        p.offset_y[u] = LEY_LOAD(gm_offsets + at + GROUP_POINTS);
        p.offset_z[u] = LEY_LOAD(gm_offsets + at + 2 * GROUP_POINTS);
        p.bin_x[u] = LEY_LOAD(gm_bins + at);
        p.bin_y[u] = LEY_LOAD(gm_bins + at + GROUP_POINTS);
        p.bin_z[u] = LEY_LOAD(gm_bins + at + 2 * GROUP_POINTS);
    }
    FOR_SUMS(s) {
        p.sum[s] = 0;
        p.totals[s] = 0;
        p.carry[s * CARRIES] = 0;
    }
    for (int k = rows.z; k <= rows.w; k++) {
        const scalar dz = beside((k - home.z) * side.z - corner_z, side.z, edge_z);
        FOR_POINTS(u) p.z[u] = p.offset_z[u] + LEY_REAL_OF(p.bin_z[u] - k) * side.z;
        for (int j = rows.x; j <= rows.y; j++) {
            const scalar dy = beside((j - home.y) * side.y - corner_y, side.y, edge_y),
                         left2 = reach * reach - dz * dz - dy * dy;
            if (left2 < 0)
                continue;
            const scalar left = sqrt(left2);
            const int first = max(home.x + (int)floor((corner_x - left) / side.x), 0),
                      last = min(home.x + (int)floor((corner_x + edge_x + left) / side.x), n.x - 1);
            FOR_POINTS(u) p.y[u] = p.offset_y[u] + LEY_REAL_OF(p.bin_y[u] - j) * side.y;
            for (int i = first; i <= last; i++) {
                const size_t bin = ((size_t)k * n.y + j) * n.x + i;
                FOR_POINTS(u) p.x[u] = p.offset_x[u] + LEY_REAL_OF(p.bin_x[u] - i) * side.x;
                add_bin(&p, &q, bin * LEY_DEPTH);
                if (has_extra)
                    for (int more = gm_extra[bin]; more < gm_extra[bin + 1]; more++)
                        add_bin(&p, &q, (size_t)more * LEY_DEPTH);
            }
            end_row(&p);
        }
    }
    FOR_POINTS(u) {
        LEY_GLOBAL real *gm_value = gm_phi + (group * LEY_UX + u) * LEY_WG + item;
        *gm_value = result(&p, u);
#if LEY_FIELD
        const size_t values = (size_t)LEY_GROUPS(0) * (LEY_UX * LEY_WG);
        UNROLL for (int c = 1; c < LEY_COMPONENTS(LEY_FIELD); c++)
            gm_value[c * values] = result(&p, c * LEY_UX + u) * side.w;
#endif
    }
}
