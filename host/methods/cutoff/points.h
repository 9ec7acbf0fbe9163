/* Short-range sums at the points of a list. */
#ifndef LEY_CUTOFF_POINTS_H
#define LEY_CUTOFF_POINTS_H

#include "schedule/method.h"

extern const method method_cutoff_points;

#endif
