/* Direct Coulomb summation on a slab of z-planes: the CUDA twin of cl/dcs.cl, which explains what it does and why. The same
 * arguments, the same specification keys.
 *
 * What differs: constant memory is a symbol, which the back end fills before a launch that reads it; from Ampere on a tile travels to
 * shared memory while the one before it is summed; and the grid is the number of blocks. */
#include "dialect.cuh"
#include "sum.h"

#define CONSTANT_SPACE LEY_CONSTANT

#define PLACED LEY_ATOMS_ARE_PLACED(LEY_ATOMS, LEY_SUM)
#if PLACED
struct __align__(16) stored_atom {
    atom offset;
    int4 cell;
};
#else
typedef atom stored_atom;
#endif

/* Whether atoms near a point are sorted out while they are staged. */
#define SORTED (LEY_ATOMS == LEY_ATOMS_LOCAL || LEY_ATOMS == LEY_ATOMS_ROWS)

/* Atoms summed before their sum goes to memory: keeps float sums short. */
#define BLOCK 4096

/* A block's tile of points. */
#define TILE_X (LEY_WG_X * LEY_UX)
#define TILE_Y (LEY_WG_Y * LEY_UY)

/* From this share of how far the tile reaches on, rounding is 2e-6 of a distance or less; atoms within it of a point are near. */
#define NEAR_SHARE 0.05f

/* In cells where atoms are placed: near atoms need them so, and for the others the step is part of a multiply-add. Both at once would not fit
 * into the registers. */
#if PLACED
#define X_A(p, u) ((p).x[u] * (p).step.x)
#define Y_A(p, v) ((p).y[v] * (p).step.y)
#else
#define X_A(p, u) (p).x[u]
#define Y_A(p, v) (p).y[v]
#endif

struct points {
    int4 base; /* lattice indices of the point that positions are relative to */
    atom step;
    real x[LEY_UX]; /* the points' coordinates, A or cells: X_A, Y_A */
    scalar y[LEY_UY], z;
    real sum[POINTS];
    real carry[CARRIES ? POINTS : 1];
};

/* The atom relative to p.base. */
LEY_FN atom relative(const points &p, const stored_atom &s)
{
#if PLACED
    atom a = s.offset;
    a.x += (s.cell.x - p.base.x) * p.step.x;
    a.y += (s.cell.y - p.base.y) * p.step.y;
    a.z += (s.cell.z - p.base.z) * p.step.z;
    return a;
#else
    return s;
#endif
}

/* Squared distance within which atoms are near. */
LEY_FN scalar near_A2(const points &p)
{
    const scalar rounded_A = PLACED ? NEAR_SHARE * LEY_MAX((TILE_X / 2) * p.step.x, (TILE_Y / 2) * p.step.y) : 0;
    return LEY_MAX(rounded_A * rounded_A, p.step.w);
}

/* Of an atom, placed a from p.base, to the nearest point of the tile; without cells, to the tile's plane. */
LEY_FN scalar nearest_A2(const points &p, const stored_atom &s, const atom &a)
{
    const scalar dz = p.z - a.z;
#if PLACED
    const int x = s.cell.x - p.base.x, y = s.cell.y - p.base.y;
    const scalar dx = (x - min(max(x, -(TILE_X / 2)), (TILE_X - 1) / 2)) * p.step.x + s.offset.x;
    const scalar dy = (y - min(max(y, -(TILE_Y / 2)), (TILE_Y - 1) / 2)) * p.step.y + s.offset.y;
    return dx * dx + (dy * dy + dz * dz);
#else
    return dz * dz;
#endif
}

/* Adds a near atom, each distance rounded by its own size: cells first. */
LEY_FN void add_near(points &p, const stored_atom &s)
{
    const atom a = relative(p, s);
    const scalar dz = p.z - a.z;
    FOR_ROWS(v) {
#if PLACED
        const scalar dy = (p.y[v] - (s.cell.y - p.base.y)) * p.step.y - s.offset.y;
#else
        const scalar dy = p.y[v] - a.y;
#endif
        FOR_COLUMNS(u) {
#if PLACED
            const real dx = (p.x[u] - (s.cell.x - p.base.x)) * p.step.x - s.offset.x;
#else
            const real dx = p.x[u] - a.x;
#endif
            const real r2_A2 = ley_clamped_r2(dx * dx + (dy * dy + dz * dz), p.step.w);
            ADD(p.sum[v * LEY_UX + u], p.carry[(v * LEY_UX + u) * CARRIES], a.w * LEY_RSQRT(r2_A2));
        }
    }
}

