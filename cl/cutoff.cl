/* Short-range potentials on regions of a mesh, from atoms in bins:
 *
 *     phi(r_i) = sum over atoms j with |r_i - r_j| < a of q_j f(max(|r_i - r_j|, r_min))
 *
 * and with LEY_FIELD the field beside them, less the gradient, to which atoms nearer than r_min add
 * nothing:
 *
 *     E(r_i) = sum over atoms j with r_min <= |r_i - r_j| < a of -q_j f'(r)/r (r_i - r_j)
 *
 * gm_table      {dx, dy, dz, offset} each: the bins around a region's own ("home"), as steps
 *               along the axes and in bins
 * n_table       how many
 * gm_homes      for each region along x, then y, then z: {bins from bin 0 to home along that
 *               axis; home's lowest coordinate less that of the region's first point, units, as
 *               the bits of a float}. LEY_OBLIQUE: along y for each pair of a region along x and
 *               one along y, along z for each region
 * gm_begins     for each of these regions, how far its first point is from what homes are
 *               counted from, units: LEY_FINE
 * first_region  index along z of the launch's first regions
 * gm_slots      [bins][LEY_DEPTH] {x, y, z, first}: A from the bin's lowest corner, and the
 *               atom's charge times every constant factor (or the first number that LEY_PAIR
 *               takes); unused slots lie beyond any cutoff. Behind the mesh's bins those that
 *               hold what these have no room for
 * gm_more       [bins][LEY_DEPTH] {second, third}: the atoms' further numbers; read only where
 *               LEY_PAIR has any
 * gm_extra      bin b goes on in bins gm_extra[b] to before gm_extra[b + 1]
 * has_extra     0: gm_extra is not read
 * step          {h_x, h_y, h_z, units in an A}; h in the unit that the sums are in
 * step_low      {h_x, h_y, h_z, quantum}: h less the digits that LEY_HIGH() leaves of it; and a
 *               unit that what is lost of an atom's place is less than 512 of. Both: LEY_FINE
 * shear         {of a step along x: along y, along z; of a step along y: along z; -}, in the unit
 *               that the sums are in, and shear_low its lower digits: of LEY_OBLIQUE meshes, whose
 *               steps are (h_x, shear.x, shear.y), (0, h_y, shear.z) and (0, 0, h_z)
 * side          {s_x, s_y, s_z, slack}: of a bin, units; by how much an atom may lie outside its
 *               bin
 * limits        {a^2, r_min^2, k, near^2}: units^2; k of the pair function; how near atoms are
 *               summed apart, at least r_min
 * series        constants of the pair function, see pair.h
 * n_close       of the table, which they begin: bins so close that they may cover a region, see
 *               is_fringe(); negative: there are no fringes
 * fringe        {1/a, what absolute terms must add up to at a point that is covered, 1/a^2, -}: of
 *               functions that LEY_PAIR_CANCELS
 * numbers, more_numbers  those of the user's pair function, which expression_numbers() lists
 * gm_potentials to axes: of the mesh that is interpolated and added, see interpolation.cl; read
 *               only where LEY_NODES says that one is
 * map           points of the map along x, y, z
 * gm_phi        regions in the order of the work-groups, or rows padded to whole regions:
 *               LEY_STORE; with LEY_FIELD as much again for the field along x, y and z each
 *
 * A work-group computes a region: it looks for bins within reach of the region, stages those of
 * their atoms that are within reach, and sums these at each of its points, so that most of the
 * distances that it computes count. Atoms near the region are summed apart: no maximum in the
 * main loop. Where a pair function's sign tells that the cutoff is passed, it has no test
 * either: cost of a pair then is an addition, a root, the function and a multiply-add. The
 * scheme of regions and bins is that of Stone et al., GPU Gems (2010); what is left out here,
 * LEY_PRUNE 0 keeps. */
#if !defined(LEY_LX) || !defined(LEY_PAIR) || !defined(LEY_TOTAL) || !defined(LEY_TILE) || !defined(LEY_DEPTH)
#error "the specification is incomplete: see LEY_CUTOFF_KEYS in spec.h"
#endif
#include "dialect.h"
#include "regions.h"

