#include "long_range/estimate/stricter.h"

#include "error.h"
#include "long_range/estimate/tolerance.h"
#include "plan/request.h"

static bool is_same(const ley_long_range *a, const ley_long_range *b)
{
    return a->cutoff_A == b->cutoff_A && a->spacing_A == b->spacing_A && a->splitting == b->splitting &&
           a->window == b->window && a->solver == b->solver && a->long_waves_per_A == b->long_waves_per_A &&
           a->contact_error == b->contact_error;
}

ley_status msm_choose_stricter(const msm_task *task, ley_engine *engine, const coulomb_problem *where,
                               const ley_run_options *options, ley_long_range *range, ley_sum *sum, ley_error *error)
{
    const ley_long_range *asked = &task->asked;
    ley_run_options open = *options;
    ley_choice choice;
    if (asked->chosen == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "its meshes were not chosen for a tolerance");
    if (asked->chosen & LEY_FIX_SUM)
        open.sum = LEY_SUM_AUTO;
    else if (open.sum == LEY_SUM_AUTO) /* floats come first then */
        open.sum = LEY_SUM_FLOAT;
    *range = *asked;
    range->fft = task->library[0] != '\0' ? task->library : NULL;
    const unsigned fixed = ~asked->chosen;
    const ley_status status = msm_choose_where(engine, where, open.tolerance, fixed, &open, range, &choice, error);
    if (status != LEY_OK)
        return status;
    if (is_same(asked, range) && (choice.sum == options->sum || !(asked->chosen & LEY_FIX_SUM)))
        return ley_fail(error, LEY_ERROR_USAGE, "the strictest settings were used already");
    *sum = asked->chosen & LEY_FIX_SUM ? choice.sum : options->sum;
    return LEY_OK;
}

ley_status msm_take_direct(const msm_task *task, const coulomb_problem *where, const ley_run_options *options,
                           const method **m, void **made, ley_sum *sum, ley_error *error)
{
    const ley_long_range *r = &task->asked;
    coulomb_problem p = *where;
    sum_medium(r, &p.medium);
    if (!(r->chosen & LEY_FIX_METHOD) || !sum_is_plain(r) || options->variant != NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "it needs meshes, and none are more accurate");
    *sum = r->chosen & LEY_FIX_SUM ? LEY_SUM_AUTO : options->sum;
    const ley_status status = ley_atoms_take_all((ley_atoms *)(uintptr_t)where->atoms, error);
    return status != LEY_OK ? status : method_take_direct(&p, m, made, error);
}
