/* Whatever reaches a tolerance soonest, in the command: direct summation, or meshes. The library
 * chooses. */
#include "msm_input.h"
#include "registry.h"

static int begin(const parsed_arguments *arguments, void *to)
{
    msm_input *input = to;
    ley_request_default(&input->request);
    const int code = cutoff_begin(arguments, &input->common);
    input->request.tolerance = tolerance_of(arguments);
    msm_take_space(arguments, input);
    return code;
}

const method_row auto_row = {
    .option = {.name = "auto",
               .says = "auto is dcs or msm, whichever is predicted to reach --tol faster",
               .common = {&cutoff_options, &tolerance_options}},
    .title = "whichever method is predicted to reach a tolerance faster",
    .command = &map_command,
    .is_usual = true,
    .is_choice = true,
    .kernels = "dcs",
    .takes_points = true,
    .input_size = sizeof(msm_input),
    .begin = begin,
    .tolerance = msm_tolerance,
    .advice = msm_advice,
    .cell = msm_cell,
    .check_memory = msm_check_memory,
    .takes_shares = true,
    .create = msm_create,
    .put_medium = msm_put_medium,
};