#if LEY_TABLE == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE LEY_CONSTANT
LEY_CONSTANT_SYMBOL(int4)
#define WHERE_IT_IS(gm_table) LEY_IN_CONSTANT(gm_table)
#else
#define CONSTANT_SPACE LEY_GLOBAL
#define WHERE_IT_IS(gm_table) gm_table
#endif

#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
typedef LEY_DOUBLE total;
#else
typedef real total;
#endif

/* Where sums are compensated, atoms near a region have the digits that one float has no room for,
 * of a place that is counted from a corner of the region: there a field of 1/r^2 multiplies them.
 * What homes are counted from is such that the corners of bins are floats without a rounding; what
 * is lost where a place in a bin is added to its corner, and the points' own lower digits, are
 * added to the differences along the axes, which next to an atom are small. */
#define LEY_FINE (LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED)
/* The upper digits of a float, of which multiples up to 15 are floats. */
#define LEY_HIGH(x) LEY_AS_FLOAT(LEY_AS_INT(x) & ~15)
#define LEY_MOST_LOST 511

/* What a work-group and a work-item alone have to themselves: how many work-items share a
 * region; where totals are; the larger of two numbers, as fmax() costs CPUs several instructions
 * for what is no number; where a work-item, or a vector's lanes, have their first point. */
#if LEY_WIDTH == 1
#define ITEMS (LEY_LX * LEY_LY * LEY_LZ)
#define TOTALS(type, name) LEY_LOCAL type *name
#define LARGER(a, b) LEY_MAX(a, b)
#define LANES_X ((real)LEY_LOCAL_ID(0))
#define LANES_Y ((real)LEY_LOCAL_ID(1))
#define LANES_Z ((real)LEY_LOCAL_ID(2))
#define ITEM_Z ((int)LEY_LOCAL_ID(2))
#else
#define ITEMS 1
#define TOTALS(type, name) type name[SUMS]
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
/* Along z first, so that what planes have of their own is the same few numbers over and over. */
#define LANES_XY floor(LEY_LANES * (1.0f / LEY_LZ))
#define LANES_Z (LEY_LANES - LEY_LZ * LANES_XY)
#define LANES_Y floor(LEY_LANES * (1.0f / (LEY_LX * LEY_LZ)))
#define LANES_X (LANES_XY - LEY_LX * LANES_Y)
#define ITEM_Z 0
#endif

/* Terms are computed 1/TERM_SCALE times as large, of charges TERM_SCALE times as large: where
 * all terms of the pair function can have the root's factor, it need not be applied to each
 * root. */
#if LEY_WIDTH > 1 && LEY_PAIR_SCALES
#define TERM_SCALE LEY_ROOT_SCALE
#else
#define TERM_SCALE 1
#endif
#define root_of(r2) (ley_unscaled_root(r2) * (real)(1.0f * LEY_ROOT_SCALE / TERM_SCALE))

typedef struct {
    atom step, side, limits, series, fringe;
#ifdef LEY_USER_PAIR
    own_numbers own;
#endif
    atom extent;                    /* of the region */
    real x[LEY_UX], y[LEY_UY], z[LEY_UZ]; /* the points' coordinates from the region's first point */
#if LEY_OBLIQUE
    atom shear;
    atom lowest, shifted;                             /* of all columns: what shifts are, at least and at most */
    real shift_y[LEY_UX], shift_z[LEY_UX * LEY_UY]; /* of columns: what is to be added to y and z */
#if LEY_FINE
    atom shear_high, shear_low;
#endif
#endif
#if LEY_FINE
    atom high, low; /* of the step; the last number of low is a quantum */
    atom begin;     /* of the first point */
#endif
    real sum[SUMS];
#if LEY_NODES > 0
    real added[POINTS]; /* to the sums, in the end */
#endif
    bool careful; /* of vectors: the region is a fringe */
    /* Totals of the sums over a tile's atoms each, and of these Kahan's carry: what the last
     * addition lost, its sign turned. The k-th point's is number k ITEMS; a work-group has them in
     * local memory. */
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    TOTALS(total, totals);
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    TOTALS(real, carry);
#endif
} points;

/* The region's box reaches from LOWEST to extent, both from its first point. Shifts of its columns
 * are from LOWEST to what SHIFTED_MOST adds. Compilers do not leave out what adds a zero. */
