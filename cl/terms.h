/* What laws have in common: a term of a sum, in plain double precision. Each law has its term in
 * laws/, from its formula and nothing else: the judge's, for the host (host/law/) and for devices
 * (reference.cl). The kernels that are judged have formulas of their own, in pair.h.
 *
 * C11, OpenCL C with double precision and CUDA C read the same lines. LEY_TERM_FN: qualifiers of an
 * inline function; kernels define it beforehand. */
#ifndef LEY_TERMS_H
#define LEY_TERMS_H

#include "spec.h"

#ifndef LEY_TERM_FN
#define LEY_TERM_FN static inline
#endif

/* What an atom adds at a point; and the sum of the absolute values of what that is made of. */
typedef struct {
    double value, absolute;
} ley_term;

LEY_TERM_FN ley_term ley_single_term(double value)
{
    ley_term term;
    term.value = value;
    term.absolute = fabs(value);
    return term;
}

/* A repulsion less an attraction, both positive. */
LEY_TERM_FN ley_term ley_double_term(double repulsion, double attraction)
{
    ley_term term;
    term.value = repulsion - attraction;
    term.absolute = repulsion + attraction;
    return term;
}

#endif
