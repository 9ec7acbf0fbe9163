#include "schedule/job_memory.h"

#include "schedule/method.h"
#include "target/map.h"

#include <math.h>

static const char smaller_map[] = "a coarser spacing, or a smaller box";
static const double slab_bytes = 64 << 20;

void job_needs_add(job_needs *needs, const char *what, double bytes, const char *advice)
{
    if (needs->count < JOB_MOST_NEEDS)
        needs->list[needs->count++] = (memory_need){what, ceil(bytes), advice}; /* estimates are no whole numbers */
}

void job_needs_points(job_needs *needs, int64_t points, bool field)
{
    static const char fewer[] = "fewer points";
    const double n = (double)points, numbers = field ? 7 : 4; /* place, potential, field */
    job_needs_add(needs, field ? "points, potentials and field" : "points and potentials", n * numbers * sizeof(double),
                  fewer);
    needs->held = needs->count;
    job_needs_add(needs, "the points' order in space", n * (2 * sizeof(double[3]) + 3 * sizeof(int32_t)), fewer);
}

ley_status job_needs_check(const job_needs *needs, ley_error *error)
{
    return memory_check(needs->list + needs->held, needs->count - needs->held, error);
}

static double bytes_of(const memory_need *list, size_t count)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += list[i].bytes;
    return bytes;
}

double job_needs_held(const job_needs *needs)
{
    return bytes_of(needs->list, needs->held);
}

double job_needs_bytes(const job_needs *needs)
{
    return bytes_of(needs->list, needs->count);
}

void job_needs_map(job_needs *needs, const ley_grid *grid, const ley_map *map, int least_planes)
{
    const int components = map != NULL ? map_components(map) : 1;
    const bool is_stored = map != NULL && map_is_stored(map);
    const double point_bytes = components * (double)sizeof(float),
                 map_bytes = (double)ley_grid_points(grid) * point_bytes;
    const double least = (double)least_planes * (double)grid->n[0] * (double)grid->n[1] * point_bytes;
    const int slabs = METHOD_SLOTS + (is_stored ? 1 : 0); /* one on its way to the file */
    if (!is_stored)
        job_needs_add(needs, components > 1 ? "the maps of potential and field" : "the map", map_bytes, smaller_map);
    job_needs_add(needs, is_stored ? "slabs of the map" : "slabs of it",
                  slabs * fmax(least, fmin(slab_bytes, map_bytes)), "fewer points along x and y");
}
