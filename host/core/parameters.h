/* Tables of parameters: the defaults of a struct of options, and whether its values are allowed. */
#ifndef LEY_CORE_PARAMETERS_H
#define LEY_CORE_PARAMETERS_H

#include "leyden.h"

/* Members of a row: the field of a struct that holds it. */
#define PARAMETER_FIELD(type, member) \
    .field = #member, .offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member)
#define PARAMETER_ARRAY(type, member, n) \
    .field = #member, .offset = offsetof(type, member), .bytes = sizeof(((type *)NULL)->member[0]), .count = (n)

/* The table of a struct that begins with its size. */
#define PARAMETER_TABLE(type, table) \
    { \
        .of = #type, .size = sizeof(type), .has_size = true, .count = sizeof(table) / sizeof *(table), .rows = (table) \
    }

/* Rows that several structs have: units and the uniform medium, of potentials; what goes with a
 * cutoff. */
/* clang-format off */
#define PARAMETERS_OF_MEDIUM(type_) \
    {.name = "units", .type = LEY_PARAMETER_CHOICE, .value = "UNITS", .choices = parameter_units, \
     .sentence = "units of the potential", PARAMETER_FIELD(type_, units)}, \
    {.name = "dielectric", .alias = "epsilon", .type = LEY_PARAMETER_REAL, .value = "E", .default_value = {1}, \
     .low = 1e-3, .high = 1e6, \
     .sentence = "relative permittivity of the one medium that fills all space: 1 is vacuum, 78.54 water", \
     PARAMETER_FIELD(type_, dielectric)}, \
    {.name = "temperature", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "K", .default_value = {298.15}, \
     .low = 1e-3, .high = 1e6, .sentence = "temperature in Kelvin, which matters for kT/e only", \
     PARAMETER_FIELD(type_, temperature_K)}, \
    {.name = "r_min", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A", .default_value = {0.05}, \
     .low = 1e-6, .high = 1e3, .sentence = "least distance between an atom and a point in the sum; shorter " \
                                           "distances are clamped to it", \
     PARAMETER_FIELD(type_, r_min_A)}

#define PARAMETERS_OF_CUTOFF(type_) \
    {.name = "cutoff", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A", .default_value = {12}, \
     .low = 0, .above_low = true, .high = 1e4, .methods = "cutoff, msm", .given = LEY_FIX_CUTOFF, \
     .sentence = "cutoff distance in Angstrom; pairs further apart add nothing (method cutoff) or are summed by " \
                 "meshes (method msm)", \
     PARAMETER_FIELD(type_, cutoff_A)}, \
    {.name = "periodic", .type = LEY_PARAMETER_OTHER, .value = "AXES", .unset = "none", \
     .methods = "auto, cutoff, msm", \
     .sentence = "axes of the cell along which the atoms have periodic images: x is a, y is b, z is c; needs " \
                 "`cell`"}, \
    {.name = "cell", .alias = "box", .type = LEY_PARAMETER_OTHER, .unit = "A", .value = "NUMBERS", .unset = "none", \
     .methods = "auto, cutoff, msm", \
     .sentence = "periodic cell: edges a,b,c in Angstrom, of a rectangular cell", \
     .details = "or a,b,c,alpha,beta,gamma, with angles in degrees, a along x and b in the xy plane; or the nine " \
                "coordinates of the three cell vectors"}, \
    {.name = "kappa", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "1/A", .low = 0, .high = 100, \
     .methods = "auto, cutoff, msm", .sentence = "inverse screening length", \
     .details = "for all charges with methods auto and msm, for `pair` yukawa, and for 'kappa' in expressions", \
     PARAMETER_FIELD(type_, kappa_per_A)}
/* clang-format on */

extern const char *const parameter_units[];

/* Of ley_direct, with whose fields every struct of options of a potential begins. */
extern const ley_parameter_table direct_parameters;

/* Sets all fields to their defaults, those without a row to 0. */
void parameters_default(const ley_parameter_table *table, void *to);

/* LEY_ERROR_USAGE, with the parameter's name and its range, for a value that is not allowed: of a
 * row, of all rows. */
ley_status parameter_check(const ley_parameter *row, const void *from, ley_error *error);
ley_status parameters_check(const ley_parameter_table *table, const void *from, ley_error *error);

/* The row of a table. */
const ley_parameter *parameter_of(const ley_parameter_table *table, const char *name);

#endif
