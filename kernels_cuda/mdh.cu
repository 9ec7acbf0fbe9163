/* Multiple Debye-Hueckel potentials: the CUDA twin of cl/mdh.cl, which explains what it does and why. The same arguments, the same
 * specification keys. */
#include "dialect.cuh"
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

struct __align__(32) placed { /* as OpenCL lays it out: 64 bytes in double */
    atom offset;
    int4 cell;
};

/* What positions are relative to, how the axes lie, and which nodes of a face these are: columns a, a + stride_a, ..., rows b, b + stride_b, ... */
struct frame {
    int4 base;
    int axis; /* that the face is perpendicular to; of a list 2 */
    int a, stride_a, b, stride_b;
    atom step, step_low;
#if LIST
    const placed *gm_points; /* all of them, n_points */
    int first, n_points;     /* this thread's first one */
    atom reach;              /* x, y, z: how far from the base atoms are near, along each axis */
#endif
};

struct points {
    real x[LEY_UX];   /* the points' coordinates from the base: along a row, */
    across y[ROWS], z[LIST ? ROWS : 1]; /* a column, and across the face, where all have 0 */
    real sum[POINTS];
    real carry[CARRIES ? POINTS : 1];
};

/* An axis's coordinate from the base. LEY_ROOT_SCALE in all lengths makes up for the factor of the recipe: see pair(). */
LEY_FN scalar from_base(int cells, scalar offset, scalar step, scalar step_low)
{
    return (cells * step + (cells * step_low + offset)) * LEY_ROOT_SCALE;
}

/* x, y, z as along a row, along a column, across. */
#define ALONG(f, v) ((f).axis == 0 ? (v).y : (v).x)
#define DOWN(f, v) ((f).axis == 2 ? (v).y : (v).z)
#define ACROSS(f, v) ((f).axis == 0 ? (v).x : (f).axis == 1 ? (v).y : (v).z)

/* From the base: along a row, along a column, across; w as it was. */
LEY_FN atom relative(const frame &f, const placed &p)
{
    const atom from = {from_base(p.cell.x - f.base.x, p.offset.x, f.step.x, f.step_low.x),
                       from_base(p.cell.y - f.base.y, p.offset.y, f.step.y, f.step_low.y),
                       from_base(p.cell.z - f.base.z, p.offset.z, f.step.z, f.step_low.z), p.offset.w};
    const atom a = {ALONG(f, from), DOWN(f, from), ACROSS(f, from), from.w};
    return a;
}

#if LIST
LEY_FN bool is_within(scalar x, scalar reach)
{
    return LEY_MAX(x, -x) <= reach * LEY_ROOT_SCALE;
}

/* An atom as add() wants it: a near one at the base, where no pair is beyond a float. */
LEY_FN atom staged(const frame &f, const placed &p, bool &is_near)
{
    atom a = relative(f, p);
    is_near = is_within(a.x, f.reach.x) && is_within(a.y, f.reach.y) && is_within(a.z, f.reach.z);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    if (is_near)
        a.x = a.y = a.z = a.w = 0;
    return a;
}
#else
/* An atom as add() wants it. */
LEY_FN atom staged(const frame &f, const placed &p, bool &is_near)
{
    atom a = relative(f, p);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    is_near = LEY_MAX(a.z, -a.z) < f.step.w * LEY_ROOT_SCALE;
    if (is_near)
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
LEY_FN void add(points &p, const atom &a, int radius)
{
#if LIST
    FOR_COLUMNS(u) {
        const real dx = p.x[u] - a.x, dy = p.y[u] - a.y, dz = p.z[u] - a.z;
        ADD(p.sum[u], p.carry[u * CARRIES], a.w * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), radius, u));
    }
#else
    real dx2[LEY_UX];
    FOR_COLUMNS(u) {
        const real dx = p.x[u] - a.x;
        dx2[u] = dx * dx;
    }
    FOR_ROWS(v) {
        const scalar dy = p.y[v] - a.y, dyz2 = dy * dy + a.z;
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            ADD(p.sum[k], p.carry[k * CARRIES], a.w * pair(dx2[u] + dyz2, radius, k));
        }
    }
