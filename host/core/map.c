#include "core/map.h"
#include "error.h"
#include "leyden.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct ley_map {
    ley_lattice lattice;
    char units[32];
    float *values;
};

ley_status ley_map_create(const ley_lattice *lattice, ley_map **map, ley_error *error)
{
    ley_status status = ley_lattice_check(lattice, error);
    if (status != LEY_OK)
        return status;
    size_t points = (size_t)ley_lattice_points(lattice);
    char what[96];
    snprintf(what, sizeof what, "a map of %lld x %lld x %lld points", (long long)lattice->n[0],
             (long long)lattice->n[1], (long long)lattice->n[2]);
    status = memory_check_one(what, (double)points * sizeof(float), "a coarser spacing, or a smaller box", error);
    if (status != LEY_OK)
        return status;
    ley_map *m = calloc(1, sizeof *m);
    float *values = m != NULL ? malloc(points * sizeof(float)) : NULL;
    if (values == NULL) {
        free(m);
        return ley_fail_memory(error, points * sizeof(float), "the map");
    }
    for (size_t i = 0; i < points; i++)
        values[i] = NAN;
    m->lattice = *lattice;
    m->values = values;
    *map = m;
    return LEY_OK;
}

ley_status ley_map_outline(const ley_lattice *lattice, ley_map **map, ley_error *error)
{
    const ley_status status = ley_lattice_check(lattice, error);
    ley_map *m = status == LEY_OK ? calloc(1, sizeof *m) : NULL;
    if (m == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, sizeof *m, "the map");
    m->lattice = *lattice;
    *map = m;
    return LEY_OK;
}

void ley_map_destroy(ley_map *map)
{
    if (map == NULL)
        return;
    free(map->values);
    free(map);
}

const ley_lattice *ley_map_lattice(const ley_map *map)
{
    return &map->lattice;
}

float *ley_map_values(ley_map *map)
{
    return map->values;
}

const char *ley_map_units(const ley_map *map)
{
    return map->units;
}

void ley_map_set_units(ley_map *map, const char *units)
{
    snprintf(map->units, sizeof map->units, "%s", units);
}

const float *ley_map_read_values(const ley_map *map)
{
    return map->values;
}

double map_value(const ley_map *map, int64_t number, double place_A[3])
{
    const ley_lattice *l = ley_map_lattice(map);
    const int64_t rest = number / l->n[0], at[3] = {number % l->n[0], rest % l->n[1], rest / l->n[1]};
    ley_lattice_point_A(l, at, place_A);
    return (double)ley_map_read_values(map)[number];
}

ley_status map_check_values(const ley_map *map, const char *path, ley_error *error)
{
    const int64_t *n = ley_map_lattice(map)->n, points = ley_lattice_points(ley_map_lattice(map));
    const float *values = ley_map_read_values(map);
    for (int64_t i = 0; i < points; i++)
        if (!isfinite(values[i]))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the map is %s at point (%lld, %lld, %lld)", path,
                            isnan(values[i]) ? "not a number" : "infinite", (long long)(i % n[0]),
                            (long long)(i / n[0] % n[1]), (long long)(i / n[0] / n[1]));
    return LEY_OK;
}
