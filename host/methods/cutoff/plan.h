/* Who does what in a short-range job, by predicted cost. */
#ifndef LEY_CUTOFF_PLAN_H
#define LEY_CUTOFF_PLAN_H

#include "methods/cutoff/kernel.h"
#include "schedule/method.h"

/* What all devices take of a kernel. */
cutoff_wish cutoff_wish_of(const ley_run_options *options, const ley_short_range *range, int store);

/* Where atoms are put into bins: on each device where that is wished or predicted to be done
 * sooner, unless no device can. */
ley_place cutoff_plan_binning(const job_view *job, const ley_short_range *range, const cutoff_problem *problem);

/* Where maps are brought into rows: where the options say, or where it is predicted to be done
 * sooner. */
ley_place cutoff_plan_transposition(const ley_short_range *range);

typedef struct cutoff_plan {
    ley_place binning, transposition;
} cutoff_plan;

#endif
