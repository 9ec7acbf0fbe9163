/* Multiple Debye-Hueckel potentials at the Dirichlet points of a Poisson-Boltzmann problem:
 *
 *     phi(r_i) = sum_j w_j / d exp(-kappa (d - R_j)),   d = |r_i - r_j|
 *
 * gm_atoms    one `placed` each: where it is, its weight w in offset.w (with exp(kappa R) in it where LEY_SCREENING says so), and the
 *             whole part of kappa R log2(e) in cell.w (its fraction is in the weight)
 * first_atom, n_atoms, part_atoms  the atoms to sum; work-groups of index p along y sum the p-th part_atoms of them
 * gm_places   of faces: segments, the ints of LEY_SEGMENT_FIELDS each, padded to three int4; of a list: its points, like atoms, and behind
 *             them a frame for each work-group: the cell in the middle of its points, and in offset how far from there along each axis
 *             atoms are near, a little farther than the points
 * n_places    how many segments or points
 * step, step_low  {h_x, h_y, h_z, ...}: the lattice's spacing, and what it lacks because it is rounded; step.w: atoms nearer than this to
 *             a face are near
 * accumulate  0: store the sums; 1: add to what gm_parts holds (a further batch of atoms)
 * gm_parts    [parts][part_values]; with the compensated sum as much again behind it for the compensations
 *
 * All lengths come times kappa log2(e), or as they are without screening, so that a pair costs one root and one 2^x. Positions come as a
 * lattice cell and an offset within it: subtracting cells is exact. The main loop has them relative to the middle of the face, or of a
 * list's group, rounded by its size; atoms near to it, few, are staged without their weight and take a path where each distance is rounded
 * by its own size.
 *
 * Global size {work-groups LEY_WG, parts}. A group lies on one face, so the distance from the face is the same for all its points;
 * columns and rows of a work-item are strided by the number of work-items along a row and a column, which pads a face by less than a
 * work-item whatever its size. Points of a list come in such an order that a group's are close together; those within 0.05 A of an atom the
 * host replaces. */
#if !defined(LEY_WG) || !defined(LEY_POLYNOMIAL_EXPS) || !defined(LEY_SCREENING) || !defined(LEY_POINTS) || !defined(LEY_TILE)
#error "the specification is incomplete: see LEY_MDH_KEYS in spec.h"
#endif
#include "dialect.h"
#include "sum.h"

/* Keeps 1/sqrt finite where a point and an atom coincide but for rounding. */
#define LEAST_R2 1e-30f
#define MOST_EXPONENT (LEY_SUM == LEY_SPEC_SUM_DOUBLE ? 1000 : 125)

#define LIST (LEY_POINTS == LEY_POINTS_LIST)
#if LIST
typedef real across; /* coordinates that a row's points share, where there are rows */
#define ROWS LEY_UX
#else
typedef scalar across;
#define ROWS LEY_UY
#endif

typedef struct {
    atom offset;
    int4 cell;
} placed;

/* What positions are relative to, how the axes lie, and which nodes of a face these are: columns a, a + stride_a, ..., rows b, b + stride_b, ... */
typedef struct {
    int4 base;
    int axis; /* that the face is perpendicular to; of a list 2 */
    int a, stride_a, b, stride_b;
    atom step, step_low;
#if LIST
    __global const placed *gm_points; /* all of them, n_points */
    int first, n_points;              /* this work-item's first one */
    atom reach;                       /* x, y, z: how far from the base atoms are near, along each axis */
#endif
} frame;

/* One work-item, for CPU devices, keeps its points of a list as they come, too. */
#define KEEPS_PLACES (LIST && LEY_ATOMS == LEY_ATOMS_ROWS)
typedef LEY_PASTE(int, LEY_BITS_SUFFIX) cells;
#define LEY_CONVERT LEY_PASTE(convert_, real)

typedef struct {
    real x[LEY_UX];   /* the points' coordinates from the base: along a row, */
    across y[ROWS], z[LIST ? ROWS : 1]; /* a column, and across the face, where all have 0 */
    real sum[POINTS];
    real carry[CARRIES ? POINTS : 1];
    cells cell[KEEPS_PLACES ? 3 * LEY_UX : 1];
    real offset[KEEPS_PLACES ? 3 * LEY_UX : 1];
} points;

/* An axis's coordinate from the base. LEY_ROOT_SCALE in all lengths makes up for the factor of the recipe: see pair(). */
LEY_FN scalar from_base(int cells, scalar offset, scalar step, scalar step_low)
{
    return (cells * step + (cells * step_low + offset)) * LEY_ROOT_SCALE;
}

