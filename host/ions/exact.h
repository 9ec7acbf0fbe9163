/* The judge of where ions go: potentials at single places in double precision, and how near the
 * solute is. */
#ifndef LEY_IONS_EXACT_H
#define LEY_IONS_EXACT_H

#include "leyden.h"
#include "numerics/cell.h"

#include <stdatomic.h>

typedef struct ions_exact ions_exact;

typedef struct exact_value {
    double potential, absolute; /* sum q/r over all atoms and images, and what rounding is relative to, in e/A */
    double nearest_A2;          /* squared distance of the nearest atom; of a periodic cell, if it is within from_A */
} exact_value;

typedef struct exact_options {
    const ley_atoms *atoms; /* NULL: none */
    const double *origin_A; /* [3]: what places count from; low to high: where they lie, from there */
    const double *low_A, *high_A;
    double from_A;    /* how far `nearest_A2` is looked for */
    const cell *cell; /* of 0 or 3 dimensions */
    bool is_square;   /* sums are of q / r^2; of 0 dimensions alone */
    size_t points;    /* at how many places it will be asked, about */
    const atomic_bool *cancelled;
} exact_options;

/* What the options point to must outlive it. Errors: LEY_ERROR_MEMORY, those of
 * periodic_sum_create(). */
ley_status exact_create(const exact_options *options, ions_exact **made, ley_error *error);
void exact_destroy(ions_exact *e);

/* At places from the origin, on all cores; the same bytes on any number of them. */
ley_status exact_at(const ions_exact *e, size_t n, const double (*place_A)[3], exact_value *values, ley_error *error);

/* What a unit charge at the end of a way does, with all images: 1/r, 1/r^2, or the cell's. */
double exact_pair(const ions_exact *e, const double way_A[3]);

/* The squared distance along a way, or to the nearest image. */
double exact_distance_A2(const ions_exact *e, const double way_A[3]);

/* Atoms and images from whose neighbourhoods places are left out: [n], from the origin. */
size_t exact_near(const ions_exact *e, const double **x_A, const double **y_A, const double **z_A);

#endif
