#include "surface/surface.h"

#include "cancel.h"
#include "core/options.h"
#include "core/parameters.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "surface/contour.h"
#include "surface/density.h"
#include "surface/measure.h"
#include "target/map.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const ley_parameter rows[] = {
    {.name = "spacing", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {0.5}, .low = 0.01, .high = 100,
     .sentence = "distance between neighbouring points of the grid on which the surface is found",
     PARAMETER_FIELD(ley_surface_options, spacing_A)},
    {.name = "sharpness", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .value = "A", .default_value = {2},
     .low = 0.5, .high = 50, .sentence = "how fast the density of an atom falls",
     .details = "more shows every atom, less rounds the molecule off",
     PARAMETER_FIELD(ley_surface_options, sharpness)},
};
/* clang-format on */

const ley_parameter_table surface_parameters = PARAMETER_TABLE(ley_surface_options, rows);

void ley_surface_options_default(ley_surface_options *options)
{
    parameters_default(&surface_parameters, options);
}

void ley_surface_destroy(ley_surface *surface)
{
    if (surface == NULL)
        return;
    free(surface->vertex_A);
    free(surface->normal);
    free(surface->triangle);
    free(surface->value);
    free(surface->level);
    free(surface);
}

static ley_status new_surface(ley_surface **surface, ley_error *error)
{
    *surface = calloc(1, sizeof **surface);
    if (*surface != NULL)
        (*surface)->off_A = NAN;
    return *surface == NULL ? ley_fail_memory(error, sizeof **surface, "a surface") : LEY_OK;
}

/* ---- Of atoms -------------------------------------------------------------------------------- */

/* The grid reaches as far as the largest atom does, so that nothing is cut off. */
static ley_status choose_grid(const ley_atoms *atoms, const ley_surface_options *o, ley_grid *grid, ley_error *error)
{
    const double *radius_A = ley_atoms_radii_A(atoms);
    double largest_A = 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        largest_A = fmax(largest_A, radius_A[i]);
    if (!(largest_A > 0))
        return ley_fail(error, LEY_ERROR_INPUT, "no atom has a radius: there is no surface");
    const double padding_A = density_reach(o->sharpness) * largest_A + o->spacing_A;
    const ley_status status = ley_grid_around(atoms, o->spacing_A, padding_A, grid, error);
    if (status != LEY_OK)
        return status;
    const double bytes = (double)ley_grid_points(grid) * sizeof(float);
    return memory_check_one("the grid of the surface", bytes, "a coarser spacing", error);
}

/* Vertices that are recomputed. */
typedef struct sample {
    const ley_surface *surface;
    const ley_atoms *atoms;
    double sharpness;
    size_t count;
    double *off_A, most_A;
    const volatile bool *cancel;
} sample;

static void recompute(void *context, size_t first, size_t last)
{
    const sample *s = context;
    for (size_t i = first; i < last && !cancel_flag_is_set(s->cancel); i++) {
        const int64_t vertex = (int64_t)((double)i / (double)s->count * (double)s->surface->vertices);
        s->off_A[i] = density_distance_A(s->atoms, s->sharpness, s->surface->vertex_A + 3 * vertex, s->most_A);
    }
}

/* How far vertices are from the surface at most, along x, y or z. No more than a step: each lies on
 * a line from a point inside to one outside. */
static ley_status verify(ley_surface *surface, const ley_atoms *atoms, const ley_surface_options *o,
                         const volatile bool *cancel, ley_error *error)
{
    enum { MOST = 256, LEAST = 32, TERMS = 100000000 };
    double off_A[MOST];
    const size_t wanted = TERMS / ley_atoms_count(atoms);
    sample s = {surface,      atoms,
                o->sharpness, wanted > MOST ? MOST : wanted < LEAST ? LEAST : wanted,
                off_A,        1.001 * o->spacing_A,
                cancel};
    parallel_ranges(s.count, recompute, &s);
    if (cancel_flag_is_set(cancel))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    surface->off_A = 0;
    for (size_t i = 0; i < s.count; i++) {
        if (isnan(off_A[i]))
            return ley_fail_memory(error, ley_atoms_count(atoms) * DENSITY_NEAR_BYTES, "the check of the surface");
        surface->off_A = fmax(surface->off_A, off_A[i]);
    }
    if (!isfinite(surface->off_A))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a vertex is farther from the surface than the spacing, %g A",
                        o->spacing_A);
    return LEY_OK;
}