/* x, y, z as along a row, along a column, across. */
#define ALONG(f, v) ((f)->axis == 0 ? (v).y : (v).x)
#define DOWN(f, v) ((f)->axis == 2 ? (v).y : (v).z)
#define ACROSS(f, v) ((f)->axis == 0 ? (v).x : (f)->axis == 1 ? (v).y : (v).z)

/* From the base: along a row, along a column, across; w as it was. */
LEY_FN atom relative(const frame *f, placed p)
{
    const atom from = (atom)(from_base(p.cell.x - f->base.x, p.offset.x, f->step.x, f->step_low.x),
                             from_base(p.cell.y - f->base.y, p.offset.y, f->step.y, f->step_low.y),
                             from_base(p.cell.z - f->base.z, p.offset.z, f->step.z, f->step_low.z), p.offset.w);
    return (atom)(ALONG(f, from), DOWN(f, from), ACROSS(f, from), from.w);
}

#if LIST
LEY_FN bool is_near(const frame *f, atom a)
{
    return fabs(a.x) <= f->reach.x && fabs(a.y) <= f->reach.y && fabs(a.z) <= f->reach.z;
}

/* The lane-th of a work-item's u-th vector of points; the last point stands in for those that are not there. */
LEY_FN placed point(const frame *f, int u, int lane)
{
    return f->gm_points[min(f->first + u * LEY_WG * LEY_WIDTH + lane, f->n_points - 1)];
}

/* An atom as add() wants it: a near one at the base, where no pair is beyond a float. */
LEY_FN atom staged(const frame *f, placed p, bool *near)
{
    atom a = relative(f, p);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    *near = is_near(f, a);
    if (*near)
        a = (atom)(0, 0, 0, 0);
    return a;
}
#else
/* An atom as add() wants it. */
LEY_FN atom staged(const frame *f, placed p, bool *is_near)
{
    atom a = relative(f, p);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    *is_near = fabs(a.z) < f->step.w * LEY_ROOT_SCALE;
    if (*is_near)
        a.w = 0;
    a.z = a.z * a.z + LEAST_R2;
    return a;
}
#endif

/* 1/d exp(-kappa (d - R)) but for constant factors, of a work-item's k-th point. The units make r2 ley_unscaled_root(r2) = kappa d log2(e). */
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

/* Adds a staged atom to all points. */
LEY_FN void add(points *p, atom a, int radius)
{
#if LIST
    FOR_COLUMNS(u) {
        const real dx = p->x[u] - a.x, dy = p->y[u] - a.y, dz = p->z[u] - a.z;
        ADD(p->sum[u], p->carry[u * CARRIES], a.w * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), radius, u));
    }
#else
    real dx2[LEY_UX];
    FOR_COLUMNS(u) {
        const real dx = p->x[u] - a.x;
        dx2[u] = dx * dx;
    }
    FOR_ROWS(v) {
        const scalar dy = p->y[v] - a.y, dyz2 = dy * dy + a.z;
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            ADD(p->sum[k], p->carry[k * CARRIES], a.w * pair(dx2[u] + dyz2, radius, k));
        }
    }
#endif
}

#if LIST
/* As from_base(), of a vector of points from an atom. */
LEY_FN real from_atom(cells n, real offset, scalar step, scalar step_low)
{
    const real along = LEY_CONVERT(n);
    return (along * step + (along * step_low + offset)) * LEY_ROOT_SCALE;
}

/* Adds an atom near the points: coordinates from the atom, cells first. */
LEY_FN void add_near(points *p, const frame *f, placed near)
{
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
#if KEEPS_PLACES
    FOR_COLUMNS(u) {
        const real dx = from_atom(p->cell[3 * u] - near.cell.x, p->offset[3 * u] - near.offset.x, f->step.x, f->step_low.x);
        const real dy = from_atom(p->cell[3 * u + 1] - near.cell.y, p->offset[3 * u + 1] - near.offset.y, f->step.y, f->step_low.y);
        const real dz = from_atom(p->cell[3 * u + 2] - near.cell.z, p->offset[3 * u + 2] - near.offset.z, f->step.z, f->step_low.z);
        ADD(p->sum[u], p->carry[u * CARRIES], weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, u));
    }
