/* Tables of where things are along axes, as cl/nodes.h reads them: of a mesh's nodes, whichever
 * way they are stored, and of a map's points. What three tables say together is where one is. */
#ifndef LEY_LONG_RANGE_MESH_COORDINATES_H
#define LEY_LONG_RANGE_MESH_COORDINATES_H

#include "leyden_status.h"
#include "spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of nodes or points, x fastest: rows of pitch[0], planes of pitch[1] rows; or in cubes,
 * of which there are pitch[0] along x and pitch[1] along y. */
typedef struct coordinate_table {
    int64_t n[3];
    bool periodic[3]; /* beyond the ends there are images; else nothing */
    bool in_cubes;
    int edge; /* of a cube; 0: LEY_CUBE */
    int64_t pitch[2];
    int64_t first; /* what comes before it in its buffer */
    bool by_plane; /* rows: a number is that of a plane and that within it, for LEY_BY_PLANE; `first` is 0 */
} coordinate_table;

/* Where coordinate 0 of each axis stands in a table; fourth, what comes before the array, or, by
 * plane, how much a plane has. */
typedef struct coordinates_of {
    int32_t at[4];
} coordinates_of;

typedef struct coordinates {
    size_t count, capacity;
    int32_t *values; /* free() */
} coordinates;

/* What index i along an axis adds to a node's number in its array, or, along z and by plane, to the
 * number of its plane. Where there is nothing LEY_NOWHERE, or, along x and y and by plane, so many
 * below 0 as a plane has. */
int32_t coordinates_along_axis(const coordinate_table *array, int axis, int64_t i);

/* Whether kernels can number all of an array, with one number or as the array says. And whether one
 * number is too little. */
bool coordinates_can_number(const coordinate_table *array);
bool coordinates_are_many(const coordinate_table *array);

/* Appends an array's tables, from `before` coordinates before 0 to `after` behind the last. A
 * places begins as zeros. Errors: LEY_ERROR_MEMORY; LEY_ERROR_NO_DEVICE, more than kernels can
 * number. */
ley_status coordinates_add(coordinates *p, const coordinate_table *array, int64_t before, int64_t after,
                           coordinates_of *made, ley_error *error);

#endif
