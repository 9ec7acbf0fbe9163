/* What a tolerance is a share of: the root mean square of the values, or a floor where these are
 * nothing but what is left of terms that cancel. */
#ifndef LEY_TOLERANCE_FLOOR_H
#define LEY_TOLERANCE_FLOOR_H

#include "judge/reference.h"

#include <stdbool.h>

/* A place, for how many points it stands, and the atoms that do not count there. */
typedef struct tolerance_place {
    double place_A[3], weight;
    const int64_t *excluded;
    size_t excluded_count;
} tolerance_place;

/* How much of S (leyden.h) a tolerance is a share of at least. */
double tolerance_floor_share(double tolerance);

/* The same in the unit of the terms, of S over these places; of oblique cells the images are those
 * that are nearest along the cell's vectors. On all host cores: n times the atoms. */
double tolerance_floor(const reference_terms *terms, double tolerance, size_t n, const tolerance_place *places);

/* By how much the tolerance is used up: the error, as a share of what the tolerance allows; above 1
 * it is missed. */
double tolerance_share(const ley_accuracy *a, double tolerance, double floor_rms);

#endif
