/* What a kernel is specialised by: read by the kernels and by the host code that packs their arguments.
 *
 * A specification is a set of -D values. Its keys stand here once: LEY_DCS_KEYS gives the host its struct
 * fields and the -D options that it writes, the kernel its constants. Preprocessor only, so that
 * C11, OpenCL C and CUDA C read the same lines. */
#ifndef LEY_SPEC_H
#define LEY_SPEC_H

/* LEY_SUM: the type of a pair's term and of the running sum. */
#define LEY_SPEC_SUM_FLOAT 0       /* float terms, float sum */
#define LEY_SPEC_SUM_COMPENSATED 1 /* float terms, Kahan's compensated float sum */
#define LEY_SPEC_SUM_DOUBLE 2      /* double atoms, terms and sum */

/* LEY_ROOT: the recipe for 1/sqrt(x). roots.cl measures the error and the rate of each on the device. */
#define LEY_ROOT_STANDARD 0   /* rsqrt(), at most 2 ulp */
#define LEY_ROOT_RECIPROCAL 1 /* 1/sqrt() */
#define LEY_ROOT_NATIVE 2     /* native_rsqrt(), error unknown until measured */
#define LEY_ROOT_NEWTON 3     /* bit trick and two Newton steps: multiplications and additions only */
#define LEY_ROOT_PTX 4        /* rsqrt.approx.ftz.f32: the special-function unit, denormals flushed */
#define LEY_ROOT_AVX512 5     /* vrsqrt14ps and one Newton step, 16 lanes */
#define LEY_ROOT_COUNT 6

/* LEY_ATOMS: where a kernel reads its atoms. */
#define LEY_ATOMS_CONSTANT 0 /* streamed from constant memory, a batch a launch */
#define LEY_ATOMS_GLOBAL 1   /* streamed from global memory */
#define LEY_ATOMS_LOCAL 2    /* staged through local memory by the work-group, LEY_TILE at a time */
#define LEY_ATOMS_ROWS 3     /* one work-item stages LEY_TILE atoms as dy^2 + dz^2 of each of its rows */

/* Whether atoms come as {offset x, y, z, q; cell x, y, z, -}, 32 bytes, rather than {x, y, z, q}: see dcs.cl. */
#define LEY_ATOMS_ARE_PLACED(atoms, sum) \
    ((sum) != LEY_SPEC_SUM_DOUBLE && ((atoms) == LEY_ATOMS_LOCAL || (atoms) == LEY_ATOMS_ROWS))

/* dcs.cl. A work-item computes LEY_UX x LEY_UY vectors of LEY_WIDTH points; along x its vectors are strided by
 * LEY_WG_X vectors, along y its rows by LEY_WG_Y rows, so that neighbouring work-items touch neighbouring memory.
 * LEY_NEWTON_ROOTS of its LEY_UX x LEY_UY roots an atom are taken by LEY_ROOT_NEWTON, whatever LEY_ROOT says:
 * on devices whose special-function unit is the bottleneck the multipliers do a share of its work. */
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
    KEY(LEY_NEWTON_ROOTS, newton_roots)

#endif
