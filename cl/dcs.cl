/* Direct Coulomb summation on a slab of z-planes of a lattice:
 *
 *     phi(r_i) = sum_j q_j / max(|r_i - r_j|, r_min)
 *
 * gm_atoms      one `stored_atom` each: where it is, in A, and its charge times every constant factor
 * first_atom, n_atoms  the atoms to sum
 * first_plane   z index of the slab's first plane
 * step          {h_x, h_y, h_z, r_min^2}: A, A, A, A^2
 * accumulate    0: store the sums; 1: add to what gm_phi holds (a further batch of atoms)
 * gm_phi        [planes][rows][row length], padded to whole work-group tiles; with the compensated sum as much
 *               again behind it for the compensations
 *
 * Global size {padded nx / (LEY_WIDTH LEY_UX), padded ny / LEY_UY, planes}, work-group {LEY_WG_X, LEY_WG_Y, 1}: a group
 * lies in one plane, so (z - z_j)^2 is the same for all its points. Where atoms are staged, the few that are near a point of the group's
 * tile take a path of their own, so that the main loop has no test and no maximum in it. Cost of a pair there: an addition, a root, a
 * multiply-add. */
#if !defined(LEY_SUM) || !defined(LEY_ROOT) || !defined(LEY_ATOMS) || !defined(LEY_NEWTON_ROOTS) || !defined(LEY_TILE)
#error "the specification is incomplete: see LEY_DCS_KEYS in spec.h"
#endif
#include "dialect.h"
#include "sum.h"

/* Where kernels stage their atoms, these come as a lattice cell and an offset within it: subtracting cells is exact, so that
 * an atom's distance from a tile of points is rounded by the distance, not by how far both are from the origin. Elsewhere
 * {x, y, z, q} relative to the lattice origin. */
#define PLACED LEY_ATOMS_ARE_PLACED(LEY_ATOMS, LEY_SUM)
/* Where compilers warn of constant operands, they do not in macros. */
#define CELLS_ARE_CENTRED (PLACED && LEY_ATOMS == LEY_ATOMS_ROWS)
#if PLACED
typedef struct {
    atom offset;
    int4 cell;
} stored_atom;
#else
typedef atom stored_atom;
#endif

/* Whether atoms near a point are sorted out while they are staged. */
#define SORTED (LEY_ATOMS == LEY_ATOMS_LOCAL || LEY_ATOMS == LEY_ATOMS_ROWS)

/* Atoms summed before their sum goes to memory: keeps float sums short. */
#define BLOCK 4096

/* A group's tile of points. */
#define TILE_X (LEY_WG_X * LEY_UX * LEY_WIDTH)
#define TILE_Y (LEY_WG_Y * LEY_UY)

/* The main loop has positions relative to the middle of its points, columns of a vector or a whole tile, and so rounded by how far these
 * reach. From this share of that reach on, rounding is 2e-6 of a distance or less; atoms within it of a point are near. */
#define NEAR_SHARE 0.05f
#define REACH_X (LEY_ATOMS == LEY_ATOMS_ROWS ? LEY_WIDTH / 2 : TILE_X / 2)
#define REACH_Y (TILE_Y / 2)

/* Where a work-group shares atoms, a work-item has its points' coordinates in cells: near atoms need them so, and for the others the step is
 * part of a multiply-add. Both at once would not fit into the registers. */
#define IN_CELLS (PLACED && LEY_ATOMS == LEY_ATOMS_LOCAL)
#if IN_CELLS
#define X_A(p, u) ((p)->x[u] * (p)->step.x)
#define Y_A(p, v) ((p)->y[v] * (p)->step.y)
#else
#define X_A(p, u) (p)->x[u]
#define Y_A(p, v) (p)->y[v]
#endif

typedef struct {
    int4 base;        /* lattice indices of the point that positions are relative to */
    atom step;
    real x[LEY_UX];   /* the points' coordinates, A; or cells: X_A, Y_A */
    scalar y[LEY_UY], z;
    real sum[POINTS];
    real carry[CARRIES ? POINTS : 1];
} points;

