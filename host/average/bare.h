/* Frames of point charges, without a Gaussian: each one is a run of a ley_plan. */
#ifndef LEY_AVERAGE_BARE_H
#define LEY_AVERAGE_BARE_H

#include "average/state.h"

/* Potentials beyond this, in e / A, have no room in the sums: r_min is 0.05 A. */
#define BARE_MOST_PHI 16384

/* Makes the frame's potential and adds it to the sums. The first one makes the plan. Errors: those
 * of ley_plan_run() and ley_plan_create(). */
ley_status bare_add(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error);

/* Waits for verifications: what they found. */
ley_status bare_finish(ley_average *a, ley_average_totals *totals, ley_error *error);

/* Async-signal-safe. */
void bare_cancel(ley_average *a);

void bare_destroy(ley_average *a);

#endif
