/* The derivative of a pair function that the user writes. */
#ifndef LEY_EXPRESSION_SLOPE_H
#define LEY_EXPRESSION_SLOPE_H

#include "expression/tree.h"

/* df/dr as an expression of its own, in 1/A of what f has; its source is that of
 * ley_user_slope(r, r2, inverse_r, q). Where one of two values is taken, min(), max() and abs(),
 * the derivative is that of the one that is taken, and the mean of both where these are equal.
 * Errors: LEY_ERROR_USAGE where that has too many operations; LEY_ERROR_MEMORY. */
ley_status expression_slope(const expression *e, expression **made, ley_error *error);

/* The same in double precision by the formula as it was written, values and derivatives side by
 * side: the judge of the former. Any thread. */
double expression_evaluate_slope(const expression *e, double r_A, double q_e);

#endif