#else
    _Pragma("unroll 1") for (int u = 0; u < LEY_UX; u++) { /* one after the other: all at once would take the main loop's registers */
        const placed at = point(f, u, 0);
        const real dx = from_atom(at.cell.x - near.cell.x, at.offset.x - near.offset.x, f->step.x, f->step_low.x);
        const real dy = from_atom(at.cell.y - near.cell.y, at.offset.y - near.offset.y, f->step.y, f->step_low.y);
        const real dz = from_atom(at.cell.z - near.cell.z, at.offset.z - near.offset.z, f->step.z, f->step_low.z);
        const real term = weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, POINTS);
        FOR_COLUMNS(k) /* no index that is computed: sums stay in registers */
            ADD(p->sum[k], p->carry[k * CARRIES], k == u ? term : 0);
    }
#endif
}
#else
/* Adds an atom near the face: coordinates from the atom, cells first. */
LEY_FN void add_near(points *p, const frame *f, placed near)
{
    const scalar step_a = ALONG(f, f->step), low_a = ALONG(f, f->step_low), step_b = DOWN(f, f->step), low_b = DOWN(f, f->step_low);
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
    const scalar dz = from_base(ACROSS(f, f->base) - ACROSS(f, near.cell), -ACROSS(f, near.offset), ACROSS(f, f->step), ACROSS(f, f->step_low));
    FOR_ROWS(v) {
        const scalar dy = from_base(f->b + v * f->stride_b - DOWN(f, near.cell), -DOWN(f, near.offset), step_b, low_b);
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            const real cells = (real)(f->a + u * f->stride_a - ALONG(f, near.cell)) + LEY_LANES;
            const real dx = (cells * step_a + (cells * low_a - ALONG(f, near.offset))) * LEY_ROOT_SCALE;
            ADD(p->sum[k], p->carry[k * CARRIES], weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, k));
        }
    }
}
#endif

#if LEY_ATOMS == LEY_ATOMS_LOCAL
/* The work-group brings a tile of atoms into local memory, then each work-item sums it. Near atoms are marked in a bit set. */
LEY_FN void sum_atoms(points *p, const frame *f, __global const placed *gm_atoms, int n_atoms, __local atom *sm_tile,
                      __local int *sm_radius, __local uint *sm_near)
{
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int w = get_local_id(0); w < LEY_TILE / 32; w += LEY_WG)
            sm_near[w] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = get_local_id(0); j < count; j += LEY_WG) {
            bool is_near;
            sm_tile[j] = staged(f, gm_atoms[base + j], &is_near);
            if (is_near)
                atomic_or(&sm_near[j / 32], 1u << (j % 32));
            if (LEY_SCREENING == LEY_SCREENING_WIDE)
                sm_radius[j] = LIST && is_near ? 0 : gm_atoms[base + j].cell.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < count; j++)
            add(p, sm_tile[j], LEY_SCREENING == LEY_SCREENING_WIDE ? sm_radius[j] : 0);
        for (int w = 0; w < LEY_TILE / 32; w++)
            for (uint left = sm_near[w]; left != 0; left &= left - 1)
                add_near(p, f, gm_atoms[base + 32 * w + 31 - clz(left & -left)]);
    }
}
#elif LIST
/* One work-item, for CPU devices. */
LEY_FN void sum_atoms(points *p, const frame *f, __global const placed *gm_atoms, int n_atoms)
{
    scalar x[LEY_TILE], y[LEY_TILE], z[LEY_TILE], w[LEY_TILE];
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            const atom a = relative(f, gm_atoms[base + j]);
            x[j] = a.x;
            y[j] = a.y;
            z[j] = a.z;
            w[j] = a.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
        }
        for (int j = 0; j < count; j++)
            if (is_near(f, (atom)(x[j], y[j], z[j], 0))) {
                near[n_near++] = base + j;
                x[j] = y[j] = z[j] = w[j] = 0;
            }
        for (int j = 0; j < count; j++)
            add(p, (atom)(x[j], y[j], z[j], w[j]), LEY_SCREENING == LEY_SCREENING_WIDE && w[j] != 0 ? gm_atoms[base + j].cell.w : 0);
        for (int n = 0; n < n_near; n++)
            add_near(p, f, gm_atoms[near[n]]);
    }
}
#else
/* One work-item, for CPU devices: it lays a tile of atoms out as what its rows need of each, once for all its columns; the inner loop then
 * broadcasts one number a row. Sums of a tile are added to the running sums as a whole, which also keeps float sums short. */
