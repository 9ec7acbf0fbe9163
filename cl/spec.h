/* What a kernel is specialised by: read by the kernels and by the host code that packs their
 * arguments.
 *
 * A specification is a set of -D values. Its keys stand here once: LEY_DCS_KEYS gives the host
 * its struct fields and the -D options that it writes, the kernel its constants. Preprocessor
 * only, so that C11, OpenCL C and CUDA C read the same lines. */
#ifndef LEY_SPEC_H
#define LEY_SPEC_H

#include "pair_table.h"

/* LEY_SUM: the type of a pair's term and of the running sum. */
#define LEY_SPEC_SUM_FLOAT 0       /* float terms, float sum */
#define LEY_SPEC_SUM_COMPENSATED 1 /* float terms, Kahan's compensated float sum */
#define LEY_SPEC_SUM_DOUBLE 2      /* double atoms, terms and sum */

/* LEY_ROOT: the recipe for 1/sqrt(x). roots.cl measures the error and the rate of each on the
 * device. */
#define LEY_ROOT_STANDARD 0   /* rsqrt(), at most 2 ulp */
#define LEY_ROOT_RECIPROCAL 1 /* 1/sqrt() */
#define LEY_ROOT_NATIVE 2     /* native_rsqrt(), error unknown until measured */
#define LEY_ROOT_NEWTON 3     /* bit trick and two Newton steps: multiplications and additions only */
#define LEY_ROOT_PTX 4        /* rsqrt.approx.ftz.f32: the special-function unit, denormals flushed */
#define LEY_ROOT_AVX512 5     /* vrsqrt14ps and one Newton step, 16 lanes */
#define LEY_ROOT_REFINED 6    /* native_rsqrt(), where it is no more than a first guess, and one Newton step */
#define LEY_ROOT_COUNT 7

/* LEY_EXP: the recipe for 2^x. exps.cl measures the error and the rate of each on the device. */
#define LEY_EXP_STANDARD 0   /* exp2() */
#define LEY_EXP_NATIVE 1     /* native_exp2(), error unknown until measured */
#define LEY_EXP_POLYNOMIAL 2 /* exponent bits and a polynomial of degree 5: multiplications and additions only */
#define LEY_EXP_PTX 3        /* ex2.approx.ftz.f32: the special-function unit, denormals flushed */
#define LEY_EXP_COUNT 4

/* LEY_SUB_GROUPS: how 32 work-items of a work-group vote and pass numbers on in OpenCL C without
 * local memory. CUDA C has its own way, unasked. */
#define LEY_SUB_GROUPS_NONE 0  /* not at all */
#define LEY_SUB_GROUPS_PTX 1   /* instructions of a warp, as inline PTX */
#define LEY_SUB_GROUPS_KHR 2   /* cl_khr_subgroup_shuffle, with a required size of 32 */
#define LEY_SUB_GROUPS_CL12 3  /* the same of an extension to OpenCL C 1.2, cl_intel_subgroups */

/* LEY_ATOMS: where a kernel reads its atoms. */
#define LEY_ATOMS_CONSTANT 0 /* streamed from constant memory, one batch per launch */
#define LEY_ATOMS_GLOBAL 1   /* streamed from global memory */
#define LEY_ATOMS_LOCAL 2    /* staged through local memory by the work-group, LEY_TILE at a time */
#define LEY_ATOMS_ROWS 3     /* one work-item stages LEY_TILE atoms as dy^2 + dz^2 of each of its rows */

/* Whether atoms come as {offset x, y, z, q; cell x, y, z, -}, 32 bytes, rather than {x, y, z,
 * q}: see dcs.cl. */
#define LEY_ATOMS_ARE_PLACED(atoms, sum) \
    ((sum) != LEY_SPEC_SUM_DOUBLE && ((atoms) == LEY_ATOMS_LOCAL || (atoms) == LEY_ATOMS_ROWS))

/* True for `share` of the numbers k = 0 .. n - 1, evenly spread. */
#define LEY_IN_SHARE(k, share, n) (((k) + 1) * (share) / (n) != (k) * (share) / (n))

/* What the dialect headers read, and so every kernel: all that sum_parts.cl, link_atoms.cl,
 * fill_bins.cl, spread_*.cl, long_*.cl, influence.cl, ions_mask.cl, ions_nodes.cl and those that
 * measure have. */
#define LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_ROOT, root)

/* long_*.cl: bins of a coarse mesh, so many nodes wide; the nodes of an atom along an axis,
 * whose weights are polynomials of so many numbers; and the nodes that all atoms of a bin reach. */