#endif
}

#if LIST
/* The u-th of a thread's points; the last one stands in for those that are not there. */
LEY_FN const placed &point(const frame &f, int u)
{
    return f.gm_points[min(f.first + u * LEY_WG, f.n_points - 1)];
}

/* Adds an atom near the points: coordinates from the atom, cells first. */
LEY_FN void add_near(points &p, const frame &f, const placed &near)
{
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
    _Pragma("unroll 1") for (int u = 0; u < LEY_UX; u++) { /* one after the other: all at once would take the main loop's registers */
        const placed &at = point(f, u);
        const real dx = from_base(at.cell.x - near.cell.x, at.offset.x - near.offset.x, f.step.x, f.step_low.x);
        const real dy = from_base(at.cell.y - near.cell.y, at.offset.y - near.offset.y, f.step.y, f.step_low.y);
        const real dz = from_base(at.cell.z - near.cell.z, at.offset.z - near.offset.z, f.step.z, f.step_low.z);
        const real term = weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, POINTS);
        FOR_COLUMNS(k) /* no index that is computed: sums stay in registers */
            ADD(p.sum[k], p.carry[k * CARRIES], k == u ? term : 0);
    }
}
#else
/* Adds an atom near the face: coordinates from the atom, cells first. */
LEY_FN void add_near(points &p, const frame &f, const placed &near)
{
    const scalar step_a = ALONG(f, f.step), low_a = ALONG(f, f.step_low), step_b = DOWN(f, f.step), low_b = DOWN(f, f.step_low);
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
    const scalar dz = from_base(ACROSS(f, f.base) - ACROSS(f, near.cell), -ACROSS(f, near.offset), ACROSS(f, f.step), ACROSS(f, f.step_low));
    FOR_ROWS(v) {
        const scalar dy = from_base(f.b + v * f.stride_b - DOWN(f, near.cell), -DOWN(f, near.offset), step_b, low_b);
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            const real dx = from_base(f.a + u * f.stride_a - ALONG(f, near.cell), -ALONG(f, near.offset), step_a, low_a);
            ADD(p.sum[k], p.carry[k * CARRIES], weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, k));
        }
    }
}
#endif

#if LEY_ATOMS == LEY_ATOMS_LOCAL
/* The work-group brings a tile of atoms into local memory, then each work-item sums it. Near atoms are marked in a bit set. */
LEY_FN void sum_atoms(points &p, const frame &f, const placed *gm_atoms, int n_atoms)
{
    __shared__ atom sm_tile[LEY_TILE];
    __shared__ unsigned sm_near[(LEY_TILE + 31) / 32];
    __shared__ int sm_radius[LEY_SCREENING == LEY_SCREENING_WIDE ? LEY_TILE : 1];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        __syncthreads();
        for (int w = (int)threadIdx.x; w < LEY_TILE / 32; w += LEY_WG)
            sm_near[w] = 0;
        __syncthreads();
        for (int j = (int)threadIdx.x; j < count; j += LEY_WG) {
            bool is_near;
            sm_tile[j] = staged(f, gm_atoms[base + j], is_near);
            if (is_near)
                atomicOr(&sm_near[j / 32], 1u << (j % 32));
            if (LEY_SCREENING == LEY_SCREENING_WIDE)
                sm_radius[j] = LIST && is_near ? 0 : gm_atoms[base + j].cell.w;
        }
        __syncthreads();
        for (int j = 0; j < count; j++)
            add(p, sm_tile[j], LEY_SCREENING == LEY_SCREENING_WIDE ? sm_radius[j] : 0);
        for (int w = 0; w < LEY_TILE / 32; w++)
            for (unsigned left = sm_near[w]; left != 0; left &= left - 1)
                add_near(p, f, gm_atoms[base + 32 * w + __ffs((int)left) - 1]);
    }
}
#endif