#if LEY_OBLIQUE
#define SHIFT_Y(p, u) (p)->shift_y[u]
#define SHIFT_Z(p, u, v) (p)->shift_z[(v) * LEY_UX + (u)]
#define LOWEST(p, axis) (p)->lowest.axis
#define LOWEST_LESS(p, axis, x) ((p)->lowest.axis - (x))
#define ABOVE_LOWEST(p, axis, x) ((x) + (p)->lowest.axis)
#define SHIFTED_MOST(p, axis, x) ((x) + (p)->shifted.axis)
#else
#define SHIFT_Y(p, u) 0
#define SHIFT_Z(p, u, v) 0
#define LOWEST(p, axis) 0
#define LOWEST_LESS(p, axis, x) (-(x))
#define ABOVE_LOWEST(p, axis, x) (x)
#define SHIFTED_MOST(p, axis, x) (x)
#endif

/* An atom as it is staged: its place from the region's first point in units, and its own
 * numbers. */
typedef struct {
    atom a;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    float2 more;
#endif
} staged;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
#define SECOND(s) (s).more.x
#define THIRD(s) (s).more.y
#else
#define SECOND(s) 0
#define THIRD(s) 0
#endif

/* What is in global memory. */
typedef struct {
    CONSTANT_SPACE const int4 *table;
    int n_table;
    LEY_GLOBAL const atom *slots;
    LEY_GLOBAL const float2 *more;
    LEY_GLOBAL const int *extra;
    int has_extra;
} bins;

/* A bin in reach: where it begins from the region's first point, and its number. */
typedef struct {
    float x, y, z;
    int bin;
} found;

