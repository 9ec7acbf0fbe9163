/* Long-range potentials at the points of a list. */
#ifndef LEY_LONG_RANGE_POINTS_H
#define LEY_LONG_RANGE_POINTS_H

#include "schedule/method.h"

extern const method method_msm_points;

/* A mesh over the points, about as many as these: what plans look at in a map's place. */
ley_grid msm_points_mesh(const ley_points *points);

#endif