/* Adds an atom; dz2_A2 = (z - z_j)^2. Where atoms are sorted, it is farther than r_min from all points. */
LEY_FN void add(points &p, scalar x, scalar y, scalar dz2_A2, scalar q)
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
            const real r2_A2 = SORTED ? dx2[u] + dyz2 : ley_clamped_r2(dx2[u] + dyz2, (real)p.step.w);
#if LEY_NEWTON_ROOTS > 0
            if (LEY_IN_SHARE(k, LEY_NEWTON_ROOTS, POINTS))
                ADD(p.sum[k], p.carry[k * CARRIES], q_newton * ley_unscaled_newton_root(r2_A2));
            else
#endif
                ADD(p.sum[k], p.carry[k * CARRIES], q_root * ley_unscaled_root(r2_A2));
        }
    }
}

#if LEY_ATOMS == LEY_ATOMS_CONSTANT
/* 64,000 bytes: the back end copies a launch's atoms here. */
__constant__ stored_atom cm_first[64000 / sizeof(stored_atom)]; /* CUDA_CONSTANT_SYMBOL_BYTES */
#endif

#if LEY_ATOMS == LEY_ATOMS_CONSTANT || LEY_ATOMS == LEY_ATOMS_GLOBAL
/* Every thread reads every atom where it lies. */
LEY_FN void sum_atoms(points &p, const stored_atom *atoms, int first, int n_atoms)
{
    for (int j = first; j < first + n_atoms; j++) {
#if LEY_ATOMS == LEY_ATOMS_CONSTANT
        const atom a = relative(p, cm_first[j]);
#else
        const atom a = relative(p, atoms[j]);
#endif
        const scalar dz = p.z - a.z;
        add(p, a.x, a.y, dz * dz, a.w);
    }
}
#endif

#if LEY_ATOMS == LEY_ATOMS_LOCAL
/* From Ampere on, atoms are copied to shared memory as they are, past the registers, while the threads sum; before, each thread reads
 * where they lie. */
#if __CUDA_ARCH__ >= 800
#define AHEAD 1
#define STORED(gm_atoms, at, sm_ahead, j) (sm_ahead)[j]

/* Starts the copy of a tile. */
LEY_FN void fetch(stored_atom *sm_ahead, const stored_atom *gm_tile, int count, int item)
{
    for (int j = item; j < count; j += LEY_WG_X * LEY_WG_Y)
        UNROLL for (int part = 0; part < (int)sizeof(stored_atom); part += 16)
            asm volatile("{.reg .u64 to; cvta.to.shared.u64 to, %0; cp.async.cg.shared.global [to], [%1], 16;}" ::
                         "l"((char *)&sm_ahead[j] + part), "l"((const char *)&gm_tile[j] + part) : "memory");
}

