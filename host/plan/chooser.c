#include "plan/chooser.h"

#include "error.h"
#include "log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pairs of atoms and points that any device sums directly at once: nobody estimates anything for
 * them. */
static const double few_pairs = 1e6;

/* ---- Candidates ------------------------------------------------------------------------------ */

static bool is_meant(const method *m, const sum_request *r)
{
    return m->request != NULL && (strcmp(r->asked.method, "auto") == 0 || strcmp(r->asked.method, m->name) == 0);
}

size_t chooser_candidates(const sum_request *r, const method *const *methods, candidate *list)
{
    size_t count = 0;
    for (size_t i = 0; methods[i] != NULL && count < LEY_MOST_ESTIMATES; i++) {
        const request_row *row = methods[i]->request;
        if (!is_meant(methods[i], r))
            continue;
        candidate *c = &list[count++];
        *c = (candidate){.method = methods[i]};
        if (row->check != NULL)
            row->check(r, &c->refusal);
    }
    return count;
}

static bool is_open(const candidate *c)
{
    return c->refusal.status == LEY_OK;
}

static void estimate_one(sum_request *r, candidate *c)
{
    const request_row *row = c->method->request;
    ley_error why = {0};
    c->is_estimated = row->estimate(r, &c->estimate, &why) == LEY_OK;
    if (c->is_estimated)
        log_say(LEY_LOG_NOTE, "method %s: %.3g s, off by %.2g, %.3g s of building counted", c->method->name,
                c->estimate.seconds, c->estimate.relative_rms, c->estimate.building_s);
    else if (row->has_meshes)
        c->refusal = why;
    else
        ley_error_clear(&why);
}

void chooser_estimate(sum_request *r, candidate *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_open(&list[i]) && !list[i].is_estimated)
            estimate_one(r, &list[i]);
}

/* ---- The choice ------------------------------------------------------------------------------ */

static double seconds_of(const candidate *c)
{
    return c->is_estimated ? c->estimate.seconds + c->estimate.building_s : INFINITY;
}

const candidate *chooser_soonest(const candidate *list, size_t count, double tolerance)
{
    const candidate *taken = NULL;
    for (size_t i = 0; i < count; i++) {
        const candidate *c = &list[i];
        if (is_open(c) && (taken == NULL || (c->is_estimated && c->estimate.relative_rms <= tolerance &&
                                             seconds_of(c) < seconds_of(taken))))
            taken = c;
    }
    return taken;
}

ley_status chooser_refuse(const candidate *list, size_t count, ley_error *error)
{
    char reasons[512] = "";
    size_t length = 0;
    if (count == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "there is no method that makes it");
    if (count == 1) {
        ley_error_copy(error, &list[0].refusal);
        return list[0].refusal.status;
    }
    for (size_t i = 0; i < count && length < sizeof reasons; i++)
        length += (size_t)snprintf(reasons + length, sizeof reasons - length, "%s%s", i > 0 ? "; " : "",
                                   list[i].refusal.message);
    return ley_fail(error, list[count - 1].refusal.status, "%s", reasons);
}

static candidate *find_planned(candidate *list, size_t count, const char *planned)
{
    for (size_t i = 0; i < count; i++)
        if (is_open(&list[i]) && strcmp(list[i].method->name, planned) == 0)
            return &list[i];
    return NULL;
}

/* A plan of another method than the request comes to. */
static ley_status refuse_plan(const sum_request *r, const candidate *list, size_t count, const char *planned,
                              ley_error *error)
{
    char names[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof names; i++)
        if (is_open(&list[i]))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? " and " : "",
                                       list[i].method->name);
    return plan_fail(error, "it is one of method %s, and method %s takes those of %s", planned, r->asked.method, names);
}

static ley_status take(sum_request *r, candidate *c, const candidate **chosen, ley_error *error)
{
    if (c->method->request->has_meshes && r->asked.tolerance > 0)
        estimate_one(r, c);
    *chosen = c;
    if (is_open(c))
        return LEY_OK;
    ley_error_copy(error, &c->refusal);
    return c->refusal.status;
}

ley_status chooser_choose(sum_request *r, candidate *list, size_t count, const candidate **chosen, ley_error *error)
{
    const char *planned = plan_find(r->options.decisions, r->options.decision_count, NULL, "method");
    size_t open = 0;
    candidate *first = NULL;
    for (size_t i = count; i-- > 0;)
        if (is_open(&list[i])) {
            first = &list[i];
            open++;
        }
    if (open == 0)
        return chooser_refuse(list, count, error);
    if (planned != NULL && strcmp(r->asked.method, "auto") == 0) {
        candidate *c = find_planned(list, count, planned);
        return c != NULL ? take(r, c, chosen, error) : refuse_plan(r, list, count, planned, error);
    }
    const double pairs =
        (double)ley_atoms_whole_count(r->atoms) *
        (double)(r->target.points != NULL ? ley_points_count(r->target.points) : ley_grid_points(&r->grid));
    if (open == 1 || (!first->method->request->has_meshes && (r->options.variant != NULL || pairs <= few_pairs)))
        return take(r, first, chosen, error);
    chooser_estimate(r, list, count);
    *chosen = chooser_soonest(list, count, r->asked.tolerance);
    return *chosen != NULL ? LEY_OK : chooser_refuse(list, count, error);
}
