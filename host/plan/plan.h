/* Runs of plans in steps, for averages, two of whose plans take frames in turn on one engine: what
 * both have prepared is the same, and so are the values, whichever makes them. */
#ifndef LEY_PLAN_PLAN_H
#define LEY_PLAN_PLAN_H

#include "leyden.h"

/* ley_plan_update() by positions in floats, as seen from a place: position - from. */
ley_status plan_move(ley_plan *plan, const float *position_A, const double from_A[3], const double cell_A[3][3],
                     ley_error *error);

/* Run number `run` by what is kept, beside such a run of another plan; nobody cancels or judges it.
 * False: nothing is kept that suits, or it has failed, so that the next run prepares anew. */
bool plan_run_kept(ley_plan *plan, int64_t run);

/* After such a run, while no other one is under way: whether `first`, which has prepared for the
 * same charges, would go on with what it has prepared, by these values. If so, the plan's
 * verification goes on. Errors: those of ley_plan_run() for an earlier run. */
ley_status plan_judge(ley_plan *plan, ley_plan *first, bool *is_good, ley_error *error);

/* The next ley_plan_run() is this one, and prepares anew. */
void plan_begin_anew(ley_plan *plan, int64_t run);

/* How many runs were prepared anew. */
int64_t plan_prepared(const ley_plan *plan);

#endif
