/* Fourier's transform, in double precision and on all cores, of what is real and the same on both
 * sides of node 0. */
#ifndef LEY_COSINES_H
#define LEY_COSINES_H

#include "leyden_status.h"

#include <stdatomic.h>
#include <stdint.h>

/* values[count[2]][count[1]][count[0]] has along `axis` the first half, i = 0 ... n/2, of n = 2
 * (count[axis] - 1) values of which v_i = v_(n-i). In place they become V_m = sum over all n of v_i
 * cos(2 pi i m / n), m = 0 ... n/2. n is 2 or more, of any factors, quick where these are small.
 * Errors: LEY_ERROR_MEMORY; LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status cosines_transform(double *values, const int64_t count[3], int axis, const atomic_bool *cancelled,
                             ley_error *error);

#endif