#define LEY_LONG_EDGE 4
#define LEY_LONG_POINTS 8
#define LEY_LONG_COEFFICIENTS 10
#define LEY_LONG_ACROSS (LEY_LONG_EDGE + LEY_LONG_POINTS - 1)

/* ions_*.cl: nodes of a brick along each axis. */
#define LEY_BRICK 16

/* Parts of a brick, a work-group each, for ions_bricks.cl: the few bricks of a launch keep a GPU
 * busy only in parts. */
#define LEY_BRICK_PARTS(width) ((width) > 1 ? 1 : 8)

/* ions_bricks.cl. LEY_PERIODIC 1: what an ion adds is in a table; LEY_SQUARE 1: it adds q / r^2. */
#define LEY_IONS_BRICKS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_PERIODIC, periodic) \
    KEY(LEY_SQUARE, square)

/* exps.cl. */
#define LEY_EXPS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp)

/* LEY_FIELD: whether a kernel sums the field's three components beside the potential; their number
 * in all. */
#define LEY_COMPONENTS(field) ((field) ? 4 : 1)

/* dcs.cl. A work-item computes LEY_UX x LEY_UY vectors of LEY_WIDTH points; along x its vectors
 * are strided by LEY_WG_X vectors, along y its rows by LEY_WG_Y rows, so that neighbouring
 * work-items touch neighbouring memory. LEY_NEWTON_ROOTS of its LEY_UX x LEY_UY roots per atom
 * are taken by LEY_ROOT_NEWTON, whatever LEY_ROOT says: on devices whose special-function unit
 * is the bottleneck the multipliers do a share of its work. LEY_OBLIQUE 1, here and of cutoff.cl:
 * the grid's steps are not perpendicular to each other. */
#define LEY_DCS_KEYS(KEY) \
    KEY(LEY_WG_X, wg_x) \
    KEY(LEY_WG_Y, wg_y) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_UX, ux) \
    KEY(LEY_UY, uy) \
    KEY(LEY_ATOMS, atoms) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_ROOT, root) \
    KEY(LEY_NEWTON_ROOTS, newton_roots) \
    KEY(LEY_FIELD, field) \
    KEY(LEY_OBLIQUE, oblique)

/* LEY_SCREENING: what of exp(-kappa (d - R)) a pair computes. */
#define LEY_SCREENING_NONE 0   /* nothing: kappa is 0 */
#define LEY_SCREENING_FOLDED 1 /* exp(-kappa d): exp(kappa R) is in the weight, and nothing leaves a float's range */
#define LEY_SCREENING_WIDE 2   /* exp(-kappa (d - R)) as a whole, limited to a float's range */

/* LEY_POINTS: where a kernel's points lie. */
#define LEY_POINTS_FACES 0 /* nodes of a grid's faces: LEY_UX columns and LEY_UY rows per work-item */
#define LEY_POINTS_LIST 1  /* anywhere: LEY_UX a work-item, LEY_UY = 1 */

/* mdh.cl. A work-item computes LEY_UX x LEY_UY vectors of LEY_WIDTH points, work-groups of
 * LEY_WG of them in one row; LEY_POLYNOMIAL_EXPS of its LEY_UX x LEY_UY exponentials per atom are
 * taken by LEY_EXP_POLYNOMIAL, whatever LEY_EXP says. */
#define LEY_MDH_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_UX, ux) \
    KEY(LEY_UY, uy) \
    KEY(LEY_ATOMS, atoms) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_ROOT, root) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_POLYNOMIAL_EXPS, polynomial_exps) \
    KEY(LEY_SCREENING, screening) \
    KEY(LEY_POINTS, points) \
    KEY(LEY_FIELD, field)

/* A stretch of a face that mdh.cl computes: its fields, as ints. */
#define LEY_SEGMENT_FIELDS(FIELD) \
    FIELD(axis)        /* that the face is perpendicular to */ \
    FIELD(plane)       /* the face's index along it */ \
    FIELD(first_a)     /* nodes first_a .. first_a + n_a - 1 along the lower-numbered of the other axes: columns */ \
    FIELD(n_a) \
    FIELD(first_b)     /* along the higher-numbered: rows */ \
    FIELD(n_b) \
    FIELD(pitch)       /* values from a row to the next one: n_a, rounded up to whole vectors */ \
    FIELD(first_value) /* where its values begin */ \
    FIELD(columns)     /* work-items along a row */ \
    FIELD(first_group) /* of its work-groups */

