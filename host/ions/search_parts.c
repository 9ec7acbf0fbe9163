#include "ions/search_parts.h"

#include "clock.h"
#include "error.h"

#include <math.h>

ley_status search_update(search *s, size_t count, ley_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const int32_t b = s->chosen[i];
        s->work[i] = (ions_work){.brick = b,
                                 .first = s->versions[b] < 0 ? 0 : s->ends[s->versions[b]],
                                 .last = s->ends[s->version],
                                 .record = (int32_t)i};
    }
    const double begin_s = ley_clock_s();
    const ley_status status = s->o.map->update(s->o.map, s->effects, count, s->work, s->news, error);
    s->done.updates++;
    s->done.updates_s += ley_clock_s() - begin_s;
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        const int32_t b = s->chosen[i];
        if (isnan(s->news[i].least) || isnan(s->news[i].most) || isnan(s->news[i].next_least) ||
            isnan(s->news[i].next_most) || !(s->news[i].count >= 0) ||
            (s->news[i].count > 0 && !(s->news[i].at_least >= 0 && s->news[i].at_most >= 0)))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick of the map has no least value");
        if (s->versions[b] != s->version)
            s->fresh[s->fresh_count++] = b;
        s->records[b] = s->news[i];
        if (s->bounds.g != NULL)
            bounds_set(&s->bounds, b, s->news[i].least, s->news[i].most);
        s->versions[b] = s->version;
    }
    s->done.searched += (int64_t)count;
    return status;
}

candidate search_candidate(const search *s, int64_t brick, int local, float found)
{
    candidate c = {.number = ions_grid_number(s->g, brick, local), .found = (double)found, .ions = s->ion_count};
    ions_grid_node(s->g, c.number, c.node);
    ions_grid_place_A(s->g, c.node, c.place_A);
    return c;
}

/* What an ion adds at a node, as maps have it. */
static double term_of(const search *s, const placed_ion *ion, const int64_t node[3])
{
    const ions_grid *g = s->g;
    double way[3];
    int64_t wrapped[3];
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = (double)(node[axis] - ion->at.node[axis]);
        wrapped[axis] = (node[axis] - ion->at.node[axis] + g->n[axis]) % g->n[axis];
    }
    const double factor = s->o.map->table != NULL
                              ? (double)s->o.map->table[(wrapped[2] * g->n[1] + wrapped[1]) * g->n[0] + wrapped[0]]
                              : 1 / (g->is_square ? ions_grid_distance2(g, way) : sqrt(ions_grid_distance2(g, way)));
    return s->o.constant * ion->charge_e * ions_grid_unit(g) * factor;
}

ley_status search_check_found(const search *s, const candidate *c, ley_error *error)
{
    const int64_t *n = c->node;
    if (s->o.map->before == NULL)
        return LEY_OK;
    const int64_t brick = (n[2] / BRICK * s->g->bricks[1] + n[1] / BRICK) * s->g->bricks[0] + n[0] / BRICK;
    const int64_t local = (n[2] % BRICK * BRICK + n[1] % BRICK) * BRICK + n[0] % BRICK;
    const double before = (double)s->o.map->before[brick * BRICK_NODES + local];
    double sum = before, absolute = fabs(before);
    for (size_t k = 0; k < s->ion_count; k++) {
        const double term = term_of(s, &s->ions[k], n);
        sum += term;
        absolute += fabs(term);
    }
    const double most = 2e-6 * absolute * (1 + sqrt((double)s->ion_count));
    return fabs(c->found - sum) <= most
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "the potential at node (%lld, %lld, %lld) is %.7g, not %.7g",
                          (long long)n[0], (long long)n[1], (long long)n[2], c->found, sum);
}
