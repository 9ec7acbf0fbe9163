/* Multiple Debye-Hueckel potentials at the Dirichlet points of a Poisson-Boltzmann problem:
 *
 *     phi(r_i) = sum_j w_j / d exp(-kappa (d - R_j)),   d = |r_i - r_j|
 *
 * and with LEY_FIELD, of a list without screening, the field beside them, to which atoms nearer
 * than r_min add nothing:
 *
 *     E(r_i) = sum_j w_j (r_i - r_j) / d^3
 *
 * gm_atoms    one `placed` each: where it is, its weight w in offset.w (with exp(kappa R) in it
 *             where LEY_SCREENING says so), and the whole part of kappa R log2(e) in cell.w (its
 *             fraction is in the weight)
 * first_atom, n_atoms, part_atoms  the atoms to sum; work-groups of index p along y sum the p-th
 *                                  part_atoms of them
 * gm_places   of faces: segments, the ints of LEY_SEGMENT_FIELDS each, padded to three int4; of
 *             a list: its points, like atoms, and behind them a frame for each work-group: the
 *             cell in the middle of its points, and in offset how far from there along each axis
 *             atoms are near, a little farther than the points
 * n_places    how many segments or points
 * step, step_low  {h_x, h_y, h_z, ...}: the mesh's spacing, and what it lacks because it is
 *                 rounded; step.w: atoms nearer than this to a face are near; of a list
 *                 the square of r_min: shorter distances count as r_min
 * accumulate  0: store the sums; 1: add to what gm_parts holds (a further batch of atoms)
 * gm_parts    [parts][part_values], with LEY_FIELD as many potentials as values along x, y and z
 *             behind them; with the compensated sum as much again behind it for the
 *             compensations
 *
 * All lengths come times kappa log2(e), or as they are without screening, so that a pair costs
 * one root and one 2^x. Positions come as a mesh cell and an offset within it: subtracting
 * cells is exact. The main loop has them relative to the middle of the face, or of a list's
 * group, rounded by its size; atoms near to it, few, are staged without their weight and take a
 * path where each distance is rounded by its own size.
 *
 * Global size {work-groups LEY_WG, parts}. A group lies on one face, so the distance from the
 * face is the same for all its points; columns and rows of a work-item are strided by the number
 * of work-items along a row and a column, which pads a face by less than a work-item whatever
 * its size. Points of a list come in such an order that a group's are close together; those
 * within 0.05 A of an atom the host replaces where r_min is shorter. Atoms within r_min of a
 * point of a list are near. */
#if !defined(LEY_WG) || !defined(LEY_POLYNOMIAL_EXPS) || !defined(LEY_SCREENING) || !defined(LEY_POINTS) || \
    !defined(LEY_TILE)
#error "the specification is incomplete: see LEY_MDH_KEYS in spec.h"
#endif
#include "dialect.h"
#include "sum.h"
#include "placed.h"

/* Keeps 1/sqrt finite where a point and an atom coincide but for rounding, and its square. */
#if LEY_FIELD
#define LEAST_R2 1e-20f
#else
#define LEAST_R2 1e-30f
#endif
#define MOST_EXPONENT (LEY_SUM == LEY_SPEC_SUM_DOUBLE ? 1000 : 125)

#define LIST (LEY_POINTS == LEY_POINTS_LIST)
#if LEY_FIELD && (!LIST || LEY_SCREENING != LEY_SCREENING_NONE)
#error "the field is that of a list's points without screening"
#endif
#if LIST
typedef real across; /* coordinates that a row's points share, where there are rows */
#define ROWS LEY_UX
#else
typedef scalar across;
#define ROWS LEY_UY
#endif

/* What positions are relative to, how the axes lie, and which nodes of a face these are: columns
 * a, a + stride_a, ..., rows b, b + stride_b, ... */
typedef struct {
    int4 base;
    int axis; /* that the face is perpendicular to; of a list 2 */
    int a, stride_a, b, stride_b;
    atom step, step_low;
#if LIST
    LEY_GLOBAL const placed *gm_points; /* all of them, n_points */
    int first, n_points;              /* this work-item's first one */
    atom reach;                       /* x, y, z: how far from the base atoms are near, along each axis */
#endif
} frame;

/* One work-item, for CPU devices, keeps its points of a list as they come, too. */
#define KEEPS_PLACES (LIST && LEY_ATOMS == LEY_ATOMS_ROWS)
typedef LEY_PASTE(int, LEY_BITS_SUFFIX) cells;

typedef struct {
    real x[LEY_UX];   /* the points' coordinates from the base: along a row, */
    across y[ROWS], z[LIST ? ROWS : 1]; /* a column, and across the face, where all have 0 */
    real sum[SUMS];
    real carry[CARRIES ? SUMS : 1];
    cells cell[KEEPS_PLACES ? 3 * LEY_UX : 1];
    real offset[KEEPS_PLACES ? 3 * LEY_UX : 1];
} points;