/* 1.5 2^23: added to it, a number loses its fraction. */
#define LEY_EXP2_SHIFT 12582912.0f

/* separable.cl. Of groups, LEY_LX x LEY_LY work-items, each with LEY_UX x LEY_UY points, LEY_TILE
 * terms are multiplied at a time. One work-item alone computes LEY_UX vectors of LEY_WIDTH points
 * and LEY_UY rows at a time, LEY_TILE such tiles along x in all. LEY_POWERS: one more than the
 * highest angular momentum. LEY_DERIVATIVES: what groups have beside psi, 1: its derivatives, 2:
 * its Laplacian, too; one work-item alone has all. */
#define LEY_SEPARABLE_STEPS 8 /* of LEY_UY rows, of one work-item alone */
#define LEY_SEPARABLE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_LX, lx) \
    KEY(LEY_LY, ly) \
    KEY(LEY_UX, ux) \
    KEY(LEY_UY, uy) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_POWERS, powers) \
    KEY(LEY_DERIVATIVES, derivatives)

/* gaussians.cl. A work-item computes a vector of LEY_WIDTH points, of LEY_ORBITALS orbitals at
 * once; LEY_DERIVATIVES: of one orbital, and its derivatives. LEY_ATOMS: where the basis is read,
 * constant or global memory, or staged through local memory, LEY_TILE vectors of four numbers at a
 * time. LEY_CONTRACTED: terms are of shells, not of Gaussians. LEY_COMPILED: exponents and angular
 * momenta are in the code, the macro LEY_BASIS_CODE that stands before it. */
#define LEY_GAUSSIANS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_ORBITALS, orbitals) \
    KEY(LEY_DERIVATIVES, derivatives) \
    KEY(LEY_ATOMS, atoms) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_CONTRACTED, contracted) \
    KEY(LEY_COMPILED, compiled)

/* density_matrix.cl. LEY_ROOM: the most functions that a basis has. LEY_POWERS: as in
 * separable.cl. */
#define LEY_DENSITY_MATRIX_X 8 /* points of a block along the axes */
#define LEY_DENSITY_MATRIX_Y 4
#define LEY_DENSITY_MATRIX_Z 4
#define LEY_DENSITY_MATRIX_ROWS 64 /* that are summed at a time */
#define LEY_DENSITY_MATRIX_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_POWERS, powers) \
    KEY(LEY_ROOM, room)

/* hermite.cl. A work-item computes a vector of LEY_WIDTH points, of charges of degree LEY_MOMENTUM,
 * or with LEY_MULTIPOLES of multipoles; of Boys' function it has polynomials of this degree. */
#define LEY_BOYS_DEGREE 14
#define LEY_HERMITE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_MOMENTUM, momentum) \
    KEY(LEY_MULTIPOLES, multipoles) \
    KEY(LEY_FIELD, field)

/* influence.cl. LEY_MEAN 1: there may be a mean wave. LEY_LONG 1: there are long waves. */
#define LEY_INFLUENCE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_MEAN, mean) \
    KEY(LEY_LONG, longs)

/* reference.cl. A work-group of LEY_WG work-items computes one point, by the law of this number
 * (laws/X.h), of pairs by this function of pair_table.h; LEY_SUM is double. */
#define LEY_REFERENCE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_LAW, law) \
    KEY(LEY_LAW_PAIR, pair)

/* LEY_STORE: how a kernel that computes regions of points stores them. */
#define LEY_STORE_REGIONS 0 /* one region after the other */
#define LEY_STORE_ROWS 1    /* in rows, padded to whole regions */

/* cutoff.cl. A work-item computes LEY_UX x LEY_UY x LEY_UZ points (vectors of LEY_WIDTH of
 * them), strided by LEY_LX, LEY_LY and LEY_LZ, which are the work-items of a group along x, y,
 * z, or, where LEY_WIDTH is not 1, the lanes of a vector. A group's points are a region of
 * LEY_LX LEY_UX x LEY_LY LEY_UY x LEY_LZ LEY_UZ. LEY_SUM is the type of a term; LEY_TOTAL that
 * of the total over sums of a tile's. LEY_PRUNE: whether atoms out of the region's reach are
 * left out; LEY_SPLIT: and those that only halves of it are in reach of are kept apart, 1:
 * halves along x and z, 2: along y as well; or, of vectors, into how many parts along z a column
 * is cut, each of which has a list of the atoms that it is in reach of.
 * LEY_TABLE: LEY_ATOMS_CONSTANT or LEY_ATOMS_GLOBAL, where the table of bins is. LEY_NODES, of
 * groups without LEY_FIELD: a mesh's potentials at the points are added to the sums, and along each
 * axis there is room for so many nodes that have a part in a region; 0: nothing is added.
 * LEY_BY_PLANE as in nodes.h, of that mesh. */
