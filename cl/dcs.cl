/* Direct Coulomb summation on a slab of z-planes of a mesh:
 *
 *     phi(r_i) = sum_j q_j / max(|r_i - r_j|, r_min)
 *
 * and with LEY_FIELD the field beside it, to which atoms nearer than r_min add nothing:
 *
 *     E(r_i) = sum_j q_j (r_i - r_j) / |r_i - r_j|^3
 *
 * gm_atoms      one `stored_atom` each: where it is, in A, and its charge times every constant
 *               factor
 * first_atom, n_atoms  the atoms to sum
 * first_plane   z index of the slab's first plane
 * step          {h_x, h_y, h_z, r_min^2}: A, A, A, A^2
 * shear         {from row to row along x, from plane to plane along x, the same along y, -}, A: of
 *               LEY_OBLIQUE meshes, whose steps are (h_x, 0, 0), (shear.x, h_y, 0) and
 *               (shear.y, shear.z, h_z)
 * accumulate    0: store the sums; 1: add to what gm_phi holds (a further batch of atoms)
 * gm_phi        [planes][rows][row length], padded to whole work-group tiles; with LEY_FIELD as
 *               much again for the field along x, y and z each; with the compensated sum as much as
 *               all of that behind it for the compensations
 *
 * Global size {padded nx / (LEY_WIDTH LEY_UX), padded ny / LEY_UY, planes}, work-group {LEY_WG_X,
 * LEY_WG_Y, 1}: a group lies in one plane, so (z - z_j)^2 is the same for all its points. Where
 * atoms are staged, the few that are near a point of the group's tile take a path of their own, so
 * that the main loop has no test and no maximum in it. Cost of a pair there: an addition, a root, a
 * multiply-add.
 *
 * What is done with atoms stands in a file of its own for each place where they are read: see
 * sum_atoms(). */
#if !defined(LEY_SUM) || !defined(LEY_ROOT) || !defined(LEY_ATOMS) || !defined(LEY_NEWTON_ROOTS) || \
    !defined(LEY_TILE) || !defined(LEY_OBLIQUE)
#error "the specification is incomplete: see LEY_DCS_KEYS in spec.h"
#endif
#include "dialect.h"
#include "sum.h"
#include "placed.h"

/* Where kernels stage their atoms, these come as a mesh cell and an offset within it:
 * subtracting cells is exact, so that an atom's distance from a tile of points is rounded by the
 * distance, not by how far both are from the origin. Elsewhere {x, y, z, q} relative to the
 * mesh origin. */
#define PLACED LEY_ATOMS_ARE_PLACED(LEY_ATOMS, LEY_SUM)
#if PLACED
typedef placed stored_atom;
#else
typedef atom stored_atom;
#endif

#if LEY_ATOMS == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE LEY_CONSTANT
LEY_CONSTANT_SYMBOL(stored_atom)
#define WHERE_THEY_ARE(gm_atoms) LEY_IN_CONSTANT(gm_atoms)
#else
#define CONSTANT_SPACE LEY_GLOBAL
#define WHERE_THEY_ARE(gm_atoms) gm_atoms
#endif

/* Whether atoms near a point are sorted out while they are staged. */
#define SORTED (LEY_ATOMS == LEY_ATOMS_LOCAL || LEY_ATOMS == LEY_ATOMS_ROWS)

/* Atoms summed before their sum goes to memory: keeps float sums short. */
#define BLOCK 4096

/* A group's tile of points. */
#define TILE_X (LEY_WG_X * LEY_UX * LEY_WIDTH)
#define TILE_Y (LEY_WG_Y * LEY_UY)

/* The main loop has positions relative to the middle of its points, columns of a vector or a
 * whole tile, and so rounded by how far these reach. From this share of that reach on, rounding
 * is 2e-6 of a distance or less; atoms within it of a point are near. */
#define NEAR_SHARE 0.05f
#define REACH_X (LEY_ATOMS == LEY_ATOMS_ROWS ? LEY_WIDTH / 2 : TILE_X / 2)
#define REACH_Y (TILE_Y / 2)

/* Where a work-group shares atoms, a work-item has its points' coordinates in cells: near atoms
 * need them so, and for the others the step is part of a multiply-add. Both at once would not
 * fit into the registers. One work-item alone has its columns relative to the middle of a
 * vector. */
