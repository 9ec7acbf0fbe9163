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
#define FOR_X(u) UNROLL for (int u = 0; u < LEY_UX; u++)
#define FOR_Y(v) UNROLL for (int v = 0; v < LEY_UY; v++)
#define FOR_Z(w) UNROLL for (int w = 0; w < LEY_UZ; w++)
#define INDEX(u, v, w) (((w) * LEY_UY + (v)) * LEY_UX + (u))

/* Atoms are sorted by which halves of the region along x and z they are in reach of, so that the
 * others do not compute them (LEY_SPLIT): class 3 (half along x) + half along z. The last class
 * are those that are summed apart, with care. */
#define BOTH 0
#define LOWER 1
#define UPPER 2
#define IS_IN(half, i, n) ((half) == BOTH || ((half) == LOWER) == ((i) < (n) / 2))
#define CLASSES (LEY_SPLIT ? 10 : 2)
#define NEAR (CLASSES - 1)

/* Functions that LEY_PAIR_CANCELS have digits left where other atoms are well within the cutoff.
 * A region of which that is not known is summed with care altogether. It is known of each of its
 * OCTANTS apart: charges times what they are sure to be worth there are added up as whole
 * numbers, so that their order is nothing to the sum, until LEY_COVERED is reached. */
#define OCTANTS 8

#endif