#define LEY_CUTOFF_KEYS(KEY) \
    KEY(LEY_LX, lx) \
    KEY(LEY_LY, ly) \
    KEY(LEY_LZ, lz) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_UX, ux) \
    KEY(LEY_UY, uy) \
    KEY(LEY_UZ, uz) \
    KEY(LEY_DEPTH, depth) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_PRUNE, prune) \
    KEY(LEY_SPLIT, split) \
    KEY(LEY_TABLE, table) \
    KEY(LEY_STORE, store) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_TOTAL, total) \
    KEY(LEY_ROOT, root) \
    KEY(LEY_PAIR, pair) \
    KEY(LEY_SUB_GROUPS, sub_groups) \
    KEY(LEY_NODES, nodes) \
    KEY(LEY_BY_PLANE, by_plane) \
    KEY(LEY_FIELD, field) \
    KEY(LEY_OBLIQUE, oblique)

/* point_pairs.cl. A work-item computes LEY_UX vectors of LEY_WIDTH points of a list, LEY_WG of them
 * are a work-group; the rest is as in cutoff.cl. */
#define LEY_POINT_PAIRS_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_UX, ux) \
    KEY(LEY_DEPTH, depth) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_TOTAL, total) \
    KEY(LEY_ROOT, root) \
    KEY(LEY_PAIR, pair) \
    KEY(LEY_FIELD, field)

/* Into how many classes a work-group sorts staged atoms; the last one are atoms near the region. */
#define LEY_CLASSES(split) ((split) == 2 ? 28 : (split) == 1 ? 10 : 2)

/* Nodes along the edges of the sub-cubes that lattice.cl has charges and potentials in. */
#define LEY_CUBE 4

/* A place along an axis where there is no node: added to those along the other axes it stays
 * negative. */
#define LEY_NOWHERE (-(1 << 29))

/* LEY_SLIDE: how lattice.cl goes through a neighbourhood. */
#define LEY_SLIDE_NOT 0      /* in columns along z, of rows that are folded */
#define LEY_SLIDE_BASIC 1    /* a window slides over eight sub-cubes, loaded anew at each step */
#define LEY_SLIDE_SHIFTED 2  /* four of the eight are kept, loops are unrolled */

/* A level of meshes that lattice.cl computes: its fields, as ints. */
#define LEY_LEVEL_FIELDS(FIELD) \
    FIELD(first_group) /* of its work-groups */ \
    FIELD(regions_x)   /* work-groups along x, and along y */ \
    FIELD(regions_y) \
    FIELD(first_node)  /* where its sub-cubes begin */ \
    FIELD(place_x)     /* where node 0 is among the places along x, y, z */ \
    FIELD(place_y) \
    FIELD(place_z) \
    FIELD(scale)       /* the bits of a float: what sums are multiplied by */ \
    FIELD(cubes_x)     /* sub-cubes along x, y, z */ \
    FIELD(cubes_y) \
    FIELD(cubes_z) \
    FIELD(periodic)    /* bits 0, 1, 2: along x, y, z */

/* The table of weights that lattice.cl reads where it does not slide: an extent for each dy (the
 * largest |dx| of a weight that is not 0, or -1) and what rounds their number up to a multiple of
 * four; then, for each dy and dx, a column, which is the weights along z, what rounds these up, and
 * last its reach (the largest |dz| of a weight that is not 0, or -1). Where weights are mirrored,
 * only those of dx, dy >= 0 are there, those of dx = 0 and of dy = 0 halved, as nodes there are
 * their own mirror images; and for work-groups only those of dz >= 0. For vectors there are at
 * least LEY_UZ / 2 weights on either side, and a reach is no less. */
#define LEY_ALONG(radius, mirrored) ((mirrored) ? (radius) + 1 : 2 * (radius) + 1)
#define LEY_ROUNDED_TO_4(n) (((n) + 3) / 4 * 4)
#define LEY_WEIGHTS_HEAD(ry, mirrored) LEY_ROUNDED_TO_4(LEY_ALONG(ry, mirrored))
#define LEY_COLUMN_DEPTH(rz, uz, width) ((width) > 1 && (rz) < (uz) / 2 ? (uz) / 2 : (rz))
#define LEY_COLUMN_MIRRORED(mirrored, width) ((mirrored) && (width) == 1)
#define LEY_COLUMN(rz, uz, width, mirrored) \
    LEY_ROUNDED_TO_4(LEY_ALONG(LEY_COLUMN_DEPTH(rz, uz, width), LEY_COLUMN_MIRRORED(mirrored, width)) + 1)