/* The lattice's indices of a work-item's first point. */
#define FIRST_COLUMN (((int)get_group_id(0) * LEY_UX * LEY_WG_X + (int)get_local_id(0)) * LEY_WIDTH)
#define FIRST_ROW ((int)get_group_id(1) * TILE_Y + (int)get_local_id(1))

/* The atom relative to p->base. */
LEY_FN atom relative(const points *p, stored_atom s)
{
#if PLACED
    atom a = s.offset;
    a.x += (s.cell.x - p->base.x) * p->step.x;
    a.y += (s.cell.y - p->base.y) * p->step.y;
    a.z += (s.cell.z - p->base.z) * p->step.z;
    return a;
#else
    return s;
#endif
}

/* Squared distance within which atoms are near. */
LEY_FN scalar near_A2(const points *p)
{
    const scalar rounded_A = PLACED ? NEAR_SHARE * LEY_MAX(REACH_X * p->step.x, REACH_Y * p->step.y) : 0;
    return LEY_MAX(rounded_A * rounded_A, p->step.w);
}

/* Of an atom, placed a from p->base, to the nearest point of the tile; without cells, to the tile's plane. */
LEY_FN scalar nearest_A2(const points *p, stored_atom s, atom a)
{
    const scalar dz = p->z - a.z;
#if PLACED
    const int x = s.cell.x - p->base.x, y = s.cell.y - p->base.y;
    const scalar dx = (x - clamp(x, -(TILE_X / 2), (TILE_X - 1) / 2)) * p->step.x + s.offset.x;
    const scalar dy = (y - clamp(y, -(TILE_Y / 2), (TILE_Y - 1) / 2)) * p->step.y + s.offset.y;
    return dx * dx + (dy * dy + dz * dz);
#else
    return dz * dz;
#endif
}

/* Adds a near atom, each distance rounded by its own size: cells first. */
LEY_FN void add_near(points *p, stored_atom s)
{
    const atom a = relative(p, s);
    const scalar dz = p->z - a.z;
    FOR_ROWS(v) {
#if IN_CELLS
        const scalar dy = (p->y[v] - (s.cell.y - p->base.y)) * p->step.y - s.offset.y;
#elif PLACED
        const scalar dy = (FIRST_ROW + v * LEY_WG_Y - s.cell.y) * p->step.y - s.offset.y;
#else
        const scalar dy = p->y[v] - a.y;
#endif
        FOR_COLUMNS(u) {
#if IN_CELLS
            const real dx = (p->x[u] - (s.cell.x - p->base.x)) * p->step.x - s.offset.x;
#elif PLACED
            const real cells = (real)(FIRST_COLUMN + u * LEY_WG_X * LEY_WIDTH - s.cell.x) + LEY_LANES;
            const real dx = cells * p->step.x - s.offset.x;
#else
            const real dx = p->x[u] - a.x;
#endif
            const real r2_A2 = ley_clamped_r2(dx * dx + (dy * dy + dz * dz), (real)p->step.w);
            ADD(p->sum[v * LEY_UX + u], p->carry[(v * LEY_UX + u) * CARRIES], a.w * rsqrt(r2_A2));
        }
    }
}

/* Adds an atom; dz2_A2 = (z - z_j)^2. Where atoms are sorted, it is farther than r_min from all points. */
LEY_FN void add(points *p, scalar x, scalar y, scalar dz2_A2, scalar q)
{
    real dx2[LEY_UX];
    FOR_COLUMNS(u) {
        const real dx = X_A(p, u) - x;
        dx2[u] = dx * dx;
    }
    const scalar q_root = q * LEY_ROOT_SCALE;
#if LEY_NEWTON_ROOTS > 0
    const scalar q_newton = q * LEY_NEWTON_SCALE;
#endif
    FOR_ROWS(v) {
        const scalar dy = Y_A(p, v) - y, dyz2 = dy * dy + dz2_A2;
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            const real r2_A2 = SORTED ? dx2[u] + dyz2 : ley_clamped_r2(dx2[u] + dyz2, (real)p->step.w);
#if LEY_NEWTON_ROOTS > 0
            if (LEY_IN_SHARE(k, LEY_NEWTON_ROOTS, POINTS))
                ADD(p->sum[k], p->carry[k * CARRIES], q_newton * ley_unscaled_newton_root(r2_A2));
            else
#endif
                ADD(p->sum[k], p->carry[k * CARRIES], q_root * ley_unscaled_root(r2_A2));
        }
    }
}

