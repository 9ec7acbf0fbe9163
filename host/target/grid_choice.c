/* Where the points of a map lie, where its user says little of it. */
#include "target/grid_choice.h"

#include "core/options.h"
#include "core/parameters.h"
#include "error.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const ley_parameter rows[] = {
    {.name = "spacing", .alias = "grid", .type = LEY_PARAMETER_REAL, .unit = "A", .value = "H|HX,HY,HZ",
     .one_for_all = true, .default_value = {0.5, 0.5, 0.5}, .low = 1e-6, .high = 1e8, .given = LEY_GIVEN_SPACING,
     .sentence = "distance between neighbouring grid points, in Angstrom", .details = "three numbers, for x, y and "
                                                                                      "z, need `dims`",
     PARAMETER_ARRAY(ley_grid_options, spacing_A, 3)},
    {.name = "dims", .former = (const char *const[]){"dime", NULL}, .type = LEY_PARAMETER_INTEGER,
     .value = "NX,NY,NZ", .default_value = {1, 1, 1}, .low = 1, .high = INT32_MAX, .given = LEY_GIVEN_N,
     .unset = "by `padding` or `cell`", .sentence = "number of grid points along x, y, z",
     .details = "together with `padding` they cover the molecule and its margin, together with `cell` the cell; "
                "otherwise they are `spacing` apart",
     PARAMETER_ARRAY(ley_grid_options, n, 3)},
    {.name = "glen", .alias = "fglen", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A", .value = "X,Y,Z",
     .low = 0, .above_low = true, .high = 1e9, .given = LEY_GIVEN_LENGTH, .unset = "by `spacing`",
     .sentence = "edges of the grid in Angstrom, from its first point to its last; needs `dims`",
     PARAMETER_ARRAY(ley_grid_options, length_A, 3)},
    {.name = "gcent", .alias = "fgcent", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A",
     .value = "X,Y,Z", .word = "mol", .low = -1e9, .high = 1e9, .given = LEY_GIVEN_CENTRE,
     .unset = "close to mol, so that the origin is a multiple of the spacing",
     .sentence = "centre of the grid in Angstrom; mol is the centre of the atoms' bounding box; needs `dims`",
     PARAMETER_ARRAY(ley_grid_options, centre_A, 3)},
    {.name = "origin", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A", .value = "X,Y,Z", .low = -1e9,
     .high = 1e9, .given = LEY_GIVEN_ORIGIN,
     .unset = "a multiple of the spacing below the molecule; 0,0,0 for a periodic cell",
     .sentence = "first point of the grid, in Angstrom; needs `dims`, unless the grid is the periodic cell",
     PARAMETER_ARRAY(ley_grid_options, origin_A, 3)},
    {.name = "padding", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {10}, .low = 0, .high = 1e8,
     .given = LEY_GIVEN_PADDING, .sentence = "margin of the grid around the atom centres, in Angstrom",
     PARAMETER_FIELD(ley_grid_options, padding_A)},
};
/* clang-format on */

const ley_parameter_table grid_parameters = PARAMETER_TABLE(ley_grid_options, rows);

void ley_grid_options_default(ley_grid_options *options)
{
    parameters_default(&grid_parameters, options);
}

static bool has(const ley_grid_options *o, unsigned fields)
{
    return (o->given & fields) == fields;
}

bool ley_grid_is_cell(const ley_grid_options *o, const bool periodic[3], const double cell_A[3][3])
{
    ley_grid cell = {.n = {1, 1, 1}};
    if ((o->given & (LEY_GIVEN_LENGTH | LEY_GIVEN_CENTRE | LEY_GIVEN_PADDING)) != 0 ||
        has(o, LEY_GIVEN_N | LEY_GIVEN_SPACING) || periodic == NULL || !periodic[0] || !periodic[1] || !periodic[2])
        return false;
    memcpy(cell.step_A, cell_A, sizeof cell.step_A);
    return ley_grid_check(&cell, NULL) == LEY_OK;
}

static ley_status check(const ley_grid_options *o, const bool periodic[3], const double cell_A[3][3], ley_error *error)
{
    static const unsigned pairs[][2] = {{LEY_GIVEN_LENGTH, LEY_GIVEN_SPACING},
                                        {LEY_GIVEN_LENGTH, LEY_GIVEN_PADDING},
                                        {LEY_GIVEN_CENTRE, LEY_GIVEN_PADDING},
                                        {LEY_GIVEN_CENTRE, LEY_GIVEN_ORIGIN},
                                        {LEY_GIVEN_PADDING, LEY_GIVEN_ORIGIN}};
    static const char *const names[] = {"spacing", "n", "length", "centre", "origin", "padding"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (has(o, pairs[i][0] | pairs[i][1]))
            return ley_fail(error, LEY_ERROR_USAGE, "grid: %s and %s exclude each other", names[ilogb(pairs[i][0])],
                            names[ilogb(pairs[i][1])]);
    if (has(o, LEY_GIVEN_N | LEY_GIVEN_PADDING | LEY_GIVEN_SPACING))
        return ley_fail(error, LEY_ERROR_USAGE, "grid: two of n, padding and spacing say what the third is");
    const unsigned of_n =
        LEY_GIVEN_LENGTH | LEY_GIVEN_CENTRE | (ley_grid_is_cell(o, periodic, cell_A) ? 0u : (unsigned)LEY_GIVEN_ORIGIN);
    if (!has(o, LEY_GIVEN_N) &&
        ((o->given & of_n) || o->spacing_A[0] != o->spacing_A[1] || o->spacing_A[0] != o->spacing_A[2]))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "grid: length, centre, origin and three different spacings need n, how many points it has");
    return LEY_OK;
}

