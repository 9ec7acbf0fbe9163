/* What long-range potentials are made of by the command line, for methods that come to them. */
#ifndef LEYDEN_MSM_INPUT_H
#define LEYDEN_MSM_INPUT_H

#include "cutoff_options.h"
#include "map_problem.h"

extern const option_block tolerance_options; /* --tol */

typedef struct msm_input {
    cutoff_input common;
    ley_long_range range;
    double tolerance;     /* what is not `fixed` of the range is chosen for it; 0: nothing is */
    unsigned fixed;       /* LEY_FIX_... */
    bool has_sum;         /* --sum was given */
    bool is_chosen;       /* the range has been */
    bool asks_for_meshes; /* some option says what they are */
} msm_input;

/* --tol, or what holds where it is not given. */
double tolerance_of(const parsed_arguments *arguments);

/* Cell and screening of the range, as the options shared with short-range sums have them. */
void msm_take_space(msm_input *input);

/* The range with the map's units and medium. */
ley_long_range msm_range_of(const map_problem *map);

/* Chooses, if there is a tolerance, what is left open of the range; `forecast` is what that is
 * expected to come to. */
ley_status msm_choose(const map_problem *map, ley_engine *engine, const ley_run_options *options, ley_choice *forecast,
                      ley_error *error);

/* The sums of pairs that the choice asks for, where neither --sum nor a plan says any. */
void msm_take_sum(const msm_input *input, const ley_choice *choice, ley_run_options *options);

/* Whether direct summation gives the same potential: not of images, nor of screened charges. */
bool msm_can_be_direct(const ley_long_range *range);

/* What may come nearer to a tolerance that was missed. */
const char *msm_advice(const void *input);

/* Where atoms have images. */
const periodic_cell *msm_cell(const void *input);

#endif
