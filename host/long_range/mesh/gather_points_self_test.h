/* Known-answer test of interpolation at the points of a list: random potentials on a small mesh,
 * open along some axes and periodic along others, at points within it and at its ends; values and
 * derivatives against the same sums in double precision. `context` of kernel_create() is the
 * transfer_kernels that are being made. */
#ifndef LEY_LONG_RANGE_MESH_GATHER_POINTS_SELF_TEST_H
#define LEY_LONG_RANGE_MESH_GATHER_POINTS_SELF_TEST_H

#include "dev_kernel.h"

ley_status gather_points_self_test(const dev_kernel *built, void *context, ley_error *error);

#endif
