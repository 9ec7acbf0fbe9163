#include "schedule/method.h"

#include "error.h"

const method *method_for_target(const method *m, const ley_target *target)
{
    return target->points != NULL ? m->at_points : m;
}

ley_status method_take_direct(const coulomb_problem *p, const method **m, void **made, ley_error *error)
{
    for (size_t i = 0; method_registry[i] != NULL; i++)
        if (method_registry[i]->take_direct != NULL && method_registry[i]->take_direct(p, m, made, NULL) == LEY_OK)
            return LEY_OK;
    return ley_fail(error, LEY_ERROR_USAGE, "no method sums it term by term");
}

reference_terms method_terms_at(const method *m, const void *task, const reference_terms *terms, int64_t number)
{
    reference_terms at = *terms;
    if (m->excluded != NULL)
        at.excluded = m->excluded(task, number, &at.excluded_count);
    if (m->terms_at != NULL)
        m->terms_at(task, number, &at);
    return at;
}
