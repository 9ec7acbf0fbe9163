/* Runs of plans for frames whose positions are floats. */
#ifndef LEY_PLAN_PLAN_H
#define LEY_PLAN_PLAN_H

#include "leyden.h"

/* ley_plan_update() by positions in floats, as seen from a place: position - from. */
ley_status plan_move(ley_plan *plan, const float *position_A, const double from_A[3], const double cell_A[3][3],
                     ley_error *error);

#endif
