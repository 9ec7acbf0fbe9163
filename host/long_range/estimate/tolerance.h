/* Long-range potentials for a tolerance, on one device. */
#ifndef LEY_LONG_RANGE_ESTIMATE_TOLERANCE_H
#define LEY_LONG_RANGE_ESTIMATE_TOLERANCE_H

#include "engine/engine.h"
#include "leyden.h"
#include "plan/request.h"
#include "schedule/method.h"

/* Of a request_row: which meshes reach the tolerance in the least time predicted. Errors: also
 * LEY_ERROR_USAGE for a tolerance out of its range, and where what is fixed makes no meshes. */
uint64_t msm_estimate_needs(const ley_run_options *options);
ley_status msm_estimate(sum_request *r, estimate *made, ley_error *error);

/* As ley_long_range_choose(), for this target. */
ley_status msm_choose_where(ley_engine *engine, const coulomb_problem *where, double tolerance, unsigned fixed,
                            const ley_run_options *options, ley_long_range *range, ley_choice *choice,
                            ley_error *error);

/* As ley_long_range_choose(), of the device of this worker, whose thread the caller is. Range and
 * options are whole. Errors: those, but not of a medium. */
ley_status msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                         unsigned fixed, const ley_run_options *options, ley_long_range *range, ley_choice *choice,
                         ley_error *error);

#endif
