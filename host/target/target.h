/* Targets: where values are wanted, as ley_target has it. */
#ifndef LEY_TARGET_TARGET_H
#define LEY_TARGET_TARGET_H

#include "leyden.h"

enum {
    TARGET_MAP = 1 << LEY_TARGET_GRID,
    TARGET_POINTS = 1 << LEY_TARGET_POINTS,
    TARGET_BOUNDARY = 1 << LEY_TARGET_BOUNDARY,
    TARGET_OUTLINE = 1 << LEY_TARGET_COUNT /* a grid without a map */
};

/* LEY_ERROR_USAGE where it is none of these kinds, or more than one. */
ley_status target_check(const ley_target *target, unsigned kinds, const char *method, ley_error *error);

/* The grid of a map, or one over the points, about as many as these. */
ley_grid target_grid(const ley_target *target);

/* The root mean square of a thousand of the values that the target has now, at the same places each
 * time; a not-a-number where they are in a file. */
double target_rms(const ley_target *target);

/* That of all of them. */
double target_rms_of_all(const ley_target *target);

/* Whether the field is asked for, too. */
bool target_has_field(const ley_target *target);

#endif