LEY_FN void clear(points *p)
{
    UNROLL for (int k = 0; k < SUMS; k++) {
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
    p->totals[k * ITEMS] += LEY_TO_DOUBLE(p->sum[k]);
    p->sum[k] = 0;
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    const real before = p->totals[k * ITEMS], term = p->sum[k] - p->carry[k * ITEMS], after = before + term;
    p->carry[k * ITEMS] = (after - before) - term;
    p->totals[k * ITEMS] = after;
    p->sum[k] = 0;
#endif
}

LEY_FN real sum_of(const points *p, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    return LEY_TO_FLOAT(p->totals[k * ITEMS]);
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    return p->totals[k * ITEMS] - p->carry[k * ITEMS];
#else
    return p->sum[k];
#endif
}

LEY_FN real result(const points *p, int k)
{
#if LEY_NODES > 0
    return sum_of(p, k) + p->added[k];
#elif LEY_FIELD
    return k < POINTS ? sum_of(p, k) : sum_of(p, k) * (real)p->step.w; /* per A */
#else
    return sum_of(p, k);
#endif
}

/* What pairs take of the launch. A loop has a copy of its own: of what stands behind a pointer
 * PoCL's compiler reads each number again for each vector. */
typedef struct {
    atom limits, series;
#ifdef LEY_USER_PAIR
    own_numbers own;
#endif
} constants;

LEY_FN void copy_constants(const points *p, constants *c)
{
    c->limits = p->limits;
    c->series = p->series;
#ifdef LEY_USER_PAIR
    c->own = p->own;
#endif
}

/* The pair function's value at this distance, 0 beyond the cutoff, added to a sum. The unit is
 * such that beyond `near` no value is above 1, where LEY_SATURATE ends. */
LEY_FN void add_term(real *sum, const constants *p, real r2, real inverse_r, scalar first, scalar second, scalar third)
{
    const real value = ley_pair_value(r2, inverse_r, p->series, p->limits.z, first, second, third LEY_OWN_OF(p));
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

#if LEY_FIELD
/* Adds to sum k of each component of the field, which are `points` apart, what an atom on this way
 * adds. The distance is clamped where nothing is pruned: exact_r2 is its square as it is. */
LEY_FN void add_field(real *sum, int k, int points, const constants *p, real r2, real inverse_r, real exact_r2,
                      scalar first, scalar second, scalar third, real dx, real dy, real dz)
{
    const real exact_inverse_r = inverse_r * (real)TERM_SCALE;
    const real any_slope = ley_plain_slope(r2, inverse_r, exact_inverse_r * exact_inverse_r, p->series, p->limits.z,
                                           first, second, third LEY_OWN_OF(p)),
               within = r2 < p->limits.x ? any_slope : (real)0,
               slope = (LEY_PAIR_OF_CHARGE ? first : 1) *
                       (LEY_PRUNE || exact_r2 >= p->limits.y ? within : (real)0);
    sum[points + k] += slope * dx;
    sum[2 * points + k] += slope * dy;
    sum[3 * points + k] += slope * dz;
}

/* The same next to the cutoff as elsewhere, and nearer than r_min, of a distance as it is. */
LEY_FN void add_field_carefully(points *p, int k, real exact_r2, LEY_REFERENCE(staged) s, real dx, real dy, real dz)
{
    const real clamped = LARGER(exact_r2, (real)p->limits.y);
#if LEY_WIDTH == 1
    const real inverse_r = LEY_RSQRT(clamped);
#else
    const real inverse_r = root_of(clamped) * (real)TERM_SCALE;
#endif
    const real any_slope = ley_pair_slope(clamped, inverse_r, p->series, p->limits.z, s.a.w, SECOND(s), THIRD(s),
                                          p->fringe.x, p->fringe.z LEY_OWN_OF(p)),
               within = exact_r2 < p->limits.x ? any_slope : (real)0,
               slope = (LEY_PAIR_OF_CHARGE ? s.a.w : 1) * (1.0f / TERM_SCALE) *
                       (exact_r2 < p->limits.y ? (real)0 : within);
    p->sum[POINTS + k] += slope * dx;
    p->sum[2 * POINTS + k] += slope * dy;
    p->sum[3 * POINTS + k] += slope * dz;
}
#endif

/* The value next to the cutoff as well as elsewhere, the distance being clamped. */
LEY_FN real careful_value(const points *p, real r2, real inverse_r, LEY_REFERENCE(staged) s)
{
#if LEY_PAIR_CANCELS
    return ley_factored_value(r2, inverse_r, p->fringe.x, p->fringe.z) * (real)(1.0f / TERM_SCALE);
#else
    return ley_pair_value(r2, inverse_r * (real)(1.0f / TERM_SCALE), p->series, p->limits.z, s.a.w, SECOND(s),
                          THIRD(s) LEY_OWN_OF(p));
#endif
}

/* Of an atom near the region: on CPUs by the root of all others, whose recipe is as right and a
 * multiple faster, and with care where that is wanted. */
LEY_FN real near_value(const points *p, real r2, LEY_REFERENCE(staged) s)
{
#if LEY_WIDTH == 1
    return careful_value(p, r2, LEY_RSQRT(r2), s);
#else
    if (p->careful)
        return careful_value(p, r2, root_of(r2) * (real)TERM_SCALE, s);
    return ley_pair_value(r2, root_of(r2), p->series, p->limits.z, s.a.w, SECOND(s), THIRD(s) LEY_OWN_OF(p));
#endif
}

/* What is from an atom to a point along an axis; `lost`: what its place lacks. */
#if LEY_FINE
#define FROM_ATOM(lanes, axis, at) \
    (((lanes) * p->high.axis - a.axis) + ((lanes) * p->low.axis + (p->begin.axis - lost.axis)))
#else
#define FROM_ATOM(lanes, axis, at) ((at) - a.axis)
#endif
#if LEY_FINE && LEY_OBLIQUE
/* The same of a step and a shift of the steps before it: products of upper digits have no rounding,
 * and what their sum loses is added to the lower ones. */
LEY_FN real add_exactly(real a, real b, real *lost)
{
    const real sum = a + b, added = sum - a;
    *lost += (a - (sum - added)) + (b - added);
    return sum;
}

LEY_FN real from_atom_y(const points *p, real x, real y, scalar at, scalar lost)
{
    real low = x * p->shear_low.x + y * p->low.y + (p->begin.y - lost);
    const real high = add_exactly(x * p->shear_high.x, y * p->high.y, &low);
    return (high - at) + low;
}

LEY_FN real from_atom_z(const points *p, real x, real y, real z, scalar at, scalar lost)
{
    real low = x * p->shear_low.y + y * p->shear_low.z + z * p->low.z + (p->begin.z - lost);
    const real high = add_exactly(add_exactly(x * p->shear_high.y, y * p->shear_high.z, &low), z * p->high.z, &low);
    return (high - at) + low;
}
#define FROM_ATOM_Y(u, v) from_atom_y(p, LANES_X + u * LEY_LX, LANES_Y + v * LEY_LY, a.y, lost.y)
#define FROM_ATOM_Z(u, v, w) \
    from_atom_z(p, LANES_X + u * LEY_LX, LANES_Y + v * LEY_LY, LANES_Z + w * LEY_LZ, a.z, lost.z)
#elif LEY_OBLIQUE
#define FROM_ATOM_Y(u, v) (p->y[v] + SHIFT_Y(p, u) - a.y)
#define FROM_ATOM_Z(u, v, w) (p->z[w] + SHIFT_Z(p, u, v) - a.z)
#else
#define FROM_ATOM_Y(u, v) FROM_ATOM(LANES_Y + v * LEY_LY, y, p->y[v])
#define FROM_ATOM_Z(u, v, w) FROM_ATOM(LANES_Z + w * LEY_LZ, z, p->z[w])
#endif

/* An atom near the region, or any atom of a fringe. */
LEY_FN void add_near(points *p, LEY_REFERENCE(staged) s, atom lost)
{
    const atom a = s.a;
    (void)lost;
    FOR_Y(v) FOR_X(u) {
        const real dx = FROM_ATOM(LANES_X + u * LEY_LX, x, p->x[u]), dy = FROM_ATOM_Y(u, v),
                   dxy2 = dx * dx + dy * dy;
        FOR_Z(w) {
            const real dz = FROM_ATOM_Z(u, v, w);
            const real r2 = dxy2 + dz * dz, value = near_value(p, LARGER(r2, (real)p->limits.y), s);
            const scalar factor = LEY_PAIR_OF_CHARGE ? a.w : 1;
            p->sum[INDEX(u, v, w)] += LEY_PAIR == LEY_PAIR_SPEC_TESTED || r2 < p->limits.x ? factor * value : (real)0;
#if LEY_FIELD
            add_field_carefully(p, INDEX(u, v, w), r2, s, dx, dy, dz);
#endif
        }
    }
}

/* How far a box lies from the region's box, squared. */
LEY_FN scalar distance2(const points *p, scalar x, scalar y, scalar z, scalar size_x, scalar size_y, scalar size_z)
{
    const scalar dx = LARGER(LARGER(x - p->extent.x, -(x + size_x)), 0.0f),
                 dy = LARGER(LARGER(y - p->extent.y, LOWEST_LESS(p, y, y + size_y)), 0.0f),
                 dz = LARGER(LARGER(z - p->extent.z, LOWEST_LESS(p, z, z + size_z)), 0.0f);
    return dx * dx + dy * dy + dz * dz;
}

/* The neighbour of home that an entry of the table says; whether it is in reach. */
LEY_FN bool find(const points *p, LEY_REFERENCE(found) home, int4 entry, found *f)
{
    const scalar slack = p->side.w;
    f->x = home.x + entry.x * p->side.x;
    f->y = home.y + entry.y * p->side.y;
    f->z = home.z + entry.z * p->side.z;
    f->bin = home.bin + entry.w;
    return !LEY_PRUNE || distance2(p, f->x - slack, f->y - slack, f->z - slack, p->side.x + 2 * slack,
                                   p->side.y + 2 * slack, p->side.z + 2 * slack) < p->limits.x;
}

#if LEY_PAIR_CANCELS
/* The larger square of what is between x and the ends of a cell. */
LEY_FN real farther2(scalar x, real low, real high)
{
    const real d = LARGER(x - low, high - x);
    return d * d;
}

#if LEY_OBLIQUE
/* Widens what a cell spans along an axis by the shifts of so many steps from this one on. */
LEY_FN void widen(real first, int steps, scalar shift, real *low, real *high)
{
    const real from = first * shift, to = (first + (steps - 1)) * shift;
    *low += shift > 0 ? from : to;
    *high += shift > 0 ? to : from;
}
#endif

/* What an atom's absolute term is at least in a cell, from the squared distance of its farthest
 * corner. */
LEY_FN real worth(const points *p, scalar charge, real farthest2)
{
    const real r2 = LARGER(farthest2, (real)p->limits.y);
    const real value = ley_pair_value(r2, root_of(r2), p->series, p->limits.z, charge, 0, 0 LEY_OWN_OF(p));
    return LEY_ABS(charge) * TERM_SCALE * (farthest2 < p->limits.x ? LARGER(value, (real)0) : (real)0);
}
#endif

/* Goes through the neighbourhood of a region: its bins, their atoms within reach, and their sum. */
#if LEY_WIDTH == 1
#include "cutoff_group.h"
#if LEY_NODES > 0
#include "cutoff_epilogue.h"
#endif
typedef union {
    shared pairs;
#if LEY_NODES > 0
    mesh_part mesh;
#endif
} workspace;
#else
#include "cutoff_vectors.h"
#endif

/* A work-item that is alone has its sums in memory: unrolled, this loop took a processor's compiler
 * as long as half of all others. */
#if LEY_WIDTH == 1
#define FOR_STORED(u, v, w) FOR_Z(w) FOR_Y(v) FOR_X(u)
#else
#define FOR_STORED(u, v, w) \
    for (int w = 0; w < LEY_UZ; w++) \
        for (int v = 0; v < LEY_UY; v++) \
            for (int u = 0; u < LEY_UX; u++)
#endif

LEY_FN void store(const points *p, LEY_GLOBAL float *gm_phi)
{
    const size_t groups_x = LEY_GROUPS(0), groups_y = LEY_GROUPS(1);
    const size_t x = LEY_GROUP_ID(0), y = LEY_GROUP_ID(1), z = LEY_GROUP_ID(2);
#if LEY_STORE == LEY_STORE_ROWS
    const size_t row = groups_x * REGION_X, plane = groups_y * REGION_Y * row;
    LEY_GLOBAL float *gm_first = gm_phi + z * REGION_Z * plane + y * REGION_Y * row + x * REGION_X;
#else
    const size_t row = REGION_X, plane = REGION_X * REGION_Y;
    LEY_GLOBAL float *gm_first = gm_phi + ((z * groups_y + y) * groups_x + x) * (REGION_Z * plane);
#endif
    FOR_STORED(u, v, w) {
        LEY_GLOBAL float *gm_point = gm_first + (ITEM_Z + w * LEY_LZ) * plane + v * LEY_LY * row + u * LEY_LX;
        put_values(gm_point, row, plane, result(p, INDEX(u, v, w)));
#if LEY_FIELD
        const size_t component = groups_x * groups_y * LEY_GROUPS(2) * (REGION_X * REGION_Y * REGION_Z);
        UNROLL for (int c = 1; c < LEY_COMPONENTS(LEY_FIELD); c++)
            put_values(gm_point + c * component, row, plane, result(p, c * POINTS + INDEX(u, v, w)));
#endif
    }
}

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_LX : 1, LEY_WIDTH == 1 ? LEY_LY : 1, LEY_WIDTH == 1 ? LEY_LZ : 1)
cutoff(LEY_PARAMETERS(LEY_CUTOFF_ARGUMENTS))
{
    const int regions_x = LEY_GROUPS(0), regions_y = LEY_GROUPS(1);
#if LEY_OBLIQUE
    const size_t in_plane = LEY_GROUP_ID(1) * regions_x + LEY_GROUP_ID(0), plane = (size_t)regions_x * regions_y,
                 at_y = regions_x + in_plane, at_z = at_y + (1 + first_region + LEY_GROUP_ID(2)) * plane;
#else
    const size_t at_y = regions_x + LEY_GROUP_ID(1), at_z = regions_x + regions_y + first_region + LEY_GROUP_ID(2);
#endif
    const int2 home_x = gm_homes[LEY_GROUP_ID(0)], home_y = gm_homes[at_y], home_z = gm_homes[at_z];
    const found home = {LEY_AS_FLOAT(home_x.y), LEY_AS_FLOAT(home_y.y), LEY_AS_FLOAT(home_z.y),
                        home_x.x + home_y.x + home_z.x};
    const bins b = {WHERE_IT_IS(gm_table), n_table, gm_slots, gm_more, gm_extra, has_extra};
    points p;
    p.step = step;
    p.side = side;
    p.limits = limits;
    p.series = LEY_SCALED_ATOM(series, 1.0f / TERM_SCALE);
    p.fringe = fringe;
#ifdef LEY_USER_PAIR
    p.own.low = numbers;
    p.own.high = more_numbers;
#endif
    p.limits.z *= 1.0f / TERM_SCALE;
    p.extent = LEY_ATOM((REGION_X - 1) * step.x, (REGION_Y - 1) * step.y, (REGION_Z - 1) * step.z, 0);
    FOR_X(u) p.x[u] = (LANES_X + u * LEY_LX) * step.x;
    FOR_Y(v) p.y[v] = (LANES_Y + v * LEY_LY) * step.y;
    FOR_Z(w) p.z[w] = (LANES_Z + w * LEY_LZ) * step.z;
#if LEY_OBLIQUE
    p.shear = shear;
    p.lowest = LEY_ATOM(0, LEY_MIN((REGION_X - 1) * shear.x, 0.0f),
                        LEY_MIN((REGION_X - 1) * shear.y, 0.0f) + LEY_MIN((REGION_Y - 1) * shear.z, 0.0f), 0);
    p.shifted = LEY_ATOM(0, LEY_MAX((REGION_X - 1) * shear.x, 0.0f),
                         LEY_MAX((REGION_X - 1) * shear.y, 0.0f) + LEY_MAX((REGION_Y - 1) * shear.z, 0.0f), 0);
    p.extent.y += p.shifted.y;
    p.extent.z += p.shifted.z;
    FOR_X(u) p.shift_y[u] = (LANES_X + u * LEY_LX) * shear.x;
    FOR_Y(v) FOR_X(u)
        p.shift_z[v * LEY_UX + u] = (LANES_X + u * LEY_LX) * shear.y + (LANES_Y + v * LEY_LY) * shear.z;
#if LEY_FINE
    p.shear_high = LEY_ATOM(LEY_HIGH(shear.x), LEY_HIGH(shear.y), LEY_HIGH(shear.z), 0);
    p.shear_low = shear_low;
#endif
#endif
#if LEY_FINE
    p.high = LEY_ATOM(LEY_HIGH(step.x), LEY_HIGH(step.y), LEY_HIGH(step.z), 0);
    p.low = step_low;
    p.begin = LEY_ATOM(gm_begins[LEY_GROUP_ID(0)], gm_begins[at_y], gm_begins[at_z], 0);
    FOR_X(u) p.x[u] += p.begin.x;
    FOR_Y(v) p.y[v] += p.begin.y;
    FOR_Z(w) p.z[w] += p.begin.z;
#endif
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE workspace sm;
    const int item = LEY_LOCAL_ID(0) + LEY_LX * (LEY_LOCAL_ID(1) + LEY_LY * LEY_LOCAL_ID(2));
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    LEY_LOCAL_VARIABLE total sm_totals[SUMS * ITEMS];
    p.totals = sm_totals + item;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    LEY_LOCAL_VARIABLE real sm_carry[SUMS * ITEMS];
    p.carry = sm_carry + item;
#endif
    clear(&p);
#if LEY_PAIR_CANCELS
    if (n_close >= 0 && is_fringe(&p, &b, home, n_close, item, &sm.pairs))
        p.limits.w = p.limits.x; /* of a fringe all atoms are near */
#endif
    sum_neighbourhood(&p, &b, home, item, &sm.pairs);
#if LEY_NODES > 0
    block meshes;
    read_tables(&meshes, gm_potentials, gm_places, mesh, gm_nodes, gm_weights, axes, axes.z);
    meshes.along_x = stretch_of(meshes.gm_nodes_x, axes.z, (int)LEY_GROUP_ID(0) * REGION_X, REGION_X, map.x);
    meshes.along_y = stretch_of(meshes.gm_nodes_y, axes.z, (int)LEY_GROUP_ID(1) * REGION_Y, REGION_Y, map.y);
    meshes.along_z = stretch_of(meshes.gm_nodes_z, axes.z, (first_region + (int)LEY_GROUP_ID(2)) * REGION_Z,
                                  REGION_Z, map.z);
    interpolate_region(&p, &meshes, axes.z, item, &sm.mesh);
#endif
#else
    clear(&p);
    p.careful = false;
#if LEY_PAIR_CANCELS
    p.careful = n_close >= 0 && is_fringe(&p, &b, home, n_close);
#endif
    sum_neighbourhood(&p, &b, home);
#endif
    store(&p, gm_phi);
}
