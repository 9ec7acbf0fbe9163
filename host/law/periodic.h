/* The judge of sums over many charges and all of their periodic images, at some points: Ewald's
 * sum, divided between images and waves as suits the numbers of charges and points, to twelve
 * digits. What it is surrounded by, and which charges have no potential, is as
 * numerics/lattice_sum.h says; that sums each charge by itself.
 *
 *   3-D  images one by one, and waves whose structure factors are made once, on a mesh
 *   2-D  the same in a cell so high that layers of images above and below are flat to each other:
 *        then they differ from a single layer by a sum without waves, which is taken off
 *   1-D  lattice_sum; and, as everywhere with strong screening, images one by one */
#ifndef LEY_LAW_PERIODIC_H
#define LEY_LAW_PERIODIC_H

#include "leyden_status.h"
#include "numerics/cell.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

#include "laws/long_range.h"

typedef struct periodic_sum periodic_sum;

typedef struct periodic_options {
    cell cell; /* of one dimension at least */
    double kappa_per_A;
    double r_min_A;               /* shorter distances are clamped to this: above 0 */
    double near_A;                /* how far `squares` go */
    ley_long_range_shares shares; /* of their terms */
    size_t n;
    const double *position_A, *charge_e; /* [n][3], [n]: they must outlive the sum */
    size_t points;                       /* at how many it will be taken, about */
    const atomic_bool *cancelled;        /* may be NULL */
} periodic_options;

/* Of unit charges, in 1/A. */
typedef struct periodic_value {
    double value;
    double squares; /* sum of (q/r)^2, each as it is allowed, in 1/A^2, over the images within near_A, or the nearest
                       one of each charge; to a percent where charges are many */
} periodic_value;

/* Whether images are no more than can be looked at one by one: all of them within near_A, and along
 * one axis as far as screening lets them count. */
bool periodic_can_be_summed(const cell *c, double kappa_per_A, double near_A);

/* About how long one core takes to make the sum and to take it at all points, in s; infinite for
 * what periodic_sum_create() refuses. */
double periodic_sum_seconds(const periodic_options *options);

/* On all cores. Errors: those of lattice_sum_create(); LEY_CANCELLED soon after *cancelled turns
 * true. */
ley_status periodic_sum_create(const periodic_options *options, periodic_sum **made, ley_error *error);
periodic_value periodic_sum_at(const periodic_sum *s, const double point_A[3]);

/* Minus the gradient; of `squares` those of potentials, and of the fields of charges, in 1/A^4.
 * Images nearer than r_min add nothing; where rounding decides whether one is, each component may
 * be lower by as much as `lower` (<= 0) and higher by as much as `higher` (>= 0). */
typedef struct periodic_gradient {
    double field[3], lower[3], higher[3], squares, field_squares;
} periodic_gradient;

/* Whether a charge at the end of a way counts or is nearer than r_min may be up to the rounding of
 * places: lets the field have its term more or less, for sums may have it or not. */
void periodic_allow_step(double charge_e, const double way_A[3], double r_A, double r_min_A, double kappa_per_A,
                         periodic_gradient *sum);
periodic_gradient periodic_sum_field(const periodic_sum *s, const double point_A[3]);
/* Squares of terms are allowed so much from now on. */
void periodic_sum_allow(periodic_sum *s, ley_long_range_shares shares);

void periodic_sum_destroy(periodic_sum *s);

#endif
