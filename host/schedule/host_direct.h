/* Direct sums by the host, many points at once: C sum_j q_j/d_j exp(-kappa d_j) with d_j =
 * max(|r - r_j|, r_min), in double precision. Loops over points, which compilers make vectors of:
 * ten times as fast as law/reference.h, from which it is written apart. Values differ from that
 * by rounding, 1e-15 of the sum of absolute terms. */
#ifndef LEY_SCHEDULE_HOST_DIRECT_H
#define LEY_SCHEDULE_HOST_DIRECT_H

#include "law/reference.h"

/* Points of a call. */
enum { HOST_DIRECT_POINTS = 64 };

typedef struct host_direct_points {
    double x_A[HOST_DIRECT_POINTS], y_A[HOST_DIRECT_POINTS], z_A[HOST_DIRECT_POINTS];
} host_direct_points;

/* Whether these terms are such a sum, over all atoms and no images. */
bool host_direct_can(const reference_terms *terms);

/* The sums at all points of a block. */
void host_direct_sum(const reference_terms *terms, const host_direct_points *at, double value[HOST_DIRECT_POINTS]);

#endif
