/* What kernels share that compute LEY_UX x LEY_UY points per work-item: the loops over them and
 * their running sums. Preprocessor only, so that OpenCL C and CUDA C read the same lines; a
 * dialect header comes first. */
#ifndef LEY_SUM_H
#define LEY_SUM_H

#define POINTS (LEY_UX * LEY_UY)
#define FOR_ROWS(v) UNROLL for (int v = 0; v < LEY_UY; v++)
#define FOR_COLUMNS(u) UNROLL for (int u = 0; u < LEY_UX; u++)

#if LEY_SUM == LEY_SPEC_SUM_COMPENSATED
/* Kahan: c holds what the last addition lost, with its sign turned. */
#define ADD(s, c, term) \
    do { \
        const real y_ = (term) - (c), t_ = (s) + y_; \
        (c) = (t_ - (s)) - y_; \
        (s) = t_; \
    } while (0)
#define CARRIES 1
#else
#define ADD(s, c, term) (s) += (term)
#define CARRIES 0
#endif

#endif