ley_status ley_grid_options_check(const ley_grid_options *options, const bool periodic[3], const double cell_A[3][3],
                                  ley_error *error)
{
    ley_grid_options o;
    const ley_status status = OPTIONS_TAKE(ley_grid_options, padding_A, &o, options, error);
    return status == LEY_OK ? check(&o, periodic, cell_A, error) : status;
}

/* So many points along each of the cell's vectors, or as many as come next to the spacing: the far
 * face is the near one again. */
static void fill_cell(const ley_grid_options *o, const double cell_A[3][3], ley_grid *grid)
{
    *grid = (ley_grid){.n = {1, 1, 1}};
    memcpy(grid->step_A, cell_A, sizeof grid->step_A);
    double edge_A[3];
    ley_grid_spacing_A(grid, edge_A);
    for (int m = 0; m < 3; m++) {
        const double count = fmin(fmax(round(edge_A[m] / o->spacing_A[m]), 1), LEY_MAX_EXTENT + 1.0);
        grid->n[m] = has(o, LEY_GIVEN_N) ? o->n[m] : (int64_t)count;
        grid->origin_A[m] = (has(o, LEY_GIVEN_ORIGIN) ? o->origin_A[m] : 0) + 0.0; /* 0 has no sign */
        for (int axis = 0; axis < 3; axis++)
            grid->step_A[m][axis] = cell_A[m][axis] / (double)grid->n[m] + 0.0;
    }
}

/* So many points along an axis on which the atoms are within these bounds. */
static void place_axis(const ley_grid_options *o, int axis, const double bounds_A[2], double *origin_A,
                       double *spacing_A)
{
    const double steps = (double)(o->n[axis] - 1), padded_A = bounds_A[1] - bounds_A[0] + 2 * o->padding_A,
                 edge_A = has(o, LEY_GIVEN_LENGTH) ? o->length_A[axis] : padded_A,
                 centre_A = has(o, LEY_GIVEN_CENTRE) && !isnan(o->centre_A[0]) ? o->centre_A[axis]
                                                                               : 0.5 * (bounds_A[0] + bounds_A[1]);
    const bool has_edge = (o->given & (LEY_GIVEN_LENGTH | LEY_GIVEN_PADDING)) != 0;
    *spacing_A = has_edge && steps > 0 && edge_A > 0 ? edge_A / steps : o->spacing_A[axis];
    *origin_A = centre_A - 0.5 * steps * *spacing_A;
    if (has(o, LEY_GIVEN_ORIGIN))
        *origin_A = o->origin_A[axis];
    else if (!has(o, LEY_GIVEN_CENTRE) && !has_edge)
        *origin_A = *spacing_A * round(*origin_A / *spacing_A);
}

ley_status ley_grid_choose(const ley_grid_options *options, const ley_atoms *atoms, const bool periodic[3],
                           const double cell_A[3][3], ley_grid *grid, ley_error *error)
{
    ley_grid_options o;
    ley_grid made;
    double low_A[3], high_A[3], origin_A[3], spacing_A[3];
    ley_status status = OPTIONS_TAKE(ley_grid_options, padding_A, &o, options, error);
    if (status == LEY_OK)
        status = check(&o, periodic, cell_A, error);
    if (status != LEY_OK)
        return status;
    if (ley_grid_is_cell(&o, periodic, cell_A)) {
        fill_cell(&o, cell_A, &made);
    } else if (!has(&o, LEY_GIVEN_N)) {
        return ley_grid_around(atoms, o.spacing_A[0], o.padding_A, grid, error);
    } else {
        ley_atoms_bounds_A(atoms, low_A, high_A);
        for (int axis = 0; axis < 3; axis++)
            place_axis(&o, axis, (const double[]){low_A[axis], high_A[axis]}, &origin_A[axis], &spacing_A[axis]);
        made = ley_grid_orthogonal(origin_A, spacing_A, o.n);
    }
    status = ley_grid_check(&made, error);
    if (status == LEY_OK)
        *grid = made;
    return status;
}