/* Adds a sum to what memory holds of it, or puts it there. */
LEY_FN void store(points &p, int k, real *gm_sum, real *gm_carry, int accumulate)
{
    if (accumulate) {
        if (CARRIES)
            ADD(p.sum[k], p.carry[k * CARRIES], -*gm_carry);
        ADD(p.sum[k], p.carry[k * CARRIES], *gm_sum);
    }
    *gm_sum = p.sum[k];
    if (CARRIES)
        *gm_carry = p.carry[k * CARRIES];
}

#define SEGMENT_FIELD(field) int field;
struct segment {
    LEY_SEGMENT_FIELDS(SEGMENT_FIELD)
    int unused[2];
};

LEY_KERNEL_OF(LEY_WG, 1, 1) mdh(LEY_PARAMETERS(LEY_MDH_ARGUMENTS))
{
    const int group = blockIdx.x, part = blockIdx.y;
    points p;
    frame f;
    f.step = step;
    f.step_low = step_low;
#if LIST
    f.gm_points = (const placed *)gm_places;
    f.first = group * LEY_WG * LEY_UX + (int)threadIdx.x;
    f.n_points = n_places;
    f.base = f.gm_points[n_places + group].cell;
    f.reach = f.gm_points[n_places + group].offset;
    f.axis = 2;
    FOR_COLUMNS(u) {
        const atom at = relative(f, point(f, u));
        p.x[u] = at.x;
        p.y[u] = at.y;
        p.z[u] = at.z;
    }
#else
    const segment *gm_segments = (const segment *)gm_places;
    int which = 0;
    while (which + 1 < n_places && group >= gm_segments[which + 1].first_group)
        which++;
    const segment s = gm_segments[which];
    const int item = (group - s.first_group) * LEY_WG + (int)threadIdx.x;
    const int rows = (s.n_b + LEY_UY - 1) / LEY_UY, j = item / s.columns, i = item - j * s.columns;
    const int middle_a = s.first_a + s.n_a / 2, middle_b = s.first_b + s.n_b / 2;
    f.axis = s.axis;
    f.base = make_int4(s.axis == 0 ? s.plane : middle_a, s.axis == 0 ? middle_a : s.axis == 1 ? s.plane : middle_b,
                    s.axis == 2 ? s.plane : middle_b, 0);
    f.a = s.first_a + i;
    f.stride_a = s.columns;
    f.b = s.first_b + j;
    f.stride_b = rows;
    FOR_COLUMNS(u)
        p.x[u] = from_base(f.a + u * f.stride_a - middle_a, 0, ALONG(f, step), ALONG(f, step_low));
    FOR_ROWS(v)
        p.y[v] = from_base(f.b + v * f.stride_b - middle_b, 0, DOWN(f, step), DOWN(f, step_low));
#endif
    UNROLL for (int k = 0; k < POINTS; k++) {
        p.sum[k] = 0;
        p.carry[k * CARRIES] = 0;
    }

    const int begin = part * part_atoms;
    const placed *gm_part = gm_atoms + first_atom + begin;
    sum_atoms(p, f, gm_part, min(part_atoms, n_atoms - begin));

    real *gm_sum = gm_parts + (size_t)part * part_values;
    const size_t carries = (size_t)gridDim.y * part_values;
#if LIST
    FOR_COLUMNS(u) {
        const int at = f.first + u * LEY_WG;
        if (at < n_places)
            store(p, u, gm_sum + at, gm_sum + carries + at, accumulate);
    }
#else
    FOR_ROWS(v) FOR_COLUMNS(u) {
        const int a = i + u * s.columns, b = j + v * rows;
        const size_t at = s.first_value + (size_t)b * s.pitch + a;
        if (j < rows && a < s.n_a && b < s.n_b)
            store(p, v * LEY_UX + u, gm_sum + at, gm_sum + carries + at, accumulate);
    }
#endif
}
