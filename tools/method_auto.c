/* Whatever reaches a tolerance soonest, in the command: direct summation, or grids. */
#include "console.h"
#include "method_row.h"
#include "msm_input.h"
#include "registry.h"

#include <string.h>

/* Pairs of atoms and points that any device sums directly at once: nothing is chosen for them. */
static const double few_pairs = 1e6;

static int begin(const parsed_arguments *arguments, void *to)
{
    msm_input *input = to;
    ley_long_range *range = &input->range;
    ley_long_range_default(range);
    const int code = cutoff_begin(arguments, &input->common);
    input->tolerance = tolerance_of(arguments);
    input->has_sum = option_named_given(arguments, "sum");
    msm_take_space(input);
    return code;
}

static double tolerance(const void *input)
{
    return ((const msm_input *)input)->tolerance;
}

/* The map, at least: meshes are not known yet. */
static ley_status check_memory(const void *problem, const ley_grid *grid, ley_error *error)
{
    const map_problem *map = problem;
    ley_direct direct;
    ley_direct_default(&direct);
    return ley_direct_check_memory(map->atoms, grid, &direct, error);
}

/* The method of a plan; NULL: there is none. */
static const char *planned_method(const ley_run_options *options)
{
    for (size_t i = 0; i < options->decision_count; i++)
        if (options->decisions[i].device == NULL && strcmp(options->decisions[i].name, "method") == 0)
            return options->decisions[i].value;
    return NULL;
}

/* A plan of another method, which this one never comes to. */
static ley_status refuse_plan(const map_problem *map, const char *planned, ley_error *error)
{
    const char *kind = map->points != NULL ? "_points" : "";
    const bool direct = msm_can_be_direct(&((const msm_input *)map->input)->range);
    fail_into(error, LEY_ERROR_USAGE, "plan: it is one of method %s, and --method auto takes those of %s%s%smsm%s",
              planned, direct ? "dcs" : "", direct ? kind : "", direct ? " and " : "", kind);
    error->cause = LEY_CAUSE_PLAN;
    return error->status;
}

static ley_status choose_method(const map_problem *map, ley_engine *engine, ley_run_options *options,
                                const method_row **taken, ley_error *error)
{
    const msm_input *input = map->input;
    const char *planned = planned_method(options);
    const bool direct = msm_can_be_direct(&input->range);
    ley_choice choice;
    *taken = &dcs_row;
    const int64_t points =
        map->points != NULL ? ley_points_count(map->points) : ley_grid_points(ley_map_grid(map->map));
    const double pairs = (double)ley_atoms_count(map->atoms) * (double)points;
    const char *meshes = map->points != NULL ? "msm_points" : "msm",
               *direct_sum = map->points != NULL ? "dcs_points" : "dcs";
    if (planned != NULL && strcmp(planned, meshes) != 0 && (!direct || strcmp(planned, direct_sum) != 0))
        return refuse_plan(map, planned, error);
    if (direct && (planned != NULL ? strcmp(planned, meshes) != 0 : options->variant != NULL || pairs <= few_pairs))
        return LEY_OK;
    const ley_status status = msm_choose(map, engine, options, &choice, error);
    const bool is_sooner = status == LEY_OK && choice.seconds + choice.building_s < choice.direct_s &&
                           choice.relative_rms <= input->tolerance;
    if (status == LEY_OK && (planned != NULL || !direct || is_sooner))
        *taken = &msm_row;
    if (*taken == &msm_row)
        msm_take_sum(input, &choice, options);
    if (status != LEY_OK && direct) { /* no meshes reach it */
        ley_error_clear(error);
        return LEY_OK;
    }
    return status;
}

/* Direct sums that turn out to nearly cancel are done in doubles, unless --sum says what to do. */
static ley_status resolve(const void *problem, ley_engine *engine, ley_run_options *options, const method_row **taken,
                          ley_error *error)
{
    const map_problem *map = problem;
    const ley_status status = choose_method(map, engine, options, taken, error);
    if (status == LEY_OK && *taken == &dcs_row && !((const msm_input *)map->input)->has_sum &&
        options->decision_count == 0 && options->verify_points > 0)
        options->sum = LEY_SUM_AUTO;
    return status;
}

/* No meshes are needed. */
static const method_row *by_host(const void *problem)
{
    const map_problem *map = problem;
    return msm_can_be_direct(&((const msm_input *)map->input)->range) ? &dcs_row : &msm_row;
}

const method_row auto_row = {
    .option = {.name = "auto",
               .says = "auto is dcs or msm, whichever is predicted to reach --tol sooner",
               .common = {&cutoff_options, &tolerance_options},
               .refused = "cutoff"}, /* it chooses one */
    .title = "whichever method is predicted to reach a tolerance sooner",
    .command = &map_command,
    .is_usual = true,
    .kernels = "dcs",
    .point_kernels = "dcs_points",
    .input_size = sizeof(msm_input),
    .begin = begin,
    .tolerance = tolerance,
    .advice = msm_advice,
    .cell = msm_cell,
    .check_memory = check_memory,
    .resolve = resolve,
    .by_host = by_host,
};
