/* The waves of Ewald's sum of few points: structure factors by sums over all charges, whose phases
 * are products of powers along the cell's three vectors.
 *
 *   4 pi / V sum_k exp(-k^2 / (4 beta^2)) / k^2 Re(S(k)* exp(i k r)) - pi Q / (beta^2 V),
 *   S(k) = sum_j q_j exp(i k r_j), 0 < |k| < 2 beta s
 *
 * The sums are made in parts that do not depend on how many cores there are, and neither do their
 * digits. */
#ifndef LEY_SERIES_STRUCTURE_FACTORS_H
#define LEY_SERIES_STRUCTURE_FACTORS_H

#include "law/neighbours.h"

/* What there is at a point. */
typedef struct point_sum {
    double value, field[3];
    int64_t close; /* charges within r_min */
} point_sum;

typedef struct structure_factors structure_factors;

/* Errors: LEY_ERROR_INPUT for a cell so oblique that there are too many waves, LEY_ERROR_MEMORY. */
ley_status structure_factors_create(const neighbours *charges, double beta_per_A, double s, structure_factors **made,
                                    ley_error *error);
void structure_factors_destroy(structure_factors *w); /* may be NULL */

/* One of each pair of opposite waves. */
int64_t structure_factors_count(const structure_factors *w);

/* Adds to the values at points, and to less their gradients. Errors: LEY_ERROR_MEMORY. */
ley_status structure_factors_add(const structure_factors *w, size_t points, const double *point_A, point_sum *at,
                                 ley_error *error);

#endif
