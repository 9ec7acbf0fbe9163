/* Parts of a frame in double precision, and what a device has made of them. */
#ifndef LEY_FIT_VERIFY_H
#define LEY_FIT_VERIFY_H

#include "fit/state.h"

/* Some bricks of a frame, some atoms' gradients and some windows. LEY_ERROR_WRONG_RESULT: one is
 * wrong. */
ley_status fit_verify(ley_fit *fit, const fit_part *part, const fit_batch *batch, int frame, ley_error *error);

/* Sums over the nodes within `reach_A` of a window's atoms, of the density at the nodes [first,
 * first + count), which has all of them. `mark`: a byte for each of these nodes, which are 0. */
density_sums fit_law_window(const fit_problem *p, const float *position_A, const double *rho, const int64_t first[3],
                            const int64_t count[3], int32_t window, double reach_A, unsigned char *mark);

/* An atom's sums (fit_gradient.cl), of the density at the nodes [first, first + count), which has
 * all that it reaches; and sums of what they are of, without signs. */
void fit_law_atom(const fit_problem *p, const float *position_A, size_t atom, const double *rho, const int64_t first[3],
                  const int64_t count[3], double sums[9], double absolute[9]);

#endif
