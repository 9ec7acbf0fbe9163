/* Frames of point charges, without a Gaussian: each one is a run of a ley_plan. */
#ifndef LEY_AVERAGE_BARE_H
#define LEY_AVERAGE_BARE_H

#include "average/state.h"

/* Potentials beyond this, in e / A, have no room in the sums: r_min is 0.05 A. */
#define BARE_MOST_PHI 16384

/* Makes the frame's potential and adds it to the sums, perhaps beside the next one. The first one
 * makes the plan. Errors: those of ley_plan_run() and ley_plan_create(), for the frame before as
 * well: this one does not count then, and that one will be done again. */
ley_status bare_add(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error);

/* Makes sure that all frames are on their way into the sums. Errors: as bare_add(). */
ley_status bare_settle(ley_average *a, ley_error *error);

/* Waits for verifications: what they found. */
ley_status bare_finish(ley_average *a, ley_average_totals *totals, ley_error *error);

/* How many frames a second plan has made, and how many were prepared anew. */
typedef struct bare_counts {
    int64_t in_turn, prepared;
} bare_counts;
bare_counts bare_count(const ley_average *a);

/* Async-signal-safe. */
void bare_cancel(ley_average *a);

void bare_destroy(ley_average *a);

#endif