/* Whether a point around the atom is inside: the nearest one is where the atom has any. */
static bool is_found(const ley_map *density, const double place_A[3])
{
    const ley_grid *grid = ley_map_grid(density);
    int64_t first[3];
    for (int m = 0; m < 3; m++)
        first[m] = (int64_t)floor((place_A[m] - grid->origin_A[m]) / grid->step_A[m][m]);
    for (int corner = 0; corner < 8; corner++) {
        const int64_t i = first[0] + (corner & 1), j = first[1] + (corner >> 1 & 1), k = first[2] + (corner >> 2);
        if (ley_map_read_values(density)[(k * grid->n[1] + j) * grid->n[0] + i] >= 1)
            return true;
    }
    return false;
}

static void find_missing(ley_surface *surface, const ley_atoms *atoms, const ley_map *density)
{
    const double *radius_A = ley_atoms_radii_A(atoms);
    surface->least_missing_A = INFINITY;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        if (radius_A[i] > 0 && !is_found(density, ley_atoms_positions_A(atoms) + 3 * i)) {
            surface->missing++;
            surface->least_missing_A = fmin(surface->least_missing_A, radius_A[i]);
        }
}

static ley_status of_atoms(const ley_atoms *atoms, const ley_surface_options *o, const volatile bool *cancel,
                           ley_surface *surface, ley_error *error)
{
    ley_grid grid;
    ley_map *map = NULL;
    ley_status status = choose_grid(atoms, o, &grid, error);
    if (status == LEY_OK)
        status = ley_map_create(&grid, &map, error);
    if (status == LEY_OK)
        status = density_fill(map, atoms, o->sharpness, cancel, error);
    const contour c = {.map = map, .level = 1, .logarithms = DENSITY_LEAST, .cancel = cancel};
    if (status == LEY_OK)
        status = contour_add(&c, surface, error);
    if (status == LEY_OK)
        find_missing(surface, atoms, map);
    ley_map_destroy(map);
    for (int64_t i = 0; i < surface->vertices; i++)
        surface->value[i] = NAN;
    if (status == LEY_OK && surface->triangles == 0)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "no atom is as large as a cell of the grid, %g A: there is no surface; a finer spacing finds "
                          "it",
                          o->spacing_A);
    return status == LEY_OK ? verify(surface, atoms, o, cancel, error) : status;
}

static ley_status finish(ley_surface *made, ley_status status, ley_surface **surface)
{
    if (status != LEY_OK) {
        ley_surface_destroy(made);
        return status;
    }
    *surface = made;
    return LEY_OK;
}

ley_status ley_surface_create(const ley_atoms *atoms, const ley_surface_options *options, const volatile bool *cancel,
                              ley_surface **surface, ley_error *error)
{
    ley_surface_options o;
    ley_surface *made = NULL;
    ley_status status = OPTIONS_TAKE(ley_surface_options, sharpness, &o, options, error);
    if (status == LEY_OK)
        status = parameters_check(&surface_parameters, &o, error);
    if (status == LEY_OK)
        status = new_surface(&made, error);
    if (status == LEY_OK)
        status = of_atoms(atoms, &o, cancel, made, error);
    if (status == LEY_OK)
        status = surface_measure(made, 0, made->triangles, &made->area_A2, &made->volume_A3, cancel, error);
    return finish(made, status, surface);
}

/* ---- Of a map -------------------------------------------------------------------------------- */

static ley_status fail_level(const ley_map *map, double level, ley_error *error)
{
    const float *value = ley_map_read_values(map);
    float low = value[0], high = value[0];
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++) {
        low = fminf(low, value[i]);
        high = fmaxf(high, value[i]);
    }
    return ley_fail(error, LEY_ERROR_INPUT, "no surface at level %g: the map's values are from %g to %g%s%s", level,
                    (double)low, (double)high, ley_map_units(map)[0] != '\0' ? " " : "", ley_map_units(map));
}

static bool has_level(const ley_surface *surface, double level)
{
    for (size_t i = 0; i < surface->levels; i++)
        if ((float)surface->level[i].level == (float)level)
            return true;
    return false;
}

