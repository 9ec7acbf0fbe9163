#include "target/target.h"

#include "error.h"
#include "parallel.h"
#include "target/map.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>

const char *ley_target_name(ley_target_kind kind)
{
    static const char *const names[] = {"grid", "points", "boundary"};
    return (unsigned)kind < LEY_TARGET_COUNT ? names[kind] : NULL;
}

static unsigned kind_of(const ley_target *t)
{
    return (t->map != NULL ? TARGET_MAP : 0) | (t->points != NULL ? TARGET_POINTS : 0) |
           (t->boundary != NULL ? TARGET_BOUNDARY : 0) | (t->grid != NULL ? TARGET_OUTLINE : 0);
}

ley_status target_check(const ley_target *target, unsigned kinds, const char *method, ley_error *error)
{
    const unsigned kind = kind_of(target);
    if (kind == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "the target is empty");
    if ((kind & (kind - 1)) != 0)
        return ley_fail(error, LEY_ERROR_USAGE, "more than one of map, points, boundary and grid is given");
    if (kind == TARGET_OUTLINE && (kinds & kind) == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "the target is a grid without a map");
    if ((kinds & kind) == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "method %s does not make values at a target '%s'", method,
                        ley_target_name(kind == TARGET_MAP      ? LEY_TARGET_GRID
                                        : kind == TARGET_POINTS ? LEY_TARGET_POINTS
                                                                : LEY_TARGET_BOUNDARY));
    return LEY_OK;
}

ley_grid target_grid(const ley_target *target)
{
    return target->map != NULL      ? *ley_map_grid(target->map)
           : target->points != NULL ? points_grid(target->points)
                                    : *target->grid;
}

static double value_at(const ley_target *t, int64_t number)
{
    return t->map != NULL      ? (double)ley_map_values(t->map)[number]
           : t->points != NULL ? ley_points_read_values(t->points)[number]
                               : ley_boundary_read_values(t->boundary)[number];
}

/* 0 where the values are in a file. */
static int64_t values_in_memory(const ley_target *t)
{
    if (t->map != NULL)
        return ley_map_values(t->map) != NULL ? ley_grid_points(ley_map_grid(t->map)) : 0;
    return t->points != NULL ? ley_points_count(t->points) : ley_boundary_points(t->boundary);
}

double target_rms(const ley_target *t)
{
    enum { SAMPLE = 1024 };
    const uint64_t golden = 0x9e3779b97f4a7c15; /* of 2^64: fractions of its multiples are spread evenly */
    const int64_t all = values_in_memory(t);
    double sum = 0;
    if (all == 0)
        return NAN;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const double fraction = (double)(i * golden >> 11) * 0x1p-53,
                     value = value_at(t, (int64_t)(fraction * (double)all));
        sum += value * value;
    }
    return sqrt(sum / SAMPLE);
}

enum { STRETCH = 4096 };

typedef struct squares {
    const ley_target *target;
    int64_t all;
    double *sum; /* of each stretch */
} squares;

static void sum_squares(void *context, size_t first, size_t last)
{
    const squares *s = context;
    for (int64_t k = (int64_t)first; k < (int64_t)last; k++) {
        s->sum[k] = 0;
        for (int64_t i = k * STRETCH; i < s->all && i < (k + 1) * STRETCH; i++) {
            const double value = value_at(s->target, i);
            s->sum[k] += value * value;
        }
    }
}

double target_rms_of_all(const ley_target *t)
{
    const int64_t all = values_in_memory(t), stretches = (all + STRETCH - 1) / STRETCH;
    squares s = {t, all, malloc((size_t)(stretches + 1) * sizeof *s.sum)};
    double sum = 0;
    if (s.sum != NULL)
        parallel_ranges((size_t)stretches, sum_squares, &s);
    for (int64_t k = 0; k < stretches && s.sum != NULL; k++)
        sum += s.sum[k];
    const bool is_known = s.sum != NULL && all > 0;
    free(s.sum);
    return is_known ? sqrt(sum / (double)all) : NAN;
}

bool target_has_field(const ley_target *target)
{
    return target->points != NULL ? target->points->field != NULL
                                  : target->map != NULL && map_components(target->map) > 1;
}