/* And where it slides: a cube of weights, x fastest, whose edges have whole sub-cubes: from
 * -LEY_CUBE LEY_CUBES_BESIDE(radius) to before the opposite of that. */
#define LEY_CUBES_BESIDE(radius) ((radius) / LEY_CUBE + 1)

/* lattice.cl. Neighbourhoods reach LEY_RX, LEY_RY, LEY_RZ nodes far; LEY_MIRRORED: weights do not
 * depend on the signs of dx, dy, dz. A work-item computes LEY_UX vectors of LEY_WIDTH nodes along
 * x, LEY_UY rows and LEY_UZ planes; LEY_LX, LEY_LY, LEY_LZ are the work-items of a group along x,
 * y, z. LEY_SUM is the type of a term; LEY_TOTAL that of the total over sums of a pair of rows, or
 * of a step of the window. LEY_TABLE: LEY_ATOMS_CONSTANT or LEY_ATOMS_GLOBAL, where the weights
 * are. */
#define LEY_LATTICE_KEYS(KEY) \
    KEY(LEY_LX, lx) \
    KEY(LEY_LY, ly) \
    KEY(LEY_LZ, lz) \
    KEY(LEY_WIDTH, width) \
    KEY(LEY_UX, ux) \
    KEY(LEY_UY, uy) \
    KEY(LEY_UZ, uz) \
    KEY(LEY_RX, rx) \
    KEY(LEY_RY, ry) \
    KEY(LEY_RZ, rz) \
    KEY(LEY_MIRRORED, mirrored) \
    KEY(LEY_SLIDE, slide) \
    KEY(LEY_TABLE, table) \
    KEY(LEY_SUM, sum) \
    KEY(LEY_TOTAL, total) \
    KEY(LEY_ROOT, root)

/* anterpolate.cl. Tiles and bins have LEY_EDGE nodes along each edge, LEY_WINDOW is how many nodes
 * of each axis an atom has a share in. LEY_TOTAL is the type of a node's sum: compensated, or, of
 * work-items that are alone, double. LEY_BY_PLANE 1, here and of interpolation: the mesh's nodes
 * are more than an int numbers (nodes.h). */
#define LEY_ANTERPOLATE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_TOTAL, total) \
    KEY(LEY_EDGE, edge) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_BY_PLANE, by_plane)

/* restriction.cl and prolongation.cl, which have the same keys; levels of several have one number a
 * node. */
#define LEY_RESTRICTION_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_BY_PLANE, by_plane)
#define LEY_PROLONGATION_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_BY_PLANE, by_plane)

/* interpolation_gather.cl. LEY_ROW_NODES: rows of points are along the mesh's first axis, and a
 * work-group has LEY_ROW_POINTS of one, in whose windows there are so many nodes along it at most;
 * 0: they are not. */
#define LEY_ROW_POINTS 64
#define LEY_INTERPOLATION_GATHER_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_FIELD, field) \
    KEY(LEY_BY_PLANE, by_plane) \
    KEY(LEY_ROW_NODES, row_nodes)

/* interpolation_list.cl. A work-item computes a point, from the nodes of a window of LEY_WINDOW
 * points. */
#define LEY_INTERPOLATION_LIST_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_FIELD, field) \
    KEY(LEY_BY_PLANE, by_plane)

/* interpolation.cl. A work-group has a block of LEY_BLOCK_X, LEY_BLOCK_Y, LEY_BLOCK_Z points: with
 * a LEY_WIDTH of 1 a work-item for each column along z, else one alone for all of them, along x in
 * vectors. There is room for a plane of the LEY_NODES_X, LEY_NODES_Y nodes that have a part in the
 * block. A work-item that is alone takes so many rows of nodes at once; LEY_NODES_Y is a multiple
 * of that. LEY_OBLIQUE 1, with LEY_FIELD alone: the axes are not perpendicular to each other. */
#define LEY_INTERPOLATION_ROWS 4
#define LEY_INTERPOLATION_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_BLOCK_X, block_x) \
    KEY(LEY_BLOCK_Y, block_y) \
    KEY(LEY_BLOCK_Z, block_z) \
    KEY(LEY_NODES_X, nodes_x) \
    KEY(LEY_NODES_Y, nodes_y) \
    KEY(LEY_FIELD, field) \
    KEY(LEY_OBLIQUE, oblique) \
    KEY(LEY_BY_PLANE, by_plane)

