/* Whether floats can evaluate a pair function: where it has no value or none that a float holds,
 * and where rounding eats its digits. By interval arithmetic, which leaves no distance out. */
#ifndef LEY_EXPRESSION_CHECK_H
#define LEY_EXPRESSION_CHECK_H

#include "expression/tree.h"

/* Distances from low_A to high_A, of an atom of charge q_e. */
typedef struct expression_span {
    double low_A, high_A, q_e;
    double most_value;    /* larger ones cannot be summed */
    double nothing_value; /* errors of this size do not matter */
} expression_span;

/* The most that evaluation in floats may be off: of the largest value at distances from half to
 * twice the distance. */
#define EXPRESSION_MOST_ERROR 1e-3

/* Everything between the two distances, not a sample of it. Kernels have a distance that is off by
 * roundings, and all that follows from it: a function must have a value there, too.
 * LEY_ERROR_USAGE, naming a distance, where it divides by zero, takes a root or logarithm of what
 * is out of range, comes to a number that no float holds or that is above most_value; and where, by
 * a running error bound, float evaluation is off by more than EXPRESSION_MOST_ERROR: then the
 * distance is the one where that is worst. Takes a millisecond or a few. */
ley_status expression_check(const expression *e, const expression_span *span, ley_error *error);

/* A bound on what evaluation in floats is off by at this distance, which is itself off by
 * roundings; infinite where floats may have no value. */
double expression_float_error(const expression *e, double r_A, double q_e);

/* Marks what is a square, which no interval arithmetic would know to be positive. */
void tree_mark_squares(expression *e);

#endif
