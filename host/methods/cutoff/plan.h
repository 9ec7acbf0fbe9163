/* Who does what in a short-range job, by predicted cost. */
#ifndef LEY_CUTOFF_PLAN_H
#define LEY_CUTOFF_PLAN_H

#include "methods/cutoff/kernel.h"
#include "schedule/method.h"

/* What all devices take of a kernel. */
cutoff_wish cutoff_wish_of(const ley_run_options *options, const ley_short_range *range, int store);

/* Where atoms are put into bins: on each device where that is wished or predicted to be done
 * sooner, unless no device can, or host threads shall sum the overflow, of which only the host's
 * bins tell. */
ley_place cutoff_plan_binning(const job_view *job, const ley_short_range *range, const cutoff_problem *problem);

typedef struct cutoff_plan {
    ley_place binning, overflow_sum, transposition;
    double predicted_device_s, predicted_overflow_s; /* what it was decided by */
    double predicted_adding_s;                       /* of these, adding two maps up */
} cutoff_plan;

/* Decides where the overflow is summed and where maps are brought into rows, as the options say or
 * where it is predicted to be done sooner. `pairs`: within the cutoff, of the whole job. Without
 * bins yet, devices sum the overflow. */
void cutoff_plan_sums(const job_view *job, const ley_short_range *range, const cutoff_problem *problem, double pairs,
                      cutoff_plan *plan);

#endif
