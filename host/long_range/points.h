/* Long-range potentials at the points of a list. */
#ifndef LEY_LONG_RANGE_POINTS_H
#define LEY_LONG_RANGE_POINTS_H

#include "schedule/method.h"

extern const method method_msm_points;

#endif
