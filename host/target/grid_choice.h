/* Where the points of a map lie, where its user says little of it: leyden_request.h. */
#ifndef LEY_TARGET_GRID_CHOICE_H
#define LEY_TARGET_GRID_CHOICE_H

#include "leyden.h"

extern const ley_parameter_table grid_parameters;

#endif