/* density_spread.cl. An atom has LEY_WINDOW nodes along each axis; work-groups have LEY_WG
 * work-items, with a LEY_WIDTH of 1; else a work-item is alone, and LEY_WIDTH is no less than
 * LEY_WINDOW. */
#define LEY_DENSITY_SPREAD_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window) \
    KEY(LEY_WG, wg)
#define LEY_DENSITY_MERGE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window)

#define LEY_DENSITY_FLOATS_KEYS(KEY) LEY_DIALECT_KEYS(KEY)
#define LEY_DENSITY_FOLD_KEYS(KEY) LEY_DIALECT_KEYS(KEY)
#define LEY_POTENTIAL_SUMS_KEYS(KEY) LEY_DIALECT_KEYS(KEY)

/* Weights that a power of the window's polynomials has in gm_window; floats of a row of nodes that
 * a work-item has for itself, of n nodes. */
#define LEY_LANES_OF_WINDOW 8
#define LEY_DENSITY_PITCH(n) (((n) + 15) / 8 * 8)

/* Of kernels that sum energies of pairs: the kinds of ley_lennard_jones_kind and
 * ley_coulomb_kind. */
#define LEY_LENNARD_JONES_IS_NONE 0
#define LEY_LENNARD_JONES_IS_PLAIN 1
#define LEY_LENNARD_JONES_IS_SHIFTED 2
#define LEY_LENNARD_JONES_IS_SWITCHED 3
#define LEY_LENNARD_JONES_IS_SWITCHED_CHARMM 4
#define LEY_LENNARD_JONES_IS_FORCE_SWITCHED_CHARMM 5
#define LEY_LENNARD_JONES_IS_FORCE_SWITCHED_GROMACS 6
#define LEY_COULOMB_IS_NONE 0
#define LEY_COULOMB_IS_PLAIN 1
#define LEY_COULOMB_IS_SHIFTED 2
#define LEY_COULOMB_IS_SHIFTED_CHARMM 3
#define LEY_COULOMB_IS_REACTION_FIELD 4
#define LEY_COULOMB_IS_EWALD 5

/* Kernels of lists of pairs, list.h: rows of numbers of a frame; bits of a number in a name; what a
 * slot has sums of: two energies and a force; clusters of a block. */
#define LEY_LIST_ROWS 9
#define LEY_LIST_BLOCK 32
#define LEY_LIST_SHIFT 26
#define LEY_LIST_SUMS 5
#define LEY_LIST_EACH 31

/* list_first.cl: work-items of a group. */
#define LEY_LIST_FIRST_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg)

/* list_place.cl, list_boxes.cl, list_move.cl, list_tiles.cl, listed_pairs.cl: clusters have
 * LEY_CLUSTER particles, LEY_WIDTH of vectors, 32 of groups. LEY_PLANAR 1, of vectors: a cluster's
 * numbers are {all x, all y, all z, all charges}; 0: {x, y, z, charge} of each particle. LEY_FULL
 * 1: rows have all pairs of their particles, 0: each pair is in one row. */
#define LEY_LIST_BOXES_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_CLUSTER, cluster) \
    KEY(LEY_PLANAR, planar)
#define LEY_LIST_PLACE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_CLUSTER, cluster) \
    KEY(LEY_PLANAR, planar)
#define LEY_LIST_MOVE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_CLUSTER, cluster) \
    KEY(LEY_PLANAR, planar)
#define LEY_LIST_TILES_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_CLUSTER, cluster) \
    KEY(LEY_FULL, full) \
    KEY(LEY_SUB_GROUPS, sub_groups)

/* listed_pairs.cl. LEY_TYPES, of vectors: room for as many types; 0: for none. */
#define LEY_LISTED_PAIRS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_CLUSTER, cluster) \
    KEY(LEY_FULL, full) \
    KEY(LEY_SUB_GROUPS, sub_groups) \
    KEY(LEY_LENNARD_JONES, lennard_jones) \
    KEY(LEY_COULOMB, coulomb) \
    KEY(LEY_FORCES, forces) \
    KEY(LEY_TYPES, types)

/* patch_pairs.cl: work-items of a group. */
#define LEY_PATCH_PAIRS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_LENNARD_JONES, lennard_jones) \
    KEY(LEY_COULOMB, coulomb)

/* mesh_gather.cl: as in density_spread.cl. */
#define LEY_MESH_GATHER_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WINDOW, window)
#define LEY_LISTED_GATHER_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_FULL, full)

