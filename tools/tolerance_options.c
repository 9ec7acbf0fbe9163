/* --tol: of methods that choose for themselves how to be accurate enough. */
#include "msm_input.h"

typedef struct tolerance_values {
    double tolerance;
} tolerance_values;

static void set_defaults(void *to)
{
    *(tolerance_values *)to = (tolerance_values){.tolerance = LEY_USUAL_TOLERANCE};
}

static const option_row rows[] = {
    {.name = "tol",
     .kind = OPTION_REAL,
     .offset = offsetof(tolerance_values, tolerance),
     .value = "T",
     .unset = "0.0001; with --method msm none: the meshes are what options and their defaults say",
     .low = LEY_LEAST_TOLERANCE,
     .high = LEY_MOST_TOLERANCE,
     .help = "the relative root mean square error that the map may have: what reaches half of it soonest is chosen, "
             "sums of pairs compensated where it takes that and --sum is not given; --verify recomputes at least 256 "
             "points then, and where they are off by more, the map is computed again by a stricter plan before it is "
             "written; where no plan reaches it, it is written all the same, with exit code 5; with --verify 0 nobody "
             "measures"},
};

const option_block tolerance_options = OPTION_BLOCK(rows, tolerance_values, set_defaults);

double tolerance_of(const parsed_arguments *arguments)
{
    return ((const tolerance_values *)option_values(arguments, &tolerance_options))->tolerance;
}
