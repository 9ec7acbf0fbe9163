/* The density of a structure as a map: one frame. */
#include "fit/problem.h"

#include "error.h"
#include "target/map.h"

#include <stdlib.h>

static ley_status fill(ley_engine *engine, const ley_atoms *atoms, const double *weight,
                       const ley_density_options *options, bool by_host, ley_map *map, ley_fit_totals *totals,
                       ley_error *error)
{
    const size_t n = ley_atoms_count(atoms);
    ley_grid grid = *ley_map_grid(map); /* from its first node on, so that floats have most digits */
    const ley_fit_target target = {.size = sizeof target, .grid = &grid, .by_host = by_host};
    const ley_fit_results results = {.size = sizeof results, .density = ley_map_values(map)};
    ley_fit *fit = NULL;
    float *position_A = malloc(3 * n * sizeof *position_A);
    double *radius_A = malloc(n * sizeof *radius_A);
    ley_status status = LEY_OK;
    if (position_A == NULL || radius_A == NULL)
        status = ley_fail_memory(error, 20 * n, "the atoms");
    else {
        for (size_t i = 0; i < 3 * n; i++)
            position_A[i] = (float)(ley_atoms_positions_A(atoms)[i] - grid.origin_A[i % 3]);
        for (int axis = 0; axis < 3; axis++)
            grid.origin_A[axis] = 0;
        ley_density_radii_of(atoms, radius_A);
        status = ley_fit_create(engine, &target, n, weight, radius_A, options, &fit, error);
    }
    if (status == LEY_OK)
        status = ley_fit_run(fit, 1, position_A, NULL, &results, error);
    if (status == LEY_OK && totals != NULL)
        ley_fit_get_totals(fit, totals);
    ley_fit_destroy(fit);
    free(position_A);
    free(radius_A);
    return status;
}

ley_status ley_density_map_create(ley_engine *engine, const ley_atoms *atoms, const double *weight,
                                  const ley_density_options *options, const ley_grid *grid, bool by_host, ley_map **map,
                                  ley_fit_totals *totals, ley_error *error)
{
    ley_map *made = NULL;
    if (atoms == NULL || options == NULL || grid == NULL || map == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_density_map_create(): a null pointer");
    ley_status status = ley_map_create(grid, &made, error);
    if (status == LEY_OK)
        status = weight != NULL ? fill(engine, atoms, weight, options, by_host, made, totals, error)
                                : density_check_spacing(grid, options->resolution_A, error);
    if (status == LEY_OK) {
        map_set_what(made, "DENSITY OF ATOMS", NULL, NULL);
        *map = made;
    } else
        ley_map_destroy(made);
    return status;
}
