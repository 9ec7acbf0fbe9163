/* Known-answer self-test of freshly built short-range kernels for points. */
#ifndef LEY_POINT_PAIRS_SELF_TEST_H
#define LEY_POINT_PAIRS_SELF_TEST_H

#include "methods/cutoff/point_pairs.h"

/* Runs the kernel (program and choice set, and the problem of a user's own function) on small
 * problems that take every path: points on atoms and within r_min, several groups and a part of
 * one, groups of which only some points have atoms in reach, bins that overflow, atoms on the brink
 * of reach on every side. Judges point by point. LEY_ERROR_WRONG_RESULT when one is off. */
ley_status point_pairs_self_test(const point_pairs_kernel *kernel, ley_error *error);

#endif
