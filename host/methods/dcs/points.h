/* Direct Coulomb summation at the points of a list. */
#ifndef LEY_DCS_POINTS_H
#define LEY_DCS_POINTS_H

#include "schedule/method.h"

extern const method method_dcs_points;

#endif