#define IN_CELLS (PLACED && LEY_ATOMS == LEY_ATOMS_LOCAL)
#define CENTRED (PLACED && LEY_ATOMS == LEY_ATOMS_ROWS)

typedef struct {
    int4 base;        /* mesh indices of the point that positions are relative to */
    atom step;
    real x[LEY_UX];   /* the points' coordinates, A; or cells: IN_CELLS */
    scalar y[LEY_UY], z;
#if LEY_OBLIQUE
    atom shear;
    scalar shift[LEY_UY]; /* of a row, what is to be added to x */
#endif
    real sum[SUMS];
    real carry[CARRIES ? SUMS : 1];
} points;

/* The mesh's indices of a work-item's first point. */
#define FIRST_COLUMN (((int)LEY_GROUP_ID(0) * LEY_UX * LEY_WG_X + (int)LEY_LOCAL_ID(0)) * LEY_WIDTH)
#define FIRST_ROW ((int)LEY_GROUP_ID(1) * TILE_Y + (int)LEY_LOCAL_ID(1))

/* The atom relative to p->base. */
LEY_FN atom relative(const points *p, stored_atom s)
{
#if PLACED
    atom a = s.offset;
    a.x += (s.cell.x - p->base.x) * p->step.x;
    a.y += (s.cell.y - p->base.y) * p->step.y;
    a.z += (s.cell.z - p->base.z) * p->step.z;
#if LEY_OBLIQUE
    a.x += (s.cell.y - p->base.y) * p->shear.x + (s.cell.z - p->base.z) * p->shear.y;
    a.y += (s.cell.z - p->base.z) * p->shear.z;
#endif
    return a;
#else
    return s;
#endif
}

/* What atoms are staged with of dz = z - z_j, the same for all points. */
#define ACROSS(dz) (LEY_FIELD ? (dz) : (dz) * (dz))

#if LEY_FIELD
/* Adds to sum k of each component of the field, which are `points` apart, what an atom at this
 * distance adds whose potential is this. */
LEY_FN void add_field(real *sum, real *carry, int k, int points, real potential, real inverse_r, real dx, scalar dy,
                      scalar dz)
{
    const real slope = potential * (inverse_r * inverse_r);
    ADD(sum[points + k], carry[(points + k) * CARRIES], slope * dx);
    ADD(sum[2 * points + k], carry[(2 * points + k) * CARRIES], slope * dy);
    ADD(sum[3 * points + k], carry[(3 * points + k) * CARRIES], slope * dz);
}
#endif

/* x - x_j of all columns, and its square. */
LEY_FN void along_x(const points *p, scalar x, real *dx, real *dx2)
{
    FOR_COLUMNS(u) {
        dx[u] = (IN_CELLS ? p->x[u] * p->step.x : p->x[u]) - x;
        dx2[u] = dx[u] * dx[u];
    }
}

/* Adds an atom; across: ACROSS(z - z_j). Where atoms are sorted, it is farther than r_min from all
 * points. */
LEY_FN void add(points *p, scalar x, scalar y, scalar across, scalar q)
{
    const scalar dz2_A2 = LEY_FIELD ? across * across : across;
    real dx[LEY_UX], dx2[LEY_UX];
#if !LEY_OBLIQUE
    along_x(p, x, dx, dx2);
#endif
    const scalar q_root = q * LEY_ROOT_SCALE;
#if LEY_NEWTON_ROOTS > 0
    const scalar q_newton = q * LEY_NEWTON_SCALE;
#endif
    FOR_ROWS(v) {
        const scalar dy = (IN_CELLS ? p->y[v] * p->step.y : p->y[v]) - y, dyz2 = dy * dy + dz2_A2;
#if LEY_OBLIQUE
        along_x(p, x - p->shift[v], dx, dx2);
#endif
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            const real r2_A2 = SORTED ? dx2[u] + dyz2 : ley_clamped_r2(dx2[u] + dyz2, (real)p->step.w);
#if LEY_FIELD
            const real root = ley_unscaled_root(r2_A2), potential = q_root * root;
            add_field(p->sum, p->carry, k, POINTS,
                      SORTED || dx2[u] + dyz2 >= (real)p->step.w ? potential : (real)0, root * LEY_ROOT_SCALE, dx[u],
                      dy, across);
#endif
#if LEY_NEWTON_ROOTS > 0
            if (LEY_IN_SHARE(k, LEY_NEWTON_ROOTS, POINTS))
                ADD(p->sum[k], p->carry[k * CARRIES], q_newton * ley_unscaled_newton_root(r2_A2));
            else
#endif
                ADD(p->sum[k], p->carry[k * CARRIES], q_root * ley_unscaled_root(r2_A2));
        }
    }
}

