/* Running sums, by the kind of sum. Preprocessor only, so that OpenCL C and CUDA C read the same
 * lines; a dialect header comes first. */
#ifndef LEY_ADD_H
#define LEY_ADD_H

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
