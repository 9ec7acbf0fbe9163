/* What direct summation is expected to take for a sum that is asked for (plan/request.h). */
#ifndef LEY_DCS_ESTIMATE_H
#define LEY_DCS_ESTIMATE_H

#include "plan/request.h"

extern const request_row dcs_request;

/* Seconds of kernels on these devices, and the error that is expected, of the values' root mean
 * square: of sums in floats; where these would miss the tolerance and the sum is left open, of
 * doubles, which come after them. */
void dcs_estimate(const sum_request *r, estimate *made);

#endif
