/* A command whose first plans are far too loose: what misses the tolerance is then computed again
 * by plans that are chosen as ever. It wraps what jobs that are asked for a tolerance call. */
#include "long_range/estimate/tolerance.h"

/* The share of the tolerance that a first plan aims at. */
static const double loose = 50;

ley_status __real_msm_estimate(sum_request *r, estimate *made, ley_error *error);
ley_status __wrap_msm_estimate(sum_request *r, estimate *made, ley_error *error);

ley_status __wrap_msm_estimate(sum_request *r, estimate *made, ley_error *error)
{
    if (r->options.aim == 0)
        r->options.aim = loose;
    return __real_msm_estimate(r, made, error);
}
