/* The judge's sum at a point, for OpenCL C and CUDA C; see reference_value of host/law/law.h. A law
 * has the function law_add(), by which an atom adds what it has to such a sum; or, where that is a
 * term of the distance, the macro LEY_LAW_TERM(q_e, r_A, R_A, eps, numbers), a ley_term. Where it
 * needs R and eps, LEY_LAW_HAS_MORE is 1. */
#ifndef LEY_REFERENCE_SUM_H
#define LEY_REFERENCE_SUM_H

typedef struct {
    double value, absolute, lower, higher;
} reference_sum;

#endif