/* An axis's coordinate from the base. LEY_ROOT_SCALE in all lengths makes up for the factor of
 * the recipe: see pair(). */
LEY_FN scalar from_base(int cells, scalar offset, scalar step, scalar step_low)
{
    return (cells * step + (cells * step_low + offset)) * LEY_ROOT_SCALE;
}

/* x, y, z as along a row, along a column, across. */
#define ALONG(f, v) ((f)->axis == 0 ? (v).y : (v).x)
#define DOWN(f, v) ((f)->axis == 2 ? (v).y : (v).z)
#define ACROSS(f, v) ((f)->axis == 0 ? (v).x : (f)->axis == 1 ? (v).y : (v).z)

/* From the base: along a row, along a column, across; w as it was. */
LEY_FN atom relative(const frame *f, LEY_REFERENCE(placed) p)
{
    const atom from = LEY_ATOM(from_base(p.cell.x - f->base.x, p.offset.x, f->step.x, f->step_low.x),
                               from_base(p.cell.y - f->base.y, p.offset.y, f->step.y, f->step_low.y),
                               from_base(p.cell.z - f->base.z, p.offset.z, f->step.z, f->step_low.z), p.offset.w);
    return LEY_ATOM(ALONG(f, from), DOWN(f, from), ACROSS(f, from), from.w);
}

/* 1/d exp(-kappa (d - R)) but for constant factors, of a work-item's k-th point. The units make
 * r2 ley_unscaled_root(r2) = kappa d log2(e). */
LEY_FN real pair(real r2, int radius, int k)
{
    const real root = ley_unscaled_root(r2);
#if LEY_SCREENING == LEY_SCREENING_NONE
    return root;
#elif LEY_SCREENING == LEY_SCREENING_WIDE
    return root * ley_exp2(LEY_MIN(radius - r2 * root, (real)MOST_EXPONENT));
#else
#if LEY_EXP == LEY_EXP_POLYNOMIAL
    return root * ley_exp2_minus(r2, root); /* no need to limit the exponent */
#else
#if LEY_POLYNOMIAL_EXPS > 0
    if (LEY_IN_SHARE(k, LEY_POLYNOMIAL_EXPS, POINTS))
        return root * ley_exp2_minus(r2, root);
#endif
    return root * ley_exp2(-(r2 * root));
#endif
#endif
}

/* How an atom is staged, and added to the points if it is far from them, and if it is near. */
#if LIST
#include "mdh_list.h"
#else
#include "mdh_faces.h"
#endif

/* sum_atoms() adds n_atoms of them to the points' sums. */
#if LEY_ATOMS == LEY_ATOMS_LOCAL
#include "mdh_group.h"
#else
#include "mdh_vectors.h"
#endif

/* Adds a sum to what memory holds of it, or puts it there. */
LEY_FN void store(points *p, int k, LEY_GLOBAL real *gm_sum, LEY_GLOBAL real *gm_carry, int accumulate)
{
    if (accumulate) {
        if (CARRIES)
            ADD(p->sum[k], p->carry[k * CARRIES], -*gm_carry);
        ADD(p->sum[k], p->carry[k * CARRIES], *gm_sum);
    }
    *gm_sum = p->sum[k];
    if (CARRIES)
        *gm_carry = p->carry[k * CARRIES];
}

#define SEGMENT_FIELD(field) int field;
typedef struct {
    LEY_SEGMENT_FIELDS(SEGMENT_FIELD)
    int unused[2];
} segment;