#if LEY_ATOMS == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE __constant
#else
#define CONSTANT_SPACE __global
#endif

#if LEY_ATOMS == LEY_ATOMS_CONSTANT || LEY_ATOMS == LEY_ATOMS_GLOBAL
/* Every work-item reads every atom where it lies. */
LEY_FN void sum_atoms(points *p, CONSTANT_SPACE const stored_atom *atoms, int n_atoms)
{
    for (int j = 0; j < n_atoms; j++) {
        const atom a = relative(p, atoms[j]);
        const scalar dz = p->z - a.z;
        add(p, a.x, a.y, dz * dz, a.w);
    }
}
#endif

#if LEY_ATOMS == LEY_ATOMS_LOCAL
/* The work-group brings a tile of atoms into local memory, with dz^2 in place of z. A near atom is staged without its
 * charge and marked in a bit set, which keeps their order, and so the sum, the same from run to run. */
LEY_FN void sum_atoms(points *p, CONSTANT_SPACE const stored_atom *gm_atoms, int n_atoms,
                      __local atom *sm_tile, __local volatile uint *sm_near)
{
    const int item = get_local_id(1) * LEY_WG_X + get_local_id(0);
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int w = item; w < LEY_TILE / 32; w += LEY_WG_X * LEY_WG_Y)
            sm_near[w] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = item; j < count; j += LEY_WG_X * LEY_WG_Y) {
            atom a = relative(p, gm_atoms[base + j]);
            const scalar dz = p->z - a.z;
            const bool is_near = nearest_A2(p, gm_atoms[base + j], a) < near_A2(p);
            a.z = dz * dz;
            if (is_near) {
                atomic_or(&sm_near[j / 32], 1u << (j % 32));
                a.z = 1;
                a.w = 0;
            }
            sm_tile[j] = a;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < count; j++) {
            const atom a = sm_tile[j];
            add(p, a.x, a.y, a.z, a.w);
        }
        for (int w = 0; w < LEY_TILE / 32; w++)
            for (uint left = sm_near[w]; left != 0; left &= left - 1)
                add_near(p, gm_atoms[base + 32 * w + 31 - clz(left & -left)]);
    }
}
#endif

#if LEY_ATOMS == LEY_ATOMS_ROWS
/* One work-item, for CPU devices: it lays a tile of atoms out as dy^2 + dz^2 of each of its rows, once for all its
 * columns; the inner loop then broadcasts one number a row. Sums of a tile are added to the running sums as a whole,
 * which also keeps float sums short. Near atoms are staged without charge, and listed. */
LEY_FN void sum_atoms(points *p, CONSTANT_SPACE const stored_atom *gm_atoms, int n_atoms)
{
    scalar x[LEY_TILE], q[LEY_TILE], dyz2[LEY_TILE * LEY_UY];
#if PLACED
    scalar cell_x[LEY_TILE], offset_x[LEY_TILE];
#endif
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            const atom a = relative(p, gm_atoms[base + j]);
            const scalar dz = p->z - a.z;
            const int is_near = nearest_A2(p, gm_atoms[base + j], a) < near_A2(p);
#if PLACED
            cell_x[j] = gm_atoms[base + j].cell.x - p->base.x;
            offset_x[j] = gm_atoms[base + j].offset.x;
#else
            x[j] = a.x;
#endif
            q[j] = is_near ? 0 : a.w * LEY_ROOT_SCALE;
            FOR_ROWS(v) {
                const scalar dy = p->y[v] - a.y;
                dyz2[j * LEY_UY + v] = is_near ? 1 : dy * dy + dz * dz;
            }
            near[n_near] = base + j;
            n_near += is_near;
        }
        for (int u = 0; u < LEY_UX; u++) {
            real sum[LEY_UY], carry[CARRIES ? LEY_UY : 1];
            FOR_ROWS(v) sum[v] = carry[v * CARRIES] = 0;
#if PLACED
            const scalar middle = u * LEY_WIDTH + LEY_WIDTH / 2 - TILE_X / 2;
            for (int j = 0; j < count; j++)
                x[j] = (cell_x[j] - middle) * p->step.x + offset_x[j];
#endif
            for (int j = 0; j < count; j++) {
                const real dx = p->x[PLACED ? 0 : u] - x[j], dx2 = dx * dx;
                FOR_ROWS(v) ADD(sum[v], carry[v * CARRIES], q[j] * ley_unscaled_root(dx2 + dyz2[j * LEY_UY + v]));
            }
            FOR_ROWS(v) {
                const int k = v * LEY_UX + u;
                if (CARRIES)
                    ADD(p->sum[k], p->carry[k * CARRIES], -carry[v * CARRIES]);
                ADD(p->sum[k], p->carry[k * CARRIES], sum[v]);
            }
        }
        for (int n = 0; n < n_near; n++)
            add_near(p, gm_atoms[near[n]]);
    }
}
#endif

