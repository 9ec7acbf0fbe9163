/* The shape of cutoff.cl's regions, and the classes of the atoms within reach of one.
 * Preprocessor only, so that OpenCL C and CUDA C read the same lines; a dialect header comes
 * first. */
#ifndef LEY_REGIONS_H
#define LEY_REGIONS_H

/* A region, points: of a work-item LEY_UX x LEY_UY x LEY_UZ, of a work-group LEY_LX x LEY_LY x
 * LEY_LZ times as many. */
#define REGION_X (LEY_LX * LEY_UX)
#define REGION_Y (LEY_LY * LEY_UY)
#define REGION_Z (LEY_LZ * LEY_UZ)
#define POINTS (LEY_UX * LEY_UY * LEY_UZ)
#define SUMS (LEY_COMPONENTS(LEY_FIELD) * POINTS) /* component c of point k is c POINTS + k */
#define FOR_X(u) UNROLL for (int u = 0; u < LEY_UX; u++)
#define FOR_Y(v) UNROLL for (int v = 0; v < LEY_UY; v++)
#define FOR_Z(w) UNROLL for (int w = 0; w < LEY_UZ; w++)
#define INDEX(u, v, w) (((w) * LEY_UY + (v)) * LEY_UX + (u))

/* Atoms are sorted by which halves of the region they are in reach of, so that the others do not
 * compute them: along x and z (LEY_SPLIT 1), or along y as well (LEY_SPLIT 2). Class 9 (half along
 * y) + 3 (half along x) + half along z. The last class are those that are summed apart, with
 * care. */
#define BOTH 0
#define LOWER 1
#define UPPER 2
#define IS_IN(half, i, n) ((half) == BOTH || ((half) == LOWER) == ((i) < (n) / 2))
#define CLASSES (LEY_CLASSES(LEY_SPLIT))
#define NEAR (CLASSES - 1)

/* Functions that LEY_PAIR_CANCELS have digits left where other atoms are well within the cutoff.
 * A region of which that is not known is a fringe: it is summed with care altogether. It is known
 * where the absolute terms of the bins close to the region add up to enough in each of its cells,
 * blocks of a few points that a work-item or a vector's lane has to itself; an atom counts in a
 * cell with what it is worth at the cell's farthest corner. Bins are gone through in their order,
 * so that the sum is always the same. */

#endif
