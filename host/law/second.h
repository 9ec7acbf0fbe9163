/* The sums of law/reference.h a second time, by other ways: what is held against values that the
 * reference itself has made. Direct sums have their formulas once more, in extended precision, with
 * the atoms from the last to the first; short-range sums go through images by plain counting, with
 * the reference's pair functions; sums over all images are those of numerics/lattice_sum.h, charge
 * by charge; laws of other sums have a second way of their own; fields are differences of these
 * potentials. */
#ifndef LEY_LAW_SECOND_H
#define LEY_LAW_SECOND_H

#include "law/reference.h"
#include "numerics/lattice_sum.h"

typedef struct second_sum {
    const reference_terms *terms; /* which excluded atoms change from point to point */
    cell cell;                    /* in which atoms have images; of no dimension: they have none */
    lattice_sum *images;          /* of a long-range sum in such a cell, less its mean; else NULL */
    double mean_per_A;            /* that of all charges */
} second_sum;

/* The terms must outlive it. Errors: those of cell_make() and lattice_sum_create(). */
ley_status second_begin(const reference_terms *terms, second_sum *made, ley_error *error);
void second_end(second_sum *s);

/* The potential at a point, with the constant. */
long double second_value(const second_sum *s, const reference_terms *at, const double point_A[3]);

/* Minus the gradient, and what rounding may leave of it. False: charges are so near, or so near to
 * where they begin or cease to count, that differences say nothing. */
bool second_field(const second_sum *s, const reference_terms *at, const double point_A[3], double field[3],
                  double *rounding);

/* By what, in the words of a report. */
const char *second_says(const second_sum *s);

#endif
