#include "target/target.h"

#include "error.h"
#include "target/map.h"
#include "target/points.h"

#include <math.h>

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

double target_rms(const ley_target *t)
{
    enum { SAMPLE = 1024 };
    const uint64_t golden = 0x9e3779b97f4a7c15; /* of 2^64: fractions of its multiples are spread evenly */
    const int64_t all = t->map != NULL      ? ley_grid_points(ley_map_grid(t->map))
                        : t->points != NULL ? ley_points_count(t->points)
                                            : ley_boundary_points(t->boundary);
    double sum = 0;
    if (all == 0 || (t->map != NULL && ley_map_values(t->map) == NULL))
        return NAN;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const double fraction = (double)(i * golden >> 11) * 0x1p-53,
                     value = value_at(t, (int64_t)(fraction * (double)all));
        sum += value * value;
    }
    return sqrt(sum / SAMPLE);
}

bool target_has_field(const ley_target *target)
{
    return target->points != NULL ? target->points->field != NULL
                                  : target->map != NULL && map_components(target->map) > 1;
}
