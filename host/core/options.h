/* Structs of options begin with their size, so that they can grow: what an older caller does not
 * know of is as the defaults have it. */
#ifndef LEY_CORE_OPTIONS_H
#define LEY_CORE_OPTIONS_H

#include "leyden.h"

/* Copies a caller's struct, whose first member is its size, over `to`, which holds the defaults and
 * is `known` bytes long; `least` bytes the first version had. The copy's size is `known`.
 * LEY_ERROR_USAGE, with the struct's name, when the size is less than that or more than is
 * known. */
ley_status options_take(void *to, size_t least, size_t known, const void *from, const char *name, ley_error *error);

/* The same for a type whose defaults type##_default() sets. */
#define OPTIONS_TAKE(type, last, to, from, error) \
    (type##_default(to), \
     options_take((to), offsetof(type, last) + sizeof(to)->last, sizeof(type), (from), #type, (error)))

/* What several problems share, in a struct that begins as ley_direct does: units, the uniform
 * dielectric, the shortest distance. LEY_ERROR_USAGE for what is out of the ranges that leyden.h
 * gives: with them no potential of any atoms overflows a float. */
ley_status options_check_medium(const void *options, ley_error *error);
ley_status options_check_tolerance(double tolerance, ley_error *error);

#endif
