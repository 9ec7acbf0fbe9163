/* Potentials of charges and of all their periodic images, exact in double precision: whole, or what
 * a splitting leaves of them beyond its short range. Of unit charges, in 1/A.
 *
 *   open    the sum itself
 *   3-D     Ewald's sum, surrounded by a conductor ("tin-foil"), of zero mean; a charged cell has a
 *           uniform background that neutralises it
 *   2-D     the sum over planes, of neutral charges; that of a plane of charge q per area A is
 *           -2 pi |z| q / A (Parry 1975)
 *   1-D     the sum over a line, of neutral charges; that of a line is -2 ln(rho / 1 A) q / L:
 *           neighbours one by one, all others by the Euler-Maclaurin formula
 *
 * Screened, exp(-kappa r)/r, it is the same with any charges, and images alone as far as they count
 * where that is not far. */
#ifndef LEY_LATTICE_SUM_H
#define LEY_LATTICE_SUM_H

#include "leyden_status.h"
#include "numerics/cell.h"
#include "numerics/splitting.h"

#include <stddef.h>

typedef struct lattice_sum lattice_sum;

/* The mean over space of a unit charge and its images, screened, in 3-D: 4 pi / (kappa^2 volume);
 * and of a plane of them at the plane, 2-D: 2 pi / (kappa area). 0: there is none. */
double lattice_sum_mean(const cell *c, double kappa_per_A);

typedef struct lattice_sum_options {
    cell cell;
    double kappa_per_A;
    const splitting *far; /* what is smooth of it alone, with this cutoff; NULL: all of it */
    double cutoff_A;
    bool without_mean; /* less lattice_sum_mean() of each e */
    double beta; /* how Ewald's sums are divided, in units of what is best; 0 is 1. It changes nothing but the time */
    double r_min_A; /* shorter distances are clamped to this; must be above 0 unless `far` is given */
} lattice_sum_options;

/* Of n charges at position_A[3 i + 0..2], which must outlive it. Errors: LEY_ERROR_INPUT for a net
 * charge where that has no potential (2-D, 1-D without screening), unless `far` is given;
 * LEY_ERROR_USAGE where images are too many to be counted, as along one axis with very weak
 * screening; LEY_ERROR_MEMORY. */
ley_status lattice_sum_create(const lattice_sum_options *options, size_t n, const double *position_A,
                              const double *charge_e, lattice_sum **made, ley_error *error);
double lattice_sum_at(const lattice_sum *s, const double point_A[3]);

/* Minus the gradient, of a sum over a line, 1-D without screening, all of it. What is nearer than
 * r_min adds nothing. */
void lattice_sum_line_field(const lattice_sum *s, const double point_A[3], double field[3]);
void lattice_sum_destroy(lattice_sum *s);

#endif