LEY_FN void sum_atoms(points *p, const frame *f, __global const placed *gm_atoms, int n_atoms)
{
    scalar x[LEY_TILE], weight[LEY_TILE], dyz2[LEY_TILE * LEY_UY];
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            bool is_near;
            const atom a = staged(f, gm_atoms[base + j], &is_near);
            near[n_near] = base + j;
            n_near += is_near;
            x[j] = a.x;
            weight[j] = a.w;
            FOR_ROWS(v) {
                const scalar dy = p->y[v] - a.y;
                dyz2[j * LEY_UY + v] = dy * dy + a.z;
            }
        }
        for (int u = 0; u < LEY_UX; u++) {
            real sum[LEY_UY], carry[CARRIES ? LEY_UY : 1];
            FOR_ROWS(v) sum[v] = carry[v * CARRIES] = 0;
            for (int j = 0; j < count; j++) {
                const real dx = p->x[u] - x[j], dx2 = dx * dx;
                const int radius = LEY_SCREENING == LEY_SCREENING_WIDE ? gm_atoms[base + j].cell.w : 0;
                FOR_ROWS(v) ADD(sum[v], carry[v * CARRIES], weight[j] * pair(dx2 + dyz2[j * LEY_UY + v], radius, v));
            }
            FOR_ROWS(v) {
                const int k = v * LEY_UX + u;
                if (CARRIES)
                    ADD(p->sum[k], p->carry[k * CARRIES], -carry[v * CARRIES]);
                ADD(p->sum[k], p->carry[k * CARRIES], sum[v]);
            }
        }
        for (int n = 0; n < n_near; n++)
            add_near(p, f, gm_atoms[near[n]]);
    }
}
#endif

/* Adds a sum to what memory holds of it, or puts it there. */
LEY_FN void store(points *p, int k, __global real *gm_sum, __global real *gm_carry, int accumulate)
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
    const int group = get_group_id(0), part = get_group_id(1);
    points p;
    frame f;
    f.step = step;
    f.step_low = step_low;
#if LIST
    f.gm_points = (__global const placed *)gm_places;
    f.first = group * LEY_WG * LEY_UX * LEY_WIDTH + get_local_id(0) * LEY_WIDTH;
    f.n_points = n_places;
    f.base = f.gm_points[n_places + group].cell;
    f.reach = f.gm_points[n_places + group].offset * LEY_ROOT_SCALE;
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
            const placed at = point(&f, u, lane);
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
    __global const segment *gm_segments = (__global const segment *)gm_places;
    int which = 0;
    while (which + 1 < n_places && group >= gm_segments[which + 1].first_group)
        which++;
    const segment s = gm_segments[which];
    const int item = (group - s.first_group) * LEY_WG + get_local_id(0);
    const int rows = (s.n_b + LEY_UY - 1) / LEY_UY, j = item / s.columns, i = item - j * s.columns;
    const int middle_a = s.first_a + s.n_a / 2, middle_b = s.first_b + s.n_b / 2;
    f.axis = s.axis;
    f.base = (int4)(s.axis == 0 ? s.plane : middle_a, s.axis == 0 ? middle_a : s.axis == 1 ? s.plane : middle_b,
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
    UNROLL for (int k = 0; k < POINTS; k++) {
        p.sum[k] = 0;
        p.carry[k * CARRIES] = 0;
    }

    const int begin = part * part_atoms;
    __global const placed *gm_part = gm_atoms + first_atom + begin;
#if LEY_ATOMS == LEY_ATOMS_LOCAL
    __local atom sm_tile[LEY_TILE];
    __local int sm_radius[LEY_SCREENING == LEY_SCREENING_WIDE ? LEY_TILE : 1];
    __local uint sm_near[(LEY_TILE + 31) / 32];
    sum_atoms(&p, &f, gm_part, min(part_atoms, n_atoms - begin), sm_tile, sm_radius, sm_near);
#else
    sum_atoms(&p, &f, gm_part, min(part_atoms, n_atoms - begin));
#endif

    __global real *gm_sum = gm_parts + (size_t)part * (part_values / LEY_WIDTH);
    const size_t carries = (size_t)get_num_groups(1) * (part_values / LEY_WIDTH);
#if LIST
    FOR_COLUMNS(u) {
        const int at = f.first + u * LEY_WG * LEY_WIDTH;
        if (at < n_places)
            store(&p, u, gm_sum + at / LEY_WIDTH, gm_sum + carries + at / LEY_WIDTH, accumulate);
    }
#else
    FOR_ROWS(v) FOR_COLUMNS(u) {
        const int a = (i + u * s.columns) * LEY_WIDTH, b = j + v * rows;
        const size_t at = (s.first_value + (size_t)b * s.pitch + a) / LEY_WIDTH;
        if (j < rows && a < s.n_a && b < s.n_b)
            store(&p, v * LEY_UX + u, gm_sum + at, gm_sum + carries + at, accumulate);
    }
#endif
}