/* functions.cl: which function of x, y and z it computes, of a launch's argument. Natives are of
 * floats alone. */
#define LEY_FUNCTION_RSQRT 0
#define LEY_FUNCTION_SQRT 1
#define LEY_FUNCTION_EXP 2
#define LEY_FUNCTION_EXP2 3
#define LEY_FUNCTION_LOG 4
#define LEY_FUNCTION_DIVIDE 5
#define LEY_FUNCTION_FMA 6
#define LEY_FUNCTION_PRODUCT 7
#define LEY_FUNCTION_SUM 8
#define LEY_FUNCTION_MAX 9
#define LEY_FUNCTION_NATIVE_RSQRT 10
#define LEY_FUNCTION_NATIVE_SQRT 11
#define LEY_FUNCTION_NATIVE_EXP 12
#define LEY_FUNCTION_NATIVE_EXP2 13
#define LEY_FUNCTION_NATIVE_DIVIDE 14
#define LEY_FUNCTION_NATIVE_RECIP 15
#define LEY_FUNCTION_ERF 16
#define LEY_FUNCTION_ERFC 17
#define LEY_FUNCTION_SIN 18
#define LEY_FUNCTION_COS 19
#define LEY_FUNCTION_TANH 20
#define LEY_FUNCTION_POW 21
#define LEY_FUNCTION_MIN 22
#define LEY_FUNCTION_COUNT 23

/* structs.cl. LEY_ECHO is a number that comes back. */
#define LEY_STRUCTS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_ECHO, echo)

/* local_words.cl: work-items of a group, and ints of its local memory. */
#define LEY_LOCAL_WORDS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_WORDS, words)

/* constant_words.cl. LEY_TABLE: LEY_ATOMS_CONSTANT, where its words are. */
#define LEY_CONSTANT_WORDS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_TABLE, table)

/* work_items.cl: work-items of a group along x, y, z. */
#define LEY_WORK_ITEMS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_LX, lx) \
    KEY(LEY_LY, ly) \
    KEY(LEY_LZ, lz)

/* What work_items.cl counts a buffer's places in: so many int4. */
#define LEY_FAR_UNIT 1024

/* Energies of particles. Terms as ley_energy_term has them; and those whose parts with the
 * particles of each group are kept, in this order. */
#define LEY_TERM_LENNARD_JONES 0
#define LEY_TERM_LENNARD_JONES_14 1
#define LEY_TERM_COULOMB 2
#define LEY_TERM_COULOMB_14 3
#define LEY_TERM_BORN 4
#define LEY_TERM_SURFACE 5
#define LEY_TERM_COUNT 6
#define LEY_COLUMN_LENNARD_JONES 0
#define LEY_COLUMN_COULOMB 1
#define LEY_COLUMN_BORN 2
#define LEY_COLUMN_COUNT 3

/* pair_energies.cl. With a LEY_WIDTH of 1 work-groups have LEY_WG work-items of LEY_UX particles
 * each, and the table of LEY_LOCAL_TYPES types is in local memory (0: of any number in global
 * memory); else a work-item is alone with LEY_WIDTH particles. LEY_CUT 1: there is a cutoff.
 * LEY_PERIODIC 1: pairs are of the nearest images. LEY_FORCES 1: forces as well. LEY_COLUMNS 1:
 * energies with each group as well. */
#define LEY_ENERGY_SUB_TILE 32
#define LEY_PAIR_ENERGIES_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_UX, ux) \
    KEY(LEY_LOCAL_TYPES, local_types) \
    KEY(LEY_LENNARD_JONES, lennard_jones) \
    KEY(LEY_COULOMB, coulomb) \
    KEY(LEY_CUT, cut) \
    KEY(LEY_PERIODIC, periodic) \
    KEY(LEY_FORCES, forces) \
    KEY(LEY_COLUMNS, columns)

/* atom_density.cl: nodes of a brick along y and z, and along x where work-items have no vectors;
 * nodes of a cell of atoms along each axis. LEY_VARIED 1: atoms have widths of their own.
 * LEY_STORED 1: the density is stored. LEY_SETS: sums over sets of nodes, those of the map, those
 * of its mask as well, and those where the density is no less than a threshold. */
#define LEY_DENSITY_BRICK 8
#define LEY_DENSITY_CELL 4
#define LEY_FIT_ALL 1
#define LEY_FIT_MASKED 2
#define LEY_FIT_ABOVE 4
#define LEY_ATOM_DENSITY_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_WG, wg) \
    KEY(LEY_OBLIQUE, oblique) \
    KEY(LEY_VARIED, varied) \
    KEY(LEY_STORED, stored) \
    KEY(LEY_SETS, sets)