LEY_KERNEL_OF(LEY_WG, 1, 1) mdh(LEY_PARAMETERS(LEY_MDH_ARGUMENTS))
{
    const int group = LEY_GROUP_ID(0), part = LEY_GROUP_ID(1);
    points p;
    frame f;
    f.step = step;
    f.step_low = step_low;
#if LIST
    f.gm_points = (LEY_GLOBAL const placed *)gm_places;
    f.first = group * LEY_WG * LEY_UX * LEY_WIDTH + LEY_LOCAL_ID(0) * LEY_WIDTH;
    f.n_points = n_places;
    f.base = f.gm_points[n_places + group].cell;
    f.reach = LEY_SCALED_ATOM(f.gm_points[n_places + group].offset, LEY_ROOT_SCALE);
    f.axis = 2;
    FOR_COLUMNS(u) {
        scalar x[LEY_WIDTH], y[LEY_WIDTH], z[LEY_WIDTH];
        UNROLL for (int lane = 0; lane < LEY_WIDTH; lane++) {
            const atom at = relative(&f, point(&f, u, lane));
            x[lane] = at.x;
            y[lane] = at.y;
            z[lane] = at.z;
        }
        p.x[u] = LEY_LOAD(x);
        p.y[u] = LEY_LOAD(y);
        p.z[u] = LEY_LOAD(z);
#if KEEPS_PLACES
        scalar offset[3 * LEY_WIDTH];
        int cell[3 * LEY_WIDTH];
        UNROLL for (int lane = 0; lane < LEY_WIDTH; lane++) {
            LEY_REFERENCE(placed) at = point(&f, u, lane);
            offset[lane] = at.offset.x;
            offset[LEY_WIDTH + lane] = at.offset.y;
            offset[2 * LEY_WIDTH + lane] = at.offset.z;
            cell[lane] = at.cell.x;
            cell[LEY_WIDTH + lane] = at.cell.y;
            cell[2 * LEY_WIDTH + lane] = at.cell.z;
        }
        UNROLL for (int axis = 0; axis < 3; axis++) {
            p.offset[3 * u + axis] = LEY_LOAD(offset + axis * LEY_WIDTH);
            p.cell[3 * u + axis] = LEY_LOAD(cell + axis * LEY_WIDTH);
        }
#endif
    }
#else
    LEY_GLOBAL const segment *gm_segments = (LEY_GLOBAL const segment *)gm_places;
    int which = 0;
    while (which + 1 < n_places && group >= gm_segments[which + 1].first_group)
        which++;
    const segment s = gm_segments[which];
    const int item = (group - s.first_group) * LEY_WG + LEY_LOCAL_ID(0);
    const int rows = (s.n_b + LEY_UY - 1) / LEY_UY, j = item / s.columns, i = item - j * s.columns;
    const int middle_a = s.first_a + s.n_a / 2, middle_b = s.first_b + s.n_b / 2;
    f.axis = s.axis;
    f.base = LEY_INT4(s.axis == 0 ? s.plane : middle_a, s.axis == 0 ? middle_a : s.axis == 1 ? s.plane : middle_b,
                    s.axis == 2 ? s.plane : middle_b, 0);
    f.a = s.first_a + i * LEY_WIDTH;
    f.stride_a = s.columns * LEY_WIDTH;
    f.b = s.first_b + j;
    f.stride_b = rows;
    FOR_COLUMNS(u) {
        const real cells = (real)(f.a + u * f.stride_a - middle_a) + LEY_LANES;
        p.x[u] = (cells * ALONG(&f, step) + cells * ALONG(&f, step_low)) * LEY_ROOT_SCALE;
    }
    FOR_ROWS(v)
        p.y[v] = from_base(f.b + v * f.stride_b - middle_b, 0, DOWN(&f, step), DOWN(&f, step_low));
#endif
    UNROLL for (int k = 0; k < SUMS; k++) { /* in registers, of a list */
        p.sum[k] = 0;
        p.carry[k * CARRIES] = 0;
    }

    const int begin = part * part_atoms;
    LEY_GLOBAL const placed *gm_part = gm_atoms + first_atom + begin;
#if LEY_ATOMS == LEY_ATOMS_LOCAL
    LEY_LOCAL_VARIABLE atom sm_tile[LEY_TILE];
    LEY_LOCAL_VARIABLE int sm_radius[LEY_SCREENING == LEY_SCREENING_WIDE ? LEY_TILE : 1];
    LEY_LOCAL_VARIABLE unsigned sm_near[(LEY_TILE + 31) / 32];
    sum_atoms(&p, &f, gm_part, min(part_atoms, n_atoms - begin), sm_tile, sm_radius, sm_near);
#else
    sum_atoms(&p, &f, gm_part, min(part_atoms, n_atoms - begin));
#endif

    LEY_GLOBAL real *gm_sum = gm_parts + (size_t)part * (part_values / LEY_WIDTH);
    const size_t carries = (size_t)LEY_GROUPS(1) * (part_values / LEY_WIDTH);
#if LIST
    FOR_COLUMNS(u) {
        const int at = f.first + u * LEY_WG * LEY_WIDTH;
        const bool is_there = (at < n_places);
        if (is_there)
            store(&p, u, gm_sum + at / LEY_WIDTH, gm_sum + carries + at / LEY_WIDTH, accumulate);
#if LEY_FIELD
        UNROLL for (int c = 1; c < LEY_COMPONENTS(LEY_FIELD); c++) {
            const size_t to = ((size_t)c * (part_values / LEY_COMPONENTS(LEY_FIELD)) + at) / LEY_WIDTH;
            scale_field(&p, c * POINTS + u);
            if (is_there)
                store(&p, c * POINTS + u, gm_sum + to, gm_sum + carries + to, accumulate);
        }
#endif
    }
#else
    FOR_ALL_ROWS(v) FOR_ALL_COLUMNS(u) {
        const int a = (i + u * s.columns) * LEY_WIDTH, b = j + v * rows;
        const size_t at = (s.first_value + (size_t)b * s.pitch + a) / LEY_WIDTH;
        if (j < rows && a < s.n_a && b < s.n_b)
            store(&p, v * LEY_UX + u, gm_sum + at, gm_sum + carries + at, accumulate);
    }
#endif
}
