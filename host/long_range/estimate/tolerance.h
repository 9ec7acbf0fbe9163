/* Long-range potentials for a tolerance, on one device. */
#ifndef LEY_LONG_RANGE_ESTIMATE_TOLERANCE_H
#define LEY_LONG_RANGE_ESTIMATE_TOLERANCE_H

#include "engine/engine.h"
#include "leyden.h"

/* As ley_long_range_choose(), of the device of this worker, whose thread the caller is. Range and
 * options are whole. Errors: those, but not of a medium. */
ley_status msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                         unsigned fixed, const ley_run_options *options, ley_long_range *range, ley_choice *choice,
                         ley_error *error);

#endif