/* How many sums: see atom_density_sums.h. And those of a window, and of an atom. */
#define LEY_FIT_SUMS(sets) \
    (((sets)&LEY_FIT_ALL ? 3 : 0) + ((sets)&LEY_FIT_MASKED ? 3 : 0) + ((sets)&LEY_FIT_ABOVE ? 6 : 0))
#define LEY_FIT_WINDOW_SUMS 6
#define LEY_FIT_ATOM_SUMS 9

/* fit_cells.cl, fit_place.cl: atoms of a work-group; 1: a work-item has a part of the atoms. And
 * where a part of `n` begins. */
#define LEY_FIT_CELLS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg)
#define LEY_FIT_PLACE_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_VARIED, varied)
#define LEY_FIT_COUNTED 1 /* what a frame's last count is when its cells are known, */
#define LEY_FIT_PLACED 2  /* and when its atoms are in their places */
#define LEY_FIRST_OF_PART(n, parts, part) ((n) / (parts) * (part) + ((n) % (parts) < (part) ? (n) % (parts) : (part)))

/* fit_gradient.cl. */
#define LEY_FIT_GRADIENT_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_VARIED, varied)

/* fit_windows.cl: so many atoms of a window have a box. */
#define LEY_FIT_CHUNK 32
#define LEY_FIT_WINDOWS_KEYS(KEY) LEY_DIALECT_KEYS(KEY)

/* pairs_14.cl. */
#define LEY_PAIRS_14_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_PERIODIC, periodic) \
    KEY(LEY_FORCES, forces)

#define LEY_GROUP_SUMS_KEYS(KEY) LEY_DIALECT_KEYS(KEY)

/* lcpo.cl. Work-groups have LEY_WG work-items of a particle each; or a work-item is alone with
 * LEY_WIDTH particles. */
#define LEY_LCPO_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_PERIODIC, periodic)

/* born_*.cl: which pass over all pairs; and what becomes of pairs, or of spheres, that are farther
 * than a cutoff. */
#define LEY_BORN_INTEGRALS 0
#define LEY_BORN_ENERGIES 1
#define LEY_BORN_CHAIN 2
#define LEY_BORN_CUT_NOT 0
#define LEY_BORN_CUT 1
#define LEY_BORN_TAPERED 2

/* Sums of a particle in a pass. */
#define LEY_BORN_SUMS(pass, forces) \
    ((pass) == LEY_BORN_INTEGRALS ? 1 : (pass) == LEY_BORN_CHAIN ? 3 : (forces) ? 5 : 1)

/* Words of a work-group's marks: a bit for each particle that a work-item meets, of each of its
 * own. */
#define LEY_BORN_MARKS(pass, half, tile, ux, wg) \
    ((pass) == LEY_BORN_ENERGIES ? 1 : ((half) ? (ux) : (tile) / 32) * (ux) * (wg))

/* born_pairs.cl. A work-item has LEY_UX vectors of LEY_WIDTH particles, and goes through the others
 * LEY_TILE at a time, each tile with sums of its own; LEY_WG of them are a work-group. LEY_HALF 1:
 * a work-group has the pairs of two blocks of LEY_TILE, and adds each to the sums of both; its
 * work-items pass sums on. LEY_SALT, LEY_NECK, LEY_PERIODIC, LEY_FORCES 1: there is salt; spheres
 * have necks; pairs are of the nearest images; forces are wanted. */
#define LEY_BORN_PAIRS_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_EXP, exp) \
    KEY(LEY_WG, wg) \
    KEY(LEY_UX, ux) \
    KEY(LEY_TILE, tile) \
    KEY(LEY_HALF, half) \
    KEY(LEY_SUB_GROUPS, sub_groups) \
    KEY(LEY_PASS, pass) \
    KEY(LEY_CUTOFF, cutoff) \
    KEY(LEY_NECK, neck) \
    KEY(LEY_SALT, salt) \
    KEY(LEY_PERIODIC, periodic) \
    KEY(LEY_FORCES, forces)

/* born_particles.cl: a work-item has one. */
#define LEY_BORN_PARTICLES_KEYS(KEY) \
    LEY_DIALECT_KEYS(KEY) \
    KEY(LEY_WG, wg) \
    KEY(LEY_PASS, pass) \
    KEY(LEY_FORCES, forces)

#endif
