/* Which method makes a sum that is asked for: the one that is predicted to reach the tolerance
 * soonest on the devices in use, among all that have a request_row. */
#ifndef LEY_PLAN_CHOOSER_H
#define LEY_PLAN_CHOOSER_H

#include "plan/request.h"
#include "schedule/method.h"

/* A method, and what it says. */
typedef struct candidate {
    const method *method;
    ley_error refusal; /* status LEY_OK: none. The caller's to clear */
    bool is_estimated;
    estimate estimate;
} candidate;

/* The methods that the request's name stands for, at points or on a grid, in the registry's
 * order; `methods` ends with NULL. What cannot make the sum has its refusal. The number of them, at
 * most LEY_MOST_ESTIMATES. */
size_t chooser_candidates(const sum_request *r, const method *const *methods, candidate *list);

/* Has all that are not refused, and have not done so, estimate what they take. One whose meshes
 * cannot reach the tolerance is refused then. */
void chooser_estimate(sum_request *r, candidate *list, size_t count);

/* The first one that is not refused, or one behind it that is expected to reach the tolerance, and
 * sooner, what counts of building kernels included; NULL: all are refused. What direct summation
 * leaves is only bounded, so that it is not held to the tolerance here: its job is measured. */
const candidate *chooser_soonest(const candidate *list, size_t count, double tolerance);

/* That choice, or what the plan of the options says. Nothing is estimated where nobody needs to
 * know. Errors: LEY_ERROR_USAGE with the candidates' reasons, and with LEY_CAUSE_PLAN where the
 * plan is that of another method. */
ley_status chooser_choose(sum_request *r, candidate *list, size_t count, const candidate **chosen, ley_error *error);

/* All are refused, or there are none: the only reason, or all of them. */
ley_status chooser_refuse(const candidate *list, size_t count, ley_error *error);

#endif
