/* What a long-range job that misses its tolerance is done by in place of its plan. */
#ifndef LEY_LONG_RANGE_ESTIMATE_STRICTER_H
#define LEY_LONG_RANGE_ESTIMATE_STRICTER_H

#include "long_range/task.h"

/* The options of a task that was chosen, chosen again for the options' aim, and the sum that goes
 * with them. Errors: LEY_ERROR_USAGE, where nothing of it was chosen, or the choice is the same. */
ley_status msm_choose_stricter(const msm_task *task, ley_engine *engine, const coulomb_problem *where,
                               const ley_run_options *options, ley_long_range *range, ley_sum *sum, ley_error *error);

/* The same potential by direct summation, where there are neither images nor screening and the
 * method was open. Errors: LEY_ERROR_USAGE, it may not be. */
ley_status msm_take_direct(const msm_task *task, const coulomb_problem *where, const ley_run_options *options,
                           const method **m, void **made, ley_sum *sum, ley_error *error);

#endif
