/* Direct Coulomb summation at the points of a list. */
#ifndef LEY_DCS_POINTS_H
#define LEY_DCS_POINTS_H

#include "schedule/method.h"

extern const method method_dcs_points;

/* Errors: those of points_check_excluded(); LEY_ERROR_MEMORY. */
ley_status dcs_points_task_create(const coulomb_problem *p, void **made, ley_error *error);

#endif
