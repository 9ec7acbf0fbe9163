/* What long-range potentials are made of by the command line, for methods that come to them. */
#ifndef LEYDEN_MSM_INPUT_H
#define LEYDEN_MSM_INPUT_H

#include "cutoff_options.h"
#include "map_problem.h"
#include "method_row.h"

extern const option_block tolerance_options; /* --tol */

typedef struct msm_input {
    cutoff_input common;
    ley_request request; /* but for the map's units and medium */
} msm_input;

/* --tol, or what holds where it is not given. */
double tolerance_of(const parsed_arguments *arguments);

/* Cell and screening, as the options shared with short-range sums have them, and whether --sum says
 * by which sums, into the request. */
void msm_take_space(const parsed_arguments *arguments, msm_input *input);

/* Members of the rows of these methods. */
double msm_tolerance(const void *input);
const char *msm_advice(const void *input); /* what may come nearer to a tolerance that was missed */
const periodic_cell *msm_cell(const void *input);
ley_status msm_check_memory(const void *problem, const ley_grid *grid, ley_error *error);
ley_status msm_create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                      ley_error *error);
void msm_put_medium(const void *problem, FILE *to);

#endif
