/* --tol: of methods that choose for themselves how to be accurate enough. */
#include "msm_input.h"

static void set_defaults(void *to)
{
    ley_request_default(to);
}

static const option_row rows[] = {{.of = "ley_request", .parameter = "tol"}};

const option_block tolerance_options = OPTION_BLOCK(rows, ley_request, set_defaults);

double tolerance_of(const parsed_arguments *arguments)
{
    return ((const ley_request *)option_values(arguments, &tolerance_options))->tolerance;
}
