#include "long_range/multilevel/local_levels.h"

#include <string.h>

bool local_levels_make(const hierarchy *h, int count, hierarchy_planes wanted, spread_layers own, local_levels *made)
{
    *made = (local_levels){.count = count};
    hierarchy_upper(h, count, &made->upper);
    if (count == 0)
        return true;
    const hierarchy_level *top = &h->level[count];
    const int64_t end = own.end * SPREAD_EDGE;
    const hierarchy_planes planes = {top->first[2] + own.first * SPREAD_EDGE,
                                     top->first[2] + (end < top->n[2] ? end : top->n[2])};
    return hierarchy_part(h, count, wanted, planes, &made->lower, &made->charges);
}

static const hierarchy_level *lower_top(const local_levels *l)
{
    return &l->lower.level[l->count];
}

spread_layers local_levels_layers(const local_levels *l, spread_layers of_upper)
{
    const int64_t before = (lower_top(l)->first[2] - l->upper.level[0].first[2]) / SPREAD_EDGE;
    return (spread_layers){of_upper.first - before, of_upper.end - before};
}

static size_t plane_numbers(const local_levels *l)
{
    return (size_t)(l->upper.level[0].n[0] * l->upper.level[0].n[1]);
}

static size_t layers_numbers(const local_levels *l, int64_t planes)
{
    return plane_numbers(l) * (size_t)((planes + SPREAD_EDGE - 1) / SPREAD_EDGE * SPREAD_EDGE);
}

size_t local_levels_lower_numbers(const local_levels *l)
{
    return layers_numbers(l, lower_top(l)->n[2]);
}

size_t local_levels_upper_numbers(const local_levels *l)
{
    return layers_numbers(l, l->upper.level[0].n[2]);
}

void local_levels_take(const local_levels *l, const float *upper, float *lower)
{
    const hierarchy_level *of = &l->upper.level[0];
    const int64_t before = lower_top(l)->first[2] - of->first[2];
    for (int64_t z = 0; z < lower_top(l)->n[2]; z++) {
        const int64_t own = ((before + z) % of->n[2] + of->n[2]) % of->n[2];
        memcpy(lower + (size_t)z * plane_numbers(l), upper + (size_t)own * plane_numbers(l),
               plane_numbers(l) * sizeof *lower);
    }
}