/* Adds the sums to what memory holds of them, or puts them there. */
LEY_FN void store(points *p, __global real *gm_sum, __global real *gm_carry, size_t row_vectors, bool accumulate)
{
    FOR_ROWS(v) FOR_COLUMNS(u) {
        const int k = v * LEY_UX + u;
        const size_t at = v * LEY_WG_Y * row_vectors + u * LEY_WG_X;
        if (accumulate) {
            if (CARRIES)
                ADD(p->sum[k], p->carry[k * CARRIES], -gm_carry[at]);
            ADD(p->sum[k], p->carry[k * CARRIES], gm_sum[at]);
        }
        gm_sum[at] = p->sum[k];
        if (CARRIES)
            gm_carry[at] = p->carry[k * CARRIES];
    }
}

LEY_KERNEL_OF(LEY_WG_X, LEY_WG_Y, 1) dcs(LEY_PARAMETERS(LEY_DCS_ARGUMENTS))
{
    const int vector_x = get_group_id(0) * LEY_UX * LEY_WG_X, row = get_group_id(1) * TILE_Y;
    const int plane = first_plane + (int)get_group_id(2), item_x = get_local_id(0), item_y = get_local_id(1);
    points p;
    p.base = PLACED ? (int4)(vector_x * LEY_WIDTH + TILE_X / 2, row + TILE_Y / 2, plane, 0) : (int4)(0, 0, 0, 0);
    p.step = step;
    FOR_COLUMNS(u) {
        const int column = FIRST_COLUMN + u * LEY_WG_X * LEY_WIDTH - p.base.x;
        p.x[u] = ((real)(CELLS_ARE_CENTRED ? -(LEY_WIDTH / 2) : column) + LEY_LANES) * (IN_CELLS ? 1 : step.x);
    }
    FOR_ROWS(v)
        p.y[v] = (FIRST_ROW + v * LEY_WG_Y - p.base.y) * (IN_CELLS ? 1 : step.y);
    p.z = (plane - p.base.z) * step.z;

    const size_t row_vectors = get_global_size(0) * LEY_UX, rows = get_global_size(1) * LEY_UY;
    __global real *gm_sum = gm_phi + (get_group_id(2) * rows + row + item_y) * row_vectors + vector_x + item_x;
    __global real *gm_carry = gm_sum + get_global_size(2) * rows * row_vectors;
#if LEY_ATOMS == LEY_ATOMS_LOCAL
    __local atom sm_tile[LEY_TILE];
    __local uint sm_near[(LEY_TILE + 31) / 32];
#endif
    for (int block = 0; block < n_atoms; block += BLOCK) {
        UNROLL for (int k = 0; k < POINTS; k++) {
            p.sum[k] = 0;
            p.carry[k * CARRIES] = 0;
        }
#if LEY_ATOMS == LEY_ATOMS_LOCAL
        sum_atoms(&p, gm_atoms + first_atom + block, min(BLOCK, n_atoms - block), sm_tile, sm_near);
#else
        sum_atoms(&p, gm_atoms + first_atom + block, min(BLOCK, n_atoms - block));
#endif
        store(&p, gm_sum, gm_carry, row_vectors, accumulate || block > 0);
    }
}
