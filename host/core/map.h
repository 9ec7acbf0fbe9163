/* Values of a map by their number, x fastest. */
#ifndef LEY_CORE_MAP_H
#define LEY_CORE_MAP_H

#include "leyden.h"

/* The value of this number, and where it is, in A. */
double map_value(const ley_map *map, int64_t number, double place_A[3]);

/* Errors: LEY_ERROR_INPUT when a value is not a number, or infinite, with its point; `path` begins
 * the message. */
ley_status map_check_values(const ley_map *map, const char *path, ley_error *error);

#endif
