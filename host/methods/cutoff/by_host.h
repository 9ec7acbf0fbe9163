/* A short-range sum as the host does it alone. */
#ifndef LEY_CUTOFF_BY_HOST_H
#define LEY_CUTOFF_BY_HOST_H

#include "methods/cutoff/stages.h"
#include "schedule/host_sum.h"

/* The terms and what is said of them; where values go is the caller's. False: a function of the
 * user's, whose refusals are the kernels', or bins that were asked for. */
bool cutoff_by_host(const cutoff_task *task, host_sum *sum);

#endif