/* Adds a level, and to the surface's area and volume those of the level. */
static ley_status add_level(const ley_map *map, double level, const volatile bool *cancel, ley_surface *surface,
                            ley_error *error)
{
    const int64_t vertices = surface->vertices, first = surface->triangles;
    const bool was_open = surface->is_open;
    const contour c = {.map = map, .level = (float)level, .is_below = level < 0, .cancel = cancel};
    if (!isfinite(c.level))
        return ley_fail(error, LEY_ERROR_USAGE, "level: %g is no value of a map", level);
    surface->is_open = false;
    ley_status status = contour_add(&c, surface, error);
    if (status == LEY_OK && surface->triangles == first)
        return fail_level(map, level, error);
    ley_surface_level made = {.level = level,
                              .vertices = surface->vertices - vertices,
                              .triangles = surface->triangles - first,
                              .is_closed = !surface->is_open};
    if (status == LEY_OK)
        status = surface_measure(surface, first, made.triangles, &made.area_A2, &made.volume_A3, cancel, error);
    surface->is_open |= was_open;
    surface->area_A2 += made.area_A2;
    surface->volume_A3 = surface->levels == 0 ? made.volume_A3 : NAN;
    made.volume_A3 = made.is_closed ? made.volume_A3 : NAN;
    surface->level[surface->levels++] = made;
    return status;
}

ley_status ley_surface_create_levels(const ley_map *map, size_t n, const double *level, const volatile bool *cancel,
                                     ley_surface **surface, ley_error *error)
{
    ley_surface *made = NULL;
    ley_status status = map_check_values(map, "the map", error);
    if (status == LEY_OK && n == 0)
        status = ley_fail(error, LEY_ERROR_USAGE, "level: there is none");
    if (status == LEY_OK)
        status = new_surface(&made, error);
    if (status == LEY_OK && (made->level = malloc(n * sizeof *made->level)) == NULL)
        status = ley_fail_memory(error, n * sizeof *made->level, "levels of a surface");
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        if (!has_level(made, level[i]))
            status = add_level(map, level[i], cancel, made, error);
    if (status == LEY_OK)
        ley_surface_set_units(made, ley_map_units(map));
    return finish(made, status, surface);
}

/* ---- Values of a map ------------------------------------------------------------------------- */

/* By how much of a step a vertex may be outside: files have few digits. */
static const double same_place = 1e-3;

/* Places in steps of a grid. */
typedef struct passage {
    const ley_grid *grid;
    double along[3][3];
} passage;

static passage passage_into(const ley_grid *grid)
{
    passage p = {.grid = grid};
    const double(*s)[3] = grid->step_A;
    const double volume = s[0][0] * (s[1][1] * s[2][2] - s[1][2] * s[2][1]) +
                          s[0][1] * (s[1][2] * s[2][0] - s[1][0] * s[2][2]) +
                          s[0][2] * (s[1][0] * s[2][1] - s[1][1] * s[2][0]);
    for (int m = 0; m < 3; m++)
        for (int x = 0; x < 3; x++) {
            const double *u = s[(m + 1) % 3], *v = s[(m + 2) % 3];
            p.along[m][x] = (u[(x + 1) % 3] * v[(x + 2) % 3] - u[(x + 2) % 3] * v[(x + 1) % 3]) / volume;
        }
    return p;
}

/* The value at a place, between eight points. False: it is outside. */
static bool value_at(const passage *p, const float *values, const double place_A[3], double *value)
{
    const int64_t *n = p->grid->n;
    int64_t cell[3], stride[3] = {1, n[0], n[0] * n[1]}, first = 0;
    double within[3];
    for (int m = 0; m < 3; m++) {
        double at = 0;
        for (int x = 0; x < 3; x++)
            at += p->along[m][x] * (place_A[x] - p->grid->origin_A[x]);
        const double last = (double)(n[m] - 1);
        if (!(at >= -same_place && at <= last + same_place))
            return false;
        at = fmin(fmax(at, 0), last);
        cell[m] = (int64_t)fmin(floor(at), fmax(last - 1, 0));
        within[m] = at - (double)cell[m];
        first += cell[m] * stride[m];
    }
    *value = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int64_t number = first;
        for (int m = 0; m < 3; m++) {
            weight *= corner >> m & 1 ? within[m] : 1 - within[m];
            number += corner >> m & 1 ? stride[m] : 0;
        }
        if (weight > 0)
            *value += weight * (double)values[number];
    }
    return true;
}