/* What this thread fetched has arrived. */
LEY_FN void await_fetched(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#else
#define AHEAD 0
#define STORED(gm_atoms, at, sm_ahead, j) (gm_atoms)[(at) + (j)]
LEY_FN void fetch(stored_atom *, const stored_atom *, int, int) {}
LEY_FN void await_fetched(void) {}
#endif

/* The block brings a tile of atoms into shared memory, with dz^2 in place of z; near atoms are staged without their charge and
 * marked in a bit set. */
LEY_FN void sum_atoms(points &p, const stored_atom *gm_atoms, int first, int n_atoms)
{
    __shared__ atom sm_tile[LEY_TILE];
    __shared__ unsigned sm_near[(LEY_TILE + 31) / 32];
    __shared__ stored_atom sm_ahead[AHEAD ? LEY_TILE : 1];
    const int item = threadIdx.y * LEY_WG_X + threadIdx.x;
    fetch(sm_ahead, gm_atoms + first, min(LEY_TILE, n_atoms), item);
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base), next = base + LEY_TILE;
        await_fetched(); /* by the thread that reads it: no barrier in between */
        __syncthreads();
        for (int w = item; w < LEY_TILE / 32; w += LEY_WG_X * LEY_WG_Y)
            sm_near[w] = 0;
        __syncthreads();
        for (int j = item; j < count; j += LEY_WG_X * LEY_WG_Y) {
            const stored_atom s = STORED(gm_atoms, first + base, sm_ahead, j);
            atom a = relative(p, s);
            const scalar dz = p.z - a.z;
            const bool is_near = nearest_A2(p, s, a) < near_A2(p);
            a.z = dz * dz;
            if (is_near) {
                atomicOr(&sm_near[j / 32], 1u << (j % 32));
                a.z = 1;
                a.w = 0;
            }
            sm_tile[j] = a;
        }
        fetch(sm_ahead, gm_atoms + first + next, min(LEY_TILE, n_atoms - next), item);
        __syncthreads();
        for (int j = 0; j < count; j++) {
            const atom a = sm_tile[j];
            add(p, a.x, a.y, a.z, a.w);
        }
        for (int w = 0; w < LEY_TILE / 32; w++)
            for (unsigned left = sm_near[w]; left != 0; left &= left - 1)
                add_near(p, gm_atoms[first + base + 32 * w + __ffs((int)left) - 1]);
    }
}
#endif

/* Adds the sums to what memory holds of them, or puts them there. */
LEY_FN void store(points &p, real *gm_sum, real *gm_carry, size_t row_length, bool accumulate)
{
    FOR_ROWS(v) FOR_COLUMNS(u) {
        const int k = v * LEY_UX + u;
        const size_t at = v * LEY_WG_Y * row_length + u * LEY_WG_X;
        if (accumulate) {
            if (CARRIES)
                ADD(p.sum[k], p.carry[k * CARRIES], -gm_carry[at]);
            ADD(p.sum[k], p.carry[k * CARRIES], gm_sum[at]);
        }
        gm_sum[at] = p.sum[k];
        if (CARRIES)
            gm_carry[at] = p.carry[k * CARRIES];
    }
}

LEY_KERNEL_OF(LEY_WG_X, LEY_WG_Y, 1) dcs(LEY_PARAMETERS(LEY_DCS_ARGUMENTS))
{
    const int column = (int)blockIdx.x * TILE_X, row = (int)blockIdx.y * TILE_Y;
    const int plane = first_plane + (int)blockIdx.z;
    points p;
    p.base = make_int4(PLACED ? column + TILE_X / 2 : 0, PLACED ? row + TILE_Y / 2 : 0, PLACED ? plane : 0, 0);
    p.step = step;
    FOR_COLUMNS(u) p.x[u] = (real)(column + (int)threadIdx.x + u * LEY_WG_X - p.base.x) * (PLACED ? 1 : step.x);
    FOR_ROWS(v) p.y[v] = (row + (int)threadIdx.y + v * LEY_WG_Y - p.base.y) * (PLACED ? 1 : step.y);
    p.z = (plane - p.base.z) * step.z;

    const size_t row_length = (size_t)gridDim.x * LEY_UX * LEY_WG_X, rows = (size_t)gridDim.y * LEY_UY * LEY_WG_Y;
    real *gm_sum = gm_phi + (blockIdx.z * rows + row + threadIdx.y) * row_length + column + threadIdx.x;
    real *gm_carry = gm_sum + gridDim.z * rows * row_length;
    for (int block = 0; block < n_atoms; block += BLOCK) {
        UNROLL for (int k = 0; k < POINTS; k++) {
            p.sum[k] = 0;
            p.carry[k * CARRIES] = 0;
        }
        sum_atoms(p, gm_atoms, first_atom + block, min(BLOCK, n_atoms - block));
        store(p, gm_sum, gm_carry, row_length, accumulate || block > 0);
    }
}