#if SORTED
#include "dcs_near.h"
#endif

/* sum_atoms() adds n_atoms of them, from number `first` on, to the points' sums. */
#if LEY_ATOMS == LEY_ATOMS_ROWS
#include "dcs_vectors.h"
#elif LEY_ATOMS == LEY_ATOMS_LOCAL
#include "dcs_group.h"
#else
#include "dcs_streamed.h"
#endif

/* Adds the sums to what memory holds of them, or puts them there. The components are so many
 * vectors apart. */
LEY_FN void store(points *p, LEY_GLOBAL real *gm_sum, LEY_GLOBAL real *gm_carry, size_t row_vectors, size_t component,
                  bool accumulate)
{
    FOR_COMPONENTS(c) FOR_ALL_ROWS(v) FOR_ALL_COLUMNS(u) {
        const int k = c * POINTS + v * LEY_UX + u;
        const size_t at = c * component + v * LEY_WG_Y * row_vectors + u * LEY_WG_X;
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
    const int vector_x = LEY_GROUP_ID(0) * LEY_UX * LEY_WG_X, row = LEY_GROUP_ID(1) * TILE_Y;
    const int plane = first_plane + (int)LEY_GROUP_ID(2), item_x = LEY_LOCAL_ID(0), item_y = LEY_LOCAL_ID(1);
    points p;
    p.base =
        PLACED ? LEY_INT4(vector_x * LEY_WIDTH + TILE_X / 2, row + TILE_Y / 2, plane, 0) : LEY_INT4(0, 0, 0, 0);
    p.step = step;
    FOR_COLUMNS(u) {
        const int column = FIRST_COLUMN + u * LEY_WG_X * LEY_WIDTH - p.base.x;
        p.x[u] = ((real)(CENTRED ? -(LEY_WIDTH / 2) : column) + LEY_LANES) * (IN_CELLS ? 1 : step.x);
    }
    FOR_ROWS(v)
        p.y[v] = (FIRST_ROW + v * LEY_WG_Y - p.base.y) * (IN_CELLS ? 1 : step.y);
    p.z = (plane - p.base.z) * step.z;
#if LEY_OBLIQUE
    p.shear = shear;
    FOR_ROWS(v) {
        p.shift[v] = (FIRST_ROW + v * LEY_WG_Y - p.base.y) * shear.x + (plane - p.base.z) * shear.y;
        p.y[v] += (plane - p.base.z) * shear.z; /* 0 where p.y is in cells */
    }
#endif

    const size_t row_vectors = LEY_GLOBAL_SIZE(0) * LEY_UX, rows = LEY_GLOBAL_SIZE(1) * LEY_UY;
    LEY_GLOBAL real *gm_sum = gm_phi + (LEY_GROUP_ID(2) * rows + row + item_y) * row_vectors + vector_x + item_x;
    const size_t component = LEY_GLOBAL_SIZE(2) * rows * row_vectors;
    LEY_GLOBAL real *gm_carry = gm_sum + LEY_COMPONENTS(LEY_FIELD) * component;
#if LEY_ATOMS == LEY_ATOMS_LOCAL
    LEY_LOCAL_VARIABLE atom sm_tile[LEY_TILE];
    LEY_LOCAL_VARIABLE unsigned sm_near[(LEY_TILE + 31) / 32];
#endif
    for (int block = 0; block < n_atoms; block += BLOCK) {
        FOR_ALL_SUMS(k) {
            p.sum[k] = 0;
            p.carry[k * CARRIES] = 0;
        }
#if LEY_ATOMS == LEY_ATOMS_LOCAL
        sum_atoms(&p, gm_atoms, first_atom + block, min(BLOCK, n_atoms - block), sm_tile, sm_near);
#else
        sum_atoms(&p, WHERE_THEY_ARE(gm_atoms), first_atom + block, min(BLOCK, n_atoms - block));
#endif
        store(&p, gm_sum, gm_carry, row_vectors, component, accumulate || block > 0);
    }
}