/* Vertices in ranges, whose counts are added up in any order. */
typedef struct taking {
    const volatile bool *cancel;
    const passage *into;
    const float *from;
    ley_surface *surface;
    atomic_llong outside, first_nan; /* the first vertex beside values that are not numbers */
} taking;

static void take_values(void *context, size_t first, size_t last)
{
    taking *t = context;
    int64_t outside = 0, nan_at = -1;
    for (size_t i = first; i < last && !cancel_flag_is_set(t->cancel); i++) {
        double value = NAN;
        if (!value_at(t->into, t->from, t->surface->vertex_A + 3 * i, &value))
            outside++;
        else if (isnan(value) && nan_at < 0)
            nan_at = (int64_t)i;
        t->surface->value[i] = (float)value;
    }
    atomic_fetch_add(&t->outside, outside);
    long long known = atomic_load(&t->first_nan);
    while (nan_at >= 0 && nan_at < known && !atomic_compare_exchange_weak(&t->first_nan, &known, nan_at)) {
    }
}

ley_status ley_surface_take_map(ley_surface *surface, const ley_map *map, const volatile bool *cancel, ley_error *error)
{
    const float *values = ley_map_read_values(map);
    if (values == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "the map's values are not in memory");
    const passage p = passage_into(ley_map_grid(map));
    taking t = {.cancel = cancel, .into = &p, .from = values, .surface = surface, .first_nan = surface->vertices};
    parallel_ranges((size_t)surface->vertices, take_values, &t);
    if (cancel_flag_is_set(cancel))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    const double *place_A = surface->vertex_A + 3 * t.first_nan;
    if (t.first_nan < surface->vertices)
        return ley_fail(error, LEY_ERROR_INPUT, "the map's values next to (%g, %g, %g) A are not numbers", place_A[0],
                        place_A[1], place_A[2]);
    if (t.outside > 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%.3g %% of the surface's vertices are outside the map: it must reach over the surface",
                        100.0 * (double)t.outside / (double)surface->vertices);
    ley_surface_set_units(surface, ley_map_units(map));
    return LEY_OK;
}

/* ---- What it has ----------------------------------------------------------------------------- */

int64_t ley_surface_vertex_count(const ley_surface *surface)
{
    return surface->vertices;
}

int64_t ley_surface_triangle_count(const ley_surface *surface)
{
    return surface->triangles;
}

const double *ley_surface_vertices_A(const ley_surface *surface)
{
    return surface->vertex_A;
}

const float *ley_surface_normals(const ley_surface *surface)
{
    return surface->normal;
}

const int32_t *ley_surface_triangles(const ley_surface *surface)
{
    return surface->triangle;
}

float *ley_surface_values(ley_surface *surface)
{
    return surface->value;
}

const float *ley_surface_read_values(const ley_surface *surface)
{
    return surface->value;
}

size_t ley_surface_level_count(const ley_surface *surface)
{
    return surface->levels;
}

const ley_surface_level *ley_surface_level_at(const ley_surface *surface, size_t i)
{
    return i < surface->levels ? &surface->level[i] : NULL;
}

const char *ley_surface_units(const ley_surface *surface)
{
    return surface->units;
}

void ley_surface_set_units(ley_surface *surface, const char *units)
{
    snprintf(surface->units, sizeof surface->units, "%s", units);
}

double ley_surface_area_A2(const ley_surface *surface)
{
    return surface->area_A2;
}

double ley_surface_volume_A3(const ley_surface *surface)
{
    return surface->is_open ? NAN : surface->volume_A3;
}

double ley_surface_error_A(const ley_surface *surface)
{
    return surface->off_A;
}

size_t ley_surface_missing_atoms(const ley_surface *surface, double *least_radius_A)
{
    *least_radius_A = surface->missing > 0 ? surface->least_missing_A : NAN;
    return surface->missing;
}

bool ley_surface_is_closed(const ley_surface *surface)
{
    return !surface->is_open;
}
