/* What kernels share that compute LEY_UX x LEY_UY points per work-item: the loops over them and
 * their running sums. Preprocessor only, so that OpenCL C and CUDA C read the same lines; a
 * dialect header comes first. */
#ifndef LEY_SUM_H
#define LEY_SUM_H

#include "add.h"

#define POINTS (LEY_UX * LEY_UY)
#define SUMS (LEY_COMPONENTS(LEY_FIELD) * POINTS) /* component c of point k is c POINTS + k */
#define FOR_ROWS(v) UNROLL for (int v = 0; v < LEY_UY; v++)
#define FOR_COLUMNS(u) UNROLL for (int u = 0; u < LEY_UX; u++)

#define FOR_COMPONENTS(c) UNROLL for (int c = 0; c < LEY_COMPONENTS(LEY_FIELD); c++)

/* Loops over all of a work-item's points. One that is alone has their sums in memory, not in
 * registers: its loops need not be unrolled, and a processor's compiler takes a third of the
 * time. */
#if LEY_ATOMS == LEY_ATOMS_ROWS
#define FOR_ALL_ROWS(v) for (int v = 0; v < LEY_UY; v++)
#define FOR_ALL_COLUMNS(u) for (int u = 0; u < LEY_UX; u++)
#define FOR_ALL_SUMS(k) for (int k = 0; k < SUMS; k++)
#else
#define FOR_ALL_ROWS(v) FOR_ROWS(v)
#define FOR_ALL_COLUMNS(u) FOR_COLUMNS(u)
#define FOR_ALL_SUMS(k) UNROLL for (int k = 0; k < SUMS; k++)
#endif

#endif
