#include "methods/cutoff/by_host.h"

#include "core/options.h"
#include "law/pairs.h"
#include "methods/cutoff/short_range.h"

bool cutoff_by_host(const cutoff_task *task, host_sum *sum)
{
    const ley_short_range *r = &task->range;
    ley_short_range usual;
    ley_short_range_default(&usual);
    if (r->pair == LEY_PAIR_EXPRESSION || r->binning != LEY_PLACE_AUTO || r->transposition != LEY_PLACE_AUTO ||
        r->bin_depth != usual.bin_depth || r->bin_fill != usual.bin_fill)
        return false;
    const double coulomb = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    *sum = (host_sum){.terms = {.law = &law_pairs,
                                .constant = short_range_constant(r, coulomb),
                                .atoms = task->atoms,
                                .r_min_A = r->r_min_A,
                                .range = r},
                      .map = task->map,
                      .units = short_range_units(r, r->units),
                      .how = "direct summation",
                      .builds_s = 5};
    return true;
}
