#include "map_problem.h"
#include "console.h"

void put_units(FILE *to, const map_problem *problem, bool has_medium)
{
    fprintf(to, "units: %s, ",
            problem->target.points != NULL ? ley_points_units(problem->target.points)
                                           : ley_map_units(problem->target.map));
    if (has_medium)
        fprintf(to, "dielectric %.15g, temperature %.15g K, ", problem->medium.dielectric,
                problem->medium.temperature_K);
    fprintf(to, "r_min %.15g A\n", problem->medium.r_min_A);
    if (problem->target.points != NULL && ley_points_read_field(problem->target.points) != NULL)
        fprintf(to, "field: ex, ey, ez, minus the gradient of phi, in %s/A\n",
                ley_points_units(problem->target.points));
    else if (problem->target.map != NULL && ley_map_field(problem->target.map, 0) != NULL)
        fprintf(to, "field: maps _Ex, _Ey, _Ez beside the potential's, minus the gradient of phi, in %s/A\n",
                ley_map_units(problem->target.map));
}

void put_uniform(const void *problem, FILE *to)
{
    const double dielectric = ((const map_problem *)problem)->medium.dielectric;
    fputs(dielectric == 1 ? "in vacuum (dielectric 1)" : text_of("dielectric %.6g", dielectric).s, to);
}
